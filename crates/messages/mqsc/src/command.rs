//! Which commands there are: verbs, what each is for, and the parts of a command.
//!
//! 1. A command is a verb, an object with or without a name, and keywords in any order.
//! 2. A keyword stands once. What no part of the command asks for, is refused ([`Keywords::end`]):
//!    nothing that was written is passed over.

use queue_manager::objects::Kind;

use crate::error::SyntaxError;
use crate::syntax::{Value, Word, words};

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the commands
pub enum Verb {
    Alter,
    Archive,
    Backup,
    Clear,
    Define,
    Delete,
    Display,
    Move,
    Ping,
    Recover,
    Refresh,
    Reset,
    Resolve,
    Resume,
    Set,
    Start,
    Stop,
    Suspend,
}

/// Verbs with their words; the first is the one that messages use.
const VERBS: &[(Verb, &[&str])] = &[
    (Alter, &["ALTER", "ALT"]),
    (Archive, &["ARCHIVE", "ARC"]),
    (Backup, &["BACKUP"]),
    (Clear, &["CLEAR"]),
    (Define, &["DEFINE", "DEF"]),
    (Delete, &["DELETE"]),
    (Display, &["DISPLAY", "DIS"]),
    (Move, &["MOVE"]),
    (Ping, &["PING"]),
    (Recover, &["RECOVER", "REC"]),
    (Refresh, &["REFRESH", "REF"]),
    (Reset, &["RESET"]),
    (Resolve, &["RESOLVE", "RES"]),
    (Resume, &["RESUME"]),
    (Set, &["SET"]),
    (Start, &["START", "STA"]),
    (Stop, &["STOP"]),
    (Suspend, &["SUSPEND", "SUS"]),
];

impl Verb {
    /// Its word.
    pub fn word(self) -> &'static str {
        let found = VERBS.iter().find(|(verb, _)| *verb == self);
        found.and_then(|(_, words)| words.first()).copied().unwrap_or_default()
    }
}

/// What a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the objects of commands
pub enum Target {
    Object(Kind),
    /// Queues of every kind.
    Queue,
    ChannelAuthority,
    AuthorityRecord,
    QueueStatus,
    QueueStatistics,
    Connection,
    ManagerStatus,
    ChannelStatus,
    ListenerStatus,
    ServiceStatus,
    SubscriptionStatus,
    TopicStatus,
    PubSub,
    Security,
    TopicString,
    Usage,
    Log,
    Archive,
    /// Branches of global transactions.
    Thread,
    /// Those that wait for a decision.
    InDoubt,
    /// What other queue managers of the kind have and this one does not.
    Foreign,
}

use Verb::{
    Alter, Archive, Backup, Clear, Define, Delete, Display, Move, Ping, Recover, Refresh, Reset,
    Resolve, Resume, Set, Start, Stop, Suspend,
};

const MADE: &[Verb] = &[Define, Alter, Delete, Display];

/// Objects with their words and the verbs that take them.
const OBJECTS: &[(Target, &[&str], &[Verb])] = &[
    (
        Target::Object(Kind::QueueLocal),
        &["QLOCAL", "QL"],
        &[Define, Alter, Delete, Display, Clear, Move],
    ),
    (Target::Object(Kind::QueueAlias), &["QALIAS", "QA"], MADE),
    (Target::Object(Kind::QueueRemote), &["QREMOTE", "QR"], MADE),
    (Target::Object(Kind::QueueModel), &["QMODEL", "QM"], MADE),
    (Target::Queue, &["QUEUE", "Q"], &[Display, Delete]),
    (Target::Object(Kind::Topic), &["TOPIC"], MADE),
    (Target::Object(Kind::Subscription), &["SUB"], MADE),
    (Target::Object(Kind::Process), &["PROCESS", "PRO"], MADE),
    (Target::Object(Kind::Namelist), &["NAMELIST", "NL"], MADE),
    (
        Target::Object(Kind::Channel),
        &["CHANNEL", "CHL"],
        &[Define, Alter, Delete, Display, Start, Stop, Ping, Reset, Resolve],
    ),
    (
        Target::Object(Kind::Listener),
        &["LISTENER", "LSTR"],
        &[Define, Alter, Delete, Display, Start, Stop],
    ),
    (
        Target::Object(Kind::Service),
        &["SERVICE", "SVC"],
        &[Define, Alter, Delete, Display, Start, Stop],
    ),
    (Target::Object(Kind::AuthenticationInformation), &["AUTHINFO"], MADE),
    (Target::Object(Kind::StorageClass), &["STGCLASS", "STC"], MADE),
    (
        Target::Object(Kind::QueueManager),
        &["QMGR"],
        &[Alter, Display, Ping, Refresh, Reset, Start, Stop, Suspend, Resume],
    ),
    (Target::ChannelAuthority, &["CHLAUTH"], &[Set, Display]),
    (Target::AuthorityRecord, &["AUTHREC"], &[Set, Display, Delete]),
    (Target::QueueStatus, &["QSTATUS", "QS"], &[Display]),
    (Target::QueueStatistics, &["QSTATS"], &[Reset]),
    (Target::Connection, &["CONN"], &[Display, Stop]),
    (Target::ManagerStatus, &["QMSTATUS"], &[Display]),
    (Target::ChannelStatus, &["CHSTATUS", "CHS"], &[Display]),
    (Target::ListenerStatus, &["LSSTATUS"], &[Display]),
    (Target::ServiceStatus, &["SVSTATUS"], &[Display]),
    (Target::SubscriptionStatus, &["SBSTATUS", "SBS"], &[Display]),
    (Target::TopicStatus, &["TPSTATUS", "TPS"], &[Display]),
    (Target::PubSub, &["PUBSUB"], &[Display]),
    (Target::Security, &["SECURITY", "SEC"], &[Refresh, Display, Alter]),
    (Target::TopicString, &["TOPICSTR"], &[Clear]),
    (Target::Object(Kind::BufferPool), &["BUFFPOOL", "BP"], MADE),
    (Target::Object(Kind::PageSet), &["PSID"], MADE),
    (Target::Log, &["LOG"], &[Archive, Display]),
    (Target::Foreign, &["LOG"], &[Define, Set, Suspend, Resume]),
    (Target::Archive, &["ARCHIVE", "ARC"], &[Display]),
    (Target::Foreign, &["ARCHIVE", "ARC"], &[Set]),
    (Target::Foreign, &["SYSTEM"], &[Set, Display]),
    (Target::Usage, &["USAGE"], &[Display]),
    (Target::Thread, &["THREAD"], &[Display]),
    (Target::InDoubt, &["INDOUBT"], &[Resolve]),
    (Target::Foreign, &["BSDS"], &[Recover]),
    (Target::Foreign, &["MAXSMSGS"], &[Define, Display]),
    (
        Target::Foreign,
        &["CFSTRUCT", "CFS"],
        &[Define, Alter, Delete, Display, Backup, Recover, Reset],
    ),
    (Target::Foreign, &["CFSTATUS"], &[Display]),
    (Target::Foreign, &["SMDS"], &[Alter, Display, Reset]),
    (Target::Foreign, &["SMDSCONN"], &[Display, Start, Stop]),
    (Target::Foreign, &["CHINIT"], &[Display, Start, Stop]),
    (Target::Foreign, &["CMDSERV"], &[Display, Start, Stop]),
    (Target::Foreign, &["CLUSTER"], &[Refresh, Reset]),
    (Target::Foreign, &["CLUSQMGR"], &[Display]),
    (Target::Foreign, &["COMMINFO"], MADE),
    (Target::Foreign, &["ENTAUTH"], &[Display]),
    (Target::Foreign, &["AUTHSERV"], &[Display]),
    (Target::Foreign, &["POLICY"], &[Display, Set]),
    (Target::Foreign, &["APSTATUS"], &[Display]),
    (Target::Foreign, &["GROUP"], &[Display]),
    (Target::Foreign, &["TPIPE"], &[Reset]),
    (Target::Foreign, &["TRACE"], &[Alter, Display, Start, Stop]),
];

/// The numbers of commands on objects among command messages: to show, make, change, remove.
const NUMBERS: &[(Kind, [i32; 4])] = &[
    (Kind::QueueManager, [2, 0, 1, 0]),
    (Kind::QueueLocal, [13, 11, 8, 12]),
    (Kind::Process, [7, 5, 3, 6]),
    (Kind::Namelist, [36, 34, 32, 35]),
    (Kind::Channel, [25, 23, 21, 24]),
    (Kind::Topic, [174, 172, 170, 173]),
    (Kind::Listener, [97, 95, 93, 96]),
    (Kind::Service, [153, 151, 149, 152]),
    (Kind::AuthenticationInformation, [83, 81, 79, 82]),
];

/// Those of others.
const OTHER_NUMBERS: &[(Verb, Target, i32)] = &[
    (Display, Target::Queue, 13),
    (Delete, Target::Queue, 12),
    (Clear, Target::Object(Kind::QueueLocal), 9),
    (Reset, Target::QueueStatistics, 17),
    (Ping, Target::Object(Kind::Channel), 26),
    (Reset, Target::Object(Kind::Channel), 27),
    (Start, Target::Object(Kind::Channel), 28),
    (Stop, Target::Object(Kind::Channel), 29),
    (Resolve, Target::Object(Kind::Channel), 39),
    (Ping, Target::Object(Kind::QueueManager), 40),
    (Display, Target::QueueStatus, 41),
    (Display, Target::ChannelStatus, 42),
];

/// A command whose verb and object are known.
#[derive(Clone, Debug)]
pub struct Command {
    /// What it does.
    pub verb: Verb,
    /// What it is about.
    pub target: Target,
    /// Verb and object as messages write them: `DEFINE QLOCAL`.
    pub title: String,
    /// What stands in parentheses behind the object.
    pub name: Option<Value>,
    /// The keywords.
    pub keywords: Keywords,
}

impl Command {
    /// Reads a command.
    ///
    /// # Errors
    /// If it is not well formed, or begins with nothing that there is.
    pub fn parse(text: &str) -> Result<Command, SyntaxError> {
        let mut rest = words(text)?.into_iter();
        let first = rest.next().ok_or_else(|| no_verb("", 0))?;
        let found = VERBS.iter().find(|(_, words)| words.contains(&&*first.name));
        let Some((verb, _)) = found.filter(|_| first.values.is_none()) else {
            return Err(no_verb(&first.name, first.end));
        };
        let second = rest.next();
        let word = second.as_ref().map_or("", |word| &*word.name);
        let matches = |(_, words, verbs): &&(Target, &[&str], &[Verb])| {
            words.contains(&word) && verbs.contains(verb)
        };
        let (Some(second), Some((target, names, _))) =
            (second.as_ref(), OBJECTS.iter().find(matches))
        else {
            let end = second.as_ref().map_or(text.len(), |word| word.end);
            return Err(no_object(*verb, word, end));
        };
        let title = format!("{} {}", verb.word(), names.first().copied().unwrap_or_default());
        let name = match second.values.as_deref() {
            None | Some([]) => None,
            Some([one]) => Some(one.clone()),
            Some(_) => {
                let needs = "takes one name";
                return Err(SyntaxError::Shape { keyword: word.into(), needs, end: second.end });
            }
        };
        let keywords = Keywords::new(&title, rest.collect(), text.len())?;
        Ok(Command { verb: *verb, target: *target, title, name, keywords })
    }

    /// Its number among command messages; 0: it has none.
    pub fn number(&self) -> i32 {
        let mut others = OTHER_NUMBERS.iter();
        let other = others.find(|(verb, target, _)| (*verb, *target) == (self.verb, self.target));
        if let Some((_, _, number)) = other {
            return *number;
        }
        let Target::Object(kind) = self.target else { return 0 };
        let known = NUMBERS.iter().find(|(known, _)| *known == kind.space());
        let place = [Display, Define, Alter, Delete].iter().position(|verb| *verb == self.verb);
        known.zip(place).and_then(|((_, numbers), at)| numbers.get(at)).copied().unwrap_or(0)
    }

    /// The name, without which the command says nothing.
    ///
    /// # Errors
    /// [`SyntaxError::Missing`].
    pub fn named(&self) -> Result<&Value, SyntaxError> {
        let missing = || SyntaxError::Missing {
            command: self.title.clone(),
            keyword: "a name in parentheses",
            end: self.keywords.end_of_text,
        };
        self.name.as_ref().filter(|name| !name.text.trim().is_empty()).ok_or_else(missing)
    }
}

fn no_verb(word: &str, end: usize) -> SyntaxError {
    let all: Vec<&str> = VERBS.iter().filter_map(|(_, words)| words.first().copied()).collect();
    SyntaxError::Verb { word: word.to_owned(), valid: all.join(", "), end }
}

fn no_object(verb: Verb, word: &str, end: usize) -> SyntaxError {
    let fits = OBJECTS.iter().filter(|(_, _, verbs)| verbs.contains(&verb));
    let all: Vec<&str> = fits.filter_map(|(_, words, _)| words.first().copied()).collect();
    let word = if word.is_empty() { "command without an object" } else { word };
    SyntaxError::Object { verb: verb.word(), word: word.to_owned(), valid: all.join(", "), end }
}

/// The keywords of a command that were not asked for yet.
#[derive(Clone, Debug)]
pub struct Keywords {
    title: String,
    left: Vec<Word>,
    end_of_text: usize,
}

impl Keywords {
    fn new(title: &str, left: Vec<Word>, end_of_text: usize) -> Result<Keywords, SyntaxError> {
        for (at, word) in left.iter().enumerate() {
            if left[..at].iter().any(|other| other.name == word.name) {
                return Err(SyntaxError::Twice { keyword: word.name.clone(), end: word.end });
            }
        }
        Ok(Keywords { title: title.to_owned(), left, end_of_text })
    }

    /// Takes a keyword out.
    pub fn take(&mut self, name: &str) -> Option<Word> {
        let at = self.left.iter().position(|word| word.name == name)?;
        Some(self.left.remove(at))
    }

    /// Takes a keyword without a value out: whether it is there.
    ///
    /// # Errors
    /// If it has a value.
    pub fn flag(&mut self, name: &str) -> Result<bool, SyntaxError> {
        match self.take(name) {
            None => Ok(false),
            Some(Word { values: None, .. }) => Ok(true),
            Some(Word { name, end, .. }) => {
                Err(SyntaxError::Shape { keyword: name, needs: "takes no value", end })
            }
        }
    }

    /// Takes a keyword with one value out.
    ///
    /// # Errors
    /// If it does not have just one.
    pub fn one(&mut self, name: &str) -> Result<Option<Value>, SyntaxError> {
        let Some(word) = self.take(name) else { return Ok(None) };
        match word.values.as_deref() {
            Some([one]) => Ok(Some(one.clone())),
            _ => {
                let needs = "takes one value in parentheses";
                Err(SyntaxError::Shape { keyword: word.name, needs, end: word.end })
            }
        }
    }

    /// Puts a keyword back.
    pub fn give_back(&mut self, word: Word) {
        self.left.push(word);
    }

    /// Takes a keyword with one value out; one without a value stays, as it asks to be shown.
    ///
    /// # Errors
    /// If it has several.
    pub fn one_if_valued(&mut self, name: &str) -> Result<Option<Value>, SyntaxError> {
        let valued = |word: &Word| word.name == name && word.values.is_some();
        match self.left.iter().any(valued) {
            true => self.one(name),
            false => Ok(None),
        }
    }

    /// Takes a keyword out whose value is one of `words`; answers that word.
    ///
    /// # Errors
    /// If it is another.
    pub fn word(
        &mut self,
        name: &str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, SyntaxError> {
        let Some(value) = self.one(name)? else { return Ok(None) };
        match words.iter().find(|word| value.text.eq_ignore_ascii_case(word)) {
            Some(word) => Ok(Some(word)),
            None => Err(SyntaxError::Value {
                keyword: name.to_owned(),
                value: value.text,
                why: format!("it takes {}", words.join(", ")),
                end: value.end,
            }),
        }
    }

    /// What says yes or no in two words, such as `REPLACE` and `NOREPLACE`.
    ///
    /// # Errors
    /// If both are there.
    pub fn choice(&mut self, yes: &str, no: &str) -> Result<Option<bool>, SyntaxError> {
        match (self.flag(yes)?, self.flag(no)?) {
            (true, true) => {
                Err(SyntaxError::Twice { keyword: yes.to_owned(), end: self.end_of_text })
            }
            (true, false) => Ok(Some(true)),
            (false, true) => Ok(Some(false)),
            (false, false) => Ok(None),
        }
    }

    /// Takes what is left, in its order.
    pub fn rest(&mut self) -> Vec<Word> {
        std::mem::take(&mut self.left)
    }

    /// The command, as messages write it.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where the command ends.
    pub fn end_of_text(&self) -> usize {
        self.end_of_text
    }

    /// Where commands can be sent elsewhere: only this queue manager is meant here.
    ///
    /// # Errors
    /// If another is named.
    pub fn here(&mut self) -> Result<(), SyntaxError> {
        match self.one("CMDSCOPE")? {
            Some(value) if !value.text.trim().is_empty() => Err(SyntaxError::Value {
                keyword: "CMDSCOPE".into(),
                value: value.text,
                why: "commands are for this queue manager alone".into(),
                end: value.end,
            }),
            _ => Ok(()),
        }
    }

    /// Whether nothing is left.
    ///
    /// # Errors
    /// [`SyntaxError::Keyword`] for the first word that is.
    pub fn end(&self) -> Result<(), SyntaxError> {
        match self.left.first() {
            None => Ok(()),
            Some(word) => Err(unknown(&self.title, word)),
        }
    }
}

/// The error for a keyword that a command does not have.
pub(crate) fn unknown(title: &str, word: &Word) -> SyntaxError {
    SyntaxError::Keyword {
        keyword: word.name.clone(),
        command: title.to_owned(),
        end: word.name_end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_are_the_words_that_they_stand_for() {
        let command = Command::parse("dis ql(a*) all").unwrap();
        assert_eq!(command.title, "DISPLAY QLOCAL");
        assert_eq!(command.target, Target::Object(Kind::QueueLocal));
        assert_eq!(command.named().unwrap().text, "A*");
        assert_eq!(Command::parse("DEF CHL(X)").unwrap().title, "DEFINE CHANNEL");
        for (text, number) in
            [("DEF QA(A)", 11), ("DIS Q(*)", 13), ("PING QMGR", 40), ("SET CHLAUTH(*)", 0)]
        {
            assert_eq!(Command::parse(text).unwrap().number(), number, "{text}");
        }
    }

    #[test]
    fn what_there_is_not_is_refused_with_what_there_is() {
        let error = Command::parse("DEFIN QL(A)").unwrap_err().to_string();
        assert!(error.contains("DEFIN is no command") && error.contains("DEFINE"), "{error}");
        let error = Command::parse("PING QLOCAL(A)").unwrap_err().to_string();
        assert_eq!(error, "PING takes no QLOCAL; it takes CHANNEL, QMGR");
        assert!(Command::parse("DISPLAY").is_err());
        assert!(Command::parse("DISPLAY QL(A,B)").is_err());
        assert!(Command::parse("DELETE QL()").unwrap().named().is_err());
    }

    #[test]
    fn a_keyword_stands_once() {
        let error = Command::parse("DEF QL(A) DESCR('a') DESCR('b')").unwrap_err();
        assert!(matches!(error, SyntaxError::Twice { .. }), "{error}");
        let mut command = Command::parse("DEF QL(A) REPLACE NOREPLACE").unwrap();
        assert!(command.keywords.choice("REPLACE", "NOREPLACE").is_err());
    }
}
