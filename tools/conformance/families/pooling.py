"""max_pool and sum_pool in two and three dimensions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops, tensor_type
from ..model import Array, Case, Spec

DType = np.dtype[Any]


@dataclass(frozen=True)
class Window:
    """One pooling; a shape is [N, C, spatial…]."""

    input: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    ceil: bool = False

    def output(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The output's shape for an input of this shape."""
        sizes = []
        for size, k, s, dil in zip(shape[2:], self.kernel, self.stride, self.dilation):
            room = size - (dil * (k - 1) + 1)
            sizes.append((-(-room // s) if self.ceil else room // s) + 1)
        return shape[:2] + tuple(sizes)


FLAT = {
    "2x2": Window((1, 2, 6, 8), (2, 2), (2, 2), (1, 1)),
    "3x3s2": Window((2, 3, 9, 7), (3, 3), (2, 2), (1, 1)),
    "overlap": Window((1, 1, 5, 5), (3, 2), (1, 1), (1, 1)),
    "dilated": Window((1, 2, 9, 9), (3, 3), (1, 2), (2, 3)),
    "gaps": Window((1, 2, 7, 7), (1, 1), (3, 2), (1, 1)),
    "whole": Window((1, 4, 5, 6), (5, 6), (1, 1), (1, 1)),
    "row": Window((1, 3, 1, 12), (1, 4), (1, 3), (1, 1)),
}
CEILED = {
    "ceil": Window((1, 1, 5, 5), (2, 2), (2, 2), (1, 1), True),
    "ceil3s2": Window((1, 2, 6, 8), (3, 3), (2, 2), (1, 1), True),
    "ceil_dilated": Window((1, 1, 8, 8), (2, 2), (3, 3), (2, 2), True),
    "ceil_exact": Window((1, 1, 6, 6), (2, 2), (2, 2), (1, 1), True),
}
DEEP = {
    "2x2x2": Window((1, 2, 4, 4, 6), (2, 2, 2), (2, 2, 2), (1, 1, 1)),
    "uneven": Window((1, 2, 5, 6, 7), (2, 3, 1), (1, 2, 3), (1, 1, 1)),
    "dilated": Window((1, 1, 5, 7, 7), (2, 2, 3), (1, 1, 1), (3, 2, 2)),
}
DEEP_CEILED = {"ceil": Window((1, 2, 5, 4, 5), (2, 2, 2), (2, 2, 2), (1, 1, 1), True)}


def pooled(window: Window, x: Array, most: bool) -> Array:
    """The pool by its definition; what hangs over the edge in ceil mode is left out."""
    out = window.output(x.shape)
    if most:
        low: Any = -np.inf if x.dtype.kind == "f" else d.limits(x.dtype)[0]
        result = np.full(out, low, x.dtype)
    else:
        result = np.zeros(out, x.dtype)
    places = [range(n) for n in out[2:]]
    for place in itertools.product(*places):
        for offset in itertools.product(*[range(k) for k in window.kernel]):
            at = [s * p + dil * o for s, p, dil, o in zip(window.stride, place, window.dilation, offset)]
            if any(a >= n for a, n in zip(at, x.shape[2:])):
                continue
            here, value = (slice(None), slice(None), *place), x[(slice(None), slice(None), *at)]
            result[here] = np.maximum(result[here], value) if most else result[here] + value
    return result


def _case(op: str, variant: str, window: Window, dtype: DType, values: Array | None = None, **options: Any) -> Case:
    most = op.startswith("max")
    shape = window.input if values is None else values.shape

    def body(x: Any) -> Any:
        numbers = [const(list(v), np.uint32) for v in (window.kernel, window.stride, window.dilation)]
        if most:
            output = tensor_type(window.output(shape), dtype)
            return getattr(ops(), op.replace("_", ""))(output, x, *numbers, const(window.ceil, np.bool_))
        return getattr(ops(), op.replace("_", ""))(x, *numbers)

    return graph_case(
        f"pool/{op}/{d.label(dtype)}-{variant}",
        op,
        [Spec("x", shape, dtype)],
        body,
        lambda x: pooled(window, x, most),
        lambda rng: [[d.random(rng, shape, dtype) if values is None else values]],
        **options,
    )


def _edges(dtype: DType) -> Array:
    values = np.arange(36, dtype=np.float64).reshape(1, 1, 6, 6) - 18
    values[0, 0, 0, 0], values[0, 0, 1, 3], values[0, 0, 2:4, 0:2] = np.nan, np.inf, -np.inf
    values[0, 0, 5, 5] = -np.inf
    return values.astype(dtype)


def _dynamic(op: str) -> Case:
    window = Window((1, 1, 1, 1), (3, 3), (2, 2), (1, 1))
    most = op.startswith("max")

    def body(x: Any) -> Any:
        numbers = [const(list(v), np.uint32) for v in (window.kernel, window.stride, window.dilation)]
        if most:
            return ops().maxpool2d(tensor_type((-1, 2, -1, -1), d.F32), x, *numbers, const(False, np.bool_))
        return ops().sumpool2d(x, *numbers)

    return graph_case(
        f"pool/{op}/f32-dynamic",
        op,
        [Spec("x", (-1, 2, -1, -1), d.F32)],
        body,
        lambda x: pooled(window, x, most),
        lambda rng: [[d.random(rng, s, d.F32)] for s in ((1, 2, 5, 5), (2, 2, 3, 8), (1, 2, 10, 4))],
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for op in ("max_pool_2d", "sum_pool_2d"):
        windows = {**FLAT, **CEILED} if op.startswith("max") else FLAT
        for variant, window in windows.items():
            for dtype in (d.F32, d.F16, d.I32) if variant != "3x3s2" else d.REALS:
                yield _case(op, variant, window, dtype, key=variant in ("dilated", "ceil") and dtype == d.F32)
        for dtype in d.FLOATS:
            yield _case(op, "edges", FLAT["2x2"], dtype, _edges(dtype), key=dtype == d.F32)
        yield _dynamic(op)
    for op in ("max_pool_3d", "sum_pool_3d"):
        windows = {**DEEP, **DEEP_CEILED} if op.startswith("max") else DEEP
        for variant, window in windows.items():
            for dtype in (d.F32, d.F16, d.I32):
                yield _case(op, variant, window, dtype)
