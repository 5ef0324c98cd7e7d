"""The shipped experiments: one directory each, with a commented TOML file, its SQL and a page of words."""

from __future__ import annotations

from pathlib import Path

from dbdyno.errors import DynoError

_HERE = Path(__file__).parent
FILE_NAME = "experiment.toml"


def shipped() -> list[str]:
    """The names of all shipped experiments, in alphabetical order."""
    return sorted(path.parent.name for path in _HERE.glob(f"*/{FILE_NAME}"))


def find(name: str) -> Path:
    """The experiment file behind a shipped name or a path; raises `DynoError` if there is none."""
    if name in shipped():
        return _HERE / name / FILE_NAME
    path = Path(name)
    if path.is_dir() and (path / FILE_NAME).exists():
        return path / FILE_NAME
    if path.exists() and path.is_file():
        return path
    known = ", ".join(shipped())
    raise DynoError("no_experiment", f"EXPERIMENT {name!r}: no such file or shipped experiment; shipped are {known}")


def files(path: Path) -> dict[str, str]:
    """The texts of an experiment: its page of words first, then the file, then what it refers to."""
    from dbdyno.design.experiment import load_experiment

    words = path.parent / "README.md"
    paths = [*([words] if words.exists() else []), *load_experiment(path).files]
    return {str(file.relative_to(path.parent)): file.read_text(encoding="utf-8") for file in paths}


def copy_files(texts: dict[str, str], directory: Path) -> None:
    """Write `texts` into a directory that must be new or empty."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise DynoError("copy_not_empty", f"--copy-to {directory}: is not empty; name a new directory")
        for name, text in texts.items():
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DynoError("copy_unwritable", f"--copy-to {directory}: cannot be written: {error.strerror}") from None
