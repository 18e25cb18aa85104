"""Faults that other runtimes had in the field, each under its number: norms, windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from .. import dtypes as d
from ..graph import const, ops
from ..model import Array, Case, Spec
from ..torch_export import Exported, torch_case
from .field import NAN, exact
from .torch_ops import function


def _numeric() -> Iterator[Case]:
    n01 = np.array([[10000, 10001, 10002, 10003]], np.float32)
    yield torch_case(
        "field/N01/layer_norm",
        "field_N01",
        lambda: nn.LayerNorm(4),
        Exported(["x"]),
        lambda rng: [[n01]],
        rtol=1e-3,
        atol=1e-3,
        key=True,
        note="the mean is large against the spread",
    )
    n02 = np.tile(np.array([400, -400], np.float16), 8).reshape(1, 1, 4, 4)
    yield torch_case(
        "field/N02/instance_norm-f16",
        "field_N02",
        lambda: function(lambda x: F.instance_norm(x)),
        Exported(["x"]),
        lambda rng: [[n02]],
        key=True,
        note="the squares pass float16's end",
    )
    for dtype in (d.F16, d.BF16):
        yield exact(
            f"N04/mean-{d.label(dtype)}",
            [Spec("x", (70000,), dtype)],
            lambda x: ops().reduce_mean(x, const([0])),
            [1.5],
            [np.full(70000, 1.5)],
            rtol=1e-3,
            interpret=False,
            note="the sum passes float16's end, the mean does not",
        )
        yield exact(
            f"N04/planes-{d.label(dtype)}",
            [Spec("x", (1, 1, 256, 256), dtype)],
            lambda x: ops().reduce_mean(x, const([2, 3])),
            np.full((1, 1, 1, 1), 2.0),
            [np.full(65536, 2.0)],
            rtol=1e-3,
            interpret=False,
        )
    yield exact(
        "N04/sum-f16",
        [Spec("x", (4,), d.F16)],
        lambda x: ops().reduce_sum(x, const([0])),
        [0],
        [[40000, 40000, -40000, -40000]],
        interpret=False,
        note="a partial sum passes float16's end",
    )
    x = np.array([[[[2, 5], [1, 7]], [[2, 4], [8, 7]], [[2, 5], [8, -1]]]], np.float32)
    for dtype in (d.F32, d.F16):
        yield exact(
            f"N07/channels-{d.label(dtype)}",
            [Spec("x", (1, 3, 2, 2), dtype)],
            lambda v: ops().argmax(v, const(1)),
            np.array([[[[0, 0], [1, 0]]]]),
            [x],
        )
    yield exact(
        "N07/class_map",
        [Spec("x", (1, 3, 2, 2), d.F32)],
        lambda v: ops().cast(ops().argmax(v, const(1)), np.uint8),
        np.array([[[[0, 0], [1, 0]]]]),
        [x],
    )
    yield exact("N07/nan", [Spec("x", (3,), d.F32)], lambda v: ops().argmax(v, const(0)), [2], [[1, NAN, 3]])
    yield exact("N07/tie", [Spec("x", (4,), d.F32)], lambda v: ops().argmax(v, const(0)), [1], [[3, 9, 9, 1]])
    q, k = np.array([[[[1, 0], [0, 2]]]], np.float32), np.array([[[[1, 1], [0.5, -1], [2, 0]]]], np.float32)
    v, mask = (
        np.array([[[[1, 2], [3, 4], [5, 6]]]], np.float32),
        np.array([[[[True, False, True], [False, False, False]]]]),
    )
    yield torch_case(
        "field/N08/sdpa_mask",
        "field_N08",
        lambda: function(lambda a, b, c, m: F.scaled_dot_product_attention(a, b, c, attn_mask=m)),
        Exported(["q", "k", "v", "mask"], faithful=False),
        lambda rng: [[q, k, v, mask]],
        rtol=2e-3,
        key=True,
        note="the asset adds -10000 to masked scores: a wholly masked row is the plain average, with few digits left",
    )


def _windows() -> Iterator[Case]:
    five = np.arange(1, 26, dtype=np.float32).reshape(1, 1, 5, 5)
    four = five[..., :4, :4]

    def pooled(size: tuple[int, int], pad: tuple[int, int], counts: Array) -> Any:
        def body(x: Any) -> Any:
            coreai = ops()
            padded = coreai.pad(x, const([0, 0, 0, 0, *pad, *pad], np.uint32), const(0, np.float32))
            total = coreai.sumpool2d(
                padded, const(list(size), np.uint32), const([2, 2], np.uint32), const([1, 1], np.uint32)
            )
            return coreai.broadcasting_divide(total, const(counts, np.float32))

        return body

    count = lambda n: np.outer(n, n).reshape(1, 1, len(n), len(n))  # noqa: E731
    yield exact(
        "P01/k2_ceil",
        [Spec("x", (1, 1, 5, 5), d.F32)],
        pooled((2, 2), (0, 1), count([2, 2, 1])),
        np.array([[[[4, 6, 7.5], [14, 16, 17.5], [21.5, 23.5, 25]]]]),
        [five],
        rtol=1e-6,
    )
    yield exact(
        "P01/k3_include",
        [Spec("x", (1, 1, 4, 4), d.F32)],
        pooled((3, 3), (1, 2), count([3, 3, 2])),
        np.array([[[[16 / 9, 33 / 9, 13 / 6], [69 / 9, 13, 7], [5.5, 9, 4.75]]]]),
        [np.ascontiguousarray(four)],
        rtol=1e-6,
    )
    yield exact(
        "P01/k3_exclude",
        [Spec("x", (1, 1, 4, 4), d.F32)],
        pooled((3, 3), (1, 2), count([2, 3, 1])),
        np.array([[[[4, 5.5, 6.5], [11.5, 13, 14], [16.5, 18, 19]]]]),
        [np.ascontiguousarray(four)],
        rtol=1e-6,
    )
    table = {
        "A": ([1, 10], 3, 0, 2, [1, 10, 0, 2, 20, 0, 3, 30, 0, 0]),
        "B": ([1, 10, 100], 2, 1, 1, [10, 102, 20, 203, 30, 300]),
    }
    for name, (weight, stride, padding, extra, expected) in table.items():
        w = np.array(weight, np.float32).reshape(1, 1, -1)
        yield torch_case(
            f"field/P04/{name}",
            "field_P04",
            lambda s=stride, p=padding, e=extra: function(
                lambda x, w: F.conv_transpose1d(x, w, stride=s, padding=p, output_padding=e)
            ),
            Exported(["x", "w"]),
            lambda rng, w=w: [[np.array([[[1, 2, 3]]], np.float32), w]],
            rtol=0,
            atol=0,
            key=True,
        )
        yield exact(
            f"P04/{name}-direct",
            [Spec("x", (1, 1, 1, 3), d.F32), Spec("w", (1, 1, 1, len(weight)), d.F32)],
            lambda x, w, s=stride, p=padding, e=extra: ops().conv_transpose2d(
                x,
                w,
                const([1, s], np.uint32),
                const([0, p], np.uint32),
                const([1, 1], np.uint32),
                const([0, e], np.uint32),
                const(1, np.uint32),
            ),
            np.array(expected, np.float32).reshape(1, 1, 1, -1),
            [[1, 2, 3], weight],
        )
    weight = np.array([[[1, 0, -1]], [[1, 1, 1]], [[2, 0, 0]], [[0, 0, 3]]], np.float32)

    class Grouped(nn.Module):
        """The convolution of the report."""

        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv1d(2, 4, 3, groups=2, dilation=2)
            with torch.no_grad():
                self.conv.weight.copy_(torch.from_numpy(weight))
                self.conv.bias.copy_(torch.tensor([0, 0.5, 0, -1]))  # type: ignore[union-attr]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            """Calls it."""
            return self.conv(x)

    yield torch_case(
        "field/P07/grouped_dilated",
        "field_P07",
        Grouped,
        Exported(["x"]),
        lambda rng: [[np.arange(1, 15, dtype=np.float32).reshape(1, 2, 7)]],
        rtol=1e-6,
        key=True,
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for family in (_numeric(), _windows()):
        yield from family
