//! The command server: takes command messages from the command queue and answers them.
//!
//! 1. A command is taken and its answers are put in one unit of work. What the command itself does
//!    is done before, so a command whose answers are lost with the system may be answered again.
//! 2. Once authority records are kept, only administrators' commands are carried out.
//! 3. Reports and replies are no commands: a program that asks for one may choose where it goes to.
//! 4. A message that is no command, or has no one to be answered, is taken and done with; a queue
//!    of commands never stands still because of one.

use std::sync::atomic::{AtomicBool, Ordering};

use queue_manager::descriptor::value::msg_type;
use queue_manager::event::{Commander, Origin};
use queue_manager::name::unpadded;
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, Handle, ObjectDescriptor, PutOptions};
use queue_manager::{Answer, Connection, MessageDescriptor, QueueManager, Reason};
use store::Store;

use super::commands::{answer, refusal};
use super::wire::Order;

/// Where commands are put.
pub const COMMAND_QUEUE: &str = "SYSTEM.ADMIN.COMMAND.QUEUE";
/// The format of command messages.
pub const FORMAT: [u8; 8] = *b"MQADMIN ";
/// How long a command may be.
const COMMAND_BYTES_MAX: usize = 4 << 20;
/// How often it looks whether it is to stop.
const LOOK_MS: i32 = 500;

/// A command server with its connection.
pub struct CommandServer<S: Store> {
    manager: QueueManager<S>,
    connection: Connection<S>,
    queue: Handle,
    buffer: Vec<u8>,
}

impl<S: Store> CommandServer<S> {
    /// Connects and opens the command queue.
    ///
    /// # Errors
    /// As of the calls.
    pub fn open(manager: &QueueManager<S>) -> Answer<CommandServer<S>> {
        let options =
            ConnectOptions { application: "command server".into(), ..ConnectOptions::default() };
        let mut connection = manager.connect(options)?;
        let mut what = ObjectDescriptor::queue(COMMAND_QUEUE);
        let options = open::INPUT_SHARED | open::FAIL_IF_QUIESCING;
        let (queue, _) = connection.open(&mut what, options)?;
        Ok(CommandServer { manager: manager.clone(), connection, queue, buffer: Vec::new() })
    }

    /// Serves until `stop` is set or the queue manager ends.
    ///
    /// # Errors
    /// As of the calls, but for the end of the queue manager.
    pub fn run(&mut self, stop: &AtomicBool) -> Answer<()> {
        while !stop.load(Ordering::Relaxed) {
            match self.serve(LOOK_MS) {
                Ok(_) => {}
                Err(failed)
                    if [
                        Reason::Q_MGR_QUIESCING,
                        Reason::Q_MGR_STOPPING,
                        Reason::CONNECTION_BROKEN,
                    ]
                    .contains(&failed.0) =>
                {
                    return Ok(());
                }
                Err(failed) => return Err(failed),
            }
        }
        Ok(())
    }

    /// Serves one command, if one comes within so many milliseconds: whether one did.
    ///
    /// # Errors
    /// As of the calls.
    pub fn serve(&mut self, wait_ms: i32) -> Answer<bool> {
        let mut message = MessageDescriptor::default();
        let mut options = GetOptions::new(
            get::WAIT | get::SYNCPOINT | get::FAIL_IF_QUIESCING | get::ACCEPT_TRUNCATED_MSG,
        );
        options.wait_interval = wait_ms;
        let got = self.connection.get(
            self.queue,
            &mut message,
            &mut options,
            COMMAND_BYTES_MAX,
            &mut self.buffer,
        );
        match got {
            Err(failed) if failed.0 == Reason::NO_MSG_AVAILABLE => return Ok(false),
            Err(failed) => return Err(failed),
            Ok(_) => {}
        }
        // Bits of the encoding say in which order the bytes of numbers are.
        let little = message.encoding & 0xF == 2;
        let order = if little { Order::Little } else { Order::Big };
        let user = unpadded(&message.user_identifier);
        let answers = match self.manager.may_administer(&user) {
            _ if ![msg_type::REQUEST, msg_type::DATAGRAM].contains(&message.msg_type) => Vec::new(),
            true => {
                let application = unpadded(&message.put_appl_name);
                let who = Commander { user, origin: Origin::Message, application };
                answer(&self.manager.commanded_by(who), &self.buffer, order)
            }
            false => vec![refusal(&self.buffer, order, Reason::NOT_AUTHORIZED.0)],
        };
        if !message.reply_to_q.is_blank() {
            for body in answers {
                // Who is not there to be answered, is not answered.
                if self.reply(&message, &body).is_err() {
                    break;
                }
            }
        }
        self.connection.commit()?;
        Ok(true)
    }

    fn reply(&mut self, command: &MessageDescriptor, body: &[u8]) -> Answer<()> {
        let mut descriptor = MessageDescriptor {
            msg_type: msg_type::REPLY,
            correl_id: command.msg_id,
            encoding: command.encoding,
            ccsid: 1208,
            format: FORMAT,
            persistence: command.persistence,
            priority: command.priority,
            ..MessageDescriptor::default()
        };
        let mut what = ObjectDescriptor {
            object_name: command.reply_to_q,
            object_q_mgr_name: command.reply_to_q_mgr,
            ..ObjectDescriptor::default()
        };
        // Nor is an answer a command, or starts anything.
        let guarded = put::SYNCPOINT | put::NEW_MSG_ID | put::NOT_CARRIED_OUT;
        let mut options = PutOptions { options: guarded, ..PutOptions::default() };
        self.connection.put1(&mut what, &mut descriptor, &mut options, body)?;
        Ok(())
    }
}
