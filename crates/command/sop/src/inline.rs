//! Messages that carry their data and its signatures in one.
//!
//! 1. Data of a message without a good signature is not given out by `inline-verify`.
//! 2. A cleartext message is told from others by the first line of armor.

use std::io::{self, BufRead, BufReader, Read, Write as _};

use clap::{Args, ValueEnum};
use openpgp::pgp::packet::Signature;
use openpgp::{Certificate, Cleartext, Judged, Opened, Reading, Stats, Target, Writing};
use seam::Seam;

use crate::armor::Armored;
use crate::failure::{Failure, Reason, Result};
use crate::place::{Beside, STDIN, certificates, keys, main_output, passwords_to_try, release};
use crate::sign::{Text, signers, to_packets, write_signatures};
use crate::verifications::{Span, lines, none_is_good, tell_others};

/// Whether standard input is a cleartext message (2).
fn is_cleartext(input: &mut impl BufRead) -> Result<bool> {
    let failed = |error| Reason::Unspecified.because(format!("reading {STDIN}: {error}"));
    Ok(openpgp::is_cleartext(input.fill_buf().map_err(failed)?))
}

/// A signed message, read: its data is in the target, provisionally. Without certificates it is the
/// data to which signatures apart fit: of text that is readable, without the end of its last line.
fn read(
    input: &mut (impl BufRead + Send),
    out: &mut Target,
    certificates: Option<Vec<Certificate>>,
) -> Result<(Vec<Signature>, Judged)> {
    if is_cleartext(input)? {
        let message = Cleartext::read(input, out)?;
        let judged = match &certificates {
            Some(known) => message.verify(&mut out.again()?, known, false)?,
            None => Judged::default(),
        };
        if certificates.is_some() {
            out.write_all(message.end()).map_err(Failure::of_output)?;
        }
        return Ok((message.signatures().to_vec(), judged));
    }
    let certificates = certificates.unwrap_or_default();
    let reading = Reading { certificates, native_lines: true, ..Reading::default() };
    match reading.run(input, out, &Stats::default()) {
        Ok(opened) => {
            let Opened { verified, bad, unchecked, packets, .. } = opened;
            Ok((packets, Judged { verified, bad, unchecked }))
        }
        Err(openpgp::Error::NoKey(_)) => {
            Err(Reason::BadData.because("the message is encrypted; decrypt it"))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Args)]
pub(crate) struct DetachArgs {
    #[command(flatten)]
    armored: Armored,
    /// Write the signatures here
    #[arg(long, value_name = "SIGNATURES", required = true)]
    signatures_out: Option<String>,
}

pub(crate) fn detach(seam: &Seam, args: &DetachArgs) -> Result<()> {
    let mut signatures = Beside::open(seam, args.signatures_out.as_ref())?;
    let mut out = main_output(seam);
    let (packets, _) = read(&mut BufReader::new(io::stdin()), &mut out, None)?;
    if packets.is_empty() {
        return Err(Reason::BadData.because("the message has no signature"));
    }
    if let Some(place) = &mut signatures {
        let mut bytes = Vec::new();
        write_signatures(&mut bytes, &to_packets(&packets)?, &args.armored)?;
        place.fill(&bytes)?;
    }
    release(out, signatures)
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    span: Span,
    /// Write a line for each good signature here
    #[arg(long, value_name = "VERIFICATIONS")]
    verifications_out: Option<String>,
    /// Whose signatures count
    #[arg(required = true)]
    certs: Vec<String>,
}

pub(crate) fn verify(seam: &Seam, args: &VerifyArgs) -> Result<()> {
    let mut verifications = Beside::open(seam, args.verifications_out.as_ref())?;
    let sources = certificates(&args.certs)?;
    let known = sources.iter().map(|(_, one)| one.clone()).collect();
    let mut out = main_output(seam);
    let (_, mut judged) = read(&mut BufReader::new(io::stdin()), &mut out, Some(known))?;
    let verified = std::mem::take(&mut judged.verified);
    let all = verified.len();
    let good = args.span.keep(verified);
    let outside = all - good.len();
    if good.is_empty() {
        return Err(none_is_good(&judged.doubts(), outside));
    }
    tell_others(&judged.doubts(), outside);
    if let Some(place) = &mut verifications {
        place.fill(lines(&good, &sources).as_bytes())?;
    }
    release(out, verifications)
}

/// What a signed message looks like.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    Binary,
    Text,
    Clearsigned,
}

#[derive(Args)]
pub(crate) struct SignArgs {
    #[command(flatten)]
    armored: Armored,
    /// What the data is, and whether it stays readable
    #[arg(long = "as", value_enum, default_value = "binary")]
    kind: As,
    /// Try this passphrase to unlock
    #[arg(long, value_name = "PASSWORD")]
    with_key_password: Vec<String>,
    /// Who signs
    #[arg(required = true)]
    keys: Vec<String>,
}

pub(crate) fn sign(seam: &Seam, args: &SignArgs) -> Result<()> {
    if args.kind == As::Clearsigned && args.armored.no_armor {
        let what = "a message that stays readable is text; leave out --no-armor";
        return Err(Reason::IncompatibleOptions.because(what));
    }
    let keys = keys(&args.keys)?;
    let passwords = passwords_to_try(&args.with_key_password)?;
    let signers = signers(&keys, &passwords)?;
    let mut out = main_output(seam);
    let mut input = Text::new(io::stdin(), args.kind != As::Binary);
    if args.kind == As::Clearsigned {
        let input_read: &mut dyn Read = &mut input;
        let made = openpgp::sign_cleartext(input_read, &signers, None, &mut out);
        input.with_reason(made)?;
    } else {
        let writing = Writing {
            encrypted: false,
            signers,
            armor: !args.armored.no_armor,
            text: args.kind == As::Text,
            ..Writing::default()
        };
        let made = writing.run(&mut input, &mut out, &Stats::default());
        input.with_reason(made)?;
    }
    release(out, None)
}
