//! System definition macros: APPLCTN, TRANSACT, RTCODE, DATABASE.
//!
//! | macro | becomes |
//! |---|---|
//! | `APPLCTN` | a program; what follows belongs to it |
//! | `TRANSACT` | a transaction for each of its codes |
//! | `RTCODE` | a routing code |
//! | `DATABASE` | a database for each name |
//!
//! Invariants:
//! 1. A macro that has an error yields no change.

use macros::{Operand, Place, Program as Source, Severity, Sources, Statement, Value};
use otma::Name;

use crate::attribute::{Attribute, Mode};
use crate::check::Change;
use crate::codes;
use crate::diagnostic::{Diagnostic, Parsed};
use crate::model::{Definition, Kind, SetError};

/// Macros of a system definition that concern other things than these resources.
const OTHERS: &[&str] = &[
    "IMSCTRL", "IMSCTF", "BUFPOOLS", "MSGQUEUE", "SECURITY", "COMM", "TYPE", "LINEGRP", "LINE",
    "TERMINAL", "NAME", "CTLUNIT", "POOL", "SUBPOOL", "VTAMPOOL", "MSPLINK", "MSLINK", "MSNAME",
    "STATION", "CONFIG", "IMSGEN", "FPCTRL", "END", "TITLE", "PRINT", "EJECT", "SPACE",
];

struct Compiler<'s> {
    sources: &'s Sources,
    parsed: Parsed,
    /// The last APPLCTN's program, and its class.
    program: Option<(Name, Option<String>)>,
    failed: bool,
}

/// Compiles the statements of a file.
pub(crate) fn compile(sources: &Sources, source: &Source) -> Parsed {
    let mut compiler =
        Compiler { sources, parsed: Parsed::default(), program: None, failed: false };
    for of_macros in &source.diagnostics {
        compiler.push(of_macros);
    }
    for statement in &source.statements {
        compiler.statement(statement);
    }
    compiler.parsed
}

/// The words of a value: itself, or the elements of a list, empty where nothing stands.
fn words(value: &Value) -> Vec<(String, Place)> {
    match value {
        Value::Empty(place) => vec![(String::new(), *place)],
        Value::Word(word) | Value::Quoted(word) => vec![(word.text.clone(), word.place)],
        Value::List(values, _) => values.iter().flat_map(words).collect(),
    }
}

impl Compiler<'_> {
    fn push(&mut self, of_macros: &macros::Diagnostic) {
        self.failed |= of_macros.severity == Severity::Error;
        self.parsed.diagnostics.push(Diagnostic {
            severity: of_macros.severity,
            code: of_macros.code,
            card: of_macros.place.card,
            column: of_macros.place.column,
            message: of_macros.message.clone(),
            help: of_macros.help.clone().unwrap_or_default(),
            shown: self.sources.show(of_macros),
        });
    }

    fn say(
        &mut self,
        severity: Severity,
        code: &'static str,
        place: Place,
        message: String,
        help: &str,
    ) {
        let help = Some(help.to_owned());
        self.push(&macros::Diagnostic { severity, code, place, message, help });
    }

    fn error(&mut self, code: &'static str, place: Place, message: String, help: &str) {
        self.say(Severity::Error, code, place, message, help);
    }

    fn statement(&mut self, statement: &Statement) {
        self.failed = false;
        match statement.op.text.as_str() {
            "APPLCTN" => self.application(statement),
            "TRANSACT" => self.transaction(statement),
            "RTCODE" => self.routing_code(statement),
            "DATABASE" => self.database(statement),
            other if OTHERS.contains(&other) => {}
            other => {
                let text = format!("{other} defines no resource of the online system");
                let help = "Remove it, or define it where it belongs.";
                self.say(Severity::Warning, codes::MACRO, statement.place, text, help);
            }
        }
    }

    fn add(&mut self, definitions: Vec<Definition>) {
        if !self.failed {
            self.parsed.changes.extend(definitions.into_iter().map(Change::Create));
        }
    }

    fn name(&mut self, text: &str, place: Place) -> Name {
        // What is a mask in a command is no name here either.
        let usable = |name: &Name| !name.is_blank() && !name.text().contains(['*', '%']);
        Name::read(text).filter(usable).unwrap_or_else(|| {
            let help = "Give it at most 8 letters, digits, @, # and $.";
            self.error(codes::NO_NAME, place, format!("'{text}' is no name"), help);
            Name::BLANK
        })
    }

    fn set(&mut self, one: &mut Definition, attribute: &str, value: &str, place: Place) {
        let (what, help) = match one.set(attribute, value) {
            Ok(()) => return,
            Err(SetError::Unknown) => ("nothing", "Remove the operand."),
            Err(SetError::Value(expected)) => (expected, "Correct the value."),
        };
        self.error(codes::VALUE, place, format!("'{value}': this takes {what}"), help);
    }

    /// Sets attributes from the elements of an operand, those that are not empty.
    fn each(&mut self, one: &mut Definition, operand: &Operand, attributes: &[&str]) {
        for (at, (text, place)) in words(&operand.value).into_iter().enumerate() {
            match attributes.get(at) {
                _ if text.is_empty() => {}
                Some(attribute) => self.set(one, attribute, &text, place),
                None => {
                    let text = format!("'{text}' is one value too many");
                    self.error(codes::OPERAND, place, text, "Remove it.");
                }
            }
        }
    }

    /// The macro has seconds where the attribute has hundredths of one.
    fn process_limit(&mut self, one: &mut Definition, operand: &Operand) {
        for (attribute, (text, place)) in ["PLCT", "PLCTTIME"].iter().zip(words(&operand.value)) {
            let seconds = (*attribute == "PLCTTIME").then(|| text.parse::<u32>().ok()).flatten();
            let text = seconds.map_or(text, |seconds| seconds.saturating_mul(100).to_string());
            if !text.is_empty() {
                self.set(one, attribute, &text, place);
            }
        }
    }

    fn unknown(&mut self, operand: &Operand, op: &str) {
        let keyword = operand.keyword.as_ref().map_or("a value", |word| word.text.as_str());
        let text = format!("{op} has no operand {keyword} that concerns this system");
        let help = "Remove it if it was not meant for another system.";
        self.say(Severity::Warning, codes::OPERAND, operand.place, text, help);
    }

    fn application(&mut self, statement: &Statement) {
        let named = statement.operand("PSB").or_else(|| statement.operand("GPSB"));
        let Some((text, place)) = named.and_then(|one| words(&one.value).into_iter().next()) else {
            let help = "Add PSB=.";
            let text = "APPLCTN names no program".to_owned();
            self.error(codes::NO_NAME, statement.place, text, help);
            return;
        };
        let name = self.name(&text, place);
        let mut one = Definition::new(Kind::Program, name);
        let mut class = None;
        for operand in &statement.operands {
            match operand.keyword.as_ref().map_or("", |word| word.text.as_str()) {
                "PSB" => {}
                "GPSB" => self.set(&mut one, "GPSB", "Y", operand.place),
                "PGMTYPE" => class = self.program_type(&mut one, operand),
                "SCHDTYP" => self.each(&mut one, operand, &["SCHDTYPE"]),
                "LANG" => self.each(&mut one, operand, &["LANG"]),
                "FPATH" => {
                    let words = words(&operand.value);
                    let is = words.first().is_some_and(|(text, _)| text != "NO" && text != "N");
                    self.set(&mut one, "FP", if is { "E" } else { "N" }, operand.place);
                }
                "DOPT" | "RESIDENT" => {
                    let keyword = operand.keyword.as_ref().map_or("", |word| word.text.as_str());
                    self.each(&mut one, operand, &[keyword]);
                }
                _ => self.unknown(operand, "APPLCTN"),
            }
        }
        self.program = Some((name, class));
        self.add(vec![one]);
    }

    /// `PGMTYPE=(TP|BATCH,OVLY,class)`; answers the class.
    fn program_type(&mut self, one: &mut Definition, operand: &Operand) -> Option<String> {
        let mut class = None;
        for (text, place) in words(&operand.value) {
            match text.as_str() {
                "TP" | "OVLY" | "" => {}
                "BATCH" => self.set(one, "BMPTYPE", "Y", place),
                number if number.bytes().all(|byte| byte.is_ascii_digit()) => class = Some(text),
                _ => {
                    let text = format!("'{text}': this takes TP or BATCH, OVLY and a class");
                    self.error(codes::VALUE, place, text, "Correct it.");
                }
            }
        }
        class
    }

    fn of_program(&mut self, statement: &Statement) -> Option<(Name, Option<String>)> {
        if self.program.is_none() {
            let text = format!("{} stands before the first APPLCTN", statement.op.text);
            self.error(codes::NO_PROGRAM, statement.place, text, "Put APPLCTN in front of it.");
        }
        self.program.clone()
    }

    fn names(&mut self, statement: &Statement, keyword: &str) -> Vec<Name> {
        let Some(operand) = statement.operand(keyword) else {
            let text = format!("{} has no {keyword}=", statement.op.text);
            self.error(codes::NO_NAME, statement.place, text, "Add it.");
            return Vec::new();
        };
        let found = words(&operand.value);
        found.into_iter().map(|(text, place)| self.name(&text, place)).collect()
    }

    fn transaction(&mut self, statement: &Statement) {
        let Some((program, class)) = self.of_program(statement) else { return };
        let names = self.names(statement, "CODE");
        let mut model = Definition::new(Kind::Transaction, Name::BLANK);
        self.set(&mut model, "PGM", &program.text(), statement.place);
        if let Some(class) = class {
            self.set(&mut model, "CLASS", &class, statement.place);
        }
        for operand in &statement.operands {
            self.transaction_operand(&mut model, operand);
        }
        self.one_commit_each(&model, statement);
        let named = |name: &Name| {
            let mut one = model.clone();
            if let Definition::Transaction(one) = &mut one {
                one.name = *name;
            }
            one
        };
        let made = names.iter().map(named).collect();
        self.add(made);
    }

    /// A conversation commits each turn.
    fn one_commit_each(&mut self, model: &Definition, statement: &Statement) {
        let Definition::Transaction(one) = model else { return };
        if one.conversation && one.mode == Mode::Multiple {
            let place = statement.operand("MODE").map_or(statement.place, |one| one.place);
            let text = "a transaction with SPA= commits each turn: it takes MODE=SNGL".to_owned();
            self.error(codes::VALUE, place, text, "Write MODE=SNGL, or remove SPA=.");
        }
    }

    fn transaction_operand(&mut self, one: &mut Definition, operand: &Operand) {
        let found = words(&operand.value);
        let first = found.first().map_or("", |(text, _)| text.as_str());
        match operand.keyword.as_ref().map_or("", |word| word.text.as_str()) {
            "CODE" => {}
            "MODE" => self.each(one, operand, &["CMTMODE"]),
            "MSGTYPE" => self.message_type(one, &found),
            "PRTY" => self.each(one, operand, &["NPRI", "LPRI", "LCT"]),
            "PROCLIM" => self.process_limit(one, operand),
            "PARLIM" => self.each(one, operand, &["PARLIM"]),
            "MAXRGN" => self.each(one, operand, &["MAXRGN"]),
            "SEGNO" => self.each(one, operand, &["SEGNO"]),
            "SEGSIZE" => self.each(one, operand, &["SEGSZ"]),
            "SPA" => {
                self.set(one, "CONV", "Y", operand.place);
                self.each(one, operand, &["SPASZ", "SPATRUNC"]);
            }
            "EDIT" => {
                if !first.is_empty() {
                    let value = match first {
                        "UC" => "Y",
                        "ULC" => "N",
                        other => other,
                    };
                    self.set(one, "EDITUC", value, operand.place);
                }
                if let Some((text, place)) = found.get(1) {
                    self.set(one, "EDITRTN", text, *place);
                }
            }
            "INQUIRY" => {
                for (text, place) in &found {
                    match text.as_str() {
                        "RECOVER" => self.set(one, "RECOVER", "Y", *place),
                        "NORECOV" => self.set(one, "RECOVER", "N", *place),
                        other => self.set(one, "INQ", other, *place),
                    }
                }
            }
            "FPATH" => {
                let value = match first {
                    "NO" => "N",
                    "YES" => "P",
                    size => {
                        self.set(one, "EMHBSZ", size, operand.place);
                        "P"
                    }
                };
                self.set(one, "FP", value, operand.place);
            }
            "SYSID" => {
                self.set(one, "REMOTE", "Y", operand.place);
                self.each(one, operand, &["SIDR", "SIDL"]);
            }
            "SERIAL" => self.each(one, operand, &["SERIAL"]),
            "WFI" => self.set(one, "WFI", if first == "NO" { "N" } else { "Y" }, operand.place),
            "DCLWA" => self.each(one, operand, &["DCLWA"]),
            "AOI" => self.each(one, operand, &["AOCMD"]),
            "EXPRTIME" => self.each(one, operand, &["EXPRTIME"]),
            "MSNAME" => self.each(one, operand, &["MSNAME"]),
            // `WFI` stands alone, as a positional operand.
            "" if first == "WFI" => self.set(one, "WFI", "Y", operand.place),
            _ => self.unknown(operand, "TRANSACT"),
        }
    }

    /// `MSGTYPE=(MULTSEG|SNGLSEG,NONRESPONSE|RESPONSE,class)`
    fn message_type(&mut self, one: &mut Definition, found: &[(String, Place)]) {
        let at = |at: usize| found.get(at).filter(|(text, _)| !text.is_empty());
        if let Some((text, place)) = at(0) {
            self.set(one, "MSGTYPE", text, *place);
        }
        if let Some((text, place)) = at(1) {
            let value = match text.as_str() {
                "RESPONSE" => "Y",
                "NONRESPONSE" => "N",
                other => other,
            };
            self.set(one, "RESP", value, *place);
        }
        if let Some((text, place)) = at(2) {
            self.set(one, "CLASS", text, *place);
        }
    }

    fn routing_code(&mut self, statement: &Statement) {
        let Some((program, _)) = self.of_program(statement) else { return };
        let names = self.names(statement, "CODE");
        let mut made = Vec::new();
        for name in names {
            let mut one = Definition::new(Kind::RoutingCode, name);
            self.set(&mut one, "PGM", &program.text(), statement.place);
            for operand in statement.operands.iter().filter(|operand| !operand.is("CODE")) {
                if operand.is("INQUIRY") {
                    self.each(&mut one, operand, &["INQ"]);
                } else {
                    self.unknown(operand, "RTCODE");
                }
            }
            made.push(one);
        }
        self.add(made);
    }

    fn database(&mut self, statement: &Statement) {
        let names = self.names(statement, "DBD");
        let mut made = Vec::new();
        for name in names {
            let mut one = Definition::new(Kind::Database, name);
            for operand in statement.operands.iter().filter(|operand| !operand.is("DBD")) {
                let found = words(&operand.value);
                let first = found.first().map_or("", |(text, _)| text.as_str());
                if operand.is("ACCESS") {
                    self.each(&mut one, operand, &["ACCTYPE"]);
                } else if operand.is("RESIDENT") || first == "RESIDENT" {
                    self.set(&mut one, "RESIDENT", "Y", operand.place);
                } else {
                    self.unknown(operand, "DATABASE");
                }
            }
            made.push(one);
        }
        self.add(made);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use macros::Folders;

    use super::*;

    fn read(text: &str) -> Parsed {
        crate::read(Path::new("stage1.mac"), text.as_bytes(), &Folders::default())
    }

    fn commands(parsed: &Parsed) -> Vec<String> {
        let command = |change: &Change| match change {
            Change::Create(one) => one.command(),
            other => format!("{other:?}"),
        };
        parsed.changes.iter().map(command).collect()
    }

    #[test]
    fn macros_become_resources() {
        let parsed = read(concat!(
            "         DATABASE DBD=(DI21PART,DI21BANK),ACCESS=RD\n",
            "         APPLCTN PSB=DFSSAM02,PGMTYPE=(TP,,4),SCHDTYP=SERIAL\n",
            "         TRANSACT CODE=(PART,DSPINV),PRTY=(7,10,2),MODE=SNGL,          X\n",
            "               PROCLIM=(5,1),MSGTYPE=(SNGLSEG,RESPONSE),EDIT=(ULC)\n",
            "         TRANSACT CODE=TALK,SPA=(100,RTRUNC),INQUIRY=(NO,RECOVER)\n",
            "         RTCODE CODE=FAST,INQUIRY=YES\n",
        ));
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        assert_eq!(
            commands(&parsed),
            [
                "CREATE DB NAME(DI21PART) SET(ACCTYPE(READ))",
                "CREATE DB NAME(DI21BANK) SET(ACCTYPE(READ))",
                "CREATE PGM NAME(DFSSAM02) SET(SCHDTYPE(SERIAL))",
                "CREATE TRAN NAME(PART) SET(PGM(DFSSAM02),CLASS(4),MSGTYPE(SNGLSEG),RESP(Y),NPRI(7),\
             LPRI(10),LCT(2),PLCT(5),PLCTTIME(100),EDITUC(N))",
                "CREATE TRAN NAME(DSPINV) SET(PGM(DFSSAM02),CLASS(4),MSGTYPE(SNGLSEG),RESP(Y),NPRI(7),\
             LPRI(10),LCT(2),PLCT(5),PLCTTIME(100),EDITUC(N))",
                "CREATE TRAN NAME(TALK) SET(PGM(DFSSAM02),CLASS(4),CONV(Y),SPASZ(100),SPATRUNC(R))",
                "CREATE RTC NAME(FAST) SET(INQ(Y),PGM(DFSSAM02))",
            ]
        );
    }

    // It was taken, and its conversations went on for the last of several inputs alone.
    #[test]
    fn a_conversation_of_mode_mult_is_refused() {
        let parsed = read(concat!(
            "         APPLCTN PSB=P\n",
            "         TRANSACT CODE=TALK,SPA=100,MODE=MULT\n",
            "         TRANSACT CODE=MANY,MODE=MULT\n",
        ));
        let places: Vec<_> =
            parsed.diagnostics.iter().map(|one| (one.code, one.card, one.column)).collect();
        assert_eq!(places, [("HFG803", 2, 37)], "{:?}", parsed.diagnostics);
        let others = ["CREATE PGM NAME(P)", "CREATE TRAN NAME(MANY) SET(PGM(P),CMTMODE(MULT))"];
        assert_eq!(commands(&parsed), others);
    }

    #[test]
    fn mistakes_point_at_card_and_column() {
        let parsed = read(
            "         TRANSACT CODE=A\n         APPLCTN PSB=P\n         \
                           TRANSACT CODE=A,PRTY=(1,15)\n",
        );
        let places: Vec<_> =
            parsed.diagnostics.iter().map(|one| (one.code, one.card, one.column)).collect();
        assert_eq!(places, [("HFG805", 1, 10), ("HFG803", 3, 34)]);
        assert_eq!(commands(&parsed), ["CREATE PGM NAME(P)"]);
    }
}
