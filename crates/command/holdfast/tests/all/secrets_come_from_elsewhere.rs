//! `holdfast pgp` with keys that a token keeps, and with passphrases that an agent asks for. The
//! token is SoftHSM's.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::common::in_time::RunInTime as _;
use crate::common::place::{Place, put};
use crate::softhsm::{PIN, SoftHsm};

#[test]
fn a_token_signs_and_opens_and_says_what_is_wrong() {
    let place = Place::new("token");
    let Some(token) = SoftHsm::new(&place.path("")) else { return };
    put(&place.path("pin"), PIN.as_bytes());
    put(&place.path("wrong"), b"0000-user");
    put(&place.path("pay"), b"pay of May");
    let module = format!("--token-module={}", token.module.display());
    let with = ["--pin-file=pin", &module];
    let run = |words: &[&str]| place.works(&[words, &with[..]].concat());
    run(&["generate", "--token", "BANK", "--alias", "me", "Ada <ada@example.org>"]);
    let listed = place.works(&["list"]);
    assert!(listed.contains("in token BANK") && listed.contains("alias me"), "{listed}");
    // Encrypting needs no token; signing and opening do.
    run(&["encrypt", "-r", "me", "--sign-with", "me", "pay"]);
    place.works(&["encrypt", "-r", "me", "-o", "mute.pgp", "pay"]);
    let reported = run(&["decrypt", "--signed-by", "me", "-o", "out", "pay.pgp"]);
    assert!(reported.contains("good signature"), "{reported}");
    assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");
    run(&["-d", "-o", "again", "mute.pgp"]);
    run(&["sign", "--cleartext", "--with", "me", "-o", "text.asc", "pay"]);
    place.works(&["verify", "--cleartext", "text.asc"]);
    // What is wrong is told, and nothing is left behind.
    let before = place.names();
    let decrypt = ["decrypt", "-o", "never", "pay.pgp"];
    place.fails(&[&decrypt[..], &["--pin-file", "wrong", &module]].concat(), 4);
    place.fails(&[&decrypt[..], &["--pin-file", "pin"]].concat(), 4);
    place.fails(&[&decrypt[..], &["--pin-file", "pin", "--token-module=/dev/null"]].concat(), 4);
    place.fails(&["sign", "--with", "me", "-o", "never", "--pin-file", "wrong", &module, "pay"], 4);
    let again = ["generate", "--token", "BANK", "--alias", "me", "Ada", "--pin-file", "pin"];
    place.fails(&[&again[..], &[&module]].concat(), 4);
    place.fails(&["revoke", "me", "--yes"], 4);
    place.fails(&["export", "me", "--secret"], 1);
    assert_eq!(place.names(), before);
    // It speaks for itself, and for others.
    run(&["generate", "--alias", "you", "--no-passphrase", "Bob <bob@example.org>"]);
    run(&["certify", "--with", "me", "you", "Bob <bob@example.org>"]);
    run(&["expire", "me", "--days", "30"]);
    assert!(place.works(&["list", "me"]).contains("expires"));
    place.works(&["encrypt", "-r", "me", "-o", "later.pgp", "pay"]);
    run(&["revoke", "me", "--yes"]);
    place.fails(&["encrypt", "-r", "me", "-o", "never", "pay"], 1);
}

/// Answers as an agent does, for so many talks; gives all it was asked.
fn agent(listener: &UnixListener, answers: &[&str]) -> Vec<String> {
    let mut received = Vec::new();
    for answer in answers {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"OK Pleased to meet you\n").unwrap();
        for line in BufReader::new(stream.try_clone().unwrap()).lines() {
            let line = line.unwrap();
            let printed = if line.starts_with("GET_PASSPHRASE") { answer } else { "OK\n" };
            stream.write_all(printed.as_bytes()).unwrap();
            received.push(line);
        }
    }
    received
}

#[test]
fn an_agent_gives_the_passphrase_and_forgets_one_that_does_not_fit() {
    let place = Place::new("agent");
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    put(&place.path("pay"), b"pay of May");
    place.works(&["encrypt", "-r", "me", "pay"]);
    let listener = UnixListener::bind(place.path("socket")).unwrap();
    let right = "S NOTE\nD the secret\nD  of a key\nOK\n";
    let refused = "ERR 83886179 Operation cancelled <Pinentry>\n";
    // One that does not fit makes another talk, in which it is forgotten.
    let answers = [right, "D something else\nOK\n", "", refused];
    let answering = std::thread::spawn(move || agent(&listener, &answers));
    let socket = format!("--agent={}", place.path("socket").display());
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_holdfast"));
        command.current_dir(place.path("")).args(["pgp", "decrypt", "--yes", "-o", "out"]);
        command.args([&socket, "pay.pgp"]).env("HOLDFAST_PGP_HOME", place.path("ring"));
        command.env_remove("HOLDFAST_PGP_KEY_PASSPHRASE").output_in_time().unwrap()
    };
    let done = run();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");
    assert_eq!(run().status.code(), Some(4));
    let declined = run();
    assert_eq!(declined.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&declined.stderr).contains("Operation cancelled"));
    let received = answering.join().unwrap();
    let count = |word: &str| received.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("GET_PASSPHRASE --data -- holdfast-"), count("CLEAR_PASSPHRASE")), (3, 1));
    // No person answers any more.
    let done = run();
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
}

/// GnuPG's own agent, with a program in the place of the window that asks.
struct GnuPgAgent<'a>(&'a Place);

impl GnuPgAgent<'_> {
    /// Nothing, if GnuPG is not here.
    fn new(place: &Place) -> Option<GnuPgAgent<'_>> {
        use std::os::unix::fs::PermissionsExt as _;

        if Command::new("gpg-agent").arg("--version").output_in_time().is_err() {
            eprintln!("GnuPG is not here: its agent is not tried");
            return None;
        }
        let home = place.path("gnupg");
        fs::create_dir(&home).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        // It answers what the file says, and notes each time that it is asked.
        let script = "#!/bin/sh\n\
            here=$(dirname \"$0\")\n\
            echo OK\n\
            while read -r word rest; do\n\
              case \"$word\" in\n\
                GETPIN) echo \"$rest\" >> \"$here/asked\"; echo \"D $(cat \"$here/answer\")\";;\n\
                BYE) echo OK; exit 0;;\n\
              esac\n\
              echo OK\n\
            done\n";
        put(&home.join("asks"), script.as_bytes());
        fs::set_permissions(home.join("asks"), fs::Permissions::from_mode(0o700)).unwrap();
        let settings = format!("pinentry-program {}\n", home.join("asks").display());
        put(&home.join("gpg-agent.conf"), settings.as_bytes());
        Some(GnuPgAgent(place))
    }

    fn answers(&self, text: &str) {
        put(&self.0.path("gnupg/answer"), text.as_bytes());
    }

    fn times_asked(&self) -> usize {
        fs::read_to_string(self.0.path("gnupg/asked")).map_or(0, |text| text.lines().count())
    }

    /// The exit code of a command that has no passphrase but through the agent.
    fn run(&self, words: &[&str]) -> Option<i32> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_holdfast"));
        command.current_dir(self.0.path("")).arg("pgp").args(words).arg("--agent");
        command.env("HOLDFAST_PGP_HOME", self.0.path("ring"));
        command.env("GNUPGHOME", self.0.path("gnupg"));
        command.env_remove("HOLDFAST_PGP_KEY_PASSPHRASE").env_remove("HOLDFAST_PGP_PASSPHRASE");
        let done = command.output_in_time().unwrap();
        let printed = String::from_utf8_lossy(&done.stderr);
        eprintln!("{words:?}: {printed}");
        assert!(!printed.contains("the secret of"), "a passphrase shows");
        done.status.code()
    }
}

impl Drop for GnuPgAgent<'_> {
    fn drop(&mut self) {
        let mut kill = Command::new("gpgconf");
        kill.env("GNUPGHOME", self.0.path("gnupg")).args(["--kill", "gpg-agent"]);
        let _ = kill.output_in_time();
    }
}

#[test]
fn gnupgs_agent_asks_once_remembers_and_forgets_what_was_wrong() {
    let place = Place::new("gpg-agent");
    let Some(agent) = GnuPgAgent::new(&place) else { return };
    put(&place.path("pay"), b"pay of May");
    // A new passphrase is asked for, and asked for again to be sure of it.
    agent.answers("the secret of a key");
    assert_eq!(agent.run(&["generate", "--alias", "me", "Ada <ada@example.org>"]), Some(0));
    let at_first = agent.times_asked();
    assert!(at_first > 0, "it is asked for");
    place.works(&["encrypt", "-r", "me", "pay"]);
    let decrypt = ["decrypt", "--yes", "-o", "out", "pay.pgp"];
    agent.answers("the secret of somebody else");
    assert_eq!(agent.run(&decrypt), Some(4));
    assert!(!place.path("out").exists());
    // What was wrong is forgotten: it is asked for again, and then no more.
    agent.answers("the secret of a key");
    assert_eq!(agent.run(&decrypt), Some(0));
    assert_eq!(agent.run(&decrypt), Some(0));
    assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");
    assert_eq!(agent.times_asked(), at_first + 2);
}

#[test]
fn a_device_is_written_to_and_never_replaced_by_a_file() {
    let place = Place::new("device");
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    put(&place.path("pay"), b"pay of May");
    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).output_in_time().unwrap().status.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    place.works(&["encrypt", "--yes", "-r", "me", "-o", "pipe", "pay"]);
    put(&place.path("message"), &reader.join().unwrap());
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    place.works(&["decrypt", "-o", "out", "message"]);
    assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");
}
