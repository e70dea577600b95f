//! `holdfast unload`: writes a database into an HD unload file.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use base::Coded;
use clap::Args;
use copybook::Direction;
use definitions::{ChildPointer, Organization, Segment};
use hierarchy::state::{self, State};
use hierarchy::{Database, HierarchyError, TypeAt, converted};
use openpgp::Target;
use operations::Databases;
use operations::encoding::{Conversion, USUAL_PAGE};
use seam::Seam;
use seam::disk::File;
use seam::fresh::Fresh;
use serde_json::json;
use store::Store;
use unload::{Counts, Deleted, Name, SegmentType, UnloadError, Writer};

use super::DONE;
use super::load::form_of;
use super::mapping::MappingArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, with};
use crate::output::warn;
use crate::progress::Progress;
use crate::standard::{Guarded, is_special};
use crate::text::count;

/// Unload a database into an HD unload file
///
/// All segments in hierarchic order, with names in EBCDIC as hosts have them and data as it is
/// stored. The file gets its name when it is whole. It is not sealed: whoever reads it reads the
/// data.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast unload -s /srv/bank CUSTDB custdb.unload")]
pub(crate) struct UnloadArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
    /// The file to write
    file: PathBuf,
    /// Replace the file if there is one
    #[arg(long)]
    replace: bool,
    /// Convert the data to EBCDIC, field by field; the code page is the map's or 037
    #[arg(long, value_name = "CODEPAGE", num_args = 0..=1, require_equals = true,
          default_missing_value = USUAL_PAGE)]
    to_ebcdic: Option<String>,
    #[command(flatten)]
    map: MappingArgs,
    /// Convert with another map than the data was loaded with
    #[arg(long, requires = "to_ebcdic")]
    other_map: bool,
}

pub(super) fn run(context: &mut Context, args: &UnloadArgs) -> Result<ExitCode> {
    let guarded = Guarded::of(&context.seam, &args.system.system, false)?;
    guarded.check("the unload file", &args.file)?;
    if !args.replace && args.file.exists() {
        return Err(taken(&args.file));
    }
    with(context, &args.system, |context, _, databases| {
        let database = databases.open_to_read(databases.named(&args.database)?)?;
        let record = state::state_of(&databases.store, database.name())?;
        if record.is_some_and(|record| record.state == State::Loading) {
            return Err(HierarchyError::Loading(database.name()).into());
        }
        let mut progress = Progress::new(&context.seam);
        let mut conversion = conversion_of(args, databases, &database)?;
        let written = write_whole(&context.seam, &args.file, args.replace, |file| {
            let written = write(&database, databases, file, &mut progress, &mut conversion)?;
            // A file that is refused gets no name.
            settle(conversion.as_ref())?;
            Ok(written)
        })?;
        if written.descending > 0 {
            warn(format!(
                "{} roots of {} do not come in the order that their keys have on a host: sort the \
                 file before it is loaded there",
                count(written.descending),
                database.name()
            ));
        }
        drop(progress);
        if written.deleted > 0 {
            warn(format!(
                "{} segments in the file are marked as deleted on one of their paths; a load here \
                 keeps them so, a host does not know such marks",
                count(written.deleted)
            ));
        }
        tell(context, &database, &written, &args.file)
    })
}

fn tell(
    context: &mut Context,
    database: &Database,
    Written { counts, deleted, .. }: &Written,
    file: &Path,
) -> Result<ExitCode> {
    let all: u64 = counts.iter().map(|(_, counts)| u64::from(counts.segments)).sum();
    if context.output.is_json() {
        let each = counts
            .iter()
            .map(|(name, counts)| json!({ "segment": name.as_str(), "segments": counts.segments }));
        context.output.document(&json!({
            "database": database.name().text(),
            "file": file.to_string_lossy(),
            "segments": all,
            "deleted": deleted,
            "types": each.collect::<Vec<_>>(),
        }))?;
        return DONE;
    }
    let (name, file) = (database.name(), file.display());
    context.output.line(format!("{name}: {} segments unloaded into {file}", count(all)))?;
    let row =
        |(name, counts): &(Name, Counts)| vec![name.to_string(), count(counts.segments.into())];
    let rows: Vec<Vec<String>> = counts.iter().map(row).collect();
    context.output.table(&["segment", "segments"], &rows)?;
    DONE
}

/// How the segments are converted, if they are.
fn conversion_of<S: Store>(
    args: &UnloadArgs,
    databases: &Databases<S>,
    database: &Database,
) -> Result<Option<Conversion>> {
    let Some(page) = &args.to_ebcdic else {
        if args.map.is_given() {
            let what = "--map and --as-text say how data is converted";
            return Err(Failure::usage(what, "Add --to-ebcdic."));
        }
        return Ok(None);
    };
    let mapping = args.map.mapping();
    let conversion = Conversion::new(databases, database, Direction::ToEbcdic, page, &mapping)?;
    let name = database.name();
    if !args.other_map && !converted::fits(&databases.store, name, conversion.map())? {
        let what = format!("{name} was loaded with another map: that one would give other bytes");
        return Err(Failure::other(
            what,
            "Name the map that it was loaded with, its copybooks as they were. Say --other-map if \
             this one describes the same fields.",
        ));
    }
    conversion.notes().iter().for_each(warn);
    Ok(Some(conversion))
}

/// Refuses what a conversion has found, or tells it.
pub(super) fn settle(conversion: Option<&Conversion>) -> Result<()> {
    conversion.map_or(Ok(Vec::new()), Conversion::settle)?.iter().for_each(warn);
    Ok(())
}

/// What a file holds.
struct Written {
    /// By segment type.
    counts: Vec<(Name, Counts)>,
    /// How many of them were deleted on one of their paths.
    deleted: u64,
    /// How many roots were converted and have a lower key than the one in front of them.
    descending: u64,
}

/// Writes all segments.
fn write<S: Store>(
    database: &Database,
    databases: &Databases<S>,
    file: &mut Appended,
    progress: &mut Progress,
    conversion: &mut Option<Conversion>,
) -> Result<Written> {
    let types = types(database)?;
    let mut writer = Writer::new(file, &types)?;
    for one in &types {
        let kind = TypeAt::of_code(one.code).map(|at| database.schema.of(at));
        if let Some(form) = kind.and_then(form_of) {
            writer.declare(one.code, form)?;
        }
    }
    let (name, mut written, mut marked) = (database.name(), 0_u64, 0);
    let mut others = |name| databases.open_to_read(name);
    let (mut converted, mut last, mut descending) = (Vec::new(), Vec::new(), 0);
    database.unload(&databases.store, &mut others, |of, deleted, data| {
        written += 1;
        converted.clear();
        if let Some(conversion) = conversion {
            converted.extend_from_slice(data);
            conversion.convert(of.code(), written, &mut converted);
            let kind = database.schema.of(of);
            if let (1, Some(key)) = (kind.level, &kind.key)
                && let Some(key) = converted.get(key.offset..key.offset + key.len)
            {
                descending += u64::from(*key < last[..]);
                last.clear();
                last.extend_from_slice(key);
            }
        }
        let data = if conversion.is_some() { &converted[..] } else { data };
        marked += u64::from(deleted.anywhere());
        if written.is_multiple_of(4096) {
            progress.show(name.text(), written, 0, "segments");
        }
        let refused = |error: UnloadError| -> Arc<dyn Coded + Send + Sync> { Arc::new(error) };
        let hierarchy::Deleted { physically, logically } = deleted;
        let deleted = Deleted { physically, logically };
        writer
            .marked(of.code(), deleted, data)
            .map_err(|error| HierarchyError::Input(refused(error)))
    })?;
    let counts = types.iter().map(|one| one.name).zip(writer.counts().to_vec()).collect();
    writer.finish()?;
    Ok(Written { counts, deleted: marked, descending })
}

/// The segment types of the file, as a header names them: all but virtual ones. Of a physical pair
/// each database has its side.
fn types(database: &Database) -> Result<Vec<SegmentType>> {
    let dbd = &database.schema.dbd;
    let stored = dbd.segments.iter().filter(|segment| !segment.is_virtual());
    let kind = |segment: &Segment| {
        let name = Name::new(segment.name.text()).ok_or_else(|| {
            let what = format!("the segment name {} cannot stand in an unload file", segment.name);
            Failure::other(what, "Use letters, digits, $, # and @.")
        })?;
        let stored_length = segment.max.saturating_add(prefix_bytes(dbd, segment));
        Ok(SegmentType { code: segment.code, level: segment.level, name, stored_length })
    };
    stored.map(kind).collect()
}

/// Bytes of the prefix that a segment has on the host: code, delete byte and the pointers that
/// its definition asks for.
fn prefix_bytes(dbd: &definitions::Dbd, segment: &Segment) -> u16 {
    use Organization::{Hdam, Hidam, Phdam, Phidam};
    if !matches!(dbd.organization, Hdam | Hidam | Phdam | Phidam) {
        return 2;
    }
    let words = [
        ("HIER", 4),
        ("HIERBWD", 8),
        ("TWIN", 4),
        ("TWINBWD", 8),
        ("LTWIN", 4),
        ("LTWINBWD", 8),
        ("LPARNT", 4),
        ("CTR", 4),
    ];
    let pointers = segment.pointers;
    let named: u16 = words.iter().filter(|(word, _)| pointers.has(word)).map(|(_, len)| len).sum();
    let is_hierarchic = pointers.has("HIER") || pointers.has("HIERBWD");
    let chained = ["TWIN", "TWINBWD", "NOTWIN"].iter().any(|word| pointers.has(word));
    let twins = if is_hierarchic || chained { 0 } else { 4 };
    let at = segment.code.checked_sub(1);
    let children = dbd.segments.iter().filter(|one| one.parent == at && !one.is_virtual());
    let children: u16 = children
        .map(|child| match child.parent_pointer {
            _ if is_hierarchic => 0,
            Some(ChildPointer::Dble) => 8,
            _ => 4,
        })
        .sum();
    2 + named + twins + children
}

/// Writes a file that gets its name when it is whole and durable.
pub(super) fn write_whole<T>(
    seam: &Seam,
    path: &Path,
    replace: bool,
    body: impl FnOnce(&mut Appended) -> Result<T>,
) -> Result<T> {
    // Where standard output is a file, its name in /dev would be what is replaced.
    if is_special(path) || path.is_dir() {
        let what = format!("{} is no file", path.display());
        return Err(Failure::other(what, "Name a file."));
    }
    Target::spare(path)?;
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => taken(path),
        _ => {
            let what = format!("{} cannot be written: {error}", path.display());
            Failure::other(what, "Check the path, the permissions and the room on the disk.")
        }
    };
    let fresh = Fresh::begin(&seam.disk, path).map_err(failed)?;
    let answer = body(&mut Appended { file: Arc::clone(fresh.file()), bytes: 0 })?;
    fresh.file().sync().map_err(failed)?;
    fresh.keep(replace).map_err(failed)?;
    Ok(answer)
}

fn taken(path: &Path) -> Failure {
    let what = format!("{} is there already", path.display());
    Failure::other(what, "Choose another name, or add --replace.")
}

/// A file that is written from its beginning on.
pub(super) struct Appended {
    file: Arc<dyn File>,
    bytes: u64,
}

impl Write for Appended {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
