"""The arrows of docs/architecture.md, held: what may import what."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dbdyno

PACKAGE = Path(dbdyno.__file__).parent

# Rooms in which something is measured, or asked of a database.
MEASURING = {"runner", "targets", "probes", "attach", "selftest", "calibration", "ndv", "peers"}
DESCRIBING = {"design", "workloads", "experiments"}

# Room -> rooms it must not know.
FORBIDDEN = {
    "analysis": {*MEASURING, *DESCRIBING, "store", "report", "commands"},
    "models": {*MEASURING, *DESCRIBING, "store", "report", "commands"},
    "report": {*MEASURING, *DESCRIBING, "store", "commands", "engine"},
    "design": {*MEASURING, "store", "report", "commands", "analysis", "experiments"},
    "targets": {
        "runner",
        "attach",
        "selftest",
        "ndv",
        "peers",
        "store",
        "report",
        "commands",
        "analysis",
        "design",
        "experiments",
    },
    "store": {*MEASURING, "report", "commands", "analysis", "design", "experiments", "engine"},
    "probes": {
        "runner",
        "attach",
        "selftest",
        "peers",
        "store",
        "report",
        "commands",
        "analysis",
        "design",
        "experiments",
    },
    "runner": {"attach", "selftest", "ndv", "peers", "report", "commands", "analysis", "experiments"},
    "attach": {*DESCRIBING, "runner", "selftest", "ndv", "peers", "report", "commands", "analysis"},
    "calibration": {*DESCRIBING, "runner", "attach", "selftest", "store", "report", "commands", "analysis"},
    "ndv": {*DESCRIBING, *MEASURING, "store", "report", "commands", "analysis"} - {"ndv", "targets"},
    "peers": {*DESCRIBING, *MEASURING, "store", "report", "commands", "analysis"}
    - {"peers", "ndv", "probes", "targets"},
    "selftest": {*DESCRIBING, "runner", "attach", "store", "report", "commands"},
}


def is_shown(module: str) -> bool:
    """Whether a report may look at a room of the analysis: findings of whatever kind, and the state of a live view."""
    return "findings" in module.split(".") or module == "dbdyno.analysis.live_view"


def imported_rooms(path: Path) -> set[str]:
    """The rooms of dbdyno that a file imports, wherever in it the import stands."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "dbdyno" else [node.module]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("dbdyno.")}
    return rooms


@pytest.mark.parametrize("room", FORBIDDEN)
def test_arrows_go_one_way(room: str) -> None:
    """No file of a room imports what the map forbids it."""
    found = {
        str(path.relative_to(PACKAGE)): sorted(imported_rooms(path) & FORBIDDEN[room])
        for path in sorted((PACKAGE / room).rglob("*.py"))
    }

    assert {path: rooms for path, rooms in found.items() if rooms} == {}


def test_report_knows_only_the_findings_of_the_analysis() -> None:
    """Formats, never computes: of `analysis` a report may import nothing but findings, of whichever room."""
    wrong = []
    for path in (PACKAGE / "report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dbdyno.analysis"):
                modules = (
                    {node.module}
                    if node.module != "dbdyno.analysis"
                    else {f"dbdyno.analysis.{alias.name}" for alias in node.names}
                )
                wrong += [(path.name, module) for module in modules if not is_shown(module)]

    assert wrong == []


def test_only_one_crate_knows_python() -> None:
    """pyo3 stands in dbdyno-py and nowhere else."""
    crates = Path(__file__).parent.parent / "crates"
    if not crates.is_dir():
        pytest.skip("no source tree beside the tests")

    users = {path.parent.name for path in crates.glob("*/Cargo.toml") if "pyo3" in path.read_text(encoding="utf-8")}

    assert users == {"dbdyno-py"}
