//! Options of the mainframe's compiler, as CBL and PROCESS cards give them: what becomes of each.
//!
//! | option | here |
//! |---|---|
//! | `TRUNC(STD)`, `TRUNC` | binary items are cut to the digits of their PICTURE, as without it |
//! | `TRUNC(BIN)` | they hold what their bytes have room for, and show all of it |
//! | `TRUNC(OPT)`, `NOTRUNC` | they hold what their bytes have room for |
//! | `DISPSIGN(SEP)` | DISPLAY puts signs in front, in a place of their own |
//! | `NUMCHECK`, `ZONECHECK` | zoned numbers are looked at before they are used, as packed ones always |
//! | `APOST` | QUOTE is an apostrophe |
//! | `ARITH` | numbers of up to 31 digits are taken in any case |
//! | `DYNAM`, `NODYNAM` | what is called is found when it is called, in any case |
//! | listings, messages, speed; nearly all that begin with `NO` | nothing depends on them |
//! | all others | a warning that names them |
//!
//! Invariants:
//! 1. An option that may change what a program does has effect, or is named in a warning.
//! 2. Of an option that stands twice the last one counts.

use std::fmt::Write as _;

use crate::source::lines::{Format, Kind, lines};

/// What the cards of a source ask the compiler for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerOptions {
    /// Whether binary items are cut to the digits of their PICTURE.
    pub truncates: bool,
    /// Whether binary items show as many digits as they have room for.
    pub shows_all_digits: bool,
    /// Whether DISPLAY puts signs in places of their own.
    pub separate_signs: bool,
    /// Whether zoned numbers that are none end the program, as packed ones do.
    pub checks_zoned: bool,
    /// Whether QUOTE is an apostrophe.
    pub apostrophe: bool,
    /// The options without effect here that may change what the program does, as they were written,
    /// with what holds instead.
    pub without_effect: Vec<(String, &'static str)>,
}

impl Default for CompilerOptions {
    fn default() -> CompilerOptions {
        CompilerOptions {
            truncates: true,
            shows_all_digits: false,
            separate_signs: false,
            checks_zoned: false,
            apostrophe: false,
            without_effect: Vec::new(),
        }
    }
}

/// Nothing that a program does depends on these: they are of listings, messages, debuggers, speed,
/// where code and data lie, or they say what holds here in any case.
const HARMLESS: &str = "\
    A ADATA ADV AFP AR ARCH ARITH AWO BLOCK0 BUF BUFSIZE C CLIST CODEPAGE COMPILE CONDCOMP \
    COPYLOC COPYRIGHT CP D DATA DBCS DECK DIAGTRUNC DISK DLL DTR DU DUMP DYN DYNAM EXP \
    EXPORTALL F FASTSRT FLAG FLAGMIG FLAGSTD FSRT HGPR INL INLINE L LANG LANGLVL LANGUAGE LC \
    LIB LINECOUNT LIST LMAP LOAD LP M MAP MAXPCF MDECK NAME NS NSYMBOL NUM NUMBER O OBJ OBJECT \
    OF OFF OFFSET OPT OPTFILE OPTIMIZE PMAP RENT RES RESIDENT RMODE RULES S SEQ SEQUENCE SERV \
    SERVICE SIZE SMARTBIN SOURCE SPACE SPACE1 SPACE2 SPACE3 STATE STGOPT SUPMAP SUPP SUPPRESS \
    SXREF SYM SYMDMP SYST SZ TERM TERMINAL TEST TUNE VB VBREF VBSUM VERB X XP XREF";

/// These may; what holds instead.
const WITHOUT_EFFECT: [(&str, &str); 33] = [
    ("NUMPROC", "any valid sign of a number is taken, and those that are made are C, D and F"),
    ("NOADV", "records of files for printers have no byte for control characters"),
    ("BUFOFF", "there are no ASCII tapes"),
    ("CICS", "there is no CICS"),
    ("CMPR2", "programs are read as of the standard of 1985"),
    ("CURRENCY", "only the CURRENCY SIGN of the program counts"),
    ("CURR", "only the CURRENCY SIGN of the program counts"),
    ("DATEPROC", "dates are numbers and texts"),
    ("DEFINE", "no constants come from options"),
    ("DEF", "no constants come from options"),
    ("EXIT", "no exits are called"),
    ("INITCHECK", "items that are used before they are set are not found"),
    ("INITIAL", "items keep their values from call to call"),
    ("INTDATE", "FUNCTION INTEGER-OF-DATE counts from 1601"),
    ("INVDATA", "digits and signs that are none are not repaired as by that option"),
    ("JAVAIOP", "there is no Java"),
    ("OUTDD", "DISPLAY writes to SYSOUT"),
    ("PARMCHECK", "areas that a called program writes beyond are not found"),
    ("PGMNAME", "names of programs are folded to upper case"),
    ("QUALIFY", "names are qualified as the standard has it"),
    ("QUA", "names are qualified as the standard has it"),
    ("SQL", "there is no Db2"),
    ("SQLCCSID", "there is no Db2"),
    ("SQLIMS", "there is no SQL"),
    ("SSRANGE", "subscripts and lengths are not checked"),
    ("SSR", "subscripts and lengths are not checked"),
    ("THREAD", "one program runs at a time"),
    ("VLR", "file status 04 is as the standard has it"),
    ("VSAMOPENFS", "file status 00 is given for an OPEN that succeeded"),
    ("WORD", "the words of the compiler itself are reserved"),
    ("XMLPARSE", "XML PARSE is the compiler's own"),
    ("YEARWINDOW", "dates are numbers and texts"),
    ("ZONEDATA", "zones of digits are not looked at"),
];

/// What holds for options that are not known here.
const UNKNOWN: &str = "nothing is known of such an option";

impl CompilerOptions {
    /// Reads the cards of a source.
    #[must_use]
    pub fn of_source(source: &[u8], is_free: bool) -> CompilerOptions {
        let format = if is_free { Format::Free } else { Format::Fixed };
        let mut options = CompilerOptions::default();
        for line in lines(source, format).0.iter().filter(|line| line.kind == Kind::Card) {
            let text = String::from_utf8_lossy(&source[line.all.clone()]);
            let text: String = text.chars().take(72).collect();
            options.read_card(&text.to_ascii_uppercase());
        }
        options
    }

    /// What the compiler's configuration is to say besides.
    #[must_use]
    pub fn configuration(&self) -> &'static str {
        if self.truncates { "" } else { "binary-truncate: no\n" }
    }

    /// What there is to say about options without effect; nothing if there is none.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let mut listed = String::new();
        for (option, instead) in &self.without_effect {
            let _ = write!(listed, "\n  {option}: {instead}");
        }
        let what = "options of CBL and PROCESS cards that have no effect here";
        (!listed.is_empty()).then(|| format!("{what}:{listed}"))
    }

    fn read_card(&mut self, card: &str) {
        // The card's own word stands first, or behind a sequence number.
        let Some((at, word)) = ["CBL", "PROCESS"]
            .iter()
            .filter_map(|word| Some((card.find(word)?, word)))
            .filter(|(at, _)| !card[..*at].contains('*'))
            .min()
        else {
            return;
        };
        for (name, argument) in split(&card[at + word.len()..]) {
            self.take(name, argument);
        }
    }

    fn take(&mut self, name: &str, argument: Option<&str>) {
        let first = argument.unwrap_or_default().trim();
        match (name, first) {
            ("TRUNC", "" | "STD") => (self.truncates, self.shows_all_digits) = (true, false),
            ("TRUNC", "BIN") => (self.truncates, self.shows_all_digits) = (false, true),
            ("TRUNC", "OPT") | ("NOTRUNC", _) => {
                (self.truncates, self.shows_all_digits) = (false, false);
            }
            ("DISPSIGN" | "DS", "SEP" | "S") => self.separate_signs = true,
            ("DISPSIGN" | "DS", "COMPAT" | "C") => self.separate_signs = false,
            ("NUMCHECK" | "NC" | "ZONECHECK" | "ZC", _) => self.checks_zoned = true,
            ("NONUMCHECK" | "NONC" | "NOZONECHECK" | "NOZC", _) => self.checks_zoned = false,
            ("APOST" | "APOS", _) => self.apostrophe = true,
            ("QUOTE" | "Q", _) => self.apostrophe = false,
            _ => self.weigh(name, argument),
        }
    }

    /// Notes an option that has no effect, unless that is the same.
    fn weigh(&mut self, name: &str, argument: Option<&str>) {
        let is_usual = matches!(
            (name, argument.map(str::trim)),
            ("NUMPROC", Some("NOPFD"))
                | ("INTDATE", Some("ANSI"))
                | ("OUTDD" | "OUT", Some("SYSOUT"))
                | ("PGMNAME" | "PGMN", Some("COMPAT" | "CO" | "LONGUPPER" | "LU"))
                | ("QUALIFY" | "QUA", Some("COMPAT" | "C"))
                | ("VLR", Some("STANDARD" | "S"))
                | ("ZONEDATA" | "ZD", Some("PFD"))
        );
        let known = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name);
        // What is not there cannot be on.
        let is_off = name.starts_with("NO") && known.is_none();
        let is_harmless = || HARMLESS.split_ascii_whitespace().any(|known| known == name);
        if is_usual || is_off || is_harmless() {
            return;
        }
        let instead = known.map_or(UNKNOWN, |(_, instead)| instead);
        let written = match argument {
            Some(argument) => format!("{name}({})", argument.trim()),
            None => name.to_owned(),
        };
        let is_same = |(other, _): &(String, &str)| other.split('(').next() == Some(name);
        self.without_effect.retain(|one| !is_same(one));
        self.without_effect.push((written, instead));
    }
}

/// The options of a card with what stands in their parentheses.
fn split(text: &str) -> Vec<(&str, Option<&str>)> {
    let is_gap = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | ';' | ')' | '.');
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches(is_gap);
    while !rest.is_empty() {
        let end = rest.find(|c: char| is_gap(c) || "(=".contains(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        rest = behind;
        let mut argument = None;
        if let Some(inner) = behind.trim_start().strip_prefix('(') {
            let end = closing(inner);
            argument = Some(&inner[..end]);
            rest = &inner[end..];
        } else if let Some(value) = behind.strip_prefix('=') {
            // As in old cards: BUF=8000.
            rest = value.trim_start_matches(|c| !is_gap(c));
        }
        if !name.is_empty() {
            found.push((name, argument));
        }
        rest = rest.trim_start_matches(is_gap);
    }
    found
}

/// Where the parenthesis ends that is open.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(cards: &str) -> CompilerOptions {
        let source = format!("{cards}\n       IDENTIFICATION DIVISION.\n       CBL TRUNC(OPT).\n");
        CompilerOptions::of_source(source.as_bytes(), false)
    }

    #[test]
    fn without_cards_binary_items_are_cut_to_their_pictures() {
        assert_eq!(options("      * NO CARD"), CompilerOptions::default());
        assert_eq!(options("       *CBL NOLIST"), CompilerOptions::default());
        assert_eq!(CompilerOptions::default().configuration(), "");
        assert_eq!(CompilerOptions::default().warning(), None);
    }

    #[test]
    fn options_take_effect_wherever_a_card_has_them() {
        let bin = options("       CBL LIB,TRUNC(BIN), XREF(FULL)");
        assert!(!bin.truncates && bin.shows_all_digits && bin.without_effect.is_empty());
        assert_eq!(bin.configuration(), "binary-truncate: no\n");
        let opt = options("000100 PROCESS APOST TRUNC (OPT)\nCBL DISPSIGN(SEP)");
        assert!(!opt.truncates && !opt.shows_all_digits && opt.apostrophe && opt.separate_signs);
        assert!(options("CBL NUMCHECK(ZON,PAC)").checks_zoned);
        assert!(!options("CBL NUMCHECK,NONUMCHECK").checks_zoned);
        let last = options("CBL TRUNC(BIN)\n PROCESS TRUNC(STD)");
        assert_eq!(last, CompilerOptions::default());
    }

    #[test]
    fn what_has_no_effect_is_named_with_what_holds() {
        let listed =
            options("CBL NUMPROC(PFD),SSRANGE,ARITH(EXTEND),DYNAM,OPT(2)\nCBL FROB(A(B),C)");
        let written: Vec<&str> = listed.without_effect.iter().map(|(name, _)| &name[..]).collect();
        assert_eq!(written, ["NUMPROC(PFD)", "SSRANGE", "FROB(A(B),C)"]);
        let warning = listed.warning().expect("a warning");
        assert!(warning.contains("\n  SSRANGE: subscripts"), "{warning}");
        assert!(options("CBL NUMPROC(NOPFD) BUF=8000 FLAG(W,E)").without_effect.is_empty());
    }

    #[test]
    fn no_card_is_too_strange() {
        for card in ["CBL", "CBL (", "CBL ((", "CBL )(,", "CBL A(", "PROCESS =,=(", "CBL ,;.)"] {
            let _ = options(card);
        }
    }
}
