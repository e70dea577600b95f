//! How a recovery begins: in a system in use, in one that is stopped, and in one that does not
//! start because of what is to be recovered.
//!
//! Invariants:
//! 1. What only says what would be read changes nothing: a stopped system is opened in memory.
//! 2. A data set is taken offline only if it is named, a start fails because of it, and its
//!    recovery was found to have log and image copies that prove themselves, or it is given up
//!    expressly: all of that is tried in memory before. It is not given up if its log would go.

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
    if let Some(answer) = operator::call(dir, &request(wish)?, &mut tell)? {
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
    let stays = |name: &&String| beside.contains(name);
    let chances = match asked {
        Ok(_) => Chances::of(dir, &system, without.iter().filter(stays)),
        Err(_) => Chances::of(dir, &system, without.iter()),
    };
    system.close()?;
    match asked {
        Ok(_) if !chances.fleeting.is_empty() => Err(chances.refusal(&without)),
        Ok(recovered) => Ok((without, recovered)),
        Err(failure) if without.is_empty() => Err(failure),
        Err(failure) => Err(match chances.command(&without) {
            Some(command) if matches!(check.to, Point::Now) => failure.advised(command),
            _ => failure.advised(format!(
                "If nothing brings {} back, {} starts without.",
                without.join(", "),
                restart_without(&without)
            )),
        }),
    }
}

/// What can be had back of data sets that a system starts without.
#[derive(Default)]
struct Chances {
    /// Those that image copies and the log bring back.
    sound: Vec<String>,
    /// Those of them whose log such a start lets go, for no archive has it.
    fleeting: Vec<String>,
}

impl Chances {
    /// Tries each in a system in memory.
    fn of<'n>(dir: &Path, system: &System, names: impl Iterator<Item = &'n String>) -> Chances {
        let newest = system.kernel().log().segments().last().map_or(0, |segment| segment.first.0);
        let is_kept = system.config().archive(system.dir()).is_some();
        let mut chances = Chances::default();
        for name in names {
            let check = check_of(std::slice::from_ref(name));
            let Ok(recovered) = asked(dir, system, &check, &mut |_| ()) else { continue };
            chances.sound.push(name.clone());
            if !is_kept && recovered.log_from < newest {
                chances.fleeting.push(name.clone());
            }
        }
        chances
    }

    /// What recovers those that can be, while the others stay offline; nothing if there are not
    /// both.
    fn command(&self, without: &[String]) -> Option<String> {
        let others: Vec<&String> =
            without.iter().filter(|name| !self.sound.contains(name)).collect();
        if self.sound.is_empty() || others.is_empty() {
            return None;
        }
        let left = others.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        Some(format!(
            "{} brings back {} and starts the system; {left} stays offline until an image copy is \
             found, or it is made anew.",
            self.recover(&others),
            self.sound.join(", ")
        ))
    }

    /// The recovery of those that can be.
    fn recover(&self, others: &[&String]) -> String {
        let sets = self.sound.iter().map(|name| format!(" --set {name}"));
        let without = others.iter().map(|name| format!(" --without {name}"));
        format!("`holdfast recover{}`", sets.chain(without).collect::<String>())
    }

    /// What speaks against a start that lets go what brings data sets back.
    fn refusal(&self, without: &[String]) -> Failure {
        let names = self.fleeting.join(", ");
        let remedy = self.command(without).unwrap_or_else(|| {
            format!("{} brings it back and starts the system.", self.recover(&[]))
        });
        Failure::other(
            format!(
                "image copies and the log have all of {names}, and a start without it lets the log \
                 go that its recovery needs"
            ),
            remedy,
        )
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
    let chances = Chances::of(dir, &system, without.iter());
    if gives_up && !chances.fleeting.is_empty() {
        system.close()?;
        return Err(chances.refusal(&without));
    }
    if !gives_up {
        return Err(not_given_up(dir, &without, &chances, system));
    }
    system.close()?;
    Ok(System::open_without(&context.seam, dir, passphrase, options, &without)?)
}

/// What speaks against giving data sets up.
fn not_given_up(dir: &Path, without: &[String], chances: &Chances, system: System) -> Failure {
    let again = restart_without(without);
    let tried = worked(dir, system, &check_of(without), &mut |_| ());
    if !chances.fleeting.is_empty() {
        return chances.refusal(without);
    }
    let names = without.join(", ");
    let failure = match tried {
        Err(failure) => failure,
        Ok(_) => {
            let sets: Vec<String> = without.iter().map(|name| format!("--set {name}")).collect();
            let what = format!("image copies and the log have all of {names}");
            let remedy = format!(
                "`holdfast recover {}` brings it back. {again} starts without it all the same; \
                 then recover it at once: the log is used again, and what no archive has is lost.",
                sets.join(" ")
            );
            return Failure::other(what, remedy);
        }
    };
    let first = chances.command(without).map(|command| format!("{command} "));
    failure.within(&format!("{names} would be given up")).advised(format!(
        "If its files are elsewhere, put them back. {}{again} starts without it: everything \
         else can be used, and {names} comes back only by a recovery, if an image copy is \
         found.",
        first.unwrap_or_default()
    ))
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
