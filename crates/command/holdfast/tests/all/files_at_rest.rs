//! `holdfast pgp`, as its users see it: files go there and back, and nothing that is damaged, or
//! meant for others, leaves a file behind.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::fs;

use crate::common::hidden_names;
use crate::common::in_time::RunInTime as _;
use crate::common::place::{Place, put};

#[test]
fn files_go_there_and_back_and_say_who_signed_them() {
    let place = Place::new("back");
    let data: Vec<u8> = (0..3_000_000_u32).map(|i| (i / 5 % 91) as u8).collect();
    put(&place.path("pay"), &data);
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    place.works(&["generate", "--alias", "new", "--v6", "Bob <bob@example.org>"]);
    for (index, words) in [
        &["encrypt", "-r", "me", "--sign-with", "new", "--form", "v1", "pay"][..],
        &["encrypt", "-r", "new", "-r", "me", "--sign-with", "new", "--compress", "none", "pay"],
        &["encrypt", "-r", "new", "--sign-with", "new", "--async-cipher", "off", "pay"],
    ]
    .into_iter()
    .enumerate()
    {
        place.works(words);
        let out = format!("out{index}");
        let printed =
            place.works(&["decrypt", "--signed-by", "new", "--stats", "-o", &out, "pay.pgp"]);
        assert!(printed.contains("good signature of") && printed.contains("Bob"), "{printed}");
        assert!(printed.contains("MB per CPU second"), "{printed}");
        assert!(fs::read(place.path(&out)).unwrap() == data);
        place.fails(&["decrypt", "--signed-by", "me", "-o", "none", "pay.pgp"], 5);
        assert!(!place.path("none").exists());
        fs::remove_file(place.path("pay.pgp")).unwrap();
    }
    place.works(&["encrypt", "-c", "-o", "word.pgp", "pay"]);
    place.works(&["decrypt", "-c", "-o", "word", "word.pgp"]);
    assert!(fs::read(place.path("word")).unwrap() == data);
    place.works(&["sign", "--detached", "--with", "me", "pay"]);
    place.works(&["verify", "--signature", "pay.sig", "pay"]);
    place.fails(&["verify", "--signature", "pay.sig", "word.pgp"], 5);
}

#[test]
fn what_is_damaged_or_for_others_leaves_no_file() {
    let place = Place::new("damage");
    put(&place.path("pay"), &[7; 100_000]);
    place.works(&["generate", "--alias", "me", "--v6", "Ada <ada@example.org>"]);
    for form in ["v1", "v2", "v2-gcm", "v2-eax"] {
        place.works(&["encrypt", "-r", "me", "--form", form, "--compress", "none", "pay"]);
        let message = fs::read(place.path("pay.pgp")).unwrap();
        let before = place.names();
        let mut changed = message.clone();
        changed[60_000] ^= 4;
        for bad in [&changed[..], &message[..70_000], &[&message[..], &message].concat()] {
            put(&place.path("pay.pgp"), bad);
            place.fails(&["decrypt", "-o", "out", "pay.pgp"], 3);
            assert_eq!(place.names(), before, "{form}");
        }
        fs::remove_file(place.path("pay.pgp")).unwrap();
    }
    place.works(&["encrypt", "-r", "me", "pay"]);
    place.works(&["export", "me", "--secret", "-o", "me.key"]);
    place.works(&["delete", "me", "--yes"]);
    place.fails(&["decrypt", "-o", "out", "pay.pgp"], 4);
    place.fails(&["decrypt", "-o", "out", "me.key"], 6);
    place.fails(&["encrypt", "-r", "me", "pay"], 1);
    place.works(&["import", "me.key"]);
    place.fails(&["decrypt", "-o", "pay", "pay.pgp"], 1);
    place.works(&["decrypt", "-o", "out", "pay.pgp"]);
    assert_eq!(place.names(), ["me.key", "out", "pay", "pay.pgp"]);
}

#[test]
fn keys_expire_are_revoked_and_certified() {
    let place = Place::new("keys");
    put(&place.path("pay"), b"data");
    let listed = || place.works(&["list"]);
    place.works(&["generate", "--alias", "me", "--days", "30", "Ada <ada@example.org>"]);
    place.works(&["generate", "--alias", "you", "Bob <bob@example.org>"]);
    assert!(listed().contains("expires"));
    place.works(&["expire", "me", "--days", "0"]);
    assert!(!listed().contains("expires"));
    place.works(&["certify", "--with", "me", "you", "Bob <bob@example.org>"]);
    // That is told before a passphrase is looked for.
    let from_nowhere = ["certify", "--key-passphrase-file", "none", "--with", "me", "you", "Eve"];
    assert!(place.fails(&from_nowhere, 1).contains("no user id \"Eve\""));
    place.fails(&["revoke", "you"], 2);
    place.works(&["revoke", "you", "--reason", "replaced", "--yes"]);
    assert!(listed().contains("revoked"));
    place.fails(&["encrypt", "-r", "you", "pay"], 1);
    place.works(&["passphrase", "me", "--none"]);
    place.works(&["encrypt", "-r", "me", "--armor", "pay"]);
    place.works(&["decrypt", "--yes", "pay.asc"]);
}

#[test]
fn what_another_option_reads_is_said_with_that_option() {
    let place = Place::new("hints");
    put(&place.path("notice"), b"open to all\n");
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    place.works(&["sign", "--cleartext", "--with", "me", "notice"]);
    for words in [&["verify", "notice.asc"][..], &["decrypt", "--yes", "notice.asc"]] {
        let printed = place.fails(words, 6);
        assert!(printed.contains("verify --cleartext"), "{printed}");
    }
    // Also where it stands in a letter, whose other text is left out.
    let notice = fs::read(place.path("notice.asc")).unwrap();
    put(&place.path("letter"), &[b"Dear all,\n\n", &notice[..], b"\nAda\n"].concat());
    let printed = place.fails(&["verify", "letter"], 6);
    assert!(printed.contains("verify --cleartext"), "{printed}");
    place.works(&["verify", "--cleartext", "letter", "-o", "said"]);
    assert_eq!(fs::read(place.path("said")).unwrap(), b"open to all\n");
    // An encrypted message, whose signatures no one sees who does not open it.
    place.works(&["encrypt", "-r", "me", "--sign-with", "me", "notice"]);
    for words in [&["verify", "notice.pgp"][..], &["-v", "notice.pgp"]] {
        let printed = place.fails(words, 4);
        assert!(printed.contains("is encrypted") && printed.contains("pgp decrypt"), "{printed}");
    }
    // A container without protection, of a message that nobody has to open to be told.
    put(&place.path("old.pgp"), &[&[0xC9, 40][..], &[7; 40]].concat());
    let printed = place.fails(&["decrypt", "old.pgp"], 6);
    assert!(printed.contains("--allow-old"), "{printed}");
    assert!(!place.path("old").exists());
}

#[test]
fn nobody_is_asked_for_a_passphrase_that_opens_nothing() {
    let place = Place::new("asked");
    put(&place.path("pay"), b"at rest");
    place.works(&["generate", "--alias", "locked", "Ada <ada@example.org>"]);
    place.works(&["generate", "--alias", "open", "--no-passphrase", "Bob <bob@example.org>"]);
    place.works(&["encrypt", "-r", "open", "-o", "open.pgp", "pay"]);
    place.works(&["encrypt", "-r", "locked", "-o", "locked.pgp", "pay"]);
    place.works(&["encrypt", "-c", "-o", "word.pgp", "pay"]);
    place.works(&["compress", "-o", "packed.pgp", "pay"]);
    let without = |words: &[&str]| {
        let mut command = place.command(words);
        command.env_remove("HOLDFAST_PGP_KEY_PASSPHRASE").env_remove("HOLDFAST_PGP_PASSPHRASE");
        let output = command.stdin(std::process::Stdio::null()).output_in_time().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for file in ["open.pgp", "packed.pgp"] {
        let (code, printed) = without(&["decrypt", "--plain", "--yes", "-o", "out", file]);
        assert_eq!(code, Some(0), "{file}: {printed}");
    }
    let (code, printed) = without(&["decrypt", "-o", "no", "locked.pgp"]);
    assert!(code == Some(2) && printed.contains("--key-passphrase-file"), "{printed}");
    let (code, printed) = without(&["decrypt", "-o", "no", "word.pgp"]);
    assert!(code == Some(4) && printed.contains("a passphrase opens it"), "{printed}");
    place.works(&["decrypt", "--yes", "-o", "out", "word.pgp"]);
    place.works(&["decrypt", "--yes", "-o", "out", "locked.pgp"]);
}

#[test]
fn user_ids_of_strangers_drive_no_terminal() {
    let place = Place::new("strangers");
    place.works(&[
        "generate",
        "--alias",
        "x",
        "Eve\u{1b}[2J\ngood signature of Ada <eve@example.org>",
    ]);
    let printed = place.works(&["list"]);
    assert!(
        printed.contains("Eve\\u{1b}[2J\\u{a}good") && !printed.contains('\u{1b}'),
        "{printed}"
    );
}

#[test]
fn one_file_that_fails_stops_no_other_and_is_named() {
    let place = Place::new("several");
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    put(&place.path("one"), b"1");
    put(&place.path("two"), b"2");
    let printed = place.fails(&["encrypt", "-r", "me", "one", "none", "two"], 1);
    assert!(printed.contains("none: ") && place.path("two.pgp").is_file(), "{printed}");
    fs::remove_file(place.path("one")).unwrap();
    let cut = fs::read(place.path("two.pgp")).unwrap();
    put(&place.path("cut.pgp"), &cut[..cut.len() - 1]);
    let printed = place.fails(&["decrypt", "cut.pgp", "one.pgp"], 3);
    assert!(printed.contains("cut.pgp: the message is damaged"), "{printed}");
    assert_eq!(fs::read(place.path("one")).unwrap(), b"1");
}

#[test]
fn data_that_was_changed_since_it_was_signed_is_called_so() {
    let place = Place::new("changed");
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    put(&place.path("pay"), b"100");
    place.works(&["sign", "--detached", "--with", "me", "pay"]);
    put(&place.path("pay"), b"1000");
    let printed = place.fails(&["verify", "pay.sig"], 5);
    assert!(printed.contains("does not fit: something was changed"), "{printed}");
    assert!(printed.starts_with("taking pay.sig for the signature of pay\n"), "{printed}");
    assert!(!printed.contains("is verified"), "{printed}");
}

#[test]
fn a_name_goes_to_another_key_only_if_that_is_said() {
    let place = Place::new("alias");
    place.works(&["generate", "--alias", "partner", "Ada <ada@example.org>"]);
    place.fails(&["generate", "--alias", "partner", "Eve <eve@example.org>"], 1);
    place.works(&["generate", "--alias", "other", "Eve <eve@example.org>"]);
    let printed = place.fails(&["alias", "partner", "Eve"], 1);
    assert!(printed.contains("is of key") && printed.contains("--yes"), "{printed}");
    assert!(place.works(&["list", "partner"]).contains("Ada"));
    place.works(&["alias", "--yes", "partner", "Eve"]);
    assert!(place.works(&["list", "partner"]).contains("Eve"));
    for unfit in ["0123456789ABCDEF", "user:Ada", " "] {
        place.fails(&["alias", unfit, "Eve"], 2);
    }
    place.fails(&["expire", "--days", "4000000000", "other"], 2);
}

#[test]
fn a_variable_that_is_empty_is_as_good_as_none() {
    let place = Place::new("rest-empty");
    for words in [&["generate", "--no-passphrase", "--alias", "me", "Me"][..], &["list"]] {
        let mut command = place.command(words);
        let output = command.env("HOLDFAST_TOKEN_MODULE", "").output_in_time().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_key_that_is_too_short_opens_old_messages_if_that_is_asked_for_and_nothing_else() {
    let place = Place::new("rest-short");
    let key = include_bytes!("../../../../files/openpgp/tests/data/rsa1024.key");
    put(&place.path("short.key"), key);
    put(
        &place.path("old.asc"),
        include_bytes!("../../../../files/openpgp/tests/data/rsa1024.message"),
    );
    assert!(place.fails(&["import", "short.key"], 1).contains("1024 bits"));
    place.works(&["import", "--allow-old", "--alias", "old", "short.key"]);
    let printed = place.fails(&["decrypt", "-o", "out", "old.asc"], 4);
    assert!(printed.contains("--allow-old"), "{printed}");
    place.works(&["decrypt", "--allow-old", "-o", "out", "old.asc"]);
    assert_eq!(fs::read(place.path("out")).unwrap(), b"written once\n");
    assert!(place.fails(&["encrypt", "-r", "old", "-o", "no", "out"], 1).contains("1024 bits"));
    place.fails(&["sign", "--with", "old", "-o", "no", "out"], 1);
    // What it has signed, whatever time that claims.
    let signature = include_bytes!("../../../../files/openpgp/tests/data/rsa1024.signature");
    put(&place.path("out.sig"), signature);
    let printed = place.fails(&["verify", "out.sig"], 5);
    assert!(printed.contains("1024 bits") && printed.contains("--allow-old"), "{printed}");
    place.fails(&["-v", "out.sig", "out"], 5);
    place.works(&["verify", "--allow-old", "out.sig"]);
    place.works(&["-v", "--allow-old", "out.sig", "out"]);
}

#[test]
fn no_output_takes_the_place_of_an_input_or_of_another_output() {
    let place = Place::new("rest-places");
    place.works(&["generate", "--no-passphrase", "--alias", "me", "Ada <ada@example.org>"]);
    put(&place.path("pay"), b"100");
    place.works(&["encrypt", "-r", "me", "-o", "pay.pgp", "pay"]);
    place.works(&["encrypt", "-r", "me", "-o", "pay.gpg", "pay"]);
    let printed = place.fails(&["decrypt", "--yes", "pay.pgp", "pay.gpg"], 2);
    assert!(printed.contains("pay.pgp and pay.gpg would both become"), "{printed}");
    std::os::unix::fs::symlink("pay", place.path("link")).unwrap();
    for words in [
        &["sign", "--detached", "--with", "me", "--yes", "-o", "pay", "pay"][..],
        &["encrypt", "-r", "me", "--yes", "-o", "link", "pay"],
        &["-b", "-signers-key-alias", "me", "--yes", "-o", "pay", "pay"],
    ] {
        let printed = place.fails(words, 2);
        assert!(printed.contains("would be replaced by what is made of it"), "{printed}");
        assert_eq!(fs::read(place.path("pay")).unwrap(), b"100");
    }
}

#[test]
fn a_key_whose_name_cannot_be_kept_is_not_made() {
    let place = Place::new("rest-half");
    // Nothing can be written where folders stand.
    for name in hidden_names("aliases") {
        fs::create_dir_all(place.path("ring").join(name)).unwrap();
    }
    place.fails(&["generate", "--no-passphrase", "--alias", "x", "Eve <eve@example.org>"], 1);
    assert!(!place.works(&["list"]).contains("Eve"));
    place.works(&["generate", "--no-passphrase", "Eve <eve@example.org>"]);
    place.works(&["delete", "Eve", "--yes"]);
}

#[test]
fn errors_are_on_one_line_and_say_what_helps() {
    let place = Place::new("rest-said");
    let printed = place.fails(&["verify", "new\nline"], 1);
    assert!(printed.contains("new\\u{a}line"), "{printed}");
    let printed = place.fails(&["generate", "--algorithm", "curve448", "Ada"], 2);
    assert!(printed.contains("--v6"), "{printed}");
    let printed = place.fails(&["export", "id:nobody"], 1);
    assert!(printed.contains("is called \"nobody\""), "{printed}");
    place.works(&["generate", "--no-passphrase", "--alias", "me", "Ada <ada@example.org>"]);
    place.works(&["export", "me", "-o", "me.cert"]);
    let cut = fs::read(place.path("me.cert")).unwrap();
    put(&place.path("cut.cert"), &cut[..cut.len() - 1]);
    let printed = place.fails(&["import", "cut.cert"], 6);
    assert!(printed.contains("the key is damaged"), "{printed}");
    put(&place.path("key.pem"), b"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n");
    let printed = place.fails(&["import", "key.pem"], 6);
    assert!(printed.contains("without its certificate"), "{printed}");
}

/// A message of version 1, changed without its key where its first bytes are known: it holds a
/// packet that says it is not compressed, of two mebibytes, and then something else.
fn cut_short(message: &[u8], known: &[u8]) -> Vec<u8> {
    // Behind the lock: the container's kind, a length of one byte, the version, what is random.
    let lock = 2 + usize::from(message[1]);
    assert_eq!((message[0], message[lock], message[lock + 2]), (0xc1, 0xd2, 1));
    let begin = lock + 3 + 18;
    let (outer, inner) = ((2_u32 << 20).to_be_bytes(), ((2_u32 << 20) - 7).to_be_bytes());
    let wanted = [&[0xc8, 255], &outer[..], &[0, 0xcb, 255], &inner[..], b"b"].concat();
    let mut forged = message.to_vec();
    for (at, (known, wanted)) in known.iter().zip(wanted).enumerate() {
        forged[begin + at] ^= known ^ wanted;
    }
    forged
}

#[test]
fn nobody_cuts_a_file_short_without_its_key_on_any_way_to_read_it() {
    let place = Place::new("forged");
    let data: Vec<u8> = (0..5_u32 << 20).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    put(&place.path("pay"), &data);
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    place.works(&["encrypt", "-r", "me", "--form", "v1", "--compress", "none", "pay"]);
    let message = fs::read(place.path("pay.pgp")).unwrap();
    // What is known without the key: the header of the data, with the file's name, and the data.
    let known = [&[0xcb, 0xf4, b'b', 3][..], b"pay", &[0; 4], &data].concat();
    put(&place.path("forged.pgp"), &cut_short(&message, &known));
    let step = |from: &'static str| {
        let from = if from == "pay.pgp" { "SYSUT1=pay.pgp" } else { "SYSUT1=forged.pgp" };
        ["csdfilde", "--dd", from, "--dd", "SYSUT2=out"]
    };
    let before = place.names();
    for plain in [&[][..], &["--plain"]] {
        let words = [&["decrypt", "-o", "out"][..], plain, &["forged.pgp"]].concat();
        place.fails(&words, 3);
        let piped = [&["decrypt", "-o", "-"][..], plain, &["forged.pgp"]].concat();
        let output = place.run(&piped);
        assert!(output.status.code() == Some(3) && output.stdout.is_empty());
    }
    place.fails(&["-d", "-o", "out", "forged.pgp"], 3);
    place.fails(&step("forged.pgp"), 3);
    assert_eq!(place.names(), before);
    place.works(&["-d", "-o", "out", "pay.pgp"]);
    assert!(fs::read(place.path("out")).unwrap() == data);
    place.works(&step("pay.pgp"));
    place.fails(&step("forged.pgp"), 3);
    assert!(fs::read(place.path("out")).unwrap() == data, "the old output stays");
}

/// A bad signature of a key that is known was a warning: the file was written, with exit code 0.
#[test]
fn a_bad_signature_of_a_key_that_is_known_is_an_error_on_every_way_to_read() {
    let place = Place::new("bad");
    put(&place.path("pay"), b"pay 100 to Bob\n");
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    place.works(&["generate", "--alias", "box", "Bob <bob@example.org>"]);
    place.works(&["sign", "--with", "me", "-o", "signed", "pay"]);
    place.works(&["sign", "--cleartext", "--with", "me", "-o", "text", "pay"]);
    place.works(&["encrypt", "-r", "box", "--sign-with", "me", "-o", "sealed", "pay"]);
    let mut signed = fs::read(place.path("signed")).unwrap();
    let at = signed.windows(3).position(|bytes| bytes == b"100").unwrap();
    signed[at] = b'9';
    put(&place.path("changed"), &signed);
    let text = fs::read_to_string(place.path("text")).unwrap();
    put(&place.path("changed.text"), text.replace("100", "900").as_bytes());
    // What is in an encrypted message no one changes; its signer may have lost the key.
    let step = ["csdfilde", "--dd", "SYSUT1=sealed", "--dd", "SYSUT2=out"];
    let sealed: [&[&str]; 3] =
        [&["decrypt", "-o", "out", "sealed"], &["-d", "-o", "out", "sealed"], &step];
    let plain: [&[&str]; 4] = [
        &["decrypt", "--plain", "-o", "out", "changed"],
        &["-d", "-o", "out", "changed"],
        &["decrypt", "--plain", "-o", "out", "changed.text"],
        &["-d", "-o", "out", "changed.text"],
    ];
    for words in sealed {
        let printed = place.works(words);
        assert!(printed.contains("good signature of"), "{printed}");
        fs::remove_file(place.path("out")).unwrap();
    }
    place.works(&["revoke", "me", "--compromised", "--yes"]);
    for words in sealed.into_iter().chain(plain) {
        let printed = place.fails(words, 5);
        assert!(
            printed.contains("HFO116") && printed.contains("--allow-bad-signature"),
            "{printed}"
        );
        assert!(!place.path("out").exists(), "{words:?}");
        let printed = place.works(&[words, &["--allow-bad-signature"]].concat());
        assert!(printed.contains("1 of 1 signatures are bad: a signature of key"), "{printed}");
        fs::remove_file(place.path("out")).unwrap();
    }
    let output = place.run(&["decrypt", "--plain", "-o", "-", "changed"]);
    assert!(output.status.code() == Some(5) && output.stdout.is_empty());
    // Of a key that is not known here there is nothing to check.
    place.works(&["delete", "me", "--yes"]);
    for words in sealed.into_iter().chain(plain) {
        let printed = place.works(words);
        assert!(printed.contains("1 of 1 signatures could not be checked"), "{printed}");
        fs::remove_file(place.path("out")).unwrap();
    }
    let words = ["decrypt", "--json", "-o", "out", "sealed"];
    let value: serde_json::Value = serde_json::from_slice(&place.run(&words).stdout).unwrap();
    assert_eq!((&value["signatures"], &value["verified"]), (&1.into(), &serde_json::json!([])));
    assert_eq!(value["bad_signatures"], serde_json::json!([]));
    assert!(value["unchecked_signatures"][0].as_str().unwrap().contains("certificate is not"));
}

#[test]
fn a_file_that_is_not_there_is_called_missing() {
    let place = Place::new("missing");
    put(&place.path("pay"), b"pay of May");
    place.works(&["generate", "--alias", "me", "Ada <ada@example.org>"]);
    place.works(&["sign", "--detached", "--with", "me", "pay"]);
    for words in [
        &["decrypt", "gone"][..],
        &["decrypt", "gone.pgp"],
        &["decrypt", "-o", "out", "gone"],
        &["-d", "gone"],
        &["encrypt", "-r", "me", "gone"],
        &["-e", "-rA", "me", "gone"],
        &["sign", "--detached", "--with", "me", "gone"],
        &["verify", "gone"],
        &["verify", "pay.sig", "gone"],
        &["verify", "--signature", "gone", "pay"],
        &["import", "gone"],
        &["csdfilde", "--dd", "SYSUT1=gone", "--dd", "SYSUT2=out"],
    ] {
        let printed = place.fails(words, 1);
        assert!(printed.contains("is missing (HFO117)"), "{words:?}: {printed}");
    }
    fs::remove_file(place.path("pay")).unwrap();
    let printed = place.fails(&["verify", "pay.sig"], 6);
    assert!(printed.contains("pay, which pay.sig seems to sign, is missing"), "{printed}");
}
