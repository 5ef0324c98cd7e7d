//! Choosing how a server is watched: the first route that works, and why the better ones did not.

use std::sync::Arc;
use std::thread;

use super::background::Watched;
use super::budget::{Budget, Costs};
use super::clocks::ClockFiles;
use super::events::{EventSource, MappedWords, PieceCopy, SpanCopy};
use super::memory::ServerMemory;
use super::names::WaitNames;
use super::pace::be_punctual;
use super::process;
use super::sampler::{MemorySampler, ServerBackends, Sweeper};
use super::self_test::agrees_with_server;
use super::sql::{self, SqlSampler, SqlWaits};
use super::{Probe, Route, Sampler};
use crate::error::{CoreError, Result};
use crate::load::{PhaseCell, WaitsSpec};

/// Watch the backends of these clients.
///
/// All clients must be connected and idle. `phases` has a cell for each of them; `sql`, if given,
/// serves the route `sql`, and on the other routes a self-test before anything is measured.
pub fn attach(spec: &WaitsSpec, client_pids: &[i32], phases: Arc<[PhaseCell]>, sql: Option<SqlWaits>) -> Result<Probe> {
    assert_eq!(client_pids.len(), phases.len(), "one phase per client");
    let requested = RouteRequest::parse(&spec.route)?;
    let mut attempt = Attempt { client_pids, phases, sql, reasons: Vec::new(), files: None };
    let local = spec.postmaster_pid.and_then(|pid| attempt.open_clocks(pid));
    let (route, mut sampler) = match requested {
        RouteRequest::Off => (Route::Off, None),
        RouteRequest::Auto => attempt.first_of(local, &[Route::Mapped, Route::Contiguous, Route::Iovec, Route::Sql])?,
        RouteRequest::Only(route) => attempt.first_of(local, &[route])?,
    };
    let budget = budget(spec, sampler.as_mut())?;
    Ok(Probe::new(route, attempt.note(), attempt.files, sampler, budget))
}

/// Over SQL it is the server that pays, so the period is what counts there.
fn budget(spec: &WaitsSpec, sampler: Option<&mut Sampler>) -> Result<Budget> {
    let (period_ns, costs) = match sampler {
        Some(Sampler::Memory(memory, _)) => (spec.period_ns, punctual_costs(memory)?),
        _ => (Some(spec.period_ns.unwrap_or(0).max(sql::PERIOD_NS_MIN)), Costs { sweep_ns: 0.0, look_ns: 1.0 }),
    };
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    Ok(Budget::new(spec.budget, cpus, period_ns, costs))
}

/// Measured on a thread of its own, because being punctual is for ever.
fn punctual_costs(memory: &mut MemorySampler) -> Result<Costs> {
    let measured = thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            be_punctual();
            memory.costs()
        });
        measuring.join().expect("measuring does not panic")
    });
    measured.map_err(|error| CoreError::new("unsupported_server", format!("waits.route: {error}")))
}

enum RouteRequest {
    Auto,
    Off,
    Only(Route),
}

impl RouteRequest {
    fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "auto" => RouteRequest::Auto,
            "off" => RouteRequest::Off,
            "mapped" => RouteRequest::Only(Route::Mapped),
            "contiguous" => RouteRequest::Only(Route::Contiguous),
            "iovec" => RouteRequest::Only(Route::Iovec),
            "sql" => RouteRequest::Only(Route::Sql),
            _ => {
                let message = format!("waits.route: {text:?}; must be auto, mapped, contiguous, iovec, sql or off");
                return Err(CoreError::new("spec_invalid", message));
            }
        })
    }
}

struct Attempt<'a> {
    client_pids: &'a [i32],
    phases: Arc<[PhaseCell]>,
    sql: Option<SqlWaits>,
    reasons: Vec<String>,
    files: Option<Arc<[ClockFiles]>>,
}

impl Attempt<'_> {
    /// Open the clocks if the clients' backends are processes of this host that the postmaster started.
    fn open_clocks(&mut self, postmaster_pid: i32) -> Option<i32> {
        if let Some(stranger) = self.client_pids.iter().find(|&&pid| process::parent(pid) != Some(postmaster_pid)) {
            self.reasons.push(format!("backend {stranger} is not a child of process {postmaster_pid} on this host"));
            return None;
        }
        let open = |&pid: &i32| ClockFiles::open(pid);
        match self.client_pids.iter().map(open).collect::<std::io::Result<Arc<[_]>>>() {
            Ok(files) => self.files = Some(files),
            Err(error) => self.reasons.push(format!("/proc of the backends: {error}")),
        }
        self.files.as_ref().map(|_| postmaster_pid)
    }

    fn first_of(&mut self, local: Option<i32>, routes: &[Route]) -> Result<(Route, Option<Sampler>)> {
        for &route in routes {
            let sampler = match route {
                Route::Sql => self.over_sql(local),
                _ => self.over_memory(local, route),
            };
            match sampler {
                Ok(sampler) => return Ok((route, Some(sampler))),
                Err(cause) => self.add_reason(route, &cause),
            }
        }
        Err(CoreError::new("unsupported_server", format!("waits.route: {}", self.reasons.join("; "))))
    }

    /// Routes that fail for one cause share its line: `mapped, iovec: cause`.
    fn add_reason(&mut self, route: Route, cause: &str) {
        let same_cause = |reason: &&mut String| reason.ends_with(&format!(": {cause}"));
        match self.reasons.last_mut().filter(same_cause) {
            Some(reason) => *reason = format!("{}, {route}: {cause}", reason.trim_end_matches(&format!(": {cause}"))),
            None => self.reasons.push(format!("{route}: {cause}")),
        }
    }

    fn over_sql(&mut self, local: Option<i32>) -> std::result::Result<Sampler, String> {
        let query = self.sql.take().ok_or("no connection to ask over")?;
        let background = self.watch_background(local);
        Ok(Sampler::Sql(SqlSampler::new(query, self.client_pids, self.files.clone(), self.phases.clone(), background)))
    }

    fn over_memory(&mut self, local: Option<i32>, route: Route) -> std::result::Result<Sampler, String> {
        let (Some(postmaster_pid), Some(files)) = (local, self.files.clone()) else {
            return Err("the server's processes cannot be seen from here".to_owned());
        };
        let memory = ServerMemory::open(postmaster_pid)?;
        let version = memory.major_version()?;
        let names = WaitNames::of_version(version)
            .ok_or_else(|| format!("the wait-event numbers of PostgreSQL {version} are not known here"))?;
        let mut words = memory.client_words(self.client_pids)?;
        let mut background = self.watch_background(local);
        for watched in &mut background {
            watched.word = memory.background_word(watched.pid).map(|word| {
                words.push(word);
                words.len() - 1
            });
        }
        let source = open_source(route, &memory, words, self.client_pids.len())?;
        let backends = ServerBackends::new(source, files);
        let mut sampler = MemorySampler::new(backends, Sweeper::new(self.phases.clone()), background);
        if let Some(query) = &mut self.sql {
            agrees_with_server(&mut sampler, self.client_pids, names, query)?;
        }
        Ok(Sampler::Memory(sampler, names))
    }

    fn watch_background(&self, local: Option<i32>) -> Vec<Watched> {
        local.map_or(Vec::new(), Watched::open_all)
    }

    /// Why the routes before the one used did not work.
    fn note(&self) -> Option<String> {
        (!self.reasons.is_empty()).then(|| self.reasons.join("; "))
    }
}

fn open_source(
    route: Route,
    memory: &ServerMemory,
    words: Vec<u64>,
    clients: usize,
) -> std::result::Result<EventSource, String> {
    let postmaster_pid = memory.postmaster_pid;
    let mapping = memory.mapping_of(&words)?;
    Ok(match route {
        Route::Mapped => EventSource::Mapped(
            MappedWords::map(postmaster_pid, mapping, &words)
                .map_err(|error| format!("map_files/{}: {error}", mapping.file_name()))?,
        ),
        Route::Contiguous => EventSource::Contiguous(SpanCopy::new(postmaster_pid, words, clients, clients)?),
        _ => EventSource::Iovec(PieceCopy::new(postmaster_pid, words, clients)),
    })
}
