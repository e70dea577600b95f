//! Damage, full devices, readers that go away, signals: nothing is given out and nothing is left.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::common::{LONG, OURS, Place, finish};

fn keys(place: &Place) {
    let key = place.works(&["generate-key", "--profile=rfc9580", "Ada <ada@example.org>"], b"");
    place.put("ada.cert", &place.works(&["extract-cert"], &key));
    place.put("ada.key", &key);
}

#[test]
fn a_message_with_a_byte_changed_or_cut_off_gives_nothing_out() {
    let place = Place::new("tamper");
    keys(&place);
    for form in ["rfc4880", "rfc9580"] {
        let option = format!("--profile={form}");
        let words = ["encrypt", "--no-armor", &option, "--sign-with=ada.key", "ada.cert"];
        let message = place.works(&words, b"pay 100 to Bob");
        let names = place.names();
        let words = [
            "decrypt",
            "--verify-with=ada.cert",
            "--verifications-out=seen",
            "--session-key-out=session",
            "ada.key",
        ];
        for at in (0..message.len()).step_by(3) {
            let mut changed = message.clone();
            changed[at] ^= 0x10;
            for message in [&changed[..], &message[..at]] {
                let output = place.sop(&words, message);
                // Some bytes at the front only name the recipient.
                if output.status.success() {
                    assert_eq!(output.stdout, b"pay 100 to Bob", "byte {at}");
                    std::fs::remove_file(place.0.join("seen")).unwrap();
                    std::fs::remove_file(place.0.join("session")).unwrap();
                    continue;
                }
                let code = output.status.code();
                assert!(matches!(code, Some(29 | 41)), "byte {at}: {code:?}");
                assert!(output.stdout.is_empty(), "byte {at}");
                assert_eq!(place.names(), names, "byte {at}");
            }
        }
    }
}

/// Whoever knows how the data begins can put a packet there, without the key, that says it is not
/// compressed and is shorter than what it stands in.
#[test]
fn a_message_that_was_cut_short_without_its_key_gives_nothing_out() {
    let place = Place::new("forged");
    place.put("word", b"word");
    let data: Vec<u8> = (0..5_u32 << 20).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let words = ["encrypt", "--no-armor", "--profile=rfc4880", "--with-password=word"];
    let message = place.works(&words, &data);
    let lock = 2 + usize::from(message[1]);
    assert_eq!((message[0], message[lock], message[lock + 2]), (0xc3, 0xd2, 1));
    let known = [&[0xcb, 0xf4, b'b', 0, 0, 0, 0, 0], &data[..6]].concat();
    let (outer, inner) = ((2_u32 << 20).to_be_bytes(), ((2_u32 << 20) - 7).to_be_bytes());
    let wanted = [&[0xc8, 255], &outer[..], &[0, 0xcb, 255], &inner[..], b"b"].concat();
    let mut forged = message.clone();
    for (at, (known, wanted)) in known.iter().zip(wanted).enumerate() {
        forged[lock + 3 + 18 + at] ^= known ^ wanted;
    }
    let names = place.names();
    let words = ["decrypt", "--with-password=word", "--session-key-out=session"];
    place.fails(&words, &forged, 29);
    assert_eq!(place.names(), names);
    assert!(place.works(&words, &message) == data);
}

#[test]
fn a_full_device_and_a_reader_that_goes_away_are_errors_that_leave_nothing() {
    let place = Place::new("full");
    keys(&place);
    let names = place.names();
    let script = format!(
        "head -c 3000000 /dev/zero | {OURS} encrypt --session-key-out=session ada.cert >/dev/full"
    );
    let mut command = Command::new("sh");
    let output = finish(command.current_dir(&place.0).arg("-c").arg(script), b"");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("No space left"), "{printed}");
    assert_eq!(place.names(), names);
    let script = format!("echo paid | {OURS} encrypt --session-key-out=session ada.cert >&-");
    let mut command = Command::new("sh");
    let output = finish(command.current_dir(&place.0).arg("-c").arg(script), b"");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("standard output was closed"), "{printed}");
    assert_eq!(place.names(), names);

    let message = place.works(&["encrypt", "ada.cert"], &vec![7; 20_000_000]);
    place.put("message", &message);
    let names = place.names();
    let script = format!(
        "set -o pipefail; {OURS} decrypt --session-key-out=session ada.key <message | head -c 9"
    );
    let mut command = Command::new("bash");
    let output = finish(command.current_dir(&place.0).arg("-c").arg(script), b"");
    assert_eq!(output.stdout, [7; 9]);
    assert_eq!(output.status.code(), Some(1), "a reader that goes away shows");
    assert_eq!(place.names(), names);
}

#[test]
fn a_signal_leaves_no_file_behind() {
    let place = Place::new("signal");
    keys(&place);
    let names = place.names();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut command = Command::new(OURS);
        command.current_dir(&place.0).args(["encrypt", "--session-key-out=session", "ada.cert"]);
        seam::process::heed_signals(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // More than a pipe holds: once it is taken, the command is at work.
        stdin.write_all(&[1; 1_000_000]).unwrap();
        assert_eq!(place.names(), names, "while it works");
        let id = child.id().to_string();
        let kill = place.run("kill", &["-s", signal, &id], b"");
        assert!(kill.status.success());
        assert_eq!(seam::process::wait(&mut child, LONG).unwrap().code(), Some(code));
        assert_eq!(place.names(), names, "after {signal}");
        let mut given = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut given).unwrap();
        assert!(given.is_empty(), "after {signal}");
    }
}

#[test]
fn why_a_signature_does_not_count_is_said() {
    let place = Place::new("why");
    keys(&place);
    let other = place.works(&["generate-key", "Bob <bob@example.org>"], b"");
    place.put("bob.cert", &place.works(&["extract-cert"], &other));
    let signature = place.works(&["sign", "ada.key"], b"pay 100 to Bob");
    place.put("sig", &signature);
    let message = place.works(&["inline-sign", "ada.key"], b"pay 100 to Bob");
    let detached: [(&[&str], &[u8], &str); 3] = [
        (&["verify", "sig", "ada.cert"], b"pay 900 to Bob", "something was changed"),
        (&["verify", "sig", "bob.cert"], b"pay 100 to Bob", "whose certificate is not"),
        (
            &["verify", "--not-after=2020-01-01T00:00:00Z", "sig", "ada.cert"],
            b"pay 100 to Bob",
            "outside of the asked-for time",
        ),
    ];
    let inline: [(&[&str], &[u8], &str); 1] =
        [(&["inline-verify", "bob.cert"], &message, "whose certificate is not")];
    for (words, input, why) in detached.into_iter().chain(inline) {
        let output = place.sop(words, input);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {printed}");
        assert!(printed.contains("no signature is good: ") && printed.contains(why), "{printed}");
        assert!(output.stdout.is_empty());
    }
    let output = place.sop(&["verify", "sig", "gone"], b"pay 100 to Bob");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(61), "{printed}");
    assert!(printed.contains("the file of argument 3 is missing"), "{printed}");
}

/// The specification's own rule: one good signature is enough to verify, and decrypting tells what
/// is good in a file that whoever calls has to look at.
#[test]
fn a_bad_signature_hides_no_good_one_and_is_told() {
    let place = Place::new("beside");
    keys(&place);
    let data = b"pay 100 to Bob";
    let other = place.works(&["generate-key", "Bob <bob@example.org>"], b"");
    place.put("bob.cert", &place.works(&["extract-cert"], &other));
    place.put("bob.key", &other);
    let good = place.works(&["sign", "--no-armor", "ada.key"], data);
    let bad = place.works(&["sign", "--no-armor", "bob.key"], b"pay 900 to Bob");
    place.put("both", &[good, bad.clone()].concat());
    place.put("bad", &bad);
    let answer = |words: &[&str], input: &[u8]| {
        let output = place.sop(words, input);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {printed}");
        assert!(printed.contains("not counted: a signature of key "), "{words:?}: {printed}");
        output.stdout
    };
    let lines = answer(&["verify", "both", "ada.cert", "bob.cert"], data);
    assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 1);
    place.fails(&["verify", "bad", "ada.cert", "bob.cert"], data, 3);

    let message = place.works(&["encrypt", "--sign-with=bob.key", "ada.cert"], data);
    place.put("revoked.cert", &place.works(&["revoke-key"], &other));
    for (certificate, lines) in [("revoked.cert", 0), ("ada.cert", 0), ("bob.cert", 1)] {
        let verify = format!("--verify-with={certificate}");
        let words = ["decrypt", &verify, "--verifications-out=seen", "ada.key"];
        let found = match lines {
            0 => answer(&words, &message),
            _ => place.works(&words, &message),
        };
        assert_eq!(found, data, "{certificate}");
        let seen = String::from_utf8(place.get("seen")).unwrap();
        assert_eq!(seen.lines().count(), lines, "{certificate}");
        std::fs::remove_file(place.0.join("seen")).unwrap();
    }
    let message = place.works(&["inline-sign", "bob.key"], data);
    place.fails(&["inline-verify", "revoked.cert"], &message, 3);
}
