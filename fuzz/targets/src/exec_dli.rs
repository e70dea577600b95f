//! EXEC DLI: COBOL sources with commands, and the descriptors that running programs pass.

use ::exec_dli::plan::{Items, SegmentSize, Segments, plan, scatter};
use ::exec_dli::{
    Area, Command, Condition, HEADER, Join, Members, Number, Operator, Options, Segment, Text,
    Verb, decode, encode, header, translate,
};

use crate::input::Input;

/// No item is read beyond this, whatever its length is said to be.
const ITEM_BYTES_MAX: usize = 64 << 10;

/// Members that copy themselves would else take long: they are read some thousand times then.
const MEMBER_BYTES_MAX: usize = 200;

/// Members that are the beginning of the source.
struct Same<'a>(&'a [u8]);

impl Members for Same<'_> {
    fn member(&self, name: &str) -> Option<Vec<u8>> {
        let text = &self.0[..self.0.len().min(MEMBER_BYTES_MAX)];
        name.starts_with('M').then(|| text.to_vec())
    }
}

/// A program whose items are all alike.
struct Program<'a> {
    numbers: Input<'a>,
    item: &'a [u8],
}

impl Items for Program<'_> {
    fn number(&mut self, _slot: u8) -> i32 {
        i32::from(self.numbers.word() as i16)
    }

    fn item(&mut self, parameter: u8, length: usize) -> Option<Vec<u8>> {
        assert!(length <= ITEM_BYTES_MAX, "an item of {length} bytes is asked for");
        let all = self.item.iter().copied().chain(std::iter::repeat(b' '));
        (parameter != 7).then(|| all.take(length).collect())
    }
}

/// Segments of both kinds.
struct Sizes;

impl Segments for Sizes {
    fn size(&self, pcb: u16, segment: &[u8; 8]) -> Option<SegmentSize> {
        match (pcb % 2, segment[0]) {
            (0, _) => None,
            (_, b'V') => Some(SegmentSize::Variable),
            (_, first) => Some(SegmentSize::Fixed(usize::from(first))),
        }
    }
}

/// Bytes are a descriptor of a running program, and a source in both formats.
///
/// # Panics
/// If a command does not survive its descriptor, or if a line of a source moves.
pub fn fuzz(bytes: &[u8]) {
    descriptor(bytes);
    for is_free in [false, true] {
        let options = Options { file: "any.cbl", is_free };
        let made = translate(bytes, &options, &Same(bytes));
        assert_eq!(made.text.len(), bytes.len());
        let ends = |text: &[u8]| {
            let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            ends.map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(ends(&made.text), ends(bytes));
        for printed in &made.diagnostics {
            assert!(printed.to_string().contains(printed.code));
        }
    }
}

fn descriptor(bytes: &[u8]) {
    let Ok(command) = decode(bytes) else { return };
    let first = bytes.first_chunk::<HEADER>().expect("it was decoded");
    let header = header(first).expect("it was decoded");
    let again = encode(&command, header.parameters, header.numbers).expect("it fitted");
    assert_eq!(decode(&again).as_ref(), Ok(&command));
    let rest = &bytes[header.length..];
    let mut program = Program { numbers: Input::new(rest), item: rest };
    let Ok(plan) = plan(&command, &mut program, &Sizes) else { return };
    for pcb in [0, 1] {
        for (room, piece) in scatter(&plan.outputs, pcb, bytes, &Sizes, program.order()) {
            assert!(piece.len() <= room.length, "{room:?} gets {} bytes", piece.len());
        }
    }
}

/// Programs with all commands, their descriptors, and ones that a program might pass.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let verbs = include_bytes!("../../../crates/programs/exec-dli/tests/programs/verbs.cbl");
    let teller = include_bytes!("../../../crates/programs/exec-dli/tests/programs/teller.cbl");
    let short = b"       ID DIVISION.\n       PROGRAM-ID. A.\n       DATA DIVISION.\n\
        \x20      WORKING-STORAGE SECTION.\n       01 B PIC X(9).\n       PROCEDURE DIVISION.\n\
        \x20          EXEC DLI GU USING PCB(1) SEGMENT(C) INTO(B)\n\
        \x20            WHERE(D = 'E') END-EXEC.\n           COPY MINE.\n";
    let mut seeds = vec![verbs.to_vec(), teller.to_vec(), short.to_vec()];
    seeds.extend(commands().iter().map(|command| {
        let descriptor = encode(command, 8, 8).expect("a short command fits");
        // Behind it numbers, which are items as well.
        [&descriptor[..], b"\x01\0\x08\0\x04\0VISIT   ABCDEFGH"].concat()
    }));
    seeds
}

/// A get of a path, an insert, and a command of every other verb.
fn commands() -> Vec<Command> {
    let area = |parameter| Some(Area { parameter, length: Number::Literal(8) });
    let shop = Segment {
        name: Text::Literal(b"SHOP".to_vec()),
        area: area(2),
        conditions: vec![Condition {
            join: Join::And,
            field: b"NUMBER".to_vec(),
            operator: Operator::Equal,
            value: Text::Area(Area { parameter: 3, length: Number::Slot(1) }),
        }],
        ..Segment::default()
    };
    let visit = Segment {
        name: Text::Area(Area { parameter: 4, length: Number::Literal(8) }),
        is_variable: true,
        is_last: true,
        area: area(5),
        lock: Some(Text::Literal(b"A".to_vec())),
        ..Segment::default()
    };
    let all = Verb::ALL.into_iter().map(|verb| Command {
        pcb: Some(Number::Slot(0)),
        name: Some(Text::Literal(b"TOKEN".to_vec())),
        area: area(2),
        feedback: area(6),
        saved: area(3).into_iter().collect(),
        segments: vec![shop.clone(), visit.clone()],
        ..Command::new(verb)
    });
    all.collect()
}
