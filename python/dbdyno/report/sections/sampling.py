"""How the waits were seen and at what cost, and the kernel's own counts beside them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm, Findings
from dbdyno.report import numbers
from dbdyno.report.instrument_words import self_test_words
from dbdyno.report.layout import Column, paragraph, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import arm_rows, title

PER_SECOND = 1e9


def switches(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """How often a backend went to sleep and how often its CPU was taken away; block devices, and the hypervisor."""
    found = [arm.switches for arm in arms]
    columns = [
        _counts("voluntary", [one.voluntary_per_unit for one in found]),
        _counts("involuntary", [one.involuntary_per_unit for one in found]),
        _time(("block-I/O", "delay"), [one.block_io_delay_ns_per_unit for one in found]),
        _time(("CPU taken", "by the host"), [one.stolen_cpu_ns_per_unit for one in found]),
    ]
    shown = [column for column in columns if column is not None]
    words = "Switches of the backends, per unit of work"
    return [*title(words), *table(arm_rows(arms, names), shown)] if shown else []


def instrument(findings: Findings) -> list[Text]:
    """What watching cost in this run, and what the machine's self-test says of it."""
    kept = Text.assemble(("The instrument: ", "bold"), self_test_words(findings.instrument))
    return [*_sampler(findings.arms, findings.machine["cpus"]), *paragraph(kept)] if findings.arms else []


def _sampler(arms: Sequence[Arm], cpus: int) -> list[Text]:
    """By which route, how often, at what cost, from the arm with least to that with most."""
    sampled = [arm for arm in arms if arm.sampling.snapshots]
    if not sampled:
        return []
    routes = " and ".join(dict.fromkeys(arm.profile_route for arm in sampled))
    words = [f"{routes} route"]
    rates = sorted(PER_SECOND / arm.sampling.period_ns for arm in sampled if arm.sampling.period_ns)
    if rates:
        of_each = _range([numbers.significant(rate, most_decimals=0) for rate in rates])
        words.append(f"{of_each} snapshots of each backend a second")
    words.append(f"{sum(arm.sampling.snapshots for arm in sampled):,} in units of work")
    looked = sorted(arm.sampling.looked / arm.sampling.snapshots for arm in sampled if arm.sampling.looked is not None)
    if looked:
        words.append(f"{_range([numbers.percent(share) for share in looked])} of them with a look whether it sleeps")
    cost = sorted(arm.driver.sampler_cpu_share / cpus for arm in sampled)
    words.append(f"{_range([numbers.percent(share) for share in cost])} of the host's CPU")
    return paragraph(Text.assemble(("The sampler: ", "bold"), f"{', '.join(words)}."))


def _range(sorted_texts: Sequence[str]) -> str:
    least, most = sorted_texts[0], sorted_texts[-1]
    return least if least == most else f"{least.removesuffix(' %')} to {most}"


def _counts(heading: str, values: Sequence[float | None]) -> Column | None:
    if all(value is None for value in values):
        return None
    return Column((heading,), tuple(numbers.in_unit(value, numbers.ONE) for value in values))


def _time(heading: tuple[str, str], values: Sequence[float | None]) -> Column | None:
    known = [value for value in values if value]
    if not known:
        return None
    unit = numbers.time_unit(median(known))
    return Column((heading[0], f"{heading[1]}, {unit.name}"), tuple(numbers.in_unit(value, unit) for value in values))
