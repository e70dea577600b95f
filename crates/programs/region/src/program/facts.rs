//! What the COBOL compiler knows about a program: its entries, and the records of its files.
//!
//! It stands in the C source that `cobc` makes. We keep it beside the shared object:
//!
//! | line | means |
//! |---|---|
//! | `entry NAME yes` or `no` | a function of the module, and whether it takes parameters |
//! | `file NAME BYTES FORM` | a file assigned to a name, its longest record, and its [`FileForm`] |
//! | `call NAME` | a literal that is called |
//! | `name NAME` | another literal that may name a program, where data items are called |
//!
//! Invariants:
//! 1. The first entry is the first program's PROGRAM-ID.
//! 2. A line that is not understood is left out: at worst an entry has to be named.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::DLITCBL;

/// The longest name of a program that a data item may hold.
const NAME_MAX: usize = 31;

/// A function by which a module can be entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its name as the linker has it.
    pub name: String,
    /// Whether it takes parameters.
    pub has_parameters: bool,
}

/// A file of a COBOL program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CobolFile {
    /// The name that it is assigned to: its DD.
    pub name: String,
    /// Bytes of its longest record.
    pub record_bytes: usize,
    /// How its records stand in it.
    pub form: FileForm,
}

/// How the records of a file of a COBOL program stand in it, in the words that tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    /// `fixed`: sequential, all of one length.
    Fixed,
    /// `variable-N`: sequential, with the length in front of each; N bytes at least.
    Variable(usize),
    /// `lines`: LINE SEQUENTIAL.
    Lines,
    /// `keyed`: relative or indexed.
    Keyed,
}

impl FileForm {
    /// From what `cobc` calls its organization, and the shortest and longest records; none for a
    /// sort file, which is no file of the program's user.
    fn of(organization: usize, min: usize, max: usize) -> Option<FileForm> {
        match organization {
            0 if min == max => Some(FileForm::Fixed),
            0 => Some(FileForm::Variable(min)),
            1 => Some(FileForm::Lines),
            2 | 3 => Some(FileForm::Keyed),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<FileForm> {
        match (text, text.strip_prefix("variable-")) {
            (_, Some(min)) => min.parse().ok().map(FileForm::Variable),
            ("fixed", _) => Some(FileForm::Fixed),
            ("lines", _) => Some(FileForm::Lines),
            ("keyed", _) => Some(FileForm::Keyed),
            _ => None,
        }
    }
}

impl fmt::Display for FileForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileForm::Fixed => f.write_str("fixed"),
            FileForm::Variable(min) => write!(f, "variable-{min}"),
            FileForm::Lines => f.write_str("lines"),
            FileForm::Keyed => f.write_str("keyed"),
        }
    }
}

/// What is known about a COBOL program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its entries, PROGRAM-ID first.
    pub entries: Vec<EntryPoint>,
    /// Its files.
    pub files: Vec<CobolFile>,
    /// What it calls by literals, each once.
    pub calls: Vec<String>,
    /// Literals that data items may hold which are called, each once.
    pub names: Vec<String>,
}

/// Entries by which programs come to databases and messages, besides those that begin with `MQ`.
const CALLS: [&str; 8] =
    ["AIBTDLI", "ASMTDLI", "CBLTDLI", "CEETDLI", "CTDLI", "HFEXDLI", "HOLDFASTMQ", "PLITDLI"];

impl Facts {
    /// Whether it calls for databases or messages, or an item that it calls may hold such a name.
    pub(super) fn makes_calls(&self) -> bool {
        let is_call = |name: &String| CALLS.contains(&&**name) || name.starts_with("MQ");
        self.calls.iter().any(is_call) || self.names.iter().any(is_call)
    }

    /// Where the program may be entered, the preferred name first.
    pub(super) fn entries(&self) -> Vec<String> {
        let Some(first) = self.entries.first() else { return vec![DLITCBL.to_owned()] };
        let named = self.entries.iter().any(|entry| entry.name == DLITCBL);
        match (first.has_parameters, named) {
            (false, true) => vec![DLITCBL.to_owned()],
            _ => vec![first.name.clone()],
        }
    }

    /// Reads them from what `cobc` made of a program: the C source, and its local storage.
    pub(super) fn of_translation(source: &str, storage: &str) -> Facts {
        let mut entries = Vec::new();
        let mut fields: BTreeMap<&str, String> = BTreeMap::new();
        for line in storage.lines().chain(source.lines()) {
            if let Some((name, text)) = constant(line) {
                fields.insert(name, text);
            }
        }
        let mut assigned: BTreeMap<&str, &str> = BTreeMap::new();
        // By file: what the compiler says of it.
        let mut sizes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut calls: Vec<String> = Vec::new();
        let calls_items = source.contains("cob_call_field (");
        let lines = storage.lines().chain(source.lines()).filter(|_| calls_items);
        let names: BTreeSet<&str> = lines.flat_map(literals).filter(|name| is_name(name)).collect();
        for line in source.lines() {
            if let Some(name) = called(line) {
                if !calls.iter().any(|known| known == name) {
                    calls.push(name.to_owned());
                }
            } else if let Some(entry) = prototype(line) {
                entries.push(entry);
            } else if let Some((file, field)) = member(line, "assign") {
                let field = field.rsplit('&').next().unwrap_or_default();
                assigned.insert(file, field);
            } else {
                for what in ["organization", "record_min", "record_max"] {
                    if let Some((file, value)) = member(line, what) {
                        sizes.insert((file, what), value.parse().unwrap_or_default());
                    }
                }
            }
        }
        let file = |(file, field): (&&str, &&str)| {
            let name = fields.get(field)?.clone();
            let size = |what| sizes.get(&(*file, what)).copied();
            let record_bytes = size("record_max").filter(|bytes| *bytes > 0)?;
            let least = size("record_min").unwrap_or(record_bytes);
            let form = FileForm::of(size("organization").unwrap_or(0), least, record_bytes)?;
            Some(CobolFile { name, record_bytes, form })
        };
        let names = names.into_iter().map(str::to_owned).collect();
        Facts { entries, files: assigned.iter().filter_map(file).collect(), calls, names }
    }

    pub(super) fn to_text(&self) -> String {
        let yes = |has| if has { "yes" } else { "no" };
        let entries = self.entries.iter();
        let entries =
            entries.map(|entry| format!("entry {} {}\n", entry.name, yes(entry.has_parameters)));
        let files = self.files.iter();
        let file =
            |file: &CobolFile| format!("file {} {} {}\n", file.name, file.record_bytes, file.form);
        let files = files.map(file);
        let calls = self.calls.iter().map(|name| format!("call {name}\n"));
        let names = self.names.iter().map(|name| format!("name {name}\n"));
        entries.chain(files).chain(calls).chain(names).collect()
    }

    pub(super) fn from_text(text: &str) -> Facts {
        let mut facts = Facts::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["entry", name, has] => facts
                    .entries
                    .push(EntryPoint { name: name.to_owned(), has_parameters: has == "yes" }),
                ["file", name, bytes, form] => {
                    if let Some(form) = FileForm::parse(form) {
                        let record_bytes = bytes.parse().unwrap_or_default();
                        facts.files.push(CobolFile { name: name.to_owned(), record_bytes, form });
                    }
                }
                ["call", name] => facts.calls.push(name.to_owned()),
                ["name", name] => facts.names.push(name.to_owned()),
                _ => {}
            }
        }
        facts
    }
}

/// `int  NAME (void);` or `int  NAME (cob_u8_t *, cob_u8_t *);`
fn prototype(line: &str) -> Option<EntryPoint> {
    let rest = line.strip_prefix("int")?.strip_suffix(");")?;
    let (name, parameters) = rest.split_once('(')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| EntryPoint {
        name: name.to_owned(),
        has_parameters: parameters.trim() != "void" && !parameters.trim().is_empty(),
    })
}

/// `call_SUB.funcvoid = cob_resolve_cobol ("SUB", 0, 1);`
fn called(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("cob_resolve_cobol (\"")?;
    rest.split('"').next()
}

/// What stands in quotes, without blanks behind it.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2).map(|text| text.trim_end_matches(' '))
}

/// Whether a literal can be the name of a program.
fn is_name(literal: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "$#@-_".contains(c);
    (1..=NAME_MAX).contains(&literal.len())
        && literal.starts_with(|c: char| c.is_ascii_alphabetic() || "$#@".contains(c))
        && literal.chars().all(is_letter)
}

/// `h_FILE->member = (cast)value;`
fn member<'a>(line: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let (file, rest) = line.trim().split_once("->")?;
    let value = rest.strip_prefix(name)?.trim_start().strip_prefix('=')?;
    Some((file, value.trim().trim_end_matches(';')))
}

/// `static const cob_field c_2 = {6, (cob_u8_ptr)"INFILE", &a_3};`
fn constant(line: &str) -> Option<(&str, String)> {
    let rest = line.strip_prefix("static")?;
    let (_, rest) = rest.split_once("cob_field ")?;
    let (name, value) = rest.split_once('=')?;
    let text = value.split('"').nth(1)?;
    Some((name.trim(), text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
int\t\tPROGA (void);\n\
int\t\tDLITCBL (cob_u8_t *, cob_u8_t *);\n\
static int\t\tPROGA_ (const int, cob_u8_t *, cob_u8_t *);\n\
  h_IN_FILE->select_name = (const char *)\"IN-FILE\";\n\
  h_IN_FILE->assign = (cob_field *)&c_2;\n\
  h_IN_FILE->record_min = 4;\n\
  h_IN_FILE->record_max = 13;\n\
  h_IN_FILE->organization = 0;\n\
  h_KEYS->assign = (cob_field *)&c_3;\n\
  h_KEYS->record_max = 24;\n\
  h_KEYS->organization = 3;\n\
  h_SORT->assign = (cob_field *)&c_3;\n\
  h_SORT->record_max = 24;\n\
  h_SORT->organization = 4;\n\
    call_SUB1.funcvoid = cob_resolve_cobol (\"SUB1\", 0, 1);\n\
    call_SUB1.funcvoid = cob_resolve_cobol (\"SUB1\", 0, 1);\n\
  h_VARYING->assign = (cob_field *)&f_9;\n\
  h_VARYING->record_max = 80;\n";
    const STORAGE: &str = "\
static const cob_field c_2\t= {6, (cob_u8_ptr)\"INFILE\", &a_3};\t/* Literal */\n\
static const cob_field c_3\t= {4, (cob_u8_ptr)\"KEYS\", &a_3};\n";

    #[test]
    fn entries_and_files_are_found_in_a_translation() {
        let facts = Facts::of_translation(SOURCE, STORAGE);
        let entry =
            |name: &str, has_parameters| EntryPoint { name: name.to_owned(), has_parameters };
        assert_eq!(facts.entries, [entry("PROGA", false), entry("DLITCBL", true)]);
        let file = |name: &str, record_bytes, form| CobolFile {
            name: name.to_owned(),
            record_bytes,
            form,
        };
        let keyed = file("KEYS", 24, FileForm::Keyed);
        assert_eq!(facts.files, [file("INFILE", 13, FileForm::Variable(4)), keyed]);
        assert_eq!(facts.calls, ["SUB1"]);
        assert_eq!(facts.entries(), ["DLITCBL"]);
        assert_eq!(Facts::from_text(&facts.to_text()), facts);
    }

    #[test]
    fn where_a_data_item_is_called_its_literals_may_be_programs() {
        let call = "      cob_call_field (&f_8, NULL, 0, 0);\n";
        let storage = "static const cob_field c_1 = {8, (cob_u8_ptr)\"SUBX    \", &a_1};\n";
        let item = "  memcpy (b_8, \"SUB-Y\", 5);\n  cob_display (0, \"not one\");\n";
        let facts = Facts::of_translation(&[call, item].concat(), storage);
        assert_eq!(facts.names, ["SUB-Y", "SUBX"]);
        assert!(Facts::of_translation(item, storage).names.is_empty());
        assert_eq!(Facts::from_text(&facts.to_text()), facts);
    }

    #[test]
    fn a_program_with_using_is_entered_at_its_name() {
        let source = SOURCE.replace("PROGA (void)", "PROGA (cob_u8_t *)");
        assert_eq!(Facts::of_translation(&source, "").entries(), ["PROGA"]);
        let alone = Facts::of_translation("int\t\tMY__PROG (void);\n", "");
        assert_eq!(alone.entries(), ["MY__PROG"]);
    }
}
