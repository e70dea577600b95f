//! Cards to lines: a card and those that continue it become a label, an operation and the text
//! of the operands; comments go.
//!
//! Invariants:
//!
//! 1. Only columns 1 to 71 are read, of a card that continues another only 16 to 71; any mark in
//!    column 72 says that the next card continues this one.
//! 2. Outside apostrophes operands have no blank and, but in what only describes, no small letter
//!    when they come out of here; expressions of conditional assembly have blanks between
//!    parentheses.
//! 3. A card belongs to one line at most, and every card is looked at once.

use crate::diagnostic::{Log, code};
use crate::metadata::keeps_case;
use crate::statement::{Place, SourceId};
use crate::text::{Cell, Origin, Scan, Text, is_letter, is_symbol, string};

#[cfg(test)]
mod tests;

/// The continuation mark's column, as an index.
const MARK: usize = 71;
/// Where a continued card goes on, as an index.
const GO_ON: usize = 15;
/// The most cards of a statement; the assembler allows ten.
const CARDS_MAX: usize = 1000;

const FREE_COLUMN_72: &str =
    "Begin in column 16, or blank out column 72 of the card before if this is a new statement.";

/// A statement before its operands are taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) source: SourceId,
    /// Its first card.
    pub(crate) card: u32,
    pub(crate) label: Text,
    pub(crate) op: Text,
    pub(crate) operands: Text,
}

impl Line {
    /// Where its cells belong to, if no macro made it.
    pub(crate) fn origin(&self) -> Origin {
        Origin { source: self.source, card: self.card, anchor: None }
    }

    /// The place of the operation.
    pub(crate) fn place(&self) -> Place {
        self.origin().place(&self.op, 0, self.op.len())
    }

    /// How much there is to look at; an operand takes more than its characters.
    pub(crate) fn size(&self) -> usize {
        let commas = self.operands.iter().filter(|cell| cell.ch == ',').count();
        self.label.len() + self.op.len() + self.operands.len() + 16 * commas
    }
}

/// How the operands are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The first blank ends them.
    Plain,
    /// The first blank outside parentheses ends them.
    Expression,
    /// They do not matter.
    Dropped,
}

fn mode(op: &str) -> Mode {
    match op {
        "AIF" | "AGO" | "SETA" | "SETB" | "SETC" => Mode::Expression,
        // What stands behind these is comment, with or without apostrophes.
        "DBDGEN" | "FINISH" | "END" | "MACRO" | "MEND" | "MEXIT" | "ANOP" => Mode::Dropped,
        _ if is_listing_control(op) => Mode::Dropped,
        _ => Mode::Plain,
    }
}

/// Operations that only arrange the assembler's listing.
pub(crate) fn is_listing_control(op: &str) -> bool {
    const OPS: &[&str] =
        &["PRINT", "TITLE", "EJECT", "SPACE", "AEJECT", "ASPACE", "CEJECT", "PUSH", "POP", "ISEQ"];
    OPS.contains(&op)
}

/// The lines of a source.
pub(crate) fn read(source: SourceId, cards: &[String], log: &mut Log) -> Vec<Line> {
    let mut reader = Reader { source, cards, next: 0, log };
    let mut lines = Vec::new();
    while let Some(line) = reader.line() {
        lines.extend(line);
    }
    lines
}

struct Reader<'r> {
    source: SourceId,
    cards: &'r [String],
    next: usize,
    log: &'r mut Log,
}

/// The columns of a card that count.
struct Card {
    index: usize,
    columns: Vec<char>,
    is_continued: bool,
}

impl Card {
    fn is_blank(&self) -> bool {
        self.columns.iter().all(|ch| *ch == ' ')
    }

    fn starts(&self, with: &str) -> bool {
        with.chars().enumerate().all(|(index, ch)| self.columns.get(index) == Some(&ch))
    }

    fn is_comment(&self) -> bool {
        self.starts("*") || self.starts(".*")
    }

    /// The first column that is not blank, from `start`.
    fn text_from(&self, start: usize) -> Option<usize> {
        let rest = self.columns.get(start..)?;
        rest.iter().position(|ch| *ch != ' ').map(|at| start + at)
    }

    /// The end of the word at `start`.
    fn end_of_word(&self, start: usize) -> usize {
        let rest = self.columns.get(start..).unwrap_or_default();
        start + rest.iter().take_while(|ch| **ch != ' ').count()
    }

    /// Whether `KEYWORD=` stands at `start`.
    fn has_keyword(&self, start: usize) -> bool {
        let rest = self.columns.get(start..).unwrap_or_default();
        let word = rest.iter().take_while(|ch| is_symbol(**ch)).count();
        let begins = rest.first().is_some_and(|ch| is_letter(*ch));
        begins && (2..=24).contains(&word) && rest.get(word) == Some(&'=')
    }
}

impl Reader<'_> {
    fn card(&self, index: usize) -> Option<Card> {
        let text = self.cards.get(index)?;
        let mut columns: Vec<char> = text.chars().take(MARK + 1).collect();
        let is_continued = columns.get(MARK).is_some_and(|mark| *mark != ' ');
        columns.truncate(MARK);
        if is_continued {
            columns.resize(MARK, ' ');
        }
        Some(Card { index, columns, is_continued })
    }

    fn place(&self, index: usize, start: usize, end: usize) -> Place {
        let column = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        let card = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        let len = column(end.saturating_sub(start).max(1));
        Place { source: self.source, card, column: column(start).saturating_add(1), len }
    }

    /// Takes the next cards; `None` at the end, `Some(None)` if they are no statement.
    fn line(&mut self) -> Option<Option<Line>> {
        let card = self.card(self.next)?;
        self.next += 1;
        if card.is_blank() {
            return Some(None);
        }
        if card.is_comment() {
            self.comment(&card);
            return Some(None);
        }
        if ["//", "/*", "./"].iter().any(|start| card.starts(start)) {
            self.log.warn_once(
                code::JOB_CONTROL,
                self.place(card.index, 0, 2),
                "the file has job control or update cards among the source; they are skipped",
                "",
            );
            return Some(None);
        }
        if ["-INC ", "++INCLUDE "].iter().any(|start| card.starts(start)) {
            self.log.error(
                code::INCLUDE,
                self.place(card.index, 0, card.end_of_word(0)),
                "this is an include of a source library's, which is not known here",
                "Supply the expanded source, or write COPY and give the folder of the member.",
            );
            return Some(None);
        }
        Some(self.statement(&card))
    }

    /// A comment whose column 72 is not blank goes on on the next card, as for the assembler; a
    /// box of comments is told from that by the next card's first columns.
    fn comment(&mut self, card: &Card) {
        let mut is_continued = card.is_continued;
        while is_continued {
            let Some(next) = self.card(self.next) else { return };
            let is_blank_before = next.text_from(0).is_some_and(|first| first >= GO_ON);
            if !is_blank_before {
                return;
            }
            let first = next.text_from(0).unwrap_or_default();
            self.log.warn(
                code::COMMENT_CONTINUED,
                self.place(next.index, first, next.end_of_word(first)),
                "this card is not read: column 72 of the comment before it has a mark",
                "Blank out column 72 of the comment if this card is a statement.",
            );
            is_continued = next.is_continued;
            self.next += 1;
        }
    }

    fn statement(&mut self, card: &Card) -> Option<Line> {
        let label_end = card.end_of_word(0);
        let op_start = card.text_from(label_end);
        let op_end = op_start.map_or(label_end, |start| card.end_of_word(start));
        let label = self.word(card, 0, label_end);
        let op = op_start.map_or_else(Vec::new, |start| self.word(card, start, op_end));
        let name = string(&op);
        let is_known = self.check_operation(card, &name, op_start, op_end);
        let how = if is_known { mode(&name) } else { Mode::Dropped };
        self.check_label(card, &string(&label), label_end);
        let mut field = Field::new(how, name, card.index);
        self.operands(&mut field, card, op_end);
        let line = Line {
            source: self.source,
            card: self.place(card.index, 0, 1).card,
            label,
            op,
            operands: field.text,
        };
        if let (true, Some(open)) = (field.scan.quoted, field.open) {
            self.log.error(
                code::QUOTE,
                line.origin().place(&line.operands, open, open + 1),
                "the text that begins at this apostrophe has no end",
                "Close it; an apostrophe inside of a text is written twice.",
            );
        }
        is_known.then_some(line)
    }

    /// A word in upper case.
    fn word(&mut self, card: &Card, start: usize, end: usize) -> Text {
        let columns = card.columns.get(start..end).unwrap_or_default();
        let cells = columns.iter().enumerate().map(|(offset, ch)| Cell {
            ch: ch.to_ascii_uppercase(),
            card: 0,
            column: (start + offset + 1) as u8,
            width: 1,
        });
        let cells: Text = cells.collect();
        if columns.iter().any(char::is_ascii_lowercase) {
            self.lower_case(self.place(card.index, start, end));
        }
        cells
    }

    fn lower_case(&mut self, place: Place) {
        self.log.warn_once(
            code::LOWER_CASE,
            place,
            "the file has small letters outside of apostrophes; they are read as capitals",
            "",
        );
    }

    fn check_operation(
        &mut self,
        card: &Card,
        name: &str,
        start: Option<usize>,
        end: usize,
    ) -> bool {
        let Some(start) = start else {
            self.log.error(
                code::NO_OPERATION,
                self.place(card.index, 0, end),
                format!("there is no operation behind the label {}", label_of(card)),
                "Column 1 is for labels: move the operation to column 2 or behind, or write * in \
                 column 1 for a comment.",
            );
            return false;
        };
        let is_operation = name.chars().all(|ch| is_symbol(ch) || "&.()".contains(ch))
            && name.starts_with(|ch: char| is_letter(ch) || ch == '&');
        if !is_operation {
            self.log.error(
                code::OPERATION,
                self.place(card.index, start, end),
                format!("{name} is no operation"),
                "If this card continues the one before, put a mark into column 72 there and \
                 begin in column 16 here.",
            );
        }
        is_operation
    }

    fn check_label(&mut self, card: &Card, label: &str, end: usize) {
        let name = label.strip_prefix('.').unwrap_or(label);
        let is_fine = label.is_empty()
            || label.contains('&')
            || (name.starts_with(is_letter) && name.chars().all(is_symbol) && name.len() <= 63);
        if !is_fine {
            self.log.warn(
                code::LABEL,
                self.place(card.index, 0, end),
                format!("{label} is no label"),
                "Use letters, digits, @, # and $, and begin with a letter.",
            );
        }
    }

    /// Takes the operands from `start` on, and the cards that continue this one.
    fn operands(&mut self, field: &mut Field, card: &Card, start: usize) {
        self.part(field, card, start);
        let mut is_continued = card.is_continued || self.continues_unmarked(field, card);
        let mut last = card.index;
        while is_continued {
            let Some(next) = self.card(self.next) else {
                self.ends_continued(field, last);
                return;
            };
            if self.next - card.index >= CARDS_MAX {
                self.log.error(
                    code::TOO_MANY_CARDS,
                    self.place(next.index, 0, 1),
                    format!("the statement has more than {CARDS_MAX} cards"),
                    "Check column 72, whose mark makes the next card a part of the statement.",
                );
                return;
            }
            let Some(start) = self.start_of_continuation(field, &next) else { return };
            self.next += 1;
            last = next.index;
            if !next.is_comment() {
                self.continuation(field, &next, start);
            }
            is_continued =
                next.is_comment() || next.is_continued || self.continues_unmarked(field, &next);
        }
    }

    fn ends_continued(&mut self, field: &Field, last: usize) {
        let place = self.place(last, MARK, MARK + 1);
        let message = "column 72 says that another card follows, but the file ends";
        let help = "Blank out column 72, or add the missing card.";
        if field.wants_more() {
            self.log.error(code::ENDS_CONTINUED, place, message, help);
        } else {
            self.log.warn(code::ENDS_CONTINUED, place, message, help);
        }
    }

    /// From which column a card is read that should continue another; `None` if it is a statement
    /// of its own.
    fn start_of_continuation(&mut self, field: &Field, card: &Card) -> Option<usize> {
        if card.is_comment() {
            self.log.error(
                code::COMMENT_INSIDE,
                self.place(card.index, 0, 1),
                "a comment stands between cards of one statement",
                "Move the comment before the statement, or blank out column 72 of the card before.",
            );
            return field.wants_more().then_some(GO_ON);
        }
        let first = card.text_from(0).filter(|first| *first < GO_ON);
        let Some(first) = first else { return Some(GO_ON) };
        self.log.error(
            code::BEFORE_COLUMN_16,
            self.place(card.index, first, card.end_of_word(first).min(GO_ON)),
            "a card that continues another has text before column 16",
            FREE_COLUMN_72,
        );
        // An operand that begins too early, or the next statement behind a comma too many?
        let is_operand = field.scan.quoted
            || card.has_keyword(first)
            || !card.columns.get(first).is_some_and(|ch| is_letter(*ch));
        (field.wants_more() && first > 0 && is_operand).then_some(first)
    }

    fn continuation(&mut self, field: &mut Field, card: &Card, start: usize) {
        let first = card.text_from(start);
        let is_late = field.state == State::AfterComma && first.is_some_and(|at| at > start);
        if is_late || field.state == State::Done {
            if let Some(first) = first.filter(|first| card.has_keyword(*first)) {
                let message = if is_late {
                    "this card is read as a comment, since it does not go on in column 16"
                } else {
                    "this card is read as a comment, since no comma ends the operands before it"
                };
                let place = self.place(card.index, first, card.end_of_word(first));
                let help = "Begin in column 16, behind a comma on the card before.";
                if field.how != Mode::Dropped {
                    self.log.warn(code::READ_AS_COMMENT, place, message, help);
                }
            }
            return;
        }
        if field.state == State::AfterComma {
            if first.is_none() {
                return;
            }
            field.state = State::Inside;
        }
        self.part(field, card, start);
    }

    /// Takes a card's part of the operands.
    fn part(&mut self, field: &mut Field, card: &Card, start: usize) {
        if field.how == Mode::Dropped {
            field.state = State::Done;
            return;
        }
        let mut small = None;
        for (at, &ch) in card.columns.iter().enumerate().skip(start) {
            if field.state == State::Before {
                if ch == ' ' {
                    continue;
                }
                field.state = State::Inside;
            }
            if ch == ' ' && field.blank_ends() {
                let is_comma = field.ends_in_comma();
                let goes_on = is_comma && card.is_continued;
                field.state = if goes_on { State::AfterComma } else { State::Done };
                break;
            }
            if ch.is_ascii_lowercase() && field.folds() {
                small.get_or_insert(at);
            }
            let next = card.columns.get(at + 1).copied().or_else(|| self.first_of_next(card));
            field.push(ch, at, card.index, next);
        }
        if field.state == State::Inside && field.ends_in_comma() && !field.scan.quoted {
            field.state = State::AfterComma;
        }
        if let Some(at) = small {
            self.lower_case(self.place(card.index, at, at + 1));
        }
    }

    /// What stands in column 16 of the card that continues this one.
    fn first_of_next(&self, card: &Card) -> Option<char> {
        let next = self.cards.get(card.index + 1).filter(|_| card.is_continued)?;
        next.chars().nth(GO_ON)
    }

    /// Whether the next card continues this one although column 72 is blank; that is an error, but
    /// reading goes on as it was meant.
    fn continues_unmarked(&mut self, field: &mut Field, card: &Card) -> bool {
        if card.is_continued || field.scan.quoted || !field.ends_in_comma() {
            return false;
        }
        let next = self.card(self.next).filter(|next| !next.is_comment());
        let is_meant = next.is_some_and(|next| next.text_from(0) == Some(GO_ON));
        let last = field.text.len().saturating_sub(1);
        let origin = Origin {
            source: self.source,
            card: self.place(field.first_card, 0, 1).card,
            anchor: None,
        };
        let place = origin.place(&field.text, last, last + 1);
        if is_meant {
            let message = "a comma ends this card and the next begins in column 16, but column 72 \
                           has no mark";
            let help = "Put any character into column 72 of this card.";
            self.log.error(code::COMMA_WITHOUT_MARK, place, message, help);
            field.state = State::AfterComma;
        } else {
            let message = "the operands end in a comma";
            let help = "Remove the comma, or put a mark into column 72 and go on on the next card.";
            self.log.warn(code::COMMA_WITHOUT_MARK, place, message, help);
            field.state = State::Done;
        }
        is_meant
    }
}

fn label_of(card: &Card) -> String {
    card.columns.iter().take_while(|ch| **ch != ' ').collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but blanks so far.
    Before,
    /// In the operands.
    Inside,
    /// Behind a comma that ended a card's operands: the next card goes on.
    AfterComma,
    /// Behind the blank that ends the operands.
    Done,
}

/// The operands of a statement as they grow from card to card.
struct Field {
    how: Mode,
    op: String,
    state: State,
    scan: Scan,
    text: Text,
    /// Where the present operand begins, and whether its value keeps its small letters.
    part: usize,
    keeps_case: bool,
    /// Which cell opened the text that is not yet closed.
    open: Option<usize>,
    first_card: usize,
}

impl Field {
    fn new(how: Mode, op: String, first_card: usize) -> Self {
        Self {
            how,
            op,
            state: State::Before,
            scan: Scan::default(),
            text: Vec::new(),
            part: 0,
            keeps_case: false,
            open: None,
            first_card,
        }
    }

    fn blank_ends(&self) -> bool {
        !(self.scan.quoted || self.how == Mode::Expression && self.scan.depth > 0)
    }

    fn ends_in_comma(&self) -> bool {
        self.text.last().is_some_and(|cell| cell.ch == ',')
    }

    fn wants_more(&self) -> bool {
        self.scan.quoted || matches!(self.state, State::AfterComma | State::Inside)
    }

    /// Whether small letters become large ones here.
    fn folds(&self) -> bool {
        !self.scan.quoted && !self.keeps_case
    }

    fn push(&mut self, ch: char, at: usize, card: usize, next: Option<char>) {
        let was_quoted = self.scan.quoted;
        let ch = if self.folds() { ch.to_ascii_uppercase() } else { ch };
        match ch {
            ',' if !was_quoted && self.scan.depth == 0 => {
                (self.part, self.keeps_case) = (self.text.len() + 1, false);
            }
            '=' if !was_quoted && self.scan.depth == 0 && !self.keeps_case => {
                self.keeps_case = keeps_case(&self.op, &string(&self.text[self.part..]));
            }
            _ => {}
        }
        self.scan.step(ch, next);
        if self.scan.quoted && !was_quoted {
            self.open = Some(self.text.len());
        }
        let card = u16::try_from(card - self.first_card).unwrap_or(u16::MAX);
        self.text.push(Cell { ch, card, column: (at + 1) as u8, width: 1 });
    }
}
