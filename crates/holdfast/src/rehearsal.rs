//! How a recovery begins: in a system in use, in one that is stopped, and in one that does not
//! start because of what is to be recovered.
//!
//! Invariants:
//! 1. What only says what would be read changes nothing: a stopped system is opened in memory.
//! 2. A data set is taken offline only if it is named for recovery, a start fails because of it,
//!    and the recovery was found to have log and image copies that prove themselves: all of that is
//!    tried in memory before.

use std::path::Path;

use seal::Passphrase;
use system::operator::{self, Request};
use system::{OpenOptions, System, SystemConfig, SystemError};

use crate::command::Context;
use crate::failure::Result;
use crate::operate::{recon_of, understood};
use crate::output::warn;
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;
use crate::recovery::{RecoverWish, Recovered};
use crate::verbs::options;
use crate::which::known_names;

/// Has the system in `dir` recover what is wished.
pub(crate) fn recover(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    wish: &RecoverWish,
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
        return Ok(rehearsed(context, dir, &passphrase, wish, &mut tell)?.1);
    }
    let system = match System::open(&context.seam, dir, &passphrase, options()) {
        Ok(system) => system,
        Err(error @ (SystemError::InUse { .. } | SystemError::Io { .. })) => {
            return Err(error.into());
        }
        Err(error) => {
            let check = RecoverWish { check: true, prove: true, ..wish.clone() };
            let (without, _) = rehearsed(context, dir, &passphrase, &check, &mut tell)?;
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
/// only.
fn rehearsed(
    context: &Context,
    dir: &Path,
    passphrase: &Passphrase,
    check: &RecoverWish,
    tell: &mut dyn FnMut(&operator::Progress),
) -> Result<(Vec<String>, Recovered)> {
    let in_memory = OpenOptions { in_memory: true, ..options() };
    let mut without: Vec<String> = Vec::new();
    loop {
        let error = match System::open_without(&context.seam, dir, passphrase, in_memory, &without)
        {
            Ok(system) => {
                let recovered = worked(dir, system, check, tell)?;
                return Ok((without, recovered));
            }
            Err(error) => error,
        };
        let is_new = |name: &&String| !without.contains(*name);
        let Some(name) = error.data_set().filter(is_new) else { return Err(error.into()) };
        // Only what is named is meant: another data set keeps the system from starting as before.
        if !known_names(&check.which, &recon_of(context, dir, passphrase)?.state).contains(name) {
            return Err(error.into());
        }
        without.push(name.clone());
    }
}

/// Recovers in an open system, and closes it in any case.
fn worked(
    dir: &Path,
    system: System,
    wish: &RecoverWish,
    tell: &mut dyn FnMut(&operator::Progress),
) -> Result<Recovered> {
    let answer = system.operate(&request(wish)?, tell);
    let closed = system.close();
    let answer = understood(dir, answer?)?;
    closed?;
    Ok(answer)
}

fn request(wish: &RecoverWish) -> Result<Request> {
    Ok(Request::new("recover").with(wish)?)
}
