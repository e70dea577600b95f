//! Control statements that limit PCBs to partitions, as DD DFSHALDB brings them (DLI-12.76).
//!
//! ```text
//! HALDB PCB=(2,HIST01)            the second database PCB sees partition HIST01 alone
//! HALDB PCB=(HISTPCB,HIST02,NUM=3)      this one HIST02 and the two behind it
//! ```
//!
//! | part | is |
//! |---|---|
//! | first | the number of a database PCB, counted from 1 without the PCBs of other kinds, or its name |
//! | second | a partition of its database; with PROCSEQ= one of that index |
//! | third | how many partitions, in the order of selection; `NUM=` may be left out; 1 if none is given |
//!
//! Invariants:
//! 1. A statement is one card. Columns 72 to 80 are not read; a card with `*` in column 1, a blank
//!    one, and what stands behind a blank after the statement are comments.
//! 2. Of two statements for one PCB the later one holds; there are [`STATEMENTS_MAX`] PCBs at most.
//! 3. What is wrong is named with its card and column, and nothing is scheduled then. The host ends
//!    such a step with U0201 (a statement) or U0202 (no such PCB or partition).

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use definitions::DbdName;
use definitions::resolve::{ResolvedKind, ResolvedPsb, View};
use gsam::FileSpec;
use hierarchy::Database;
use placement::Partition;
use seam::disk::{Disk, read_small};

pub use crate::error::CardFault;
use crate::error::ScheduleError;

/// The DD of the statements.
pub(crate) const DD: &str = "DFSHALDB";
/// Statements at most, as on the host.
pub const STATEMENTS_MAX: usize = 20;
/// A file of statements is no longer than this.
const BYTES_MAX: usize = 64 << 10;
/// The columns of a card, and the last one that is read.
const COLUMNS: usize = 80;
const LAST: usize = 71;

/// Which PCB a statement is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The database PCB of this number, from 1.
    Number(usize),
    /// The database PCB of this name.
    Name(String),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its card, from 1.
    pub card: usize,
    /// Which PCB.
    pub pcb: Which,
    /// The first partition.
    pub partition: String,
    /// How many.
    pub count: u16,
}

/// Reads statements.
///
/// # Errors
/// The first card that is none.
pub fn parse(bytes: &[u8]) -> Result<Vec<Statement>, CardFault> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let cards: Vec<&[u8]> = match bytes.contains(&b'\n') {
        true => bytes.split(|byte| *byte == b'\n').collect(),
        false => bytes.chunks(COLUMNS).collect(),
    };
    let mut statements: Vec<Statement> = Vec::new();
    for (card, text) in (1..).zip(cards) {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let text = &text[..text.len().min(LAST)];
        if text.starts_with(b"*") || text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let mut scan = Scan { text, at: 0 };
        let statement = scan.statement(card);
        let statement = statement.map_err(|why| CardFault { card, column: scan.at + 1, why })?;
        statements.retain(|other| other.pcb != statement.pcb);
        if statements.len() == STATEMENTS_MAX {
            let why = format!("there are more than {STATEMENTS_MAX} statements");
            return Err(CardFault { card, column: 1, why });
        }
        statements.push(statement);
    }
    Ok(statements)
}

/// A card that is read from left to right; what fails leaves it where the wrong word begins.
struct Scan<'c> {
    text: &'c [u8],
    at: usize,
}

impl Scan<'_> {
    fn statement(&mut self, card: usize) -> Result<Statement, String> {
        self.blanks();
        self.word("HALDB")?;
        if self.blanks() == 0 {
            return Err("a blank has to stand behind HALDB".into());
        }
        self.word("PCB=(")?;
        let pcb = self.name(8, "the number or the name of a PCB")?;
        let pcb = match pcb.bytes().all(|byte| byte.is_ascii_digit()) {
            false => Which::Name(pcb),
            true => match pcb.parse() {
                Ok(number) if (1..=9999).contains(&number) => Which::Number(number),
                _ => return Err(self.back(pcb.len(), "the number of a PCB is 1 to 9999")),
            },
        };
        self.word(",")?;
        let partition = self.name(7, "the name of a partition")?;
        let mut count = 1;
        if self.peek() == Some(b',') {
            self.at += 1;
            if self.peek().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'N')) {
                self.word("NUM=")?;
            }
            let digits = self.name(4, "how many partitions")?;
            count = match digits.parse() {
                Ok(count) if count > 0 => count,
                _ => return Err(self.back(digits.len(), "a number of partitions is 1 to 9999")),
            };
        }
        self.word(")")?;
        match self.peek() {
            None | Some(b' ' | b'\t') => Ok(Statement { card, pcb, partition, count }),
            Some(_) => Err("nothing but a comment may stand behind the statement".into()),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) -> usize {
        let from = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.at - from
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        let found = self.text.get(self.at..self.at + word.len());
        if !found.is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes())) {
            return Err(format!("{word} is expected"));
        }
        self.at += word.len();
        Ok(())
    }

    fn name(&mut self, most: usize, what: &str) -> Result<String, String> {
        let letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'#' | b'@');
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|byte| !letter(byte)).unwrap_or(rest.len());
        if !(1..=most).contains(&len) {
            return Err(format!("{what} is expected, {most} letters or digits at most"));
        }
        self.at += len;
        Ok(String::from_utf8_lossy(&rest[..len]).to_ascii_uppercase())
    }

    fn back(&mut self, len: usize, why: &str) -> String {
        self.at -= len;
        why.to_owned()
    }
}

/// A database PCB by its place in the PSB, and the partitions that it is limited to.
pub(crate) type Limit = (usize, RangeInclusive<u16>);

/// The limits that the file of the DD asks for; none without one.
pub(crate) fn limits(
    disk: &dyn Disk,
    file: Option<FileSpec>,
    psb: &ResolvedPsb,
    open: &mut dyn FnMut(DbdName) -> hierarchy::Result<Arc<Database>>,
) -> Result<Vec<Limit>, ScheduleError> {
    let Some(FileSpec { path, .. }) = file else { return Ok(Vec::new()) };
    let bytes = read_small(disk, &path, BYTES_MAX)
        .map_err(|error| ScheduleError::CardsUnread { path: path.clone(), error })?;
    let statements =
        parse(&bytes).map_err(|fault| ScheduleError::Card { path: path.clone(), fault })?;
    let mut limits: Vec<Limit> = Vec::with_capacity(statements.len());
    for statement in &statements {
        let limit = limit(statement, &path, psb, open)?;
        limits.retain(|(slot, _)| *slot != limit.0);
        limits.push(limit);
    }
    Ok(limits)
}

fn limit(
    statement: &Statement,
    path: &Path,
    psb: &ResolvedPsb,
    open: &mut dyn FnMut(DbdName) -> hierarchy::Result<Arc<Database>>,
) -> Result<Limit, ScheduleError> {
    let misfit = |why: String| {
        let (path, card) = (path.to_owned(), statement.card);
        ScheduleError::CardMisfit { psb: psb.name, path, card, why }
    };
    let mut databases = psb.pcbs.iter().enumerate().filter_map(|(slot, pcb)| match &pcb.kind {
        ResolvedKind::Database(view) => Some((slot, pcb, view)),
        _ => None,
    });
    let found = match &statement.pcb {
        Which::Number(number) => databases.nth(number - 1).ok_or_else(|| {
            let count = psb.pcbs.iter().filter(|pcb| is_database(&pcb.kind)).count();
            format!("there is no database PCB {number}, there are {count}")
        }),
        Which::Name(name) => databases
            .find(|(_, pcb, _)| pcb.name.is_some_and(|one| one.text() == name))
            .ok_or_else(|| format!("no database PCB has the name {name}")),
    };
    let (slot, _, view) = found.map_err(misfit)?;
    let failed = |error| ScheduleError::Database { psb: psb.name, error };
    let (of, partitions) = partitions_of(view, open)
        .map_err(failed)?
        .ok_or_else(|| misfit(format!("the PCB is for {}, which has no partitions", view.dbd)))?;
    let first = partitions.iter().position(|one| one.name == statement.partition);
    let first = first.ok_or_else(|| {
        let names: Vec<&str> = partitions.iter().map(|one| one.name.as_str()).collect();
        let partition = &statement.partition;
        misfit(format!("{of} has no partition {partition}; it has {}", names.join(", ")))
    })?;
    let last = (first + usize::from(statement.count)).min(partitions.len()) - 1;
    // A HALDB has 1001 partitions at most.
    Ok((slot, first as u16..=last as u16))
}

fn is_database(kind: &ResolvedKind) -> bool {
    matches!(kind, ResolvedKind::Database(_))
}

/// The partitions that a PCB may be limited to, and what they are partitions of.
fn partitions_of(
    view: &View,
    open: &mut dyn FnMut(DbdName) -> hierarchy::Result<Arc<Database>>,
) -> hierarchy::Result<Option<(DbdName, Vec<Partition>)>> {
    let Some(root) = view.segments.first() else { return Ok(None) };
    let database = open(root.stored.dbd)?;
    let Some(index) = &view.sequence else {
        let of = database.name();
        let partitions = database.schema.placement.partitions().to_vec();
        return Ok(database.schema.is_partitioned().then_some((of, partitions)));
    };
    let tree = database.indexes.iter().find(|tree| tree.index.dbd == index.dbd);
    let placement = tree.and_then(|tree| tree.placement.as_ref());
    let named = |one: &&Arc<placement::Placement>| !one.partitions()[0].name.is_empty();
    Ok(placement.filter(named).map(|one| (index.dbd, one.partitions().to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(card: &str) -> Result<Statement, (usize, String)> {
        match parse(card.as_bytes()) {
            Ok(mut statements) => Ok(statements.remove(0)),
            Err(fault) => Err((fault.column, fault.why)),
        }
    }

    #[test]
    fn a_statement_names_a_pcb_and_partitions() {
        let statement = |pcb, partition: &str, count| {
            Ok(Statement { card: 1, pcb, partition: partition.into(), count })
        };
        let number = Which::Number;
        assert_eq!(one("HALDB PCB=(2,HIST01)"), statement(number(2), "HIST01", 1));
        assert_eq!(one("  HALDB  PCB=(0012,P1,NUM=3) why"), statement(number(12), "P1", 3));
        assert_eq!(one("haldb pcb=(2,p1,3)"), statement(number(2), "P1", 3));
        let name = Which::Name("HISTPCB".into());
        assert_eq!(one("HALDB PCB=(HISTPCB,$A)\n"), statement(name, "$A", 1));
    }

    #[test]
    fn cards_have_comments_and_numbers_behind() {
        let text = format!("* A COMMENT\r\n\r\n{:72}00000010\n", "HALDB PCB=(1,P1)");
        assert_eq!(parse(text.as_bytes()).map(|all| all[0].card), Ok(3));
        let fixed = format!("{:72}00000010{:80}", "HALDB PCB=(1,P1)", "HALDB PCB=(2,P1)");
        assert_eq!(parse(fixed.as_bytes()).map(|all| all.len()), Ok(2));
        assert_eq!(parse(b""), Ok(Vec::new()));
    }

    #[test]
    fn of_two_statements_for_a_pcb_the_later_one_holds() {
        let all = parse(b"HALDB PCB=(1,P1)\nHALDB PCB=(2,P1)\nHALDB PCB=(1,P2)\n").unwrap();
        let names: Vec<&str> = all.iter().map(|one| one.partition.as_str()).collect();
        assert_eq!(names, ["P1", "P2"]);
        let many: String = (1..=21).map(|pcb| format!("HALDB PCB=({pcb},P1)\n")).collect();
        let fault = parse(many.as_bytes()).unwrap_err();
        assert_eq!((fault.card, fault.column), (21, 1));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_column() {
        for (card, column, word) in [
            ("HALDX PCB=(1,P1)", 1, "HALDB"),
            ("HALDBPCB=(1,P1)", 6, "blank"),
            ("HALDB DBPCB=(1,P1)", 7, "PCB=("),
            ("HALDB PCB=(,P1)", 12, "PCB"),
            ("HALDB PCB=(0,P1)", 12, "1 to 9999"),
            ("HALDB PCB=(TOOLONGNAME,P1)", 12, "8"),
            ("HALDB PCB=(1)", 13, ","),
            ("HALDB PCB=(1,)", 14, "partition"),
            ("HALDB PCB=(1,PARTITION)", 14, "7"),
            ("HALDB PCB=(1,P1,NUN=2)", 17, "NUM="),
            ("HALDB PCB=(1,P1,NUM=0)", 21, "1 to 9999"),
            ("HALDB PCB=(1,P1,NUM=2", 22, ")"),
            ("HALDB PCB=(1,P1)X", 17, "comment"),
        ] {
            let (at, why) = one(card).unwrap_err();
            assert!(at == column && why.contains(word), "{card}: column {at}, {why}");
        }
    }
}
