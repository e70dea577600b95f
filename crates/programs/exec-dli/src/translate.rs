//! The translation: each command becomes the COPY of a small member that this module writes.
//!
//! A COPY in place of the command keeps every line of the source where it was, however much text
//! the command needs. The word EXEC becomes COPY, END-EXEC becomes the member's name, what stands
//! between is blanked. The member moves lengths and numbers into a table, then calls:
//!
//! ```text
//! CALL "HFEXDLI" USING descriptor DIBVER HFX-NUMBERS item item ... RETURNING OMITTED
//! ```
//!
//! A region that counts items behind the descriptor has the DIB as item 0, the numbers as item 1,
//! and the parameter of number n as item n + 2. The entry returns nothing, so that RETURN-CODE
//! stays what the program has made it.
//!
//! | parameter | what |
//! |---|---|
//! | 1 | the descriptor, a literal that never moves |
//! | 2 | the DIB, 40 bytes, by its first field |
//! | 3 | the numbers, each a native four-byte integer |
//! | 4- | the items of the program, in the order in which the descriptor counts them |
//!
//! Invariants:
//!
//! 1. A source without commands and cards comes out as it went in.
//! 2. No line of the source or of a member that it copies changes its number or length. Messages of
//!    the compiler about a translation name the file and line of its command.
//! 3. A copied member that holds commands comes out under its own name; it must be found before
//!    the one that it was made of.
//! 4. With diagnostics, the text is not to be compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::code;
use crate::descriptor;
use crate::diagnostic::{Checked, Diagnostic};
use crate::exec::build::{Computed, MOST, Statement, statement};
use crate::facts::ProgramFacts;
use crate::source::file::File;
use crate::source::lines::Format;
use crate::source::walk::{self, Anchor, Found, Program, Site, walk};
use crate::source::words::{Kind, Token};
use crate::surroundings::{Foreign, Members};

/// The entry that translated programs call.
pub const ENTRY: &str = "HFEXDLI";

/// The longest descriptor that a literal of the compiler can hold.
const DESCRIPTOR_MOST: usize = 8_000;

/// How many bytes of a literal or of a name stand on one line; the compiler cuts lines at 512.
const LINE_BYTES: usize = 100;

/// How a source is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The file as messages are to name it, also those of the compiler about commands: best the
    /// path under which the compiler gets the translation.
    pub file: &'a str,
    /// Whether it begins in free format.
    pub is_free: bool,
}

/// A COPY member that the translated source needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name, as the COPY has it; a plain word.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
}

/// A translated source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// The source for the compiler.
    pub text: Vec<u8>,
    /// Members that must be found in front of all others.
    pub members: Vec<Member>,
    /// The programs of the source, in the order in which they begin.
    pub programs: Vec<ProgramFacts>,
    /// What cannot be translated; empty if all went well.
    pub diagnostics: Vec<Diagnostic>,
    /// The commands of another system, if there are any: then it is a program for that one.
    pub foreign: Option<Foreign>,
}

/// Translates a source.
#[must_use]
pub fn translate(source: &[u8], options: &Options<'_>, members: &dyn Members) -> Translation {
    let format = if options.is_free { Format::Free } else { Format::Fixed };
    let found = walk(options.file, source, format, members);
    let Found { files, member_names, programs, sites, diagnostics, foreign } = found;
    let mut writer = Writer { files, diagnostics, members: Vec::new() };
    for site in &sites {
        writer.command(*site);
        if writer.diagnostics.len() >= walk::MOST {
            break;
        }
    }
    writer.storage(&programs);
    Translation { foreign, ..writer.finish(&member_names, programs) }
}

struct Writer {
    files: Vec<File>,
    diagnostics: Vec<Diagnostic>,
    members: Vec<Member>,
}

impl Writer {
    /// Puts the translation of a command into its place.
    fn command(&mut self, site: Site) {
        let file = &self.files[site.file];
        let tokens = Rc::clone(&file.tokens);
        let (exec, end) = (&tokens[site.first], &tokens[site.last]);
        let made = whole(file, &[exec, end]).and_then(|()| {
            let statement = statement(file, &tokens[site.first + 2..site.last], end)?;
            text_of(file, exec, &statement)
        });
        let placed = made.and_then(|text| {
            let name = self.add_member(site.file, exec, text)?;
            let file = &mut self.files[site.file];
            file.erase(exec.start..end.end);
            file.write_over(exec, "COPY");
            file.write_over(end, &format!("{name}."));
            Ok(())
        });
        self.note(placed);
    }

    /// Gives the programs with commands their numbers and their DIB.
    fn storage(&mut self, programs: &[Program]) {
        let mut done = BTreeSet::new();
        for program in programs.iter().filter(|program| program.facts.uses_exec_dli) {
            let Some(anchor) = program.anchor else { continue };
            if done.insert(anchor) {
                let placed = self.place_storage(anchor, program.declares_dib);
                self.note(placed);
            }
        }
    }

    fn place_storage(&mut self, anchor: Anchor, declares_dib: bool) -> Checked<()> {
        let file = &self.files[anchor.file];
        let tokens = Rc::clone(&file.tokens);
        let (first, second) = (&tokens[anchor.token], &tokens[anchor.token + 1]);
        whole(file, &[first, second])?;
        let text = storage_of(file, first, anchor.has_data, declares_dib);
        let name = self.add_member(anchor.file, first, text)?;
        let file = &mut self.files[anchor.file];
        file.erase(first.start..second.end);
        file.write_over(first, "COPY");
        file.write_over(second, &format!("{name}."));
        let period = tokens.get(anchor.token + 2).filter(|token| token.kind == Kind::Period);
        // The header of a PROCEDURE DIVISION keeps what follows, all others are in the member.
        if let (Some(period), false) = (period, first.is("PROCEDURE")) {
            file.erase(period.start..period.end);
        }
        Ok(())
    }

    fn add_member(&mut self, file: usize, token: &Token, text: Vec<u8>) -> Checked<String> {
        let Some(name) = member_name(self.members.len()) else {
            let message = "the source has more EXEC DLI commands than can be translated";
            let help = "Split the source.";
            return Err(self.files[file].wrong(code::TOO_MANY_COMMANDS, token, message, help));
        };
        self.members.push(Member { name: name.clone(), text });
        Ok(name)
    }

    fn note(&mut self, result: Checked<()>) {
        if let Err(wrong) = result
            && self.diagnostics.len() < walk::MOST
        {
            self.diagnostics.push(*wrong);
        }
    }

    fn finish(mut self, names: &BTreeMap<String, usize>, programs: Vec<Program>) -> Translation {
        for (name, file) in names {
            let file = &self.files[*file];
            if !file.is_changed() {
                continue;
            }
            let wrong = file.tokens.first().filter(|_| !is_plain(name)).map(|first| {
                let message = format!("{name} holds commands, but COPY names it by a path");
                let help = "Copy the member by its name alone.";
                file.wrong(code::PATH_NAME, first, message, help)
            });
            let (name, text) = (name.clone(), file.text().to_vec());
            self.members.push(Member { name, text });
            self.note(wrong.map_or(Ok(()), Err));
        }
        self.diagnostics.sort_by_key(|one| (one.line, one.column));
        Translation {
            text: self.files.swap_remove(0).into_text(),
            members: self.members,
            programs: programs.into_iter().map(|program| program.facts).collect(),
            diagnostics: self.diagnostics,
            foreign: None,
        }
    }
}

/// Words that are written over must not be broken by a line's end.
fn whole(file: &File, tokens: &[&Token]) -> Checked<()> {
    match tokens.iter().find(|token| !file.is_whole(token)) {
        None => Ok(()),
        Some(token) => {
            let message = format!("{} is continued on the next line", token.shown());
            let help = "Write the word on one line.";
            Err(file.wrong(code::BROKEN_WORD, token, message, help))
        }
    }
}

/// The name of the member of that number: three digits to the base 36 behind HFX.
fn member_name(number: usize) -> Option<String> {
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let digit = |value: usize| char::from(digits[value % 36]);
    let fits = number < 36 * 36 * 36;
    fits.then(|| format!("HFX{}{}{}", digit(number / 1296), digit(number / 36), digit(number)))
}

/// Whether a member can be put beside others under its name.
fn is_plain(name: &str) -> bool {
    !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// Lines of a member in free format that all claim to be one line of the source.
struct MemberText {
    text: Vec<u8>,
    place: String,
}

impl MemberText {
    fn new(file: &File, token: &Token) -> MemberText {
        let name: String = file.name.chars().filter(|c| !c.is_control() && *c != '"').collect();
        let place = format!("#line {} \"{name}\"\n", file.line(token.start));
        MemberText { text: b"       >>SOURCE FORMAT IS FREE\n".to_vec(), place }
    }

    /// A line; long ones are broken at blanks outside of literals.
    fn line(&mut self, text: &[u8]) {
        let mut used = 0;
        self.text.extend_from_slice(self.place.as_bytes());
        let mut quote = None;
        for byte in text {
            match quote {
                None if matches!(byte, b'\'' | b'"') => quote = Some(*byte),
                Some(open) if open == *byte => quote = None,
                _ => {}
            }
            if used > LINE_BYTES && *byte == b' ' && quote.is_none() {
                self.text.push(b'\n');
                self.text.extend_from_slice(self.place.as_bytes());
                used = 0;
            }
            self.text.push(*byte);
            used += 1;
        }
        self.text.push(b'\n');
    }
}

/// The member of a command.
fn text_of(file: &File, exec: &Token, statement: &Statement) -> Checked<Vec<u8>> {
    let count = |len: usize| u8::try_from(len).ok();
    let descriptor = count(statement.parameters.len())
        .zip(count(statement.numbers.len()))
        .and_then(|(items, numbers)| descriptor::encode(&statement.command, items, numbers))
        .filter(|bytes| bytes.len() <= DESCRIPTOR_MOST);
    let Some(descriptor) = descriptor else {
        let help = "Split the command, or put long literals into items of the program.";
        return Err(file.wrong(code::TOO_MUCH, exec, "the command is too long", help));
    };
    let mut out = MemberText::new(file, exec);
    for (index, number) in statement.numbers.iter().enumerate() {
        let slot = format!("HFX-NUMBER ({})", index + 1).into_bytes();
        let line = match number {
            Computed::LengthOf(item) => [b"MOVE LENGTH OF ", &item[..], b" TO ", &slot].concat(),
            Computed::Value(value) => [b"COMPUTE ", &slot[..], b" = ", value].concat(),
        };
        out.line(&line);
    }
    out.line(format!("CALL \"{ENTRY}\" USING BY REFERENCE").as_bytes());
    let mut pieces = descriptor.chunks(LINE_BYTES).peekable();
    while let Some(piece) = pieces.next() {
        let hex = base::hex::upper(piece);
        let more = if pieces.peek().is_some() { " &" } else { "" };
        out.line(format!("X\"{hex}\"{more}").as_bytes());
    }
    out.line(b"DIBVER HFX-NUMBERS");
    for parameter in &statement.parameters {
        out.line(parameter);
    }
    out.line(b"RETURNING OMITTED END-CALL");
    Ok(out.text)
}

/// The member that stands in place of a section's or the PROCEDURE DIVISION's header.
fn storage_of(file: &File, first: &Token, has_data: bool, declares_dib: bool) -> Vec<u8> {
    let mut out = MemberText::new(file, first);
    let header = first.upper().unwrap_or_default();
    if !has_data {
        out.line(b"DATA DIVISION.");
    }
    out.line(b"WORKING-STORAGE SECTION.");
    out.line(b"01 HFX-NUMBERS.");
    out.line(format!("05 HFX-NUMBER PIC S9(9) COMP-5 OCCURS {MOST}.").as_bytes());
    if !declares_dib {
        out.line(b"01 DLZDIB.");
        for (name, picture) in crate::dib::FIELDS {
            out.line(format!("05 {name} PIC {picture}.").as_bytes());
        }
    }
    match header.as_str() {
        "WORKING-STORAGE" => {}
        "PROCEDURE" => out.line(b"PROCEDURE DIVISION"),
        _ => out.line(format!("{header} SECTION.").as_bytes()),
    }
    out.text
}
