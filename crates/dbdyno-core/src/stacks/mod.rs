//! Stacks of a server's processes: what they compute and where they sleep, function by function.
//!
//! ```text
//!  running process  --- perf event of its CPU clock (or a short stop) ---> registers + stack ---.
//!  sleeping process --- /proc/PID/syscall, process_vm_readv, wait event -> registers + stack ---+--> unwind, name, count
//! ```
//!
//! In: process ids (or a postmaster whose children to follow), a frequency, and who knows the wait events.
//! Out: stacks of function names with counts. Counts are no times: analysis makes them divide the exact times.
//!
//! Unwinding is by `.eh_frame`, because servers are built without frame pointers.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("dbdyno unwinds stacks of x86-64 only: the registers, the unwinder and the system calls are its own");

mod address_space;
mod copy;
mod cpu;
mod flame;
mod fold;
mod image;
mod perf_event;
mod processes;
mod ptrace;
mod recorder;
mod server_waits;
mod spec;
mod stop;
mod trace;
mod waits;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use flame::flame_graph;
pub use image::function_names;
pub use recorder::{Prepared, Recorder};
pub use spec::{StacksOutcome, StacksSpec};
pub use trace::trace;
pub use waits::WaitEvents;

use crate::error::{CoreError, Result};

/// Records for the time that the spec says, or until `stop` is set; the outcome as JSON.
pub fn record(spec_json: &str, stop: &AtomicBool) -> Result<String> {
    const STOP_CHECK: Duration = Duration::from_millis(20);
    let spec = StacksSpec::parse(spec_json)?;
    let Some(seconds_ns) = spec.seconds_ns else {
        return Err(CoreError::new("spec_invalid", "stacks.seconds_ns: null; say how long"));
    };
    let recorder = Prepared::new(spec)?.start();
    let began = Instant::now();
    while began.elapsed() < Duration::from_nanos(seconds_ns) && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(STOP_CHECK.min(Duration::from_nanos(seconds_ns).saturating_sub(began.elapsed())));
    }
    let outcome = recorder.finish();
    serde_json::to_string(&outcome).map_err(|error| CoreError::new("io", format!("stacks: {error}")))
}
