"""What `dbdyno ndv` does with a table by COPY over one connection: the rows come here and are sketched by the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbdyno import engine
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.copy_plan import CopyOptions, plan_copy
from dbdyno.ndv.postgres.scan_source import plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.secret import Secret


class NdvCopy:
    """The scan, planned; it connects when it begins."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._password = spec["password"]
        password = None if self._password is None else Secret(self._password)
        endpoint = Endpoint(**spec["endpoint"], password=password)
        with connect(endpoint) as session:
            source = plan_source(read_catalogue(session, "statement", spec["table"]), spec["columns"])
        self._spec = plan_copy(source, endpoint, CopyOptions(seed=spec["seed"]))

    version = engine.VERSION

    def settings(self) -> dict[str, str]:
        """None can be set."""
        return {}

    def row(self) -> dict[str, Any]:
        """Each column with the estimate of its different values."""
        outcome, _ = engine.scan_postgres(self._spec, self._password)
        return {column["name"]: column["ndv"]["estimate"] for column in outcome["columns"]}
