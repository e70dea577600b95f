//! DATASET and AREA.

use macros::{Statement, Value};

use super::card::Card;
use super::database::Compiler;
use super::sink::Sink;
use super::values::{self, at_most, items, number, place_of};
use crate::codes;
use crate::finding::{Spot, nth};
use crate::model::{Area, DataSet, DdName, GroupName, Organization, Pair};

/// Record formats: F, FB, V, VB, U, with S (spanned, standard), A or M (print control).
fn is_record_format(text: &str) -> bool {
    let base = text.trim_end_matches(['A', 'M']);
    text.len() - base.len() <= 1
        && matches!(base, "F" | "FB" | "FS" | "FBS" | "V" | "VB" | "VS" | "VBS" | "U")
}

impl Compiler<'_> {
    pub(super) fn data_set(&mut self, statement: &Statement) {
        self.after_field = false;
        let spot = Spot::DataSet(nth(self.dbd.data_sets.len()));
        let mut card = Card::new(statement, spot, self.places, self.sink);
        let sink = &mut *self.sink;
        let organization = self.dbd.organization;
        if let Some(value) = card.take_positional() {
            logical(value, organization, sink);
            card.finish(sink);
            return;
        }
        let label = statement.label.as_ref().and_then(|word| GroupName::new(&word.text));
        if let Some(known) = label.and_then(|label| {
            self.dbd.data_sets.iter().position(|group| group.label == Some(label))
        }) {
            // The label again: the segments that follow belong to that group.
            self.group = u8::try_from(known).unwrap_or(0);
            card.without_effect(&["DD1", "DEVICE", "SIZE"], sink);
            card.finish(sink);
            return;
        }
        if organization.is_partitioned() {
            let message = format!("{organization} takes its data sets from its partitions");
            sink.warning(codes::NO_EFFECT, statement.op.place, message);
        }
        if matches!(organization, Organization::Dedb | Organization::Logical) {
            let message = format!("{organization} has no DATASET with names of data sets");
            sink.error(codes::NOT_HERE, statement.op.place, message);
        }
        card.without_effect(&["DEVICE", "SCAN", "SEARCHA", "MODEL", "BUFNO"], sink);
        let set = read_data_set(&mut card, label, sink);
        card.finish(sink);
        if organization == Organization::Gsam && set.dd1.is_none() && set.dd2.is_none() {
            let message = "DATASET of a GSAM database needs DD1= or DD2=";
            sink.error(codes::MISSING, statement.op.place, message);
        }
        // Ten groups: A to J.
        if self.dbd.data_sets.len() >= 10 {
            let message = "a database has at most 10 data set groups";
            sink.error(codes::TOO_MANY, statement.op.place, message);
            return;
        }
        self.group = u8::try_from(self.dbd.data_sets.len()).unwrap_or(0);
        self.dbd.data_sets.push(set);
    }

    pub(super) fn area(&mut self, statement: &Statement) {
        self.after_field = false;
        let spot = Spot::DataSet(nth(self.dbd.areas.len()));
        let mut card = Card::new(statement, spot, self.places, self.sink);
        let sink = &mut *self.sink;
        if self.dbd.organization != Organization::Dedb {
            let message = format!("AREA is for DEDB, not for {}", self.dbd.organization);
            sink.error(codes::NOT_HERE, statement.op.place, message);
        }
        card.without_effect(&["DEVICE", "MODEL"], sink);
        let dd1 = card
            .need(&["DD1"], sink)
            .and_then(|value| values::name(value, "DD1=", DdName::new, sink));
        let size = card.take("SIZE").and_then(|value| number(value, "SIZE=", 512..=32_768, sink));
        let unit_of_work = pair(&mut card, "UOW", 32_767, sink);
        let root = pair(&mut card, "ROOT", 2_147_483_647, sink);
        card.finish(sink);
        if self.dbd.areas.len() >= 9_999 {
            sink.error(codes::TOO_MANY, statement.op.place, "a DEDB has at most 9,999 areas");
        } else if let Some(dd1) = dd1 {
            if self.dbd.areas.iter().any(|area| area.dd1 == dd1) {
                let message = format!("the area {dd1} is defined twice");
                sink.error(codes::NAME_TWICE, statement.op.place, message);
            }
            self.dbd.areas.push(Area { dd1, size, unit_of_work, root });
        }
    }
}

fn logical(value: &Value, organization: Organization, sink: &mut Sink) {
    let of = |text: &str| (text == "LOGICAL").then_some(());
    let known = values::choice(value, "DATASET", "LOGICAL", of, sink);
    if known.is_some() && organization != Organization::Logical {
        let message = format!("DATASET LOGICAL is not for {organization}");
        sink.error(codes::NOT_HERE, place_of(value), message);
    }
}

fn read_data_set(card: &mut Card<'_>, label: Option<GroupName>, sink: &mut Sink) -> DataSet {
    let dd1 = dd(card, "DD1", sink);
    let dd2 = dd(card, "DD2", sink);
    let overflow = dd(card, "OVFLW", sink);
    let size = pair(card, "SIZE", 32_767, sink);
    let block = pair(card, "BLOCK", 32_767, sink);
    let record = pair(card, "RECORD", 32_767, sink);
    let free_space = pair(card, "FRSPC", 100, sink);
    let of = |text: &str| is_record_format(text).then(|| text.to_owned());
    let choices = "F, FB, V, VB, U, with A or M behind";
    let record_format =
        card.take("RECFM").and_then(|value| values::choice(value, "RECFM=", choices, of, sink));
    DataSet { label, dd1, dd2, overflow, size, block, record, record_format, free_space }
}

fn dd(card: &mut Card<'_>, keyword: &'static str, sink: &mut Sink) -> Option<DdName> {
    let value = card.take(keyword)?;
    values::name(value, &format!("{keyword}="), DdName::new, sink)
}

/// `(n,m)`, either of which may be left out.
fn pair(card: &mut Card<'_>, keyword: &'static str, most: u32, sink: &mut Sink) -> Pair {
    let Some(value) = card.take(keyword) else { return Pair::default() };
    let items = items(value);
    let what = format!("{keyword}=");
    at_most(&items, 2, &what, sink);
    let mut part = |at: usize| {
        let value = items.get(at).filter(|value| !values::is_empty(value))?;
        number(value, &what, 0..=most, sink)
    };
    Pair { first: part(0), second: part(1) }
}

#[cfg(test)]
mod tests {
    use super::is_record_format;

    #[test]
    fn record_formats() {
        assert!(["F", "FB", "VB", "U", "FBA", "VBM"].into_iter().all(is_record_format));
        assert!(["", "A", "FX", "BF", "FAA"].into_iter().all(|text| !is_record_format(text)));
    }
}
