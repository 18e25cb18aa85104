"""if, while, private graphs, and the reductions whose region is written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import ModuleBuilder, const, graph_case, ops, tensor_type
from ..model import Answer, Array, Built, Call, Case, Spec
from ..dtypes import wide


def choose(condition: Any, types: list[Any], yes: Callable[[], list[Any]], no: Callable[[], list[Any]]) -> Any:
    """An if with two branches that capture what they use."""
    coreai = ops()
    result, (first, second) = coreai.if_(types, condition)
    for builder, branch in ((first, yes), (second, no)):
        with builder:
            coreai.yield_(branch())
    return result


def repeat(inits: list[Any], test: Callable[..., tuple[Any, list[Any]]], step: Callable[..., list[Any]], types: list[Any] | None = None) -> Any:
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
        f"control/if/{d.label(dtype)}", "if", [Spec("c", (), d.BOOL), Spec("x", (3,), dtype)], body,
        lambda c, x: x + x if c else x * x, lambda rng: [[np.array(v), d.random(rng, (3,), dtype)] for v in (True, False)],
        key=dtype == d.F32)


def _if_two_results() -> Case:
    def body(c: Any, x: Any, y: Any) -> Any:
        return list(choose(c, [x.type, y.type], lambda: [y, x], lambda: [x, ops().sub(y, x)]))

    return graph_case(
        "control/if/two_results", "if", [Spec("c", (), d.BOOL), Spec("x", (2, 2), d.F32), Spec("y", (2, 2), d.F32)], body,
        lambda c, x, y: [y, x] if c else [x, y - x],
        lambda rng: [[np.array(v), d.random(rng, (2, 2), d.F32), d.random(rng, (2, 2), d.F32)] for v in (True, False)], key=True)


def _nested_if() -> Case:
    def body(a: Any, b: Any, x: Any) -> Any:
        coreai = ops()
        outer = coreai.exp(x)
        inner = lambda: [choose(b, [x.type], lambda: [coreai.add(outer, x)], lambda: [outer])]  # noqa: E731
        return choose(a, [x.type], inner, lambda: [coreai.sub(x, outer)])

    return graph_case(
        "control/if/nested", "if", [Spec("a", (), d.BOOL), Spec("b", (), d.BOOL), Spec("x", (3,), d.F32)], body,
        lambda a, b, x: (np.exp(x) + x if b else np.exp(x)) if a else x - np.exp(x),
        lambda rng: [[np.array(a), np.array(b), d.random(rng, (3,), d.F32)] for a in (0, 1) for b in (0, 1)], key=True)


def _if_shapes() -> Case:
    def body(c: Any, x: Any) -> Any:
        coreai = ops()
        dynamic = tensor_type((-1,), d.F32)
        return choose(c, [dynamic], lambda: [coreai.cast(coreai.concat(0, [x, x]), dynamic)], lambda: [coreai.cast(x, dynamic)])

    return graph_case(
        "control/if/other_shapes", "if", [Spec("c", (), d.BOOL), Spec("x", (3,), d.F32)], body,
        lambda c, x: np.concatenate([x, x]) if c else x,
        lambda rng: [[np.array(v), d.random(rng, (3,), d.F32)] for v in (True, False)])


def _doubling() -> Case:
    def body(n: Any, x: Any) -> Any:
        coreai = ops()
        return list(repeat([const(0), x], lambda i, v: (coreai.not_equal(i, n), [i, v]),
                           lambda i, v: [coreai.add(i, const(1)), coreai.add(v, v)]))

    return graph_case(
        "control/while/doubling", "while", [Spec("n", (), d.I32), Spec("x", (4,), d.F32)], body,
        lambda n, x: [n, x * 2.0 ** int(n)], lambda rng: [[np.array(n, np.int32), d.random(rng, (4,), d.F32)] for n in (0, 1, 7)],
        key=True)


def _projected() -> Case:
    """A while whose condition passes on other values than the loop carries."""
    def body(n: Any) -> Any:
        coreai = ops()
        types = [tensor_type((), d.I32)]
        return repeat([const(0), const(1)], lambda a, b: (coreai.greater(n, a), [coreai.add(a, b)]),
                      lambda s: [s, coreai.add(s, const(1))], types)

    def reference(n: Array) -> Array:
        a, b = 0, 1
        while n > a:
            s = a + b
            a, b = s, s + 1
        return np.array(a + b, np.int32)

    return graph_case("control/while/projected", "while", [Spec("n", (), d.I32)], body, reference,
                      lambda rng: [[np.array(v, np.int32)] for v in (0, 1, 50)], key=True)


def _nested_while() -> Case:
    def body(n: Any, x: Any) -> Any:
        coreai = ops()

        def outer(i: Any, total: Any) -> list[Any]:
            inner = repeat([const(0), total], lambda j, t: (coreai.greater(i, j), [j, t]),
                           lambda j, t: [coreai.add(j, const(1)), coreai.add(t, x)])
            return [coreai.add(i, const(1)), inner[1]]

        return repeat([const(0), x], lambda i, t: (coreai.greater(n, i), [i, t]), outer)[1]

    return graph_case(
        "control/while/nested", "while", [Spec("n", (), d.I32), Spec("x", (2,), d.F32)], body,
        lambda n, x: x * (1 + int(n) * (int(n) - 1) / 2), lambda rng: [[np.array(v, np.int32), d.random(rng, (2,), d.F32)] for v in (0, 1, 5)],
        key=True)


def _growing() -> Case:
    def body(n: Any, x: Any) -> Any:
        coreai = ops()
        dynamic = tensor_type((-1,), d.F32)
        return repeat([const(0), coreai.cast(x, dynamic)], lambda i, v: (coreai.greater(n, i), [i, v]),
                      lambda i, v: [coreai.add(i, const(1)), coreai.cast(coreai.concat(0, [v, x]), dynamic)])[1]

    return graph_case(
        "control/while/growing", "while", [Spec("n", (), d.I32), Spec("x", (2,), d.F32)], body, lambda n, x: np.tile(x, int(n) + 1),
        lambda rng: [[np.array(v, np.int32), d.random(rng, (2,), d.F32)] for v in (0, 3)], key=True, note="the carried shape grows")


def _if_in_while() -> Case:
    def body(n: Any) -> Any:
        coreai = ops()

        def step(value: Any, count: Any) -> list[Any]:
            odd = coreai.equal(coreai.modulo(value, const(2)), const(1))
            following = choose(odd, [value.type], lambda: [coreai.add(coreai.mul(value, const(3)), const(1))],
                               lambda: [coreai.divide(value, const(2))])
            return [following, coreai.add(count, const(1))]

        return repeat([n, const(0)], lambda v, c: (coreai.greater(v, const(1)), [v, c]), step)[1]

    def reference(n: Array) -> Array:
        value, count = int(n), 0
        while value > 1:
            value, count = (3 * value + 1 if value % 2 else value // 2), count + 1
        return np.array(count, np.int32)

    return graph_case("control/while/with_if", "while", [Spec("n", (), d.I32)], body, reference,
                      lambda rng: [[np.array(v, np.int32)] for v in (1, 6, 27)], key=True)


def _region(op: Any, arguments: list[Any], body: Callable[..., Any]) -> Any:
    from coreai._compiler.ir import InsertionPoint

    block = op.regions[0].blocks.append(*arguments)
    with InsertionPoint(block):
        ops().yield_([body(*block.arguments)])
    return op.result


def _reduce(name: str, dtype: np.dtype[Any], init: float, combine: Callable[[Any, Any], Any], numpy: Callable[[Array], Array]) -> Case:
    def body(x: Any) -> Any:
        from coreai._compiler.dialects._coreai_ops_gen import ReduceOp

        scalar = tensor_type((), dtype)
        op = ReduceOp(tensor_type((2, 1, 3), dtype), x, const([1]), const(init, dtype))
        return _region(op, [scalar, scalar], combine)

    return graph_case(f"control/reduce/{name}-{d.label(dtype)}", "reduce", [Spec("x", (2, 5, 3), dtype)], body, numpy,
                      lambda rng: [[d.random(rng, (2, 5, 3), dtype)]], key=dtype == d.F32)


def _reduce_index(name: str, dtype: np.dtype[Any], init: float, most: bool) -> Case:
    def body(x: Any) -> Any:
        from coreai._compiler.dialects._coreai_ops_gen import ReduceIndexOp

        scalar = tensor_type((), dtype)
        op = ReduceIndexOp(tensor_type((3, 1), d.U32), x, const(1), const(init, dtype), const(0, np.uint32))
        wins = (lambda best, one: ops().greater(one, best)) if most else (lambda best, one: ops().greater(best, one))
        return _region(op, [scalar, scalar], wins)

    pick = np.argmax if most else np.argmin
    return graph_case(f"control/reduce_index/{name}-{d.label(dtype)}", "reduce_index", [Spec("x", (3, 6), dtype)], body,
                      lambda x: pick(x, 1)[:, None], lambda rng: [[d.random(rng, (3, 6), dtype)], [np.zeros((3, 6), dtype)]], key=True)


def _regions() -> Iterator[Case]:
    for dtype in (d.F32, d.I32, d.F16):
        yield _reduce("sum", dtype, 0, lambda a, e: ops().add(a, e), lambda x: x.sum(1, keepdims=True, dtype=x.dtype))
        yield _reduce("from_seven", dtype, 7, lambda a, e: ops().add(a, e), lambda x: x.sum(1, keepdims=True, dtype=x.dtype) + x.dtype.type(7))
        yield _reduce("maximum", dtype, -5, lambda a, e: ops().maximum(a, e), lambda x: np.maximum(x.max(1, keepdims=True), -5))
    yield _reduce("squares", d.F32, 0, lambda a, e: ops().add(a, ops().mul(e, e)), lambda x: (x * x).sum(1, keepdims=True))
    yield _reduce("absolute", d.F32, 0, lambda a, e: ops().maximum(a, ops().abs_(e)), lambda x: np.abs(x).max(1, keepdims=True))
    for dtype, least, most in ((d.F32, -3.4e38, 3.4e38), (d.I32, -(2**31), 2**31 - 1)):
        yield _reduce_index("greatest", dtype, least, True)
        yield _reduce_index("least", dtype, most, False)


def module_case(
    name: str, op: str, build_module: Callable[[ModuleBuilder], Built], specs: list[Spec], reference: Callable[..., Any],
    data: Callable[[np.random.Generator], list[list[Array]]], **options: Any,
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
            answers.append(Answer({k: np.asarray(v).astype(made[0].dtypes[k]) for k, v in zip(made[0].outputs, listed, strict=True)}))
        return answers

    return Case(name, op, build, lambda rng: [Call({s.name: a for s, a in zip(specs, row)}) for row in data(rng)], answer, **options)


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
    yield module_case("control/functions/twice", "graph", module("twice"), specs, lambda x: [x + x, x], row, function="twice", key=True)
    yield module_case("control/functions/shape", "graph", module("shape"), specs, lambda x: [np.array(x.shape)],
                      lambda rng: [[d.random(rng, (4, 2), d.F32)]], function="shape")


def _private() -> Case:
    specs = [Spec("x", (2, 3), d.F32)]

    def build(builder: ModuleBuilder) -> Built:
        builder.graph([Spec("a", (2, 3), d.F32), Spec("b", (2, 3), d.F32)],
                      lambda a, b: [("s", ops().add(a, b)), ("t", ops().mul(a, b))], "pair", private=True, no_inline=True)
        pair = builder.graphs["pair"]

        def body(x: Any) -> Any:
            first = pair(x, x)
            return list(pair(first[0], first[1]))

        return builder.graph(specs, body)

    def reference(x: Array) -> list[Array]:
        return [2 * x + x * x, 2 * x * x * x]

    return module_case("control/invoke/twice", "invoke", build, specs, reference, lambda rng: [[d.random(rng, (2, 3), d.F32)]], key=True)


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for dtype in (d.F32, d.I32, d.F16, d.U8):
        yield _if(dtype)
    for case in (_if_two_results(), _nested_if(), _if_shapes(), _doubling(), _projected(), _nested_while(), _growing(), _if_in_while()):
        yield case
    yield from _regions()
    yield from _functions()
    yield _private()
