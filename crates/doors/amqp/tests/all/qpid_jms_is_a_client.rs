//! Qpid JMS.

use queue_manager::MessageDescriptor;
use queue_manager::objects::Kind;
use queue_manager::options::value::put;
use queue_manager::options::{ConnectOptions, ObjectDescriptor, PutOptions};

use crate::door::{Client, Door};

fn run(scenario: &str, depths: &[(&str, u64)]) {
    Door::new().run(Client::Jms, scenario, depths);
}

#[test]
fn messages_of_every_kind_come_back_with_all_that_they_say() {
    run("kinds", &[("APP.Q", 0)]);
}

#[test]
fn what_is_not_acknowledged_comes_again() {
    run("acknowledge", &[("APP.Q", 0)]);
}

#[test]
fn what_fails_too_often_is_a_dead_letter() {
    run("poison", &[("APP.Q", 0), ("DEAD.Q", 1)]);
}

#[test]
fn what_was_fetched_ahead_goes_back_with_its_consumer() {
    run("ahead", &[("APP.Q", 0)]);
}

#[test]
fn a_session_is_committed_or_rolled_back_as_a_whole() {
    run("transacted", &[("APP.Q", 0), ("MOVED.Q", 0)]);
}

#[test]
fn rivals_in_transactions_move_each_message_once() {
    run("rivals", &[("APP.Q", 0), ("MOVED.Q", 200)]);
}

#[test]
fn selectors_choose_and_browsers_take_nothing() {
    run("selectors", &[("APP.Q", 2)]);
}

// They were shown in capitals and compared in small letters: a selector never matched.
#[test]
fn a_message_is_selected_by_the_identifiers_that_it_shows() {
    let door = Door::new();
    let mut connection = door.manager.connect(ConnectOptions::default()).unwrap();
    for byte in 0..4 {
        let correl_id = [0xa0 + byte; 24];
        let mut md = MessageDescriptor { correl_id, ..MessageDescriptor::default() };
        let mut what = ObjectDescriptor::queue("APP.Q");
        let mut options = PutOptions::new(put::NO_SYNCPOINT);
        connection.put1(&mut what, &mut md, &mut options, b"x").unwrap();
    }
    door.run(Client::Jms, "identifiers", &[("APP.Q", 0)]);
}

// The put or settlement that was one too many took those before it back.
#[test]
fn what_is_pipelined_is_done_in_units_of_work_as_large_as_they_may_be() {
    let door = Door::new();
    door.manager.alter(Kind::QueueManager, "QM1", &[("MAXUMSGS", 3.into())]).unwrap();
    door.run(Client::Jms, "pipelined", &[("APP.Q", 0)]);
}

#[test]
fn requests_are_answered_on_temporary_queues_and_topics() {
    run("requests", &[("APP.Q", 0)]);
}

#[test]
fn subscribers_get_what_is_published() {
    let door = Door::new();
    door.run(Client::Jms, "topics", &[]);
    assert_eq!(door.manager.subscriptions("AMQP/*").len(), 0);
}

#[test]
fn a_durable_subscription_waits_for_its_client() {
    let door = Door::new();
    door.run(Client::Jms, "away", &[]);
    assert_eq!(door.manager.subscriptions("AMQP/*").len(), 0);
}

#[test]
fn those_who_share_a_subscription_share_its_messages() {
    let door = Door::new();
    door.run(Client::Jms, "shared", &[]);
    assert_eq!(door.manager.subscriptions("AMQP/*").len(), 0);
}

#[test]
fn ten_megabytes_come_back_as_they_were() {
    run("large", &[("APP.Q", 0)]);
}

#[test]
fn what_is_urgent_comes_first_and_what_is_late_never() {
    run("order", &[("APP.Q", 0)]);
}

#[test]
fn a_door_that_closes_under_load_keeps_what_it_acknowledged() {
    let door = Door::new();
    let answer = std::thread::scope(|scope| {
        let client = scope.spawn(|| door.answer(Client::Jms, "load"));
        while door.depth("APP.Q") < 50 && !client.is_finished() {
            seam::thread::yield_now();
        }
        door.server.close();
        client.join().expect("the client says what it saw")
    });
    let Some(answer) = answer else { return };
    let sent: u64 = answer.trim_start_matches("sent ").parse().expect("a number");
    // The last one may be there without its answer.
    assert!((sent..=sent + 1).contains(&door.depth("APP.Q")), "{sent}, {}", door.depth("APP.Q"));
}
