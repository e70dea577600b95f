//! SENSEG and SENFLD.

use macros::{Statement, Value};

use super::UNNAMED;
use super::card::Card;
use super::program::{Compiler, options};
use super::sink::Sink;
use super::values::{self, groups, is_empty, items, number, place_of, yes};
use crate::codes;
use crate::finding::{Spot, nth};
use crate::model::{
    DatabasePcb, DbdName, FieldName, PcbKind, SegmentName, Sensitive, SensitiveField, SubsetUsage,
    SubsetUse,
};

impl Compiler<'_> {
    /// The database PCB that SENSEGs belong to now. If there is none, that is an error, unless
    /// the PCB itself could not be read.
    fn current(&mut self, statement: &Statement) -> Option<u16> {
        if !self.in_pcb {
            return None;
        }
        let last = self.psb.pcbs.len().checked_sub(1)?;
        let is_database = matches!(self.psb.pcbs[last].kind, PcbKind::Database(_));
        if !is_database {
            let message = format!("{} is only for PCBs of TYPE=DB", statement.op.text);
            self.sink.error(codes::NOT_HERE, statement.op.place, message);
        }
        is_database.then(|| nth(last))
    }

    pub(super) fn senseg(&mut self, statement: &Statement) {
        let Some(pcb) = self.current(statement) else { return };
        let Some(PcbKind::Database(database)) =
            self.psb.pcbs.get_mut(usize::from(pcb)).map(|pcb| &mut pcb.kind)
        else {
            return;
        };
        let spot = Spot::Sensitive(pcb, nth(database.segments.len()));
        let mut card = Card::new(statement, spot, self.places, self.sink);
        let sink = &mut *self.sink;
        let name = card
            .need(&["NAME"], sink)
            .and_then(|value| values::name(value, "SENSEG NAME=", SegmentName::new, sink));
        if let Some(name) = name
            && database.segments.iter().any(|one| one.name == name)
        {
            let message = format!("the PCB names the segment {name} twice");
            sink.error(codes::NAME_TWICE, self.places.find(spot, "NAME"), message);
        }
        let parent = parent(card.take("PARENT"), database, statement, sink);
        let options = card.take("PROCOPT").and_then(|value| options(value, sink));
        let subsets = card.take("SSPTR").map(|value| subsets(value, sink)).unwrap_or_default();
        let indices = card.take("INDICES").map(|value| indices(value, sink)).unwrap_or_default();
        let metadata = card.metadata(&[]);
        card.finish(sink);
        if database.segments.len() >= 30_000 {
            let message = "a PCB has at most 30,000 sensitive segments";
            sink.error(codes::TOO_MANY, statement.op.place, message);
            return;
        }
        let Some(name) = name.or_else(|| SegmentName::new(UNNAMED)) else { return };
        let fields = Vec::new();
        let segment = Sensitive { name, parent, options, subsets, indices, fields, metadata };
        database.segments.push(segment);
    }

    pub(super) fn senfld(&mut self, statement: &Statement) {
        let Some(pcb) = self.current(statement) else { return };
        let Some(PcbKind::Database(database)) =
            self.psb.pcbs.get_mut(usize::from(pcb)).map(|pcb| &mut pcb.kind)
        else {
            return;
        };
        let at = nth(database.segments.len().saturating_sub(1));
        let Some(segment) = database.segments.last_mut() else {
            let message = "SENFLD stands before the first SENSEG of its PCB";
            self.sink.error(codes::OUTSIDE, statement.op.place, message);
            return;
        };
        let spot = Spot::SensitiveField(pcb, at, nth(segment.fields.len()));
        let mut card = Card::new(statement, spot, self.places, self.sink);
        let sink = &mut *self.sink;
        let name = card
            .need(&["NAME"], sink)
            .and_then(|value| values::name(value, "SENFLD NAME=", FieldName::new, sink));
        let start = card
            .need(&["START"], sink)
            .and_then(|value| values::short(value, "START=", 1..=32_767, sink));
        let replace = card
            .take_any(&["REPLACE", "REPL"])
            .and_then(|value| yes(value, "REPLACE=", sink))
            .unwrap_or(true);
        let metadata = card.metadata(&[]);
        card.finish(sink);
        if segment.fields.len() >= 1_000 {
            let message = "a segment has at most 1,000 sensitive fields";
            sink.error(codes::TOO_MANY, statement.op.place, message);
        } else if let (Some(name), Some(start)) = (name, start) {
            segment.fields.push(SensitiveField { name, start, replace, metadata });
        }
    }
}

/// `PARENT=0` or the name of a SENSEG before (DLI-12.42).
fn parent(
    value: Option<&Value>,
    database: &DatabasePcb,
    statement: &Statement,
    sink: &mut Sink,
) -> Option<u16> {
    let first = database.segments.is_empty();
    let fallback = (!first).then_some(0);
    let word = value.and_then(values::word);
    let Some((value, word)) = value.zip(word).filter(|(_, word)| word.text != "0") else {
        if !first {
            let place = value.map_or(statement.op.place, place_of);
            let message = "only the first SENSEG of a PCB can be the root";
            sink.error(codes::SENSEG_PARENT, place, message);
            sink.help("name its parent with PARENT=");
        }
        return fallback;
    };
    let name = values::name(value, "SENSEG PARENT=", SegmentName::new, sink);
    let Some(name) = name else { return fallback };
    let at = database.segments.iter().position(|one| one.name == name);
    if at.is_none() {
        let message = format!("the parent {} is no SENSEG that stands before", word.text);
        sink.error(codes::SENSEG_PARENT, word.place, message);
        sink.help("parents stand before their children, and none may be left out");
    }
    at.map(nth).or(fallback)
}

/// `SSPTR=((n,R|U)..)`.
fn subsets(value: &Value, sink: &mut Sink) -> Vec<SubsetUse> {
    let mut subsets: Vec<SubsetUse> = Vec::new();
    for group in groups(value) {
        values::at_most(&group, 2, "each SSPTR=", sink);
        let Some(first) = group.first() else { continue };
        let number = number(first, "SSPTR=", 1..=8, sink);
        let usage = match group.get(1).filter(|value| !is_empty(value)) {
            Some(value) => values::choice(value, "SSPTR=", "R, U", SubsetUsage::of, sink),
            None => Some(SubsetUsage::Read),
        };
        let number = number.and_then(|number| u8::try_from(number).ok());
        if let (Some(number), Some(usage)) = (number, usage) {
            if subsets.iter().any(|one| one.number == number) {
                let message = format!("the subset pointer {number} stands twice");
                sink.error(codes::TWICE, place_of(first), message);
            }
            subsets.push(SubsetUse { number, usage });
        }
    }
    subsets
}

fn indices(value: &Value, sink: &mut Sink) -> Vec<DbdName> {
    let items = items(value);
    values::at_most(&items, 32, "INDICES=", sink);
    let items = items.into_iter().take(32).filter(|value| !is_empty(value));
    items.filter_map(|value| values::name(value, "INDICES=", DbdName::new, sink)).collect()
}
