"""Which server runs, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.errors import DynoError
from dbdyno.targets.binaries import find_binaries, parse_version


def make_server(directory: Path, version: str) -> Path:
    directory.mkdir()
    for name in ("postgres", "initdb"):
        (directory / name).write_text(f"#!/bin/sh\necho '{version}'\n")
        (directory / name).chmod(0o755)
    return directory


@pytest.mark.parametrize(
    ("shown", "version", "number"),
    [
        ("postgres (PostgreSQL) 18.6", "18.6", 180006),
        ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", "15.14", 150014),
        ("postgres (PostgreSQL) 19devel", "19devel", 190000),
        ("postgres (PostgreSQL) 19beta2", "19beta2", 190000),
        ("postgres (PostgreSQL) 19rc1", "19rc1", 190000),
    ],
)
def test_version(shown: str, version: str, number: int) -> None:
    """A version is named as the server names it and numbered as the server counts."""
    assert parse_version(shown, "x") == (version, number)


@pytest.mark.parametrize("shown", ["", "psql (PostgreSQL) 18.6", "postgres (EnterpriseDB) 18.6", "mysqld 8.4"])
def test_not_a_server(shown: str) -> None:
    """What does not call itself PostgreSQL is refused."""
    with pytest.raises(DynoError, match="--server-bin x: not a PostgreSQL server"):
        parse_version(shown, "--server-bin x")


def test_server_bin_is_used(tmp_path: Path) -> None:
    """--server-bin goes before everything else."""
    directory = make_server(tmp_path / "bin", "postgres (PostgreSQL) 17.4")
    binaries = find_binaries(directory)
    assert (binaries.directory, binaries.version, binaries.version_number) == (directory.resolve(), "17.4", 170004)
    assert binaries.identity().startswith("170004-")


def test_identity_follows_the_files(tmp_path: Path) -> None:
    """Another build of the same version is another server."""
    first = find_binaries(make_server(tmp_path / "a", "postgres (PostgreSQL) 17.4")).identity()
    with (tmp_path / "a" / "postgres").open("a") as program:
        program.write("# another build\n")
    assert find_binaries(tmp_path / "a").identity() != first


@pytest.mark.parametrize(
    ("version", "code", "named"),
    [
        ("postgres (PostgreSQL) 13.22", "unsupported_version", "PostgreSQL 13.22; 14 is the oldest"),
        ("something else", "bad_server_bin", "it calls itself 'something else'"),
    ],
)
def test_refused_server(tmp_path: Path, version: str, code: str, named: str) -> None:
    """Too old a server, or none, is refused with the flag's name."""
    with pytest.raises(DynoError, match=named) as caught:
        find_binaries(make_server(tmp_path / "bin", version))
    assert caught.value.code == code
    assert caught.value.message.startswith(f"--server-bin {tmp_path}/bin: ")


def test_directory_without_a_server(tmp_path: Path) -> None:
    """What is missing is named; a file that cannot be run is no server."""
    with pytest.raises(DynoError, match="no executable postgres or initdb there"):
        find_binaries(tmp_path)
    directory = make_server(tmp_path / "bin", "postgres (PostgreSQL) 17.4")
    (directory / "initdb").unlink()
    with pytest.raises(DynoError, match="no executable initdb there"):
        find_binaries(directory)
    (directory / "initdb").symlink_to("/bin/true")
    (directory / "postgres").write_text("#!/nonexistent\n")
    with pytest.raises(DynoError, match="`postgres --version` does not run"):
        find_binaries(directory)
