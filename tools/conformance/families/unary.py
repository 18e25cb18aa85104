"""Element-wise ops of one operand, activations among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import special as sp

from .. import dtypes as d
from ..graph import graph_case, ops
from ..model import Array, Case, Spec

Function = Callable[[Any], Any]


def _round(x: Array) -> Array:
    return np.rint(x)


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^−x) without overflow."""
    return sp.expit(x)


def _silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


FLOAT_OPS: dict[str, tuple[str, Function]] = {
    "acos": ("acos", np.arccos),
    "acosh": ("acosh", np.arccosh),
    "asin": ("asin", np.arcsin),
    "asinh": ("asinh", np.arcsinh),
    "atan": ("atan", np.arctan),
    "atanh": ("atanh", np.arctanh),
    "cos": ("cos", np.cos),
    "cosh": ("cosh", np.cosh),
    "erf": ("erf", sp.erf),
    "exp": ("exp", np.exp),
    "log": ("log", np.log),
    "round": ("round_", _round),
    "rsqrt": ("rsqrt", _rsqrt),
    "sin": ("sin", np.sin),
    "sinh": ("sinh", np.sinh),
    "sqrt": ("sqrt", np.sqrt),
    "tan": ("tan", np.tan),
    "tanh": ("tanh", np.tanh),
    "sigmoid": ("sigmoid", sigmoid),
    "silu": ("silu", _silu),
}


def gelu(mode: str) -> Function:
    """The three forms of GELU as their formulas say."""

    def exact(x: Array) -> Array:
        return x * 0.5 * (1 + sp.erf(x / np.sqrt(2)))

    def tanh(x: Array) -> Array:
        return x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    def fast(x: Array) -> Array:
        return x * sp.expit(1.702 * x)

    return {"none": exact, "tanh": tanh, "sigmoid": fast}[mode]


def _special(op: str, dtype: np.dtype[Any]) -> Array:
    values = d.special(dtype)
    if op in {"sin", "cos", "tan"}:
        values = values[~(np.isfinite(values.astype(np.float64)) & (np.abs(values.astype(np.float64)) > 1000))]
    return values


def _one(
    op: str,
    builder: Function,
    reference: Function,
    dtype: np.dtype[Any],
    variant: str,
    shape: tuple[int, ...],
    values: Callable[[np.random.Generator], list[Array]],
    key: bool = False,
) -> Case:
    return graph_case(
        f"unary/{op}/{d.label(dtype)}-{variant}",
        op,
        [Spec("x", shape, dtype)],
        builder,
        reference,
        lambda rng: [[v] for v in values(rng)],
        key=key,
    )


def _variants(op: str, builder: Function, reference: Function, types: list[np.dtype[Any]]) -> Iterator[Case]:
    for dtype in types:
        edges = _special(op, dtype)
        yield _one(
            op, builder, reference, dtype, "special", edges.shape, lambda rng, e=edges: [e], key=dtype in (d.F32, d.I8)
        )
        yield _one(op, builder, reference, dtype, "vector", (67,), lambda rng, t=dtype: [d.random(rng, (67,), t, 6)])
    first = types[0]
    yield _one(op, builder, reference, first, "scalar", (), lambda rng: [d.random(rng, (), first)])
    yield _one(op, builder, reference, first, "empty", (0, 3), lambda rng: [d.random(rng, (0, 3), first)])
    yield _one(
        op, builder, reference, first, "rank5", (2, 1, 3, 2, 5), lambda rng: [d.random(rng, (2, 1, 3, 2, 5), first)]
    )
    yield _one(
        op,
        builder,
        reference,
        first,
        "rank8",
        (1, 2, 1, 3, 1, 2, 1, 2),
        lambda rng: [d.random(rng, (1, 2, 1, 3, 1, 2, 1, 2), first)],
    )
    yield _one(
        op,
        builder,
        reference,
        first,
        "dynamic",
        (-1, 4),
        lambda rng: [d.random(rng, (n, 4), first) for n in (3, 1, 7, 0)],
    )


def _abs(x: Array) -> Array:
    return np.abs(x)


def _relu(x: Array) -> Array:
    return np.where(np.isnan(x), x, np.maximum(x, 0)) if x.dtype.kind == "f" else np.maximum(x, 0)


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for op, (name, reference) in FLOAT_OPS.items():
        yield from _variants(op, lambda x, n=name: getattr(ops(), n)(x), reference, d.FLOATS)
    for mode in ("none", "tanh", "sigmoid"):
        yield from _variants(f"gelu_{mode}", lambda x, m=mode: ops().gelu(x, approximate=m), gelu(mode), d.FLOATS)
    yield from _variants("abs", lambda x: ops().abs_(x), _abs, d.REALS)
    yield from _variants("relu", lambda x: ops().relu(x), _relu, d.REALS)
    yield from _variants("not", lambda x: ops().not_(x), np.logical_not, [d.BOOL])
