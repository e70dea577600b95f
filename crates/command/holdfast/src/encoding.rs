//! What data is written in: maps of segments to record descriptions, and what data looks like.
//!
//! Invariants:
//! 1. Whoever converts looks at all data first or writes where nobody reads yet: what cannot be
//!    converted leaves everything as it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use codec::CodePage;
use codec::transcode::Transcoder;
use copybook::{Bundle, CopybookError, Direction, Findings, Map, Mapped};
use definitions::DbdName;
use definitions::resolve::ResolvedPsb;
use hierarchy::Database;
use operations::Databases;
use placement::{Encoding, WithoutMap};
use region::encoding::PcbMap;
use schedule::encoding::Kept;
use store::Store;

use crate::failure::{Failure, Result};
use crate::output::{count, warn};

/// The code page where neither a command nor a map names one.
pub(crate) const USUAL_PAGE: &str = "map";

/// How data is converted.
#[derive(Args, Debug)]
pub(crate) struct MapArgs {
    /// Which record descriptions the segments have; left out: the map that the system keeps
    #[arg(long, value_name = "MAPFILE")]
    map: Option<PathBuf>,
    /// Convert zoned numbers that hold something else as characters, in place of refusing them
    #[arg(long)]
    pub(crate) as_text: bool,
}

impl MapArgs {
    /// Whether any of it was given.
    pub(crate) fn is_given(&self) -> bool {
        self.map.is_some() || self.as_text
    }
}

/// A map file with the members that it names, found beside it and in its folders.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
pub(crate) fn gather(path: &Path) -> Result<Bundle> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let what = format!("{} cannot be read: {error}", path.display());
        Failure::other(what, "Check the path and the permissions.")
    })?;
    let about = |error: CopybookError| Failure::Error(Box::new(error)).about(path.display());
    let own = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let mut folders = vec![own.clone()];
    folders.extend(Bundle::folders(&text).map_err(about)?.iter().map(|folder| own.join(folder)));
    let member = |name: &str| {
        let names = [name.to_owned(), name.to_ascii_lowercase(), name.to_ascii_uppercase()];
        let endings = ["", ".cpy", ".CPY", ".cbl", ".CBL", ".cob"];
        let places = folders.iter().flat_map(|folder| {
            let names = names.iter();
            names.flat_map(move |name| endings.map(|end| folder.join(format!("{name}{end}"))))
        });
        places.filter(|place| place.is_file()).find_map(|place| std::fs::read(place).ok())
    };
    Bundle::gather(&text, &member).map_err(about)
}

/// The map that a system keeps of a database.
pub(crate) fn kept<S: Store>(databases: &Databases<S>, name: DbdName) -> Result<Option<Map>> {
    let Some(bytes) = databases.repository.map(name) else { return Ok(None) };
    let map = Bundle::decode(bytes).and_then(|bundle| bundle.map());
    let about = |error| Failure::Error(Box::new(error)).about(format!("the map of {name}"));
    map.map(Some).map_err(about)
}

/// What is converted for the programs of a PSB; what is not is told, or refused.
pub(crate) fn conversions<S: Store>(
    databases: &Databases<S>,
    psb: &ResolvedPsb,
    without: WithoutMap,
) -> Result<Vec<Option<PcbMap>>> {
    let mut known: BTreeMap<DbdName, Kept> = BTreeMap::new();
    let mut failed = None;
    let mut of = |name: DbdName| -> Kept {
        if let Some(known) = known.get(&name) {
            return known.clone();
        }
        let found = kept_as(databases, name).unwrap_or_else(|failure| {
            failed.get_or_insert(failure);
            Kept::Unknown
        });
        known.entry(name).or_insert(found).clone()
    };
    let all = schedule::encoding::conversions(psb, &databases.repository, &mut of);
    if let Some(failure) = failed {
        return Err(failure);
    }
    for (dbd, why) in &all.unconverted {
        let what = format!(
            "PSB {}: {dbd} keeps EBCDIC data ([database.{dbd}] encoding = \"ebcdic\"), and {why}",
            psb.name
        );
        let remedy = format!(
            "Keep a map with `holdfast db map {dbd} MAPFILE`, or load {dbd} with --from-ebcdic and \
             take the setting out."
        );
        if without == WithoutMap::Refuse {
            return Err(Failure::other(what, remedy));
        }
        warn(format!(
            "{what}: the program gets it as it is, and its own characters are ASCII. {remedy}"
        ));
    }
    Ok(all.pcbs)
}

/// What is known of a database's data.
fn kept_as<S: Store>(databases: &Databases<S>, name: DbdName) -> Result<Kept> {
    if databases.encoding(name) == Encoding::Ascii {
        return Ok(Kept::AsPrograms);
    }
    let Some(map) = kept(databases, name)? else { return Ok(Kept::Unknown) };
    let page = page_of(USUAL_PAGE, map.page())?;
    Ok(Kept::Ebcdic(Arc::new(map), Arc::new(page)))
}

/// How the segments of a database are converted.
pub(crate) struct Conversion {
    page: Transcoder,
    direction: Direction,
    /// By the codes of segment types.
    segments: Vec<Option<Arc<Mapped>>>,
    as_text: bool,
    /// The map, encoded.
    map: Arc<[u8]>,
    /// What was found so far.
    pub(crate) findings: Findings,
}

impl Conversion {
    /// Fits a map to a database, whose data must be ASCII on our side.
    pub(crate) fn new<S: Store>(
        databases: &Databases<S>,
        database: &Database,
        direction: Direction,
        page: &str,
        args: &MapArgs,
    ) -> Result<Conversion> {
        let name = database.name();
        if database.schema.placement.encoding() == Encoding::Ebcdic {
            let what = format!("[database.{name}] says encoding = \"ebcdic\"");
            let remedy = "Its data is EBCDIC as it is: leave the conversion out, or take the \
                          setting out of holdfast.toml.";
            return Err(Failure::other(what, remedy));
        }
        let (map, bytes) = map_of(databases, name, args)?;
        let page = page_of(page, map.page())?;
        let mut segments = vec![None; 256];
        for kind in &database.schema.types {
            let segment = kind.name.text();
            let mapped = map.segment(segment).ok_or_else(|| missing(segment))?;
            mapped
                .fits(kind.max, kind.variable)
                .map_err(|error| Failure::Error(Box::new(error)))?;
            tell_native(segment, mapped);
            if let Some(at) = database.schema.find(kind.name) {
                segments[usize::from(at.code())] = Some(Arc::new(mapped.clone()));
            }
        }
        let findings = found_nothing(args.as_text);
        let map = bytes.into();
        Ok(Conversion { page, direction, segments, as_text: args.as_text, map, findings })
    }

    /// The map, as a system keeps it.
    pub(crate) fn map(&self) -> &[u8] {
        &self.map
    }

    /// The same without what was found.
    pub(crate) fn anew(&self) -> Conversion {
        Conversion {
            page: self.page.clone(),
            direction: self.direction,
            segments: self.segments.clone(),
            as_text: self.as_text,
            map: Arc::clone(&self.map),
            findings: found_nothing(self.as_text),
        }
    }

    /// Converts a segment of the database's code; `number` counts them.
    pub(crate) fn convert(&mut self, code: u8, number: u64, data: &mut [u8]) {
        let Some(mapped) = &self.segments[usize::from(code)] else { return };
        mapped.check(&self.page, self.direction, data, number, &mut self.findings);
        if self.as_text {
            let (page, way) = (&self.page, self.direction);
            return mapped.convert_as_text(page, way, data, number, &mut self.findings);
        }
        // A record of no kind is among the findings.
        let _ = mapped.convert(&self.page, self.direction, data);
    }

    /// Refuses what was found, or tells it.
    pub(crate) fn settle(&self) -> Result<()> {
        let Findings { texts, signs, unused, .. } = &self.findings;
        self.findings.refuse().map_err(|error| Failure::Error(Box::new(error)))?;
        if let Some(first) = &self.findings.first_text {
            warn(format!(
                "{} places are not as the map describes them and were converted as characters; \
                 the first: {first}",
                count(*texts)
            ));
        }
        if *unused > 0 {
            warn(format!(
                "{} segments have more behind the occurrences that they say their tables have; \
                 that was not converted, and is as it was",
                count(*unused)
            ));
        }
        if *signs > 0 {
            warn(format!(
                "{} numbers have signs other than the usual ones (C and D, or F without a sign); \
                 they keep their value, and go back with the usual ones",
                count(*signs)
            ));
        }
        Ok(())
    }
}

/// The map that was given, or else the one that the system keeps; and the same encoded.
fn map_of<S: Store>(
    databases: &Databases<S>,
    name: DbdName,
    args: &MapArgs,
) -> Result<(Map, Vec<u8>)> {
    if let Some(path) = &args.map {
        let bundle = gather(path)?;
        let map = bundle.map().map_err(|error| Failure::Error(Box::new(error)))?;
        return Ok((map, bundle.encode()));
    }
    let map = kept(databases, name)?.ok_or_else(|| {
        let what = format!("nothing says what the fields of {name} are");
        let remedy =
            format!("Add --map MAPFILE, or keep a map with `holdfast db map {name} MAPFILE`.");
        Failure::usage(what, remedy)
    })?;
    Ok((map, databases.repository.map(name).unwrap_or_default().to_vec()))
}

fn found_nothing(as_text: bool) -> Findings {
    if as_text { Findings::with_texts() } else { Findings::default() }
}

fn missing(segment: &str) -> Failure {
    let what = "it has no section".to_owned();
    let error = CopybookError::Misfit { subject: segment.to_owned(), what };
    Failure::Error(Box::new(error))
}

/// The page that a command names, else the map's, else 037.
fn page_of(named: &str, of_map: Option<CodePage>) -> Result<Transcoder> {
    let page = match named {
        USUAL_PAGE => Some(of_map.unwrap_or(CodePage::Cp037)),
        named => CodePage::named(named),
    };
    page.and_then(Transcoder::new).ok_or_else(|| {
        let what = format!("{named} is no EBCDIC code page");
        Failure::usage(what, "There are 037, 1047, 273, 500, 1140 and 1141.")
    })
}

/// Says which items hosts write in another form.
pub(crate) fn tell_native(segment: &str, mapped: &Mapped) {
    mapped.notes().for_each(warn);
    let native = mapped.native();
    if !native.is_empty() {
        warn(format!(
            "{segment}: {} (COMP-1, COMP-2, COMP-5) stay as they are; a host and programs here \
             write such numbers in different forms",
            native.join(", ")
        ));
    }
}

/// What some data looks like.
#[derive(Default)]
pub(crate) struct Looks {
    all: u64,
    ebcdic: u64,
    ascii: u64,
}

/// How many segments are looked at.
pub(crate) const LOOKED_AT: u64 = 500;
/// How many bytes of text tell something.
const TELLING: u64 = 64;

impl Looks {
    /// Looks at a segment: letters, digits and blanks are what text mostly has.
    pub(crate) fn at(&mut self, data: &[u8]) {
        let ebcdic = |byte: &&u8| {
            matches!(**byte, 0x40 | 0x81..=0x89 | 0x91..=0x99 | 0xa2..=0xa9 | 0xc1..=0xc9
                | 0xd1..=0xd9 | 0xe2..=0xe9 | 0xf0..=0xf9)
        };
        let ascii = |byte: &&u8| **byte == b' ' || byte.is_ascii_alphanumeric();
        let len = |count: usize| count as u64;
        self.all += len(data.iter().filter(|byte| **byte != 0).count());
        self.ebcdic += len(data.iter().filter(ebcdic).count());
        self.ascii += len(data.iter().filter(ascii).count());
    }

    /// What it is, if it is clearly one of them.
    pub(crate) fn verdict(&self) -> Option<Encoding> {
        let clearly = |one: u64, other: u64| {
            one >= TELLING && one > other.saturating_mul(3) && one.saturating_mul(4) > self.all
        };
        if clearly(self.ebcdic, self.ascii) {
            return Some(Encoding::Ebcdic);
        }
        clearly(self.ascii, self.ebcdic).then_some(Encoding::Ascii)
    }

    /// Warns if it is not what is expected of data for a database.
    pub(crate) fn warn(&self, database: DbdName, expected: Encoding, converted: bool) {
        match (self.verdict(), expected) {
            (Some(Encoding::Ebcdic), Encoding::Ascii) => warn(format!(
                "the data looks like EBCDIC, and {database} is declared as ASCII: programs would \
                 compare it with their own characters and find nothing equal. Load it with \
                 --from-ebcdic --map MAPFILE, or say [database.{database}] encoding = \"ebcdic\" \
                 in holdfast.toml and keep a map (holdfast db map)"
            )),
            (Some(Encoding::Ascii), Encoding::Ebcdic) if converted => warn(format!(
                "the data of {database} looks like ASCII, and --from-ebcdic converts it from \
                 EBCDIC: leave that out if the file is ASCII"
            )),
            (Some(Encoding::Ascii), Encoding::Ebcdic) => warn(format!(
                "the data looks like ASCII, and [database.{database}] of holdfast.toml says \
                 encoding = \"ebcdic\": take that out, or load the file that a host unloaded"
            )),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_looks_like_what_most_of_its_text_is() {
        let text = "A CUSTOMER OF ROTTERDAM, 42 WHARF STREET, SINCE 1999, IN GOOD STANDING  ";
        let host = CodePage::Cp037.encode(text).expect("it has such characters");
        let mut looks = Looks::default();
        assert_eq!(looks.verdict(), None);
        looks.at(&host);
        looks.at(&[0, 0x12, 0x34, 0x5c]);
        assert_eq!(looks.verdict(), Some(Encoding::Ebcdic));
        let mut looks = Looks::default();
        looks.at(text.as_bytes());
        looks.at(&[0; 500]);
        assert_eq!(looks.verdict(), Some(Encoding::Ascii));
        let mut looks = Looks::default();
        (0..=255_u8).for_each(|byte| looks.at(&[byte]));
        assert_eq!(looks.verdict(), None);
    }
}
