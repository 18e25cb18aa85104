"""Element-wise ops of two operands: arithmetic, comparisons, logic; plain and broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import graph_case, ops
from ..model import Array, Case, Spec

Function = Callable[[Any, Any], Any]
DType = np.dtype[Any]


def c_divide(a: Array, b: Array) -> Array:
    """True division of floats; of integers truncated, x ÷ 0 = 0, and the least ÷ −1 wraps."""
    if a.dtype.kind == "f":
        return a / b
    safe = np.where(b == 0, 1, b).astype(np.int64)
    wide = a.astype(np.int64)
    quotient = np.abs(wide) // np.abs(safe) * np.sign(wide) * np.sign(safe)
    return np.where(b == 0, 0, quotient).astype(a.dtype)


def floor_divide(a: Array, b: Array) -> Array:
    """floor(a / b); of integers x ÷ 0 = 0."""
    if a.dtype.kind == "f":
        return np.floor(a / b)
    safe = np.where(b == 0, 1, b).astype(np.int64)
    return np.where(b == 0, 0, a.astype(np.int64) // safe).astype(a.dtype)


def modulo(a: Array, b: Array) -> Array:
    """C's fmod and %; x % 0 = 0 for integers, as a − 0·…: the quotient is 0 there, and nothing may trap."""
    if a.dtype.kind == "f":
        return np.fmod(a, b)
    safe = np.where(b == 0, 1, b).astype(np.int64)
    return np.where(b == 0, 0, np.fmod(a.astype(np.int64), safe)).astype(a.dtype)


def power(a: Array, b: Array) -> Array:
    """a ** b; of integers with wrapping."""
    if a.dtype.kind == "f":
        return np.power(a, b)
    result = np.ones_like(a)
    exponent = b.astype(np.int64)
    base = a.copy()
    while (exponent > 0).any():
        result = np.where(exponent & 1, result * base, result).astype(a.dtype)
        base = (base * base).astype(a.dtype)
        exponent >>= 1
    return result


def _logical(function: Function) -> Function:
    return lambda a, b: function(a.astype(bool), b.astype(bool))


def _add(a: Array, b: Array) -> Array:
    return a | b if a.dtype == bool else a + b


def _mul(a: Array, b: Array) -> Array:
    return a & b if a.dtype == bool else a * b


NUMERIC: dict[str, tuple[str, Function]] = {
    "add": ("add", _add),
    "sub": ("sub", np.subtract),
    "mul": ("mul", _mul),
    "divide": ("divide", c_divide),
    "floor_divide": ("floor_divide", floor_divide),
    "modulo": ("modulo", modulo),
    "pow": ("pow_", power),
    "maximum": ("maximum", np.maximum),
    "minimum": ("minimum", np.minimum),
    "equal": ("equal", np.equal),
    "not_equal": ("not_equal", np.not_equal),
    "greater": ("greater", np.greater),
}
LOGICAL: dict[str, tuple[str, Function]] = {
    "logical_and": ("and_", _logical(np.logical_and)),
    "logical_or": ("or_", _logical(np.logical_or)),
    "logical_xor": ("xor_", _logical(np.logical_xor)),
}
BITWISE: dict[str, tuple[str, Function]] = {
    "bitwise_and": ("bitwise_and", np.bitwise_and),
    "bitwise_or": ("bitwise_or", np.bitwise_or),
    "bitwise_xor": ("bitwise_xor", np.bitwise_xor),
}
DIVISIONS = {"divide", "floor_divide", "modulo"}
BROADCAST_SHAPES = {
    "row": ((3, 4), (4,)),
    "column": ((3, 4), (3, 1)),
    "outer": ((3, 1, 2), (1, 4, 1)),
    "scalar": ((2, 3), ()),
    "scalar_left": ((), (2, 3)),
    "rank6": ((2, 1, 2, 1, 3, 1), (1, 2, 2, 1, 1, 2)),
    "empty": ((0, 3), (1, 3)),
}


def types_for(op: str) -> list[DType]:
    """The element types an op is tried with."""
    if op in LOGICAL:
        return [d.BOOL]
    if op in BITWISE:
        return d.INTS + [d.BOOL]
    return d.ALL if op in {"add", "mul", "equal", "not_equal"} else d.REALS


def reference_for(op: str, dtype: DType) -> Function:
    """An op's meaning; the quotient that floor_divide floors is one of the element type."""
    function = {**NUMERIC, **LOGICAL, **BITWISE}[op][1]
    if op == "floor_divide" and d.is_float(dtype):
        return lambda a, b: np.floor(d.wide(d.narrow(a / b, dtype)))
    return function


def operands(op: str, rng: np.random.Generator, shapes: tuple[Any, Any], dtype: DType) -> list[Array]:
    """Ordinary operands, without divisions by zero and with small exponents."""
    left, right = (d.random(rng, s, dtype) for s in shapes)
    if op in DIVISIONS and not d.is_float(dtype):
        right = np.where(right == 0, np.asarray(3, dtype), right).astype(dtype)
    if op == "pow":
        if d.is_float(dtype):
            left = (np.abs(left.astype(np.float64)) + 0.1).astype(dtype)
        else:
            right = np.asarray(np.abs(right.astype(np.int64)) % 6).astype(dtype)
    return [left, right]


def _pairs(op: str, dtype: DType, variant: str) -> tuple[Array, Array]:
    a, b = d.pairs(dtype)
    if op == "floor_divide" and dtype in (d.F16, d.BF16):
        with np.errstate(all="ignore"):
            exact = d.wide(a) / d.wide(b)
            steady = np.floor(exact) == np.floor(d.wide(d.narrow(exact, dtype)))
        keep = steady | ~np.isfinite(exact)  # elsewhere the answer hangs on the quotient's intermediate type
        return a[keep], b[keep]
    if d.is_float(dtype) or dtype == d.BOOL:
        return a, b
    if op == "pow":
        keep = (b >= 0) & (b <= 10)
        return a[keep], b[keep]
    if op in DIVISIONS:
        low = d.limits(dtype)[0]
        wild = (b == 0) | ((a == low) & (b.astype(np.int64) == -1))
        return (a[wild], b[wild]) if variant == "wild" else (a[~wild], b[~wild])
    return a, b


def _plain(op: str, builder: str, dtype: DType, key: bool) -> Iterator[Case]:
    specs_of = lambda shape: [Spec("x", shape, dtype), Spec("y", shape, dtype)]  # noqa: E731
    reference = reference_for(op, dtype)
    body = lambda x, y: getattr(ops(), builder)(x, y)  # noqa: E731
    variants = ["pairs", "wild"] if op in DIVISIONS and not d.is_float(dtype) else ["pairs"]
    for variant in variants:
        values = _pairs(op, dtype, variant)
        yield graph_case(
            f"binary/{op}/{d.label(dtype)}-{variant}",
            op,
            specs_of(values[0].shape),
            body,
            reference,
            lambda rng, v=values: [v],
            key=key,
            note="integer division by zero and overflow: defined here, a trap in the interpreter"
            if variant == "wild"
            else None,
        )


def _shapes(op: str, builder: str, dtype: DType) -> Iterator[Case]:
    reference = reference_for(op, dtype)
    body = lambda x, y: getattr(ops(), builder)(x, y)  # noqa: E731
    for variant, shape in (("vector", (101,)), ("scalar", ()), ("rank4", (2, 3, 1, 5)), ("empty", (2, 0))):
        yield graph_case(
            f"binary/{op}/{d.label(dtype)}-{variant}",
            op,
            [Spec("x", shape, dtype), Spec("y", shape, dtype)],
            body,
            reference,
            lambda rng, s=shape: [operands(op, rng, (s, s), dtype)],
        )
    yield graph_case(
        f"binary/{op}/{d.label(dtype)}-dynamic",
        op,
        [Spec("x", (-1, 3), dtype), Spec("y", (-1, 3), dtype)],
        body,
        reference,
        lambda rng: [operands(op, rng, ((n, 3), (n, 3)), dtype) for n in (2, 5, 1)],
    )
    yield graph_case(
        f"binary/{op}/{d.label(dtype)}-constant",
        op,
        [Spec("x", (2, 5), dtype)],
        lambda x: getattr(ops(), builder)(x, ops().constant(_constant(op, dtype))),
        lambda x: reference(x, d.wide(_constant(op, dtype))),
        lambda rng: [operands(op, rng, ((2, 5), (2, 5)), dtype)[:1]],
    )


def _constant(op: str, dtype: DType) -> Array:
    return operands(op, np.random.default_rng(7), ((2, 5), (2, 5)), dtype)[1]


def _broadcasting(op: str, builder: str, dtype: DType, few: bool) -> Iterator[Case]:
    name = f"broadcasting_{builder.rstrip('_')}"
    reference = reference_for(op, dtype)
    body = lambda x, y: getattr(ops(), name)(x, y)  # noqa: E731
    for variant, shapes in BROADCAST_SHAPES.items():
        if few and variant not in ("outer", "row"):
            continue
        yield graph_case(
            f"broadcast/{op}/{d.label(dtype)}-{variant}",
            name,
            [Spec("x", shapes[0], dtype), Spec("y", shapes[1], dtype)],
            body,
            reference,
            lambda rng, s=shapes: [operands(op, rng, s, dtype)],
            key=variant == "outer" and not few,
        )
    if not few:
        yield graph_case(
            f"broadcast/{op}/{d.label(dtype)}-dynamic",
            name,
            [Spec("x", (-1, -1), dtype), Spec("y", (1, -1), dtype)],
            body,
            reference,
            lambda rng: [operands(op, rng, s, dtype) for s in (((2, 3), (1, 3)), ((4, 3), (1, 1)), ((1, 1), (1, 5)))],
        )


def _integer_powers() -> Case:
    base = np.array([1, -1, 2, -3, 1, -1], np.int32)
    exponent = np.array([-1, -1, -1, -2, -2, -2], np.int32)
    return graph_case(
        "binary/pow/i32-negative_exponent",
        "pow",
        [Spec("x", (6,), d.I32), Spec("y", (6,), d.I32)],
        lambda x, y: ops().pow_(x, y),
        lambda x, y: np.trunc(np.power(x.astype(np.float64), y)).astype(np.int32),
        lambda rng: [[base, exponent]],
        note="truncated like every integer result",
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for op, (builder, _) in {**NUMERIC, **LOGICAL, **BITWISE}.items():
        types = types_for(op)
        full = [t for t in types if t in (d.F32, d.I32)] or types[:1]
        for dtype in types:
            yield from _plain(op, builder, dtype, key=dtype in (d.F32, d.I32, d.U8, d.BOOL))
        for dtype in full:
            yield from _shapes(op, builder, dtype)
        for dtype in full:
            yield from _broadcasting(op, builder, dtype, few=dtype != full[0])
        if d.F16 in types:
            yield from _broadcasting(op, builder, d.F16, few=True)
    yield _integer_powers()
