"""From the flags of a command to a target that is there: the embedded server, or the one that a URL names."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dbdyno.errors import DynoError
from dbdyno.targets.defaults import resolve
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.external import ExternalServer
from dbdyno.targets.target import SettingValue, Target


@dataclasses.dataclass(frozen=True, slots=True)
class TargetRequest:
    """The flags that choose a target. `url` may hold a password, so it is in no repr."""

    url: str | None = dataclasses.field(default=None, repr=False)
    allow_write: bool = False
    allow_checkpoint: bool = False
    server_bin: Path | None = None
    data_dir: Path | None = None


@contextmanager
def open_target(request: TargetRequest, settings: Mapping[str, SettingValue]) -> Iterator[Target]:
    """The target, started or connected; `settings` are the server settings that the experiment always has."""
    if request.url is None:
        with EmbeddedServer(settings=settings, server_bin=request.server_bin, data_dir=request.data_dir) as embedded:
            yield embedded
        return
    for flag, value in (("--server-bin", request.server_bin), ("--data-dir", request.data_dir)):
        if value is not None:
            raise DynoError("flag_conflict", f"{flag} {value}: is for the embedded server; leave it out with --target")
    endpoint = resolve(request.url, os.environ)
    with ExternalServer(
        endpoint,
        allow_write=request.allow_write,
        allow_checkpoint=request.allow_checkpoint,
        warnings=_not_applied(settings),
    ) as external:
        yield external


def _not_applied(settings: Mapping[str, SettingValue]) -> list[dict[str, str]]:
    if not settings:
        return []
    return [
        {
            "code": "target_settings_not_applied",
            "message": f"target.settings ({', '.join(settings)}) are for the embedded server and were not applied; "
            "compare with the settings that the report lists",
        }
    ]
