//! Files that control statements name, in a system that is in use: the server asks, the client that
//! gave the statements opens, reads and writes.
//!
//! | question | answer |
//! |---|---|
//! | statements, from a byte on | done, with some of them; none behind the last |
//! | read; write, perhaps at the end | a number |
//! | next of a number | done, with bytes; none at the end |
//! | put to a number, with bytes; finish; close | done |
//! | exists | yes or no |
//! | remove | done |
//! | absolute | a path |
//! | sysprint, with text | none is wanted |
//!
//! Each answer may be a failure in its place, with the number of the operating system's error.
//!
//! Invariants:
//! 1. The client alone follows a path, from where it stands.
//! 2. The client follows no path that its DDs and statements do not name, whichever server asks for
//!    it.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use idcams::{Machine, Output};
use seam::clock::Clock;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use system::operator::{Asker, Refusal, Talk};

use super::named::Named;
use crate::{OperationsError, Result};

/// Bytes that go at once.
const PIECE: usize = 256 << 10;
/// Bytes of SYSPRINT that are kept until a line ends.
const PRINT: usize = 4 << 10;
/// The longest text of statements.
const STATEMENTS_BYTES_MAX: usize = 64 << 20;
/// Files that a client has open at once.
const FILES_MAX: usize = 1000;

/// What the server wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    Statements { from: usize },
    Read { path: PathBuf },
    Write { path: PathBuf, append: bool },
    Next { file: u32 },
    Put { file: u32 },
    Finish { file: u32 },
    Close { file: u32 },
    Exists { path: PathBuf },
    Remove { path: PathBuf },
    Absolute { path: PathBuf },
    Sysprint {},
}

/// What the client answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Done {},
    File(u32),
    Yes(bool),
    Path(PathBuf),
    Failed { number: Option<i32>, text: String },
}

impl Reply {
    fn of(error: &io::Error) -> Reply {
        Reply::Failed { number: error.raw_os_error(), text: error.to_string() }
    }
}

/// Asks the client; an answer that makes no sense is an error, like none.
fn ask(
    asker: &Asker,
    question: &Question,
    payload: &[u8],
    back: &mut Vec<u8>,
) -> io::Result<Reply> {
    let answer = asker.ask(question, payload, back).map_err(io::Error::other)?;
    match serde_json::from_value(answer)? {
        Reply::Failed { number: Some(number), .. } => Err(io::Error::from_raw_os_error(number)),
        Reply::Failed { number: None, text } => Err(io::Error::other(text)),
        reply => Ok(reply),
    }
}

fn senseless<T>() -> io::Result<T> {
    Err(io::Error::other("whoever gave the statements answers something else"))
}

fn done(reply: &Reply) -> io::Result<()> {
    if *reply == (Reply::Done {}) { Ok(()) } else { senseless() }
}

/// The statements, from the client that gave them.
pub(super) fn statements_of(asker: &Asker) -> Result<String> {
    let gone = |error: io::Error| OperationsError::Statements(error.to_string());
    let (mut all, mut piece) = (Vec::new(), Vec::new());
    loop {
        let question = Question::Statements { from: all.len() };
        ask(asker, &question, &[], &mut piece).and_then(|reply| done(&reply)).map_err(gone)?;
        if piece.is_empty() {
            break;
        }
        all.extend_from_slice(&piece);
        if all.len() > STATEMENTS_BYTES_MAX {
            return Err(OperationsError::Statements("there are too many".into()));
        }
    }
    String::from_utf8(all).map_err(|error| OperationsError::Statements(error.to_string()))
}

/// The machine of the client that gave the statements.
pub(super) struct Asked<'a, 't> {
    asker: Arc<Asker>,
    clock: Arc<dyn Clock>,
    talk: &'a mut Talk<'t>,
}

impl<'a, 't> Asked<'a, 't> {
    pub(super) fn new(
        asker: &Arc<Asker>,
        clock: Arc<dyn Clock>,
        talk: &'a mut Talk<'t>,
    ) -> Asked<'a, 't> {
        Asked { asker: Arc::clone(asker), clock, talk }
    }

    fn open(&mut self, question: &Question) -> io::Result<Opened> {
        match ask(&self.asker, question, &[], &mut Vec::new())? {
            Reply::File(file) => {
                let asker = Arc::clone(&self.asker);
                Ok(Opened { asker, file, piece: Vec::new(), at: 0, is_over: false })
            }
            _ => senseless(),
        }
    }
}

impl Machine for Asked<'_, '_> {
    fn read(&mut self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(self.open(&Question::Read { path: path.to_owned() })?))
    }

    fn write(&mut self, path: &Path, append: bool) -> io::Result<Box<dyn Output>> {
        Ok(Box::new(self.open(&Question::Write { path: path.to_owned(), append })?))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        let question = Question::Absolute { path: path.to_owned() };
        match ask(&self.asker, &question, &[], &mut Vec::new()) {
            Ok(Reply::Path(path)) => path,
            _ => path.to_owned(),
        }
    }

    fn exists(&mut self, path: &Path) -> bool {
        // A client that refuses to look refuses the file, too, and says why then.
        let question = Question::Exists { path: path.to_owned() };
        !matches!(ask(&self.asker, &question, &[], &mut Vec::new()), Ok(Reply::Yes(false)))
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        let question = Question::Remove { path: path.to_owned() };
        done(&ask(&self.asker, &question, &[], &mut Vec::new())?)
    }

    fn now_us(&self) -> u64 {
        self.clock.utc_us()
    }

    fn is_alone(&self) -> bool {
        false
    }

    fn progress(&mut self, what: &str, records: u64) -> io::Result<()> {
        let reported = self.talk.progress(what, records, 0, "records");
        reported.map_err(|refusal: Refusal| io::Error::other(refusal.message))
    }
}

/// A file that the client has open.
struct Opened {
    asker: Arc<Asker>,
    file: u32,
    piece: Vec<u8>,
    at: usize,
    is_over: bool,
}

impl Read for Opened {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() && !self.is_over {
            let question = Question::Next { file: self.file };
            done(&ask(&self.asker, &question, &[], &mut self.piece)?)?;
            (self.at, self.is_over) = (0, self.piece.is_empty());
        }
        let mut rest = self.piece.get(self.at..).unwrap_or_default();
        let got = rest.read(bytes)?;
        self.at += got;
        Ok(got)
    }
}

impl Write for Opened {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(PIECE)];
        let question = Question::Put { file: self.file };
        done(&ask(&self.asker, &question, bytes, &mut Vec::new())?)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Opened {
    fn finish(&mut self) -> io::Result<()> {
        let question = Question::Finish { file: self.file };
        done(&ask(&self.asker, &question, &[], &mut Vec::new())?)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // A client that is gone has closed it.
        let _ = self.asker.tell(&Question::Close { file: self.file }, &[]);
    }
}

/// SYSPRINT of the client that gave the statements: line by line.
pub(super) struct Printed {
    asker: Arc<Asker>,
    text: Vec<u8>,
}

impl Printed {
    pub(super) fn new(asker: &Arc<Asker>) -> Printed {
        Printed { asker: Arc::clone(asker), text: Vec::new() }
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        if self.text.ends_with(b"\n") || self.text.len() >= PRINT {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        for piece in self.text.chunks(PIECE) {
            self.asker.tell(&Question::Sysprint {}, piece).map_err(io::Error::other)?;
        }
        self.text.clear();
        Ok(())
    }
}

/// A file of the client's.
enum Held {
    In(Box<dyn Read>),
    Out(Box<dyn Output>),
}

/// The side of the client that gave the statements.
pub struct Answerer<'m> {
    statements: &'m str,
    dds: Vec<PathBuf>,
    /// Looked for when a file is asked for.
    named: Option<Named>,
    machine: &'m mut dyn Machine,
    sysprint: &'m mut dyn Write,
    files: BTreeMap<u32, Held>,
    last: u32,
    failed: Option<io::Error>,
}

impl<'m> Answerer<'m> {
    /// Has these statements, the files of DDs, and SYSPRINT.
    pub fn new(
        statements: &'m str,
        dds: Vec<PathBuf>,
        machine: &'m mut dyn Machine,
        sysprint: &'m mut dyn Write,
    ) -> Answerer<'m> {
        let (files, named) = (BTreeMap::new(), None);
        Answerer { statements, dds, named, machine, sysprint, files, last: 0, failed: None }
    }

    /// Answers a question.
    ///
    /// # Errors
    /// If SYSPRINT cannot be written: nothing more is to be done.
    pub fn answer(
        &mut self,
        question: &Value,
        given: &[u8],
        back: &mut Vec<u8>,
    ) -> io::Result<Value> {
        let reply = match serde_json::from_value(question.clone()) {
            Ok(question) => self.reply(&question, given, back),
            Err(error) => Err(io::Error::other(error)),
        };
        let reply = reply.unwrap_or_else(|error| Reply::of(&error));
        if self.failed.is_some() {
            return Err(io::Error::other("SYSPRINT cannot be written"));
        }
        Ok(serde_json::to_value(reply)?)
    }

    /// Why SYSPRINT could not be written, if it could not.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    fn reply(
        &mut self,
        question: &Question,
        given: &[u8],
        back: &mut Vec<u8>,
    ) -> io::Result<Reply> {
        self.allow(question)?;
        match question {
            Question::Statements { from } => {
                let rest = self.statements.as_bytes().get(*from..).unwrap_or_default();
                back.extend_from_slice(&rest[..rest.len().min(PIECE)]);
            }
            Question::Read { path } => {
                let file = Held::In(self.machine.read(path)?);
                return self.hold(file);
            }
            Question::Write { path, append } => {
                let file = Held::Out(self.machine.write(path, *append)?);
                return self.hold(file);
            }
            Question::Next { file } => match self.files.get_mut(file) {
                Some(Held::In(input)) => {
                    input.take(PIECE as u64).read_to_end(back)?;
                }
                _ => return senseless(),
            },
            Question::Put { file } => match self.files.get_mut(file) {
                Some(Held::Out(output)) => output.write_all(given)?,
                _ => return senseless(),
            },
            Question::Finish { file } => match self.files.get_mut(file) {
                Some(Held::Out(output)) => {
                    output.flush()?;
                    output.finish()?;
                }
                _ => return senseless(),
            },
            Question::Close { file } => {
                self.files.remove(file);
            }
            Question::Exists { path } => return Ok(Reply::Yes(self.machine.exists(path))),
            Question::Remove { path } => self.machine.remove(path)?,
            Question::Absolute { path } => {
                let path = self.machine.absolute(path);
                self.named().add(path.clone());
                return Ok(Reply::Path(path));
            }
            Question::Sysprint {} => {
                self.failed = self.sysprint.write_all(given).err();
            }
        }
        Ok(Reply::Done {})
    }

    fn named(&mut self) -> &mut Named {
        self.named.get_or_insert_with(|| Named::of(&self.dds, self.statements))
    }

    /// Refuses a question about a file that was not named.
    fn allow(&mut self, question: &Question) -> io::Result<()> {
        match question {
            Question::Read { path } => {
                self.named();
                let Some(named) = &self.named else { return senseless() };
                named.check_read(path, self.machine)
            }
            Question::Write { path, .. }
            | Question::Exists { path }
            | Question::Remove { path }
            | Question::Absolute { path } => self.named().check(path),
            _ => Ok(()),
        }
    }

    fn hold(&mut self, file: Held) -> io::Result<Reply> {
        if self.files.len() >= FILES_MAX {
            return Err(io::Error::other("too many files are open"));
        }
        self.last += 1;
        self.files.insert(self.last, file);
        Ok(Reply::File(self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Machine for Nothing {
        fn read(&mut self, path: &Path) -> io::Result<Box<dyn Read>> {
            match path == Path::new("there") {
                true => Ok(Box::new(&b"some bytes"[..])),
                false => Err(io::Error::from_raw_os_error(2)),
            }
        }

        fn write(&mut self, _: &Path, _: bool) -> io::Result<Box<dyn Output>> {
            Err(io::Error::from_raw_os_error(13))
        }

        fn exists(&mut self, path: &Path) -> bool {
            path == Path::new("there")
        }

        fn remove(&mut self, _: &Path) -> io::Result<()> {
            Err(io::Error::from_raw_os_error(13))
        }

        fn now_us(&self) -> u64 {
            0
        }
    }

    #[test]
    fn a_client_answers_every_question_and_none_that_makes_no_sense() {
        let (mut machine, mut sysprint) = (Nothing, Vec::new());
        let dds = vec!["there".into(), "not".into()];
        let mut client = Answerer::new("LISTCAT", dds, &mut machine, &mut sysprint);
        let mut answer = |question: &Question, given: &[u8]| {
            let mut back = Vec::new();
            let question = serde_json::to_value(question).expect("JSON");
            let reply = client.answer(&question, given, &mut back).expect("an answer");
            (serde_json::from_value::<Reply>(reply).expect("a reply"), back)
        };
        let there = PathBuf::from("there");
        assert_eq!(answer(&Question::Statements { from: 4 }, &[]).1, b"CAT");
        assert_eq!(answer(&Question::Statements { from: 70 }, &[]).1, b"");
        assert_eq!(answer(&Question::Read { path: there.clone() }, &[]).0, Reply::File(1));
        assert_eq!(answer(&Question::Next { file: 1 }, &[]).1, b"some bytes");
        assert_eq!(answer(&Question::Next { file: 1 }, &[]).1, b"");
        let refused = answer(&Question::Put { file: 1 }, b"x").0;
        assert!(matches!(refused, Reply::Failed { number: None, .. }), "{refused:?}");
        let missing = answer(&Question::Read { path: "not".into() }, &[]).0;
        assert!(matches!(missing, Reply::Failed { number: Some(2), .. }), "{missing:?}");
        let denied = answer(&Question::Write { path: there.clone(), append: false }, &[]).0;
        assert!(matches!(denied, Reply::Failed { number: Some(13), .. }), "{denied:?}");
        assert_eq!(answer(&Question::Exists { path: there }, &[]).0, Reply::Yes(true));
        assert_eq!(answer(&Question::Sysprint {}, b"a line\n").0, Reply::Done {});
        assert!(matches!(answer(&Question::Next { file: 7 }, &[]).0, Reply::Failed { .. }));
        let senseless = client.answer(&serde_json::json!({ "what": 1 }), &[], &mut Vec::new());
        let senseless = senseless.expect("an answer");
        assert!(senseless.get("failed").is_some(), "{senseless}");
        assert_eq!(sysprint, b"a line\n");
    }

    /// A machine that has every file, and notes what was done with them.
    #[derive(Default)]
    struct Everything(Vec<String>);

    impl Everything {
        fn note(&mut self, what: &str, path: &Path) {
            self.0.push(format!("{what} {}", path.display()));
        }
    }

    /// Where nothing is kept.
    struct Kept;

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Output for Kept {
        fn finish(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Machine for Everything {
        fn read(&mut self, path: &Path) -> io::Result<Box<dyn Read>> {
            self.note("read", path);
            Ok(Box::new(&b"copy = [\"books\"]\n"[..]))
        }

        fn write(&mut self, path: &Path, _: bool) -> io::Result<Box<dyn Output>> {
            self.note("write", path);
            Ok(Box::new(Kept))
        }

        fn absolute(&self, path: &Path) -> PathBuf {
            Path::new("/home").join(path)
        }

        fn exists(&mut self, path: &Path) -> bool {
            self.note("look at", path);
            true
        }

        fn remove(&mut self, path: &Path) -> io::Result<()> {
            self.note("remove", path);
            Ok(())
        }

        fn now_us(&self) -> u64 {
            0
        }
    }

    fn reply_of(client: &mut Answerer<'_>, question: &Question) -> Reply {
        let question = serde_json::to_value(question).expect("JSON");
        let reply = client.answer(&question, &[], &mut Vec::new()).expect("an answer");
        serde_json::from_value(reply).expect("a reply")
    }

    /// All that can be asked of a file.
    fn questions(path: &str) -> [Question; 6] {
        let path = PathBuf::from(path);
        [
            Question::Read { path: path.clone() },
            Question::Write { path: path.clone(), append: false },
            Question::Write { path: path.clone(), append: true },
            Question::Exists { path: path.clone() },
            Question::Remove { path: path.clone() },
            Question::Absolute { path },
        ]
    }

    #[test]
    fn a_listener_that_asks_for_what_was_not_named_is_refused_and_nothing_is_touched() {
        let (mut machine, mut sysprint) = (Everything::default(), Vec::new());
        let statements = "  REPRO INFILE(IN) OUTDATASET(BANK.ACCT)\n  LISTCAT ENTRIES('etc')\n";
        let dds = vec!["in.dat".into()];
        let mut client = Answerer::new(statements, dds, &mut machine, &mut sysprint);
        for path in ["/etc/shadow", "BANK.ACCT", "etc", "in.dat/", "./in.dat", "../in.dat", ""] {
            for question in questions(path) {
                let reply = reply_of(&mut client, &question);
                assert!(matches!(reply, Reply::Failed { .. }), "{question:?}: {reply:?}");
            }
        }
        assert!(machine.0.is_empty(), "{:?}", machine.0);
        assert!(sysprint.is_empty());
    }

    #[test]
    fn what_was_named_is_answered_and_so_are_the_copybooks_beside_a_map() {
        let (mut machine, mut sysprint) = (Everything::default(), Vec::new());
        let statements = "  REPRO INFILE(IN) OUTDATASET(BANK.ACCT) FROMEBCDIC RECORDMAP('m/a.map')
  DEFINE NONVSAM (NAME(BANK.OLD) PATHNAME(old.dat))\n";
        let dds = vec!["in.dat".into()];
        let mut client = Answerer::new(statements, dds, &mut machine, &mut sysprint);
        for question in questions("in.dat").iter().chain(&questions("old.dat")) {
            let reply = reply_of(&mut client, question);
            assert!(!matches!(reply, Reply::Failed { .. }), "{question:?}: {reply:?}");
        }
        let remove = |path: &str| Question::Remove { path: path.into() };
        assert_eq!(reply_of(&mut client, &remove("/home/old.dat")), Reply::Done {});
        for (path, is_read) in [
            ("m/a.map", true),
            ("m/A.cpy", true),
            ("m/books/A.cpy", true),
            ("m/books/../A.cpy", false),
            ("m/other/A.cpy", false),
            ("m/..", false),
        ] {
            let [read, rest @ ..] = questions(path);
            let reply = reply_of(&mut client, &read);
            assert_eq!(matches!(reply, Reply::File(_)), is_read, "{path}: {reply:?}");
            for question in rest {
                let reply = reply_of(&mut client, &question);
                assert!(matches!(reply, Reply::Failed { .. }), "{question:?}: {reply:?}");
            }
        }
    }
}
