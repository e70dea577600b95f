//! Certificates of X.509 for keys of one's own, and what is exported of them.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use openpgp::{Error, NewX509, Store, X509};
use serde_json::json;
use zeroize::Zeroizing;

use super::super::DONE;
use super::files::to_place;
use super::keyring::{DAY_S, ExportArgs};
use super::{Own, RingArgs, keystores, own, secret};
use crate::context::Context;
use crate::failure::{Failure, Result};

/// What certificates are to say.
#[derive(Args, Debug)]
pub(super) struct NewArgs {
    /// Whom they name: CN=Ada, O=Bank, C=DE; without, the one whom the first user id names
    #[arg(long, value_name = "SUBJECT")]
    subject: Option<String>,
}

impl NewArgs {
    /// The certificates to make, which end after so many days: 0 for when the key does.
    pub(super) fn new_x509(&self, context: &Context, days: u32) -> NewX509<'_> {
        let now = u32::try_from(context.seam.clock.utc_us() / 1_000_000).unwrap_or(u32::MAX);
        let until = (days > 0).then(|| now.saturating_add(days.saturating_mul(DAY_S)));
        NewX509 { subject: self.subject.as_deref(), until }
    }
}

#[derive(Args, Debug)]
pub(super) struct X509Args {
    #[command(flatten)]
    ring: RingArgs,
    /// The key: alias, fingerprint, key id, or part of a user id
    key: String,
    #[command(flatten)]
    new: NewArgs,
    /// After how many days from now they end; 0 for when the key does
    #[arg(long, default_value_t = 0)]
    days: u32,
}

pub(super) fn make(context: &mut Context, args: &X509Args) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let new = args.new.new_x509(context, args.days);
    let made = match own(&store, &args.ring.tokens(context), &args.key)? {
        Own::Token(key) => new.of_token_key(&key)?,
        Own::Here(key) => {
            let passphrases = args.ring.passphrases(context, std::slice::from_ref(&*key))?;
            new.of(&key, &passphrases)?
        }
    };
    let print = store.find(&args.key)?;
    store.set_x509(&print, &made)?;
    if context.output.is_json() {
        context.output.value(&json!({ "fingerprint": print, "certificates": made.len() }))?;
    } else {
        let what = if made.len() == 1 { "a certificate" } else { "certificates" };
        context.output.line(format!("{print}: has {what} of X.509"))?;
    }
    DONE
}

/// The certificates of X.509 of that name; in DER one only.
fn named(store: &Store, name: &str) -> Result<Vec<X509>> {
    let found = store.x509_named(name)?;
    if found.is_empty() {
        let what = format!("there is no X.509 certificate of {name} in the ring");
        let remedy = "Make one for a key of your own: holdfast pgp x509 KEY; or import one.";
        return Err(Failure::other(what, remedy));
    }
    Ok(found)
}

pub(super) fn export(context: &mut Context, args: &ExportArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let mut bytes = Zeroizing::new(Vec::new());
    for name in &args.key {
        bytes.extend(match (args.armor, &named(&store, name)?[..]) {
            (true, all) => all.iter().map(X509::pem).collect::<String>().into_bytes(),
            (false, [one]) if args.key.len() == 1 => one.der().to_vec(),
            _ => {
                let what = "DER holds one certificate, and here are several";
                let remedy = "Give --armor, or name one key, or part of a key, by its key id.";
                return Err(Failure::usage(what, remedy));
            }
        });
    }
    give(context, args, &bytes)
}

/// Exports one key with its certificates as a keystore.
pub(super) fn export_keystore(context: &mut Context, args: &ExportArgs) -> Result<ExitCode> {
    let store = args.ring.store(context)?;
    let [name] = &args.key[..] else {
        return Err(Failure::usage("one key makes a keystore", "Name one only."));
    };
    let key = secret(&store, name)?;
    let print = store.find(name)?;
    let certificates = store.x509(&print)?;
    if certificates.is_empty() {
        let what = format!("{print} has no certificate of X.509, without which Java has no key");
        return Err(Failure::other(what, format!("Make one: holdfast pgp x509 {name}")));
    }
    let alias = store.alias_of(&print)?.unwrap_or_else(|| print.to_lowercase());
    let bytes = keystores::export(context, &args.ring, &alias, &key, &certificates)?;
    give(context, args, &bytes)
}

fn give(context: &Context, args: &ExportArgs, bytes: &[u8]) -> Result<ExitCode> {
    let mut target = to_place(context, args.output.as_deref(), args.yes)?;
    let failed = |source| Error::Io { what: "writing the key".to_owned(), source };
    target.write_all(bytes).map_err(failed)?;
    target.release()?;
    DONE
}
