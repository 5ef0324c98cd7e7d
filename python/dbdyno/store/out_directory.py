"""The directory that `--out` names: new or empty, and writable."""

from __future__ import annotations

from pathlib import Path

from dbdyno.errors import DynoError


def take(directory: Path, advice: str) -> None:
    """Make it, or take an empty one; `advice` says what to do where it holds something."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise DynoError("out_not_empty", f"--out {directory}: is not empty; {advice}")
        probe = directory / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise unwritable(directory, error) from None


def unwritable(directory: Path, error: OSError) -> DynoError:
    """What is said where something could not be written below it."""
    return DynoError("out_unwritable", f"--out {directory}: cannot be written: {error.strerror}; choose another --out")


def give_back(directory: Path) -> None:
    """Take a directory away that is empty again, with its parent if that is empty then."""
    for path in (directory, directory.parent):
        try:
            path.rmdir()
        except OSError:
            return
