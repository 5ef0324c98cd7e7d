"""What one look at all of a server's backends costs, by route, for 1 to 100 slots: CPU microseconds of the reader.

The server is the embedded one with its shared memory as a System V segment, so that every route can be taken (the
route `mapped` by root only).

    make bench, or: python benches/sweep_cost.py
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from dbdyno.targets.embedded import EmbeddedServer

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Prints a row for each route."""
    build = ["cargo", "build", "--quiet", "--release", "--package", "dbdyno-core", "--example", "sweep_cost"]
    subprocess.run(build, check=True, cwd=ROOT)
    run = ["cargo", "run", "--quiet", "--release", "--package", "dbdyno-core", "--example", "sweep_cost", "--"]
    with EmbeddedServer(settings={"shared_memory_type": "sysv", "max_connections": "150"}) as server:
        subprocess.run([*run, str(server.postmaster_pid)], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
