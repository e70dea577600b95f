//! What a system does for operators: verbs, whether somebody has the system open or not.
//!
//! What a command asks for is a [`SystemOperation`]; as JSON it is a [`Request`], a verb and its
//! arguments. The verbs are functions in a table (`verbs`), each working on `&System`. If a process
//! has the system open, the request goes to it (`protocol`); otherwise the command opens the system
//! itself and calls the same function. Either way [`crate::run`] gives the same answer.
//!
//! Invariants:
//! 1. Verbs never hand out keys, nor data in clear. Those that change what the system keeps, or
//!    how, are for whoever proves that he knows the passphrase; the ones that only look, copy or
//!    repair are not (`verbs`).
//!
//! To add a verb: a function in a file here, its variant in `operation`, and its line in `verbs`.
//! One that needs layers above this crate is given to [`crate::OpenOptions::verbs`].

mod archive;
pub mod forms;
pub mod keys;
mod logs;
mod operation;
mod pools;
mod stripes;
#[cfg(test)]
mod tests;
mod verbs;

use std::path::Path;
use std::sync::Arc;

use seal::Keyset;
use seam::Seam;
use serde_json::Value;

pub use crate::protocol::{
    Answer, Ask, Asker, LINE_BYTES_MAX, Listener, OperatorError, PAYLOAD_BYTES_MAX, Progress,
    Proven, REQUEST_BYTES_MAX, Refusal, Request, Respond, SOCKET, Talk, USAGE, ask, call,
    call_and_answer, done, holder, read_answer, read_proof, read_request,
};
use crate::protocol::{Here, Served};
pub use crate::system::{Run, Verb};
use crate::{Guests, System};
pub use archive::{
    ArchiveFault, ArchiveFolder, DeletedArchives, Merge, VerifiedArchives, WhichArchives,
    accumulate,
};
pub use logs::{CopyBack, LogCopy};
pub use operation::{SystemAnswer, SystemOperation};
pub use pools::{AddPool, AssignPool, ChangedPool, DeletePool, ResizePool};
pub use stripes::{ChangedStripes, Stripes};
pub(crate) use verbs::{is_verb, needs_proof};

impl System {
    /// Does what a request asks for.
    ///
    /// # Errors
    /// What the verb refuses; a verb that there is not.
    pub fn operate(
        &self,
        request: &Request,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<Value, Refusal> {
        self.answer(request, &mut Here(tell))
    }

    /// Works for somebody in this process, who hears how far it is.
    pub fn reporting<T>(
        &self,
        tell: &mut dyn FnMut(&Progress),
        work: impl FnOnce(&mut Talk<'_>) -> T,
    ) -> T {
        work(&mut Talk::new(&mut Here(tell), &self.kernel().seam().clock))
    }

    pub(crate) fn answer(
        &self,
        request: &Request,
        listener: &mut dyn Listener,
    ) -> Result<Value, Refusal> {
        let verb = verbs::find(&request.verb, self.verbs())?;
        (verb.run)(self, request, &mut Talk::new(listener, &self.kernel().seam().clock))
    }
}

impl Served for System {
    fn dir(&self) -> &Path {
        System::dir(self)
    }

    fn guests(&self) -> &Arc<Guests> {
        System::guests(self)
    }

    fn keys(&self) -> &Keyset {
        System::keys(self)
    }

    fn seam(&self) -> &Seam {
        self.kernel().seam()
    }

    fn has_verb(&self, name: &str) -> bool {
        verbs::find(name, self.verbs()).is_ok()
    }

    fn needs_proof(&self, request: &Request) -> bool {
        needs_proof(&request.verb, &request.arguments)
    }

    fn answer(&self, request: &Request, listener: &mut dyn Listener) -> Result<Value, Refusal> {
        System::answer(self, request, listener)
    }
}
