"""The small, fixed part of the suite that the repository keeps."""

from __future__ import annotations

import zlib
from collections import defaultdict

from .model import Case

QUOTA = {
    "error": 60,
    "cast": 10,
    "torch_function": 25,
    "module_layer": 6,
    "module_dynamic": 3,
    "module_control": 4,
    "conv2d": 5,
    "read_handle": 6,
}
"""How many cases of an op are kept; elsewhere two, and one when none of them is marked as key."""


def committed(cases: list[Case]) -> list[Case]:
    """For each op the first key cases, or else some in an order that depends on the names only."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.op].append(case)
    kept: set[str] = set()
    for op, group in groups.items():
        marked = [c for c in group if c.key]
        quota = QUOTA.get(op, 2 if marked else 1)
        others = sorted((c for c in group if not c.key), key=lambda c: zlib.crc32(c.name.encode()))
        kept.update(c.name for c in (marked + others)[:quota])
    return [c for c in cases if c.name in kept]
