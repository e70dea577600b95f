//! Secret keys: made, locked, revoked, renewed, and their certificates.
//!
//! 1. Every key of the input is in the output, or the command fails: none is left out.

use clap::Args;
use openpgp::keys::{Algorithm, NewKey, certificate_of, change_passphrase, key_with_revocation};
use openpgp::pgp::packet::RevocationCode;
use openpgp::upkeep::{Renewal, is_beyond_renewal, renew};
use openpgp::{Certificate, SecretKey};
use seam::Seam;

use crate::armor::Armored;
use crate::failure::{Failure, Reason, Result, as_failure};
use crate::place::{
    STDIN, all_of, certificates, every_key_in, password_to_set, passwords_to_try, tell,
};

/// A profile: its name, other names, what it says, what it makes.
pub(crate) struct Profile<T> {
    name: &'static str,
    also: &'static [&'static str],
    text: &'static str,
    what: T,
}

impl<T> Profile<T> {
    /// Its line in the list.
    fn line(&self) -> String {
        match self.also {
            [] => format!("{}: {}\n", self.name, self.text),
            also => format!("{}: {} (aliases: {})\n", self.name, self.text, also.join(", ")),
        }
    }
}

const KEYS: [Profile<(Algorithm, bool)>; 6] = [
    Profile {
        name: "rfc4880",
        also: &["default", "compatibility"],
        text: "version 4, Ed25519 and Curve25519: what every program reads",
        what: (Algorithm::Curve25519, false),
    },
    Profile {
        name: "rfc9580",
        also: &["performance"],
        text: "version 6, Ed25519 and X25519",
        what: (Algorithm::Curve25519, true),
    },
    Profile {
        name: "rfc9580-curve448",
        also: &["security"],
        text: "version 6, Ed448 and X448",
        what: (Algorithm::Curve448, true),
    },
    Profile {
        name: "rfc4880-rsa3072",
        also: &[],
        text: "version 4, RSA with 3072 bits",
        what: (Algorithm::Rsa(3072), false),
    },
    Profile {
        name: "rfc4880-nistp256",
        also: &[],
        text: "version 4, ECDSA and ECDH on NIST P-256",
        what: (Algorithm::Nist(256), false),
    },
    Profile {
        name: "rfc9580-nistp384",
        also: &[],
        text: "version 6, ECDSA and ECDH on NIST P-384",
        what: (Algorithm::Nist(384), true),
    },
];

/// The profiles of `encrypt`, and how each protects a message; `default` asks the recipients.
pub(crate) const MESSAGES: [Profile<Option<Form>>; 5] = [
    Profile {
        name: "default",
        also: &[],
        text: "what all recipients say that they read",
        what: None,
    },
    Profile {
        name: "rfc4880",
        also: &["compatibility"],
        text: "CFB with a SHA-1 sum: what every program reads",
        what: Some(Form::V1),
    },
    Profile {
        name: "rfc9580",
        also: &["security", "performance"],
        text: "authenticated encryption with OCB",
        what: Some(Form::Ocb),
    },
    Profile {
        name: "rfc9580-gcm",
        also: &[],
        text: "authenticated encryption with GCM",
        what: Some(Form::Gcm),
    },
    Profile {
        name: "rfc9580-eax",
        also: &[],
        text: "authenticated encryption with EAX",
        what: Some(Form::Eax),
    },
];

/// How a message is protected.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    V1,
    Ocb,
    Gcm,
    Eax,
}

#[derive(Args)]
pub(crate) struct ProfilesArgs {
    /// generate-key or encrypt
    subcommand: String,
}

pub(crate) fn list_profiles(seam: &Seam, args: &ProfilesArgs) -> Result<()> {
    let lines: Vec<String> = match args.subcommand.as_str() {
        "generate-key" => KEYS.iter().map(Profile::line).collect(),
        "encrypt" => MESSAGES.iter().map(Profile::line).collect(),
        _ => {
            let what = "only generate-key and encrypt have profiles";
            return Err(Reason::UnsupportedProfile.because(what));
        }
    };
    tell(seam, lines.concat().as_bytes())
}

/// What the profile of this name stands for.
pub(crate) fn chosen<T: Copy>(all: &[Profile<T>], name: &str, subcommand: &str) -> Result<T> {
    let found = all.iter().find(|one| one.name == name || one.also.contains(&name));
    found.map(|one| one.what).ok_or_else(|| no_profile(subcommand))
}

/// What to say of a profile that there is not; what was given may be anything.
fn no_profile(subcommand: &str) -> Failure {
    let what = format!("no profile is called so; see `list-profiles {subcommand}`");
    Reason::UnsupportedProfile.because(what)
}

#[derive(Args)]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    armored: Armored,
    /// Lock it with this passphrase
    #[arg(long, value_name = "PASSWORD")]
    with_key_password: Option<String>,
    /// What it is made of; see list-profiles
    #[arg(long)]
    profile: Option<String>,
    /// Nobody can encrypt to it
    #[arg(long)]
    signing_only: bool,
    /// Who it belongs to
    userid: Vec<String>,
}

pub(crate) fn generate(seam: &Seam, args: GenerateArgs) -> Result<()> {
    let name = args.profile.as_deref().unwrap_or("default");
    let (algorithm, v6) = chosen(&KEYS, name, "generate-key")?;
    let new = NewKey {
        users: args.userid,
        algorithm,
        v6,
        passphrase: args.with_key_password.as_deref().map(password_to_set).transpose()?,
        lifetime_s: None,
        signing_only: args.signing_only,
    };
    tell_keys(seam, &args.armored, &[new.generate()?])
}

fn tell_keys(seam: &Seam, armored: &Armored, keys: &[SecretKey]) -> Result<()> {
    let mut bytes = zeroize::Zeroizing::new(Vec::new());
    let saved = SecretKey::save_all(keys, !armored.no_armor, &mut *bytes);
    saved.map_err(openpgp::Error::from)?;
    tell(seam, &bytes)
}

/// Gives certificates out.
pub(crate) fn tell_certificates(
    seam: &Seam,
    armored: &Armored,
    certificates: &[Certificate],
) -> Result<()> {
    let mut bytes = Vec::new();
    let saved = Certificate::save_all(certificates, !armored.no_armor, &mut bytes);
    saved.map_err(openpgp::Error::from)?;
    tell(seam, &bytes)
}

fn keys_from_stdin() -> Result<Vec<SecretKey>> {
    every_key_in(STDIN, &all_of(STDIN, std::io::stdin())?)
}

#[derive(Args)]
pub(crate) struct PasswordArgs {
    #[command(flatten)]
    armored: Armored,
    /// Lock with this passphrase; with none if it is left out
    #[arg(long, value_name = "PASSWORD")]
    new_key_password: Option<String>,
    /// Try this passphrase to unlock
    #[arg(long, value_name = "PASSWORD")]
    old_key_password: Vec<String>,
}

pub(crate) fn change_password(seam: &Seam, args: &PasswordArgs) -> Result<()> {
    let new = args.new_key_password.as_deref().map(password_to_set).transpose()?;
    let old = passwords_to_try(&args.old_key_password)?;
    let keys = keys_from_stdin()?;
    let changed = keys.iter().map(|key| change_passphrase(key, &old, new.as_ref()));
    let changed = changed.collect::<openpgp::Result<Vec<_>>>()?;
    tell_keys(seam, &args.armored, &changed)
}

#[derive(Args)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    armored: Armored,
    /// Try this passphrase to unlock
    #[arg(long, value_name = "PASSWORD")]
    with_key_password: Vec<String>,
}

pub(crate) fn revoke(seam: &Seam, args: &RevokeArgs) -> Result<()> {
    let passwords = passwords_to_try(&args.with_key_password)?;
    let mut revoked = Vec::new();
    for key in keys_from_stdin()? {
        let word = openpgp::keys::revoke(&key, &passwords, RevocationCode::NoReason, "")?;
        revoked.push(certificate_of(&key_with_revocation(&key, word)));
    }
    tell_certificates(seam, &args.armored, &revoked)
}

#[derive(Args)]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    armored: Armored,
}

pub(crate) fn extract(seam: &Seam, args: &ExtractArgs) -> Result<()> {
    let certificates: Vec<_> = keys_from_stdin()?.iter().map(certificate_of).collect();
    tell_certificates(seam, &args.armored, &certificates)
}

#[derive(Args)]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    armored: Armored,
    /// Add nothing to encrypt to
    #[arg(long)]
    signing_only: bool,
    /// Add nothing that the key could not do before
    #[arg(long)]
    no_added_capabilities: bool,
    /// Try this passphrase to unlock
    #[arg(long, value_name = "PASSWORD")]
    with_key_password: Vec<String>,
    /// Take in what these certificates know of the key
    #[arg(long, value_name = "CERTS")]
    merge_certs: Vec<String>,
}

pub(crate) fn update(seam: &Seam, args: &UpdateArgs) -> Result<()> {
    let passwords = passwords_to_try(&args.with_key_password)?;
    let known: Vec<_> = certificates(&args.merge_certs)?.into_iter().map(|(_, one)| one).collect();
    let renewal =
        Renewal { signing_only: args.signing_only, nothing_new: args.no_added_capabilities };
    let mut renewed = Vec::new();
    for key in keys_from_stdin().map_err(bad_if_unsupported)? {
        if is_beyond_renewal(&key) {
            let print = certificate_of(&key).fingerprint();
            let what = format!("key {print} was revoked or is too weak; make a new one");
            return Err(Reason::PrimaryKeyBad.because(what));
        }
        let bad = as_failure(Reason::PrimaryKeyBad, Reason::BadData);
        renewed.push(renew(&key, &passwords, &known, renewal).map_err(bad)?);
    }
    tell_keys(seam, &args.armored, &renewed)
}

/// A key of an algorithm that nobody here can use is not kept up to date: it is bad for that.
fn bad_if_unsupported(failure: Failure) -> Failure {
    match failure.reason {
        Reason::UnsupportedAsymmetricAlgo => Reason::PrimaryKeyBad.because(failure.text),
        _ => failure,
    }
}
