"""slice and slice_update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]
Cut = tuple[tuple[int, ...], list[int], list[int], list[int]]
INT_MIN, INT_MAX = -(2**31), 2**31 - 1

CUTS: dict[str, Cut] = {
    "forward": ((10,), [2], [8], [1]),
    "step2": ((10,), [0], [10], [2]),
    "step3": ((11,), [1], [11], [3]),
    "backward": ((8,), [7], [0], [-1]),
    "backward2": ((8,), [6], [1], [-2]),
    "negative": ((10,), [-4], [-1], [1]),
    "clamp_end": ((5,), [1], [99], [1]),
    "clamp_start": ((5,), [-99], [3], [1]),
    "past_end": ((5,), [7], [9], [1]),
    "empty": ((5,), [3], [3], [1]),
    "crossed": ((5,), [4], [1], [1]),
    "crossed_back": ((8,), [0], [5], [-1]),
    "max_end": ((8,), [0], [INT_MAX], [1]),
    "max_end_back": ((8,), [-1], [INT_MAX], [-1]),
    "back_negative": ((8,), [-2], [-7], [-2]),
    "block": ((5, 6), [1, 2], [4, 5], [1, 1]),
    "mixed": ((4, 5, 6), [0, 4, -3], [4, 0, 6], [2, -2, 1]),
    "rank4": ((2, 3, 4, 5), [0, 1, 0, -2], [2, 3, 4, 5], [1, 1, 3, 1]),
    "rank6": ((2, 1, 3, 1, 2, 3), [1, 0, 0, 0, 0, 2], [2, 1, 3, 1, 2, 0], [1, 1, 2, 1, 1, -1]),
    "whole": ((3, 4), [0, 0], [3, 4], [1, 1]),
    "of_empty": ((0, 3), [0, 0], [0, 2], [1, 1]),
}


def places(shape: tuple[int, ...], starts: Any, ends: Any, strides: Any) -> list[Array]:
    """The indices that a slice visits: wrap once what is below its valid range, then clamp. Going backward, an end of
    −1 is in range and means "down to the first element"."""
    visited = []
    for n, start, end, step in zip(shape, starts, ends, strides):
        start, end, step = int(start), int(end), int(step)
        start = start + n if start < 0 else start
        end = end + n if end < (0 if step > 0 else -1) else end
        if step > 0:
            start, end = min(max(start, 0), n), min(max(end, 0), n)
        else:
            start, end = min(max(start, 0), n - 1), min(max(end, -1), n - 1)
        visited.append(np.arange(start, end, step))
    return visited


def _slice(variant: str, cut: Cut, dtype: DType, **options: Any) -> Case:
    shape, *numbers = cut
    return graph_case(
        f"slice/slice/{d.label(dtype)}-{variant}",
        "slice",
        [Spec("x", shape, dtype)],
        lambda x: ops().slice_(x, *[const(n) for n in numbers]),
        lambda x: x[np.ix_(*places(shape, *numbers))],
        lambda rng: [[d.random(rng, shape, dtype)]],
        **options,
    )


def _updated(x: Array, update: Array, cut: tuple[Any, Any, Any]) -> Array:
    result = x.copy()
    result[np.ix_(*places(x.shape, *cut))] = update
    return result


def _update(variant: str, cut: Cut, dtype: DType, **options: Any) -> Case:
    shape, starts, ends, strides = cut
    size = tuple(len(p) for p in places(shape, starts, ends, strides))
    return graph_case(
        f"slice/slice_update/{d.label(dtype)}-{variant}",
        "slice_update",
        [Spec("x", shape, dtype), Spec("update", size, dtype)],
        lambda x, u: ops().slice_update(x, const(starts), const(ends), const(strides), u),
        lambda x, u: _updated(x, u, (starts, ends, strides)),
        lambda rng: [[d.random(rng, shape, dtype), d.random(rng, size, dtype)]],
        **options,
    )


ENDS = (INT_MIN, -20, -17, -10, -9, -8, -7, -2, -1, 0, 1, 5, 7, 8, 9, 20, INT_MAX)


def _sweep(step: int) -> Case:
    """Many bounds on eight elements, given at run time: the converter's own inference is wrong for some of them."""
    specs = [Spec("x", (8,), d.F32)] + [Spec(n, (1,), d.I32) for n in ("start", "end", "stride")]
    starts = (-9, -8, -1, 0, 3, 7, 12)
    return graph_case(
        f"slice/slice/f32-sweep_{'back' if step < 0 else 'forward'}{abs(step)}",
        "slice",
        specs,
        lambda x, a, b, c: ops().slice_(x, a, b, c),
        lambda x, a, b, c: x[np.ix_(*places(x.shape, a, b, c))],
        lambda rng: [
            [np.arange(8, dtype=np.float32), *[np.array([v], np.int32) for v in (s, e, step)]]
            for s in starts
            for e in ENDS
            if (s + e) % 3 == 0 or s in (0, 7)
        ],
        key=abs(step) == 1,
    )


def _given() -> Iterator[Case]:
    """Bounds that come as inputs."""
    for step in (1, -1, 3, -2):
        yield _sweep(step)
    yield graph_case(
        "slice/slice_update/f32-bounds_input",
        "slice_update",
        [Spec("x", (8,), d.F32), Spec("update", (-1,), d.F32)]
        + [Spec(n, (1,), d.I32) for n in ("start", "end", "stride")],
        lambda x, u, a, b, c: ops().slice_update(x, a, b, c, u),
        lambda x, u, a, b, c: _updated(x, u, (a, b, c)),
        lambda rng: [
            [
                d.random(rng, (8,), d.F32),
                d.random(rng, (len(places((8,), [s], [e], [t])[0]),), d.F32),
                *[np.array([v], np.int32) for v in (s, e, t)],
            ]
            for s, e, t in ((1, 5, 1), (-99, 3, 1), (7, -1, -1), (-1, INT_MIN, -2), (6, 2, -2), (0, 8, 3))
        ],
        key=True,
    )
    bounds = [([1, 0], [3, 2], [1, 1]), ([-2, 1], [9, 5], [1, 2]), ([3, 4], [0, 0], [-1, -2])]
    specs = [Spec("x", (4, 5), d.F32)] + [Spec(n, (2,), d.I32) for n in ("start", "end", "stride")]
    yield graph_case(
        "slice/slice/f32-bounds_input",
        "slice",
        specs,
        lambda x, a, b, c: ops().slice_(x, a, b, c),
        lambda x, a, b, c: x[np.ix_(*places(x.shape, a, b, c))],
        lambda rng: [[d.random(rng, (4, 5), d.F32), *[np.array(n, np.int32) for n in one]] for one in bounds],
        key=True,
    )
    yield graph_case(
        "slice/slice_update/f32-position_input",
        "slice_update",
        [Spec("x", (6, 3), d.F32), Spec("update", (2, 3), d.F32), Spec("at", (), d.I32)],
        _write_rows,
        lambda x, u, at: _updated(x, u, ([at, 0], [at + 2, 3], [1, 1])),
        lambda rng: [
            [d.random(rng, (6, 3), d.F32), d.random(rng, (2, 3), d.F32), np.array(p, np.int32)] for p in (0, 3, 4)
        ],
        key=True,
    )
    yield graph_case(
        "slice/slice/f32-dynamic",
        "slice",
        [Spec("x", (-1, 4), d.F32)],
        lambda x: ops().slice_(x, const([1, 0]), const([-1, 4]), const([1, 2])),
        lambda x: x[1:-1, ::2],
        lambda rng: [[d.random(rng, (n, 4), d.F32)] for n in (3, 6, 2)],
    )
    yield graph_case(
        "slice/slice_update/f32-dynamic",
        "slice_update",
        [Spec("x", (-1, 4), d.F32), Spec("update", (1, 4), d.F32)],
        lambda x, u: ops().slice_update(x, const([1, 0]), const([2, 4]), const([1, 1]), u),
        lambda x, u: _updated(x, u, ([1, 0], [2, 4], [1, 1])),
        lambda rng: [[d.random(rng, (n, 4), d.F32), d.random(rng, (1, 4), d.F32)] for n in (2, 5)],
    )


def _write_rows(x: Any, update: Any, at: Any) -> Any:
    """Writes two rows at a position computed in the graph, as a key-value cache does."""
    coreai = ops()
    first = coreai.expand_dims(at, const([0]))
    start = coreai.concat(0, [first, const([0])])
    end = coreai.concat(0, [coreai.add(first, const([2])), const([3])])
    return coreai.slice_update(x, start, end, const([1, 1]), update)


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for variant, cut in CUTS.items():
        for dtype in d.ALL if variant == "mixed" else [d.F32]:
            yield _slice(variant, cut, dtype, key=variant in ("backward2", "max_end_back", "crossed_back"))
            if variant != "clamp_start":  # the converter infers another size there
                yield _update(variant, cut, dtype)
    yield from _given()
