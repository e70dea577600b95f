//! What the PCBs of a resolved PSB look like from the program's side.
//!
//! Invariants:
//! 1. The I/O PCB is number 0; the PCB at place n of the PSB is number n + 1.
//! 2. The I/O PCB is listed exactly where a program is given one (DLI-12.77).

use definitions::SegmentPart;
use definitions::resolve::{Index, ResolvedKind, ResolvedPcb, ResolvedPsb, View, ViewSegment};
use gsam::{Form, Gsam};
use region::IoFeedback;
use region::layout::{
    DatabaseLayout, FieldLayout, GsamLayout, NO_NAME, Name, PcbKind, PcbLayout, SegmentLayout, name,
};

use crate::moment::Moment;
use crate::options::{Options, User};

/// Bytes of a record search argument.
pub(crate) const RSA_BYTES: u8 = 8;
/// The longest message segment.
const MESSAGE_BYTES_MAX: u32 = 32_767;

/// What the I/O PCB of a program without messages shows from its start on: the moment, and who runs
/// it (DLI-4). As with a batch job on the host, the PSB stands for a user that there is
/// none of. \[K\]
pub(crate) fn io_feedback(psb: &ResolvedPsb, options: &Options, moment: Moment) -> IoFeedback {
    let (user, group, indicator) = match &options.user {
        Some(User { name, group }) => (named(name), named(group), b'U'),
        None => (*psb.name.bytes(), NO_NAME, b'P'),
    };
    let mut io = IoFeedback { user, group, indicator, ..IoFeedback::default() };
    moment.show(&mut io);
    io
}

/// The I/O PCB.
pub(crate) fn of_io(psb: &ResolvedPsb, online: bool, io: IoFeedback) -> PcbLayout {
    PcbLayout {
        name: name("IOPCB"),
        listed: online || psb.compatible,
        area_max: MESSAGE_BYTES_MAX,
        kind: PcbKind::Io(io),
    }
}

/// A PCB of the PSB; `area_max` is the longest path of a database, `file` the file of a GSAM PCB.
pub(crate) fn of_pcb(pcb: &ResolvedPcb, area_max: usize, file: Option<&Gsam>) -> PcbLayout {
    let (kind, area_max) = match &pcb.kind {
        ResolvedKind::Terminal(terminal) => {
            let destination =
                terminal.destination.as_ref().map_or(NO_NAME, |named| name(named.text()));
            (PcbKind::Alternate { destination }, MESSAGE_BYTES_MAX)
        }
        ResolvedKind::Database(view) => {
            let area_max = u32::try_from(area_max).unwrap_or(u32::MAX);
            (PcbKind::Database(of_view(view)), area_max)
        }
        ResolvedKind::Gsam(view) => {
            let form = file.map(Gsam::form);
            let layout = GsamLayout {
                dbd: *view.dbd.bytes(),
                options: *view.options.shown(),
                rsa_len: RSA_BYTES,
                undefined: matches!(form, Some(Form::Undefined { .. })),
            };
            let area_max = form.map_or(0, Form::area_bytes);
            (PcbKind::Gsam(layout), u32::try_from(area_max).unwrap_or(u32::MAX))
        }
    };
    let name = pcb.name.map_or(NO_NAME, |name| *name.bytes());
    PcbLayout { name, listed: pcb.listed, area_max, kind }
}

fn of_view(view: &View) -> DatabaseLayout {
    DatabaseLayout {
        dbd: *view.dbd.bytes(),
        organization: name(&view.organization.to_string()),
        options: *view.options.shown(),
        key_max: view.key_len,
        segments: view.segments.iter().map(|segment| of_segment(view, segment)).collect(),
    }
}

fn of_segment(view: &View, segment: &ViewSegment) -> SegmentLayout {
    let sequence = view.sequence.as_ref().filter(|_| segment.parent.is_none());
    let own_key = match sequence {
        Some(index) => index.search_len(),
        None => segment.key.map_or(0, |key| u32::from(key.len)),
    };
    let mut fields: Vec<FieldLayout> = segment
        .fields
        .iter()
        .map(|field| FieldLayout { name: *field.name.bytes(), len: field.len })
        .collect();
    for index in segment.indices.iter().chain(sequence) {
        let field = of_index(index);
        if !fields.iter().any(|known| known.name == field.name) {
            fields.push(field);
        }
    }
    let (variable, bytes_max) = size_of(segment);
    SegmentLayout {
        name: *segment.name.bytes(),
        bytes_max: half(bytes_max),
        variable,
        key_path: half(segment.key_at + own_key),
        fields,
    }
}

/// Whether a segment's length stands in front of it, and how long it is in an I/O area at most.
fn size_of(segment: &ViewSegment) -> (bool, u32) {
    if !segment.access.seen.is_empty() {
        return (false, segment.access.seen_len);
    }
    let own = if segment.part == SegmentPart::Data { u32::from(segment.form.max) } else { 0 };
    let joined = segment.destination.as_ref().filter(|one| one.part == SegmentPart::Data);
    let joined = joined.map_or(0, |one| u32::from(one.max));
    // A concatenated segment has more behind the part that its length counts.
    (segment.form.variable && joined == 0, own + joined)
}

/// What an XDFLD compares with: the search fields.
fn of_index(index: &Index) -> FieldLayout {
    FieldLayout { name: *index.name.bytes(), len: half(index.search_len()) }
}

fn half(len: u32) -> u16 {
    u16::try_from(len).unwrap_or(u16::MAX)
}

/// A program's or an identification's name, as programs see it.
pub(crate) fn named(text: &str) -> Name {
    name(&text.to_ascii_uppercase())
}
