//! The statements of a DBD: DBD itself here, the others in `data_set`, `segment`, `field`, `child`.

use macros::{Place, Statement, Value};

use super::UNNAMED;
use super::card::{Card, everything};
use super::sink::Sink;
use super::values::{self, at_most, items, number, place_of, yes};
use crate::check;
use crate::codes;
use crate::finding::{Places, Spot, nth};
use crate::model::{
    AccessMethod, Dbd, DbdName, Exit, Extra, ModuleName, Organization, Protection, Randomizer,
};

/// A DBD being compiled.
pub(super) struct Compiler<'s> {
    pub(super) dbd: Dbd,
    /// Which of the names of `NAME=` it is for.
    nth: usize,
    pub(super) places: &'s mut Places,
    pub(super) sink: &'s mut Sink,
    /// The data set group that the next SEGM belongs to.
    pub(super) group: u8,
    /// Whether the statement before was a FIELD, to which a DFSMARSH then belongs.
    pub(super) after_field: bool,
}

/// Compiles the statements of a DBD that belong to its nth name. What is returned in spite of
/// errors only serves its name.
pub(super) fn compile(
    statements: &[&Statement],
    nth: usize,
    places: &mut Places,
    sink: &mut Sink,
) -> Dbd {
    let unnamed = DbdName::new(UNNAMED).expect("a question mark is printable");
    let dbd = Dbd::new(unnamed, Organization::Hdam);
    let mut compiler = Compiler { dbd, nth, places, sink, group: 0, after_field: false };
    for statement in statements {
        compiler.statement(statement);
    }
    let Compiler { dbd, places, sink, .. } = compiler;
    // A statement that could not be read leaves values behind that the check takes as they are
    // (the longest length, the root as parent), so that one mistake is not told twice.
    for finding in check::dbd(&dbd) {
        sink.diagnostics.push(finding.diagnostic(places));
    }
    dbd
}

impl Compiler<'_> {
    fn statement(&mut self, statement: &Statement) {
        match statement.op.text.as_str() {
            "DBD" => self.dbd_statement(statement),
            "DATASET" => self.data_set(statement),
            "AREA" => self.area(statement),
            "SEGM" => self.segment(statement),
            "FIELD" => self.field(statement),
            "LCHILD" => self.child(statement),
            "XDFLD" => self.indexed(statement),
            "DFSMARSH" | "DFSMAP" | "DFSCASE" => self.extra(statement),
            _ => {}
        }
    }

    fn dbd_statement(&mut self, statement: &Statement) {
        let mut card = Card::new(statement, Spot::Member, self.places, self.sink);
        if let Some(value) = card.need(&["ACCESS"], self.sink) {
            self.access(value);
        }
        if let Some(value) = card.need(&["NAME"], self.sink) {
            let names = items(value);
            if self.dbd.organization != Organization::Index {
                at_most(&names, 1, "NAME= of a DBD", self.sink);
            }
            let own = names.get(self.nth).copied().unwrap_or(value);
            if let Some(name) = values::name(own, "DBD NAME=", DbdName::new, self.sink) {
                self.dbd.name = name;
            }
        }
        if let Some(value) = card.take("RMNAME") {
            self.randomizer(value);
        }
        let sink = &mut *self.sink;
        let flag = |value: Option<&Value>, what: &str, sink: &mut Sink| {
            value.and_then(|value| yes(value, what, sink)).unwrap_or(false)
        };
        self.dbd.password = flag(card.take("PASSWD"), "PASSWD=", sink);
        self.dbd.fp_index = flag(card.take("FPINDEX"), "FPINDEX=", sink);
        self.dbd.data_exit = flag(card.take("DATXEXIT"), "DATXEXIT=", sink);
        self.dbd.version = card.take("VERSION").map(|value| match values::word(value) {
            Some(word) => word.text.clone(),
            None => values::written(value),
        });
        self.dbd.db_version =
            card.take("DBVER").and_then(|value| number(value, "DBVER=", 0..=2_147_483_647, sink));
        self.dbd.partition_exit = card
            .take("PSNAME")
            .and_then(|value| values::name(value, "PSNAME=", ModuleName::new, sink));
        if let Some(value) = card.take("EXIT") {
            self.dbd.exits = exits(value, sink);
        }
        self.dbd.metadata = card.metadata(&[]);
        card.finish(sink);
    }

    /// `ACCESS=(organization,method,protection,DOSCOMP)`, the later ones in any order.
    fn access(&mut self, value: &Value) {
        let words = values::words(value);
        let Some(first) = words.first() else { return };
        let choices = "HSAM, SHSAM, HISAM, SHISAM, HDAM, HIDAM, PHDAM, PHIDAM, PSINDEX, INDEX, \
                       GSAM, MSDB, DEDB, LOGICAL";
        let organization =
            values::choice_of_word(first, "ACCESS=", choices, Organization::of, self.sink);
        let Some(organization) = organization else { return };
        self.dbd.organization = organization;
        for word in &words[1..] {
            if let Some(method) = AccessMethod::of(&word.text) {
                self.method(organization, method, word.place);
            } else if let Some(protection) = Protection::of(&word.text) {
                if !organization.is_index() {
                    let message = format!("{} is for indexes, not for {organization}", word.text);
                    self.sink.error(codes::CONFLICT, word.place, message);
                }
                self.dbd.protection = Some(protection);
            } else if word.text == "DOSCOMP" {
                self.dbd.dos_compatible = true;
            } else {
                let choices = "VSAM, OSAM, BSAM, QSAM, PROT, NOPROT, DOSCOMP";
                let none = |_: &str| None::<()>;
                values::choice_of_word(word, "ACCESS=", choices, none, self.sink);
            }
        }
    }

    fn method(&mut self, organization: Organization, method: AccessMethod, place: Place) {
        use Organization::{
            Dedb, Gsam, Hdam, Hidam, Hisam, Hsam, Index, Logical, Msdb, Phdam, Phidam, Psindex,
            Shisam, Shsam,
        };
        let fits = match organization {
            Hdam | Hidam | Phdam | Phidam => {
                matches!(method, AccessMethod::Vsam | AccessMethod::Osam)
            }
            Hisam | Shisam | Index | Psindex | Dedb => method == AccessMethod::Vsam,
            Hsam | Shsam => matches!(method, AccessMethod::Bsam | AccessMethod::Qsam),
            Gsam => method != AccessMethod::Osam,
            Msdb | Logical => false,
        };
        if !fits {
            let message = format!("{method} is no access method of {organization}");
            self.sink.error(codes::CONFLICT, place, message);
        }
        self.dbd.access_method = Some(method);
    }

    fn randomizer(&mut self, value: &Value) {
        let items = items(value);
        at_most(&items, 5, "RMNAME=", self.sink);
        let Some(first) = items.first() else { return };
        let what = "RMNAME=";
        let Some(module) = values::name(first, what, ModuleName::new, self.sink) else { return };
        let mut part = |at: usize, what: &str, most: u32| {
            let value = items.get(at).filter(|value| !values::is_empty(value))?;
            number(value, what, 0..=most, self.sink)
        };
        let anchors = part(1, "RMNAME= anchor points", 255);
        let blocks = part(2, "RMNAME= blocks", 16_777_215);
        let bytes = part(3, "RMNAME= bytes", 16_777_215);
        let extended = items.get(4).filter(|value| !values::is_empty(value)).is_some_and(|value| {
            let of = |text: &str| (text == "XCI").then_some(true);
            values::choice(value, "RMNAME=", "XCI", of, self.sink).unwrap_or(false)
        });
        if !self.dbd.organization.is_hashed() && self.dbd.organization != Organization::Msdb {
            let message = format!("RMNAME= has no effect for {}", self.dbd.organization);
            self.sink.warning(codes::NO_EFFECT, place_of(value), message);
        }
        self.dbd.randomizer = Some(Randomizer { module, anchors, blocks, bytes, extended });
    }

    /// DFSMARSH belongs to the field before it, DFSMAP and DFSCASE to the segment.
    fn extra(&mut self, statement: &Statement) {
        let extra =
            Extra { statement: statement.op.text.clone(), attributes: everything(statement) };
        let Some(segment) = self.dbd.segments.last_mut() else {
            self.dbd.extras.push(extra);
            return;
        };
        let field = segment.fields.last_mut().filter(|field| {
            self.after_field && extra.statement == "DFSMARSH" && field.marshal.is_none()
        });
        match field {
            Some(field) => field.marshal = Some(extra),
            None => segment.extras.push(extra),
        }
    }

    /// The place of the segment that was defined last.
    pub(super) fn last_segment(&self) -> Option<u16> {
        self.dbd.segments.len().checked_sub(1).map(nth)
    }
}

/// `EXIT=(name,options..)` or several of these.
pub(super) fn exits(value: &Value, sink: &mut Sink) -> Vec<Exit> {
    const OPTIONS: &[&str] = &[
        "KEY",
        "NOKEY",
        "DATA",
        "NODATA",
        "PATH",
        "NOPATH",
        "CASCADE",
        "NOCASCADE",
        "BEFORE",
        "NOBEFORE",
        "INPOS",
        "NOINPOS",
        "LOG",
        "NOLOG",
        "DLET",
        "NODLET",
        "FLD",
        "NOFLD",
        "SSPCMD",
        "NOSSPCMD",
    ];
    let mut exits = Vec::new();
    for group in values::groups(value) {
        let mut words = group.iter().flat_map(|value| values::words(value));
        let Some(first) = words.next() else { continue };
        if first.text == "NONE" {
            continue;
        }
        let module = ModuleName::new(&first.text).filter(|_| first.text != "*");
        if module.is_none() && first.text != "*" {
            let message = format!("EXIT=: \"{}\" is no name", first.text);
            sink.error(codes::BAD_NAME, first.place, message);
        }
        let known = |text: &str| OPTIONS.contains(&text).then(|| text.to_owned());
        let options = words
            .filter_map(|word| {
                let choices = "KEY, DATA, PATH, CASCADE, BEFORE, INPOS, LOG and their NO forms";
                values::choice_of_word(word, "EXIT=", choices, known, sink)
            })
            .collect();
        exits.push(Exit { module, options });
    }
    exits
}
