"""The child process: builds a case's model, asks the interpreter, and writes the case."""

from __future__ import annotations

import os
import shutil
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

from .model import Answer, Case
from .record import Verdict, decide, write

MODEL = "model.aimodel"


def serve(pipe: Connection, log: str) -> None:
    """Answers (family, name, folder, ask interpreter) with progress and a verdict, until None comes."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    from .families import cases_of

    cases: dict[str, Case] = {}
    pipe.send(("ready", None))
    while (task := pipe.recv()) is not None:
        family, name, folder, ask = task
        if name not in cases:
            cases |= {case.name: case for case in cases_of(family)}
        print(f"## {name}", flush=True)
        try:
            verdict = perform(cases[name], Path(folder), ask, pipe)
        except Exception as error:  # noqa: BLE001  whatever a case does, the next one runs
            traceback.print_exc()
            shutil.rmtree(folder, ignore_errors=True)
            text = f"{type(error).__name__}: {error}".strip().splitlines()
            verdict = Verdict(name, cases[name].op, "failed", text[0][:300] if text else "")
        pipe.send(("done", verdict))


def perform(case: Case, folder: Path, ask: bool, pipe: Connection) -> Verdict:
    """One case, from building to its folder on disk."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pipe.send(("stage", "build"))
    built = case.build(folder / MODEL)
    calls = case.calls(case.rng())
    if case.expect == "error":
        write(case, folder, built, calls, None)
        return Verdict(case.name, case.op, "error expected")
    reference = case.reference(calls) if case.reference else None
    interpreted: list[Answer] | None = None
    trouble = "the interpreter crashed" if case.interpret else "the interpreter was not asked"
    if ask and case.interpret:
        from .interpreter import interpret

        pipe.send(("stage", "interpret"))
        try:
            interpreted = interpret(folder / MODEL, case.function, calls)
        except Exception as error:  # noqa: BLE001  its errors are an answer
            trouble = f"the interpreter failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    answers, verdict = decide(case, built, interpreted, trouble, reference)
    write(case, folder, built, calls, answers)
    return verdict
