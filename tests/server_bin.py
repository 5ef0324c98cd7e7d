"""Prints the directory of server binaries that the Rust tests may start: reachable for an unprivileged user."""

from __future__ import annotations

import os

from dbdyno.targets.account import server_account
from dbdyno.targets.binaries import find_binaries, reachable_binaries
from dbdyno.targets.paths import cache_directory


def main() -> None:
    """As `EmbeddedServer` finds them."""
    account = server_account()
    binaries = reachable_binaries(find_binaries(None), cache_directory(os.environ, account), account)
    print(binaries.postgres.parent)


if __name__ == "__main__":
    main()
