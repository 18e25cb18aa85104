"""interpolate, interpolate_coordinates and pad."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]
MODES = ("linear", "nearest_neighbor")


def _attribute(mode: str) -> Any:
    from coreai._compiler.ir import Attribute

    return Attribute.parse(f"#coreai.interpolation_mode<{mode}>")


def sample(x: Array, coordinates: list[Array], mode: str) -> Array:
    """Values at one coordinate list per dimension (an open grid), clamped to the edges."""
    places = [np.clip(c, 0, n - 1) for c, n in zip(coordinates, x.shape)]
    if mode != "linear":
        return x[np.ix_(*[np.rint(p).astype(int) for p in places])]
    total = np.zeros([len(p) for p in places])
    for corner in itertools.product((0, 1), repeat=x.ndim):
        indices, weight = [], np.ones([1] * x.ndim)
        for axis, (up, p) in enumerate(zip(corner, places)):
            low = np.floor(p)
            part = (p - low) if up else 1 - (p - low)
            indices.append(np.minimum(low.astype(int) + up, x.shape[axis] - 1))
            weight = weight * part.reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        total = total + np.where(weight == 0, 0, x[np.ix_(*indices)] * weight)
    return total


def interpolated(x: Array, shape: list[int], scale: list[float], offset: list[float], mode: str) -> Array:
    """interpolate by its docstring, with the coordinate computed in float32 as the operands are."""
    grid = []
    for size, s, o in zip(shape, scale, offset):
        i = np.arange(size, dtype=np.float32)
        grid.append(((i + np.float32(0.5) - np.float32(o)) / np.float32(s) - np.float32(0.5)).astype(np.float64))
    return sample(x, grid, mode)


def corners(source: list[int], target: list[int], aligned: bool) -> tuple[list[float], list[float]]:
    """Scale and offset of the two usual samplings."""
    if not aligned:
        return [t / s for s, t in zip(source, target)], [0.0] * len(source)
    scale = [(t - 1) / (s - 1) if s > 1 and t > 1 else 1.0 for s, t in zip(source, target)]
    return scale, [0.5 * (1 - s) for s in scale]


SIZES: dict[str, tuple[list[int], list[int]]] = {
    "up2": ([1, 2, 3, 4], [1, 2, 6, 8]),
    "up_odd": ([1, 1, 5, 3], [1, 1, 7, 11]),
    "down": ([1, 2, 8, 9], [1, 2, 4, 5]),
    "down_odd": ([2, 1, 7, 7], [2, 1, 3, 5]),
    "mixed": ([1, 1, 4, 9], [1, 1, 9, 4]),
    "rank1": ([5], [12]),
    "rank2": ([3, 4], [5, 9]),
    "rank3": ([2, 3, 3], [4, 5, 2]),
    "rank5": ([1, 1, 3, 3, 2], [1, 1, 5, 4, 4]),
    "same": ([1, 1, 3, 3], [1, 1, 3, 3]),
    "from_one": ([1, 2, 1, 1], [1, 2, 4, 3]),
}


def _interpolate(variant: str, mode: str, aligned: bool, dtype: DType, **options: Any) -> Case:
    source, target = SIZES[variant]
    scale, offset = corners(source, target, aligned)

    def body(x: Any) -> Any:
        return ops().interpolate(
            x, const(target), const(scale, np.float32), const(offset, np.float32), _attribute(mode)
        )

    kind = "corners" if aligned else "half_pixel"
    return graph_case(
        f"resize/interpolate/{d.label(dtype)}-{mode}-{kind}-{variant}",
        "interpolate",
        [Spec("x", tuple(source), dtype)],
        body,
        lambda x: interpolated(x, target, scale, offset, mode),
        lambda rng: [[d.random(rng, tuple(source), dtype)]],
        **options,
    )


def _coordinates(mode: str, rank: int) -> Case:
    shape = (4, 5, 3)[:rank]

    def reference(x: Array, coordinates: Array) -> Array:
        return np.array([sample(x, [np.array([c]) for c in row], mode).item() for row in coordinates])

    def data(rng: np.random.Generator) -> list[list[Array]]:
        points = rng.uniform(-1.5, max(shape) + 0.5, (23, rank)).astype(np.float32)
        points[:4] = [[0.5] * rank, [1.5] * rank, [0] * rank, [n - 1 for n in shape]]
        return [[d.random(rng, shape, d.F32), points]]

    return graph_case(
        f"resize/interpolate_coordinates/{mode}-rank{rank}",
        "interpolate_coordinates",
        [Spec("x", shape, d.F32), Spec("at", (23, rank), d.F32)],
        lambda x, at: ops().interpolate_coordinates(x, at, _attribute(mode)),
        reference,
        data,
        key=rank == 2,
    )


PADS: dict[str, tuple[tuple[int, ...], list[tuple[int, int]]]] = {
    "rank1": ((4,), [(2, 3)]),
    "rank2": ((3, 4), [(1, 2), (0, 3)]),
    "rank4": ((1, 2, 3, 4), [(0, 0), (0, 0), (2, 1), (1, 3)]),
    "all_dims": ((3, 2, 4), [(1, 1), (1, 0), (3, 2)]),
    "nothing": ((2, 3), [(0, 0), (0, 0)]),
    "rank6": ((1, 2, 1, 2, 3, 2), [(0, 0), (1, 1), (0, 0), (0, 1), (2, 0), (1, 1)]),
}
NUMPY_MODES = {
    "constant": "constant",
    "replicate": "edge",
    "reflect": "reflect",
    "symmetric": "symmetric",
    "circular": "wrap",
}


def _pad(variant: str, mode: str, dtype: DType, value: float = 0, **options: Any) -> Case:
    shape, padding = PADS[variant]
    more = {"constant_values": value} if mode == "constant" else {}

    def body(x: Any) -> Any:
        flat = [n for pair in padding for n in pair]
        return ops().pad(x, const(flat, np.uint32), const(value, dtype), padding_mode=mode)

    name = f"pad/{mode}/{d.label(dtype)}-{variant}" + (
        "" if value == 0 else f"-value_{value}".replace("-inf", "minus_inf")
    )
    return graph_case(
        name,
        f"pad_{mode}",
        [Spec("x", shape, dtype)],
        body,
        lambda x: np.pad(x, padding, NUMPY_MODES[mode], **more),  # type: ignore[call-overload]
        lambda rng: [[d.random(rng, shape, dtype)]],
        **options,
    )


def _pad_dynamic(mode: str) -> Case:
    return graph_case(
        f"pad/{mode}/f32-dynamic",
        f"pad_{mode}",
        [Spec("x", (-1, 4), d.F32)],
        lambda x: ops().pad(x, const([1, 2, 3, 0], np.uint32), const(0, np.float32), padding_mode=mode),
        lambda x: np.pad(x, [(1, 2), (3, 0)], NUMPY_MODES[mode]),  # type: ignore[call-overload]
        lambda rng: [[d.random(rng, (n, 4), d.F32)] for n in (3, 6)],
        key=mode != "constant",
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for mode in MODES:
        for aligned in (False, True):
            for variant in SIZES:
                yield _interpolate(variant, mode, aligned, d.F32, key=variant == "up_odd")
            for dtype in (d.F16, d.BF16):
                yield _interpolate("up2", mode, aligned, dtype)
                yield _interpolate("down", mode, aligned, dtype)
        for rank in (1, 2, 3):
            yield _coordinates(mode, rank)
    for mode in NUMPY_MODES:
        for variant in PADS:
            yield _pad(variant, mode, d.F32)
            yield _pad(variant, mode, d.I32)
        for dtype in d.ALL:
            if dtype not in (d.F32, d.I32):
                yield _pad("rank2", mode, dtype)
        yield _pad_dynamic(mode)
    for value in (-1.5, float("-inf"), float("nan")):
        yield _pad("rank4", "constant", d.F32, value, key=True)
    yield _pad("rank2", "constant", d.U8, 255)
