"""The `machine` record of docs/run-directory.md: what a run was measured on, and what about it limits a conclusion."""

from __future__ import annotations

import hashlib
import hmac
import os
import platform
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dbdyno.probes.server_directory import server_directory
from dbdyno.probes.storage import Storage, find_storage
from dbdyno.targets.target import Target

# The fastest storage that keeps its promise at a power cut takes about 6 us for a write (3D XPoint behind PCIe), and
# the way through system call, file system and block layer as much again: below this nothing has reached a device.
FLUSH_TIME_NS_MIN_PLAUSIBLE = 10_000

# The driver, the backends and the WAL writer all want a CPU at the same time.
CPUS_MIN = 4

_HYPERVISORS = (
    ("Amazon EC2", "amazon"),
    ("Google", "google"),
    ("Microsoft Corporation", "microsoft"),
    ("VMware", "vmware"),
    ("innotek", "virtualbox"),
    ("VirtualBox", "virtualbox"),
    ("Xen", "xen"),
    ("KVM", "kvm"),
    ("QEMU", "kvm"),
)


def machine_record(targets: Sequence[Target], measured: Mapping[str, int]) -> dict[str, Any]:
    """The record of a run on `targets`, the default one first.

    The flush time is that of `measured` (`flush_time_ns_p50`, where it was measured).
    """
    storage = _storage_of(targets[0])
    flush_time_ns = measured.get("flush_time_ns_p50")
    servers = [_server(target) for target in targets]
    cpus = len(os.sched_getaffinity(0))
    return {
        "host": host(),
        "cpus": cpus,
        "cpu_model": cpu_model(_read("/proc/cpuinfo")) or platform.machine(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "virtualisation": _virtualisation(),
        "data_directory": _data_directory(storage, flush_time_ns),
        "server": servers[0],
        "servers": servers,
        "warnings": _each_once(
            [
                *(dict(warning) for target in targets for warning in target.warnings),
                *storage_warnings(storage, flush_time_ns),
                *(
                    warning
                    for server in servers
                    for warning in server_warnings(server["settings"], cpus if server["same_host"] else None)
                ),
            ]
        ),
    }


def _server(target: Target) -> dict[str, Any]:
    return {
        "version": target.server_version,
        "version_number": target.server_version_number,
        "page_bytes": int(target.read_settings(["block_size"])["block_size"]),
        "settings": target.non_default_settings(),
        "embedded": target.owned,
        "same_host": target.postmaster_pid is not None,
    }


def _each_once(warnings: list[dict[str, str]]) -> list[dict[str, str]]:
    return [warning for place, warning in enumerate(warnings) if warning not in warnings[:place]]


def storage_warnings(storage: Storage | None, flush_time_ns: int | None) -> list[dict[str, str]]:
    """What about the storage keeps commit times from meaning what they mean on a production disk."""
    found = []
    if storage is not None:
        where = f"the data directory is on {storage.file_system}"
        if storage.in_memory:
            found.append(_warning("tmpfs", f"{where}: memory, where a flush costs nothing", _OTHER_DIRECTORY))
        elif storage.layered:
            found.append(_warning("overlay", f"{where}: a container's layers, not a disk of its own", _OTHER_DIRECTORY))
        elif storage.on_network:
            found.append(
                _warning("network_file_system", f"{where}: flush times are another machine's", _OTHER_DIRECTORY)
            )
        if storage.without_barriers:
            found.append(_warning("no_barrier", f"{where}, mounted without barriers", "remount it with barrier=1"))
    in_memory = storage is not None and storage.in_memory
    if flush_time_ns is not None and flush_time_ns < FLUSH_TIME_NS_MIN_PLAUSIBLE and not in_memory:
        what = f"a flush takes {flush_time_ns / 1000:.1f} us (median), faster than any device: it does not reach one"
        found.append(_warning("fast_flush", what, _OTHER_DIRECTORY))
    return found


_OTHER_DIRECTORY = "name a directory on the storage in question with --data-dir"


def server_warnings(settings: Mapping[str, str], cpus: int | None) -> list[dict[str, str]]:
    """What about the server, or about sharing `cpus` CPUs with it, limits a conclusion."""
    found = []
    if settings.get("fsync") == "off":
        found.append(
            _warning("fsync_off", "the server runs with fsync = off: no commit waits for storage", "set it on")
        )
    if cpus is not None and cpus < CPUS_MIN:
        what = f"{cpus} CPUs for the server and the load that drives it"
        found.append(_warning("few_cpus", what, f"look at run queue times, or use a machine with {CPUS_MIN} or more"))
    return found


def _warning(code: str, what: str, advice: str) -> dict[str, str]:
    return {"code": code, "message": f"{what}; {advice}"}


def _storage_of(target: Target) -> Storage | None:
    directory = server_directory(target)
    return None if directory is None else find_storage(directory)


def _data_directory(storage: Storage | None, flush_time_ns: int | None) -> dict[str, Any] | None:
    if storage is None:
        return None
    return {
        "file_system": storage.file_system,
        "device": storage.device,
        "rotational": storage.rotational,
        "mount_options": storage.mount_options,
        "flush_time_ns_p50": flush_time_ns,
    }


def host() -> str:
    """What this machine is called in what we keep: the same each time, or, without a machine id, until it is restarted.

    The machine's name cannot be found by trying names, for want of its id.
    """
    return _host_hash(platform.node(), _read("/etc/machine-id").strip() or _read("/proc/sys/kernel/random/boot_id"))


def _host_hash(name: str, salt: str) -> str:
    salt = salt or secrets.token_hex(16)
    return hmac.new(salt.encode(), f"dbdyno host {name}".encode(), hashlib.sha256).hexdigest()[:16]


def cpu_model(cpuinfo: str) -> str | None:
    """The model of the first CPU; x86 calls it "model name", other architectures differ."""
    for key in ("model name", "Model", "cpu model", "Processor"):
        match = re.search(rf"^{key}\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
        if match:
            return match[1].strip()
    return None


def _virtualisation() -> str:
    makers = f"{_read('/sys/class/dmi/id/sys_vendor')} {_read('/sys/class/dmi/id/product_name')}"
    in_container = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    return virtualisation_name(makers, _read("/proc/cpuinfo"), in_container=in_container)


def virtualisation_name(makers: str, cpuinfo: str, *, in_container: bool) -> str:
    """`none`, a hypervisor by the maker that the firmware names, or `unnamed hypervisor`; and `container`."""
    named = next((name for maker, name in _HYPERVISORS if maker in makers), None)
    under_one = re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE) is not None
    if "Microsoft Corporation" in makers and "Virtual" not in makers:  # a laptop of theirs
        named = None
    host = named or ("unnamed hypervisor" if under_one else "none")
    if not in_container:
        return host
    return "container" if host == "none" else f"{host}, container"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
