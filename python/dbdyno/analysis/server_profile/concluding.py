"""From the figures of a profile to its findings in words, ranked by the database time at stake."""

from __future__ import annotations

from dbdyno.analysis.server_profile import rules_locks, rules_server, rules_time
from dbdyno.analysis.server_profile.findings import Finding, ServerProfile

# At the same stake, the rule that stands first says the more specific thing.
RULES = (
    rules_locks.blockers,
    rules_time.run_queue,
    rules_time.events,
    rules_time.cpu,
    rules_time.one_stack,
    rules_time.unnamed_sleep,
    rules_time.no_clock,
    rules_time.client,
    rules_time.query,
    rules_server.saturated,
    rules_server.small_requests,
    rules_locks.idle_in_transaction,
    rules_locks.chatty,
    rules_server.throttled_vacuum,
    rules_time.idle,
)


def findings(profile: ServerProfile) -> list[Finding]:
    """What is worth saying, the greatest stake first.

    Stakes overlap (a query's time is also the time of the events that it waits in), so they do not add up.
    """
    found = [finding for rule in RULES for finding in rule(profile)]
    return sorted(found, key=lambda finding: -finding.seconds_at_stake)
