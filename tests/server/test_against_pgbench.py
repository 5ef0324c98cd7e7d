"""Scripts mean what they mean to pgbench: the same values, the same random numbers, the same SQL.

Every script of `tests/scripts` is run by pgbench, which shows what it sends (`--debug`) and, by a `debug()` added
behind each `\\set`, what it computes; and by the example program `evaluate_script` of the Rust core.
By their names, `capture_*` need a server's answers and `pipeline_*` cannot run in simple mode.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pgbench_scripts import DEFINITIONS, ROOT, SCRIPTS, accepted_modes

from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

Event = tuple[str, str]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as running:
        if not (running.binaries.directory / "pgbench").exists():
            pytest.skip(f"no pgbench beside {running.binaries.postgres}")
        yield running


def has_cargo() -> bool:
    """Whether this account has a toolchain: the one on the PATH may be that of another."""
    return bool(shutil.which("cargo")) and subprocess.run(["cargo", "--version"], capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def evaluator() -> Path:
    """The example program; built if this account can build it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = target / "debug" / "examples" / "evaluate_script"
    if has_cargo() and os.access(target if target.exists() else ROOT, os.W_OK):
        # Of the whole workspace: for one package alone, features differ, and with them all that it is built of.
        build = ["cargo", "build", "--quiet", "--workspace", "--example", "evaluate_script"]
        subprocess.run(build, cwd=ROOT, check=True)
    if not program.exists():
        pytest.skip(f"{program} is not built and this account cannot build it")
    return program


def with_values_shown(script: str) -> str:
    """The script with a `debug()` of each variable behind the `\\set` that gives it a value."""
    shown = []
    logical = ""
    for line in script.splitlines(keepends=True):
        logical += line
        shown.append(line)
        if logical.rstrip("\r\n").endswith("\\"):
            continue
        words = re.sub(r"\\\r?\n", " ", logical).strip()
        if match := re.match(r"\\\s*set\s+(\S+)", words, re.IGNORECASE):
            shown.append(f"\\set {match[1]} debug(:{match[1]})\n")
        logical = ""
    return "".join(shown)


def run_pgbench(server: EmbeddedServer, script: Path, *, mode: str, seed: int) -> str:
    """What pgbench writes to standard error in one transaction of `script`."""
    endpoint = server.endpoint
    definitions = [f"--define={name}={value}" for name, value in DEFINITIONS.items()]
    finished = subprocess.run(
        [
            str(server.binaries.directory / "pgbench"),
            *("--no-vacuum", "--debug", "--transactions=1", f"--protocol={mode}", f"--random-seed={seed}"),
            *definitions,
            *("--host", endpoint.host, "--port", str(endpoint.port), "--username", endpoint.user),
            *("--file", str(script), endpoint.dbname),
        ],
        capture_output=True,
        check=False,
    )
    written = finished.stderr.decode()  # not as text, which would make one newline of \r\n
    assert finished.returncode == 0, written
    return written


def pgbench_events(written: str) -> list[Event]:
    """The values and the SQL in pgbench's debugging output, in order. SQL runs on to the next line of its own kind."""
    own_line = re.compile(r"^(?:pgbench: |debug\(|pgbench \()", re.MULTILINE)
    starts = [match.start() for match in own_line.finditer(written)] + [len(written)]
    events = []
    for start, end in itertools.pairwise(starts):
        entry = written[start:end]
        if value := re.match(r"debug\(script=0,command=\d+\): (.*)", entry):
            events.append(("value", value[1]))
        elif sql := re.match(r"pgbench: client 0 sending (.*)", entry, re.DOTALL):
            events.append(("sql", sql[1].rstrip()))
    return events


def run_evaluator(evaluator: Path, script: Path, *, seed: int) -> subprocess.CompletedProcess[str]:
    definitions = [part for name, value in DEFINITIONS.items() for part in ("-D", f"{name}={value}")]
    return subprocess.run(
        [str(evaluator), "--random-seed", str(seed), "-D", f"random_seed={seed}", *definitions, str(script)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )


def our_events(written: str, *, mode: str) -> list[Event]:
    events = []
    for line in written.splitlines():
        if match := re.match(r"(simple|extended) (\".*)", line):
            if match[1] == mode:
                sql, _ = json.JSONDecoder().raw_decode(match[2])
                events.append(("sql", sql))
        else:
            events.append(("value", line.partition("=")[2]))
    return events


def seeds(script: Path) -> list[int]:
    return [0, 1, 42, 2**63 + 11, 2**64 - 1] if script.stem.startswith("random") else [42]


CASES = [
    pytest.param(script, mode, seed, id=f"{script.stem}-{mode}-{seed}")
    for script in SCRIPTS
    if script.stem != "debug_values"
    for mode in accepted_modes(script)
    if mode != "prepared"  # which sends what extended sends
    for seed in seeds(script)
]


@pytest.mark.parametrize(("script", "mode", "seed"), CASES)
def test_values_and_sql_are_those_of_pgbench(
    server: EmbeddedServer, evaluator: Path, tmp_path: Path, script: Path, mode: str, seed: int
) -> None:
    """Value by value and command by command, in the order of execution."""
    if script.stem.startswith("capture"):
        run_pgbench(server, script, mode=mode, seed=seed)
        return
    shown = tmp_path / script.name
    shown.write_bytes(with_values_shown(script.read_bytes().decode()).encode())
    theirs = pgbench_events(run_pgbench(server, shown, mode=mode, seed=seed))
    ours = our_events(run_evaluator(evaluator, script, seed=seed).stdout, mode=mode)
    assert ours == theirs


def test_debug_shows_what_pgbench_shows(server: EmbeddedServer, evaluator: Path) -> None:
    """`debug()` writes the same types and values to standard error, in the same order."""
    script = ROOT / "tests" / "scripts" / "debug_values.sql"
    theirs = [
        text for kind, text in pgbench_events(run_pgbench(server, script, mode="simple", seed=1)) if kind == "value"
    ]
    ours = re.findall(r"^debug\(.*?\): (.*)$", run_evaluator(evaluator, script, seed=1).stderr, re.MULTILINE)
    assert ours == theirs == ["int 2", "double 1.5", "int 2", "null", "boolean true"]


OPERANDS = [
    "0",
    "1",
    "2",
    "7",
    "-3",
    "63",
    "64",
    "1.5",
    "0.5",
    "-0.5",
    "1e3",
    ".25",
    "true",
    "false",
    "null",
    "4294967296",
    "9223372036854775807",
    ":i",
    ":d",
    ":b",
    ":n",
]
BINARY = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "=", "<>", "!=", "&", "|", "#", "<<", ">>", "and", "or"]
PREFIX = ("-", "+", "~", "not")
SUFFIX = ("is null", "is not null", "isnull", "notnull", "is true", "is not false")
FUNCTIONS = {"int": 1, "double": 1, "sqrt": 1, "ln": 1, "hash": 1, "pow": 2, "mod": 2, "random": 2, "least": 3}


def generated_expression(source: random.Random, depth: int) -> str:
    """Any sentence of the grammar, most of them without parentheses, so that precedence decides what it means."""

    def inner() -> str:
        return generated_expression(source, depth - 1)

    if depth == 0:
        return source.choice(OPERANDS)
    name = source.choice(list(FUNCTIONS))
    forms: list[Callable[[], str]] = [
        *[lambda: f"{inner()} {source.choice(BINARY)} {inner()}"] * 6,
        lambda: f"({inner()})",
        lambda: f"{source.choice(PREFIX)} {inner()}",
        lambda: f"{inner()} {source.choice(SUFFIX)}",
        lambda: f"{name}({', '.join(inner() for _ in range(FUNCTIONS[name]))})",
        lambda: f"case when {inner()} then {inner()} else {inner()} end",
    ]
    return source.choice(forms)()


def test_generated_expressions_have_the_values_of_pgbench(
    server: EmbeddedServer, evaluator: Path, tmp_path: Path
) -> None:
    """300 sentences of the grammar from a fixed seed, as far as they have a value; a third of them do."""
    source = random.Random(20)
    script = tmp_path / "generated.sql"
    head = "\\set i 42\n\\set d -2.75\n\\set b true\n\\set n null\n"
    valued = []
    for _ in range(300):
        line = f"\\set x {generated_expression(source, source.randint(1, 3))}\n"
        script.write_text(head + line)
        alone = subprocess.run([str(evaluator), str(script)], capture_output=True, check=False)
        if alone.returncode == 0:
            valued.append(line)
    assert len(valued) > 100
    script.write_text(with_values_shown(head + "".join(valued)))
    theirs = pgbench_events(run_pgbench(server, script, mode="simple", seed=3))
    script.write_text(head + "".join(valued))
    ours = our_events(run_evaluator(evaluator, script, seed=3).stdout, mode="simple")
    lines = (head + "".join(valued)).splitlines()
    assert list(zip(lines, ours, strict=True)) == list(zip(lines, theirs, strict=True))


# Each fails when it runs; the message is pgbench's.
FAILURES = [
    ("9223372036854775807 + 1", "bigint add out of range"),
    ("-9223372036854775808 - 1", "bigint sub out of range"),
    ("- -9223372036854775808", "bigint sub out of range"),
    ("4611686018427387904 * 2", "bigint mul out of range"),
    ("-9223372036854775808 / -1", "bigint div out of range"),
    ("1 / 0", "division by zero"),
    ("1 % 0", "division by zero"),
    ("1.5 % 0.4", "division by zero"),
    ("int(1e19)", "double to int overflow for 10000000000000000000.000000"),
    ("int(1e308 * 10)", "double to int overflow for Infinity"),
    ("int(sqrt(-1.0))", "double to int overflow for NaN"),
    ("int(9223372036854775807.0)", "double to int overflow for 9223372036854775808.000000"),
    ("1 + true", "cannot coerce boolean to int"),
    ("1.5 + true", "cannot coerce boolean to double"),
    ("true = true", "cannot coerce boolean to int"),
    ("not 1", "cannot coerce int to boolean"),
    ("1 and true", "cannot coerce int to boolean"),
    ("true or 1.5 and 2.5", None),
    ("false or 1.5", "cannot coerce double to boolean"),
    ("sqrt(true)", "cannot coerce boolean to double"),
    ("least(1, true)", "cannot coerce boolean to int"),
    ("least(1.0, true)", "cannot coerce boolean to double"),
    ("hash(true)", "cannot coerce boolean to int"),
    ("random(2, 1)", "empty range given to random"),
    ("random(-9223372036854775808, 9223372036854775807)", "random range is too large"),
    ("random(0, 9223372036854775807)", "random range is too large"),
    ("random_gaussian(1, 10, 1.9)", "gaussian parameter must be at least 2.000000 (not 1.900000)"),
    ("random_exponential(1, 10, 0)", "exponential parameter must be greater than zero (not 0.000000)"),
    ("random_zipfian(1, 10, 1.0)", "zipfian parameter must be in range [1.001, 1000] (not 1.000000)"),
    ("random_zipfian(1, 10, 1000.5)", "zipfian parameter must be in range [1.001, 1000] (not 1000.500000)"),
    ("permute(1, 0)", "permute size parameter must be greater than zero"),
    (":nothing + 1", 'undefined variable "nothing"'),
    (":text_word + 1", 'malformed variable "text_word" value: "word"'),
]


@pytest.mark.parametrize(("expression", "message"), FAILURES)
def test_failures_are_those_of_pgbench(
    server: EmbeddedServer, evaluator: Path, tmp_path: Path, expression: str, message: str | None
) -> None:
    """What has no value for pgbench has none here, for the same reason; None: it has one for both."""
    script = tmp_path / "failure.sql"
    script.write_text(f"\\set x {expression}\n")
    endpoint = server.endpoint
    theirs = subprocess.run(
        [
            str(server.binaries.directory / "pgbench"),
            *("--no-vacuum", "--transactions=1", "--define=text_word=word", "--file", str(script)),
            *("--host", endpoint.host, "--port", str(endpoint.port), "--username", endpoint.user, endpoint.dbname),
        ],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    ours = subprocess.run(
        [str(evaluator), "-D", "text_word=word", str(script)], capture_output=True, encoding="utf-8", check=False
    )
    if message is None:
        assert (theirs.returncode, ours.returncode) == (0, 0)
        return
    assert theirs.returncode == 2
    assert f"error: {message}\n" in theirs.stderr
    assert (ours.returncode, ours.stderr) == (2, f"{script}:1: {message}\n")
