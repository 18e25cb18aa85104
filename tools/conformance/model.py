"""What a case is: how its model is built, what goes in, and what must come out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = dict[str, Array]


@dataclass
class Call:
    """One call of the function: its inputs, and the states before the first call."""

    inputs: Arrays
    states: Arrays = field(default_factory=dict)


@dataclass
class Answer:
    """What one call left: the outputs, and the states after it."""

    outputs: Arrays
    states: Arrays = field(default_factory=dict)


@dataclass
class Built:
    """What building a model told: the outputs' names in order, and their element types where known."""

    outputs: list[str]
    dtypes: dict[str, np.dtype[Any]] = field(default_factory=dict)


Builder = Callable[[Path], Built]
Reference = Callable[[list[Call]], list[Answer]]


@dataclass
class Case:
    """One case. `build`, `calls` and `reference` run in a worker only, so making a Case costs nothing."""

    name: str
    op: str
    build: Builder
    calls: Callable[[np.random.Generator], list[Call]]
    reference: Reference | None = None
    function: str = "main"
    expect: str = "run"
    rtol: float | None = None
    atol: float | None = None
    note: str | None = None
    key: bool = False
    interpret: bool = True
    family: str = ""

    def rng(self) -> np.random.Generator:
        """A generator that depends on the case's name only."""
        return np.random.default_rng(zlib.crc32(self.name.encode()))


@dataclass(frozen=True)
class Spec:
    """An input or a state of a directly built graph; -1 is a dynamic dimension."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    state: bool = False


def outputs_of(built: Built, values: Sequence[Array]) -> Arrays:
    """Names a reference's values in the order of the function's outputs."""
    if len(values) != len(built.outputs):
        raise ValueError(f"reference has {len(values)} values for {len(built.outputs)} outputs")
    return dict(zip(built.outputs, values))
