//! How a recovery begins: in a system in use, in one that is stopped, and in one that does not
//! start because of what is to be recovered.
//!
//! Invariants:
//! 1. What only says what would be read changes nothing: a stopped system is opened in memory.
//! 2. A data set is taken offline only if it is named, a start fails because of it, and its
//!    recovery was found to have log and image copies that prove themselves, or it is given up
//!    expressly: all of that is tried in memory before.

use std::path::Path;
use std::sync::Arc;

use seal::Passphrase;
use seam::Seam;
use system::operator::{self, Progress, Refusal};
use system::{OpenOptions, System, SystemConfig, SystemError};

use crate::recover::{self, Point, RecoverRequest, Recovered};
use crate::selection::{Selection, known_names};
use crate::verbs::{Operation, answer_of};
use crate::{OperationsError, Result};

/// A system in a folder, which this process does not have open.
#[derive(Clone, Copy)]
pub struct Site<'s> {
    /// Disk, clock, entropy.
    pub seam: &'s Seam,
    /// Its folder.
    pub dir: &'s Path,
    /// How it is opened.
    pub options: OpenOptions,
}

/// Has the system recover what is requested: the process that has it open, or, if there is none,
/// this one, which may have to start it without what is named or stands in `beside`.
///
/// # Errors
/// As [`recover::recover`], and what keeps the system from starting.
pub fn recover<E: From<Refusal> + From<OperationsError>>(
    site: Site<'_>,
    passphrase: &mut dyn FnMut() -> std::result::Result<Passphrase, E>,
    request: &RecoverRequest,
    beside: &[String],
    tell: &mut dyn FnMut(&Progress),
) -> std::result::Result<Recovered, E> {
    let Site { seam, dir, .. } = site;
    SystemConfig::read(&*seam.disk, dir).map_err(OperationsError::from)?;
    let asked = Operation::Recover(request.clone()).request()?;
    if let Some(answer) = operator::call(seam, dir, &asked, &mut *passphrase, &mut *tell)? {
        return Ok(answer_of(dir, answer)?);
    }
    Ok(recover_stopped(site, &passphrase()?, request, beside, tell)?)
}

/// Recovers in a system that no process has open.
///
/// # Errors
/// As [`recover()`].
pub fn recover_stopped(
    site: Site<'_>,
    passphrase: &Passphrase,
    request: &RecoverRequest,
    beside: &[String],
    tell: &mut dyn FnMut(&Progress),
) -> Result<Recovered> {
    let Site { seam, dir, options } = site;
    if request.check {
        return Ok(try_in_memory(site, passphrase, (request, beside), tell)?.1);
    }
    let system = match System::open(seam, dir, passphrase, options) {
        Ok(system) => system,
        Err(error @ (SystemError::InUse { .. } | SystemError::Io { .. })) => {
            return Err(error.into());
        }
        Err(error) => {
            let check = RecoverRequest { check: true, prove: true, ..request.clone() };
            let (without, _) = try_in_memory(site, passphrase, (&check, beside), tell)?;
            if without.is_empty() {
                return Err(error.into());
            }
            (options.notice)(&format!("{error}: starting without {}", without.join(", ")));
            System::open_without(seam, dir, passphrase, options, &without)?
        }
    };
    system.notes().iter().for_each(|note| (options.notice)(note));
    recover_and_close(system, request, tell)
}

/// What RECON says, read from its files; the system may be damaged, or in use.
///
/// # Errors
/// What cannot be read; a passphrase that does not fit.
pub fn recon_of(seam: &Seam, dir: &Path, passphrase: &Passphrase) -> Result<recon::Reading> {
    let config = SystemConfig::read(&*seam.disk, dir)?;
    let keys = Arc::new(system::read_keyset(seam, dir, passphrase)?);
    Ok(recon::read(&system::recon_setup(seam, dir, &config, keys))?)
}

/// What a recovery would do, tried in memory; and the data sets that the system starts without
/// only, which are to be recovered or expressly stay offline beside them.
fn try_in_memory(
    site: Site<'_>,
    passphrase: &Passphrase,
    (check, beside): (&RecoverRequest, &[String]),
    tell: &mut dyn FnMut(&Progress),
) -> Result<(Vec<String>, Recovered)> {
    // Only what is named is meant: another data set keeps the system from starting as before.
    let is_meant = |name: &String| {
        if beside.contains(name) {
            return Ok(true);
        }
        let recon = recon_of(site.seam, site.dir, passphrase)?;
        Ok(known_names(&check.which, &recon.state).contains(name))
    };
    let (without, system) = in_memory(site, passphrase, &is_meant)?;
    let tried = recover_in(&system, check, tell);
    let command = match (&tried, check.to) {
        (Err(_), Point::Now) => Chances::of(&system, &without).command(),
        _ => None,
    };
    system.close()?;
    match tried {
        Ok(recovered) => Ok((without, recovered)),
        Err(error) if without.is_empty() => Err(error),
        Err(error) => Err(error.advised(command.unwrap_or_else(|| {
            let again = restart_without(&without);
            format!("If nothing brings {} back, {again} starts without.", without.join(", "))
        }))),
    }
}

/// What can be had back of data sets that a system starts without.
struct Chances<'n> {
    /// Those that image copies and the log bring back.
    sound: Vec<&'n str>,
    others: Vec<&'n str>,
}

impl<'n> Chances<'n> {
    /// Tries each in a system in memory.
    fn of(system: &System, names: &'n [String]) -> Chances<'n> {
        let is_sound =
            |name: &&str| recover_in(system, &check_of(&[(*name).to_owned()]), &mut |_| ()).is_ok();
        let (sound, others) = names.iter().map(String::as_str).partition(is_sound);
        Chances { sound, others }
    }

    /// What recovers those that can be, while the others stay offline; nothing if there are not
    /// both.
    fn command(&self) -> Option<String> {
        if self.sound.is_empty() || self.others.is_empty() {
            return None;
        }
        let sets = self.sound.iter().map(|name| format!(" --set {name}"));
        let without = self.others.iter().map(|name| format!(" --without {name}"));
        Some(format!(
            "`holdfast recover{}` brings back {} and starts the system; {} stays offline until an \
             image copy is found, or it is made anew.",
            sets.chain(without).collect::<String>(),
            self.sound.join(", "),
            self.others.join(", "),
        ))
    }
}

/// What asks whether data sets could be recovered.
fn check_of(names: &[String]) -> RecoverRequest {
    let which = Selection { sets: names.to_vec(), ..Selection::default() };
    let (to, apart) = (Point::Now, true);
    RecoverRequest { which, to, check: true, prove: true, apart, wait_seconds: 0 }
}

/// The system in memory, and which of the data sets that are meant it does not start with.
fn in_memory(
    site: Site<'_>,
    passphrase: &Passphrase,
    is_meant: &dyn Fn(&String) -> Result<bool>,
) -> Result<(Vec<String>, System)> {
    let options = OpenOptions { in_memory: true, ..site.options };
    let mut without: Vec<String> = Vec::new();
    loop {
        let opened = System::open_without(site.seam, site.dir, passphrase, options, &without);
        let error = match opened {
            Ok(system) => return Ok((without, system)),
            Err(error) => error,
        };
        let is_new = |name: &&String| !without.contains(*name);
        let Some(name) = error.data_set().filter(is_new).cloned() else {
            return Err(error.into());
        };
        if !is_meant(&name)? {
            let more = format!("To start without {name}, too, add `--without {name}`.");
            return Err(OperationsError::from(error).advised(more));
        }
        without.push(name);
    }
}

/// Starts the system without data sets that keep it from starting; unless they are given up
/// expressly, that is refused, with what else could be done.
///
/// # Errors
/// A data set that is named and keeps nothing from starting; what else keeps it; that they are not
/// given up.
pub fn start_without(
    site: Site<'_>,
    passphrase: &Passphrase,
    named: &[String],
    gives_up: bool,
) -> Result<System> {
    let is_meant = |name: &String| Ok(named.contains(name));
    let (without, system) = in_memory(site, passphrase, &is_meant)?;
    if let Some(set) = named.iter().find(|name| !without.contains(name)) {
        system.close()?;
        return Err(OperationsError::KeepsNothing { set: set.clone() });
    }
    if !gives_up {
        return Err(not_given_up(without, system));
    }
    system.close()?;
    Ok(System::open_without(site.seam, site.dir, passphrase, site.options, &without)?)
}

/// What speaks against giving data sets up.
fn not_given_up(without: Vec<String>, system: System) -> OperationsError {
    let (names, again) = (without.join(", "), restart_without(&without));
    let command = Chances::of(&system, &without).command();
    match recover_and_close(system, &check_of(&without), &mut |_| ()) {
        Ok(_) => OperationsError::Recoverable { sets: without, again },
        Err(error) => {
            let first = command.map(|command| format!("{command} ")).unwrap_or_default();
            let more = format!(
                "If its files are elsewhere, put them back. {first}{again} starts without it: \
                 everything else can be used, and {names} comes back only by a recovery, if an \
                 image copy is found."
            );
            OperationsError::NotConfirmed { sets: names, error: Box::new(error) }.advised(more)
        }
    }
}

/// The command that gives data sets up.
fn restart_without(without: &[String]) -> String {
    let without: Vec<String> = without.iter().map(|name| format!("--without {name}")).collect();
    format!("`holdfast restart DIR {} --yes`", without.join(" "))
}

/// Recovers in an open system, and closes it in any case.
fn recover_and_close(
    system: System,
    request: &RecoverRequest,
    tell: &mut dyn FnMut(&Progress),
) -> Result<Recovered> {
    let recovered = recover_in(&system, request, tell);
    let closed = system.close();
    let recovered = recovered?;
    closed?;
    Ok(recovered)
}

/// Recovers in an open system.
fn recover_in(
    system: &System,
    request: &RecoverRequest,
    tell: &mut dyn FnMut(&Progress),
) -> Result<Recovered> {
    system.reporting(tell, |talk| recover::recover(system, request, talk))
}
