"""Entry point: hides secrets in the argument list first, then hands over to the commands."""

from __future__ import annotations

import sys


def main() -> None:
    """`dbdyno ...`: the exit code is the contract's (docs/commands/index.md)."""
    from dbdyno import _core

    # Before the slow imports: until here a password in a URL can be seen in the process list.
    _core.overwrite_arguments()
    from dbdyno.commands.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
