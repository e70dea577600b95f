//! What is written here opens in other programs, and what they write opens here: Sequoia's `sqop`
//! of two generations, RNP, Sequoia's `sq`. A program that is not on the machine is left out, and
//! the test says so. (GnuPG has a test of the library's own.)

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::process::Command;

use crate::common::{LONG, OURS, Place};

/// A Stateless OpenPGP program, and what it is able to do.
struct Sop {
    program: String,
    /// Whether it knows RFC 9580.
    is_new: bool,
}

fn is_there(program: &str) -> bool {
    let is_there = seam::process::output(Command::new(program).arg("--version"), LONG).is_ok();
    if !is_there {
        eprintln!("{program} is not here: nothing is tried with it");
    }
    is_there
}

/// The other programs: Debian's, and the one that HOLDFAST_SQOP names.
fn others() -> Vec<Sop> {
    let mut all = vec![Sop { program: "sqop".to_owned(), is_new: false }];
    match std::env::var("HOLDFAST_SQOP") {
        Ok(program) => all.push(Sop { program, is_new: true }),
        Err(_) => eprintln!("HOLDFAST_SQOP names no program: RFC 9580 is tried with nobody else"),
    }
    all.retain(|one| is_there(&one.program));
    all
}

const TEXT: &[u8] = b"first line\nsecond line\n- a dash\n\nlast line\n";

/// A third of a mebibyte of lines: more than a chunk and than a piece of anybody.
fn long() -> Vec<u8> {
    let lines = (0..12_000_u32).map(|i| format!("record {} of {}\n", i * 7919 % 1009, i % 7));
    lines.collect::<String>().into_bytes()
}

/// Makes a key by one program, and has its certificate taken by another.
fn key(place: &Place, maker: &str, taker: &str, name: &str, profile: Option<&str>) {
    let user = format!("{name} <{name}@example.org>");
    let mut words = vec!["generate-key"];
    let option = profile.map(|profile| format!("--profile={profile}"));
    words.extend(option.as_deref());
    words.push(&user);
    let key = place.works_in(maker, &words, b"");
    place.put(&format!("{name}.key"), &key);
    place.put(&format!("{name}.cert"), &place.works_in(taker, &["extract-cert"], &key));
}

/// Everything that one program writes and the other one reads, with the keys `from` and `to`.
fn there(place: &Place, writer: &str, reader: &str, data: &[u8], profile: Option<&str>) {
    let what = format!("{writer} to {reader}, {profile:?}");
    let option = profile.map(|profile| format!("--profile={profile}"));
    for armor in [None, Some("--no-armor")] {
        let mut words = vec!["encrypt", "--sign-with=from.key"];
        words.extend(option.as_deref());
        words.extend(armor);
        words.push("to.cert");
        let message = place.works_in(writer, &words, data);
        let words = ["decrypt", "--verify-with=from.cert", "--verifications-out=seen", "to.key"];
        assert!(place.works_in(reader, &words, &message) == data, "{what}");
        assert!(!place.get("seen").is_empty(), "{what}: a good signature");
        std::fs::remove_file(place.0.join("seen")).unwrap();

        let mut words = vec!["sign"];
        words.extend(armor);
        words.push("from.key");
        place.put("sig", &place.works_in(writer, &words, data));
        let seen = place.works_in(reader, &["verify", "sig", "from.cert"], data);
        assert!(!seen.is_empty(), "{what}");
    }
    place.put("pass", b"a word that both know");
    let mut words = vec!["encrypt", "--with-password=pass"];
    words.extend(option.as_deref());
    let message = place.works_in(writer, &words, data);
    assert!(place.works_in(reader, &["decrypt", "--with-password=pass"], &message) == data);
    let binary = place.works_in(reader, &["dearmor"], &message);
    let again = place.works_in(writer, &["armor"], &binary);
    assert_eq!(place.works_in(reader, &["dearmor"], &again), binary, "{what}: armor");
}

/// Signed messages of every shape.
fn signed(place: &Place, writer: &str, reader: &str) {
    for shape in ["--as=binary", "--as=text", "--as=clearsigned"] {
        let what = format!("{writer} to {reader}, {shape}");
        let message = place.works_in(writer, &["inline-sign", shape, "from.key"], TEXT);
        let found = place.works_in(reader, &["inline-verify", "from.cert"], &message);
        let found = String::from_utf8(found).unwrap().replace("\r\n", "\n");
        assert_eq!(found.trim_end().as_bytes(), TEXT.trim_ascii_end(), "{what}");
        if reader == "sqop" && shape == "--as=clearsigned" {
            continue; // Debian's adds a line end to what it takes out, and refuses that itself
        }
        let apart = ["inline-detach", "--signatures-out=apart"];
        let found = place.works_in(reader, &apart, &message);
        place.works_in(writer, &["verify", "apart", "from.cert"], &found);
        std::fs::remove_file(place.0.join("apart")).unwrap();
        let mut changed = String::from_utf8(message).unwrap();
        if shape == "--as=clearsigned" {
            changed = changed.replace("second", "third");
            let output = place.run(reader, &["inline-verify", "from.cert"], changed.as_bytes());
            assert_eq!(output.status.code(), Some(3), "{what}");
        }
    }
    place.put("sig", &place.works_in(writer, &["sign", "--as=text", "from.key"], TEXT));
    place.works_in(reader, &["verify", "sig", "from.cert"], TEXT);
}

#[test]
fn stateless_programs_and_ours_read_each_other() {
    let place = Place::new("others");
    for other in others() {
        let theirs = other.program.as_str();
        for (maker, taker) in [(OURS, theirs), (theirs, OURS)] {
            key(&place, maker, taker, "from", None);
            key(&place, taker, maker, "to", None);
            for data in [TEXT.to_vec(), Vec::new(), long()] {
                there(&place, OURS, theirs, &data, None);
                there(&place, theirs, OURS, &data, None);
            }
            signed(&place, OURS, theirs);
            signed(&place, theirs, OURS);
        }
    }
}

#[test]
fn older_keys_of_every_kind_are_understood() {
    let place = Place::new("kinds");
    for other in others() {
        let theirs = other.program.as_str();
        for profile in ["rfc4880-rsa3072", "rfc4880-nistp256"] {
            key(&place, OURS, theirs, "from", Some(profile));
            key(&place, OURS, theirs, "to", Some(profile));
            there(&place, OURS, theirs, TEXT, None);
            there(&place, theirs, OURS, TEXT, None);
        }
    }
}

#[test]
fn keys_that_name_nobody_are_understood() {
    let place = Place::new("nobody");
    let make = |name: &str, profile: &str| {
        let key = place.works(&["generate-key", profile], b"");
        place.put(&format!("{name}.key"), &key);
        place.put(&format!("{name}.cert"), &place.works(&["extract-cert"], &key));
    };
    for profile in ["--profile=rfc4880", "--profile=rfc4880-rsa3072", "--profile=rfc4880-nistp256"]
    {
        make("from", profile);
        make("to", profile);
        there(&place, OURS, OURS, TEXT, None);
        for other in others() {
            let theirs = other.program.as_str();
            assert_eq!(
                place.works_in(theirs, &["extract-cert"], &place.get("to.key"))[..5],
                *b"-----"
            );
            there(&place, OURS, theirs, TEXT, None);
            there(&place, theirs, OURS, TEXT, None);
        }
        if is_there("sq") {
            let answer = place.works_in("sq", &["inspect", "from.cert"], b"");
            let answer = String::from_utf8_lossy(&answer);
            assert!(answer.contains("Key flags: certification, signing"), "{answer}");
            assert!(!answer.contains("UserID:") && !answer.contains("Invalid:"), "{answer}");
        }
    }
}

#[test]
fn keys_and_messages_of_rfc_9580_are_understood() {
    let place = Place::new("new");
    for other in others().iter().filter(|other| other.is_new) {
        let theirs = other.program.as_str();
        let makers = [
            (OURS, "rfc9580"),
            (OURS, "rfc9580-curve448"),
            (OURS, "rfc9580-nistp384"),
            (theirs, "rfc9580"),
        ];
        for (maker, profile) in makers {
            let taker = if maker == OURS { theirs } else { OURS };
            key(&place, maker, taker, "from", Some(profile));
            key(&place, maker, taker, "to", Some(profile));
            for form in ["default", "rfc9580", "rfc9580-gcm", "rfc9580-eax"] {
                there(&place, OURS, theirs, &long(), Some(form));
            }
            for form in [None, Some("rfc9580")] {
                there(&place, theirs, OURS, &long(), form);
            }
            signed(&place, OURS, theirs);
            signed(&place, theirs, OURS);
        }
        // Version 4 keys, version 2 containers.
        key(&place, OURS, theirs, "from", None);
        key(&place, theirs, OURS, "to", None);
        for form in ["rfc9580", "rfc9580-gcm", "rfc9580-eax", "rfc4880"] {
            there(&place, OURS, theirs, TEXT, Some(form));
        }
        there(&place, theirs, OURS, TEXT, Some("rfc9580"));
    }
}

#[test]
fn locked_revoked_and_renewed_keys_are_what_they_are_elsewhere() {
    let place = Place::new("locked");
    for other in others() {
        let theirs = other.program.as_str();
        for profile in if other.is_new { &["rfc4880", "rfc9580"][..] } else { &["rfc4880"] } {
            let option = format!("--profile={profile}");
            let words =
                ["generate-key", &option, "--with-key-password=@ENV:SECRET", "A <a@example.org>"];
            let key = place.works(&words, b"");
            place.put("from.key", &key);
            place.put("from.cert", &place.works(&["extract-cert"], &key));
            let words = ["sign", "--with-key-password=@ENV:SECRET", "from.key"];
            place.put("sig", &place.works_in(theirs, &words, TEXT));
            place.works(&["verify", "sig", "from.cert"], TEXT);
            let words = ["revoke-key", "--with-key-password=@ENV:SECRET"];
            place.put("gone.cert", &place.works(&words, &key));
            let output = place.run(theirs, &["encrypt", "gone.cert"], TEXT);
            // Debian's looks at revocations of the parts alone.
            let refused = if other.is_new { Some(17) } else { Some(0) };
            assert_eq!(output.status.code(), refused, "{theirs} {profile}");

            let words = ["generate-key", &option, "--signing-only", "B <b@example.org>"];
            let bare = place.works(&words, b"");
            let words = ["change-key-password", "--new-key-password=@ENV:SECRET"];
            let locked = place.works(&words, &bare);
            let words = ["update-key", "--with-key-password=@ENV:SECRET"];
            let renewed = place.works(&words, &locked);
            place.put("to.key", &renewed);
            place.put("to.cert", &place.works_in(theirs, &["extract-cert"], &renewed));
            let message = place.works_in(theirs, &["encrypt", "to.cert"], TEXT);
            for reader in [OURS, theirs] {
                let words = ["decrypt", "--with-key-password=@ENV:SECRET", "to.key"];
                assert_eq!(place.works_in(reader, &words, &message), TEXT, "{reader} {profile}");
            }
        }
        if other.is_new {
            certified_by_another(&place, theirs);
        }
    }
}

/// Whoever certifies whom, of keys of versions 4 and 6, the other program accepts it.
fn certified_by_another(place: &Place, theirs: &str) {
    const KINDS: [&str; 2] = ["rfc4880", "rfc9580"];
    let user = "from <from@example.org>";
    let certify = ["certify-userid", "--userid", user, "root.key"];
    let validate = ["validate-userid", user, "root.cert"];
    for kind in KINDS {
        key(place, theirs, theirs, "root", Some(kind));
        for other_kind in KINDS {
            key(place, OURS, OURS, "from", Some(other_kind));
            let bare = place.get("from.cert");
            place.fails(&validate, &bare, 107);
            let certified = place.works_in(theirs, &certify, &bare);
            place.works(&validate, &certified);
            let certified = place.works(&certify, &bare);
            place.works_in(theirs, &validate, &certified);
        }
    }
}

#[test]
fn rnp_and_ours_read_each_other() {
    if !is_there("rnp") || !is_there("rnpkeys") {
        return;
    }
    let place = Place::new("rnp");
    std::fs::create_dir(place.0.join("home")).unwrap();
    let rnp = |words: &[&str], input: &[u8]| {
        let mut all = vec!["--homedir", "home", "--password", ""];
        all.extend(words);
        place.works_in("rnp", &all, input)
    };
    for profile in ["rfc4880", "rfc4880-rsa3072", "rfc4880-nistp256"] {
        let home = place.0.join("home");
        std::fs::remove_dir_all(&home).unwrap();
        std::fs::create_dir(&home).unwrap();
        key(&place, OURS, OURS, "ada", Some(profile));
        place.works_in("rnpkeys", &["--homedir", "home", "--import", "ada.key"], b"");
        for data in [TEXT.to_vec(), long()] {
            let words = ["encrypt", "--profile=rfc4880", "--sign-with=ada.key", "ada.cert"];
            place.put("message", &place.works(&words, &data));
            let _ = std::fs::remove_file(place.0.join("out"));
            rnp(&["--decrypt", "message", "--output", "out"], b"");
            assert!(place.get("out") == data, "{profile}");
            for compression in [&["-z", "0"][..], &["--zip"], &["--zlib"], &["--bzip2"]] {
                place.put("data", &data);
                let _ = std::fs::remove_file(place.0.join("out"));
                let mut words = vec!["--encrypt", "--sign", "-r", "ada", "-u", "ada"];
                words.extend(compression);
                words.extend(["data", "--output", "out"]);
                rnp(&words, b"");
                let message = place.get("out");
                let words =
                    ["decrypt", "--verify-with=ada.cert", "--verifications-out=seen", "ada.key"];
                assert!(place.works(&words, &message) == data, "{profile} {compression:?}");
                assert!(!place.get("seen").is_empty(), "{profile} {compression:?}");
                std::fs::remove_file(place.0.join("seen")).unwrap();
            }
        }
    }
}

#[test]
fn sq_and_ours_read_each_other() {
    if !is_there("sq") {
        return;
    }
    let place = Place::new("sq");
    for profile in ["rfc4880", "rfc4880-rsa3072", "rfc4880-nistp256"] {
        key(&place, OURS, OURS, "ada", Some(profile));
        for data in [TEXT.to_vec(), long()] {
            let words = ["encrypt", "--profile=rfc4880", "--sign-with=ada.key", "ada.cert"];
            let message = place.works(&words, &data);
            let words = ["decrypt", "--recipient-key", "ada.key", "--signer-cert", "ada.cert"];
            assert!(place.works_in("sq", &words, &message) == data, "{profile}");
            for compression in ["none", "pad", "zip", "zlib", "bzip2"] {
                let words = [
                    "encrypt",
                    "--compression",
                    compression,
                    "--recipient-cert",
                    "ada.cert",
                    "--signer-key",
                    "ada.key",
                ];
                let message = place.works_in("sq", &words, &data);
                let words =
                    ["decrypt", "--verify-with=ada.cert", "--verifications-out=seen", "ada.key"];
                assert!(place.works(&words, &message) == data, "{profile} {compression}");
                assert!(!place.get("seen").is_empty(), "{profile} {compression}");
                std::fs::remove_file(place.0.join("seen")).unwrap();
            }
        }
    }
}
