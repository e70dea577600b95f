//! Trigger messages: a queue that has work says so on an initiation queue.
//!
//! | bytes of a trigger message | |
//! |---|---|
//! | 0, 4, 4 | `TM  `, version 1 |
//! | 8, 48 | queue |
//! | 56, 48 | process |
//! | 104, 64 | trigger data |
//! | 168, 4 | kind of application |
//! | 172, 256 | application |
//! | 428, 128 | environment data |
//! | 556, 128 | user data |
//!
//! 1. FIRST: the first message comes to a queue without any, or the trigger interval has passed;
//!    DEPTH: so many messages wait, and then triggering is turned off. Both only while no handle
//!    has the queue open for input. EVERY: each message.
//! 2. Only messages of the trigger's priority and above count.

use std::sync::Arc;

use seam::sync::MutexGuard;
use store::Store;

use super::{Core, Work};
use crate::descriptor::{MessageDescriptor, value};
use crate::message::{Message, date_and_time};
use crate::objects::{Kind, Value};
use crate::queue::{Place, Queue, State, Trigger, TriggerKind};
use crate::reason::Answer;

/// Ranks of places of that priority and above lie below this place.
fn bound(priority: i32) -> Place {
    crate::queue::place(priority, u64::MAX >> 8)
}

/// How many messages count, at most `most`.
fn counting(state: &State, trigger: &Trigger, most: u64) -> u64 {
    if trigger.priority == 0 || !state.settings.by_priority {
        return state.index.ready().min(most);
    }
    state.index.ready_up_to(bound(trigger.priority), most)
}

impl<S: Store> Core<S> {
    /// Messages of a committed unit of work come to a queue.
    pub(super) fn arrive(
        &self,
        queue: &Arc<Queue>,
        places: impl Iterator<Item = Place>,
        quiet: bool,
    ) {
        let mut state = queue.state.lock();
        let trigger = state.settings.trigger.clone().filter(|_| !quiet);
        let before = trigger.as_ref().map_or(0, |trigger| counting(&state, trigger, 1));
        let (mut count, mut each) = (0, 0);
        for at in places {
            if state.index.appear(at) {
                count += 1;
                let counts = |trigger: &Trigger| {
                    !state.settings.by_priority || at <= bound(trigger.priority)
                };
                each += usize::from(trigger.as_ref().is_some_and(counts));
            }
        }
        if count > 0 {
            queue.notify(&mut state, count);
        }
        if let Some(trigger) = trigger.filter(|_| each > 0) {
            self.consider(queue, state, &trigger, before == 0, each);
        }
    }

    /// A message came back, or the last getter has gone and left some.
    pub(crate) fn reconsider(&self, queue: &Arc<Queue>) {
        let state = queue.state.lock();
        let Some(trigger) = state.settings.trigger.clone() else { return };
        if trigger.kind != TriggerKind::Every && counting(&state, &trigger, 1) > 0 {
            self.consider(queue, state, &trigger, true, 0);
        }
    }

    fn consider(
        &self,
        queue: &Arc<Queue>,
        mut state: MutexGuard<'_, State>,
        trigger: &Trigger,
        was_empty: bool,
        each: usize,
    ) {
        let now = self.now_ms();
        let interval = self.definitions.trigger_interval_ms();
        let idle = state.openings.inputs() == 0;
        let count = match trigger.kind {
            TriggerKind::Every => each,
            TriggerKind::First => {
                let again = now.saturating_sub(state.triggered_ms) >= interval;
                usize::from(idle && (was_empty || again))
            }
            TriggerKind::Depth => {
                let deep = counting(&state, trigger, trigger.depth) >= trigger.depth;
                usize::from(idle && deep)
            }
        };
        if count == 0 {
            return;
        }
        state.triggered_ms = now;
        drop(state);
        for _ in 0..count {
            // An initiation queue that takes nothing loses the event, not the message.
            let _ = self.make_trigger_message(queue, trigger);
        }
        if trigger.kind == TriggerKind::Depth {
            let off = [("TRIGGER", Value::Text("NOTRIGGER".into()))];
            let _ = self.adjust(Kind::QueueLocal, &queue.name.text(), &off);
        }
    }

    fn make_trigger_message(&self, queue: &Arc<Queue>, trigger: &Trigger) -> Answer<()> {
        let Some(initiation) = self.queue(&trigger.initiation_queue) else { return Ok(()) };
        let process = self.object(Kind::Process, &trigger.process.text());
        let field = |name: &str| process.as_ref().map_or("", |process| process.text_of(name));
        let mut data = Vec::with_capacity(684);
        data.extend_from_slice(b"TM  ");
        data.extend_from_slice(&1_i32.to_le_bytes());
        data.extend_from_slice(&queue.name.0);
        data.extend_from_slice(&trigger.process.0);
        data.extend_from_slice(&trigger.data);
        let kind = process.as_ref().and_then(|process| {
            let (attribute, value) = process.selected(1)?;
            attribute.number_of(value)
        });
        data.extend_from_slice(&kind.unwrap_or(0).to_le_bytes());
        data.extend_from_slice(&crate::name::padded::<256>(field("APPLICID")));
        data.extend_from_slice(&crate::name::padded::<128>(field("ENVRDATA")));
        data.extend_from_slice(&crate::name::padded::<128>(field("USERDATA")));
        let persistent = initiation.settings().persistent;
        let mut descriptor = self.own_descriptor()?;
        descriptor.format = value::format::TRIGGER;
        descriptor.persistence = i32::from(persistent);
        descriptor.priority = initiation.settings().priority;
        let message = Message { descriptor, put_ms: self.now_ms(), expires_ms: 0, data };
        let mut work = Work::quiet(self);
        let staged = work.stage(self, &initiation, message);
        match staged {
            Ok(_) => work.commit(self),
            Err(failed) => {
                work.back(self);
                Err(failed)
            }
        }
    }

    /// The descriptor of a message that the queue manager itself makes.
    pub(crate) fn own_descriptor(&self) -> Answer<MessageDescriptor> {
        let (put_date, put_time) = date_and_time(self.now_ms());
        Ok(MessageDescriptor {
            msg_id: self.new_identifier()?,
            ccsid: self.manager_settings().ccsid,
            put_appl_type: value::appl_type::QMGR,
            put_appl_name: crate::name::padded(&self.options.name),
            put_date,
            put_time,
            priority: 0,
            persistence: value::persistence::NOT_PERSISTENT,
            ..MessageDescriptor::default()
        })
    }
}
