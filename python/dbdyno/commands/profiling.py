"""What `dbdyno profile` does: find the server, watch it, write down what was seen, say what it means."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import typer

from dbdyno import engine
from dbdyno.attach.find import FoundServer, open_server
from dbdyno.attach.measure import Foreground, Wish, measure
from dbdyno.attach.place import parse_place
from dbdyno.attach.processes import look_up, may_read_memory
from dbdyno.errors import EXIT_INTERRUPTED, EXIT_RUN_FAILED, DynoError
from dbdyno.store import profile_directory

DIRECTORY = Path("dbdyno-profiles")


def profile(
    target: str,
    as_url: str | None,
    wish: Wish,
    *,
    syscalls: int | None,
    out: Path | None,
    live: bool,
    as_json: bool,
) -> None:
    """One profile from its target to the report; the flags are those of the command."""
    if live:
        _check_terminal()
    with open_server(parse_place(target), as_url, os.environ) as server:
        _check(server, wish)
        _check_traced(server, syscalls)
        directory = out or _default_directory(server)
        record = _measured(server, wish, directory, syscalls, live=live)
    from dbdyno.commands.profile_report import findings_of, print_profile, write_profile

    found = findings_of(record)
    write_profile(directory, found)
    print_profile(directory, found, as_json=as_json)
    _end(directory, record)


def _check(server: FoundServer, wish: Wish) -> None:
    """Refuse what this server cannot be asked for, before anything is made."""
    if server.postmaster_pid is None:
        for flag, asked in (("--stacks", wish.stacks), (f"--route {wish.route}", wish.route not in ("auto", "sql"))):
            if asked:
                raise DynoError(
                    "not_on_this_host", f"{flag}: needs a server on this host, {server.shown} is not; leave it out"
                )
    if server.session is None:
        if wish.route == "sql":
            raise DynoError("no_connection", f"--route sql: {server.shown}: {server.note}")
        if server.postmaster_pid is not None and not may_read_memory(server.postmaster_pid):
            raise DynoError(
                "no_rights",
                f"{server.shown}: we may not read its memory, and know nobody to connect as; run as the server's "
                "account or as root, or give --as-url postgres://USER@/DATABASE",
            )
        typer.echo(f"{server.shown}: {server.note}", err=True)


def _check_traced(server: FoundServer, pid: int | None) -> None:
    """Only a process of the server that is profiled is traced: it stands still most of that time."""
    if pid is None:
        return
    if server.postmaster_pid is None:
        raise DynoError(
            "not_on_this_host", f"--syscalls {pid}: needs a server on this host, {server.shown} is not; leave it out"
        )
    process = look_up(pid)
    if process is None or process.parent != server.postmaster_pid:
        raise DynoError(
            "not_of_this_server", f"--syscalls {pid}: is no process of {server.shown}; name one of its backends"
        )


def _measured(server: FoundServer, wish: Wish, directory: Path, syscalls: int | None, *, live: bool) -> dict[str, Any]:
    """The record, written down. Calls are traced after the watch, which they would disturb."""
    with _made(directory):
        with _foreground(server, wish, live=live) as foreground:
            record = measure(server, wish, directory / profile_directory.SNAPSHOTS, foreground)
        if syscalls is not None:
            record["calls"] = engine.trace_calls({"pid": syscalls})
        profile_directory.write_record(directory, record)
    if not record["watch"]["steps"]:
        raise DynoError(
            "nothing_measured",
            f"{server.shown}: the watch ended before its first step ({record['watch']['ended']}); nothing to report",
            exit_code=EXIT_INTERRUPTED if record["interrupted"] else EXIT_RUN_FAILED,
        )
    return record


def _check_terminal() -> None:
    """Refuse `--live` where there is no terminal to draw on and to read keys from."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise DynoError("no_terminal", "--live: needs a terminal for keys and picture; leave it out")


def _foreground(server: FoundServer, wish: Wish, *, live: bool) -> AbstractContextManager[Foreground]:
    # What counts steps and draws takes a second to import, in which a wrong target could have been told.
    if not live:
        from dbdyno.commands.profile_progress import ProfileProgress

        return ProfileProgress(server.shown, wish.seconds)
    from dbdyno.commands.profile_live import LiveProfile

    cpus = len(os.sched_getaffinity(0)) if server.postmaster_pid is not None else None
    return LiveProfile(server.shown, wish.seconds, cpus)


@contextmanager
def _made(directory: Path) -> Iterator[None]:
    """The profile's directory, taken away again where nothing was measured."""
    profile_directory.create(directory)
    try:
        yield
    except BaseException:
        if not (directory / profile_directory.RECORD).exists():
            profile_directory.discard(directory)
        raise


def _end(directory: Path, record: dict[str, Any]) -> None:
    """What cut the watch short, as the last word and the exit code."""
    seconds = record["watch"]["elapsed_ns"] / 1e9
    kept = f"after {seconds:.1f} s of {record['asked']['seconds']:g} s; what was seen until then is in {directory}"
    if record["interrupted"]:
        raise DynoError("interrupted", f"interrupted {kept}", exit_code=EXIT_INTERRUPTED)
    if record["watch"]["ended"] == "server_gone":
        raise DynoError(
            "server_gone", f"{record['target']['name']}: the server ended {kept}", exit_code=EXIT_RUN_FAILED
        )


def _default_directory(server: FoundServer) -> Path:
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    return DIRECTORY / f"{server.name}-{moment}"
