//! The configuration file: lines of a key and a value.
//!
//! ```text
//! line  = [ key ( blanks | blanks "=" blanks ) value ] [ comment line: "#" first ]
//! key   = a name of crate::table, in any size of letters
//! value = the rest of the line; between quotation marks, blanks at its ends count
//! ```
//!
//! 1. A line that is not understood is an error that says which; nothing is skipped.
//! 2. The mark of the order of bytes that some editors put in front of UTF-8 means nothing.
//! 3. A switch is `true` or `false`; `yes`, `no`, `on`, `off`, `1` and `0` are taken, too.

use std::ffi::OsString;

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::nearest::nearest;
use crate::settings::{Setting, Settings, Value};
use crate::table::{OPTIONS, Takes, key, keys_of};

/// No line is longer.
const LINE_MAX: usize = 4096;
/// The mark of the order of bytes, in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// What a configuration file says.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    pub(crate) settings: Settings,
}

impl Configuration {
    /// The name of the file in the folder of the key ring.
    pub const FILE: &'static str = "ibmef.config";

    /// Reads the file's text.
    ///
    /// # Errors
    /// If a line is not understood; the error says which.
    pub fn parse(bytes: &[u8]) -> Result<Configuration> {
        let mut settings = Settings::default();
        let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let read = setting(line).map_err(|error| error.at(format!("line {}", index + 1)))?;
            if let Some(setting) = read {
                settings.put(setting);
            }
        }
        Ok(Configuration { settings })
    }

    /// Whether a secret stands in it, so that its readers matter.
    #[must_use]
    pub fn holds_a_secret(&self) -> bool {
        self.settings.all().iter().any(|one| one.row.takes == Takes::Secret)
    }
}

fn setting(line: &[u8]) -> Result<Option<Setting>> {
    if line.len() > LINE_MAX {
        let what = format!("the line has more than {LINE_MAX} characters");
        return Err(Error::form(what, "Check that this is the right file."));
    }
    let no_text = |_| Error::form("the line is no text", "Write the file in UTF-8.");
    let line = std::str::from_utf8(line).map_err(no_text)?.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let end = line.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let Some(row) = key(name) else {
        let known: Vec<String> = OPTIONS.iter().flat_map(keys_of).collect();
        let near = nearest(name, known.iter().map(String::as_str));
        let all = "`holdfast pgp -e -h` shows all keys.";
        // Anything else might be a secret that has lost its key.
        let is_a_key = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let may_be_shown =
            near.is_some() || (!rest.trim().is_empty() && name.chars().all(is_a_key));
        let name = if may_be_shown { shown(name) } else { "of that name".to_owned() };
        return Err(Error::unknown("key", &name, near, all));
    };
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
    let quoted = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let value = quoted.unwrap_or(rest);
    if value.is_empty() {
        let what = format!("{name} has no value");
        return Err(Error::value(what, "Put one behind it, or leave the line out."));
    }
    let value = match row.takes {
        Takes::Switch => Value::Switch(switch(name, value)?),
        Takes::Word => Value::Word(OsString::from(value)),
        Takes::Secret => Value::Secret(Zeroizing::new(value.as_bytes().to_vec())),
    };
    Ok(Some(Setting { row, value }))
}

fn switch(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(Error::value(format!("{name} is true or false"), "Write one of them.")),
    }
}

/// The beginning of a name, so that an error stays readable.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(40).flat_map(char::escape_debug).collect()
}
