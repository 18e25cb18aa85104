"""Modules of several graphs: more than one function, private graphs that are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import dtypes as d
from ..dtypes import wide
from ..graph import ModuleBuilder, graph_case, ops
from ..model import Answer, Array, Built, Call, Case, Spec


def module_case(
    name: str,
    op: str,
    build_module: Callable[[ModuleBuilder], Built],
    specs: list[Spec],
    reference: Callable[..., Any],
    data: Callable[[np.random.Generator], list[list[Array]]],
    **options: Any,
) -> Case:
    """A case of a module with several graphs."""
    made: list[Built] = []

    def build(path: Path) -> Built:
        builder = ModuleBuilder()
        made[:] = [build_module(builder)]
        builder.save(path)
        return made[0]

    def answer(calls: list[Call]) -> list[Answer]:
        answers = []
        for call in calls:
            values = reference(*(wide(call.inputs[s.name]) for s in specs))
            listed = values if isinstance(values, list) else [values]
            answers.append(
                Answer(
                    {k: np.asarray(v).astype(made[0].dtypes[k]) for k, v in zip(made[0].outputs, listed, strict=True)}
                )
            )
        return answers

    return Case(
        name,
        op,
        build,
        lambda rng: [Call({s.name: a for s, a in zip(specs, row)}) for row in data(rng)],
        answer,
        **options,
    )


def _functions() -> Iterator[Case]:
    specs = [Spec("x", (3,), d.F32)]

    def module(which: str) -> Callable[[ModuleBuilder], Built]:
        def build(builder: ModuleBuilder) -> Built:
            built = {
                "main": builder.graph(specs, lambda x: ops().exp(x), "main"),
                "twice": builder.graph(specs, lambda x: [("double", ops().add(x, x)), ("same", x)], "twice"),
                "shape": builder.graph([Spec("x", (-1, 2), d.F32)], lambda x: [("n", ops().get_shape(x))], "shape"),
            }
            return built[which]

        return build

    row = lambda rng: [[d.random(rng, (3,), d.F32)]]  # noqa: E731
    yield module_case("control/functions/main", "graph", module("main"), specs, np.exp, row)
    yield module_case(
        "control/functions/twice",
        "graph",
        module("twice"),
        specs,
        lambda x: [x + x, x],
        row,
        function="twice",
        key=True,
    )
    yield module_case(
        "control/functions/shape",
        "graph",
        module("shape"),
        specs,
        lambda x: [np.array(x.shape)],
        lambda rng: [[d.random(rng, (4, 2), d.F32)]],
        function="shape",
    )


def _private() -> Case:
    specs = [Spec("x", (2, 3), d.F32)]

    def build(builder: ModuleBuilder) -> Built:
        builder.graph(
            [Spec("a", (2, 3), d.F32), Spec("b", (2, 3), d.F32)],
            lambda a, b: [("s", ops().add(a, b)), ("t", ops().mul(a, b))],
            "pair",
            private=True,
            no_inline=True,
        )
        pair = builder.graphs["pair"]

        def body(x: Any) -> Any:
            first = pair(x, x)
            return list(pair(first[0], first[1]))

        return builder.graph(specs, body)

    def reference(x: Array) -> list[Array]:
        return [2 * x + x * x, 2 * x * x * x]

    return module_case(
        "control/invoke/twice",
        "invoke",
        build,
        specs,
        reference,
        lambda rng: [[d.random(rng, (2, 3), d.F32)]],
        key=True,
    )


def _isolated() -> Case:
    """A group meant for a delegate that is not there: its region is what it does."""

    def body(x: Any) -> Any:
        from coreai._compiler.ir import InsertionPoint

        coreai = ops()
        op = coreai.IsolatedGroupOp([x.type], [x], "Interpreter")
        block = op.regions[0].blocks.append(x.type)
        with InsertionPoint(block):
            coreai.yield_([coreai.exp(block.arguments[0])])
        return coreai.add(op.results[0], x)

    return graph_case(
        "control/isolated_group",
        "isolated_group",
        [Spec("x", (2, 3), d.F32)],
        body,
        lambda x: np.exp(x) + x,
        lambda rng: [[d.random(rng, (2, 3), d.F32)]],
        key=True,
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    yield _isolated()
    yield from _functions()
    yield _private()
