//! The Encryption Facility's command lines, configurations and cards: text that people write.

use std::ffi::OsString;

use facility::{Configuration, Job, Line, Program};

/// Reads any bytes as a configuration, as cards, and line by line as words of a command line.
///
/// # Panics
/// If a call has a word for the clear command that could be taken for an option of the user's.
pub fn fuzz(bytes: &[u8]) {
    let _ = Job::parse(Program::Encrypt, bytes);
    let _ = Job::parse(Program::Decrypt, bytes);
    let configuration = Configuration::parse(bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    let words: Vec<OsString> = text.lines().take(64).map(OsString::from).collect();
    let Ok(line) = Line::parse(&words) else { return };
    let (_, _) = (Line::is_one(&words), line.home());
    let Ok(call) = line.call(&configuration, &|_| None) else { return };
    let known = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    assert!(call.words.first().is_some_and(known), "a call begins with a subcommand");
    let options = call.words.iter().skip(1).take_while(|word| *word != "--");
    for word in options {
        assert!(word.as_encoded_bytes().starts_with(b"--"), "{word:?} is no option");
    }
}

/// A command line of each sort, a configuration, and cards.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "-e\n-rA\npayroll\n-o\nout.pgp\n-cipher-name\nAES_128\nin.dat",
        "-s\n-b\n-signers-key-alias\nme\n--stats\na\n--\n-b",
        "-g\n-userID-name\nAda\n-key-size\n3072\n-openPGP-days-valid\n30",
        "-v\na.sig\na",
        "-d\n-o\n//DD:OUT\n--dd\nOUT=x\n-dataset-folder\n/s\n//'HLQ.PAY(MAY)'",
        "# comment\nUSE_ASYNC_IO false\nCIPHER_NAME = AES_256\nKEY_PASSWORD \"a b\"\nRECIPIENT_ALIAS x",
        "* pay\nDESC='it''s pay' remark\nCLRAES128\nRSA=A\nRSA=B\nCOMPRESSION=6\nICOUNT=16",
        "PASSWORD=word\nENCTDES",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}
