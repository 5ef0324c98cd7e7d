"""Schemas with their data and scripts: described here, executed by the runner.

```
NAME/tables.sql        creates the tables; may fill them as well
NAME/constraints.sql   keys and indexes, behind the load
NAME/workload.toml     generator: what fills the tables, where SQL does not
                       bytes_per_scale: what tables and indexes take at scale 1
                       [scripts]: name = weight      [invariants]: name = SQL that counts violations
NAME/scripts/*.sql     in pgbench's language
```

Any of them may be missing, and `none` has none: for scripts that need no tables. With nothing to create, a target need
not be written to.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

SHIPPED = ("pgbench", "order-entry", "web-returns", "none")


@dataclasses.dataclass(frozen=True, slots=True)
class Workload:
    """A schema and what belongs to it.

    `tables_sql` reads its size from `dbdyno.scale`; `generator` names what fills the tables, where the SQL itself does
    not; `constraints_sql` comes behind the load. `scripts` are (name, text, weight); `invariants` are queries that
    count violations; `bytes_per_scale` is the size of tables and indexes at scale 1, None where nobody knows it.
    """

    name: str
    tables_sql: str
    generator: str | None = None
    constraints_sql: str = ""
    scripts: tuple[tuple[str, str, int], ...] = ()
    invariants: Mapping[str, str] = dataclasses.field(default_factory=dict)
    bytes_per_scale: int | None = None


def find(name: str) -> Workload | None:
    """The shipped workload called `name`, or None."""
    if name not in SHIPPED:
        return None
    directory = resources.files("dbdyno.workloads").joinpath(name)
    description: dict[str, Any] = tomllib.loads(_text(directory.joinpath("workload.toml")))
    return Workload(
        name,
        tables_sql=_text(directory.joinpath("tables.sql")),
        generator=description.get("generator"),
        constraints_sql=_text(directory.joinpath("constraints.sql")),
        scripts=tuple(
            (script, directory.joinpath("scripts", f"{script}.sql").read_text(encoding="utf-8"), weight)
            for script, weight in description.get("scripts", {}).items()
        ),
        invariants=description.get("invariants", {}),
        bytes_per_scale=description.get("bytes_per_scale"),
    )


def _text(file: Traversable) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""
