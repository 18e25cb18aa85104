"""if and while, nested in each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops, tensor_type
from ..model import Array, Case, Spec


def choose(condition: Any, types: list[Any], yes: Callable[[], list[Any]], no: Callable[[], list[Any]]) -> Any:
    """An if with two branches that capture what they use."""
    coreai = ops()
    result, (first, second) = coreai.if_(types, condition)
    for builder, branch in ((first, yes), (second, no)):
        with builder:
            coreai.yield_(branch())
    return result


def repeat(
    inits: list[Any],
    test: Callable[..., tuple[Any, list[Any]]],
    step: Callable[..., list[Any]],
    types: list[Any] | None = None,
) -> Any:
    """A while; `test` returns the condition and the values passed on."""
    from coreai._compiler.dialects._coreai_ops_gen import WhileOp
    from coreai._compiler.ir import InsertionPoint

    coreai = ops()
    types = types or [v.type for v in inits]
    op = WhileOp(results_=types, inits=inits)
    before = op.regions[0].blocks.append(*[v.type for v in inits])
    after = op.regions[1].blocks.append(*types)
    with InsertionPoint(before):
        condition, values = test(*before.arguments)
        coreai.condition(condition, *values)
    with InsertionPoint(after):
        coreai.yield_(step(*after.arguments))
    return op.result if len(types) == 1 else op.results


def _if(dtype: np.dtype[Any]) -> Case:
    def body(c: Any, x: Any) -> Any:
        return choose(c, [x.type], lambda: [ops().add(x, x)], lambda: [ops().mul(x, x)])

    return graph_case(
        f"control/if/{d.label(dtype)}",
        "if",
        [Spec("c", (), d.BOOL), Spec("x", (3,), dtype)],
        body,
        lambda c, x: x + x if c else x * x,
        lambda rng: [[np.array(v), d.random(rng, (3,), dtype)] for v in (True, False)],
        key=dtype == d.F32,
    )


def _if_two_results() -> Case:
    def body(c: Any, x: Any, y: Any) -> Any:
        return list(choose(c, [x.type, y.type], lambda: [y, x], lambda: [x, ops().sub(y, x)]))

    return graph_case(
        "control/if/two_results",
        "if",
        [Spec("c", (), d.BOOL), Spec("x", (2, 2), d.F32), Spec("y", (2, 2), d.F32)],
        body,
        lambda c, x, y: [y, x] if c else [x, y - x],
        lambda rng: [[np.array(v), d.random(rng, (2, 2), d.F32), d.random(rng, (2, 2), d.F32)] for v in (True, False)],
        key=True,
    )


def _nested_if() -> Case:
    def body(a: Any, b: Any, x: Any) -> Any:
        coreai = ops()
        outer = coreai.exp(x)
        inner = lambda: [choose(b, [x.type], lambda: [coreai.add(outer, x)], lambda: [outer])]  # noqa: E731
        return choose(a, [x.type], inner, lambda: [coreai.sub(x, outer)])

    return graph_case(
        "control/if/nested",
        "if",
        [Spec("a", (), d.BOOL), Spec("b", (), d.BOOL), Spec("x", (3,), d.F32)],
        body,
        lambda a, b, x: (np.exp(x) + x if b else np.exp(x)) if a else x - np.exp(x),
        lambda rng: [[np.array(a), np.array(b), d.random(rng, (3,), d.F32)] for a in (0, 1) for b in (0, 1)],
        key=True,
    )


def _if_shapes() -> Case:
    def body(c: Any, x: Any) -> Any:
        coreai = ops()
        dynamic = tensor_type((-1,), d.F32)
        return choose(
            c, [dynamic], lambda: [coreai.cast(coreai.concat(0, [x, x]), dynamic)], lambda: [coreai.cast(x, dynamic)]
        )

    return graph_case(
        "control/if/other_shapes",
        "if",
        [Spec("c", (), d.BOOL), Spec("x", (3,), d.F32)],
        body,
        lambda c, x: np.concatenate([x, x]) if c else x,
        lambda rng: [[np.array(v), d.random(rng, (3,), d.F32)] for v in (True, False)],
    )


def _doubling() -> Case:
    def body(n: Any, x: Any) -> Any:
        coreai = ops()
        return list(
            repeat(
                [const(0), x],
                lambda i, v: (coreai.not_equal(i, n), [i, v]),
                lambda i, v: [coreai.add(i, const(1)), coreai.add(v, v)],
            )
        )

    return graph_case(
        "control/while/doubling",
        "while",
        [Spec("n", (), d.I32), Spec("x", (4,), d.F32)],
        body,
        lambda n, x: [n, x * 2.0 ** int(n)],
        lambda rng: [[np.array(n, np.int32), d.random(rng, (4,), d.F32)] for n in (0, 1, 7)],
        key=True,
    )


def _projected() -> Case:
    """A while whose condition passes on other values than the loop carries."""

    def body(n: Any) -> Any:
        coreai = ops()
        types = [tensor_type((), d.I32)]
        return repeat(
            [const(0), const(1)],
            lambda a, b: (coreai.greater(n, a), [coreai.add(a, b)]),
            lambda s: [s, coreai.add(s, const(1))],
            types,
        )

    def reference(n: Array) -> Array:
        a, b = 0, 1
        while n > a:
            s = a + b
            a, b = s, s + 1
        return np.array(a + b, np.int32)

    return graph_case(
        "control/while/projected",
        "while",
        [Spec("n", (), d.I32)],
        body,
        reference,
        lambda rng: [[np.array(v, np.int32)] for v in (0, 1, 50)],
        key=True,
    )


def _nested_while() -> Case:
    def body(n: Any, x: Any) -> Any:
        coreai = ops()

        def outer(i: Any, total: Any) -> list[Any]:
            inner = repeat(
                [const(0), total],
                lambda j, t: (coreai.greater(i, j), [j, t]),
                lambda j, t: [coreai.add(j, const(1)), coreai.add(t, x)],
            )
            return [coreai.add(i, const(1)), inner[1]]

        return repeat([const(0), x], lambda i, t: (coreai.greater(n, i), [i, t]), outer)[1]

    return graph_case(
        "control/while/nested",
        "while",
        [Spec("n", (), d.I32), Spec("x", (2,), d.F32)],
        body,
        lambda n, x: x * (1 + int(n) * (int(n) - 1) / 2),
        lambda rng: [[np.array(v, np.int32), d.random(rng, (2,), d.F32)] for v in (0, 1, 5)],
        key=True,
    )


def _growing() -> Case:
    def body(n: Any, x: Any) -> Any:
        coreai = ops()
        dynamic = tensor_type((-1,), d.F32)
        return repeat(
            [const(0), coreai.cast(x, dynamic)],
            lambda i, v: (coreai.greater(n, i), [i, v]),
            lambda i, v: [coreai.add(i, const(1)), coreai.cast(coreai.concat(0, [v, x]), dynamic)],
        )[1]

    return graph_case(
        "control/while/growing",
        "while",
        [Spec("n", (), d.I32), Spec("x", (2,), d.F32)],
        body,
        lambda n, x: np.tile(x, int(n) + 1),
        lambda rng: [[np.array(v, np.int32), d.random(rng, (2,), d.F32)] for v in (0, 3)],
        key=True,
        note="the carried shape grows",
    )


def _if_in_while() -> Case:
    def body(n: Any) -> Any:
        coreai = ops()

        def step(value: Any, count: Any) -> list[Any]:
            odd = coreai.equal(coreai.modulo(value, const(2)), const(1))
            following = choose(
                odd,
                [value.type],
                lambda: [coreai.add(coreai.mul(value, const(3)), const(1))],
                lambda: [coreai.divide(value, const(2))],
            )
            return [following, coreai.add(count, const(1))]

        return repeat([n, const(0)], lambda v, c: (coreai.greater(v, const(1)), [v, c]), step)[1]

    def reference(n: Array) -> Array:
        value, count = int(n), 0
        while value > 1:
            value, count = (3 * value + 1 if value % 2 else value // 2), count + 1
        return np.array(count, np.int32)

    return graph_case(
        "control/while/with_if",
        "while",
        [Spec("n", (), d.I32)],
        body,
        reference,
        lambda rng: [[np.array(v, np.int32)] for v in (1, 6, 27)],
        key=True,
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for dtype in (d.F32, d.I32, d.F16, d.U8):
        yield _if(dtype)
    yield from (
        _if_two_results(),
        _nested_if(),
        _if_shapes(),
        _doubling(),
        _projected(),
        _nested_while(),
        _growing(),
        _if_in_while(),
    )
