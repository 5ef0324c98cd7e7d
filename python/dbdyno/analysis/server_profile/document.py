"""A profile as one JSON document: `dbdyno profile --json` and `profile.json`. Its keys: docs/findings.md."""

from __future__ import annotations

import dataclasses
from typing import Any

from dbdyno.analysis.server_profile.findings import ServerProfile


def as_document(profile: ServerProfile) -> dict[str, Any]:
    """The document. Nobody sees a queue before the server, so null stands where a unit of work has its own."""
    document = dataclasses.asdict(profile)
    for share in (
        document,
        *(entry for key, entries in document.items() if key.startswith("by_") for entry in entries),
    ):
        share["profile_ns"] = {"queue": None, **share["profile_ns"]}
    return document
