"""The state that every arm meets: the reset steps of the experiment file, in their order, each with what it reached."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

from dbdyno.design.arm import Arm
from dbdyno.design.experiment import Experiment
from dbdyno.runner.schema import build_schema
from dbdyno.targets.target import Target

# What these steps reach would be lost by looking at the tables, so whatever looks does it before the first of them.
CACHE_STEPS = ("cold-cache", "warm-cache")


def restore(experiment: Experiment, target: Target, arm: Arm) -> list[dict[str, Any]]:
    """The one step that comes before the arm is applied, since it would take the arm's schema change back."""
    if "restore" not in arm.reset:
        return []
    began = time.monotonic_ns()
    restored_bytes = target.restore(lambda: build_schema(experiment, target))
    return [{"step": "restore", "ns": time.monotonic_ns() - began, "bytes": restored_bytes}]


def reset(target: Target, arm: Arm, before_caches: Callable[[], None]) -> list[dict[str, Any]]:
    """Go through the steps but `restore`; one record a step.

    Args:
        target: the server.
        arm: whose steps they are.
        before_caches: called once, before the first step that sets a cache state, or behind the last step.
    """
    records: list[dict[str, Any]] = []
    looked = False
    for step in arm.reset:
        if step == "restore":
            continue
        if step in CACHE_STEPS and not looked:
            before_caches()
            looked = True
        began = time.monotonic_ns()
        reached = _take(target, step)
        records.append({"step": step, "ns": time.monotonic_ns() - began, **reached})
    if not looked:
        before_caches()
    return records


def _take(target: Target, step: str) -> dict[str, Any]:
    """Take one step; what it reached, where that is a figure."""
    match step:
        case "vacuum":
            target.vacuum(())
        case "analyze":
            target.analyze()
        case "checkpoint" if target.may_checkpoint:
            target.checkpoint()
        case "checkpoint":
            return {"left_out": "needs --allow-checkpoint"}
        case "cold-cache":
            return dataclasses.asdict(target.cold_cache())
        case "warm-cache":
            return target.warm_cache()
    return {}


def reset_warnings(experiment: Experiment, targets: Sequence[Target]) -> list[dict[str, str]]:
    """What of the reset cannot be done here: it is left out for every arm alike, and said."""
    if not experiment.resets("checkpoint") or all(target.may_checkpoint for target in targets):
        return []
    what = "no checkpoint before the trials, because the server is not ours: full-page images may fall into any of them"
    return [{"code": "no_checkpoint", "message": f"{what}; --allow-checkpoint takes one before each"}]
