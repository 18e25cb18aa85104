"""conv2d, conv3d and the transposed forms; references come from torch in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]


@dataclass(frozen=True)
class Layout:
    """Sizes of one convolution; the weight is [out, in / groups, kernel…], transposed [in, out / groups, kernel…]."""

    input: tuple[int, ...]
    weight: tuple[int, ...]
    stride: tuple[int, ...] = (1, 1)
    dilation: tuple[int, ...] = (1, 1)
    groups: int = 1
    padding: tuple[int, ...] = (0, 0)
    extra: tuple[int, ...] = (0, 0)


PLAIN_2D = {
    "1x1": Layout((1, 5, 4, 6), (7, 5, 1, 1)),
    "3x3": Layout((1, 3, 8, 9), (4, 3, 3, 3)),
    "stride2": Layout((2, 3, 9, 11), (5, 3, 3, 3), stride=(2, 2)),
    "stride_hw": Layout((1, 2, 9, 12), (3, 2, 2, 3), stride=(3, 2)),
    "dilated": Layout((1, 2, 11, 10), (3, 2, 3, 3), dilation=(2, 3)),
    "depthwise": Layout((1, 6, 7, 7), (6, 1, 3, 3), groups=6),
    "depthwise_stride": Layout((1, 4, 9, 9), (4, 1, 5, 5), groups=4, stride=(2, 2)),
    "multiplier": Layout((1, 3, 6, 6), (6, 1, 3, 3), groups=3),
    "grouped": Layout((2, 6, 6, 5), (8, 3, 3, 2), groups=2),
    "grouped_dilated": Layout((1, 4, 9, 9), (4, 2, 3, 3), groups=2, dilation=(2, 2)),
    "row_kernel": Layout((1, 2, 1, 14), (4, 1, 1, 3), groups=2, dilation=(1, 2)),
    "whole": Layout((2, 3, 5, 5), (4, 3, 5, 5)),
    "wide_channels": Layout((1, 67, 5, 5), (33, 67, 3, 3)),
    "7x7": Layout((1, 3, 17, 15), (8, 3, 7, 7), stride=(2, 2)),
    "large": Layout((1, 8, 24, 24), (16, 8, 3, 3)),
}
PLAIN_3D = {
    "1x1x1": Layout((1, 3, 2, 3, 4), (5, 3, 1, 1, 1), (1, 1, 1), (1, 1, 1)),
    "3x3x3": Layout((1, 2, 5, 6, 7), (3, 2, 3, 3, 3), (1, 1, 1), (1, 1, 1)),
    "stride": Layout((2, 2, 6, 7, 8), (3, 2, 2, 3, 2), (2, 1, 3), (1, 1, 1)),
    "dilated": Layout((1, 2, 7, 7, 7), (2, 2, 2, 3, 2), (1, 1, 1), (3, 2, 1)),
    "grouped": Layout((1, 4, 4, 4, 5), (6, 2, 2, 2, 3), (1, 1, 1), (1, 1, 1), 2),
    "depthwise": Layout((1, 3, 4, 5, 4), (3, 1, 3, 3, 3), (1, 1, 1), (1, 1, 1), 3),
}
TRANSPOSED_2D = {
    "1x1": Layout((1, 3, 4, 5), (3, 2, 1, 1)),
    "3x3": Layout((1, 2, 4, 5), (2, 3, 3, 3)),
    "stride2": Layout((2, 3, 4, 3), (3, 4, 3, 3), stride=(2, 2)),
    "padded": Layout((1, 2, 5, 5), (2, 3, 3, 3), stride=(2, 2), padding=(1, 1)),
    "output_pad": Layout((1, 2, 3, 4), (2, 2, 3, 3), stride=(2, 3), padding=(1, 0), extra=(1, 2)),
    "dilated": Layout((1, 2, 4, 4), (2, 2, 3, 2), dilation=(2, 3)),
    "grouped": Layout((1, 4, 3, 3), (4, 3, 2, 2), stride=(2, 2), groups=2),
    "depthwise": Layout((1, 5, 4, 4), (5, 1, 4, 4), stride=(2, 2), padding=(1, 1), groups=5),
    "everything": Layout((2, 4, 4, 3), (4, 2, 3, 3), (2, 3), (2, 1), 2, (1, 2), (1, 0)),
}
TRANSPOSED_3D = {
    "2x2x2": Layout((1, 2, 2, 3, 3), (2, 3, 2, 2, 2), (2, 2, 2), (1, 1, 1), 1, (0, 0, 0), (0, 0, 0)),
    "padded": Layout((1, 2, 3, 3, 3), (2, 2, 3, 3, 3), (2, 1, 2), (1, 1, 1), 1, (1, 1, 1), (1, 0, 1)),
    "grouped": Layout((1, 4, 2, 2, 3), (4, 1, 2, 3, 2), (1, 2, 1), (1, 2, 1), 2, (0, 1, 0), (0, 0, 0)),
}


def _torch(name: str, layout: Layout, x: Array, w: Array) -> Array:
    import torch

    arguments = {"stride": layout.stride, "dilation": layout.dilation, "groups": layout.groups}
    if "transpose" in name:
        arguments |= {"padding": layout.padding, "output_padding": layout.extra}
    result = getattr(torch.nn.functional, name)(
        torch.from_numpy(x.astype(np.float64)), torch.from_numpy(w.astype(np.float64)), **arguments
    )
    return result.numpy()


def _body(builder: str, layout: Layout) -> Any:
    def body(x: Any, w: Any) -> Any:
        numbers = [const(list(v), np.uint32) for v in (layout.stride, layout.dilation)]
        groups = const(layout.groups, np.uint32)
        if "transpose" in builder:
            padding, extra = (const(list(v), np.uint32) for v in (layout.padding, layout.extra))
            return getattr(ops(), builder)(x, w, numbers[0], padding, numbers[1], extra, groups)
        return getattr(ops(), builder)(x, w, *numbers, groups)

    return body


def _case(
    builder: str, torch_name: str, variant: str, layout: Layout, dtype: DType, weights: bool, **options: Any
) -> Case:
    fixed = d.random(np.random.default_rng(5), layout.weight, dtype, 1)
    specs = [Spec("x", layout.input, dtype)] + ([] if weights else [Spec("w", layout.weight, dtype)])
    body = _body(builder, layout)
    if weights:
        return graph_case(
            f"conv/{builder}/{d.label(dtype)}-{variant}-weights",
            builder,
            specs,
            lambda x: body(x, ops().constant(fixed)),
            lambda x: _torch(torch_name, layout, x, d.wide(fixed)),
            lambda rng: [[d.random(rng, layout.input, dtype, 2)]],
            **options,
        )
    return graph_case(
        f"conv/{builder}/{d.label(dtype)}-{variant}",
        builder,
        specs,
        body,
        lambda x, w: _torch(torch_name, layout, x, w),
        lambda rng: [[d.random(rng, layout.input, dtype, 2), d.random(rng, layout.weight, dtype, 1)]],
        **options,
    )


def _dynamic() -> Case:
    layout = PLAIN_2D["3x3"]
    fixed = d.random(np.random.default_rng(5), layout.weight, d.F32, 1)
    body = _body("conv2d", layout)
    return graph_case(
        "conv/conv2d/f32-dynamic",
        "conv2d",
        [Spec("x", (-1, 3, -1, -1), d.F32)],
        lambda x: body(x, ops().constant(fixed)),
        lambda x: _torch("conv2d", layout, x, fixed),
        lambda rng: [[d.random(rng, s, d.F32)] for s in ((1, 3, 8, 9), (2, 3, 3, 3), (1, 3, 12, 5))],
        key=True,
    )


def _padded_bias() -> Case:
    """The usual layer: an explicit pad, the convolution, a bias, an activation."""
    layout = Layout((1, 3, 7, 6), (4, 3, 3, 3), stride=(2, 2))
    rng = np.random.default_rng(6)
    weight, bias = d.random(rng, layout.weight, d.F32, 1), d.random(rng, (1, 4, 1, 1), d.F32, 1)

    def body(x: Any) -> Any:
        coreai = ops()
        padded = coreai.pad(x, const([0, 0, 0, 0, 1, 1, 1, 1], np.uint32), const(0, np.float32))
        summed = _body("conv2d", layout)(padded, coreai.constant(weight))
        return coreai.relu(coreai.broadcasting_add(summed, coreai.constant(bias)))

    def reference(x: Array) -> Array:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        return np.maximum(_torch("conv2d", layout, padded, weight) + bias, 0)

    return graph_case(
        "conv/conv2d/f32-layer",
        "conv2d",
        [Spec("x", layout.input, d.F32)],
        body,
        reference,
        lambda rng: [[d.random(rng, layout.input, d.F32)]],
        key=True,
    )


LARGE = {
    "3x3x32": Layout((1, 32, 28, 27), (32, 32, 3, 3)),
    "1x1x64": Layout((1, 64, 19, 21), (96, 64, 1, 1)),
    "3x3s2": Layout((2, 24, 31, 33), (40, 24, 3, 3), stride=(2, 2)),
    "5x5": Layout((1, 16, 20, 20), (24, 16, 5, 5)),
    "depthwise48": Layout((1, 48, 25, 30), (48, 1, 3, 3), groups=48),
    "grouped4": Layout((1, 32, 17, 18), (64, 8, 3, 3), groups=4),
}


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for variant, layout in LARGE.items():
        note = "a convolution: four times the tolerance"
        yield _case("conv2d", "conv2d", variant, layout, d.F32, True, rtol=4e-4, atol=4e-5, note=note)
        yield _case("conv2d", "conv2d", variant, layout, d.F16, True, rtol=8e-3, atol=4e-3, note=note)
    table = [
        ("conv2d", "conv2d", PLAIN_2D),
        ("conv3d", "conv3d", PLAIN_3D),
        ("conv_transpose2d", "conv_transpose2d", TRANSPOSED_2D),
        ("conv_transpose3d", "conv_transpose3d", TRANSPOSED_3D),
    ]
    for builder, torch_name, layouts in table:
        for variant, layout in layouts.items():
            for dtype in d.FLOATS:
                yield _case(builder, torch_name, variant, layout, dtype, weights=dtype == d.BF16)
            if variant in ("3x3", "depthwise", "grouped", "padded"):
                yield _case(builder, torch_name, variant, layout, d.F32, weights=True)
    yield _dynamic()
    yield _padded_bias()
