"""Small torch modules: layers, stateful modules, control flow, dynamic shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from .. import dtypes as d
from ..model import Array, Case
from ..torch_export import Exported, torch_case
from .torch_ops import function

Maker = Callable[[], nn.Module]


class Affine(nn.Module):
    """Gives normalization layers other weights than ones and zeros."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        with torch.no_grad():
            for parameter in inner.parameters():
                parameter.add_(0.2 * torch.randn_like(parameter))
            for name, buffer in inner.named_buffers():
                if name.endswith(("running_mean", "running_var")):
                    buffer.add_(0.5 * torch.rand_like(buffer))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Calls the layer."""
        return self.inner(x)


class Residual(nn.Module):
    """A convolution block with a skip connection."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.norm = Affine(nn.BatchNorm2d(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Two convolutions and the input again."""
        return F.relu(self.second(F.relu(self.norm(self.first(x)))) + x)


class Attention(nn.Module):
    """Multi-head self-attention written out."""

    def __init__(self, width: int = 12, heads: int = 3) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Causal attention."""
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Folded(nn.Module):
    """A reshape whose sizes are computed."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Merges the first two dimensions."""
        return x.reshape(x.shape[0] * x.shape[1], -1).mean(1)


class Weighted(nn.Module):
    """A softmax over a dynamic dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Sums the rows' softmax."""
        return torch.softmax(x, -1).sum(0)


class Counter(nn.Module):
    """A buffer that grows."""

    total: torch.Tensor

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Adds the input up."""
        self.total.add_(x)
        return self.total * 2


class Cache(nn.Module):
    """Keys and values kept from call to call."""

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 2, 8, 4))
        self.register_buffer("values", torch.zeros(1, 2, 8, 4))

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """Writes at a position, and attends to everything up to it."""
        self.keys.index_copy_(2, at, k)
        self.values.index_copy_(2, at, v)
        mask = torch.arange(8)[None, None, None, :] <= at[:, None]
        scores = (q @ self.keys.transpose(-1, -2)) * 0.5
        return torch.softmax(torch.where(mask, scores, torch.full((), -1e4)), -1) @ self.values


def _cond(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v * 2 - 1, (x,))


def _while(x: torch.Tensor) -> torch.Tensor:
    from torch._higher_order_ops.while_loop import while_loop

    return while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * 1.5), (torch.zeros((), dtype=torch.int32), x))[1]


def _while_data(x: torch.Tensor) -> torch.Tensor:
    from torch._higher_order_ops.while_loop import while_loop

    return while_loop(lambda v: v.sum() < 50, lambda v: (v * 2,), (x,))[0]


def ordinary(*shapes: tuple[int, ...], dtype: Any = d.F32) -> Callable[[np.random.Generator], list[list[Array]]]:
    """One call with ordinary values."""
    return lambda rng: [[d.random(rng, s, dtype, 2) for s in shapes]]


def _layers() -> Iterator[tuple[str, Maker, tuple[int, ...]]]:
    yield "linear", lambda: nn.Linear(7, 5), (3, 7)
    yield "linear_rank3", lambda: nn.Linear(7, 5, bias=False), (2, 3, 7)
    yield "mlp", lambda: nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 3), nn.Softmax(-1)), (4, 6)
    yield "conv1d", lambda: nn.Conv1d(3, 4, 3, padding=1, stride=2), (2, 3, 11)
    yield "conv2d", lambda: nn.Conv2d(3, 6, 3, padding=1, stride=2), (1, 3, 9, 8)
    yield "conv2d_depthwise", lambda: nn.Conv2d(6, 6, 5, padding=2, groups=6), (1, 6, 7, 7)
    yield "conv2d_circular", lambda: nn.Conv2d(2, 3, 3, padding=1, padding_mode="circular"), (1, 2, 5, 6)
    yield "conv2d_reflect", lambda: nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), (1, 2, 5, 6)
    yield "conv3d", lambda: nn.Conv3d(2, 3, (1, 3, 2), padding=(0, 1, 1)), (1, 2, 3, 5, 4)
    yield "conv_transpose1d", lambda: nn.ConvTranspose1d(2, 3, 4, stride=2, padding=1), (1, 2, 6)
    yield "conv_transpose2d", lambda: nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1), (1, 4, 4, 5)
    yield "batch_norm", lambda: Affine(nn.BatchNorm2d(3)), (2, 3, 4, 4)
    yield "batch_norm1d", lambda: Affine(nn.BatchNorm1d(5)), (4, 5)
    yield "layer_norm", lambda: Affine(nn.LayerNorm(9)), (2, 4, 9)
    yield "layer_norm2", lambda: Affine(nn.LayerNorm((3, 4))), (2, 3, 4)
    yield "group_norm", lambda: Affine(nn.GroupNorm(2, 6)), (2, 6, 3, 3)
    yield "instance_norm", lambda: Affine(nn.InstanceNorm2d(3, affine=True)), (2, 3, 4, 5)
    yield "prelu", lambda: nn.PReLU(4), (2, 4, 3)
    yield "residual", Residual, (1, 4, 6, 6)
    yield "attention", Attention, (2, 5, 12)
    yield (
        "pooling",
        lambda: nn.Sequential(nn.MaxPool2d(2), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(12, 3)),
        (2, 3, 8, 8),
    )


def _plain() -> Iterator[Case]:
    for name, make, shape in _layers():
        yield torch_case(
            f"module/{name}",
            "module_layer",
            make,
            Exported(["x"]),
            ordinary(shape),
            key=name in ("residual", "attention"),
        )
    for name, make, shape in _layers():
        if name in ("linear", "mlp", "conv2d", "layer_norm", "attention"):
            for kind, dtype in ((torch.float16, d.F16), (torch.bfloat16, d.BF16)):
                loose = {d.F16: (8e-3, 8e-3), d.BF16: (6e-2, 6e-2)}[dtype]
                yield torch_case(
                    f"module/{name}-{d.label(dtype)}",
                    "module_layer",
                    lambda m=make, k=kind: m().to(k),
                    Exported(["x"]),
                    ordinary(shape, dtype=dtype),
                    rtol=loose[0],
                    atol=loose[1],
                    note="several ops in a row, each rounded to the element type, or not",
                )
    yield torch_case(
        "module/embedding",
        "module_layer",
        lambda: nn.Embedding(11, 5),
        Exported(["tokens"]),
        lambda rng: [[rng.integers(0, 11, (2, 6))]],
    )


def _dynamic() -> Iterator[Case]:
    def rows(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], list[list[Array]]]:
        return lambda rng: [[d.random(rng, s, d.F32, 2)] for s in shapes]

    batch = {"x": {0: True}}
    yield torch_case(
        "module/dynamic-mlp",
        "module_dynamic",
        lambda: nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)),
        Exported(["x"], batch),
        rows((4, 6), (2, 6), (9, 6)),
        key=True,
    )
    yield torch_case(
        "module/dynamic-conv",
        "module_dynamic",
        lambda: nn.Conv2d(3, 4, 3, padding=1),
        Exported(["x"], {"x": {0: True, 2: True, 3: True}}),
        rows((2, 3, 6, 5), (3, 3, 9, 4)),
        key=True,
    )
    yield torch_case(
        "module/dynamic-attention",
        "module_dynamic",
        Attention,
        Exported(["x"], {"x": {0: True, 1: True}}),
        rows((2, 5, 12), (3, 2, 12), (2, 7, 12)),
    )
    yield torch_case(
        "module/dynamic-norm",
        "module_dynamic",
        lambda: Affine(nn.LayerNorm(8)),
        Exported(["x"], {"x": {0: True, 1: True}}),
        rows((2, 3, 8), (5, 4, 8)),
    )
    yield torch_case(
        "module/dynamic-reshape",
        "module_dynamic",
        Folded,
        Exported(["x"], {"x": {0: True, 1: True}}),
        rows((2, 3, 4), (5, 2, 4)),
    )
    yield torch_case(
        "module/dynamic-softmax",
        "module_dynamic",
        Weighted,
        Exported(["x"], {"x": {0: True, 1: True}}),
        rows((2, 3), (4, 7)),
    )


def _stateful() -> Iterator[Case]:
    for kind, dtype in ((torch.float32, d.F32), (torch.float16, d.F16), (torch.int32, d.I32)):
        yield torch_case(
            f"module/state-counter-{d.label(dtype)}",
            "module_state",
            lambda k=kind: Counter(k),
            Exported(["x"], states=["total"]),
            lambda rng, t=dtype: [[d.random(rng, (3,), t)] for _ in range(4)],
            key=dtype == d.F32,
        )

    def tokens(rng: np.random.Generator) -> list[list[Array]]:
        return [[*[d.random(rng, (1, 2, 1, 4), d.F32) for _ in range(3)], np.array([p])] for p in (0, 1, 2, 7)]

    yield torch_case(
        "module/state-cache",
        "module_state",
        Cache,
        Exported(["q", "k", "v", "at"], states=["keys", "values"]),
        tokens,
        key=True,
    )


def _controlled() -> Iterator[Case]:
    rows = lambda rng: [[np.abs(d.random(rng, (4,), d.F32)) * s] for s in (1, -1, 3)]  # noqa: E731
    for name, body in (("cond", _cond), ("while", _while)):
        yield torch_case(
            f"module/{name}", "module_control", lambda b=body: function(b), Exported(["x"]), rows, key=True
        )
    yield torch_case(
        "module/while-data",
        "module_control",
        lambda: function(_while_data),
        Exported(["x"]),
        lambda rng: [[np.full((3,), v, np.float32)] for v in (1, 100, 4.5)],
        key=True,
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for family in (_plain(), _dynamic(), _stateful(), _controlled()):
        yield from family
