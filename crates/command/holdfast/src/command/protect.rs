//! `holdfast protect`: what the bytes of a system must prove, held against its configuration.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use system::protection::{self, Compared, ProtectionStatus};

use super::DONE;
use crate::context::Context;
use crate::failure::Result;
use crate::passphrase::PassphraseArgs;

/// Show what a system's bytes must prove, and bind less where that is wanted
///
/// The control file, which is sealed, binds the form of log, archives and new data sets, how many
/// copies there are, and the anchor. A configuration that asks for more is bound by the next start.
/// One that asks for less starts nothing until --accept has bound it.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast protect -s /srv/bank --accept")]
pub(crate) struct ProtectArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    /// Bind what the configuration asks for, although it is less; the system is stopped
    #[arg(long)]
    accept: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

#[derive(Serialize)]
struct Shown {
    bound: ProtectionStatus,
    configured: ProtectionStatus,
    lowered: Vec<Less>,
    accepted: bool,
}

#[derive(Serialize)]
struct Less {
    setting: String,
    bound: String,
    configured: String,
}

pub(super) fn run(context: &mut Context, args: &ProtectArgs) -> Result<ExitCode> {
    let (seam, dir) = (&context.seam, &args.system);
    system::SystemConfig::read(&*seam.disk, dir)?;
    let passphrase = args.passphrase.get()?;
    let compared = match args.accept {
        true => protection::accept(seam, dir, &passphrase)?,
        false => protection::compare(seam, dir, &passphrase)?,
    };
    let Compared { bound, asked, lowered } = compared;
    let less = lowered.into_iter().map(|one| Less {
        setting: one.setting,
        bound: one.bound,
        configured: one.asked,
    });
    let shown = Shown {
        bound: ProtectionStatus::of(&bound),
        configured: ProtectionStatus::of(&asked),
        lowered: less.collect(),
        accepted: args.accept,
    };
    let output = &mut context.output;
    if output.is_json() {
        output.document(&shown)?;
        return DONE;
    }
    output.line(format!("bound       {}", shown.bound))?;
    output.line(format!("configured  {}", shown.configured))?;
    for Less { setting, bound, configured } in &shown.lowered {
        let what = if args.accept { "is bound now" } else { "is less: no start takes it" };
        output.line(format!("  {setting}: {configured} where {bound} was bound {what}"))?;
    }
    if !args.accept && !shown.lowered.is_empty() {
        output.line("holdfast protect --accept binds it, if that is wanted")?;
    }
    DONE
}
