//! Rules for dead letters: which message is tried again, sent elsewhere, thrown away, or left.
//!
//! ```text
//! INPUTQ(name) INPUTQM(name) RETRYINT(seconds) WAIT(YES | NO | seconds)
//! REASON(MQRC_Q_FULL) ACTION(RETRY) RETRY(5)
//! DESTQ(APP.*) ACTION(FWD) FWDQ(APP.FAILED) FWDQM(' ') HEADER(NO)
//! ACTION(IGNORE)
//! ```
//!
//! | pattern | compared with |
//! |---|---|
//! | `DESTQ DESTQM REASON` | what the dead-letter header says |
//! | `APPLIDAT APPLNAME APPLTYPE FEEDBACK FORMAT MSGTYPE PERSIST REPLYQ REPLYQM USERID` | what the descriptor says |
//!
//! 1. The first line may say how the handler works; a rule is a line, as long as `+` at the end of
//!    a line joins the next. A line that begins with `*` is a comment.
//! 2. A pattern that is left out fits everything. `*` in a text stands for any letters, `?` for
//!    one.
//! 3. The first rule that fits decides. Where its action cannot be done, the next that fits does;
//!    where none is left, the message stays.

use base::wildcard;
use queue_manager::reason::Reason;

use crate::error::SyntaxError;
use crate::syntax::{Value, Word, words};

/// How long the handler waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// For ever.
    Always,
    /// Not at all: it ends when nothing is left to be done.
    Never,
    /// It ends after so many seconds without work.
    Seconds(u32),
}

/// How the handler works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// The dead-letter queue; blank: that of the queue manager.
    pub queue: String,
    /// The queue manager; blank: the one that is there.
    pub manager: String,
    /// Seconds between tries.
    pub retry_s: u32,
    /// How long it waits for work.
    pub waiting: Waiting,
}

impl Default for Control {
    fn default() -> Control {
        let (queue, manager) = (String::new(), String::new());
        Control { queue, manager, retry_s: 60, waiting: Waiting::Always }
    }
}

/// What is done with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is thrown away.
    Discard,
    /// It stays.
    Ignore,
    /// It is put where it was for, so often.
    Retry(u32),
    /// It is put elsewhere.
    Forward {
        /// The queue: a name, `&DESTQ` or `&REPLYQ`.
        queue: String,
        /// Its queue manager: a name, `&DESTQM`, `&REPLYQM`, or blank.
        manager: String,
        /// Its dead-letter header goes with it.
        header: bool,
    },
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    patterns: Vec<(Field, Pattern)>,
    /// What is done with a message that fits.
    pub action: Action,
    /// The user that the message names must be allowed to put it.
    pub as_context: bool,
}

/// A table of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// How the handler works.
    pub control: Control,
    /// The rules in their order.
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Text(String),
    Number(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    IdentityData,
    Application,
    ApplicationType,
    Queue,
    Manager,
    Feedback,
    Format,
    MessageType,
    Persistence,
    Reason,
    ReplyQueue,
    ReplyManager,
    User,
}

const FIELDS: &[(&str, Field)] = &[
    ("APPLIDAT", Field::IdentityData),
    ("APPLNAME", Field::Application),
    ("APPLTYPE", Field::ApplicationType),
    ("DESTQ", Field::Queue),
    ("DESTQM", Field::Manager),
    ("FEEDBACK", Field::Feedback),
    ("FORMAT", Field::Format),
    ("MSGTYPE", Field::MessageType),
    ("PERSIST", Field::Persistence),
    ("REASON", Field::Reason),
    ("REPLYQ", Field::ReplyQueue),
    ("REPLYQM", Field::ReplyManager),
    ("USERID", Field::User),
];

/// Names of values.
const NAMES: &[(Field, &str, i32)] = &[
    (Field::ApplicationType, "MQAT_UNIX", 6),
    (Field::ApplicationType, "MQAT_DEFAULT", 6),
    (Field::ApplicationType, "MQAT_QMGR", 7),
    (Field::ApplicationType, "MQAT_NO_CONTEXT", 0),
    (Field::ApplicationType, "MQAT_CICS", 1),
    (Field::ApplicationType, "MQAT_MVS", 2),
    (Field::ApplicationType, "MQAT_IMS", 3),
    (Field::Feedback, "MQFB_NONE", 0),
    (Field::Feedback, "MQFB_QUIT", 256),
    (Field::Feedback, "MQFB_EXPIRATION", 258),
    (Field::Feedback, "MQFB_COA", 259),
    (Field::Feedback, "MQFB_COD", 260),
    (Field::Reason, "MQFB_XMIT_Q_MSG_ERROR", 271),
    (Field::Reason, "MQFB_DATA_LENGTH_ZERO", 291),
    (Field::Reason, "MQFB_DATA_LENGTH_NEGATIVE", 292),
    (Field::Reason, "MQFB_DATA_LENGTH_TOO_BIG", 293),
    (Field::Reason, "MQFB_BUFFER_OVERFLOW", 294),
    (Field::Reason, "MQFB_LENGTH_OFF_BY_ONE", 295),
    (Field::Reason, "MQFB_IIH_ERROR", 296),
    (Field::Reason, "MQFB_NOT_AUTHORIZED_FOR_IMS", 298),
    (Field::Reason, "MQFB_IMS_ERROR", 300),
    (Field::MessageType, "MQMT_REQUEST", 1),
    (Field::MessageType, "MQMT_REPLY", 2),
    (Field::MessageType, "MQMT_REPORT", 4),
    (Field::MessageType, "MQMT_DATAGRAM", 8),
    (Field::Persistence, "MQPER_NOT_PERSISTENT", 0),
    (Field::Persistence, "MQPER_PERSISTENT", 1),
];

/// What rules look at, of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub struct Letter {
    pub identity_data: String,
    pub application: String,
    pub application_type: i32,
    pub queue: String,
    pub manager: String,
    pub feedback: i32,
    pub format: String,
    pub message_type: i32,
    pub persistence: i32,
    pub reason: i32,
    pub reply_queue: String,
    pub reply_manager: String,
    pub user: String,
}

impl Letter {
    fn text(&self, field: Field) -> &str {
        match field {
            Field::IdentityData => &self.identity_data,
            Field::Application => &self.application,
            Field::Queue => &self.queue,
            Field::Manager => &self.manager,
            Field::Format => &self.format,
            Field::ReplyQueue => &self.reply_queue,
            Field::ReplyManager => &self.reply_manager,
            Field::User => &self.user,
            _ => "",
        }
    }

    fn number(&self, field: Field) -> i32 {
        match field {
            Field::ApplicationType => self.application_type,
            Field::Feedback => self.feedback,
            Field::MessageType => self.message_type,
            Field::Persistence => self.persistence,
            Field::Reason => self.reason,
            _ => 0,
        }
    }
}

impl Rule {
    /// Whether a message fits.
    #[must_use]
    pub fn fits(&self, letter: &Letter) -> bool {
        self.patterns.iter().all(|(field, pattern)| match pattern {
            Pattern::Text(text) => stands_for(text, letter.text(*field)),
            Pattern::Number(number) => letter.number(*field) == *number,
        })
    }
}

/// Whether a pattern stands for a text: `*` any letters, `?` one.
fn stands_for(pattern: &str, text: &str) -> bool {
    wildcard::text_fits(pattern.as_bytes(), text.as_bytes(), Some(b'?'))
}

impl Field {
    fn is_number(self) -> bool {
        matches!(
            self,
            Field::ApplicationType
                | Field::Feedback
                | Field::MessageType
                | Field::Persistence
                | Field::Reason
        )
    }

    fn pattern(self, word: &Word) -> Result<Option<Pattern>, SyntaxError> {
        let value = one(word)?;
        if value.text == "*" {
            return Ok(None);
        }
        if !self.is_number() {
            return Ok(Some(Pattern::Text(value.text.trim_end().to_owned())));
        }
        let named = NAMES.iter().find(|(field, name, _)| *field == self && *name == value.text);
        let reason = value.text.strip_prefix("MQRC_").filter(|_| self == Field::Reason);
        let reason = reason.and_then(|name| {
            Reason::ALL.iter().find(|reason| reason.name() == Some(name)).map(|reason| reason.0)
        });
        let number = named.map(|(_, _, number)| *number).or(reason);
        match number.or_else(|| value.text.parse().ok()) {
            Some(number) => Ok(Some(Pattern::Number(number))),
            None => Err(wrong(word, value, "it takes a number, a name of one, or *")),
        }
    }
}

fn one(word: &Word) -> Result<&Value, SyntaxError> {
    match word.values.as_deref() {
        Some([one]) => Ok(one),
        _ => {
            let needs = "takes one value in parentheses";
            Err(SyntaxError::Shape { keyword: word.name.clone(), needs, end: word.end })
        }
    }
}

fn wrong(word: &Word, value: &Value, why: &str) -> SyntaxError {
    SyntaxError::Value {
        keyword: word.name.clone(),
        value: value.text.clone(),
        why: why.to_owned(),
        end: value.end,
    }
}

fn number(word: &Word) -> Result<u32, SyntaxError> {
    let value = one(word)?;
    match value.text.parse() {
        Ok(number @ 0..=999_999_999) => Ok(number),
        _ => Err(wrong(word, value, "it takes a number from 0 to 999999999")),
    }
}

impl Rules {
    /// Reads a table.
    ///
    /// # Errors
    /// The line, counted from 1, and what is wrong with it.
    pub fn read(text: &str) -> Result<Rules, (usize, SyntaxError)> {
        let mut rules = Rules::default();
        let (mut entry, mut begins, mut first) = (String::new(), 0, true);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if entry.is_empty() {
                begins = number;
                if line.is_empty() || line.starts_with('*') {
                    continue;
                }
            }
            if let Some(joined) = line.strip_suffix('+') {
                entry.push_str(joined);
                continue;
            }
            entry.push_str(line);
            rules.entry(&entry, first).map_err(|error| (begins, error))?;
            (entry, first) = (String::new(), false);
        }
        if !entry.trim().is_empty() {
            rules.entry(&entry, first).map_err(|error| (begins, error))?;
        }
        Ok(rules)
    }

    fn entry(&mut self, text: &str, first: bool) -> Result<(), SyntaxError> {
        let words = words(text)?;
        let controls = ["INPUTQ", "INPUTQM", "RETRYINT", "WAIT"];
        let is_control = words.iter().all(|word| controls.contains(&&*word.name));
        if first && is_control {
            self.control = control(&words)?;
            return Ok(());
        }
        self.rules.push(rule(&words, text.len())?);
        Ok(())
    }
}

fn control(words: &[Word]) -> Result<Control, SyntaxError> {
    let mut control = Control::default();
    for word in words {
        let text = || one(word).map(|value| value.text.trim().to_owned());
        match &*word.name {
            "INPUTQ" => control.queue = text()?,
            "INPUTQM" => control.manager = text()?,
            "RETRYINT" => control.retry_s = number(word)?,
            _ => {
                control.waiting = match &*text()? {
                    "YES" => Waiting::Always,
                    "NO" => Waiting::Never,
                    _ => Waiting::Seconds(number(word)?),
                }
            }
        }
    }
    Ok(control)
}

fn rule(words: &[Word], end: usize) -> Result<Rule, SyntaxError> {
    let command = "a rule for dead letters".to_owned();
    let missing = |keyword| SyntaxError::Missing { command: command.clone(), keyword, end };
    let mut patterns = Vec::new();
    let (mut action, mut retries, mut header, mut as_context) = (None, 1, true, false);
    let (mut queue, mut manager) = (None, String::new());
    for (at, word) in words.iter().enumerate() {
        if words[..at].iter().any(|other| other.name == word.name) {
            return Err(SyntaxError::Twice { keyword: word.name.clone(), end: word.end });
        }
        if let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == word.name) {
            patterns.extend(field.pattern(word)?.map(|pattern| (*field, pattern)));
            continue;
        }
        let value = || one(word);
        match &*word.name {
            "ACTION" => action = Some(value()?.clone()),
            "FWDQ" => queue = Some(value()?.text.trim().to_owned()),
            "FWDQM" => value()?.text.trim().clone_into(&mut manager),
            "HEADER" => header = value()?.text == "YES",
            "PUTAUT" => as_context = value()?.text == "CTX",
            "RETRY" => retries = number(word)?.max(1),
            _ => {
                let keyword = word.name.clone();
                return Err(SyntaxError::Keyword { keyword, command, end: word.name_end });
            }
        }
    }
    let Some(asked) = action else { return Err(missing("ACTION")) };
    let action = match &*asked.text {
        "DISCARD" => Action::Discard,
        "IGNORE" => Action::Ignore,
        "RETRY" => Action::Retry(retries),
        "FWD" => {
            let queue = queue.filter(|queue| !queue.is_empty()).ok_or_else(|| missing("FWDQ"))?;
            Action::Forward { queue, manager, header }
        }
        _ => {
            return Err(SyntaxError::Value {
                keyword: "ACTION".into(),
                value: asked.text.clone(),
                why: "it takes DISCARD, FWD, IGNORE, RETRY".into(),
                end: asked.end,
            });
        }
    };
    Ok(Rule { patterns, action, as_context })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "* how\nINPUTQ('App.Dead') WAIT(NO) RETRYINT(5)\n\n\
        REASON(MQRC_Q_FULL), DESTQ('APP.*') +\n  ACTION(RETRY) RETRY(3)\n\
        PERSIST(MQPER_NOT_PERSISTENT) ACTION(DISCARD)\n\
        ACTION(FWD) FWDQ(&REPLYQ) FWDQM(&REPLYQM) HEADER(NO)\n";

    #[test]
    fn a_pattern_of_many_wildcards_is_decided_soon() {
        let pattern = "*a".repeat(16) + "*b";
        assert!(!stands_for(&pattern, &"a".repeat(48)));
        assert!(stands_for(&pattern, &("a".repeat(47) + "b")));
    }

    #[test]
    fn the_first_rule_that_fits_is_found() {
        let rules = Rules::read(TABLE).unwrap();
        assert_eq!((&*rules.control.queue, rules.control.retry_s), ("App.Dead", 5));
        assert_eq!(rules.control.waiting, Waiting::Never);
        let mut letter = Letter { persistence: 1, reason: 2053, ..Letter::default() };
        letter.queue = "APP.IN".into();
        let of = |letter: &Letter| rules.rules.iter().position(|rule| rule.fits(letter));
        assert_eq!(of(&letter), Some(0));
        assert_eq!(rules.rules[0].action, Action::Retry(3));
        letter.queue = "OTHER".into();
        assert_eq!(of(&letter), Some(2));
        letter.persistence = 0;
        assert_eq!(of(&letter), Some(1));
        let forward =
            Action::Forward { queue: "&REPLYQ".into(), manager: "&REPLYQM".into(), header: false };
        assert_eq!(rules.rules[2].action, forward);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = |text: &str| {
            let (line, error) = Rules::read(text).unwrap_err();
            format!("{line}: {error}")
        };
        assert!(wrong("* x\nREASON(MQRC_NONSENSE) ACTION(IGNORE)").starts_with("2: REASON"));
        assert!(wrong("DESTQ(A)").contains("needs ACTION"));
        assert!(wrong("ACTION(FWD)").contains("needs FWDQ"));
        assert!(wrong("ACTION(EAT)").contains("DISCARD, FWD"));
        assert!(wrong("COLOUR(RED) ACTION(IGNORE)").contains("COLOUR is no keyword"));
        assert!(wrong("ACTION(IGNORE) ACTION(IGNORE)").starts_with("1: "));
    }

    #[test]
    fn letters_in_patterns_stand_for_others() {
        assert!(stands_for("A?C*", "ABCDE") && stands_for("*", ""));
        assert!(!stands_for("A?C", "ABCD") && !stands_for("", "A"));
    }
}
