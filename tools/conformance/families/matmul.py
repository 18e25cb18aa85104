"""batch_matmul and its broadcasting form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]
Shapes = tuple[tuple[int, ...], tuple[int, ...]]

PLAIN: dict[str, Shapes] = {
    "1x1x1": ((1, 1), (1, 1)),
    "3x4x5": ((3, 4), (4, 5)),
    "row": ((1, 37), (37, 53)),
    "column": ((37, 53), (53, 1)),
    "dot": ((1, 65), (65, 1)),
    "outer": ((9, 1), (1, 11)),
    "17x33x19": ((17, 33), (33, 19)),
    "64x64x64": ((64, 64), (64, 64)),
    "5x257x7": ((5, 257), (257, 7)),
    "batch": ((3, 4, 5), (3, 5, 6)),
    "batch_row": ((4, 1, 17), (4, 17, 9)),
    "rank4": ((2, 3, 4, 5), (2, 3, 5, 2)),
    "rank5": ((2, 1, 2, 3, 4), (2, 1, 2, 4, 3)),
}
LARGE: dict[str, Shapes] = {
    "129x257x131": ((129, 257), (257, 131)),
    "1x768x515": ((1, 768), (768, 515)),
    "300x64x200": ((300, 64), (64, 200)),
    "batch4": ((4, 70, 66), (4, 66, 75)),
}
EMPTY: dict[str, Shapes] = {
    "empty_k": ((2, 0), (0, 4)),
    "empty_m": ((0, 3), (3, 4)),
    "empty_batch": ((0, 2, 3), (0, 3, 2)),
}
BROADCAST: dict[str, Shapes] = {
    "shared_right": ((3, 4, 5), (5, 6)),
    "shared_left": ((4, 5), (3, 5, 6)),
    "unit_batch": ((1, 4, 5), (3, 5, 2)),
    "cross": ((2, 1, 3, 4), (1, 5, 4, 2)),
    "rank_gap": ((2, 3, 4, 5), (3, 5, 2)),
    "plain": ((3, 4), (4, 5)),
}


def product(a: Array, b: Array) -> Array:
    """The matrix product; integers wrap in their own type."""
    return np.matmul(a, b) if a.dtype.kind == "f" else np.matmul(a, b, dtype=a.dtype)


def _case(name: str, op: str, builder: str, shapes: Shapes, dtype: DType, **options: Any) -> Case:
    return graph_case(
        f"matmul/{name}",
        op,
        [Spec("x", shapes[0], dtype), Spec("y", shapes[1], dtype)],
        lambda x, y: getattr(ops(), builder)(x, y),
        product,
        lambda rng: [[d.random(rng, s, dtype, 2) for s in shapes]],
        **options,
    )


def _edges() -> Case:
    x = np.array([[np.inf, 1], [np.nan, 0], [0, 0], [1, 2]], np.float32)
    y = np.array([[0, 1, -1], [2, np.inf, 3]], np.float32)
    return graph_case(
        "matmul/f32-edges",
        "batch_matmul",
        [Spec("x", (4, 2), d.F32), Spec("y", (2, 3), d.F32)],
        lambda x, y: ops().batch_matmul(x, y),
        product,
        lambda rng: [[x, y]],
        key=True,
        note="NaN and infinities go through a product with zero",
    )


def _weights(dtype: DType) -> Case:
    """A layer: constant weights, a transposed operand, a bias."""
    rng = np.random.default_rng(11)
    weight, bias = d.random(rng, (24, 33), dtype, 1), d.random(rng, (24,), dtype, 1)

    def body(x: Any) -> Any:
        coreai = ops()
        turned = coreai.transpose(coreai.constant(weight), np.array([1, 0], np.uint32))
        return coreai.broadcasting_add(coreai.broadcasting_batch_matmul(x, turned), coreai.constant(bias))

    loose = {d.F16: 4e-3, d.BF16: 4e-2}.get(dtype)
    return graph_case(
        f"matmul/{d.label(dtype)}-linear",
        "broadcasting_batch_matmul",
        [Spec("x", (2, 5, 33), dtype)],
        body,
        lambda x: x @ d.wide(weight).T + d.wide(bias),
        lambda rng: [[d.random(rng, (2, 5, 33), dtype)]],
        key=True,
        atol=loose,
        note=None if loose is None else "the product may be rounded to the element type before the bias, or not",
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for dtype in d.FLOATS + d.INTS:
        for variant, shapes in PLAIN.items():
            if dtype not in (d.F32, d.F16) and variant not in ("3x4x5", "17x33x19", "row", "batch"):
                continue
            yield _case(f"{d.label(dtype)}-{variant}", "batch_matmul", "batch_matmul", shapes, dtype)
    for variant, shapes in EMPTY.items():
        yield _case(
            f"f32-{variant}",
            "batch_matmul",
            "batch_matmul",
            shapes,
            d.F32,
            key=variant == "empty_k",
            note="an empty sum is 0",
        )
    for dtype in (d.F32, d.F16, d.I32):
        for variant, shapes in BROADCAST.items():
            yield _case(
                f"broadcast-{d.label(dtype)}-{variant}",
                "broadcasting_batch_matmul",
                "broadcasting_batch_matmul",
                shapes,
                dtype,
                key=variant == "cross" and dtype == d.F32,
            )
    yield graph_case(
        "matmul/f32-dynamic",
        "batch_matmul",
        [Spec("x", (-1, -1), d.F32), Spec("y", (-1, 3), d.F32)],
        lambda x, y: ops().batch_matmul(x, y),
        product,
        lambda rng: [[d.random(rng, (m, k), d.F32), d.random(rng, (k, 3), d.F32)] for m, k in ((2, 4), (7, 1), (1, 9))],
        key=True,
    )
    yield graph_case(
        "matmul/broadcast-f32-dynamic",
        "broadcasting_batch_matmul",
        [Spec("x", (-1, -1, 4), d.F32), Spec("y", (4, -1), d.F32)],
        lambda x, y: ops().broadcasting_batch_matmul(x, y),
        product,
        lambda rng: [
            [d.random(rng, (b, m, 4), d.F32), d.random(rng, (4, n), d.F32)] for b, m, n in ((2, 3, 5), (1, 1, 1))
        ],
    )
    for dtype in (d.F32, d.F16):
        for variant, shapes in LARGE.items():
            loose = {d.F32: (4e-4, 4e-5), d.F16: (8e-3, 4e-3)}[dtype]
            yield _case(
                f"{d.label(dtype)}-{variant}",
                "batch_matmul",
                "batch_matmul",
                shapes,
                dtype,
                rtol=loose[0],
                atol=loose[1],
                note="a long sum: four times the tolerance",
            )
    yield _edges()
    for dtype in d.FLOATS:
        yield _weights(dtype)
