"""Builds assets op by op with coreai-core's own builder, for what no exporter writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from .dtypes import narrow, wide
from .model import Answer, Array, Built, Call, Case, Spec

Body = Callable[..., Any]

_MLIR_DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f64": np.float64,
    "si8": np.int8,
    "si16": np.int16,
    "si32": np.int32,
    "si64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "i1": np.bool_,
    "!coreai.bool": np.bool_,
}


def ops() -> Any:
    """The dialect's builder module (imported late: the parent process never needs it)."""
    import coreai.authoring  # noqa: F401  must come first: the dialect module imports it in a circle
    from coreai._compiler.dialects import coreai

    return coreai


def const(values: Any, dtype: Any = np.int32) -> Any:
    """A constant of the given element type."""
    return ops().constant(np.asarray(values, dtype))


def tensor_type(shape: Sequence[int], dtype: Any) -> Any:
    """The compiler's type for a shape and element type."""
    from coreai.authoring import TensorSpec

    return TensorSpec(tuple(shape), dtype)._to_mlir()


def element_dtype(value: Any) -> np.dtype[Any] | None:
    """The element type of a value of the graph, where NumPy has it."""
    text = str(value.type)
    if not text.startswith("tensor<"):
        return None
    found = _MLIR_DTYPES.get(text[len("tensor<") : -1].split("x", text.count("x"))[-1])
    return None if found is None else np.dtype(found)


def write_asset(program: Any, path: Path) -> None:
    """Saves a program with a fixed creation date, so that the same case gives the same bytes."""
    program.save_asset(path)
    file = path / "metadata.json"
    metadata = json.loads(file.read_text())
    if "creationDate" in metadata:
        metadata["creationDate"] = "20260101T000000Z"
    file.write_text(json.dumps(metadata, sort_keys=True, separators=(",", ":")) + "\n")


def spec_type(spec: Spec) -> Any:
    """A graph argument's type: a tensor, or a handle to one for a state."""
    inner = tensor_type(spec.shape, spec.dtype)
    return ops().HandleType.get(inner) if spec.state else inner


def mark_states(graph: Any, specs: Sequence[Spec]) -> None:
    """Adds the attribute by which converters mark a mutated buffer."""
    from coreai._compiler.ir import ArrayAttr, DictAttr, StringAttr

    if not any(s.state for s in specs):
        return
    attributes = []
    for spec, old in zip(specs, graph.arg_attrs):
        entries = {a.name: a.attr for a in old}
        if spec.state:
            entries["MutableBuffers.buffer_mutation"] = StringAttr.get(spec.name)
        attributes.append(DictAttr.get(entries))
    graph.arg_attrs = ArrayAttr.get(attributes)


class ModuleBuilder:
    """An open module: add graphs, then save."""

    def __init__(self) -> None:
        from coreai._compiler.ir import Location, Module
        from coreai.authoring import Context

        self.context = Context()._mlir_context
        self.graphs: dict[str, Any] = {}
        with self.context, Location.unknown():
            self.module = Module.create()

    def graph(self, specs: Sequence[Spec], body: Body, name: str = "main", **options: Any) -> Built:
        """Adds a graph; `body` returns its outputs as a list of (name, value), or values named y0, y1, …

        A state's last token is an output with the state's name."""
        from coreai._compiler.ir import InsertionPoint, Location

        with self.context, Location.unknown(), InsertionPoint(self.module.body):
            types = [spec_type(s) for s in specs]
            graph = ops().GraphOp(name, types, [], input_names=[s.name for s in specs], result_names=[], **options)
            with graph.block:
                outputs = named(body(*graph.arguments))
            graph.outputs_spec = outputs
            mark_states(graph, specs)
            dtypes = {n: d for n, v in outputs if (d := element_dtype(v)) is not None}
            tokens = {n for n, v in outputs if "token" in str(v.type)}
        self.graphs[name] = graph
        return Built([n for n, _ in outputs if n not in tokens], dtypes)

    def save(self, path: Path) -> None:
        """Writes the asset."""
        from coreai.authoring import AIProgram

        with self.context:
            write_asset(AIProgram._from_mlir_module(self.module), path)


def named(results: Any) -> list[tuple[str, Any]]:
    """A body's results as (name, value) pairs."""
    if isinstance(results, (list, tuple)) or type(results).__name__ == "OpResultList":
        listed = list(results)
        if listed and isinstance(listed[0], tuple):
            return listed
        return [(f"y{i}", v) for i, v in enumerate(listed)]
    return [("y", results)]


def graph_case(
    name: str,
    op: str,
    specs: Sequence[Spec],
    body: Body,
    reference: Callable[..., Any] | None,
    data: Callable[[np.random.Generator], Sequence[Sequence[Array]]],
    **options: Any,
) -> Case:
    """A case of one function `main`. `reference` takes the inputs (floats widened to float64) and returns outputs."""
    made: list[Built] = []

    def build(path: Path) -> Built:
        builder = ModuleBuilder()
        built = builder.graph(specs, body)
        builder.save(path)
        made[:] = [built]
        return built

    def calls(rng: np.random.Generator) -> list[Call]:
        return [Call({s.name: np.asarray(a, s.dtype) for s, a in zip(specs, arrays)}) for arrays in data(rng)]

    def answer(recorded: list[Call]) -> list[Answer]:
        assert reference is not None
        built = made[0]
        answers = []
        for call in recorded:
            with np.errstate(all="ignore"):
                values = reference(*(wide(call.inputs[s.name]) for s in specs))
            if not isinstance(values, (list, tuple)):
                values = [values]
            outputs = {}
            for key, value in zip(built.outputs, values, strict=True):
                dtype = built.dtypes.get(key)
                outputs[key] = np.asarray(value) if dtype is None else narrow(value, dtype)
            answers.append(Answer(outputs))
        return answers

    return Case(name, op, build, calls, None if reference is None else answer, **options)
