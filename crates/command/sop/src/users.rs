//! Certificates: brought together, certified, and whose they are.
//!
//! 1. What a command is asked to certify it certifies everywhere, or it gives nothing out.
//! 2. A user id is valid only if it is for every certificate of the input.

use std::collections::BTreeMap;

use clap::Args;
use openpgp::Certificate;
use openpgp::keys::certificate_of;
use openpgp::pgp::composed::SignedPublicKey;
use openpgp::pgp::types::Timestamp;
use openpgp::upkeep::{authenticated_users, certifier_is_fit, has_user, merged, with_user};
use seam::Seam;

use crate::armor::Armored;
use crate::date::Moment;
use crate::failure::{Reason, Result, as_failure};
use crate::keys::tell_certificates;
use crate::place::{STDIN, all_of, certificates, certificates_in, keys, passwords_to_try};

fn from_stdin() -> Result<Vec<Certificate>> {
    certificates_in(STDIN, &all_of(STDIN, std::io::stdin())?)
}

#[derive(Args)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    armored: Armored,
    /// What else is known of the certificates
    certs: Vec<String>,
}

pub(crate) fn merge(seam: &Seam, args: &MergeArgs) -> Result<()> {
    let mut order = Vec::new();
    let mut known: BTreeMap<String, Certificate> = BTreeMap::new();
    for one in from_stdin()? {
        let name = one.fingerprint().to_string();
        let both = match known.remove(&name) {
            Some(before) => merged(before, one),
            None => {
                order.push(name.clone());
                one
            }
        };
        known.insert(name, both);
    }
    for (_, one) in certificates(&args.certs)? {
        let name = one.fingerprint().to_string();
        if let Some(before) = known.remove(&name) {
            known.insert(name, merged(before, one));
        }
    }
    let all: Vec<Certificate> = order.iter().filter_map(|name| known.remove(name)).collect();
    tell_certificates(seam, &args.armored, &all)
}

#[derive(Args)]
pub(crate) struct CertifyArgs {
    #[command(flatten)]
    armored: Armored,
    /// The user id
    #[arg(long, required = true)]
    userid: Vec<String>,
    /// Try this passphrase to unlock
    #[arg(long, value_name = "PASSWORD")]
    with_key_password: Vec<String>,
    /// Certify what the certificate does not claim itself, too
    #[arg(long)]
    no_require_self_sig: bool,
    /// Who says so
    #[arg(required = true)]
    keys: Vec<String>,
}

pub(crate) fn certify(seam: &Seam, args: &CertifyArgs) -> Result<()> {
    let certifiers = keys(&args.keys)?;
    let passwords = passwords_to_try(&args.with_key_password)?;
    let now = Timestamp::now();
    for key in &certifiers {
        if !certifier_is_fit(key, now) {
            let what = format!("key {} may not certify now", certificate_of(key).fingerprint());
            return Err(Reason::KeyCannotCertify.because(what));
        }
    }
    let mut done = Vec::new();
    for mut certificate in from_stdin()? {
        for user in &args.userid {
            let print = certificate.fingerprint();
            if args.no_require_self_sig {
                let unfit = || Reason::BadData.because("a user id is too long");
                certificate = with_user(certificate, user).ok_or_else(unfit)?;
            } else if !has_user(&certificate, user, now) {
                let what = format!("{print} does not say that it belongs to \"{user}\"");
                return Err(Reason::CertUseridNoMatch.because(what));
            }
            for key in &certifiers {
                let bad = as_failure(Reason::KeyCannotCertify, Reason::BadData);
                let made = openpgp::keys::certify(key, &passwords, certificate, user);
                certificate = made.map_err(bad)?;
            }
        }
        done.push(certificate);
    }
    tell_certificates(seam, &args.armored, &done)
}

#[derive(Args)]
pub(crate) struct ValidateArgs {
    /// The user id is an address; what stands around it does not matter
    #[arg(long)]
    addr_spec_only: bool,
    /// At that time instead of now
    #[arg(long, value_name = "DATE")]
    validate_at: Option<Moment>,
    /// The user id
    userid: String,
    /// Who is trusted
    #[arg(required = true)]
    certs: Vec<String>,
}

pub(crate) fn validate(seam: &Seam, args: &ValidateArgs) -> Result<()> {
    let authorities: Vec<_> = certificates(&args.certs)?.into_iter().map(|(_, one)| one).collect();
    let now = i64::from(Timestamp::now().as_secs());
    let at = args.validate_at.map_or(now, |moment| moment.earliest(now));
    let at = Timestamp::from_secs(u32::try_from(at.max(0)).unwrap_or(u32::MAX));
    for certificate in from_stdin()? {
        let users = authenticated_users(&certificate, &authorities, at);
        let fits = |user: &Vec<u8>| match args.addr_spec_only {
            true => address(user).eq_ignore_ascii_case(args.userid.as_bytes()),
            false => user == args.userid.as_bytes(),
        };
        if !users.iter().any(fits) {
            let print = SignedPublicKey::from(certificate).primary_key;
            let print = openpgp::pgp::types::KeyDetails::fingerprint(&print);
            let what = format!("nobody trusted says that {print} belongs to \"{}\"", args.userid);
            return Err(Reason::CertUseridNoMatch.because(what));
        }
    }
    crate::place::tell(seam, b"")
}

/// The address in a user id: what stands between angle brackets, or all of it.
fn address(user: &[u8]) -> &[u8] {
    let begin = user.iter().rposition(|byte| *byte == b'<');
    match (begin, user.strip_suffix(b">")) {
        (Some(begin), Some(before)) => &before[begin + 1..],
        _ => user,
    }
}
