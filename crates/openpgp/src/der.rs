//! DER, as far as keys that come from elsewhere need it: fields one behind the other, and what
//! opening a keystore costs.
//!
//! 1. Lengths are of at most four bytes, and within what is there; depth is bounded
//!    ([`DEPTH_MAX`]).
//! 2. Whatever hashes a passphrase stands in DER as a salt and, right behind it, numbers: how often
//!    (PBES1, PBKDF2, the sum of the whole), or how often and how wide (scrypt). So the cost is
//!    found without knowing each scheme, and nothing is missed that looks like them.

/// Tags.
pub(crate) const INTEGER: u8 = 2;
pub(crate) const OCTETS: u8 = 4;
pub(crate) const SEQUENCE: u8 = 0x30;
/// The bit of a tag whose contents are fields.
const CONSTRUCTED: u8 = 0x20;
/// No keystore is nested deeper.
const DEPTH_MAX: usize = 24;

/// The first field: its tag, its contents, and what is behind it.
fn first(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match *first {
        short @ 0..=0x7F => (usize::from(short), rest),
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x0F))?;
            (digits.iter().fold(0, |sum, digit| (sum << 8) | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (contents, behind) = rest.split_at_checked(length)?;
    Some((*tag, contents, behind))
}

/// The contents of a field with that tag, and what is behind it.
pub(crate) fn field(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, contents, behind) = first(bytes)?;
    (found == tag).then_some((contents, behind))
}

/// How often passphrases are hashed to open everything that is in clear here (2): the sum, and the
/// most of one part.
pub(crate) fn hashes(bytes: &[u8]) -> (u64, u64) {
    let mut cost = (0, 0);
    look(bytes, 0, &mut cost);
    cost
}

fn look(bytes: &[u8], depth: usize, cost: &mut (u64, u64)) {
    let mut rest = bytes;
    // The product of the numbers behind a salt.
    let mut product: Option<u64> = None;
    while let Some((tag, contents, behind)) = first(rest) {
        match (tag, product) {
            (INTEGER, Some(before)) => product = Some(before.saturating_mul(number(contents))),
            (OCTETS, _) => {
                count(product.replace(1), cost);
                if contents.first() == Some(&SEQUENCE) && depth < DEPTH_MAX {
                    look(contents, depth + 1, cost);
                }
            }
            _ => count(product.take(), cost),
        }
        if tag & CONSTRUCTED != 0 && depth < DEPTH_MAX {
            look(contents, depth + 1, cost);
        }
        rest = behind;
    }
    count(product, cost);
}

fn count(product: Option<u64>, (sum, most): &mut (u64, u64)) {
    // An octet string without a number behind it is no salt.
    let times = product.filter(|times| *times > 1).unwrap_or(0);
    *sum = sum.saturating_add(times);
    *most = times.max(*most);
}

/// A number; one that is negative or longer than any has to be is as good as endless.
fn number(contents: &[u8]) -> u64 {
    let digits = contents.strip_prefix(&[0]).unwrap_or(contents);
    match (contents.first(), digits.len()) {
        (Some(0..=0x7f), 0..=7) => {
            digits.iter().fold(0, |sum, digit| (sum << 8) | u64::from(*digit))
        }
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_salt_is_counted_wherever_it_is() {
        // PBKDF2's parameters: a salt, 2,000 times; inside of an octet string, twice.
        let one = [SEQUENCE, 8, OCTETS, 2, 9, 9, INTEGER, 2, 0x07, 0xd0];
        let twice = [&one[..], &one[..]].concat();
        let inside = [&[OCTETS, twice.len() as u8], &twice[..]].concat();
        assert_eq!(hashes(&inside), (4000, 2000));
        // scrypt's: 1,024 times, 8 wide, 2 at once.
        let scrypt = [OCTETS, 1, 9, INTEGER, 2, 4, 0, INTEGER, 1, 8, INTEGER, 1, 2];
        assert_eq!(hashes(&scrypt), (16_384, 16_384));
        // A number that has no salt before it, and a negative one that has.
        assert_eq!(hashes(&[INTEGER, 1, 9, OCTETS, 1, 9]), (0, 0));
        assert_eq!(hashes(&[OCTETS, 1, 9, INTEGER, 1, 0xff]).1, u64::MAX);
    }

    #[test]
    fn lengths_that_do_not_fit_end_the_look() {
        for cut in [&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff][..], &[OCTETS, 9], &[SEQUENCE], &[]] {
            assert_eq!(hashes(cut), (0, 0));
        }
    }
}
