"""What others do on this host: arithmetic on planted files of the kernel, and a planted disturbance."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from dbdyno.probes.noise import NoiseMeter, host_cpu_ns, mean_clock_hz
from dbdyno.probes.pressure import read_pressure_us
from dbdyno.probes.process_work import Work, own_work, work_of_family

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def plant_process(proc: Path, pid: int, ticks: tuple[int, int, int, int], io: tuple[int, int] | None) -> None:
    """A process named with a blank and a parenthesis, as anybody may name one."""
    directory = proc / str(pid)
    directory.mkdir(parents=True)
    times = " ".join(map(str, ticks))
    (directory / "stat").write_text(f"{pid} (a) b) S 1 1 1 0 -1 0 1 2 3 4 {times} 20 0 1 0 5")
    if io is not None:
        (directory / "io").write_text(
            f"rchar: 9\nread_bytes: {io[0]}\nwrite_bytes: {io[1]}\ncancelled_write_bytes: 7\n"
        )


def plant_children(proc: Path, pid: int, children: str) -> None:
    """The list of a process's children."""
    directory = proc / str(pid) / "task" / str(pid)
    directory.mkdir(parents=True)
    (directory / "children").write_text(children)


def test_the_work_of_a_family_has_that_of_children_that_ended(tmp_path: Path) -> None:
    """The parent's collected time counts, that of its children is not theirs alone to give twice."""
    plant_process(tmp_path, 10, (1, 2, 30, 40), (100, 200))
    plant_process(tmp_path, 11, (5, 6, 700, 800), (1, 2))
    plant_children(tmp_path, 10, "11 12 ")  # 12 has ended meanwhile

    assert work_of_family(10, tmp_path) == Work((1 + 2 + 30 + 40 + 5 + 6) * TICK_NS, 303)


def test_what_one_process_hides_is_not_known_of_all(tmp_path: Path) -> None:
    """CPU time everybody may read; bytes only of one's own."""
    plant_process(tmp_path, 10, (1, 0, 0, 0), (100, 200))
    plant_process(tmp_path, 11, (1, 0, 0, 0), None)
    plant_children(tmp_path, 10, "11")

    assert work_of_family(10, tmp_path) == Work(2 * TICK_NS, None)


def test_a_kernel_without_lists_of_children_is_not_guessed_at(tmp_path: Path) -> None:
    """No list, no figure."""
    plant_process(tmp_path, 10, (1, 0, 0, 0), (100, 200))

    assert work_of_family(10, tmp_path) is None
    assert work_of_family(999, tmp_path) is None


def test_our_own_work_grows_with_work() -> None:
    """Without our children, which the server may be one of."""
    before = own_work(except_for=0)
    ends = time.monotonic() + 0.2
    while time.monotonic() < ends:
        pass
    after = own_work(except_for=0)

    assert before is not None
    assert after is not None
    assert 0 < after.cpu_ns - before.cpu_ns <= 400_000_000


def test_pressure_is_read_line_by_line(tmp_path: Path) -> None:
    """What the kernel does not offer is absent."""
    (tmp_path / "io").write_text("some avg10=0.1 avg60=0.2 total=123\nfull avg10=0.0 avg60=0.0 total=45\n")
    (tmp_path / "cpu").write_text("some avg10=0.1 avg60=0.2 total=678\n")

    assert read_pressure_us(tmp_path) == {"cpu_pressure_some": 678, "io_pressure_some": 123, "io_pressure_full": 45}
    assert read_pressure_us(tmp_path / "absent") == {}


def test_interrupts_are_no_task(tmp_path: Path) -> None:
    """Busy is user, nice and system; the whole is all eight columns, guest time counted once."""
    (tmp_path / "stat").write_text("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1\n")

    assert host_cpu_ns(tmp_path / "stat") == (6 * TICK_NS, 36 * TICK_NS)
    assert host_cpu_ns(tmp_path / "absent") == (0, 0)


@pytest.mark.parametrize(("clocks", "mean_hz"), [([1_000_000, 3_000_000], 2e9), ([], None), (["none"], None)])
def test_the_mean_clock(tmp_path: Path, clocks: list[object], mean_hz: float | None) -> None:
    """In hertz; absent on most virtual machines."""
    for cpu, clock in enumerate(clocks):
        (tmp_path / f"cpu{cpu}" / "cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{cpu}" / "cpufreq" / "scaling_cur_freq").write_text(f"{clock}\n")

    assert mean_clock_hz(tmp_path) == mean_hz


def test_of_many_clocks_some_are_read(tmp_path: Path) -> None:
    """Every second of 32, so that a great host costs no more than a small one."""
    for cpu in range(32):
        (tmp_path / f"cpu{cpu:02d}" / "cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{cpu:02d}" / "cpufreq" / "scaling_cur_freq").write_text(str(cpu % 2))

    assert mean_clock_hz(tmp_path) == 0.0


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="no /proc")
def test_a_span_on_this_host() -> None:
    """Shares are shares, and nothing that the kernel does not offer is there."""
    meter = NoiseMeter(os.getppid(), None)
    time.sleep(0.1)
    found = meter.read()

    assert all(0 <= value <= 1.1 for name, value in found.items() if name.endswith("_share"))
    assert not {"other_disk_share", "other_disk_bytes_per_s"} & found.keys()
