"""What must end in a clear error: bad indices, shapes that do not fit, broken assets, wrong calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops, tensor_type
from ..model import Array, Built, Call, Case, Spec

INDEX, FLOAT = d.I32, d.F32


def _error(name: str, specs: list[Spec], body: Callable[..., Any], values: list[Array], **options: Any) -> Case:
    return graph_case(
        f"error/{name}", "error", specs, body, None, lambda rng: [values], expect="error", key=True, **options
    )


def _ramp(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def _ints(*values: int) -> Array:
    return np.array(values, np.int32)


def _indices() -> Iterator[Case]:
    for name, index in (("above", 3), ("below", -4), ("far", 2**31 - 1), ("least", -(2**31))):
        yield _error(
            f"gather_nd-{name}",
            [Spec("x", (3, 2), FLOAT), Spec("i", (2, 1), INDEX)],
            lambda x, i: ops().gather_nd(x, i),
            [_ramp(3, 2), _ints(0, index).reshape(2, 1)],
        )
        yield _error(
            f"gather_along_axis-{name}",
            [Spec("x", (3, 2), FLOAT), Spec("i", (1, 2), INDEX)],
            lambda x, i: ops().gather_along_axis(x, i, const(0)),
            [_ramp(3, 2), _ints(1, index).reshape(1, 2)],
        )
    for name, index in (("above", 3), ("below", -4)):
        yield _error(
            f"scatter_nd-{name}",
            [Spec("x", (3, 2), FLOAT), Spec("i", (2, 1), INDEX), Spec("u", (2, 2), FLOAT)],
            lambda x, i, u: ops().scatter_nd(x, i, u),
            [_ramp(3, 2), _ints(0, index).reshape(2, 1), _ramp(2, 2)],
        )
        yield _error(
            f"scatter_along_axis-{name}",
            [Spec("x", (3, 2), FLOAT), Spec("i", (1, 2), INDEX), Spec("u", (1, 2), FLOAT)],
            lambda x, i, u: ops().scatter_along_axis(tensor_type((3, 2), FLOAT), x, i, u, const(0)),
            [_ramp(3, 2), _ints(1, index).reshape(1, 2), _ramp(1, 2)],
        )


def _shapes() -> Iterator[Case]:
    free, wide = (
        [Spec("x", (-1, 3), FLOAT), Spec("y", (-1, 3), FLOAT)],
        [Spec("x", (-1, -1), FLOAT), Spec("y", (-1, -1), FLOAT)],
    )
    yield _error("broadcasting_add-sizes", free, lambda x, y: ops().broadcasting_add(x, y), [_ramp(2, 3), _ramp(4, 3)])
    yield _error("add-sizes", free, lambda x, y: ops().add(x, y), [_ramp(2, 3), _ramp(1, 3)])
    yield _error("matmul-sizes", wide, lambda x, y: ops().batch_matmul(x, y), [_ramp(2, 3), _ramp(4, 2)])
    yield _error("concat-sizes", wide, lambda x, y: ops().concat(0, [x, y]), [_ramp(2, 3), _ramp(2, 4)])
    yield _error(
        "reshape-count",
        [Spec("x", (12,), FLOAT), Spec("s", (2,), INDEX)],
        lambda x, s: ops().reshape(x, s),
        [_ramp(12), _ints(5, 2)],
    )
    yield _error(
        "reshape-two_unknown",
        [Spec("x", (12,), FLOAT), Spec("s", (2,), INDEX)],
        lambda x, s: ops().reshape(x, s),
        [_ramp(12), _ints(-1, -1)],
    )
    yield _error(
        "reshape-no_divisor",
        [Spec("x", (12,), FLOAT), Spec("s", (2,), INDEX)],
        lambda x, s: ops().reshape(x, s),
        [_ramp(12), _ints(-1, 5)],
    )
    yield _error(
        "reshape-huge",
        [Spec("x", (4,), FLOAT), Spec("s", (3,), INDEX)],
        lambda x, s: ops().reshape(x, s),
        [_ramp(4), _ints(2**31 - 1, 2**31 - 1, 2**31 - 1)],
    )
    yield _error(
        "broadcast_to-sizes",
        [Spec("x", (3,), FLOAT), Spec("s", (2,), d.U32)],
        lambda x, s: ops().broadcast_to(x, s),
        [_ramp(3), np.array([2, 4], np.uint32)],
    )
    yield _error(
        "slice-stride_zero",
        [Spec("x", (5,), FLOAT), Spec("s", (1,), INDEX)],
        lambda x, s: ops().slice_(x, const([0]), const([5]), s),
        [_ramp(5), _ints(0)],
    )
    yield _error(
        "range-step_zero",
        [Spec("step", (), INDEX)],
        lambda s: ops().range_(const(0), const(5), s),
        [np.array(0, np.int32)],
    )
    yield _error(
        "reduce-axis",
        [Spec("x", (2, 3), FLOAT), Spec("a", (1,), INDEX)],
        lambda x, a: ops().reduce_sum(x, a),
        [_ramp(2, 3), _ints(2)],
    )
    yield _error(
        "pad-reflect",
        [Spec("x", (-1,), FLOAT)],
        lambda x: ops().pad(x, const([3, 3], np.uint32), const(0, np.float32), padding_mode="reflect"),
        [_ramp(3)],
    )
    yield _error(
        "conv-small",
        [Spec("x", (1, 1, -1, -1), FLOAT), Spec("w", (1, 1, 3, 3), FLOAT)],
        lambda x, w: ops().conv2d(x, w, const([1, 1], np.uint32), const([1, 1], np.uint32), const(1, np.uint32)),
        [_ramp(1, 1, 2, 2), _ramp(1, 1, 3, 3)],
    )
    yield _error(
        "split-sections",
        [Spec("x", (-1, 2), FLOAT)],
        lambda x: ops().split(x, const([2, 3], np.uint32), const(0)),
        [_ramp(4, 2)],
    )
    yield _error(
        "tile-huge",
        [Spec("x", (4, 4), FLOAT), Spec("n", (2,), d.U32)],
        lambda x, n: ops().tile(x, n),
        [_ramp(4, 4), np.array([2**31, 2**31], np.uint32)],
        note="more elements than memory can hold: an error, not a crash",
    )


def _metal() -> Case:
    def body(x: Any, y: Any) -> Any:
        from coreai._compiler.dialects._coreai_ops_gen import Metal4KernelOp
        from coreai._compiler.dialects._coreaix_ops_gen import copy_discarding_constraints, copy_with_constraints
        from coreai.authoring import TensorSpec

        backed = TensorSpec((4,), np.float32).with_default_mtl_constraints()._to_mlir()
        x, y = (copy_with_constraints(backed, v) for v in (x, y))
        source = (
            "kernel void both(device const float* a, device const float* b, device float* c,"
            " uint i [[thread_position_in_grid]]) { c[i] = a[i] + b[i]; }"
        )
        op = Metal4KernelOp(
            [backed],
            [x, y],
            const([4, 1, 1], np.uint32),
            const([1, 1, 1], np.uint32),
            [const([4], np.uint32)],
            source,
            "both",
        )
        return copy_discarding_constraints(tensor_type((4,), FLOAT), op.results[0])

    return _error("metal_kernel", [Spec("x", (4,), FLOAT), Spec("y", (4,), FLOAT)], body, [_ramp(4), _ramp(4)])


def _relu(name: str, **options: Any) -> Case:
    return _error(name, [Spec("x", (2, 3), FLOAT)], lambda x: ops().relu(x), [_ramp(2, 3)], **options)


def _calls() -> Iterator[Case]:
    """Calls that do not fit the function."""
    given: dict[str, dict[str, Array]] = {
        "missing_input": {},
        "other_name": {"y": _ramp(2, 3)},
        "other_shape": {"x": _ramp(3, 2)},
        "other_rank": {"x": _ramp(6)},
        "other_type": {"x": np.ones((2, 3), np.int32)},
        "narrower_type": {"x": np.ones((2, 3), np.float16)},
    }
    for name, inputs in given.items():
        yield dataclasses.replace(_relu(f"call-{name}"), calls=lambda rng, i=inputs: [Call(i)])
    yield _relu("call-unknown_function", function="nowhere")


def _broken() -> Iterator[Case]:
    """Assets whose bytes are damaged."""

    def damage(name: str, change: Callable[[Path], None]) -> Case:
        case = _relu(f"asset-{name}")

        def build(path: Path) -> Built:
            built = case.build(path)
            change(path)
            return built

        return dataclasses.replace(case, build=build)

    def edit(function: Callable[[bytes], bytes]) -> Callable[[Path], None]:
        def change(path: Path) -> None:
            file = path / "main.mlirb"
            file.write_bytes(function(file.read_bytes()))

        return change

    yield damage("no_program", lambda p: (p / "main.mlirb").unlink())
    yield damage("empty_program", edit(lambda b: b""))
    yield damage("bad_magic", edit(lambda b: b"XX" + b[2:]))
    yield damage("newer_version", edit(lambda b: b[:4] + bytes([(7 << 1) | 1]) + b[5:]))
    for part in (1, 2, 3):
        yield damage(f"cut_{part}_of_4", edit(lambda b, n=part: b[: len(b) * n // 4]))
    yield damage("zeroed_middle", edit(lambda b: b[: len(b) // 3] + bytes(len(b) // 3) + b[2 * (len(b) // 3) :]))
    yield damage("all_ones_tail", edit(lambda b: b[: len(b) // 2] + b"\xff" * (len(b) - len(b) // 2)))


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for family in (_indices(), _shapes(), _calls(), _broken()):
        yield from family
    yield _metal()
