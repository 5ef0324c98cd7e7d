//! Which processes are looked at in a sweep: their state costs a system call, their event does not.
//!
//! Every visit of a process is looked at with the same known probability, 1 in `every`, by counting
//! down a random gap of 1 to 2 `every` - 1 visits. Nothing about the visit enters but whether its session
//! was busy: there are two strata, busy ones with a larger share of the looks. Within a cell of equal
//! state the looked-at snapshots are therefore a random sample of the seen ones, which is what two-phase
//! sampling needs (Neyman 1938): asleep in e = seen in e x asleep / looked in e.
//!
//! A fixed gap would fall into step with the order of the slots and look at the same few for ever.

/// Share of the looks for busy sessions, as long as both kinds are there.
const BUSY_SHARE: f64 = 0.8;

/// The next looks of both strata.
pub struct Looks {
    busy: Stratum,
    quiet: Stratum,
    sweeps: u64,
    random: u64,
}

struct Stratum {
    every: u64,
    left: u64,
    visits: u64,
}

impl Looks {
    /// All are looked at until told otherwise.
    pub fn new() -> Self {
        let stratum = || Stratum { every: 1, left: 1, visits: 0 };
        Looks { busy: stratum(), quiet: stratum(), sweeps: 0, random: 0x9e37_79b9_7f4a_7c15 }
    }

    /// All processes are visited once more.
    pub fn begin_sweep(&mut self) {
        self.sweeps += 1;
    }

    /// Whether to look at this visit.
    pub fn is_due(&mut self, busy: bool) -> bool {
        let stratum = if busy { &mut self.busy } else { &mut self.quiet };
        stratum.visits += 1;
        stratum.left -= 1;
        let due = stratum.left == 0;
        if due {
            // xorshift64 (Marsaglia 2003).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            stratum.left = 1 + self.random % (2 * stratum.every - 1);
        }
        due
    }

    /// So many looks a sweep from now on, on average, if as many visits come as in the sweeps since the
    /// last call.
    pub fn retune(&mut self, looks_per_sweep: f64) {
        let wanted = looks_per_sweep * std::mem::take(&mut self.sweeps) as f64;
        let (busy, quiet) = (self.busy.visits as f64, self.quiet.visits as f64);
        // A stratum that needs less than its share leaves the rest to the other.
        let for_busy = (wanted * BUSY_SHARE).max(wanted - quiet).min(busy);
        let for_quiet = (wanted - for_busy).min(quiet);
        self.busy.retune(for_busy);
        self.quiet.retune(for_quiet);
    }

    /// Half as many from now on: for a sweep in which far more processes were busy than when the rate
    /// was set.
    pub fn halve(&mut self) {
        self.busy.every *= 2;
        self.quiet.every *= 2;
    }
}

impl Stratum {
    fn retune(&mut self, looks: f64) {
        let visits = std::mem::take(&mut self.visits);
        if visits > 0 {
            self.every = (visits as f64 / looks.max(1e-9)).ceil().clamp(1.0, 1e6) as u64;
            self.left = self.left.min(2 * self.every - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks_of(looks: &mut Looks, busy: bool, visits: usize) -> usize {
        (0..visits).filter(|_| looks.is_due(busy)).count()
    }

    fn retune_after_100(looks: &mut Looks, looks_per_sweep: f64) {
        (0..100).for_each(|_| looks.begin_sweep());
        looks.retune(looks_per_sweep);
    }

    #[test]
    fn all_are_looked_at_until_the_rate_is_known_and_then_the_wanted_share() {
        let mut looks = Looks::new();
        assert_eq!((800, 200), (looks_of(&mut looks, true, 800), looks_of(&mut looks, false, 200)));
        retune_after_100(&mut looks, 1.0);
        let busy = looks_of(&mut looks, true, 100_000);
        let quiet = looks_of(&mut looks, false, 100_000);
        assert!((9_700..10_300).contains(&busy), "800 visits, 80 looks: 1 in 10, not {busy} of 100,000");
        assert!((9_700..10_300).contains(&quiet), "200 visits, 20 looks: 1 in 10, not {quiet} of 100,000");
    }

    #[test]
    fn a_stratum_that_needs_less_leaves_the_rest_to_the_other() {
        let mut looks = Looks::new();
        looks_of(&mut looks, true, 10);
        looks_of(&mut looks, false, 1000);
        retune_after_100(&mut looks, 1.1);
        assert_eq!((1, 10), (looks.busy.every, looks.quiet.every));
        looks_of(&mut looks, true, 1000);
        looks_of(&mut looks, false, 10);
        retune_after_100(&mut looks, 1.1);
        assert_eq!((10, 1), (looks.busy.every, looks.quiet.every));
    }

    #[test]
    fn each_slot_of_a_round_gets_its_part_also_where_the_gap_divides_their_number() {
        let mut looks = Looks::new();
        looks_of(&mut looks, true, 100);
        retune_after_100(&mut looks, 0.25);
        let mut by_slot = [0_u32; 8];
        for visit in 0..80_000 {
            by_slot[visit % 8] += u32::from(looks.is_due(true));
        }
        assert!(by_slot.iter().all(|count| (2300..2700).contains(count)), "{by_slot:?}");
    }

    #[test]
    fn a_surge_halves_the_rate() {
        let mut looks = Looks::new();
        looks.halve();
        let seen = looks_of(&mut looks, true, 10_000);
        assert!((4_800..5_200).contains(&seen), "{seen}");
    }
}
