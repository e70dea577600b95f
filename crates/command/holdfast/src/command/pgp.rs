//! `holdfast pgp`: files at rest, encrypted and signed so that every OpenPGP program reads them.
//!
//! 1. It needs no system: its keys are in a key ring, a folder of its own.
//! 2. Output appears under its name only when everything about it has been checked.
//! 3. Besides 0, 1 and 2 it ends with 3 for a damaged message, 4 if nothing that was given opens
//!    it, 5 for a signature that is not good, 6 for input of another kind.

mod choices;
mod decrypt;
mod encrypt;
pub(crate) mod facility;
mod files;
mod jobs;
mod keyring;
mod keystores;
mod secrets;
mod x509;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use base::Coded as _;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use openpgp::{SecretKey, Signer, Store, Target, TokenKey, Tokens, Writing, X509};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::warn;
use crate::passphrase::{MODULE_VARIABLE, given, perhaps_empty};

/// The variable of the environment that may say which folder the key ring is.
const HOME_VARIABLE: &str = "HOLDFAST_PGP_HOME";

/// Files at rest: encrypt, decrypt, sign and verify them; keep the keys for that
///
/// Needs no system. The key ring is a folder: --home, or HOLDFAST_PGP_HOME, or .holdfast-pgp in
/// the home folder. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 damaged message, 4 no key or
/// passphrase opens it, 5 no good signature, 6 not OpenPGP or not supported.
///
/// The Encryption Facility's command line is taken as it is, with its file ibmef.config in the
/// folder of the key ring: holdfast pgp -e -rA payroll -o pay.pgp pay.dat; `holdfast pgp -e -h`
/// shows its names.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast pgp encrypt -r payroll --compress zip payroll.dat")]
pub(crate) struct PgpArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Encrypt files, or standard input, to keys or passphrases
    #[command(after_help = "Example: holdfast pgp encrypt -r ada --sign-with me -o out.pgp in.dat")]
    Encrypt(encrypt::EncryptArgs),
    /// Decrypt files, or standard input, and verify who signed them
    #[command(after_help = "Example: holdfast pgp decrypt -o in.dat out.pgp")]
    Decrypt(decrypt::DecryptArgs),
    /// Sign files, or standard input
    #[command(after_help = "Example: holdfast pgp sign --detached --with me report.txt")]
    Sign(encrypt::SignArgs),
    /// Verify signed files; ends with 5 if no signature is good, or one of a known key is bad
    #[command(after_help = "Example: holdfast pgp verify --signature report.txt.sig report.txt")]
    Verify(decrypt::VerifyArgs),
    /// Compress files without encrypting them; `decrypt --plain` opens them
    #[command(after_help = "Example: holdfast pgp compress --level 6 -o out.pgp in.dat")]
    Compress(encrypt::CompressArgs),
    /// Make a key
    #[command(after_help = "Example: holdfast pgp generate --alias me 'Ada <ada@example.org>'")]
    Generate(keyring::GenerateArgs),
    /// Put keys and certificates into the ring: OpenPGP, X.509, keystores
    #[command(after_help = "Examples: holdfast pgp import partner.asc --alias partner\n          \
            holdfast pgp import --keystore keys.p12")]
    Import(keyring::ImportArgs),
    /// Make certificates of X.509 for a key of one's own, and for its parts
    ///
    /// They are valid from the time of the key on, so whoever makes a key of OpenPGP from one gets
    /// the same fingerprint. The ring keeps them; `export --x509` writes them.
    #[command(after_help = "Example: holdfast pgp x509 me --subject 'CN=Ada, O=Bank' --days 365")]
    X509(x509::X509Args),
    /// Write certificates, or secret keys
    #[command(after_help = "Example: holdfast pgp export me --armor -o me.asc")]
    Export(keyring::ExportArgs),
    /// Show what is in the ring
    #[command(after_help = "Example: holdfast pgp list --json")]
    List(keyring::ListArgs),
    /// Remove a key from the ring
    #[command(after_help = "Example: holdfast pgp delete 0123456789ABCDEF --yes")]
    Delete(keyring::DeleteArgs),
    /// Revoke a key: whoever gets the new certificate stops using it
    #[command(after_help = "Example: holdfast pgp revoke me --reason 'replaced' --yes")]
    Revoke(keyring::RevokeArgs),
    /// Change when a key expires
    #[command(after_help = "Example: holdfast pgp expire me --days 365")]
    Expire(keyring::ExpireArgs),
    /// Say with one's own key that a user id belongs to a certificate
    #[command(
        after_help = "Example: holdfast pgp certify --with me partner 'Bob <bob@example.org>'"
    )]
    Certify(keyring::CertifyArgs),
    /// Give a key a short name
    #[command(after_help = "Example: holdfast pgp alias payroll 0123456789ABCDEF")]
    Alias(keyring::AliasArgs),
    /// Change the passphrase of a secret key, or take it away
    #[command(after_help = "Example: holdfast pgp passphrase me --new-passphrase-file new.txt")]
    Passphrase(keyring::PassphraseArgs),
    /// Make the key ring's folder, and read all that is in it
    #[command(after_help = "Example: holdfast pgp check --home /srv/keys")]
    Check(keyring::Home),
    /// List the algorithms: what is written, what is only read
    #[command(after_help = "Example: holdfast pgp algorithms --json")]
    Algorithms(choices::AlgorithmsArgs),
    /// Encrypt as the job step CSDFILEN is told to: cards in SYSIN, a report in SYSPRINT
    ///
    /// Cards, from column 1: DESC='text', CLRTDES, CLRAES128, ENCTDES, RSA=label (several),
    /// PASSWORD=word, ICOUNT=n, COMPRESSION, COMPRESSION=NO or =0 to =9; * in column 1 is a
    /// comment, and the last card of a keyword counts. The output is OpenPGP.
    #[command(after_help = "Example: holdfast pgp csdfilen --dd SYSUT1=pay.dat \\\n    \
            --dd SYSUT2=pay.pgp --dd SYSIN=cards.txt --dd SYSPRINT=report.txt")]
    Csdfilen(jobs::JobArgs),
    /// Decrypt as the job step CSDFILDE is told to: cards in SYSIN, a report in SYSPRINT
    ///
    /// Cards, from column 1: RSA=label, PASSWORD=word; without, every key of the ring is tried.
    #[command(after_help = "Example: holdfast pgp csdfilde --dd SYSUT1=pay.pgp \\\n    \
            --dd SYSUT2=pay.dat --dd SYSIN=cards.txt")]
    Csdfilde(jobs::DecryptJobArgs),
}

pub(super) fn run(context: &mut Context, args: &PgpArgs) -> Result<ExitCode> {
    Target::leave_nothing_on_signals(&context.seam)?;
    match &args.what {
        What::Encrypt(args) => encrypt::encrypt(context, args),
        What::Decrypt(args) => decrypt::decrypt(context, args),
        What::Sign(args) => encrypt::sign(context, args),
        What::Verify(args) => decrypt::verify(context, args),
        What::Compress(args) => encrypt::compress(context, args),
        What::Generate(args) => keyring::generate(context, args),
        What::Import(args) => keyring::import(context, args),
        What::X509(args) => x509::make(context, args),
        What::Export(args) => keyring::export(context, args),
        What::List(args) => keyring::list(context, args),
        What::Delete(args) => keyring::delete(context, args),
        What::Revoke(args) => keyring::revoke(context, args),
        What::Expire(args) => keyring::expire(context, args),
        What::Certify(args) => keyring::certify(context, args),
        What::Alias(args) => keyring::alias(context, args),
        What::Passphrase(args) => keyring::passphrase(context, args),
        What::Check(args) => keyring::check(context, args),
        What::Algorithms(args) => choices::algorithms(context, args),
        What::Csdfilen(args) => jobs::encrypt(context, args),
        What::Csdfilde(args) => jobs::decrypt(context, args),
    }
}

/// The key ring, and what unlocks its keys.
#[derive(Args, Clone, Debug)]
struct RingArgs {
    /// The folder of the key ring
    #[arg(long, value_name = "FOLDER", env = HOME_VARIABLE, value_parser = perhaps_empty())]
    home: Option<PathBuf>,
    /// Read the passphrase of secret keys from this file; otherwise from the variable
    /// HOLDFAST_PGP_KEY_PASSPHRASE, or from the terminal
    #[arg(long, value_name = "FILE")]
    key_passphrase_file: Option<PathBuf>,
    /// The PKCS#11 library of the tokens that keep keys
    #[arg(
        long, value_name = "FILE", env = MODULE_VARIABLE, hide_env_values = true,
        value_parser = perhaps_empty()
    )]
    token_module: Option<PathBuf>,
    /// Read the PIN of the token from this file; otherwise from the variable HOLDFAST_PGP_PIN, or
    /// from the terminal
    #[arg(long, value_name = "FILE")]
    pin_file: Option<PathBuf>,
    /// A Java keystore of type PKCS#12: its keys and certificates come before those of the ring
    #[arg(long, value_name = "FILE")]
    keystore: Option<PathBuf>,
    /// Read the passphrase of the keystore from this file; otherwise from the variable
    /// HOLDFAST_PGP_KEYSTORE_PASSPHRASE, or from the terminal
    #[arg(long, value_name = "FILE")]
    keystore_passphrase_file: Option<PathBuf>,
    /// Let GnuPG's agent ask instead of the terminal, or the one that listens at SOCKET
    #[arg(
        long, value_name = "SOCKET", num_args = 0..=1, require_equals = true,
        default_missing_value = "", value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    agent: Option<PathBuf>,
}

impl RingArgs {
    /// The key ring itself.
    fn folder(&self, context: &Context) -> Result<Store> {
        let Some(folder) = given(self.home.as_ref()).cloned().or_else(usual_home) else {
            return Err(Failure::usage("there is no key ring to use", "Give --home FOLDER."));
        };
        let warned = |error: &openpgp::Error| warn(format!("{error}. {}", error.remedy()));
        Ok(Store::open(&context.seam, &folder).telling(warned))
    }
}

/// The folder of the key ring if nothing says another.
fn usual_home() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("HOME")?).join(".holdfast-pgp"))
}

/// The secret key of that name.
fn secret(store: &Store, name: &str) -> Result<SecretKey> {
    let print = store.find(name)?;
    if let Some(key) = store.secret(&print)? {
        return Ok(key);
    }
    if let Some(token) = store.token(&print)? {
        let what = format!("the secret key of {print} is in the token {token}, and stays there");
        return Err(Failure::other(what, "Choose a key whose secret part is in the ring."));
    }
    let what = format!("the secret key of {print} is not in the ring");
    Err(Failure::other(what, "Import it, or choose a key of your own."))
}

/// A key of one's own.
enum Own {
    /// Its secret part is in the ring.
    Here(Box<SecretKey>),
    /// Its secret part is in a token.
    Token(Box<TokenKey>),
}

/// One's own key of that name.
fn own(store: &Store, tokens: &Arc<Tokens>, name: &str) -> Result<Own> {
    let print = store.find(name)?;
    match (store.secret(&print)?, store.token_key(&print, tokens)?) {
        (None, Some(key)) => Ok(Own::Token(Box::new(key))),
        _ => Ok(Own::Here(Box::new(secret(store, name)?))),
    }
}

/// The keys of these names that sign, unlocked; those in tokens sign there.
fn signers(
    context: &Context,
    store: &Store,
    ring: &RingArgs,
    names: &[String],
) -> Result<Vec<Signer>> {
    let tokens = ring.tokens(context);
    let (mut signers, mut keys) = (Vec::new(), Vec::new());
    for name in names {
        match own(store, &tokens, name)? {
            Own::Token(key) => signers.extend(key.signers()?),
            Own::Here(key) => keys.push(*key),
        }
    }
    let passphrases = ring.passphrases(context, &keys)?;
    for key in &keys {
        signers.extend(Signer::of(key, &passphrases)?);
    }
    Ok(signers)
}

/// Puts those who are called so among those who can read a message.
fn add_recipient(store: &Store, name: &str, writing: &mut Writing) -> Result<()> {
    let print = store.find(name)?;
    if let Some(certificate) = store.certificate(&print)? {
        writing.recipients.push(certificate);
        return Ok(());
    }
    let mut all = store.x509(&print)?;
    // Without one for encryption, the first one says that it is not.
    let place = all.iter().position(X509::encrypts).unwrap_or(0);
    match all.get(place) {
        Some(_) => writing.x509.push(all.swap_remove(place)),
        None => return Err(not_here(&print)),
    }
    Ok(())
}

fn not_here(print: &str) -> Failure {
    Failure::other(format!("the certificate {print} is not in the ring"), "Import it.")
}

/// The certificate of that name.
fn certificate(store: &Store, name: &str) -> Result<openpgp::Certificate> {
    let print = store.find(name)?;
    if let Some(certificate) = store.certificate(&print)? {
        return Ok(certificate);
    }
    if store.x509(&print)?.is_empty() {
        return Err(not_here(&print));
    }
    let what = format!("{print} has a certificate of X.509 alone, to which can be encrypted only");
    Err(Failure::other(what, "Import an OpenPGP certificate of the same key."))
}
