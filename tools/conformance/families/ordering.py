"""argsort, sort and scan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]
Shape = tuple[int, ...]
SHAPES: dict[str, tuple[Shape, int]] = {
    "rank1": ((17,), 0),
    "last": ((3, 9), -1),
    "first": ((7, 3), 0),
    "middle": ((2, 6, 3), 1),
    "long": ((300,), 0),
    "one": ((3, 1), 1),
    "empty": ((2, 0), 1),
}


def order(x: Array, axis: int, descending: bool) -> Array:
    """A stable argsort; NaN comes last in either direction."""
    values = x.astype(np.float64)
    key = np.where(np.isnan(values), np.inf, -values if descending else values)
    last = np.isnan(values)
    first = np.argsort(key, axis=axis, kind="stable")
    second = np.argsort(np.take_along_axis(last, first, axis), axis=axis, kind="stable")
    return np.take_along_axis(first, second, axis)


def _sorting(
    op: str, variant: str, dtype: DType, descending: bool, values: Array | None = None, **options: Any
) -> Case:
    shape, axis = SHAPES[variant] if values is None else (values.shape, -1)

    def body(x: Any) -> Any:
        flags = [const(axis), const(descending, np.bool_), const(True, np.bool_)]
        if op == "argsort":
            return ops().argsort(x, *flags)
        return ops().sort(x, *flags)

    def reference(x: Array) -> Array:
        indices = order(x, axis, descending)
        return indices if op == "argsort" else np.take_along_axis(x, indices, axis)

    direction = "descending" if descending else "ascending"
    return graph_case(
        f"order/{op}/{d.label(dtype)}-{variant}-{direction}",
        op,
        [Spec("x", shape, dtype)],
        body,
        reference,
        lambda rng: [[_crowded(rng, shape, dtype) if values is None else values]],
        **options,
    )


def _crowded(rng: np.random.Generator, shape: Shape, dtype: DType) -> Array:
    """Values with many ties."""
    low = 0 if dtype.kind in "ub" else -4
    return rng.integers(low, 5, shape).astype(dtype)


def _edges(dtype: DType) -> Array:
    if d.is_float(dtype):
        return np.array(
            [[np.nan, 3, -np.inf, 1, np.inf], [2, np.nan, np.nan, -1, 2], [0.0, -0.0, 1, 0.0, -0.0]]
        ).astype(dtype)
    low, high = d.limits(dtype)
    return np.array([[high, low, 0, high, low]], np.int64).astype(dtype)


COMBINERS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def _scan(
    combiner: str, variant: str, dtype: DType, reverse: bool, values: Array | None = None, **options: Any
) -> Case:
    shape, axis = SHAPES[variant] if values is None else (values.shape, 1)
    axis %= len(shape)

    def reference(x: Array) -> Array:
        turned = np.flip(x, axis) if reverse else x
        result = COMBINERS[combiner].accumulate(turned, axis=axis, dtype=x.dtype)
        return np.flip(result, axis) if reverse else result

    def data(rng: np.random.Generator) -> list[list[Array]]:
        if values is not None:
            return [[values]]
        if combiner == "product" and d.is_float(dtype):
            return [[(1 + 0.1 * rng.normal(size=shape)).astype(dtype)]]
        return [[d.random(rng, shape, dtype)]]

    loose = {d.F16: (8e-3, 4e-3), d.BF16: (8e-2, 8e-2)}.get(dtype) if combiner in ("sum", "product") else None
    if loose:
        options |= {
            "rtol": loose[0],
            "atol": loose[1],
            "note": "each partial result may be rounded to the element type, or not",
        }
    return graph_case(
        f"order/scan/{combiner}-{d.label(dtype)}-{variant}{'-reverse' if reverse else ''}",
        f"scan_{combiner}",
        [Spec("x", shape, dtype)],
        lambda x: ops().scan(x, const(axis, np.uint32), const(reverse, np.bool_), combiner=combiner),
        reference,
        data,
        **options,
    )


def _scan_edges(combiner: str) -> Case:
    values = np.array([[1, np.nan, 2], [np.inf, -np.inf, 1], [1e38, 1e38, 1e38], [-1, 0, -np.inf]], np.float32)
    return _scan(combiner, "edges", d.F32, False, values, key=True)


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for op in ("argsort", "sort"):
        for descending in (False, True):
            for variant in SHAPES:
                for dtype in (d.F32, d.I32):
                    yield _sorting(op, variant, dtype, descending, key=variant == "last" and dtype == d.F32)
            for dtype in d.REALS:
                yield _sorting(op, "edges", dtype, descending, _edges(dtype), key=dtype == d.F32)
    for combiner in COMBINERS:
        for reverse in (False, True):
            for variant in ("rank1", "last", "first", "middle", "empty"):
                for dtype in (d.F32, d.I32):
                    yield _scan(combiner, variant, dtype, reverse)
            for dtype in (d.F16, d.BF16, d.I8, d.I16, d.U8, d.U32):
                yield _scan(combiner, "last", dtype, reverse)
        yield _scan_edges(combiner)
        yield graph_case(
            f"order/scan/{combiner}-f32-dynamic",
            f"scan_{combiner}",
            [Spec("x", (-1, 3), d.F32)],
            lambda x, c=combiner: ops().scan(x, const(0, np.uint32), const(False, np.bool_), combiner=c),
            lambda x, c=combiner: COMBINERS[c].accumulate(x, axis=0),
            lambda rng: [[d.random(rng, (n, 3), d.F32)] for n in (4, 1)],
        )
    yield graph_case(
        "order/sort/f32-dynamic",
        "sort",
        [Spec("x", (-1, 4), d.F32)],
        lambda x: ops().sort(x, const(0), const(False, np.bool_), const(True, np.bool_)),
        lambda x: np.sort(x, 0),
        lambda rng: [[d.random(rng, (n, 4), d.F32)] for n in (5, 2)],
    )
