//! Owners at ports: users, TLS, and clients that keep others waiting.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use file_handler::FileStatus;
use file_handler::fcd::{Access, OpenMode};
use owner::tls::Acceptor;
use owner::{Limits, Options, Server};
use seam::clock::Clock;
use store_suite::model::ModelStore;

use crate::ground::{Owner, Program, certificate, folder};

const NAME: &str = "#VSAM.#CICS.BANK/ACCOUNT";

fn secured() -> Acceptor {
    let read = |name: &str| std::fs::read(certificate(name)).unwrap();
    let tls = tls::Tls {
        certificates: read("server.pem"),
        key: read("server.key"),
        client_roots: None,
        client_required: false,
    };
    Acceptor::new(&tls).unwrap()
}

/// An owner at a port, and where that is.
fn at_a_port(tls: Option<Acceptor>) -> (Owner<ModelStore>, String) {
    let addresses = vec!["127.0.0.1:0".parse().unwrap()];
    let owner = Owner::over(ModelStore::new(), Options { addresses, tls, ..Options::default() });
    owner.program().load(500);
    let port = owner.server.as_ref().unwrap().addresses()[0].port();
    (owner, format!("127.0.0.1:{port}"))
}

/// What a user's OPEN comes to, and how many records there are then.
fn opened(variables: &[(&str, &str)]) -> Result<usize, FileStatus> {
    let mut program = Program::with(variables);
    let mut file = program.opens(NAME, OpenMode::Input, Access::Sequential)?;
    let mut count = 0;
    while file.next().is_ok() {
        count += 1;
    }
    Ok(count)
}

#[test]
fn users_prove_who_they_are_at_a_port() {
    let (_owner, address) = at_a_port(None);
    let place = format!("tcp://{address}");
    let folder = folder("passwords");
    std::fs::create_dir_all(&folder).unwrap();
    let password = |text: &str| {
        let path = folder.join(text);
        std::fs::write(&path, format!("{text}\nmore\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (password("secret"), password("wrong"));
    let with = |user: &str, password: &str| {
        opened(&[
            ("HOLDFAST_OWNER_BANK", &place),
            ("HOLDFAST_OWNER_USER", user),
            ("HOLDFAST_OWNER_PASSWORD_FILE", password),
        ])
    };
    assert_eq!(with("ANNA", &right), Ok(500));
    assert_eq!(with("ANNA", &wrong), Err(FileStatus::RESOURCE));
    assert_eq!(with("BERT", &right), Err(FileStatus::RESOURCE));
    assert_eq!(opened(&[("HOLDFAST_OWNER_BANK", &place)]), Err(FileStatus::RESOURCE));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn other_machines_come_by_tls_alone() {
    let (_owner, address) = at_a_port(Some(secured()));
    let (_, port) = address.split_once(':').unwrap();
    let place = format!("tls://localhost:{port}");
    let folder = folder("password");
    std::fs::create_dir_all(&folder).unwrap();
    let password = folder.join("password");
    std::fs::write(&password, "secret").unwrap();
    let roots = certificate("ca.pem");
    let with = |place: &str, roots: &str| {
        opened(&[
            ("HOLDFAST_OWNER_BANK", place),
            ("HOLDFAST_OWNER_USER", "ANNA"),
            ("HOLDFAST_OWNER_PASSWORD_FILE", password.to_str().unwrap()),
            ("HOLDFAST_OWNER_ROOTS", roots),
        ])
    };
    assert_eq!(with(&place, roots.to_str().unwrap()), Ok(500));
    let client = certificate("client.pem");
    assert_eq!(with(&place, client.to_str().unwrap()), Err(FileStatus::RESOURCE), "another root");
    assert_eq!(with(&place, ""), Err(FileStatus::RESOURCE), "no root");
    let clear = format!("tcp://{address}");
    assert_eq!(with(&clear, ""), Err(FileStatus::RESOURCE), "in the clear");
    assert_eq!(with("tcp://192.0.2.1:1", ""), Err(FileStatus::RESOURCE), "another machine");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_address_that_others_reach_needs_tls() {
    let owner = Owner::over(ModelStore::new(), Options::default());
    let catalog = owner.catalog.clone();
    let service = owner::Service {
        files: Arc::new(owner::Files {
            applid: owner::Applid::parse("BANK").unwrap(),
            names: std::collections::BTreeMap::new(),
        }),
        catalog: Box::new(move || Some(catalog.clone())),
        admission: Box::new(crate::ground::Users),
        clock: owner.clock.clone(),
    };
    let options = Options {
        socket: owner.folder.join("other.sock"),
        addresses: vec!["0.0.0.0:0".parse().unwrap()],
        ..Options::default()
    };
    let refused = Server::start(options, service).err().unwrap().to_string();
    assert!(refused.contains("TLS"), "{refused}");
}

/// A clock that a test moves.
#[derive(Default)]
struct Moved(AtomicU64);

impl Clock for Moved {
    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    fn utc_us(&self) -> u64 {
        0
    }

    fn sleep(&self, _: Duration) {}
}

#[test]
fn who_sends_a_byte_now_and_then_is_gone_after_the_time_of_the_whole_greeting() {
    // Fronts of a greeting, and of a first record of TLS; each promises much more.
    let greetings = [(None, &[0, 15, 0, 0][..]), (Some(secured()), &[22, 3, 1, 2, 0, 1, 0, 1][..])];
    for (tls, front) in greetings {
        let clock = Arc::new(Moved::default());
        let addresses = vec!["127.0.0.1:0".parse().unwrap()];
        let options = Options { addresses, tls, ..Options::default() };
        let owner = Owner::with_clock(ModelStore::new(), options, clock.clone());
        let address = owner.server.as_ref().unwrap().addresses()[0];
        let mut client = TcpStream::connect(address).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        client.write_all(front).unwrap();
        // Each byte comes soon enough for a wait of its own, which starts again with it.
        let is_gone = (0..400).any(|_| {
            clock.0.fetch_add(6, Ordering::SeqCst);
            let sent = client.write_all(&[0]);
            let received = client.read(&mut [0; 64]).map_err(|error| error.kind());
            let waits = matches!(received, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut));
            sent.is_err() || !waits
        });
        assert!(is_gone, "it is still listened to");
    }
}

#[test]
fn programs_of_this_machine_come_in_though_all_places_of_ports_are_taken() {
    for limits in
        [Limits { remote: 2, ..Limits::default() }, Limits { ungreeted: 2, ..Limits::default() }]
    {
        let addresses = vec!["127.0.0.1:0".parse().unwrap()];
        let options = Options { addresses, limits, ..Options::default() };
        let owner = Owner::over(ModelStore::new(), options);
        let address = owner.server.as_ref().unwrap().addresses()[0];
        let mut silent: Vec<TcpStream> =
            (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        // They come in one after the other: once the last one was sent away, the places are taken.
        let gone = silent[2].read(&mut [0; 1]);
        assert!(!gone.is_ok_and(|bytes| bytes > 0));
        owner.program().load(10);
    }
}
