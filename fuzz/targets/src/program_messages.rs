//! Message calls of programs: whatever they insert, wherever they send it, whenever they commit.

use std::sync::Arc;

use control::{AlternatePcb, Control, Ending, NoSystem, Options, ProgramMessages, Region};
use otma::{
    CommitMode, Encoding, Event, Identity, Input, InputOptions, Manager as _, Name, Partner,
    Segments, Settlement, SyncLevel, Ticket,
};
use queues::{Kind, QueueName};
use resources::{Change, Definition, Kind as ResourceKind};
use schedule::messages::{Messages as _, TerminalPcb};
use seam::Seam;
use store::{Store as _, Unit as _, UnitOptions};
use store_suite::model::ModelStore;

use crate::input::Input as Bytes;

/// Inputs that a program may get.
const INPUTS: usize = 3;
/// Calls that it makes at most.
const CALLS_MAX: usize = 64;

/// Nobody listens.
struct Deaf;

impl Partner for Deaf {
    fn event(&self, _ticket: Ticket, _event: Event) {}
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap_or_default()
}

fn open() -> Option<(ModelStore, Control<ModelStore>)> {
    let store = ModelStore::new();
    let options = Options { failures_max: u32::MAX, any_terminal: true, ..Options::default() };
    let control = Control::open(&store, &Seam::real(), Arc::new(NoSystem), options).ok()?;
    let mut changes = Vec::new();
    for (code, settings) in [("TALK", &[("CONV", "Y"), ("SPASZ", "30")][..]), ("PART", &[])] {
        let program = format!("P{code}");
        let mut one = Definition::new(ResourceKind::Transaction, name(code));
        one.set("PGM", &program).ok()?;
        settings.iter().try_for_each(|(name, value)| one.set(name, value)).ok()?;
        let program = Definition::new(ResourceKind::Program, name(&program));
        changes.extend([Change::Put(program), Change::Put(one)]);
    }
    control.apply(&changes).ok()?;
    Some((store, control))
}

fn submit(control: &Control<ModelStore>, code: &str, number: usize, direct: bool) {
    let mut segments = Segments::new();
    let _ = segments.push([0; 2], format!("{code} {number}").as_bytes());
    let input = Input {
        transaction: name(code),
        segments,
        client: name(&format!("CLIENT{number}")),
        tpipe: Name::BLANK,
        terminal: Name::BLANK,
        mod_name: Name::BLANK,
        identity: Identity::default(),
        mode: if direct { CommitMode::SendThenCommit } else { CommitMode::CommitThenSend },
        sync_level: SyncLevel::None,
        encoding: if number == 1 { Encoding::Ebcdic } else { Encoding::Ascii },
        options: InputOptions::default(),
        correlator: None,
    };
    control.submit(input, Arc::new(Deaf)).expect("it is taken in");
}

type Program = ProgramMessages<ModelStore>;

/// A program's calls for a message as the bytes say; whether it ends its unit of work well.
fn calls(program: &mut Program, bytes: &mut Bytes<'_>) -> bool {
    for _ in 0..CALLS_MAX {
        let kind = bytes.byte();
        let pcb = match kind >> 4 {
            number @ 1..=3 => TerminalPcb::Alternate(usize::from(number)),
            _ => TerminalPcb::Io,
        };
        let length = usize::from(bytes.byte());
        let segment = bytes.take(length).to_vec();
        let length = segment.len();
        let mod_name = segment.first_chunk::<8>().copied().filter(|_| kind & 8 != 0);
        let status = match kind & 7 {
            0 => return kind & 0x40 == 0,
            1 => program.next_segment().map_or_else(|status| status, |one| one.status),
            2 => program.purge(pcb, (length > 3).then_some(&segment[..]), mod_name),
            3 => program.change(1, segment.first_chunk().copied().unwrap_or(*b"PART    ")),
            4 => {
                let mark = program.mark().unwrap_or_default();
                program.return_to(mark.saturating_sub(u64::from(kind >> 6)));
                *b"  "
            }
            _ if length > 3 => {
                // The schedule above has made it as long as it says.
                let head = (length as u16).to_be_bytes();
                program.insert(pcb, &[&head[..], &segment[2..]].concat(), mod_name)
            }
            _ => *b"QF",
        };
        assert!(status.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '), "{status:?}");
        if bytes.is_empty() {
            return true;
        }
    }
    true
}

/// Runs what is scheduled to its end.
fn run(store: &ModelStore, region: &Region<ModelStore>, bytes: &mut Bytes<'_>) {
    let scheduled = region.next().expect("there is work");
    let pcb = |number| AlternatePcb { number, modifiable: number == 1, ..AlternatePcb::default() };
    let fixed = AlternatePcb { destination: name("PRINTER"), express: true, ..pcb(2) };
    let response = AlternatePcb { destination: name("CLIENT0"), response: true, ..pcb(3) };
    let mut program = region.messages(&scheduled, &[pcb(1), fixed, response]);
    let ending = loop {
        let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
        match program.next_message(&mut unit) {
            Ok(Some(_)) => {}
            Ok(None) => break Ending::Normal,
            Err(abend) => break Ending::Abend { code: abend.code, text: abend.text },
        }
        let good = calls(&mut program, bytes) && program.prepare(&mut unit).is_ok();
        if good {
            unit.commit().expect("it is durable");
            program.committed();
        } else {
            unit.backout().expect("backout");
            program.backed_out(false);
            break Ending::Abend { code: "S0C7".to_owned(), text: String::new() };
        }
    };
    drop(program);
    region.ended(scheduled, &ending);
}

/// Whatever a program does, its calls end with a status, every input is processed or a dead letter,
/// and what it has sent can be taken and read.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let Some((store, control)) = open() else { return };
    let direct = bytes.byte() & 1 == 1;
    for number in 0..INPUTS {
        submit(&control, if number == 2 { "PART" } else { "TALK" }, number, direct);
    }
    let region = control.region(&[1], "MPP1", false);
    let waits = |code: &str| control.queue(QueueName::input(name(code))).waiting;
    for _ in 0..4 * INPUTS {
        if waits("TALK") + waits("PART") == 0 {
            break;
        }
        run(&store, &region, &mut bytes);
    }
    let held = |code: &str| control.queue(QueueName::input(name(code)));
    for code in ["TALK", "PART"] {
        let figures = held(code);
        assert_eq!((figures.taken, figures.coming), (0, 0), "{code} is in nobody's hands");
    }
    for (queue, _) in control.queues(Kind::Output) {
        while let Some(output) = control.take(queue.name).expect("the store works") {
            let bytes = output.segments.as_bytes().to_vec();
            Segments::from_bytes(bytes).expect("whole segments");
            let (name, id) = (queue.name, output.id);
            let settled = control.settle(name, id, Settlement::Delivered, Box::new(|_| ()));
            settled.expect("it was taken");
        }
    }
    for code in ["TALK", "PART"] {
        control.dead_letters(name(code), 99).expect("they can be read");
    }
}

/// A program that answers, one that switches, one that fails.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let insert = |pcb: u8, text: &[u8]| {
        [&[pcb << 4 | 5, text.len() as u8 + 4, 0, 0, 0, 0][..], text].concat()
    };
    let spa = |name: &[u8; 8]| [&[5_u8, 30, 0, 30, 0, 0, 0, 0][..], name, &[7; 16]].concat();
    let end = [0_u8, 0];
    vec![
        [&[0][..], &insert(0, b"DONE"), &end, &insert(0, b"DONE AGAIN"), &end].concat(),
        [&[1][..], &[3, 8], b"PART    ", &insert(1, b"PART 9"), &spa(b"        "), &end].concat(),
        [&[0][..], &spa(b"TALK    "), &insert(2, b"PRINT"), &[0x22, 0], &[0x40, 0]].concat(),
        vec![0, 1, 0, 4, 0, 0x44, 0, 0x35, 6, 0, 0, 0, 0, 1, 2],
    ]
}
