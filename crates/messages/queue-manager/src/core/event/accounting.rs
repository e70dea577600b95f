//! Accounting messages: what a connection has done, told when it ends and, of one that stays, after
//! each interval.
//!
//! | asked for by | message |
//! |---|---|
//! | `ACCTMQI(ON)` | one of the connection: calls of each kind, bytes, units of work |
//! | `ACCTQ(ON)`, or `ACCTQ` of the queue | one with a group for each queue that it has used |
//!
//! 1. What is asked for when a connection begins counts for all of it; nothing is counted for one
//!    of which nothing is asked.
//! 2. Lists of two are for messages that are not kept over a restart, and for those that are.
//! 3. Accounting messages of one connection tell each call once.

use std::collections::BTreeMap;

use store::Store;

use super::super::{Client, Core};
use super::{id, pcf};
use crate::descriptor::value;
use crate::message::display_date_and_time;
use crate::name::ObjectName;
use crate::objects::Object;

const QUEUE: &str = "SYSTEM.ADMIN.ACCOUNTING.QUEUE";
const ACCOUNTING: i32 = 22;
const OF_CALLS: i32 = 167;
const OF_QUEUES: i32 = 168;
const GROUP: i32 = 8010;
/// Parameters of a group.
const PARAMETERS: i32 = 12;
/// Queues of one message.
const QUEUES_MAX: usize = 100;

/// What is asked for of connections that begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accounting {
    calls: bool,
    /// Of queues that say nothing themselves; none: of no queue at all.
    queues: Option<bool>,
    interval_ms: u64,
}

impl Accounting {
    pub(crate) fn of(manager: &Object) -> Accounting {
        Accounting {
            calls: manager.is("ACCTMQI", "ON"),
            queues: match manager.text_of("ACCTQ") {
                "NONE" => None,
                word => Some(word == "ON"),
            },
            interval_ms: manager.number_of("ACCTINT").unsigned_abs() * 1_000,
        }
    }
}

/// A call that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    Opened,
    Closed,
    Put { persistent: bool, bytes: usize },
    Put1 { persistent: bool, bytes: usize },
    PutFailed,
    Got { persistent: bool, bytes: usize },
    Browsed { persistent: bool, bytes: usize },
    GetFailed,
    Committed,
    BackedOut,
}

/// Calls by their kinds.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    opens: u64,
    closes: u64,
    puts: [u64; 2],
    put1s: [u64; 2],
    put_bytes: [u64; 2],
    puts_failed: u64,
    gets: [u64; 2],
    get_bytes: [u64; 2],
    browses: [u64; 2],
    browse_bytes: [u64; 2],
    gets_failed: u64,
    commits: u64,
    backs: u64,
}

impl Counts {
    fn note(&mut self, did: Did) {
        let mut add = |counts: fn(&mut Counts) -> (&mut [u64; 2], &mut [u64; 2]),
                       persistent: bool,
                       of: usize| {
            let (count, bytes) = counts(self);
            count[usize::from(persistent)] += 1;
            bytes[usize::from(persistent)] += of as u64;
        };
        match did {
            Did::Put { persistent, bytes } => {
                add(|one| (&mut one.puts, &mut one.put_bytes), persistent, bytes);
            }
            Did::Put1 { persistent, bytes } => {
                add(|one| (&mut one.put1s, &mut one.put_bytes), persistent, bytes);
            }
            Did::Got { persistent, bytes } => {
                add(|one| (&mut one.gets, &mut one.get_bytes), persistent, bytes);
            }
            Did::Browsed { persistent, bytes } => {
                add(|one| (&mut one.browses, &mut one.browse_bytes), persistent, bytes);
            }
            Did::Opened => self.opens += 1,
            Did::Closed => self.closes += 1,
            Did::PutFailed => self.puts_failed += 1,
            Did::GetFailed => self.gets_failed += 1,
            Did::Committed => self.commits += 1,
            Did::BackedOut => self.backs += 1,
        }
    }

    /// The parameters that accounts of connections and of queues have in common.
    fn write(&self, message: &mut pcf::Message) {
        let number = |number: u64| i32::try_from(number).unwrap_or(i32::MAX);
        let two = |of: [u64; 2]| of.map(number);
        message.integer(733, number(self.opens));
        message.integer(709, number(self.closes));
        message.integers(735, &two(self.puts));
        message.integer(754, number(self.puts_failed));
        message.integers(734, &two(self.put1s));
        message.longs(748, &self.put_bytes);
        message.integers(722, &two(self.gets));
        message.longs(747, &self.get_bytes);
        message.integer(725, number(self.gets_failed));
        message.integers(705, &two(self.browses));
        message.longs(745, &self.browse_bytes);
    }
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disconnected {
    /// It said so.
    Normally = 0,
    /// It went without a word.
    Implicitly = 1,
}

/// The account of a connection.
#[derive(Debug, Default)]
pub(crate) struct Account {
    asked: Accounting,
    began_ms: u64,
    calls: Counts,
    /// Of the queues of which accounts are kept.
    queues: BTreeMap<ObjectName, Counts>,
    /// Whether an account of a queue is kept.
    kept: BTreeMap<ObjectName, bool>,
}

impl Account {
    /// That of a connection that begins.
    pub(crate) fn begin<S: Store>(core: &Core<S>) -> Account {
        let asked = core.manager_settings().accounting;
        Account { asked, began_ms: core.now_ms(), ..Account::default() }
    }

    /// Whether anything is counted.
    pub(crate) fn is_kept(&self) -> bool {
        self.asked.calls || self.asked.queues.is_some()
    }

    /// Notes a call; tells the account if an interval is over with it.
    pub(crate) fn note<S: Store>(
        &mut self,
        core: &Core<S>,
        client: &Client,
        (queue, did): (Option<ObjectName>, Did),
    ) {
        self.calls.note(did);
        if let (Some(generally), Some(name)) = (self.asked.queues, queue) {
            let kept = *self.kept.entry(name).or_insert_with(|| {
                let queue = core.queue(&name);
                queue.is_some_and(|queue| queue.settings().accounting.unwrap_or(generally))
            });
            if kept {
                self.queues.entry(name).or_default().note(did);
            }
        }
        let interval = self.asked.interval_ms;
        if interval > 0 && core.now_ms().saturating_sub(self.began_ms) >= interval {
            core.put_account(self, client, None);
        }
    }
}

impl<S: Store> Core<S> {
    /// Puts the messages of an account, which begins anew.
    pub(crate) fn put_account(
        &self,
        account: &mut Account,
        client: &Client,
        ended: Option<Disconnected>,
    ) {
        if !account.is_kept() {
            return;
        }
        let now = self.now_ms();
        if account.asked.calls {
            let mut message = self.begin_account(OF_CALLS, account.began_ms, client, ended);
            let number = |number: u64| i32::try_from(number).unwrap_or(i32::MAX);
            account.calls.write(&mut message);
            message.integer(710, number(account.calls.commits));
            message.integer(704, number(account.calls.backs));
            self.put_own(QUEUE, value::format::ADMIN, message);
        }
        let queues: Vec<(ObjectName, Counts)> =
            std::mem::take(&mut account.queues).into_iter().collect();
        for part in queues.chunks(QUEUES_MAX) {
            let mut message = self.begin_account(OF_QUEUES, account.began_ms, client, ended);
            message.integer(732, i32::try_from(part.len()).unwrap_or(i32::MAX));
            for (name, counts) in part {
                message.group(GROUP, PARAMETERS);
                message.text(id::QUEUE, &name.text(), 48);
                counts.write(&mut message);
            }
            self.put_own(QUEUE, value::format::ADMIN, message);
        }
        (account.began_ms, account.calls) = (now, Counts::default());
    }

    /// Who it is, and of when.
    fn begin_account(
        &self,
        command: i32,
        began_ms: u64,
        client: &Client,
        ended: Option<Disconnected>,
    ) -> pcf::Message {
        let mut message = pcf::Message::new(ACCOUNTING, command, (0, 0));
        message.text(id::MANAGER, &self.options.name, 48);
        let moment = |message: &mut pcf::Message, at: u64, (date, time): (i32, i32)| {
            let (day, hour) = display_date_and_time(at);
            message.text(date, &day, 12);
            message.text(time, &hour, 8);
        };
        moment(&mut message, began_ms, (2711, 2712));
        moment(&mut message, self.now_ms(), (2707, 2708));
        let who = &client.options;
        message.text(id::APPLICATION, &who.application, 28);
        message.integer(1024, who.process);
        message.integer(1025, who.thread);
        message.text(id::USER, &who.user, 12);
        moment(&mut message, client.connected_ms, (2703, 2704));
        if let Some(how) = ended {
            moment(&mut message, self.now_ms(), (2705, 2706));
            message.integer(716, how as i32);
        }
        message
    }
}

/// A connection ends: its account is told, and nothing more is noted.
pub(crate) fn end<S: Store>(
    core: &Core<S>,
    account: &mut Account,
    client: &Client,
    how: Disconnected,
) {
    core.put_account(account, client, Some(how));
    // Nothing is asked for any more: what closes it is no program's call.
    *account = Account::default();
}
