//! `holdfast-sop`, command by command, with the exit codes of the specification.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::process::{Command, Stdio};

use crate::common::{LONG, OURS, Place, finish};

const DATA: &[u8] = b"first line\nsecond line\n- a dash\n";

/// Ada and Bob, each with a key and a certificate.
fn people(place: &Place, profile: &str) {
    for (name, user) in [("ada", "Ada <ada@example.org>"), ("bob", "Bob <bob@example.org>")] {
        let key = place.works(&["generate-key", "--profile", profile, user], b"");
        let certificate = place.works(&["extract-cert"], &key);
        place.put(&format!("{name}.key"), &key);
        place.put(&format!("{name}.cert"), &certificate);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn messages_go_there_and_back_with_their_verifications() {
    let place = Place::new("messages");
    for profile in ["rfc4880", "rfc9580", "security"] {
        people(&place, profile);
        for form in ["default", "rfc4880", "rfc9580", "rfc9580-gcm", "rfc9580-eax"] {
            for shape in ["--as=binary", "--as=text"] {
                let words =
                    ["encrypt", "--profile", form, shape, "--sign-with=ada.key", "bob.cert"];
                let message = place.works(&words, DATA);
                let words = [
                    "decrypt",
                    "--verify-with=ada.cert",
                    "--verifications-out=seen",
                    "--session-key-out=session",
                    "bob.key",
                ];
                assert_eq!(place.works(&words, &message), DATA, "{profile} {form} {shape}");
                let seen = text(&place.get("seen"));
                let mode = shape.replace("--as=", " mode:");
                assert!(seen.contains(&mode) && seen.contains("ada.cert"), "{seen}");
                let again = place.works(&["decrypt", "--with-session-key=session"], &message);
                assert_eq!(again, DATA, "{profile} {form} by session key");
                let _ = std::fs::remove_file(place.0.join("seen"));
                let _ = std::fs::remove_file(place.0.join("session"));
            }
        }
    }
}

#[test]
fn each_session_key_is_tried_and_none_hides_a_key() {
    let place = Place::new("session-keys");
    people(&place, "rfc4880");
    place.put("wrong", b"9:00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF");
    place.put("short", b"9:0011");
    let long = vec![7; 600_000];
    for form in ["rfc4880", "rfc9580", "rfc9580-gcm"] {
        for data in [&b""[..], DATA, &long] {
            let words = ["encrypt", "--profile", form, "--session-key-out=right", "bob.cert"];
            let message = place.works(&words, data);
            for others in [&["right"][..], &["wrong", "right"], &["short", "wrong", "right"]] {
                let given: Vec<String> =
                    others.iter().map(|name| format!("--with-session-key={name}")).collect();
                let words: Vec<&str> =
                    std::iter::once("decrypt").chain(given.iter().map(|word| &**word)).collect();
                assert_eq!(place.works(&words, &message), data, "{form} {others:?}");
            }
            let words = ["decrypt", "--with-session-key=wrong", "bob.key"];
            assert_eq!(place.works(&words, &message), data, "{form}");
            place.fails(&["decrypt", "--with-session-key=wrong"], &message, 29);
            place.fails(&["decrypt", "--with-session-key=short", "ada.key"], &message, 29);
            std::fs::remove_file(place.0.join("right")).unwrap();
        }
    }
}

#[test]
fn open_files_are_read_from_where_they_stand_and_may_be_sockets() {
    use std::io::{Seek as _, SeekFrom, Write as _};
    use std::os::unix::net::UnixStream;

    let place = Place::new("open-files");
    people(&place, "rfc4880");
    place.put("two", b"not the word\na secret word");
    let message = place.works(&["encrypt", "--with-password=@ENV:SECRET"], DATA);
    let mut file = std::fs::File::open(place.0.join("two")).unwrap();
    file.seek(SeekFrom::Start(13)).unwrap();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(b"a secret word").unwrap();
    drop(theirs);
    for input in [Stdio::from(file), std::os::fd::OwnedFd::from(ours).into()] {
        // The message is an argument's file here: standard input is the open file.
        place.put("message", &message);
        let script = "exec 5<&0 <message; exec \"$0\" decrypt --with-password=@FD:5";
        let mut shell = Command::new("sh");
        let shell = shell.current_dir(&place.0).args(["-c", script, OURS]).stdin(input);
        let shell = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let ended = seam::process::finish(shell, LONG).unwrap();
        assert_eq!(text(&ended.stdout), text(DATA), "{}", text(&ended.stderr));
    }
}

#[test]
fn what_is_given_in_the_wrong_place_is_never_repeated() {
    let place = Place::new("misplaced");
    people(&place, "rfc4880");
    let message = place.works(&["encrypt", "--with-password=@ENV:SECRET"], DATA);
    // The place itself says that none of them shows the words.
    for (words, code) in [
        (&["decrypt", "--with-password", "a secret word"][..], 61),
        (&["decrypt", "--with-password=a secret word"], 61),
        (&["decrypt", "--with-key-password=a secret word", "bob.key"], 61),
        (&["decrypt", "--with-session-key=a secret word"], 61),
        (&["decrypt", "a secret word"], 61),
        (&["encrypt", "--with-password=@a secret word"], 71),
        (&["decrypt", "-a secret word"], 37),
        (&["decrypt", "--a secret word"], 37),
        (&["decrypt", "-----BEGIN a secret word"], 37),
        (&["dearmor", "a secret word"], 37),
        (&["sign", "--as=a secret word", "ada.key"], 37),
        (&["a secret word"], 69),
        (&["generate-key", "--profile=a secret word"], 89),
        (&["list-profiles", "a secret word"], 89),
    ] {
        place.fails(words, &message, code);
    }
    let printed = place.sop(&["decrypt", "--with-passwort=x"], &message).stderr;
    assert!(text(&printed).contains("--with-passwort"), "{}", text(&printed));
    let printed = place.sop(&["decrypt", "ada.key", "bib.key"], &message).stderr;
    assert!(text(&printed).contains("argument 3"), "{}", text(&printed));
}

#[test]
fn passphrases_are_text_and_blanks_at_their_end_do_not_count() {
    let place = Place::new("passwords");
    place.put("pass", b"a secret word \n");
    place.put("bytes", b"\xff\xfe");
    for form in ["rfc4880", "rfc9580"] {
        let words = ["encrypt", "--profile", form, "--with-password=pass", "--no-armor"];
        let message = place.works(&words, DATA);
        assert!(message[0] & 0x80 != 0, "binary");
        assert_eq!(place.works(&["decrypt", "--with-password=@ENV:SECRET"], &message), DATA);
        place.put("other", b"something else");
        place.fails(&["decrypt", "--with-password=other"], &message, 29);
    }
    place.fails(&["encrypt", "--with-password=bytes"], DATA, 31);
    place.fails(&["encrypt", "--with-password=@ENV:NOT_SET"], DATA, 61);
    place.fails(&["encrypt", "--with-password=@MARS:x"], DATA, 71);
    place.fails(&["encrypt", "--with-password=@HARDWARE:x"], DATA, 97);
    place.put("@ENV:SECRET", b"file");
    place.fails(&["encrypt", "--with-password=@ENV:SECRET"], DATA, 73);
}

#[test]
fn signatures_apart_and_inside_are_made_and_judged() {
    let place = Place::new("signatures");
    people(&place, "default");
    for shape in ["--as=binary", "--as=text"] {
        let words = ["sign", shape, "--micalg-out=hash", "ada.key", "bob.key"];
        place.put("sig", &place.works(&words, DATA));
        assert!(text(&place.get("hash")).starts_with("pgp-sha"));
        std::fs::remove_file(place.0.join("hash")).unwrap();
        let seen = text(&place.works(&["verify", "sig", "ada.cert", "bob.cert"], DATA));
        assert_eq!(seen.lines().count(), 2, "{seen}");
        place.fails(&["verify", "sig", "ada.cert"], b"something else", 3);
        place.fails(&["verify", "--not-after=2020-01-01", "sig", "ada.cert"], DATA, 3);
        place.fails(&["verify", "--not-before=2999-01-01T00:00:00Z", "sig", "ada.cert"], DATA, 3);
        place.works(&["verify", "--not-before=-", "--not-after=now", "sig", "ada.cert"], DATA);
    }
    for shape in ["--as=binary", "--as=text", "--as=clearsigned"] {
        let message = place.works(&["inline-sign", shape, "ada.key"], DATA);
        let found =
            place.works(&["inline-verify", "--verifications-out=seen", "ada.cert"], &message);
        assert_eq!(text(&found), text(DATA), "{shape}");
        assert_eq!(text(&place.get("seen")).lines().count(), 1);
        std::fs::remove_file(place.0.join("seen")).unwrap();
        place.fails(&["inline-verify", "bob.cert"], &message, 3);
        let found = place.works(&["inline-detach", "--signatures-out=apart"], &message);
        place.works(&["verify", "apart", "ada.cert"], &found);
        std::fs::remove_file(place.0.join("apart")).unwrap();
    }
    place.fails(&["inline-sign", "--as=clearsigned", "--no-armor", "ada.key"], DATA, 83);
    place.fails(&["sign", "--as=text", "ada.key"], b"\xff\xfe", 53);
    place.fails(&["sign", "--as=text", "ada.key"], b"cut \xc3", 53);
    place.fails(&["encrypt", "--as=text", "ada.cert"], b"\xff\xfe", 53);
    place.fails(&["sign", "ada.cert"], DATA, 41);
    place.fails(&["verify", "ada.cert", "ada.cert"], DATA, 41);
    place.fails(&["inline-verify", "ada.cert"], b"no message", 41);
    place.fails(&["inline-detach", "--signatures-out=none"], b"no message", 41);
    assert!(!place.names().contains(&"none".to_owned()), "nothing is left behind");
}

#[test]
fn keys_are_locked_unlocked_revoked_and_renewed() {
    let place = Place::new("keys");
    for profile in ["rfc4880", "rfc9580"] {
        let words =
            ["generate-key", "--profile", profile, "--with-key-password=@ENV:SECRET", "Ada"];
        let key = place.works(&words, b"");
        place.put("ada.key", &key);
        place.put("ada.cert", &place.works(&["extract-cert"], &key));
        place.fails(&["sign", "ada.key"], DATA, 67);
        place.works(&["sign", "--with-key-password=@ENV:SECRET", "ada.key"], DATA);
        let message = place.works(&["encrypt", "ada.cert"], DATA);
        place.fails(&["decrypt", "ada.key"], &message, 67);
        place.works(&["decrypt", "--with-key-password=@ENV:SECRET", "ada.key"], &message);

        place.fails(&["change-key-password"], &key, 67);
        let open = place.works(&["change-key-password", "--old-key-password=@ENV:SECRET"], &key);
        place.put("open.key", &open);
        place.works(&["sign", "open.key"], DATA);
        place.put("new", b"another word");
        let locked = place.works(&["change-key-password", "--new-key-password=new"], &open);
        place.put("locked.key", &locked);
        place.fails(&["sign", "--with-key-password=@ENV:SECRET", "locked.key"], DATA, 67);
        place.works(&["sign", "--with-key-password=new", "locked.key"], DATA);

        place.fails(&["revoke-key"], &key, 67);
        let revoked = place.works(&["revoke-key"], &open);
        place.put("revoked.cert", &revoked);
        place.fails(&["encrypt", "revoked.cert"], DATA, 17);
        let merged = place.works(&["merge-certs", "revoked.cert"], &place.get("ada.cert"));
        place.put("merged.cert", &merged);
        place.fails(&["encrypt", "merged.cert"], DATA, 17);
        place.fails(&["update-key", "--merge-certs=revoked.cert"], &open, 103);

        let words = ["generate-key", "--profile", profile, "--signing-only", "Bob"];
        let bob = place.works(&words, b"");
        place.put("bob.cert", &place.works(&["extract-cert"], &bob));
        place.fails(&["encrypt", "bob.cert"], DATA, 17);
        let same = place.works(&["update-key", "--signing-only"], &bob);
        place.put("bob.cert", &place.works(&["extract-cert"], &same));
        place.fails(&["encrypt", "bob.cert"], DATA, 17);
        let renewed = place.works(&["update-key"], &bob);
        place.put("bob.cert", &place.works(&["extract-cert"], &renewed));
        place.put("bob.key", &renewed);
        let message = place.works(&["encrypt", "bob.cert"], DATA);
        assert_eq!(place.works(&["decrypt", "bob.key"], &message), DATA);
    }
}

#[test]
fn a_key_that_is_too_weak_is_not_kept_up() {
    let place = Place::new("weak");
    let short = include_bytes!("../../../../files/openpgp/tests/data/rsa1024.key");
    place.fails(&["update-key"], short, 103);
    // What was written to it may still be read, as by others.
    place.works(&["extract-cert"], short);
}

#[test]
fn a_certificate_with_parts_of_an_unknown_kind_alone_is_told_from_one_without_any() {
    /// A part of ECDH on secp256k1.
    const FOREIGN: &[u8] =
        &[0xce, 17, 4, 0, 0, 0, 1, 18, 5, 0x2b, 0x81, 0x04, 0, 0x0a, 0, 9, 1, 1, 7];
    let place = Place::new("kinds");
    for (words, code) in
        [(&["generate-key", "--signing-only", "Ada"][..], 13), (&["generate-key", "Ada"], 0)]
    {
        let key = place.works(words, b"");
        let bare = place.works(&["dearmor"], &place.works(&["extract-cert"], &key));
        place.put("foreign.cert", &[&bare[..], FOREIGN].concat());
        let ended = place.sop(&["encrypt", "foreign.cert"], DATA);
        assert_eq!(ended.status.code(), Some(code), "{}", text(&ended.stderr));
        place.put("revoked.cert", &place.works(&["revoke-key"], &key));
        place.fails(&["encrypt", "revoked.cert"], DATA, 17);
    }
}

#[test]
fn keys_that_name_nobody_are_kept_up_like_others() {
    let place = Place::new("nobody");
    for profile in ["rfc4880", "rfc9580"] {
        let words = ["generate-key", "--profile", profile, "--signing-only"];
        let key = place.works(&[&words[..], &["--with-key-password=@ENV:SECRET"]].concat(), b"");
        let open = place.works(&["change-key-password", "--old-key-password=@ENV:SECRET"], &key);
        place.put("to.cert", &place.works(&["extract-cert"], &open));
        place.fails(&["encrypt", "to.cert"], DATA, 17);
        let renewed = place.works(&["update-key"], &open);
        place.put("to.key", &renewed);
        place.put("to.cert", &place.works(&["extract-cert"], &renewed));
        let message = place.works(&["encrypt", "to.cert"], DATA);
        assert_eq!(place.works(&["decrypt", "to.key"], &message), DATA);
        place.put("sig", &place.works(&["sign", "to.key"], DATA));
        place.works(&["verify", "sig", "to.cert"], DATA);
        place.put("to.cert", &place.works(&["revoke-key"], &renewed));
        place.fails(&["encrypt", "to.cert"], DATA, 17);
        place.fails(&["verify", "sig", "to.cert"], DATA, 3);
    }
}

#[test]
fn user_ids_are_certified_and_validated() {
    let place = Place::new("users");
    people(&place, "default");
    let bob = place.get("bob.cert");
    let user = "Bob <bob@example.org>";
    place.fails(&["validate-userid", user, "ada.cert"], &bob, 107);
    place.works(&["validate-userid", user, "bob.cert"], &bob);
    let words = ["certify-userid", "--userid", user, "ada.key"];
    let certified = place.works(&words, &bob);
    place.works(&["validate-userid", user, "ada.cert"], &certified);
    place
        .works(&["validate-userid", "--addr-spec-only", "bob@example.org", "ada.cert"], &certified);
    place.fails(&["validate-userid", "--addr-spec-only", "Bob", "ada.cert"], &certified, 107);
    place.fails(&["validate-userid", "Bob", "ada.cert"], &certified, 107);
    let words = ["validate-userid", "--validate-at=2020-01-01", user, "ada.cert"];
    place.fails(&words, &certified, 107);
    place.fails(&["certify-userid", "--userid=Eve", "ada.key"], &bob, 107);
    place.works(&["certify-userid", "--no-require-self-sig", "--userid=Eve", "ada.key"], &bob);
    let revoked = place.works(&["revoke-key"], &place.get("ada.key"));
    place.put("ada.revoked", &revoked);
    place.fails(&["validate-userid", user, "ada.revoked"], &certified, 107);
}

#[test]
fn armor_goes_on_and_off() {
    let place = Place::new("armor");
    people(&place, "default");
    place.put("sig", &place.works(&["sign", "ada.key"], DATA));
    let message = place.works(&["encrypt", "ada.cert"], DATA);
    let signed = place.works(&["inline-sign", "ada.key"], DATA);
    let things = [
        (place.get("ada.key"), "PRIVATE KEY BLOCK"),
        (place.get("ada.cert"), "PUBLIC KEY BLOCK"),
        (place.get("sig"), "SIGNATURE"),
        (message, "MESSAGE"),
        (signed, "MESSAGE"),
    ];
    for (armored, label) in things {
        assert!(text(&armored).starts_with(&format!("-----BEGIN PGP {label}-----")), "{label}");
        let binary = place.works(&["dearmor"], &armored);
        assert_eq!(place.works(&["dearmor"], &binary), binary, "{label}: binary stays binary");
        let again = place.works(&["armor"], &binary);
        assert!(text(&again).starts_with(&format!("-----BEGIN PGP {label}-----")), "{label}");
        assert_eq!(place.works(&["dearmor"], &again), binary, "{label}");
        assert_eq!(place.works(&["armor"], &again), again, "{label}: armor stays armor");
    }
    place.fails(&["armor"], b"text", 41);
    place.fails(&["dearmor"], b"text", 41);
    place.fails(&["dearmor"], b"", 41);
    place.fails(&["armor"], b"\xff\xff\xff", 41);
}

#[test]
fn wrong_command_lines_have_codes_of_their_own() {
    let place = Place::new("usage");
    people(&place, "default");
    place.fails(&["frobnicate"], b"", 69);
    place.fails(&["sign", "--frobnicate", "ada.key"], b"", 37);
    place.fails(&["sign", "--as=poem", "ada.key"], b"", 37);
    place.fails(&["sign"], b"", 19);
    place.fails(&["encrypt"], b"", 19);
    place.fails(&["decrypt"], b"", 19);
    place.fails(&["sign", "nobody.key"], b"", 61);
    place.fails(&["encrypt", "ada.key"], b"", 41);
    place.fails(&["decrypt", "--verify-with=ada.cert", "ada.key"], b"", 23);
    place.fails(&["decrypt", "--verifications-out=x", "ada.key"], b"", 23);
    place.fails(
        &["decrypt", "--verifications-out=sig", "--verify-with=ada.cert", "ada.key"],
        b"",
        41,
    );
    place.put("there", b"");
    let words = ["decrypt", "--verifications-out=there", "--verify-with=ada.cert", "ada.key"];
    place.fails(&words, b"", 59);
    place.fails(&["generate-key", "--profile=baroque", "Ada"], b"", 89);
    place.fails(&["list-profiles", "sign"], b"", 89);
    assert!(place.names().iter().all(|name| !name.ends_with(".part") && name != "x"));
    for words in [
        &["version"][..],
        &["version", "--backend"],
        &["version", "--extended"],
        &["version", "--sop-spec"],
        &["version", "--sopv"],
        &["list-profiles", "generate-key"],
        &["list-profiles", "encrypt"],
        &["--help"],
        &["encrypt", "--help"],
    ] {
        assert!(!place.works(words, b"").is_empty(), "{words:?}");
    }
}

#[test]
fn open_files_are_read_and_written_by_their_number() {
    let place = Place::new("descriptors");
    people(&place, "default");
    let script = format!(
        "{OURS} encrypt --session-key-out=@FD:4 ada.cert 4>session <ada.cert >message && \
         {OURS} decrypt --with-session-key=@FD:3 3<session <message && \
         cat session | {OURS} decrypt --with-session-key=@FD:5 5<session <message >again && \
         cmp again ada.cert"
    );
    let mut command = Command::new("sh");
    let output = finish(command.current_dir(&place.0).arg("-c").arg(script), b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(output.stdout, place.get("ada.cert"));
}
