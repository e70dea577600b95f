//! Which known name a user may have meant.
//!
//! 1. Only a name that is really near is offered: a wrong advice is worse than none.

/// The known name that is nearest to this one, if one is near (1).
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(name);
    let allowed = (wanted.len() / 3).max(1);
    let distances = known.map(|known| (distance(&wanted, &plain(known)), known));
    distances.filter(|(distance, _)| *distance <= allowed).min_by_key(|one| one.0).map(|one| one.1)
}

/// What counts of a name: letters and digits, whatever their size and what stands between them.
fn plain(name: &str) -> Vec<char> {
    let counts = |c: &char| c.is_alphanumeric();
    name.chars().filter(counts).take(64).map(|c| c.to_ascii_lowercase()).collect()
}

/// How many characters have to be put in, left out, changed or swapped with their neighbour.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let changed = row[j] + usize::from(a != b);
            let mut least = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_offered() {
        let known = ["-cipher-name", "-digest-name", "-armor", "-rA"];
        let near = |name| nearest(name, known.iter().copied());
        assert_eq!(near("-cypher-name"), Some("-cipher-name"));
        assert_eq!(near("-amror"), Some("-armor"));
        assert_eq!(near("CIPHERNAME"), Some("-cipher-name"));
        assert_eq!(near("-something-else"), None);
    }
}
