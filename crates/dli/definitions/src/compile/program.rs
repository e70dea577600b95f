//! The statements of a PSB: PCB and PSBGEN here, SENSEG and SENFLD in `sensitive`.

use macros::{Statement, Value};

use super::UNNAMED;
use super::card::Card;
use super::sink::Sink;
use super::values::{self, at_most, is_empty, items, number, place_of, yes};
use crate::check;
use crate::codes;
use crate::finding::{Places, Spot, nth};
use crate::model::{
    DatabasePcb, DbdName, GsamPcb, IoError, OptionError, Pcb, PcbKind, PcbName, ProcessingOptions,
    ProgramLanguage, Psb, PsbName, TerminalName, TerminalPcb,
};

/// A PSB being compiled.
pub(super) struct Compiler<'s> {
    pub(super) psb: Psb,
    pub(super) places: &'s mut Places,
    pub(super) sink: &'s mut Sink,
    /// Whether the PCB before could be read, so that its SENSEGs have a place.
    pub(super) in_pcb: bool,
}

/// Compiles the statements of a PSB. What is returned in spite of errors only serves its name.
pub(super) fn compile(statements: &[&Statement], places: &mut Places, sink: &mut Sink) -> Psb {
    let unnamed = PsbName::new(UNNAMED).expect("a question mark is printable");
    let mut compiler = Compiler { psb: Psb::new(unnamed), places, sink, in_pcb: false };
    for statement in statements {
        match statement.op.text.as_str() {
            "PCB" => compiler.pcb(statement),
            "SENSEG" => compiler.senseg(statement),
            "SENFLD" => compiler.senfld(statement),
            "PSBGEN" => compiler.psbgen(statement),
            _ => {}
        }
    }
    let Compiler { psb, places, sink, .. } = compiler;
    for finding in check::psb(&psb) {
        sink.diagnostics.push(finding.diagnostic(places));
    }
    psb
}

/// The kinds of PCB, as `TYPE=` names them.
#[derive(Clone, Copy)]
enum Kind {
    Terminal,
    Database,
    Gsam,
}

impl Compiler<'_> {
    fn pcb(&mut self, statement: &Statement) {
        self.in_pcb = false;
        let spot = Spot::Pcb(nth(self.psb.pcbs.len()));
        let mut card = Card::new(statement, spot, self.places, self.sink);
        let of = |text: &str| match text {
            "TP" => Some(Kind::Terminal),
            "DB" => Some(Kind::Database),
            "GSAM" => Some(Kind::Gsam),
            _ => None,
        };
        let kind = card
            .need(&["TYPE"], self.sink)
            .and_then(|value| values::choice(value, "PCB TYPE=", "TP, DB, GSAM", of, self.sink));
        let Some(kind) = kind else {
            // The SENSEGs behind it cannot be judged; they are passed over in silence.
            return;
        };
        let name = self.pcb_name(&mut card, statement);
        let sink = &mut *self.sink;
        let listed = card.take("LIST").and_then(|value| yes(value, "LIST=", sink)).unwrap_or(true);
        let kind = match kind {
            Kind::Terminal => Some(PcbKind::Terminal(terminal(&mut card, sink))),
            Kind::Database => database(&mut card, sink).map(PcbKind::Database),
            Kind::Gsam => gsam(&mut card, sink).map(PcbKind::Gsam),
        };
        let metadata = card.metadata(&[]);
        card.finish(sink);
        if self.psb.pcbs.len() >= 2_500 {
            sink.error(codes::TOO_MANY, statement.op.place, "a PSB has at most 2,500 PCBs");
            return;
        }
        if let Some(kind) = kind {
            self.in_pcb = true;
            self.psb.pcbs.push(Pcb { name, listed, kind, metadata });
        }
    }

    /// `PCBNAME=`, or the label, which means the same.
    fn pcb_name(&mut self, card: &mut Card<'_>, statement: &Statement) -> Option<PcbName> {
        let operand = card.take("PCBNAME");
        let named =
            operand.and_then(|value| values::name(value, "PCBNAME=", PcbName::new, self.sink));
        let label = statement.label.as_ref();
        let labelled = label.and_then(|word| PcbName::new(&word.text));
        if let (Some(word), None) = (label, labelled) {
            let message = format!("the label \"{}\" is no name", word.text);
            self.sink.error(codes::BAD_NAME, word.place, message);
        }
        if let (Some(value), Some(named), Some(labelled)) = (operand, named, labelled)
            && named != labelled
        {
            let message = format!("the PCB has the label {labelled} and PCBNAME={named}");
            self.sink.error(codes::CONFLICT, place_of(value), message);
            self.sink.help("give the name once, as label or as PCBNAME=");
        }
        let name = named.or(labelled)?;
        if self.psb.pcbs.iter().any(|pcb| pcb.name == Some(name)) {
            let message = format!("two PCBs have the name {name}");
            self.sink.error(codes::NAME_TWICE, statement.op.place, message);
        }
        Some(name)
    }

    fn psbgen(&mut self, statement: &Statement) {
        self.in_pcb = false;
        let mut card = Card::new(statement, Spot::Member, self.places, self.sink);
        let sink = &mut *self.sink;
        if let Some(value) = card.need(&["PSBNAME"], sink)
            && let Some(name) = values::name(value, "PSBNAME=", PsbName::new, sink)
        {
            self.psb.name = name;
        }
        let psb = &mut self.psb;
        psb.language = card.take("LANG").and_then(|value| {
            let of = |text: &str| match text {
                "PLI" => Some(ProgramLanguage::Pli),
                "ASM" => Some(ProgramLanguage::Assem),
                _ => ProgramLanguage::of(text),
            };
            values::choice(value, "LANG=", "COBOL, ASSEM, PL/I, PASCAL, C, JAVA", of, sink)
        });
        psb.compatible = flag(&mut card, "CMPAT", sink);
        psb.online_image_copy = flag(&mut card, "OLIC", sink);
        psb.gsam_backout = flag(&mut card, "GSROLBOK", sink);
        psb.write = flag(&mut card, "WRITE", sink);
        psb.max_q = count(&mut card, "MAXQ", 65_535, sink);
        psb.io_area_size = count(&mut card, "IOASIZE", 256_000, sink);
        psb.ssa_size = count(&mut card, "SSASIZE", 256_000, sink);
        psb.lock_max = count(&mut card, "LOCKMAX", 255, sink);
        psb.io_error = card.take("IOEROPN").and_then(|value| io_error(value, sink));
        psb.metadata = card.metadata(&[]);
        card.finish(sink);
    }
}

fn flag(card: &mut Card<'_>, keyword: &'static str, sink: &mut Sink) -> bool {
    let value = card.take(keyword);
    value.and_then(|value| yes(value, &format!("{keyword}="), sink)).unwrap_or(false)
}

fn count(card: &mut Card<'_>, keyword: &'static str, most: u32, sink: &mut Sink) -> Option<u32> {
    number(card.take(keyword)?, &format!("{keyword}="), 0..=most, sink)
}

/// `IOEROPN=n` or `(n,WTOR)`.
fn io_error(value: &Value, sink: &mut Sink) -> Option<IoError> {
    let items = items(value);
    at_most(&items, 2, "IOEROPN=", sink);
    let code = values::short(items.first()?, "IOEROPN=", 0..=4_095, sink)?;
    let ask = match items.get(1).filter(|value| !is_empty(value)) {
        Some(value) => {
            let of = |text: &str| (text == "WTOR").then_some(true);
            values::choice(value, "IOEROPN=", "WTOR", of, sink)?
        }
        None => false,
    };
    Some(IoError { code, ask })
}

fn terminal(card: &mut Card<'_>, sink: &mut Sink) -> TerminalPcb {
    let destination = card
        .take_any(&["LTERM", "NAME"])
        .and_then(|value| values::name(value, "LTERM=", TerminalName::new, sink));
    let modifiable = flag(card, "MODIFY", sink);
    TerminalPcb {
        destination,
        alternate_response: flag(card, "ALTRESP", sink),
        same_terminal: flag(card, "SAMETRM", sink),
        modifiable,
        express: flag(card, "EXPRESS", sink),
    }
}

fn dbd_name(card: &mut Card<'_>, sink: &mut Sink) -> Option<DbdName> {
    let value = card.need(&["DBDNAME", "NAME"], sink)?;
    values::name(value, "DBDNAME=", DbdName::new, sink)
}

fn database(card: &mut Card<'_>, sink: &mut Sink) -> Option<DatabasePcb> {
    let dbd = dbd_name(card, sink);
    let options = card.take("PROCOPT").and_then(|value| options(value, sink)).unwrap_or_default();
    let key_len = count(card, "KEYLEN", 32_767, sink);
    let of = |text: &str| match text {
        "MULTIPLE" | "MULT" | "M" => Some(true),
        "SINGLE" | "SNGL" | "S" => Some(false),
        _ => None,
    };
    let multiple_positions = card
        .take("POS")
        .and_then(|value| values::choice(value, "POS=", "SINGLE, MULTIPLE", of, sink))
        .unwrap_or(false);
    let plain = index(card, "PROCSEQ", sink);
    let of_dedb = index(card, "PROCSEQD", sink);
    if let (Some(_), Some((_, value))) = (plain, of_dedb) {
        let message = "PROCSEQ= and PROCSEQD= exclude each other";
        sink.error(codes::CONFLICT, place_of(value), message);
    }
    let of = |text: &str| match text {
        "COND" => Some(true),
        "NO" => Some(false),
        _ => None,
    };
    let sequential_buffering = card
        .take("SB")
        .and_then(|value| values::choice(value, "SB=", "COND, NO", of, sink))
        .unwrap_or(false);
    let of = |text: &str| (text == "MSDB").then_some(true);
    let msdb_view = card
        .take("VIEW")
        .and_then(|value| values::choice(value, "VIEW=", "MSDB", of, sink))
        .unwrap_or(false);
    let db_version = count(card, "DBVER", 2_147_483_647, sink);
    let sequence = plain.or(of_dedb).map(|(name, _)| name);
    Some(DatabasePcb {
        dbd: dbd.or_else(|| DbdName::new(UNNAMED))?,
        options,
        key_len,
        multiple_positions,
        sequence,
        sequence_of_dedb: of_dedb.is_some(),
        sequential_buffering,
        msdb_view,
        db_version,
        segments: Vec::new(),
    })
}

/// The index database that a keyword names, and where.
fn index<'a>(
    card: &mut Card<'a>,
    keyword: &'static str,
    sink: &mut Sink,
) -> Option<(DbdName, &'a Value)> {
    let value = card.take(keyword)?;
    let name = values::name(value, &format!("{keyword}="), DbdName::new, sink)?;
    Some((name, value))
}

fn gsam(card: &mut Card<'_>, sink: &mut Sink) -> Option<GsamPcb> {
    let dbd = dbd_name(card, sink);
    let value = card.need(&["PROCOPT"], sink);
    let options = value.and_then(|value| options(value, sink));
    if let (Some(value), Some(options)) = (value, options)
        && !matches!(options.text(), "G" | "GS" | "L" | "LS")
    {
        let message = format!("PROCOPT={options}: a GSAM PCB has G, GS, L or LS");
        sink.error(codes::BAD_OPTIONS, place_of(value), message);
    }
    let options = options.unwrap_or_default();
    Some(GsamPcb { dbd: dbd.or_else(|| DbdName::new(UNNAMED))?, options })
}

/// `PROCOPT=`.
pub(super) fn options(value: &Value, sink: &mut Sink) -> Option<ProcessingOptions> {
    let word = values::need_word(value, "PROCOPT=", sink)?;
    let why = match ProcessingOptions::parse(&word.text) {
        Ok(options) => return Some(options),
        Err(OptionError::Length) => "it has one to four letters".to_owned(),
        Err(OptionError::Letter(letter)) => format!("{letter} is no processing option"),
        Err(OptionError::Twice(letter)) => format!("{letter} stands twice"),
        Err(OptionError::Combination(why)) => why.to_owned(),
    };
    let message = format!("PROCOPT={}: {why}", word.text);
    sink.error(codes::BAD_OPTIONS, word.place, message);
    None
}
