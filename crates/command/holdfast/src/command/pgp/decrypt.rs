//! Messages, read: decrypted and verified.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use openpgp::{
    Certificate, Cleartext, Error, Judged, Label, Opened, Reading, Stats, Store, Target, Verified,
};
use serde_json::{Value, json};

use super::super::Context;
use super::certificate;
use super::files::{
    FileArgs, Pair, Watched, each, input, is_missing, is_pipe, report, shown, timed, to_place,
    watched,
};
use super::ring::small;
use crate::failure::{Failure, Result};
use crate::output::{on_one_line, say, utc, warn};

#[derive(Args, Debug)]
pub(super) struct DecryptArgs {
    #[command(flatten)]
    files: FileArgs,
    /// Open it with a passphrase
    #[arg(long, short = 'c')]
    passphrase: bool,
    /// Read the passphrase from this file; otherwise from HOLDFAST_PGP_PASSPHRASE, or the terminal
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// End with 5, and write nothing, unless there is a good signature of this key
    #[arg(long, value_name = "KEY")]
    signed_by: Vec<String>,
    /// Write the file though a signature of a key that is known is bad; without, that ends with 5
    #[arg(long)]
    allow_bad_signature: bool,
    /// Read old ciphers, such as Triple-DES, what is encrypted without protection against change,
    /// and what is for keys of RSA with less than 2048 bits; let signatures of these count, and
    /// those by SHA-1
    #[arg(long)]
    allow_old: bool,
    /// Open what is only signed or compressed, too, and text that stayed readable with its
    /// signature
    #[arg(long)]
    plain: bool,
    /// Let data out before it has been checked to the end; whoever uses it may be deceived
    #[arg(long)]
    unverified_stream: bool,
}

pub(super) fn decrypt(context: &mut Context, args: &DecryptArgs) -> Result<ExitCode> {
    let files = &args.files;
    let store = files.ring.store(context)?;
    let file = args.passphrase_file.as_deref();
    let passphrases = files.ring.file_passphrases(context, args.passphrase, file, false)?;
    let wanted = args.signed_by.iter().map(|name| certificate(&store, name));
    let wanted = wanted.collect::<Result<Vec<_>>>()?;
    let reading = Reading {
        keys: store.secrets(args.allow_old)?,
        ask: Some(files.ring.asking(context)),
        token_keys: store.token_keys(&files.ring.tokens(context))?,
        passphrases,
        certificates: if wanted.is_empty() { store.certificates()? } else { wanted },
        must_be_encrypted: !args.plain,
        allow_old: args.allow_old,
        native_lines: true,
        stages: files.stages(),
        ..Reading::default()
    };
    each(context, files.pairs(plain_name)?, |context, pair| {
        let (opened, mut value) = timed(context, files, &pair, |context, stats| {
            read_message(context, &reading, args, &pair, stats)
        })?;
        tell_signatures(&store, &opened)?;
        value["signatures"] = json!(opened.signatures);
        put_signatures(&mut value, &opened.verified, &opened.bad, &opened.unchecked);
        report(context, &pair, &value)
    })
}

/// The name without what encryption put behind it.
fn plain_name(path: &Path) -> Result<PathBuf> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("pgp" | "gpg" | "asc") => Ok(path.with_extension("")),
        _ => {
            let what = format!("{} does not say how its contents are called", shown(path));
            Err(Failure::usage(what, "Give --output FILE."))
        }
    }
}

fn read_message(
    context: &Context,
    reading: &Reading,
    args: &DecryptArgs,
    pair: &Pair,
    stats: &Stats,
) -> Result<Opened> {
    let mut input = watched(context, &pair.from)?;
    let check = |opened: &Opened| -> Result<()> {
        if !args.signed_by.is_empty() && opened.verified.is_empty() {
            let why = match (opened.bad.is_empty(), opened.unchecked.is_empty()) {
                (true, true) => "it has none of whom was asked for".to_owned(),
                (true, false) => opened.unchecked.join("; "),
                (false, _) => opened.bad.join("; "),
            };
            return Err(Error::BadSignature(format!("{}: {why}", shown(&pair.from))).into());
        }
        refuse_bad(&pair.from, &opened.bad, args.allow_bad_signature)
    };
    if args.unverified_stream && pair.is_stream() {
        warn("data goes out before it has been checked; wait for the exit code");
        let opened = reading.run(&mut input, &mut seam::standard::output(), stats)?;
        check(&opened)?;
        tell_weakness(pair, &opened);
        return Ok(opened);
    }
    let mut target = to_place(context, pair.to.as_deref(), args.files.yes)?;
    let mut input = BufReader::with_capacity(BEGIN_BYTES, input);
    let opened = match args.plain && begins_readable(&mut input)? {
        true => read_text(&mut input, &mut target, reading)?,
        false => reading.run(&mut input, &mut target, stats)?,
    };
    check(&opened)?;
    tell_weakness(pair, &opened);
    target.release()?;
    Ok(opened)
}

/// Makes sure that no signature of a key that is known is bad, unless that is allowed.
pub(super) fn refuse_bad(from: &Path, bad: &[String], is_allowed: bool) -> Result<()> {
    if bad.is_empty() || is_allowed {
        return Ok(());
    }
    let what = format!("{}: {}", shown(from), bad.join("; "));
    Err(Error::SpoiltSignature(what).into())
}

/// Whether an input is text that stayed readable with its signature, as its beginning tells.
fn begins_readable(input: &mut impl BufRead) -> Result<bool> {
    let failed = |source| Error::Io { what: "reading the message".to_owned(), source };
    Ok(openpgp::is_cleartext(input.fill_buf().map_err(failed)?))
}

/// Text that stayed readable, which goes to the target provisionally, with its signatures.
fn read_text(input: &mut dyn Read, target: &mut Target, reading: &Reading) -> Result<Opened> {
    let message = Cleartext::read(input, target)?;
    if message.stands_in_letter() {
        warn("there is other text around what is signed, which nobody signed; it is left out");
    }
    let certificates = &reading.certificates;
    let judged = message.verify(&mut target.again()?, certificates, reading.allow_old)?;
    let failed = |source| Error::Io { what: "writing the text".into(), source };
    io::Write::write_all(target, message.end()).map_err(failed)?;
    Ok(Opened {
        verified: judged.verified,
        bad: judged.bad,
        unchecked: judged.unchecked,
        signatures: message.signatures().len(),
        packets: message.signatures().to_vec(),
        is_text: true,
        ..Opened::default()
    })
}

/// Says that a message proves nothing, if it does not.
fn tell_weakness(pair: &Pair, opened: &Opened) {
    if opened.is_unproven {
        warn(format!(
            "{} was encrypted without protection against change: whoever carried it may have \
             altered what it says",
            shown(&pair.from)
        ));
    }
}

fn describe(verified: &Verified) -> Value {
    json!({
        "key": verified.key.to_string().to_uppercase(),
        "certificate": verified.certificate.to_string().to_uppercase(),
        "made": verified.made, "text": verified.is_text,
    })
}

/// Puts what has come of signatures into a result for programs.
fn put_signatures(value: &mut Value, good: &[Verified], bad: &[String], unchecked: &[String]) {
    value["verified"] = json!(good.iter().map(describe).collect::<Vec<_>>());
    value["bad_signatures"] = json!(bad);
    value["unchecked_signatures"] = json!(unchecked);
}

/// Says who signed, on standard error: standard output may be the data.
pub(super) fn tell_signatures(store: &Store, opened: &Opened) -> Result<()> {
    tell_verified(store, &opened.verified)?;
    let all = opened.signatures;
    for (these, what) in [(&opened.bad, "are bad"), (&opened.unchecked, "could not be checked")] {
        if !these.is_empty() {
            warn(format!("{} of {all} signatures {what}: {}", these.len(), these.join("; ")));
        }
    }
    Ok(())
}

fn tell_verified(store: &Store, verified: &[Verified]) -> Result<()> {
    let entries = if verified.is_empty() { Vec::new() } else { store.list()? };
    for one in verified {
        let print = one.certificate.to_string().to_uppercase();
        let user = entries.iter().find(|entry| entry.fingerprint == print);
        let user = user.and_then(|entry| entry.users.first()).map_or("", String::as_str);
        let made = utc(u64::from(one.made) * 1_000_000);
        say(format_args!("good signature of {print} {}, made {made}", on_one_line(user)));
    }
    Ok(())
}

#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    files: FileArgs,
    /// The signature, where it is apart from the file; without, a file that is called NAME.sig or
    /// NAME.asc, and holds a signature alone, is taken for that of NAME, and the first of two files
    /// for that of the second, if that is no message
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Text that stayed readable with its signature
    #[arg(long, conflicts_with = "signature")]
    cleartext: bool,
    /// Text that stayed readable with its signature, too, as the file's beginning tells
    #[arg(long)]
    plain: bool,
    /// Only signatures of this key count; several times for several
    #[arg(long, value_name = "KEY")]
    signed_by: Vec<String>,
    /// Let signatures by SHA-1, and of keys of RSA with less than 2048 bits, count, too
    #[arg(long)]
    allow_old: bool,
}

pub(super) fn verify(context: &mut Context, args: &VerifyArgs) -> Result<ExitCode> {
    let files = &args.files;
    let store = files.ring.store(context)?;
    let wanted = args.signed_by.iter().map(|name| certificate(&store, name));
    let wanted = wanted.collect::<Result<Vec<_>>>()?;
    let certificates = if wanted.is_empty() { store.certificates()? } else { wanted };
    // Without --output nothing is written: verifying is the whole purpose.
    let mut pairs = files.pairs(|_| Ok(PathBuf::from("-")))?;
    let apart = first_is_of_second(&pairs, args).then(|| pairs.remove(0).from);
    each(context, pairs, |context, pair| {
        let (pair, signature) = match &apart {
            Some(signature) => (pair, Some(signature.clone())),
            None => with_signature(pair, args),
        };
        let (judged, mut value) = timed(context, files, &pair, |context, stats| {
            let mut input = watched(context, &pair.from)?;
            let Some(signature) = &signature else {
                return verify_message(context, args, &mut input, &certificates, stats);
            };
            let signature = small(signature)?;
            let allow_old = args.allow_old;
            Ok(openpgp::verify_detached(&mut input, &signature, &certificates, allow_old, stats)?)
        })?;
        tell_verified(&store, &judged.verified)?;
        put_signatures(&mut value, &judged.verified, &judged.bad, &judged.unchecked);
        if context.output.is_json() {
            context.output.value(&value)?;
        }
        if judged.verified.is_empty() {
            let doubts = judged.doubts();
            let why = match doubts.is_empty() {
                true => "it is signed by nobody whose certificate counts".to_owned(),
                false => doubts.join("; "),
            };
            let what = format!("{}: {why}", shown(&pair.from));
            return Err(Error::BadSignature(what).into());
        }
        if !judged.unchecked.is_empty() {
            warn(format!("other signatures were not checked: {}", judged.unchecked.join("; ")));
        }
        refuse_bad(&pair.from, &judged.bad, false)
    })
}

/// The file and its signature, if that is apart: one that is named, or the file itself, if it holds
/// signatures alone and what it is called after is there, too.
fn with_signature(pair: Pair, args: &VerifyArgs) -> (Pair, Option<PathBuf>) {
    if args.signature.is_some() || args.cleartext || is_pipe(&pair.from) {
        return (pair, args.signature.clone());
    }
    let ending = pair.from.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let signed = pair.from.with_extension("");
    let is_named = matches!(ending.as_deref(), Some("sig" | "asc"));
    if !is_named || !holds_signatures(&pair.from) {
        return (pair, None);
    }
    if is_missing(&signed) {
        let (signed, signature) = (shown(&signed), shown(&pair.from));
        say(format_args!("{signed}, which {signature} seems to sign, is missing"));
    }
    if !signed.is_file() {
        return (pair, None);
    }
    tell_taken(&pair.from, &signed);
    (Pair { from: signed, to: pair.to }, Some(pair.from))
}

/// Says which file is taken for the signature of which; whether it is good is not known yet.
fn tell_taken(signature: &Path, signed: &Path) {
    say(format_args!("taking {} for the signature of {}", shown(signature), shown(signed)));
}

/// Whether there are two files, a signature and what it signs, as far as what they hold tells.
fn first_is_of_second(pairs: &[Pair], args: &VerifyArgs) -> bool {
    let [first, second] = pairs else { return false };
    if args.signature.is_some() || args.cleartext || is_pipe(&first.from) || is_pipe(&second.from) {
        return false;
    }
    let is_missing = is_missing(&second.from);
    let is = holds_signatures(&first.from) && (is_missing || is_no_openpgp(&second.from));
    if is && !is_missing {
        tell_taken(&first.from, &second.from);
    }
    is
}

fn holds_signatures(path: &Path) -> bool {
    let size = path.metadata().map_or(u64::MAX, |about| about.len());
    let bytes = (size <= SIGNATURES_BYTES_MAX).then(|| small(path).ok()).flatten();
    bytes.is_some_and(|bytes| openpgp::signatures(&bytes).is_ok())
}

/// Whether a file begins as nothing of OpenPGP does.
fn is_no_openpgp(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read = input(path).map(|file| file.take(BEGIN_BYTES as u64).read_to_end(&mut begin));
    let is_armor = |line: &[u8]| line.starts_with(b"-----BEGIN PGP ");
    matches!(read, Ok(Ok(_)))
        && Label::of(&begin).is_err()
        && !begin.split(|byte| *byte == b'\n').any(is_armor)
}

/// What a file is, its beginning tells.
const BEGIN_BYTES: usize = 64 << 10;
/// No file that is longer is taken for one with signatures alone.
const SIGNATURES_BYTES_MAX: u64 = 1 << 20;

/// The good signatures of a message, whose data goes where it is wanted; and why others are not.
fn verify_message(
    context: &Context,
    args: &VerifyArgs,
    input: &mut Watched,
    certificates: &[Certificate],
    stats: &Stats,
) -> Result<Judged> {
    let mut target = match &args.files.output {
        Some(place) => to_place(context, Some(place), args.files.yes)?,
        None => Target::stream(&context.seam, Box::new(io::sink())),
    };
    let mut input = BufReader::with_capacity(BEGIN_BYTES, input);
    let reading = Reading {
        certificates: certificates.to_vec(),
        allow_old: args.allow_old,
        native_lines: true,
        stages: args.files.stages(),
        ..Reading::default()
    };
    let opened = match args.cleartext || (args.plain && begins_readable(&mut input)?) {
        true => read_text(&mut input, &mut target, &reading)?,
        false => reading.run(&mut input, &mut target, stats).map_err(|error| match error {
            Error::NoKey(_) => Error::Encrypted,
            error => error,
        })?,
    };
    if !opened.verified.is_empty() && opened.bad.is_empty() {
        target.release()?;
    }
    Ok(Judged { verified: opened.verified, bad: opened.bad, unchecked: opened.unchecked })
}
