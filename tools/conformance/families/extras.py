"""What little else the dialect has: complex numbers, joined tokens, unnamed corners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Arrays, Case, Spec
from .states import state_case

PARTS = [Spec("re", (5,), d.F32), Spec("im", (5,), d.F32)]


def _complex() -> Iterator[Case]:
    """Complex values are made and taken apart in the graph: functions have real inputs and outputs."""

    def split(value: Any) -> list[tuple[str, Any]]:
        return [("real", ops().real_part(value)), ("imaginary", ops().imaginary_part(value))]

    def case(name: str, body: Any, numpy: Any) -> Case:
        def reference(re: Array, im: Array) -> list[Array]:
            value = numpy(re + 1j * im)
            return [value.real, value.imag]

        return graph_case(
            f"complex/{name}",
            f"complex_{name}",
            PARTS,
            lambda re, im: split(body(ops().create_complex(re, im))),
            reference,
            lambda rng: [[d.random(rng, (5,), d.F32, 2), d.random(rng, (5,), d.F32, 2)]],
            key=name in ("parts", "mul"),
        )

    yield case("parts", lambda z: z, lambda z: z)
    yield case("add", lambda z: ops().add(z, z), lambda z: z + z)
    yield case("sub", lambda z: ops().sub(ops().mul(z, z), z), lambda z: z * z - z)
    yield case("mul", lambda z: ops().mul(z, z), lambda z: z * z)
    yield case("divide", lambda z: ops().divide(z, ops().mul(z, z)), lambda z: 1 / z)
    yield case("exp", lambda z: ops().exp(z), np.exp)
    yield case(
        "transpose",
        lambda z: ops().reshape(ops().transpose(ops().reshape(z, [5, 1]), const([1, 0], np.uint32)), [5]),
        lambda z: z,
    )
    yield case("reverse", lambda z: ops().reverse(z, const([0])), lambda z: z[::-1])


def _joined() -> Case:
    """Two reads that a join orders before a write."""

    def body(x: Any, s: Any) -> list[tuple[str, Any]]:
        coreai = ops()
        start = coreai.create_token()
        one, first = coreai.read_handle(s, start)
        two, second = coreai.read_handle(s, start)
        token = coreai.write_handle(s, x, coreai.join_token(first, [second]))
        return [("y", coreai.add(one, two)), ("s", token)]

    def step(inputs: Arrays, states: Arrays) -> tuple[list[Array], Arrays]:
        return [states["s"] * 2], {"s": inputs["x"]}

    return state_case(
        "joined",
        [Spec("x", (3,), d.F32), Spec("s", (3,), d.F32, True)],
        body,
        step,
        lambda rng: [{"x": d.random(rng, (3,), d.F32)} for _ in range(2)],
        lambda rng: {"s": d.random(rng, (3,), d.F32)},
        key=True,
    )


def _plumbing() -> Iterator[Case]:
    """Inputs that go straight out, outputs that are constants, values used twice, unused inputs."""
    x = [Spec("x", (2, 3), d.F32)]
    row = lambda rng: [[d.random(rng, (2, 3), d.F32)]]  # noqa: E731
    yield graph_case("graph/identity", "graph", x, lambda v: v, lambda v: v, row)
    yield graph_case("graph/same_twice", "graph", x, lambda v: [("a", v), ("b", v)], lambda v: [v, v], row, key=True)
    yield graph_case(
        "graph/result_twice",
        "graph",
        x,
        lambda v: (lambda r: [("a", r), ("b", r)])(ops().exp(v)),
        lambda v: [np.exp(v)] * 2,
        row,
    )
    yield graph_case(
        "graph/constant",
        "graph",
        x,
        lambda v: [("c", const([1, 2, 3])), ("y", ops().abs_(v))],
        lambda v: [np.array([1, 2, 3]), np.abs(v)],
        row,
        key=True,
    )
    yield graph_case(
        "graph/unused",
        "graph",
        x + [Spec("unused", (4,), d.I8)],
        lambda v, _: ops().abs_(v),
        lambda v, _: np.abs(v),
        lambda rng: [[d.random(rng, (2, 3), d.F32), np.zeros(4, np.int8)]],
    )
    yield graph_case(
        "graph/splat",
        "graph",
        [Spec("x", (40, 50), d.F32)],
        lambda v: ops().add(v, const(np.full((40, 50), 2.5), np.float32)),
        lambda v: v + 2.5,
        lambda rng: [[d.random(rng, (40, 50), d.F32)]],
    )
    big = np.arange(20000, dtype=np.float32).reshape(200, 100) % 97
    yield graph_case(
        "graph/large_constant",
        "graph",
        [Spec("x", (1, 200), d.F32)],
        lambda v: ops().batch_matmul(v, const(big, np.float32)),
        lambda v: v @ big,
        lambda rng: [[d.random(rng, (1, 200), d.F32)]],
        rtol=4e-4,
        atol=2e-3,
        note="200 terms of up to 96 that cancel",
    )
    yield graph_case(
        "graph/empty_constant",
        "graph",
        x,
        lambda v: ops().concat(0, [v, const(np.zeros((0, 3)), np.float32)]),
        lambda v: v,
        row,
    )
    yield graph_case(
        "graph/chain",
        "graph",
        x,
        _chain,
        lambda v: _chain_reference(v),
        row,
        key=True,
        rtol=1e-3,
        note="forty ops in a row",
    )
    yield graph_case(
        "graph/names",
        "graph",
        [Spec("input.1", (2,), d.F32), Spec("ünïcode", (2,), d.F32)],
        lambda a, b: [("out/put:0", ops().sub(a, b))],
        lambda a, b: a - b,
        lambda rng: [[d.random(rng, (2,), d.F32), d.random(rng, (2,), d.F32)]],
        key=True,
    )


def _chain(v: Any) -> Any:
    coreai = ops()
    for _ in range(10):
        v = coreai.add(coreai.tanh(coreai.mul(v, v)), coreai.sigmoid(v))
    return v


def _chain_reference(v: Array) -> Array:
    for _ in range(10):
        v = np.tanh(v * v) + 1 / (1 + np.exp(-v))
    return v


def cases() -> Iterator[Case]:
    """All cases of this family."""
    yield from _complex()
    yield _joined()
    yield from _plumbing()
