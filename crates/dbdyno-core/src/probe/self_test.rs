//! Before memory is believed: what it says must be what the server itself says.

use super::names::WaitNames;
use super::sampler::MemorySampler;
use super::sql::SqlWaits;

/// An event that changes while the server answers proves nothing, so there are several attempts.
const ATTEMPTS: usize = 5;

/// Compare events read from memory with pg_stat_activity, once.
///
/// Only events that were the same before and after the query are compared. A process that the server
/// shows without an event is skipped unless memory says the same, because rights may hide it.
pub fn agrees_with_server(
    sampler: &mut MemorySampler,
    client_pids: &[i32],
    names: WaitNames,
    query: &mut SqlWaits,
) -> Result<(), String> {
    let background = sampler.background.iter().filter_map(|watched| Some((watched.pid, watched.word?)));
    let words: Vec<(i32, usize)> =
        client_pids.iter().enumerate().map(|(client, &pid)| (pid, client)).chain(background).collect();
    let mut complaint = "no event held still long enough to be compared with pg_stat_activity".to_owned();
    for _ in 0..ATTEMPTS {
        match compare(sampler, &words, names, query)? {
            Comparison { agreed, disagreement: None } if agreed > 0 => return Ok(()),
            Comparison { disagreement: Some(disagreement), .. } => complaint = disagreement,
            _ => {}
        }
    }
    Err(complaint)
}

struct Comparison {
    agreed: usize,
    disagreement: Option<String>,
}

fn compare(
    sampler: &MemorySampler,
    words: &[(i32, usize)],
    names: WaitNames,
    query: &mut SqlWaits,
) -> Result<Comparison, String> {
    let read_all = || -> std::io::Result<Vec<u32>> {
        words.iter().map(|&(_, word)| sampler.backends.source.read_one(word)).collect()
    };
    let before = read_all().map_err(|error| error.to_string())?;
    let rows = query()?;
    let after = read_all().map_err(|error| error.to_string())?;
    let mut comparison = Comparison { agreed: 0, disagreement: None };
    for (pid, shown) in rows {
        let Some(index) = words.iter().position(|&(known, _)| known == pid) else { continue };
        let (Some(shown), true) = (shown, before[index] == after[index]) else { continue };
        let read = if after[index] == 0 { "no wait event".to_owned() } else { names.name(after[index]) };
        match read == shown {
            true => comparison.agreed += 1,
            false => {
                let disagreement = format!("process {pid}: memory says {read}, the server {shown}");
                comparison.disagreement = Some(disagreement);
            }
        }
    }
    Ok(comparison)
}
