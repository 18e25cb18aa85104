"""Decides what a case expects, and writes its folder."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .compare import Tolerance, default_tolerance, difference
from .dtypes import BF16
from .model import Answer, Array, Arrays, Built, Call, Case

CLOSE = 0.25
"""The part of the tolerance within which the interpreter counts as exact enough to be the reference."""


@dataclass
class Verdict:
    """Which answer a case expects, and why."""

    name: str
    op: str
    source: str
    why: str = ""

    @property
    def surprising(self) -> bool:
        """Whether the report should name the case."""
        return self.source == "failed" or bool(self.why)

    def as_json(self) -> dict[str, str]:
        """For the report file."""
        return asdict(self)


def tolerance_of(case: Case, dtype: np.dtype[Any]) -> Tolerance:
    """The tolerance the replay will use for an output of this type."""
    default = default_tolerance(dtype)
    return Tolerance(
        default.rtol if case.rtol is None else case.rtol,
        default.atol if case.atol is None else case.atol,
    )


def _differences(case: Case, built: Built, found: list[Answer], wanted: list[Answer], factor: float) -> str | None:
    for index, (one, other) in enumerate(zip(found, wanted)):
        for kind, left, right in (("", one.outputs, other.outputs), ("state ", one.states, other.states)):
            for key, expected in right.items():
                if key not in left:
                    return f"{kind}{key} is missing"
                tolerance = tolerance_of(case, left[key].dtype).scaled(factor)
                problem = difference(left[key], expected, tolerance)
                if problem:
                    return f"call {index}, {kind}{key}: {problem}"
    return None


def decide(
    case: Case, built: Built, interpreted: list[Answer] | None, trouble: str, reference: list[Answer] | None
) -> tuple[list[Answer], Verdict]:
    """The interpreter where it agrees with the docstring's meaning, else the reference."""
    if reference is None:
        if interpreted is None:
            raise ValueError(f"no reference, and the interpreter has no answer: {trouble}")
        return interpreted, Verdict(case.name, case.op, "interpreter alone")
    if interpreted is None:
        return reference, Verdict(case.name, case.op, "reference", trouble)
    far = _differences(case, built, interpreted, reference, 1)
    if far:
        return reference, Verdict(case.name, case.op, "reference", far)
    if _differences(case, built, interpreted, reference, CLOSE):
        return reference, Verdict(case.name, case.op, "reference")
    return interpreted, Verdict(case.name, case.op, "interpreter")


def _stored(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint16).reshape(array.shape) if array.dtype == BF16 else array


def _expected(case: Case, array: Array) -> Array:
    if array.dtype == BF16 and zlib.crc32(case.name.encode()) % 2:
        return array.astype(np.float32)
    return _stored(array)


def write(case: Case, folder: Path, built: Built | None, calls: list[Call], answers: list[Answer] | None) -> None:
    """Writes the arrays and meta.json beside the model."""
    for index, call in enumerate(calls):
        arrays: Arrays = {f"input_{k}": _stored(np.asarray(v)) for k, v in call.inputs.items()}
        if index == 0:
            arrays |= {f"state_{k}": _stored(np.asarray(v)) for k, v in call.states.items()}
        if answers is not None:
            arrays |= {f"expected_{k}": _expected(case, np.asarray(v)) for k, v in answers[index].outputs.items()}
            arrays |= {f"expected_state_{k}": _expected(case, np.asarray(v)) for k, v in answers[index].states.items()}
        save = np.savez_compressed if sum(a.nbytes for a in arrays.values()) > 1024 else np.savez
        save(folder / f"case_{index}.npz", **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    meta: dict[str, Any] = {}
    if case.function != "main":
        meta["function"] = case.function
    if case.expect != "run":
        meta["expect"] = case.expect
    for key in ("rtol", "atol", "note"):
        if getattr(case, key) is not None:
            meta[key] = getattr(case, key)
    if meta:
        (folder / "meta.json").write_text(json.dumps(meta) + "\n")
