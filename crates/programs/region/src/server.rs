//! Who answers a program's calls: the one interface between the call engine and the programs.
//!
//! The same [`Request`] and [`Reply`] serve a program in the engine's own process and one that
//! calls from another process; [`crate::wire`] carries them as bytes.
//!
//! Invariants:
//! 1. Everything that a request lends is memory of ours, of exactly the stated length. Nothing that
//!    a server does with it reaches the program's memory; what it set is copied there afterwards.
//! 2. After [`Server::end`] a server is called no more.

use definitions::Function;

use crate::feedback::put_feedback;
pub use crate::feedback::{Feedback, IoFeedback};
use crate::layout::{Name, PcbLayout};

/// A PSB that is scheduled for one program: what calls are answered by.
pub trait Server: Send {
    /// The PCBs in the order of the PSB, the I/O PCB first, as number 0. They never change.
    fn pcbs(&self) -> &[PcbLayout];
    /// Answers a call.
    fn call(&mut self, request: Request<'_>, reply: &mut Reply);
    /// Answers a request for the records of a data set, both as [`file_handler::wire`] has them. A
    /// server without data sets says that there is no such file.
    ///
    /// # Errors
    /// The end that the request puts to the program: its unit of work cannot go on.
    fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), Abend> {
        let _ = request;
        file_handler::wire::plain_answer(file_handler::FileStatus::NO_DD, 0, answer);
        Ok(())
    }
    /// Answers a request of the message queue interface, both as [`mqi::wire::carried`] has them. A
    /// server without a queue manager says so.
    ///
    /// # Errors
    /// The end that the request puts to the program: its unit of work cannot go on.
    fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), Abend> {
        let _ = request;
        mqi::server::nowhere(answer);
        Ok(())
    }

    /// The program is over: commits or backs out. An error says why there was no commit.
    ///
    /// # Errors
    /// What went wrong, for people; the unit of work is backed out then.
    fn end(&mut self, ending: Ending) -> Result<(), Failure>;
}

/// One call.
pub struct Request<'a> {
    /// The function.
    pub function: Function,
    /// Whether it carries out an EXEC DLI command, to which other rules apply.
    pub of_command: bool,
    /// The PCB's number; `None` only for AIB calls that need none.
    pub pcb: Option<usize>,
    /// The I/O area: what the program gave, as long as it may be. `None` if it passed none. Its
    /// contents are the program's for calls that bring data, otherwise arbitrary.
    pub area: Option<&'a mut [u8]>,
    /// The search arguments, each cut where its syntax ends.
    pub ssas: &'a [&'a [u8]],
    /// Further parameters in their order: the areas of CHKP and XRST, an RSA, a token, a MOD name,
    /// the function of STAT. What is written to them goes back to the program.
    pub more: &'a mut [&'a mut [u8]],
    /// What the AIB says, if the call came with one.
    pub aib: Option<AibFields>,
}

/// The fields of an AIB that a program sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AibFields {
    /// AIBSFUNC, the subfunction.
    pub subfunction: Name,
    /// AIBRSNM1, the resource's name.
    pub resource: Name,
    /// AIBRSNM2.
    pub resource2: Name,
    /// AIBRSFLD.
    pub resource_field: u32,
    /// AIBOPLEN.
    pub options_len: u32,
    /// The user token.
    pub token: [u8; 16],
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Normally, with whatever return code: commit.
    Normal,
    /// By an abend: back out to the last commit.
    Abend,
    /// Without a word: its process is gone. As an abend, but nothing more is written to its files:
    /// they may be another run's by now.
    Gone,
}

/// Why something did not happen, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A stable code such as `HFR010`.
    pub code: String,
    /// What happened.
    pub text: String,
    /// What to do about it; may be empty.
    pub remedy: String,
}

/// The end that a call puts to its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abend {
    /// Such as `U0778`, `S0C4`.
    pub code: String,
    /// Why, for people.
    pub text: String,
}

/// The answer to a call. It is kept from call to call so that its memory is.
#[derive(Debug, Default)]
pub struct Reply {
    pub(crate) filled: usize,
    pub(crate) aib: AibReply,
    pub(crate) abend: Option<Abend>,
    pub(crate) pcbs: u16,
    pub(crate) feedback: Vec<u8>,
}

/// The fields of an AIB that a call sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AibReply {
    /// AIBRETRN; 0 leaves it to the PCB's status.
    pub return_code: u32,
    /// AIBREASN.
    pub reason: u32,
    /// AIBERRXT.
    pub extension: u32,
    /// AIBOAUSE; 0 if it is the length that was filled.
    pub area_used: u32,
}

impl Reply {
    /// Forgets the last answer.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.aib = AibReply::default();
        self.abend = None;
        self.pcbs = 0;
        self.feedback.clear();
    }

    /// Says what a PCB shows; once for the call's own PCB, and for others if the call changes them.
    pub fn pcb(&mut self, pcb: usize, feedback: Feedback<'_>) {
        self.pcbs += 1;
        put_feedback(pcb, &feedback, &mut self.feedback);
    }

    /// Says how many bytes of the area the call has set.
    pub fn fill(&mut self, bytes: usize) {
        self.filled = bytes;
    }

    /// Says what the AIB shows, if it is more than the PCB's status tells.
    pub fn aib(&mut self, aib: AibReply) {
        self.aib = aib;
    }

    /// The end that the call puts to the program, if it does.
    #[must_use]
    pub fn ends(&self) -> Option<&Abend> {
        self.abend.as_ref()
    }

    /// Ends the program.
    pub fn abend(&mut self, code: &str, text: impl Into<String>) {
        self.abend = Some(Abend { code: code.to_owned(), text: text.into() });
    }
}
