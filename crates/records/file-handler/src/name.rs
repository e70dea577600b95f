//! Which file a program means by the name that it assigns one to.
//!
//! | the value of `DD_NAME`, `dd_NAME` or `NAME` | is |
//! |---|---|
//! | `//BANK.ACCOUNT` | a cluster or path of the system's catalog |
//! | `//#VSAM.#CICS.BANK/ACCOUNT` | a file that the system BANK owns |
//! | `/data/account` | a file of the machine |
//! | `//BANK.DAILY(0)`, `(-1)`, `(+1)` | a generation: the newest, the one before, a new one |
//! | `//BANK.DAILY(+1),keep` | a new one that stays if the step fails |
//! | `/data/account,mod` | one that OPEN OUTPUT writes on, behind what it has |
//! | `/data/account,rdw` | one whose records have a record descriptor word in front |
//! | `/data/account,bdw` | the same, in blocks with a block descriptor word in front |
//! | `/data/one:/data/two` | a concatenation: one after the other, to be read |
//!
//! A name without such a variable is a path itself, within `COB_FILE_PATH` if that is set. Programs
//! of a system have the first variable only ([`Assigned`]): their `--dd` makes it.
//!
//! Invariants:
//! 1. A name is mapped as libcob maps it, so that a program finds the same files with this handler
//!    as without.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use vsam::DataSetName;

use crate::machine::{Forms, LineForm, VariableForm};

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file of the machine.
    Path(PathBuf, Forms),
    /// A data set of the catalog.
    DataSet(String),
    /// Several, to be read one after the other.
    Several(Vec<Target>),
}

/// Stands in front of the name of a data set.
pub const DATA_SET: &str = "//";

/// Stands behind the name of a new generation that stays if the step fails.
pub const KEEP: &str = ",keep";

/// Stands in front of the name of a system that owns files.
pub const VIRTUAL: &str = "#VSAM.#CICS.";

/// The data set that a DD names, if it names one: `//` and what can be its name.
#[must_use]
pub fn data_set(value: &str) -> Option<&str> {
    let name = value.strip_prefix(DATA_SET)?;
    let (plain, _) = kept(name);
    let (base, _) = relative(plain).unwrap_or((name, 0));
    (is_virtual(name) || DataSetName::parse(base).is_ok()).then_some(name)
}

/// Whether a name is that of a file that another system owns.
#[must_use]
pub fn is_virtual(name: &str) -> bool {
    let Some(front) = name.get(..VIRTUAL.len()) else { return false };
    let rest = name[VIRTUAL.len()..].split_once('/');
    front.eq_ignore_ascii_case(VIRTUAL)
        && rest.is_some_and(|(system, file)| {
            DataSetName::parse(system).is_ok() && DataSetName::parse(file).is_ok()
        })
}

/// The name of a data set without what says that a new generation stays if the step fails, and
/// whether that is said.
#[must_use]
pub fn kept(name: &str) -> (&str, bool) {
    match name.len().checked_sub(KEEP.len()).and_then(|at| name.split_at_checked(at)) {
        Some((plain, end)) if end.eq_ignore_ascii_case(KEEP) => (plain, true),
        _ => (name, false),
    }
}

/// A group and a relative number, of a name such as `BANK.DAILY(-1)`.
#[must_use]
pub fn relative(name: &str) -> Option<(&str, i32)> {
    let (group, number) = name.strip_suffix(')')?.split_once('(')?;
    Some((group, number.parse().ok()?))
}

/// The parts of a concatenation; of anything else itself. Each part but the first begins with `/`.
#[must_use]
pub fn parts(value: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut begin) = (Vec::new(), 0);
    if value.first() == Some(&b'/') {
        for at in 1..value.len() {
            if value[at..].starts_with(b":/") {
                parts.push(&value[begin..at]);
                begin = at + 1;
            }
        }
    }
    parts.push(&value[begin..]);
    parts
}

/// Variables by which names are mapped.
pub trait Variables: Send {
    /// The value of one.
    fn get(&self, name: &OsStr) -> Option<OsString>;
}

/// Those of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Environment;

impl Variables for Environment {
    fn get(&self, name: &OsStr) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }
}

/// Those that a program of a system has: what its DDs say, and how the run time is set. Other names
/// of its environment are none of its files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assigned;

impl Variables for Assigned {
    fn get(&self, name: &OsStr) -> Option<OsString> {
        let front = name.as_bytes();
        let is_ours = front.starts_with(b"DD_") || front.starts_with(b"COB_");
        is_ours.then(|| Environment.get(name)).flatten()
    }
}

/// The variable of a name: `DD_NAME`, `dd_NAME`, `NAME`.
fn variable(variables: &dyn Variables, name: &[u8]) -> Option<OsString> {
    if name.first().is_none_or(|byte| b".-0123456789".contains(byte)) {
        return None;
    }
    let plain: Vec<u8> = name.iter().map(|byte| if *byte == b'.' { b'_' } else { *byte }).collect();
    let forms = [&b"DD_"[..], b"dd_", b""];
    forms.iter().find_map(|form| variables.get(OsStr::from_bytes(&[form, &plain[..]].concat())))
}

/// What a name stands for.
#[must_use]
pub fn target(variables: &dyn Variables, name: &[u8]) -> Target {
    let name = trimmed(name);
    let forms = forms(variables);
    let is_simple = !name.contains(&b'/') && !name.contains(&b'\\');
    let mapped = if is_simple { simple(variables, name) } else { complex(variables, name) };
    match &parts(mapped.as_bytes())[..] {
        [one] => one_target(variables, one, forms),
        several => {
            Target::Several(several.iter().map(|one| one_target(variables, one, forms)).collect())
        }
    }
}

fn one_target(variables: &dyn Variables, bytes: &[u8], forms: Forms) -> Target {
    if let Some(found) = std::str::from_utf8(bytes).ok().and_then(data_set) {
        return Target::DataSet(found.to_ascii_uppercase());
    }
    let (bytes, forms) = match bytes.strip_suffix(b",mod") {
        Some(path) => (path, Forms { goes_on: true, ..forms }),
        None => (bytes, forms),
    };
    let words = |path, variable| (path, Forms { variable, ..forms });
    let (bytes, forms) = match (bytes.strip_suffix(b",rdw"), bytes.strip_suffix(b",bdw")) {
        (Some(path), _) => words(path, VariableForm::Rdw),
        (_, Some(path)) => words(path, VariableForm::Bdw),
        _ => (bytes, forms),
    };
    let path = PathBuf::from(OsStr::from_bytes(bytes));
    let within = variables.get(OsStr::new("COB_FILE_PATH"));
    match within {
        Some(folder) if path.is_relative() => Target::Path(PathBuf::from(folder).join(path), forms),
        _ => Target::Path(path, forms),
    }
}

/// Without the blanks and zeros that fill an item up.
fn trimmed(name: &[u8]) -> &[u8] {
    let fills = |byte: &u8| matches!(byte, b' ' | 0);
    let begin = name.iter().position(|byte| !fills(byte)).unwrap_or(name.len());
    let end = name.iter().rposition(|byte| !fills(byte)).map_or(begin, |last| last + 1);
    &name[begin..end]
}

fn simple(variables: &dyn Variables, name: &[u8]) -> OsString {
    let plain = name.strip_prefix(b"$").unwrap_or(name);
    variable(variables, plain).unwrap_or_else(|| OsString::from_vec(name.to_vec()))
}

/// A name with folders: the first part may be a variable, and parts behind `$` are.
fn complex(variables: &dyn Variables, name: &[u8]) -> OsString {
    let is_separator = |byte: &u8| matches!(byte, b'/' | b'\\');
    let is_absolute = name.first().is_some_and(is_separator);
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for (at, part) in name.split(is_separator).filter(|part| !part.is_empty()).enumerate() {
        let (dollar, plain) = match part.strip_prefix(b"$") {
            Some(plain) => (true, plain),
            None => (false, part),
        };
        let may_be = dollar || at == 0 && !is_absolute;
        match may_be.then(|| variable(variables, plain)).flatten() {
            Some(value) => parts.push(value.into_vec()),
            None => parts.push(part.to_vec()),
        }
    }
    let joined = parts.join(&b'/');
    OsString::from_vec(if is_absolute { [&b"/"[..], &joined].concat() } else { joined })
}

fn forms(variables: &dyn Variables) -> Forms {
    let set = |name: &str| {
        let value = variables.get(OsStr::new(name)).unwrap_or_default();
        let value = value.to_string_lossy().trim().to_ascii_lowercase();
        matches!(value.as_str(), "1" | "true" | "t" | "yes" | "y" | "on")
    };
    let number = variables.get(OsStr::new("COB_VARSEQ_FORMAT")).unwrap_or_default();
    Forms {
        goes_on: false,
        variable: VariableForm::of(&number.to_string_lossy()),
        lines: LineForm {
            keep_blanks: set("COB_LS_FIXED"),
            nulls: set("COB_LS_NULLS"),
            carriage_return: set("COB_LS_USES_CR"),
        },
    }
}

/// The name of the path that serves an alternate key: the base's with the key's number, cut to 8
/// characters in front of it.
#[must_use]
pub fn path_name(base: &[u8], key: usize) -> Vec<u8> {
    let number = key.to_string();
    let base = trimmed(base);
    let keep = base.len().min(8_usize.saturating_sub(number.len()));
    [&base[..keep], number.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    impl Variables for BTreeMap<&'static str, &'static str> {
        fn get(&self, name: &OsStr) -> Option<OsString> {
            BTreeMap::get(self, name.to_str()?).map(OsString::from)
        }
    }

    fn path(variables: &BTreeMap<&'static str, &'static str>, name: &[u8]) -> String {
        match target(variables, name) {
            Target::Path(path, _) => path.to_string_lossy().into_owned(),
            Target::DataSet(name) => format!("data set {name}"),
            Target::Several(several) => format!("{several:?}"),
        }
    }

    #[test]
    fn names_are_mapped_as_the_run_time_maps_them() {
        let none = BTreeMap::new();
        assert_eq!(path(&none, b"INFILE  "), "INFILE");
        assert_eq!(path(&none, b"/tmp/a.dat"), "/tmp/a.dat");
        let some = BTreeMap::from([("DD_INFILE", "/x/in"), ("dd_OUT_1", "o"), ("HERE", "/h")]);
        assert_eq!(path(&some, b"INFILE"), "/x/in");
        assert_eq!(path(&some, b"$INFILE"), "/x/in");
        assert_eq!(path(&some, b"OUT.1"), "o");
        assert_eq!(path(&some, b"HERE/b"), "/h/b");
        assert_eq!(path(&some, b"a/$HERE"), "a//h");
        let within = BTreeMap::from([("COB_FILE_PATH", "/p"), ("DD_A", "b")]);
        assert_eq!(path(&within, b"A"), "/p/b");
        assert_eq!(path(&within, b"/A"), "/A");
    }

    #[test]
    fn a_concatenation_has_parts_that_begin_with_a_slash() {
        assert_eq!(parts(b"/a:/b:/c"), [b"/a", b"/b", b"/c"]);
        assert_eq!(parts(b"/a:b"), [b"/a:b"]);
        assert_eq!(parts(b"a:/b"), [b"a:/b"]);
        let some = BTreeMap::from([("DD_K", "/a,rdw://x.y(-1)")]);
        let Target::Several(found) = target(&some, b"K") else { panic!("it has two parts") };
        let rdw = Forms { variable: VariableForm::Rdw, ..Forms::default() };
        assert_eq!(found, [Target::Path("/a".into(), rdw), Target::DataSet("X.Y(-1)".into())]);
        assert_eq!(relative("A.B(+1)"), Some(("A.B", 1)));
        assert_eq!(relative("A.B(x)"), None);
        assert_eq!(kept("A.B(+1),KEEP"), ("A.B(+1)", true));
        assert_eq!(data_set("//a.b(+1),keep"), Some("a.b(+1),keep"));
        assert_eq!(data_set("//a.b,keep"), None);
    }

    #[test]
    fn two_slashes_name_a_data_set() {
        let some = BTreeMap::from([("DD_K", "//bank.Account"), ("DD_L", "//a/b"), ("DD_M", "//")]);
        assert_eq!(path(&some, b"K"), "data set BANK.ACCOUNT");
        assert_eq!(path(&some, b"L"), "//a/b");
        assert_eq!(path(&some, b"M"), "//");
        let name = "//#vsam.#CICS.BANK/account";
        assert_eq!(
            path(&BTreeMap::from([("DD_N", name)]), b"N"),
            "data set #VSAM.#CICS.BANK/ACCOUNT"
        );
        assert!(!is_virtual("#VSAM.#CICS.BANK") && !is_virtual("#VSAM.#CICS.BANK/a/b"));
        assert_eq!(path_name(b"ACCOUNT", 1), b"ACCOUNT1");
        assert_eq!(path_name(b"ACCOUNTS", 12), b"ACCOUN12");
    }
}
