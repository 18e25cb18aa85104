"""Exports torch modules with coreai-torch; torch in float64 is their reference."""

from __future__ import annotations

import copy
import uuid
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from .graph import write_asset
from .model import Answer, Array, Built, Call, Case

Rows = Callable[[np.random.Generator], list[list[Array]]]


@dataclass
class Exported:
    """How a module is exported."""

    inputs: list[str]
    dynamic: dict[str, dict[int, Any]] = field(default_factory=dict)
    states: list[str] = field(default_factory=list)
    externalize: Callable[[], list[Any]] | None = None
    faithful: bool = True
    """Whether the asset means what the module means; else the interpreter alone answers."""


def to_torch(array: Array) -> Any:
    """A tensor of the same element type; unsigned types that torch hardly knows are left to it."""
    import torch

    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(np.ascontiguousarray(array).view(np.int16).reshape(array.shape).copy()).view(
            torch.bfloat16
        )
    return torch.from_numpy(np.array(array, copy=True))


def asset_dtype(tensor: Any) -> np.dtype[Any]:
    """The element type that an output has in the asset: 64-bit types become 32-bit ones."""
    name = str(tensor.dtype).removeprefix("torch.")
    if name == "bfloat16":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"int64": "int32", "float64": "float32"}.get(name, name))


def to_numpy(tensor: Any, dtype: np.dtype[Any]) -> Array:
    """A tensor's values in the asset's element type."""
    import torch

    plain = tensor.detach().to(torch.float64) if tensor.dtype.is_floating_point else tensor.detach()
    with np.errstate(all="ignore"):
        return plain.numpy().astype(dtype)


def _wide(value: Any) -> Any:
    return value.double() if value.dtype.is_floating_point else value


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _names(module: Any, example: Sequence[Any]) -> tuple[list[str], list[np.dtype[Any]]]:
    import torch

    with torch.no_grad():
        results = _listed(copy.deepcopy(module)(*[e.clone() for e in example]))
    return [f"y{i}" for i in range(len(results))], [asset_dtype(r) for r in results]


@contextmanager
def _fixed_names(name: str) -> Iterator[None]:
    """The exporter names private graphs at random: here they follow from the case's name."""
    from coreai_torch import externalize

    numbers = np.random.default_rng(zlib.crc32(name.encode()))
    original = externalize.uuid4
    externalize.uuid4 = lambda: uuid.UUID(bytes=numbers.bytes(16))
    try:
        yield
    finally:
        externalize.uuid4 = original


def _program(module: Any, example: Sequence[Any], how: Exported, outputs: list[str]) -> Any:
    import coreai_torch
    import torch

    dims = {name: {axis: value for axis, value in axes.items()} for name, axes in how.dynamic.items()}
    shapes = None
    if dims:
        shapes = tuple(
            {axis: torch.export.Dim.DYNAMIC if v is True else v for axis, v in dims[n].items()} if n in dims else None
            for n in how.inputs
        )

    def export(m: Any) -> Any:
        program = torch.export.export(m, tuple(example), dynamic_shapes=shapes)
        return program.run_decompositions(coreai_torch.get_decomp_table())

    converter = coreai_torch.TorchConverter(mode=coreai_torch.TorchConverter.Mode.RELEASE)
    names: dict[str, Any] = {"input_names": how.inputs, "output_names": outputs}
    if how.states:
        names["state_names"] = how.states
    if how.externalize:
        converter.add_pytorch_module(module, export_fn=export, externalize_modules=how.externalize(), **names)
    else:
        converter.add_exported_program(export(module), **names)
    return converter.to_coreai()


def torch_case(name: str, op: str, make: Callable[[], Any], how: Exported, rows: Rows, **options: Any) -> Case:
    """A case whose model is the module that `make` gives; `rows` are the inputs of each call."""
    made: list[Built] = []

    def module() -> Any:
        import torch

        torch.manual_seed(zlib.crc32(name.encode()))
        return make().eval()

    def example() -> list[Any]:
        return [to_torch(a) for a in rows(np.random.default_rng(zlib.crc32(name.encode())))[0]]

    def build(path: Path) -> Built:
        import torch

        warnings.filterwarnings("ignore")
        torch.set_num_threads(1)
        one, inputs = module(), example()
        outputs, dtypes = _names(one, inputs)
        with _fixed_names(name):
            write_asset(_program(one, inputs, how, outputs), path)
        made[:] = [Built(outputs, dict(zip(outputs, dtypes)))]
        return made[0]

    def states(one: Any) -> dict[str, Array]:
        buffers = dict(one.named_buffers())
        return {k: to_numpy(buffers[k], asset_dtype(buffers[k])) for k in how.states}

    def calls(rng: np.random.Generator) -> list[Call]:
        first = states(module())
        narrow = {np.dtype(np.int64): np.int32, np.dtype(np.float64): np.float32}
        return [
            Call({k: a.astype(narrow.get(a.dtype, a.dtype)) for k, a in zip(how.inputs, row)}, first)
            for row in rows(rng)
        ]

    def reference(recorded: list[Call]) -> list[Answer]:
        import torch

        one, sample = module().double(), example()
        kinds = {k: asset_dtype(v) for k, v in module().named_buffers()}
        answers = []
        with torch.no_grad():
            for call in recorded:
                inputs = [_wide(to_torch(call.inputs[k]).to(s.dtype)) for k, s in zip(how.inputs, sample)]
                results = _listed(one(*inputs))
                outputs = {k: to_numpy(r, made[0].dtypes[k]) for k, r in zip(made[0].outputs, results, strict=True)}
                buffers = dict(one.named_buffers())
                answers.append(Answer(outputs, {k: to_numpy(buffers[k], kinds[k]) for k in how.states}))
        return answers

    return Case(name, op, build, calls, reference if how.faithful else None, **options)
