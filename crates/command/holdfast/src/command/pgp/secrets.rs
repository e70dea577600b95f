//! Where the passphrases of files and keys, and the PINs of tokens, come from.
//!
//! 1. A file that is named wins over a variable of the environment, and that over being asked: by
//!    an agent if one is to be used, else on the terminal.
//! 2. An agent remembers passphrases of keys only, under the key's fingerprint, and forgets one
//!    that does not fit. PINs are never remembered: tokens lock themselves.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use facility::Secrets;
use openpgp::agent::{Agent, Question};
use openpgp::pgp::types::Password;
use openpgp::{Ask, Error, SecretKey, Tokens};
use seal::Passphrase;
use zeroize::Zeroizing;

use super::RingArgs;
use super::files::shown;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::passphrase::{
    FILE_VARIABLE, KEY_VARIABLE, NEW_VARIABLE, PIN_VARIABLE, can_ask, for_files, given_for_files,
};

/// What is asked for: where it may stand, and how a person is asked.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    file: Option<&'a Path>,
    variable: &'a str,
    prompt: &'a str,
    about: &'a str,
    cache: Option<&'a str>,
    is_new: bool,
}

impl RingArgs {
    /// What unlocks these keys; no person is asked if none of them is locked.
    pub(super) fn passphrases(
        &self,
        context: &Context,
        keys: &[SecretKey],
    ) -> Result<Vec<Password>> {
        let found = self.unlocking(context.given.key.as_ref(), keys)?;
        Ok(found.iter().map(|found| Password::from(&found[..])).collect())
    }

    fn unlocking(&self, given: Option<&Given>, keys: &[SecretKey]) -> Result<Option<Given>> {
        let mut locked = keys.iter().filter(|key| openpgp::keys::is_locked(key));
        let Some(first) = locked.next() else { return Ok(None) };
        if let (None, Some(given)) = (&self.key_passphrase_file, given) {
            return Ok(Some(given.clone()));
        }
        let name = openpgp::keys::certificate_of(first).fingerprint().to_string().to_uppercase();
        // An agent takes names of up to 50 letters.
        let cache = format!("holdfast-{}", &name[..name.len().min(40)]);
        let about = match locked.next() {
            None => format!("The secret key {name} is locked."),
            Some(_) => format!("Secret keys of the ring are locked, {name} among them."),
        };
        let found = get(self, &Wanted { about: &about, cache: Some(&cache), ..self.of_key() })?;
        let password = Password::from(found.bytes());
        if self.agent.is_some()
            && !keys.iter().any(|key| openpgp::keys::unlocks(key, &password))
            && let Ok(mut agent) = connect(self.agent.as_deref())
        {
            agent.forget(&cache)?;
        }
        Ok(Some(Zeroizing::new(found.bytes().to_vec())))
    }

    /// The passphrase that is to lock a key that is made or comes: asked for twice.
    pub(super) fn new_passphrase(&self, context: &Context) -> Result<Password> {
        if let (None, Some(given)) = (&self.key_passphrase_file, &context.given.key) {
            return Ok(Password::from(&given[..]));
        }
        let about = "Choose a passphrase that locks the secret key.";
        let found = get(self, &Wanted { about, is_new: true, ..self.of_key() })?;
        Ok(Password::from(found.bytes()))
    }

    /// The passphrase that is to take the place of another one.
    pub(super) fn other_passphrase(&self, file: Option<&Path>) -> Result<Password> {
        let about = "Choose another passphrase that locks the secret key.";
        let wanted = Wanted { file, variable: NEW_VARIABLE, about, is_new: true, ..self.of_key() };
        Ok(Password::from(get(self, &wanted)?.bytes()))
    }

    fn of_key(&self) -> Wanted<'_> {
        Wanted {
            file: self.key_passphrase_file.as_deref(),
            variable: KEY_VARIABLE,
            prompt: "Passphrase of the secret key: ",
            about: "",
            cache: None,
            is_new: false,
        }
    }

    /// The passphrase of a file; a new one is asked for twice.
    pub(super) fn file_passphrase(
        &self,
        context: &Context,
        file: Option<&Path>,
        is_new: bool,
    ) -> Result<Password> {
        if let (None, Some(given)) = (file, &context.given.file) {
            return Ok(Password::from(&given[..]));
        }
        Ok(Password::from(get(self, &Wanted { file, is_new, ..OF_FILE })?.bytes()))
    }

    /// The passphrase of files, if one is asked for or its file is named.
    pub(super) fn file_passphrases(
        &self,
        context: &Context,
        asked: bool,
        file: Option<&Path>,
        is_new: bool,
    ) -> Result<Vec<Password>> {
        match asked || file.is_some() {
            true => Ok(vec![self.file_passphrase(context, file, is_new)?]),
            false => Ok(Vec::new()),
        }
    }

    /// Who is asked for passphrases that turn out to be needed, each of them once.
    pub(super) fn asking(&self, context: &Context) -> Box<dyn Ask> {
        let Secrets { key, file, .. } = &context.given;
        let (ring, key, file) = (self.clone(), key.clone(), file.clone());
        Box::new(Asking { ring, key, file, of_keys: OnceLock::new(), of_file: OnceLock::new() })
    }

    /// The way to tokens; a PIN is asked for when one is needed.
    pub(super) fn tokens(&self, context: &Context) -> Arc<Tokens> {
        let (ring, given) = (self.clone(), context.given.keystore.clone());
        let ask = move |token: &str| {
            if let (None, Some(given)) = (&ring.pin_file, &given) {
                return Ok(Passphrase::new(given.to_vec()));
            }
            let wanted = Wanted {
                file: ring.pin_file.as_deref(),
                variable: PIN_VARIABLE,
                prompt: &format!("PIN of the token {token}: "),
                about: &format!("The token {token} keeps the key."),
                cache: None,
                is_new: false,
            };
            get(&ring, &wanted).map_err(as_error)
        };
        let module = crate::passphrase::given(self.token_module.as_ref()).map(PathBuf::as_path);
        Arc::new(Tokens::new(module, Box::new(ask)))
    }
}

/// A secret that stood in a command line or its configuration.
type Given = Zeroizing<Vec<u8>>;

const OF_FILE: Wanted<'static> = Wanted {
    file: None,
    variable: FILE_VARIABLE,
    prompt: "Passphrase of the file: ",
    about: "A file is encrypted under a passphrase.",
    cache: None,
    is_new: false,
};

/// Asks for passphrases while a message is read, and remembers them for the next one.
struct Asking {
    ring: RingArgs,
    key: Option<Given>,
    file: Option<Given>,
    of_keys: OnceLock<Option<Given>>,
    of_file: OnceLock<Option<Given>>,
}

impl Asking {
    fn file_word(&self) -> Result<Option<Given>> {
        let is_set = std::env::var_os(FILE_VARIABLE).is_some();
        match &self.file {
            Some(given) => Ok(Some(given.clone())),
            None if is_set || self.ring.agent.is_some() || can_ask() => {
                let found = get(&self.ring, &OF_FILE)?;
                Ok(Some(Zeroizing::new(found.bytes().to_vec())))
            }
            None => Ok(None),
        }
    }
}

impl Ask for Asking {
    fn for_keys(&self, locked: &[SecretKey]) -> openpgp::Result<Vec<Password>> {
        once(&self.of_keys, || self.ring.unlocking(self.key.as_ref(), locked))
    }

    fn for_message(&self) -> openpgp::Result<Vec<Password>> {
        once(&self.of_file, || self.file_word())
    }
}

/// What is known, or found and then known.
fn once(
    known: &OnceLock<Option<Given>>,
    find: impl FnOnce() -> Result<Option<Given>>,
) -> openpgp::Result<Vec<Password>> {
    let word = match known.get() {
        Some(word) => word,
        None => {
            let found = find().map_err(as_error)?;
            known.get_or_init(|| found)
        }
    };
    Ok(word.iter().map(|word| Password::from(&word[..])).collect())
}

/// No person answers.
fn as_error(failure: Failure) -> Error {
    match failure {
        Failure::Pgp(error) => error,
        Failure::Usage { what, remedy } => Error::Usage(format!("{what}. {remedy}")),
        other => {
            let (_, what, remedy) = other.parts();
            let source = std::io::Error::other(format!("{what}. {remedy}"));
            Error::Io { what: "asking for a secret".to_owned(), source }
        }
    }
}

/// Gets a secret (1).
fn get(ring: &RingArgs, wanted: &Wanted<'_>) -> Result<Passphrase> {
    if ring.agent.is_none() {
        return for_files(wanted.file, wanted.variable, wanted.prompt, wanted.is_new);
    }
    if let Some(found) = given_for_files(wanted.file, wanted.variable)? {
        return Ok(found);
    }
    let mut agent = connect(ring.agent.as_deref())?;
    let prompt = wanted.prompt.trim_end();
    let Wanted { cache, about, is_new, .. } = *wanted;
    let answer = agent.ask(&Question { cache, prompt, about, is_new })?;
    match answer.is_empty() {
        true => Err(Failure::usage("the passphrase is empty", "Choose one that nobody guesses.")),
        false => Ok(Passphrase::new(answer.to_vec())),
    }
}

/// Begins to talk to the agent at this socket; without a path, to GnuPG's own.
fn connect(socket: Option<&Path>) -> Result<Agent<UnixStream>> {
    let named = socket.filter(|path| !path.as_os_str().is_empty());
    let path = match named {
        Some(path) => path.to_owned(),
        None => usual_socket()?,
    };
    let stream = UnixStream::connect(&path).or_else(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused if named.is_none() => {
            // It is started when it is first needed, as GnuPG's own programs do.
            let mut launch = seam::process::command("gpgconf");
            let _ = seam::process::output(launch.args(["--launch", "gpg-agent"]), PATIENCE);
            UnixStream::connect(&path)
        }
        _ => Err(error),
    });
    let stream = stream.map_err(|error| {
        let what = format!("no agent answers at {}: {error}", shown(&path));
        Failure::other(what, "Start it: gpgconf --launch gpg-agent; or leave out --agent.")
    })?;
    Ok(Agent::begin(stream, &options())?)
}

/// How long GnuPG may take to start its agent, or to say where it listens.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where GnuPG says that its agent listens.
fn usual_socket() -> Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;

    let mut ask = seam::process::command("gpgconf");
    let listed = seam::process::output(ask.args(["--list-dirs", "agent-socket"]), PATIENCE);
    let path = listed.ok().filter(|listed| listed.status.success()).map(|listed| listed.stdout);
    let path = path.map(|path| path.trim_ascii_end().to_vec()).filter(|path| !path.is_empty());
    let nobody = || {
        let what = "gpgconf does not say where GnuPG's agent listens";
        Failure::other(what, "Install GnuPG, or name the agent's socket: --agent=SOCKET.")
    };
    let path = path.ok_or_else(nobody)?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(path)))
}

/// What the agent has to know to ask on the terminal or screen of this command.
fn options() -> Vec<(&'static str, String)> {
    let settings = [("ttyname", "GPG_TTY"), ("ttytype", "TERM"), ("display", "DISPLAY")];
    let settings = settings.into_iter().filter_map(|(option, variable)| {
        let value = std::env::var(variable).ok().filter(|value| !value.is_empty());
        let value = value.or_else(|| (option == "ttyname").then(terminal).flatten());
        value.map(|value| (option, value))
    });
    settings.collect()
}

/// The terminal that is the standard input, if it is one.
fn terminal() -> Option<String> {
    let path = Path::new("/proc/self/fd/0").read_link().ok()?;
    let name = path.to_str()?;
    let is_terminal = name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
    is_terminal.then(|| name.to_owned())
}
