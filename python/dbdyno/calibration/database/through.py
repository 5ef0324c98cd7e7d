"""What the command needs of measuring through a database: how much it takes, whether it can be done, and doing it."""

from __future__ import annotations

import dataclasses

from dbdyno.calibration.database import plan, server
from dbdyno.calibration.database.budget import CLUSTER_BYTES, DATABASE_BUDGETS, DatabaseBudget, building_ns
from dbdyno.calibration.database.procedure import Devices, Later, measure
from dbdyno.calibration.place import Place
from dbdyno.calibration.running import Foreground
from dbdyno.calibration.storage import Document

__all__ = ["Database", "Devices", "Later"]


@dataclasses.dataclass(frozen=True, slots=True)
class Database:
    """The database that is wanted, with the size of its table."""

    wanted: server.Wanted
    budget: DatabaseBudget
    table_bytes: int

    @classmethod
    def of(cls, wanted: server.Wanted, budget: str, file_bytes: int) -> Database:
        """By the name of the calibration's budget, on a table no larger than its file."""
        own = DATABASE_BUDGETS[budget]
        return cls(wanted, own, own.table_bytes_within(file_bytes))

    @property
    def bytes_(self) -> int:
        """What is written."""
        return self.table_bytes + CLUSTER_BYTES

    @property
    def expected_ns(self) -> int:
        """About how long all of it takes."""
        arms = [plan.DEVICE, plan.BUFFERED, plan.DIRECT] if self.wanted.embedded else [plan.DEVICE, plan.BUFFERED]
        return building_ns(self.table_bytes) + plan.expected_in_all_ns(self.budget, arms)

    def check(self, place: Place) -> None:
        """Raise what keeps us from it, before anything is measured."""
        server.check(self.wanted, place, self.table_bytes)

    def measure(self, devices: Devices, seed: int, foreground: Foreground) -> Document:
        """The record's `database`."""
        return measure(self.wanted, devices, self.budget, self.table_bytes, seed, foreground)
