//! A program of the message queue interface, in a few words.

use std::path::Path;

use mqi::client::Client;
use mqi::place::SOCKET;
use mqi::structures::{Gmo, Md, Od, Pmo};
use mqi::table::{Structure as _, text};
use mqi::wire::{Connecting, Object, Posting, Wanted};
use queue_manager::name::unpadded;
use queue_manager::{Completion, MESSAGE_BYTES_MAX, ObjectName, Outcome, Reason};

use crate::failure::{Failure, Result};

/// A message that was got or looked at.
pub(super) struct Message {
    pub(super) md: Md,
    pub(super) data: Vec<u8>,
}

/// A connection.
pub(super) struct Program {
    client: Client,
    room: Vec<u8>,
}

fn failed(call: &str, outcome: Outcome) -> Failure {
    let what = format!("{call} ended with reason {}", outcome.reason);
    Failure::other(what, "Repair what the reason code names.")
}

/// Whether a call was not done.
fn is_failed(outcome: Outcome) -> bool {
    outcome.completion == Completion::Failed
}

impl Program {
    /// Connects to the queue manager of the started system in a folder.
    pub(super) fn connect(dir: &Path, name: &str) -> Result<Program> {
        let socket = std::path::absolute(dir.join(SOCKET))?;
        let connecting = Connecting::new(ObjectName::default(), text(name));
        let client = Client::connect(&socket, connecting);
        let client = client.map_err(|outcome| match outcome.reason {
            Reason::Q_MGR_NOT_AVAILABLE => Failure::other(
                format!("the system in {} is not started", dir.display()),
                "Start it with holdfast start.",
            ),
            _ => failed("the connection", outcome),
        })?;
        Ok(Program { client, room: vec![0; 64 << 10] })
    }

    /// The queue manager.
    pub(super) fn manager(&self) -> &str {
        self.client.name()
    }

    /// Opens a queue.
    pub(super) fn open(&mut self, queue: &str, options: i32) -> Result<i32> {
        let mut object = Object::new(Od { object_name: text(queue), ..Od::initial() });
        let (outcome, handle, _, _) = self.client.open(&mut object, options);
        if is_failed(outcome) {
            return Err(failed(&format!("opening {queue}"), outcome));
        }
        Ok(handle)
    }

    /// Gets or looks at a message, however long it is; `None` if there is none.
    pub(super) fn get(
        &mut self,
        handle: i32,
        options: i32,
        wait_interval: i32,
    ) -> Result<Option<Message>> {
        loop {
            let gmo = Gmo { options, wait_interval, ..Gmo::initial() };
            let room = i32::try_from(self.room.len()).unwrap_or(i32::MAX);
            let md = Md { version: 2, ..Md::initial() };
            let mut wanted = Wanted { md, gmo, room };
            let (outcome, length) = self.client.get(handle, &mut wanted, &mut self.room);
            let length = usize::try_from(length).unwrap_or(0);
            match outcome.reason {
                Reason::NO_MSG_AVAILABLE => return Ok(None),
                Reason::TRUNCATED_MSG_FAILED if length <= MESSAGE_BYTES_MAX => {
                    self.room.resize(length, 0);
                }
                _ if is_failed(outcome) => return Err(failed("getting a message", outcome)),
                _ => {
                    let data = self.room[..length.min(self.room.len())].to_vec();
                    return Ok(Some(Message { md: wanted.md, data }));
                }
            }
        }
    }

    /// Puts a message on a queue, in the unit of work. Answers why not.
    pub(super) fn put(
        &mut self,
        (queue, manager): (&str, &str),
        message: &Message,
        options: i32,
    ) -> std::result::Result<(), Reason> {
        let od = Od {
            object_name: text(queue),
            object_q_mgr_name: text(manager),
            alternate_user_id: message.md.user_identifier,
            ..Od::initial()
        };
        let mut posting = Posting {
            md: message.md.clone(),
            pmo: Pmo { options, ..Pmo::initial() },
            records: Vec::new(),
            wants_responses: false,
        };
        let (outcome, _) = self.client.put1(&mut Object::new(od), &mut posting, &message.data);
        if is_failed(outcome) { Err(outcome.reason) } else { Ok(()) }
    }

    /// Ends the unit of work.
    pub(super) fn end_unit(&mut self, commit: bool) -> Result<()> {
        use mqi::wire::Request;
        let outcome = self.client.plain(if commit { &Request::Commit } else { &Request::Back });
        if is_failed(outcome) {
            Err(failed("the end of the unit of work", outcome))
        } else {
            Ok(())
        }
    }

    /// A character attribute of the queue manager.
    pub(super) fn attribute(&mut self, selector: i32) -> Result<String> {
        const INQUIRE: i32 = 0x20;
        const Q_MGR: i32 = 5;
        let mut object = Object::new(Od { object_type: Q_MGR, ..Od::initial() });
        let (outcome, handle, _, _) = self.client.open(&mut object, INQUIRE);
        if is_failed(outcome) {
            return Err(failed("asking the queue manager", outcome));
        }
        let (outcome, _, characters) = self.client.inquire(handle, &[selector]);
        if is_failed(outcome) {
            return Err(failed("asking the queue manager", outcome));
        }
        Ok(unpadded(&characters))
    }
}
