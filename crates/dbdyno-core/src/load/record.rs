//! What one load thread writes down about its units: counts, histograms, the series. Nothing here
//! allocates after the start; threads are merged when the trial is over.

use super::outcome::{Series, Units};
use super::unit_sums::UnitSums;
use super::window::Window;
use crate::tally::{Lateness, Tally};

/// How a unit that started came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Successful,
    Failed(Failure),
}

/// Why a unit was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Serialization,
    Deadlock,
    Other,
    Unfinished,
}

/// The times of one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitTimes {
    /// When it should have started.
    pub intended_ns: u64,
    /// When it did.
    pub start_ns: u64,
    /// When it had ended.
    pub end_ns: u64,
}

/// One script's share of the record.
#[derive(Clone, Debug)]
pub(super) struct ScriptRecord {
    pub response: Tally,
    pub successful: u64,
    pub failed: u64,
}

/// One statement's.
#[derive(Clone, Debug)]
pub(super) struct StatementRecord {
    pub service: Tally,
    pub rows: u64,
    pub rows_affected: u64,
}

/// Of one execution of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rows {
    pub returned: u64,
    pub affected: u64,
}

/// What the record must know of the trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPlan {
    pub scripts: usize,
    pub statements: usize,
    pub series_step_ns: u64,
    pub latency_limit_ns: Option<u64>,
    /// In a closed loop without think time a unit starts when it should, so that response and
    /// service time are one: only one of them is recorded, which saves three updates a unit.
    pub starts_are_intended: bool,
    /// Then nobody knows beforehand how long it takes.
    pub work_is_fixed: bool,
    /// At first; of the cells of units.
    pub chunk_ns: u64,
}

/// Without a latency limit, a unit that waited longer than this for a free client is late. It is
/// well above what scheduling on a busy machine does to any unit (1 to 4 ms).
const LATE_QUEUE_NS: u64 = 10_000_000;

/// All of it.
#[derive(Clone, Debug)]
pub(super) struct Record {
    plan: RecordPlan,
    window: Window,
    pub units: Units,
    pub scripts: Vec<ScriptRecord>,
    pub statements: Vec<StatementRecord>,
    pub series: Series,
    /// By chunk and bin of response times.
    pub sums: UnitSums,
    service: Tally,
    queue: Tally,
    lateness: Tally,
    /// Queue and response times of all counted units that ended, failed ones included.
    pub ended_queue_ns: u64,
    pub ended_response_ns: u64,
    /// Time that units, successful in the end, spent in the system during the window.
    /// With fixed work: that counted units did.
    pub in_flight_ns: u128,
    /// All units that ended well, counted or not.
    pub units_with_warm_up: u64,
    /// Of the counted units; `u64::MAX` if there was none.
    pub first_start_ns: u64,
    pub last_end_ns: u64,
}

impl Record {
    /// Empty.
    pub(super) fn new(plan: RecordPlan, window: Window) -> Self {
        let script = ScriptRecord { response: Tally::new(), successful: 0, failed: 0 };
        let statement = StatementRecord { service: Tally::new(), rows: 0, rows_affected: 0 };
        Self {
            plan,
            window,
            units: Units::default(),
            scripts: vec![script; plan.scripts],
            statements: vec![statement; plan.statements],
            series: Series::new(plan.series_step_ns, (!plan.work_is_fixed).then(|| window.length_ns())),
            sums: UnitSums::new(plan.chunk_ns),
            service: Tally::new(),
            queue: Tally::new(),
            lateness: Tally::new(),
            ended_queue_ns: 0,
            ended_response_ns: 0,
            in_flight_ns: 0,
            units_with_warm_up: 0,
            first_start_ns: u64::MAX,
            last_end_ns: 0,
        }
    }

    /// A unit ended, counted or not: the series and the mean in flight see all of them.
    pub(super) fn unit_ended(&mut self, times: &UnitTimes, fate: Fate) {
        let successful = fate == Fate::Successful;
        self.units_with_warm_up += u64::from(successful);
        if successful && !self.plan.work_is_fixed {
            self.in_flight_ns += u128::from(self.window.overlap_ns(times.intended_ns, times.end_ns));
        }
        let is_before_end = self.plan.work_is_fixed || times.end_ns < self.window.end_ns;
        if times.end_ns >= self.window.start_ns && is_before_end {
            let response_ns = successful.then(|| times.end_ns - times.intended_ns);
            self.series.add(times.end_ns - self.window.start_ns, response_ns);
        }
    }

    /// A counted unit ended.
    pub(super) fn counted_unit_ended(&mut self, script: usize, times: &UnitTimes, fate: Fate, tries: u32) {
        let response_ns = times.end_ns - times.intended_ns;
        let queue_ns = times.start_ns - times.intended_ns;
        self.ended_queue_ns += queue_ns;
        self.ended_response_ns += response_ns;
        self.last_end_ns = self.last_end_ns.max(times.end_ns);
        self.sums.add(times.end_ns.saturating_sub(self.window.start_ns), response_ns, queue_ns);
        self.units.retried += u64::from(tries > 1);
        self.units.late += u64::from(match self.plan.latency_limit_ns {
            Some(limit_ns) => response_ns > limit_ns,
            None => queue_ns > LATE_QUEUE_NS,
        });
        match fate {
            Fate::Failed(failure) => self.count_failure(script, failure),
            Fate::Successful => {
                self.units.successful += 1;
                if self.plan.work_is_fixed {
                    self.in_flight_ns += u128::from(response_ns);
                }
                self.scripts[script].successful += 1;
                self.scripts[script].response.record(response_ns);
                if !self.plan.starts_are_intended {
                    self.service.record(times.end_ns - times.start_ns);
                    self.queue.record(queue_ns);
                }
            }
        }
    }

    fn count_failure(&mut self, script: usize, failure: Failure) {
        self.units.failed += 1;
        self.scripts[script].failed += 1;
        let class = match failure {
            Failure::Serialization => &mut self.units.failed_serialization,
            Failure::Deadlock => &mut self.units.failed_deadlock,
            Failure::Other => &mut self.units.failed_other,
            Failure::Unfinished => &mut self.units.failed_unfinished,
        };
        *class += 1;
    }

    /// A counted unit was never started.
    pub(super) fn counted_unit_skipped(&mut self) {
        self.units.skipped += 1;
    }

    /// A counted unit started so long after it could and should have.
    pub(super) fn counted_unit_started(&mut self, now_ns: u64, lateness_ns: u64) {
        self.first_start_ns = self.first_start_ns.min(now_ns);
        if !self.plan.starts_are_intended {
            self.lateness.record(lateness_ns);
        }
    }

    /// A statement of a counted unit completed.
    pub(super) fn statement_completed(&mut self, statement: usize, service_ns: u64, rows: Rows) {
        let record = &mut self.statements[statement];
        record.service.record(service_ns);
        record.rows += rows.returned;
        record.rows_affected += rows.affected;
    }

    /// Another thread's record as well.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.sums.chunks.take(&mut other.sums.chunks);
        self.units += other.units;
        for (mine, theirs) in self.scripts.iter_mut().zip(&other.scripts) {
            mine.response.merge(&theirs.response);
            mine.successful += theirs.successful;
            mine.failed += theirs.failed;
        }
        for (mine, theirs) in self.statements.iter_mut().zip(&other.statements) {
            mine.service.merge(&theirs.service);
            mine.rows += theirs.rows;
            mine.rows_affected += theirs.rows_affected;
        }
        self.series.merge(&other.series);
        self.service.merge(&other.service);
        self.queue.merge(&other.queue);
        self.lateness.merge(&other.lateness);
        self.ended_queue_ns += other.ended_queue_ns;
        self.ended_response_ns += other.ended_response_ns;
        self.in_flight_ns += other.in_flight_ns;
        self.units_with_warm_up += other.units_with_warm_up;
        self.first_start_ns = self.first_start_ns.min(other.first_start_ns);
        self.last_end_ns = self.last_end_ns.max(other.last_end_ns);
    }

    /// Response, service and queue time of all successful units.
    pub(super) fn totals(&self) -> (Tally, Tally, Tally) {
        let mut response = Tally::new();
        self.scripts.iter().for_each(|script| response.merge(&script.response));
        if !self.plan.starts_are_intended {
            return (response, self.service.clone(), self.queue.clone());
        }
        let mut queue = Tally::new();
        queue.record_n(0, response.count());
        (response.clone(), response, queue)
    }

    /// How late counted units started.
    pub(super) fn lateness(&self) -> Lateness {
        self.lateness.to_lateness()
    }
}

impl std::ops::AddAssign for Units {
    fn add_assign(&mut self, other: Self) {
        self.successful += other.successful;
        self.skipped += other.skipped;
        self.failed += other.failed;
        self.retried += other.retried;
        self.late += other.late;
        self.failed_serialization += other.failed_serialization;
        self.failed_deadlock += other.failed_deadlock;
        self.failed_other += other.failed_other;
        self.failed_unfinished += other.failed_unfinished;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(starts_are_intended: bool) -> Record {
        let plan = RecordPlan {
            scripts: 1,
            statements: 1,
            series_step_ns: 100,
            latency_limit_ns: None,
            starts_are_intended,
            work_is_fixed: false,
            chunk_ns: 100,
        };
        Record::new(plan, Window::new(0, 1000, 250, 0))
    }

    fn times(intended_ns: u64, start_ns: u64, end_ns: u64) -> UnitTimes {
        UnitTimes { intended_ns, start_ns, end_ns }
    }

    #[test]
    fn the_series_and_the_mean_in_flight_see_what_the_window_sees() {
        let mut record = record(true);
        record.unit_ended(&times(900, 900, 1050), Fate::Successful);
        record.unit_ended(&times(1050, 1050, 1240), Fate::Successful);
        record.unit_ended(&times(1240, 1240, 1400), Fate::Successful);
        record.unit_ended(&times(1100, 1100, 1110), Fate::Failed(Failure::Other));
        assert_eq!(vec![1, 0, 1], record.series.units);
        assert_eq!(vec![150, 0, 190], record.series.response_time_sum_ns);
        assert_eq!(vec![0, 1, 0], record.series.failed);
        assert_eq!(50 + 190 + 10, record.in_flight_ns);
    }

    #[test]
    fn both_clocks_and_the_counts_reconcile() {
        let mut record = record(false);
        record.counted_unit_ended(0, &times(1000, 1010, 1050), Fate::Successful, 1);
        record.counted_unit_ended(0, &times(1000, 1000 + LATE_QUEUE_NS + 1, 20_000_000), Fate::Successful, 3);
        record.counted_unit_ended(0, &times(1000, 1000, 1001), Fate::Failed(Failure::Deadlock), 2);
        record.counted_unit_skipped();
        let units = record.units;
        assert_eq!((2, 1, 1, 2, 1), (units.successful, units.skipped, units.failed, units.retried, units.late));
        assert_eq!(1, units.failed_deadlock);
        let (response, service, queue) = record.totals();
        assert_eq!(response.sum_ns, service.sum_ns + queue.sum_ns);
        assert_eq!(record.ended_response_ns, response.sum_ns + 1);
    }

    #[test]
    fn without_queues_response_and_service_time_are_one() {
        let mut record = record(true);
        record.counted_unit_ended(0, &times(1000, 1000, 1050), Fate::Successful, 1);
        let (response, service, queue) = record.totals();
        assert_eq!((1, 50), (response.count(), response.sum_ns));
        assert_eq!((1, 50), (service.count(), service.sum_ns));
        assert_eq!((1, 0), (queue.count(), queue.sum_ns));
    }
}
