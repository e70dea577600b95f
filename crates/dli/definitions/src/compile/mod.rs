//! From statements to members.
//!
//! A source may hold several members one behind the other. What a member is, its statements say:
//! DBD begins a database definition, PCB (or a PSBGEN alone) a program specification.
//!
//! Invariants:
//! 1. Every statement belongs to one member, or is skipped with a note, or is an error.
//! 2. A statement is told about once, also if several members of one DBD share it.
//! 3. A member is delivered only if neither its reading as macro source nor its compilation nor
//!    its check found an error.

mod card;
mod child;
mod data_set;
mod database;
mod field;
mod program;
mod segment;
mod sensitive;
mod shared;
mod sink;
mod values;

use macros::{Diagnostic, Place, Program, Severity, Statement};

use crate::codes;
use crate::finding::Places;
use crate::model::{Dbd, Psb};
use sink::Sink;

/// A compiled definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// A database definition.
    Dbd(Box<Dbd>),
    /// A program specification.
    Psb(Box<Psb>),
}

/// What a member is, even if it could not be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    /// A database definition.
    Dbd,
    /// A program specification.
    Psb,
}

/// A member of a source and what became of it.
#[derive(Clone, Debug)]
pub struct CompiledMember {
    /// What it is.
    pub kind: MemberKind,
    /// Its name; empty if it has none.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    /// Where its words stand, for findings of later checks.
    pub places: Places,
    /// The definition, if there was no error.
    pub member: Option<Member>,
    /// How many errors it has.
    pub errors: usize,
    /// How many warnings it has.
    pub warnings: usize,
}

/// What a source holds.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its members in their order.
    pub members: Vec<CompiledMember>,
    /// What there is to say, in the order of the source; the reader's own diagnostics are not
    /// repeated here.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// Whether the program's statements are there for other members to COPY: they stand outside of
    /// any member, and none of them generates one.
    #[must_use]
    pub fn is_part(&self, program: &Program) -> bool {
        let mut errors = self.diagnostics.iter().filter(|one| one.severity == Severity::Error);
        let generates = |statement: &Statement| GENERATING.contains(&&*statement.op.text);
        self.members.is_empty()
            && errors.all(|one| one.code == codes::OUTSIDE)
            && !program.statements.iter().any(generates)
    }
}

/// What a member ends with.
const GENERATING: [&str; 2] = ["DBDGEN", "PSBGEN"];
const DBD_STATEMENTS: &[&str] =
    &["DATASET", "AREA", "SEGM", "FIELD", "LCHILD", "XDFLD", "DFSMARSH", "DFSMAP", "DFSCASE"];
const PSB_STATEMENTS: &[&str] = &["SENSEG", "SENFLD"];
/// Accepted wherever they stand.
const IGNORED: &[&str] = &["FINISH", "END", "PRINT", "TITLE", "EJECT", "SPACE", "COPY", "PUNCH"];

/// The statements of one member, in their order.
struct Group<'a> {
    kind: MemberKind,
    statements: Vec<&'a Statement>,
    closed: bool,
}

/// Compiles everything that a source holds.
#[must_use]
pub fn compile(program: &Program) -> Compiled {
    let mut sink = Sink::default();
    let groups = split(&program.statements, &mut sink);
    let mut members = Vec::with_capacity(groups.len());
    for group in groups {
        members.extend(compile_group(&group, &program.diagnostics, &mut sink));
    }
    Compiled { members, diagnostics: sink.into_diagnostics() }
}

/// The members of a group: one, but for an index DBD of several names.
fn compile_group(
    group: &Group<'_>,
    reading: &[Diagnostic],
    sink: &mut Sink,
) -> Vec<CompiledMember> {
    let from = sink.diagnostics.len();
    let parts = match group.kind {
        MemberKind::Dbd => shared::split(&group.statements, sink),
        MemberKind::Psb => vec![group.statements.clone()],
    };
    let shared = sink.count(from, Severity::Error);
    let parts = parts.into_iter().enumerate();
    let compiled = parts.filter_map(|(nth, statements)| {
        let mut member = compile_member(&Group { statements, ..*group }, nth, reading, sink)?;
        member.errors += shared;
        member.member = member.member.filter(|_| shared == 0);
        Some(member)
    });
    compiled.collect()
}

/// Compiles the nth member of a group.
fn compile_member(
    group: &Group<'_>,
    nth: usize,
    reading: &[Diagnostic],
    sink: &mut Sink,
) -> Option<CompiledMember> {
    let first = group.statements.first()?;
    let mut places = Places::new(first.place);
    let from = sink.diagnostics.len();
    if !group.closed {
        let closing = if group.kind == MemberKind::Dbd { "DBDGEN" } else { "PSBGEN" };
        sink.error(codes::UNCLOSED, first.op.place, format!("{closing} is missing behind it"));
    }
    let (name, member) = match group.kind {
        MemberKind::Dbd => {
            let dbd = database::compile(&group.statements, nth, &mut places, sink);
            (dbd.name.text().to_owned(), Member::Dbd(Box::new(dbd)))
        }
        MemberKind::Psb => {
            let psb = program::compile(&group.statements, &mut places, sink);
            (psb.name.text().to_owned(), Member::Psb(Box::new(psb)))
        }
    };
    let misread = reading
        .iter()
        .filter(|one| one.severity == Severity::Error && holds(&group.statements, one.place));
    let errors = sink.count(from, Severity::Error) + misread.count();
    Some(CompiledMember {
        kind: group.kind,
        name: if name == UNNAMED { String::new() } else { name },
        place: first.place,
        places,
        member: (errors == 0).then_some(member),
        errors,
        warnings: sink.count(from, Severity::Warning),
    })
}

/// Stands where a source gives no name, so that reading can go on; never delivered.
const UNNAMED: &str = "?";

/// Whether a place that could not be read lies within these statements: between the first and the
/// last one of its source, for what could not be read at all has no statement.
fn holds(statements: &[&Statement], place: Place) -> bool {
    let operands = |one: &&Statement| one.operands.iter().map(|o| o.place).collect::<Vec<_>>();
    let mut cards = statements
        .iter()
        .flat_map(|one| operands(one).into_iter().chain([one.place]))
        .filter(|one| one.source == place.source)
        .map(|one| one.card);
    let Some(first) = cards.next() else { return false };
    let (low, high) =
        cards.fold((first, first), |(low, high), card| (low.min(card), high.max(card)));
    (low..=high).contains(&place.card)
}

/// Deals the statements out to members.
fn split<'a>(statements: &'a [Statement], sink: &mut Sink) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut foreign = Foreign::default();
    // One error for a run of them: mostly a card before it could not be read.
    let mut outside_of = None;
    for statement in statements {
        let op = statement.op.text.as_str();
        let open = groups.last().filter(|group| !group.closed).map(|group| group.kind);
        let kind = match op {
            "DBD" | "DBDGEN" => Some(MemberKind::Dbd),
            "PCB" | "PSBGEN" => Some(MemberKind::Psb),
            _ if DBD_STATEMENTS.contains(&op) => Some(MemberKind::Dbd),
            _ if PSB_STATEMENTS.contains(&op) => Some(MemberKind::Psb),
            _ => None,
        };
        let begins = match op {
            "DBD" => true,
            "PCB" | "PSBGEN" => open != Some(MemberKind::Psb),
            _ => false,
        };
        match kind {
            Some(kind) if begins => {
                outside_of = None;
                groups.push(Group { kind, statements: vec![statement], closed: op == "PSBGEN" });
            }
            Some(kind) if open == Some(kind) => {
                if let Some(group) = groups.last_mut() {
                    group.statements.push(statement);
                    group.closed = op == "DBDGEN" || op == "PSBGEN";
                }
            }
            Some(kind) if outside_of == Some(kind) => {}
            Some(kind) => {
                outside(statement, kind, sink);
                outside_of = Some(kind);
            }
            None if IGNORED.contains(&op) => {}
            None if open.is_some() => {
                let message = format!("{op} has no meaning within a DBD or PSB");
                sink.error(codes::STRANGE, statement.op.place, message);
                sink.help("if it is a macro, name its folder with -I or supply its expansion");
                if let Some(group) = groups.last_mut() {
                    group.statements.push(statement);
                }
            }
            None => foreign.add(statement),
        }
        if kind.is_some() {
            foreign.tell(sink);
        }
    }
    foreign.tell(sink);
    groups
}

fn outside(statement: &Statement, kind: MemberKind, sink: &mut Sink) {
    let op = &statement.op;
    let opening = if kind == MemberKind::Dbd { "DBD" } else { "PCB" };
    let message = format!("{} stands outside: no {opening} statement before it", op.text);
    sink.error(codes::OUTSIDE, op.place, message);
    sink.help(format!("begin the member with {opening}"));
}

/// A run of statements that belong to no member: one note for all of them.
#[derive(Default)]
struct Foreign<'a> {
    first: Option<&'a Statement>,
    count: usize,
}

impl<'a> Foreign<'a> {
    fn add(&mut self, statement: &'a Statement) {
        self.first = self.first.or(Some(statement));
        self.count += 1;
    }

    fn tell(&mut self, sink: &mut Sink) {
        if let Some(first) = self.first.take() {
            let message = format!(
                "{} statements beginning with {} are neither DBD nor PSB and were skipped",
                self.count, first.op.text
            );
            sink.note(codes::FOREIGN, first.op.place, message);
        }
        self.count = 0;
    }
}
