//! `holdfast recmap`: what the fields of a cluster's records are, as the catalog keeps it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use operations::record_maps::{RecordMap, RecordMapRequest};
use operations::verbs::Operation;

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input::text_of;
use crate::operate::{Where, perform};
use crate::text::count;

/// The longest record description.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Keep, list, show or drop record maps: COBOL descriptions of the records of clusters
///
/// `holdfast look` and PRINT FIELDS show records by them, redirections make columns of them, and
/// REPRO converts between EBCDIC and ASCII by them. The same as RECORDMAP of DEFINE and ALTER.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast recmap define -s /srv/bank BANK.ACCT account.cpy")]
pub(crate) struct RecmapArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Keep a record description with a cluster
    #[command(after_help = "Example: holdfast recmap define -s /srv/bank BANK.ACCT account.cpy")]
    Define {
        #[command(flatten)]
        place: Where,
        /// The cluster
        cluster: String,
        /// The file of the description; its first record counts
        #[arg(value_name = "COPYBOOK")]
        file: PathBuf,
    },
    /// List the clusters that have record maps
    #[command(after_help = "Example: holdfast recmap list -s /srv/bank")]
    List(Where),
    /// Show the fields of a cluster's records
    #[command(after_help = "Example: holdfast recmap show -s /srv/bank BANK.ACCT --json")]
    Show {
        #[command(flatten)]
        place: Where,
        /// The cluster
        cluster: String,
    },
    /// Forget the record map of a cluster
    #[command(after_help = "Example: holdfast recmap drop -s /srv/bank BANK.ACCT")]
    Drop {
        #[command(flatten)]
        place: Where,
        /// The cluster
        cluster: String,
    },
}

pub(super) fn run(context: &mut Context, args: &RecmapArgs) -> Result<ExitCode> {
    let (place, asked) = match &args.what {
        What::Define { place, cluster, file } => {
            let text = description_of(file)?;
            (place, RecordMapRequest::Define { file: cluster.clone(), text })
        }
        What::List(place) => (place, RecordMapRequest::List {}),
        What::Show { place, cluster } => (place, RecordMapRequest::Show { file: cluster.clone() }),
        What::Drop { place, cluster } => (place, RecordMapRequest::Drop { file: cluster.clone() }),
    };
    let operation = Operation::RecordMap(asked);
    let maps: Vec<RecordMap> = perform(context, &place.system, &place.passphrase, &operation)?;
    if context.output.is_json() {
        context.output.document(&maps)?;
        return DONE;
    }
    let output = &mut context.output;
    match &args.what {
        What::List(_) => {
            let row = |map: &RecordMap| vec![map.file.clone(), count(map.bytes as u64)];
            let rows: Vec<Vec<String>> = maps.iter().map(row).collect();
            output.table(&["cluster", "bytes"], &rows)?;
        }
        What::Drop { cluster, .. } => output.line(format_args!("{cluster} has no record map"))?,
        What::Define { .. } | What::Show { .. } => {
            for map in &maps {
                let rows: Vec<Vec<String>> = map
                    .fields
                    .iter()
                    .map(|field| {
                        let (offset, bytes) = (field.offset.to_string(), field.bytes.to_string());
                        vec![field.name.clone(), offset, bytes, field.value.clone()]
                    })
                    .collect();
                output.table(&["field", "offset", "bytes", "value"], &rows)?;
            }
        }
    }
    DONE
}

fn description_of(path: &Path) -> Result<String> {
    text_of(path, TEXT_BYTES_MAX, |what| {
        let what = format!("{} cannot be used: {what}", path.display());
        Failure::other(what, "Name a file with a COBOL record description.")
    })
}
