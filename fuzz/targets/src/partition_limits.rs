//! Control statements that limit PCBs to partitions: cards that people write.

use schedule::haldb::{STATEMENTS_MAX, Statement, Which, parse};

/// What is accepted, written out and read again, is the same; what is not is named with a card and
/// a column that are there.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    let statements = match parse(bytes) {
        Ok(statements) => statements,
        Err(fault) => {
            let lines = bytes.split(|byte| *byte == b'\n').count().max(bytes.len().div_ceil(80));
            assert!((1..=lines).contains(&fault.card), "{fault:?}");
            assert!((1..=72).contains(&fault.column) && !fault.why.is_empty(), "{fault:?}");
            return;
        }
    };
    assert!(statements.len() <= STATEMENTS_MAX);
    let cards: String = statements.iter().map(card).collect();
    let again = parse(cards.as_bytes()).expect("what was accepted once");
    let same = again.iter().zip(&statements).all(|(one, other)| {
        (&one.pcb, &one.partition, one.count) == (&other.pcb, &other.partition, other.count)
    });
    assert!(same && again.len() == statements.len(), "{cards}");
}

fn card(statement: &Statement) -> String {
    let Statement { pcb, partition, count, .. } = statement;
    match pcb {
        Which::Number(number) => format!("HALDB PCB=({number},{partition},NUM={count})\n"),
        Which::Name(name) => format!("HALDB PCB=({name},{partition},NUM={count})\n"),
    }
}

/// Statements of every form.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let fixed = format!("{:72}00000010{:80}", "HALDB PCB=(1,P1)", " HALDB PCB=(2,P2,NUM=3)");
    vec![
        b"HALDB PCB=(2,HIST01)\n* A COMMENT\nHALDB PCB=(HISTPCB,HIST02,NUM=3)  WHY\n".to_vec(),
        b"haldb pcb=(0012,$a,7)\r\n\r\nHALDB PCB=(0012,$B)\r\n".to_vec(),
        fixed.into_bytes(),
        b"HALDB PCB=(1,PARTITION)\n".to_vec(),
    ]
}
