"""The `run` record: what was going to be run, with every value resolved, before the first trial."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from dbdyno import engine
from dbdyno.design.experiment import Experiment
from dbdyno.design.schedule import schedule
from dbdyno.design.scripts import settings_in_script
from dbdyno.runner.candidates import Found, index_record
from dbdyno.runner.prepare import LeftOut, Prepared
from dbdyno.runner.schema import bytes_per_unit, schema_bytes
from dbdyno.runner.servers import Servers
from dbdyno.runner.trial import now
from dbdyno.store import journal


def run_record(
    run_id: str,
    seed: int,
    experiment: Experiment,
    servers: Servers,
    prepared: list[Prepared],
    left_out: list[LeftOut],
    measured: Mapping[str, int],
    found: Found,
) -> dict[str, Any]:
    """The body of the record."""
    names = [each.arm.name for each in prepared]
    asked = experiment.asked
    return {
        "format": journal.FORMAT,
        "run_id": run_id,
        "dbdyno": {"version": engine.VERSION, "build_profile": engine.BUILD_PROFILE},
        "experiment": experiment.name,
        "experiment_file": experiment.path.name,
        "question": experiment.question,
        "metric": experiment.metric,
        "margin": experiment.margin,
        "seed": seed,
        "blocks": experiment.blocks,
        "looks": list(experiment.looks),
        "until_decided": asked.until_decided,
        "all_pairs": experiment.all_pairs,
        "schema_bytes": schema_bytes(servers.default),
        "quick": asked.quick,
        "scale": experiment.scale,
        "sampling_budget": asked.sampling_budget,
        "stacks": asked.stacks,
        "started_at": now(),
        "arms": [
            {
                **_arm_record(each, names, found),
                "bytes_per_unit": bytes_per_unit(servers.of(each.arm.server), each.arm),
                "server": servers.index(each.arm.server),
            }
            for each in prepared
        ],
        "outcomes": list(experiment.outcomes),
        "invariants": list(experiment.invariants),
        "left_out": [dataclasses.asdict(each) for each in left_out],
        "schedule": [
            {"trial": place.trial, "block": place.block, "position": place.position, "arm": place.arm}
            for place in schedule(names, experiment.blocks, seed)
        ],
        "measured": dict(measured),
    }


def _arm_record(prepared: Prepared, names: list[str], found: Found) -> dict[str, Any]:
    arm = prepared.arm
    return {
        "arm": arm.name,
        "levels": arm.levels,
        "null": arm.null,
        "baseline": arm.baseline if arm.baseline in names else None,
        "clients": arm.clients,
        "threads": arm.threads,
        "mode": arm.mode,
        "arrival": arm.arrival.document(),
        "scripts": arm.work_names,
        "engine": arm.engine,
        "seeded": arm.is_seeded,
        "rows_per_unit": arm.rows_per_unit,
        "file": None if arm.file is None else dataclasses.asdict(arm.file),
        "fixed_units": arm.fixed_units,
        "fetch_rows": arm.fetch_rows,
        "reset": list(arm.reset),
        "sql": arm.sql or None,
        "undo": arm.undo or None,
        "index": index_record(arm, found),
        "expect": arm.expect.model_dump(exclude_defaults=True),
        "in_script": {name: value for script in arm.scripts for name, value in settings_in_script(script.text)},
        "settings": prepared.settings,
        "session": prepared.session,
        "role": prepared.role,
    }
