//! The names of the Encryption Facility: commands, options, keys of the configuration, and what
//! each of them means here.
//!
//! 1. One table: the command line, the configuration, the help and the advice for a wrong name are
//!    read from it, so they cannot say different things.
//! 2. A key of the configuration is the option's name in capitals, with `_` for `-`, and the other
//!    names that stand in the table.

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Encrypt,
    EncryptByPassphrase,
    Sign,
    SignApart,
    Decrypt,
    Verify,
    Compress,
    Generate,
    Export(By),
    Import,
    Show(By),
    Delete(By),
    Add,
    Algorithms,
    Check,
    Help,
}

/// How a key is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Alias,
    KeyId,
    UserId,
}

impl By {
    /// What stands before the name, so that nothing else is looked for.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            By::Alias => "alias:",
            By::KeyId => "id:",
            By::UserId => "user:",
        }
    }
}

/// All commands, with what they do.
pub(crate) const COMMANDS: &[(&str, Command, &str)] = &[
    ("-e", Command::Encrypt, "encrypt files to keys (-rA, -rK, -rU)"),
    ("-c", Command::EncryptByPassphrase, "encrypt files to a passphrase"),
    ("-s", Command::Sign, "sign files; with -e or -c, what is encrypted"),
    ("-b", Command::SignApart, "sign files, with the signatures apart"),
    ("-d", Command::Decrypt, "decrypt files, and verify who signed them"),
    ("-v", Command::Verify, "verify signed files; or a signature and its file"),
    ("-compress", Command::Compress, "compress files, without encryption"),
    ("-g", Command::Generate, "generate a key"),
    ("-eA", Command::Export(By::Alias), "export certificates by alias"),
    ("-eK", Command::Export(By::KeyId), "export certificates by key id"),
    ("-eU", Command::Export(By::UserId), "export certificates by user id"),
    ("-i", Command::Import, "import certificates and keys"),
    ("-a", Command::Add, "add a certificate, with its alias (-key-alias)"),
    ("-iA", Command::Show(By::Alias), "show keys by alias"),
    ("-iK", Command::Show(By::KeyId), "show keys by key id"),
    ("-iU", Command::Show(By::UserId), "show keys by user id"),
    ("-xA", Command::Delete(By::Alias), "delete keys by alias"),
    ("-xK", Command::Delete(By::KeyId), "delete keys by key id"),
    ("-xU", Command::Delete(By::UserId), "delete keys by user id"),
    ("-list-algo", Command::Algorithms, "list the algorithms"),
    ("-prepare", Command::Check, "make the key ring, and read all that is in it"),
    ("-rebuild-key-index", Command::Check, "the same: the key ring needs no index"),
    ("-h", Command::Help, "show this"),
];

/// What an option means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    Output,
    Home,
    DataSetFolder,
    Recipient(By),
    FilePassphrase,
    Signer,
    KeyPassphrase,
    KeyAlias,
    KeySize,
    Keystore,
    KeystoreType,
    KeystorePassphrase,
    Cipher,
    Digest,
    CompressName,
    Level,
    Mdc,
    S2kCipher,
    S2kDigest,
    S2kMode,
    Armor,
    Text,
    /// Of what, as the clear option says it.
    DaysValid(&'static str),
    UserName,
    UserEmail,
    UserComment,
    Async(&'static str),
    Yes,
    /// Accepted for the sake of lines and files that say it; why it means nothing.
    Nothing(&'static str),
}

/// What stands behind an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing; in a configuration true or false.
    Switch,
    Word,
    Secret,
}

/// An option.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// As the command line has it; nothing if only the configuration has it.
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// Other names in the configuration.
    pub(crate) keys: &'static [&'static str],
    pub(crate) means: Means,
    pub(crate) help: &'static str,
}

const fn row(
    name: &'static str,
    takes: Takes,
    keys: &'static [&'static str],
    means: Means,
    help: &'static str,
) -> Row {
    Row { name, takes, keys, means, help }
}

const ITSELF: &str = "the cipher library finds the processor's instructions itself";
const NO_TRUST: &str = "a certificate is trusted by importing it";
const NO_RACF: &str = "there is no RACF; keys are in the key ring, a keystore or a token";
const NO_LOG: &str = "what there is to say goes to standard error";
const NEVER_ASKS: &str = "nothing is asked but passphrases";
const NO_JAVA: &str = "the key ring is a folder (-homedir), not one file";

use Takes::{Secret, Switch, Word};

/// All options.
pub(crate) const OPTIONS: &[Row] = &[
    row("-o", Word, &["OUTPUT", "OUTPUT_FILE"], Means::Output, "where the output goes"),
    row("-homedir", Word, &[], Means::Home, "the folder of the key ring and of ibmef.config"),
    row(
        "-dataset-folder",
        Word,
        &[],
        Means::DataSetFolder,
        "the folder where //'A.B.C' is a file, or a folder of members",
    ),
    row(
        "-rA",
        Word,
        &["RECIPIENT_ALIAS"],
        Means::Recipient(By::Alias),
        "who can read it, by alias",
    ),
    row(
        "-rK",
        Word,
        &["RECIPIENT_KEY_ID"],
        Means::Recipient(By::KeyId),
        "who can read it, by key id",
    ),
    row(
        "-rU",
        Word,
        &["RECIPIENT_USER_ID"],
        Means::Recipient(By::UserId),
        "who can read it, by user id",
    ),
    row("-rP", Secret, &[], Means::FilePassphrase, "who can read it: whoever has the passphrase"),
    row("-s2k-passphrase", Secret, &[], Means::FilePassphrase, "the same"),
    row("-signers-key-alias", Word, &[], Means::Signer, "the alias of the key that signs"),
    row("-signers-key-password", Secret, &[], Means::KeyPassphrase, "its passphrase"),
    row("-key-alias", Word, &[], Means::KeyAlias, "the alias of a key that is made or comes"),
    row("-key-password", Secret, &[], Means::KeyPassphrase, "the passphrase of secret keys"),
    row("-key-size", Word, &[], Means::KeySize, "bits of a new RSA key: 2048, 3072, 4096"),
    row(
        "-keystore",
        Word,
        &["JAVA_KEY_STORE_NAME"],
        Means::Keystore,
        "a PKCS#12 keystore to use before the key ring, or a token",
    ),
    row(
        "-keystore-type",
        Word,
        &["JAVA_KEY_STORE_TYPE"],
        Means::KeystoreType,
        "its type: PKCS12, or PKCS11, a token",
    ),
    row("-keystore-password", Secret, &[], Means::KeystorePassphrase, "its passphrase, or PIN"),
    row("-cipher-name", Word, &["CIPHER"], Means::Cipher, "AES_128, AES_192 or AES_256"),
    row("-digest-name", Word, &["DIGEST"], Means::Digest, "SHA_256, SHA_384 or SHA_512"),
    row(
        "-compress-name",
        Word,
        &["COMPRESSION_NAME"],
        Means::CompressName,
        "ZIP, ZLIB, BZIP2 or UNCOMPRESSED",
    ),
    row("-compression", Word, &[], Means::Level, "0, none, and 1, fastest, to 9, smallest"),
    row("-use-mdc", Switch, &[], Means::Mdc, "protect against change; always so"),
    row("-s2k-cipher-name", Word, &[], Means::S2kCipher, "the cipher under a passphrase"),
    row("-s2k-digest-name", Word, &[], Means::S2kDigest, "SHA_256; the only one that is made"),
    row("-s2k-mode", Word, &[], Means::S2kMode, "3, salted and iterated; the only one"),
    row("-armor", Switch, &["USE_ASCII_ARMOR", "USE_ARMOR"], Means::Armor, "as text"),
    row("-t", Switch, &["TEXT", "USE_TEXT"], Means::Text, "the data is text"),
    row(
        "-openPGP-days-valid",
        Word,
        &[],
        Means::DaysValid("days"),
        "after how many days a new key expires",
    ),
    row(
        "-x509-days-valid",
        Word,
        &[],
        Means::DaysValid("x509-days"),
        "make X.509 certificates for it, too, for so many days",
    ),
    row("-userID-name", Word, &[], Means::UserName, "who a new key belongs to"),
    row("-userID-email", Word, &[], Means::UserEmail, "and its address"),
    row("-userID-comment", Word, &[], Means::UserComment, "and what else to say"),
    row("-yes", Switch, &["ANSWER_YES"], Means::Yes, "replace and delete without asking"),
    row("-jce-providers", Word, &["JCE_PROVIDER_LIST"], Means::Nothing(ITSELF), ""),
    row("-racf-keyring-userid", Word, &[], Means::Nothing(NO_RACF), ""),
    row("-trust-value", Word, &[], Means::Nothing(NO_TRUST), ""),
    row("-log", Word, &["LOG_FILE"], Means::Nothing(NO_LOG), ""),
    row("-debug-level", Word, &[], Means::Nothing(NO_LOG), ""),
    row("-batch-generate", Switch, &[], Means::Nothing(NEVER_ASKS), ""),
    row("-batch-export", Switch, &[], Means::Nothing(NEVER_ASKS), ""),
    row("", Switch, &["USE_ASYNC_IO"], Means::Async("io"), "read and write in own threads"),
    row("", Switch, &["USE_ASYNC_CIPHER"], Means::Async("cipher"), "encipher in own threads"),
    row("", Switch, &["USE_ASYNC_COMPRESS"], Means::Async("compress"), "compress in own threads"),
    row("", Word, &["KEY_RING_FILENAME"], Means::Nothing(NO_JAVA), ""),
];

/// The option of that name.
pub(crate) fn option(name: &str) -> Option<&'static Row> {
    OPTIONS.iter().find(|row| !row.name.is_empty() && row.name == name)
}

/// The option of that key of the configuration, in any size of letters (2).
pub(crate) fn key(key: &str) -> Option<&'static Row> {
    OPTIONS.iter().find(|row| keys_of(row).any(|known| known.eq_ignore_ascii_case(key)))
}

/// The names of an option in the configuration. One letter is no name there.
pub(crate) fn keys_of(row: &'static Row) -> impl Iterator<Item = String> {
    let own = row.name.trim_start_matches('-').replace('-', "_").to_ascii_uppercase();
    let own = Some(own).filter(|own| own.len() > 2 && row.means != Means::Home);
    own.into_iter().chain(row.keys.iter().map(|key| (*key).to_owned()))
}

/// What `-h` shows.
#[must_use]
pub fn help() -> String {
    let mut text = "The Encryption Facility's command line: holdfast pgp COMMAND [OPTIONS] FILES\n\
        Options of the clear commands can stand there, too, as --name=value.\n\nCommands:\n"
        .to_owned();
    for (name, _, does) in COMMANDS {
        text += &format!("  {name:<22} {does}\n");
    }
    text += "\nOptions, and their keys in HOMEDIR/ibmef.config:\n";
    for row in OPTIONS {
        let name = match row.takes {
            Switch => row.name.to_owned(),
            Word => format!("{} WORD", row.name),
            Secret => format!("{} SECRET", row.name),
        };
        let does = match row.means {
            Means::Nothing(why) => format!("accepted; {why}"),
            _ => row.help.to_owned(),
        };
        if !row.name.is_empty() {
            text += &format!("  {name:<30} {does}\n");
        }
        let keys: Vec<String> = keys_of(row).collect();
        match (row.name.is_empty(), keys.is_empty()) {
            (true, _) => text += &format!("  {:<30} {does}\n", keys.join(", ")),
            (false, false) => text += &format!("      {}\n", keys.join(", ")),
            (false, true) => {}
        }
    }
    text += "\nFiles are paths, or names of data sets: //DD:NAME, which --dd NAME=PATH or the\n\
        variable DD_NAME leads to, and //'A.B.C' or //'A.B.C(MEMBER)' in -dataset-folder.\n";
    text += "\nExample: holdfast pgp -e -rA payroll -o pay.pgp pay.dat\n";
    text
}
