//! The records of an alternate index itself, as programs see them that open it like a cluster.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | 1: pointers are prime keys; 0: they are relative byte addresses |
//! | 1 | bytes of a pointer |
//! | 2 | how many pointers there are, big-endian |
//! | 1 | bytes of the alternate key |
//! | n | the alternate key |
//! | n each | pointers, in the order of arrival |
//!
//! A key with more than 65535 pointers has several records, one behind the other.

use store::{Cursor as _, Position as At, Read, Store, Unit as _};

use crate::feedback::{Component, Failure, Feedback, LogicalReason};
use crate::layout::Shape;
use crate::position::Position;
use crate::upgrade::Index;

const HEADER_BYTES: usize = 5;

fn failed(error: store::StoreError) -> Failure {
    Failure::of_store(error, Component::AlternateIndex)
}

/// Reads the next record of an index.
pub(crate) fn step<S: Store>(
    unit: &mut S::Unit,
    position: &mut Position<S>,
    index: &Index,
    shape: Shape,
    record: &mut Vec<u8>,
) -> Result<Feedback, Failure> {
    let Position { cursor, peek, base_key, buffers, area_bytes, counts, .. } = position;
    let key_bytes = index.key.bytes as usize;
    let at_end = || Failure::of(LogicalReason::EndOfData, Component::AlternateIndex);
    record.clear();
    let mut count = 0_u16;
    buffers.bound.clear();
    {
        let first = unit.next(cursor, Read::Unlocked).map_err(failed)?.ok_or_else(at_end)?;
        let is_key = u8::from(matches!(shape, Shape::Keyed(_)));
        record.extend_from_slice(&[is_key, shape.key_bytes() as u8, 0, 0, key_bytes as u8]);
        record.extend_from_slice(&first.key[..key_bytes.min(first.key.len())]);
        record.extend_from_slice(first.value);
        base_key.clear();
        base_key.extend_from_slice(first.value);
        buffers.bound.extend_from_slice(first.key);
        count += 1;
    }
    let first_key = buffers.bound.clone();
    if let Some(peek) = peek {
        peek.seek(At::On(&buffers.bound));
        while count < u16::MAX {
            let Some(next) = unit.next(peek, Read::Unlocked).map_err(failed)? else { break };
            let alternate = record.get(HEADER_BYTES..HEADER_BYTES + key_bytes);
            if alternate.is_none_or(|alternate| !next.key.starts_with(alternate)) {
                break;
            }
            buffers.bound.clear();
            buffers.bound.extend_from_slice(next.key);
            record.extend_from_slice(next.value);
            count += 1;
        }
    }
    record[2..4].copy_from_slice(&count.to_be_bytes());
    if area_bytes.is_some_and(|area| record.len() > area as usize) {
        cursor.seek(At::Before(&first_key));
        return Err(Failure::Logical {
            reason: LogicalReason::AreaTooSmall,
            component: Component::AlternateIndex,
            bytes: record.len() as u32,
        });
    }
    cursor.seek(At::On(&buffers.bound));
    counts.retrieved += 1;
    let bytes = record.len() as u32;
    Ok(Feedback { bytes, component: Component::AlternateIndex, ..Feedback::default() })
}
