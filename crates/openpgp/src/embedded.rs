//! Signatures over data that hold other signatures.
//!
//! 1. The library takes no signature within another one but that of a part which says whose it is.
//!    Others may stand there all the same (RFC 9580, 5.2.3.34). They mean nothing for the data:
//!    here they are bytes, which are signed with the rest.

use pgp::packet::{Packet, PacketHeader, Signature, SubpacketData};

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

/// Where the numbers of a signature's subpackets stand in its body.
fn numbers(body: &[u8]) -> Option<Vec<usize>> {
    // Version, kind, key and hash stand in front of both areas.
    let (width, mut at) = match body.first()? {
        4 => (2, 4),
        6 => (4, 4),
        _ => return None,
    };
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let length = big_endian(body.get(at..at + width)?);
        at += width;
        let end = at.checked_add(length).filter(|end| *end <= body.len())?;
        while at < end {
            let (length, behind) = match body[at] {
                short @ 0..192 => (usize::from(short), at + 1),
                long @ 192..255 => {
                    let low = usize::from(*body.get(at + 1)?);
                    ((usize::from(long) - 192) * 256 + low + 192, at + 2)
                }
                255 => (big_endian(body.get(at + 1..at + 5)?), at + 5),
            };
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

    use super::*;
    use crate::detached::{signatures, verify_detached};
    use crate::keys::{Algorithm, NewKey, certificate_of, config_for};
    use crate::packet::to_bytes;
    use crate::stats::Stats;

    #[test]
    fn a_signature_over_data_may_hold_another_one() {
        for v6 in [false, true] {
            let new = NewKey {
                users: vec!["Ada".to_owned()],
                algorithm: Algorithm::Curve25519,
                v6,
                passphrase: None,
                lifetime_s: None,
                signing_only: true,
            };
            let key = new.generate().unwrap();
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
                let header = PacketHeader::new_fixed(pgp::types::Tag::Signature, length as u32);
                let _ = super::read(header, &body[..length]);
            }
        }
    }
}
