"""The arrows of docs/architecture.md, held: what may import what."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dbdyno

PACKAGE = Path(dbdyno.__file__).parent

# Room -> rooms it must not know.
FORBIDDEN = {
    "analysis": {"runner", "targets", "store", "report", "commands", "design", "probes", "workloads", "experiments"},
    "models": {"runner", "targets", "store", "report", "commands", "design", "probes", "workloads", "experiments"},
    "report": {"runner", "targets", "store", "commands", "design", "probes", "workloads", "experiments", "engine"},
    "design": {"runner", "targets", "store", "report", "commands", "analysis", "probes", "experiments"},
    "targets": {"runner", "store", "report", "commands", "analysis", "design", "experiments"},
    "store": {"runner", "targets", "report", "commands", "analysis", "design", "probes", "experiments", "engine"},
    "probes": {"runner", "store", "report", "commands", "analysis", "design", "experiments"},
    "runner": {"report", "commands", "analysis", "experiments"},
}

# Of the analysis, what a report may look at.
FINDINGS = {"dbdyno.analysis.findings", "dbdyno.analysis.server_profile.findings"}


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
    """Formats, never computes: of `analysis` a report may import nothing but findings, of a run or of a profile."""
    wrong = []
    for path in (PACKAGE / "report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dbdyno.analysis"):
                modules = (
                    {node.module}
                    if node.module != "dbdyno.analysis"
                    else {f"dbdyno.analysis.{alias.name}" for alias in node.names}
                )
                wrong += [(path.name, module) for module in modules if module not in FINDINGS]

    assert wrong == []


def test_only_one_crate_knows_python() -> None:
    """pyo3 stands in dbdyno-py and nowhere else."""
    crates = Path(__file__).parent.parent / "crates"
    if not crates.is_dir():
        pytest.skip("no source tree beside the tests")

    users = {path.parent.name for path in crates.glob("*/Cargo.toml") if "pyo3" in path.read_text(encoding="utf-8")}

    assert users == {"dbdyno-py"}
