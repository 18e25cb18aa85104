"""The comparison that `engine verify` makes, and its default tolerances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import BF16, F16, is_float
from .model import Array


@dataclass(frozen=True)
class Tolerance:
    """|a − e| ≤ atol + rtol·|e|."""

    rtol: float
    atol: float

    def scaled(self, factor: float) -> Tolerance:
        """Both parts times a factor."""
        return Tolerance(self.rtol * factor, self.atol * factor)


def default_tolerance(dtype: np.dtype[Any]) -> Tolerance:
    """What the format takes when nothing else is said."""
    if not is_float(dtype):
        return Tolerance(0, 0)
    if dtype == F16:
        return Tolerance(2e-3, 1e-3)
    if dtype == BF16:
        return Tolerance(2e-2, 1e-2)
    return Tolerance(1e-4, 1e-5)


def difference(actual: Array, expected: Array, tolerance: Tolerance) -> str | None:
    """None when the arrays agree, else what is wrong, in a few words."""
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)} against {list(expected.shape)}"
    if actual.size == 0:
        return None
    if actual.dtype.kind == "c" or expected.dtype.kind == "c":
        parts = [
            difference(np.real(actual), np.real(expected), tolerance),
            difference(np.imag(actual), np.imag(expected), tolerance),
        ]
        return next((p for p in parts if p), None)
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        fine = np.abs(a - e) <= tolerance.atol + tolerance.rtol * np.abs(e)
    fine |= (a == e) | (np.isnan(a) & np.isnan(e))
    fine &= np.isnan(a) == np.isnan(e)
    infinite = np.isinf(a) | np.isinf(e)
    fine = np.where(infinite, a == e, fine)
    if fine.all():
        return None
    wrong = np.flatnonzero(~np.atleast_1d(fine).ravel())
    first = int(wrong[0])
    return f"{len(wrong)} of {a.size} differ, first at {first}: {a.ravel()[first]:.9g} against {e.ravel()[first]:.9g}"
