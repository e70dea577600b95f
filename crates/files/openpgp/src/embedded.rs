//! Signatures over data that hold other signatures.
//!
//! 1. The library takes no signature within another one but that of a part which says whose it is.
//!    Others may stand there all the same (RFC 9580, 5.2.3.34). They mean nothing for the data:
//!    here they are bytes, which are signed with the rest.
//! 2. What is not signed of a signature anybody may have put there. Where it is malformed it is
//!    left out, and only hints at who signed are kept, and what proves itself.

use pgp::packet::{Packet, PacketHeader, Signature, SubpacketData};
use pgp::types::Tag;

/// The number of subpackets that hold a signature.
const EMBEDDED: u8 = 32;
/// The number of subpackets of which the library looks at nothing.
const OPAQUE: u8 = 110;
/// What is set in the number of a subpacket that has to be understood.
const CRITICAL: u8 = 0x80;

/// A signature whose embedded ones the library does not take (1); `None` if it is not for them that
/// it cannot be read.
pub(crate) fn read(header: PacketHeader, body: &[u8]) -> Option<Signature> {
    let mut body = body.to_vec();
    let places = numbers(&body)?;
    if places.iter().any(|at| body[*at] & !CRITICAL == OPAQUE) {
        return None;
    }
    for at in places {
        if body[at] & !CRITICAL == EMBEDDED {
            body[at] = body[at] & CRITICAL | OPAQUE;
        }
    }
    let Ok(Packet::Signature(read)) = Packet::from_reader(header, &body[..]) else { return None };
    let mut config = read.config()?.clone();
    for part in config.hashed_subpackets.iter_mut().chain(&mut config.unhashed_subpackets) {
        if let SubpacketData::Experimental(OPAQUE, bytes) = &part.data {
            part.data = SubpacketData::Other(EMBEDDED, bytes.clone());
        }
    }
    Signature::from_config(config, read.signed_hash_value()?, read.signature()?.clone()).ok()
}

const ISSUER: u8 = 16;
const ISSUER_PRINT: u8 = 33;

/// A signature of which only what is not signed is malformed, without that (2).
pub(crate) fn repaired(body: &[u8]) -> Option<Signature> {
    let (width, begin) = places(body)?;
    let hashed = big_endian(body.get(begin..begin + width)?);
    let at = (begin + width).checked_add(hashed)?;
    let length = big_endian(body.get(at..at.checked_add(width)?)?);
    let area = at + width;
    let end = area.checked_add(length)?;
    let mut kept = Vec::new();
    let mut rest = body.get(area..end)?;
    while let Some((length, behind)) = subpacket(rest) {
        let Some(whole) = rest.get(..behind.checked_add(length)?) else { break };
        if length > 0 && is_sound(&whole[behind..]) {
            kept.extend_from_slice(whole);
        }
        rest = &rest[whole.len()..];
    }
    let count = u32::try_from(kept.len()).ok()?.to_be_bytes();
    let repaired = [&body[..at], &count[4 - width..], &kept, &body[end..]].concat();
    let header = PacketHeader::new_fixed(Tag::Signature, u32::try_from(repaired.len()).ok()?);
    match Packet::from_reader(header, &repaired[..]) {
        Ok(Packet::Signature(signature)) => Some(signature),
        _ => read(header, &repaired),
    }
}

/// Whether a subpacket outside of what is signed is worth keeping, and whole.
fn is_sound(subpacket: &[u8]) -> bool {
    let Some((kind, value)) = subpacket.split_first() else { return false };
    match (kind & !CRITICAL, value) {
        (ISSUER, _) => value.len() == 8,
        (ISSUER_PRINT, [4, print @ ..]) => print.len() == 20,
        (ISSUER_PRINT, [6, print @ ..]) => print.len() == 32,
        (EMBEDDED, _) => {
            let header = PacketHeader::new_fixed(Tag::Signature, value.len() as u32);
            matches!(Packet::from_reader(header, value), Ok(Packet::Signature(_)))
        }
        _ => false,
    }
}

/// How wide the lengths of the areas of a signature are, and where the first one stands: version,
/// kind, key and hash stand in front of both.
fn places(body: &[u8]) -> Option<(usize, usize)> {
    match body.first()? {
        4 => Some((2, 4)),
        6 => Some((4, 4)),
        _ => None,
    }
}

/// The length of the subpacket that begins here, and where it stands behind that.
fn subpacket(area: &[u8]) -> Option<(usize, usize)> {
    Some(match *area.first()? {
        short @ 0..192 => (usize::from(short), 1),
        long @ 192..255 => {
            let low = usize::from(*area.get(1)?);
            ((usize::from(long) - 192) * 256 + low + 192, 2)
        }
        255 => (big_endian(area.get(1..5)?), 5),
    })
}

/// Where the numbers of a signature's subpackets stand in its body.
fn numbers(body: &[u8]) -> Option<Vec<usize>> {
    let (width, mut at) = places(body)?;
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let length = big_endian(body.get(at..at + width)?);
        at += width;
        let end = at.checked_add(length).filter(|end| *end <= body.len())?;
        while at < end {
            let (length, behind) = subpacket(&body[at..])?;
            let behind = at + behind;
            at = behind.checked_add(length).filter(|next| behind < *next && *next <= end)?;
            numbers.push(behind);
        }
    }
    Some(numbers)
}

fn big_endian(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use pgp::packet::{SignatureType, Subpacket};
    use pgp::ser::Serialize as _;
    use pgp::types::Password;
    use rpgpie::tsk::Tsk;

    use super::*;
    use crate::detached::{signatures, verify_detached};
    use crate::keys::{Algorithm, NewKey, certificate_of};
    use crate::packet::to_bytes;
    use crate::signature_config::config_for;
    use crate::stats::Stats;

    fn signing_key(v6: bool) -> Tsk {
        let new = NewKey {
            users: vec!["Ada".to_owned()],
            algorithm: Algorithm::Curve25519,
            v6,
            passphrase: None,
            lifetime_s: None,
            signing_only: true,
        };
        new.generate().unwrap()
    }

    #[test]
    fn what_is_not_signed_and_malformed_voids_no_signature() {
        for v6 in [false, true] {
            let key = signing_key(v6);
            let signer = &key.key().primary_key;
            let config = config_for(signer, SignatureType::Binary).unwrap();
            let good = config.sign(signer, &Password::empty(), &b"data"[..]).unwrap();
            let body = good.to_bytes().unwrap();
            let (width, begin) = places(&body).unwrap();
            let at = begin + width + big_endian(&body[begin..begin + width]);
            let length = big_endian(&body[at..at + width]);
            let (front, behind) = (&body[..at], &body[at + width + length..]);
            let area = &body[at + width..at + width + length];
            let with = |area: &[u8]| {
                let count = (area.len() as u32).to_be_bytes();
                let body = [front, &count[4 - width..], area, behind].concat();
                [&[0xc2, 255], &(body.len() as u32).to_be_bytes()[..], &body].concat()
            };
            let known = [certificate_of(&key)];
            for junk in [&[0][..], &[3, 16, 1, 2], &[9, 33, 4, 1, 2, 3, 4, 5, 6, 7], &[200], &[255]]
            {
                for area in [[area, junk].concat(), [junk, area].concat()] {
                    let (bytes, stats) = (with(&area), Stats::default());
                    let read = |mut data: &[u8]| {
                        verify_detached(&mut data, &bytes, &known, false, &stats).unwrap()
                    };
                    assert_eq!(read(b"data").verified.len(), 1, "{junk:?}, version 6: {v6}");
                    assert!(read(b"date").verified.is_empty());
                }
            }
            // What is signed voids it, if it is malformed.
            let mut hashed = body.clone();
            hashed[begin + width] = 0;
            assert!(repaired(&hashed).is_none_or(|one| one.created() != good.created()));
            for length in 0..body.len() {
                let _ = repaired(&body[..length]);
            }
        }
    }

    #[test]
    fn a_signature_over_data_may_hold_another_one() {
        for v6 in [false, true] {
            let key = signing_key(v6);
            let signer = &key.key().primary_key;
            let none = Password::empty();
            let plain = || config_for(signer, SignatureType::Binary).unwrap();
            let inner = plain().sign(signer, &none, &b"other"[..]).unwrap();
            let mut outer = plain();
            let held = SubpacketData::EmbeddedSignature(Box::new(inner));
            outer.hashed_subpackets.push(Subpacket::regular(held).unwrap());
            let outer = outer.sign(signer, &none, &b"data"[..]).unwrap();
            let bytes = to_bytes(&outer).unwrap();
            let read = &signatures(&bytes).unwrap()[0];
            assert_eq!(read.to_bytes().unwrap(), outer.to_bytes().unwrap(), "version 6: {v6}");
            let known = [certificate_of(&key)];
            for (data, good) in [(&b"data"[..], 1), (b"date", 0)] {
                let (mut data, stats) = (data, Stats::default());
                let judged = verify_detached(&mut data, &bytes, &known, false, &stats).unwrap();
                assert_eq!(judged.verified.len(), good, "{:?}", judged.doubts());
            }
            // Cut anywhere it is of an unknown sort, and no panic.
            let body = outer.to_bytes().unwrap();
            for length in 0..body.len() {
                let header = PacketHeader::new_fixed(Tag::Signature, length as u32);
                let _ = super::read(header, &body[..length]);
            }
        }
    }
}
