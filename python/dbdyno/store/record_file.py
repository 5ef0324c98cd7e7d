"""A record that is written once, when a measurement ends, with a checksum over all of it.

{"format": 1, ..., "stacks": null,"sha256":"9f..."}\\n
'-------- what the checksum is over -'
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.errors import EXIT_RUN_FAILED, DynoError

_CHECKSUM_KEY = b',"sha256":"'


def write_record(path: Path, format_: int, record: Mapping[str, Any]) -> Path:
    """Write a record and make it durable: whole under its name, or not there at all."""
    covered = json.dumps({"format": format_, **record}, allow_nan=False, ensure_ascii=False)[:-1].encode()
    return write(path, covered + _CHECKSUM_KEY + hashlib.sha256(covered).hexdigest().encode() + b'"}\n')


def read_record(path: Path, format_: int, absent: tuple[str, str]) -> dict[str, Any]:
    """Read and verify a record; `absent` is the error's code and message where there is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DynoError(*absent) from None
    except OSError as error:
        raise DynoError("run_unreadable", f"{path}: cannot be read: {error.strerror}") from None
    covered, key, rest = data.rpartition(_CHECKSUM_KEY)
    if not key or rest != hashlib.sha256(covered).hexdigest().encode() + b'"}\n':
        raise DynoError("run_damaged", f"{path}: is damaged; restore the directory from a copy")
    record = dict(json.loads(covered + b"}"))
    if record.get("format") != format_:
        raise DynoError("run_format", f"{path}: has format {record.get('format')}; this dbdyno reads {format_}")
    return record


def write_json(path: Path, document: Mapping[str, Any]) -> Path:
    """Findings, for people and programs."""
    return write(path, (json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1) + "\n").encode())


def write(path: Path, data: bytes) -> Path:
    """Under another name first: a crash leaves the old file or the new one, never half of one."""
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        advice = "free some space" if error.errno == errno.ENOSPC else "choose another --out"
        raise DynoError(
            "run_unwritable",
            f"{path}: cannot be written: {error.strerror}; {advice}",
            exit_code=EXIT_RUN_FAILED,
        ) from None
    return path
