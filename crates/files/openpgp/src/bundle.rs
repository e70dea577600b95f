//! Files of keys: certificates and secret keys behind each other, armored or not.
//!
//! 1. Each key stands for itself: one that cannot be used here is named, and hides no other.
//! 2. Armored blocks may follow each other, as they do where files were joined; all are read. What
//!    stands around them belongs to none.
//! 3. Damage is an error, not a shorter list.
//! 4. Nothing that a file holds is dropped without a word.

use std::io::Read as _;

use pgp::composed::SignedPublicKey;
use pgp::packet::{Packet, PublicKey, Signature, SignatureType};
use pgp::types::{Fingerprint, Tag};
use rpgpie::certificate::Certificate;
use rpgpie::tsk::Tsk;
use zeroize::Zeroizing;

use crate::armor::is_armored;
use crate::dearmor::Dearmorer;
use crate::error::{Error, Result};
use crate::keys::{certificate_of, key_with_revocation, with_revocation};
use crate::packet::{is_noise, kind_of, next_header, skip};
use crate::revocation::{is_by, revokes_key};
use crate::transferable::{Key, Raw, Transferable, parse};

/// How the first line of an armored block begins.
const BEGIN: &[u8] = b"-----BEGIN PGP ";

/// What a file of keys holds, in its order.
#[derive(Default)]
pub struct Bundle {
    /// Certificates; of secret keys there is none here.
    pub certificates: Vec<Certificate>,
    /// Secret keys.
    pub keys: Vec<Tsk>,
    /// Keys, and parts of keys, that cannot be used here, each in words, with the reason.
    pub left_out: Vec<String>,
    /// What stands with a key and says nothing that could count, in words.
    pub passed_over: Vec<String>,
    /// Revocations that stand alone, as owners publish them, of keys that are not here; those of
    /// keys that are here are in these.
    pub revocations: Vec<Signature>,
    /// Of which certificates a part to encrypt to is left out because such parts are not supported.
    pub unsupported: Vec<Fingerprint>,
}

impl Bundle {
    /// Reads everything that these bytes hold.
    ///
    /// # Errors
    /// If they are no keys, or damaged (3). A bundle may be without a key that can be used.
    pub fn read(bytes: &[u8]) -> Result<Bundle> {
        // There is no message that was damaged.
        Bundle::read_all(bytes).map_err(|error| match error {
            Error::Damaged(why) => Error::NotOpenPgp(format!("the key is damaged: {why}")),
            error => error,
        })
    }

    fn read_all(bytes: &[u8]) -> Result<Bundle> {
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
        bundle.settle();
        if bundle.certificates.is_empty() && bundle.keys.is_empty() && bundle.left_out.is_empty() {
            return Err(Error::NotOpenPgp("there is no key in it".to_owned()));
        }
        Ok(bundle)
    }

    fn take_all(&mut self, packets: &[u8]) -> Result<()> {
        let (alone, keys) = split(packets)?;
        for raw in alone {
            match parse(raw) {
                Some(Packet::Signature(one)) if one.typ() == Some(SignatureType::KeyRevocation) => {
                    self.revocations.push(one);
                }
                _ => return Err(no_key(raw.tag)),
            }
        }
        for key in keys {
            match Transferable::of(&key) {
                Ok(read) => {
                    match read.key {
                        Key::Certificate(one) => {
                            self.unsupported.extend(read.wants_more.then(|| one.fingerprint()));
                            self.certificates.push(*one);
                        }
                        Key::Secret(key) => self.keys.push(*key),
                    }
                    self.left_out.extend(read.left_out);
                    self.passed_over.extend(read.passed_over);
                }
                Err(why) => self.left_out.push(why),
            }
        }
        Ok(())
    }
}

impl Bundle {
    /// Puts revocations into the keys that they revoke.
    fn settle(&mut self) {
        for one in std::mem::take(&mut self.revocations) {
            let fits = |primary: &PublicKey| is_by(&one, primary) && revokes_key(&one, primary);
            let primary = |key: &Certificate| SignedPublicKey::from(key.clone()).primary_key;
            let mut certificates = self.certificates.iter_mut();
            let mut keys = self.keys.iter_mut();
            if let Some(found) = certificates.find(|key| fits(&primary(key))) {
                *found = with_revocation(found.clone(), one);
            } else if let Some(found) = keys.find(|key| fits(&primary(&certificate_of(key)))) {
                *found = key_with_revocation(found, one);
            } else {
                self.revocations.push(one);
            }
        }
    }
}

fn no_key(tag: Tag) -> Error {
    Error::NotOpenPgp(format!("it begins with {}, not with a key", kind_of(tag)))
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

/// The signatures before the first key in these bytes, and the keys, each as its packets, with
/// those that follow up to the next key.
fn split(bytes: &[u8]) -> Result<(Vec<Raw<'_>>, Vec<Vec<Raw<'_>>>)> {
    let mut alone = Vec::new();
    let mut keys: Vec<Vec<Raw<'_>>> = Vec::new();
    let mut rest = bytes;
    loop {
        let from = rest;
        let Some((tag, length)) = next_header(&mut rest)? else { return Ok((alone, keys)) };
        skip(&mut rest, length)?;
        let packet = Raw { tag, bytes: &from[..from.len() - rest.len()] };
        match (tag, keys.last_mut()) {
            (Tag::PublicKey | Tag::SecretKey, _) => keys.push(vec![packet]),
            (_, Some(key)) => key.push(packet),
            (Tag::Signature, None) => alone.push(packet),
            (Tag::Trust, None) => {}
            (tag, None) if is_noise(tag) => {}
            (tag, None) => return Err(no_key(tag)),
        }
    }
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

    /// A key of ECDH on secp256k1, with a user id.
    fn foreign(user: &str) -> Vec<u8> {
        let name = [0x2b, 0x81, 0x04, 0x00, 0x0a];
        let mut body = vec![4, 0, 0, 0, 1, 18, name.len() as u8];
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
                left_out.contains("\"Eve\\u{1b}\"") && left_out.contains("secp256k1"),
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
