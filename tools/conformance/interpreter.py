"""Runs an asset in coreai-core's interpreter. Some inputs crash it: call this in a worker process only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np

from .model import Answer, Call


def interpret(asset: Path, function: str, calls: list[Call]) -> list[Answer]:
    """The interpreter's answers; states carry over from call to call."""
    return asyncio.run(_interpret(asset, function, calls))


async def _interpret(asset: Path, function: str, calls: list[Call]) -> list[Answer]:
    import coreai.authoring  # noqa: F401  must be imported before the rest of the package
    from coreai.authoring import AIModelAsset
    from coreai.runtime._ndarray import NDArray

    answers = []
    async with AIModelAsset.load(asset).executable() as model:
        loaded = model.load_function(function)
        states = {k: NDArray(np.ascontiguousarray(v)) for k, v in calls[0].states.items()}
        for call in calls:
            inputs = {k: NDArray(np.require(v, requirements="C")) for k, v in call.inputs.items()}
            results = await loaded(inputs, states)
            answers.append(
                Answer(
                    {k: np.array(v.numpy()) for k, v in results.items()},
                    {k: np.array(v.numpy()) for k, v in states.items()},
                )
            )
    return answers
