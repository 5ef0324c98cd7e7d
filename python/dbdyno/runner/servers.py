"""The servers of one run: the default one, which the flags name, and those that levels name, each opened once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from dbdyno.design.arm import Server
from dbdyno.design.experiment import Experiment
from dbdyno.errors import DynoError
from dbdyno.targets.binaries import find_binaries
from dbdyno.targets.open import TargetRequest, open_target
from dbdyno.targets.target import Target

# The server that no level names.
DEFAULT = Server()


class Servers:
    """Open targets by what the arms say of their server.

    The first is the default one, or, where no arm runs on that, the one that the first arm names.
    """

    def __init__(self, targets: Mapping[Server, Target]) -> None:
        self._targets = dict(targets)

    @property
    def default(self) -> Target:
        """The one that speaks for the run where only one can."""
        return next(iter(self._targets.values()))

    @property
    def all(self) -> Sequence[Target]:
        """Every one, in the order of `index`."""
        return list(self._targets.values())

    def of(self, server: Server) -> Target:
        """The target of an arm with this `server`."""
        return self._targets[server]

    def index(self, server: Server) -> int:
        """Its place in `all`."""
        return list(self._targets).index(server)

    def settle(self, used: Target) -> None:
        """Have a server write now what it would else write during a trial of another one."""
        if len(self._targets) > 1 and used.may_checkpoint:
            used.checkpoint()


@contextmanager
def open_servers(request: TargetRequest, experiment: Experiment) -> Iterator[Servers]:
    """Every server that an arm runs on, started or connected; one that none runs on is left alone."""
    wanted = dict.fromkeys(sorted((arm.server for arm in experiment.arms), key=lambda server: server != DEFAULT))
    _refuse_flags_without_use(request, wanted)
    with ExitStack() as stack:
        targets = {
            server: stack.enter_context(open_target(_request(request, server, wanted), experiment.target_settings))
            for server in wanted
        }
        yield Servers(targets)


def _request(request: TargetRequest, server: Server, wanted: Mapping[Server, None]) -> TargetRequest:
    """What the flags say of this server; they forbid and allow for all alike."""
    if server.url is not None:
        return TargetRequest(server.url, allow_write=request.allow_write, allow_checkpoint=request.allow_checkpoint)
    if server.server_bin is not None:
        find_binaries(server.server_bin, origin="server_bin")  # here, where the key can be named
        return TargetRequest(server_bin=server.server_bin, data_dir=request.data_dir)
    if request.url is not None and any(other.server_bin for other in wanted):
        return dataclasses.replace(request, data_dir=None)  # it is for those
    return request


def _refuse_flags_without_use(request: TargetRequest, wanted: Mapping[Server, None]) -> None:
    if DEFAULT in wanted:
        return
    for flag, value in (("--target", request.url), ("--server-bin", request.server_bin)):
        if value is not None:
            raise DynoError("flag_conflict", f"{flag}: every arm's level names a server of its own; leave it out")
