//! Commits on a programmed device: one flushes for all that wait, as the real ones do.

use super::outcome::FlushOutcome;
use super::programmed::Programmed;
use super::spec::Flushes;

/// Commits of all writers in the device's time. A writer whose commit is durable starts the next at once; what comes
/// during a flush is made durable by the next one.
pub(super) fn flush(device: &mut Programmed, asked: &Flushes) -> Option<FlushOutcome> {
    let law = device.law.flush.clone()?;
    let times = law.times.get(&asked.method).copied().unwrap_or(1.0) * (1.0 + f64::from(asked.slowed_per_mille) / 1e3);
    let from_ns = device.now_ns;
    let mut written_ns = vec![from_ns; asked.writers];
    let mut left = vec![asked.commits; asked.writers];
    let (mut times_ns, mut flushes) = (Vec::with_capacity(asked.writers * asked.commits), 0);
    // At first only the first writer has written: the others come while its flush is under way.
    let mut covered: Vec<usize> = vec![0];
    while !covered.is_empty() {
        device.now_ns += device.law.host_ns;
        device.now_ns += (device.lognormal_ns(law.median_ns, law.sigma) * times) as u64;
        flushes += 1;
        let waiting: Vec<usize> =
            (0..asked.writers).filter(|writer| left[*writer] > 0 && !covered.contains(writer)).collect();
        for writer in covered.drain(..) {
            times_ns.push(device.now_ns - written_ns[writer]);
            written_ns[writer] = device.now_ns;
            left[writer] -= 1;
        }
        covered = match waiting.is_empty() {
            false => waiting,
            true => (0..asked.writers).filter(|writer| left[*writer] > 0).collect(),
        };
    }
    Some(FlushOutcome { times_ns, elapsed_ns: device.now_ns - from_ns, flushes })
}
