"""Faults that other runtimes had in the field, each under its number: arithmetic, rounding, NaN, types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Case, Spec
from ..torch_export import Exported, torch_case

DType = np.dtype[Any]
INF, NAN = np.inf, np.nan


def exact(
    name: str, specs: list[Spec], body: Callable[..., Any], expected: Any, values: list[Any], **options: Any
) -> Case:
    """A case with written-down answers: inputs and outputs are lists in order."""
    answers = (
        expected
        if isinstance(expected, list) and expected and isinstance(expected[0], np.ndarray)
        else [np.asarray(expected)]
    )
    options = {"rtol": 0, "atol": 0} | options
    return graph_case(
        f"field/{name}",
        f"field_{name.split('/')[0]}",
        specs,
        body,
        lambda *_: answers,
        lambda rng: [[np.asarray(v, s.dtype).reshape(s.shape) for v, s in zip(values, specs)]],
        key=True,
        **options,
    )


def _vector(name: str, values: list[Any], dtype: DType) -> tuple[Spec, Array]:
    return Spec(name, (len(values),), dtype), np.array(values, dtype)


def _e01() -> Iterator[Case]:
    import torch

    x = np.array([0.25, 2.5, -2.5, 3.5, -0.5, 0.5, -1.75, 7.0, -3.0, 1e9], np.float32)
    table = {"floor": torch.floor, "trunc": torch.trunc, "ceil": torch.ceil, "round": torch.round}
    for name, function in table.items():
        yield torch_case(
            f"field/E01/{name}",
            "field_E01",
            lambda f=function: _module(f),
            Exported(["x"]),
            lambda rng: [[x]],
            rtol=0,
            atol=0,
            key=True,
        )
    yield exact(
        "E01/round_signs",
        [Spec("x", (4,), d.F32)],
        lambda v: ops().divide(const([1, 1, 1, 1], np.float32), ops().round_(v)),
        np.array([-INF, INF, -0.5, 1 / 4]),
        [[-0.5, 0.5, -2.5, 3.5]],
        note="1/y shows the sign of a zero",
    )


def _module(function: Callable[..., Any]) -> Any:
    from .torch_ops import function as wrap

    return wrap(function)


def _e04() -> Iterator[Case]:
    a = [7, -7, 7, -7, 6, -6, -1, 2000000001, -2000000001]
    b = [3, 3, -3, -3, -3, 3, 4, 2, 2]
    specs = [Spec("a", (9,), d.I32), Spec("b", (9,), d.I32)]

    def remainder(x: Any, y: Any) -> Any:
        coreai = ops()
        return coreai.sub(x, coreai.mul(coreai.floor_divide(x, y), y))

    yield exact(
        "E04/floor_div",
        specs,
        lambda x, y: ops().floor_divide(x, y),
        [2, -3, -3, 2, -2, -2, -1, 1000000000, -1000000001],
        [a, b],
    )
    yield exact(
        "E04/trunc_div",
        specs,
        lambda x, y: ops().divide(x, y),
        [2, -2, -2, 2, -2, -2, 0, 1000000000, -1000000000],
        [a, b],
    )
    yield exact("E04/remainder", specs, remainder, [1, 2, -2, -1, 0, 0, 3, 1, 1], [a, b])
    yield exact("E04/fmod", specs, lambda x, y: ops().modulo(x, y), [1, -1, 1, -1, 0, 0, -1, 1, -1], [a, b])
    yield exact(
        "E04/clamp",
        [Spec("c", (4,), d.I32)],
        lambda c: ops().broadcasting_maximum(c, const(0)),
        [16777217, 0, 2147483647, 0],
        [[16777217, -16777219, 2147483647, -5]],
    )


def _e05() -> Iterator[Case]:
    x = [3e9, -3e9, NAN, -1.5, 300.7, 2147483520.0]
    table = {
        "i32": (d.I32, [2147483647, -2147483648, 0, -1, 300, 2147483520]),
        "u8": (d.U8, [255, 0, 0, 0, 255, 255]),
        "u32": (d.U32, [3000000000, 0, 0, 0, 300, 2147483520]),
    }
    for name, (dtype, expected) in table.items():
        yield exact(f"E05/{name}", [Spec("x", (6,), d.F32)], lambda v, t=dtype: ops().cast(v, t.type), expected, [x])


def _e06() -> Iterator[Case]:
    import torch.nn.functional as functional

    x = np.array([-20, -1, 0, 8, 10.375, 10.5, 11, 12, 20, 50, 1000], np.float16)
    for name, one in (("softplus", functional.softplus), ("mish", functional.mish)):
        yield torch_case(
            f"field/E06/{name}",
            "field_E06",
            lambda f=one: _module(f),
            Exported(["x"]),
            lambda rng: [[x]],
            key=True,
            note="log(1 + exp(x)) passes float16's end",
        )


def _e08() -> Iterator[Case]:
    i, j = [-1, 0, 3, 4, 2, 5, 0], [0, -1, 2, 1, 1, 3, 2]
    for dtype in (d.F32, d.F16, d.I32):

        def body(x: Any, y: Any, t: DType = dtype) -> Any:
            coreai = ops()

            def inside(v: Any, top: int) -> Any:
                below = coreai.not_(coreai.broadcasting_greater(const(0, t), v))
                return coreai.and_(below, coreai.broadcasting_greater(const(top, t), v))

            both, either = coreai.and_(inside(x, 4), inside(y, 3)), coreai.or_(inside(x, 4), inside(y, 3))
            one = coreai.xor_(inside(x, 4), inside(y, 3))
            return [coreai.cast(v, np.float32) for v in (both, either, one)]

        yield exact(
            f"E08/{d.label(dtype)}",
            [Spec("i", (7,), dtype), Spec("j", (7,), dtype)],
            body,
            [np.array([0, 0, 1, 0, 1, 0, 1.0]), np.array([1, 1, 1, 1, 1, 0, 1.0]), np.array([1, 1, 0, 1, 0, 0, 0.0])],
            [i, j],
        )


def _e09() -> Iterator[Case]:
    for name, op, values, expected in (
        ("max_many", "reduce_max", [NAN, NAN, NAN, 42.0], NAN),
        ("max_two", "reduce_max", [5.0, NAN], NAN),
        ("min_two", "reduce_min", [5.0, NAN], NAN),
        ("max_minus_inf", "reduce_max", [-INF, -INF], -INF),
        ("min_inf", "reduce_min", [INF, INF], INF),
    ):
        for dtype in (d.F32, d.F16):
            yield exact(
                f"E09/{name}-{d.label(dtype)}",
                [Spec("x", (len(values),), dtype)],
                lambda x, o=op: getattr(ops(), o)(x, const([0])),
                [expected],
                [values],
            )
    long = np.full(1000, 2.0, np.float32)
    long[777] = NAN
    for op in ("reduce_max", "reduce_min"):
        yield exact(
            f"E09/{op}-late",
            [Spec("x", (1000,), d.F32)],
            lambda x, o=op: getattr(ops(), o)(x, const([0])),
            [NAN],
            [long],
        )
    for op, expected in (("maximum", [NAN, 10, 20]), ("minimum", [NAN, 1, 10])):
        yield exact(
            f"E09/{op}",
            [Spec("a", (3,), d.F32), Spec("b", (1,), d.F32)],
            lambda a, b, o=op: getattr(ops(), f"broadcasting_{o}")(a, b),
            expected,
            [[NAN, 1, 20], [10]],
        )


def _e10() -> Iterator[Case]:
    x = [-2.0, -1.0, -0.5, 0.0, 3.0]
    table = {
        2.0: [4, 1, 0.25, 0, 9],
        3.0: [-8, -1, -0.125, 0, 27],
        0.0: [1] * 5,
        0.5: [NAN, NAN, NAN, 0, 1.7320507764816284],
    }
    for power, expected in table.items():
        yield exact(
            f"E10/constant_{power}",
            [Spec("x", (5,), d.F32)],
            lambda v, p=power: ops().broadcasting_pow(v, const(p, np.float32)),
            expected,
            [x],
            rtol=1e-6,
        )
        yield exact(
            f"E10/input_{power}",
            [Spec("x", (5,), d.F32), Spec("e", (1,), d.F32)],
            lambda v, e: ops().broadcasting_pow(v, e),
            expected,
            [x, [power]],
            rtol=1e-6,
        )


def _e12() -> Case:
    divisors = np.repeat(np.array([3, 7, 11, 15, 23, 49], np.float32), 64)
    counts = np.tile(np.arange(1, 65, dtype=np.float32), 6)

    def body(divisor: Any, k: Any) -> Any:
        coreai = ops()
        minus = const(np.full(384, -1), np.float32)
        quotient = coreai.divide(coreai.mul(divisor, k), divisor)
        up = coreai.mul(coreai.floor_divide(coreai.mul(quotient, minus), const(np.ones(384), np.float32)), minus)
        return [up, coreai.floor_divide(coreai.mul(divisor, k), divisor)]

    return exact(
        "E12/ceil_of_quotient",
        [Spec("d", (384,), d.F32), Spec("k", (384,), d.F32)],
        body,
        [counts, counts],
        [divisors, counts],
    )


def _q() -> Iterator[Case]:
    from .compressed import packed_constant

    def unpack(values: list[int], signed: bool, scale: float, zero: int) -> Callable[[Any], Any]:
        def body(x: Any) -> Any:
            coreai = ops()
            data = packed_constant(np.array(values), 4, signed)
            dense = coreai.blockwise_shift_scale(
                data, const([scale], np.float32), packed_constant(np.array([zero]), 4, signed), const([0], np.float32)
            )
            return coreai.add(dense, x)

        return body

    yield exact(
        "Q01/int4_unpack",
        [Spec("x", (5,), d.F32)],
        unpack([-8, 7, 1, -2, 3], True, 1, 0),
        [-8, 7, 1, -2, 3],
        [[0.0] * 5],
    )
    yield exact(
        "Q01/int4_scaled",
        [Spec("x", (5,), d.F32)],
        unpack([-8, 7, 1, -2, 3], True, 0.5, 0),
        [-4, 3.5, 0.5, -1, 1.5],
        [[0.0] * 5],
    )
    yield exact(
        "Q01/uint4_zero_point", [Spec("x", (3,), d.F32)], unpack([0, 8, 15], False, 0.5, 8), [-4, 0, 3.5], [[0.0] * 3]
    )
    bits = np.array(
        [0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7F800001, 0xFF800001, 0x80000001, 0x3F80FFFF], np.uint32
    ).view(np.float32)
    rounded = (np.array([0x3F80, 0x3F82, 0x3F81, 0x7F80, 0x7FC0, 0x7FC0, 0x8000, 0x3F81], np.uint32) << 16).view(
        np.float32
    )
    yield exact("Q05/rounding", [Spec("x", (8,), d.F32)], lambda x: ops().cast(x, d.BF16.type), rounded, [bits])


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for family in (_e01(), _e04(), _e05(), _e06(), _e08(), _e09(), _e10(), _q()):
        yield from family
    yield _e12()
