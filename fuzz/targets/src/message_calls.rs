//! Calls of the message queue interface: structures from a program's memory, frames from a socket.

use mqi::structures::{Cno, Gmo, Md, Od, Pmo, Sd};
use mqi::table::Structure;
use mqi::wire::frame::{Incoming, send};
use mqi::wire::{Connecting, Entry, Request};
use queue_manager::ObjectName;
use queue_manager::branch::{BranchCall, BranchId};

/// What is read of a structure is written again as it was; what is read of a frame is a call that
/// has the same fields again.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    structure::<Md>(bytes);
    structure::<Od>(bytes);
    structure::<Pmo>(bytes);
    structure::<Gmo>(bytes);
    structure::<Cno>(bytes);
    structure::<Sd>(bytes);
    if let Some((kind, fields)) = bytes.split_first() {
        call(*kind, fields);
    }
    let mut incoming = Incoming::new(bytes);
    while let Ok(Some((header, fields))) = incoming.begin() {
        let mut data = Vec::new();
        if incoming.append(header.data, &mut data).is_err() {
            break;
        }
        call(header.kind, &fields);
    }
}

fn structure<T: Structure + std::fmt::Debug>(bytes: &[u8]) {
    let Ok(read) = T::read(bytes) else { return };
    let len = T::stated_len(bytes).expect("it was read");
    let mut again = bytes[..len].to_vec();
    read.put_all(&mut again);
    assert!(again == bytes[..len], "what was read is written as it was");
    // What differs from a new one travels, apart from what only its own process understands.
    let mut changes = Vec::new();
    read.changes(&T::initial(), &mut changes);
    let mut arrived = T::initial();
    assert_eq!(arrived.change(&changes), Some(changes.len()));
    let mut twice = Vec::new();
    arrived.changes(&T::initial(), &mut twice);
    assert!(twice == changes, "what travels once travels again");
}

fn call(kind: u8, fields: &[u8]) {
    if let Some(request) = Request::read(kind, fields) {
        let again = Request::read(request.kind(), &request.fields()).expect("it was a call");
        assert_eq!(again.fields(), request.fields());
    }
}

/// Structures, and frames of calls.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![
        Md { version: 2, ..Md::initial() }.bytes(),
        Od { version: 4, ..Od::initial() }.bytes(),
        Pmo { version: 3, ..Pmo::initial() }.bytes(),
        Gmo { version: 4, ..Gmo::initial() }.bytes(),
        Cno { version: 8, ..Cno::initial() }.bytes(),
        Sd::initial().bytes(),
    ];
    let mut frames = Vec::new();
    let branch = BranchId::new(7, b"transaction", b"branch").expect("an identifier");
    let entry = Entry { channel: "TO.QM1".into(), process: 1 };
    let connecting = Connecting::new(ObjectName::from("QM1"), [b' '; 28]);
    let calls = [
        Request::Enter(entry, connecting),
        Request::Branch(BranchCall::Recover),
        Request::Branch(BranchCall::Commit { branch, one_phase: true }),
        Request::Commit,
        Request::Close { handle: 1, options: 0 },
        Request::Inquire { handle: 1, selectors: vec![3, 2016] },
        Request::DeleteProperty { handle: 1, name: "colour".into() },
    ];
    for call in calls {
        seeds.push([vec![call.kind()], call.fields()].concat());
        send(&mut frames, call.kind(), &call.fields(), b"data").expect("memory takes it");
    }
    seeds.push(frames);
    seeds
}
