//! Where commands are executed: one console of a queue manager.
//!
//! 1. A command is read as a whole before anything of it is done: one that is wrong in its last
//!    word has done nothing.
//! 2. A command changes one object, in one unit of work of the queue manager, or none.
//! 3. A command that was carried out is told to those who ask for such events, once: one that came
//!    as a message is told as that.

use queue_manager::QueueManager;
use queue_manager::event::Commanded;
use queue_manager::objects::Kind;
use store::Store;

use crate::command::{Command, Target, Verb};
use crate::failure::{CommandError, Done};
use crate::reply::Reply;
use crate::session::Answer;
use crate::{branches, channels, control, define, display, records, status, storage};

/// A console of a queue manager.
pub struct Console<S: Store> {
    manager: QueueManager<S>,
    /// Whether commands are told from here.
    reports: bool,
}

impl<S: Store> Console<S> {
    /// A console of this queue manager.
    pub fn new(manager: &QueueManager<S>) -> Console<S> {
        Console { manager: manager.clone(), reports: true }
    }

    /// One for commands of which something else tells.
    pub(crate) fn silent(manager: &QueueManager<S>) -> Console<S> {
        Console { manager: manager.clone(), reports: false }
    }

    /// The queue manager.
    pub fn manager(&self) -> &QueueManager<S> {
        &self.manager
    }

    /// Executes a command: one line, with its continuations joined.
    pub fn execute(&self, text: &str) -> Answer {
        match self.try_execute(text) {
            Ok(replies) => Answer { replies, syntax_error: false, failed: false },
            Err(error) => {
                let syntax_error = matches!(error, CommandError::Syntax(_));
                let replies = vec![error.reply(text)];
                Answer { replies, syntax_error, failed: !syntax_error }
            }
        }
    }

    /// Executes a command, for those who want the error itself.
    ///
    /// # Errors
    /// If it is not well formed, or was not processed.
    pub fn try_execute(&self, text: &str) -> Result<Vec<Reply>, CommandError> {
        let command = Command::parse(text)?;
        let (number, displays) = (command.number(), command.verb == Verb::Display);
        let replies = self.run(command)?;
        if self.reports {
            let (text, parameters) = (Some(text), (&[] as &[u8], 0));
            self.manager.carried_out(&Commanded { number, displays, text, parameters });
        }
        Ok(replies)
    }

    /// Reads a command without executing it.
    pub fn verify(&self, text: &str) -> Answer {
        match Command::parse(text).and_then(|mut command| define::check(&mut command)) {
            Ok(()) => Answer::default(),
            Err(error) => {
                Answer { replies: vec![error.reply(text)], syntax_error: true, failed: false }
            }
        }
    }

    fn run(&self, mut command: Command) -> Done {
        let manager = &self.manager;
        command.keywords.here()?;
        storage::number(&mut command);
        match (command.verb, command.target) {
            (Verb::Define, Target::Object(kind)) => define::define(manager, command, kind),
            (Verb::Alter, Target::Object(kind)) => define::alter(manager, command, kind),
            (Verb::Delete, Target::Object(kind)) => define::delete(manager, command, Some(kind)),
            (Verb::Delete, Target::Queue) => define::delete(manager, command, None),
            (Verb::Display, Target::Object(Kind::QueueManager)) => {
                display::manager(manager, command)
            }
            (Verb::Display, Target::Object(kind)) => display::objects(manager, command, kind),
            (Verb::Display, Target::Queue) => display::queues(manager, command),
            (Verb::Set, Target::ChannelAuthority) => records::set_channel(manager, command),
            (Verb::Display, Target::ChannelAuthority) => records::display_channel(manager, command),
            (Verb::Set, Target::AuthorityRecord) => records::set_authority(manager, command),
            (Verb::Delete, Target::AuthorityRecord) => records::delete_authority(manager, command),
            (Verb::Display, Target::AuthorityRecord) => {
                records::display_authority(manager, command)
            }
            (Verb::Display, Target::QueueStatus) => status::queues(manager, command),
            (Verb::Reset, Target::QueueStatistics) => status::reset_queue(manager, command),
            (Verb::Display, Target::Connection) => status::connections(manager, command),
            (Verb::Display, Target::ManagerStatus) => status::manager(manager, command),
            (Verb::Display, Target::SubscriptionStatus) => status::subscriptions(manager, command),
            (Verb::Display, Target::PubSub) => status::publish_subscribe(manager, command),
            (Verb::Display, Target::TopicStatus) => status::topics(manager, command),
            (Verb::Display, Target::ChannelStatus) => channels::status(manager, command),
            (Verb::Display, Target::ListenerStatus) => channels::listener_status(manager, command),
            (Verb::Display, Target::Thread) => branches::display(manager, command),
            (Verb::Resolve, Target::InDoubt) => branches::resolve(manager, command),
            (Verb::Display, Target::ServiceStatus) => status::none_runs(&command),
            (Verb::Display, Target::Usage) => storage::usage(manager, command),
            (Verb::Display, Target::Log) => storage::log(manager, &command),
            (Verb::Archive, Target::Log) => storage::archive_log(manager, command),
            (Verb::Display, Target::Archive) => storage::archive(manager, &command),
            _ => control::run(manager, command),
        }
    }
}
