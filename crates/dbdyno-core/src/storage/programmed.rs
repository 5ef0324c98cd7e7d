//! A device of known truth on a clock of its own: a queue with some servers, whose times the law gives.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;

use super::device::{Device, Ended, Request};
use super::law::{Cache, Drift, Law, Mode};
use crate::script::Random;

/// The device and its time, which goes on from cell to cell.
#[derive(Debug)]
pub(super) struct Programmed {
    pub law: Law,
    pub now_ns: u64,
    random: Random,
    /// When each server is done.
    free_ns: BinaryHeap<Reverse<u64>>,
    /// (end, slot, bytes) of what is in flight.
    in_flight: BinaryHeap<Reverse<(u64, usize, u32)>>,
    zero: HashMap<usize, bool>,
    link_free_ns: u64,
    tokens: f64,
    tokens_at_ns: u64,
    cached: Cached,
    drift: f64,
    drift_at_ns: u64,
}

/// How often the drift is drawn anew.
const DRIFT_STEP_NS: u64 = 1_000_000;
const CACHE_PAGE_BYTES: u64 = 8192;

impl Programmed {
    pub(super) fn new(law: Law) -> Self {
        Self {
            now_ns: 0,
            random: Random::from_seed(law.seed),
            free_ns: (0..law.servers).map(|_| Reverse(0)).collect(),
            in_flight: BinaryHeap::new(),
            zero: HashMap::new(),
            link_free_ns: 0,
            tokens: law.bucket.map_or(0.0, |bucket| bucket.burst_bytes),
            tokens_at_ns: 0,
            cached: Cached::default(),
            drift: 0.0,
            drift_at_ns: 0,
            law,
        }
    }

    /// A time of this law, as the drift has it now.
    pub(super) fn lognormal_ns(&mut self, median_ns: f64, sigma: f64) -> f64 {
        let drift = self.drift_now();
        median_ns * (sigma * normal(&mut self.random) + drift).exp()
    }

    fn work_ns(&mut self, request: Request) -> f64 {
        let zeros = self.law.zeros.filter(|zeros| !request.write && request.offset >= zeros.from_byte);
        self.zero.insert(request.slot, zeros.is_some());
        if let Some(zeros) = zeros {
            return zeros.median_ns;
        }
        if let Some(cache) = self.law.cache
            && self.cached.touch(&cache, request, &mut self.random)
        {
            return self.lognormal_ns(cache.median_ns, cache.sigma);
        }
        let mode = self.mode();
        self.lognormal_ns(mode.median_ns, mode.sigma)
    }

    fn mode(&mut self) -> Mode {
        let mut drawn = self.random.next_f64();
        for mode in &self.law.modes {
            drawn -= mode.share;
            if drawn < 0.0 {
                return *mode;
            }
        }
        *self.law.modes.last().expect("a law has a mode")
    }

    /// When these bytes may pass the bucket, at the earliest.
    fn through_bucket_ns(&mut self, from_ns: u64, bytes: u32) -> u64 {
        let Some(bucket) = self.law.bucket else { return from_ns };
        let from_ns = from_ns.max(self.tokens_at_ns);
        let refilled = (from_ns - self.tokens_at_ns) as f64 / 1e9 * bucket.bytes_per_s;
        self.tokens = (self.tokens + refilled).min(bucket.burst_bytes) - f64::from(bytes);
        let wait_ns = (-self.tokens).max(0.0) / bucket.bytes_per_s * 1e9;
        self.tokens += wait_ns / 1e9 * bucket.bytes_per_s;
        self.tokens_at_ns = from_ns + wait_ns as u64;
        self.tokens_at_ns
    }

    fn after_stalls_ns(&self, from_ns: u64) -> u64 {
        let mut at_ns = from_ns;
        for stall in &self.law.stalls {
            if (stall.at_ns..stall.at_ns + stall.for_ns).contains(&at_ns) {
                at_ns = stall.at_ns + stall.for_ns;
            }
        }
        at_ns
    }

    fn over_link_ns(&mut self, from_ns: u64, bytes: u32) -> u64 {
        let Some(bytes_per_s) = self.law.bytes_per_s else { return from_ns };
        self.link_free_ns = self.link_free_ns.max(from_ns) + (f64::from(bytes) / bytes_per_s * 1e9) as u64;
        self.link_free_ns
    }

    fn drift_now(&mut self) -> f64 {
        let Some(Drift { sigma, correlation_ns }) = self.law.drift else { return 0.0 };
        if self.drift_at_ns == 0 {
            self.drift = sigma * normal(&mut self.random);
            self.drift_at_ns = self.now_ns.max(1);
        }
        let elapsed_ns = self.now_ns.saturating_sub(self.drift_at_ns);
        if elapsed_ns >= DRIFT_STEP_NS {
            let kept = (-(elapsed_ns as f64) / correlation_ns).exp();
            self.drift = kept * self.drift + sigma * (1.0 - kept * kept).sqrt() * normal(&mut self.random);
            self.drift_at_ns = self.now_ns;
        }
        self.drift
    }
}

impl Device for Programmed {
    fn now_ns(&mut self) -> u64 {
        self.now_ns
    }

    fn start(&mut self, request: Request) -> io::Result<()> {
        self.now_ns += self.law.host_ns;
        let admitted_ns = self.through_bucket_ns(self.now_ns, request.bytes);
        let Reverse(free_ns) = self.free_ns.pop().expect("a law has a server");
        let begun_ns = self.after_stalls_ns(admitted_ns.max(free_ns));
        let worked_ns = begun_ns + self.work_ns(request) as u64;
        self.free_ns.push(Reverse(worked_ns));
        let end_ns = self.over_link_ns(worked_ns, request.bytes);
        self.in_flight.push(Reverse((end_ns, request.slot, request.bytes)));
        Ok(())
    }

    fn wait(&mut self, deadline_ns: Option<u64>, ended: &mut Vec<Ended>) -> io::Result<()> {
        let next_ns = self.in_flight.peek().map(|Reverse((end_ns, ..))| *end_ns);
        let until_ns = next_ns.into_iter().chain(deadline_ns).min();
        self.now_ns = self.now_ns.max(until_ns.expect("the loop waits for an I/O or for a time"));
        while let Some(&Reverse((end_ns, slot, bytes))) = self.in_flight.peek()
            && end_ns <= self.now_ns
        {
            self.in_flight.pop();
            ended.push(Ended { slot, result: bytes as i32, at_ns: self.now_ns });
        }
        Ok(())
    }

    fn is_zero(&mut self, slot: usize) -> bool {
        self.zero.get(&slot).copied().unwrap_or(false)
    }
}

/// Which pages the device has in its memory.
#[derive(Debug, Default)]
struct Cached {
    pages: Vec<u64>,
    places: HashMap<u64, usize>,
}

impl Cached {
    /// Whether all pages of the I/O were there; they are now.
    fn touch(&mut self, cache: &Cache, request: Request, random: &mut Random) -> bool {
        let first = request.offset / CACHE_PAGE_BYTES;
        let last = (request.offset + u64::from(request.bytes) - 1) / CACHE_PAGE_BYTES;
        let room = (cache.bytes / CACHE_PAGE_BYTES).max(1) as usize;
        let missing = (first..=last).filter(|page| !self.has_page(*page, room, random)).count();
        missing == 0
    }

    fn has_page(&mut self, page: u64, room: usize, random: &mut Random) -> bool {
        if self.places.contains_key(&page) {
            return true;
        }
        if self.pages.len() < room {
            self.places.insert(page, self.pages.len());
            self.pages.push(page);
        } else {
            let place = ((u128::from(random.next_u64()) * self.pages.len() as u128) >> 64) as usize;
            self.places.remove(&self.pages[place]);
            self.places.insert(page, place);
            self.pages[place] = page;
        }
        false
    }
}

/// A standard normal number (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.next_f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.next_f64()).cos()
}
