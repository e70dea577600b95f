//! Detached signatures.
//!
//! 1. What is signed or verified is read once, as a stream, whatever its size.

use std::io::{self, Read};

use clap::{Args, ValueEnum};
use openpgp::pgp::packet::{Packet, PacketParser, Signature};
use openpgp::pgp::types::Password;
use openpgp::{Armorer, Label, SecretKey, Signer, Stats};
use seam::Seam;

use crate::armor::Armored;
use crate::failure::{Failure, Reason, Result, as_failure};
use crate::place::{
    Beside, certificates, keys, main_output, passwords_to_try, release, small, tell,
};
use crate::verifications::{Span, lines, none_is_good, tell_others};

/// What data is.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum As {
    Binary,
    Text,
}

#[derive(Args)]
pub(crate) struct SignArgs {
    #[command(flatten)]
    armored: Armored,
    /// Write the name of the hash here, as mail programs need it
    #[arg(long, value_name = "MICALG")]
    micalg_out: Option<String>,
    /// Try this passphrase to unlock
    #[arg(long, value_name = "PASSWORD")]
    with_key_password: Vec<String>,
    /// What the data is
    #[arg(long = "as", value_enum, default_value = "binary")]
    kind: As,
    /// Who signs
    #[arg(required = true)]
    keys: Vec<String>,
}

/// All that sign with these keys, every one of which has to.
pub(crate) fn signers(keys: &[SecretKey], passwords: &[Password]) -> Result<Vec<Signer>> {
    let mut all = Vec::new();
    for key in keys {
        let unfit = as_failure(Reason::KeyCannotSign, Reason::BadData);
        all.extend(Signer::of(key, passwords).map_err(unfit)?);
    }
    Ok(all)
}

pub(crate) fn sign(seam: &Seam, args: &SignArgs) -> Result<()> {
    let mut micalg = Beside::open(seam, args.micalg_out.as_ref())?;
    let signers = signers(&keys(&args.keys)?, &passwords_to_try(&args.with_key_password)?)?;
    let is_text = args.kind == As::Text;
    let mut input = Text::new(io::stdin(), is_text);
    let made =
        openpgp::sign_detached(&mut input, &signers, is_text, None, false, &Stats::default());
    let packets = input.with_reason(made)?;
    let mut out = main_output(seam);
    write_signatures(&mut out, &packets, &args.armored)?;
    if let Some(micalg) = &mut micalg {
        micalg.fill(format!("{}\n", hash_name(&packets)).as_bytes())?;
    }
    release(out, micalg)
}

/// Writes signatures, armored or not.
pub(crate) fn write_signatures(
    out: &mut impl io::Write,
    packets: &[u8],
    armored: &Armored,
) -> Result<()> {
    if armored.no_armor {
        return out.write_all(packets).map_err(Failure::of_output);
    }
    let mut armorer = Armorer::new(out, Label::Signature);
    io::Write::write_all(&mut armorer, packets)
        .and_then(|()| armorer.finish())
        .map(drop)
        .map_err(Failure::of_output)
}

/// The one hash of these signatures, as PGP/MIME calls it; nothing if there are several.
fn hash_name(packets: &[u8]) -> String {
    let found = PacketParser::new(packets).filter_map(|packet| match packet {
        Ok(Packet::Signature(signature)) => signature.config().map(|config| config.hash_alg),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    match found.split_first() {
        Some((first, rest)) if rest.iter().all(|one| one == first) => {
            let name: String =
                first.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
            format!("pgp-{}", name.to_lowercase())
        }
        _ => String::new(),
    }
}

/// The packets of signatures.
pub(crate) fn to_packets(signatures: &[Signature]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for signature in signatures {
        use openpgp::pgp::packet::PacketTrait as _;
        let written = signature.to_writer_with_header(&mut bytes);
        written.map_err(openpgp::Error::from)?;
    }
    Ok(bytes)
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    span: Span,
    /// The signatures
    signatures: String,
    /// Whose signatures count
    #[arg(required = true)]
    certs: Vec<String>,
}

pub(crate) fn verify(seam: &Seam, args: &VerifyArgs) -> Result<()> {
    let signatures = small(&args.signatures)?;
    let sources = certificates(&args.certs)?;
    let known: Vec<_> = sources.iter().map(|(_, one)| one.clone()).collect();
    let mut input = io::stdin();
    let stats = Stats::default();
    let mut judged = openpgp::verify_detached(&mut input, &signatures, &known, false, &stats)?;
    let verified = std::mem::take(&mut judged.verified);
    let all = verified.len();
    let good = args.span.keep(verified);
    let outside = all - good.len();
    if good.is_empty() {
        return Err(none_is_good(&judged.doubts(), outside));
    }
    tell_others(&judged.doubts(), outside);
    tell(seam, lines(&good, &sources).as_bytes())
}

/// Input that has to be UTF-8 if it is text.
pub(crate) struct Text<R> {
    input: R,
    is_text: bool,
    /// The beginning of a character whose rest has not come yet.
    begun: Vec<u8>,
    is_broken: bool,
}

impl<R: Read> Text<R> {
    pub(crate) fn new(input: R, is_text: bool) -> Text<R> {
        Text { input, is_text, begun: Vec::new(), is_broken: false }
    }

    /// What was made of the input, with the right reason if it was no text.
    pub(crate) fn with_reason<T>(&self, made: openpgp::Result<T>) -> Result<T> {
        if self.is_broken || !self.begun.is_empty() {
            return Err(Reason::ExpectedText.because("standard input is no UTF-8 text"));
        }
        Ok(made?)
    }

    fn check(&mut self, bytes: &[u8]) -> bool {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        match std::str::from_utf8(&all) {
            Ok(_) => true,
            Err(error) if error.error_len().is_none() => {
                self.begun = all.split_off(error.valid_up_to());
                true
            }
            Err(_) => false,
        }
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        if self.is_text && !self.check(&out[..read]) {
            self.is_broken = true;
            return Err(io::Error::other("no UTF-8 text"));
        }
        Ok(read)
    }
}
