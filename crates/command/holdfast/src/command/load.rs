//! `holdfast load`: fills an empty database from an HD unload file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use copybook::Direction;
use definitions::Field;
use definitions::resolve::Definitions;
use hierarchy::load::{Given, Input, InputError, Loaded};
use hierarchy::{Database, Deleted, HierarchyError, SegmentType, TypeAt, converted};
use operations::Databases;
use operations::encoding::{Conversion, LOOKED_AT, Looks, USUAL_PAGE};
use placement::Encoding;
use seam::Seam;
use serde_json::json;
use store::Store;
use unload::{Form, Reader, UnloadError};

use super::DONE;
use super::index::built;
use super::mapping::MappingArgs;
use super::unload::settle;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, with};
use crate::output::warn;
use crate::progress::Progress;
use crate::text::count;

/// Load a database from an HD unload file
///
/// The database must be empty. Its secondary indexes are built with it; the databases of its
/// logical parents must be loaded before. If the load fails, the database is empty again; if it
/// is killed, the database cannot be used until it was emptied or loaded.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: holdfast load -s /srv/bank CUSTDB custdb.unload; the same of EBCDIC \
data, converted: holdfast load -s /srv/bank CUSTDB custdb.unload --from-ebcdic --map cust.map"
)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
    /// The unload file, transferred in binary with its record descriptor words
    file: PathBuf,
    /// Convert the data from EBCDIC, field by field; the code page is the map's or 037
    #[arg(long, value_name = "CODEPAGE", num_args = 0..=1, require_equals = true,
          default_missing_value = USUAL_PAGE)]
    from_ebcdic: Option<String>,
    #[command(flatten)]
    map: MappingArgs,
}

pub(super) fn run(context: &mut Context, args: &LoadArgs) -> Result<ExitCode> {
    let (file, bytes) = open(&args.file)?;
    with(context, &args.system, |context, _, databases| {
        let database = databases.open(databases.named(&args.database)?)?;
        let of_file = |failure: Failure| failure.about(args.file.display());
        let conversion = conversion_of(args, databases, &database)?;
        let mut input =
            FileInput::new(file, bytes, &database, databases, conversion, &context.seam)
                .map_err(of_file)?;
        look_ahead(args, databases, &database, &input, &context.seam).map_err(of_file)?;
        let mut others = |name| databases.open(name);
        let loaded = database.load(&databases.store, &mut others, &mut input);
        let filled = input.short.filled;
        let converts = input.conversion.is_some();
        let declared = database.schema.placement.encoding();
        let expected = if converts { Encoding::Ebcdic } else { declared };
        input.looks.surprise(database.name(), expected, converts).iter().for_each(warn);
        let loaded = loaded.map_err(|error| match error {
            HierarchyError::Input(_) => of_file(error.into()),
            error => error.into(),
        })?;
        if let Some(conversion) = &input.conversion {
            // What goes back needs the same map.
            converted::note(&databases.store, database.name(), Some(conversion.map()))?;
        }
        if filled > 0 {
            let filled = count(filled);
            warn(format!("{filled} segments were shorter than defined: filled up by their fields"));
        }
        tell(context, &database, &loaded)
    })
}

fn tell(context: &mut Context, database: &Database, loaded: &Loaded) -> Result<ExitCode> {
    let name = database.name();
    if loaded.out_of_order {
        warn(format!("the roots of {name} did not come in key order; they are now"));
    }
    if loaded.alone > 0 {
        warn(format!(
            "{} logical children of {name} had no pair in the other database; they count as \
             deleted there",
            count(loaded.alone)
        ));
    }
    if loaded.left_out > 0 {
        warn(format!(
            "{} segments were left out: they were deleted on their physical path, and no logical \
             relationship that is defined leads to them",
            count(loaded.left_out)
        ));
    }
    if context.output.is_json() {
        context.output.document(&json!({
            "database": name.text(),
            "segments": loaded.segments,
            "out_of_order": loaded.out_of_order,
            "indexes": built(&loaded.indexes),
        }))?;
        return DONE;
    }
    context.output.line(format!("{name}: {} segments loaded", count(loaded.segments)))?;
    for (index, entries) in &loaded.indexes {
        context.output.line(format!("{index}: built, {} entries", count(*entries)))?;
    }
    DONE
}

/// How the segments of the file are converted, if they are.
fn conversion_of<S: Store>(
    args: &LoadArgs,
    databases: &Databases<S>,
    database: &Database,
) -> Result<Option<Conversion>> {
    let Some(page) = &args.from_ebcdic else {
        if args.map.is_given() {
            let what = "--map and --as-text say how data is converted";
            return Err(Failure::usage(what, "Add --from-ebcdic."));
        }
        return Ok(None);
    };
    let mapping = args.map.mapping();
    let conversion = Conversion::new(databases, database, Direction::FromEbcdic, page, &mapping)?;
    conversion.notes().iter().for_each(warn);
    Ok(Some(conversion))
}

/// Reads a file that is converted before anything of it is loaded: what cannot be converted is told
/// whole.
fn look_ahead<S: Store>(
    args: &LoadArgs,
    databases: &Databases<S>,
    database: &Database,
    input: &FileInput,
    seam: &Seam,
) -> Result<()> {
    let Some(conversion) = &input.conversion else { return Ok(()) };
    if !args.file.is_file() {
        let what = "--from-ebcdic reads the unload file twice, and this is no file";
        return Err(Failure::other(what, "Write what comes into a file first."));
    }
    let (file, bytes) = open(&args.file)?;
    let conversion = Some(conversion.fresh());
    let mut ahead = FileInput::new(file, bytes, database, databases, conversion, seam)?;
    while ahead.next_segment().map_err(HierarchyError::Input)?.is_some() {}
    settle(ahead.conversion.as_ref())
}

/// Opens an unload file, and says how long it is.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn open(path: &Path) -> Result<(File, u64)> {
    let failed = |error| {
        let what = format!("{} cannot be read: {error}", path.display());
        Failure::other(what, "Check the path and the permissions.")
    };
    let file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    Ok((file, bytes))
}

/// An unload file as what a load reads from.
struct FileInput {
    reader: Reader<File>,
    /// By the codes of the file: the types of the database.
    types: Vec<Option<TypeAt>>,
    short: ShortSegments,
    progress: Progress,
    name: String,
    bytes: u64,
    conversion: Option<Conversion>,
    /// The segment that was converted last.
    converted: Vec<u8>,
    /// How many segments were read.
    number: u64,
    /// What the first of them look like.
    looks: Looks,
}

impl FileInput {
    fn new<S: Store>(
        file: File,
        bytes: u64,
        database: &Database,
        databases: &Databases<S>,
        conversion: Option<Conversion>,
        seam: &Seam,
    ) -> Result<FileInput> {
        let mut input = FileInput {
            types: Vec::new(),
            short: ShortSegments::new(database, &databases.repository),
            reader: Reader::new(file)?,
            progress: Progress::new(seam),
            name: database.name().text().to_owned(),
            bytes,
            conversion,
            converted: Vec::new(),
            number: 0,
            looks: Looks::default(),
        };
        input.fit(database)?;
        Ok(input)
    }

    /// Fits the segment types of the file to those of the database.
    fn fit(&mut self, database: &Database) -> Result<()> {
        self.types = vec![None; 256];
        for segment in self.reader.segments().to_vec() {
            let name = definitions::SegmentName::new(segment.name.as_str());
            let Some(at) = name.and_then(|name| database.schema.find(name)) else {
                return Err(misfit(database, &format!("the segment {}", segment.name)));
            };
            let kind = database.schema.of(at);
            if kind.level != segment.level {
                let (name, level) = (segment.name, segment.level);
                return Err(misfit(database, &format!("the segment {name} on level {level}")));
            }
            self.types[usize::from(segment.code)] = Some(at);
            if let Some(form) = form_to_load(kind) {
                self.reader.declare(segment.code, form)?;
            }
        }
        Ok(())
    }
}

fn misfit(database: &Database, what: &str) -> Failure {
    let name = database.name();
    Failure::other(
        format!("the file has {what}, and the DBD {name} has none such"),
        format!("Load it with the definition of {name} that it was unloaded with."),
    )
}

/// The lengths that segments may have in a file: shorter ones, too, if they have their key. They
/// come from before the segment grew.
fn form_to_load(kind: &SegmentType) -> Option<Form> {
    let least = kind.key.map_or(1, |key| key.offset + key.len);
    let max = u16::try_from(kind.max).ok()?;
    let least = |floor: usize| u16::try_from(least.max(floor).min(kind.max)).ok();
    Some(match kind.variable {
        true => Form::Variable { min: least(2)?, max },
        false => Form::Within { min: least(1)?, max },
    })
}

/// Lengthens segments to what their definition asks for: fields that come to light hold their fill.
struct ShortSegments {
    /// By type: how long its segments are at least, whether they begin with LL, and their fields.
    types: Vec<(usize, bool, Vec<Field>)>,
    blank: u8,
    data: Vec<u8>,
    /// How many it has lengthened.
    filled: u64,
}

impl ShortSegments {
    fn new(database: &Database, definitions: &impl Definitions) -> ShortSegments {
        let dbd = definitions.dbd(database.name());
        let fields = |name| {
            let segment = dbd.as_ref().and_then(|dbd| dbd.segment(name));
            segment.map(|segment| segment.fields.clone()).unwrap_or_default()
        };
        let kinds = database.schema.types.iter();
        let types = kinds.map(|kind| (kind.min, kind.variable, fields(kind.name))).collect();
        ShortSegments { types, blank: database.blank, data: Vec::new(), filled: 0 }
    }

    fn lengthen<'d>(&'d mut self, of: TypeAt, given: &'d [u8]) -> &'d [u8] {
        let Some((min, variable, fields)) = self.types.get(of.index()) else { return given };
        if given.len() >= *min {
            return given;
        }
        self.filled += 1;
        self.data.clear();
        self.data.extend_from_slice(given);
        self.data.resize(*min, 0);
        for field in fields {
            if let Some(from) = field.offset().filter(|from| *from >= given.len())
                && let Some(place) = self.data.get_mut(from..from + usize::from(field.len))
            {
                field.kind_of_data.fill(place, self.blank);
            }
        }
        if *variable && let (Some(ll), Ok(min)) = (self.data.first_chunk_mut(), u16::try_from(*min))
        {
            *ll = min.to_be_bytes();
        }
        &self.data
    }
}

/// The lengths that segments of a type can have.
pub(super) fn form_of(kind: &SegmentType) -> Option<Form> {
    let len = |len: usize| u16::try_from(len).ok();
    match kind.variable {
        true => Some(Form::Variable { min: len(kind.min)?, max: len(kind.max)? }),
        false => len(kind.max).map(Form::Fixed),
    }
}

impl Input for FileInput {
    fn next_segment(&mut self) -> std::result::Result<Option<Given<'_>>, InputError> {
        let record = match self.reader.next_record() {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(None),
            Err(error) => return Err(Arc::new(error)),
        };
        if record.place.record.is_multiple_of(4096) {
            self.progress.show(&self.name, record.place.offset, self.bytes, "bytes");
        }
        self.number += 1;
        if self.number <= LOOKED_AT {
            self.looks.at(record.data);
        }
        let code = record.segment.code;
        // The reader lets no record of another code pass.
        let Some(of) = self.types.get(usize::from(code)).copied().flatten() else {
            return Err(Arc::new(UnloadError::UnknownCode(code)));
        };
        let unload::Deleted { physically, logically } = record.deleted;
        let deleted = Deleted { physically, logically };
        let data = match &mut self.conversion {
            None => record.data,
            Some(conversion) => {
                self.converted.clear();
                self.converted.extend_from_slice(record.data);
                conversion.convert(of.code(), self.number, &mut self.converted);
                &self.converted
            }
        };
        Ok(Some(Given { of, data: self.short.lengthen(of, data), deleted }))
    }
}
