//! "Did you mean": the known word that a mistyped one is nearest to.

/// A tail for an error message, or nothing if no known word is near enough.
pub(super) fn did_you_mean<'a>(seen: &str, known: impl Iterator<Item = &'a str>) -> String {
    let seen = seen.to_lowercase();
    let nearest = known.map(|word| (edit_distance(&seen, word), word)).min();
    match nearest {
        // A third of the letters wrong is still a typing mistake; more is another word.
        Some((distance, word)) if distance * 3 <= word.len().max(3) => format!("; did you mean {word}?"),
        _ => String::new(),
    }
}

/// Insertions, deletions, replacements and exchanges of neighbours that lead from one word to the other.
fn edit_distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut current = vec![row];
        for column in 1..=to.len() {
            let replacement = usize::from(from[row - 1] != to[column - 1]);
            let mut distance = (last[column] + 1).min(current[column - 1] + 1).min(last[column - 1] + replacement);
            let exchanged = row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
            if exchanged {
                distance = distance.min(before_last[column - 2] + 1);
            }
            current.push(distance);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}
