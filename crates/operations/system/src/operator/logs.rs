//! The verbs of the log.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wal::{CopyInfo, LogError};

use super::{Refusal, Talk, USAGE};
use crate::{System, SystemConfig, SystemError};

/// So often, and after such pauses, it is seen whether a lost copy is still written to.
const BUSY_LOOKS: u32 = 50;
const BUSY: Duration = Duration::from_millis(20);

/// Which copy of the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogCopy {
    /// Its number, from 1; every lost one if it is left out.
    pub copy: Option<u8>,
    /// The folder that it is made in from now on, whole; only with `copy`.
    pub folder: Option<PathBuf>,
    /// Bytes a second at most; 0: as fast as the devices take them.
    pub bytes_per_second: u64,
}

/// A copy of the log that was brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyBack {
    /// Its number, from 1.
    pub copy: u8,
    /// Its folder.
    pub folder: String,
    /// Bytes that were copied there.
    pub bytes: u64,
}

fn refusal_of(error: LogError) -> Refusal {
    SystemError::from(uow::UowError::from(error)).into()
}

/// There is no copy of that number.
fn no_copy(number: u8, copies: &[CopyInfo]) -> Refusal {
    let folders: Vec<String> =
        (1..).zip(copies).map(|(at, copy)| format!("{at} in {}", copy.path.display())).collect();
    let copies = if folders.len() == 1 { "its only copy is" } else { "its copies are" };
    Refusal {
        code: USAGE.into(),
        message: format!("the log has no copy {number}: {copies} {}", folders.join(", ")),
        advice: "Name one of these; `log.copies` in holdfast.toml names their folders.".into(),
    }
}

/// Brings lost copies back while the log is in use.
pub(super) fn resync(
    system: &System,
    asked: &LogCopy,
    talk: &mut Talk<'_>,
) -> Result<Vec<CopyBack>, Refusal> {
    let log = system.kernel().log();
    // Whoever has seen a device go does not wait until the log looks for it by itself.
    log.look_around();
    let copies = log.statistics().copies;
    if let Some(number) =
        asked.copy.filter(|number| !(1..=copies.len()).contains(&(*number).into()))
    {
        return Err(no_copy(number, &copies));
    }
    if let Some(folder) = &asked.folder {
        let number = asked.copy.unwrap_or_default();
        relocate(system, number, folder)?;
    }
    let copies = log.statistics().copies;
    let mut back = Vec::new();
    for (copy, info) in (0_u8..).zip(&copies) {
        let meant = asked.copy.map_or(!info.living, |number| number == copy + 1);
        if !meant {
            continue;
        }
        let mut ended = None;
        let mut watch = |copied, about| {
            ended = talk.progress("log", copied, about, "bytes").err();
            ended.is_none()
        };
        let clock = &system.kernel().seam().clock;
        let mut looks = 0;
        let bytes = loop {
            looks += 1;
            match log.resync(copy, asked.bytes_per_second, &mut watch) {
                // A write may be under way that was begun before its folder went.
                Err(LogError::CopyBusy { .. }) if looks < BUSY_LOOKS => clock.sleep(BUSY),
                resynced => break resynced,
            }
        };
        if let Some(refusal) = ended {
            return Err(refusal);
        }
        let (bytes, folder) = (bytes.map_err(refusal_of)?, info.path.display().to_string());
        back.push(CopyBack { copy: copy + 1, folder, bytes });
    }
    Ok(back)
}

/// Has a lost copy live in another folder: the configuration says so first.
fn relocate(system: &System, number: u8, folder: &Path) -> Result<(), Refusal> {
    let refuse = |why: String| Refusal::from(SystemError::Unusable { why });
    let log = system.kernel().log();
    let copies = log.statistics().copies;
    let Some(copy) = number.checked_sub(1) else {
        return Err(refuse("which copy is to be made in another folder?".into()));
    };
    if !folder.is_absolute() {
        return Err(refuse(format!("{} is not a whole path", folder.display())));
    }
    if let Some(held) = copies.iter().position(|info| info.path == *folder) {
        // Said again after an interruption: it is to be there already.
        let again = held == usize::from(copy);
        let why = || refuse(format!("log copy {} is in {}", held + 1, folder.display()));
        return if again { Ok(()) } else { Err(why()) };
    }
    let _alone = system.configuring();
    let disk = system.kernel().seam().disk.as_ref();
    let changed = SystemConfig::change_log(disk, system.dir(), |log| {
        if let Some(path) = log.copies.get_mut(usize::from(copy)) {
            folder.clone_into(path);
        }
    })?;
    let keep = || changed.write(disk).map_err(|error| error.to_string());
    log.relocate(copy, folder, keep).map_err(refusal_of)
}
