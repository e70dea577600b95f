//! DER, as far as keys that come from elsewhere, and certificates for keys, need it: fields one
//! behind the other, and what opening a keystore costs.
//!
//! 1. Lengths are of at most four bytes, and within what is there; depth is bounded
//!    ([`DEPTH_MAX`]).
//! 2. Whatever hashes a passphrase stands in DER as a salt and, right behind it, numbers: how often
//!    (PBES1, PBKDF2, the sum of the whole), then perhaps how long the key is (PBKDF2), or three
//!    numbers: how often and how wide (scrypt). So the cost is found without knowing each scheme,
//!    and nothing is missed that looks like them.

/// Tags.
pub(crate) const BOOLEAN: u8 = 1;
pub(crate) const INTEGER: u8 = 2;
pub(crate) const BITS: u8 = 3;
pub(crate) const OCTETS: u8 = 4;
pub(crate) const NULL: u8 = 5;
pub(crate) const NAME: u8 = 6;
pub(crate) const SEQUENCE: u8 = 0x30;
/// The bit of a tag whose contents are fields.
const CONSTRUCTED: u8 = 0x20;
/// No keystore is nested deeper.
const DEPTH_MAX: usize = 24;
/// How long a hash is: those that are longer make more of it.
const BLOCK_BYTES: u64 = 32;

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

/// A field with these contents, one behind the other.
pub(crate) fn put(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let digits = length.to_be_bytes();
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    // All at once, so that growing leaves no copy of a secret behind.
    let mut all = Vec::with_capacity(length + 2 + digits.len());
    all.push(tag);
    if length > 0x7F {
        all.push(0x80 | (digits.len() - zeros) as u8);
        all.extend_from_slice(&digits[zeros..]);
    } else {
        all.push(length as u8);
    }
    parts.iter().for_each(|part| all.extend_from_slice(part));
    all
}

/// A number that is not negative.
pub(crate) fn put_number(digits: &[u8]) -> Vec<u8> {
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let digits = &digits[zeros..];
    // Without a zero before it, a number with its first bit set would be negative.
    let is_bare = digits.first().is_some_and(|first| *first < 0x80);
    put(INTEGER, &[if is_bare { &[] } else { &[0] }, digits])
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
    // The numbers behind a salt.
    let mut numbers: Option<Vec<u64>> = None;
    while let Some((tag, contents, behind)) = first(rest) {
        match (tag, &mut numbers) {
            (INTEGER, Some(all)) => all.push(number(contents)),
            (OCTETS, _) => {
                count(numbers.replace(Vec::new()).as_deref(), cost);
                if contents.first() == Some(&SEQUENCE) && depth < DEPTH_MAX {
                    look(contents, depth + 1, cost);
                }
            }
            _ => count(numbers.take().as_deref(), cost),
        }
        if tag & CONSTRUCTED != 0 && depth < DEPTH_MAX {
            look(contents, depth + 1, cost);
        }
        rest = behind;
    }
    count(numbers.as_deref(), cost);
}

fn count(numbers: Option<&[u64]>, (sum, most): &mut (u64, u64)) {
    let times = match numbers {
        // An octet string without a number behind it is no salt.
        None | Some([]) => 0,
        // PBKDF2 hashes as often again for each block of a key.
        Some([times, length]) => times.saturating_mul(length.div_ceil(BLOCK_BYTES).max(1)),
        Some(all) => all.iter().fold(1, |product: u64, one| product.saturating_mul(*one)),
    };
    let times = if times > 1 { times } else { 0 };
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
        // The length of a key, as Java writes it, and one that makes it dear.
        let with = |length: u8| [OCTETS, 1, 9, INTEGER, 2, 0x07, 0xd0, INTEGER, 1, length];
        assert_eq!(
            (hashes(&with(32)).1, hashes(&with(0)).1, hashes(&with(96)).1),
            (2000, 2000, 6000)
        );
        // scrypt's: 1,024 times, 8 wide, 2 at once.
        let scrypt = [OCTETS, 1, 9, INTEGER, 2, 4, 0, INTEGER, 1, 8, INTEGER, 1, 2];
        assert_eq!(hashes(&scrypt), (16_384, 16_384));
        // A number that has no salt before it, and a negative one that has.
        assert_eq!(hashes(&[INTEGER, 1, 9, OCTETS, 1, 9]), (0, 0));
        assert_eq!(hashes(&[OCTETS, 1, 9, INTEGER, 1, 0xff]).1, u64::MAX);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for length in [0_usize, 1, 127, 128, 255, 256, 65_535, 65_536] {
            let contents = vec![7; length];
            let written = put(OCTETS, &[&contents, &[]]);
            assert_eq!(field(&written, OCTETS), Some((&contents[..], &[][..])), "{length}");
        }
        assert_eq!(put_number(&[]), [INTEGER, 1, 0]);
        assert_eq!(put_number(&[0, 0, 0x7F]), [INTEGER, 1, 0x7F]);
        assert_eq!(put_number(&[0x80, 1]), [INTEGER, 3, 0, 0x80, 1]);
    }

    #[test]
    fn lengths_that_do_not_fit_end_the_look() {
        for cut in [&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff][..], &[OCTETS, 9], &[SEQUENCE], &[]] {
            assert_eq!(hashes(cut), (0, 0));
        }
    }
}
