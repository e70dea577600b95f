//! Conversations: the instance that comes back with a reply is how the next message goes on.

use control::ProgramMessages;
use ims_bridge::iih::Iih;
use region::Abend;
use schedule::messages::{Messages as _, TerminalPcb};
use store::Store;
use store_suite::model::ModelStore;

use crate::common::*;

/// Counts its turns in the scratch pad area, and ends with the third.
fn talk<S: Store>(
    program: &mut ProgramMessages<S>,
    _unit: &mut S::Unit,
    _text: &str,
) -> Result<(), Abend> {
    let mut spa = program.first_segment().map(|one| one.bytes.to_vec()).unwrap();
    let printed = program.next_segment().map(|one| one.bytes[4..].to_vec()).unwrap();
    spa[14] += 1;
    let turn = spa[14];
    if turn == 3 {
        spa[6..14].fill(b' ');
    }
    assert_eq!(program.insert(TerminalPcb::Io, &spa, None), *b"  ");
    reply(program, &format!("TURN {turn} {}", String::from_utf8_lossy(&printed)));
    Ok(())
}

fn say<S: Store>(world: &World<S>, header: &Iih, text: &str) -> (Iih, Vec<u8>) {
    let (md, data) = with_header(header, &segment(text));
    world.send(md, &data);
    let (_, data) = world.receive(REPLIES);
    let (header, rest) = header_of(&data);
    (header, rest.to_vec())
}

#[test]
fn a_conversation_goes_on_by_its_instance_over_turns_and_restarts() {
    let store = ModelStore::new();
    let world = World::new(&store, &["TALK CONV Y SPASZ 30"]).with_programs(talk).bridged();
    let (first, text) = say(&world, &Iih::default(), "TALK A");
    assert_eq!(text, segment("TURN 1 TALK A"));
    assert!(first.in_conversation && first.instance != [0; 16]);
    // Another one beside it is a conversation of its own.
    let (other, text) = say(&world, &Iih::default(), "TALK B");
    assert_eq!(text, segment("TURN 1 TALK B"));
    assert_ne!(first.instance, other.instance);
    let (second, text) = say(&world, &first, "C");
    assert_eq!((text, second.instance), (segment("TURN 2 C"), first.instance));
    world.end();
    let world = World::on(&store.crash()).with_programs(talk).bridged();
    let (last, text) = say(&world, &first, "D");
    assert_eq!(text, segment("TURN 3 D"));
    assert!(!last.in_conversation);
    let (_, text) = say(&world, &other, "E");
    assert_eq!(text, segment("TURN 2 E"));
    // It is over: who goes on with it is refused.
    let (md, data) = with_header(&first, &segment("F"));
    world.send(md, &data);
    let (_, letter) = world.receive(DEAD);
    assert_eq!(letter[8..12], 300_i32.to_le_bytes());
    world.end();
}

#[test]
fn a_conversation_is_ended_by_its_client() {
    let world = World::new(&ModelStore::new(), &["TALK CONV Y SPASZ 30"]);
    let world = world.with_programs(talk).bridged();
    let (first, _) = say(&world, &Iih::default(), "TALK A");
    assert_eq!(world.control.statistics().conversations, 1);
    let (last, text) = say(&world, &first, "/EXIT");
    assert!(String::from_utf8_lossy(&text).contains("EXIT COMMAND COMPLETED"), "{text:?}");
    assert!(!last.in_conversation);
    assert_eq!(world.control.statistics().conversations, 0);
    world.end();
}
