"""All families of cases, in a fixed order."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ..model import Case

FAMILIES = [
    "unary",
    "binary",
    "select",
    "reductions",
    "matmul",
    "convolution",
    "pooling",
    "resizing",
    "shapes",
    "slicing",
    "indexing",
    "ordering",
    "compressed",
    "states",
    "control",
    "regions",
    "modules",
    "torch_ops",
    "torch_models",
    "composites",
    "errors",
    "extras",
    "field",
    "field_norms",
    "field_indexing",
]


def cases_of(family: str) -> list[Case]:
    """The cases of one family. Importing only what is needed matters: some families import torch."""
    module = importlib.import_module(f".{family}", __name__)
    found: Iterator[Case] = module.cases()
    return [replace(case, family=family) for case in found]


def all_cases() -> list[Case]:
    """Every case; names are unique."""
    cases = [case for family in FAMILIES for case in cases_of(family)]
    counts = Counter(c.name for c in cases)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise ValueError(f"case names used twice: {', '.join(twice[:5])}")
    return cases
