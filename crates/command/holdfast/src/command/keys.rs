//! `holdfast keys`: the key file of a system.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use seal::{KdfCost, KeyInfo, Keyset, Protection, TokenPlace};
use serde::Serialize;
use serde_json::json;
use system::operator::SystemOperation;
use system::operator::keys::Generation;

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::operate;
use crate::output::utc;
use crate::passphrase::{PassphraseArgs, choose_new};

/// Show and change keys
///
/// A passphrase opens the master key, the master key opens the data keys. Changing one of the
/// first two rewrites the key file alone; a new generation of a data key is used by what is
/// written from then on.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast keys list /srv/bank")]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show labels and generations, never a key
    #[command(after_help = "Example: holdfast keys list /srv/bank --json")]
    List(Target),
    /// Change the passphrase, or protect the keys by a passphrase in place of a token
    ///
    /// Old copies of the key file still open with the old one: if others know it, change the
    /// master key and the generations, too.
    #[command(after_help = "\
Example: holdfast keys passphrase /srv/bank --new-passphrase-file /run/secret")]
    Passphrase {
        #[command(flatten)]
        target: Target,
        /// Read the new passphrase from this file; otherwise from the variable
        /// HOLDFAST_NEW_PASSPHRASE, or from the terminal
        #[arg(long, value_name = "FILE")]
        new_passphrase_file: Option<PathBuf>,
    },
    /// Protect the keys by a token in place of a passphrase, or by another key of a token
    ///
    /// The token makes an AES key that never leaves it, and wraps the master key with it. Keep a
    /// copy of the key file that a passphrase opens, or a second token with the same key: a token
    /// that is lost takes everything along.
    #[command(after_help = "\
Example: holdfast keys token /srv/bank --token BANK --token-module /usr/lib/token.so")]
    Token {
        #[command(flatten)]
        target: Target,
        /// The label of the token
        #[arg(long, value_name = "LABEL")]
        token: String,
        /// The label of the key in it, which is made if it is not there
        #[arg(long, value_name = "LABEL", default_value = "holdfast")]
        token_key: String,
        /// Read the PIN from this file; otherwise from the variable HOLDFAST_NEW_PASSPHRASE, or
        /// from the terminal
        #[arg(long, value_name = "FILE")]
        pin_file: Option<PathBuf>,
    },
    /// Let a login session run programs without the passphrase, for a time
    ///
    /// The kernel holds the key that the passphrase is stretched to, so that steps begin at once.
    /// For that time whoever has this login session can open the system as `holdfast batch` does.
    #[command(after_help = "Example: holdfast keys unlock /srv/bank --for 8h")]
    Unlock {
        #[command(flatten)]
        target: Target,
        /// How long: a number with s, m, h or d, up to 7d
        #[arg(long = "for", value_name = "TIME", default_value = "8h", value_parser = seconds)]
        time: u32,
    },
    /// End what `unlock` began
    #[command(after_help = "Example: holdfast keys lock /srv/bank")]
    Lock {
        /// The system's folder
        dir: PathBuf,
    },
    /// Draw a new master key and wrap all data keys with it
    #[command(after_help = "Example: holdfast keys master /srv/bank")]
    Master(Target),
    /// Draw a new data key for a label
    #[command(after_help = "Example: holdfast keys new-generation /srv/bank log")]
    NewGeneration(Labelled),
    /// Delete a data key for good: what is sealed with it can never be read again
    ///
    /// Refused as long as a data set, the log, an archive or an image copy is known that needs it.
    /// Works on a system in use, too.
    #[command(after_help = "Example: holdfast keys delete /srv/bank data 1")]
    Delete {
        #[command(flatten)]
        labelled: Labelled,
        /// The generation
        generation: u32,
    },
    /// Add a label with its first data key
    #[command(after_help = "Example: holdfast keys add-label /srv/bank payroll")]
    AddLabel(Labelled),
}

#[derive(Args, Debug)]
struct Target {
    /// The system's folder
    dir: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

#[derive(Args, Debug)]
struct Labelled {
    #[command(flatten)]
    target: Target,
    /// The label: letters, digits and . - _ $ # @
    label: String,
}

/// What is told about a key.
#[derive(Serialize)]
struct Key {
    label: String,
    generation: u32,
    created: String,
    current: bool,
}

/// What is told about a key file.
#[derive(Serialize)]
struct KeyFile {
    system: String,
    path: PathBuf,
    edition: u64,
    protection: String,
    keys: Vec<Key>,
}

pub(super) fn run(context: &mut Context, args: &KeysArgs) -> Result<ExitCode> {
    match &args.what {
        What::List(target) => list(context, target),
        What::Passphrase { target, new_passphrase_file } => {
            let (old, dir) = (target.passphrase.get()?, &target.dir);
            let (keyset, _lock) = system::open_keyset(&context.seam, dir, &old)?;
            let new = choose_new(new_passphrase_file.as_deref())?;
            let cost = match keyset.protection() {
                Protection::Passphrase(cost) => cost,
                Protection::Token(_) => KdfCost::default(),
            };
            keyset.change_passphrase(&new, cost)?;
            changed(
                context,
                &keyset,
                "the passphrase is changed; old copies of the key file still open with the old one",
            )
        }
        What::Token { target, token, token_key, pin_file } => {
            let old = target.passphrase.get()?;
            let (keyset, _lock) = system::open_keyset(&context.seam, &target.dir, &old)?;
            let pin = target.passphrase.choose_pin(pin_file.as_deref())?;
            let place = TokenPlace { token: token.clone(), key: token_key.clone() };
            keyset.move_to_token(&pin, &place)?;
            let text = format!(
                "the keys are protected by {place}; old copies of the key file open as before"
            );
            changed(context, &keyset, &text)
        }
        What::Unlock { target, time } => unlock(context, target, *time),
        What::Lock { dir } => lock(context, dir),
        What::Master(target) => {
            let passphrase = target.passphrase.get()?;
            let (keyset, _lock) = system::open_keyset(&context.seam, &target.dir, &passphrase)?;
            keyset.change_master(&passphrase)?;
            changed(
                context,
                &keyset,
                "there is a new master key; all data keys are wrapped with it",
            )
        }
        What::NewGeneration(labelled) => {
            let keyset = open(context, &labelled.target)?;
            let (generation, label) = (keyset.0.new_generation(&labelled.label)?, &labelled.label);
            let text =
                format!("{generation} of label {label} is used by what is written from now on");
            changed(context, &keyset.0, &text)
        }
        What::Delete { labelled, generation } => {
            let Labelled { target, label } = labelled;
            let gone = Generation { label: label.clone(), generation: *generation };
            let delete = SystemOperation::KeysDelete(gone);
            let gone: Generation = operate(context, &target.dir, &target.passphrase, &delete)?;
            match context.output.is_json() {
                true => context.output.document(&gone)?,
                false => {
                    let Generation { label, generation } = gone;
                    let text = format!("generation {generation} of label {label} is deleted");
                    context.output.line(text)?;
                }
            }
            DONE
        }
        What::AddLabel(labelled) => {
            let keyset = open(context, &labelled.target)?;
            let (generation, label) = (keyset.0.add_label(&labelled.label)?, &labelled.label);
            changed(context, &keyset.0, &format!("label {label} is there, with key {generation}"))
        }
    }
}

/// The longest time of a session, in seconds.
const SESSION_MAX: u32 = 7 * 24 * 60 * 60;

/// Reads a time such as `8h`, in seconds.
fn seconds(text: &str) -> std::result::Result<u32, String> {
    let at = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[at..] {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(60 * 60),
        "d" => Some(24 * 60 * 60),
        _ => None,
    };
    let number = text[..at].parse::<u32>().ok();
    let seconds = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    seconds
        .filter(|seconds| (1..=SESSION_MAX).contains(seconds))
        .ok_or_else(|| "write a number with s, m, h or d, at most 7d, as in 8h".to_owned())
}

/// Has the session hold what opens a system for programs.
fn unlock(context: &mut Context, target: &Target, seconds: u32) -> Result<ExitCode> {
    let passphrase = target.passphrase.get()?;
    let name = system::session_name(&context.seam, &target.dir)?;
    let stretched = system::stretch_passphrase(&context.seam, &target.dir, &passphrase)?;
    let (Some(name), Some(stretched)) = (name, stretched) else {
        return Err(Failure::usage(
            "a token protects the keys, so there is nothing that a session could hold",
            "Give each command the PIN, as before.",
        ));
    };
    seam::keyring::hold(&name, &stretched.to_bytes(), seconds)
        .map_err(|error| no_keyring(&error))?;
    match context.output.is_json() {
        true => context.output.document(&json!({ "held": true, "seconds": seconds }))?,
        false => {
            let dir = target.dir.display();
            context.output.line(format_args!(
                "the login session runs programs without the passphrase for {seconds} seconds; \
                 `holdfast keys lock {dir}` ends that"
            ))?;
        }
    }
    DONE
}

/// Ends what a session holds of a system.
fn lock(context: &mut Context, dir: &Path) -> Result<ExitCode> {
    let name = system::session_name(&context.seam, dir)?;
    let gone = match name {
        Some(name) => seam::keyring::let_go(&name).map_err(|error| no_keyring(&error))?,
        None => false,
    };
    if context.output.is_json() {
        context.output.document(&json!({ "held": false, "was_held": gone }))?;
        return DONE;
    }
    let held = if gone { "holds nothing of the system any more" } else { "held nothing of it" };
    context.output.line(format!("the login session {held}"))?;
    DONE
}

fn no_keyring(error: &std::io::Error) -> Failure {
    Failure::other(
        format!("the kernel's keyring cannot be used: {error}"),
        "Containers often forbid it: allow add_key and keyctl there, or go on with the passphrase.",
    )
}

fn open(context: &Context, target: &Target) -> Result<(Keyset, Box<dyn seam::disk::HeldLock>)> {
    let passphrase = target.passphrase.get()?;
    Ok(system::open_keyset(&context.seam, &target.dir, &passphrase)?)
}

fn list(context: &mut Context, target: &Target) -> Result<ExitCode> {
    let passphrase = target.passphrase.get()?;
    let keyset = system::read_keyset(&context.seam, &target.dir, &passphrase)?;
    let file = describe(&keyset);
    if context.output.is_json() {
        context.output.document(&file)?;
        return DONE;
    }
    let head = format!(
        "key file {} of system {}, edition {}, protected by {}",
        file.path.display(),
        file.system,
        file.edition,
        match &file.protection[..] {
            "passphrase" => "a passphrase",
            token => token,
        }
    );
    context.output.line(head)?;
    let row = |key: Key| {
        let current = if key.current { "current" } else { "" };
        vec![key.label, key.generation.to_string(), key.created, current.to_owned()]
    };
    let rows: Vec<Vec<String>> = file.keys.into_iter().map(row).collect();
    context.output.table(&["label", "generation", "created", ""], &rows)?;
    DONE
}

fn describe(keyset: &Keyset) -> KeyFile {
    let key = |info: KeyInfo| Key {
        label: info.label,
        generation: info.generation.0,
        created: utc(info.created_us),
        current: info.current,
    };
    KeyFile {
        system: keyset.system().to_string(),
        path: keyset.path().to_owned(),
        edition: keyset.edition(),
        protection: match keyset.protection() {
            Protection::Passphrase(_) => "passphrase".into(),
            Protection::Token(place) => place.to_string(),
        },
        keys: keyset.list().into_iter().map(key).collect(),
    }
}

fn changed(context: &mut Context, keyset: &Keyset, text: &str) -> Result<ExitCode> {
    match context.output.is_json() {
        true => context.output.document(&describe(keyset))?,
        false => context.output.line(text)?,
    }
    DONE
}
