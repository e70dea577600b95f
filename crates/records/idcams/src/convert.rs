//! Conversion of records between EBCDIC and ASCII, field by field.
//!
//! | RECORDMAP | the fields are |
//! |---|---|
//! | left out | those of the record description that the catalog keeps of the cluster |
//! | a COBOL record description | its own |
//! | a map file | those of its only section, or of the one that is named like the data set |
//! | `TEXT` | one: all of it is characters |
//!
//! Invariants:
//! 1. A record is converted whole or refused; none is converted in part.

use std::path::{Path, PathBuf};

use codec::CodePage;
use codec::transcode::{Class, Transcoder};
use copybook::{Bundle, Direction, Findings, Map};
use store::Store;
use vsam::ClusterAttributes;

use crate::fault::Fault;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::syntax::{Parameters, Value};

/// The code page where none is named.
const USUAL_PAGE: CodePage = CodePage::Cp037;

enum Fields {
    Text,
    Mapped(Box<Map>, String),
}

/// What converts records.
pub(crate) struct Converter {
    fields: Fields,
    page: Transcoder,
    way: Direction,
}

/// The code page that a command names.
pub(crate) fn page_of(parameters: &Parameters) -> Result<Option<CodePage>, Refusal> {
    let Some(value) = parameters.value("CODEPAGE") else { return Ok(None) };
    match CodePage::named(&value.name()) {
        Some(page) => Ok(Some(page)),
        None => {
            let text = format!("{} is no code page", value.name());
            Err(Fault::new("IDC3203I", value.place, text).into())
        }
    }
}

impl Converter {
    /// The conversion that a command asks for, if it does. `clusters` are those that may have a
    /// record description; `name` is how the data set is called.
    pub(crate) fn of<S: Store>(
        session: &mut Session<'_, S>,
        parameters: &Parameters,
        clusters: &[Option<ClusterAttributes>],
        name: &str,
    ) -> Result<Option<Converter>, Refusal> {
        let way = match (parameters.has("FROMEBCDIC"), parameters.has("TOEBCDIC")) {
            (true, _) => Direction::FromEbcdic,
            (_, true) => Direction::ToEbcdic,
            _ => {
                if let Some(value) = parameters.value("RECORDMAP") {
                    let text = "RECORDMAP needs FROMEBCDIC or TOEBCDIC";
                    return Err(Fault::new("IDC3210I", value.place, text).into());
                }
                return Ok(None);
            }
        };
        let fields = match parameters.value("RECORDMAP") {
            Some(value) if value.name().eq_ignore_ascii_case("TEXT") => Fields::Text,
            Some(value) => given(session, value, name)?,
            None => {
                let mut kept = clusters.iter().flatten();
                let kept = kept.find_map(|cluster| cluster.record_map.clone());
                let Some(text) = kept else {
                    let text = "FROMEBCDIC and TOEBCDIC need the fields: give RECORDMAP(file), \
                                RECORDMAP(TEXT), or define the cluster with RECORDMAP";
                    return Err(Refusal::severe("IDC3213I", text));
                };
                described(&text, &|_| None)?
            }
        };
        let own = match &fields {
            Fields::Mapped(map, _) => map.page(),
            Fields::Text => None,
        };
        let page = page_of(parameters)?.or(own).unwrap_or(USUAL_PAGE);
        let Some(page) = Transcoder::new(page) else {
            return Err(Refusal::severe("IDC3203I", "the code page is none of EBCDIC"));
        };
        Ok(Some(Converter { fields, page, way }))
    }

    /// The page of the input's characters.
    pub(crate) fn input_page(&self) -> Option<CodePage> {
        (self.way == Direction::FromEbcdic).then(|| self.page.page())
    }

    /// Converts a record.
    pub(crate) fn convert(&self, record: &mut [u8], number: u64) -> Result<(), String> {
        match &self.fields {
            Fields::Text => {
                for byte in record {
                    *byte = self.page.byte(self.way, Class::Text, *byte);
                }
                Ok(())
            }
            Fields::Mapped(map, section) => {
                let Some(mapped) = map.segment(section) else {
                    return Err("the map has no such section".into());
                };
                let mut findings = Findings::default();
                mapped.check(&self.page, self.way, record, number, &mut findings);
                findings.refuse().map_err(|error| error.to_string())?;
                match mapped.convert_whole(&self.page, self.way, record) {
                    true => Ok(()),
                    false => Err("the record is longer than its description".into()),
                }
            }
        }
    }
}

/// The fields of a record description.
fn described(text: &str, members: &dyn Fn(&str) -> Option<Vec<u8>>) -> Result<Fields, Refusal> {
    let map = format!("[file.{SECTION}]\ncopybook = \"{SECTION}\"\n");
    let member = |name: &str| match name == SECTION {
        true => Some(text.as_bytes().to_vec()),
        false => members(name),
    };
    let map = Bundle::gather(&map, &member)
        .and_then(|bundle| bundle.map())
        .map_err(|error| misfit(&error))?;
    Ok(Fields::Mapped(Box::new(map), SECTION.into()))
}

const SECTION: &str = "RECORD";

fn misfit(error: &copybook::CopybookError) -> Refusal {
    Refusal::severe("IDC3203I", format!("RECORDMAP: {error}"))
}

/// The fields that a file says.
fn given<S: Store>(
    session: &mut Session<'_, S>,
    value: &Value,
    name: &str,
) -> Result<Fields, Refusal> {
    let text = session.source_of(value)?;
    let path = PathBuf::from(value.literal());
    let own = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let is_map = Bundle::folders(&text).is_ok_and(|_| text.contains("copybook"));
    let folders =
        if is_map { Bundle::folders(&text).map_err(|error| misfit(&error))? } else { Vec::new() };
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| own.join(folder)).collect();
    folders.insert(0, own);
    let machine = std::cell::RefCell::new(&mut *session.machine);
    let member = |name: &str| {
        let names = [name.to_owned(), name.to_ascii_lowercase(), name.to_ascii_uppercase()];
        let endings = ["", ".cpy", ".CPY", ".cbl", ".cob"];
        let mut machine = machine.borrow_mut();
        folders.iter().find_map(|folder| {
            names.iter().flat_map(|name| endings.map(|end| format!("{name}{end}"))).find_map(
                |file| {
                    let mut bytes = Vec::new();
                    let input = machine.read(&folder.join(file)).ok()?;
                    let mut input = std::io::Read::take(input, 4 << 20);
                    std::io::Read::read_to_end(&mut input, &mut bytes).ok()?;
                    Some(bytes)
                },
            )
        })
    };
    if !is_map {
        return described(&text, &member);
    }
    let map = Bundle::gather(&text, &member)
        .and_then(|bundle| bundle.map())
        .map_err(|error| misfit(&error))?;
    let names: Vec<String> = map.names().map(str::to_owned).collect();
    let last = name.rsplit('.').next().unwrap_or_default();
    let section = match names.as_slice() {
        [only] => Some(only.clone()),
        all => all.iter().find(|one| *one == name || *one == last).cloned(),
    };
    match section {
        Some(section) => Ok(Fields::Mapped(Box::new(map), section)),
        None => {
            let text = format!("the map has {} sections, and none is named {last}", names.len());
            Err(Refusal::severe("IDC3203I", text))
        }
    }
}
