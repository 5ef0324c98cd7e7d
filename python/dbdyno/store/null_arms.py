"""The ledger of null arms: what every run on this machine called a second copy of its baseline.

```
{"format": 1, "hosts": {HOST: [{"run_id": ..., "at": ..., "p_value": ..., "different": ...}, ...]}}
```
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbdyno.store import state

NAME = "null-arms"


def counted(environment: Mapping[str, str], host: str) -> dict[str, int]:
    """How many runs on this host had a null arm, and how many of them called it different."""
    entries = _entries(environment, host)
    return {"runs": len(entries), "different": sum(bool(entry["different"]) for entry in entries)}


def add(environment: Mapping[str, str], host: str, entry: Mapping[str, Any]) -> None:
    """Keep what one run said; a run that is here already is not counted twice."""
    entries = _entries(environment, host)
    if any(known["run_id"] == entry["run_id"] for known in entries):
        return
    kept = state.recall(NAME, environment) or {}
    hosts = {**_hosts(kept), host: [*entries, dict(entry)]}
    state.remember(NAME, {"format": 1, "hosts": hosts}, environment)


def _entries(environment: Mapping[str, str], host: str) -> list[dict[str, Any]]:
    found = _hosts(state.recall(NAME, environment) or {}).get(host)
    entries = found if isinstance(found, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and entry.keys() >= {"run_id", "different"}]


def _hosts(document: Mapping[str, Any]) -> dict[str, Any]:
    hosts = document.get("hosts")
    return hosts if isinstance(hosts, dict) else {}
