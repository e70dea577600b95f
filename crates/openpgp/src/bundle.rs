//! Files of keys: certificates and secret keys behind each other, armored or not.
//!
//! 1. Each key stands for itself: one that cannot be used here is named, and hides no other.
//! 2. Armored blocks may follow each other, as they do where files were joined; all are read. What
//!    stands around them is nobody's.
//! 3. Damage is an error, not a shorter list.

use std::io::Read as _;

use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::types::Tag;
use rpgpie::certificate::Certificate;
use rpgpie::tsk::Tsk;
use zeroize::Zeroizing;

use crate::armor::is_armored;
use crate::dearmor::Dearmorer;
use crate::error::{Error, Result, without_input};
use crate::packet::{is_noise, next_header, skip};

/// How the first line of an armored block begins.
const BEGIN: &[u8] = b"-----BEGIN PGP ";

/// What a file of keys holds, in its order.
#[derive(Default)]
pub struct Bundle {
    /// Certificates; of secret keys there is none here.
    pub certificates: Vec<Certificate>,
    /// Secret keys.
    pub keys: Vec<Tsk>,
    /// Keys that cannot be read here, each in words, with the reason.
    pub left_out: Vec<String>,
}

impl Bundle {
    /// Reads everything that these bytes hold.
    ///
    /// # Errors
    /// If they are no keys, or damaged (3). A bundle may be without a key that can be used.
    pub fn read(bytes: &[u8]) -> Result<Bundle> {
        let mut bundle = Bundle::default();
        let mut source = bytes;
        if !is_armored(&mut source)? {
            bundle.take_all(bytes)?;
        } else {
            for block in blocks(bytes) {
                let mut packets = Zeroizing::new(Vec::with_capacity(block.len()));
                let read = Dearmorer::new(block).read_to_end(&mut packets);
                read.map_err(Error::io("reading keys"))?;
                bundle.take_all(&packets)?;
            }
        }
        if bundle.certificates.is_empty() && bundle.keys.is_empty() && bundle.left_out.is_empty() {
            return Err(Error::NotOpenPgp("there is no key in it".to_owned()));
        }
        Ok(bundle)
    }

    fn take_all(&mut self, packets: &[u8]) -> Result<()> {
        for (tag, key) in split(packets)? {
            self.take(tag, key);
        }
        Ok(())
    }

    /// Takes one key with everything that belongs to it.
    fn take(&mut self, tag: Tag, mut key: &[u8]) {
        let whole = key;
        let why = match tag {
            Tag::SecretKey => match Tsk::load(&mut key) {
                Ok(keys) => return self.keys.extend(keys),
                Err(error) => error,
            },
            _ => match Certificate::load(&mut key) {
                Ok(certificates) => return self.certificates.extend(certificates),
                Err(error) => error,
            },
        };
        self.left_out.push(match kind_of(whole) {
            Some(kind) => format!("{} is of no use here: {kind} is not supported", name_of(whole)),
            None => format!("{} is of no use here: {}", name_of(whole), without_input(&why)),
        });
    }
}

/// The armored blocks of a text, each up to where the next one begins.
fn blocks(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins_line = |at: &usize| matches!(text[..*at].last(), None | Some(b'\n' | b'\r'));
    let is_begin = |at: &usize| text[*at..].starts_with(BEGIN) && begins_line(at);
    let mut begins: Vec<usize> = (0..text.len()).filter(is_begin).collect();
    if begins.is_empty() {
        // Taking the armor off says what is missing.
        begins.push(0);
    }
    let ends = begins.clone().into_iter().skip(1).chain([text.len()]);
    begins.into_iter().zip(ends).map(|(from, to)| &text[from..to])
}

/// The keys in these packets, each with what follows up to the next one.
fn split(packets: &[u8]) -> Result<Vec<(Tag, &[u8])>> {
    let mut begins = Vec::new();
    let mut rest = packets;
    loop {
        let at = packets.len() - rest.len();
        let Some((tag, length)) = next_header(&mut rest)? else { break };
        match tag {
            Tag::PublicKey | Tag::SecretKey => begins.push((tag, at)),
            tag if begins.is_empty() && !is_noise(tag) => {
                let what = format!("it begins with {tag:?}, not with a key");
                return Err(Error::NotOpenPgp(what));
            }
            _ => {}
        }
        skip(&mut rest, length)?;
    }
    let ends = begins.iter().skip(1).map(|(_, at)| *at).chain([packets.len()]);
    Ok(begins.iter().zip(ends).map(|((tag, from), to)| (*tag, &packets[*from..to])).collect())
}

/// What the first packet of a key says that it is, if that is not known here.
fn kind_of(mut key: &[u8]) -> Option<String> {
    next_header(&mut key).ok()??;
    let version = *key.first()?;
    match version {
        4 | 6 => {
            let algorithm = PublicKeyAlgorithm::from(*key.get(5)?);
            Some(match algorithm {
                PublicKeyAlgorithm::ECDSA
                | PublicKeyAlgorithm::ECDH
                | PublicKeyAlgorithm::EdDSALegacy => format!("{algorithm:?} on its curve"),
                other => format!("the algorithm {other:?}"),
            })
        }
        other => Some(format!("version {other} of keys")),
    }
}

/// What to call a key that cannot be read: its first user id.
fn name_of(mut key: &[u8]) -> String {
    while let Ok(Some((tag, length))) = next_header(&mut key) {
        let before = key;
        if skip(&mut key, length).is_err() {
            break;
        }
        if tag == Tag::UserId {
            let user = String::from_utf8_lossy(&before[..before.len() - key.len()]);
            return format!("the key of \"{}\"", user.escape_debug());
        }
    }
    "a key without a user id".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::armor::{Armorer, Label};
    use crate::keys::{Algorithm, NewKey, certificate_of};
    use std::io::Write as _;

    fn key(user: &str) -> Tsk {
        let new = NewKey {
            users: vec![user.to_owned()],
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s: None,
            signing_only: true,
        };
        new.generate().unwrap()
    }

    fn certificate(user: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        certificate_of(&key(user)).save(false, &mut bytes).unwrap();
        bytes
    }

    /// A key of ECDSA on secp256k1, with a user id.
    fn foreign(user: &str) -> Vec<u8> {
        let name = [0x2b, 0x81, 0x04, 0x00, 0x0a];
        let mut body = vec![4, 0, 0, 0, 1, 19, name.len() as u8];
        body.extend(name);
        body.extend([2, 3, 4]);
        body.extend([7; 64]);
        let mut packets = vec![0xc6, body.len() as u8];
        packets.extend(body);
        packets.extend([0xcd, user.len() as u8]);
        packets.extend(user.as_bytes());
        packets
    }

    fn armored(packets: &[u8]) -> Vec<u8> {
        let mut armorer = Armorer::new(Vec::new(), Label::PublicKey);
        armorer.write_all(packets).unwrap();
        armorer.finish().unwrap()
    }

    #[test]
    fn a_key_of_a_kind_that_is_not_known_hides_no_other() {
        let (ada, bob, eve) = (certificate("Ada"), certificate("Bob"), foreign("Eve\u{1b}"));
        for order in [[&ada, &eve, &bob], [&eve, &ada, &bob], [&ada, &bob, &eve]] {
            let bundle = Bundle::read(&order.map(|one| &one[..]).concat()).unwrap();
            assert_eq!((bundle.certificates.len(), bundle.keys.len()), (2, 0));
            let [left_out] = &bundle.left_out[..] else { panic!("{:?}", bundle.left_out) };
            assert!(
                left_out.contains("\"Eve\\u{1b}\"") && left_out.contains("curve"),
                "{left_out}"
            );
        }
        let alone = Bundle::read(&eve).unwrap();
        assert!(alone.certificates.is_empty() && alone.left_out.len() == 1);
    }

    #[test]
    fn armored_blocks_may_follow_each_other_with_text_between() {
        let (ada, bob) = (certificate("Ada"), certificate("Bob"));
        let text = [&armored(&ada)[..], b"from the mail of May:\r\n\r\n", &armored(&bob)].concat();
        assert_eq!(Bundle::read(&text).unwrap().certificates.len(), 2);
        let both = [&armored(&[&ada[..], &bob].concat())[..], &armored(&ada)].concat();
        assert_eq!(Bundle::read(&both).unwrap().certificates.len(), 3);
    }

    #[test]
    fn secret_keys_and_certificates_are_told_apart() {
        let mut secret = Vec::new();
        key("Ada").save(false, &mut secret).unwrap();
        let bundle = Bundle::read(&[&certificate("Bob")[..], &secret].concat()).unwrap();
        assert_eq!((bundle.certificates.len(), bundle.keys.len()), (1, 1));
    }

    #[test]
    fn what_is_cut_or_no_key_is_an_error() {
        let ada = certificate("Ada");
        for cut in [1, ada.len() / 2, ada.len() - 1] {
            assert!(Bundle::read(&ada[..cut]).is_err(), "{cut}");
        }
        for none in [&b""[..], b"no key", &[0xca, 3, b'P', b'G', b'P'], &[0xcd, 1, b'A']] {
            assert!(Bundle::read(none).is_err(), "{none:?}");
        }
    }
}
