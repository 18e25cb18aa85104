"""gather and scatter, along an axis and by index vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops, tensor_type
from ..model import Array, Case, Spec

DType = np.dtype[Any]
Shape = tuple[int, ...]

AXES: dict[str, tuple[Shape, Shape, int]] = {
    "first": ((4, 3), (2, 3), 0),
    "last": ((3, 5), (3, 7), 1),
    "middle": ((2, 4, 3), (2, 5, 3), 1),
    "negative": ((2, 3, 4), (2, 3, 2), -1),
    "rank1": ((6,), (9,), 0),
    "rank5": ((2, 1, 3, 2, 2), (2, 1, 4, 2, 2), 2),
    "one": ((1, 3), (4, 3), 0),
    "no_index": ((3, 2), (0, 2), 0),
}
MODES = ("update", "add", "sub", "mul", "div", "max", "min")
VECTORS: dict[str, tuple[Shape, Shape]] = {
    "elements": ((3, 4), (3, 2)),
    "rows": ((4, 3), (2, 1)),
    "deep_rows": ((3, 2, 4), (2, 2, 2)),
    "planes": ((2, 3, 4, 5), (3, 2)),
    "vector": ((8,), (4, 1)),
    "grid": ((7, 2), (2, 3, 1)),
    "single": ((3, 4), (2,)),
    "none": ((3, 2), (0, 1)),
}


def _indices(
    rng: np.random.Generator, shape: Shape, size: int, unique_axis: int | None = None, positive: bool = False
) -> Array:
    if unique_axis is None:
        return rng.integers(0 if positive else -size, size, shape).astype(np.int32)
    axis = unique_axis % len(shape)
    rows = np.moveaxis(np.zeros(shape, np.int32), axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        rows[place] = rng.permutation(size)[: rows.shape[-1]]
    negative = rng.integers(0, 2, rows.shape).astype(bool)
    return np.ascontiguousarray(np.moveaxis(np.where(negative, rows - size, rows), -1, axis)).astype(np.int32)


def _gather(variant: str, dtype: DType, index: DType = d.I32, **options: Any) -> Case:
    shape, at, axis = AXES[variant]
    name = f"index/gather_along_axis/{d.label(dtype)}-{variant}" + ("" if index == d.I32 else f"-{d.label(index)}")
    return graph_case(
        name,
        "gather_along_axis",
        [Spec("x", shape, dtype), Spec("indices", at, index)],
        lambda x, i: ops().gather_along_axis(x, i, const(axis)),
        lambda x, i: np.take_along_axis(x, _wrapped(i, shape[axis]), axis),
        lambda rng: [
            [d.random(rng, shape, dtype), _indices(rng, at, shape[axis], positive=index.kind == "u").astype(index)]
        ],
        **options,
    )


def _wrapped(indices: Array, size: int) -> Array:
    wide = indices.astype(np.int64)
    return np.where(wide < 0, wide + size, wide)


def _vectors(rng: np.random.Generator, shape: Shape, at: Shape, unique: bool) -> Array:
    depth = at[-1]
    space = int(np.prod(shape[:depth]))
    count = int(np.prod(at[:-1]))
    flat = rng.permutation(space)[:count] if unique else rng.integers(0, space, count)
    vectors = np.stack(np.unravel_index(flat, shape[:depth]), -1).reshape(at)
    negative = rng.integers(0, 2, at).astype(bool)
    return np.where(negative, vectors - np.array(shape[:depth]), vectors).astype(np.int32)


def _gather_nd(variant: str, dtype: DType, **options: Any) -> Case:
    shape, at = VECTORS[variant]
    return graph_case(
        f"index/gather_nd/{d.label(dtype)}-{variant}",
        "gather_nd",
        [Spec("x", shape, dtype), Spec("indices", at, d.I32)],
        lambda x, i: ops().gather_nd(x, i),
        lambda x, i: x[tuple(np.moveaxis(i, -1, 0))],
        lambda rng: [[d.random(rng, shape, dtype), _vectors(rng, shape, at, False)]],
        **options,
    )


def _scatter_nd(variant: str, dtype: DType, **options: Any) -> Case:
    shape, at = VECTORS[variant]
    size = at[:-1] + shape[at[-1] :]

    def reference(x: Array, i: Array, u: Array) -> Array:
        result = x.copy()
        result[tuple(np.moveaxis(i, -1, 0))] = u
        return result

    return graph_case(
        f"index/scatter_nd/{d.label(dtype)}-{variant}",
        "scatter_nd",
        [Spec("x", shape, dtype), Spec("indices", at, d.I32), Spec("updates", size, dtype)],
        lambda x, i, u: ops().scatter_nd(x, i, u),
        reference,
        lambda rng: [[d.random(rng, shape, dtype), _vectors(rng, shape, at, True), d.random(rng, size, dtype)]],
        **options,
    )


def scattered(x: Array, indices: Array, updates: Array, axis: int, mode: str) -> Array:
    """scatter_along_axis, one update after another in order."""
    result = x.copy()
    for place in np.ndindex(indices.shape):
        at = list(place)
        at[axis] = int(indices[place])
        here, value = tuple(at), updates[place]
        old = result[here]
        if mode == "div" and x.dtype.kind != "f":
            result[here] = int(np.trunc(int(old) / int(value)))
        else:
            result[here] = {
                "update": lambda: value,
                "add": lambda: old + value,
                "sub": lambda: old - value,
                "mul": lambda: old * value,
                "div": lambda: old / value,
                "max": lambda: np.maximum(old, value),
                "min": lambda: np.minimum(old, value),
            }[mode]()
    return result


def _scatter(variant: str, mode: str, dtype: DType, repeat: bool, **options: Any) -> Case:
    shape, at, axis = AXES[variant]

    def body(x: Any, i: Any, u: Any) -> Any:
        from coreai._compiler.ir import Attribute

        attribute = Attribute.parse(f"#coreai.scatter_mode<{mode}>")
        return ops().scatter_along_axis(tensor_type(shape, dtype), x, i, u, const(axis), attribute)

    def data(rng: np.random.Generator) -> list[list[Array]]:
        updates = d.random(rng, at, dtype)
        if mode == "div":
            updates = np.where(np.abs(updates.astype(np.float64)) < 0.5, 2, updates.astype(np.float64)).astype(dtype)
        return [[d.random(rng, shape, dtype), _indices(rng, at, shape[axis], None if repeat else axis), updates]]

    return graph_case(
        f"index/scatter_along_axis/{mode}-{d.label(dtype)}-{variant}{'-repeated' if repeat else ''}",
        f"scatter_along_axis_{mode}",
        [Spec("x", shape, dtype), Spec("indices", at, d.I32), Spec("updates", at, dtype)],
        body,
        lambda x, i, u: scattered(x, i, u, axis, mode),
        data,
        **options,
    )


def _dynamic() -> Iterator[Case]:
    yield graph_case(
        "index/gather_along_axis/f32-dynamic",
        "gather_along_axis",
        [Spec("x", (-1, 3), d.F32), Spec("indices", (-1, 3), d.I32)],
        lambda x, i: ops().gather_along_axis(x, i, const(0)),
        lambda x, i: np.take_along_axis(x, _wrapped(i, len(x)), 0),
        lambda rng: [[d.random(rng, (n, 3), d.F32), _indices(rng, (m, 3), n)] for n, m in ((4, 2), (1, 5))],
    )
    yield graph_case(
        "index/gather_nd/f32-dynamic",
        "gather_nd",
        [Spec("x", (-1, 3), d.F32), Spec("indices", (-1, 1), d.I32)],
        lambda x, i: ops().gather_nd(x, i),
        lambda x, i: x[i[:, 0]],
        lambda rng: [[d.random(rng, (n, 3), d.F32), _indices(rng, (m, 1), n)] for n, m in ((4, 2), (1, 5))],
        key=True,
    )


def _embedding(dtype: DType) -> Case:
    table = d.random(np.random.default_rng(3), (7, 4), dtype)
    return graph_case(
        f"index/gather_nd/{d.label(dtype)}-embedding",
        "gather_nd",
        [Spec("tokens", (2, 5), d.I32)],
        lambda t: ops().gather_nd(ops().constant(table), ops().expand_dims(t, const([2]))),
        lambda t: d.wide(table)[t],
        lambda rng: [[_indices(rng, (2, 5), 7)]],
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for variant in AXES:
        for dtype in d.ALL if variant == "middle" else [d.F32]:
            yield _gather(variant, dtype)
    yield _gather("last", d.F32, d.I16)
    for variant in VECTORS:
        for dtype in d.ALL if variant == "rows" else [d.F32, d.I32]:
            yield _gather_nd(variant, dtype, key=variant == "elements")
            yield _scatter_nd(variant, dtype)
    for mode in MODES:
        for dtype in d.REALS if mode in ("update", "add") else [d.F32, d.I32, d.F16]:
            yield _scatter(
                "middle" if mode != "update" else "first", mode, dtype, repeat=mode != "update", key=dtype == d.F32
            )
        if mode != "update":
            yield _scatter("first", mode, d.F32, repeat=False)
        if mode != "update":
            yield _scatter("rank1", mode, d.F32, repeat=True, key=mode == "add")
            yield _scatter("negative", mode, d.I32, repeat=mode in ("add", "max", "min"))
    yield _scatter("first", "update", d.BOOL, repeat=False)
    yield from _dynamic()
    for dtype in d.FLOATS:
        yield _embedding(dtype)
