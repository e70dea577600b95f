//! What holds for every source, every descriptor and every command.

use holdfast_exec_dli::plan::{Items, SegmentSize, Segments, plan};
use holdfast_exec_dli::{
    Area, Command, Condition, Join, Members, Number, Operator, Options, Segment, Subset, Text,
    Verb, decode, encode, translate,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const PARAMETERS: u8 = 9;
const NUMBERS: u8 = 7;

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![any::<i32>().prop_map(Number::Literal), (0..NUMBERS).prop_map(Number::Slot)]
}

fn area() -> impl Strategy<Value = Area> {
    (0..PARAMETERS, number()).prop_map(|(parameter, length)| Area { parameter, length })
}

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![vec(any::<u8>(), 0..20).prop_map(Text::Literal), area().prop_map(Text::Area)]
}

prop_compose! {
    fn condition()(
        join in select(Join::ALL.to_vec()), field in vec(any::<u8>(), 1..9),
        operator in select(Operator::ALL.to_vec()), value in text(),
    ) -> Condition {
        Condition { join, field, operator, value }
    }
}

prop_compose! {
    fn segment()(
        name in text(), flags in any::<[bool; 5]>(), area in option::of(area()),
        offset in option::of(number()), lock in option::of(text()), keys in option::of(text()),
        subsets in vec((select(b"MRSWZ".to_vec()), text()), 0..3),
        conditions in vec(condition(), 0..4),
    ) -> Segment {
        let [is_variable, is_first, is_last, is_current, sets_parent] = flags;
        let subset = |(code, pointers)| Subset { code, pointers };
        let subsets = subsets.into_iter().map(subset).collect();
        Segment {
            name, is_variable, is_first, is_last, is_current, sets_parent, area, offset, lock,
            subsets, keys, conditions,
        }
    }
}

prop_compose! {
    fn command()(
        verb in select(Verb::ALL.to_vec()), pcb in option::of(number()),
        name in option::of(text()), area in option::of(area()), most in option::of(number()),
        feedback in option::of(area()), saved in vec(area(), 0..7),
        segments in vec(segment(), 0..5),
    ) -> Command {
        Command { verb, pcb, name, area, most, feedback, saved, segments }
    }
}

struct Program {
    numbers: Vec<i32>,
    item: Vec<u8>,
}

impl Items for Program {
    fn number(&mut self, slot: u8) -> i32 {
        self.numbers[usize::from(slot)]
    }

    fn item(&mut self, _parameter: u8, length: usize) -> Option<Vec<u8>> {
        self.item.get(..length).map(<[u8]>::to_vec)
    }
}

struct Sizes(Option<SegmentSize>);

impl Segments for Sizes {
    fn size(&self, _pcb: u16, _segment: &[u8; 8]) -> Option<SegmentSize> {
        self.0
    }
}

struct Same(Vec<u8>);

impl Members for Same {
    fn member(&self, name: &str) -> Option<Vec<u8>> {
        name.starts_with('M').then(|| self.0.clone())
    }
}

/// Words that bring a source near to something that is translated.
fn words() -> impl Strategy<Value = String> {
    let words = [
        "EXEC DLI",
        "END-EXEC",
        "GU",
        "ISRT",
        "USING PCB(1)",
        "SEGMENT(A)",
        "INTO(B)",
        "FROM(",
        "WHERE(A=B",
        "AND",
        ")",
        "(",
        ",",
        ".",
        "'",
        "\"",
        "==",
        "COPY M",
        "REPLACE",
        "*>",
        "\n",
        "\n      -    ",
        "\n      * ",
        "\n000010 ",
        "\n       ",
        "\t",
        "PROCEDURE DIVISION",
        "ID DIVISION.",
        "PROGRAM-ID. X.",
        "END PROGRAM",
        "\n CBL X\n",
        "USING",
        "ENTRY",
        "É",
        "\n       >>SOURCE FREE\n",
        "DATA DIVISION.",
        "LINKAGE SECTION.",
        "KEYS(:",
        "X'0",
        "\r\n",
    ];
    vec(select(words.to_vec()), 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn a_command_survives_its_descriptor(command in command()) {
        let bytes = encode(&command, PARAMETERS, NUMBERS).expect("it is short enough");
        prop_assert_eq!(decode(&bytes), Ok(command));
    }

    #[test]
    fn no_bytes_make_decoding_panic(
        bytes in vec(any::<u8>(), 0..80), command in command(), at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let _ = decode(&bytes);
        let mut damaged = encode(&command, PARAMETERS, NUMBERS).expect("it is short enough");
        let at = at.index(damaged.len());
        damaged[at] = byte;
        let _ = decode(&damaged);
        let _ = decode(&damaged[..at]);
    }

    #[test]
    fn no_values_make_planning_panic(
        command in command(), numbers in vec(-3_i32..40, usize::from(NUMBERS)),
        item in vec(any::<u8>(), 0..40), size in option::of(0..30_usize),
    ) {
        let size = size.map(|len| match len {
            0 => SegmentSize::Variable,
            len => SegmentSize::Fixed(len),
        });
        let _ = plan(&command, &mut Program { numbers, item }, &Sizes(size));
    }

    #[test]
    fn no_source_makes_translating_panic(
        source in words(), member in words(), free in any::<bool>(),
    ) {
        let options = Options { file: "a\"b\n", is_free: free };
        let made = translate(source.as_bytes(), &options, &Same(member.into_bytes()));
        prop_assert_eq!(made.text.len(), source.len());
    }

    #[test]
    fn no_damage_to_a_program_makes_translating_panic(
        at in any::<prop::sample::Index>(), len in 0..40_usize, with in words(),
        twice in any::<bool>(),
    ) {
        let mut source = include_bytes!("../programs/verbs.cbl").to_vec();
        let at = at.index(source.len());
        let end = source.len().min(at + len);
        let with = if twice { source[at..end].repeat(2) } else { with.into_bytes() };
        source.splice(at..end, with);
        let options = Options { file: "a", is_free: false };
        let made = translate(&source, &options, &Same(source.clone()));
        prop_assert_eq!(made.text.len(), source.len());
    }

    #[test]
    fn no_bytes_make_translating_panic(source in vec(any::<u8>(), 0..400)) {
        let options = Options { file: "a", is_free: false };
        let made = translate(&source, &options, &Same(source.clone()));
        prop_assert_eq!(made.text.len(), source.len());
    }

    #[test]
    fn a_source_without_commands_and_cards_comes_out_as_it_went_in(
        lines in vec("[ -~\t]{0,90}", 0..12), crlf in any::<bool>(),
    ) {
        let source = lines.join(if crlf { "\r\n" } else { "\n" });
        let upper = source.to_ascii_uppercase();
        prop_assume!(!["EXEC", "CBL", "PROCESS", "CONTROL"].iter().any(|w| upper.contains(w)));
        let options = Options { file: "a", is_free: false };
        let made = translate(source.as_bytes(), &options, &Same(Vec::new()));
        prop_assert_eq!(made.text, source.as_bytes());
        prop_assert_eq!(made.members.len(), 0);
    }
}
