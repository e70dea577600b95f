//! PRINT: shows records.
//!
//! | | a record is |
//! |---|---|
//! | DUMP, or nothing | 32 bytes a line, in hexadecimal digits and in characters |
//! | HEX | 60 bytes a line, in hexadecimal digits |
//! | CHARACTER | 120 characters a line; what cannot be shown is a point |
//! | FIELDS | a line for each field of the cluster's record map: name, place, value |
//!
//! Characters are those of CODEPAGE, or ASCII. In front of each record stands its key, its number,
//! its address, or which one of the file it is.
//!
//! Invariants:
//! 1. Whatever bytes a record has, a line has printable characters alone.

use std::io;

use base::hex;
use codec::CodePage;
use copybook::{Copybook, Fields};
use store::{Store, Unit, UnitOptions};
use vsam::Feedback;

use crate::convert::page_of;
use crate::form::Form;
use crate::locate::Located;
use crate::machine::Output;
use crate::range::Range;
use crate::refusal::Refusal;
use crate::session::{Done, Session};
use crate::source::Source;
use crate::syntax::Command;
use crate::sysprint::Sysprint;

const DUMP_BYTES: usize = 32;
const HEX_BYTES: usize = 60;
const CHARACTERS: usize = 120;
/// Columns of a field's value.
const VALUE_COLUMNS: usize = 80;
/// How often progress is told, and the unit of work renewed.
const RENEW_RECORDS: u64 = 1000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Dump,
    Hex,
    Characters,
    Fields,
}

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let input = session.locate(parameters, "INFILE", "INDATASET")?;
    let look = match (parameters.has("HEX"), parameters.has("CHARACTER")) {
        (true, _) => Look::Hex,
        (_, true) => Look::Characters,
        _ if parameters.has("FIELDS") => Look::Fields,
        _ => Look::Dump,
    };
    let page = page_of(parameters)?;
    let fields = match look {
        Look::Fields => Some(fields_of(session, &input, page.unwrap_or(CodePage::Ascii))?),
        _ => None,
    };
    let mut source = Source::open(session, &input, Form::Lines, 0)?;
    let range = Range::of(parameters, source.ways, page)?;
    let elsewhere = parameters.value("OUTFILE").map(|dd| session.dd(dd, None)).transpose()?;
    let mut file = elsewhere.map(|located| opened(session, &located)).transpose()?;
    let mut unit = session.catalog.store().begin(UnitOptions::READ_ONLY)?;
    let mut done = source.begin(&mut unit, range);
    let shown = Shown { look, page: page.unwrap_or(CodePage::Ascii), fields };
    let mut count = 0;
    if done.is_ok() {
        let machine = &mut *session.machine;
        let mut progress = |name: &str, count| {
            let reported = machine.progress(name, count);
            reported.map_err(|error| Refusal::of_end(&error))
        };
        let counted = (&mut unit, &mut count);
        done = match &mut file {
            None => shown.all(&mut session.print, &mut source, counted, &mut progress),
            Some(file) => {
                let mut out = Sysprint::new(file);
                let done = shown.all(&mut out, &mut source, counted, &mut progress);
                let flushed = out.flush().map_err(|error| Refusal::of_file("OUTFILE", &error));
                done.and(flushed)
            }
        };
    }
    let _ = unit.backout();
    if let Some(file) = &mut file {
        let finished = file.finish().map_err(|error| Refusal::of_file("OUTFILE", &error));
        done = done.and(finished);
    }
    done = done.and(source.close());
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    done.map(|()| 0)
}

/// The file of OUTFILE.
pub(crate) fn opened<S: Store>(
    session: &mut Session<'_, S>,
    located: &Located,
) -> Result<Box<dyn Output>, Refusal> {
    match located {
        Located::File { path, .. } => {
            let output = session.machine.write(path, false);
            output.map_err(|error| Refusal::of_file(path.display(), &error))
        }
        Located::Entry(entry) => {
            let text = format!("ERROR OPENING {}: text is written to files alone", entry.name);
            Err(Refusal::severe("IDC3300I", text))
        }
    }
}

/// The fields of the record map that the catalog keeps of a cluster.
fn fields_of<S: Store>(
    session: &Session<'_, S>,
    input: &Located,
    page: CodePage,
) -> Result<Fields, Refusal> {
    let is_index = matches!(input, Located::Entry(entry) if entry.alternate_index().is_some());
    let cluster = input.cluster(&session.catalog)?.filter(|_| !is_index);
    let map = cluster.and_then(|cluster| cluster.record_map);
    let Some(text) = map else {
        let text = format!("FIELDS needs a record map: ALTER {} RECORDMAP('file')", input.name());
        return Err(Refusal::severe("IDC3213I", text));
    };
    let misfit = |error: copybook::CopybookError| {
        Refusal::severe("IDC3203I", format!("the record map of {}: {error}", input.name()))
    };
    let book = Copybook::parse("RECORDMAP", text.as_bytes(), &|_| None).map_err(misfit)?;
    let Some(record) = book.records.first() else {
        return Err(Refusal::severe("IDC3203I", "the record map describes no record"));
    };
    Fields::of(record, page).map_err(misfit)
}

struct Shown {
    look: Look,
    page: CodePage,
    fields: Option<Fields>,
}

impl Shown {
    fn all<S: Store>(
        &self,
        out: &mut Sysprint<'_>,
        source: &mut Source<S>,
        (unit, count): (&mut S::Unit, &mut u64),
        progress: &mut dyn FnMut(&str, u64) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut record = Vec::new();
        out.line(&format!("LISTING OF DATA SET -{}", source.name));
        while let Some(feedback) = source.next_record(unit, &mut record)? {
            *count += 1;
            if count.is_multiple_of(RENEW_RECORDS) {
                progress(&source.name, *count)?;
                out.check().map_err(|error| sysprint_failed(&error))?;
            }
            out.line("");
            out.line(&self.head(source, &record, &feedback, *count));
            self.lines(out, &record);
        }
        out.line("");
        Ok(())
    }

    fn head<S: Store>(
        &self,
        source: &Source<S>,
        record: &[u8],
        feedback: &Feedback,
        count: u64,
    ) -> String {
        let key = source.ways.key.and_then(|field| field.of(record));
        match (key, feedback.number, feedback.rba) {
            (Some(key), ..) if matches!(self.look, Look::Characters | Look::Fields) => {
                format!("KEY OF RECORD - {}", self.text(key))
            }
            (Some(key), ..) => format!("KEY OF RECORD - {}", hex::upper(key)),
            (_, Some(number), _) => format!("RELATIVE RECORD NUMBER - {}", number.0),
            (_, _, Some(rba)) => format!("RBA OF RECORD - {}", rba.0),
            _ => format!("RECORD SEQUENCE NUMBER - {count}"),
        }
    }

    fn lines(&self, out: &mut Sysprint<'_>, record: &[u8]) {
        match self.look {
            Look::Hex => record.chunks(HEX_BYTES).for_each(|piece| out.line(&hex::upper(piece))),
            Look::Characters => {
                record.chunks(CHARACTERS).for_each(|piece| out.line(&self.text(piece)));
            }
            Look::Fields => self.values(out, record),
            Look::Dump => {
                for (at, piece) in record.chunks(DUMP_BYTES).enumerate() {
                    let words: Vec<String> = piece.chunks(4).map(hex::upper).collect();
                    let at = at * DUMP_BYTES;
                    let (words, text) = (words.join(" "), self.text(piece));
                    out.line(&format!("{at:06X}  {words:<71}  *{text}*"));
                }
            }
        }
    }

    /// A line for each field that the record reaches; bytes that are none of its kind are shown
    /// as they are.
    fn values(&self, out: &mut Sysprint<'_>, record: &[u8]) {
        let Some(fields) = &self.fields else { return };
        let those = fields.all().iter().filter(|field| field.offset < record.len());
        for field in those {
            let bytes = record.get(field.offset..).unwrap_or_default();
            let bytes = &bytes[..field.bytes.min(bytes.len())];
            let value = match fields.value(field, record) {
                Some(value) => value.replace(|letter: char| letter.is_control(), "."),
                None => format!("X'{}' IS NO VALUE", hex::upper(bytes)),
            };
            let place = format!("{:06X}  {:<30}", field.offset, field.name);
            // A line of a listing has 120 columns.
            let letters: Vec<char> = value.chars().collect();
            let mut pieces = letters.chunks(VALUE_COLUMNS);
            let first: String = pieces.next().unwrap_or_default().iter().collect();
            out.line(format!("{place}  {first}").trim_end());
            for piece in pieces {
                let piece: String = piece.iter().collect();
                out.line(format!("{:40}{piece}", "").trim_end());
            }
        }
    }

    fn text(&self, bytes: &[u8]) -> String {
        let shown = |byte: &u8| {
            let letter = self.page.character(*byte);
            let plain = !letter.is_control() && letter != char::REPLACEMENT_CHARACTER;
            if plain { letter } else { '.' }
        };
        bytes.iter().map(shown).collect()
    }
}

fn sysprint_failed(error: &io::Error) -> Refusal {
    Refusal::severe("IDC3300I", format!("THE LISTING CANNOT BE WRITTEN: {error}"))
}
