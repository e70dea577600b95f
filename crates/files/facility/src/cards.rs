//! The control cards of the older programs CSDFILEN, which encrypts, and CSDFILDE, which decrypts.
//!
//! ```text
//! columns 1-72 : KEYWORD or KEYWORD=value, from column 1; behind a blank, a remark (not behind
//!                PASSWORD)
//! columns 73-80: a sequence number, not read
//! column 1 "*" : a comment
//!
//! | card                 | says                                                              |
//! |----------------------|-------------------------------------------------------------------|
//! | DESC='text'          | up to 64 characters that go along                                 |
//! | CLRTDES, ENCTDES     | a strong data key: AES-256, for Triple-DES is never written       |
//! | CLRAES128            | AES-128                                                           |
//! | RSA=label            | a key that opens it; several cards for several                    |
//! | PASSWORD=word        | a passphrase that opens it                                        |
//! | ICOUNT=n             | accepted; OpenPGP has a count of its own, which is larger         |
//! | COMPRESSION          | compress; =NO not, =1 to =9 at that level                         |
//! ```
//!
//! 1. Of one keyword the last card counts, and of the data keys; only `RSA` adds up.
//! 2. `RSA` and `PASSWORD` exclude each other: which of them is meant is not guessed.
//! 3. No passphrase is cut: what looks like one with blanks, or between apostrophes, is refused.

use zeroize::Zeroizing;

use crate::configuration::shown;
use crate::error::{Error, Result};
use crate::nearest::nearest;

/// Which program the cards are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// CSDFILEN: encrypts.
    Encrypt,
    /// CSDFILDE: decrypts.
    Decrypt,
}

/// What opens the output, or the input.
#[derive(Clone, PartialEq, Eq)]
pub enum Protection {
    /// The secret keys of these labels; none are named if whatever is there may open it.
    Keys(Vec<String>),
    /// A passphrase.
    Passphrase(Zeroizing<Vec<u8>>),
}

/// What the cards say.
#[derive(Clone, PartialEq, Eq)]
pub struct Job {
    /// The description that goes along.
    pub description: Option<String>,
    /// Bits of the data key.
    pub key_bits: u16,
    /// What opens it.
    pub protection: Protection,
    /// The level of compression.
    pub compression: Option<u8>,
    /// What was accepted and means nothing, or something else, here.
    pub notes: Vec<String>,
}

const KEYWORDS: &[&str] =
    &["DESC", "CLRTDES", "CLRAES128", "ENCTDES", "RSA", "PASSWORD", "ICOUNT", "COMPRESSION"];
/// No input of cards is longer, so that a file that is none is found out soon.
const CARDS_MAX: usize = 1000;
const DESCRIPTION_MAX: usize = 64;
const LABEL_MAX: usize = 64;
const COUNT_MAX: u32 = 10_000;

#[derive(Default)]
struct Cards {
    description: Option<String>,
    data_key: Option<String>,
    labels: Vec<String>,
    passphrase: Option<Zeroizing<Vec<u8>>>,
    count: Option<u32>,
    compression: Option<u8>,
}

impl Job {
    /// Reads the cards for a program.
    ///
    /// # Errors
    /// If a card is not understood; the error says which.
    pub fn parse(program: Program, bytes: &[u8]) -> Result<Job> {
        let mut cards = Cards::default();
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if index >= CARDS_MAX {
                let what = format!("there are more than {CARDS_MAX} cards");
                return Err(Error::form(what, "Check that this is the right file."));
            }
            let read = text_of(line).and_then(|text| cards.take(text));
            read.map_err(|error| error.at(format!("card {}", index + 1)))?;
        }
        cards.job(program)
    }
}

/// What is read of a card.
fn text_of(line: &[u8]) -> Result<&str> {
    let no_text = |_| Error::form("the card is no text", "Write the cards in ASCII.");
    let line = std::str::from_utf8(line).map_err(no_text)?.trim_end();
    let Some((at, _)) = line.char_indices().nth(72) else { return Ok(line) };
    let (text, sequence) = line.split_at(at);
    let is_number = sequence.len() <= 8 && sequence.chars().all(|c| c.is_ascii_digit() || c == ' ');
    if !is_number && !line.starts_with('*') {
        let what = "the card goes on behind column 72";
        return Err(Error::form(what, "Columns 73 to 80 are for sequence numbers."));
    }
    Ok(text)
}

impl Cards {
    fn take(&mut self, card: &str) -> Result<()> {
        if card.trim().is_empty() || card.starts_with('*') {
            return Ok(());
        }
        if card.starts_with([' ', '\t']) {
            let what = "the card does not begin in column 1";
            return Err(Error::form(what, "Move its keyword there."));
        }
        let end = card.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(card.len());
        let (keyword, rest) = card.split_at(end);
        let value = rest.strip_prefix('=');
        let upper = keyword.to_ascii_uppercase();
        match (upper.as_str(), value) {
            ("DESC", Some(value)) => self.description = Some(description(value)?),
            ("CLRTDES" | "CLRAES128" | "ENCTDES", None) => self.data_key = Some(upper),
            ("RSA", Some(value)) => {
                self.labels.push(word("RSA", value, LABEL_MAX)?.to_owned());
            }
            ("PASSWORD", Some(value)) => {
                self.passphrase = Some(passphrase(value)?);
            }
            ("ICOUNT", Some(value)) => self.count = Some(count(value)?),
            ("COMPRESSION", None) => self.compression = Some(1),
            ("COMPRESSION", Some(value)) => self.compression = compression(value)?,
            (known, _) if KEYWORDS.contains(&known) => {
                let what = match value {
                    Some(_) => format!("{known} takes no value"),
                    None => format!("{known} has no value"),
                };
                return Err(Error::value(what, "See `holdfast pgp csdfilen --help`."));
            }
            // The rest may be the word itself.
            _ if upper.starts_with("PASSWORD") => {
                let what = "PASSWORD and its word have no = between them";
                return Err(Error::value(what, "Write PASSWORD=word."));
            }
            _ => {
                let near = nearest(keyword, KEYWORDS.iter().copied());
                let all = format!("The keywords are {}.", KEYWORDS.join(", "));
                return Err(Error::unknown("keyword", &shown(keyword), near, &all));
            }
        }
        Ok(())
    }

    fn job(self, program: Program) -> Result<Job> {
        let mut notes = Vec::new();
        if self.count.is_some() {
            notes.push("ICOUNT means nothing here: OpenPGP's own count is larger".to_owned());
        }
        let protection = match (self.passphrase, self.labels) {
            (Some(_), labels) if !labels.is_empty() => {
                let what = "RSA and PASSWORD exclude each other";
                return Err(Error::excludes(what, "Take the cards of one of them out."));
            }
            (Some(passphrase), _) => Protection::Passphrase(passphrase),
            (None, labels) if labels.is_empty() && program == Program::Encrypt => {
                let what = "no card says what opens the output";
                return Err(Error::excludes(what, "Add RSA=label or PASSWORD=word."));
            }
            (None, labels) => Protection::Keys(labels),
        };
        let key = self.data_key.as_deref().unwrap_or("CLRTDES");
        if key == "ENCTDES" && matches!(protection, Protection::Passphrase(_)) {
            let what = "ENCTDES goes with RSA only";
            return Err(Error::excludes(what, "Take CLRTDES or CLRAES128 with PASSWORD."));
        }
        if program == Program::Encrypt && key != "CLRAES128" {
            notes.push(format!("{key} is done by AES-256: Triple-DES is never written"));
        }
        let key_bits = if key == "CLRAES128" { 128 } else { 256 };
        let (description, compression) = (self.description, self.compression);
        Ok(Job { description, key_bits, protection, compression, notes })
    }
}

/// The text between apostrophes, of which two stand for one.
fn description(value: &str) -> Result<String> {
    let wrong = || {
        let what = format!("DESC is not 'text' of 1 to {DESCRIPTION_MAX} characters");
        Error::value(what, "Put the text between apostrophes.")
    };
    let mut text = String::new();
    let mut rest = value.strip_prefix('\'').ok_or_else(wrong)?.chars().peekable();
    loop {
        match rest.next().ok_or_else(wrong)? {
            '\'' if rest.peek() == Some(&'\'') => {
                rest.next();
                text.push('\'');
            }
            '\'' => break,
            c if c.is_control() => return Err(wrong()),
            c => text.push(c),
        }
    }
    let fits = (1..=DESCRIPTION_MAX).contains(&text.chars().count());
    if fits && rest.peek().is_none_or(|c| c.is_whitespace()) { Ok(text) } else { Err(wrong()) }
}

/// The value up to a blank; what it was stands in no error, for it may be a secret.
fn word<'a>(keyword: &str, value: &'a str, longest: usize) -> Result<&'a str> {
    let word = value.split(char::is_whitespace).next().unwrap_or_default();
    if word.is_empty() || word.chars().count() > longest {
        let what = format!("the value of {keyword} has not 1 to {longest} characters");
        return Err(Error::value(what, "Put it behind the equals sign."));
    }
    Ok(word)
}

/// The value as it stands (3).
fn passphrase(value: &str) -> Result<Zeroizing<Vec<u8>>> {
    let word = word("PASSWORD", value, LABEL_MAX)?;
    if word.len() < value.trim_end().len() || word.starts_with(['\'', '"']) {
        let what = "the word of PASSWORD has blanks in it or behind it, or apostrophes around it";
        let remedy = "Write PASSWORD=word and nothing else on that card; put remarks on one of \
                      their own, with * in column 1.";
        return Err(Error::value(what, remedy));
    }
    Ok(Zeroizing::new(word.as_bytes().to_vec()))
}

fn count(value: &str) -> Result<u32> {
    let number = word("ICOUNT", value, 8)?.parse().ok();
    number.filter(|number| (1..=COUNT_MAX).contains(number)).ok_or_else(|| {
        Error::value(format!("ICOUNT is not from 1 to {COUNT_MAX}"), "Choose a number of these.")
    })
}

fn compression(value: &str) -> Result<Option<u8>> {
    let word = word("COMPRESSION", value, 8)?.to_ascii_uppercase();
    match (word.as_str(), word.parse::<u8>()) {
        ("YES", _) => Ok(Some(1)),
        ("NO", _) | (_, Ok(0)) => Ok(None),
        (_, Ok(level @ 1..=9)) => Ok(Some(level)),
        _ => Err(Error::value("COMPRESSION is YES, NO, or 0 to 9", "Choose one of them.")),
    }
}
