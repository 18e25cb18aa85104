"""The small, fixed part of the suite that the repository keeps."""

from __future__ import annotations

import zlib
from collections import defaultdict

from .model import Case


def committed(cases: list[Case], per_op: int = 2) -> list[Case]:
    """Every case marked as key, and for each op the first few in an order that depends on the names only."""
    kept = {c.name for c in cases if c.key}
    by_op: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_op[case.op].append(case)
    for group in by_op.values():
        missing = per_op - sum(c.name in kept for c in group)
        for case in sorted(group, key=lambda c: zlib.crc32(c.name.encode())):
            if missing <= 0:
                break
            if case.name not in kept:
                kept.add(case.name)
                missing -= 1
    return [c for c in cases if c.name in kept]
