//! Files: encrypted, decrypted, signed, verified, one after the other or as a pipe.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use openpgp::pgp::crypto::aead::AeadAlgorithm;
use openpgp::pgp::crypto::sym::SymmetricKeyAlgorithm;
use openpgp::pgp::types::CompressionAlgorithm;
use openpgp::{
    Container, Error, Opened, Reading, STAGES, SecretKey, Signer, Stages, Stats, Store, Target,
    Verified, Writing,
};
use serde_json::{Value, json};

use super::super::{Context, DONE};
use super::ring::small;
use super::{RingArgs, certificate, file_passphrase, secret};
use crate::failure::{Failure, Result};
use crate::output::{bytes, utc, warn};
use crate::progress::Progress;

/// What all of them take: which files, and how.
#[derive(Args, Debug)]
struct FileArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// The files; standard input without, or for -
    file: Vec<PathBuf>,
    /// Where to; for standard input, standard output without
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    yes: bool,
    /// Say what it cost: bytes, time, CPU time, by stage
    #[arg(long)]
    stats: bool,
    /// Read and write in threads of their own
    #[arg(long, value_enum, default_value = "on", value_name = "ON|OFF")]
    async_io: Switch,
    /// Encipher and decipher in threads of their own
    #[arg(long, value_enum, default_value = "on", value_name = "ON|OFF")]
    async_cipher: Switch,
    /// Compress and decompress in threads of their own
    #[arg(long, value_enum, default_value = "on", value_name = "ON|OFF")]
    async_compress: Switch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl FileArgs {
    fn stages(&self) -> Stages {
        Stages {
            io: self.async_io == Switch::On,
            cipher: self.async_cipher == Switch::On,
            compress: self.async_compress == Switch::On,
            ..Stages::default()
        }
    }

    /// Each input with the place of its output.
    fn pairs(&self, name: impl Fn(&Path) -> Result<PathBuf>) -> Result<Vec<Pair>> {
        if self.output.is_some() && self.file.len() > 1 {
            let what = format!("{} files cannot go to one", self.file.len());
            return Err(Failure::usage(what, "Leave out --output, or name one file."));
        }
        if self.file.is_empty() {
            return Ok(vec![Pair { from: PathBuf::from("-"), to: self.output.clone() }]);
        }
        let pairs = self.file.iter().map(|from| {
            let to = match (&self.output, is_pipe(from)) {
                (Some(to), _) => Some(to.clone()),
                (None, true) => None,
                (None, false) => Some(name(from)?),
            };
            Ok(Pair { from: from.clone(), to })
        });
        pairs.collect()
    }
}

/// An input and the place of its output; none is standard output.
struct Pair {
    from: PathBuf,
    to: Option<PathBuf>,
}

fn is_pipe(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file, or standard input.
pub(super) fn input(path: &Path) -> Result<Box<dyn Read + Send>> {
    if is_pipe(path) {
        return Ok(Box::new(io::stdin()));
    }
    #[allow(clippy::disallowed_methods)] // people's files are no part of a system
    let file = std::fs::File::open(path);
    let failed = |source| Error::Io { what: format!("opening {}", path.display()), source };
    Ok(Box::new(file.map_err(failed)?))
}

/// The place of an output.
pub(super) fn to_place(context: &Context, path: Option<&Path>, replace: bool) -> Result<Target> {
    match path.filter(|path| !is_pipe(path)) {
        Some(path) => Ok(Target::file(&context.seam, path, replace)?),
        None => Ok(Target::stream(&context.seam, Box::new(io::stdout()))),
    }
}

/// An input that shows how far it has been read.
struct Watched {
    input: Box<dyn Read + Send>,
    name: String,
    progress: Progress,
    done: u64,
    total: u64,
}

impl Read for Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.done += read as u64;
        self.progress.show(&self.name, self.done, self.total, "bytes");
        Ok(read)
    }
}

fn watched(context: &Context, path: &Path) -> Result<Watched> {
    let total = match is_pipe(path) {
        true => 0,
        false => path.metadata().map_or(0, |about| about.len()),
    };
    Ok(Watched {
        input: input(path)?,
        name: path.display().to_string(),
        progress: Progress::new(&context.seam),
        done: 0,
        total,
    })
}

/// Runs one file and says what it cost.
fn timed<T>(
    context: &mut Context,
    args: &FileArgs,
    pair: &Pair,
    work: impl FnOnce(&mut Context, &Stats) -> Result<T>,
) -> Result<(T, Value)> {
    let stats = Stats::default();
    let (begin, cpu) = (context.seam.clock.monotonic(), seam::clock::process_cpu_us());
    let done = work(context, &stats)?;
    let elapsed = context.seam.clock.monotonic().saturating_sub(begin).as_secs_f64();
    let cpu = (seam::clock::process_cpu_us() - cpu) as f64 / 1e6;
    // What goes in and out is counted at the plain side and at the sealed side; the larger one is
    // what a user calls the size of the data.
    let size = stats.bytes_in().max(stats.bytes_out()) as f64 / 1e6;
    let stages = STAGES.map(|(stage, name)| (name, stats.cpu_us(stage) as f64 / 1e6));
    let report = json!({
        "input": pair.from, "output": pair.to,
        "bytes_in": stats.bytes_in(), "bytes_out": stats.bytes_out(),
        "elapsed_s": elapsed, "mb_per_s": size / elapsed.max(1e-9),
        "cpu_s": cpu, "mb_per_cpu_s": size / cpu.max(1e-9),
        "stages_cpu_s": stages.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
    });
    if args.stats && !context.output.is_json() {
        let text = |value: f64| format!("{value:.2}");
        let rate = |seconds: f64| text(size / seconds.max(1e-9));
        eprintln!("{}", pair.from.display());
        eprintln!("  in {}, out {}", bytes(stats.bytes_in()), bytes(stats.bytes_out()));
        eprintln!("  elapsed {} s, {} MB/s", text(elapsed), rate(elapsed));
        eprintln!("  CPU {} s, {} MB per CPU second", text(cpu), rate(cpu));
        for (name, seconds) in stages.iter().filter(|(_, seconds)| *seconds > 0.0) {
            eprintln!("    {name:<8} {} s", text(*seconds));
        }
    }
    Ok((done, report))
}

/// A result for programs; a stream of data leaves no room for one.
fn report(context: &mut Context, pair: &Pair, value: &Value) -> Result<()> {
    let to_stream = pair.to.as_deref().is_none_or(is_pipe);
    if !context.output.is_json() {
        return Ok(());
    }
    if to_stream {
        eprintln!("{value}");
        return Ok(());
    }
    context.output.value(value)
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Cipher {
    Aes128,
    Aes192,
    Aes256,
}

impl Cipher {
    fn algorithm(self) -> SymmetricKeyAlgorithm {
        match self {
            Cipher::Aes128 => SymmetricKeyAlgorithm::AES128,
            Cipher::Aes192 => SymmetricKeyAlgorithm::AES192,
            Cipher::Aes256 => SymmetricKeyAlgorithm::AES256,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// CFB and a SHA-1 sum: every program reads it
    V1,
    /// RFC 9580 with OCB
    V2,
    /// RFC 9580 with GCM
    V2Gcm,
    /// RFC 9580 with EAX
    V2Eax,
}

impl Form {
    fn container(self) -> Container {
        match self {
            Form::V1 => Container::V1,
            Form::V2 => Container::V2(AeadAlgorithm::Ocb),
            Form::V2Gcm => Container::V2(AeadAlgorithm::Gcm),
            Form::V2Eax => Container::V2(AeadAlgorithm::Eax),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Compression {
    None,
    Zip,
    Zlib,
    Bzip2,
}

impl Compression {
    fn with(self, level: u32) -> Option<(CompressionAlgorithm, u32)> {
        let algorithm = match self {
            Compression::None => return None,
            Compression::Zip => CompressionAlgorithm::ZIP,
            Compression::Zlib => CompressionAlgorithm::ZLIB,
            Compression::Bzip2 => CompressionAlgorithm::BZip2,
        };
        Some((algorithm, level))
    }
}

#[derive(Args, Debug)]
pub(super) struct EncryptArgs {
    #[command(flatten)]
    files: FileArgs,
    /// Who can read it: alias, fingerprint, key id, or part of a user id; several times for several
    #[arg(long, short, value_name = "KEY")]
    recipient: Vec<String>,
    /// Whoever has the passphrase can read it, too
    #[arg(long, short = 'c')]
    passphrase: bool,
    /// Read the passphrase from this file; otherwise from HOLDFAST_PGP_PASSPHRASE, or the terminal
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Sign it with this key; several times for several
    #[arg(long, short, value_name = "KEY")]
    sign_with: Vec<String>,
    /// The cipher; without, the strongest that all recipients want
    #[arg(long, value_enum)]
    cipher: Option<Cipher>,
    /// The form; without, RFC 9580's if all recipients say that they read it, else the older one
    #[arg(long, value_enum)]
    form: Option<Form>,
    /// Compress before encrypting
    #[arg(long, value_enum, default_value = "zip")]
    compress: Compression,
    /// From 0, nothing, and 1, fastest, to 9, smallest
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=9))]
    level: u32,
    /// As text
    #[arg(long, short)]
    armor: bool,
    /// The data is text: its lines get the ends of a network
    #[arg(long, short)]
    text: bool,
}

/// The keys that sign, unlocked.
fn signers(store: &Store, ring: &RingArgs, names: &[String]) -> Result<Vec<Signer>> {
    let keys: Vec<SecretKey> =
        names.iter().map(|name| secret(store, name)).collect::<Result<_>>()?;
    let passphrases = ring.passphrases(&keys)?;
    let mut signers = Vec::new();
    for key in &keys {
        signers.extend(Signer::of(key, &passphrases)?);
    }
    Ok(signers)
}

/// The name of a file with something behind it.
fn extended(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

pub(super) fn encrypt(context: &mut Context, args: &EncryptArgs) -> Result<ExitCode> {
    let files = &args.files;
    let store = files.ring.store(context)?;
    let by_passphrase = args.passphrase || args.passphrase_file.is_some();
    let mut passphrases = Vec::new();
    if by_passphrase {
        passphrases.push(file_passphrase(args.passphrase_file.as_deref())?);
    }
    let recipients = args.recipient.iter().map(|name| certificate(&store, name));
    let mut writing = Writing {
        recipients: recipients.collect::<Result<_>>()?,
        passphrases,
        signers: signers(&store, &files.ring, &args.sign_with)?,
        cipher: args.cipher.map(Cipher::algorithm),
        container: args.form.map(Form::container),
        compression: args.compress.with(args.level),
        armor: args.armor,
        text: args.text,
        stages: files.stages(),
        ..Writing::default()
    };
    let ending = if args.armor { ".asc" } else { ".pgp" };
    for pair in files.pairs(|path| Ok(extended(path, ending)))? {
        let name = pair.from.file_name().unwrap_or_default();
        writing.name =
            if is_pipe(&pair.from) { Vec::new() } else { name.as_encoded_bytes().into() };
        let (_, value) = timed(context, files, &pair, |context, stats| {
            write_message(context, &writing, files, &pair, stats)
        })?;
        report(context, &pair, &value)?;
    }
    DONE
}

fn write_message(
    context: &Context,
    writing: &Writing,
    files: &FileArgs,
    pair: &Pair,
    stats: &Stats,
) -> Result<()> {
    let mut input = watched(context, &pair.from)?;
    // A sealed stream may go out as it comes: without its end nobody takes it for a message.
    if pair.to.as_deref().is_none_or(is_pipe) {
        writing.run(&mut input, &mut io::stdout(), stats)?;
        return Ok(());
    }
    let mut target = to_place(context, pair.to.as_deref(), files.yes)?;
    writing.run(&mut input, &mut target, stats)?;
    Ok(target.release()?)
}

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
    /// Read old ciphers, such as Triple-DES
    #[arg(long)]
    allow_old: bool,
    /// Let data out before it has been checked to the end; whoever uses it may be deceived
    #[arg(long)]
    unverified_stream: bool,
}

pub(super) fn decrypt(context: &mut Context, args: &DecryptArgs) -> Result<ExitCode> {
    let files = &args.files;
    let store = files.ring.store(context)?;
    let by_passphrase = args.passphrase || args.passphrase_file.is_some();
    let mut passphrases = Vec::new();
    if by_passphrase {
        passphrases.push(file_passphrase(args.passphrase_file.as_deref())?);
    }
    let keys = store.secrets()?;
    let key_passphrases = match by_passphrase {
        true => Vec::new(),
        false => files.ring.passphrases(&keys)?,
    };
    let wanted = args.signed_by.iter().map(|name| certificate(&store, name));
    let wanted = wanted.collect::<Result<Vec<_>>>()?;
    let reading = Reading {
        keys,
        key_passphrases,
        passphrases,
        certificates: if wanted.is_empty() { store.certificates()? } else { wanted },
        must_be_encrypted: true,
        allow_old: args.allow_old,
        stages: files.stages(),
        ..Reading::default()
    };
    for pair in files.pairs(plain_name)? {
        let (opened, mut value) = timed(context, files, &pair, |context, stats| {
            read_message(context, &reading, args, &pair, stats)
        })?;
        tell_signatures(&store, &opened)?;
        value["signatures"] = json!(opened.signatures);
        value["verified"] = json!(opened.verified.iter().map(describe).collect::<Vec<_>>());
        report(context, &pair, &value)?;
    }
    DONE
}

/// The name without what encryption put behind it.
fn plain_name(path: &Path) -> Result<PathBuf> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("pgp" | "gpg" | "asc") => Ok(path.with_extension("")),
        _ => {
            let what = format!("{} does not say how its contents are called", path.display());
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
            let what = format!("{} has none of whom was asked for", pair.from.display());
            return Err(Error::BadSignature(what).into());
        }
        Ok(())
    };
    if args.unverified_stream && pair.to.as_deref().is_none_or(is_pipe) {
        warn("data goes out before it has been checked; wait for the exit code");
        let opened = reading.run(&mut input, &mut io::stdout(), stats)?;
        check(&opened)?;
        return Ok(opened);
    }
    let mut target = to_place(context, pair.to.as_deref(), args.files.yes)?;
    let opened = reading.run(&mut input, &mut target, stats)?;
    check(&opened)?;
    target.release()?;
    Ok(opened)
}

fn describe(verified: &Verified) -> Value {
    json!({
        "key": verified.key.to_string().to_uppercase(),
        "certificate": verified.certificate.to_string().to_uppercase(),
        "made": verified.made, "text": verified.is_text,
    })
}

/// Says who signed, on standard error: standard output may be the data.
fn tell_signatures(store: &Store, opened: &Opened) -> Result<()> {
    tell_verified(store, &opened.verified)?;
    if opened.signatures > opened.verified.len() {
        let bad = opened.signatures - opened.verified.len();
        warn(format!("{bad} of {} signatures could not be verified", opened.signatures));
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
        eprintln!("good signature of {print} {user}, made {made}");
    }
    Ok(())
}

#[derive(Args, Debug)]
pub(super) struct SignArgs {
    #[command(flatten)]
    files: FileArgs,
    /// The key that signs; several times for several
    #[arg(long, value_name = "KEY", required = true)]
    with: Vec<String>,
    /// Apart from the file, which stays as it is
    #[arg(long, short = 'b', conflicts_with = "cleartext")]
    detached: bool,
    /// Text that stays readable with its signature
    #[arg(long)]
    cleartext: bool,
    /// Compress a message that holds the data
    #[arg(long, value_enum, default_value = "none")]
    compress: Compression,
    /// From 0, nothing, and 1, fastest, to 9, smallest
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=9))]
    level: u32,
    /// As text
    #[arg(long, short)]
    armor: bool,
    /// The data is text, whose line ends do not count
    #[arg(long, short)]
    text: bool,
}

pub(super) fn sign(context: &mut Context, args: &SignArgs) -> Result<ExitCode> {
    let files = &args.files;
    let store = files.ring.store(context)?;
    let writing = Writing {
        encrypted: false,
        signers: signers(&store, &files.ring, &args.with)?,
        compression: args.compress.with(args.level),
        armor: args.armor,
        text: args.text,
        stages: files.stages(),
        ..Writing::default()
    };
    let ending = match (args.detached, args.armor || args.cleartext) {
        (true, false) => ".sig",
        (_, true) => ".asc",
        (false, false) => ".pgp",
    };
    for pair in files.pairs(|path| Ok(extended(path, ending)))? {
        let (_, value) = timed(context, files, &pair, |context, stats| {
            if !args.detached && !args.cleartext {
                return write_message(context, &writing, files, &pair, stats);
            }
            let mut input = watched(context, &pair.from)?;
            let made = if args.detached {
                let signers = &writing.signers;
                openpgp::sign_detached(&mut input, signers, args.text, None, args.armor, stats)?
            } else {
                let keys = args.with.iter().map(|name| secret(&store, name));
                let keys = keys.collect::<Result<Vec<_>>>()?;
                openpgp::sign_cleartext(&mut input, &keys, &files.ring.passphrases(&keys)?)?
            };
            let mut target = to_place(context, pair.to.as_deref(), files.yes)?;
            let failed = |source| Error::Io { what: "writing the signature".into(), source };
            io::Write::write_all(&mut target, &made).map_err(failed)?;
            Ok(target.release()?)
        })?;
        report(context, &pair, &value)?;
    }
    DONE
}

#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    files: FileArgs,
    /// The signature, where it is apart from the file
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Text that stayed readable with its signature
    #[arg(long, conflicts_with = "signature")]
    cleartext: bool,
    /// Only signatures of this key count; several times for several
    #[arg(long, value_name = "KEY")]
    signed_by: Vec<String>,
}

pub(super) fn verify(context: &mut Context, args: &VerifyArgs) -> Result<ExitCode> {
    let files = &args.files;
    let store = files.ring.store(context)?;
    let wanted = args.signed_by.iter().map(|name| certificate(&store, name));
    let wanted = wanted.collect::<Result<Vec<_>>>()?;
    let certificates = if wanted.is_empty() { store.certificates()? } else { wanted };
    // Without --output nothing is written: verifying is the whole purpose.
    for pair in files.pairs(|_| Ok(PathBuf::from("-")))? {
        let (verified, mut value) = timed(context, files, &pair, |context, stats| {
            let mut input = watched(context, &pair.from)?;
            if let Some(signature) = &args.signature {
                let signature = small(signature)?;
                let done = openpgp::verify_detached(&mut input, &signature, &certificates, stats);
                return Ok(done?);
            }
            let mut target = match &files.output {
                Some(place) => to_place(context, Some(place), files.yes)?,
                None => Target::stream(&context.seam, Box::new(io::sink())),
            };
            let verified = if args.cleartext {
                let (text, verified) = openpgp::verify_cleartext(&mut input, &certificates)?;
                let failed = |source| Error::Io { what: "writing the text".into(), source };
                io::Write::write_all(&mut target, &text).map_err(failed)?;
                verified
            } else {
                let certificates = certificates.clone();
                let stages = files.stages();
                let reading = Reading { certificates, stages, ..Reading::default() };
                reading.run(&mut input, &mut target, stats)?.verified
            };
            if !verified.is_empty() {
                target.release()?;
            }
            Ok(verified)
        })?;
        tell_verified(&store, &verified)?;
        value["verified"] = json!(verified.iter().map(describe).collect::<Vec<_>>());
        if context.output.is_json() {
            context.output.value(&value)?;
        }
        if verified.is_empty() {
            let what =
                format!("{} is signed by nobody whose certificate counts", pair.from.display());
            return Err(Error::BadSignature(what).into());
        }
    }
    DONE
}
