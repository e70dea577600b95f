//! `holdfast doctor`: looks at a damaged system without opening it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use system::{Diagnosis, Health, diagnose};

use super::DONE;
use crate::context::Context;
use crate::failure::Result;
use crate::output::{Output, warn};
use crate::passphrase::PassphraseArgs;

/// Look at a damaged system: what is there, what is missing, what to do
///
/// Opens nothing and changes nothing, not even a lock. With the passphrase what files say is proven
/// as far as that is quick; with --clear none is asked for, and only what stands in clear is seen.
/// The exit code is 1 if anything is damaged or missing.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast doctor -s /srv/bank --json")]
pub(crate) struct DoctorArgs {
    /// The system's folder, or what is left of it
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    /// Look only at what stands in clear
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) fn run(context: &mut Context, args: &DoctorArgs) -> Result<ExitCode> {
    let passphrase = match args.clear {
        true => None,
        false => match args.passphrase.get() {
            Ok(passphrase) => Some(passphrase),
            Err(failure) => {
                let (_, what, _) = failure.parts();
                warn(format!("{what}: only what stands in clear is looked at"));
                None
            }
        },
    };
    let diagnosis = diagnose(&context.seam, &args.system, passphrase.as_ref());
    match context.output.is_json() {
        true => context.output.document(&diagnosis)?,
        false => tell(&mut context.output, &diagnosis)?,
    }
    if diagnosis.is_sound() { DONE } else { Ok(ExitCode::FAILURE) }
}

fn tell(output: &mut Output, diagnosis: &Diagnosis) -> Result<()> {
    let system = diagnosis.system.as_deref().unwrap_or("of unknown identity");
    output.line(format!("system {system} in {}", diagnosis.dir.display()))?;
    for part in &diagnosis.parts {
        let health = match part.health {
            Health::Sound => "sound",
            Health::Impaired => "IMPAIRED",
            Health::Lost => "LOST",
            Health::Unknown => "unknown",
        };
        output.line(format!("  {:<10} {}", health, part.name))?;
        for sentence in &part.notes {
            output.line(format!("             {sentence}"))?;
        }
    }
    let known = |what: &str| diagnosis.files.iter().filter(|file| file.what == what).count();
    let strange: Vec<_> = diagnosis.files.iter().filter(|file| file.what == "unknown").collect();
    output.line(format!(
        "  {} files, {} of them of data sets, {} segments of the log",
        diagnosis.files.len(),
        known("file of a data set"),
        known("segment of the log")
    ))?;
    for file in strange.iter().take(STRANGE_MAX) {
        output.line(format!("  unknown: {}, {} bytes", file.path.display(), file.bytes))?;
    }
    output.line("what to do:")?;
    for (number, step) in (1..).zip(&diagnosis.steps) {
        output.line(format!("  {number}. {}", step.what))?;
        if let Some(command) = &step.command {
            output.line(format!("     {command}"))?;
        }
    }
    Ok(())
}

/// More files that are not known are not named one by one.
const STRANGE_MAX: usize = 10;
