//! Transactions of a system: its transaction manager, and what operators say to it.
//!
//! A started system has its transaction manager open and attached ([`start`]); of a stopped one it
//! is opened for the time of one request, so that resources can be defined before the first start.
//!
//! Invariants:
//! 1. A system has one transaction manager at a time: the attached one, if there is one.

use std::path::Path;
use std::sync::Arc;

use control::{Anonymous, Control, DatabaseState, NoSystem, Options, Profile};
use definitions::MemberName;
use macros::Folders;
use otma::Name;
use resources::{Change, Definition, Kind, Parsed};
use seam::sync::Mutex;
use serde::{Deserialize, Serialize};
use store::Store as _;
use store_any::AnyStore;
use system::{OnlineSettings, System};

use crate::{OperationsError, Result};

/// The transaction manager of a system.
pub type TransactionManager = Control<AnyStore>;

/// A command of an operator: of type 1 (`/DISPLAY TRAN ALL`) or 2 (`QUERY TRAN NAME(*)`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CommandRequest {
    /// The command.
    pub text: String,
}

/// What a command answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commanded {
    /// The lines, as a terminal shows them.
    pub lines: Vec<String>,
    /// Whether it was carried out.
    pub done: bool,
}

/// Definition files to be taken in, all of them or none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DefineRequest {
    /// The files.
    pub files: Vec<DefinitionFile>,
    /// Only say what is wrong.
    pub check: bool,
}

/// A definition file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DefinitionFile {
    /// Its name, for messages.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// What became of definition files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defined {
    /// The definitions as commands, in their order.
    pub changes: Vec<String>,
    /// What is to be said of the files.
    pub diagnostics: Vec<String>,
    /// How many of these are errors; with any nothing was stored.
    pub errors: usize,
    /// Whether the definitions are stored.
    pub stored: bool,
}

/// A user to be defined or removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UserRequest {
    /// The user.
    pub user: String,
    /// The password; none removes the user.
    pub password: Option<String>,
}

/// What a started system keeps of its transaction manager.
struct Attached(Mutex<Option<TransactionManager>>);

/// Opens the transaction manager of a system that starts, and attaches it.
///
/// # Errors
/// If what the system keeps of messages or resources cannot be read.
pub fn start(
    system: &System,
    machine: Arc<dyn control::System>,
    options: Options,
) -> Result<TransactionManager> {
    let manager = Control::open(&store_of(system), system.kernel().seam(), machine, options)?;
    system.attach(Arc::new(Attached(Mutex::new(Some(manager.clone())))));
    Ok(manager)
}

/// The transaction manager of a started system, which knows its users: the attached one; one that
/// is opened and attached for them, if there are no transactions.
///
/// # Errors
/// If what the system keeps of users cannot be read.
pub fn users(system: &System) -> Result<TransactionManager> {
    let attached = system.attached::<Attached>();
    match attached.and_then(|attached| attached.0.lock().clone()) {
        Some(manager) => Ok(manager),
        None => start(system, Arc::new(NoSystem), options(&system.config().online)),
    }
}

/// Lets go of the transaction manager of a system that stops.
pub fn stop(system: &System) {
    system.detach();
}

/// How a transaction manager behaves by the settings of its system.
#[must_use]
pub fn options(settings: &OnlineSettings) -> Options {
    let name = Name::new(&settings.data_store);
    Options {
        data_stores: name.into_iter().collect(),
        // The door keeps to this machine while no user needs a name.
        anonymous: match settings.anonymous {
            true => Anonymous::Always,
            false => Anonymous::WithoutUsers,
        },
        any_terminal: true,
        ..Options::default()
    }
}

/// Whether anything was ever defined for transactions in a system.
///
/// # Errors
/// If the store cannot be asked.
pub fn are_there(system: &System) -> Result<bool> {
    Ok(system.store().set(resources::SET)?.is_some())
}

/// The store of a system, as databases have it.
fn store_of(system: &System) -> AnyStore {
    AnyStore::Kernel(system.store().clone())
}

/// Lends the transaction manager.
fn with<T>(system: &System, work: impl FnOnce(&TransactionManager) -> Result<T>) -> Result<T> {
    let attached = system.attached::<Attached>();
    let own = attached.and_then(|attached| attached.0.lock().clone());
    match own {
        Some(manager) => work(&manager),
        None => {
            let options = options(&system.config().online);
            let seam = system.kernel().seam();
            work(&Control::open(&store_of(system), seam, Arc::new(NoSystem), options)?)
        }
    }
}

/// Carries out an operator's command.
///
/// # Errors
/// If the transaction manager cannot be opened.
pub fn command(system: &System, asked: &CommandRequest) -> Result<Commanded> {
    let text = asked.text.trim();
    with(system, |manager| {
        if text.starts_with('/') {
            let answered = manager.command(text, Name::BLANK);
            return Ok(Commanded { lines: answered.lines, done: answered.done });
        }
        if let Some(answer) = profiles(manager, text)? {
            return Ok(answer);
        }
        if let Some(rest) = query(text) {
            return Ok(list(manager, rest));
        }
        let parsed = resources::read(Path::new("command"), text.as_bytes(), &no_members());
        if parsed.has_errors() || parsed.changes.is_empty() {
            let mut lines: Vec<String> = shown(&parsed);
            if lines.is_empty() {
                lines.push(format!("{text}: no command"));
            }
            return Ok(Commanded { lines, done: false });
        }
        Ok(match manager.apply(&parsed.changes) {
            Ok(count) => {
                Commanded { lines: vec![format!("resources changed: {count}")], done: true }
            }
            Err(error) => Commanded { lines: vec![error.to_string()], done: false },
        })
    })
}

/// Commands about profiles: `PERMIT class resource names...`, `UNPROTECT class resource`, `QUERY
/// PROFILE`; none if it is another one.
fn profiles(manager: &TransactionManager, text: &str) -> Result<Option<Commanded>> {
    let upper = text.to_ascii_uppercase();
    let words: Vec<&str> = upper.split_whitespace().collect();
    let done = |line: String| Commanded { lines: vec![line], done: true };
    let wrong = |line: &str| Commanded { lines: vec![line.to_owned()], done: false };
    let name = |word: &&str| Name::new(word);
    Ok(Some(match words.as_slice() {
        ["QUERY" | "QRY", "PROFILE"] => {
            let all = manager.profiles();
            let shown = all.iter().map(|one| {
                let names: Vec<String> = one.permitted.iter().map(|name| name.text()).collect();
                format!("PERMIT {} {} {}", one.class, one.resource, names.join(" "))
            });
            Commanded { lines: shown.map(|line| line.trim_end().to_owned()).collect(), done: true }
        }
        ["PERMIT", class, resource, names @ ..] => {
            let permitted: Option<Vec<Name>> = names.iter().map(name).collect();
            let (Some(class), Some(resource), Some(permitted)) =
                (name(class), name(resource), permitted)
            else {
                return Ok(Some(wrong("a class, a resource, a user have up to 8 characters")));
            };
            manager.protect(&Profile { class, resource, permitted })?;
            done(format!("protected: {class} {resource}"))
        }
        ["UNPROTECT", class, resource] => match (name(class), name(resource)) {
            (Some(class), Some(resource)) if manager.unprotect(class, resource)? => {
                done(format!("protected no more: {class} {resource}"))
            }
            _ => wrong("there is no such profile; QUERY PROFILE shows those that there are"),
        },
        ["PERMIT" | "UNPROTECT", ..] => {
            wrong("write PERMIT CLASS RESOURCE USERS AND GROUPS, or UNPROTECT CLASS RESOURCE")
        }
        _ => return Ok(None),
    }))
}

/// What `QUERY TRAN NAME(mask)` asks for: a kind and a mask.
fn query(text: &str) -> Option<(Kind, String)> {
    let upper = text.to_ascii_uppercase();
    let mut words = upper.split_whitespace();
    matches!(words.next(), Some("QUERY" | "QRY")).then_some(())?;
    let kind = Kind::of_word(words.next()?)?;
    let rest: String = words.collect();
    let name = rest.strip_prefix("NAME(").and_then(|rest| rest.split(')').next());
    Some((kind, name.unwrap_or("*").to_owned()))
}

fn list(manager: &TransactionManager, (kind, mask): (Kind, String)) -> Commanded {
    let found = manager.resources(kind, &mask);
    let done = !found.is_empty();
    let mut lines: Vec<String> = found.iter().map(Definition::command).collect();
    if !done {
        lines.push(format!("no {} fits {mask}", kind.word()));
    }
    Commanded { lines, done }
}

/// Takes definition files in: all of them or none.
///
/// # Errors
/// If the transaction manager cannot be opened, or the store fails.
pub fn define(system: &System, asked: &DefineRequest) -> Result<Defined> {
    let mut defined =
        Defined { changes: Vec::new(), diagnostics: Vec::new(), errors: 0, stored: false };
    let mut changes = Vec::new();
    for file in &asked.files {
        let name = Path::new(&file.name);
        let parsed = resources::read(name, file.text.as_bytes(), &no_members());
        let is_error = |one: &&resources::Diagnostic| one.severity == resources::Severity::Error;
        defined.errors += parsed.diagnostics.iter().filter(is_error).count();
        defined.diagnostics.extend(shown(&parsed));
        changes.extend(parsed.changes.into_iter().map(replacing));
    }
    defined.changes = changes.iter().map(command_of).collect();
    if defined.errors > 0 || asked.check {
        return Ok(defined);
    }
    with(system, |manager| {
        match manager.apply(&changes) {
            Ok(_) => defined.stored = true,
            Err(control::ControlError::Resource(error)) => {
                defined.errors += 1;
                defined.diagnostics.push(error.to_string());
            }
            Err(error) => return Err(OperationsError::from(error)),
        }
        Ok(defined)
    })
}

/// Defines a user, gives one another password, or removes one; answers whether there is anything
/// that it changed.
///
/// # Errors
/// If the name is none, or the store fails.
pub fn user(system: &System, asked: &UserRequest) -> Result<bool> {
    let name = Name::new(&asked.user.to_ascii_uppercase()).filter(|name| !name.is_blank());
    let name = name.ok_or_else(|| OperationsError::UserName(asked.user.clone()))?;
    with(system, |manager| match &asked.password {
        Some(password) => {
            manager.put_user(name, password.as_bytes())?;
            Ok(true)
        }
        None => Ok(manager.remove_user(name)?),
    })
}

/// Whether a user may use a system's files from another machine. Only a system that processes
/// transactions has users.
#[must_use]
pub fn knows_user(manager: &TransactionManager, user: &str, password: &[u8]) -> bool {
    use otma::Manager as _;
    let name = Name::new(&user.to_ascii_uppercase()).filter(|name| !name.is_blank());
    name.is_some_and(|name| manager.authenticate(name, Name::BLANK, password).is_ok())
}

/// A definition file says what is to be, whatever was.
fn replacing(change: Change) -> Change {
    match change {
        Change::Create(one) => Change::Put(one),
        other => other,
    }
}

fn no_members() -> Folders {
    Folders::new(Vec::new())
}

fn shown(parsed: &Parsed) -> Vec<String> {
    parsed.diagnostics.iter().map(ToString::to_string).collect()
}

/// A change as the command that asks for it.
fn command_of(change: &Change) -> String {
    match change {
        Change::Create(one) | Change::Put(one) => one.command(),
        Change::Update { kind, name, settings } => {
            let all: Vec<String> =
                settings.iter().map(|(name, value)| format!("{name}({value})")).collect();
            format!("UPDATE {} NAME({name}) SET({})", kind.word(), all.join(","))
        }
        Change::Delete { kind, name } => format!("DELETE {} NAME({name})", kind.word()),
    }
}

/// The databases of a system, as operators' commands show them.
#[must_use]
pub fn database_states(databases: &crate::Databases<AnyStore>) -> Vec<DatabaseState> {
    let state = |name: String| DatabaseState {
        name,
        kind: "DL/I".to_owned(),
        access: "UP".to_owned(),
        conditions: Vec::new(),
    };
    let names = databases.repository.names().filter_map(|member| match member {
        MemberName::Dbd(name) => Some(name.text().to_owned()),
        MemberName::Psb(_) => None,
    });
    names.map(state).collect()
}
