//! Messages, written: encrypted, signed, compressed.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use openpgp::{Error, Stats, Writing};

use super::choices::{Cipher, Compression, Digest, Form};
use super::files::{FileArgs, Pair, each, is_pipe, report, timed, to_place, watched};
use super::{add_recipient, signers};
use crate::context::Context;
use crate::failure::Result;

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
    /// The digest of signatures; without, what fits the key
    #[arg(long, value_enum)]
    digest: Option<Digest>,
    /// The cipher; without, the strongest that all recipients want
    #[arg(long, value_enum)]
    cipher: Option<Cipher>,
    /// The form; without, RFC 9580's if all recipients say that they read it, else the older one
    #[arg(long, value_enum)]
    form: Option<Form>,
    #[command(flatten)]
    body: BodyArgs,
}

/// What becomes of the data besides.
#[derive(Args, Debug)]
struct BodyArgs {
    /// Compress it; without, by what all recipients take: ZIP, if they do
    #[arg(long, value_enum)]
    compress: Option<Compression>,
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

impl BodyArgs {
    fn writing(&self, files: &FileArgs) -> Writing {
        Writing {
            compression: self.compress.unwrap_or(Compression::Zip).with(self.level),
            armor: self.armor,
            text: self.text,
            stages: files.stages(),
            ..Writing::default()
        }
    }

    /// How the name of what is written ends.
    fn ending(&self) -> &'static str {
        if self.armor { ".asc" } else { ".pgp" }
    }
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
    let passphrase_file = args.passphrase_file.as_deref();
    let mut writing = Writing {
        passphrases: files.ring.file_passphrases(
            context,
            args.passphrase,
            passphrase_file,
            true,
        )?,
        signers: signers(context, &store, &files.ring, &args.sign_with)?,
        hash: args.digest.map(Digest::algorithm),
        cipher: args.cipher.map(Cipher::algorithm),
        container: args.form.map(Form::container),
        ..args.body.writing(files)
    };
    for name in &args.recipient {
        add_recipient(&store, name, &mut writing)?;
    }
    if args.body.compress.is_none() {
        let agreed = openpgp::agreed_compression(&writing.recipients);
        writing.compression = agreed.map(|algorithm| (algorithm, args.body.level));
    }
    write_all(context, &mut writing, files, args.body.ending())
}

/// Writes a message for each of the files.
fn write_all(
    context: &mut Context,
    writing: &mut Writing,
    files: &FileArgs,
    ending: &str,
) -> Result<ExitCode> {
    each(context, files.pairs(|path| Ok(extended(path, ending)))?, |context, pair| {
        let name = pair.from.file_name().unwrap_or_default();
        writing.name =
            if is_pipe(&pair.from) { Vec::new() } else { name.as_encoded_bytes().into() };
        let (_, value) = timed(context, files, &pair, |context, stats| {
            write_message(context, writing, files.yes, &pair, stats)
        })?;
        report(context, &pair, &value)
    })
}

#[derive(Args, Debug)]
pub(super) struct CompressArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    body: BodyArgs,
}

/// Messages that are only compressed; `decrypt --plain` opens them.
pub(super) fn compress(context: &mut Context, args: &CompressArgs) -> Result<ExitCode> {
    let mut writing = Writing { encrypted: false, ..args.body.writing(&args.files) };
    write_all(context, &mut writing, &args.files, args.body.ending())
}

pub(super) fn write_message(
    context: &Context,
    writing: &Writing,
    replace: bool,
    pair: &Pair,
    stats: &Stats,
) -> Result<()> {
    let mut input = watched(context, &pair.from)?;
    // A sealed stream may go out as it comes: without its end no reader takes it for a message.
    if pair.is_stream() {
        writing.run(&mut input, &mut seam::standard::output(), stats)?;
        return Ok(());
    }
    let mut target = to_place(context, pair.to.as_deref(), replace)?;
    writing.run(&mut input, &mut target, stats)?;
    Ok(target.release()?)
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
    /// The digest of signatures; without, what fits the key
    #[arg(long, value_enum)]
    digest: Option<Digest>,
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
        signers: signers(context, &store, &files.ring, &args.with)?,
        hash: args.digest.map(Digest::algorithm),
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
    each(context, files.pairs(|path| Ok(extended(path, ending)))?, |context, pair| {
        let (_, value) = timed(context, files, &pair, |context, stats| {
            if !args.detached && !args.cleartext {
                return write_message(context, &writing, files.yes, &pair, stats);
            }
            let mut input = watched(context, &pair.from)?;
            let mut target = to_place(context, pair.to.as_deref(), files.yes)?;
            let (signers, hash) = (&writing.signers, writing.hash);
            if args.cleartext {
                openpgp::sign_cleartext(&mut input, signers, hash, &mut target)?;
            } else {
                let (is_text, armor) = (args.text, args.armor);
                let made =
                    openpgp::sign_detached(&mut input, signers, is_text, hash, armor, stats)?;
                let failed = |source| Error::Io { what: "writing the signature".into(), source };
                io::Write::write_all(&mut target, &made).map_err(failed)?;
            }
            Ok(target.release()?)
        })?;
        report(context, &pair, &value)
    })
}
