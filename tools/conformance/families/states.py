"""States: buffers that are updated in place from call to call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import ModuleBuilder, const, ops
from ..model import Answer, Array, Arrays, Built, Call, Case, Spec

Step = Callable[[Arrays, Arrays], tuple[list[Array], Arrays]]


def state_case(
    name: str,
    specs: list[Spec],
    body: Callable[..., Any],
    step: Step,
    data: Callable[[np.random.Generator], list[Arrays]],
    initial: Callable[[np.random.Generator], Arrays],
    **options: Any,
) -> Case:
    """A case whose `step` maps inputs and states to outputs and the states after."""
    made: list[Built] = []

    def build(path: Path) -> Built:
        builder = ModuleBuilder()
        made[:] = [builder.graph(specs, body)]
        builder.save(path)
        return made[0]

    def calls(rng: np.random.Generator) -> list[Call]:
        states = initial(rng)
        return [Call(inputs, states) for inputs in data(rng)]

    def reference(recorded: list[Call]) -> list[Answer]:
        states = {k: v.copy() for k, v in recorded[0].states.items()}
        answers = []
        for call in recorded:
            outputs, states = step(call.inputs, states)
            named = {k: np.asarray(v).astype(made[0].dtypes[k]) for k, v in zip(made[0].outputs, outputs, strict=True)}
            answers.append(Answer(named, {k: v.copy() for k, v in states.items()}))
        return answers

    return Case(f"state/{name}", "read_handle", build, calls, reference, **options)


def _read(handle: Any) -> tuple[Any, Any]:
    coreai = ops()
    value, token = coreai.read_handle(handle, coreai.create_token())
    return value, token


def _accumulate(dtype: np.dtype[Any]) -> Case:
    def body(x: Any, total: Any) -> list[tuple[str, Any]]:
        coreai = ops()
        old, token = _read(total)
        new = coreai.add(old, x)
        return [("y", coreai.mul(new, new)), ("total", coreai.write_handle(total, new, token))]

    def step(inputs: Arrays, states: Arrays) -> tuple[list[Array], Arrays]:
        new = states["total"] + inputs["x"]
        return [new * new], {"total": new}

    return state_case(
        f"accumulate-{d.label(dtype)}",
        [Spec("x", (2, 3), dtype), Spec("total", (2, 3), dtype, True)],
        body,
        step,
        lambda rng: [{"x": d.random(rng, (2, 3), dtype)} for _ in range(4)],
        lambda rng: {"total": d.random(rng, (2, 3), dtype)},
        key=dtype in (d.F32, d.BF16),
    )


def _counter() -> Case:
    def body(n: Any) -> list[tuple[str, Any]]:
        coreai = ops()
        old, token = _read(n)
        new = coreai.add(old, const(1))
        return [("before", old), ("n", coreai.write_handle(n, new, token))]

    return state_case(
        "counter",
        [Spec("n", (), d.I32, True)],
        body,
        lambda i, s: ([s["n"]], {"n": s["n"] + 1}),
        lambda rng: [{}, {}, {}],
        lambda rng: {"n": np.array(41, np.int32)},
        key=True,
        note="no inputs, a state of rank 0",
    )


def _cache() -> Case:
    """A key and a value cache, written at a position that is an input."""

    def body(k: Any, v: Any, at: Any, keys: Any, values: Any) -> list[tuple[str, Any]]:
        coreai = ops()
        first = coreai.reshape(at, [1])
        start = coreai.concat(0, [const([0]), first, const([0])])
        end = coreai.concat(0, [const([2]), coreai.add(first, const([1])), const([4])])
        results = []
        for name, handle, new in (("keys", keys, k), ("values", values, v)):
            old, token = _read(handle)
            token = coreai.write_handle(handle, coreai.slice_update(old, start, end, const([1, 1, 1]), new), token)
            now, token = coreai.read_handle(handle, token)
            results.append((name, token, now))
        output = coreai.broadcasting_mul(coreai.reduce_sum(results[0][2], const([1])), results[1][2])
        return [("y", output)] + [(name, token) for name, token, _ in results]

    def step(inputs: Arrays, states: Arrays) -> tuple[list[Array], Arrays]:
        new = {k: v.copy() for k, v in states.items()}
        at = int(inputs["at"])
        new["keys"][:, at : at + 1], new["values"][:, at : at + 1] = inputs["k"], inputs["v"]
        return [new["keys"].sum(1, keepdims=True) * new["values"]], new

    specs = [
        Spec("k", (2, 1, 4), d.F32),
        Spec("v", (2, 1, 4), d.F32),
        Spec("at", (), d.I32),
        Spec("keys", (2, 6, 4), d.F32, True),
        Spec("values", (2, 6, 4), d.F32, True),
    ]
    return state_case(
        "cache",
        specs,
        body,
        step,
        lambda rng: [
            {"k": d.random(rng, (2, 1, 4), d.F32), "v": d.random(rng, (2, 1, 4), d.F32), "at": np.array(p, np.int32)}
            for p in (0, 1, 5, 1)
        ],
        lambda rng: {"keys": np.zeros((2, 6, 4), np.float32), "values": np.zeros((2, 6, 4), np.float32)},
        key=True,
    )


def _write_twice() -> Case:
    """Two writes in a row: what lies between sees the first."""

    def body(x: Any, s: Any) -> list[tuple[str, Any]]:
        coreai = ops()
        old, token = _read(s)
        token = coreai.write_handle(s, x, token)
        between, token = coreai.read_handle(s, token)
        token = coreai.write_handle(s, coreai.add(between, old), token)
        after, token = coreai.read_handle(s, token)
        return [("old", old), ("between", between), ("after", after), ("s", token)]

    def step(inputs: Arrays, states: Arrays) -> tuple[list[Array], Arrays]:
        after = inputs["x"] + states["s"]
        return [states["s"], inputs["x"], after], {"s": after}

    return state_case(
        "write_twice",
        [Spec("x", (5,), d.F32), Spec("s", (5,), d.F32, True)],
        body,
        step,
        lambda rng: [{"x": d.random(rng, (5,), d.F32)} for _ in range(3)],
        lambda rng: {"s": d.random(rng, (5,), d.F32)},
        key=True,
    )


def _read_only() -> Case:
    """A state that is read and left as it is."""

    def body(x: Any, s: Any) -> list[tuple[str, Any]]:
        old, token = _read(s)
        return [("y", ops().mul(old, x)), ("s", token)]

    return state_case(
        "read_only",
        [Spec("x", (3,), d.F32), Spec("s", (3,), d.F32, True)],
        body,
        lambda i, s: ([i["x"] * s["s"]], s),
        lambda rng: [{"x": d.random(rng, (3,), d.F32)} for _ in range(2)],
        lambda rng: {"s": d.random(rng, (3,), d.F32)},
    )


def _swap() -> Case:
    """Two states that change places: no write may be seen too early."""

    def body(a: Any, b: Any) -> list[tuple[str, Any]]:
        coreai = ops()
        (one, first), (two, second) = _read(a), _read(b)
        return [
            ("sum", coreai.add(one, two)),
            ("a", coreai.write_handle(a, two, first)),
            ("b", coreai.write_handle(b, one, second)),
        ]

    return state_case(
        "swap",
        [Spec("a", (4,), d.F32, True), Spec("b", (4,), d.F32, True)],
        body,
        lambda i, s: ([s["a"] + s["b"]], {"a": s["b"], "b": s["a"]}),
        lambda rng: [{}, {}, {}],
        lambda rng: {"a": d.random(rng, (4,), d.F32), "b": d.random(rng, (4,), d.F32)},
        key=True,
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for dtype in (d.F32, d.F16, d.BF16, d.I32, d.U8, d.I8):
        yield _accumulate(dtype)
    yield from (_counter(), _cache(), _write_twice(), _read_only(), _swap())
