"""Small torch functions, as the exporter lowers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from .. import dtypes as d
from ..model import Array, Case
from ..torch_export import Exported, torch_case

Function = Callable[..., Any]
Data = Callable[[np.random.Generator], list[Array]]


def function(body: Function) -> Any:
    """A module that calls a function."""

    class Function(torch.nn.Module):
        """The wrapper."""

        def forward(self, *args: Any) -> Any:
            """Calls the function."""
            return body(*args)

    return Function()


def _f(*shapes: tuple[int, ...], span: float = 3.0) -> Data:
    return lambda rng: [d.random(rng, s, d.F32, span) for s in shapes]


def _i(shape: tuple[int, ...], low: int, high: int) -> Data:
    return lambda rng: [rng.integers(low, high, shape).astype(np.int32)]


def _join(*parts: Data) -> Data:
    return lambda rng: [a for p in parts for a in p(rng)]


def _positive(*shapes: tuple[int, ...]) -> Data:
    return lambda rng: [np.abs(d.random(rng, s, d.F32)) + np.float32(0.1) for s in shapes]


def _index(shape: tuple[int, ...], size: int) -> Data:
    return lambda rng: [rng.integers(0, size, shape)]


def table() -> dict[str, tuple[Function, Data]]:
    """Name → (function, inputs)."""
    activations: dict[str, Function] = {
        "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "hardswish": F.hardswish,
        "hardsigmoid": F.hardsigmoid,
        "softplus": F.softplus,
        "mish": F.mish,
        "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
        "relu6": F.relu6,
        "hardtanh": F.hardtanh,
        "logsigmoid": F.logsigmoid,
        "softsign": F.softsign,
        "tanhshrink": F.tanhshrink,
        "celu": F.celu,
        "silu": F.silu,
        "glu": lambda x: F.glu(x, -1),
        "log_softmax": lambda x: F.log_softmax(x, -1),
        "softmax": lambda x: torch.softmax(x, 0),
        "softmin": lambda x: F.softmin(x, -1),
        "normalize": lambda x: F.normalize(x, dim=-1),
        "sign": torch.sign,
        "floor": torch.floor,
        "ceil": torch.ceil,
        "trunc": torch.trunc,
        "frac": torch.frac,
        "round": torch.round,
        "square": torch.square,
        "neg": torch.neg,
        "exp2": torch.exp2,
        "expm1": torch.expm1,
        "reciprocal": torch.reciprocal,
        "sinc": torch.sinc,
        "clamp": lambda x: x.clamp(-0.5, 1.5),
        "clamp_min": lambda x: x.clamp(min=0.25),
        "isinf": torch.isinf,
        "pow2": lambda x: x**2,
        "pow3": lambda x: x**3,
        "rsub": lambda x: 1 - x,
        "deg2rad": torch.deg2rad,
        "sum": torch.sum,
        "mean": lambda x: x.mean(1),
        "amax": lambda x: x.amax((0, 1)),
        "amin": lambda x: x.amin(1, keepdim=True),
        "prod": lambda x: x.prod(1),
        "norm": lambda x: torch.linalg.vector_norm(x, dim=1),
        "logsumexp": lambda x: torch.logsumexp(x, 1),
        "argmax": lambda x: x.argmax(1),
        "max_dim": lambda x: x.max(1),
        "min_dim": lambda x: x.min(0),
        "cumsum": lambda x: x.cumsum(1),
        "cumsum_back": lambda x: x.flip(1).cumsum(1).flip(1),
        "topk": lambda x: x.topk(3, 1),
        "transpose": lambda x: x.t(),
        "flip": lambda x: x.flip(0, 1),
        "roll": lambda x: x.roll(2, 1),
        "repeat": lambda x: x.repeat(2, 1, 3),
        "tile": lambda x: x.tile(1, 2),
        "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
        "chunk": lambda x: x.chunk(2, 1),
        "split": lambda x: x.split(3, 1),
        "unbind": lambda x: x.unbind(0),
        "stack": lambda x: torch.stack([x, -x], 1),
        "cat": lambda x: torch.cat([x, x * 2], 0),
        "tril": torch.tril,
        "triu": lambda x: x.triu(1),
        "diag_mask": lambda x: x * torch.eye(4, 8),
        "slice_step": lambda x: x[::2, 1:-1],
        "slice_last": lambda x: x[:, -3:],
        "select": lambda x: x[1],
        "unsqueeze": lambda x: x[:, None, :],
        "expand": lambda x: x[None].expand(3, 4, 8),
        "flatten": lambda x: x.flatten(),
        "view": lambda x: x.view(2, 2, 8),
        "movedim": lambda x: x.view(2, 2, 8).movedim(0, 2),
        "any": lambda x: (x > 1).any(1),
        "all": lambda x: (x > -2).all(0),
        "to_half": lambda x: x.half(),
        "to_int": lambda x: x.int(),
        "to_bool": lambda x: x.bool(),
        "to_int8": lambda x: x.to(torch.int8),
        "masked_fill": lambda x: x.masked_fill(x > 0, -1.5),
        "where": lambda x: torch.where(x > 0, x, x * 0.1),
        "outer": lambda x: torch.outer(x[0], x[1]),
        "count": lambda x: (x > 0).sum(1),
        "full_like": lambda x: torch.full_like(x, 2.5) + x,
        "logical": lambda x: (x > 0) & ~(x > 1) | (x < -1),
        "new_zeros": lambda x: x.new_zeros(2, 3) + x[0, 0],
        "dropout": lambda x: F.dropout(x, 0.5, False),
        "index_one": lambda x: x[:, torch.tensor([3, 0, 3])],
        "index_two": lambda x: x[torch.tensor([0, 2]), torch.tensor([1, 5])],
    }
    binary: dict[str, Function] = {
        "add": torch.add,
        "add_alpha": lambda a, b: torch.add(a, b, alpha=0.5),
        "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
        "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
        "remainder": torch.remainder,
        "fmod": torch.fmod,
        "maximum": torch.maximum,
        "minimum": torch.minimum,
        "le": torch.le,
        "ge": torch.ge,
        "lt": torch.lt,
        "ne": torch.ne,
        "atan2": torch.atan2,
        "lerp": lambda a, b: torch.lerp(a, b, 0.3),
        "addcmul": lambda a, b: torch.addcmul(a, a, b, value=0.2),
        "mse": F.mse_loss,
        "cosine": lambda a, b: F.cosine_similarity(a, b, 1),
        "logaddexp": torch.logaddexp,
    }
    result = {k: (v, _f((4, 8))) for k, v in activations.items()}
    result |= {f"two_{k}": (v, _f((4, 6), (4, 6))) for k, v in binary.items()}
    result |= {
        "log1p": (torch.log1p, _positive((4, 8))),
        "log2": (torch.log2, _positive((4, 8))),
        "log10": (torch.log10, _positive((4, 8))),
        "sqrt": (torch.sqrt, _positive((9,))),
        "rsqrt": (torch.rsqrt, _positive((9,))),
        "pow_tensor": (torch.pow, _positive((4, 5), (4, 5))),
        "pow_half": (lambda x: x**0.5, _positive((7,))),
        "scalar_pow": (lambda x: 2**x, _f((5,))),
        "matmul": (torch.matmul, _f((3, 4), (4, 5))),
        "matmul_vector": (torch.matmul, _f((3, 4), (4,))),
        "matmul_vectors": (torch.matmul, _f((6,), (6,))),
        "matmul_left_vector": (torch.matmul, _f((4,), (2, 4, 3))),
        "bmm": (torch.bmm, _f((2, 3, 4), (2, 4, 5))),
        "addmm": (torch.addmm, _f((3, 5), (3, 4), (4, 5))),
        "baddbmm": (torch.baddbmm, _f((2, 3, 5), (2, 3, 4), (2, 4, 5))),
        "einsum": (lambda a, b: torch.einsum("bik,bjk->bij", a, b), _f((2, 3, 4), (2, 5, 4))),
        "einsum_heads": (lambda a, b: torch.einsum("bhqd,bkhd->bhqk", a, b), _f((1, 2, 3, 4), (1, 5, 2, 4))),
        "gather": (lambda x, i: x.gather(1, i), _join(_f((3, 6)), _index((3, 4), 6))),
        "index_select": (lambda x, i: x.index_select(0, i), _join(_f((5, 3)), _index((4,), 5))),
        "scatter": (
            lambda x, i, s: x.scatter(1, i, s),
            _join(_f((2, 6)), lambda rng: [np.array([[0, 3, 5], [1, 2, 4]])], _f((2, 3))),
        ),
        "index_put": (
            lambda x, i, s: x.index_put((i,), s),
            _join(_f((5, 3)), lambda rng: [np.array([4, 1])], _f((2, 3))),
        ),
        "embedding": (lambda i, w: F.embedding(i, w), _join(_index((2, 4), 7), _f((7, 3)))),
        "one_hot": (lambda i: F.one_hot(i, 5), _index((2, 3), 5)),
        "int_div": (lambda a, b: torch.div(a, b, rounding_mode="floor"), _join(_i((9,), -20, 20), _i((9,), 1, 7))),
        "int_remainder": (torch.remainder, _join(_i((9,), -20, 20), _i((9,), 1, 7))),
        "int_true_div": (torch.true_divide, _join(_i((9,), -20, 20), _i((9,), 1, 7))),
        "bitwise_not": (torch.bitwise_not, _i((7,), -9, 9)),
        "int_abs": (torch.abs, _i((7,), -9, 9)),
        "int_sum": (lambda x: x.sum(), _i((7,), -9, 9)),
        "int_mixed": (lambda a, b: a * b, _join(_i((3, 4), -9, 9), _f((3, 4)))),
        "arange": (lambda x: x + torch.arange(6), _f((2, 6))),
        "conv1d": (lambda x, w: F.conv1d(x, w, padding=1, stride=2), _f((1, 3, 11), (4, 3, 3))),
        "conv2d_same": (
            lambda x, w, b: F.conv2d(x, w, b, padding="same", dilation=2),
            _f((1, 2, 7, 8), (3, 2, 3, 3), (3,)),
        ),
        "conv3d": (lambda x, w: F.conv3d(x, w, padding=1), _f((1, 2, 4, 4, 4), (2, 2, 3, 3, 3))),
        "conv_transpose1d": (
            lambda x, w: F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1),
            _f((1, 2, 5), (2, 3, 3)),
        ),
        "conv_transpose2d": (
            lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1, groups=2),
            _f((1, 4, 3, 4), (4, 2, 3, 3)),
        ),
        "max_pool1d": (lambda x: F.max_pool1d(x, 3, 2, 1), _f((1, 2, 9))),
        "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), _f((1, 2, 7, 8))),
        "max_pool2d_ceil": (lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True), _f((1, 2, 5, 7))),
        "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1), _f((1, 2, 7, 8))),
        "avg_pool2d_exclude": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), _f((1, 2, 7, 8))),
        "avg_pool1d": (lambda x: F.avg_pool1d(x, 3, 2), _f((1, 2, 9))),
        "avg_pool3d": (lambda x: F.avg_pool3d(x, 2), _f((1, 2, 4, 4, 4))),
        "adaptive_avg": (lambda x: F.adaptive_avg_pool2d(x, 1), _f((1, 3, 5, 6))),
        "adaptive_avg2": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), _f((1, 3, 4, 6))),
        "upsample_nearest": (lambda x: F.interpolate(x, scale_factor=2), _f((1, 2, 3, 4))),
        "upsample_bilinear": (lambda x: F.interpolate(x, size=(5, 9), mode="bilinear"), _f((1, 2, 3, 4))),
        "upsample_corners": (
            lambda x: F.interpolate(x, size=(6, 7), mode="bilinear", align_corners=True),
            _f((1, 2, 3, 4)),
        ),
        "upsample_down": (lambda x: F.interpolate(x, scale_factor=0.5, mode="bilinear"), _f((1, 2, 6, 8))),
        "upsample_nearest1d": (lambda x: F.interpolate(x, size=7), _f((1, 2, 4))),
        "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), _f((1, 8, 2, 3))),
        "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), _f((1, 2, 4, 6))),
        "pad_reflect": (lambda x: F.pad(x, (2, 1, 1, 2), mode="reflect"), _f((1, 2, 4, 5))),
        "pad_replicate": (lambda x: F.pad(x, (2, 1, 1, 2), mode="replicate"), _f((1, 2, 4, 5))),
        "pad_circular": (lambda x: F.pad(x, (2, 1, 1, 2), mode="circular"), _f((1, 2, 4, 5))),
        "pad_constant": (lambda x: F.pad(x, (2, 1), value=-3.0), _f((3, 4))),
        "pad_negative": (lambda x: F.pad(x, (-1, 2)), _f((3, 4))),
        "layer_norm": (lambda x: F.layer_norm(x, (6,)), _f((2, 3, 6))),
        "group_norm": (lambda x: F.group_norm(x, 2), _f((2, 4, 3, 3))),
        "instance_norm": (F.instance_norm, _f((2, 3, 4, 4))),
        "rms_norm": (lambda x: F.rms_norm(x, (6,)), _f((3, 6))),
        "sdpa": (F.scaled_dot_product_attention, _f((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))),
        "sdpa_causal": (
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            _f((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8)),
        ),
        "sdpa_mask": (
            lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
            _f((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4), (1, 1, 3, 5)),
        ),
        "rotate_half": (lambda x: torch.cat([-x[..., 4:], x[..., :4]], -1), _f((2, 3, 8))),
        "meshgrid": (lambda a, b: torch.meshgrid(a, b, indexing="ij"), _f((3,), (4,))),
        "grid": (lambda x: x.permute(0, 2, 3, 1).reshape(1, -1, 2), _f((1, 2, 3, 4))),
        "bool_ops": (lambda a, b: torch.logical_xor(a > 0, b > 0), _f((5,), (5,))),
        "mask_select": (lambda x, m: torch.where(m > 0, x, torch.zeros(())), _f((3, 4), (3, 4))),
        "rank0": (lambda x: x * 2 + 1, _f(())),
        "identity": (lambda x: x, _f((3,))),
        "constant": (lambda x: torch.arange(4.0), _f((3,))),
        "rank6": (lambda x: x.permute(5, 0, 3, 1, 4, 2).sum(2), _f((1, 2, 3, 2, 1, 2))),
        "empty": (lambda x: x.sum(0), _f((0, 3))),
        "cat_empty": (lambda x, y: torch.cat([x, y]), _f((0, 3), (2, 3))),
    }
    return result


BAKED = {
    "avg_pool2d_exclude": "the converter divides by the whole window: the program in the asset is the meaning",
    "two_add_alpha": "the converter drops alpha: the program in the asset is the meaning",
}


def _case(name: str, body: Function, data: Data) -> Case:
    count = len(data(np.random.default_rng(0)))
    how = Exported([f"x{i}" for i in range(count)], faithful=name not in BAKED)
    return torch_case(
        f"torch/{name}", "torch_function", lambda: function(body), how, lambda rng: [data(rng)], note=BAKED.get(name)
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    for name, (body, data) in table().items():
        yield _case(name, body, data)
