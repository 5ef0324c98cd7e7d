"""An initialised cluster, made once for each set of binaries and options, and copied at every start.

initdb takes 0.3 s on a fast disk and several seconds on a slow one; a copy (by reference where the file system can)
takes 0.05 s.
The superuser is `dbdyno` and has no password: the only way in is a Unix socket in a directory of mode 0700.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.targets.account import Account
from dbdyno.targets.binaries import Binaries
from dbdyno.targets.cache import cached
from dbdyno.targets.process import run_quietly

SUPERUSER = "dbdyno"
DATABASE = "dbdyno"
SETTINGS_FILE = "dbdyno.conf"

_INITDB_OPTIONS = (
    f"--username={SUPERUSER}",
    "--auth-local=trust",
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
)
# Layout of what initdb and this file make together; a change of either makes old templates another key.
_RECIPE = 1


def template_cluster(binaries: Binaries, cache: Path, account: Account, *, data_checksums: bool) -> Path:
    """The template for these binaries and options; made now if the cache has none."""
    options = (*_INITDB_OPTIONS, *(["--data-checksums"] if data_checksums else _no_checksums(binaries)))
    facts = f"{_RECIPE} {account.uid} {' '.join(options)}"
    key = f"{binaries.identity()}-{hashlib.sha256(facts.encode()).hexdigest()[:8]}"
    return cached(cache / "templates" / key, lambda draft: _make(binaries, options, draft, account))


def _no_checksums(binaries: Binaries) -> Sequence[str]:
    return ["--no-data-checksums"] if binaries.version_number >= 180000 else []  # 18 turned the default to on


def _make(binaries: Binaries, options: Sequence[str], draft: Path, account: Account) -> None:
    account.own(draft)
    _checked([str(binaries.initdb), "-D", str(draft), "--no-sync", *options], account)
    single_user = [str(binaries.postgres), "--single", "-F", "-D", str(draft), "template1"]
    _checked(single_user, account, stdin=f"CREATE DATABASE {DATABASE};\n")
    with (draft / "postgresql.conf").open("a") as configuration:
        configuration.write(f"\ninclude '{SETTINGS_FILE}'\n")
    _checked([str(binaries.initdb), "-D", str(draft), "--sync-only"], account)


def copy_template(template: Path, cluster: Path, account: Account) -> None:
    """Copy a template to a fresh PGDATA, as the server's account, by reference where the file system can."""
    _checked(["cp", "-a", "--reflink=auto", str(template), str(cluster)], account)


def _checked(command: list[str], account: Account, *, stdin: str = "") -> None:
    done = run_quietly(command, account, stdin=stdin)
    output = (done.stderr + done.stdout).strip()
    # A single-user server reports a failed statement and still exits with 0.
    if done.returncode != 0 or "ERROR:" in output:
        lines = [line for line in output.splitlines() if "rror" in line or "FATAL" in line] or output.splitlines()
        cause = lines[0].strip() if lines else f"exit status {done.returncode}"
        raise DynoError("server_setup_failed", f"{Path(command[0]).name}: {cause}", exit_code=EXIT_RUN_FAILED)
