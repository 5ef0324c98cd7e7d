"""Every command, flag, key and experiment is documented, and what the documents name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from dbdyno import experiments
from dbdyno.commands.app import app
from dbdyno.design import document
from dbdyno.design.asked import Asked
from dbdyno.design.experiment import load_experiment

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
COMMANDS = {command.name: command for command in typer.main.get_command(app).commands.values()}  # type: ignore[attr-defined]


def test_every_command_has_its_page_and_every_flag_stands_in_it() -> None:
    """docs/commands/NAME.md."""
    missing = []
    for name, command in COMMANDS.items():
        page = (DOCS / "commands" / f"{name}.md").read_text()
        flags = [flag for parameter in command.params for flag in parameter.opts if flag.startswith("--")]
        missing += [f"{name} {flag}" for flag in flags if flag != "--help" and f"`{flag}" not in page]

    assert missing == []


def test_every_command_has_help() -> None:
    """A line that says what it does, and one for each flag."""
    for command in COMMANDS.values():
        assert command.help
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{command.name} {parameter.name}"


def test_every_key_of_an_experiment_file_is_described() -> None:
    """docs/experiment-file.md."""
    page = (DOCS / "experiment-file.md").read_text()
    tables = (document.Document, document.Workload, document.Level, document.Design, document.Quick, document.Target)
    keys = {field.alias or name for table in tables for name, field in table.model_fields.items()}

    assert sorted(key for key in keys if f"`{key}`" not in page and f"[{key}" not in page) == []


@pytest.mark.parametrize("name", experiments.shipped())
@pytest.mark.parametrize("quick", [False, True])
def test_every_shipped_experiment_loads_and_has_its_page_of_words(name: str, quick: bool) -> None:
    """Question, comparison, what it shows, limits; its quick form has the blocks that a verdict needs."""
    path = experiments.find(name)
    experiment = load_experiment(path, Asked(quick=quick))
    words = (path.parent / "README.md").read_text()

    assert experiment.blocks >= 10
    for heading in ("## Question", "## What is compared", "## What it shows", "## Limits"):
        assert heading in words
    for arm in experiment.arms:
        for level in arm.levels.values():
            assert f"`{level}`" in words or level.replace("-", " ").split()[0] in words


def test_links_between_documents_lead_somewhere() -> None:
    """Relative links of the README, the change log and docs."""
    broken = []
    for page in (ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")

    assert broken == []


def test_every_dependency_has_its_reason() -> None:
    """docs/dependencies.md names what Cargo.toml and pyproject.toml ask for."""
    page = (DOCS / "dependencies.md").read_text()
    asked = set(re.findall(r'^  "([a-z0-9-]+)(?:\[[a-z]+\])?>=', (ROOT / "pyproject.toml").read_text(), re.MULTILINE))
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        section = ""
        for line in manifest.read_text().splitlines():
            if line.startswith("["):
                section = line
            elif "dependencies" in section and (match := re.match(r"([a-z0-9_-]+) =", line)):
                asked.add(match[1])

    assert sorted(name for name in asked - {"dbdyno-core"} if f"`{name}`" not in page) == []
