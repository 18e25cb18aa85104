"""Externalized composites: private graphs with a declaration, whose body is their meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from .. import dtypes as d
from ..model import Array, Case
from ..torch_export import Exported, torch_case
from .torch_models import Affine
from .torch_models import ordinary as _f


def _made(kind: str, *arguments: Any, **options: Any) -> nn.Module:
    """One of the exporter's own composite modules."""
    from coreai_torch import composite_ops

    return getattr(composite_ops, kind)(*arguments, **options)


def _spec(target: str | type, name: str, attributes: Sequence[str]) -> Callable[[], list[Any]]:
    def make() -> list[Any]:
        from coreai_torch import composite_ops
        from coreai_torch.externalize import ExternalizeSpec

        kind = getattr(composite_ops, target) if isinstance(target, str) else target
        return [ExternalizeSpec(kind, name, list(attributes))]

    return make


class Wrapped(nn.Module):
    """A composite among other ops, so that it is a submodule."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        """Doubles the composite's answer."""
        return self.inner(*args) * 2


def cases() -> Iterator[Case]:
    """All cases of this family."""
    heads = _f((1, 4, 5, 8), (1, 4, 5, 8), (1, 4, 5, 8))
    attention = ["is_causal", "window_size", "version"]
    for name, how in {
        "plain": {},
        "causal": {"is_causal": True},
        "window": {"window_size": 2, "is_causal": True},
        "scale": {"scale": 0.3},
    }.items():
        yield torch_case(
            f"composite/sdpa-{name}",
            "composite_sdpa",
            lambda h=how: Wrapped(_made("SDPA", **h)),
            Exported(["q", "k", "v"], externalize=_spec("SDPA", "scaled_dot_product_attention", attention)),
            heads,
            key=name in ("causal", "window"),
        )
    yield torch_case(
        "composite/sdpa-grouped",
        "composite_sdpa",
        lambda: Wrapped(_made("SDPA")),
        Exported(["q", "k", "v"], externalize=_spec("SDPA", "scaled_dot_product_attention", attention)),
        _f((1, 4, 3, 8), (1, 2, 6, 8), (1, 2, 6, 8)),
        key=True,
    )
    yield torch_case(
        "composite/sdpa-decode",
        "composite_sdpa",
        lambda: Wrapped(_made("SDPA", is_causal=True)),
        Exported(["q", "k", "v"], externalize=_spec("SDPA", "scaled_dot_product_attention", attention)),
        _f((1, 4, 1, 8), (1, 4, 6, 8), (1, 4, 6, 8)),
    )

    def masked(rng: np.random.Generator) -> list[list[Array]]:
        mask = rng.random((1, 1, 3, 5)) < 0.6
        mask[0, 0, 1] = False
        return [[d.random(rng, s, d.F32, 2) for s in ((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))] + [mask]]

    yield torch_case(
        "composite/sdpa-mask",
        "composite_sdpa",
        lambda: Wrapped(_made("SDPA")),
        Exported(["q", "k", "v", "mask"], externalize=_spec("SDPA", "scaled_dot_product_attention", attention)),
        masked,
        key=True,
        rtol=4e-3,
        note="masked scores get −10000 added: a wholly masked row is nearly the plain average, with few digits left",
    )
    yield torch_case(
        "composite/rms_norm",
        "composite_rms_norm",
        lambda: Wrapped(Affine(_made("RMSNorm", 8))),
        Exported(["x"], externalize=_spec("RMSNormImpl", "rms_norm", ["eps", "axes", "version"])),
        _f((2, 3, 8)),
        key=True,
    )
    yield torch_case(
        "composite/rms_norm-f16",
        "composite_rms_norm",
        lambda: Wrapped(Affine(_made("RMSNorm", 8))).half(),
        Exported(["x"], externalize=_spec("RMSNormImpl", "rms_norm", ["eps", "axes", "version"])),
        lambda rng: [[(d.random(rng, (2, 3, 8), d.F32) * 100).astype(np.float16)]],
        rtol=4e-3,
        note="the squares need more than float16",
    )
    for interleaved in (False, True):
        yield torch_case(
            f"composite/rope-{'interleaved' if interleaved else 'halves'}",
            "composite_rope",
            lambda i=interleaved: Wrapped(_made("RoPE", interleaved=i)),
            Exported(["x"], externalize=_spec("RoPE", "rope", ["scale", "base", "dims", "interleaved", "version"])),
            _f((1, 2, 6, 8)),
            key=True,
        )
    yield torch_case(
        "composite/layer_norm",
        "composite_layer_norm",
        lambda: Wrapped(Affine(nn.LayerNorm(8))),
        Exported(["x"], externalize=_spec(nn.LayerNorm, "layer_norm", ["eps"])),
        _f((2, 3, 8)),
        key=True,
    )
    yield torch_case(
        "composite/gather_mm",
        "composite_gather_mm",
        lambda: Wrapped(_made("GatherMM")),
        Exported(["a", "b", "i", "j"], externalize=_spec("GatherMM", "gather_mm", ["num_batch_axes"])),
        lambda rng: [
            [d.random(rng, (3, 2, 4), d.F32), d.random(rng, (4, 4, 5), d.F32), np.array([2, 0]), np.array([1, 3])]
        ],
    )
    yield torch_case(
        "composite/gated_delta",
        "composite_gated_delta",
        lambda: WrappedPair(_made("GatedDeltaUpdate")),
        Exported(
            ["q", "k", "v", "g", "beta", "start"],
            externalize=_spec("GatedDeltaUpdate", "gated_delta_update", ["use_qk_l2_norm"]),
        ),
        lambda rng: [
            [
                d.random(rng, (1, 2, 3, 4), d.F32),
                d.random(rng, (1, 2, 3, 4), d.F32),
                d.random(rng, (1, 2, 3, 4), d.F32),
                -np.abs(d.random(rng, (1, 2, 3), d.F32)),
                np.abs(d.random(rng, (1, 2, 3), d.F32)) * np.float32(0.3),
                d.random(rng, (1, 2, 4, 4), d.F32),
            ]
        ],
    )


class WrappedPair(Wrapped):
    """A composite with two results."""

    def forward(self, *args: torch.Tensor) -> Any:
        """Doubles the first."""
        first, second = self.inner(*args)
        return first * 2, second
