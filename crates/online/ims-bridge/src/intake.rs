//! Messages of one bridge queue become inputs, batch by batch.
//!
//! | the message | becomes |
//! |---|---|
//! | a transaction's input | its input, and leaves its queue in the same commit |
//! | `/EXIT` in a conversation | the end of the conversation, and an answer |
//! | anything that is none | a dead letter, and the exception report that it asks for |
//! | one that cannot be taken now | nothing: it waits, and so does what is behind it |
//!
//! Invariants:
//! 1. A message is looked at under a lock before it is got: one that waits was never got, so it
//!    never counts as backed out.
//! 2. A batch is one unit of work: it is whole, or nothing of it was done.
//! 3. A conversation has a terminal of its own, which no user can guess, and goes on by that alone.

use std::sync::Arc;

use control::Entering;
use otma::{
    CommitMode, Identity, Input, InputOptions, Manager as _, Name, Reason as Cause, Refusal,
    SyncLevel,
};
use queue_manager::connection::Claim;
use queue_manager::options::value::{get, open};
use queue_manager::options::{GetOptions, Handle, ObjectDescriptor};
use queue_manager::{Answer, Connection, Failed, MessageDescriptor, ObjectName, Reason};
use store::Store;

use crate::common::{Common, Served};
use crate::feedback::{IMS_ERROR, NOT_AUTHORIZED_FOR_IMS, Refused};
use crate::iih::{Iih, flags};
use crate::origin::Origin;
use crate::outbound;
use crate::pause::Pause;
use crate::request::Request;

/// Messages of a batch, at most.
const BATCH: usize = 64;
/// How long is waited for a message before the end is looked for.
const LOOK_MS: i32 = 500;
/// Bytes of the longest message that there can be.
const ROOM: usize = 100 << 20;
/// In front of the names of conversations' terminals.
const CONVERSATION: u8 = b'Q';
/// In front of a terminal's name in what messages know a conversation by.
const INSTANCE: [u8; 8] = *b"HOLDFAST";

/// Takes the messages of a queue.
pub(crate) struct Intake<S: Store> {
    common: Arc<Common<S>>,
    served: Served,
    open: Option<(Connection<S>, Handle)>,
}

/// Why a turn ended before its time.
enum Trouble {
    /// It may pass: why, for people.
    Waits(String),
    /// The queue, or the queue manager, has gone.
    Over,
}

/// What is to become of a message.
enum Fate<S: Store> {
    Enters(Entering<S>),
    /// It is carried out at once, and answered.
    Answered(Box<Origin>, Vec<String>),
}

impl From<Failed> for Trouble {
    fn from(Failed(reason): Failed) -> Trouble {
        match reason {
            Reason::Q_MGR_STOPPING | Reason::Q_MGR_QUIESCING => Trouble::Over,
            _ => Trouble::Waits(format!("the queue manager answers {reason}")),
        }
    }
}

impl<S: Store> Intake<S> {
    pub(crate) fn new(common: &Arc<Common<S>>, served: Served) -> Intake<S> {
        Intake { common: Arc::clone(common), served, open: None }
    }

    /// Goes on until the bridge ends, or the queue is no bridge queue any more.
    pub(crate) fn run(mut self) {
        let common = Arc::clone(&self.common);
        let mut pause = Pause::default();
        let queue = self.served.queue.clone();
        while !common.gate.is_over() && common.is_served(&self.served) {
            match self.turn() {
                Ok(done) => {
                    if done > 0 {
                        pause.reset();
                    }
                    common.note(&queue, None);
                }
                Err(Trouble::Over) => break,
                Err(Trouble::Waits(why)) => {
                    common.note(&queue, Some(why));
                    self.open = None;
                    if !pause.wait(&common.gate) {
                        break;
                    }
                }
            }
        }
        common.note(&queue, None);
    }

    /// Takes a batch; answers how many messages it had.
    fn turn(&mut self) -> Result<usize, Trouble> {
        let common = Arc::clone(&self.common);
        let here = common.control.data_store(self.served.member);
        here.map_err(|refusal| Trouble::Waits(refusal.text))?;
        let (mut connection, handle) = match self.open.take() {
            Some(open) => open,
            None => self.open()?,
        };
        let mut entering = Vec::new();
        let taken = self.batch(&mut connection, handle, &mut entering);
        let (done, trouble) = match taken {
            Ok(taken) => taken,
            Err(trouble) => {
                // What was done of the batch goes back; the connection ends with it.
                let _ = connection.back();
                return Err(trouble);
            }
        };
        if done > 0 {
            connection.commit().map_err(Trouble::from)?;
            entering.into_iter().for_each(|one| one.settle(true));
        }
        match trouble {
            Some(trouble) => Err(trouble),
            None => {
                self.open = Some((connection, handle));
                Ok(done)
            }
        }
    }

    fn open(&self) -> Result<(Connection<S>, Handle), Trouble> {
        let mut connection = self.common.connect()?;
        let mut what = ObjectDescriptor::queue(&self.served.queue);
        let options = open::INPUT_SHARED | open::BROWSE | open::FAIL_IF_QUIESCING;
        let (handle, _) = connection.open(&mut what, options)?;
        Ok((connection, handle))
    }

    /// Takes messages into the unit of work of the connection; answers how many, and why there
    /// are no more of them. An error undoes them all.
    fn batch(
        &self,
        connection: &mut Connection<S>,
        handle: Handle,
        entering: &mut Vec<Entering<S>>,
    ) -> Result<(usize, Option<Trouble>), Trouble> {
        let mut done = 0;
        while done < BATCH {
            let Some((md, data)) = self.next(connection, handle, done == 0)? else { break };
            let claim = connection.claim(handle)?;
            match self.fate_of(connection, &md, &data) {
                Ok(Fate::Enters(one)) => {
                    connection.take_claimed(claim, true, false)?;
                    entering.push(one);
                }
                Ok(Fate::Answered(origin, lines)) => {
                    connection.take_claimed(claim, true, false)?;
                    outbound::say(&self.common, connection, &origin, &lines)?;
                }
                Err(Refused::Never(reason)) => self.bury(connection, claim, reason)?,
                // Dropped, the claim gives the message back, as if it had not been seen.
                Err(Refused::Now(why)) => return Ok((done, Some(Trouble::Waits(why)))),
            }
            done += 1;
        }
        Ok((done, None))
    }

    /// The next message, locked; one that nothing stands before is waited for a moment.
    fn next(
        &self,
        connection: &mut Connection<S>,
        handle: Handle,
        waits: bool,
    ) -> Result<Option<(MessageDescriptor, Vec<u8>)>, Trouble> {
        if !waits {
            return Ok(look(connection, handle, false)?);
        }
        let number = connection.number();
        let found = match self.common.looks(number, true) {
            true => look(connection, handle, true),
            false => Ok(None),
        };
        let _ = self.common.looks(number, false);
        match found {
            Err(Failed(Reason::CONNECTION_BROKEN)) if self.common.gate.is_over() => Ok(None),
            found => Ok(found?),
        }
    }

    fn bury(
        &self,
        connection: &mut Connection<S>,
        claim: Claim<S>,
        reason: Reason,
    ) -> Result<(), Trouble> {
        let Some((md, data)) = connection.take_claimed(claim, true, true)? else {
            return Err(Trouble::Waits("a message was gone when it was got".to_owned()));
        };
        let queue = ObjectName::from(&*self.served.queue);
        let buried = connection.dead_letter(&md, &data, (queue, ObjectName::BLANK), reason);
        buried.map(drop).map_err(|Failed(why)| {
            Trouble::Waits(format!("a message with reason {} is no dead letter: {why}", reason.0))
        })
    }

    fn fate_of(
        &self,
        connection: &mut Connection<S>,
        md: &MessageDescriptor,
        data: &[u8],
    ) -> Result<Fate<S>, Refused> {
        let control = &self.common.control;
        let request = Request::read(md, data).map_err(Refused::Never)?;
        let header = request.header.clone().unwrap_or_default();
        let identity = self.identity(md, &header)?;
        let (terminal, instance) = self.terminal(&request, &header)?;
        let origin = Origin::of(md, &request, instance, self.common.now_ms());
        if let Some(command) = request.command() {
            return self.command(&command, terminal, origin);
        }
        let input = Input {
            transaction: request.transaction,
            encoding: request.reading.encoding(),
            segments: request.segments,
            client: self.served.tpipe,
            tpipe: self.served.tpipe,
            terminal,
            mod_name: header.map_name,
            identity,
            mode: header.mode,
            sync_level: SyncLevel::None,
            options: options_of(md, &header),
            correlator: Some(origin.write()),
        };
        let unit = connection.unit().map_err(|Failed(reason)| {
            Refused::Now(format!("the queue manager answers {reason}"))
        })?;
        let entered = control.submit_in(unit, input);
        entered.map(Fate::Enters).map_err(|refusal| Refused::of(&refusal))
    }

    /// A conversation is ended; other commands are the operators'.
    fn command(&self, text: &str, terminal: Name, origin: Origin) -> Result<Fate<S>, Refused> {
        let verb = text.split(' ').next().unwrap_or_default().to_ascii_uppercase();
        if !matches!(&*verb, "/EXIT" | "/EXI") {
            return Err(Refused::Never(IMS_ERROR));
        }
        let answered = self.common.control.command("/EXIT", terminal);
        Ok(Fate::Answered(Box::new(origin), answered.lines))
    }

    /// Who sends it: the user in its descriptor, whom the queue manager has put there, or who was
    /// allowed to; with a password who has that.
    fn identity(&self, md: &MessageDescriptor, header: &Iih) -> Result<Identity, Refused> {
        let control = &self.common.control;
        let not_authorized = Refused::Never(NOT_AUTHORIZED_FOR_IMS);
        let text = String::from_utf8_lossy(&md.user_identifier);
        let text = text.trim_end_matches([' ', '\0']);
        let known = |name: &Name| control.user_mark(*name).is_some();
        let user = Name::new(text).filter(known).or_else(|| Name::new(&text.to_ascii_uppercase()));
        let password = header.authenticator;
        let password = String::from_utf8_lossy(&password);
        let password = password.trim_end_matches([' ', '\0']);
        if !password.is_empty() {
            let user = user.ok_or(not_authorized)?;
            let checked = control.authenticate(user, Name::BLANK, password.as_bytes());
            return checked.map_err(|refusal| Refused::of(&refusal));
        }
        if control.allows_anonymous() {
            let user = user.unwrap_or_default();
            return Ok(Identity { user, group: Name::BLANK });
        }
        let user = user.filter(known).ok_or(not_authorized)?;
        Ok(Identity { user, group: Name::BLANK })
    }

    /// The terminal of a request, and what its conversation is known by.
    fn terminal(&self, of: &Request, header: &Iih) -> Result<(Name, [u8; 16]), Refused> {
        let control = &self.common.control;
        if header.in_conversation {
            let terminal = terminal_of(header.instance);
            let goes_on = terminal.filter(|terminal| control.in_conversation(*terminal));
            let terminal = goes_on.ok_or(Refused::Never(IMS_ERROR))?;
            return Ok((terminal, header.instance));
        }
        if control.is_conversational(of.transaction) == Some(true) {
            let drawn = control.new_terminal(CONVERSATION);
            let terminal = drawn.map_err(|refusal| Refused::of(&refusal))?;
            return Ok((terminal, instance_of(terminal)));
        }
        let named = header.terminal;
        let terminal = if named.is_blank() { self.served.terminal } else { named };
        if control.in_conversation(terminal) {
            let refusal = Refusal::new(Cause::Conversation, "THE TERMINAL IS IN A CONVERSATION");
            return Err(Refused::of(&refusal));
        }
        Ok((terminal, [0; 16]))
    }
}

/// Looks at the first message that no other getter has, and locks it.
fn look<S: Store>(
    connection: &mut Connection<S>,
    handle: Handle,
    waits: bool,
) -> Answer<Option<(MessageDescriptor, Vec<u8>)>> {
    let wait = if waits { get::WAIT } else { 0 };
    let how = get::BROWSE_FIRST | get::LOCK | get::NO_PROPERTIES | get::FAIL_IF_QUIESCING | wait;
    let mut options = GetOptions { wait_interval: LOOK_MS, ..GetOptions::new(how) };
    let (mut md, mut data) = (MessageDescriptor::default(), Vec::new());
    match connection.get(handle, &mut md, &mut options, ROOM, &mut data) {
        Ok(_) => Ok(Some((md, data))),
        Err(Failed(Reason::NO_MSG_AVAILABLE)) => Ok(None),
        Err(failed) => Err(failed),
    }
}

fn options_of(md: &MessageDescriptor, header: &Iih) -> InputOptions {
    let is = |bit: i32| header.flags & bit != 0;
    let lives = u64::try_from(md.expiry).ok().filter(|tenths| *tenths > 0);
    InputOptions {
        ignore_purge: is(flags::IGNORE_PURG),
        tell_if_no_reply: is(flags::CM0_REQUEST_RESPONSE)
            || header.mode == CommitMode::SendThenCommit,
        expires_in: lives.map(|tenths| std::time::Duration::from_millis(tenths * 100)),
        ..InputOptions::default()
    }
}

fn instance_of(terminal: Name) -> [u8; 16] {
    let mut instance = [0; 16];
    instance[..8].copy_from_slice(&INSTANCE);
    instance[8..].copy_from_slice(&terminal.0);
    instance
}

fn terminal_of(instance: [u8; 16]) -> Option<Name> {
    let name = instance.strip_prefix(&INSTANCE)?;
    Some(Name(*name.first_chunk()?)).filter(|name| name.0[0] == CONVERSATION)
}
