//! No input makes reading panic, hang, or say something that cannot be shown.

use std::path::{Path, PathBuf};

use holdfast_macros::{CopyMembers, Program, Sources, Value, read};
use proptest::prelude::*;

/// Members that copy and call each other.
struct Members;

impl CopyMembers for Members {
    fn find(&self, name: &str) -> Option<(PathBuf, Vec<u8>)> {
        let text = match name {
            "M" => " MACRO\n&L M &P,&Q=1,&R=(A,B)\n&L A &P(1),&Q,&R(2)\n M &P\n MEND\n",
            "A" => " COPY B\n AGO .S\n B &V\n.S ANOP\n",
            "B" => " COPY A\n",
            _ => return None,
        };
        Some((PathBuf::from(name), text.as_bytes().to_vec()))
    }
}

fn check(bytes: &[u8]) {
    let read_once = || {
        let mut sources = Sources::new();
        let program = read(&mut sources, Path::new("any"), bytes, &Members);
        (program, sources)
    };
    let (program, sources) = read_once();
    assert_eq!(program, read_once().0);
    for printed in &program.diagnostics {
        assert!(sources.show(printed).contains(printed.code));
        assert!(
            printed.place.card == 0 || sources.card(printed.place).is_some() || bytes.is_empty()
        );
    }
    check_statements(&program, &sources);
}

fn check_statements(program: &Program, sources: &Sources) {
    for statement in &program.statements {
        assert!(!statement.op.text.is_empty());
        assert!(sources.card(statement.place).is_some());
        for operand in &statement.operands {
            check_value(&operand.value, sources, 0);
        }
    }
}

fn check_value(value: &Value, sources: &Sources, depth: usize) {
    let place = value.place();
    let card = sources.card(place).expect("a value is on a card");
    assert!(place.len >= 1 && place.column >= 1);
    assert!(usize::from(place.column) <= card.chars().count().max(71) + 1);
    assert!(depth <= 16);
    if let Value::List(values, _) = value {
        values.iter().for_each(|value| check_value(value, sources, depth + 1));
    }
}

const TOKENS: &[&str] = &[
    "\n",
    "\n ",
    "\n         ",
    " ",
    "&",
    "&V",
    "&P",
    "&L",
    "&&",
    "'",
    "''",
    "(",
    ")",
    "((",
    "))",
    ",",
    ".",
    "=",
    "*",
    "+",
    "-",
    "/",
    "1",
    "0",
    "99999999999",
    "A",
    "M",
    "B",
    ".S",
    "L'",
    "T'&P",
    "K'&V",
    "N'&SYSLIST",
    "&SYSLIST(",
    "&SYSNDX",
    "X'FF'",
    "NAME=",
    "Q=",
    "R=(A,,B)",
    "(1,2)",
    "'ABC'(2,1)",
    " EQ ",
    " NE ",
    " AND ",
    " OR ",
    " NOT ",
    " MACRO\n",
    " MEND\n",
    " MEXIT\n",
    " M ",
    "\n&V SETA ",
    "\n&V SETB ",
    "\n&W SETC ",
    "\n GBLA &V",
    "\n LCLC &W",
    "\n AIF (",
    ").S",
    "\n AGO .S",
    "\n.S ANOP",
    "\n MNOTE 8,",
    "\n COPY A",
    "\n ACTR 9",
    "\n SEGM ",
    "\n               ",
    "\n*",
    "\n.*",
    "\t",
    "\r\n",
    "é",
    "\u{0}",
    "\n MACRO\n&L M &P,&Q=2\n",
    "                                                                      ",
    ",                                                               X",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        check(&bytes);
    }

    #[test]
    fn any_soup_of_tokens_is_read(
        picks in proptest::collection::vec(0..TOKENS.len(), 0..120),
        is_fixed: bool,
    ) {
        let text: String = picks.iter().map(|pick| TOKENS[*pick]).collect();
        check(text.as_bytes());
        if is_fixed {
            let cut = |card: &str| format!("{:<80}", card.get(..80).unwrap_or(card));
            let cards: String = text.lines().map(cut).collect();
            let bytes: Vec<u8> = cards
                .chars()
                .map(|ch| codec::CodePage::Cp037.byte(ch).unwrap_or(0x6f))
                .collect();
            check(&bytes);
        }
    }
}

#[test]
fn damaged_sources_are_read() {
    let source = " MACRO\n&L FIELDS &COUNT,&KIND=K\n LCLA &I\n ACTR 40\n.LOOP ANOP\n&I SETA &I+1\n \
                  AIF (&I GT &COUNT).DONE\n AIF ('&KIND'(1,1) EQ 'K' AND NOT (&I EQ 1)).LOOP\n\
                  &L FIELD NAME=(F&I,SEQ,U),BYTES=4,X='it''s &KIND'\n AGO .LOOP\n.DONE MEND\n\
                  X FIELDS 4,KIND=(A,'B'),                                              X\n\
                  \x20              comment\n COPY A\n M (A,(B)),Q=\n END\n";
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for _ in 0..1_500 {
        let mut bytes = source.as_bytes().to_vec();
        for _ in 0..=random(5) {
            let at = random(bytes.len());
            match random(5) {
                0 => bytes[at] = random(256) as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"'(),&. \n"[random(8)]),
                3 => bytes.swap(at, 0),
                _ => {
                    let end = (at + random(40)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = random(bytes.len());
                    bytes.splice(to..to, part);
                }
            }
        }
        check(&bytes);
    }
}
