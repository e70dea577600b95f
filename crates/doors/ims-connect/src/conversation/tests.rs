//! Every state against every event, and a client that goes at every point.
//!
//! A model of the outside keeps account of what is owed: inputs that were submitted, outputs that
//! were taken. Sequences of events are tried to a depth, and behind each the client goes; then
//! nothing may be left over.

use otma::{InputOptions, Outcome, Reason as Why, SyncLevel};

use super::*;
use crate::wire::{Function, SocketType, f1, f2, f3, f5};

/// What the outside keeps account of.
#[derive(Clone, Default)]
struct Outside {
    next: u64,
    /// Inputs of mode 1 that run.
    running: Vec<Ticket>,
    /// The last input, and whether it is of mode 0.
    last: Option<(Ticket, bool)>,
    /// Outputs that were taken and not settled.
    taken: Vec<OutputId>,
    /// Settlements that are not durable.
    unsettled: u32,
    closed: bool,
    replies: u32,
}

/// What may happen next. Each is built from the account.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Move {
    Ask(Function, bool, bool, bool, u8),
    Ping,
    Accepted,
    Output(bool),
    Committed,
    BackedOut,
    Arrived,
    Settled,
    Timer,
    Cancel,
    Superseded,
    Shutdown,
    ShutdownNow,
    Gone,
}

const CLIENT: Name = Name(*b"CLIENT  ");

fn moves() -> Vec<Move> {
    use Function as F;
    use Move::*;
    let mut all = Vec::new();
    for function in F::all() {
        let modes: &[(bool, bool)] = match function {
            F::SendReceive => &[(true, false), (false, true), (false, false)],
            _ => &[(true, false)],
        };
        for (mode_0, confirm) in modes {
            all.push(Ask(function, *mode_0, *confirm, true, 0x01));
        }
    }
    all.push(Ask(F::SendReceive, false, true, false, 0x00));
    all.push(Ask(F::Ack, true, false, true, 0xe9));
    all.push(Ask(F::ResumeTpipe, true, false, true, 0xff));
    let rest = [Accepted, Output(true), Output(false), Committed, BackedOut, Arrived, Settled];
    all.extend(rest);
    all.extend([Ping, Timer, Cancel, Superseded, Shutdown, ShutdownNow, Gone]);
    all
}

fn input(mode_0: bool) -> Input {
    let mode =
        if mode_0 { otma::CommitMode::CommitThenSend } else { otma::CommitMode::SendThenCommit };
    Input {
        transaction: CLIENT,
        segments: otma::Segments::new(),
        client: CLIENT,
        tpipe: CLIENT,
        terminal: CLIENT,
        mod_name: CLIENT,
        identity: otma::Identity::default(),
        mode,
        sync_level: SyncLevel::None,
        encoding: Encoding::Ascii,
        options: InputOptions::default(),
        correlator: None,
    }
}

fn output(outside: &mut Outside, wants_answer: bool) -> Output {
    outside.next += 1;
    Output {
        id: OutputId(outside.next),
        segments: otma::Segments::new(),
        mod_name: CLIENT,
        encoding: Encoding::Ascii,
        in_conversation: false,
        wants_answer,
        more_queued: false,
        correlator: None,
    }
}

impl Outside {
    /// The event of a move; `None` if it cannot happen now.
    fn event(&mut self, conversation: &Conversation, step: Move) -> Option<Event> {
        let ticket = self.last.map(|(ticket, _)| ticket);
        Some(match step {
            Move::Ask(function, mode_0, confirm, persistent, timer) => {
                if !conversation.wants_request() {
                    return None;
                }
                let asked = Asked {
                    function,
                    client: CLIENT,
                    timer,
                    socket: if persistent {
                        SocketType::Persistent
                    } else {
                        SocketType::Transaction
                    },
                    f1: f1::CLIENT_ID,
                    f2: if mode_0 { f2::MODE_0 } else { f2::MODE_1 },
                    f3: if confirm { f3::CONFIRM } else { 0 },
                    f5: if timer == 0xff { f5::AUTO } else { 0 },
                    level: 3,
                    ..Asked::default()
                };
                let has = function.has_data() || function == Function::Deallocate;
                Event::Request(Box::new(asked), has.then(|| Box::new(input(asked.is_mode_0()))))
            }
            Move::Ping => {
                let asked = Asked { socket: SocketType::Persistent, ..Asked::default() };
                conversation.wants_request().then_some(Event::Ping(Box::new(asked)))?
            }
            Move::Accepted => Event::Notified(ticket?, otma::Event::Accepted),
            Move::Output(wants) => {
                let (ticket, _) = self.last.filter(|(ticket, _)| self.running.contains(ticket))?;
                Event::Notified(ticket, otma::Event::Output(output(self, wants)))
            }
            Move::Committed | Move::BackedOut => {
                let ticket = ticket?;
                self.running.retain(|other| *other != ticket);
                self.last = None;
                let refusal = Refusal::new(Why::ProgramFailed, "DFS555I");
                Event::Notified(
                    ticket,
                    otma::Event::Ended(match step {
                        Move::Committed => Outcome::Committed,
                        _ => Outcome::BackedOut(refusal),
                    }),
                )
            }
            Move::Arrived => Event::Arrived(CLIENT),
            Move::Settled => {
                self.unsettled = self.unsettled.checked_sub(1)?;
                Event::Settled(Ok(()))
            }
            Move::Timer => Event::Timer,
            Move::Cancel => Event::Cancel,
            Move::Superseded => Event::Superseded,
            Move::Shutdown => Event::Shutdown,
            Move::ShutdownNow => Event::ShutdownNow,
            Move::Gone => Event::Gone,
        })
    }

    /// Gives an event, and does what follows from it; `full` says whether tpipes have outputs.
    fn give(&mut self, conversation: &mut Conversation, event: Event, full: bool) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            for action in conversation.on(event) {
                match action {
                    Action::Submit(input) => {
                        assert!(!self.closed, "nothing begins behind the end");
                        self.next += 1;
                        let ticket = Ticket(self.next);
                        let mode_0 = input.mode == otma::CommitMode::CommitThenSend;
                        if !mode_0 {
                            self.running.push(ticket);
                        }
                        self.last = Some((ticket, mode_0));
                        events.push(Event::Submitted(ticket));
                    }
                    Action::Answer(ticket, _) => {
                        assert!(self.running.contains(&ticket), "an answer has its question");
                    }
                    Action::Abandon(ticket) => self.running.retain(|other| *other != ticket),
                    Action::Take(..) => {
                        let output = full.then(|| output(self, true));
                        self.taken.extend(output.iter().map(|output| output.id));
                        events.push(Event::Took(Ok(output)));
                    }
                    Action::Settle(_, id, _) => {
                        let at = self.taken.iter().position(|taken| *taken == id);
                        self.taken.remove(at.expect("what is settled was taken, and once"));
                        self.unsettled += 1;
                    }
                    Action::Reply(..) => {
                        assert!(!self.closed, "nothing is said behind the end");
                        self.replies += 1;
                    }
                    Action::CancelOther(_) => events.push(Event::Cancelled(full)),
                    Action::Close => {
                        assert!(!self.closed, "an end comes once");
                        self.closed = true;
                    }
                    Action::Watch(_) | Action::SetTimer(_) | Action::StopTimer => {}
                }
            }
        }
    }
}

fn fork(conversation: &Conversation) -> Conversation {
    conversation.copy()
}

/// Tries every sequence of moves to a depth; behind each the client goes.
fn explore(conversation: &Conversation, outside: &Outside, depth: u32, full: bool, seen: &mut u64) {
    *seen += 1;
    let mut gone = fork(conversation);
    let mut left = outside.clone();
    left.give(&mut gone, Event::Gone, full);
    assert!(gone.is_closed() && left.closed, "who has gone has gone");
    assert!(left.taken.is_empty(), "an output is left over: {conversation:?}");
    // Whoever is in the middle of leaving a conversation has said all that there is to say.
    let leaves = conversation.leaves();
    assert!(left.running.is_empty() || leaves, "an input is left over: {conversation:?}");
    if depth == 0 || outside.closed {
        return;
    }
    for step in moves() {
        let mut next = fork(conversation);
        let mut account = outside.clone();
        if let Some(event) = account.event(&next, step) {
            account.give(&mut next, event, full);
            assert_eq!(next.is_closed(), account.closed, "{step:?} on {conversation:?}");
            explore(&next, &account, depth - 1, full, seen);
        }
    }
}

#[test]
fn nothing_is_left_over_wherever_a_client_goes() {
    let mut seen = 0;
    for full in [false, true] {
        let conversation = Conversation::new(Limits::default());
        explore(&conversation, &Outside::default(), 4, full, &mut seen);
    }
    assert!(seen > 20_000, "the model goes far: {seen}");
}

#[test]
fn an_acknowledgement_is_confirmed_when_it_is_durable() {
    let mut conversation = Conversation::new(Limits::default());
    let mut outside = Outside::default();
    let mut give = |conversation: &mut Conversation, step, full| {
        let event = outside.event(conversation, step).expect("it can happen");
        outside.give(conversation, event, full);
        outside.replies
    };
    let ask = |function| Move::Ask(function, true, false, true, 0x01);
    give(&mut conversation, ask(Function::SendReceive), true);
    assert_eq!(give(&mut conversation, Move::Arrived, true), 1);
    give(&mut conversation, ask(Function::Ack), true);
    assert_eq!(give(&mut conversation, Move::Timer, true), 1, "it is not durable");
    assert_eq!(give(&mut conversation, Move::Settled, true), 2);
    assert!(conversation.is_idle());
}

// The second was dropped: its program waited for an answer that nobody could give.
#[test]
fn each_output_of_a_unit_of_work_is_answered_in_its_turn() {
    let mut conversation = Conversation::new(Limits::default());
    let mut outside = Outside::default();
    let mut give = |conversation: &mut Conversation, step| {
        let event = outside.event(conversation, step).expect("it can happen");
        outside.give(conversation, event, false);
        outside.replies
    };
    give(&mut conversation, Move::Ask(Function::SendReceive, false, true, true, 0x01));
    for number in 1..=3 {
        assert_eq!(give(&mut conversation, Move::Output(true)), number);
        assert!(conversation.wants_request(), "the client may answer");
        give(&mut conversation, Move::Ask(Function::Ack, true, false, true, 0x01));
        assert!(!conversation.wants_request());
    }
    assert_eq!(give(&mut conversation, Move::Committed), 4);
    assert!(conversation.is_idle());
}

#[test]
fn an_answer_is_waited_for_as_long_as_the_client_would_wait_itself() {
    let limits = Limits::default();
    let time = |timer| {
        let mut conversation = Conversation::new(limits);
        let mut outside = Outside::default();
        let ask = Move::Ask(Function::SendReceive, false, true, true, timer);
        for step in [ask, Move::Output(true)] {
            let event = outside.event(&conversation, step).expect("it can happen");
            if step == ask {
                outside.give(&mut conversation, event, false);
                continue;
            }
            return conversation.on(event).into_iter().find_map(|action| match action {
                Action::SetTimer(time) => Some(time),
                _ => None,
            });
        }
        None
    };
    for (timer, expected) in [
        (0x00, limits.answer),
        (0x01, limits.no_wait),
        (0x2d, Duration::from_secs(6)),
        (0x9e, limits.answer),
        (0xe9, limits.no_wait),
        (0xff, limits.answer),
    ] {
        assert_eq!(time(timer), Some(expected), "{timer:#x}");
    }
}
