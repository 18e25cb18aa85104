"""Compressed constants and quantization: what weight compressors write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from .. import dtypes as d
from ..graph import const, graph_case, ops
from ..model import Array, Case, Spec

DType = np.dtype[Any]
F8 = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}


def packed_constant(values: Array, bits: int, signed: bool) -> Any:
    """A constant of a sub-byte integer type, packed with the first element in the lowest bits."""
    from coreai._compiler.ir import DenseResourceElementsAttr, IntegerType

    from ..graph import tensor_type

    element = IntegerType.get_signed(bits) if signed else IntegerType.get_unsigned(bits)
    field = values.astype(np.int64).ravel() & ((1 << bits) - 1)
    stream = ((field[:, None] >> np.arange(bits)) & 1).astype(np.uint8).ravel()
    data = np.packbits(stream, bitorder="little")
    attribute = DenseResourceElementsAttr.get_from_buffer(data, "packed", tensor_type(values.shape, element))
    return ops().ConstantOp(value=attribute).result


def integers(seed: int, shape: tuple[int, ...], bits: int, signed: bool) -> Array:
    """Values that use the whole range of a small integer type."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return np.random.default_rng(seed).integers(low, high + 1, shape)


def _stretch(blocks: Array, shape: tuple[int, ...]) -> Array:
    for axis, (n, b) in enumerate(zip(shape, blocks.shape)):
        blocks = np.repeat(blocks, n // b, axis)
    return blocks


BLOCKS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "tensor": ((4, 6), (1, 1)),
    "channel": ((5, 8), (5, 1)),
    "column": ((4, 6), (1, 6)),
    "block": ((6, 32), (6, 4)),
    "square": ((4, 8), (2, 2)),
    "conv": ((4, 3, 3, 3), (4, 1, 1, 1)),
    "rank3": ((2, 4, 6), (1, 2, 3)),
    "odd": ((3, 7), (3, 1)),
}


def _blockwise(kind: str, bits: int, signed: bool, variant: str, scale_type: DType, **options: Any) -> Case:
    """Constants as a weight compressor writes them; the input is added so that the graph has one."""
    shape, grid = BLOCKS[variant]
    rng = np.random.default_rng(bits * 31 + len(variant))
    data, zero = integers(bits, shape, bits, signed), integers(bits + 1, grid, min(bits, 4), signed)
    scale, bias = (rng.uniform(0.01, 0.2, grid)).astype(scale_type), d.random(rng, grid, scale_type, 0.5)

    def constant(values: Array) -> Any:
        if bits < 8:
            return packed_constant(values, bits, signed)
        return const(values, np.int8 if signed else np.uint8)

    def body(x: Any) -> Any:
        coreai = ops()
        dense = coreai.blockwise_shift_scale(
            constant(data), coreai.constant(scale), constant(zero), coreai.constant(bias)
        )
        return coreai.add(dense, x)

    def reference(x: Array) -> Array:
        wide = _stretch(d.wide(scale), shape) * (data - _stretch(zero, shape)) + _stretch(d.wide(bias), shape)
        return d.wide(d.narrow(wide, scale_type)) + x

    return graph_case(
        f"compressed/blockwise/{kind}-{d.label(scale_type)}-{variant}",
        "blockwise_shift_scale",
        [Spec("x", shape, scale_type)],
        body,
        reference,
        lambda rng: [[d.random(rng, shape, scale_type)]],
        **options,
    )


def _blockwise_given(dtype: DType, variant: str) -> Case:
    shape, grid = BLOCKS[variant]
    specs = [
        Spec("data", shape, dtype),
        Spec("scale", grid, d.F32),
        Spec("offset1", grid, dtype),
        Spec("offset2", grid, d.F32),
    ]
    return graph_case(
        f"compressed/blockwise/{d.label(dtype)}-inputs-{variant}",
        "blockwise_shift_scale",
        specs,
        lambda a, s, z, b: ops().blockwise_shift_scale(a, s, z, b),
        lambda a, s, z, b: _stretch(s, shape) * (a.astype(np.float64) - _stretch(z, shape)) + _stretch(b, shape),
        lambda rng: [
            [
                d.random(rng, shape, dtype),
                rng.uniform(0.01, 1, grid).astype(np.float32),
                d.random(rng, grid, dtype),
                d.random(rng, grid, d.F32),
            ]
        ],
    )


def _float8(kind: str, target: DType) -> Case:
    values = np.array([[0, 1, -2, 0.5], [448, -0.125, 3.5, 0.0625]]).astype(F8[kind])

    def body(x: Any) -> Any:
        from coreai._compiler.ir import DenseElementsAttr, Float8E4M3FNType, Float8E5M2Type, FloatAttr

        from ..graph import tensor_type

        coreai = ops()
        element = (Float8E4M3FNType if kind == "f8e4m3" else Float8E5M2Type).get()
        zero = coreai.ConstantOp(
            value=DenseElementsAttr.get_splat(tensor_type((1, 1), element), FloatAttr.get(element, 0.0))
        ).result
        data = coreai.constant(values, element)
        dense = coreai.blockwise_shift_scale(data, const([[0.5]], target), zero, const([[0]], target))
        return coreai.add(dense, x)

    return graph_case(
        f"compressed/blockwise/{kind}-{d.label(target)}",
        "blockwise_shift_scale",
        [Spec("x", (2, 4), target)],
        body,
        lambda x: values.astype(np.float64) * 0.5 + x,
        lambda rng: [[d.random(rng, (2, 4), target)]],
        key=target == d.F16,
    )


def _lookup(bits: int, variant: str, dtype: DType, **options: Any) -> Case:
    shape, grid, vector, axis = {
        "tensor": ((6, 8), (1, 1), 1, 0),
        "groups": ((6, 4), (2, 1), 1, 0),
        "channels": ((4, 6), (4, 1), 1, 0),
        "vector0": ((3, 8), (1, 1), 2, 0),
        "vector1": ((3, 5), (1, 1), 3, 1),
        "rank4": ((4, 2, 3, 3), (2, 1, 1, 1), 1, 0),
    }[variant]
    indices = integers(bits, shape, bits, False)
    lut = d.random(np.random.default_rng(bits), grid + (1 << bits, vector), dtype, 1)
    target = tuple(n * vector if a == axis else n for a, n in enumerate(shape))

    def dense() -> Array:
        blocks = d.wide(lut)
        for a, (n, b) in enumerate(zip(shape, grid)):
            blocks = np.repeat(blocks, n // b, a)
        found = np.take_along_axis(blocks, indices[..., None, None], -2)[..., 0, :]
        return np.moveaxis(found, -1, axis + 1).reshape(target)

    def body(x: Any) -> Any:
        coreai = ops()
        at = packed_constant(indices, bits, False) if bits < 8 else const(indices, np.uint8)
        return coreai.add(coreai.lut_to_dense(at, coreai.constant(lut), const(axis, np.int16)), x)

    return graph_case(
        f"compressed/lut_to_dense/u{bits}-{d.label(dtype)}-{variant}",
        "lut_to_dense",
        [Spec("x", target, dtype)],
        body,
        lambda x: dense() + x,
        lambda rng: [[d.random(rng, target, dtype)]],
        **options,
    )


def _sparse(dtype: DType, shape: tuple[int, ...], density: float) -> Case:
    rng = np.random.default_rng(len(shape))
    mask = rng.random(shape) < density
    values = d.random(rng, (int(mask.sum()),), dtype)
    dense = np.zeros(shape, dtype)
    dense[mask] = values

    def body(x: Any) -> Any:
        coreai = ops()
        sparse = coreai.build_sparse_with_bitmask(coreai.constant(values), packed_constant(mask, 1, False))
        return coreai.add(coreai.sparse_with_bitmask_to_dense(sparse), x)

    return graph_case(
        f"compressed/sparse/{d.label(dtype)}-rank{len(shape)}-{int(density * 100)}",
        "sparse_with_bitmask_to_dense",
        [Spec("x", shape, dtype)],
        body,
        lambda x: d.wide(dense) + x,
        lambda rng: [[d.random(rng, shape, dtype)]],
        key=density == 0.5,
    )


def _sparse_lookup(bits: int, vector: int) -> Case:
    """A palette over sparse indices; a vector fills a run along the axis."""
    shape, axis = (4, 6), 0
    rng = np.random.default_rng(bits)
    mask = rng.random(shape) < 0.5
    indices = integers(bits, (int(mask.sum()),), bits, False)
    lut = d.random(rng, (1, 1, 1 << bits, vector), d.F32)
    dense = np.zeros((shape[0] * vector, shape[1]), np.float32)
    for index, (row, column) in zip(indices, np.argwhere(mask)):
        dense[row * vector : (row + 1) * vector, column] = lut[0, 0, index]

    def body(x: Any) -> Any:
        coreai = ops()
        at = packed_constant(indices, bits, False) if bits < 8 else const(indices, np.uint8)
        sparse = coreai.build_sparse_with_bitmask(at, packed_constant(mask, 1, False))
        found = coreai.lut_to_sparse_with_bitmask(sparse, coreai.constant(lut), const(axis, np.int16))
        return coreai.add(coreai.sparse_with_bitmask_to_dense(found), x)

    return graph_case(
        f"compressed/lut_to_sparse/u{bits}-vector{vector}",
        "lut_to_sparse_with_bitmask",
        [Spec("x", dense.shape, d.F32)],
        body,
        lambda x: dense + x,
        lambda rng: [[d.random(rng, dense.shape, d.F32)]],
        key=bits == 4,
    )


def quantized(x: Array, scale: Array, zero: Array, low: Array, target: DType) -> Array:
    """clip(round((x − low) / scale) + zero): round half to even."""
    least, most = d.limits(target)
    return np.clip(np.rint((x - low) / scale) + zero.astype(np.float64), float(least), float(most)).astype(np.int64)


def _quantize(target: DType, variant: str, source: DType) -> Iterator[Case]:
    shape = (3, 4)
    whole = variant == "tensor"
    count = {"tensor": (), "axis0": (3,), "axis1": (4,), "axis1_scalar": ()}[variant]
    axis = [0, 1] if whole else int(variant[4])
    rng = np.random.default_rng(len(variant))
    scale = np.asarray(2.0 ** rng.integers(-3, 1, count), source)
    zero = np.asarray(rng.integers(0 if target.kind == "u" else -20, 20, count), target)
    low = np.asarray(rng.integers(-2, 3, count) * 0.5, source)
    place = [1, 1]
    if count:
        place[axis if isinstance(axis, int) else 0] = -1
    s, z, b = (v.reshape(place) for v in (d.wide(scale), zero.astype(np.float64), d.wide(low)))
    numbers = lambda: (ops().constant(scale), ops().constant(zero), ops().constant(low), const(axis))  # noqa: E731
    yield graph_case(
        f"compressed/quantize/{d.label(source)}_to_{d.label(target)}-{variant}",
        "quantize",
        [Spec("x", shape, source)],
        lambda x: ops().quantize(x, *numbers()),
        lambda x: quantized(x, s, z, b, target),
        lambda rng: [[np.array([[0, 0.25, 0.0625, -0.1875], [1000, -1000, 3, -3.5], [7.75, 8.25, -8, 2.5]], source)]],
        key=variant == "axis1" and source == d.F32,
    )
    yield graph_case(
        f"compressed/dequantize/{d.label(target)}_to_{d.label(source)}-{variant}",
        "dequantize",
        [Spec("x", shape, target)],
        lambda x: ops().dequantize(x, *numbers()),
        lambda x: (x.astype(np.float64) - z) * s + b,
        lambda rng: [[d.random(rng, shape, target)], [np.resize(d.special(target), shape)]],
        key=variant == "axis1" and source == d.F32,
    )


def _statistics() -> Iterator[Case]:
    x = np.array([[-100, -1000, 1.57], [100, 1000, 10.5]], np.float32)

    def symmetric(x: Array) -> Array:
        return 2 * np.max(np.abs(x), 0) / 255

    yield graph_case(
        "compressed/symmetric_statistics/f32",
        "symmetric_quantization_statistics",
        [Spec("x", (2, 3), d.F32)],
        lambda x: ops().symmetric_quant_stats(x, const([-128, 127], np.float32), const(1)),
        symmetric,
        lambda rng: [[x]],
    )
    # zero points are kept off the halves: the quotient's rounding decides there
    positive = np.array([[3, -1, 0.5], [7.5, 200, 4]], np.float32)

    def asymmetric(x: Array) -> list[Array]:
        most, least = np.maximum(x.max(0), 0), np.minimum(x.min(0), 0)
        scale = (most - least) / 255
        return [scale, np.clip(0 - np.rint(least / scale), 0, 255)]

    yield graph_case(
        "compressed/asymmetric_statistics/f32",
        "asymmetric_quantization_statistics",
        [Spec("x", (2, 3), d.F32)],
        lambda x: ops().asymmetric_quant_stats(x, const([0, 255], np.uint8), const(1)),
        asymmetric,
        lambda rng: [[positive]],
    )


def cases() -> Iterator[Case]:
    """All cases of this family."""
    kinds = {"i8": (8, True), "u8": (8, False), "i4": (4, True), "u4": (4, False), "i2": (2, True), "u2": (2, False)}
    for kind, (bits, signed) in kinds.items():
        for variant in BLOCKS:
            yield _blockwise(kind, bits, signed, variant, d.F32, key=variant in ("block", "odd"))
        for scale_type in (d.F16, d.BF16):
            yield _blockwise(kind, bits, signed, "block", scale_type)
    for dtype in (d.I8, d.U8, d.I16):
        for variant in ("channel", "square"):
            yield _blockwise_given(dtype, variant)
    for kind in F8:
        for target in (d.F16, d.F32):
            yield _float8(kind, target)
    for bits in (1, 2, 3, 4, 6, 8):
        for variant in ("tensor", "groups", "channels", "vector0", "vector1", "rank4"):
            yield _lookup(bits, variant, d.F32, key=variant == "vector1" and bits == 4)
        yield _lookup(bits, "tensor", d.F16)
    for dtype in (d.F32, d.F16, d.I8):
        for shape in ((7,), (5, 6), (2, 3, 3, 3)):
            yield _sparse(dtype, shape, 0.5)
    yield _sparse(d.F32, (4, 9), 0.0)
    yield _sparse(d.F32, (4, 9), 1.0)
    for bits in (1, 4, 8):
        yield _sparse_lookup(bits, 1)
    yield _sparse_lookup(2, 2)
    for target in (d.I8, d.U8):
        for variant in ("tensor", "axis0", "axis1", "axis1_scalar"):
            for source in (d.F32, d.F16):
                yield from _quantize(target, variant, source)
    yield from _statistics()
