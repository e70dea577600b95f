//! `holdfast look`: records of a cluster, shown by its record map.

use std::process::ExitCode;

use clap::Args;

use super::idcams;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::SystemArgs;

/// Records that are shown unless it is said how many.
const RECORDS: u32 = 20;

/// Look at the records of a cluster, field by field
///
/// The fields are those of its record map (`holdfast recmap`); without one, records are shown in
/// hexadecimal digits and in characters. It is PRINT of `holdfast idcams`: a system that is started
/// shows its records beside its programs.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast look -s /srv/bank BANK.ACCT --from 00001234 --count 5")]
pub(crate) struct LookArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The cluster, or a path
    #[arg(value_name = "CLUSTER")]
    name: String,
    /// The key, or the first characters of it, where to begin
    #[arg(long, value_name = "KEY")]
    from: Option<String>,
    /// How many records
    #[arg(long, default_value_t = RECORDS)]
    count: u32,
    /// Hexadecimal digits and characters, whatever record map there is
    #[arg(long)]
    dump: bool,
    /// The code page of characters, such as 037
    #[arg(long, value_name = "PAGE")]
    page: Option<String>,
}

pub(super) fn run(context: &mut Context, args: &LookArgs) -> Result<ExitCode> {
    let is_name = |text: &str| {
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-#@$()+".contains(letter))
    };
    if !is_name(&args.name) || args.name.is_empty() {
        let what = format!("{} is no name of a data set", args.name);
        return Err(Failure::usage(what, "Name a cluster of the catalog."));
    }
    let look = if args.dump { "DUMP" } else { "FIELDS" };
    let mut statement =
        format!("  PRINT INDATASET({}) -\n    {look} COUNT({})", args.name, args.count);
    if let Some(key) = &args.from {
        statement += &format!(" -\n    FROMKEY(X'{}')", base::hex::upper(key.as_bytes()));
    }
    if let Some(page) = args.page.as_ref().filter(|page| is_name(page)) {
        statement += &format!(" -\n    CODEPAGE({page})");
    }
    idcams::listing(context, &args.system, &statement)
}
