"""What is remembered about this machine between runs: small JSON files in the user's state directory.

```
DBDYNO_STATE_DIR, or $XDG_STATE_HOME/dbdyno, or ~/.local/state/dbdyno
  selftest.json      the last self-test
  null-arms.json     what each run called its null arm
  fingerprints.json  how fast the machine was at the beginning of its last 200 runs
```
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.errors import DynoError


def state_directory(environment: Mapping[str, str]) -> Path:
    """Where the files lie; it need not exist."""
    if given := environment.get("DBDYNO_STATE_DIR"):
        return Path(given).absolute()
    if (xdg := environment.get("XDG_STATE_HOME")) and Path(xdg).is_absolute():
        return Path(xdg) / "dbdyno"
    return Path("~/.local/state/dbdyno").expanduser()


def remember(name: str, document: Mapping[str, Any], environment: Mapping[str, str]) -> Path:
    """Put a document in the place of the last one of this name, whole or not at all."""
    directory = state_directory(environment)
    path = directory / f"{name}.json"
    draft = directory / f".{name}-{secrets.token_hex(4)}"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft.write_text(json.dumps(document, indent=1), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise DynoError(
            "state_unusable",
            f"state directory {directory}: {os.strerror(error.errno or 0)}; "
            "set DBDYNO_STATE_DIR to a directory that you can write to",
        ) from error
    return path


def recall(name: str, environment: Mapping[str, str]) -> dict[str, Any] | None:
    """The last document of this name; None where there is none that can be read."""
    try:
        found = json.loads((state_directory(environment) / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("format") == 1 else None
