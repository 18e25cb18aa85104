"""Ops that move, repeat or describe dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]
Shape = tuple[int, ...]

TRANSPOSES: dict[str, tuple[Shape, list[int]]] = {
    "2d": ((3, 5), [1, 0]),
    "identity": ((2, 3), [0, 1]),
    "nhwc": ((2, 3, 4, 5), [0, 2, 3, 1]),
    "reverse": ((2, 3, 4), [2, 1, 0]),
    "rank6": ((2, 3, 1, 2, 2, 2), [0, 5, 1, 3, 2, 4]),
    "rank8": ((2, 1, 2, 1, 2, 1, 3, 2), [7, 3, 0, 5, 6, 1, 4, 2]),
    "large": ((67, 45), [1, 0]),
    "batch": ((3, 33, 17), [0, 2, 1]),
    "empty": ((0, 3), [1, 0]),
    "rank1": ((4,), [0]),
    "rank0": ((), []),
}
RESHAPES: dict[str, tuple[Shape, list[int]]] = {
    "split": ((12,), [3, 4]),
    "flatten": ((2, 3, 4), [24]),
    "merge": ((2, 3, 4), [6, 4]),
    "same": ((2, 3), [2, 3]),
    "to_scalar": ((1,), []),
    "from_scalar": ((), [1, 1]),
    "rank8": ((2, 3, 4), [1, 2, 1, 3, 1, 2, 2, 1]),
}
EXPANDS: dict[str, tuple[Shape, list[int]]] = {
    "front": ((3, 4), [0]),
    "back": ((3, 4), [-1]),
    "both": ((3, 4), [0, 3]),
    "scalar": ((), [0, 1]),
    "mixed": ((2, 3, 4), [3, -4]),
    "many": ((2,), [0, 1, 3, 4]),
}
SHRINKS: dict[str, tuple[Shape, list[int]]] = {
    "front": ((1, 3, 4), [0]),
    "back": ((3, 4, 1), [-1]),
    "both": ((1, 3, 4, 1), [0, 3]),
    "scalar": ((1, 1), [0, 1]),
    "unsorted": ((1, 3, 1, 2), [2, 0]),
}
BROADCASTS: dict[str, tuple[Shape, list[int]]] = {
    "scalar": ((), [4]),
    "row": ((4,), [3, 4]),
    "column": ((3, 1), [3, 4]),
    "lead": ((2, 2), [3, 2, 2]),
    "middle": ((2, 1, 3), [2, 4, 3]),
    "rank8": ((2, 1, 1), [1, 2, 1, 2, 1, 2, 2, 3]),
    "same": ((2, 3), [2, 3]),
    "empty": ((1, 3), [0, 3]),
}
TILES: dict[str, tuple[Shape, list[int]]] = {
    "1d": ((3,), [2]),
    "2d": ((2, 2), [2, 3]),
    "inner": ((2, 3), [2]),
    "ones": ((2, 3), [1, 1]),
    "rank4": ((1, 2, 3, 2), [2, 1, 2, 3]),
    "rank6": ((1, 2, 1, 1, 2, 1), [2, 2, 1, 3, 1, 2]),
}
REVERSES: dict[str, tuple[Shape, list[int]]] = {
    "1d": ((5,), [0]),
    "last": ((3, 4), [-1]),
    "first": ((3, 4), [0]),
    "all": ((2, 3, 4), [0, 1, 2]),
    "two": ((2, 3, 4), [2, 0]),
    "none": ((2, 3), []),
    "rank5": ((2, 1, 2, 3, 2), [3, -1]),
}


def _moves(
    op: str, table: dict[str, tuple[Shape, list[int]]], builder: Any, reference: Any, types: Sequence[DType]
) -> Iterator[Case]:
    for variant, (shape, numbers) in table.items():
        for dtype in types if variant == next(iter(table)) else types[:1]:
            yield graph_case(
                f"shape/{op}/{d.label(dtype)}-{variant}",
                op,
                [Spec("x", shape, dtype)],
                lambda x, n=numbers: builder(x, n),
                lambda x, n=numbers: reference(x, n),
                lambda rng, s=shape, t=dtype: [[d.random(rng, s, t)]],
                key=variant in ("rank8", "rank6", "mixed", "unsorted"),
            )


def _expand(x: Array, axes: list[int]) -> Array:
    return np.expand_dims(x, tuple(axes))


def _tile(x: Array, dims: list[int]) -> Array:
    return np.tile(x, [1] * (x.ndim - len(dims)) + dims)


def _dynamic() -> Iterator[Case]:
    x34 = lambda rng: [[d.random(rng, (n, 4), d.F32)] for n in (3, 1, 6)]  # noqa: E731
    spec = [Spec("x", (-1, 4), d.F32)]
    table: dict[str, tuple[Any, Any]] = {
        "transpose": (lambda x: ops().transpose(x, const([1, 0], np.uint32)), lambda x: x.T),
        "reshape": (lambda x: ops().reshape(x, [-1]), lambda x: x.reshape(-1)),
        "expand_dims": (lambda x: ops().expand_dims(x, const([1])), lambda x: x[:, None]),
        "tile": (lambda x: ops().tile(x, const([2, 1], np.uint32)), lambda x: np.tile(x, (2, 1))),
        "reverse": (lambda x: ops().reverse(x, const([0])), lambda x: x[::-1]),
        "get_shape": (lambda x: ops().get_shape(x), lambda x: np.array(x.shape, np.uint32)),
        "concat": (lambda x: ops().concat(0, [x, x]), lambda x: np.concatenate([x, x])),
        "split": (lambda x: ops().split(x, const([1, 3], np.uint32), const(1)), lambda x: [x[:, :1], x[:, 1:]]),
    }
    for op, (body, reference) in table.items():
        yield graph_case(f"shape/{op}/f32-dynamic", op, spec, body, reference, x34, key=op in ("reshape", "get_shape"))
    yield graph_case(
        "shape/reshape/f32-computed",
        "reshape",
        [Spec("x", (-1, -1), d.F32)],
        lambda x: ops().reshape(x, ops().reverse(ops().get_shape(x), const([0]))),
        lambda x: x.reshape(x.shape[::-1]),
        lambda rng: [[d.random(rng, s, d.F32)] for s in ((2, 3), (5, 4))],
        key=True,
        note="the new shape is computed",
    )
    yield graph_case(
        "shape/reshape/f32-shape_input",
        "reshape",
        [Spec("x", (12,), d.F32), Spec("shape", (2,), d.I32)],
        lambda x, shape: ops().reshape(x, shape),
        lambda x, shape: x.reshape(tuple(shape)),
        lambda rng: [[d.random(rng, (12,), d.F32), np.array(s, np.int32)] for s in ((3, 4), (-1, 2), (1, -1))],
    )
    yield graph_case(
        "shape/broadcast_to/f32-computed",
        "broadcast_to",
        [Spec("x", (1, 3), d.F32), Spec("like", (-1, 3), d.F32)],
        lambda x, like: ops().broadcast_to(x, ops().get_shape(like)),
        lambda x, like: np.broadcast_to(x, like.shape),
        lambda rng: [[d.random(rng, (1, 3), d.F32), d.random(rng, (n, 3), d.F32)] for n in (2, 5)],
        key=True,
    )


def _broadcast_in_dims() -> Iterator[Case]:
    table: dict[str, tuple[Shape, list[int], list[int]]] = {
        "last": ((3, 1), [4], [1]),
        "first": ((1, 3), [4], [0]),
        "all": ((1, 1, 1), [2, 3, 4], [0, 1, 2]),
        "negative": ((2, 1, 4), [3], [-2]),
    }
    for variant, (shape, sizes, axes) in table.items():
        target = list(shape)
        for size, axis in zip(sizes, axes):
            target[axis] = size
        yield graph_case(
            f"shape/broadcast_in_dims/f32-{variant}",
            "broadcast_in_dims",
            [Spec("x", shape, d.F32)],
            lambda x, s=sizes, a=axes: ops().broadcast_in_dims(x, const(s, np.uint32), const(a)),
            lambda x, t=target: np.broadcast_to(x, t),
            lambda rng, s=shape: [[d.random(rng, s, d.F32)]],
        )


def _broadcast_shapes() -> Iterator[Case]:
    table = {
        "same": ([3, 4, 5], [3, 4, 5]),
        "shorter": ([4], [3, 4]),
        "cross": ([3, 1, 5], [1, 4, 5]),
        "ones": ([1, 1, 1], [3, 4, 5]),
        "zero": ([0, 1], [1, 3]),
    }
    for variant, (a, b) in table.items():
        yield graph_case(
            f"shape/broadcast_shapes/{variant}",
            "broadcast_shapes",
            [Spec("a", (len(a),), d.U32), Spec("b", (len(b),), d.U32)],
            lambda x, y: ops().broadcast_shapes(x, y),
            lambda x, y: np.array(np.broadcast_shapes(tuple(x), tuple(y)), np.uint32),
            lambda rng, v=(a, b): [[np.array(n, np.uint32) for n in v]],
        )


def _concat() -> Iterator[Case]:
    table: dict[str, tuple[int, list[Shape]]] = {
        "rows": (0, [(2, 3), (1, 3)]),
        "columns": (1, [(2, 3), (2, 1), (2, 4)]),
        "negative": (-1, [(2, 2, 2), (2, 2, 3)]),
        "with_empty": (0, [(0,), (2,)]),
        "middle": (1, [(2, 1, 3), (2, 2, 3), (2, 1, 3), (2, 3, 3)]),
        "many": (0, [(1, 2)] * 9),
    }
    for variant, (axis, shapes) in table.items():
        for dtype in d.ALL if variant == "columns" else [d.F32]:
            specs = [Spec(f"x{i}", s, dtype) for i, s in enumerate(shapes)]
            yield graph_case(
                f"shape/concat/{d.label(dtype)}-{variant}",
                "concat",
                specs,
                lambda *xs, a=axis: ops().concat(a, list(xs)),
                lambda *xs, a=axis: np.concatenate(xs, a),
                lambda rng, s=shapes, t=dtype: [[d.random(rng, one, t) for one in s]],
                key=variant == "with_empty",
            )


def _split() -> Iterator[Case]:
    table: dict[str, tuple[Shape, int | list[int], int]] = {
        "size": ((6, 4), 2, 0),
        "remainder": ((10,), 3, 0),
        "sections": ((3, 8), [2, 3, 3], 1),
        "last": ((2, 3, 12), 3, 2),
        "negative": ((3, 5), [1, 4], -1),
        "with_empty": ((4, 2), [0, 4], 0),
        "one": ((4,), [4], 0),
    }
    for variant, (shape, size, axis) in table.items():
        length = shape[axis]
        marks = list(np.cumsum(size)[:-1]) if isinstance(size, list) else list(range(size, length, size))
        for dtype in (d.F32, d.I8, d.BOOL) if variant == "sections" else [d.F32]:
            yield graph_case(
                f"shape/split/{d.label(dtype)}-{variant}",
                "split",
                [Spec("x", shape, dtype)],
                lambda x, s=size, a=axis: ops().split(x, const(s, np.uint32), const(a)),
                lambda x, m=marks, a=axis: np.split(x, m, a),
                lambda rng, s=shape, t=dtype: [[d.random(rng, s, t)]],
                key=variant == "remainder",
            )


def _range() -> Iterator[Case]:
    table: dict[str, tuple[DType, list[tuple[float, float, float]]]] = {
        "i32": (d.I32, [(0, 10, 1), (0, 20, 3), (10, 0, -3), (5, 6, 1), (5, 5, 1), (-3, 4, 2)]),
        "f32": (d.F32, [(0, 1, 0.1), (-5, 5, 1), (1, 0, -0.25), (0.5, 3, 0.75)]),
        "u8": (d.U8, [(0, 9, 2), (250, 255, 1)]),
        "i16": (d.I16, [(-3, 3, 1)]),
        "f16": (d.F16, [(0, 2, 0.5)]),
        "u32": (d.U32, [(3, 11, 4)]),
        "i8": (d.I8, [(5, -6, -2)]),
    }
    for variant, (dtype, triples) in table.items():
        specs = [Spec(n, (), dtype) for n in ("start", "stop", "step")]
        yield graph_case(
            f"shape/range/{variant}",
            "range",
            specs,
            lambda a, b, c: ops().range_(a, b, c),
            lambda a, b, c: (
                a + np.arange(np.ceil((b - a) / c) if a.dtype.kind == "f" else len(range(int(a), int(b), int(c)))) * c
            ),
            lambda rng, t=triples, k=dtype: [[np.array(v, k) for v in one] for one in t],
            key=variant == "i32",
        )
    yield graph_case(
        "shape/range/constant",
        "range",
        [Spec("x", (5,), d.I32)],
        lambda x: ops().add(x, ops().range_(const(0), const(10), const(2))),
        lambda x: x + np.arange(0, 10, 2, dtype=np.int32),
        lambda rng: [[d.random(rng, (5,), d.I32)]],
    )


def _non_zero() -> Iterator[Case]:
    values = np.array([[0, 1, 0], [2, 0, 3]])
    for dtype in d.ALL:
        yield graph_case(
            f"shape/non_zero/{d.label(dtype)}",
            "non_zero",
            [Spec("x", (2, 3), dtype)],
            lambda x: ops().non_zero(x),
            lambda x: np.argwhere(x != 0),
            lambda rng, t=dtype: [[values.astype(t)], [(values * 0).astype(t)]],
        )
    edge = np.array([0.0, -0.0, np.nan, np.inf, 1e-40, -1], np.float32)
    for variant, given in {"edges": edge, "rank3": np.arange(12, dtype=np.float32).reshape(2, 3, 2) % 3}.items():
        yield graph_case(
            f"shape/non_zero/f32-{variant}",
            "non_zero",
            [Spec("x", given.shape, d.F32)],
            lambda x: ops().non_zero(x),
            lambda x: np.argwhere(x != 0),
            lambda rng, v=given: [[v]],
            key=True,
        )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    yield from _moves(
        "transpose", TRANSPOSES, lambda x, n: ops().transpose(x, const(n, np.uint32)), np.transpose, d.ALL
    )
    yield from _moves("reshape", RESHAPES, lambda x, n: ops().reshape(x, const(n)), np.reshape, d.ALL)
    yield from _moves(
        "expand_dims", EXPANDS, lambda x, n: ops().expand_dims(x, const(n)), _expand, [d.F32, d.I8, d.BOOL]
    )
    yield from _moves(
        "shrink_dims",
        SHRINKS,
        lambda x, n: ops().shrink_dims(x, const(n)),
        lambda x, n: np.squeeze(x, tuple(n)),
        [d.F32, d.F16, d.I32],
    )
    yield from _moves(
        "broadcast_to", BROADCASTS, lambda x, n: ops().broadcast_to(x, const(n, np.uint32)), np.broadcast_to, d.ALL
    )
    yield from _moves("tile", TILES, lambda x, n: ops().tile(x, const(n, np.uint32)), _tile, d.ALL)
    yield from _moves(
        "reverse", REVERSES, lambda x, n: ops().reverse(x, const(n)), lambda x, n: np.flip(x, tuple(n)), d.ALL
    )
    for shape in ((), (3,), (2, 3, 4), (0, 5), (1, 1, 2, 1, 1, 3, 1, 1)):
        yield graph_case(
            f"shape/get_shape/rank{len(shape)}{'-empty' if 0 in shape else ''}",
            "get_shape",
            [Spec("x", shape, d.F32)],
            lambda x: ops().get_shape(x),
            lambda x: np.array(x.shape, np.uint32),
            lambda rng, s=shape: [[d.random(rng, s, d.F32)]],
        )
    for family in (_dynamic(), _broadcast_in_dims(), _broadcast_shapes(), _concat(), _split(), _range(), _non_zero()):
        yield from family
