//! From messages to steps: off the hot path, so it may open files, allocate and be late.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::host::Host;
use super::outcome::{LiveStep, Step};
use super::roster::Roster;
use super::snapshots_file::{Row, RowNames, SnapshotsFile};
use super::stretch::{Message, Stretch};
use super::sweep::Finding;
use super::tally::Tally;

/// The engine's name of a route's event number.
pub type EventNames = Arc<dyn Fn(u32) -> String + Send + Sync>;

/// What is known so far.
pub struct Collector<H: Host> {
    roster: Roster<H>,
    events: Events,
    tally: Tally,
    /// By slot: a stretch that the end of a step has cut.
    cut: Vec<Option<Whole>>,
    steps: Vec<Step>,
    file: Option<SnapshotsFile>,
    file_failure: Option<String>,
    clocks_are_read: bool,
    shown: (usize, usize),
}

/// Events in the order in which they were seen; the first is none.
struct Events {
    names: Vec<String>,
    numbers: BTreeMap<u32, usize>,
    name_of: EventNames,
}

/// A stretch over all steps.
struct Whole {
    process: usize,
    stretch: Stretch,
    counts: [u64; 3],
}

/// What the sampler is to be told of a process that has come.
pub type News<R> = (u32, i32, Finding<R>);

impl<H: Host> Collector<H> {
    /// Nothing seen yet.
    pub fn new(roster: Roster<H>, slots: usize, name_of: EventNames, file: Option<SnapshotsFile>) -> Self {
        let events = Events { names: vec![String::new()], numbers: BTreeMap::from([(0, 0)]), name_of };
        Collector {
            roster,
            events,
            tally: Tally::default(),
            cut: (0..slots).map(|_| None).collect(),
            steps: Vec::new(),
            file,
            file_failure: None,
            clocks_are_read: false,
            shown: (0, 1),
        }
    }

    /// Take in one message; news for the sampler where a process has come.
    pub fn take(&mut self, message: Message) -> Option<News<H::Reader>> {
        match message {
            Message::Arrived { slot, pid, at_ns } => {
                self.end_cut(slot, at_ns);
                return Some((slot, pid, self.roster.arrive(slot, pid, at_ns)));
            }
            Message::Left { slot, at_ns } => {
                self.end_cut(slot, at_ns);
                self.roster.leave(slot, at_ns);
            }
            Message::Ended(stretch) => self.take_stretch(stretch),
            Message::StepEnded { from_ns, to_ns, sweeps } => self.end_step(from_ns, to_ns, sweeps),
        }
        None
    }

    fn take_stretch(&mut self, stretch: Stretch) {
        let Some(process) = self.roster.at(stretch.slot) else { return };
        let event = self.events.number(stretch.activity.event);
        self.tally.add(process, stretch.activity, event, (stretch.snapshots, stretch.looked, stretch.asleep));
        let goes_on_from = self.cut[stretch.slot as usize].take_if(|cut| cut.stretch.activity == stretch.activity);
        if goes_on_from.is_none() {
            self.end_cut(stretch.slot, stretch.from_ns);
        }
        let whole = Whole::new(process, stretch, goes_on_from);
        match stretch.goes_on {
            true => self.cut[stretch.slot as usize] = Some(whole),
            false => self.end_whole(&whole),
        }
    }

    /// What was cut did not go on.
    fn end_cut(&mut self, slot: u32, at_ns: u64) {
        if let Some(mut whole) = self.cut[slot as usize].take() {
            whole.stretch.to_ns = at_ns;
            self.end_whole(&whole);
        }
    }

    fn end_whole(&mut self, whole: &Whole) {
        let Whole { process, stretch, counts: [snapshots, looked, asleep] } = *whole;
        let event = self.events.number(stretch.activity.event);
        self.tally.add_episode(stretch.activity, event, stretch.to_ns - stretch.from_ns);
        let Some(file) = &mut self.file else { return };
        let (from_ns, to_ns) = (stretch.from_ns, stretch.to_ns);
        let (state, query_id) = (stretch.activity.state, stretch.activity.query_id);
        let row = Row { from_ns, to_ns, process, state, query_id, event, snapshots, looked, asleep };
        if let Err(error) = file.push(row, &Names(&self.roster, &self.events)) {
            self.give_up_file(&error.to_string());
        }
    }

    fn give_up_file(&mut self, cause: &str) {
        self.file_failure = Some(format!("the snapshots could not be written: {cause}"));
        if let Some(file) = self.file.take() {
            file.discard();
        }
    }

    /// Read the clocks of the step that ends now, without waiting for its last snapshots to come.
    pub fn read_clocks(&mut self) {
        self.roster.read_clocks();
        self.clocks_are_read = true;
    }

    /// Ask newcomers what they are.
    pub fn name_newcomers(&mut self) {
        self.roster.name_newcomers();
    }

    /// Whether the server has thrown away what we look at.
    pub fn all_are_gone(&self) -> bool {
        self.roster.all_are_gone()
    }

    fn end_step(&mut self, from_ns: u64, to_ns: u64, sweeps: u64) {
        if !self.clocks_are_read {
            self.roster.read_clocks();
        }
        self.clocks_are_read = false;
        let clocks = self.roster.take_step();
        let (cells, episodes) = self.tally.take();
        let step = self.steps.len() as u64;
        self.steps.push(Step { step, from_ns, to_ns, sweeps, cells, clocks, episodes });
    }

    /// The last step, with what is new in the tables since the last call.
    pub fn live_step(&mut self) -> Option<String> {
        let step = self.steps.last()?;
        let processes = self.roster.seen_since(self.shown.0, step.to_ns);
        let live = LiveStep { step, processes, events: &self.events.names[self.shown.1..] };
        let text = serde_json::to_string(&live).expect("a step has no unusual values");
        self.shown = (self.roster.len(), self.events.names.len());
        Some(text)
    }

    /// Nothing more comes: waits that are under way count with the length that they have come to, in the
    /// last step.
    pub fn finish(mut self, end_ns: u64) -> Collected {
        for slot in 0..self.cut.len() {
            self.end_cut(slot as u32, end_ns);
        }
        let (_, episodes) = self.tally.take();
        if let Some(last) = self.steps.last_mut() {
            last.episodes = sum(std::mem::take(&mut last.episodes), episodes);
        }
        let file_is_whole = self.close_file();
        Collected {
            processes: self.roster.seen_since(0, end_ns),
            events: self.events.names,
            steps: self.steps,
            without_clock: self.roster.without_clock(),
            file_is_whole,
            file_failure: self.file_failure,
        }
    }

    fn close_file(&mut self) -> bool {
        let Some(file) = self.file.take() else { return false };
        let closed = file.close(&Names(&self.roster, &self.events));
        if let Err(error) = &closed {
            self.file_failure = Some(format!("the snapshots could not be written: {error}"));
        }
        closed.is_ok()
    }
}

/// What a watch has come to.
pub struct Collected {
    /// All that were seen.
    pub processes: Vec<super::outcome::ProcessSeen>,
    /// All names.
    pub events: Vec<String>,
    /// All steps.
    pub steps: Vec<Step>,
    /// Processes that were gone before their clocks could be read.
    pub without_clock: usize,
    /// Whether the Parquet file is in its place.
    pub file_is_whole: bool,
    /// Why not.
    pub file_failure: Option<String>,
}

fn sum(first: Vec<(usize, u32, u64)>, second: Vec<(usize, u32, u64)>) -> Vec<(usize, u32, u64)> {
    let mut counts = BTreeMap::new();
    for (event, bin, count) in first.into_iter().chain(second) {
        *counts.entry((event, bin)).or_insert(0) += count;
    }
    counts.into_iter().map(|((event, bin), count)| (event, bin, count)).collect()
}

impl Events {
    fn number(&mut self, event: u32) -> usize {
        if let Some(&number) = self.numbers.get(&event) {
            return number;
        }
        let name = (self.name_of)(event);
        self.numbers.insert(event, self.names.len());
        self.names.push(name);
        self.names.len() - 1
    }
}

impl Whole {
    fn new(process: usize, stretch: Stretch, goes_on_from: Option<Whole>) -> Self {
        let counts = [stretch.snapshots, stretch.looked, stretch.asleep].map(u64::from);
        match goes_on_from {
            None => Whole { process, stretch, counts },
            Some(before) => Whole {
                process,
                stretch: Stretch { from_ns: before.stretch.from_ns, ..stretch },
                counts: std::array::from_fn(|index| before.counts[index] + counts[index]),
            },
        }
    }
}

struct Names<'a, H: Host>(&'a Roster<H>, &'a Events);

impl<H: Host> RowNames for Names<'_, H> {
    fn process(&self, process: usize) -> (i32, &str) {
        (self.0.pid(process), self.0.backend_type(process))
    }

    fn event(&self, event: usize) -> &str {
        &self.1.names[event]
    }
}
