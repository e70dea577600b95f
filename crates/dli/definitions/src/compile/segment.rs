//! SEGM.

use macros::{Statement, Value};

use super::UNNAMED;
use super::card::Card;
use super::database::{Compiler, exits};
use super::sink::Sink;
use super::values::{self, at_most, groups, is_empty, items, number, place_of};
use crate::codes;
use crate::finding::{Spot, nth};
use crate::model::{
    ChildPointer, Compression, DbdName, DeleteRule, KeyStorage, LogicalParent, ModuleName,
    Organization, Pointers, Rule, Rules, Segment, SegmentName, SegmentPart, SourceSegment,
    TwinPlace,
};

/// Stands for a length that could not be read, so that no field lies outside of it.
const UNKNOWN_LENGTH: u16 = 32_767;

impl Compiler<'_> {
    pub(super) fn segment(&mut self, statement: &Statement) {
        self.after_field = false;
        let at = self.dbd.segments.len();
        let mut card = Card::new(statement, Spot::Segment(nth(at)), self.places, self.sink);
        if self.dbd.organization == Organization::Gsam {
            let message = "a GSAM database has records and no segments";
            self.sink.error(codes::NOT_HERE, statement.op.place, message);
        }
        let Some(code) = u8::try_from(at + 1).ok().filter(|code| *code > 0) else {
            let message = "a database has at most 255 segment types";
            self.sink.error(codes::TOO_MANY, statement.op.place, message);
            return;
        };
        let name = card
            .need(&["NAME"], self.sink)
            .and_then(|value| values::name(value, "SEGM NAME=", SegmentName::new, self.sink))
            .unwrap_or_else(|| SegmentName::new(UNNAMED).expect("it is printable"));
        if name.text() != UNNAMED && self.dbd.position(name).is_some() {
            let place = self.places.find(Spot::Segment(nth(at)), "NAME");
            let message = format!("the segment {name} is defined twice");
            self.sink.error(codes::NAME_TWICE, place, message);
        }
        let parent = self.parent(&mut card, statement);
        let above = parent.at.map(|at| (at, self.level_of(at)));
        let mut segment = Segment::new(name, above, code, UNKNOWN_LENGTH);
        segment.parent_pointer = parent.pointer;
        segment.logical_parent = parent.logical;
        segment.data_set = self.group;
        self.sources(&mut card, &mut segment);
        self.bytes(&mut card, &mut segment, statement);
        let sink = &mut *self.sink;
        read_pointers(&mut card, &mut segment, sink);
        if let Some(value) = card.take("RULES") {
            segment.rules = rules(value, sink);
        }
        if let Some(value) = card.take("COMPRTN") {
            segment.compression = compression(value, sink);
        }
        if let Some(value) = card.take("EXIT") {
            segment.exits = exits(value, sink);
        }
        if let Some(value) = card.take("FREQ") {
            sink.warning(codes::NO_EFFECT, place_of(value), "FREQ= is accepted and has no effect");
            segment.frequency = Some(values::written(value));
        }
        self.only_some_organizations(&mut card, &mut segment);
        segment.metadata = card.metadata(&["DEFVER", "CCSID"]);
        card.finish(self.sink);
        self.dbd.segments.push(segment);
    }

    fn level_of(&self, at: u8) -> u8 {
        self.dbd.segments.get(usize::from(at)).map_or(1, |segment| segment.level)
    }

    /// `SOURCE=((seg,KEY|DATA,db)..)`.
    fn sources(&mut self, card: &mut Card<'_>, segment: &mut Segment) {
        let Some(value) = card.take("SOURCE") else { return };
        let sink = &mut *self.sink;
        let groups = groups(value);
        if groups.len() > 2 {
            let message = "SOURCE= takes a segment, or a logical child and its parent";
            sink.error(codes::TOO_MANY_VALUES, place_of(value), message);
        }
        for group in groups {
            at_most(&group, 3, "each SOURCE=", sink);
            let Some(first) = group.first() else { continue };
            let name = values::name(first, "SOURCE=", SegmentName::new, sink);
            let part = group.get(1).filter(|value| !is_empty(value)).and_then(|value| {
                let part = |word: &str| match word {
                    "D" => Some(SegmentPart::Data),
                    "K" => Some(SegmentPart::Key),
                    word => SegmentPart::of(word),
                };
                values::choice(value, "SOURCE=", "DATA (D), KEY (K)", part, sink)
            });
            let dbd = match group.get(2).filter(|value| !is_empty(value)) {
                Some(value) => values::name(value, "SOURCE=", DbdName::new, sink),
                None => Some(self.dbd.name),
            };
            if let (Some(segment_name), Some(dbd)) = (name, dbd) {
                let part = part.unwrap_or(SegmentPart::Data);
                segment.sources.push(SourceSegment { segment: segment_name, part, dbd });
            }
        }
    }

    /// `BYTES=max` or `BYTES=(max,min)`.
    fn bytes(&mut self, card: &mut Card<'_>, segment: &mut Segment, statement: &Statement) {
        let sink = &mut *self.sink;
        let Some(value) = card.take("BYTES") else {
            if segment.is_virtual() || self.dbd.organization == Organization::Logical {
                (segment.max, segment.min) = (0, 0);
            } else {
                let message = format!("the segment {} needs BYTES=", segment.name);
                sink.error(codes::MISSING, statement.op.place, message);
            }
            return;
        };
        let items = items(value);
        at_most(&items, 2, "BYTES=", sink);
        let length =
            |value: &Value, sink: &mut Sink| values::short(value, "BYTES=", 1..=32_767, sink);
        let Some(max) = items.first().and_then(|value| length(value, sink)) else { return };
        (segment.max, segment.min) = (max, max);
        let Some(second) = items.get(1).filter(|value| !is_empty(value)) else { return };
        let Some(min) = length(second, sink) else { return };
        segment.variable = true;
        if min > max {
            let message = format!("the shortest length {min} is over the longest, {max}");
            sink.error(codes::LENGTHS, place_of(second), message);
            sink.help("write BYTES=(longest,shortest)");
        } else {
            segment.min = min;
        }
    }

    /// TYPE, SSPTR (DEDB) and DSGROUP (HALDB).
    fn only_some_organizations(&mut self, card: &mut Card<'_>, segment: &mut Segment) {
        let sink = &mut *self.sink;
        let organization = self.dbd.organization;
        for keyword in ["TYPE", "SSPTR", "DSGROUP"] {
            let Some(value) = card.take(keyword) else { continue };
            let (fits, others) = match keyword {
                "DSGROUP" => (organization.is_partitioned(), "PHDAM and PHIDAM"),
                _ => (organization == Organization::Dedb, "DEDB"),
            };
            if !fits {
                let message = format!("{keyword}= is for {others}, not for {organization}");
                sink.error(codes::NOT_HERE, place_of(value), message);
                continue;
            }
            match keyword {
                "TYPE" => {
                    let of = |text: &str| match text {
                        "SEQ" => Some(true),
                        "DIR" => Some(false),
                        _ => None,
                    };
                    let chosen = values::choice(value, "TYPE=", "DIR, SEQ", of, sink);
                    segment.sequential = chosen.unwrap_or(false);
                }
                "SSPTR" => {
                    let count = number(value, "SSPTR=", 0..=8, sink).unwrap_or(0);
                    segment.subset_pointers = u8::try_from(count).unwrap_or(0);
                }
                _ => {
                    let of = |text: &str| {
                        let mut letters = text.chars();
                        let letter = letters.next().filter(|one| ('A'..='J').contains(one));
                        letter.filter(|_| letters.next().is_none())
                    };
                    segment.group = values::choice(value, "DSGROUP=", "A to J", of, sink);
                }
            }
        }
    }
}

/// What `PARENT=` says.
#[derive(Default)]
struct Parent {
    at: Option<u8>,
    pointer: Option<ChildPointer>,
    logical: Option<LogicalParent>,
}

impl Compiler<'_> {
    /// `PARENT=0`, `PARENT=name`, `PARENT=((name,SNGL|DBLE),(lparent,VIRTUAL|PHYSICAL,db))`.
    fn parent(&mut self, card: &mut Card<'_>, statement: &Statement) -> Parent {
        let mut parent = Parent::default();
        let value = card.take("PARENT");
        let items = value.map(items).unwrap_or_default();
        // The physical parent stands first, in parentheses of its own or not.
        let own = items.first().map(|value| values::items(value)).unwrap_or_default();
        let name = own.first().copied().filter(|value| !is_root(value));
        let Some(name) = name else {
            if let Some(root) = self.dbd.segments.first() {
                let place = value.map_or(statement.op.place, place_of);
                let message = format!("only the first segment, {}, can be the root", root.name);
                self.sink.error(codes::PARENT_UNKNOWN, place, message);
                parent.at = Some(0);
            }
            return parent;
        };
        parent.at = self.parent_at(name);
        for value in own.iter().skip(1).chain(items.iter().skip(1)) {
            if matches!(value, Value::List(..)) {
                parent.logical = self.logical_parent(value).or(parent.logical.take());
            } else if !is_empty(value) {
                let what = "PARENT=";
                let chosen = values::choice(value, what, "SNGL, DBLE", ChildPointer::of, self.sink);
                parent.pointer = chosen.or(parent.pointer);
            }
        }
        parent
    }

    fn parent_at(&mut self, value: &Value) -> Option<u8> {
        let fallback = (!self.dbd.segments.is_empty()).then_some(0);
        let Some(name) = values::name(value, "PARENT=", SegmentName::new, self.sink) else {
            return fallback;
        };
        let Some(at) = self.dbd.position(name) else {
            let message = format!("the parent {name} is no segment that stands before");
            self.sink.error(codes::PARENT_UNKNOWN, place_of(value), message);
            return fallback;
        };
        let last = self.dbd.segments.len() - 1;
        if !self.dbd.is_within(last, at) {
            let before = self.dbd.segments[last].name;
            let message = format!(
                "this segment does not stand in hierarchic order: {before}, the segment before \
                 it, is no dependent of {name}"
            );
            self.sink.error(codes::ORDER, place_of(value), message);
            self.sink.help("write each segment's dependents directly behind it, left to right");
        }
        if self.dbd.segments[at].level >= 15 {
            let message = "a database has at most 15 levels";
            self.sink.error(codes::TOO_DEEP, place_of(value), message);
            return fallback;
        }
        u8::try_from(at).ok()
    }

    fn logical_parent(&mut self, value: &Value) -> Option<LogicalParent> {
        let items = items(value);
        at_most(&items, 3, "the logical parent", self.sink);
        let what = "PARENT= (logical parent)";
        let segment = values::name(items.first()?, what, SegmentName::new, self.sink)?;
        let mut storage = KeyStorage::Virtual;
        if let Some(value) = items.get(1).filter(|value| !is_empty(value)) {
            // Sources abbreviate them to the first letter.
            let of = |text: &str| match text {
                "VIRTUAL" | "V" => Some(KeyStorage::Virtual),
                "PHYSICAL" | "P" => Some(KeyStorage::Physical),
                _ => None,
            };
            storage = values::choice(value, what, "VIRTUAL, PHYSICAL", of, self.sink)?;
        }
        let dbd = match items.get(2).filter(|value| !is_empty(value)) {
            Some(value) => values::name(value, what, DbdName::new, self.sink)?,
            None => self.dbd.name,
        };
        Some(LogicalParent { segment, storage, dbd })
    }
}

fn is_root(value: &Value) -> bool {
    is_empty(value) || values::word(value).is_some_and(|word| word.text == "0")
}

fn read_pointers(card: &mut Card<'_>, segment: &mut Segment, sink: &mut Sink) {
    let Some(value) = card.take_any(&["POINTER", "PTR"]) else { return };
    let mut pointers = Pointers::default();
    for word in values::words(value) {
        if !pointers.add(&word.text) {
            let choices = "HIER, HIERBWD, TWIN, TWINBWD, NOTWIN, LTWIN, LTWINBWD, LPARNT, CTR, \
                           PAIRED";
            values::choice_of_word(word, "POINTER=", choices, |_| None::<()>, sink);
        }
    }
    for group in [&["HIER", "HIERBWD", "TWIN", "TWINBWD", "NOTWIN"][..], &["LTWIN", "LTWINBWD"][..]]
    {
        let both: Vec<_> = group.iter().filter(|word| pointers.has(word)).collect();
        if let [first, second, ..] = both.as_slice() {
            let message = format!("POINTER=: {first} and {second} exclude each other");
            sink.error(codes::CONFLICT, place_of(value), message);
        }
    }
    segment.pointers = pointers;
}

/// `RULES=(ins del rep,FIRST|LAST|HERE)`; the letters may be left out.
fn rules(value: &Value, sink: &mut Sink) -> Rules {
    let mut rules = Rules::default();
    let items = items(value);
    at_most(&items, 2, "RULES=", sink);
    for value in items.into_iter().take(2).filter(|value| !is_empty(value)) {
        let Some(word) = values::need_word(value, "RULES=", sink) else { continue };
        if let Some(place) = TwinPlace::of(&word.text) {
            rules.place = place;
            continue;
        }
        let mut letters = word.text.split("").filter(|letter| !letter.is_empty());
        let mut next = || letters.next().unwrap_or("");
        let read = (Rule::of(next()), DeleteRule::of(next()), Rule::of(next()));
        match read {
            (Some(insert), Some(delete), Some(replace)) if word.text.len() == 3 => {
                (rules.insert, rules.delete, rules.replace) = (insert, delete, replace);
            }
            _ => {
                let choices = "LLL and the like (L, P, V; in the middle also B), FIRST, LAST, HERE";
                values::choice_of_word(word, "RULES=", choices, |_| None::<()>, sink);
            }
        }
    }
    rules
}

/// `COMPRTN=(routine,DATA|KEY,INIT,MAX..)`.
fn compression(value: &Value, sink: &mut Sink) -> Option<Compression> {
    let words = values::words(value);
    let first = words.first()?;
    let Some(module) = ModuleName::new(&first.text) else {
        let message = format!("COMPRTN=: \"{}\" is no name", first.text);
        sink.error(codes::BAD_NAME, first.place, message);
        return None;
    };
    let part = SegmentPart::Data;
    let mut compression = Compression { module, part, initialize: false, more: Vec::new() };
    for word in &words[1..] {
        if let Some(part) = SegmentPart::of(&word.text) {
            compression.part = part;
        } else if word.text == "INIT" {
            compression.initialize = true;
        } else if matches!(word.text.as_str(), "MAX" | "PAD")
            || word.text.bytes().all(|byte| byte.is_ascii_digit())
        {
            compression.more.push(word.text.clone());
        } else {
            let choices = "DATA, KEY, INIT, MAX, PAD or a number";
            values::choice_of_word(word, "COMPRTN=", choices, |_| None::<()>, sink);
        }
    }
    Some(compression)
}
