"""All families of cases, in a fixed order."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from ..model import Case

FAMILIES = [
    "unary", "binary", "select", "reductions", "matmul", "convolution", "pooling", "resizing",
    "shapes", "slicing", "indexing", "ordering", "compressed", "states", "control",
    "torch_ops",
]


def all_cases() -> list[Case]:
    """Every case; names are unique."""
    cases: list[Case] = []
    for family in FAMILIES:
        module = importlib.import_module(f".{family}", __name__)
        found: Iterator[Case] = module.cases()
        cases.extend(found)
    names = [c.name for c in cases]
    if len(set(names)) != len(names):
        seen: set[str] = set()
        twice = sorted({n for n in names if n in seen or seen.add(n)})  # type: ignore[func-returns-value]
        raise ValueError(f"case names used twice: {', '.join(twice[:5])}")
    return cases
