//! Flows: commit modes, sync levels, acknowledgements, timers, client ids.

use holdfast_ims_connect::wire::{Function, f0, f1, f2, f3, f5, ping};
use otma::{Encoding, Manager as _};

use crate::client::{Client, bare, flags, name, pages, queued, request, start, status, text};

#[test]
fn a_ping_is_answered() {
    let (server, _) = start();
    let mut client = Client::connect(server.address());
    let mut ask = request("C1", b"");
    ask.segments = ping(Encoding::Ascii, &pages());
    assert_eq!(text(&client.ask(&ask)), "HWSC0030I *PING RESPONSE*");
    assert_eq!(text(&client.ask(&request("C1", b"ECHO 1"))), "ECHO 1");
}

#[test]
fn mode_1_without_confirmation_is_a_question_and_an_answer() {
    let (server, _) = start();
    let mut client = Client::connect(server.address());
    for number in 0..100 {
        let data = format!("ECHO {number}");
        let reply = client.ask(&request("C1", data.as_bytes()));
        assert_eq!((text(&reply), flags(&reply)), (data, 0x10));
    }
    assert_eq!(text(&client.ask(&request("C1", b"/DISPLAY ACTIVE"))), "/DISPLAY ACTIVE");
    let reply = client.ask(&request("C1", b"NOWHERE 1"));
    assert!(text(&reply).starts_with("DFS064"));
    assert!(text(&client.ask(&request("C1", b"FAIL"))).starts_with("DFS555I"));
    assert!(text(&client.ask(&request("C1", b"NONE"))).starts_with("DFS2082"));
    let counted = server.counters().read();
    assert_eq!((counted.messages_in, counted.messages_out, counted.open), (104, 104, 1));
}

#[test]
fn mode_1_with_confirmation_commits_what_was_acknowledged() {
    let (server, manager) = start();
    let mut client = Client::connect(server.address());
    let mut ask = request("C1", b"ECHO 1");
    ask.irm.f3 = f3::CONFIRM;
    let reply = client.ask(&ask);
    assert_eq!((text(&reply), flags(&reply)), ("ECHO 1".into(), 0x30));
    let mut ack = bare("C1", Function::Ack);
    ack.irm.f2 = f2::MODE_1;
    assert_eq!(status(&client.ask(&ack)), (0x0c, 0x61));
    client.ask(&ask);
    let mut nak = bare("C1", Function::Nak);
    nak.irm.f0 = f0::NAK_REASON;
    nak.irm.nak_reason = 0x1234;
    assert_eq!(status(&client.ask(&nak)), (0x0c, 0x62));
    assert_eq!(manager.received(), ["Ack", "Nak { reason: 4660, retain: false }"]);
}

#[test]
fn each_output_of_mode_1_is_confirmed_by_itself() {
    let (server, manager) = start();
    let mut client = Client::connect(server.address());
    let mut ask = request("C1", b"TWICE 1");
    ask.irm.f3 = f3::CONFIRM;
    let mut ack = bare("C1", Function::Ack);
    ack.irm.f2 = f2::MODE_1;
    for request in [&ask, &ack] {
        let reply = client.ask(request);
        assert_eq!((text(&reply), flags(&reply)), ("TWICE 1".into(), 0x30));
    }
    assert_eq!(status(&client.ask(&ack)), (0x0c, 0x61));
    assert_eq!(manager.received(), ["Ack", "Ack"]);
    // Who goes between them is waited for no more, though it has answered the first.
    client.ask(&ask);
    client.ask(&ack);
    drop(client);
    until(|| manager.received() == ["Ack", "Ack", "Ack", "abandoned"]);
}

#[test]
fn a_client_that_goes_before_it_confirms_is_abandoned() {
    let (server, manager) = start();
    let mut client = Client::connect(server.address());
    let mut ask = request("C1", b"ECHO 1");
    ask.irm.f3 = f3::CONFIRM;
    client.ask(&ask);
    drop(client);
    until(|| manager.received() == ["abandoned"]);
    drop(server);
}

#[test]
fn mode_0_keeps_an_output_until_it_is_acknowledged() {
    let (server, manager) = start();
    let mut client = Client::connect(server.address());
    let reply = client.ask(&queued("C1", b"ECHO 1"));
    assert_eq!((text(&reply), flags(&reply)), ("ECHO 1".into(), 0x30));
    let mut ack = bare("C1", Function::Ack);
    ack.irm.timer = 0x01;
    assert_eq!(status(&client.ask(&ack)), (0x28, 0x01));
    assert_eq!(manager.queued(name("C1")), 0);
    // Nobody waits behind an acknowledgement without a wait.
    client.ask(&queued("C1", b"ECHO 2"));
    ack.irm.timer = 0xe9;
    client.send(&ack);
    assert_eq!(text(&client.ask(&queued("C1", b"ECHO 3"))), "ECHO 3");
    // What a client does not acknowledge before it goes is there when it comes again.
    drop(client);
    until(|| manager.received().last().is_some_and(|last| last == "Kept"));
    let mut client = Client::connect(server.address());
    let mut resume = bare("C1", Function::ResumeTpipe);
    resume.irm.f5 = f5::SINGLE;
    assert_eq!(text(&client.ask(&resume)), "ECHO 3");
    ack.irm.timer = 0x01;
    let mut nak = ack.clone();
    nak.irm.function = Function::Nak;
    assert_eq!(status(&client.ask(&nak)), (0x28, 0x01));
    assert_eq!(text(&client.ask(&resume)), "ECHO 3");
    assert_eq!(status(&client.ask(&ack)), (0x28, 0x01));
    resume.irm.timer = 0x02;
    assert_eq!(status(&client.ask(&resume)), (0x28, 0x02));
}

#[test]
fn what_waits_from_before_is_no_reply() {
    let (server, manager) = start();
    manager.queue("C1", b"OLD");
    let mut client = Client::connect(server.address());
    let reply = client.ask(&queued("C1", b"ECHO 1"));
    assert_eq!((text(&reply), flags(&reply)), ("ECHO 1".into(), 0xb0));
}

#[test]
fn a_resume_gives_what_it_says() {
    let (server, manager) = start();
    for text in [&b"1"[..], b"2", b"3"] {
        manager.queue("OUT", text);
    }
    let mut client = Client::connect(server.address());
    let mut resume = bare("C1", Function::ResumeTpipe);
    resume.irm.reroute = name("OUT");
    resume.irm.f5 = f5::NO_AUTO;
    let mut ack = bare("C1", Function::Ack);
    ack.irm.timer = 0x0a;
    assert_eq!(text(&client.ask(&resume)), "1");
    assert_eq!(text(&client.ask(&ack)), "2");
    assert_eq!(text(&client.ask(&ack)), "3");
    assert_eq!(status(&client.ask(&ack)), (0x28, 0x0a));
    resume.irm.f5 = f5::AUTO;
    resume.irm.timer = 0xff;
    ack.irm.timer = 0xff;
    client.send(&resume);
    for text_ in [&b"4"[..], b"5"] {
        manager.queue("OUT", text_);
        assert_eq!(text(&client.receive()).as_bytes(), text_);
        client.send(&ack);
    }
    let delivered = || manager.received().iter().filter(|word| *word == "Delivered").count();
    until(|| delivered() == 5);
    // Another connection of this client ends the wait.
    let mut other = Client::connect(server.address());
    assert_eq!(status(&other.ask(&bare("C1", Function::CancelTimer))), (0x08, 0x3b));
    assert_eq!(status(&client.receive()), (0x2c, 0x3b));
    resume.irm.f2 = f2::MODE_1;
    assert_eq!(status(&client.ask(&resume)), (0x08, 0x5d));
    assert!(client.ended());
}

#[test]
fn timers_end_a_wait_and_late_outputs_wait_for_a_resume() {
    let (server, manager) = start();
    let mut client = Client::connect(server.address());
    let mut late = queued("C1", b"LATE 1");
    late.irm.timer = 0x02;
    assert_eq!(status(&client.ask(&late)), (0x28, 0x02));
    manager.finish_late();
    let mut resume = bare("C1", Function::ResumeTpipe);
    resume.irm.f5 = f5::SINGLE_WAIT;
    assert_eq!(text(&client.ask(&resume)), "LATE 1");
    drop(client);
    let mut client = Client::connect(server.address());
    let mut late = request("C2", b"LATE 2");
    late.irm.timer = 0x02;
    late.irm.socket = 0;
    assert_eq!(status(&client.ask(&late)), (0x20, 0x02));
    assert!(client.ended());
    assert!(manager.received().contains(&"abandoned".to_owned()));
}

#[test]
fn send_only_inputs_are_taken_and_say_only_what_they_are_asked() {
    let (server, manager) = start();
    let mut client = Client::connect(server.address());
    let mut send = queued("C1", b"ECHO 1");
    send.irm.function = Function::SendOnly;
    for _ in 0..3 {
        client.send(&send);
    }
    send.irm.function = Function::SendOnlyAck;
    assert_eq!(text(&client.ask(&send)), "");
    send.irm.function = Function::SendOnlyError;
    client.send(&send);
    assert_eq!(text(&client.ask(&request("C1", b"ECHO"))), "ECHO");
    assert_eq!(manager.queued(name("C1")), 5);
    let mut bad = queued("C1", b"NOWHERE");
    bad.irm.function = Function::SendOnlyAck;
    assert_eq!(status(&client.ask(&bad)), (0x10, 0x1a));
}

#[test]
fn client_ids_are_given_made_and_defended() {
    let (server, _) = start();
    let mut first = Client::connect(server.address());
    let mut ask = request("", b"ECHO");
    ask.irm.f1 = f1::CLIENT_ID;
    let made = first.ask(&ask).client.expect("an id");
    assert!(made.text().starts_with("HWS"));
    assert_eq!(first.ask(&ask).client, Some(made));
    let mut second = Client::connect(server.address());
    ask.irm.client = made;
    assert_eq!(status(&second.ask(&ask)), (0x08, 0x38));
    assert!(second.ended());
    let mut third = Client::connect(server.address());
    ask.irm.f3 = f3::CANCEL_DUPLICATE;
    assert_eq!(third.ask(&ask).client, Some(made));
    assert!(first.ended());
}

#[test]
fn ebcdic_clients_and_ascii_clients_get_their_own_words() {
    let (server, _) = start();
    let mut client = Client::connect(server.address());
    client.encoding = Encoding::Ebcdic;
    let mut data = b"ECHO 1".to_vec();
    pages().translate(&mut data, Encoding::Ascii, Encoding::Ebcdic);
    let reply = client.ask(&request("C1", &data));
    assert_eq!(reply.data.data().next(), Some(&data[..]));
    let mut data = b"NOWHERE".to_vec();
    pages().translate(&mut data, Encoding::Ascii, Encoding::Ebcdic);
    let reply = client.ask(&request("C1", &data));
    assert!(reply.data.data().next().is_some_and(|data| data.starts_with(b"\xc4\xc6\xe2\xf0")));
}

#[test]
fn a_conversation_goes_on_and_is_ended() {
    let (server, _) = start();
    let mut client = Client::connect(server.address());
    let mut ask = request("C1", b"TALK");
    ask.irm.socket = 0;
    assert_eq!(flags(&client.ask(&ask)), 0x50);
    assert_eq!(flags(&client.ask(&ask)), 0x50);
    let mut leave = ask.clone();
    leave.irm.function = Function::Deallocate;
    leave.segments.clear();
    assert_eq!(status(&client.ask(&leave)), (0x0c, 0x61));
    assert!(client.ended());
}

#[test]
fn what_does_not_fit_is_refused_with_its_reason() {
    let (server, _) = start();
    let ask = |change: &dyn Fn(&mut holdfast_ims_connect::wire::Request)| {
        let mut client = Client::connect(server.address());
        let mut request = request("C1", b"ECHO");
        change(&mut request);
        let status = status(&client.ask(&request));
        assert!(client.ended());
        status
    };
    assert_eq!(ask(&|ask| ask.irm.data_store = name("OTHER")), (0x08, 0x48));
    assert_eq!(ask(&|ask| ask.irm.data_store = name("STOPPED")), (0x08, 0x4a));
    assert_eq!(ask(&|ask| ask.segments.clear()), (0x04, 0x0c));
    assert_eq!(ask(&|ask| ask.irm.function = Function::Ack), (0x08, 0x3a));
    assert_eq!(ask(&|ask| ask.irm.f3 = f3::SYNC_POINT), (0x08, 0x50));
}

/// Waits until something is so.
pub(crate) fn until(is: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if is() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it does not come");
}
