"""The primitives reduce and reduce_index, whose region is written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops, tensor_type
from ..model import Array, Case, Spec


def _region(op: Any, arguments: list[Any], body: Callable[..., Any]) -> Any:
    from coreai._compiler.ir import InsertionPoint

    block = op.regions[0].blocks.append(*arguments)
    with InsertionPoint(block):
        ops().yield_([body(*block.arguments)])
    return op.result


def _reduce(
    name: str, dtype: np.dtype[Any], init: float, combine: Callable[[Any, Any], Any], numpy: Callable[[Array], Array]
) -> Case:
    def body(x: Any) -> Any:
        from coreai._compiler.dialects._coreai_ops_gen import ReduceOp

        scalar = tensor_type((), dtype)
        op = ReduceOp(tensor_type((2, 1, 3), dtype), x, const([1]), const(init, dtype))
        return _region(op, [scalar, scalar], combine)

    return graph_case(
        f"control/reduce/{name}-{d.label(dtype)}",
        "reduce",
        [Spec("x", (2, 5, 3), dtype)],
        body,
        numpy,
        lambda rng: [[d.random(rng, (2, 5, 3), dtype)]],
        key=dtype == d.F32,
        atol=2e-2 if dtype == d.F16 else None,
        note="the region adds in float16, step by step" if dtype == d.F16 else None,
    )


def _reduce_index(name: str, dtype: np.dtype[Any], init: float, most: bool) -> Case:
    def body(x: Any) -> Any:
        from coreai._compiler.dialects._coreai_ops_gen import ReduceIndexOp

        scalar = tensor_type((), dtype)
        op = ReduceIndexOp(tensor_type((3, 1), d.U32), x, const(1), const(init, dtype), const(0, np.uint32))
        wins = (lambda best, one: ops().greater(one, best)) if most else (lambda best, one: ops().greater(best, one))
        return _region(op, [scalar, scalar], wins)

    pick = np.argmax if most else np.argmin
    return graph_case(
        f"control/reduce_index/{name}-{d.label(dtype)}",
        "reduce_index",
        [Spec("x", (3, 6), dtype)],
        body,
        lambda x: pick(x, 1)[:, None],
        lambda rng: [[d.random(rng, (3, 6), dtype)], [np.zeros((3, 6), dtype)]],
        key=True,
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for dtype in (d.F32, d.I32, d.F16):
        yield _reduce("sum", dtype, 0, lambda a, e: ops().add(a, e), lambda x: x.sum(1, keepdims=True, dtype=x.dtype))
        yield _reduce(
            "from_seven",
            dtype,
            7,
            lambda a, e: ops().add(a, e),
            lambda x: x.sum(1, keepdims=True, dtype=x.dtype) + x.dtype.type(7),
        )
        yield _reduce(
            "maximum", dtype, -5, lambda a, e: ops().maximum(a, e), lambda x: np.maximum(x.max(1, keepdims=True), -5)
        )
    yield _reduce(
        "squares", d.F32, 0, lambda a, e: ops().add(a, ops().mul(e, e)), lambda x: (x * x).sum(1, keepdims=True)
    )
    yield _reduce(
        "absolute", d.F32, 0, lambda a, e: ops().maximum(a, ops().abs_(e)), lambda x: np.abs(x).max(1, keepdims=True)
    )
    for dtype, least, most in ((d.F32, -3.4e38, 3.4e38), (d.I32, -(2**31), 2**31 - 1)):
        yield _reduce_index("greatest", dtype, least, True)
        yield _reduce_index("least", dtype, most, False)
