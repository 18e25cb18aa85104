"""Keeps worker processes busy; one that crashes or hangs is replaced and its case finished without the interpreter."""

from __future__ import annotations

import multiprocessing as mp
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from .model import Case
from .record import Verdict
from .worker import serve

TIMEOUT = 120.0


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    task: tuple[Case, bool] | None = None
    stage: str = "start"
    since: float = field(default_factory=time.monotonic)


class Pool:
    """Runs cases on `jobs` workers."""

    def __init__(self, jobs: int, output: Path) -> None:
        self._context = mp.get_context("spawn")
        self._output = output
        self._jobs = jobs
        self._log = str(Path(tempfile.gettempdir()) / f"conformance-{time.time_ns()}.log")

    @property
    def log(self) -> str:
        """Where the workers' own output goes."""
        return self._log

    def run(self, cases: Iterable[Case], done: Callable[[Verdict], None]) -> None:
        """Performs all cases; `done` gets each verdict as it comes."""
        waiting: list[tuple[Case, bool]] = [(case, True) for case in cases]
        waiting.reverse()
        workers = [self._start() for _ in range(min(self._jobs, max(1, len(waiting))))]
        try:
            while waiting or any(w.task for w in workers):
                ready = wait([w.pipe for w in workers], timeout=1.0)
                for index, worker in enumerate(workers):
                    alive = True
                    if worker.pipe in ready:
                        alive = self._receive(worker, done)
                    if alive and worker.task and time.monotonic() - worker.since > TIMEOUT:
                        worker.process.kill()
                        alive = False
                    if not alive:
                        workers[index] = self._replace(worker, waiting, done)
                    self._feed(workers[index], waiting)
        finally:
            for worker in workers:
                try:
                    worker.pipe.send(None)
                except OSError:
                    pass
                worker.process.join(5)
                if worker.process.is_alive():
                    worker.process.kill()

    def _start(self) -> _Worker:
        mine, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs, self._log), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, mine)

    def _feed(self, worker: _Worker, waiting: list[tuple[Case, bool]]) -> None:
        if worker.stage != "idle" or not waiting:
            return
        case, ask = waiting.pop()
        worker.task, worker.stage, worker.since = (case, ask), "sent", time.monotonic()
        worker.pipe.send((case.family, case.name, str(self._output / case.name), ask))

    def _receive(self, worker: _Worker, done: Callable[[Verdict], None]) -> bool:
        try:
            kind, value = worker.pipe.recv()
        except (EOFError, OSError):
            return False
        if kind == "stage":
            worker.stage = value
        else:
            if kind == "done":
                done(value)
            worker.task, worker.stage = None, "idle"
        return True

    def _replace(self, worker: _Worker, waiting: list[tuple[Case, bool]], done: Callable[[Verdict], None]) -> _Worker:
        worker.process.join(5)
        if worker.task:
            case, ask = worker.task
            if worker.stage == "interpret" and ask:
                waiting.append((case, False))
            else:
                done(Verdict(case.name, case.op, "failed", f"the worker died while at: {worker.stage}"))
        elif worker.stage == "start":
            raise RuntimeError(f"a worker does not start; its output is in {self._log}")
        return self._start()
