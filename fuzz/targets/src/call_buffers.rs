//! Call buffers: what a program's process writes for a running system, and the answers to it.

/// No bytes harm either side, and what is accepted stays within what was sent.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    region::exercise(bytes);
}

/// A call as bytes, in the layout of `region::wire`.
fn call(
    function: &[u8; 4],
    flags: u8,
    aib: &[u8],
    ssas: &[&[u8]],
    more: &[&[u8]],
    area: &[u8],
) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend_from_slice(function);
    out.extend_from_slice(&[0, 0, flags, ssas.len() as u8, more.len() as u8, 0, 0, 0]);
    let bytes = (area.len() as u32).to_le_bytes();
    out.extend_from_slice(&(area.len() as u32 * 2).to_le_bytes());
    out.extend_from_slice(&bytes);
    out.extend_from_slice(aib);
    for item in ssas.iter().chain(more) {
        out.extend_from_slice(&(item.len() as u32).to_le_bytes());
        out.extend_from_slice(item);
    }
    out.extend_from_slice(area);
    let len = (out.len() as u32).to_le_bytes();
    out[..4].copy_from_slice(&len);
    out
}

/// A call of a PCB with further parameters and an area.
pub(crate) fn call_of(function: &[u8; 4], pcb: u16, more: &[&[u8]], area: &[u8]) -> Vec<u8> {
    let mut out = call(function, if area.is_empty() { 0 } else { 2 }, b"", &[], more, area);
    out[8..10].copy_from_slice(&pcb.to_le_bytes());
    out
}

/// The end of a program.
pub(crate) fn end() -> Vec<u8> {
    call(b"    ", 8, b"", &[], &[], b"")
}

/// Calls alone and together, an answer, shapes, and a search argument.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    const AIB: u8 = 1;
    const AREA: u8 = 2;
    const NO_ANSWER: u8 = 4;
    const NORMAL_END: u8 = 8;
    let ssa: &[u8] = b"ROOT    *D(KEY      =ABC&KEY     !=DEF)";
    let get = call(b"GHU ", AREA, b"", &[ssa, b"ROOT    "], &[], &[0; 12]);
    let checkpoint = call(b"CHKP", AREA, b"", &[], &[b"\0\0\0\x04", b"kept"], b"STEP0001");
    let with_aib = call(b"INQY", AIB | AREA, &[0; 48], &[], &[], &[0; 20]);
    let logged = call(b"LOG ", AREA | NO_ANSWER, b"", &[], &[], b"\0\x09\0\0\xA0text");
    let end = call(b"    ", NORMAL_END, b"", &[], &[], b"");
    let mut answer = vec![0, 0, 1, 0, 4, 0, 0, 0];
    answer.extend_from_slice(&[0; 16]);
    answer.extend_from_slice(&[0, 0, 0, 1, b' ', b' ', 3, 0]);
    answer.extend_from_slice(b"ROOT    ABCdata");
    vec![
        [&logged[..], &get].concat(),
        [&logged[..], &end].concat(),
        get,
        checkpoint,
        with_aib,
        answer,
        region::layout::encode(&layouts()),
        ssa.to_vec(),
    ]
}

/// A PCB of each kind.
fn layouts() -> Vec<region::layout::PcbLayout> {
    use region::IoFeedback;
    use region::layout::{
        DatabaseLayout, FieldLayout, GsamLayout, PcbKind, PcbLayout, SegmentLayout, name,
    };
    let root = SegmentLayout {
        name: name("ROOT"),
        bytes_max: 9,
        variable: false,
        key_path: 3,
        fields: vec![FieldLayout { name: name("KEY"), len: 3 }],
    };
    let database = DatabaseLayout {
        dbd: name("DB"),
        organization: name("HIDAM"),
        options: *b"AP  ",
        key_max: 3,
        segments: vec![root],
    };
    let file = GsamLayout { dbd: name("FILE"), options: *b"GS  ", rsa_len: 8, undefined: true };
    let kinds = [
        PcbKind::Io(IoFeedback::default()),
        PcbKind::Alternate { destination: name("OUT") },
        PcbKind::Database(database),
        PcbKind::Gsam(file),
    ];
    let layout = |kind| PcbLayout { name: name("ANY"), listed: true, area_max: 64, kind };
    kinds.into_iter().map(layout).collect()
}
