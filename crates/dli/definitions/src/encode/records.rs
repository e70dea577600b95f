//! The order in which the fields of each type stand in bytes.
//!
//! Invariants:
//! 1. The order here is layout 1; another order is another layout with its own list.
//! 2. Every field of a type is in its list, or this does not compile.

use base::bytes::Reader;

use super::coding::Coding;
use crate::model::{
    Area, Attribute, Compression, DataSet, DatabasePcb, Dbd, Exit, Extra, Field, FieldKind,
    GsamPcb, IndexedField, IoError, LogicalChild, LogicalParent, NullValue, Pair, Pcb, PcbKind,
    Psb, Randomizer, Rules, Segment, Sensitive, SensitiveField, SourceSegment, SubsetUse,
    TerminalPcb,
};

macro_rules! record {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl Coding for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($field.put(out);)*
            }
            fn get(reader: &mut Reader<'_>) -> Option<$name> {
                // Fields of a literal are evaluated in the order in which they stand.
                Some($name { $($field: Coding::get(reader)?),* })
            }
        }
    };
}

record!(Attribute { keyword, value });
record!(Extra { statement, attributes });
record!(Pair { first, second });
record!(Exit { module, options });
record!(Randomizer { module, anchors, blocks, bytes, extended });
record!(DataSet { label, dd1, dd2, overflow, size, block, record, record_format, free_space });
record!(Area { dd1, size, unit_of_work, root });
record!(Dbd {
    name,
    organization,
    access_method,
    protection,
    dos_compatible,
    randomizer,
    password,
    version,
    db_version,
    fp_index,
    partition_exit,
    data_exit,
    exits,
    data_sets,
    areas,
    segments,
    metadata,
    extras,
});
record!(LogicalParent { segment, storage, dbd });
record!(SourceSegment { segment, part, dbd });
record!(Compression { module, part, initialize, more });
record!(Rules { insert, delete, replace, place });
record!(Segment {
    name,
    level,
    code,
    parent,
    parent_pointer,
    logical_parent,
    max,
    min,
    variable,
    pointers,
    rules,
    sources,
    compression,
    sequential,
    subset_pointers,
    group,
    data_set,
    exits,
    frequency,
    fields,
    children,
    metadata,
    extras,
});
record!(LogicalChild {
    segment,
    dbd,
    pointer,
    pair,
    index,
    place,
    root_key_size,
    metadata,
    indexed,
});
record!(Field { name, kind, start, start_after, len, kind_of_data, metadata, marshal });
record!(IndexedField { name, source, constant, search, subsequence, data, null, exit, metadata });
record!(Psb {
    name,
    language,
    compatible,
    max_q,
    io_area_size,
    ssa_size,
    io_error,
    online_image_copy,
    gsam_backout,
    lock_max,
    write,
    pcbs,
    metadata,
});
record!(IoError { code, ask });
record!(Pcb { name, listed, kind, metadata });
record!(TerminalPcb { destination, alternate_response, same_terminal, modifiable, express });
record!(DatabasePcb {
    dbd,
    options,
    key_len,
    multiple_positions,
    sequence,
    sequence_of_dedb,
    sequential_buffering,
    msdb_view,
    db_version,
    segments,
});
record!(Sensitive { name, parent, options, subsets, indices, fields, metadata });
record!(SubsetUse { number, usage });
record!(SensitiveField { name, start, replace, metadata });
record!(GsamPcb { dbd, options });

impl Coding for FieldKind {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(match self {
            FieldKind::Data => 0,
            FieldKind::Key { unique: false } => 1,
            FieldKind::Key { unique: true } => 2,
            FieldKind::ConcatenatedKey => 3,
            FieldKind::Unique => 4,
        });
    }
    fn get(reader: &mut Reader<'_>) -> Option<FieldKind> {
        match reader.u8()? {
            0 => Some(FieldKind::Data),
            1 => Some(FieldKind::Key { unique: false }),
            2 => Some(FieldKind::Key { unique: true }),
            3 => Some(FieldKind::ConcatenatedKey),
            4 => Some(FieldKind::Unique),
            _ => None,
        }
    }
}

impl Coding for NullValue {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            NullValue::Byte(byte) => out.extend_from_slice(&[0, *byte]),
            NullValue::Blank => out.push(1),
            NullValue::Zero => out.push(2),
        }
    }
    fn get(reader: &mut Reader<'_>) -> Option<NullValue> {
        match reader.u8()? {
            0 => reader.u8().map(NullValue::Byte),
            1 => Some(NullValue::Blank),
            2 => Some(NullValue::Zero),
            _ => None,
        }
    }
}

impl Coding for PcbKind {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            PcbKind::Terminal(pcb) => {
                out.push(0);
                pcb.put(out);
            }
            PcbKind::Database(pcb) => {
                out.push(1);
                pcb.put(out);
            }
            PcbKind::Gsam(pcb) => {
                out.push(2);
                pcb.put(out);
            }
        }
    }
    fn get(reader: &mut Reader<'_>) -> Option<PcbKind> {
        match reader.u8()? {
            0 => TerminalPcb::get(reader).map(PcbKind::Terminal),
            1 => DatabasePcb::get(reader).map(PcbKind::Database),
            2 => GsamPcb::get(reader).map(PcbKind::Gsam),
            _ => None,
        }
    }
}
