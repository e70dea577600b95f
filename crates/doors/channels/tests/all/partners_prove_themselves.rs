//! TLS between the ends, certificates on both sides, and records that say who may come in.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use channels::Tls;
use channels::frame::{Frame, HEADER_BYTES, Header, Role, Terms, VERSION};
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{get, open};
use queue_manager::options::{ConnectOptions, GetOptions, ObjectDescriptor};
use queue_manager::{MessageDescriptor, Options, QueueManager, Users};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use store_suite::model::ModelStore;

use crate::common::{System, fresh, loopback, serve, start};

const ROOT: &[u8] = include_bytes!("../certificates/ca.pem");
const ONE: (&[u8], &[u8]) =
    (include_bytes!("../certificates/qm1.pem"), include_bytes!("../certificates/qm1.key"));
const TWO: (&[u8], &[u8]) =
    (include_bytes!("../certificates/qm2.pem"), include_bytes!("../certificates/qm2.key"));

fn secured(name: &str, (certificate, key): (&[u8], &[u8])) -> System<ModelStore> {
    let tls = Tls { certificates: certificate.to_vec(), key: key.to_vec(), roots: ROOT.to_vec() };
    start(&ModelStore::new(), name, Some(tls))
}

fn two_systems(
    sender: &[(&str, &str)],
    receiver: &[(&str, &str)],
) -> (System<ModelStore>, System<ModelStore>) {
    let (one, two) = (secured("QM1", ONE), secured("QM2", TWO));
    let mut more = vec![("SSLCIPH", "ANY_TLS13_OR_HIGHER")];
    more.extend_from_slice(sender);
    one.leads_to("QM2", two.address(), &more);
    two.receives("TO.QM2", receiver);
    two.define(Kind::QueueLocal, "IN", &[]);
    (one, two)
}

#[test]
fn messages_travel_over_tls_between_ends_that_know_each_other() {
    let receiver = [("SSLCIPH", "ANY_TLS13_OR_HIGHER"), ("SSLPEER", "CN=qm1.*,O=Ours")];
    let (one, two) = two_systems(&[("SSLPEER", "CN=qm2.example")], &receiver);
    one.send(("IN", "QM2"), "sealed");
    assert_eq!(two.next("IN"), "sealed");
    let status = two.status("TO.QM2").expect("it runs");
    assert!(status.cipher.starts_with("TLS13_"), "{}", status.cipher);
    one.until("TO.QM2", |status| status.is_some_and(|one| one.cipher.starts_with("TLS13_")));
}

#[test]
fn a_certificate_of_somebody_else_is_not_believed() {
    let (one, two) = two_systems(&[("SSLPEER", "CN=other.example")], &[]);
    one.send(("IN", "QM2"), "held");
    one.until("TO.QM2", |status| status.is_some_and(|one| one.trouble.contains("SSLPEER")));
    assert_eq!(two.depth("IN"), 0);
    let (one, two) = two_systems(&[], &[("SSLCIPH", "ANY"), ("SSLPEER", "CN=other.example")]);
    one.send(("IN", "QM2"), "held");
    one.until("TO.QM2", |status| status.is_some_and(|one| one.trouble.contains("SSLPEER")));
    assert_eq!((two.depth("IN"), one.depth("QM2")), (0, 1));
}

#[test]
fn a_channel_for_tls_lets_nobody_in_without() {
    let two = secured("QM2", TWO);
    let one = fresh("QM1");
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[("SSLCIPH", "ANY_TLS13_OR_HIGHER")]);
    let refused = one.manager.channels().initiator().expect("it runs").ping("TO.QM2", 64);
    assert!(refused.unwrap_err().to_string().contains("over TLS only"));
}

#[test]
fn records_say_who_comes_in_and_as_whom() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    let values = |user_source: &str| {
        [
            ("CHLAUTH", Value::from("TO.*")),
            ("TYPE", Value::from("QMGRMAP")),
            ("QMNAME", Value::from("QM1")),
            ("USERSRC", Value::from(user_source)),
            ("MCAUSER", Value::from("partner")),
        ]
    };
    let kind = Kind::ChannelAuthority;
    two.manager.define(kind, "R1", &values("NOACCESS"), false, None).expect("it is defined");
    one.send(("IN", "QM2"), "let me in");
    one.until("TO.QM2", |status| {
        status.is_some_and(|one| one.trouble.contains("do not let it in"))
    });
    assert_eq!(two.depth("IN"), 0);
    assert!(two.server.take_notices().iter().any(|text| text.contains("QM1 is not let in")));
    two.manager.delete(kind, "R1", false).expect("it goes");
    two.manager.define(kind, "R1", &values("MAP"), false, None).expect("it is defined");
    assert_eq!(two.next("IN"), "let me in");
    assert_eq!(two.status("TO.QM2").expect("it runs").user, "partner");
}

/// What a system says to a partner that comes over TLS without a certificate.
fn told_without_certificate(system: &System<ModelStore>, channel: &str) -> Frame {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ROOT).expect("a certificate")).expect("a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::from(system.address().ip());
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let socket = TcpStream::connect(system.address()).expect("it connects");
    let mut stream = StreamOwned::new(connection, socket);
    ask(&mut stream, &hello(channel))
}

/// QM1 wants to send.
fn hello(channel: &str) -> Frame {
    let terms = Terms {
        batch_size: 5,
        heartbeat_s: 300,
        length_max: 1 << 20,
        sequence_max: 999_999_999,
        fast: true,
    };
    let (channel, manager) = (channel.to_owned(), "QM1".to_owned());
    Frame::Hello { version: VERSION, role: Role::Sends, terms, channel, manager }
}

/// What is answered to a frame.
fn ask(stream: &mut (impl Read + Write), frame: &Frame) -> Frame {
    let mut bytes = Vec::new();
    frame.write(&mut bytes);
    stream.write_all(&bytes).expect("it is sent");
    let mut head = [0; HEADER_BYTES];
    stream.read_exact(&mut head).expect("an answer");
    let header = Header::read(&head).expect("a frame");
    let mut body = vec![0; header.length];
    stream.read_exact(&mut body).expect("all of it");
    Frame::read(header.kind, &body).expect("a frame")
}

#[test]
fn nobody_comes_in_over_tls_without_a_certificate_unless_the_channel_lets_him() {
    let two = secured("QM2", TWO);
    two.receives("TO.QM2", &[]);
    let answer = told_without_certificate(&two, "TO.QM2");
    assert!(matches!(&answer, Frame::Refused { text, .. } if text.contains("a certificate only")));
    two.receives("OPEN", &[("SSLCIPH", "ANY"), ("SSLCAUTH", "OPTIONAL")]);
    assert!(matches!(told_without_certificate(&two, "OPEN"), Frame::Welcome { .. }));
}

#[test]
fn nobody_comes_in_by_a_channel_that_is_a_pattern_of_others() {
    let two = fresh("QM2");
    let one = fresh("QM1");
    let connection = format!("{}({})", two.address().ip(), two.address().port());
    let values = [("CHLTYPE", "SDR"), ("XMITQ", "QM2"), ("CONNAME", &*connection)];
    one.define(Kind::QueueLocal, "QM2", &[("USAGE", "XMITQ")]);
    one.define(Kind::Channel, "SYSTEM.DEF.RECEIVER", &values);
    let initiator = one.manager.channels().initiator().expect("it runs");
    assert!(initiator.ping("SYSTEM.DEF.RECEIVER", 64).is_err());
    let notices = two.server.take_notices();
    assert!(notices.iter().any(|text| text.contains("pattern of others")), "{notices:?}");
}

/// Users of whom one administers.
struct People;

impl Users for People {
    fn is_administrator(&self, user: &str) -> bool {
        user == "holdfast" || user == "root"
    }

    fn groups(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn a_partner_sends_commands_only_by_a_channel_of_an_administrator() {
    let pair = |receiver: &[(&str, &str)]| {
        let options = Options { users: Some(Arc::new(People)), ..Options::new("QM2") };
        let manager = QueueManager::open(&ModelStore::new(), options).expect("it opens");
        let (one, two) = (fresh("QM1"), serve(manager, None, loopback()));
        one.leads_to("QM2", two.address(), &[]);
        two.receives("TO.QM2", receiver);
        two.define(Kind::QueueLocal, "IN", &[]);
        (one, two)
    };
    let (one, two) = pair(&[]);
    one.send(("SYSTEM.ADMIN.COMMAND.QUEUE", "QM2"), "a command");
    one.send(("IN", "QM2"), "a message");
    assert_eq!(two.next("IN"), "a message");
    assert_eq!(two.depth("SYSTEM.ADMIN.COMMAND.QUEUE"), 0);
    let mut client = two.manager.connect(ConnectOptions::default()).expect("it connects");
    let mut what = ObjectDescriptor::queue("SYSTEM.DEAD.LETTER.QUEUE");
    let (dead, _) = client.open(&mut what, open::INPUT_SHARED).expect("it opens");
    let (mut md, mut data) = (MessageDescriptor::default(), Vec::new());
    let mut options = GetOptions::new(get::NO_SYNCPOINT);
    client.get(dead, &mut md, &mut options, 1 << 20, &mut data).expect("a dead letter");
    // A program that puts it again does not make it a user's command.
    assert!(md.user_identifier.starts_with(b"@channel"), "{:?}", md.user_identifier);
    assert!(!two.manager.may_administer("@channel"));
    two.until("TO.QM2", |status| status.is_some_and(|one| one.user == "@channel"));

    let (one, two) = pair(&[("MCAUSER", "root")]);
    one.send(("SYSTEM.ADMIN.COMMAND.QUEUE", "QM2"), "a command");
    assert_eq!(two.next("SYSTEM.ADMIN.COMMAND.QUEUE"), "a command");
}

#[test]
fn nobody_takes_the_place_of_a_queue_manager_with_another_certificate() {
    let (one, two) = two_systems(&[], &[("SSLCIPH", "ANY"), ("SSLPEER", "O=Ours")]);
    one.send(("IN", "QM2"), "of the first");
    assert_eq!(two.next("IN"), "of the first");
    let other = secured("QM1", TWO);
    other.leads_to("QM2", two.address(), &[("SSLCIPH", "ANY")]);
    other.send(("IN", "QM2"), "of another");
    other.until("TO.QM2", |status| {
        status.is_some_and(|one| one.trouble.contains("another certificate"))
    });
    assert!(two.server.take_notices().iter().any(|text| text.contains("RESET CHANNEL")));
    one.send(("IN", "QM2"), "of the first again");
    assert_eq!(two.next("IN"), "of the first again");
    assert_eq!(two.depth("IN"), 0);
}

#[test]
fn a_sender_has_its_numbers_taken_over_when_it_has_just_come_only() {
    let two = fresh("QM2");
    two.receives("TO.QM2", &[]);
    let mut stream = TcpStream::connect(two.address()).expect("it connects");
    assert!(matches!(ask(&mut stream, &hello("TO.QM2")), Frame::Welcome { sequence: 0, .. }));
    assert_eq!(ask(&mut stream, &Frame::TakeOver { last: 1, sequence: 7 }), Frame::Taken);
    assert!(two.server.take_notices().iter().any(|text| text.contains("message 7 counts")));
    let again = ask(&mut stream, &Frame::TakeOver { last: 1, sequence: 3 });
    assert!(matches!(again, Frame::Refused { .. }), "{again:?}");
    let mut stream = TcpStream::connect(two.address()).expect("it connects");
    assert!(matches!(ask(&mut stream, &hello("TO.QM2")), Frame::Welcome { sequence: 7, .. }));
}

/// A connection from another address of this machine.
fn from_elsewhere(to: SocketAddr) -> TcpStream {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let own = SocketAddr::from(([127, 0, 0, 2], 0));
    let made = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&made, &own).expect("an address of this machine");
    connect(&made, &to).expect("it connects");
    made.into()
}

#[test]
fn who_says_nothing_keeps_out_neither_partners_nor_other_addresses() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    let silent: Vec<_> = (0..50).map(|_| from_elsewhere(two.address())).collect();
    let mut more = from_elsewhere(two.address());
    assert!(matches!(more.read(&mut [0]), Ok(0) | Err(_)), "one address has enough places");
    one.send(("IN", "QM2"), "meanwhile");
    assert_eq!(two.next("IN"), "meanwhile");
    drop(silent);
    // Their places are free again, as soon as it is seen that they have gone.
    let served = (0..1_000).any(|_| {
        let mut stream = from_elsewhere(two.address());
        let mut bytes = Vec::new();
        hello("TO.QM2").write(&mut bytes);
        let sent = stream.write_all(&bytes).is_ok();
        sent && matches!(stream.read(&mut [0]), Ok(1..))
    });
    assert!(served);
}
