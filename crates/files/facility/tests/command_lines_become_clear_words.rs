//! Command lines, configurations and cards of the Encryption Facility, as their users write them.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::ffi::OsString;

use base::Coded as _;
use holdfast_facility::{CODES, Call, Configuration, Error, Job, Line, Program, Protection, help};

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn call_with(line: &str, configuration: &str) -> Result<Call, Error> {
    let configuration = Configuration::parse(configuration.as_bytes())?;
    Line::parse(&words(line))?.call(&configuration, &|_| None)
}

fn clear(line: &str, configuration: &str) -> String {
    let call = call_with(line, configuration).unwrap_or_else(|error| panic!("{line}: {error}"));
    let words: Vec<_> = call.words.iter().map(|word| word.to_str().unwrap()).collect();
    words.join(" ")
}

fn wrong(line: &str, configuration: &str) -> (String, String) {
    let error = call_with(line, configuration).err().unwrap_or_else(|| panic!("{line} is taken"));
    (error.code().to_string(), format!("{error} / {}", error.remedy()))
}

#[test]
fn every_command_has_its_clear_form() {
    for (line, expected) in [
        ("-e -rA pay -o out in", "encrypt --recipient=alias:pay --output=out -- in"),
        (
            "-o out -rK 0AB1 -rU Ada -e in",
            "encrypt --output=out --recipient=id:0AB1 --recipient=user:Ada -- in",
        ),
        ("-c in", "encrypt --passphrase -- in"),
        (
            "-e -s -signers-key-alias me -rA pay in",
            "encrypt --sign-with=alias:me --recipient=alias:pay -- in",
        ),
        ("-s -signers-key-alias me in", "sign --with=alias:me -- in"),
        ("-s -b -signers-key-alias me a b", "sign --with=alias:me --detached -- a b"),
        ("-d in.pgp -o out", "decrypt --output=out --plain -- in.pgp"),
        ("-v in.sig in", "verify --signature=in.sig -- in"),
        ("-v a b", "verify -- a b"),
        (
            "-compress -compress-name ZLIB -compression 9 in",
            "compress --compress=zlib --level=9 -- in",
        ),
        ("-e -compression 0 -rA pay", "encrypt --compress=none --level=0 --recipient=alias:pay"),
        (
            "-g -keystore-type PKCS11 -keystore BANK -key-alias pay -userID-name Ada",
            "generate --token=BANK --alias=pay -- Ada",
        ),
        ("-d -keystore-type PKCS11 -keystore BANK in", "decrypt --plain -- in"),
        ("-d -keystore k.p12 in", "decrypt --keystore=k.p12 --plain -- in"),
        ("-e -rA pay -keystore k in", "encrypt --recipient=alias:pay --keystore=k -- in"),
        (
            "-s -signers-key-alias me -keystore k -keystore-type PKCS12 in",
            "sign --with=alias:me --keystore=k -- in",
        ),
        ("-v -keystore k in", "verify --keystore=k -- in"),
        ("-eA pay -keystore k", "export --keystore=k -- alias:pay"),
        ("-iA -keystore k", "list --keystore=k"),
        ("-xA pay -yes -keystore k", "delete --yes --keystore=k -- alias:pay"),
        (
            "-g -keystore k -key-alias pay -userID-name Ada -x509-days-valid 365",
            "generate --keystore=k --alias=pay --x509-days=365 -- Ada",
        ),
        ("-eA pay -armor", "export --armor -- alias:pay"),
        ("-eK 0AB1", "export -- id:0AB1"),
        ("-i a b", "import -- a b"),
        ("-a x.pem -key-alias pay", "import --alias=pay -- x.pem"),
        ("-iU Ada", "list -- user:Ada"),
        ("-iA", "list"),
        ("-xA pay -yes", "delete --yes -- alias:pay"),
        ("-list-algo", "algorithms"),
        ("-prepare -homedir /k", "check --home=/k"),
        ("-rebuild-key-index", "check"),
        (
            "-e -rA p -t -armor -cipher-name AES_128 --stats -- -in",
            "encrypt --recipient=alias:p --text --armor --cipher=aes128 --stats -- -in",
        ),
        ("-e -rA -x - ", "encrypt --recipient=alias:-x -- -"),
    ] {
        assert_eq!(clear(line, ""), expected, "{line}");
    }
    let line = ["-g", "-userID-name", "Ada L", "-userID-email", "a@b", "-key-size", "3072"];
    let call = Line::parse(&line.map(OsString::from)).unwrap();
    let call = call.call(&Configuration::default(), &|_| None).unwrap();
    assert_eq!(call.words.last().unwrap(), "Ada L <a@b>");
    assert!(call.words.contains(&OsString::from("--algorithm=rsa3072")));
}

#[test]
fn the_command_line_wins_over_the_configuration() {
    let file = "# the usual\nRECIPIENT_ALIAS pay\nCIPHER_NAME = AES_256\nUSE_ASYNC_IO false\n\
                use_ascii_armor yes\nUSE_ASYNC_CIPHER on\n";
    assert_eq!(
        clear("-e -cipher-name AES_128 -rK 12 in", file),
        "encrypt --cipher=aes128 --recipient=id:12 --async-io=off --armor --async-cipher=on -- in"
    );
    let marked = format!("\u{feff}{file}");
    assert_eq!(clear("-e -rK 12 in", &marked), clear("-e -rK 12 in", file));
    assert_eq!(clear("-iA", file), "list", "what a command does not take is left out");
    let file = "JAVA_KEY_STORE_NAME k.p12\nJAVA_KEY_STORE_TYPE PKCS12\n";
    for (line, expected) in [
        ("-d in", "decrypt --keystore=k.p12 --plain -- in"),
        ("-e -rA p in", "encrypt --recipient=alias:p --keystore=k.p12 -- in"),
        ("-c in", "encrypt --passphrase -- in"),
        ("-compress in", "compress -- in"),
        ("-i in", "import -- in"),
        ("-i -keystore k.p12", "import --keystore=k.p12"),
        ("-iA", "list --keystore=k.p12"),
    ] {
        assert_eq!(clear(line, file), expected, "{line}");
    }
}

#[test]
fn files_are_named_as_data_sets_and_by_their_signatures() {
    for (line, expected) in [
        (
            "-d -o //DD:OUT --dd OUT=a/b -dataset-folder /s --dd=IN=c //DD:IN",
            "decrypt --output=a/b --plain -- c",
        ),
        (
            "-e -rA p -dataset-folder /s -o //'P.OUT' //'P.IN(MAY)' x",
            "encrypt --recipient=alias:p --output=/s/P.OUT -- /s/P.IN/MAY x",
        ),
        ("-v -dataset-folder /s //'P.A.SIG' //'P.A'", "verify --signature=/s/P.A.SIG -- /s/P.A"),
        (
            "-i -dataset-folder /s //'P.KEY' -keystore //'P.KS'",
            "import --keystore=/s/P.KS -- /s/P.KEY",
        ),
        ("-v a.sig a b.asc b", "verify -- a.sig b.asc"),
        ("-v a.sig b.sig", "verify -- a.sig b.sig"),
    ] {
        assert_eq!(clear(line, ""), expected, "{line}");
    }
}

#[test]
fn data_sets_of_the_configuration_are_found() {
    let file = "DATASET_FOLDER /s\nOUTPUT //'P.OUT'\nJAVA_KEY_STORE_NAME //DD:KS\n";
    let line = "-d //'P.IN' --dd KS=k.p12";
    assert_eq!(clear(line, file), "decrypt --output=/s/P.OUT --keystore=k.p12 --plain -- /s/P.IN");
    let line = Line::parse(&words("-d //DD:IN")).unwrap();
    let variable = |name: &str| (name == "dd_IN").then(|| OsString::from("x"));
    let call = line.call(&Configuration::default(), &variable).unwrap();
    assert_eq!(call.words, ["decrypt", "--plain", "--", "x"]);
}

#[test]
fn what_means_nothing_is_told_and_secrets_are_not() {
    let call = call_with("-e -rP opensesame -days -1", "").err().unwrap();
    assert!(!call.to_string().contains("opensesame"));
    let file = "JCE_PROVIDER_LIST com.example.Hardware\nKEY_PASSWORD \"of the key \"\n";
    let call = call_with("-c -rP opensesame -log x -userID-name Ada in", file).unwrap();
    assert_eq!(call.secrets.file.as_deref().unwrap(), b"opensesame");
    assert_eq!(call.secrets.key.as_deref().unwrap(), b"of the key ");
    let token = "-keystore-type PKCS11 -keystore BANK -keystore-password 4711";
    let opens = call_with(&format!("-d {token} in"), "").unwrap();
    assert_eq!(opens.secrets.keystore.as_deref().unwrap(), b"4711");
    let notes = call.notes.join("\n");
    for answer in ["everybody on this machine", "-log means nothing", "-userID-name means nothing"]
    {
        assert!(notes.contains(answer), "{answer}: {notes}");
    }
    assert!(notes.contains("-jce-providers"), "{notes}");
    assert!(!notes.contains("opensesame") && !notes.contains("of the key"));
    assert!(call.words.iter().all(|word| word != "opensesame"));
}

#[test]
fn a_configuration_stops_only_what_would_do_as_it_says() {
    let file = "DIGEST_NAME SHA_1\nS2K_DIGEST_NAME SHA_1\nS2K_MODE 1\nS2K_CIPHER_NAME TRIPLE_DES";
    for line in ["-d in", "-v in", "-iA me", "-e -rA me in"] {
        assert!(call_with(line, file).is_ok(), "{line}");
    }
    for (line, key) in [("-c in", "-s2k-"), ("-e -s -rA me -signers-key-alias me in", "SHA_1")] {
        let (_, text) = wrong(line, file);
        assert!(text.contains("ibmef.config") && text.contains(key), "{line}: {text}");
    }
}

#[test]
fn what_is_wrong_is_named_with_what_is_near() {
    for (line, file, code, answer) in [
        ("-e -cypher-name AES_128 in", "", "HFE101", "-cipher-name"),
        ("-e in", "USE_ASYNC_OI true", "HFE101", "line 1: there is no key USE_ASYNC_OI"),
        ("-e in", "\nUSE_ASYNC_IO perhaps", "HFE102", "line 2"),
        ("-e in", "ARMOR", "HFE102", "no value"),
        ("-e -o", "", "HFE102", "-o has no value"),
        ("-e -cipher-name TRIPLE_DES in", "", "HFE102", "AES_128"),
        ("-s -signers-key-alias me -digest-name MD5 in", "", "HFE102", "SHA_256"),
        ("-g -userID-name A -key-size 1024", "", "HFE102", "2048"),
        ("-i -keystore-type JCEKS x", "", "HFE102", "keytool"),
        ("-d -keystore-type JKS x", "JAVA_KEY_STORE_NAME k", "HFE102", "keytool"),
        ("-d //DD:IN", "", "HFE102", "--dd IN=PATH"),
        ("-d //'P.IN'", "", "HFE102", "-dataset-folder"),
        ("-d in --dd", "", "HFE102", "NAME=PATH"),
        ("-d in --dd A=x --dd a=y", "", "HFE102", "two files for DD A"),
        ("-c -s2k-digest-name SHA_1 in", "", "HFE102", "-s2k-digest-name cannot be SHA_1"),
        ("-e -rA a in", "CIPHER_NAME DES", "HFE102", "ibmef.config: -cipher-name cannot be DES"),
        ("-c -rPopensesame in", "", "HFE102", "belongs to -rP stands in one word"),
        ("-e in", "opensesame", "HFE101", "there is no key of that name"),
        ("in", "", "HFE103", "no command"),
        ("-e -d in", "", "HFE103", "two commands"),
        ("-s in", "", "HFE104", "-signers-key-alias"),
        ("-g", "", "HFE104", "-userID-name"),
        ("-eA", "", "HFE104", "which key"),
        ("-list-algo in", "", "HFE104", "in has no meaning"),
        ("-e in", "\u{0}", "HFE101", "no key"),
    ] {
        let (found, text) = wrong(line, file);
        assert_eq!(found, code, "{line} {file}: {text}");
        assert!(text.contains(answer) && !text.contains("opensesame"), "{line}: {text}");
    }
    let long = format!("LOG {}", "x".repeat(5000));
    assert_eq!(wrong("-e in", &long).0, "HFE105");
}

#[test]
fn only_lines_of_one_dash_are_of_this_language() {
    for (line, is_one) in [
        ("-e in", true),
        ("-homedir x -d in", true),
        ("--json -e in", true),
        ("-e -h", true),
        ("-h", false),
        ("--help", false),
        ("encrypt -r a", false),
        ("", false),
    ] {
        assert_eq!(Line::is_one(&words(line)), is_one, "{line}");
    }
    assert!(Line::parse(&words("-e -h")).unwrap().wants_help());
    let help = help();
    for name in ["-rebuild-key-index", "-s2k-passphrase", "USE_ASYNC_COMPRESS", "CIPHER_NAME"] {
        assert!(help.contains(name), "{name}");
    }
}

fn job(program: Program, cards: &str) -> Result<Job, Error> {
    Job::parse(program, cards.as_bytes())
}

#[test]
fn the_last_card_of_a_keyword_counts_and_labels_add_up() {
    let cards = "* pay of May\nDESC='it''s pay'   remark\nCLRTDES\nCLRAES128\nRSA=ONE\n\
                 RSA=TWO        second\nCOMPRESSION\nICOUNT=20\n";
    let job = job(Program::Encrypt, cards).unwrap();
    assert_eq!(job.description.as_deref(), Some("it's pay"));
    assert_eq!((job.key_bits, job.compression), (128, Some(1)));
    let Protection::Keys(labels) = &job.protection else { panic!("keys are named") };
    assert_eq!(labels, &["ONE", "TWO"]);
    assert!(job.notes[0].contains("ICOUNT"));
    let card = format!("{:<72}00010000\nPASSWORD=a'word  \n", "COMPRESSION=NO");
    let job = Job::parse(Program::Decrypt, card.as_bytes()).unwrap();
    assert!(matches!(job.protection, Protection::Passphrase(word) if word[..] == *b"a'word"));
}

#[test]
fn cards_that_are_wrong_are_named_by_their_number() {
    for (cards, code, answer) in [
        ("RSA=A\nPASSWORD=opensesame", "HFE106", "exclude"),
        ("CLRAES128", "HFE106", "RSA=label"),
        ("ENCTDES\nPASSWORD=opensesame", "HFE106", "ENCTDES"),
        ("RSA=A\n RSA=B", "HFE105", "card 2"),
        ("RSA=A\nCOMPRES", "HFE101", "COMPRESSION"),
        ("RSA", "HFE102", "no value"),
        ("CLRTDES=1", "HFE102", "no value"),
        ("DESC=text", "HFE102", "apostrophes"),
        ("ICOUNT=0", "HFE102", "10000"),
        ("COMPRESSION=12", "HFE102", "0 to 9"),
        ("PASSWORD=", "HFE102", "PASSWORD"),
        ("PASSWORD=opensesame 2", "HFE102", "blanks"),
        ("PASSWORD='opensesame'", "HFE102", "apostrophes"),
        ("PASSWORD='opensesame two'", "HFE102", "apostrophes"),
    ] {
        let error = job(Program::Encrypt, cards).err().unwrap_or_else(|| panic!("{cards}"));
        let text = format!("{error} / {}", error.remedy());
        assert_eq!(error.code().to_string(), code, "{cards}: {text}");
        assert!(text.contains(answer) || answer == "no value", "{cards}: {text}");
        assert!(!text.contains("opensesame"));
    }
    let long = format!("RSA=A{:>80}", "more");
    assert_eq!(job(Program::Encrypt, &long).err().unwrap().code().to_string(), "HFE105");
}

#[test]
fn every_code_is_in_the_list() {
    let codes: Vec<&str> = CODES.iter().map(|known| known.code).collect();
    assert_eq!(codes, ["HFE101", "HFE102", "HFE103", "HFE104", "HFE105", "HFE106"]);
}
