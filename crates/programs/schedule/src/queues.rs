//! Message queues of a program: the message queue interface, in the unit of work of its calls.
//!
//! | in the region | the program's puts and gets |
//! |---|---|
//! | CHKP, SYNC, in mode SNGL GU of the I/O PCB, normal end | are committed with what its calls change |
//! | ROLB, ROLL, abend | are backed out: what was got is there again, its backout count one higher |
//! | SETS and ROLS | are undone as far as they came behind SETS; the count stays |
//! | MQDISC | stay in the unit of work |
//! | MQCMIT, MQBACK, MQBEGIN, MQCTL to start | are refused, `ENVIRONMENT_ERROR` (2012) |
//!
//! Invariants:
//! 1. There is one commit: one record in the log ends both. What was put is seen by others, and
//!    triggers fire, when that is durable; a program that has put or got waits for it.
//! 2. A program whose input comes as messages has no connection behind a sync point: the next
//!    message may be another user's. \[K\]

use std::sync::Arc;

use dli::Session;
use mqi::server::{Carried, Managed, Points};
use queue_manager::options::ConnectOptions;
use region::Abend;
use region::layout::Name;
use store::Store;

use crate::error::abend;
use crate::options::RegionKind;

/// What kind of program messages say that they come from: one of IMS.
const APPLICATION_TYPE: i32 = 3;

/// The connections of a program, if it has a queue manager.
pub(crate) struct Queues<S: Store>(Option<Carried<S>>);

impl<S: Store> Queues<S> {
    /// Of a program without a queue manager.
    pub(crate) fn none() -> Queues<S> {
        Queues(None)
    }

    /// Those of a program of this name, that works as that user.
    pub(crate) fn of(
        manager: Arc<dyn Managed<S>>,
        (program, kind): (&Name, RegionKind),
        user: &str,
    ) -> Queues<S> {
        let mut who = ConnectOptions {
            user: user.to_owned(),
            application: region::layout::text(program),
            ..ConnectOptions::default()
        };
        if kind != RegionKind::Batch {
            who.application_type = APPLICATION_TYPE;
        }
        Queues(Some(Carried::new(manager, who)))
    }

    /// A call of the message queue interface.
    pub(crate) fn call(
        &mut self,
        session: &mut Session<S>,
        request: &[u8],
        answer: &mut Vec<u8>,
    ) -> Result<(), Abend> {
        let Some(queues) = &mut self.0 else {
            mqi::server::nowhere(answer);
            return Ok(());
        };
        session.lend_unit(|unit| queues.serve(unit, request, answer));
        if queues.must_back_out() {
            let text = "a call of the message queue interface was done in part, and could not be \
                        undone";
            return Err(abend("U0844", text));
        }
        Ok(())
    }

    /// Whether messages were put or got since the last sync point.
    pub(crate) fn has_work(&self) -> bool {
        self.0.as_ref().is_some_and(Carried::has_work)
    }

    /// The unit of work was committed or backed out.
    pub(crate) fn settle(&mut self, session: &mut Session<S>, committed: bool) {
        let Some(queues) = &mut self.0 else { return };
        session.lend_unit(|unit| queues.settle(committed, unit));
    }

    /// It is not known how the unit of work ended.
    pub(crate) fn abandon(&mut self) {
        if let Some(queues) = &mut self.0 {
            queues.abandon();
        }
    }

    /// Ends the connections of the program.
    pub(crate) fn disconnect(&mut self) {
        if let Some(queues) = &mut self.0 {
            queues.disconnect_all();
        }
    }

    /// Where puts and gets stand.
    pub(crate) fn points(&mut self) -> Points {
        self.0.as_mut().map(Carried::points).unwrap_or_default()
    }

    /// The store is back at a point.
    pub(crate) fn return_to(&mut self, points: &Points) {
        if let Some(queues) = &mut self.0 {
            queues.return_to(points);
        }
    }
}
