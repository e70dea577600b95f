//! Signatures apart from what they sign.
//!
//! 1. What is signed is read as a stream, once, whatever its size.

use std::io::{BufRead, BufReader, Read};

use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::Signature;
use pgp::types::Tag;
use rpgpie::certificate::Certificate;

use crate::armor::{Armorer, Label, is_armored};
use crate::dearmor::Dearmorer;
use crate::error::{Error, Result};
use crate::judge::Judged;
use crate::packet::{Room, is_noise, kind_of, next_header, read_signature, skip, to_bytes};
use crate::readings::Lone;
use crate::sign::{Signer, Signing, Verifying, is_bounded};
use crate::stats::Stats;

const STEP: usize = 256 << 10;

/// Feeds all of the input to something.
fn pour(input: &mut dyn Read, stats: &Stats, mut take: impl FnMut(&[u8])) -> Result<()> {
    let mut input = BufReader::with_capacity(STEP, input);
    loop {
        let bytes = input.fill_buf().map_err(Error::io("reading what is signed"))?;
        if bytes.is_empty() {
            return Ok(());
        }
        take(bytes);
        stats.count_in(bytes.len());
        let used = bytes.len();
        input.consume(used);
    }
}

/// Signs what is read; gives the signatures, armored if asked.
///
/// # Errors
/// If the input cannot be read, or a key cannot sign.
pub fn sign_detached(
    input: &mut dyn Read,
    signers: &[Signer],
    is_text: bool,
    hash: Option<HashAlgorithm>,
    armor: bool,
    stats: &Stats,
) -> Result<Vec<u8>> {
    let mut signing = Signing::begin(signers, is_text.then_some(Lone::Blank), hash)?;
    pour(input, stats, |bytes| signing.update(bytes))?;
    let mut packets = Vec::new();
    for signature in signing.finish()? {
        packets.extend(to_bytes(&signature)?);
    }
    if !armor {
        return Ok(packets);
    }
    let mut armorer = Armorer::new(Vec::new(), Label::Signature);
    let done = std::io::Write::write_all(&mut armorer, &packets).and_then(|()| armorer.finish());
    done.map_err(Error::io("writing the signature"))
}

/// The signatures in these bytes, armored or not.
///
/// # Errors
/// If there are none, or too many, or something else is among them.
pub fn signatures(bytes: &[u8]) -> Result<Vec<Signature>> {
    let mut source: Box<dyn BufRead + '_> = Box::new(bytes);
    if is_armored(&mut source)? {
        source = Box::new(BufReader::new(Dearmorer::joining(source)));
    }
    let mut found = Vec::new();
    let mut room = Room::default();
    while let Some((tag, length)) = next_header(&mut source)? {
        match tag {
            Tag::Signature => {
                found.push(read_signature(&mut source, length, &mut room)?);
                is_bounded(found.len())?;
            }
            tag if is_noise(tag) => skip(&mut source, length)?,
            other => {
                let what = format!("there is {} where only signatures belong", kind_of(other));
                return Err(Error::NotOpenPgp(what));
            }
        }
    }
    if found.is_empty() {
        return Err(Error::NotOpenPgp("there is no signature in it".to_owned()));
    }
    Ok(found)
}

/// Those signatures over the input that are good, and why others are not. Old and weak ones count
/// if `allow_old`.
///
/// # Errors
/// If the input cannot be read, or the signature is none.
pub fn verify_detached(
    input: &mut dyn Read,
    signature: &[u8],
    certificates: &[Certificate],
    allow_old: bool,
    stats: &Stats,
) -> Result<Judged> {
    let mut verifying = Verifying::default();
    for signature in signatures(signature)? {
        verifying.know(signature)?;
    }
    pour(input, stats, |bytes| verifying.update(bytes))?;
    Ok(verifying.finish(certificates, allow_old))
}
