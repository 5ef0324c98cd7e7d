//! What a session waits for when nobody has asked it anything, and what it waits for at the network.

/// What a wait says of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitClass {
    /// The client has not asked for anything: its think time, and the way there and back.
    ThinkTime,
    /// Bytes to and from the client.
    Network,
    /// A process that has nothing to do.
    Idle,
    /// Anything else: somebody waits for it.
    Work,
}

impl WaitClass {
    /// By the event's name.
    pub(super) fn of(event: &[u8]) -> Self {
        match event {
            b"SQL*Net message from client" => Self::ThinkTime,
            event if event.starts_with(b"SQL*Net ") && is_of_client(event) => Self::Network,
            event if IDLE.iter().any(|name| name.as_bytes() == event) => Self::Idle,
            event if IDLE_BEGINNINGS.iter().any(|name| event.starts_with(name.as_bytes())) => Self::Idle,
            _ => Self::Work,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ThinkTime => "think_time",
            Self::Network => "network",
            Self::Idle => "idle",
            Self::Work => "work",
        }
    }

    /// Where a wait does not say when it was: these lie between calls, the others within one.
    pub(super) fn is_between_calls(self) -> bool {
        !matches!(self, Self::Work)
    }
}

/// `SQL*Net message to client`, `more data to client`, `more data from client`, `break/reset to client`; what goes to
/// and from a database link is work.
fn is_of_client(event: &[u8]) -> bool {
    event.ends_with(b" client")
}

/// The class Idle of V$EVENT_NAME, as far as foreground and slave processes meet it.
const IDLE: [&str; 39] = [
    "AQ Cross Master idle",
    "ASM background timer",
    "DIAG idle wait",
    "Data Guard: Timer",
    "EMON slave idle wait",
    "GCR sleep",
    "HS message to agent",
    "JOX Jit Process Sleep",
    "LNS ASYNC end of log",
    "OFS idle",
    "PING",
    "PL/SQL lock timer",
    "PX Idle Wait",
    "Recovery Server waiting for work",
    "Space Manager: slave idle wait",
    "VKTM Logical Idle Wait",
    "VKRM Idle",
    "class slave wait",
    "dispatcher timer",
    "fbar timer",
    "gcs remote message",
    "ges remote message",
    "heartbeat monitor sleep",
    "i/o slave wait",
    "jobq slave wait",
    "lreg timer",
    "null event",
    "parallel recovery coordinator idle wait",
    "pipe get",
    "pmon timer",
    "rdbms ipc message",
    "shared server idle wait",
    "simulated log write delay",
    "single-task message",
    "smon timer",
    "virtual circuit next request",
    "virtual circuit status",
    "wait for unread message on broadcast channel",
    "watchdog main loop",
];

const IDLE_BEGINNINGS: [&str; 5] =
    ["PX Deq: Execution Msg", "PX Deq: Table Q Normal", "Streams AQ: qmn ", "Streams AQ: waiting for ", "LogMiner "];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_another_database_is_work_and_a_client_is_not() {
        let cases = [
            ("SQL*Net message from client", WaitClass::ThinkTime),
            ("SQL*Net message to client", WaitClass::Network),
            ("SQL*Net more data from client", WaitClass::Network),
            ("SQL*Net message from dblink", WaitClass::Work),
            ("db file sequential read", WaitClass::Work),
            ("PL/SQL lock timer", WaitClass::Idle),
            ("PX Deq: Execution Msg", WaitClass::Idle),
            ("PX Deq: Execute Reply", WaitClass::Work),
            ("log file sync", WaitClass::Work),
        ];
        for (event, class) in cases {
            assert_eq!(class, WaitClass::of(event.as_bytes()), "{event}");
        }
    }
}
