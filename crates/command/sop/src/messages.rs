//! Messages: encrypted and decrypted.
//!
//! 1. Of a message that is not whole and right nothing is given out: no data, no session key, no
//!    verifications.

use std::io;

use clap::Args;
use openpgp::pgp::crypto::aead::AeadAlgorithm;
use openpgp::{Certificate, Container, Reading, SessionKey, Stats, Writing};
use seam::Seam;
use zeroize::Zeroizing;

use crate::armor::Armored;
use crate::date::Moment;
use crate::failure::{Reason, Result, as_failure};
use crate::keys::{Form, MESSAGES, chosen};
use crate::place::{
    Beside, certificates, keys, main_output, password_to_set, passwords_to_try, recipients,
    release, small,
};
use crate::sign::{As, Text, signers};
use crate::verifications::{Span, lines, tell_others};

#[derive(Args)]
pub(crate) struct EncryptArgs {
    #[command(flatten)]
    armored: Armored,
    /// What the data is
    #[arg(long = "as", value_enum, default_value = "binary")]
    kind: As,
    /// This passphrase opens it
    #[arg(long, value_name = "PASSWORD")]
    with_password: Vec<String>,
    /// These keys sign it
    #[arg(long, value_name = "KEYS")]
    sign_with: Vec<String>,
    /// Try this passphrase to unlock the keys that sign
    #[arg(long, value_name = "PASSWORD")]
    with_key_password: Vec<String>,
    /// How it is protected; see list-profiles
    #[arg(long)]
    profile: Option<String>,
    /// Write the key of the message itself here
    #[arg(long, value_name = "SESSIONKEY")]
    session_key_out: Option<String>,
    /// Whose secret keys open it
    certs: Vec<String>,
}

/// The container that a profile means.
fn container(profile: Option<&str>) -> Result<Option<Container>> {
    let name = profile.unwrap_or("default");
    let form = chosen(&MESSAGES, name, "encrypt")?;
    Ok(form.map(|form| match form {
        Form::V1 => Container::V1,
        Form::Ocb => Container::V2(AeadAlgorithm::Ocb),
        Form::Gcm => Container::V2(AeadAlgorithm::Gcm),
        Form::Eax => Container::V2(AeadAlgorithm::Eax),
    }))
}

pub(crate) fn encrypt(seam: &Seam, args: &EncryptArgs) -> Result<()> {
    let container = container(args.profile.as_deref())?;
    if args.certs.is_empty() && args.with_password.is_empty() {
        return Err(Reason::MissingArg.because("name a certificate, or give a passphrase"));
    }
    let mut session_key = Beside::open(seam, args.session_key_out.as_ref())?;
    let (recipients, unsupported) = recipients(&args.certs)?;
    let passwords = args.with_password.iter().map(|argument| password_to_set(argument));
    let passphrases = passwords.collect::<Result<Vec<_>>>()?;
    let key_passwords = passwords_to_try(&args.with_key_password)?;
    let writing = Writing {
        recipients,
        passphrases,
        signers: signers(&keys(&args.sign_with)?, &key_passwords)?,
        container,
        armor: !args.armored.no_armor,
        text: args.kind == As::Text,
        ..Writing::default()
    };
    let mut input = Text::new(io::stdin(), writing.text);
    let mut out = main_output(seam);
    let made = writing.run(&mut input, &mut out, &Stats::default());
    let made = match made {
        Err(error @ openpgp::Error::UnfitKey(_)) => {
            let is_unknown = |one: &Certificate| {
                openpgp::is_unsupported(one, unsupported.contains(&one.fingerprint()))
            };
            let unknown = writing.recipients.iter().any(is_unknown);
            let reason = match unknown {
                true => Reason::UnsupportedAsymmetricAlgo,
                false => Reason::CertCannotEncrypt,
            };
            return Err(reason.because(error.to_string()));
        }
        other => input.with_reason(other)?,
    };
    if let (Some(place), Some(key)) = (&mut session_key, made) {
        place.fill(session_key_text(&key).as_bytes())?;
    }
    release(out, session_key)
}

fn session_key_text(key: &SessionKey) -> Zeroizing<String> {
    let mut text = Zeroizing::new(format!("{}:", key.cipher));
    text.push_str(&Zeroizing::new(base::hex::upper(&key.key)));
    text.push('\n');
    text
}

/// The session key in a text like `9:00FF...`.
fn session_key_of(name: &str, text: &[u8]) -> Result<SessionKey> {
    let wrong = || Reason::BadData.because(format!("{name} is no session key like 9:00FF..."));
    let text = std::str::from_utf8(text).map_err(|_| wrong())?.trim_ascii();
    let (cipher, digits) = text.split_once(':').ok_or_else(wrong)?;
    let cipher = cipher.parse().map_err(|_| wrong())?;
    let is_hex = !digits.is_empty()
        && digits.len().is_multiple_of(2)
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex {
        return Err(wrong());
    }
    let bytes = (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16));
    let key = bytes.collect::<std::result::Result<Vec<u8>, _>>().map_err(|_| wrong())?;
    Ok(SessionKey { cipher, key: Zeroizing::new(key) })
}

#[derive(Args)]
pub(crate) struct DecryptArgs {
    /// Write the key of the message itself here
    #[arg(long, value_name = "SESSIONKEY")]
    session_key_out: Option<String>,
    /// This key of the message itself opens it
    #[arg(long, value_name = "SESSIONKEY")]
    with_session_key: Vec<String>,
    /// Try this passphrase
    #[arg(long, value_name = "PASSWORD")]
    with_password: Vec<String>,
    /// Try this passphrase to unlock secret keys
    #[arg(long, value_name = "PASSWORD")]
    with_key_password: Vec<String>,
    /// Write a line for each good signature here
    #[arg(long, alias = "verify-out", value_name = "VERIFICATIONS")]
    verifications_out: Option<String>,
    /// Whose signatures count
    #[arg(long, value_name = "CERTS")]
    verify_with: Vec<String>,
    /// Signatures from before that time do not count
    #[arg(long, value_name = "DATE")]
    verify_not_before: Option<Moment>,
    /// Signatures from after that time do not count
    #[arg(long, value_name = "DATE")]
    verify_not_after: Option<Moment>,
    /// Secret keys that may open it
    keys: Vec<String>,
}

impl DecryptArgs {
    /// What belongs together comes together.
    fn is_complete(&self) -> Result<()> {
        let ways = [&self.keys, &self.with_password, &self.with_session_key];
        if ways.iter().all(|way| way.is_empty()) {
            let what = "give a secret key, a passphrase or a session key";
            return Err(Reason::MissingArg.because(what));
        }
        let out = self.verifications_out.is_some();
        let with = !self.verify_with.is_empty();
        let bounds = self.verify_not_before.is_some() || self.verify_not_after.is_some();
        if out != with || (bounds && !with) {
            let what = "--verify-with and --verifications-out go together, bounds with them";
            return Err(Reason::IncompleteVerification.because(what));
        }
        Ok(())
    }
}

pub(crate) fn decrypt(seam: &Seam, args: &DecryptArgs) -> Result<()> {
    args.is_complete()?;
    let mut session_key = Beside::open(seam, args.session_key_out.as_ref())?;
    let mut verifications = Beside::open(seam, args.verifications_out.as_ref())?;
    let session_keys =
        args.with_session_key.iter().map(|argument| session_key_of(argument, &small(argument)?));
    let sources = certificates(&args.verify_with)?;
    let reading = Reading {
        keys: keys(&args.keys)?,
        key_passphrases: passwords_to_try(&args.with_key_password)?,
        passphrases: passwords_to_try(&args.with_password)?,
        session_keys: session_keys.collect::<Result<Vec<_>>>()?,
        certificates: sources.iter().map(|(_, one)| one.clone()).collect(),
        must_be_encrypted: true,
        native_lines: true,
        ..Reading::default()
    };
    let mut out = main_output(seam);
    let read = reading.run(&mut io::stdin(), &mut out, &Stats::default());
    let unfit = Reason::UnsupportedAsymmetricAlgo;
    let opened = read.map_err(as_failure(unfit, Reason::CannotDecrypt))?;
    if let (Some(place), Some(key)) = (&mut session_key, &opened.session_key) {
        place.fill(session_key_text(key).as_bytes())?;
    }
    if let Some(place) = &mut verifications {
        let span = Span { not_before: args.verify_not_before, not_after: args.verify_not_after };
        let all = opened.verified.len();
        let good = span.keep(opened.verified);
        let doubts: Vec<&str> =
            opened.bad.iter().chain(&opened.unchecked).map(String::as_str).collect();
        tell_others(&doubts, all - good.len());
        place.fill(lines(&good, &sources).as_bytes())?;
    }
    release(out, session_key.into_iter().chain(verifications))
}
