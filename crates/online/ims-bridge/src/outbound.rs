//! Outputs on tpipes of the bridge become replies.
//!
//! | the output | becomes |
//! |---|---|
//! | answers a request with a reply-to queue | a message there, and leaves its tpipe in the same commit |
//! | answers one, and its reply cannot be put | a dead letter with the reason |
//! | is none that answers | a dead letter of the transaction manager |
//!
//! Invariants:
//! 1. Replies of a queue's tpipe are put in the order of their outputs.
//! 2. What can be no dead letter either stays on its tpipe, and is tried again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use control::Leaving;
use otma::{Event, Manager as _, Name, Output, OutputId, Partner, Segments, Settlement, Ticket};
use queue_manager::channel::admission::UNNAMED_USER;
use queue_manager::options::value::put;
use queue_manager::options::{ObjectDescriptor, PutOptions};
use queue_manager::{Answer, Connection, Failed, MessageDescriptor, Reason};
use seam::sync::{Condvar, Mutex};
use store::Store;

use crate::common::Common;
use crate::origin::Origin;
use crate::pause::Pause;

/// Outputs of a batch, at most.
const BATCH: usize = 64;
/// How long a thread that waits for outputs sleeps before it looks around.
const NAP: Duration = Duration::from_millis(500);
/// Reasons that are about the queue manager, not about the reply.
const OF_THE_SYSTEM: [Reason; 7] = [
    Reason::BACKED_OUT,
    Reason::CONNECTION_BROKEN,
    Reason::OUTCOME_PENDING,
    Reason::Q_MGR_QUIESCING,
    Reason::Q_MGR_STOPPING,
    Reason::STORAGE_MEDIUM_FULL,
    Reason::UNEXPECTED_ERROR,
];

/// Which tpipes have outputs; the transaction manager tells.
#[derive(Default)]
pub(crate) struct Arrivals {
    tpipes: Mutex<BTreeSet<Name>>,
    changed: Condvar,
}

impl Partner for Arrivals {
    fn event(&self, _ticket: Ticket, _event: Event) {}

    fn arrived(&self, tpipe: Name) {
        self.tpipes.lock().insert(tpipe);
        self.changed.notify_all();
    }
}

impl Arrivals {
    /// The tpipes that have outputs; waits a moment for one.
    fn next(&self) -> BTreeSet<Name> {
        let mut tpipes = self.tpipes.lock();
        if tpipes.is_empty() {
            self.changed.wait_for(&mut tpipes, NAP);
        }
        std::mem::take(&mut tpipes)
    }

    pub(crate) fn wake(&self) {
        self.changed.notify_all();
    }
}

/// Makes replies of outputs.
pub(crate) struct Outbound<S: Store> {
    common: Arc<Common<S>>,
    arrivals: Arc<Arrivals>,
    /// Tpipes whose first output could not go.
    stuck: BTreeMap<Name, String>,
}

impl<S: Store> Outbound<S> {
    pub(crate) fn new(common: &Arc<Common<S>>, arrivals: &Arc<Arrivals>) -> Outbound<S> {
        Outbound {
            common: Arc::clone(common),
            arrivals: Arc::clone(arrivals),
            stuck: BTreeMap::new(),
        }
    }

    /// Goes on until the bridge ends.
    pub(crate) fn run(mut self) {
        let common = Arc::clone(&self.common);
        let mut pause = Pause::default();
        while !common.gate.is_over() {
            let mut tpipes = self.arrivals.next();
            tpipes.extend(self.stuck.keys().copied());
            let mut moved = false;
            for tpipe in tpipes {
                match self.empty(tpipe) {
                    Ok(()) => {
                        moved = true;
                        self.stuck.remove(&tpipe);
                        common.note(&tpipe.text(), None);
                    }
                    Err(why) => {
                        common.note(&tpipe.text(), Some(format!("its outputs wait: {why}")));
                        self.stuck.insert(tpipe, why);
                    }
                }
            }
            if moved {
                pause.reset();
            }
            if !self.stuck.is_empty() && !pause.wait(&common.gate) {
                break;
            }
        }
    }

    /// Makes replies of everything on a tpipe.
    fn empty(&self, tpipe: Name) -> Result<(), String> {
        let mut connection = self.common.connect().map_err(|failed| shown(failed.0))?;
        while !self.common.gate.is_over() {
            if self.batch(&mut connection, tpipe)? == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    fn batch(&self, connection: &mut Connection<S>, tpipe: Name) -> Result<usize, String> {
        let control = &self.common.control;
        let (mut leaving, mut seen) = (Vec::new(), 0);
        while seen < BATCH {
            let taken = control.take(tpipe).map_err(|refusal| refusal.text)?;
            let Some(output) = taken else { break };
            seen += 1;
            let origin = output.correlator.as_ref().and_then(Origin::read);
            let Some(origin) = origin else {
                let done = Box::new(|_: Result<(), otma::Refusal>| {});
                let settled = control.settle(tpipe, output.id, Settlement::Refused, done);
                settled.map_err(|refusal| refusal.text)?;
                continue;
            };
            match self.one(connection, (tpipe, output.id), &origin, &output) {
                Ok(one) => leaving.push(one),
                Err(why) => {
                    let _ = connection.back();
                    return Err(why);
                }
            }
        }
        if !leaving.is_empty() {
            connection.commit().map_err(|failed| shown(failed.0))?;
            leaving.into_iter().for_each(|one| one.settle(true));
        }
        Ok(seen)
    }

    fn one(
        &self,
        connection: &mut Connection<S>,
        (tpipe, id): (Name, OutputId),
        origin: &Origin,
        output: &Output,
    ) -> Result<Leaving<S>, String> {
        let control = &self.common.control;
        let (md, data) = origin.reply(output, self.common.now_ms());
        let done = send(connection, origin, md, &data).map_err(|failed| shown(failed.0));
        let done = done.and_then(|()| {
            let unit = connection.unit().map_err(|failed| shown(failed.0))?;
            control.deliver_in(unit, tpipe, id).map_err(|refusal| refusal.text)
        });
        if done.is_err() {
            // It is taken by none if the store has failed just now: then it is back already.
            let _ = control.settle(tpipe, id, Settlement::Kept, Box::new(|_| {}));
        }
        done
    }
}

fn shown(reason: Reason) -> String {
    format!("the queue manager answers {reason}")
}

/// Puts a reply where its request wants it, in the unit of work; otherwise it is a dead letter.
fn send<S: Store>(
    connection: &mut Connection<S>,
    origin: &Origin,
    mut md: MessageDescriptor,
    data: &[u8],
) -> Answer<()> {
    let (queue, manager) = origin.reply_to;
    let reason = if queue.is_blank() {
        Reason::MISSING_REPLY_TO_Q
    } else {
        let mut what = ObjectDescriptor {
            object_name: queue,
            object_q_mgr_name: manager,
            alternate_user_id: asking(origin),
            ..ObjectDescriptor::default()
        };
        let mut options = PutOptions::new(put::SYNCPOINT | put::ALTERNATE_USER_AUTHORITY);
        let put = connection.put1(&mut what, &mut md, &mut options, data);
        let Err(Failed(reason)) = put else { return Ok(()) };
        reason
    };
    if OF_THE_SYSTEM.contains(&reason) {
        return Err(Failed(reason));
    }
    if md.priority < 0 {
        md.priority = 0;
    }
    if !(0..=1).contains(&md.persistence) {
        md.persistence = 1;
    }
    connection.dead_letter(&md, data, (queue, manager), reason).map(drop)
}

/// The user by whose right a reply is put: without a name it has none.
fn asking(origin: &Origin) -> [u8; 12] {
    if origin.user.iter().any(|byte| !matches!(byte, b' ' | 0)) {
        return origin.user;
    }
    let mut nobody = [b' '; 12];
    let name = UNNAMED_USER.as_bytes();
    let length = name.len().min(nobody.len());
    nobody[..length].copy_from_slice(&name[..length]);
    nobody
}

/// Answers a request with lines of text, in the unit of work of the connection.
pub(crate) fn say<S: Store>(
    common: &Common<S>,
    connection: &mut Connection<S>,
    origin: &Origin,
    lines: &[String],
) -> Answer<()> {
    let mut segments = Segments::new();
    for line in lines {
        let bytes = match origin.page() {
            None => line.clone().into_bytes(),
            Some(page) => line.chars().map(|letter| page.byte(letter).unwrap_or(0x40)).collect(),
        };
        // Lines of a terminal are short.
        let _ = segments.push([0; 2], &bytes);
    }
    let output = Output {
        id: OutputId(0),
        segments,
        mod_name: Name::BLANK,
        encoding: otma::Encoding::Ascii,
        in_conversation: false,
        wants_answer: false,
        more_queued: false,
        correlator: None,
    };
    let (md, data) = origin.reply(&output, common.now_ms());
    send(connection, origin, md, &data)
}

/// Has arrivals told of outputs on a tpipe, as long as a client has them.
pub(crate) fn watch<S: Store>(common: &Common<S>, arrivals: &Arc<Arrivals>, tpipe: Name) {
    let partner: Arc<dyn Partner> = Arc::clone(arrivals) as Arc<dyn Partner>;
    common.control.watch(tpipe, Name::BLANK, &partner);
}
