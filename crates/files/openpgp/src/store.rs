//! The key ring in a folder: certificates, secret keys, and names for them.
//!
//! ```text
//! | file              | holds                                                        |
//! |-------------------|--------------------------------------------------------------|
//! | FINGERPRINT.cert  | a certificate, binary, with everything that was merged into it |
//! | FINGERPRINT.key   | a secret key, binary, locked as it was when it came          |
//! | FINGERPRINT.token | which keys of which tokens its private halves are, as text       |
//! | FINGERPRINT.x509  | the certificate of X.509 of the key in DER; behind it those  |
//! |                   | of its parts                                                 |
//! | aliases           | lines: a name, a blank, a fingerprint                        |
//! ```
//!
//! 1. Each file is replaced whole and durably; a crash leaves the old one or the new one.
//! 2. Importing merges: what was known of a certificate stays known, and a secret part that is here
//!    stays, unless it comes anew.
//! 3. A name that fits several keys is an error, never a guess. `alias:`, `id:` and `user:` before
//!    it say what sort of name it is.
//! 4. Who changes something holds the lock on `.lock` from before it reads what it changes: of two
//!    commands at once neither loses what the other did. Reading needs no lock (1).
//! 5. A keystore that is opened with the ring comes before it: its names and certificates are found
//!    first, its secret keys are the ones that open messages, and it is what is listed. Nothing is
//!    written then.
//! 6. A file that is damaged stops nothing that can do without it: where all keys are meant, it is
//!    passed over and told, once; who names its key gets an error that names the file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use pgp::composed::SignedPublicKey;
use pgp::packet::{Signature, SignatureType};
use pgp::types::{KeyDetails, SignedUser};
use rpgpie::certificate::Certificate;
use rpgpie::tsk::Tsk;
use seam::Seam;
use seam::sync::Mutex;
use zeroize::Zeroizing;

use crate::bundle::Bundle;
use crate::detached::signatures;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::keys::{certificate_of, key_with_revocation, united, with_revocation};
use crate::keystore::{Foreign, is_of_a_known_type, is_pem};
use crate::listing::{Entry, describe, describe_x509, print_of};
use crate::merge::merged;
use crate::revocation::{is_by, revokes_key};
use crate::token_keys::{Places, TokenKey, Tokens};
use crate::usability::{Claim, claim_of, is_bound, is_short, of_no_use};
use crate::x509::X509;

const ALIASES: &str = "aliases";

/// A key ring.
pub struct Store {
    files: Files,
    tell: Option<OnPassedOver>,
    reported: Mutex<BTreeSet<String>>,
}

/// Who hears of files that are passed over.
type OnPassedOver = Box<dyn Fn(&Error) + Send + Sync>;

/// What a look at all of a ring has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    /// Certificates that can be read.
    pub certificates: usize,
    /// Secret keys that can be read.
    pub secrets: usize,
    /// What is wrong, each with its file.
    pub wrong: Vec<String>,
}

/// What has come of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The fingerprints of what is in the ring now.
    pub prints: Vec<String>,
    /// What was left out because it would be of no use, each with its reason.
    pub left_out: Vec<String>,
}

impl Imported {
    fn take(
        &mut self,
        certificate: &Certificate,
        allow_old: bool,
        add: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        match of_no_use(certificate).filter(|_| !(allow_old && is_short(certificate))) {
            Some(why) => self.left_out.push(why),
            None => self.prints.push(add()?),
        }
        Ok(())
    }
}

impl Store {
    /// The ring in this folder, which is made when something is first put into it.
    #[must_use]
    pub fn open(seam: &Seam, folder: &Path) -> Store {
        Store { files: Files::new(seam, folder), tell: None, reported: Mutex::default() }
    }

    /// The same ring, which tells of damaged files that it passes over (6).
    #[must_use]
    pub fn telling(self, tell: impl Fn(&Error) + Send + Sync + 'static) -> Store {
        Store { tell: Some(Box::new(tell)), ..self }
    }

    /// Those that are sound; the others are told (6).
    fn sound<T>(&self, all: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
        let mut sound = Vec::new();
        for one in all {
            match one {
                Ok(one) => sound.push(one),
                Err(error @ Error::RingFile(_)) => {
                    if self.reported.lock().insert(error.to_string()) {
                        self.tell.iter().for_each(|tell| tell(&error));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(sound)
    }

    /// The error of a file that does not hold what it should.
    fn damaged(&self, file: &str) -> Error {
        Error::RingFile(self.files.folder().join(file).display().to_string())
    }

    /// The ring with what a keystore holds before it (5).
    ///
    /// # Errors
    /// If something in the keystore cannot be written as packets.
    pub fn with_keystore(self, keystore: &[Foreign]) -> Result<Store> {
        let mut opened = BTreeMap::new();
        let mut aliases = String::new();
        for one in keystore {
            let print = one.certificate.fingerprint();
            if let Some(key) = &one.key {
                let mut bytes = Zeroizing::new(Vec::new());
                key.save(false, &mut *bytes)?;
                opened.insert(format!("{print}.key"), bytes);
                let certificate = Vec::try_from(&certificate_of(key))?;
                opened.insert(format!("{print}.cert"), Zeroizing::new(certificate));
            }
            opened.insert(format!("{print}.x509"), Zeroizing::new(one.der()));
            if let Some(alias) = &one.alias {
                aliases += &format!("{alias} {print}\n");
            }
        }
        opened.insert(ALIASES.to_owned(), Zeroizing::new(aliases.into_bytes()));
        Ok(Store { files: self.files.behind(opened), ..self })
    }

    /// A certificate by its fingerprint.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn certificate(&self, fingerprint: &str) -> Result<Option<Certificate>> {
        let file = format!("{fingerprint}.cert");
        let read = |bytes: Vec<u8>| Certificate::try_from(&bytes[..]);
        self.files.read(&file)?.map(read).transpose().map_err(|_| self.damaged(&file))
    }

    /// A secret key by its fingerprint.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn secret(&self, fingerprint: &str) -> Result<Option<Tsk>> {
        let file = format!("{fingerprint}.key");
        let read = |bytes: Vec<u8>| Tsk::try_from(&Zeroizing::new(bytes)[..]);
        self.files.read(&file)?.map(read).transpose().map_err(|_| self.damaged(&file))
    }

    /// All secret keys; with a keystore before the ring, those that it holds. Those that are too
    /// weak for anything but old messages are among them if `allow_old`.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn secrets(&self, allow_old: bool) -> Result<Vec<Tsk>> {
        let mut keys = self.all_secrets()?;
        keys.retain(|key| allow_old || !is_short(&certificate_of(key)));
        Ok(keys)
    }

    fn all_secrets(&self) -> Result<Vec<Tsk>> {
        let names = self.files.names(".key")?;
        let near = names.iter().filter(|name| !self.files.is_behind(&format!("{name}.key")));
        self.sound(near.filter_map(|name| self.secret(name).transpose()))
    }

    /// All certificates.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn certificates(&self) -> Result<Vec<Certificate>> {
        let names = self.files.names(".cert")?;
        self.sound(names.iter().filter_map(|name| self.certificate(name).transpose()))
    }

    /// Puts a certificate in; what was known of it stays (2). Gives its fingerprint.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn add_certificate(&self, certificate: Certificate) -> Result<String> {
        let _held = self.files.lock()?;
        self.merge_in(certificate)
    }

    /// Puts a certificate in, under the lock that the caller holds.
    fn merge_in(&self, certificate: Certificate) -> Result<String> {
        let name = print_of(&certificate);
        let all = match self.certificate(&name)? {
            None => certificate,
            Some(known) => merged(known, certificate),
        };
        let bytes = Vec::try_from(&all)?;
        self.files.write(&format!("{name}.cert"), &bytes)?;
        Ok(name)
    }

    /// Puts a secret key in, and its certificate; parts that the ring has and the key has not stay
    /// (2). Gives its fingerprint.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn add_secret(&self, key: &Tsk) -> Result<String> {
        let _held = self.files.lock()?;
        let name = self.merge_in(certificate_of(key))?;
        let known = self.secret(&name)?;
        let certificate = self.certificate(&name)?.unwrap_or_else(|| certificate_of(key));
        let mut keys = vec![key];
        keys.extend(&known);
        let mut bytes = Zeroizing::new(Vec::new());
        united(certificate, &keys).save(false, &mut *bytes)?;
        self.files.write(&format!("{name}.key"), &bytes)?;
        Ok(name)
    }

    /// Puts in a key whose private halves are in a token. Gives its fingerprint.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn add_token_key(&self, key: &TokenKey) -> Result<String> {
        let _held = self.files.lock()?;
        let name = self.merge_in(key.certificate.clone())?;
        self.files.write(&format!("{name}.token"), key.places.text().as_bytes())?;
        Ok(name)
    }

    fn places(&self, fingerprint: &str) -> Result<Option<Places>> {
        let file = format!("{fingerprint}.token");
        let read = |bytes: Vec<u8>| Places::parse(&String::from_utf8_lossy(&bytes));
        self.files.read(&file)?.map(read).transpose().map_err(|_| self.damaged(&file))
    }

    /// The label of the token that has the private halves of a key.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn token(&self, fingerprint: &str) -> Result<Option<String>> {
        Ok(self.places(fingerprint)?.map(|places| places.token().to_owned()))
    }

    /// A key whose private halves are in a token, by its fingerprint.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn token_key(&self, fingerprint: &str, tokens: &Arc<Tokens>) -> Result<Option<TokenKey>> {
        let (Some(places), Some(certificate)) =
            (self.places(fingerprint)?, self.certificate(fingerprint)?)
        else {
            return Ok(None);
        };
        Ok(Some(TokenKey { certificate, places, tokens: Arc::clone(tokens) }))
    }

    /// All keys whose private halves are in tokens.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn token_keys(&self, tokens: &Arc<Tokens>) -> Result<Vec<TokenKey>> {
        let names = self.files.names(".token")?;
        self.sound(names.iter().filter_map(|name| self.token_key(name, tokens).transpose()))
    }

    /// The certificates of X.509 of a key, by its fingerprint: its own, then those of its parts.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn x509(&self, fingerprint: &str) -> Result<Vec<X509>> {
        let file = format!("{fingerprint}.x509");
        let Some(bytes) = self.files.read(&file)? else { return Ok(Vec::new()) };
        X509::read(&bytes).map_err(|_| self.damaged(&file))
    }

    /// The certificates of X.509 of the one key that this names; by the fingerprint or key id of
    /// one of them, that one alone.
    ///
    /// # Errors
    /// If none or several keys are named, or the file cannot be read.
    pub fn x509_named(&self, name: &str) -> Result<Vec<X509>> {
        let all = self.x509(&self.find(name)?)?;
        let (sort, bare) = sort_of(name);
        if sort.is_some_and(|sort| sort != Sort::Number) {
            return Ok(all);
        }
        let is_meant = |one: &&X509| is_named_x509(one, Some(Sort::Number), bare);
        let meant: Vec<X509> = all.iter().filter(is_meant).cloned().collect();
        Ok(if meant.is_empty() { all } else { meant })
    }

    /// A name that was given to the key here, or in the keystore.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn alias_of(&self, fingerprint: &str) -> Result<Option<String>> {
        let mut all = self.aliases()?.into_iter();
        Ok(all.find(|(_, print)| print == fingerprint).map(|(alias, _)| alias))
    }

    /// Puts certificates of X.509 in for the key whose own the first one is, in place of those that
    /// it had.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn set_x509(&self, fingerprint: &str, certificates: &[X509]) -> Result<()> {
        let _held = self.files.lock()?;
        let der: Vec<u8> = certificates.iter().flat_map(|one| one.der().iter().copied()).collect();
        self.files.write(&format!("{fingerprint}.x509"), &der)
    }

    /// Those certificates of X.509 that have no OpenPGP certificate beside them, key by key.
    fn lone_x509(&self) -> Result<Vec<Vec<X509>>> {
        let known = self.files.names(".cert")?;
        let names = self.files.names(".x509")?.into_iter().filter(|name| !known.contains(name));
        let all = self.sound(names.map(|name| self.x509(&name)))?;
        Ok(all.into_iter().filter(|group| !group.is_empty()).collect())
    }

    /// Puts in a key that came from elsewhere, under the alias that it had there. Gives its
    /// fingerprint.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn add_foreign(&self, foreign: &Foreign) -> Result<String> {
        let print = foreign.certificate.fingerprint();
        if let Some(alias) =
            foreign.alias.as_deref().filter(|alias| is_fit_for_alias(alias).is_ok())
        {
            self.may_be_called(alias, Some(&print))?;
        }
        if let Some(key) = &foreign.key {
            self.add_secret(key)?;
        }
        let held = self.files.lock()?;
        let mut der = foreign.der();
        // Those of parts that do not come again stay (2).
        let is_kept = |old: &&X509| {
            let comes = |part: &X509| part.fingerprint() == old.fingerprint();
            old.is_part_of(&foreign.certificate) && !foreign.parts.iter().any(comes)
        };
        for old in self.x509(&print)?.iter().filter(is_kept) {
            der.extend_from_slice(old.der());
        }
        self.files.write(&format!("{print}.x509"), &der)?;
        drop(held);
        if let Some(alias) =
            foreign.alias.as_deref().filter(|alias| is_fit_for_alias(alias).is_ok())
        {
            self.set_alias(alias, &print)?;
        }
        Ok(print)
    }

    /// Puts in whatever keys and certificates these bytes hold, armored or not; also certificates
    /// of X.509, in DER or PEM, and revocations of keys that are here. What would be of no use is
    /// left out; secret keys that are too weak for anything but old messages are taken if
    /// `allow_old`.
    ///
    /// # Errors
    /// If they are neither, or nothing would be of use.
    pub fn import(&self, bytes: &[u8], allow_old: bool) -> Result<Imported> {
        is_of_a_known_type(bytes)?;
        let mut imported = Imported::default();
        // No packet begins like DER does.
        if is_pem(bytes) || bytes.first() == Some(&0x30) {
            for foreign in Foreign::of(&X509::read(bytes)?) {
                imported.prints.push(self.add_foreign(&foreign)?);
            }
            return Ok(imported);
        }
        if let Ok(signatures) = signatures(bytes) {
            return self.import_revocations(&signatures);
        }
        let bundle = Bundle::read(bytes)?;
        for key in bundle.keys {
            imported.take(&certificate_of(&key), allow_old, || self.add_secret(&key))?;
        }
        for one in bundle.certificates {
            imported.take(&one.clone(), allow_old, || self.add_certificate(one))?;
        }
        if !bundle.revocations.is_empty() {
            match self.import_revocations(&bundle.revocations) {
                Ok(more) => {
                    imported.prints.extend(more.prints);
                    imported.left_out.extend(more.left_out);
                }
                Err(Error::UnfitKey(why)) => imported.left_out.push(why),
                Err(error) => return Err(error),
            }
        }
        imported.left_out.extend(bundle.left_out);
        imported.left_out.extend(bundle.passed_over);
        match (&imported.prints[..], imported.left_out.first()) {
            ([], Some(why)) => Err(Error::UnfitKey(why.clone())),
            ([], None) => Err(Error::NotOpenPgp("there is no key in it".to_owned())),
            _ => Ok(imported),
        }
    }

    /// Puts in what owners publish whose keys were lost or stolen: words of keys of the ring that
    /// they count no more.
    fn import_revocations(&self, signatures: &[Signature]) -> Result<Imported> {
        let mut imported = Imported::default();
        let certificates = self.certificates()?;
        for signature in signatures {
            if signature.typ() != Some(SignatureType::KeyRevocation) {
                return Err(Error::SignatureAlone);
            }
            let primary = |one: &Certificate| SignedPublicKey::from(one.clone()).primary_key;
            let mut found = certificates.iter().filter(|one| is_by(signature, &primary(one)));
            let Some(found) = found.find(|one| revokes_key(signature, &primary(one))) else {
                let what = "a revocation is of no key that is in the ring, or does not fit it";
                imported.left_out.push(what.to_owned());
                continue;
            };
            imported.prints.push(match self.secret(&print_of(found))? {
                Some(key) => self.add_secret(&key_with_revocation(&key, signature.clone())),
                None => self.add_certificate(with_revocation(found.clone(), signature.clone())),
            }?);
        }
        match (imported.prints.is_empty(), imported.left_out.first()) {
            (true, Some(why)) => Err(Error::UnfitKey(why.clone())),
            _ => Ok(imported),
        }
    }

    /// Removes a certificate and its secret key; one in a token stays there.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn delete(&self, fingerprint: &str) -> Result<()> {
        let _held = self.files.lock()?;
        // The files go first: a device may be so full that nothing can be written before.
        let endings = ["key", "token", "cert", "x509"];
        self.files.remove(&endings.map(|ending| format!("{fingerprint}.{ending}")))?;
        let mut aliases = self.aliases()?;
        let before = aliases.len();
        aliases.retain(|(_, known)| known != fingerprint);
        if aliases.len() == before { Ok(()) } else { self.write_aliases(&aliases) }
    }

    /// Names with their fingerprints; those of a keystore come first, and hide others of the ring.
    fn aliases(&self) -> Result<Vec<(String, String)>> {
        let mut all: Vec<(String, String)> = Vec::new();
        for bytes in [self.files.read(ALIASES)?, self.files.read_folder(ALIASES)?] {
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            for (name, print) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
                if all.iter().all(|(known, _)| known != name) {
                    all.push((name.to_owned(), print.to_owned()));
                }
            }
        }
        Ok(all)
    }

    fn write_aliases(&self, aliases: &[(String, String)]) -> Result<()> {
        let lines = aliases.iter().map(|(name, print)| format!("{name} {print}\n"));
        self.files.write(ALIASES, lines.collect::<String>().as_bytes())
    }

    /// Whether a key can be given this name: no one who encrypts to a name may come to another key
    /// without a word.
    ///
    /// # Errors
    /// If the name is none, could be taken for another sort of name, or is another key's.
    pub fn may_be_called(&self, alias: &str, fingerprint: Option<&str>) -> Result<()> {
        is_fit_for_alias(alias)?;
        let aliases = self.aliases()?;
        let other = aliases.iter().find(|(known, of)| known == alias && Some(&**of) != fingerprint);
        let Some((_, print)) = other else { return Ok(()) };
        Err(Error::Name(format!(
            "the alias \"{alias}\" is of key {print}; `holdfast pgp alias --yes` gives it to \
             another"
        )))
    }

    /// Gives a key a name; one that had it loses it.
    ///
    /// # Errors
    /// If the name is none, or could be taken for another sort of name, or the folder takes
    /// nothing.
    pub fn set_alias(&self, alias: &str, fingerprint: &str) -> Result<()> {
        is_fit_for_alias(alias)?;
        let _held = self.files.lock()?;
        let mut aliases = self.aliases()?;
        aliases.retain(|(known, _)| known != alias);
        aliases.push((alias.to_owned(), fingerprint.to_owned()));
        self.write_aliases(&aliases)
    }

    /// The fingerprint of the one key that this names: an alias, a fingerprint, the key id of any
    /// of its parts, or a part of a user id (3).
    ///
    /// # Errors
    /// If none or several are named.
    pub fn find(&self, name: &str) -> Result<String> {
        let aliases = self.aliases()?;
        let (sort, bare) = sort_of(name);
        let may_be_alias = sort.map_or(!is_number(bare), |sort| sort == Sort::Alias);
        if may_be_alias && let Some((_, print)) = aliases.iter().find(|(alias, _)| alias == bare) {
            return Ok(print.clone());
        }
        // A damaged file says by its name alone whose it is (6).
        let print = bare.trim_start_matches("0x").replace(' ', "").to_uppercase();
        let may_be_print = sort.is_none_or(|sort| sort == Sort::Number);
        if may_be_print && self.files.names(".cert")?.contains(&print) {
            return Ok(print);
        }
        let mut found = Vec::new();
        for certificate in self.certificates()? {
            if is_named(&certificate, sort, bare) {
                found.push(print_of(&certificate));
            }
        }
        for group in self.lone_x509()? {
            if group.iter().any(|one| is_named_x509(one, sort, bare)) {
                found.push(group[0].fingerprint());
            }
        }
        match &found[..] {
            [one] => Ok(one.clone()),
            [] => Err(Error::Name(format!(
                "no key in {} is called \"{bare}\"; `holdfast pgp list` shows them",
                self.files.folder().display()
            ))),
            several => Err(Error::Name(format!(
                "\"{bare}\" fits several keys: {}; say which by its fingerprint",
                several.join(", ")
            ))),
        }
    }

    /// Makes the folder, and reads everything that is in it. Gives how many certificates and secret
    /// keys are sound, and what is wrong with the others, and with aliases of keys that are gone.
    ///
    /// # Errors
    /// If the folder cannot be made or listed.
    pub fn check(&self) -> Result<Checkup> {
        self.files.make()?;
        let mut checkup = Checkup::default();
        for name in self.files.names(".cert")? {
            match self.certificate(&name) {
                Ok(_) => checkup.certificates += 1,
                Err(error) => checkup.wrong.push(error.to_string()),
            }
        }
        for name in self.files.names(".key")? {
            match self.secret(&name) {
                Ok(_) => checkup.secrets += 1,
                Err(error) => checkup.wrong.push(error.to_string()),
            }
        }
        for name in self.files.names(".token")? {
            match self.places(&name) {
                Ok(_) => checkup.secrets += 1,
                Err(error) => checkup.wrong.push(error.to_string()),
            }
        }
        for name in self.files.names(".x509")? {
            if let Err(error) = self.x509(&name) {
                checkup.wrong.push(error.to_string());
            }
        }
        for (alias, print) in self.aliases()? {
            let is_here =
                |ending| self.files.read(&format!("{print}.{ending}")).map(|it| it.is_some());
            if !(is_here("cert")? || is_here("x509")?) {
                checkup.wrong.push(format!("the alias \"{alias}\" is of {print}, which is gone"));
            }
        }
        Ok(checkup)
    }

    /// Everything in the ring, or in the keystore that comes before it.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let aliases = self.aliases()?;
        let secrets = self.files.names(".key")?;
        let with_x509 = self.files.names(".x509")?;
        let mut entries = Vec::new();
        for certificate in self.certificates()? {
            let mut entry = describe(certificate, &aliases, &secrets);
            entry.has_x509 = with_x509.contains(&entry.fingerprint);
            let token = self.sound(self.token(&entry.fingerprint).transpose().into_iter())?;
            entry.token = token.into_iter().next();
            entries.push(entry);
        }
        let lone = self.lone_x509()?;
        entries.extend(lone.iter().map(|group| describe_x509(&group[0], &aliases)));
        entries.retain(|entry| !self.files.is_behind(&format!("{}.x509", entry.fingerprint)));
        Ok(entries)
    }
}

/// Refuses names that are none, or that could be taken for another sort of name (3).
fn is_fit_for_alias(alias: &str) -> Result<()> {
    if alias.trim().is_empty() || alias.contains(['\n', '\r']) {
        return Err(Error::Usage("an alias is one line that is not empty".to_owned()));
    }
    if sort_of(alias).0.is_some() || is_number(alias) {
        let what = format!("\"{alias}\" would be taken for another sort of name; choose another");
        return Err(Error::Usage(what));
    }
    Ok(())
}

/// Whether this is written like a key id or a fingerprint.
fn is_number(name: &str) -> bool {
    let digits = name.strip_prefix("0x").unwrap_or(name).replace(' ', "");
    matches!(digits.len(), 16 | 40 | 64) && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// What a name may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Alias,
    Number,
    User,
}

/// The sort of a name, if something before it says that, and the name itself (3).
fn sort_of(name: &str) -> (Option<Sort>, &str) {
    let sorts = [("alias:", Sort::Alias), ("id:", Sort::Number), ("user:", Sort::User)];
    let mut prefixes = sorts.iter().filter_map(|(prefix, sort)| {
        let bare = name.strip_prefix(prefix)?;
        Some((Some(*sort), bare))
    });
    prefixes.next().unwrap_or((None, name))
}

fn is_named(certificate: &Certificate, sort: Option<Sort>, name: &str) -> bool {
    let inner = SignedPublicKey::from(certificate.clone());
    let primary = &inner.primary_key;
    let numbers =
        |key: &dyn KeyDetails| (key.fingerprint().to_string(), key.legacy_key_id().to_string());
    let by_number = |key: &dyn KeyDetails| fits(sort, name, &[numbers(key)], std::iter::empty());
    let by_text = |user: &SignedUser| {
        let text = String::from_utf8_lossy(user.id.id());
        fits(sort, name, &[], std::iter::once(&*text))
    };
    let mut users = inner.details.users.iter();
    // What anybody can have put there names no user, nor does what no longer counts.
    by_number(primary)
        || inner.public_subkeys.iter().any(|part| by_number(&part.key) && is_bound(part, primary))
        || users.any(|user| by_text(user) && claim_of(user, primary) == Claim::Good)
}

fn is_named_x509(certificate: &X509, sort: Option<Sort>, name: &str) -> bool {
    let keys = certificate.packets();
    let prints = keys.map(|key| (key.fingerprint().to_string(), key.legacy_key_id().to_string()));
    fits(sort, name, &prints, std::iter::once(certificate.user()))
}

/// Whether a name is one of these fingerprints or key ids, or a part of one of these user ids.
fn fits<'a>(
    sort: Option<Sort>,
    name: &str,
    prints: &[(String, String)],
    mut users: impl Iterator<Item = &'a str>,
) -> bool {
    let may_be = |wanted| sort.is_none_or(|sort| sort == wanted);
    let hex = name.trim_start_matches("0x").replace(' ', "").to_uppercase();
    let wanted = name.to_lowercase();
    let by_number =
        prints.iter().any(|(print, id)| print.to_uppercase() == hex || id.to_uppercase() == hex);
    (may_be(Sort::Number) && by_number)
        || (may_be(Sort::User) && users.any(|user| user.to_lowercase().contains(&wanted)))
}
