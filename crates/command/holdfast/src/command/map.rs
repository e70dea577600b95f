//! `holdfast db map`: the map of a database's segments to record descriptions, as the system keeps
//! it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use copybook::Bundle;
use definitions::DbdName;
use definitions::resolve::Definitions as _;
use operations::Databases;
use operations::encoding::{gather, notes_of};
use serde_json::json;
use store_any::AnyStore;

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, with};
use crate::output::warn;

/// Keep, show or remove the map of a database: what the fields of its segments are
///
/// Where [database.NAME] says encoding = "ebcdic", programs get segments converted field by field
/// with it. Loads with --from-ebcdic and unloads with --to-ebcdic use it if no --map is given. The
/// system keeps the map with the copybooks that it names. Of a GSAM file the DBD is named.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: holdfast db map -s /srv/bank CUSTDB cust.map; holdfast db map -s \
/srv/bank CUSTDB"
)]
pub(super) struct MapArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
    /// The map file to keep; left out: the map is shown
    #[arg(value_name = "MAPFILE", conflicts_with = "remove")]
    file: Option<PathBuf>,
    /// Remove the map
    #[arg(long)]
    remove: bool,
    /// Change or remove the map of a database that holds data: its bytes stay as they are
    #[arg(long)]
    over_data: bool,
}

pub(super) fn run(context: &mut Context, args: &MapArgs) -> Result<ExitCode> {
    with(context, &args.system, |context, _, databases| {
        let name = databases.named(&args.database)?;
        if let Some(path) = &args.file {
            let bundle = gather(path)?;
            let fitted = fit(&bundle, &databases.repository, name);
            fitted.map_err(|failure| failure.about(path.display()))?;
            let bytes = bundle.encode();
            let is_other = databases.repository.map(name).is_some_and(|kept| *kept != bytes);
            if is_other || !hierarchy::converted::fits(&databases.store, name, &bytes)? {
                over_data(args, databases, name)?;
            }
            hierarchy::repository::put_map(&databases.store, name, Some(&bytes))?;
            return say(context, name, "kept");
        }
        let Some(bytes) = databases.repository.map(name) else {
            let what = format!("{name} has no map");
            return Err(Failure::other(what, "Keep one: name its file behind the database."));
        };
        if args.remove {
            over_data(args, databases, name)?;
            hierarchy::repository::put_map(&databases.store, name, None)?;
            return say(context, name, "removed");
        }
        let bundle = Bundle::decode(bytes).map_err(|error| Failure::Error(Box::new(error)))?;
        match context.output.is_json() {
            true => {
                let value = json!({ "database": name.text(), "map": bundle.text() });
                context.output.document(&value)?;
            }
            false => context.output.line(bundle.text().trim_end())?,
        }
        DONE
    })
}

/// Refuses to give data another map than it has, unless that is asked for.
fn over_data(args: &MapArgs, databases: &Databases<AnyStore>, name: DbdName) -> Result<()> {
    if args.over_data || !hierarchy::state::holds_something(&databases.store, name)? {
        return Ok(());
    }
    let what = format!("{name} holds data, which was converted with the map that it has");
    Err(Failure::other(
        what,
        "Unload it with --to-ebcdic first, to load it under the other map. Say --over-data if the \
         other map describes the bytes that are there.",
    ))
}

fn say(context: &mut Context, name: DbdName, what: &str) -> Result<ExitCode> {
    match context.output.is_json() {
        true => context.output.value(&json!({ "database": name.text(), "map": what }))?,
        false => context.output.line(format!("the map of {name} is {what}"))?,
    }
    DONE
}

/// Whether a map describes every segment of a database, or the records of a GSAM file.
fn fit(
    bundle: &Bundle,
    definitions: &hierarchy::repository::Repository,
    name: DbdName,
) -> Result<()> {
    let map = bundle.map().map_err(|error| Failure::Error(Box::new(error)))?;
    let Some(dbd) = definitions.dbd(name) else { return Ok(()) };
    let stored = dbd.segments.iter().filter(|segment| !segment.is_virtual());
    let segments: Vec<_> = stored
        .map(|segment| (segment.name.text().to_owned(), usize::from(segment.max), segment.variable))
        .collect();
    for (segment, max, variable) in &segments {
        let mapped = map.segment(segment).ok_or_else(|| {
            let what = format!("it has no section [segment.{segment}]");
            Failure::other(what, "Describe every segment of the database.")
        })?;
        mapped.fits(*max, *variable).map_err(|error| Failure::Error(Box::new(error)))?;
        notes_of(segment, mapped).iter().for_each(warn);
    }
    if segments.is_empty() && map.segment(name.text()).is_none() {
        let what = format!("it has no section [file.{name}]");
        return Err(Failure::other(what, "Describe the records of the file."));
    }
    Ok(())
}
