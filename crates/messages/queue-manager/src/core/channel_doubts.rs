//! Batches of channels that were in doubt when the queue manager ended: their messages are held
//! from its start on, until the ends have met, or an operator has decided.

use store::{Cursor, KeyRange, Read, Store, Unit, UnitOptions};

use super::Core;
use crate::channel_state::{Doubt, Held, SenderState, Taken, read_sender};
use crate::error::AdminError;
use crate::queue::Seeker;

/// Reads what is kept of channels, and holds what is in doubt.
pub(super) fn recover<S: Store>(core: &Core<S>) -> Result<(), AdminError> {
    let (store, set) = (&core.store, core.channels.set);
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    let mut doubts = Vec::new();
    cursor.limit(KeyRange::ALL);
    while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
        let Some((kind, name)) = entry.key.split_first() else { continue };
        let channel = String::from_utf8_lossy(name).into_owned();
        match kind {
            b'T' => core.channels.set_stopped(&channel, true),
            b'S' => {
                let Some((state, doubt)) = read_sender(entry.value) else {
                    let object = format!("what is kept of channel {channel}");
                    let what = "it was not written by this release".into();
                    return Err(AdminError::Damaged { object, what });
                };
                if !state.in_doubt.is_none() {
                    doubts.push((channel, state, doubt));
                }
            }
            _ => {}
        }
    }
    unit.backout()?;
    hold_doubts(core, doubts);
    Ok(())
}

/// Holds the messages of batches that were in doubt when the queue manager ended.
fn hold_doubts<S: Store>(core: &Core<S>, doubts: Vec<(String, SenderState, Doubt)>) {
    for (channel, state, doubt) in doubts {
        let queues: Vec<_> = core.definitions.registry().queues().cloned().collect();
        // A queue cannot be removed while messages of it are in doubt.
        let Some(queue) = queues.into_iter().find(|queue| queue.number == doubt.queue) else {
            continue;
        };
        let seeker = Seeker { unit: core.serial(), handle: 0, now: core.now_tenths() };
        let mut index = queue.state.lock();
        let mut taken = Vec::with_capacity(doubt.places.len());
        for at in doubt.places {
            let Some(entry) = index.index.visible(at, &seeker) else { continue };
            if index.index.take(at, &seeker, seeker.unit).is_some() {
                taken.push(Taken { at, entry, hashes: [0; 3] });
            }
        }
        drop(index);
        core.channels.hold(&channel, Held { queue, state, taken });
    }
}
