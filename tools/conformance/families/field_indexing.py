"""Faults that other runtimes had in the field, each under its number: indexing, empty tensors, limits, fusion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, ops, tensor_type
from ..model import Array, Case, Spec
from ..torch_export import Exported, torch_case
from .field import INF, NAN, exact
from .torch_ops import function


def _indexing() -> Iterator[Case]:
    x8 = np.arange(8)
    bounds = {
        "A": (6, 1, -2, [6, 4, 2]),
        "B": (-1, -(2**31), -1, [7, 6, 5, 4, 3, 2, 1, 0]),
        "C": (0, 5, -1, []),
        "D": (-1, 2**31 - 1, -1, []),
        "E": (7, 0, -1, [7, 6, 5, 4, 3, 2, 1]),
    }
    specs = [Spec("x", (8,), d.I32)] + [Spec(n, (1,), d.I32) for n in ("start", "end", "stride")]
    for name, (start, end, stride, expected) in bounds.items():
        yield exact(
            f"I01/{name}",
            specs,
            lambda x, a, b, c: ops().slice_(x, a, b, c),
            np.array(expected, np.int32),
            [x8, [start], [end], [stride]],
        )
    table = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    yield exact(
        "I02/negative",
        [Spec("x", (3, 2), d.F32), Spec("i", (3, 1), d.I32)],
        lambda x, i: ops().gather_nd(x, i),
        np.array([[5, 6], [1, 2], [1, 2.0]]),
        [table, [-1, 0, -3]],
    )
    for name, start, mode, expected in (
        ("add", 0, "add", [0, 8, 0, 7]),
        ("max", 0, "max", [0, 4, 0, 5]),
        ("mul", 1, "mul", [1, 12, 1, 10]),
    ):
        yield exact(
            f"I03/{name}",
            [Spec("x", (4,), d.F32), Spec("i", (5,), d.I32), Spec("u", (5,), d.F32)],
            lambda x, i, u, m=mode: _scatter(x, i, u, 4, m),
            expected,
            [[start] * 4, [1, 3, 1, 1, 3], [1, 2, 3, 4, 5]],
        )
    yield exact(
        "I03/race",
        [Spec("x", (4,), d.F32), Spec("i", (100000,), d.I32), Spec("u", (100000,), d.F32)],
        lambda x, i, u: _scatter(x, i, u, 4, "add"),
        [100000, 0, 0, 0],
        [[0] * 4, np.zeros(100000), np.ones(100000)],
    )
    s6 = [2, 3, 1, 2, 2, 2]
    x48 = np.arange(48, dtype=np.float32).reshape(s6)
    yield exact(
        "I09/permute",
        [Spec("x", tuple(s6), d.F32)],
        lambda x: ops().transpose(x, const([0, 5, 1, 3, 2, 4], np.uint32)),
        np.transpose(x48, [0, 5, 1, 3, 2, 4]),
        [x48],
    )


def _scatter(x: Any, i: Any, u: Any, size: int, mode: str) -> Any:
    from coreai._compiler.ir import Attribute

    return ops().scatter_along_axis(
        tensor_type((size,), d.F32), x, i, u, const(0), Attribute.parse(f"#coreai.scatter_mode<{mode}>")
    )


def _empties() -> Iterator[Case]:
    a, b, s = Spec("a", (0, 3), d.F32), Spec("b", (2, 0), d.F32), Spec("s", (), d.F32)
    e = np.zeros(0)
    yield exact("I07/sum_axis0", [a], lambda x: ops().reduce_sum(x, const([0])), np.zeros((1, 3)), [e])
    yield exact("I07/sum_all", [a], lambda x: ops().reduce_sum(x, const([0, 1])), np.zeros((1, 1)), [e])
    yield exact(
        "I07/concat",
        [Spec("e", (0,), d.F32), Spec("x", (2,), d.F32)],
        lambda x, y: ops().concat(0, [x, y]),
        np.array([1.0, 2]),
        [e, [1, 2]],
    )
    yield exact(
        "I07/matmul", [b, Spec("c", (0, 4), d.F32)], lambda x, y: ops().batch_matmul(x, y), np.zeros((2, 4)), [e, e]
    )
    yield exact("I07/sum_axis1", [b], lambda x: ops().reduce_sum(x, const([1])), np.zeros((2, 1)), [e])
    yield exact("I07/max", [b], lambda x: ops().reduce_max(x, const([1])), np.full((2, 1), -INF), [e])
    yield exact("I07/mean", [a], lambda x: ops().reduce_mean(x, const([0])), np.full((1, 3), NAN), [e])
    yield exact("I07/sum_scalar", [s], lambda x: ops().reduce_sum(ops().reshape(x, [1]), const([0])), [5.0], [5])
    yield exact("I07/relu", [a], lambda x: ops().relu(x), np.zeros((0, 3)), [e])
    yield exact(
        "I07/scalar_plus",
        [s, Spec("x", (2,), d.F32)],
        lambda x, y: ops().broadcasting_add(x, y),
        [6.0, 7.0],
        [5, [1, 2]],
    )


def _limits() -> Iterator[Case]:
    count = 33553923

    def counted(n: Any) -> Any:
        coreai = ops()
        x = coreai.range_(const(0), n, const(1))
        y = coreai.broadcasting_add(x, const(1))
        at = lambda i: coreai.slice_(y, const([i]), const([i + 1]), const([1]))  # noqa: E731
        return [at(0), at(16776960), at(count - 1), coreai.reduce_sum(coreai.sub(y, x), const([0]))]

    yield exact(
        "G01/many_elements",
        [Spec("n", (), d.I32)],
        counted,
        [np.array([v]) for v in (1, 16776961, count, count)],
        [count],
        note="a flat grid of more groups than a device takes at once",
    )

    def identity(x: Any) -> Any:
        coreai = ops()
        rows = coreai.reshape(coreai.range_(const(0), const(600), const(1)), [600, 1])
        columns = coreai.reshape(coreai.range_(const(0), const(512), const(1)), [1, 512])
        w = coreai.cast(coreai.broadcasting_equal(rows, columns), np.float32)
        return coreai.batch_matmul(x, coreai.transpose(w, const([1, 0], np.uint32)))

    row = np.arange(1, 513, dtype=np.float32)
    yield exact(
        "G02/wide_weight",
        [Spec("x", (1, 512), d.F32)],
        identity,
        np.concatenate([row, np.zeros(88)]).reshape(1, 600),
        [row],
    )
    yield exact("G04/i32", [Spec("a", (1,), d.I32)], lambda a: ops().add(a, const([1])), [42], [[41]])
    yield exact(
        "G04/f16",
        [Spec("b", (3,), d.F16)],
        lambda b: ops().mul(b, const([2, 2, 2], np.float16)),
        [1, 3, -4],
        [[0.5, 1.5, -2]],
    )
    yield exact(
        "G04/u8",
        [Spec("c", (5,), d.U8)],
        lambda c: ops().add(c, const([3] * 5, np.uint8)),
        [253, 254, 255, 0, 1],
        [[250, 251, 252, 253, 254]],
    )
    yield exact("G04/bool", [Spec("d", (1,), d.BOOL)], lambda v: ops().not_(v), [False], [[True]])
    values = ((np.arange(64) * 37) % 64).astype(np.float32)
    yield torch_case(
        "field/R05/topk",
        "field_R05",
        lambda: function(lambda x: x.topk(5)),
        Exported(["x"]),
        lambda rng: [[values]],
        key=True,
    )
    x7 = np.arange(192, dtype=np.float32).reshape(2, 2, 2, 2, 2, 2, 3)
    yield exact(
        "R05/rank7",
        [Spec("x", x7.shape, d.F32)],
        lambda x: ops().transpose(x, const([6, 4, 2, 0, 5, 3, 1], np.uint32)),
        np.transpose(x7, [6, 4, 2, 0, 5, 3, 1]),
        [x7],
    )


def _fusion() -> Iterator[Case]:
    a, m = [[1, 2], [3, -4]], np.array([[1, 2], [3, -4.0]])
    for name, bias, y in (
        ("column", np.array([[10.0], [20]]), [[11, 12], [23, 16]]),
        ("plane", np.arange(1, 5.0).reshape(1, 2, 2), [[[2, 4], [6, 0]]]),
    ):

        def body(x: Any, w: Any, b: Any) -> Any:
            coreai = ops()
            product = coreai.batch_matmul(x, w)
            return [("m", product), ("y", coreai.broadcasting_add(product, b)), ("z", coreai.relu(product))]

        specs = [Spec("a", (2, 2), d.F32), Spec("b", (2, 2), d.F32), Spec("bias", bias.shape, d.F32)]
        yield exact(f"R06/{name}", specs, body, [m, np.array(y, float), np.maximum(m, 0)], [a, np.eye(2), bias])

        def constant(x: Any, b: Array = bias) -> Any:
            coreai = ops()
            product = coreai.batch_matmul(x, const(np.eye(2), np.float32))
            return [
                ("m", product),
                ("y", coreai.broadcasting_add(product, const(b, np.float32))),
                ("z", coreai.relu(product)),
            ]

        yield exact(f"R06/{name}-weights", specs[:1], constant, [m, np.array(y, float), np.maximum(m, 0)], [a])


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for family in (_indexing(), _empties(), _limits(), _fusion()):
        yield from family
