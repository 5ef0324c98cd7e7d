//! Choosing how a server is watched: the first route that works, and why the better ones did not.

use std::sync::Arc;
use std::thread;

use super::Probe;
use super::activity::SqlWaits;
use super::background::Watched;
use super::budget::{Budget, Costs, host_cpus};
use super::clocks::ClockFiles;
use super::events::EventSource;
use super::open::open_server;
use super::pace::be_punctual;
use super::process;
use super::route::{Reasons, Route, RouteRequest};
use super::sampler::{MemorySampler, ServerBackends, Sweeper};
use super::sql::{self, SqlSampler};
use super::thread::Sampler;
use crate::error::{CoreError, Result};
use crate::load::{PhaseCell, WaitsSpec};

/// Watch the backends of these clients.
///
/// All clients must be connected and idle. `phases` has a cell for each of them; `sql`, if given,
/// serves the route `sql`, and on the other routes a self-test before anything is measured.
pub fn attach(spec: &WaitsSpec, client_pids: &[i32], phases: Arc<[PhaseCell]>, sql: Option<SqlWaits>) -> Result<Probe> {
    assert_eq!(client_pids.len(), phases.len(), "one phase per client");
    let requested = RouteRequest::parse(&spec.route)?;
    let mut attempt = Attempt { client_pids, phases, sql, reasons: Reasons::default(), files: None };
    let local = spec.postmaster_pid.and_then(|pid| attempt.open_clocks(pid));
    let (route, mut sampler) = match requested {
        RouteRequest::Only(Route::Off) => (Route::Off, None),
        _ => attempt.first_of(local, requested)?,
    };
    let budget = budget(spec, sampler.as_mut())?;
    Ok(Probe::new(route, attempt.reasons.line(), attempt.files, sampler, budget))
}

/// Over SQL it is the server that pays, so the period is what counts there.
fn budget(spec: &WaitsSpec, sampler: Option<&mut Sampler>) -> Result<Budget> {
    let (period_ns, costs) = match sampler {
        Some(Sampler::Memory(memory, _)) => (spec.period_ns, punctual_costs(memory)?),
        _ => (Some(spec.period_ns.unwrap_or(0).max(sql::PERIOD_NS_MIN)), Costs { sweep_ns: 0.0, look_ns: 1.0 }),
    };
    Ok(Budget::new(spec.budget, host_cpus(), period_ns, costs))
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

struct Attempt<'a> {
    client_pids: &'a [i32],
    phases: Arc<[PhaseCell]>,
    sql: Option<SqlWaits>,
    reasons: Reasons,
    files: Option<Arc<[ClockFiles]>>,
}

impl Attempt<'_> {
    /// Open the clocks if the clients' backends are processes of this host that the postmaster started.
    fn open_clocks(&mut self, postmaster_pid: i32) -> Option<i32> {
        if let Some(stranger) = self.client_pids.iter().find(|&&pid| process::parent(pid) != Some(postmaster_pid)) {
            self.reasons.add(format!("backend {stranger} is not a child of process {postmaster_pid} on this host"));
            return None;
        }
        let open = |&pid: &i32| ClockFiles::open(pid);
        match self.client_pids.iter().map(open).collect::<std::io::Result<Arc<[_]>>>() {
            Ok(files) => self.files = Some(files),
            Err(error) => self.reasons.add(format!("/proc of the backends: {error}")),
        }
        self.files.as_ref().map(|_| postmaster_pid)
    }

    fn first_of(&mut self, local: Option<i32>, request: RouteRequest) -> Result<(Route, Option<Sampler>)> {
        if !request.over_memory().is_empty() {
            match self.over_memory(local, request) {
                Ok((route, sampler)) => return Ok((route, Some(sampler))),
                Err(cause) => self.reasons.add(cause),
            }
        }
        if request.allows(Route::Sql) {
            match self.over_sql(local) {
                Ok(sampler) => return Ok((Route::Sql, Some(sampler))),
                Err(cause) => self.reasons.add_route(Route::Sql, &cause),
            }
        }
        let reasons = self.reasons.line().unwrap_or_default();
        Err(CoreError::new("unsupported_server", format!("waits.route: {reasons}")))
    }

    fn over_sql(&mut self, local: Option<i32>) -> std::result::Result<Sampler, String> {
        let query = self.sql.take().ok_or("no connection to ask over")?;
        let background = self.watch_background(local);
        Ok(Sampler::Sql(SqlSampler::new(query, self.client_pids, self.files.clone(), self.phases.clone(), background)))
    }

    fn over_memory(
        &mut self,
        local: Option<i32>,
        request: RouteRequest,
    ) -> std::result::Result<(Route, Sampler), String> {
        let (Some(postmaster_pid), Some(files)) = (local, self.files.clone()) else {
            return Err("the server's processes cannot be seen from here".to_owned());
        };
        let (mut memory, layout) = open_server(postmaster_pid, request, self.sql.as_mut())?;
        let mut background = self.watch_background(local);
        let pids: Vec<i32> =
            self.client_pids.iter().copied().chain(background.iter().map(|watched| watched.pid)).collect();
        let slots = layout.processes.slots_of(&mut memory, &pids).map_err(|error| error.to_string())?;
        let mut words = Vec::with_capacity(pids.len());
        for (index, slot) in slots.into_iter().enumerate() {
            let word = slot.map(|slot| layout.processes.wait_address(slot));
            match index.checked_sub(self.client_pids.len()) {
                None => words.push(word.ok_or_else(|| format!("process {} has no PGPROC", pids[index]))?),
                Some(place) => {
                    background[place].word = word.map(|word| {
                        words.push(word);
                        words.len() - 1
                    });
                }
            }
        }
        if let Some(note) = memory.note() {
            self.reasons.add(note.to_owned());
        }
        let route = memory.route();
        let source = EventSource::new(memory, words, self.client_pids.len()).map_err(|error| error.to_string())?;
        let backends = ServerBackends::new(source, files);
        let sampler = MemorySampler::new(backends, Sweeper::new(self.phases.clone()), background);
        Ok((route, Sampler::Memory(sampler, layout.names)))
    }

    fn watch_background(&self, local: Option<i32>) -> Vec<Watched> {
        local.map_or(Vec::new(), Watched::open_all)
    }
}
