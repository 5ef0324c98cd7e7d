"""What an analysis concludes: plain frozen dataclasses, the only thing a report may look at.

`to_json` gives the document of `dbdyno run --json`; its keys are a contract (docs/findings.md).
Durations are nanoseconds; a profile is the mean per unit of work.
"""

from dbdyno.analysis.findings.answers import Answer, Cost, Step, Tradeoff
from dbdyno.analysis.findings.arm import LEAST_UNITS_OF_A_PERCENTILE, Arm, ArmTrial, Bin, Driver, ScriptTimes, Units
from dbdyno.analysis.findings.comparison import (
    WITHHOLDING,
    Comparison,
    Exploratory,
    FalseAlarms,
    Interaction,
    NullArm,
    Outlook,
    Pilot,
    Reason,
    Stopping,
)
from dbdyno.analysis.findings.disturbances import After, CarryOver, Noise, Steadiness
from dbdyno.analysis.findings.document import FORMAT, Findings, Scheduled, Warning, to_json
from dbdyno.analysis.findings.estimates import Estimate, Spread, Times, finite
from dbdyno.analysis.findings.evidence import (
    Background,
    Check,
    Device,
    Exposure,
    HostCpu,
    Outcome,
    Plan,
    Reads,
    Requests,
    ResetStep,
)
from dbdyno.analysis.findings.indexes import IndexBenefit, IndexCost, IndexVerdict
from dbdyno.analysis.findings.instrument import Instrument, SamplingCost
from dbdyno.analysis.findings.profile import Part, TimeProfile, event_note
from dbdyno.analysis.findings.sampling import EventLengths, Sampling, Switches, WaitLengths
from dbdyno.analysis.findings.stacks import CommonStack, Function, Pauses, StackDifference, Stacks
from dbdyno.analysis.findings.tail import Band, ExtraPart, Intervals, StatementTimes, Tail

__all__ = [
    "FORMAT",
    "LEAST_UNITS_OF_A_PERCENTILE",
    "WITHHOLDING",
    "After",
    "Answer",
    "Arm",
    "ArmTrial",
    "Background",
    "Band",
    "Bin",
    "CarryOver",
    "Check",
    "CommonStack",
    "Comparison",
    "Cost",
    "Device",
    "Driver",
    "Estimate",
    "EventLengths",
    "Exploratory",
    "Exposure",
    "ExtraPart",
    "FalseAlarms",
    "Findings",
    "Function",
    "HostCpu",
    "IndexBenefit",
    "IndexCost",
    "IndexVerdict",
    "Instrument",
    "Interaction",
    "Intervals",
    "Noise",
    "NullArm",
    "Outcome",
    "Outlook",
    "Part",
    "Pauses",
    "Pilot",
    "Plan",
    "Reads",
    "Reason",
    "Requests",
    "ResetStep",
    "Sampling",
    "SamplingCost",
    "Scheduled",
    "ScriptTimes",
    "Spread",
    "StackDifference",
    "Stacks",
    "StatementTimes",
    "Steadiness",
    "Step",
    "Stopping",
    "Switches",
    "Tail",
    "TimeProfile",
    "Times",
    "Tradeoff",
    "Units",
    "WaitLengths",
    "Warning",
    "event_note",
    "finite",
    "to_json",
]
