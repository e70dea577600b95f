//! Branches of global transactions: a connection works in one at a time.
//!
//! 1. While a connection works in a branch, its calls under syncpoint belong to that, and nothing
//!    but the transaction manager ends it.

use store::Store;

use super::Connection;
use super::session::{Course, Session};
use crate::branch::{BranchAnswer, BranchCall, BranchError, BranchId, WorkEnd};
use crate::core::Work;

type Result<T> = std::result::Result<T, BranchError>;

impl<S: Store> Connection<S> {
    /// Does what a transaction manager asks for.
    ///
    /// # Errors
    /// Why it is not done.
    pub fn branch(&mut self, call: &BranchCall) -> Result<BranchAnswer> {
        let session = &mut self.session;
        session.goes_on(false).map_err(|_| BranchError::Stopping)?;
        let core = std::sync::Arc::clone(&session.core);
        let client = std::sync::Arc::clone(&session.client);
        match call {
            BranchCall::Start(branch) => {
                is_free(session)?;
                let work = core.start_branch(&client, branch)?;
                enter(session, branch, work);
            }
            BranchCall::Join(branch) | BranchCall::Resume(branch) => {
                is_free(session)?;
                let resumes = matches!(call, BranchCall::Resume(_));
                let work = core.join_branch(&client, branch, resumes)?;
                enter(session, branch, work);
            }
            BranchCall::End(branch, how) => self.end_work(branch, *how)?,
            BranchCall::Prepare(branch) => {
                if !core.prepare_branch(&client, branch)? {
                    return Ok(BranchAnswer::ReadOnly);
                }
            }
            BranchCall::Commit { branch, one_phase } => {
                core.end_branch(&client, branch, (true, *one_phase))?;
            }
            BranchCall::BackOut(branch) => core.end_branch(&client, branch, (false, false))?,
            BranchCall::Recover => {
                return Ok(BranchAnswer::Listed(core.branches_in_doubt(&client, None)));
            }
            BranchCall::RecoverAfter(branch) => {
                return Ok(BranchAnswer::Listed(core.branches_in_doubt(&client, Some(branch))));
            }
            BranchCall::Forget(branch) => core.forget_branch(&client, branch)?,
        }
        Ok(BranchAnswer::Done)
    }

    fn end_work(&mut self, branch: &BranchId, how: WorkEnd) -> Result<()> {
        let session = &mut self.session;
        if session.branch.as_ref() != Some(branch) {
            return session.core.end_suspended(&session.client, branch, how);
        }
        session.branch = None;
        let work = std::mem::replace(&mut session.work, Work::new(&session.core));
        session.core.end_work(branch, work, how);
        // Groups go on in a unit of work, and that is not this one's any more.
        self.end_groups(Course::leave);
        self.session.note_unit();
        Ok(())
    }
}

/// Whether a connection can begin to work in a branch.
fn is_free<S: Store>(session: &Session<S>) -> Result<()> {
    if session.branch.is_some() {
        return Err(BranchError::Protocol);
    }
    match session.work.is_idle() && !session.work.is_joined() {
        true => Ok(()),
        false => Err(BranchError::Outside),
    }
}

fn enter<S: Store>(session: &mut Session<S>, branch: &BranchId, work: Work<S>) {
    session.work = work;
    session.branch = Some(branch.clone());
    session.note_unit();
}
