//! What data is written in: maps of segments to record descriptions, and what data looks like.
//!
//! Invariants:
//! 1. A conversion looks at all data first or writes where no reader is yet: what cannot be
//!    converted leaves everything as it was.
//! 2. What is to be known of a conversion goes to the caller, a sentence each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use codec::CodePage;
use codec::transcode::Transcoder;
use copybook::{Bundle, CopybookError, Direction, Findings, Map, Mapped};
use definitions::DbdName;
use hierarchy::Database;
use placement::Encoding;
use store::Store;

use crate::figures::count;
use crate::{Databases, OperationsError, Result};

/// The code page where neither a command nor a map names one.
pub const USUAL_PAGE: &str = "map";

/// How data is converted.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// Which record descriptions the segments have; the map that the system keeps if it is left
    /// out.
    pub map: Option<PathBuf>,
    /// Zoned numbers that hold something else are converted as characters, and not refused.
    pub as_text: bool,
}

/// A map file with the members that it names, found beside it and in its folders.
///
/// # Errors
/// If it cannot be read, or is no map.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
pub fn gather(path: &Path) -> Result<Bundle> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let what = format!("{} cannot be read: {error}", path.display());
        failed(what, "Check the path and the permissions.")
    })?;
    let about = |error: CopybookError| about(path.display().to_string(), error);
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

fn about(file: String, error: CopybookError) -> OperationsError {
    OperationsError::Map { file: Some(file), error }
}

fn failed(what: String, remedy: impl Into<String>) -> OperationsError {
    OperationsError::Encoding { what, remedy: remedy.into() }
}

/// The map that a system keeps of a database.
///
/// # Errors
/// If what it keeps is none.
pub fn kept<S: Store>(databases: &Databases<S>, name: DbdName) -> Result<Option<Map>> {
    let Some(bytes) = databases.repository.map(name) else { return Ok(None) };
    let map = Bundle::decode(bytes).and_then(|bundle| bundle.map());
    map.map(Some).map_err(|error| about(format!("the map of {name}"), error))
}

/// How the segments of a database are converted.
pub struct Conversion {
    page: Transcoder,
    direction: Direction,
    /// By the codes of segment types.
    segments: Vec<Option<Arc<Mapped>>>,
    as_text: bool,
    /// The map, encoded.
    map: Arc<[u8]>,
    /// What was found so far.
    findings: Findings,
    notes: Vec<String>,
}

impl Conversion {
    /// Fits a map to a database, whose data must be ASCII on our side.
    ///
    /// # Errors
    /// If there is no map, or it does not fit.
    pub fn new<S: Store>(
        databases: &Databases<S>,
        database: &Database,
        direction: Direction,
        page: &str,
        mapping: &Mapping,
    ) -> Result<Conversion> {
        let name = database.name();
        if database.schema.placement.encoding() == Encoding::Ebcdic {
            let what = format!("[database.{name}] says encoding = \"ebcdic\"");
            let remedy = "Its data is EBCDIC as it is: leave the conversion out, or take the \
                          setting out of holdfast.toml.";
            return Err(failed(what, remedy));
        }
        let (map, bytes) = map_of(databases, name, mapping)?;
        let page = page_of(page, map.page())?;
        let (mut segments, mut notes) = (vec![None; 256], Vec::new());
        for kind in &database.schema.types {
            let segment = kind.name.text();
            let mapped = map.segment(segment).ok_or_else(|| missing(segment))?;
            mapped.fits(kind.max, kind.variable)?;
            notes.extend(notes_of(segment, mapped));
            if let Some(at) = database.schema.find(kind.name) {
                segments[usize::from(at.code())] = Some(Arc::new(mapped.clone()));
            }
        }
        let (as_text, findings) = (mapping.as_text, found_nothing(mapping.as_text));
        let map = bytes.into();
        Ok(Conversion { page, direction, segments, as_text, map, findings, notes })
    }

    /// The map, as a system keeps it.
    #[must_use]
    pub fn map(&self) -> &[u8] {
        &self.map
    }

    /// Which items hosts write in another form, and what else is to be known before it begins.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The same without what was found.
    #[must_use]
    pub fn fresh(&self) -> Conversion {
        Conversion {
            page: self.page.clone(),
            direction: self.direction,
            segments: self.segments.clone(),
            as_text: self.as_text,
            map: Arc::clone(&self.map),
            findings: found_nothing(self.as_text),
            notes: Vec::new(),
        }
    }

    /// Converts a segment of the database's code; `number` counts them.
    pub fn convert(&mut self, code: u8, number: u64, data: &mut [u8]) {
        let Some(mapped) = &self.segments[usize::from(code)] else { return };
        mapped.check(&self.page, self.direction, data, number, &mut self.findings);
        if self.as_text {
            let (page, way) = (&self.page, self.direction);
            return mapped.convert_as_text(page, way, data, number, &mut self.findings);
        }
        // A record of no kind is among the findings.
        let _ = mapped.convert(&self.page, self.direction, data);
    }

    /// Refuses what was found, or answers what is to be known of it.
    ///
    /// # Errors
    /// What could not be converted.
    pub fn settle(&self) -> Result<Vec<String>> {
        let Findings { texts, signs, unused, .. } = &self.findings;
        self.findings.refuse()?;
        let mut notes = Vec::new();
        if let Some(first) = &self.findings.first_text {
            notes.push(format!(
                "{} places are not as the map describes them and were converted as characters; \
                 the first: {first}",
                count(*texts)
            ));
        }
        if *unused > 0 {
            notes.push(format!(
                "{} segments have more behind the occurrences that they say their tables have; \
                 that was not converted, and is as it was",
                count(*unused)
            ));
        }
        if *signs > 0 {
            notes.push(format!(
                "{} numbers have signs other than the usual ones (C and D, or F without a sign); \
                 they keep their value, and go back with the usual ones",
                count(*signs)
            ));
        }
        Ok(notes)
    }
}

/// The map that was given, or else the one that the system keeps; and the same encoded.
fn map_of<S: Store>(
    databases: &Databases<S>,
    name: DbdName,
    mapping: &Mapping,
) -> Result<(Map, Vec<u8>)> {
    if let Some(path) = &mapping.map {
        let bundle = gather(path)?;
        return Ok((bundle.map()?, bundle.encode()));
    }
    let map = kept(databases, name)?.ok_or_else(|| {
        let what = format!("nothing says what the fields of {name} are");
        let remedy =
            format!("Add --map MAPFILE, or keep a map with `holdfast db map {name} MAPFILE`.");
        OperationsError::NoConversion { what, remedy }
    })?;
    Ok((map, databases.repository.map(name).unwrap_or_default().to_vec()))
}

fn found_nothing(as_text: bool) -> Findings {
    if as_text { Findings::with_texts() } else { Findings::default() }
}

fn missing(segment: &str) -> OperationsError {
    let what = "it has no section".to_owned();
    CopybookError::Misfit { subject: segment.to_owned(), what }.into()
}

/// The page that a command names, else the map's, else 037.
///
/// # Errors
/// If there is no such page.
pub fn page_of(named: &str, of_map: Option<CodePage>) -> Result<Transcoder> {
    let page = match named {
        USUAL_PAGE => Some(of_map.unwrap_or(CodePage::Cp037)),
        named => CodePage::named(named),
    };
    page.and_then(Transcoder::new).ok_or_else(|| {
        let what = format!("{named} is no EBCDIC code page");
        let remedy = "There are 037, 1047, 273, 500, 1140 and 1141.".to_owned();
        OperationsError::NoConversion { what, remedy }
    })
}

/// Which items hosts write in another form, and what else the map says of a segment.
#[must_use]
pub fn notes_of(segment: &str, mapped: &Mapped) -> Vec<String> {
    let mut notes: Vec<String> = mapped.notes().map(str::to_owned).collect();
    let native = mapped.native();
    if !native.is_empty() {
        notes.push(format!(
            "{segment}: {} (COMP-1, COMP-2, COMP-5) stay as they are; a host and programs here \
             write such numbers in different forms",
            native.join(", ")
        ));
    }
    notes
}

/// What some data looks like.
#[derive(Default)]
pub struct Looks {
    all: u64,
    ebcdic: u64,
    ascii: u64,
}

/// How many segments are looked at.
pub const LOOKED_AT: u64 = 500;
/// How many bytes of text tell something.
const TELLING: u64 = 64;

impl Looks {
    /// Looks at a segment: letters, digits and blanks are what text mostly has.
    pub fn at(&mut self, data: &[u8]) {
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
    #[must_use]
    pub fn verdict(&self) -> Option<Encoding> {
        let clearly = |one: u64, other: u64| {
            one >= TELLING && one > other.saturating_mul(3) && one.saturating_mul(4) > self.all
        };
        if clearly(self.ebcdic, self.ascii) {
            return Some(Encoding::Ebcdic);
        }
        clearly(self.ascii, self.ebcdic).then_some(Encoding::Ascii)
    }

    /// What to say if it is not what is expected of data for a database.
    #[must_use]
    pub fn surprise(
        &self,
        database: DbdName,
        expected: Encoding,
        converted: bool,
    ) -> Option<String> {
        Some(match (self.verdict(), expected) {
            (Some(Encoding::Ebcdic), Encoding::Ascii) => format!(
                "the data looks like EBCDIC, and {database} is declared as ASCII: programs would \
                 compare it with their own characters and find nothing equal. Load it with \
                 --from-ebcdic --map MAPFILE, or say [database.{database}] encoding = \"ebcdic\" \
                 in holdfast.toml and keep a map (holdfast db map)"
            ),
            (Some(Encoding::Ascii), Encoding::Ebcdic) if converted => format!(
                "the data of {database} looks like ASCII, and --from-ebcdic converts it from \
                 EBCDIC: leave that out if the file is ASCII"
            ),
            (Some(Encoding::Ascii), Encoding::Ebcdic) => format!(
                "the data looks like ASCII, and [database.{database}] of holdfast.toml says \
                 encoding = \"ebcdic\": take that out, or load the file that a host unloaded"
            ),
            _ => return None,
        })
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
