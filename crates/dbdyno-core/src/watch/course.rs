//! The course of one watch from its first sweep to its outcome, whatever the route.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::collector::{Collected, Collector, EventNames, News};
use super::host::{Host, Meter};
use super::liveness::Postmaster;
use super::outcome::{Ending, Outcome, SamplerCost};
use super::roster::Roster;
use super::sampling::{Common, Sampled, Schedule, Tuning, sample};
use super::snapshots_file::SnapshotsFile;
use super::source::SlotSource;
use super::spec::WatchSpec;
use super::stretch::{Message, ring};
use super::sweep::Sweeper;
use crate::error::{CoreError, Result};
use crate::probe::budget::host_cpus;
use crate::probe::pace::now_ns;

/// The collector's pause: long enough to cost little, short enough that newcomers are opened soon.
const PAUSE: Duration = Duration::from_millis(20);
/// How often it is asked whether the server's processes are still those of the memory that is read.
const PAUSES_PER_CHECK: u64 = 5;

/// How the caller takes part in a watch.
#[derive(Default)]
pub struct Control {
    /// Set to end it early.
    pub stop: AtomicBool,
    /// Told of each step (JSON), on the collector's thread.
    pub on_step: Option<Box<dyn Fn(String) + Send + Sync>>,
}

/// A server that can be swept.
pub struct Attached<S, H> {
    /// Its processes.
    pub source: S,
    /// So many at most.
    pub slots_max: usize,
    /// Their kinds and clocks.
    pub host: H,
    /// Of our own session.
    pub own_pid: Option<i32>,
    /// Its clocks, while it serves us.
    pub own_meter: Option<Box<dyn Meter>>,
    /// Of its wait events.
    pub event_names: EventNames,
    /// How it is read.
    pub route: String,
    /// Why not by a better route.
    pub note: Option<String>,
    /// Major.
    pub version: u32,
    /// How often it is swept.
    pub tuning: Tuning,
}

impl<S, H> Attached<S, H>
where
    S: SlotSource + Send,
    H: Host,
    H::Reader: 'static,
{
    /// Watch it.
    pub fn watch(mut self, spec: &WatchSpec, control: &Control) -> Result<Outcome> {
        let started_at_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        let file = create_file(spec, started_at_ns, &self.route, self.version)?;
        let ignored_pids = spec.ignore_pids.iter().copied().chain(self.own_pid).collect();
        let mut roster = Roster::new(self.host, self.slots_max, ignored_pids);
        let unreadable = |error: std::io::Error| CoreError::new("not_watchable", error.to_string());
        self.source.refresh().map_err(unreadable)?;
        roster.muster((0..self.source.slots()).map(|slot| self.source.pid(slot)).filter(|&pid| pid != 0));
        roster.begin();
        let collector = Collector::new(roster, self.slots_max, self.event_names, file);
        let own_cpu_ns = || self.own_meter.as_ref().and_then(|meter| meter.cpu_ns());
        let own_cpu_before_ns = own_cpu_ns();
        let start_ns = now_ns(libc::CLOCK_MONOTONIC);
        let schedule = Schedule { start_ns, length_ns: spec.seconds_ns, step_ns: spec.step_ns };
        let (sender, messages) = ring();
        let (news_sender, news) = sync_channel(2 * self.slots_max.max(1));
        let sweeper = Sweeper::new(self.source, self.slots_max, sender, 0);
        let common = Common::default();
        let postmaster = Postmaster::watch(spec.postmaster_pid);
        let collecting =
            Collecting { collector, messages, news: news_sender, schedule, control, common: &common, postmaster };
        let (ended, collector, sampled, cost) = thread::scope(|scope| {
            let thread = thread::Builder::new().name("dbdyno-watch".to_owned());
            let (tuning, common) = (self.tuning, &common);
            let sampler = thread
                .spawn_scoped(scope, move || sample(sweeper, &news, schedule, tuning, common))
                .expect("the machine has room for another thread");
            collecting.run(sampler)
        });
        let collected = collector.finish(sampled.end_ns);
        let server_cpu_ns = own_cpu_ns().zip(own_cpu_before_ns).map(|(after, before)| after - before);
        let told = Told { route: self.route, note: self.note, version: self.version, started_at_ns, server_cpu_ns };
        Ok(told.outcome(spec, ended, collected, &sampled, cost))
    }
}

fn create_file(spec: &WatchSpec, started_at_ns: u64, route: &str, version: u32) -> Result<Option<SnapshotsFile>> {
    let Some(path) = &spec.snapshots_path else { return Ok(None) };
    let file = SnapshotsFile::create(path, started_at_ns, route, version);
    file.map(Some).map_err(|error| CoreError::new("io", format!("snapshots_path {}: {error}", path.display())))
}

struct Collecting<'a, H: Host> {
    collector: Collector<H>,
    messages: Receiver<Message>,
    news: SyncSender<News<H::Reader>>,
    schedule: Schedule,
    control: &'a Control,
    common: &'a Common,
    postmaster: Postmaster,
}

impl<H: Host> Collecting<'_, H> {
    /// Until the sampler has ended: why it did, what was seen, and what adding up has cost.
    fn run(mut self, sampler: thread::ScopedJoinHandle<'_, Sampled>) -> (Ending, Collector<H>, Sampled, u64) {
        let cpu_before_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        let cpu_ns = || now_ns(libc::CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns;
        let mut cut_ns = self.schedule.next_cut_ns(0);
        let mut ending = Ending::Time;
        let mut suspicious = false;
        for turn in 1.. {
            let left_ns = cut_ns.saturating_sub(self.schedule.elapsed_ns());
            if self.postmaster.ends_within(PAUSE.min(Duration::from_nanos(left_ns))) {
                ending = Ending::ServerGone;
            }
            let elapsed_ns = self.schedule.elapsed_ns();
            if elapsed_ns >= cut_ns {
                self.collector.read_clocks();
                cut_ns = self.schedule.next_cut_ns(elapsed_ns);
            }
            self.drain();
            self.collector.name_newcomers();
            if turn % PAUSES_PER_CHECK == 0 {
                let all_are_gone = self.collector.all_are_gone();
                if all_are_gone && suspicious {
                    ending = Ending::ServerGone;
                }
                suspicious = all_are_gone;
            }
            if ending == Ending::Time && self.control.stop.load(Ordering::Relaxed) {
                ending = Ending::Stopped;
            }
            if ending != Ending::Time {
                self.common.stop.store(true, Ordering::Relaxed);
            }
            self.common.collector_cpu_ns.store(cpu_ns(), Ordering::Relaxed);
            if sampler.is_finished() {
                break;
            }
        }
        self.drain();
        let sampled = sampler.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if sampled.failure.is_some() {
            ending = Ending::ServerGone;
        }
        (ending, self.collector, sampled, cpu_ns())
    }

    fn drain(&mut self) {
        while let Ok(message) = self.messages.try_recv() {
            if let Some(news) = self.collector.take(message) {
                // The sampler has stopped, or is far behind: then there are no looks at this process.
                let _ = self.news.try_send(news);
            }
            if let (Message::StepEnded { .. }, Some(on_step)) = (message, &self.control.on_step)
                && let Some(step) = self.collector.live_step()
            {
                on_step(step);
            }
        }
    }
}

/// What is known of a watch beside what was seen.
struct Told {
    route: String,
    note: Option<String>,
    version: u32,
    started_at_ns: u64,
    server_cpu_ns: Option<u64>,
}

impl Told {
    fn outcome(
        self,
        spec: &WatchSpec,
        ended: Ending,
        collected: Collected,
        sampled: &Sampled,
        adding_up_cpu_ns: u64,
    ) -> Outcome {
        let elapsed_ns = collected.steps.last().map_or(0, |step| step.to_ns);
        let sweeps: u64 = collected.steps.iter().map(|step| step.sweeps).sum();
        let cpu_ns = sampled.cpu_ns + adding_up_cpu_ns;
        let sampler = SamplerCost {
            cpu_ns,
            adding_up_cpu_ns,
            cpu_ns_per_sweep: sampled.cpu_ns.checked_div(sweeps).unwrap_or(0),
            host_share: cpu_ns as f64 / (elapsed_ns.max(1) as f64 * host_cpus() as f64),
            budget: spec.budget,
            server_cpu_ns: self.server_cpu_ns,
        };
        let note = notes(self.note, ended, &collected, sampled);
        let path = spec.snapshots_path.as_ref().filter(|_| collected.file_is_whole);
        Outcome {
            format: 1,
            route: self.route,
            note,
            ended,
            started_at_ns: self.started_at_ns,
            elapsed_ns,
            sweeps,
            period_ns: elapsed_ns.checked_div(sweeps),
            sampler,
            version: self.version,
            events: collected.events,
            processes: collected.processes,
            steps: collected.steps,
            snapshots_path: path.map(|path| path.to_string_lossy().into_owned()),
        }
    }
}

/// Whatever limits what was seen, in one line.
fn notes(note: Option<String>, ended: Ending, collected: &Collected, sampled: &Sampled) -> Option<String> {
    let mut notes: Vec<String> = note.into_iter().collect();
    match (&sampled.failure, ended) {
        (Some(failure), _) => notes.push(format!("the watch ended early: {failure}")),
        (None, Ending::ServerGone) => {
            notes.push("the server ended or started its processes anew; what was seen until then is kept".to_owned());
        }
        _ => {}
    }
    if sampled.lost_snapshots > 0 {
        notes.push(format!("{} snapshots came faster than they could be added up", sampled.lost_snapshots));
    }
    if sampled.last_step_is_lost {
        notes.push("the last step could not be added up".to_owned());
    }
    if collected.without_clock > 0 {
        let gone = collected.without_clock;
        notes.push(format!("{gone} processes were gone, or too many, before their clocks could be opened"));
    }
    notes.extend(collected.file_failure.clone());
    (!notes.is_empty()).then(|| notes.join("; "))
}
