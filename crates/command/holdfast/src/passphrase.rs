//! Where passphrases come from: a file, a variable of the environment, or a person.
//!
//! 1. They are never shown and stand in no error.
//! 2. One line end at the end of a file does not belong to the passphrase; everything else does.
//! 3. Without a file and a variable a person is asked, if there is a terminal to ask on.
//! 4. What is typed for a token is its PIN; which library reaches it is said here, and nowhere in
//!    a system's folder.
//! 5. A program's process gets none of this from its environment (K22): what it has to open is
//!    handed over in memory, and taken before the program is loaded.
//! 6. What a session holds is the key that was stretched from a passphrase, never what was typed,
//!    and it opens a system for programs alone: what changes keys or forms wants the passphrase.

use std::io::{IsTerminal as _, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use region::Handover;
use seal::Passphrase;
use seam::Seam;
use token::Pkcs11;

use crate::failure::{Failure, Result};
use crate::output::{is_watched, warn};

/// The arguments of every command that opens a key file.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PassphraseArgs {
    /// Read the passphrase from this file; otherwise from the variable HOLDFAST_PASSPHRASE, or
    /// from the terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// The PKCS#11 library of the token that protects the keys; the passphrase is its PIN then
    #[arg(
        long, value_name = "FILE", env = MODULE_VARIABLE, hide_env_values = true,
        value_parser = perhaps_empty()
    )]
    pub(crate) token_module: Option<PathBuf>,
}

/// The variable of the environment that may hold the passphrase.
const VARIABLE: &str = "HOLDFAST_PASSPHRASE";
pub(crate) const NEW_VARIABLE: &str = "HOLDFAST_NEW_PASSPHRASE";
/// Those of files at rest, and of keys for them.
pub(crate) const FILE_VARIABLE: &str = "HOLDFAST_PGP_PASSPHRASE";
pub(crate) const KEY_VARIABLE: &str = "HOLDFAST_PGP_KEY_PASSPHRASE";
pub(crate) const PIN_VARIABLE: &str = "HOLDFAST_PGP_PIN";
pub(crate) const KEYSTORE_VARIABLE: &str = "HOLDFAST_PGP_KEYSTORE_PASSPHRASE";
/// The one that may say how tokens are reached.
pub(crate) const MODULE_VARIABLE: &str = "HOLDFAST_TOKEN_MODULE";
/// The option of a program's process that says where its passphrase is.
pub(crate) const HANDED: &str = "--handed";
/// No passphrase is longer.
const BYTES_MAX: u64 = 64 << 10;

/// Reads a path that may be empty: a variable of the environment that is, is as good as none.
pub(crate) fn perhaps_empty() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// A path that was given, and is not empty.
pub(crate) fn given(path: Option<&PathBuf>) -> Option<&PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty())
}

impl PassphraseArgs {
    /// The passphrase of a system that there is.
    pub(crate) fn get(&self) -> Result<Passphrase> {
        let found = find(self.passphrase_file.as_deref(), VARIABLE, || ask("Passphrase: "))?;
        Ok(self.with_token(found))
    }

    /// The same for a step of a night's work: where neither a file nor the variable says it, what
    /// the session holds for the system is taken in its place (6).
    pub(crate) fn get_for(&self, seam: &Seam, dir: &Path) -> Result<Passphrase> {
        let is_said = self.passphrase_file.is_some() || std::env::var_os(VARIABLE).is_some();
        match if is_said { None } else { held(seam, dir)? } {
            Some(held) => Ok(held),
            None => self.get(),
        }
    }

    /// The passphrase of a system that is being made: typed twice.
    pub(crate) fn choose(&self) -> Result<Passphrase> {
        Ok(self.with_token(find(self.passphrase_file.as_deref(), VARIABLE, ask_twice)?))
    }

    /// The PIN of the token that is to protect the keys from now on.
    pub(crate) fn choose_pin(&self, file: Option<&Path>) -> Result<Passphrase> {
        Ok(self.with_token(find_as("pin", file, NEW_VARIABLE, || ask("PIN of the token: "))?))
    }

    /// The same with the way to tokens, if there is one.
    fn with_token(&self, secret: Passphrase) -> Passphrase {
        reach_tokens(secret, given(self.token_module.as_ref()).map(PathBuf::as_path))
    }
}

/// What the session holds in place of the passphrase of a system, if it does. A kernel without
/// keyrings holds nothing.
fn held(seam: &Seam, dir: &Path) -> Result<Option<Passphrase>> {
    let Some(name) = system::session_name(seam, dir)? else { return Ok(None) };
    Ok(seam::keyring::held(&name).ok().flatten().map(Passphrase::from_bytes))
}

/// Hands a passphrase to the process that a command will start, which may see no other.
pub(crate) fn hand_over(
    command: &mut Command,
    passphrase: &Passphrase,
    module: Option<&Path>,
) -> Result<Handover> {
    let handover = Handover::new(&passphrase.to_bytes())?;
    command.arg(HANDED).arg(handover.number().to_string());
    if let Some(module) = module {
        command.env(MODULE_VARIABLE, module);
    }
    Ok(handover)
}

/// The passphrase that was handed to this process under a number.
pub(crate) fn handed(number: i32) -> Result<Passphrase> {
    let module = std::env::var_os(MODULE_VARIABLE).map(PathBuf::from);
    Ok(reach_tokens(Passphrase::from_bytes(Handover::take(number)?), module.as_deref()))
}

fn reach_tokens(secret: Passphrase, module: Option<&Path>) -> Passphrase {
    match module {
        Some(module) => secret.with_token(Arc::new(Pkcs11::new(module))),
        None => secret,
    }
}

/// A passphrase that is to replace another one.
pub(crate) fn choose_new(file: Option<&Path>) -> Result<Passphrase> {
    find(file, NEW_VARIABLE, ask_twice)
}

/// A passphrase of a file at rest or of a key for such files: from a file, a variable, or a person,
/// who types one that is new twice.
pub(crate) fn for_files(
    file: Option<&Path>,
    variable: &str,
    prompt: &str,
    is_new: bool,
) -> Result<Passphrase> {
    find(file, variable, || if is_new { ask_twice() } else { ask(prompt) })
}

/// The same, from a file or a variable, if either is there.
pub(crate) fn given_for_files(file: Option<&Path>, variable: &str) -> Result<Option<Passphrase>> {
    match file.is_some() || std::env::var_os(variable).is_some() {
        true => find(file, variable, || ask("")).map(Some),
        false => Ok(None),
    }
}

/// Whether there is a terminal to ask on.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() || is_watched()
}

/// A secret of which its variable tells the option that names its file.
fn find(
    file: Option<&Path>,
    variable: &str,
    ask: impl FnOnce() -> std::result::Result<Passphrase, Unanswered>,
) -> Result<Passphrase> {
    let option = match variable {
        NEW_VARIABLE => "new-passphrase",
        KEY_VARIABLE => "key-passphrase",
        KEYSTORE_VARIABLE => "keystore-passphrase",
        PIN_VARIABLE => "pin",
        _ => "passphrase",
    };
    find_as(option, file, variable, ask)
}

/// A secret from the file that the option `--OPTION-file` has named, from a variable, or a person.
fn find_as(
    option: &str,
    file: Option<&Path>,
    variable: &str,
    ask: impl FnOnce() -> std::result::Result<Passphrase, Unanswered>,
) -> Result<Passphrase> {
    let secret = if option == "pin" { "PIN" } else { "passphrase" };
    let passphrase = match (file, std::env::var_os(variable)) {
        (Some(path), _) => read(path)?,
        (None, Some(value)) => Passphrase::new(value.into_encoded_bytes()),
        // What is asked goes to the terminal and comes from there, whatever the input is.
        (None, None) if can_ask() => ask().map_err(|why| match why {
            Unanswered::Differ => {
                Failure::usage(format!("the two {secret}s differ"), "Type the same one twice.")
            }
            Unanswered::No(error) => Failure::usage(
                format!("nobody has typed the {secret} that is needed: {error}"),
                format!("Type it, or give --{option}-file FILE, or set {variable}."),
            ),
        })?,
        (None, None) => {
            return Err(Failure::usage(
                format!("a {secret} is needed, and there is no terminal to ask on"),
                format!("Give --{option}-file FILE, or set {variable}."),
            ));
        }
    };
    match passphrase.is_empty() {
        true => {
            let remedy = "Choose one that nobody guesses.";
            Err(Failure::usage(format!("the {secret} is empty"), remedy))
        }
        false => Ok(passphrase),
    }
}

/// Whether others than its owner can read a file.
pub(crate) fn others_read(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.permissions().mode() & 0o077 != 0)
}

/// Reads a file, or what a shell puts in place of one.
fn read(path: &Path) -> Result<Passphrase> {
    let failed = |error| {
        let what = format!("the passphrase cannot be read from {}: {error}", path.display());
        Failure::other(what, "Check the path and the permissions of the file.")
    };
    // An input of the command, perhaps a pipe: not a file of a system.
    #[allow(clippy::disallowed_methods)]
    let file = std::fs::File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if about.is_file() && about.permissions().mode() & 0o077 != 0 {
        warn(format!("{} can be read by others than its owner", path.display()));
    }
    // Room for all of it at once, so that growing leaves no copy behind.
    let mut bytes = Vec::with_capacity(BYTES_MAX as usize + 1);
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > BYTES_MAX {
        let what = format!("{} is too long to be a passphrase", path.display());
        return Err(Failure::usage(what, "Name the file that holds the passphrase alone."));
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    Ok(Passphrase::new(bytes))
}

/// Why a person who was asked has not given a secret.
enum Unanswered {
    /// It was typed differently the second time.
    Differ,
    /// The terminal says why.
    No(std::io::Error),
}

fn ask(prompt: &str) -> std::result::Result<Passphrase, Unanswered> {
    let typed = typed(prompt)?;
    Ok(Passphrase::new(typed))
}

fn ask_twice() -> std::result::Result<Passphrase, Unanswered> {
    let (first, again) = (typed("New passphrase: ")?, typed("Once more: ")?);
    let same = first == again;
    // Both are wiped, whatever happens.
    let (first, _again) = (Passphrase::new(first), Passphrase::new(again));
    match same {
        true => Ok(first),
        false => Err(Unanswered::Differ),
    }
}

fn typed(prompt: &str) -> std::result::Result<Vec<u8>, Unanswered> {
    rpassword::prompt_password(prompt).map(String::into_bytes).map_err(Unanswered::No)
}
