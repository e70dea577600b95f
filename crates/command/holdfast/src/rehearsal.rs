//! How a recovery begins: in a system in use, in one that is stopped, and in one that does not
//! start because of what is to be recovered.
//!
//! Invariants:
//! 1. What only says what would be read changes nothing: a stopped system is opened in memory.
//! 2. A data set is taken offline only if it is named, a start fails because of it, and its
//!    recovery was found to have log and image copies that prove themselves, or it is given up
//!    expressly: all of that is tried in memory before.

use std::path::Path;

use seal::Passphrase;
use system::operator::{self, Request};
use system::{OpenOptions, System, SystemConfig, SystemError};

use crate::command::Context;
use crate::failure::{Failure, Result};
use crate::operate::{recon_of, understood};
use crate::output::warn;
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;
use crate::recovery::{Point, RecoverWish, Recovered};
use crate::verbs::options;
use crate::which::{Which, known_names};

/// Has the system in `dir` recover what is wished.
pub(crate) fn recover(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    wish: &RecoverWish,
    beside: &[String],
) -> Result<Recovered> {
    let mut progress = Progress::new(&context.seam);
    let mut tell = |at: &operator::Progress| {
        progress.show(&at.object, at.done, at.total, &at.unit);
    };
    SystemConfig::read(&*context.seam.disk, dir)?;
    if let Some(answer) =
        operator::call(&context.seam, dir, &request(wish)?, &mut || passphrase.get(), &mut tell)?
    {
        return understood(dir, answer);
    }
    let passphrase = passphrase.get()?;
    if wish.check {
        return Ok(rehearsed(context, dir, &passphrase, (wish, beside), &mut tell)?.1);
    }
    let system = match System::open(&context.seam, dir, &passphrase, options()) {
        Ok(system) => system,
        Err(error @ (SystemError::InUse { .. } | SystemError::Io { .. })) => {
            return Err(error.into());
        }
        Err(error) => {
            let check = RecoverWish { check: true, prove: true, ..wish.clone() };
            let (without, _) = rehearsed(context, dir, &passphrase, (&check, beside), &mut tell)?;
            if without.is_empty() {
                return Err(error.into());
            }
            warn(format!("{error}: starting without {}", without.join(", ")));
            System::open_without(&context.seam, dir, &passphrase, options(), &without)?
        }
    };
    system.notes().iter().for_each(warn);
    worked(dir, system, wish, &mut tell)
}

/// What a recovery would do, tried in memory; and the data sets that the system starts without
/// only, which are to be recovered or expressly stay offline beside them.
fn rehearsed(
    context: &Context,
    dir: &Path,
    passphrase: &Passphrase,
    (check, beside): (&RecoverWish, &[String]),
    tell: &mut dyn FnMut(&operator::Progress),
) -> Result<(Vec<String>, Recovered)> {
    // Only what is named is meant: another data set keeps the system from starting as before.
    let is_meant = |name: &String| {
        if beside.contains(name) {
            return Ok(true);
        }
        let recon = recon_of(context, dir, passphrase)?;
        Ok(known_names(&check.which, &recon.state).contains(name))
    };
    let (without, system) = in_memory(context, dir, passphrase, options(), &is_meant)?;
    let asked = asked(dir, &system, check, tell);
    let command = match (&asked, check.to) {
        (Err(_), Point::Now) => Chances::of(dir, &system, &without).command(),
        _ => None,
    };
    system.close()?;
    match asked {
        Ok(recovered) => Ok((without, recovered)),
        Err(failure) if without.is_empty() => Err(failure),
        Err(failure) => Err(failure.advised(command.unwrap_or_else(|| {
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
    fn of(dir: &Path, system: &System, names: &'n [String]) -> Chances<'n> {
        let is_sound =
            |name: &&str| asked(dir, system, &check_of(&[(*name).to_owned()]), &mut |_| ()).is_ok();
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
fn check_of(names: &[String]) -> RecoverWish {
    let which = Which { sets: names.to_vec(), ..Which::default() };
    let (to, apart) = (Point::Now, true);
    RecoverWish { which, to, check: true, prove: true, apart, wait_seconds: 0 }
}

/// The system in memory, and which of the data sets that are meant it does not start with.
fn in_memory(
    context: &Context,
    dir: &Path,
    passphrase: &Passphrase,
    options: OpenOptions,
    is_meant: &dyn Fn(&String) -> Result<bool>,
) -> Result<(Vec<String>, System)> {
    let options = OpenOptions { in_memory: true, ..options };
    let mut without: Vec<String> = Vec::new();
    loop {
        let opened = System::open_without(&context.seam, dir, passphrase, options, &without);
        let error = match opened {
            Ok(system) => return Ok((without, system)),
            Err(error) => error,
        };
        let is_new = |name: &&String| !without.contains(*name);
        let Some(name) = error.data_set().filter(is_new) else { return Err(error.into()) };
        if !is_meant(name)? {
            let more = format!("To start without {name}, too, add `--without {name}`.");
            return Err(Failure::from(error).advised(more));
        }
        without.push(name.clone());
    }
}

/// Starts the system without data sets that keep it from starting; unless they are given up
/// expressly, that is refused, with what else could be done.
pub(crate) fn start_without(
    context: &Context,
    dir: &Path,
    passphrase: &Passphrase,
    options: OpenOptions,
    named: &[String],
    gives_up: bool,
) -> Result<System> {
    let is_meant = |name: &String| Ok(named.contains(name));
    let (without, system) = in_memory(context, dir, passphrase, options, &is_meant)?;
    if let Some(name) = named.iter().find(|name| !without.contains(name)) {
        system.close()?;
        let what = format!("data set {name} does not keep the system from starting");
        return Err(Failure::other(what, format!("Leave out `--without {name}`.")));
    }
    if !gives_up {
        return Err(not_given_up(dir, &without, system));
    }
    system.close()?;
    Ok(System::open_without(&context.seam, dir, passphrase, options, &without)?)
}

/// What speaks against giving data sets up.
fn not_given_up(dir: &Path, without: &[String], system: System) -> Failure {
    let (names, again) = (without.join(", "), restart_without(without));
    let command = Chances::of(dir, &system, without).command();
    match worked(dir, system, &check_of(without), &mut |_| ()) {
        Ok(_) => {
            let sets: Vec<String> = without.iter().map(|name| format!("--set {name}")).collect();
            let what = format!("image copies and the log have all of {names}");
            let remedy = format!(
                "`holdfast recover {}` brings it back. {again} starts without it all the same; \
                 then recover it soon: without archives, the log that has it is used again once \
                 three quarters of the log are in use.",
                sets.join(" ")
            );
            Failure::other(what, remedy)
        }
        Err(failure) => {
            let first = command.map(|command| format!("{command} ")).unwrap_or_default();
            failure.within(&format!("{names} would be given up")).advised(format!(
                "If its files are elsewhere, put them back. {first}{again} starts without it: \
                 everything else can be used, and {names} comes back only by a recovery, if an \
                 image copy is found."
            ))
        }
    }
}

/// The command that gives data sets up.
fn restart_without(without: &[String]) -> String {
    let without: Vec<String> = without.iter().map(|name| format!("--without {name}")).collect();
    format!("`holdfast restart DIR {} --yes`", without.join(" "))
}

/// Recovers in an open system, and closes it in any case.
fn worked(
    dir: &Path,
    system: System,
    wish: &RecoverWish,
    tell: &mut dyn FnMut(&operator::Progress),
) -> Result<Recovered> {
    let answer = asked(dir, &system, wish, tell);
    let closed = system.close();
    let answer = answer?;
    closed?;
    Ok(answer)
}

/// Asks an open system for a recovery.
fn asked(
    dir: &Path,
    system: &System,
    wish: &RecoverWish,
    tell: &mut dyn FnMut(&operator::Progress),
) -> Result<Recovered> {
    understood(dir, system.operate(&request(wish)?, tell)?)
}

fn request(wish: &RecoverWish) -> Result<Request> {
    Ok(Request::new("recover").with(wish)?)
}
