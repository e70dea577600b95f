//! What every system does for operators, typed: JSON begins where a request comes in, and where
//! its answer goes out.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::archive::{ArchiveFolder, DeletedArchives, VerifiedArchives, WhichArchives};
use super::forms::{Converting, Steering};
use super::keys::Generation;
use super::logs::{CopyBack, LogCopy};
use super::pools::{AddPool, AssignPool, ChangedPool, DeletePool, ResizePool};
use super::stripes::{ChangedStripes, Stripes};
use super::{OperatorError, Refusal, Request, Talk};
use super::{archive, forms, keys, logs, pools, stripes};
use crate::archives::ArchiveStatus;
use crate::status::PoolStatus;
use crate::verify::repair::{self, RepairRequest, Repaired};
use crate::verify::{VerifyReport, VerifyRequest};
use crate::{System, SystemStatus};

/// What an operator asks of any system, with what each verb is given.
///
/// As JSON it is a request: `{"verb": "pool resize", "arguments": {...}}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "verb", content = "arguments")]
pub enum SystemOperation {
    /// Says how the system is.
    #[serde(rename = "status")]
    Status {},
    /// Proves it while it is in use.
    #[serde(rename = "verify")]
    Verify(VerifyRequest),
    /// Writes something again from what the system knows.
    #[serde(rename = "repair")]
    Repair(RepairRequest),
    /// Does so with the log, and gives up what is nowhere.
    #[serde(rename = "repair give-up")]
    RepairGivingUp {},
    /// Says how each pool is.
    #[serde(rename = "pool list")]
    PoolList {},
    /// Gives a pool another size.
    #[serde(rename = "pool resize")]
    PoolResize(ResizePool),
    /// Makes a pool.
    #[serde(rename = "pool add")]
    PoolAdd(AddPool),
    /// Takes a pool away.
    #[serde(rename = "pool delete")]
    PoolDelete(DeletePool),
    /// Moves a data set to another pool.
    #[serde(rename = "pool assign")]
    PoolAssign(AssignPool),
    /// Archives what was logged so far.
    #[serde(rename = "archive now")]
    ArchiveNow {},
    /// Says which archives there are.
    #[serde(rename = "archive list")]
    ArchiveList {},
    /// Reads archives from front to back.
    #[serde(rename = "archive verify")]
    ArchiveVerify(WhichArchives),
    /// Begins anew in a folder whose archives are lost.
    #[serde(rename = "archive begin")]
    ArchiveBegin(ArchiveFolder),
    /// Deletes archives.
    #[serde(rename = "archive delete")]
    ArchiveDelete(WhichArchives),
    /// Brings copies of the log back.
    #[serde(rename = "log resync")]
    LogResync(LogCopy),
    /// Gives the log more or fewer stripes.
    #[serde(rename = "log stripes")]
    LogStripes(Stripes),
    /// Says which conversions are under way.
    #[serde(rename = "rekey status")]
    RekeyStatus {},
    /// Has conversions wait.
    #[serde(rename = "rekey pause")]
    RekeyPause(Steering),
    /// Has conversions go on, and how fast.
    #[serde(rename = "rekey resume")]
    RekeyResume(Steering),
    /// Deletes a generation of a key.
    #[serde(rename = "keys delete")]
    KeysDelete(Generation),
}

/// What a system answers. As JSON it is the answer alone: who asked knows which it is.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum SystemAnswer {
    /// Of [`SystemOperation::Status`].
    Status(SystemStatus),
    /// Of [`SystemOperation::Verify`].
    Verify(Box<VerifyReport>),
    /// Of [`SystemOperation::Repair`] and [`SystemOperation::RepairGivingUp`].
    Repaired(Repaired),
    /// Of [`SystemOperation::PoolList`].
    Pools(Vec<PoolStatus>),
    /// Of the verbs that change a pool.
    Pool(ChangedPool),
    /// Of [`SystemOperation::ArchiveNow`], [`SystemOperation::ArchiveList`] and
    /// [`SystemOperation::ArchiveBegin`].
    Archives(Vec<ArchiveStatus>),
    /// Of [`SystemOperation::ArchiveVerify`].
    VerifiedArchives(VerifiedArchives),
    /// Of [`SystemOperation::ArchiveDelete`].
    DeletedArchives(DeletedArchives),
    /// Of [`SystemOperation::LogResync`].
    Resynced(Vec<CopyBack>),
    /// Of [`SystemOperation::LogStripes`].
    Stripes(ChangedStripes),
    /// Of the verbs about conversions.
    Converting(Vec<Converting>),
    /// Of [`SystemOperation::KeysDelete`].
    Deleted(Generation),
}

impl SystemOperation {
    /// Does what is asked for in an open system.
    ///
    /// # Errors
    /// What the verb refuses.
    pub fn perform(&self, system: &System, talk: &mut Talk<'_>) -> Result<SystemAnswer, Refusal> {
        use SystemAnswer as Answer;
        Ok(match self {
            SystemOperation::Status {} => {
                Answer::Status(SystemStatus::Running(Box::new(system.status())))
            }
            SystemOperation::Verify(asked) => Answer::Verify(Box::new(system.verify(asked, talk)?)),
            SystemOperation::Repair(asked) => {
                Answer::Repaired(repair::repair(system, asked, talk)?)
            }
            SystemOperation::RepairGivingUp {} => Answer::Repaired(repair::give_up(system, talk)?),
            SystemOperation::PoolList {} => Answer::Pools(system.status().pools),
            SystemOperation::PoolResize(asked) => Answer::Pool(pools::resize(system, asked)?),
            SystemOperation::PoolAdd(asked) => Answer::Pool(pools::add(system, asked)?),
            SystemOperation::PoolDelete(asked) => Answer::Pool(pools::delete(system, asked)?),
            SystemOperation::PoolAssign(asked) => Answer::Pool(pools::assign(system, asked)?),
            SystemOperation::ArchiveNow {} => Answer::Archives(archive::now(system)?),
            SystemOperation::ArchiveList {} => Answer::Archives(archive::list(system)?),
            SystemOperation::ArchiveVerify(asked) => {
                Answer::VerifiedArchives(archive::verify(system, asked, talk)?)
            }
            SystemOperation::ArchiveBegin(asked) => {
                Answer::Archives(archive::begin(system, asked)?)
            }
            SystemOperation::ArchiveDelete(asked) => {
                Answer::DeletedArchives(archive::delete(system, asked, talk)?)
            }
            SystemOperation::LogResync(asked) => {
                Answer::Resynced(logs::resync(system, asked, talk)?)
            }
            SystemOperation::LogStripes(asked) => {
                Answer::Stripes(stripes::change(system, asked, talk)?)
            }
            SystemOperation::RekeyStatus {} => Answer::Converting(forms::status(system)),
            SystemOperation::RekeyPause(asked) => {
                Answer::Converting(forms::steer(system, asked, true)?)
            }
            SystemOperation::RekeyResume(asked) => {
                Answer::Converting(forms::steer(system, asked, false)?)
            }
            SystemOperation::KeysDelete(asked) => Answer::Deleted(keys::delete(system, asked)?),
        })
    }

    /// What a request asks for that came as JSON.
    ///
    /// # Errors
    /// If its arguments are others than those of its verb.
    pub fn of(request: &Request) -> Result<SystemOperation, Refusal> {
        let arguments: Value = request.arguments()?;
        let whole = json!({ "verb": request.verb, "arguments": arguments });
        serde_json::from_value(whole)
            .map_err(|error| OperatorError::Arguments { verb: request.verb.clone(), error }.into())
    }

    /// The same as a request, to be asked for over a socket.
    ///
    /// # Errors
    /// If a path in it is no text.
    pub fn request(&self) -> Result<Request, Refusal> {
        let failed = |error| OperatorError::Result { error };
        let whole = serde_json::to_value(self).map_err(failed)?;
        Ok(serde_json::from_value(whole).map_err(failed)?)
    }
}
