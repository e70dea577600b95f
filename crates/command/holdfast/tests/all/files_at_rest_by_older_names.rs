//! `holdfast pgp` by the names of the Encryption Facility, and by its older job control: the same
//! files come out as by the clear commands.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::fs;

use crate::common::place::{Place, put};

#[test]
fn the_facilitys_names_do_what_the_clear_ones_do() {
    let place = Place::new("older");
    let data: Vec<u8> = (0..400_000_u32).map(|i| (i / 3 % 97) as u8).collect();
    put(&place.path("pay"), &data);
    put(&place.path("more"), b"more");
    let ada = ["-g", "-userID-name", "Ada", "-userID-email", "ada@example.org"];
    place.works(&[&ada[..], &["-key-alias", "me", "-openPGP-days-valid", "30"]].concat());
    place.works(&["-e", "-s", "-signers-key-alias", "me", "-rA", "me", "pay", "more"]);
    place.works(&["-d", "-o", "out", "pay.pgp"]);
    assert!(fs::read(place.path("out")).unwrap() == data);
    place.works(&["decrypt", "--signed-by", "me", "--yes", "-o", "out", "more.pgp"]);
    assert_eq!(fs::read(place.path("out")).unwrap(), b"more");
    place.works(&["-d", "-yes", "more.pgp"]);

    // A passphrase in the line is taken, told to be seen by others, and not shown.
    let printed = place.works(&["-c", "-rP", "the secret of all", "-o", "word.pgp", "pay"]);
    assert!(printed.contains("everybody on this machine"), "{printed}");
    place.fails(&["-d", "-rP", "the secret of none", "-o", "no", "word.pgp"], 4);
    place.works(&["-d", "-s2k-passphrase", "the secret of all", "-o", "word", "word.pgp"]);
    assert!(fs::read(place.path("word")).unwrap() == data);
    // Left out, it is asked for: the environment answers.
    place.works(&["-c", "-o", "asked.pgp", "more"]);
    place.works(&["-d", "-o", "asked", "asked.pgp"]);

    place.works(&["-b", "-signers-key-alias", "me", "-digest-name", "SHA_384", "pay"]);
    place.works(&["-v", "pay.sig", "pay"]);
    place.works(&["-b", "-armor", "-signers-key-alias", "me", "more"]);
    let printed = place.works(&["-v", "pay.sig", "pay", "more.asc", "more"]);
    assert!(printed.contains("taking more.asc for the signature of more"), "{printed}");
    place.works(&["verify", "pay.sig", "more.asc"]);
    put(&place.path("alone.sig"), &fs::read(place.path("pay.sig")).unwrap());
    assert!(place.fails(&["-v", "alone.sig"], 6).contains("--signature SIGNATURE FILE"));
    place.works(&["-v", "alone.sig", "pay"]);
    place.fails(&["-v", "alone.sig", "more"], 5);
    put(&place.path("alone"), b"something else");
    place.fails(&["-v", "alone.sig"], 5);
    place.works(&["-s", "-signers-key-alias", "me", "-o", "signed", "pay"]);
    place.works(&["-v", "signed"]);
    // Text that stays readable is known by its beginning.
    put(&place.path("letter"), b"first line\n- second\n");
    place.works(&["sign", "--cleartext", "--with", "me", "-o", "letter.asc", "letter"]);
    place.works(&["-v", "letter.asc"]);
    let printed = place.works(&["-d", "-o", "letter.out", "letter.asc"]);
    assert!(printed.contains("good signature"), "{printed}");
    assert_eq!(fs::read(place.path("letter.out")).unwrap(), b"first line\n- second\n");
    let letter = fs::read_to_string(place.path("letter.asc")).unwrap();
    put(&place.path("forged.asc"), letter.replace("first", "other").as_bytes());
    place.fails(&["-v", "forged.asc"], 5);
    let printed = place.fails(&["-d", "-o", "forged.out", "forged.asc"], 5);
    assert!(printed.contains("something was changed"), "{printed}");
    assert!(!place.path("forged.out").exists());
    let allowed = ["-d", "--allow-bad-signature", "-o", "forged.out", "forged.asc"];
    let printed = place.works(&allowed);
    assert!(printed.contains("1 of 1 signatures are bad"), "{printed}");
    place.fails(&["decrypt", "--plain", "--signed-by", "me", "-o", "no", "forged.asc"], 5);
    place.fails(&["decrypt", "-o", "no", "letter.asc"], 6);
    place.works(&["-compress", "-compression", "6", "-o", "packed", "pay"]);
    assert!(fs::metadata(place.path("packed")).unwrap().len() < 100_000);
    place.works(&["-d", "-o", "unpacked", "packed"]);
    assert!(fs::read(place.path("unpacked")).unwrap() == data);
    place.fails(&["decrypt", "-o", "unpacked", "--yes", "packed"], 6);
}

#[test]
fn the_ring_is_kept_by_the_facilitys_names() {
    let place = Place::new("older-ring");
    place.works(&["-prepare"]);
    place.works(&["-g", "-userID-name", "Ada", "-key-alias", "me"]);
    place.works(&["-g", "-userID-name", "Bob", "-key-alias", "you"]);
    place.works(&["-eA", "-armor", "-o", "both.asc", "me", "you"]);
    let listed = place.works(&["-iU", "Bob"]);
    assert!(listed.contains("alias you") && !listed.contains("alias me"), "{listed}");
    let printed = place.fails(&["-g", "-userID-name", "Eve", "-openPGP-days-valid", "x"], 2);
    assert!(printed.contains("-openPGP-days-valid") && printed.contains("HFE102"), "{printed}");
    place.fails(&["-iU", "you"], 1);
    place.fails(&["-xA", "you"], 2);
    place.works(&["-xA", "-yes", "you"]);
    place.works(&["-i", "both.asc"]);
    assert!(place.works(&["-iK"]).contains("Bob"));
    assert!(place.works(&["-list-algo"]).contains("AES-128"));
    assert!(place.works(&["-e", "-h"]).contains("USE_ASYNC_CIPHER"));
    assert!(place.works(&["-rebuild-key-index"]).contains("2 certificates and 1 secret keys"));
    put(&place.path("ring").join("0000.cert"), b"no certificate");
    place.fails(&["-rebuild-key-index"], 1);
}

#[test]
fn options_are_called_as_they_are_on_the_line_that_was_typed() {
    let place = Place::new("older-words");
    put(&place.path("pay"), b"pay of May");
    place.works(&["-g", "-userID-name", "Ada", "-key-alias", "me"]);
    place.works(&["-e", "-rA", "me", "pay"]);
    let printed = place.fails(&["-e", "-rA", "me", "pay"], 1);
    assert!(printed.contains("say -yes to replace it") && !printed.contains("--yes"), "{printed}");
    let printed = place.fails(&["-d", "pay.pgp"], 1);
    assert!(printed.contains("say -yes to replace it") && !printed.contains("--yes"), "{printed}");
    let printed = place.fails(&["-xA", "me"], 2);
    assert!(printed.contains("Say -yes") && !printed.contains("--yes"), "{printed}");
    assert!(place.fails(&["encrypt", "-r", "me", "pay"], 1).contains("say --yes to replace it"));
    place.works(&["-e", "-rA", "me", "-yes", "pay"]);
}

#[test]
fn the_configuration_fills_in_what_the_line_leaves_out() {
    let place = Place::new("older-file");
    put(&place.path("pay"), b"pay of May");
    place.works(&["-g", "-userID-name", "Ada", "-key-alias", "me"]);
    let file = place.path("ring").join("ibmef.config");
    let text = "# our own\nJCE_PROVIDER_LIST com.example.Hardware\nRECIPIENT_ALIAS = me\n\
                USE_ASYNC_IO false\nUSE_ASYNC_CIPHER false\nUSE_ASYNC_COMPRESS false\nARMOR yes\n\
                KEY_PASSWORD the secret of a key\n";
    put(&file, text.as_bytes());
    let printed = place.works(&["-e", "pay"]);
    assert!(
        printed.contains("means nothing here") && printed.contains("others can read it"),
        "{printed}"
    );
    assert!(fs::read(place.path("pay.asc")).unwrap().starts_with(b"-----BEGIN PGP MESSAGE"));
    place.works(&["-d", "-o", "out", "pay.asc"]);
    assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");

    put(&file, b"USE_ASYNC_IO false\nCIPHER_NAM AES_128\n");
    let output = place.run(&["-e", "-rA", "me", "pay"]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{printed}");
    for answer in ["ibmef.config: line 2", "HFE101", "CIPHER_NAME"] {
        assert!(printed.contains(answer), "{answer}: {printed}");
    }
    // The clear commands do not read the file.
    place.works(&["encrypt", "-r", "me", "pay"]);
}

#[test]
fn names_of_data_sets_lead_to_files() {
    let place = Place::new("older-sets");
    put(&place.path("pay"), b"pay of May");
    fs::create_dir_all(place.path("sets/HLQ.SECRET")).unwrap();
    put(&place.path("sets/HLQ.PAY"), b"pay of June");
    place.works(&["-g", "-userID-name", "Ada", "-key-alias", "me"]);
    let from = ["-e", "-rA", "me", "-dataset-folder", "sets", "-o", "//'HLQ.SECRET(MAY)'"];
    place.works(&[&from[..], &["--dd", "PAY=pay", "//DD:PAY"]].concat());
    assert!(place.path("sets/HLQ.SECRET/MAY").is_file());
    put(&place.path("ring/ibmef.config"), b"DATASET_FOLDER sets\n");
    place.works(&["-e", "-rA", "me", "//'hlq.pay'", "//'HLQ.SECRET(MAY)'"]);
    place.works(&["-d", "-o", "//DD:OUT", "--dd=OUT=out", "//'HLQ.SECRET(MAY)'"]);
    assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");
    place.works(&["-d", "-o", "june", "//'HLQ.PAY.PGP'"]);
    assert_eq!(fs::read(place.path("june")).unwrap(), b"pay of June");
    place.works(&["-d", "-yes", "//'HLQ.PAY.PGP'"]);
    place.works(&["-d", "-yes", "sets/HLQ.PAY.pgp"]);
    assert_eq!(fs::read(place.path("sets/HLQ.PAY")).unwrap(), b"pay of June");
    let printed = place.fails(&["-d", "//DD:NONE"], 2);
    assert!(printed.contains("HFE102") && printed.contains("--dd NONE=PATH"), "{printed}");
    let printed = place.fails(&["-d", "-o", "x", "//'HLQ.NONE'"], 1);
    assert!(printed.contains("sets/HLQ.NONE"), "{printed}");
    let printed = place.fails(&["-e", "-rA", "me", "-o", "x", "//'HLQ.SECRET'"], 1);
    assert!(printed.contains("HLQ.SECRET"), "{printed}");
}

#[test]
fn a_step_of_the_older_programs_goes_there_and_back() {
    let place = Place::new("older-step");
    let data: Vec<u8> = (0..3_000_000_u32).map(|i| (i / 7 % 89) as u8).collect();
    put(&place.path("pay"), &data);
    place.works(&["generate", "--alias", "BANK", "Ada <ada@example.org>"]);
    place.works(&["generate", "--alias", "PARTNER", "Bob <bob@example.org>"]);
    let cards = "* both can read it\nDESC='pay of May'\nCLRAES128\nRSA=BANK\nRSA=PARTNER\n\
                 COMPRESSION=6\nCOMPRESSION\n";
    put(&place.path("cards"), cards.as_bytes());
    let step = ["csdfilen", "--dd", "SYSUT1=pay", "--dd", "SYSUT2=pay.pgp", "--dd", "SYSIN=cards"];
    let report = place.works(&step);
    let tell = ["3,000,000", "AES, 128 bits", "BANK, PARTNER", "longest cipher time", "done"];
    for answer in tell.into_iter().chain(["length of that block   ", " bytes"]) {
        assert!(report.contains(answer), "{answer}: {report}");
    }
    let back = ["csdfilde", "--dd", "SYSUT1=pay.pgp", "--dd", "SYSUT2=out"];
    place.works(&[&back[..], &["--dd", "SYSPRINT=report"]].concat());
    let report = fs::read_to_string(place.path("report")).unwrap();
    assert!(report.contains("pay of May"), "{report}");
    assert!(fs::read(place.path("out")).unwrap() == data);

    put(&place.path("cards"), b"PASSWORD=opensesame\nICOUNT=16\n");
    let printed = place.works(&step);
    assert!(printed.contains("ICOUNT means nothing") && printed.contains("AES-256"), "{printed}");
    assert!(!printed.contains("opensesame"));
    put(&place.path("cards"), b"PASSWORD=opensesamf\n");
    place.fails(&[&back[..], &["--dd", "SYSIN=cards", "--dd", "SYSPRINT=report"]].concat(), 4);
    let report = fs::read_to_string(place.path("report")).unwrap();
    assert!(report.contains("failed: "), "{report}");
    assert!(fs::read(place.path("out")).unwrap() == data, "the old output stays");
    put(&place.path("cards"), b"PASSWORD=opensesame\nRSA=BANK\n");
    place.fails(&step, 2);
    place.fails(&["csdfilen", "--dd", "SYSUT1=pay", "--dd", "SYSUT2=x"], 2);
    place.fails(&["csdfilen", "--dd", "SYSUT1=pay", "--dd", "SYSUT3=x"], 2);
    put(&place.path("cards"), b"RSA=BANK\n");
    for report in ["pay", "./pay.pgp", "cards", "new"] {
        let (out, print) = (if report == "new" { "new" } else { "pay.pgp" }, report);
        let dds = [format!("SYSUT2={out}"), format!("SYSPRINT={print}")];
        let words = ["csdfilen", "--dd", "SYSUT1=pay", "--dd", "SYSIN=cards", "--dd", &dds[0]];
        let printed = place.fails(&[&words[..], &["--dd", &dds[1]]].concat(), 2);
        assert!(printed.contains("are one file") && printed.contains("SYSPRINT"), "{printed}");
    }
    assert!(fs::read(place.path("pay")).unwrap() == data && !place.path("new").exists());
}
