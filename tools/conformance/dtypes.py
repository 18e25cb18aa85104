"""The element types that cases are made for, and values that show their corners."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .model import Array

F32 = np.dtype(np.float32)
F16 = np.dtype(np.float16)
BF16 = np.dtype(ml_dtypes.bfloat16)
I8, I16, I32 = np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.int32)
U8, U16, U32 = np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32)
BOOL = np.dtype(np.bool_)

FLOATS = [F32, F16, BF16]
SIGNED = [I8, I16, I32]
UNSIGNED = [U8, U16, U32]
INTS = SIGNED + UNSIGNED
REALS = FLOATS + INTS
ALL = REALS + [BOOL]

_NAMES = {
    F32: "f32",
    F16: "f16",
    BF16: "bf16",
    I8: "i8",
    I16: "i16",
    I32: "i32",
    U8: "u8",
    U16: "u16",
    U32: "u32",
    BOOL: "bool",
}


def label(dtype: np.dtype[Any]) -> str:
    """The short name that case names use."""
    return _NAMES[dtype]


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether values of the type are real floating-point numbers (bfloat16 counts)."""
    return dtype in FLOATS or dtype.kind == "f"


def limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Least and greatest finite value."""
    info = ml_dtypes.finfo(dtype) if is_float(dtype) else np.iinfo(dtype)
    return info.min, info.max


def wide(array: Array) -> Array:
    """The same values in float64 where they are floating-point numbers, else unchanged."""
    return array.astype(np.float64) if is_float(array.dtype) else array


def narrow(array: Array, dtype: np.dtype[Any]) -> Array:
    """A reference's values in the output's type; overflow becomes an infinity."""
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(dtype)


def special(dtype: np.dtype[Any]) -> Array:
    """Values with a known corner: zeros, halves, limits, infinities, NaN."""
    if dtype == BOOL:
        return np.array([False, True, True, False], dtype)
    low, high = limits(dtype)
    if is_float(dtype):
        tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
        values = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            3.25,
            -7.75,
            100.0,
            -100.0,
            float(high),
            float(low),
            tiny,
            np.inf,
            -np.inf,
            np.nan,
            0.1,
        ]
        return np.array(values, np.float64).astype(dtype)
    values = [0, 1, 2, 3, 7, 10, int(high), int(high) - 1, int(low), int(low) + 1]
    if low < 0:
        values += [-1, -2, -3, -10]
    return np.array(values, np.int64).astype(dtype)


def pairs(dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Every special value against every other, flat."""
    values = special(dtype)
    left, right = np.meshgrid(values, values, indexing="ij")
    return left.ravel().copy(), right.ravel().copy()


def random(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], span: float = 3.0) -> Array:
    """Ordinary values: normal numbers of the given spread, small integers, coin flips."""
    if dtype == BOOL:
        return rng.integers(0, 2, shape).astype(dtype)
    if is_float(dtype):
        return np.asarray(rng.normal(0, span / 2, shape)).astype(dtype)
    low, high = limits(dtype)
    return rng.integers(max(int(low), -50), min(int(high), 50) + 1, shape).astype(dtype)
