"""Bad input, as one table: exit code 2 (1 where a run had begun), one line that names what to mend, no traceback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from old_server import OldServer

from dbdyno.commands.app import run

GOOD = """
question = "Is it faster?"
baseline = { speed = "slow" }
[workload]
schema = "none"
script = "a.sql"
[design]
blocks = 2
window = "50 ms"
warm_up = "10 ms"
[factors.speed]
slow = { set = { work_mem = "1MB" } }
fast = { set = { work_mem = "2MB" } }
"""


@dataclass(frozen=True)
class Case:
    """`change` edits the good file; `files` are written beside it; `message` must stand in the one line."""

    name: str
    message: str
    change: tuple[str, str] = ("", "")
    files: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ("run", "{file}")
    exit_code: int = 2
    prepare: Callable[[Path], None] | None = None


def replaced(old: str, new: str) -> tuple[str, str]:
    return (old, new)


FILE_CASES = [
    Case("not toml", "is not valid TOML", ("question =", "question")),
    Case(
        "unknown key at the top",
        "marginn: unknown key; did you mean margin?",
        ("[workload]", 'marginn = "3 %"\n[workload]'),
    ),
    Case(
        "unknown key in a table", "design.block: unknown key; did you mean design.blocks?", ("blocks = 2", "block = 2")
    ),
    Case(
        "unknown key in a level",
        "factors.speed.slow.sett: unknown key; did you mean",
        ("slow = { set", "slow = { sett"),
    ),
    Case("wrong type", "design.blocks: 'two': input should be a valid integer", ("blocks = 2", 'blocks = "two"')),
    Case(
        "boolean for a number", "design.blocks: True: input should be a valid integer", ("blocks = 2", "blocks = true")
    ),
    Case("zero blocks", "design.blocks: 0: input should be greater than or equal to 1", ("blocks = 2", "blocks = 0")),
    Case(
        "duration without a unit", "design.window: 50 is not a duration; write a number and a unit", ('"50 ms"', "50")
    ),
    Case("duration with a strange unit", "design.window: '50 m' is not a duration", ('"50 ms"', '"50 m"')),
    Case("window too short", "design.window: '1 ms' is too short to measure", ('"50 ms"', '"1 ms"')),
    Case("margin without percent", "margin: 0.03 is not a percentage", ("[workload]", "margin = 0.03\n[workload]")),
    Case(
        "unknown metric",
        "metric: 'speed' is not known here; use one of",
        ("[workload]", 'metric = "speed"\n[workload]'),
    ),
    Case(
        "unknown reset step",
        "design.reset.0: 'reboot' is not known here",
        ("blocks = 2", 'blocks = 2\nreset = ["reboot"]'),
    ),
    Case("missing question", "question: is missing", ('question = "Is it faster?"', "")),
    Case("empty question", "question: ''", ('"Is it faster?"', '""')),
    Case("missing baseline", "baseline: is missing", ('baseline = { speed = "slow" }', "")),
    Case("empty baseline", "baseline: is empty", ('{ speed = "slow" }', "{}")),
    Case(
        "baseline of an unknown factor",
        "baseline.colour: no such factor; factors are speed",
        ("{ speed =", "{ colour ="),
    ),
    Case(
        "baseline of an unknown level",
        "baseline.speed: no level 'slowest'; levels are slow, fast",
        ('speed = "slow"', 'speed = "slowest"'),
    ),
    Case("no factors", "factors: is missing", ("[factors.speed]", "[other]")),
    Case("empty factor", "factors.more: has no level", ("[factors.speed]", "[factors.more]\n[factors.speed]")),
    Case("slash in a level", "level 'a/b' is empty or has a '/'", ("fast =", '"a/b" =')),
    Case("duplicate level", "is not valid TOML", ("fast =", "slow =")),
    Case(
        "duplicate arm",
        "arms 'slow' and 'fast' do the same; change or drop one",
        ('work_mem = "2MB"', 'work_mem = "1MB"'),
    ),
    Case("level without a name", "level '' is empty or has a '/'", ("fast =", '"" =')),
    Case(
        "two factors set one key",
        "factors more and speed both have set.work_mem",
        ("[factors.speed]", '[factors.more]\na = { set = { work_mem = "3MB" } }\nb = {}\n[factors.speed]'),
    ),
    Case(
        "level against target",
        "settings.work_mem: is set by target.settings and by a level",
        (
            'fast = { set = { work_mem = "2MB" } }',
            'fast = { settings = { work_mem = "2MB" } }\n[target]\nsettings = { work_mem = "1MB" }',
        ),
    ),
    Case("missing script key", "workload.script: is missing", ('script = "a.sql"', "")),
    Case("missing script file", "script 'b.sql': cannot be read: No such file", ('"a.sql"', '"b.sql"')),
    Case("bad weight", "'x' is no weight", ('"a.sql"', '"a.sql@x"')),
    Case("unknown built-in", "builtin:fast: no such script", ('"a.sql"', '"builtin:fast"')),
    Case("unknown schema", "workload.schema: no schema 'tpcc'", ('"none"', '"tpcc"')),
    Case("missing schema file", "workload.schema 's.sql': cannot be read", ('"none"', '"s.sql"')),
    Case(
        "script: unknown meta-command",
        "a.sql:1:2: unknown meta-command \\sett; did you mean set?",
        files=(("a.sql", "\\sett x 1\nSELECT 1;"),),
    ),
    Case(
        "script: shell",
        "a.sql:1:2: \\shell is refused: a shell started inside the measured loop",
        files=(("a.sql", "\\shell date\nSELECT 1;"),),
    ),
    Case("script: expression", "a.sql:1:", files=(("a.sql", "\\set x 1 +\nSELECT 1;"),)),
    Case("script: unbalanced if", "a.sql:1:", files=(("a.sql", "\\if true\nSELECT 1;"),)),
    Case("script: empty", "a.sql", files=(("a.sql", "-- nothing\n"),)),
    Case(
        "script: not text",
        "is not UTF-8 text",
        prepare=lambda directory: (directory / "a.sql").write_bytes(b"\xff\xfe") and None,
    ),
    Case("zero clients", "workload.clients: 0", ('script = "a.sql"', 'script = "a.sql"\nclients = 0')),
    Case(
        "open and closed loop",
        "has both arrival (an open loop) and think_time",
        ('script = "a.sql"', 'script = "a.sql"\nthink_time = "1 ms"\narrival = { poisson_per_s = 10 }'),
    ),
    Case(
        "no arrival process",
        "needs either poisson_per_s or constant_per_s",
        ('script = "a.sql"', 'script = "a.sql"\narrival = { to_per_s = 10 }'),
    ),
    Case(
        "schema change without undo",
        "changes the schema; add an undo",
        ('fast = { set = { work_mem = "2MB" } }', 'fast = { sql = "CREATE TABLE x (i int)" }'),
    ),
    Case(
        "unknown measured figure",
        "factors.speed.fast.set.work_mem.measured: 'luck' is not known here",
        ('fast = { set = { work_mem = "2MB" } }', 'fast = { set = { work_mem = { measured = "luck" } } }'),
    ),
]

COMMAND_CASES = [
    Case(
        "no such experiment",
        "EXPERIMENT 'nonsense': no such file or shipped experiment; shipped are commit-batch",
        arguments=("run", "nonsense"),
    ),
    Case("no experiment", "EXPERIMENT: is missing", arguments=("run",)),
    Case("unknown command", "No such command", arguments=("measure",)),
    Case("unknown flag", "No such option: --fast", arguments=("run", "{file}", "--fast")),
    Case("bad number", "--blocks", arguments=("run", "{file}", "--blocks", "x")),
    Case(
        "sampling budget of nothing",
        "--sampling-budget 0: must be above 0 and at most 0.5",
        arguments=("run", "{file}", "--sampling-budget", "0"),
    ),
    Case(
        "sampling budget of everything",
        "--sampling-budget 0.6: must be above 0 and at most 0.5",
        arguments=("run", "{file}", "--sampling-budget", "0.6"),
    ),
    Case("resume and experiment", "is kept in the run directory", arguments=("run", "{file}", "--resume", "{dir}")),
    Case("resume nothing", "no such run directory", arguments=("run", "--resume", "{dir}/none")),
    Case("report nothing", "no such directory", arguments=("report", "{dir}/none")),
    Case("report a strange directory", "holds no journal.jsonl", arguments=("report", "{dir}")),
    Case("report twice", "keep one", arguments=("report", "{dir}", "--json", "--html")),
    Case("band backwards", "--band 100-99: is no band", arguments=("report", "{dir}", "--band", "100-99")),
    Case("band beyond all", "--band 99-101: is no band", arguments=("report", "{dir}", "--band", "99-101")),
    Case("band of nothing", "--band 50-50: is no band", arguments=("report", "{dir}", "--band", "50-50")),
    Case("band in words", "--band p99: is no band", arguments=("report", "{dir}", "--band", "p99")),
    Case("out not empty", "is not empty; name a new directory", arguments=("run", "{file}", "--out", "{dir}")),
    Case("out below a file", "cannot be written", arguments=("run", "{file}", "--out", "{file}/x")),
    Case("out on a read-only file system", "cannot be written", arguments=("run", "{file}", "--out", "/proc/dbdyno")),
    Case("server-bin without a server", "--server-bin", arguments=("run", "{file}", "--server-bin", "{dir}")),
    Case("data-dir that is a file", "--data-dir", arguments=("run", "{file}", "--data-dir", "{file}")),
    Case(
        "not a URL", "target: mysql:// is not supported", arguments=("run", "{file}", "--target", "mysql://localhost/x")
    ),
    Case(
        "bad URL port",
        "target: port: not a port number",
        arguments=("run", "{file}", "--target", "postgres://localhost:port/x"),
    ),
    Case(
        "unreachable host",
        "Connection refused; check host and port",
        arguments=("run", "{file}", "--target", "postgres://127.0.0.1:1/x", "--allow-write"),
    ),
    Case(
        "unresolvable host",
        "failed to resolve host 'no-such-host.invalid'",
        arguments=("run", "{file}", "--target", "postgres://no-such-host.invalid/x", "--allow-write"),
    ),
]

PROFILE_CASES = [
    Case("profile: nothing", "Missing argument 'TARGET'", arguments=("profile",)),
    Case("profile: no such process", "TARGET 4194305: no such process", arguments=("profile", "4194305")),
    Case("profile: not a server", "TARGET 1: is ", arguments=("profile", "1")),
    Case("profile: no such directory", "none: no such directory; name", arguments=("profile", "{dir}/none")),
    Case("profile: a file", "x.toml: no such directory; name", arguments=("profile", "{file}")),
    Case("profile: not a data directory", "no PG_VERSION", arguments=("profile", "{dir}")),
    Case("profile: keywords", "TARGET: name a postgres:// URL", arguments=("profile", "host=db user=app")),
    Case("profile: not a URL", "target: mysql:// is not supported", arguments=("profile", "mysql://localhost/x")),
    Case("profile: unreachable", "Connection refused; check", arguments=("profile", "postgres://127.0.0.1:1/x")),
    Case("profile: unresolvable", "failed to resolve host", arguments=("profile", "postgres://no-such-host.invalid/x")),
    Case("profile: no socket", "No such file or directory; check", arguments=("profile", "postgres:///x?host=/none")),
    Case(
        "profile: unknown route",
        "--route fast: not a route; use one of auto",
        arguments=("profile", "1", "--route", "fast"),
    ),
    Case("profile: no time", "'--seconds'", arguments=("profile", "1", "--seconds", "0")),
    Case("profile: a budget in per cent", "'--sampling-budget'", arguments=("profile", "1", "--sampling-budget", "2")),
    Case("profile: live without a terminal", "--live: needs a terminal", arguments=("profile", "1", "--live")),
    Case(
        "profile: as-url beside a URL",
        "--as-url: is for a TARGET that is a process or a directory",
        arguments=("profile", "postgres://127.0.0.1:1/x", "--as-url", "postgres://127.0.0.1:1/x"),
    ),
]

JOURNAL_CASES = [
    ("empty journal", b"", "has no whole first record"),
    ("torn first record", b'{"seq": 0, "kind": "run", "body": {', "has no whole first record"),
    ("not json", b"hello\nworld\n", "line 1 is damaged"),
    ("no checksum", b'{"seq": 0, "kind": "run", "body": {}}\n{"seq": 1}\n', "line 1 is damaged"),
]


Done = subprocess.CompletedProcess[str]
CommandLine = Callable[..., Done]


@pytest.fixture
def dbdyno(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in the empty directory; in this process, because a hundred new ones take minutes."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Done:
        capfd.readouterr()
        exit_code = run(list(arguments))
        return subprocess.CompletedProcess(arguments, exit_code, *capfd.readouterr())

    return command


def assert_one_line(done: Done, message: str, exit_code: int) -> None:
    assert message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert [line.startswith("dbdyno: ") for line in done.stderr.splitlines()][-1:] == [True]
    assert sum(line.startswith("dbdyno: ") for line in done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert done.returncode == exit_code


@pytest.mark.parametrize("case", [*FILE_CASES, *COMMAND_CASES], ids=lambda case: case.name)
def test_bad_input_is_one_line(case: Case, tmp_path: Path, dbdyno: CommandLine) -> None:
    """Names the key or flag, the value seen and the fix; nothing is left behind."""
    file = tmp_path / "x.toml"
    old, new = case.change
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1) if old else GOOD)
    (tmp_path / "a.sql").write_text("SELECT 1;\n")
    for name, text in case.files:
        (tmp_path / name).write_text(text)
    if case.prepare:
        case.prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    done = dbdyno(*(part.format(file=file, dir=tmp_path) for part in case.arguments))

    assert_one_line(done, case.message, case.exit_code)
    assert [path for path in sorted(tmp_path.rglob("*")) if path not in before and path.is_file()] == []


@pytest.mark.parametrize("case", PROFILE_CASES, ids=lambda case: case.name)
def test_a_target_that_cannot_be_profiled_is_one_line(case: Case, tmp_path: Path, dbdyno: CommandLine) -> None:
    """No directory is made."""
    file = tmp_path / "x.toml"
    file.touch()

    done = dbdyno(*(part.format(file=file, dir=tmp_path) for part in case.arguments))

    assert_one_line(done, case.message, 2)
    assert list(tmp_path.iterdir()) == [file]


def test_a_pooler_is_not_profiled(dbdyno: CommandLine) -> None:
    """What says a pid at the log-in and does not know it later: a session setting there would be somebody else's."""
    with OldServer("18.6") as server:
        target = f"postgres://nobody@127.0.0.1:{server.port}/x"
        done = dbdyno("profile", target)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"dbdyno: target {target}: answers as a connection pooler does; name PostgreSQL's own host and port\n"
    )


@pytest.mark.parametrize(("name", "content", "message"), JOURNAL_CASES, ids=lambda value: str(value)[:20])
def test_a_corrupt_journal_is_one_line(
    name: str, content: bytes, message: str, tmp_path: Path, dbdyno: CommandLine
) -> None:
    """And it is not touched."""
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / "journal.jsonl").write_bytes(content)

    for arguments in (("report", str(directory)), ("run", "--resume", str(directory))):
        assert_one_line(dbdyno(*arguments), message, 2)

    assert (directory / "journal.jsonl").read_bytes() == content


def test_a_program_of_its_own_says_the_same(tmp_path: Path) -> None:
    """The interpreter's own way to the command line, its exit code and its two outputs."""
    done = subprocess.run(
        [sys.executable, "-m", "dbdyno", "report", "nothing"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert_one_line(done, "nothing: ", 2)


def test_an_unsupported_server_version_is_one_line(tmp_path: Path, dbdyno: CommandLine) -> None:
    """Which it is, and which is the oldest that is supported."""
    file = tmp_path / "x.toml"
    file.write_text(GOOD)
    (tmp_path / "a.sql").write_text("SELECT 1;\n")
    with OldServer("9.6.24") as server:
        target = f"postgres://nobody@127.0.0.1:{server.port}/x"

        done = dbdyno("run", str(file), "--target", target)

    assert_one_line(done, f"dbdyno: target {target}: PostgreSQL 9.6.24; 14 is the oldest that is supported", 2)
