"""What the record says of a machine, and which of it limits a conclusion."""

from __future__ import annotations

import json

import pytest

from dbdyno.probes.machine import cpu_model, server_warnings, storage_warnings, virtualisation_name
from dbdyno.probes.storage import Storage


def on(file_system: str, options: str = "rw") -> Storage:
    return Storage(file_system, "vda", False, options)


@pytest.mark.parametrize(
    ("storage", "flush_time_ns", "codes"),
    [
        (on("ext4"), 800_000, []),
        (on("xfs"), 10_000, []),
        (on("xfs"), 9_999, ["fast_flush"]),
        (on("tmpfs"), 1_500, ["tmpfs"]),
        (on("overlay"), 800_000, ["overlay"]),
        (on("overlay"), 2_000, ["overlay", "fast_flush"]),
        (on("nfs4"), 800_000, ["network_file_system"]),
        (on("fuse.sshfs"), 800_000, ["network_file_system"]),
        (on("fuseblk"), 800_000, []),
        (on("ext4", "rw,nobarrier"), 800_000, ["no_barrier"]),
        (on("ext4"), None, []),
        (None, None, []),
        (None, 2_000, ["fast_flush"]),
    ],
)
def test_storage_warnings(storage: Storage | None, flush_time_ns: int | None, codes: list[str]) -> None:
    """Memory, layers, networks and flushes too fast to be true are warned of; each message ends with what to do."""
    found = storage_warnings(storage, flush_time_ns)
    assert [warning["code"] for warning in found] == codes
    assert all("; " in warning["message"] for warning in found)


@pytest.mark.parametrize(
    ("settings", "cpus", "codes"),
    [
        ({}, 8, []),
        ({"fsync": "off"}, 8, ["fsync_off"]),
        ({}, 3, ["few_cpus"]),
        ({}, None, []),
    ],
)
def test_server_warnings(settings: dict[str, str], cpus: int | None, codes: list[str]) -> None:
    """A server that flushes nothing, and one that shares few CPUs with the load, are warned of."""
    assert [warning["code"] for warning in server_warnings(settings, cpus)] == codes


X86 = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu vme hypervisor sse\n"
BARE = X86.replace(" hypervisor", "")


@pytest.mark.parametrize(
    ("makers", "cpuinfo", "in_container", "expected"),
    [
        ("", BARE, False, "none"),
        ("Dell Inc. PowerEdge", BARE, False, "none"),
        ("", X86, False, "unnamed hypervisor"),
        ("QEMU Standard PC", X86, False, "kvm"),
        ("Amazon EC2 m7i.large", X86, False, "amazon"),
        ("Microsoft Corporation Virtual Machine", X86, False, "microsoft"),
        ("Microsoft Corporation Surface Laptop", BARE, False, "none"),
        ("", BARE, True, "container"),
        ("VMware, Inc. VMware7,1", X86, True, "vmware, container"),
    ],
)
def test_virtualisation(makers: str, cpuinfo: str, in_container: bool, expected: str) -> None:
    """The firmware names the hypervisor, the CPU's flag gives it away, a container is said too."""
    assert virtualisation_name(makers, cpuinfo, in_container=in_container) == expected


def test_cpu_model() -> None:
    """The first CPU's model, where the architecture has one."""
    assert cpu_model(X86) == "AMD EPYC"
    assert cpu_model("processor\t: 0\nCPU implementer\t: 0x41\n") is None
    assert json.dumps(cpu_model(X86))
