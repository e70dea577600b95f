//! `holdfast pgp` with keys that a token keeps, and with passphrases that an agent asks for. The
//! token is SoftHSM's; without it the test says so and proves nothing (`scripts/setup.sh token`).

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

#[path = "common/place.rs"]
mod place;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use place::{Place, put};

const PIN: &str = "4711-user";

/// Where Debian and others put the library.
const MODULES: [&str; 3] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
];

#[test]
fn a_token_signs_and_opens_and_says_what_is_wrong() {
    let Some(module) = MODULES.into_iter().find(|module| Path::new(module).exists()) else {
        eprintln!("SKIPPED: SoftHSM is not installed (scripts/setup.sh token)");
        return;
    };
    let place = Place::new("token");
    fs::create_dir_all(place.path("tokens")).unwrap();
    let conf = format!("directories.tokendir = {}\n", place.path("tokens").display());
    put(&place.path("softhsm2.conf"), conf.as_bytes());
    let made = Command::new("softhsm2-util")
        .env("SOFTHSM2_CONF", place.path("softhsm2.conf"))
        .args(["--init-token", "--free", "--label", "BANK", "--so-pin", "so-pin", "--pin", PIN])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    put(&place.path("pin"), PIN.as_bytes());
    put(&place.path("wrong"), b"0000-user");
    put(&place.path("pay"), b"pay of May");
    let module = format!("--token-module={module}");
    let with = ["--pin-file=pin", &module];
    let run = |words: &[&str]| place.works(&[words, &with[..]].concat());
    run(&["generate", "--token", "BANK", "--alias", "me", "Ada <ada@example.org>"]);
    let listed = place.works(&["list"]);
    assert!(listed.contains("in token BANK") && listed.contains("alias me"), "{listed}");
    // Encrypting needs no token; signing and opening do.
    run(&["encrypt", "-r", "me", "--sign-with", "me", "pay"]);
    place.works(&["encrypt", "-r", "me", "-o", "mute.pgp", "pay"]);
    let told = run(&["decrypt", "--signed-by", "me", "-o", "out", "pay.pgp"]);
    assert!(told.contains("good signature"), "{told}");
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
}

/// Answers as an agent does, for so many talks; gives all it was asked.
fn agent(listener: &UnixListener, answers: &[&str]) -> Vec<String> {
    let mut heard = Vec::new();
    for answer in answers {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"OK Pleased to meet you\n").unwrap();
        for line in BufReader::new(stream.try_clone().unwrap()).lines() {
            let line = line.unwrap();
            let said = if line.starts_with("GET_PASSPHRASE") { answer } else { "OK\n" };
            stream.write_all(said.as_bytes()).unwrap();
            heard.push(line);
        }
    }
    heard
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
        command.env_remove("HOLDFAST_PGP_KEY_PASSPHRASE").output().unwrap()
    };
    let done = run();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");
    assert_eq!(run().status.code(), Some(4));
    let declined = run();
    assert_eq!(declined.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&declined.stderr).contains("Operation cancelled"));
    let heard = answering.join().unwrap();
    let count = |word: &str| heard.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("GET_PASSPHRASE --data -- holdfast-"), count("CLEAR_PASSPHRASE")), (3, 1));
    // Nobody answers any more.
    let done = run();
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_device_is_written_to_and_never_replaced_by_a_file() {
    let place = Place::new("device");
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    put(&place.path("pay"), b"pay of May");
    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
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
