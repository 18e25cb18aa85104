"""Reductions, argmax and argmin, the primitives with a region, and softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]
Function = Callable[..., Any]


def _extreme(array: Array, axes: tuple[int, ...], most: bool) -> Array:
    low, high = (-np.inf, np.inf) if array.dtype.kind == "f" else d.limits(array.dtype)
    return (np.max if most else np.min)(array, axis=axes, keepdims=True, initial=low if most else high)


def _mean(array: Array, axes: tuple[int, ...]) -> Array:
    count = np.prod([array.shape[a] for a in axes], dtype=np.float64)
    return np.sum(array, axis=axes, keepdims=True) / count


def _wrapping(function: Function) -> Function:
    return lambda x, axes: function(x, axis=axes, keepdims=True, dtype=x.dtype)


REDUCTIONS: dict[str, Function] = {
    "reduce_sum": _wrapping(np.sum),
    "reduce_product": _wrapping(np.prod),
    "reduce_mean": _mean,
    "reduce_max": lambda x, axes: _extreme(x, axes, True),
    "reduce_min": lambda x, axes: _extreme(x, axes, False),
}
LAYOUTS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "last": ((3, 7), (-1,)),
    "first": ((5, 4), (0,)),
    "middle": ((2, 5, 3), (1,)),
    "outer": ((3, 4, 5), (0, 2)),
    "all": ((2, 3, 4), (0, 1, 2)),
    "rank1": ((33,), (0,)),
    "none": ((2, 3), ()),
    "unit": ((3, 1, 2), (1,)),
    "rank6": ((2, 1, 2, 3, 1, 2), (-1, 1, 3)),
    "wide": ((2, 1031), (1,)),
    "tall": ((515, 3), (0,)),
}
EMPTY: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "empty_axis": ((2, 0), (1,)),
    "empty_all": ((0, 3), (0, 1)),
    "empty_kept": ((0, 3), (1,)),
}


def _small(op: str, rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Array:
    values = d.random(rng, shape, dtype)
    if op == "reduce_product":
        if d.is_float(dtype):
            return (1 + 0.05 * rng.normal(size=shape)).astype(dtype)
        return np.clip(values, 0 if d.limits(dtype)[0] == 0 else -3, 3).astype(dtype)
    return values


def _reduction(
    op: str, dtype: DType, variant: str, layout: tuple[tuple[int, ...], tuple[int, ...]], **options: Any
) -> Case:
    shape, axes = layout
    return graph_case(
        f"reduce/{op}/{d.label(dtype)}-{variant}",
        op,
        [Spec("x", shape, dtype)],
        lambda x: getattr(ops(), op)(x, const(list(axes))),
        lambda x: REDUCTIONS[op](x, axes),
        lambda rng: [[_small(op, rng, shape, dtype)]],
        **options,
    )


def _edges(op: str, dtype: DType) -> Iterator[Case]:
    if d.is_float(dtype):
        rows = [
            [np.nan, np.nan, 42.0],
            [5.0, np.nan, 1.0],
            [-np.inf, -np.inf, -np.inf],
            [np.inf, np.inf, np.inf],
            [1.0, np.inf, 2.0],
            [np.inf, -np.inf, 0.0],
            [-0.0, -0.0, -0.0],
            [-5.0, -7.0, -6.0],
        ]
        values = np.array(rows).astype(dtype)
    else:
        low, high = d.limits(dtype)
        values = np.array([[high, high, 1], [low, low, 2], [high, low, 3], [low, low, low]], np.int64).astype(dtype)
    yield graph_case(
        f"reduce/{op}/{d.label(dtype)}-edges",
        op,
        [Spec("x", values.shape, dtype)],
        lambda x: getattr(ops(), op)(x, const([1])),
        lambda x: REDUCTIONS[op](x, (1,)),
        lambda rng: [[values]],
        key=dtype in (d.F32, d.I32, d.U8),
    )


def _truth(op: str, function: Function) -> Iterator[Case]:
    for variant, (shape, axes) in {**LAYOUTS, **EMPTY}.items():
        if not axes:  # refused by the verifier
            continue
        yield graph_case(
            f"reduce/{op}/{variant}",
            op,
            [Spec("x", shape, d.BOOL)],
            lambda x, a=axes: getattr(ops(), f"{op}_")(x, const(list(a))),
            lambda x, a=axes: function(x, axis=a, keepdims=True),
            lambda rng, s=shape: [[rng.integers(0, 9, s) > (0 if op == "all" else 7)]],
            key=variant in ("outer", "empty_axis"),
        )


def _arg(most: bool) -> Function:
    """First of ties; NaN never wins (element > best, from the least value)."""

    def index(x: Array, axis: int) -> Array:
        flat = np.moveaxis(x, axis, -1)
        out = np.zeros(flat.shape[:-1], np.uint32)
        for place in np.ndindex(out.shape):
            best, at = None, 0
            for i, value in enumerate(flat[place]):
                if value != value or (best is not None and not (value > best if most else value < best)):
                    continue
                best, at = value, i
            out[place] = at
        return np.expand_dims(out, axis)

    return index


def _args(dtype: DType) -> Iterator[Case]:
    edge = np.array([[3, 9, 9, 1], [0, 0, 0, 0], [7, 1, 7, 7]], np.float64)
    if d.is_float(dtype):
        edge = np.array([[1, np.nan, 3, 3], [np.inf, 1, np.inf, 0], [-np.inf, -np.inf, 5, 5], [2, -0.0, 0.0, 2]])
    values = edge.astype(dtype)
    yield graph_case(
        f"reduce/argmax/{d.label(dtype)}-edges",
        "argmax",
        [Spec("x", values.shape, dtype)],
        lambda x: ops().argmax(x, const(1)),
        lambda x: _arg(True)(x, 1),
        lambda rng: [[values]],
        key=dtype == d.F32,
    )
    layouts: dict[str, tuple[tuple[int, ...], int]] = {
        "last": ((3, 9), -1),
        "first": ((6, 4), 0),
        "middle": ((2, 5, 3), 1),
        "rank1": ((40,), 0),
    }
    for variant, (shape, axis) in layouts.items():
        if dtype not in (d.F32, d.I32) and variant != "last":
            continue
        yield graph_case(
            f"reduce/argmax/{d.label(dtype)}-{variant}",
            "argmax",
            [Spec("x", shape, dtype)],
            lambda x, a=axis: ops().argmax(x, const(a)),
            lambda x, a=axis: _arg(True)(x, a),
            lambda rng, s=shape: [[d.random(rng, s, dtype)]],
        )


def softmax(x: Array, axis: int) -> Array:
    """With the maximum subtracted; several +inf share the mass."""
    top = np.max(x, axis=axis, keepdims=True)
    shifted = np.where(x == top, 0, x - top)
    powers = np.exp(np.where(np.isnan(x), np.nan, shifted))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def _softmax(dtype: DType) -> Iterator[Case]:
    rows = [
        [1000, 1000, 0],
        [1, 2, 3],
        [np.inf, 0, 1],
        [np.inf, np.inf, 1],
        [-np.inf, 0, 0],
        [np.nan, 0, 1],
        [0, 0, 0],
        [-1000, -1001, -1000],
        [60000, -60000, 0],
    ]
    values = np.array(rows, np.float64).astype(dtype)
    yield graph_case(
        f"reduce/softmax/{d.label(dtype)}-edges",
        "softmax",
        [Spec("x", values.shape, dtype)],
        lambda x: ops().softmax(x, const(-1)),
        lambda x: softmax(x, -1),
        lambda rng: [[values]],
        key=True,
    )
    layouts: dict[str, tuple[tuple[int, ...], int]] = {
        "last": ((3, 17), -1),
        "first": ((6, 4), 0),
        "middle": ((2, 5, 3), 1),
        "unit": ((3, 1), 1),
        "rank1": ((1030,), 0),
        "rank5": ((2, 1, 3, 2, 4), -2),
    }
    for variant, (shape, axis) in layouts.items():
        yield graph_case(
            f"reduce/softmax/{d.label(dtype)}-{variant}",
            "softmax",
            [Spec("x", shape, dtype)],
            lambda x, a=axis: ops().softmax(x, const(a)),
            lambda x, a=axis: softmax(x, a),
            lambda rng, s=shape: [[d.random(rng, s, dtype, 6)]],
        )


def _dynamic(op: str) -> Case:
    return graph_case(
        f"reduce/{op}/f32-dynamic",
        op,
        [Spec("x", (-1, -1, 3), d.F32)],
        lambda x: getattr(ops(), op)(x, const([1])),
        lambda x: REDUCTIONS[op](x, (1,)),
        lambda rng: [[_small(op, rng, s, d.F32)] for s in ((2, 4, 3), (1, 9, 3), (5, 1, 3))],
        key=op == "reduce_sum",
    )


def _computed_axes() -> Case:
    return graph_case(
        "reduce/reduce_sum/f32-axes_input",
        "reduce_sum",
        [Spec("x", (2, 3, 4), d.F32), Spec("axes", (1,), d.I32)],
        lambda x, axes: ops().reduce_sum(x, axes),
        lambda x, axes: np.sum(x, axis=tuple(int(a) for a in axes), keepdims=True),
        lambda rng: [[d.random(rng, (2, 3, 4), d.F32), np.array([a], np.int32)] for a in (0, 2, -2)],
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for op in REDUCTIONS:
        types = d.FLOATS if op == "reduce_mean" else d.REALS
        for dtype in types:
            yield from _edges(op, dtype)
            for variant, layout in LAYOUTS.items():
                if dtype not in (d.F32, d.I32) and variant not in ("last", "outer", "wide"):
                    continue
                if variant == "wide" and op == "reduce_product":
                    continue
                yield _reduction(op, dtype, variant, layout)
        for dtype in (d.F32, d.I32):
            for variant, layout in EMPTY.items():
                if dtype in types:
                    yield _reduction(
                        op,
                        dtype,
                        variant,
                        layout,
                        key=variant == "empty_axis",
                        note="empty: sum 0, product 1, mean NaN, maximum and minimum the type's ends",
                    )
        yield _dynamic(op)
    yield from _truth("all", np.all)
    yield from _truth("any", np.any)
    for dtype in d.REALS:
        yield from _args(dtype)
    for dtype in d.FLOATS:
        yield from _softmax(dtype)
    yield _computed_axes()
