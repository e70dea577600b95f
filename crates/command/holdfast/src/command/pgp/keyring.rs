//! The key ring: keys made, brought, given away, changed.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use openpgp::keys::{self, Algorithm, NewKey};
use openpgp::keystore;
use openpgp::pgp::packet::RevocationCode;
use openpgp::pgp::types::{Password, Timestamp};
use openpgp::upkeep::require_user;
use openpgp::{Armorer, Error, Label, NewTokenKey, SecretKey, Store, Target, X509};
use seal::TokenPlace;
use serde_json::json;
use zeroize::Zeroizing;

use super::super::DONE;
use super::files::{input, shown, to_place};
use super::x509::{self, NewArgs};
use super::{Own, RingArgs, certificate, keystores, own, secret};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::{utc, warn};
use crate::text::on_one_line;

pub(super) const DAY_S: u32 = 86_400;
/// Times of keys end in 2106.
const DAYS_MAX: i64 = 25_000;

/// Only the ring.
#[derive(Args, Debug)]
pub(super) struct Home {
    #[command(flatten)]
    ring: RingArgs,
}

#[derive(Args, Debug)]
pub(super) struct ListArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// Only these: alias, fingerprint, key id, or part of a user id
    key: Vec<String>,
}

/// What a key is made of.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Curve25519,
    Curve448,
    Rsa2048,
    Rsa3072,
    Rsa4096,
    Nistp256,
    Nistp384,
    Nistp521,
}

impl Kind {
    fn algorithm(self) -> Algorithm {
        match self {
            Kind::Curve25519 => Algorithm::Curve25519,
            Kind::Curve448 => Algorithm::Curve448,
            Kind::Rsa2048 => Algorithm::Rsa(2048),
            Kind::Rsa3072 => Algorithm::Rsa(3072),
            Kind::Rsa4096 => Algorithm::Rsa(4096),
            Kind::Nistp256 => Algorithm::Nist(256),
            Kind::Nistp384 => Algorithm::Nist(384),
            Kind::Nistp521 => Algorithm::Nist(521),
        }
    }
}

#[derive(Args, Debug)]
pub(super) struct GenerateArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// Who the key belongs to: `Name <address>`; the first is the primary user id
    #[arg(required = true)]
    user: Vec<String>,
    /// A short name for it in the ring
    #[arg(long)]
    alias: Option<String>,
    /// What it is made of; without, curve25519, in a token or keystore nistp256
    #[arg(long, value_enum)]
    algorithm: Option<Kind>,
    /// Make a key of version 6 (RFC 9580), which older programs do not read
    #[arg(long)]
    v6: bool,
    /// After how many days it expires; 0 for never
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=DAYS_MAX))]
    days: u32,
    /// Lock it with no passphrase
    #[arg(long)]
    no_passphrase: bool,
    /// Make it in the token of this label, which keeps the secret key; with --keystore, it is made
    /// in the keystore
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["v6", "no_passphrase", "keystore"])]
    token: Option<String>,
    /// The label of the key in the token; without, the alias
    #[arg(long, value_name = "LABEL", requires = "token")]
    token_key: Option<String>,
    /// Use the key of that label, which the token has already, instead of making one
    #[arg(long, requires = "token", conflicts_with = "algorithm")]
    existing: bool,
    /// Make certificates of X.509 for it, too, that end after so many days; 0 for when the key does
    #[arg(long, value_name = "DAYS")]
    x509_days: Option<u32>,
    #[command(flatten)]
    new_x509: NewArgs,
}

impl GenerateArgs {
    fn lifetime_s(&self) -> Option<u32> {
        (self.days > 0).then(|| self.days.saturating_mul(DAY_S))
    }

    /// The key to make here.
    fn new_key(&self, usual: Kind, passphrase: Option<Password>) -> NewKey {
        NewKey {
            users: self.user.clone(),
            algorithm: self.algorithm.unwrap_or(usual).algorithm(),
            v6: self.v6,
            passphrase,
            lifetime_s: self.lifetime_s(),
            signing_only: false,
        }
    }
}

pub(super) fn generate(context: &mut Context, args: &GenerateArgs) -> Result<ExitCode> {
    if let Some(path) = &args.ring.keystore {
        return generate_in_keystore(context, args, path);
    }
    let store = args.ring.store(context)?;
    if let Some(token) = &args.token {
        return generate_in_token(context, args, &store, token);
    }
    if let Some(alias) = &args.alias {
        store.may_be_called(alias, None)?;
    }
    let passphrase = if args.no_passphrase {
        warn("the secret key is locked by nothing; whoever reads the key ring has it");
        None
    } else {
        Some(args.ring.new_passphrase(context)?)
    };
    let new = args.new_key(Kind::Curve25519, passphrase);
    let key = new.generate()?;
    let x509 = args.x509_days.map(|days| args.new_x509.new_x509(context, days));
    let x509 = x509.map(|x509| x509.of(&key, new.passphrase.as_slice())).transpose()?;
    let print = keys::certificate_of(&key).fingerprint().to_string().to_uppercase();
    let named = store.add_secret(&key).map_err(Failure::from);
    let named = named.and_then(|_| name(args, &store, &print, x509.as_deref()));
    if let Err(failure) = named {
        // A device may be full; what is there of the new key is of no use to anybody.
        let _ = store.delete(&print);
        return Err(failure);
    }
    report(context, &print, "made")
}

/// Names what was made, and puts its certificates in.
fn name(args: &GenerateArgs, store: &Store, print: &str, x509: Option<&[X509]>) -> Result<()> {
    if let Some(x509) = x509 {
        store.set_x509(print, x509)?;
    }
    if let Some(alias) = &args.alias {
        store.may_be_called(alias, Some(print))?;
        store.set_alias(alias, print)?;
    }
    Ok(())
}

/// Makes a key in a keystore, which locks it by its own passphrase.
fn generate_in_keystore(
    context: &mut Context,
    args: &GenerateArgs,
    path: &Path,
) -> Result<ExitCode> {
    let (Some(alias), [_]) = (&args.alias, &args.user[..]) else {
        let what = "a key in a keystore has an alias, and one user id";
        return Err(Failure::usage(what, "Give --alias ALIAS, and one user id only."));
    };
    let key = args.new_key(Kind::Nistp256, None).generate()?;
    let x509 = args.new_x509.new_x509(context, args.x509_days.unwrap_or(0));
    keystores::keep(context, &args.ring, path, alias, &key, x509)
}

/// Makes a key in a token, or takes one that is there.
fn generate_in_token(
    context: &mut Context,
    args: &GenerateArgs,
    store: &Store,
    token: &str,
) -> Result<ExitCode> {
    let Some(key) = args.token_key.as_ref().or(args.alias.as_ref()) else {
        let what = "nothing says which label the key has in the token";
        return Err(Failure::usage(what, "Give --token-key LABEL, or --alias ALIAS."));
    };
    let [user] = &args.user[..] else {
        let what = "a key in a token has one user id";
        return Err(Failure::usage(what, "Give one only."));
    };
    let algorithm = args.algorithm.unwrap_or(Kind::Nistp256).algorithm();
    let new = NewTokenKey {
        place: TokenPlace { token: token.to_owned(), key: key.clone() },
        make: (!args.existing).then_some(algorithm),
        user,
        lifetime_s: args.lifetime_s(),
    };
    let key = new.obtain(&args.ring.tokens(context))?;
    let x509 = args.x509_days.map(|days| args.new_x509.new_x509(context, days));
    let x509 = x509.map(|new| new.of_token_key(&key)).transpose()?;
    let print = store.add_token_key(&key)?;
    let done = if args.existing { "taken" } else { "made" };
    name(args, store, &print, x509.as_deref())?;
    report(context, &print, done)
}

/// Says what happened to a key.
pub(super) fn report(context: &mut Context, print: &str, what: &str) -> Result<ExitCode> {
    if context.output.is_json() {
        context.output.value(&json!({ "fingerprint": print, "done": what }))?;
    } else {
        context.output.line(format!("{print}: {what}"))?;
    }
    DONE
}

#[derive(Args, Debug)]
pub(super) struct ImportArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// Files with keys and certificates of OpenPGP or X.509, armored or not, or key files in PEM;
    /// standard input without. What comes of a keystore (--keystore) is locked by its passphrase,
    /// and keeps its aliases
    file: Vec<PathBuf>,
    /// A short name for the key, if there is one only
    #[arg(long)]
    alias: Option<String>,
    /// Take secret keys of RSA with less than 2048 bits, too: `decrypt --allow-old` reads with them
    /// what was written to them once, and nothing else is done with them
    #[arg(long)]
    allow_old: bool,
}

pub(super) fn import(context: &mut Context, args: &ImportArgs) -> Result<ExitCode> {
    let store = args.ring.folder(context)?;
    let mut prints = Vec::new();
    if let Some(path) = &args.ring.keystore {
        let bytes = Zeroizing::new(small(path)?);
        let word = args.ring.keystore_passphrase(context, false)?;
        let lock = Password::from(word.as_bytes());
        for foreign in keystore::read_pkcs12(&bytes, &word, Some(&lock))? {
            prints.push(store.add_foreign(&foreign)?);
        }
    }
    let from_pipe = args.file.is_empty() && args.ring.keystore.is_none();
    let files = if from_pipe { vec![PathBuf::from("-")] } else { args.file.clone() };
    for file in &files {
        let bytes = Zeroizing::new(small(file)?);
        if !keystore::has_secret_key(&bytes) {
            let imported = store.import(&bytes, args.allow_old)?;
            imported.left_out.iter().for_each(warn);
            prints.extend(imported.prints);
            continue;
        }
        let lock = args.ring.new_passphrase(context)?;
        for foreign in keystore::read_pem(&bytes, Some(&lock))? {
            prints.push(store.add_foreign(&foreign)?);
        }
    }
    if let Some(alias) = &args.alias {
        let [print] = &prints[..] else {
            let what = format!("{} keys came, and one alias is for one key", prints.len());
            return Err(Failure::usage(what, "Name them by `holdfast pgp alias`."));
        };
        store.may_be_called(alias, Some(print))?;
        store.set_alias(alias, print)?;
    }
    for print in &prints {
        report(context, print, "imported")?;
    }
    DONE
}

/// All of a small input.
pub(super) fn small(path: &Path) -> Result<Vec<u8>> {
    const BYTES_MAX: u64 = 16 << 20;
    let mut bytes = Vec::new();
    let read = input(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|source| Error::Io { what: format!("reading {}", shown(path)), source })?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Error::NotOpenPgp(format!("{} is too long", shown(path))).into());
    }
    Ok(bytes)
}

#[derive(Args, Debug)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    pub(super) ring: RingArgs,
    /// The keys: alias, fingerprint, key id, or part of a user id
    #[arg(required = true)]
    pub(super) key: Vec<String>,
    /// The secret keys instead of the certificates, locked as they are; those of a keystore are
    /// locked by the passphrase of secret keys
    #[arg(long)]
    secret: bool,
    /// The X.509 certificates; in PEM with --armor, else in DER. By fingerprint or key id the one
    /// of that key, or part of a key, alone
    #[arg(long, conflicts_with = "secret")]
    x509: bool,
    /// The secret key with its X.509 certificates, as a keystore of a passphrase of its own
    #[arg(long, conflicts_with_all = ["secret", "x509", "armor"])]
    pkcs12: bool,
    /// As text
    #[arg(long, short)]
    pub(super) armor: bool,
    /// Where to; standard output without
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub(super) yes: bool,
}

pub(super) fn export(context: &mut Context, args: &ExportArgs) -> Result<ExitCode> {
    match (args.x509, args.pkcs12) {
        (true, _) => return x509::export(context, args),
        (_, true) => return x509::export_keystore(context, args),
        _ => {}
    }
    let store = args.ring.store(context)?;
    let mut bytes = Zeroizing::new(Vec::new());
    let failed = |source| Error::Io { what: "writing the key".to_owned(), source };
    for name in &args.key {
        match args.secret {
            true => locked_secret(context, args, &store, name)?.save(false, &mut *bytes),
            false => certificate(&store, name)?.save(false, &mut *bytes),
        }
        .map_err(Error::from)?;
    }
    let label = if args.secret { Label::PrivateKey } else { Label::PublicKey };
    let mut target = to_place(context, args.output.as_deref(), args.yes)?;
    write(&mut target, label, args.armor, &bytes).map_err(failed)?;
    target.release()?;
    DONE
}

/// The secret key as it is locked in the ring; what comes of a keystore gets a passphrase.
fn locked_secret(
    context: &Context,
    args: &ExportArgs,
    store: &Store,
    name: &str,
) -> Result<SecretKey> {
    let key = secret(store, name)?;
    if args.ring.keystore.is_none() || keys::is_locked(&key) {
        return Ok(key);
    }
    let passphrase = args.ring.new_passphrase(context)?;
    Ok(keys::change_passphrase(&key, &[], Some(&passphrase))?)
}

fn write(target: &mut Target, label: Label, armor: bool, bytes: &[u8]) -> std::io::Result<()> {
    if !armor {
        return target.write_all(bytes);
    }
    let mut armorer = Armorer::new(target, label);
    armorer.write_all(bytes)?;
    armorer.finish().map(drop)
}

pub(super) fn list(context: &mut Context, args: &ListArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let wanted: Vec<String> =
        args.key.iter().map(|name| Ok(store.find(name)?)).collect::<Result<_>>()?;
    let mut entries = store.list()?;
    entries.retain(|entry| wanted.is_empty() || wanted.contains(&entry.fingerprint));
    if context.output.is_json() {
        let keys = entries.iter().map(|entry| {
            json!({
                "fingerprint": entry.fingerprint, "key_id": entry.key_id,
                "version": entry.version, "aliases": entry.aliases, "users": entry.users,
                "lapsed": entry.lapsed, "algorithm": entry.algorithm, "made": entry.made, "expires": entry.expires,
                "revoked": entry.is_revoked, "secret": entry.has_secret, "x509": entry.has_x509,
                "token": entry.token,
            })
        });
        let keys: Vec<_> = keys.collect();
        context.output.value(&keys)?;
        return DONE;
    }
    let now = context.seam.clock.utc_us() / 1_000_000;
    for entry in &entries {
        let mut state = vec![format!("version {}", entry.version), entry.algorithm.clone()];
        state.push(format!("made {}", day(entry.made.into())));
        state.extend(entry.expires.map(|end| match end <= now {
            true => format!("expired {}", day(end)),
            false => format!("expires {}", day(end)),
        }));
        state.extend(entry.is_revoked.then(|| "revoked".to_owned()));
        state.extend(entry.has_secret.then(|| "with its secret key".to_owned()));
        state.extend(entry.token.as_ref().map(|token| format!("in token {token}")));
        state.extend(entry.has_x509.then(|| "by X.509".to_owned()));
        context.output.line(&entry.fingerprint)?;
        context.output.line(format!("  {}", state.join(", ")))?;
        for user in entry.users.iter() {
            context.output.line(format!("  user id {}", on_one_line(user)))?;
        }
        for user in &entry.lapsed {
            context.output.line(format!("  lapsed user id {}", on_one_line(user)))?;
        }
        for alias in &entry.aliases {
            context.output.line(format!("  alias {}", on_one_line(alias)))?;
        }
    }
    if entries.is_empty() {
        context.output.line("There are no keys in the ring.")?;
    }
    DONE
}

fn day(seconds: u64) -> String {
    utc(seconds * 1_000_000).chars().take(10).collect()
}

/// Makes the ring's folder and reads all that is in it.
pub(super) fn check(context: &mut Context, args: &Home) -> Result<ExitCode> {
    let checkup = args.ring.store(context)?.check()?;
    let (certificates, secrets) = (checkup.certificates, checkup.secrets);
    if context.output.is_json() {
        context.output.value(&json!({
            "certificates": certificates, "secrets": secrets, "wrong": checkup.wrong,
        }))?;
    } else {
        let text = format!("{certificates} certificates and {secrets} secret keys are sound");
        context.output.line(text)?;
        for wrong in &checkup.wrong {
            context.output.line(format!("  {wrong}"))?;
        }
    }
    if checkup.wrong.is_empty() {
        return DONE;
    }
    let what = format!("{} things in the key ring are not as they should be", checkup.wrong.len());
    Err(Failure::other(what, "Import again what cannot be read; give aliases anew."))
}

#[derive(Args, Debug)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// The keys: alias, fingerprint, key id, or part of a user id
    #[arg(required = true)]
    key: Vec<String>,
    /// Delete them, with their secret keys
    #[arg(long)]
    yes: bool,
}

pub(super) fn delete(context: &mut Context, args: &DeleteArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let prints = args.key.iter().map(|name| Ok(store.find(name)?)).collect::<Result<Vec<_>>>()?;
    if !args.yes {
        let all = prints.join(", ");
        let what = format!("{all} would be deleted; what is encrypted to it alone is lost then");
        return Err(Failure::usage(what, "Say --yes if that is meant."));
    }
    if let Some(path) = &args.ring.keystore {
        return keystores::delete(context, &args.ring, path, &prints);
    }
    for print in &prints {
        store.delete(print)?;
        report(context, print, "deleted")?;
    }
    DONE
}

#[derive(Args, Debug)]
pub(super) struct RevokeArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// The key: alias, fingerprint, key id, or part of a user id
    key: String,
    /// Why, for those who read it
    #[arg(long, default_value = "")]
    reason: String,
    /// The secret part is known to others
    #[arg(long)]
    compromised: bool,
    /// Revoke it; this cannot be taken back
    #[arg(long)]
    yes: bool,
}

pub(super) fn revoke(context: &mut Context, args: &RevokeArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let key = own(&store, &args.ring.tokens(context), &args.key)?;
    if !args.yes {
        let what = "a revocation cannot be taken back";
        return Err(Failure::usage(what, "Say --yes if it is meant."));
    }
    let code = match args.compromised {
        true => RevocationCode::KeyCompromised,
        false => RevocationCode::KeyRetired,
    };
    let print = match key {
        Own::Token(key) => store.add_certificate(key.revoke(code, &args.reason)?)?,
        Own::Here(key) => {
            let passphrases = args.ring.passphrases(context, std::slice::from_ref(&*key))?;
            let revocation = keys::revoke(&key, &passphrases, code, &args.reason)?;
            store.add_secret(&keys::key_with_revocation(&key, revocation))?
        }
    };
    report(context, &print, "revoked")
}

#[derive(Args, Debug)]
pub(super) struct ExpireArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// The key: alias, fingerprint, key id, or part of a user id
    key: String,
    /// After how many days from now; 0 for never
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=DAYS_MAX))]
    days: u32,
}

pub(super) fn expire(context: &mut Context, args: &ExpireArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let lifetime = (args.days > 0).then(|| args.days.saturating_mul(DAY_S));
    let print = match own(&store, &args.ring.tokens(context), &args.key)? {
        Own::Token(key) => store.add_certificate(key.expire(lifetime)?)?,
        Own::Here(key) => {
            let passphrases = args.ring.passphrases(context, std::slice::from_ref(&*key))?;
            store.add_secret(&keys::expire(&key, &passphrases, lifetime)?)?
        }
    };
    report(context, &print, "has another end; give its certificate to those who use it")
}

#[derive(Args, Debug)]
pub(super) struct CertifyArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// The certificate: alias, fingerprint, key id, or part of a user id
    certificate: String,
    /// The whole user id
    user: String,
    /// The key that says so
    #[arg(long, value_name = "KEY")]
    with: String,
}

pub(super) fn certify(context: &mut Context, args: &CertifyArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let key = own(&store, &args.ring.tokens(context), &args.with)?;
    let other = certificate(&store, &args.certificate)?;
    // Before anything is asked of a person or a token.
    require_user(&other, &args.user, Timestamp::now())?;
    let made = match key {
        Own::Token(key) => key.certify(other, &args.user)?,
        Own::Here(key) => {
            let passphrases = args.ring.passphrases(context, std::slice::from_ref(&*key))?;
            keys::certify(&key, &passphrases, other, &args.user)?
        }
    };
    let print = store.add_certificate(made)?;
    report(context, &print, "certified")
}

#[derive(Args, Debug)]
pub(super) struct AliasArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// The short name
    alias: String,
    /// The key: fingerprint, key id, or part of a user id
    key: String,
    /// Take the name from the key that has it
    #[arg(long)]
    yes: bool,
}

pub(super) fn alias(context: &mut Context, args: &AliasArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let print = store.find(&args.key)?;
    if !args.yes {
        store.may_be_called(&args.alias, Some(&print))?;
    }
    store.set_alias(&args.alias, &print)?;
    report(context, &print, "has the alias")
}

#[derive(Args, Debug)]
pub(super) struct PassphraseArgs {
    #[command(flatten)]
    ring: RingArgs,
    /// The key: alias, fingerprint, key id, or part of a user id
    key: String,
    /// Read the new passphrase from this file; otherwise from HOLDFAST_NEW_PASSPHRASE, or from the
    /// terminal
    #[arg(long, value_name = "FILE")]
    new_passphrase_file: Option<PathBuf>,
    /// Lock it with no passphrase any more
    #[arg(long, conflicts_with = "new_passphrase_file")]
    none: bool,
}

pub(super) fn passphrase(context: &mut Context, args: &PassphraseArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let key = secret(&store, &args.key)?;
    let old = args.ring.passphrases(context, std::slice::from_ref(&key))?;
    let new = match args.none {
        true => None,
        false => Some(args.ring.other_passphrase(args.new_passphrase_file.as_deref())?),
    };
    let print = store.add_secret(&keys::change_passphrase(&key, &old, new.as_ref())?)?;
    report(context, &print, "locked anew")
}
