//! Commands that messages name, as they can be typed: with the system's folder.
//!
//! The layers below say `` `holdfast db empty PH --yes` `` and know of no folder; a user who has
//! typed a command knows one. What is shown to people, and as JSON to programs, goes through here.
//!
//! A line of the Encryption Facility has options of one dash; what messages say of them is put so.
//!
//! Invariants:
//! 1. The folder is written as it was given, in quotes where a shell needs them; so are files in
//!    it, which messages call `DIR/...`.
//! 2. What names its folder already, and what is no command of this release, stays as it is, but
//!    for names that a shell would change: they are quoted.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use clap::{ArgMatches, Command};

/// What a command in a message begins with.
const BEGIN: &str = "`holdfast ";
/// How usage lines, and with them messages, call the folder of a system.
const VALUE_NAME: &str = "DIR";
/// What arguments for a system's folder are called: the option, and what stands without one.
const OPTION: &str = "system";
const OPERAND: &str = "dir";

/// The folder of the system that this process works with, for a shell.
static FOLDER: OnceLock<String> = OnceLock::new();

/// The description of the command line, made when a message names a command.
static DESCRIBED: OnceLock<fn() -> Command> = OnceLock::new();

/// Remembers how the command line is described; before that, messages stay as they are.
pub(crate) fn describe(command_line: fn() -> Command) {
    let _ = DESCRIBED.set(command_line);
}

/// Remembers the folder that a command line names, if it names one.
pub(crate) fn remember(matches: &ArgMatches) {
    let mut matches = matches;
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    let given = |id: &str| matches.try_get_raw(id).ok().flatten()?.next();
    if let Some(folder) = given(OPTION).or_else(|| given(OPERAND)) {
        remember_folder(Path::new(folder));
    }
}

/// Remembers the folder; the first one counts.
pub(crate) fn remember_folder(folder: &Path) {
    let _ = FOLDER.set(quoted(&folder.display().to_string()));
}

/// Whether the command line was one of the Encryption Facility.
static IS_FACILITY: OnceLock<()> = OnceLock::new();

/// Remembers that the command line was one of the Encryption Facility.
pub(crate) fn remember_facility() {
    let _ = IS_FACILITY.set(());
}

/// An option in a sentence, as the clear commands and as the Encryption Facility call it; commands
/// between backticks are clear ones in either case.
const CALLED: [(&str, &str); 2] = [("say --yes", "say -yes"), ("Say --yes", "Say -yes")];

/// A message with its commands as they can be typed.
pub(crate) fn typed(message: &str) -> Cow<'_, str> {
    if IS_FACILITY.get().is_some() && message.contains("ay --yes") {
        let put = |text: String, (clear, older): (&str, &str)| text.replace(clear, older);
        return CALLED.into_iter().fold(message.to_owned(), put).into();
    }
    match (FOLDER.get(), DESCRIBED.get()) {
        (Some(folder), Some(command_line)) if message.contains(BEGIN) => {
            with_folder(&command_line(), message, folder).into()
        }
        _ => message.into(),
    }
}

/// The same for text that is JSON already: its strings hold messages.
pub(crate) fn typed_json(text: String) -> String {
    match (FOLDER.get(), DESCRIBED.get()) {
        (Some(folder), Some(command_line)) if text.contains(BEGIN) => {
            let folder = serde_json::Value::from(folder.as_str()).to_string();
            with_folder(&command_line(), &text, &folder[1..folder.len() - 1])
        }
        _ => text,
    }
}

fn quoted(folder: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    match !folder.is_empty() && folder.chars().all(is_plain) {
        true => folder.to_owned(),
        false => format!("'{}'", folder.replace('\'', r"'\''")),
    }
}

fn with_folder(command_line: &Command, message: &str, folder: &str) -> String {
    let mut out = String::with_capacity(message.len() + folder.len() + 4);
    let mut rest = message;
    while let Some((front, behind)) = rest.split_once(BEGIN) {
        out += front;
        out += BEGIN;
        let end = behind.find('`').unwrap_or(0);
        out += &completed(command_line, &behind[..end], folder);
        rest = &behind[end..];
    }
    out + rest
}

/// The words of a command with the folder.
fn completed(command_line: &Command, words: &str, folder: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let (mut command, mut depth) = (command_line, 0);
    while let Some(below) = words.get(depth).and_then(|word| command.find_subcommand(word)) {
        (command, depth) = (below, depth + 1);
    }
    let (verb, operands) = words.split_at(depth);
    let takes = |id: &str| command.get_arguments().any(|one| one.get_id() == id);
    let has = |wanted: &str| operands.contains(&wanted);
    let mut typed = verb.to_vec();
    if operands.iter().any(|word| in_folder(word, folder).is_some()) {
        // It is there already, by its name in usage lines.
    } else if takes(OPTION) && !has("-s") && !has("--system") {
        typed.extend(["-s", folder]);
    } else if takes(OPERAND) && operands.iter().all(|word| word.starts_with('-')) {
        typed.push(folder);
    }
    let words = typed.into_iter().map(Cow::from);
    let operands = operands
        .iter()
        .map(|word| in_folder(word, folder).map_or_else(|| for_shell(word), Cow::from));
    words.chain(operands).collect::<Vec<_>>().join(" ")
}

/// A name as a shell takes it: those of data sets and databases may have national characters of the
/// host, two of which mean something to a shell.
fn for_shell(word: &str) -> Cow<'_, str> {
    match word.contains(['$', '#']) && !word.contains(['\'', '"']) {
        true => quoted(word).into(),
        false => word.into(),
    }
}

/// What stands for the folder, or for a file in it, as it can be typed.
fn in_folder(word: &str, folder: &str) -> Option<String> {
    let rest = word.strip_prefix(VALUE_NAME)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{folder}{rest}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::command::Cli;

    #[test]
    fn commands_get_the_folder_where_they_take_it() {
        let typed = |message| with_folder(&Cli::command(), message, "/srv/bank");
        let empty = "Run `holdfast db empty PH --yes`, then `holdfast load PH FILE`.";
        let expected = "Run `holdfast db empty -s /srv/bank PH --yes`, then `holdfast load \
                        -s /srv/bank PH FILE`.";
        assert_eq!(typed(empty), expected);
        assert_eq!(typed("`holdfast gen`"), "`holdfast gen -s /srv/bank`");
        assert_eq!(typed("`holdfast verify`"), "`holdfast verify /srv/bank`");
        assert_eq!(typed("`holdfast log print DIR`"), "`holdfast log print /srv/bank`");
        assert_eq!(typed("`holdfast repair --log`"), "`holdfast repair -s /srv/bank --log`");
        let national = "`holdfast recover -s DIR --set $JDB.#JP2`";
        assert_eq!(typed(national), "`holdfast recover -s /srv/bank --set '$JDB.#JP2'`");
        let value_name = "`holdfast recon change -s DIR --copy 3 --gone`";
        assert_eq!(typed(value_name), "`holdfast recon change -s /srv/bank --copy 3 --gone`");
        let file = "`holdfast restore NEW --keys DIR/holdfast.keys --copies FOLDER`";
        let expected = "`holdfast restore NEW --keys /srv/bank/holdfast.keys --copies FOLDER`";
        assert_eq!(typed(file), expected);
    }

    #[test]
    fn what_names_its_folder_or_takes_none_stays_as_it_is() {
        for message in [
            "`holdfast start -s /other`",
            "`holdfast status /other`",
            "`holdfast pgp list` shows them",
            "`holdfast what is this`",
            "an end is missing: `holdfast verify",
            "nothing of the kind",
        ] {
            assert_eq!(with_folder(&Cli::command(), message, "/srv/bank"), message);
        }
    }

    #[test]
    fn a_shell_takes_the_folder_for_one_word() {
        assert_eq!(quoted("/srv/bank-1"), "/srv/bank-1");
        assert_eq!(quoted("/srv/our bank"), "'/srv/our bank'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
