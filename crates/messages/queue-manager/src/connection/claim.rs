//! Claims: messages that a connection has seen and may get, whichever connection gets them then.
//!
//! 1. A claimed message is seen by no other getter until its claim is taken or dropped.
//! 2. A claim goes from the lock into the unit of work that takes it in one step: nobody can be
//!    faster in between.
//! 3. Dropped, a claim gives its message back; what was backed out of a unit of work that took it
//!    comes back as it does after any get, and counts as backed out.

use std::sync::Arc;

use store::Store;

use super::session::Session;
use crate::core::{Core, Report, TakenEntry, Work};
use crate::descriptor::MessageDescriptor;
use crate::message::Message;
use crate::name::ObjectName;
use crate::options::Handle;
use crate::queue::{Place, Queue, Seeker};
use crate::reason::{Answer, Failed, Reason, fail, require};

/// A message that is locked for the holder of this. See [`claim`](super::Connection::claim).
pub struct Claim<S: Store> {
    core: Arc<Core<S>>,
    queue: Arc<Queue>,
    at: Place,
    /// Under which the index knows it.
    holder: u64,
    descriptor: Box<MessageDescriptor>,
}

impl<S: Store> Claim<S> {
    /// The queue on which it is.
    #[must_use]
    pub fn queue(&self) -> ObjectName {
        self.queue.name
    }

    /// Its descriptor, as it was seen.
    #[must_use]
    pub fn descriptor(&self) -> &MessageDescriptor {
        &self.descriptor
    }
}

impl<S: Store> Drop for Claim<S> {
    fn drop(&mut self) {
        // A thread that panics stops the kernel; what it held means nothing then.
        if std::thread::panicking() {
            return;
        }
        let mut state = self.queue.state.lock();
        if state.index.unlock(self.at, self.holder) {
            self.queue.notify(&mut state, 1);
        }
    }
}

/// Makes a claim of the message that a handle has locked.
pub(super) fn claim<S: Store>(session: &mut Session<S>, handle: Handle) -> Answer<Claim<S>> {
    session.goes_on(false)?;
    let core = Arc::clone(&session.core);
    let open = session.open(handle)?;
    let serial = open.serial;
    let queue = session.queue(handle)?;
    let Some(local) = queue.local().cloned() else { return fail(Reason::NO_MSG_LOCKED) };
    let (Some(at), Some(descriptor)) = (queue.locked.take(), queue.locked_descriptor.take()) else {
        return fail(Reason::NO_MSG_LOCKED);
    };
    let holder = core.serial();
    {
        let mut state = local.state.lock();
        // No other getter comes between the two: the latch is held.
        let locked = state.index.unlock(at, serial) && state.index.lock(at, holder);
        require(locked, Reason::NO_MSG_LOCKED)?;
    }
    Ok(Claim { core, queue: local, at, holder, descriptor })
}

/// A message as a claim leaves it.
pub type Claimed = (MessageDescriptor, Vec<u8>);

/// Gets a claimed message, in the unit of work of a connection or outside; with its data if the
/// caller wants them.
pub(super) fn take<S: Store>(
    session: &mut Session<S>,
    claim: &Claim<S>,
    in_unit: bool,
    wants_data: bool,
) -> Answer<Option<Claimed>> {
    session.goes_on(false)?;
    let core = Arc::clone(&session.core);
    require(Arc::ptr_eq(&core, &claim.core), Reason::HCONN_ERROR)?;
    if in_unit {
        session.work.has_room(core.manager_settings().uncommitted_max)?;
    }
    let mut own = Work::new(&core);
    let work = if in_unit { &mut session.work } else { &mut own };
    let taken = take_in(&core, work, claim, wants_data);
    let done = match taken {
        Ok(message) if in_unit => Ok(message),
        Ok(message) => own.commit(&core).map(|()| message),
        Err(failed) => Err(failed),
    };
    session.note_unit();
    done.map(|message| message.map(|message| (message.descriptor, message.data)))
}

fn take_in<S: Store>(
    core: &Arc<Core<S>>,
    work: &mut Work<S>,
    claim: &Claim<S>,
    wants_data: bool,
) -> Answer<Option<Message>> {
    let (queue, at) = (&claim.queue, claim.at);
    let reports = Report::Delivery.is_wanted(&claim.descriptor);
    let message = if wants_data || reports { Some(read(core, work, claim)?) } else { None };
    let now_ms = core.now_ms();
    let seeker = Seeker { unit: work.number(), handle: claim.holder, now: core.now_tenths() };
    let (entry, before) = {
        let mut state = queue.state.lock();
        require(!state.deleted, Reason::Q_DELETED)?;
        let entry = state.index.visible(at, &seeker);
        let taken = state.index.take(at, &seeker, seeker.unit);
        let (Some(entry), Some(before)) = (entry, taken) else {
            return fail(Reason::NO_MSG_AVAILABLE);
        };
        (entry, before)
    };
    work.take(core, queue, TakenEntry { at, entry, before }, &claim.descriptor, false)?;
    {
        let mut state = queue.state.lock();
        let put_ms = u64::from(entry.put_s) * 1_000;
        state.statistics.got_of(entry.bytes as usize, put_ms, now_ms);
        state.marks.remove(&at);
    }
    if let Some(message) = &message {
        core.report(work, message, Report::Delivery);
    }
    Ok(message)
}

/// The message of a claim: no other getter can have removed it.
fn read<S: Store>(core: &Core<S>, work: &mut Work<S>, claim: &Claim<S>) -> Answer<Message> {
    let volatile = claim.queue.state.lock().index.volatile(claim.at);
    if let Some(message) = volatile {
        return Ok((*message).clone());
    }
    let read = core.bodies.read(work.open_unit(), claim.queue.location(), claim.at);
    let message = read.map_err(crate::core::failed)?.ok_or(Failed(Reason::NO_MSG_AVAILABLE))?;
    Ok(message)
}
