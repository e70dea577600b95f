//! What a command line of the Encryption Facility is in words of the clear command.
//!
//! ```text
//! | -e, -c  | -s, -b | -d      | -v     | -compress | -g       | -eA .. | -i, -a | -iA .. | -xA .. |
//! |---------|--------|---------|--------|-----------|----------|--------|--------|--------|--------|
//! | encrypt | sign   | decrypt | verify | compress  | generate | export | import | list   | delete |
//! ```
//!
//! 1. Every option becomes `--name=value`, so no value is taken for an option; files stand behind
//!    `--`. Names of data sets are paths by then.
//! 2. An option of the line that its command has no use for is told; one of the configuration,
//!    which serves all commands, is not.

use std::ffi::{OsStr, OsString};

use crate::configuration::{Configuration, shown};
use crate::data_sets::{DataSets, Variable};
use crate::error::{Error, Result};
use crate::line::{Call, Line, Secrets};
use crate::settings::{Setting, Settings, Value};
use crate::table::{By, Command, Means};

impl Line {
    /// The call that the line makes, with what the configuration adds to it. `variable` looks for
    /// variables of the environment, which may say what a DD name leads to.
    ///
    /// # Errors
    /// If commands, options and files do not fit together, or a data set is not to be found.
    pub fn call(&self, configuration: &Configuration, variable: Variable<'_>) -> Result<Call> {
        words(self, configuration, variable)
    }
}

/// The clear subcommands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clear {
    Encrypt,
    Sign,
    Decrypt,
    Verify,
    Compress,
    Generate,
    Export,
    Import,
    List,
    Delete,
    Algorithms,
    Check,
}

impl Clear {
    fn name(self) -> &'static str {
        match self {
            Clear::Encrypt => "encrypt",
            Clear::Sign => "sign",
            Clear::Decrypt => "decrypt",
            Clear::Verify => "verify",
            Clear::Compress => "compress",
            Clear::Generate => "generate",
            Clear::Export => "export",
            Clear::Import => "import",
            Clear::List => "list",
            Clear::Delete => "delete",
            Clear::Algorithms => "algorithms",
            Clear::Check => "check",
        }
    }

    fn of(command: Command) -> Option<Clear> {
        Some(match command {
            Command::Encrypt | Command::EncryptByPassphrase => Clear::Encrypt,
            Command::Sign | Command::SignApart => Clear::Sign,
            Command::Decrypt => Clear::Decrypt,
            Command::Verify => Clear::Verify,
            Command::Compress => Clear::Compress,
            Command::Generate => Clear::Generate,
            Command::Export(_) => Clear::Export,
            Command::Import | Command::Add => Clear::Import,
            Command::Show(_) => Clear::List,
            Command::Delete(_) => Clear::Delete,
            Command::Algorithms => Clear::Algorithms,
            Command::Check => Clear::Check,
            Command::Help => return None,
        })
    }

    /// Whether the subcommand reads or writes messages.
    fn is_of_files(self) -> bool {
        use Clear::{Compress, Decrypt, Encrypt, Sign, Verify};
        matches!(self, Encrypt | Sign | Decrypt | Verify | Compress)
    }

    fn has_output(self) -> bool {
        self.is_of_files() || self == Clear::Export
    }

    /// Whether the subcommand looks for keys, so that a keystore may hold them.
    fn looks_for_keys(self, settings: &Settings) -> bool {
        let names_one = |means| matches!(means, Means::Recipient(_) | Means::Signer);
        match self {
            // Under a passphrase alone no key is needed.
            Clear::Encrypt => settings.all().iter().any(|one| names_one(one.row.means)),
            Clear::Compress | Clear::Algorithms | Clear::Check => false,
            _ => true,
        }
    }

    fn signs(self, settings: &Settings) -> bool {
        let has_signer = || settings.find(Means::Signer).is_some();
        self == Clear::Sign || (self == Clear::Encrypt && has_signer())
    }

    fn writes_messages(self) -> bool {
        matches!(self, Clear::Encrypt | Clear::Sign | Clear::Compress)
    }
}

/// The subcommand that the commands of a line make together.
fn clear(commands: &[Command]) -> Result<Clear> {
    use Command::{Compress, Encrypt, EncryptByPassphrase, Sign};
    let mut wanted: Vec<Clear> = commands.iter().filter_map(|one| Clear::of(*one)).collect();
    // What is encrypted may be signed and compressed, too.
    let encrypts = wanted.contains(&Clear::Encrypt);
    if encrypts
        && commands.iter().all(|one| matches!(one, Encrypt | EncryptByPassphrase | Sign | Compress))
    {
        return Ok(Clear::Encrypt);
    }
    if commands.contains(&Command::SignApart) && commands.contains(&Compress) {
        return Err(Error::command("a signature apart from its file is not compressed"));
    }
    if wanted.contains(&Clear::Sign) {
        wanted.retain(|one| *one != Clear::Compress);
    }
    wanted.dedup();
    match wanted[..] {
        [one] => Ok(one),
        [] => Err(Error::command("the line has no command, such as -e or -d")),
        _ => Err(Error::command("the line has two commands that do not go together")),
    }
}

/// The call (1).
fn words(line: &Line, configuration: &Configuration, variable: Variable<'_>) -> Result<Call> {
    let clear = clear(&line.commands)?;
    let mut call = Call { words: Vec::new(), secrets: Secrets::default(), notes: Vec::new() };
    if line.shows_a_secret {
        let note = "a passphrase in a command line is seen by everybody on this machine; \
                    leave it out to be asked, or see --help for files and variables";
        call.notes.push(note.to_owned());
    }
    let typed = &line.settings;
    let settings = line.settings.clone().over(&configuration.settings);
    let folder = settings.find(Means::DataSetFolder).map(|setting| setting.word().into());
    let files = DataSets { dds: &line.dds, folder, variable };
    let by_passphrase = line.commands.contains(&Command::EncryptByPassphrase)
        || settings.find(Means::FilePassphrase).is_some();
    let all = All { settings: &settings, files: &files, by_passphrase };
    let mut words = vec![OsString::from(clear.name())];
    for setting in settings.all() {
        let typed = typed.all().contains(setting);
        // The keystore that serves all commands is not imported with each file.
        if clear == Clear::Import && setting.row.means == Means::Keystore && !typed {
            continue;
        }
        let taken = one(clear, setting, &all, &mut words, &mut call.secrets);
        let taken = taken.map_err(|error| match typed {
            true => error,
            false => error.at(Configuration::FILE),
        })?;
        let name = match setting.row.name {
            "" => setting.row.keys.first().copied().unwrap_or_default(),
            name => name,
        };
        match setting.row.means {
            Means::Nothing(why) => call.notes.push(format!("{name} means nothing here: {why}")),
            _ if !taken && typed => {
                call.notes.push(format!("{name} means nothing to `{}`", clear.name()));
            }
            _ => {}
        }
    }
    by_command(line, clear, &settings, &mut words)?;
    words.extend(line.further.iter().cloned());
    let arguments = arguments(line, clear, &settings, &files, &mut words)?;
    if !arguments.is_empty() {
        words.push("--".into());
        words.extend(arguments);
    }
    call.words = words;
    Ok(call)
}

/// An option with its value as one word.
fn put(words: &mut Vec<OsString>, name: &str, value: impl AsRef<OsStr>) {
    let mut word = OsString::from(format!("--{name}="));
    word.push(value);
    words.push(word);
}

/// What one setting may depend on.
struct All<'a> {
    settings: &'a Settings,
    files: &'a DataSets<'a>,
    /// Whether a passphrase opens what is written.
    by_passphrase: bool,
}

/// Says one setting; whether the subcommand has a use for it.
fn one(
    clear: Clear,
    setting: &Setting,
    &All { settings: all, files, by_passphrase }: &All<'_>,
    words: &mut Vec<OsString>,
    secrets: &mut Secrets,
) -> Result<bool> {
    let writes = clear.writes_messages();
    let stretches = clear == Clear::Encrypt && by_passphrase;
    let word = setting.word();
    Ok(match setting.row.means {
        Means::Output if clear.has_output() => file(words, "output", files.path(word))?,
        Means::DataSetFolder => true,
        Means::Home => is_for(clear != Clear::Algorithms, words, "home", word),
        Means::Recipient(by) => {
            let name = prefixed(by, word);
            is_for(clear == Clear::Encrypt, words, "recipient", &name)
        }
        Means::Signer => match clear {
            Clear::Encrypt => is_for(true, words, "sign-with", &prefixed(By::Alias, word)),
            _ => is_for(clear == Clear::Sign, words, "with", &prefixed(By::Alias, word)),
        },
        Means::KeyAlias => {
            is_for(matches!(clear, Clear::Generate | Clear::Import), words, "alias", word)
        }
        Means::KeySize if clear == Clear::Generate => {
            put(words, "algorithm", format!("rsa{}", key_size(setting)?));
            true
        }
        // A token is a keystore that keeps its keys.
        Means::Keystore if is_token(all) => is_for(clear == Clear::Generate, words, "token", word),
        Means::Keystore if clear.looks_for_keys(all) => file(words, "keystore", files.path(word))?,
        Means::KeystoreType => keystore_type(setting, clear, all)?,
        Means::Cipher if clear == Clear::Encrypt => put_value(words, "cipher", &cipher(setting)?),
        // Under a passphrase alone it is this cipher that counts.
        Means::S2kCipher if stretches && all.find(Means::Cipher).is_none() => {
            put_value(words, "cipher", &cipher(setting)?)
        }
        Means::Digest if clear.signs(all) => put_value(words, "digest", &digest(setting)?),
        Means::CompressName if writes => put_value(words, "compress", compression(setting)?),
        Means::Level if writes => {
            let level = level(setting)?;
            if level == 0 && all.find(Means::CompressName).is_none() {
                put(words, "compress", "none");
            }
            put_value(words, "level", &level.to_string())
        }
        Means::S2kDigest if stretches => s2k_digest(setting)?,
        Means::S2kMode if stretches => s2k_mode(setting)?,
        Means::Mdc => setting.is_on(),
        Means::Armor => flag(setting, writes || clear == Clear::Export, words, "--armor"),
        Means::Text => flag(setting, writes, words, "--text"),
        Means::Yes => {
            let asks = clear.is_of_files() || matches!(clear, Clear::Export | Clear::Delete);
            flag(setting, asks, words, "--yes")
        }
        Means::DaysValid(of) => {
            is_for(clear == Clear::Generate, words, of, OsStr::new(days(setting)?))
        }
        Means::Async(stage) if clear.is_of_files() => {
            let switch = if setting.is_on() { "on" } else { "off" };
            put_value(words, &format!("async-{stage}"), switch)
        }
        Means::UserName | Means::UserEmail | Means::UserComment => clear == Clear::Generate,
        Means::FilePassphrase | Means::KeyPassphrase | Means::KeystorePassphrase => {
            secret(clear, all, setting, secrets)
        }
        _ => false,
    })
}

/// Says an option where it is of use; whether it is.
fn is_for(useful: bool, words: &mut Vec<OsString>, name: &str, value: &OsStr) -> bool {
    if useful {
        put(words, name, value);
    }
    useful
}

/// Says which file an option means.
fn file(words: &mut Vec<OsString>, name: &str, path: Result<OsString>) -> Result<bool> {
    put(words, name, path?);
    Ok(true)
}

fn put_value(words: &mut Vec<OsString>, name: &str, value: &str) -> bool {
    put(words, name, value);
    true
}

fn flag(setting: &Setting, useful: bool, words: &mut Vec<OsString>, name: &str) -> bool {
    if useful && setting.is_on() {
        words.push(name.into());
    }
    useful
}

/// Puts a secret aside; whether the subcommand has a use for it.
fn secret(clear: Clear, all: &Settings, setting: &Setting, secrets: &mut Secrets) -> bool {
    let (place, useful) = match setting.row.means {
        Means::FilePassphrase => {
            (&mut secrets.file, matches!(clear, Clear::Encrypt | Clear::Decrypt))
        }
        // That of a token is its PIN.
        Means::KeystorePassphrase => {
            let by_token = clear.is_of_files() || clear == Clear::Generate;
            let uses = if is_token(all) { by_token } else { clear.looks_for_keys(all) };
            (&mut secrets.keystore, uses)
        }
        _ => (&mut secrets.key, clear != Clear::Algorithms),
    };
    if let (true, Value::Secret(secret)) = (useful, &setting.value) {
        *place = Some(secret.clone());
    }
    useful
}

fn prefixed(by: By, name: &OsStr) -> OsString {
    let mut word = OsString::from(by.prefix());
    word.push(name);
    word
}

/// What follows from the commands themselves.
fn by_command(
    line: &Line,
    clear: Clear,
    settings: &Settings,
    words: &mut Vec<OsString>,
) -> Result<()> {
    let by_passphrase = settings.find(Means::FilePassphrase).is_some();
    let has = |command: Command| line.commands.contains(&command);
    match clear {
        Clear::Encrypt => {
            if has(Command::EncryptByPassphrase) || by_passphrase {
                words.push("--passphrase".into());
            }
            if has(Command::Sign) && settings.find(Means::Signer).is_none() {
                let what = "-s with -e or -c needs a key that signs";
                return Err(Error::arguments(what, "Give -signers-key-alias ALIAS."));
            }
        }
        Clear::Decrypt => {
            // What is only signed or compressed is opened by -d, too.
            words.push("--plain".into());
            if by_passphrase {
                words.push("--passphrase".into());
            }
        }
        Clear::Sign => {
            if has(Command::SignApart) {
                words.push("--detached".into());
            }
            if settings.find(Means::Signer).is_none() {
                let what = "nothing says which key signs";
                return Err(Error::arguments(what, "Give -signers-key-alias ALIAS."));
            }
        }
        _ => {}
    }
    Ok(())
}

/// The files, or names of keys, that the subcommand takes.
fn arguments(
    line: &Line,
    clear: Clear,
    settings: &Settings,
    files: &DataSets<'_>,
    words: &mut Vec<OsString>,
) -> Result<Vec<OsString>> {
    let given = &line.arguments;
    let paths = || given.iter().map(|word| files.path(word)).collect::<Result<Vec<_>>>();
    let by = line.commands.iter().find_map(|command| match command {
        Command::Export(by) | Command::Show(by) | Command::Delete(by) => Some(*by),
        _ => None,
    });
    match clear {
        Clear::Generate => {
            none_left(given)?;
            Ok(vec![user_id(settings)?.into()])
        }
        Clear::Algorithms | Clear::Check => {
            none_left(given)?;
            Ok(Vec::new())
        }
        Clear::Export | Clear::List | Clear::Delete => {
            if given.is_empty() && clear != Clear::List {
                let what = "nothing says which key";
                return Err(Error::arguments(what, "Put its name behind the command."));
            }
            let name = |name: &OsString| by.map_or_else(|| name.clone(), |by| prefixed(by, name));
            Ok(given.iter().map(name).collect())
        }
        Clear::Verify => Ok(match &paths()?[..] {
            [signature, file] if is_signature_of(signature, file) => {
                put(words, "signature", signature);
                vec![file.clone()]
            }
            // The file of each of several is found by its name.
            several if several.chunks(2).all(is_pair) => {
                several.iter().step_by(2).cloned().collect()
            }
            paths => paths.to_vec(),
        }),
        _ => paths(),
    }
}

fn none_left(given: &[OsString]) -> Result<()> {
    match given.first() {
        None => Ok(()),
        Some(word) => {
            let what = format!("{} has no meaning here", shown(&word.to_string_lossy()));
            Err(Error::arguments(what, "Leave it out."))
        }
    }
}

fn is_pair(files: &[OsString]) -> bool {
    matches!(files, [signature, file] if is_signature_of(signature, file))
}

/// Whether the first file is named as the signature of the second.
fn is_signature_of(signature: &OsStr, file: &OsStr) -> bool {
    let signature = signature.as_encoded_bytes();
    let Some(ending) = signature.strip_prefix(file.as_encoded_bytes()) else { return false };
    // Data sets have names in capitals.
    ending.eq_ignore_ascii_case(b".sig") || ending.eq_ignore_ascii_case(b".asc")
}

/// `Name (comment) <address>`.
fn user_id(settings: &Settings) -> Result<String> {
    let part = |means| settings.find(means).map(Setting::text).transpose();
    let name = part(Means::UserName)?.map(str::to_owned);
    let comment = part(Means::UserComment)?.map(|text| format!("({text})"));
    let email = part(Means::UserEmail)?.map(|text| format!("<{text}>"));
    if name.is_none() && email.is_none() {
        let what = "nothing says who the key belongs to";
        return Err(Error::arguments(what, "Give -userID-name NAME or -userID-email ADDRESS."));
    }
    Ok([name, comment, email].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// A name without what people put between its parts.
fn squeezed(setting: &Setting) -> Result<String> {
    let letters = setting.text()?.chars().filter(char::is_ascii_alphanumeric);
    Ok(letters.collect::<String>().to_ascii_uppercase())
}

fn not_one_of(setting: &Setting, these: &str) -> Error {
    let typed = shown(&setting.word().to_string_lossy());
    let what = format!("{} cannot be {typed}", setting.row.name);
    Error::value(what, format!("Choose one of {these}."))
}

fn cipher(setting: &Setting) -> Result<String> {
    const THESE: &str = "AES_128, AES_192, AES_256";
    match squeezed(setting)?.as_str() {
        name @ ("AES128" | "AES192" | "AES256") => Ok(name.to_ascii_lowercase()),
        "TRIPLEDES" | "TDES" | "3DES" | "BLOWFISH" | "CAST5" | "IDEA" | "TWOFISH" => {
            let typed = shown(&setting.word().to_string_lossy());
            let what = format!("{typed} is an old cipher, which is read but not written");
            Err(Error::value(what, format!("Choose one of {THESE}.")))
        }
        _ => Err(not_one_of(setting, THESE)),
    }
}

fn digest(setting: &Setting) -> Result<String> {
    const THESE: &str = "SHA_256, SHA_384, SHA_512";
    match squeezed(setting)?.as_str() {
        name @ ("SHA256" | "SHA384" | "SHA512") => Ok(name.to_ascii_lowercase()),
        "SHA1" | "MD5" | "MD2" | "RIPEMD160" | "SHA224" => {
            let typed = shown(&setting.word().to_string_lossy());
            let what = format!("signatures by {typed} are no proof any more");
            Err(Error::value(what, format!("Choose one of {THESE}.")))
        }
        _ => Err(not_one_of(setting, THESE)),
    }
}

fn compression(setting: &Setting) -> Result<&'static str> {
    match squeezed(setting)?.as_str() {
        "ZIP" => Ok("zip"),
        "ZLIB" => Ok("zlib"),
        "BZIP2" => Ok("bzip2"),
        "UNCOMPRESSED" | "NONE" => Ok("none"),
        _ => Err(not_one_of(setting, "ZIP, ZLIB, BZIP2, UNCOMPRESSED")),
    }
}

fn level(setting: &Setting) -> Result<u8> {
    let level = setting.text()?.parse().ok().filter(|level| *level <= 9);
    level.ok_or_else(|| not_one_of(setting, "0 to 9"))
}

/// A number of days, as it was written.
fn days(setting: &Setting) -> Result<&str> {
    let days = setting.text()?;
    match days.parse::<u32>() {
        Ok(_) => Ok(days),
        Err(_) => Err(not_one_of(setting, "a number of days, 0 for as long as can be")),
    }
}

fn key_size(setting: &Setting) -> Result<&str> {
    match setting.text()? {
        size @ ("2048" | "3072" | "4096") => Ok(size),
        _ => Err(not_one_of(setting, "2048, 3072, 4096")),
    }
}

/// Whether the keystore is a token.
fn is_token(settings: &Settings) -> bool {
    let kind = settings.find(Means::KeystoreType);
    kind.and_then(|kind| squeezed(kind).ok()).is_some_and(|kind| kind == "PKCS11")
}

fn keystore_type(setting: &Setting, clear: Clear, all: &Settings) -> Result<bool> {
    match squeezed(setting)?.as_str() {
        "PKCS12" | "P12" | "PFX" => Ok(clear.looks_for_keys(all)),
        "PKCS11" => Ok(true),
        // A configuration may say it for other programs; it matters once a keystore is read.
        _ if clear != Clear::Import && all.find(Means::Keystore).is_none() => Ok(true),
        _ if !clear.looks_for_keys(all) => Ok(true),
        other => {
            let what = format!("keystores of type {} are not read", shown(other));
            let remedy = "Convert it: keytool -importkeystore -srckeystore OLD \
                          -destkeystore NEW.p12 -deststoretype PKCS12";
            Err(Error::value(what, remedy))
        }
    }
}

fn s2k_digest(setting: &Setting) -> Result<bool> {
    match squeezed(setting)?.as_str() {
        "SHA256" => Ok(true),
        _ => Err(not_one_of(setting, "SHA_256")),
    }
}

fn s2k_mode(setting: &Setting) -> Result<bool> {
    match setting.text()? {
        "3" => Ok(true),
        _ => Err(not_one_of(setting, "3, which is salted and iterated")),
    }
}
