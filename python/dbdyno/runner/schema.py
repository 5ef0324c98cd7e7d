"""Builds what the arms work on: the tables of each schema, their rows, and what comes behind the load."""

from __future__ import annotations

from dbdyno.design.experiment import Experiment
from dbdyno.errors import DynoError
from dbdyno.targets.target import Target
from dbdyno.workloads import Workload


def build_schema(experiment: Experiment, target: Target) -> None:
    """Create the experiment's tables and load them; `dbdyno.scale` tells the SQL how large."""
    if not any(schema.tables_sql.strip() for schema in experiment.schemas):
        return
    for schema in experiment.schemas:
        target.execute(f"SET dbdyno.scale = {experiment.scale}")
        _execute(target, schema, schema.tables_sql)
        _execute(target, schema, schema.constraints_sql)
    target.vacuum(())


def _execute(target: Target, schema: Workload, sql: str) -> None:
    if not sql.strip():
        return
    try:
        target.execute(sql)
    except DynoError as error:
        if error.code != "sql_failed":
            raise
        raise DynoError("schema_failed", f"schema {schema.name!r}: the server says: {error.message}") from None
