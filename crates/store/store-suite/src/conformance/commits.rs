//! Commits: what they show to others, when they are settled, in which order.

use std::sync::Arc;
use std::time::Duration;

use super::subject::{NOT_OFFERED, Notes, get, number_of, on_threads, patient};
use super::{Checked, Found, Subject, ensure, ensure_eq};
use store::Read;
use store::SetId;
use store::traits::{Store, Unit, UnitOptions};
use store::{CommitOrder, CommitSink};

pub(super) fn a_commit_is_seen_by_later_units<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let strict = subject.store().capabilities().strict;
    let store = subject.store().clone();
    for round in 0..subject.rounds() {
        let value = round.to_be_bytes();
        let mut unit = subject.begin()?;
        unit.put(set, b"k", &value)?;
        unit.commit()?;
        let mut reader = store.begin(UnitOptions { read_only: true, ..patient() })?;
        let seen = get(&mut reader, set, b"k", Read::Shared)?;
        reader.commit()?;
        if strict {
            ensure_eq!(seen, Some(value.to_vec()), "round {round}");
        }
    }
    Ok(())
}

pub(super) fn a_queued_commit_is_settled_once<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let (notes, sink) = Notes::shared();
    let (store, rounds) = (subject.store().clone(), u64::from(subject.rounds()));
    let threads = u64::from(subject.threads());
    let queue = move |who: u32| -> Checked {
        for round in 0..rounds {
            let token = u64::from(who) * rounds + round;
            let mut unit = store.begin(patient())?;
            unit.put(set, &token.to_be_bytes(), b"v")?;
            unit.commit_queued(&sink, token)?;
        }
        Ok(())
    };
    on_threads(subject.threads(), queue)?;
    let settled = notes.wait((rounds * threads) as usize)?;
    let mut tokens: Vec<u64> = settled.iter().map(|(token, _)| *token).collect();
    tokens.sort_unstable();
    ensure_eq!(tokens, (0..rounds * threads).collect::<Vec<_>>(), "the tokens that were told");
    ensure_eq!(subject.contents(set)?.len() as u64, rounds * threads, "the entries");
    Ok(())
}

pub(super) fn a_queued_commit_gives_its_locks_back<S: Store>(subject: &Subject<S>) -> Checked {
    if !subject.store().capabilities().early_release {
        return NOT_OFFERED;
    }
    let set = subject.set()?;
    let (notes, sink) = Notes::shared();
    for round in 0..subject.rounds() {
        let value = round.to_be_bytes();
        let mut unit = subject.begin_impatient()?;
        unit.put(set, b"k", &value)?;
        unit.commit_queued(&sink, u64::from(round))?;
        // Whether or not that is durable: nobody waits.
        let mut reader = subject.begin_impatient()?;
        let seen = get(&mut reader, set, b"k", Read::Exclusive)?;
        ensure_eq!(seen, Some(value.to_vec()), "round {round}");
    }
    notes.wait(subject.rounds() as usize)?;
    Ok(())
}

pub(super) fn queued_commits_are_settled_in_order<S: Store>(subject: &Subject<S>) -> Checked {
    if !subject.store().capabilities().commit_order {
        return NOT_OFFERED;
    }
    let set = subject.set()?;
    let (notes, sink) = Notes::shared();
    let count = u64::from(subject.rounds()) * 5;
    for token in 0..count {
        let mut unit = subject.begin()?;
        unit.put(set, &token.to_be_bytes(), b"v")?;
        unit.commit_queued(&sink, token)?;
    }
    let settled = notes.wait(count as usize)?;
    let tokens: Vec<u64> = settled.iter().map(|(token, _)| *token).collect();
    ensure_eq!(tokens, (0..count).collect::<Vec<_>>(), "the order in which they were settled");
    let orders: Vec<Option<CommitOrder>> = settled.iter().map(|(_, done)| done.order).collect();
    ensure!(orders.iter().all(Option::is_some), "every commit has a place in the order");
    ensure!(orders.is_sorted_by(|a, b| a < b), "the places ascend: {orders:?}");
    Ok(())
}

pub(super) fn a_reader_is_settled_after_what_it_read<S: Store>(subject: &Subject<S>) -> Checked {
    if !subject.store().capabilities().commit_order {
        return NOT_OFFERED;
    }
    let set = subject.set()?;
    let (notes, sink) = Notes::shared();
    let rounds = u64::from(subject.rounds());
    for round in 0..rounds {
        let mut writer = subject.begin()?;
        writer.put(set, b"k", &round.to_be_bytes())?;
        writer.commit_queued(&sink, 2 * round)?;
        let mut reader = subject.store().begin(UnitOptions { read_only: true, ..patient() })?;
        let seen = get(&mut reader, set, b"k", Read::Shared)?.unwrap_or_default();
        ensure_eq!(number_of(&seen)?, round, "what the reader saw");
        reader.commit_queued(&sink, 2 * round + 1)?;
    }
    let settled = notes.wait(2 * rounds as usize)?;
    let place = |token: u64| settled.iter().position(|(settled, _)| *settled == token);
    for round in 0..rounds {
        let (writer, reader) = (place(2 * round), place(2 * round + 1));
        ensure!(writer < reader, "reader {round} was settled before what it had read");
        let order = |at: Option<usize>| at.and_then(|at| settled[at].1.order);
        let (writer, reader) = (order(writer), order(reader));
        ensure!(writer <= reader, "reader {round} stands at {reader:?}, its writer at {writer:?}");
    }
    Ok(())
}

/// Increments a counter and answers what it became, with the place of the commit.
fn increment<S: Store>(store: &S, set: SetId) -> Found<(u64, Option<CommitOrder>)> {
    loop {
        let mut unit = store.begin(patient())?;
        let value = get(&mut unit, set, b"counter", Read::Exclusive)?.unwrap_or_default();
        let next = number_of(&value)? + 1;
        unit.put(set, b"counter", &next.to_be_bytes())?;
        match unit.commit() {
            Ok(committed) => return Ok((next, committed.order)),
            Err(error) if error.is_retryable() => (),
            Err(error) => return Err(error.into()),
        }
    }
}

pub(super) fn the_order_of_commits_is_that_of_their_changes<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    if !subject.store().capabilities().commit_order {
        return NOT_OFFERED;
    }
    let set = subject.set_of(&[(b"counter", &0_u64.to_be_bytes())])?;
    let (store, rounds) = (subject.store().clone(), subject.rounds());
    let count = move |_| (0..rounds).map(|_| increment(&store, set)).collect();
    let counted: Vec<Vec<_>> = on_threads(subject.threads(), count)?;
    let mut counted: Vec<(u64, Option<CommitOrder>)> = counted.into_iter().flatten().collect();
    counted.sort_unstable();
    ensure!(counted.is_sorted_by(|a, b| a.0 < b.0), "a value was counted twice");
    ensure!(counted.is_sorted_by(|a, b| a.1 < b.1), "places do not follow the values");
    Ok(())
}

pub(super) fn what_is_backed_out_settles_nothing<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let (notes, sink) = Notes::shared();
    let put = |key: &[u8]| -> Found<S::Unit> {
        let mut unit = subject.begin()?;
        unit.put(set, key, b"v")?;
        Ok(unit)
    };
    put(b"a")?.backout()?;
    drop(put(b"b")?);
    put(b"c")?.commit_queued(&sink, 3)?;
    subject.begin()?.commit_queued(&sink, 4)?;
    let settled = notes.wait(2)?;
    let tokens: Vec<u64> = settled.iter().map(|(token, _)| *token).collect();
    ensure_eq!(tokens, [3, 4], "the tokens that were told");
    drop(sink);
    // The thread that told it may not have returned from telling yet.
    for _ in 0..1_000 {
        if Arc::strong_count(&notes) > 1 {
            subject.clock().sleep(Duration::from_millis(1));
        }
    }
    ensure!(Arc::strong_count(&notes) == 1, "the store lets go of a sink it has told");
    ensure_eq!(subject.keys(set)?, "c", "what was committed");
    Ok(())
}

pub(super) fn everything_committed_becomes_durable<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    subject.store().wait_durable()?;
    let notes = Arc::new(Notes::default());
    let sink: Arc<dyn CommitSink> = Arc::clone(&notes) as _;
    for token in 0..20 {
        let mut unit = subject.begin()?;
        unit.put(set, &[token as u8], &vec![b'v'; 1_000])?;
        unit.commit_queued(&sink, token)?;
    }
    subject.store().wait_durable()?;
    notes.wait(20)?;
    ensure_eq!(subject.contents(set)?.len(), 20, "the entries");
    Ok(())
}
