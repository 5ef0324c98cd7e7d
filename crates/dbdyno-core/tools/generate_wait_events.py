"""Print the wait-event table of one PostgreSQL major version as Rust.

    psql -XAtc "select type || ':' || name from pg_wait_events" | \
        python generate_wait_events.py "$(pg_config --includedir-server)" > ../src/probe/wait_events_18.rs

The ids come from the installed server headers (the order of enumerators), the spelling from the
view; each enumerator must match exactly one name of the view and the other way round, so a header
that this script misreads stops it. For versions 17 and later (older servers have no such view).
"""

import re
import sys
from pathlib import Path

LWLOCK, LOCK, EXTENSION = 0x01, 0x03, 0x07

# Enumerators whose spelled name is not the enumerator without its underscores.
SPELLED_OTHERWISE = {
    (LWLOCK, "launcherdsa"): "logicalreplauncherdsa",
    (LWLOCK, "launcherhash"): "logicalreplauncherhash",
    (LOCK, "relationextend"): "extend",
    (LOCK, "databasefrozenids"): "frozenid",
    (LOCK, "transaction"): "transactionid",
    (LOCK, "virtualtransaction"): "virtualxid",
    (LOCK, "speculativetoken"): "spectoken",
}

CLASS_MACRO = {
    "LWLOCK": "LWLock", "LOCK": "Lock", "BUFFERPIN": "BufferPin", "ACTIVITY": "Activity",
    "CLIENT": "Client", "EXTENSION": "Extension", "IPC": "IPC", "TIMEOUT": "Timeout", "IO": "IO",
}  # fmt: skip


def without_comments(path: Path) -> str:
    """The header's text, comments removed."""
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


def enumerators(text: str, enum_pattern: str, prefix: str) -> list[str]:
    """The enumerators of the enum whose body matches, lower case, without prefix and underscores."""
    body = re.search(enum_pattern, text, re.S)
    if body is None:
        sys.exit(f"no enum matches {enum_pattern!r}")
    return [name.replace("_", "").lower() for name in re.findall(rf"\b{prefix}(\w+)", body[1])]


def class_bytes(server: Path) -> dict[str, int]:
    """Class name as the view spells it -> its byte in a wait_event_info."""
    defines = re.findall(r"#define PG_WAIT_(\w+)\s+0x(\w\w)000000U", (server / "utils/wait_classes.h").read_text())
    return {CLASS_MACRO[macro]: int(byte, 16) for macro, byte in defines if macro in CLASS_MACRO}


def lwlocks(server: Path) -> list[str | None]:
    """Tranche ids: the individual locks at their own numbers, then the built-in tranches."""
    individual = re.findall(
        r"#define (\w+)Lock\s+\(&MainLWLockArray\[(\d+)\]", (server / "storage/lwlocknames.h").read_text()
    )
    names: list[str | None] = [None] * (max(int(number) for _, number in individual) + 1)
    for name, number in individual:
        names[int(number)] = name.lower()
    text = without_comments(server / "storage/lwlock.h")
    tranches = enumerators(text, r"enum BuiltinTrancheIds\s*\{(.*?)\}", "LWTRANCHE_")
    return names + [name for name in tranches if name != "firstuserdefined"]


def headers_table(server: Path) -> dict[int, list[str | None]]:
    """Class byte -> normalised names in the order of their ids."""
    table: dict[int, list[str | None]] = {LWLOCK: list(lwlocks(server)), EXTENSION: ["extension"]}
    locks = enumerators(without_comments(server / "storage/lock.h"), r"enum LockTagType\s*\{(.*?)\}", "LOCKTAG_")
    table[LOCK] = list(locks)
    bytes_of = {macro: byte for macro, byte in class_bytes(server).items()}
    events = without_comments(server / "utils/wait_event_types.h")
    for macro, body in re.findall(r"\{\s*(?:WAIT_EVENT_\w+ = PG_WAIT_(\w+))(.*?)\}", events, re.S):
        first = re.search(rf"WAIT_EVENT_(\w+) = PG_WAIT_{macro}\b", events)
        assert first is not None
        names = [first[1], *re.findall(r"\bWAIT_EVENT_(\w+)", body)]
        table[bytes_of[CLASS_MACRO[macro]]] = [name.replace("_", "").lower() for name in names]
    return table


def spelled_table(server: Path, view: list[str]) -> dict[int, list[str | None]]:
    """Class byte -> names as the view spells them, in the order of their ids."""
    byte_of = class_bytes(server)
    spelled = {}
    for line in view:
        event_class, name = line.split(":", 1)
        if event_class in byte_of:
            spelled[byte_of[event_class], name.lower()] = name
    result: dict[int, list[str | None]] = {}
    for byte, names in sorted(headers_table(server).items()):
        keys = [None if name is None else (byte, SPELLED_OTHERWISE.get((byte, name), name)) for name in names]
        result[byte] = [None if key is None else spelled.pop(key) for key in keys]
    if spelled:
        sys.exit(f"in the view but not in the headers: {sorted(spelled)}")
    return result


def main() -> None:
    """Read the view from stdin, print the Rust table."""
    server = Path(sys.argv[1])
    version = re.search(r'#define PG_MAJORVERSION "(\d+)"', (server / "pg_config.h").read_text())
    assert version is not None
    print(f"//! Wait events of PostgreSQL {version[1]} by id. Made by tools/generate_wait_events.py, not by hand.")
    print("\n/// Class byte, then names in the order of their ids; an empty name is an id that is not in use.")
    print("#[rustfmt::skip]")
    print("pub(super) const TABLE: &[(u8, &[&str])] = &[")
    for byte, names in spelled_table(server, sys.stdin.read().split()).items():
        print(f"    (0x{byte:02X}, &[")
        for name in names:
            print(f'        "{name or ""}",')
        print("    ]),")
    print("];")


if __name__ == "__main__":
    main()
