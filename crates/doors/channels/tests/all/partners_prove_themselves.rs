//! TLS between the ends, certificates on both sides, and records that say who may come in.

use channels::tls::Tls;
use queue_manager::objects::{Kind, Value};
use store_suite::model::ModelStore;

use crate::common::{System, fresh, start};

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
