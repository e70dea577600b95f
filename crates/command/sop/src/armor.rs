//! Armor, put on and taken off.
//!
//! 1. What has the asked-for form already comes through as it is.
//! 2. Nothing is given out before the end was right.

use std::io::{self, BufRead, BufReader, Read};

use clap::{Args, ValueEnum};
use openpgp::{Armorer, Dearmorer, Label};
use seam::Seam;

use crate::failure::{Failure, Reason, Result};
use crate::place::{STDIN, main_output};

/// So much is looked at to see what it is.
const LOOK: usize = 1 << 20;

/// Whether what is made is binary; text is the default.
#[derive(Args)]
pub(crate) struct Armored {
    /// Binary instead of text
    #[arg(long)]
    pub(crate) no_armor: bool,
}

#[derive(Args)]
pub(crate) struct ArmorArgs {
    /// What it is; found out by itself
    #[arg(long, value_enum, default_value = "auto", hide = true)]
    label: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Auto,
    Sig,
    Key,
    Cert,
    Message,
}

#[allow(clippy::needless_pass_by_value)] // the form that map_err wants
fn failed(error: io::Error) -> Failure {
    Reason::Unspecified.because(format!("reading {STDIN}: {error}"))
}

fn pour(input: &mut impl Read, out: &mut impl io::Write) -> Result<()> {
    let done = io::copy(input, out).map(drop);
    done.map_err(|error| match error.downcast::<openpgp::Error>() {
        Ok(broken) => broken.into(),
        Err(error) => Reason::Unspecified.because(format!("{STDIN}, or the output: {error}")),
    })
}

pub(crate) fn armor(seam: &Seam, args: &ArmorArgs) -> Result<()> {
    let mut begin = Vec::new();
    let mut input = io::stdin().lock();
    input.by_ref().take(LOOK as u64).read_to_end(&mut begin).map_err(failed)?;
    let mut out = main_output(seam);
    let Some(first) = begin.first() else {
        return Err(Reason::BadData.because(format!("{STDIN} is empty")));
    };
    if first & 0x80 == 0 {
        is_armored(&begin)?;
        pour(&mut begin.chain(input), &mut out)?;
        return Ok(out.release()?);
    }
    let label = match (args.label, Label::of(&begin)) {
        (Kind::Sig, Ok(_)) => Label::Signature,
        (Kind::Key, Ok(_)) => Label::PrivateKey,
        (Kind::Cert, Ok(_)) => Label::PublicKey,
        (Kind::Message, Ok(_)) => Label::Message,
        (Kind::Auto, Ok(label)) => label,
        // A signature with more behind it than was looked at.
        (_, Err(openpgp::Error::Damaged(_))) if begin.len() == LOOK => Label::Message,
        (_, Err(error)) => return Err(Reason::BadData.because(error.to_string())),
    };
    let mut armorer = Armorer::new(&mut out, label);
    pour(&mut begin.chain(input), &mut armorer)?;
    armorer.finish().map_err(Failure::of_output)?;
    Ok(out.release()?)
}

fn is_armored(begin: &[u8]) -> Result<()> {
    let text = begin.trim_ascii_start();
    let none = || Reason::BadData.because(format!("{STDIN} is no OpenPGP"));
    text.starts_with(b"-----BEGIN PGP ").then_some(()).ok_or_else(none)
}

pub(crate) fn dearmor(seam: &Seam) -> Result<()> {
    let mut input = BufReader::with_capacity(64 << 10, io::stdin());
    let mut out = main_output(seam);
    let begin = input.fill_buf().map_err(failed)?;
    match begin.first() {
        None => return Err(Reason::BadData.because(format!("{STDIN} is empty"))),
        Some(first) if first & 0x80 != 0 => pour(&mut input, &mut out)?,
        // Other text may stand before the armor.
        Some(_) => pour(&mut Dearmorer::new(input), &mut out)?,
    }
    Ok(out.release()?)
}
