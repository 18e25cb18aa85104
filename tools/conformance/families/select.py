"""where, and cast between all pairs of element types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]


OUTSIDE = "out of range: saturates, NaN gives 0. The docstring leaves it open; this is what the interpreter does"


def saturating_cast(target: DType) -> Callable[[Array], Array]:
    """Float to integer truncates and saturates, NaN → 0; integer to integer saturates too (the docstring is silent,
    the interpreter clear); to bool is ≠ 0."""

    def cast(x: Array) -> Array:
        if target == d.BOOL:
            return x != 0
        if d.is_float(target):
            return x.astype(np.float64)
        if x.dtype.kind == "f":
            low, high = d.limits(target)
            clean = np.nan_to_num(np.trunc(x), nan=0, posinf=float(high), neginf=float(low))
            return np.clip(clean, float(low), float(high)).astype(np.int64).astype(target)
        low, high = d.limits(target)
        return np.clip(x.astype(np.int64), int(low), int(high)).astype(target)

    return cast


def _in_range(values: Array, target: DType) -> Array:
    if target == d.BOOL or d.is_float(target) or values.dtype == d.BOOL:
        return np.ones(values.shape, bool)
    low, high = d.limits(target)
    x = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return (np.trunc(x) >= float(low)) & (np.trunc(x) <= float(high))


def _cast(source: DType, target: DType) -> Iterator[Case]:
    values = d.special(source)
    if source == d.F32:
        values = np.concatenate([values, np.array([3e9, -3e9, 300.7, 2147483520, 65519.99, 65520, 1.00390625], source)])
    if source == d.I32:
        values = np.concatenate([values, np.array([16777217, 16777219, -16777217, 2049, 257, 40000, 65535], source)])
    inside = _in_range(values, target)
    name = f"cast/{d.label(source)}_to_{d.label(target)}"
    body = lambda x: ops().cast(x, target.type)  # noqa: E731
    reference = saturating_cast(target)
    chosen = values[inside]
    yield graph_case(
        name,
        "cast",
        [Spec("x", chosen.shape, source)],
        body,
        reference,
        lambda rng: [[chosen]],
        key=d.F32 in (source, target) or d.BOOL in (source, target),
    )
    if not inside.all():
        wild = values[~inside]
        yield graph_case(
            f"{name}-outside",
            "cast",
            [Spec("x", wild.shape, source)],
            body,
            reference,
            lambda rng: [[wild]],
            key=source == d.F32,
            note=OUTSIDE,
        )


def _cast_rounding() -> Iterator[Case]:
    bits = np.array(
        [
            0x3F808000,
            0x3F818000,
            0x3F808001,
            0x7F7FFFFF,
            0x7F800001,
            0x80000001,
            0x3F80FFFF,
            0x38800000,
            0x33800000,
            0x33000000,
            0x33000001,
            0x477FEFFF,
            0x477FF000,
        ],
        np.uint32,
    )
    values = bits.view(np.float32)
    for target in (d.BF16, d.F16):
        yield graph_case(
            f"cast/f32_to_{d.label(target)}-rounding",
            "cast",
            [Spec("x", values.shape, d.F32)],
            lambda x, t=target: ops().cast(x, t.type),
            lambda x, t=target: x.astype(t),
            lambda rng: [[values]],
            key=True,
            rtol=0,
            atol=0,
            note="rounding to nearest even is exact",
        )
    yield graph_case(
        "cast/f32_to_i32-dynamic",
        "cast",
        [Spec("x", (-1, 2), d.F32)],
        lambda x: ops().cast(x, np.int32),
        saturating_cast(d.I32),
        lambda rng: [[d.random(rng, (n, 2), d.F32, 99)] for n in (1, 4)],
    )
    yield graph_case(
        "cast/f32_to_f32-same",
        "cast",
        [Spec("x", (3, 2), d.F32)],
        lambda x: ops().cast(x, np.float32),
        lambda x: x,
        lambda rng: [[d.random(rng, (3, 2), d.F32)]],
    )


def _where(dtype: DType) -> Iterator[Case]:
    values = d.special(dtype)
    size = values.size
    yield graph_case(
        f"where/{d.label(dtype)}-special",
        "where",
        [Spec("c", (size,), d.BOOL), Spec("a", (size,), dtype), Spec("b", (size,), dtype)],
        lambda c, a, b: ops().where(c, a, b),
        np.where,
        lambda rng: [[rng.integers(0, 2, size).astype(bool), values, values[::-1].copy()]],
        key=dtype in (d.F32, d.I8, d.BOOL),
    )


def _broadcasting_where(dtype: DType) -> Iterator[Case]:
    shapes = {
        "condition": ((3, 1), (3, 4), (3, 4)),
        "all": ((2, 1, 1), (1, 3, 1), (4,)),
        "scalars": ((2, 3), (), ()),
        "rank6": ((1, 2, 1, 1, 2, 1), (2, 1, 2, 1, 1, 2), (1, 1, 1, 2, 1, 1)),
        "empty": ((0, 2), (1, 2), ()),
    }
    for variant, (c, a, b) in shapes.items():
        yield graph_case(
            f"where/broadcast-{d.label(dtype)}-{variant}",
            "broadcasting_where",
            [Spec("c", c, d.BOOL), Spec("a", a, dtype), Spec("b", b, dtype)],
            lambda c, a, b: ops().broadcasting_where(c, a, b),
            np.where,
            lambda rng, s=(c, a, b): [
                [d.random(rng, s[0], d.BOOL), d.random(rng, s[1], dtype), d.random(rng, s[2], dtype)]
            ],
            key=variant == "all",
        )
    yield graph_case(
        f"where/broadcast-{d.label(dtype)}-dynamic",
        "broadcasting_where",
        [Spec("c", (-1, 1), d.BOOL), Spec("a", (-1, 3), dtype), Spec("b", (3,), dtype)],
        lambda c, a, b: ops().broadcasting_where(c, a, b),
        np.where,
        lambda rng: [
            [d.random(rng, (n, 1), d.BOOL), d.random(rng, (n, 3), dtype), d.random(rng, (3,), dtype)] for n in (1, 4)
        ],
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for source in d.ALL:
        for target in d.ALL:
            if source != target:
                yield from _cast(source, target)
    yield from _cast_rounding()
    for dtype in d.ALL:
        yield from _where(dtype)
    for dtype in (d.F32, d.I32, d.F16):
        yield from _broadcasting_where(dtype)
