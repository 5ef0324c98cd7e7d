"""What a run would do, before anything is started: the document of `dbdyno plan --json` (docs/findings.md)."""

from __future__ import annotations

import dataclasses
from typing import Any

from dbdyno.design.arm import Arm
from dbdyno.design.document import Measured, SettingValue
from dbdyno.design.experiment import Experiment
from dbdyno.design.schedule import schedule


def plan_document(experiment: Experiment, seed: int) -> dict[str, Any]:
    """The plan of one run.

    `seconds_at_least` is what warm-ups and windows take, None for fixed work; log-ins, resets and restarts come on top.
    `schema_bytes` is the size of shipped schemas, None where one is the user's own.
    """
    names = [arm.name for arm in experiment.arms]
    trials = experiment.blocks * len(names)
    timed = all(arm.fixed_units is None for arm in experiment.arms)
    trial_ns = experiment.warm_up_ns + experiment.window_ns
    return {
        "format": 1,
        "experiment": experiment.name,
        "question": experiment.question,
        "metric": experiment.metric,
        "margin": experiment.margin,
        "seed": seed,
        "blocks": experiment.blocks,
        "looks": list(experiment.looks),
        "until_decided": experiment.asked.until_decided,
        "all_pairs": experiment.all_pairs,
        "trials": trials,
        "warm_up_ns": experiment.warm_up_ns,
        "window_ns": experiment.window_ns if timed else None,
        "seconds_at_least": trials * trial_ns / 1e9 if timed else None,
        "schemas": [schema.name for schema in experiment.schemas],
        "scale": experiment.scale,
        "schema_bytes": _schema_bytes(experiment),
        "server_settings": {name: _shown(value) for name, value in experiment.target_settings.items()},
        "levels_found_later": sorted(experiment.candidates),
        "arms": [_arm(arm) for arm in experiment.arms],
        "scripts": {script.name: script.text for arm in experiment.arms for script in arm.scripts},
        "schedule": [
            {"trial": place.trial, "block": place.block, "position": place.position, "arm": place.arm}
            for place in schedule(names, experiment.blocks, seed)
        ],
    }


def _schema_bytes(experiment: Experiment) -> int | None:
    sizes = [schema.bytes_per_scale if schema.tables_sql.strip() else 0 for schema in experiment.schemas]
    known = [size for size in sizes if size is not None]
    return sum(known) * experiment.scale if len(known) == len(sizes) else None


def _arm(arm: Arm) -> dict[str, Any]:
    scopes = {"session": arm.session, "role": arm.role, "server": arm.settings}
    return {
        "arm": arm.name,
        "baseline": arm.baseline,
        "null": arm.null,
        "sets": {f"{scope} {name}": _shown(value) for scope, table in scopes.items() for name, value in table.items()},
        "sql": arm.sql or None,
        "undo": arm.undo or None,
        "server_bin": None if arm.server.server_bin is None else str(arm.server.server_bin),
        "target": arm.server.url,
        "scripts": [{"name": script.name, "weight": script.weight} for script in arm.scripts]
        or [{"name": name, "weight": 1} for name in arm.work_names],
        "engine": arm.engine,
        "file": None if arm.file is None else dataclasses.asdict(arm.file),
        "fixed_units": arm.fixed_units,
        "clients": arm.clients,
        "arrival": arm.arrival.document(),
        "reset": list(arm.reset),
    }


def _shown(value: SettingValue) -> str:
    """A value that is measured first is said as a rule."""
    if isinstance(value, Measured):
        return f"{value.times:g} x {value.measured}"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
