//! The key ring in a folder: certificates, secret keys, and names for them.
//!
//! ```text
//! | file              | holds                                                        |
//! |-------------------|--------------------------------------------------------------|
//! | FINGERPRINT.cert  | a certificate, binary, with everything that was merged into it |
//! | FINGERPRINT.key   | a secret key, binary, locked as it was when it came          |
//! | FINGERPRINT.token | which keys of which tokens its private halves are, as text       |
//! | FINGERPRINT.x509  | a certificate of X.509 in DER, by its key's fingerprint here |
//! | aliases           | lines: a name, a blank, a fingerprint                        |
//! ```
//!
//! 1. Each file is replaced whole and durably; a crash leaves the old one or the new one.
//! 2. Importing merges: what was known of a certificate stays known.
//! 3. A name that fits several keys is an error, never a guess. `alias:`, `id:` and `user:` before
//!    it say what sort of name it is.
//! 4. Who changes something holds the lock on `.lock` from before it reads what it changes: of two
//!    commands at once neither loses what the other did. Reading needs no lock (1).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pgp::types::KeyDetails;
use rpgpie::certificate::{Certificate, Checked};
use rpgpie::merge::CertificateInfo;
use rpgpie::tsk::Tsk;
use seam::Seam;
use seam::disk::{HeldLock, make_dir, read_small, replace_small};

use crate::error::{Error, Result};
use crate::fitness::of_no_use;
use crate::held::{Held, Holder, Places};
use crate::keys::certificate_of;
use crate::keystore::{Foreign, is_of_a_known_type, is_pem};
use crate::x509::X509;

/// The file whose lock a change holds.
const LOCK: &str = ".lock";
/// How long another command's change is waited for, in tries of so many milliseconds each.
const TRIES: u32 = 1500;
const TRY_MS: u64 = 20;
/// No file of the ring is longer.
const FILE_MAX: usize = 16 << 20;
const ALIASES: &str = "aliases";

/// A key ring.
pub struct Store {
    seam: Seam,
    folder: PathBuf,
}

/// What a listing shows of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The fingerprint, in hexadecimal.
    pub fingerprint: String,
    /// The key id, in hexadecimal.
    pub key_id: String,
    /// The version of the key's form: 4 or 6.
    pub version: u8,
    /// The names that were given to it here.
    pub aliases: Vec<String>,
    /// Who it says it belongs to.
    pub users: Vec<String>,
    /// The algorithm of its primary key.
    pub algorithm: String,
    /// When it was made, in seconds since 1970.
    pub made: u32,
    /// When it expires, in seconds since 1970.
    pub expires: Option<u32>,
    /// Whether it was revoked.
    pub is_revoked: bool,
    /// Whether the secret key is here, too.
    pub has_secret: bool,
    /// The token that has the secret key.
    pub token: Option<String>,
    /// Whether there is a certificate of X.509 for it.
    pub has_x509: bool,
}

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
        add: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        match of_no_use(certificate) {
            Some(why) => self.left_out.push(why),
            None => self.prints.push(add()?),
        }
        Ok(())
    }
}

fn on(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    Error::io(path.display().to_string())
}

fn name_of(certificate: &Certificate) -> String {
    certificate.fingerprint().to_string().to_uppercase()
}

impl Store {
    /// The ring in this folder, which is made when something is first put into it.
    #[must_use]
    pub fn open(seam: &Seam, folder: &Path) -> Store {
        Store { seam: seam.clone(), folder: folder.to_owned() }
    }

    fn names(&self, ending: &str) -> Result<Vec<String>> {
        if !self.seam.disk.exists(&self.folder).map_err(on(&self.folder))? {
            return Ok(Vec::new());
        }
        let list = self.seam.disk.list(&self.folder).map_err(on(&self.folder))?;
        let names = list.iter().filter_map(|path| path.file_name()?.to_str()?.strip_suffix(ending));
        Ok(names.map(str::to_owned).collect())
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.folder.join(name);
        if !self.seam.disk.exists(&path).map_err(on(&path))? {
            return Ok(None);
        }
        read_small(&*self.seam.disk, &path, FILE_MAX).map(Some).map_err(on(&path))
    }

    /// Waits until nobody else changes the ring (4).
    fn lock(&self) -> Result<Box<dyn HeldLock>> {
        make_dir(&*self.seam.disk, &self.folder).map_err(on(&self.folder))?;
        let path = self.folder.join(LOCK);
        for _ in 0..TRIES {
            match self.seam.disk.lock(&path) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.seam.clock.sleep(Duration::from_millis(TRY_MS));
                }
                locked => return locked.map_err(on(&path)),
            }
        }
        let what = format!("another command has held {} for 30 seconds", path.display());
        Err(Error::Name(what))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.folder.join(name);
        replace_small(&*self.seam.disk, &path, bytes).map_err(on(&path))
    }

    /// A certificate by its fingerprint.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn certificate(&self, fingerprint: &str) -> Result<Option<Certificate>> {
        let bytes = self.read(&format!("{fingerprint}.cert"))?;
        bytes.map(|bytes| Certificate::try_from(&bytes[..]).map_err(Error::from)).transpose()
    }

    /// A secret key by its fingerprint.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn secret(&self, fingerprint: &str) -> Result<Option<Tsk>> {
        let bytes = self.read(&format!("{fingerprint}.key"))?;
        bytes.map(|bytes| Tsk::try_from(&bytes[..]).map_err(Error::from)).transpose()
    }

    /// All secret keys.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn secrets(&self) -> Result<Vec<Tsk>> {
        let names = self.names(".key")?;
        let all = names.iter().filter_map(|name| self.secret(name).transpose());
        all.collect()
    }

    /// All certificates.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn certificates(&self) -> Result<Vec<Certificate>> {
        let names = self.names(".cert")?;
        let all = names.iter().filter_map(|name| self.certificate(name).transpose());
        all.collect()
    }

    /// Puts a certificate in; what was known of it stays (2). Gives its fingerprint.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn add_certificate(&self, certificate: Certificate) -> Result<String> {
        let _held = self.lock()?;
        self.merge_in(certificate)
    }

    /// Puts a certificate in, under the lock that the caller holds.
    fn merge_in(&self, certificate: Certificate) -> Result<String> {
        let name = name_of(&certificate);
        let merged = match self.certificate(&name)? {
            None => certificate,
            Some(mut known) => {
                known.merge(vec![CertificateInfo::Cert(certificate)]);
                known
            }
        };
        let bytes = Vec::try_from(&merged)?;
        self.write(&format!("{name}.cert"), &bytes)?;
        Ok(name)
    }

    /// Puts a secret key in, and its certificate. Gives its fingerprint.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn add_secret(&self, key: &Tsk) -> Result<String> {
        let _held = self.lock()?;
        let name = self.merge_in(certificate_of(key))?;
        let mut bytes = Vec::new();
        key.save(false, &mut bytes)?;
        self.write(&format!("{name}.key"), &bytes)?;
        Ok(name)
    }

    /// Puts in a key whose private halves are in a token. Gives its fingerprint.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn add_held(&self, key: &Held) -> Result<String> {
        let _held = self.lock()?;
        let name = self.merge_in(key.certificate.clone())?;
        self.write(&format!("{name}.token"), key.places.text().as_bytes())?;
        Ok(name)
    }

    fn places(&self, fingerprint: &str) -> Result<Option<Places>> {
        let name = format!("{fingerprint}.token");
        let bytes = self.read(&name)?;
        let wrong = |error| Error::NotOpenPgp(format!("{name}: {error}"));
        let parse = |bytes: Vec<u8>| Places::parse(&String::from_utf8_lossy(&bytes));
        bytes.map(parse).transpose().map_err(wrong)
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
    pub fn held(&self, fingerprint: &str, holder: &Arc<Holder>) -> Result<Option<Held>> {
        let (Some(places), Some(certificate)) =
            (self.places(fingerprint)?, self.certificate(fingerprint)?)
        else {
            return Ok(None);
        };
        Ok(Some(Held { certificate, places, holder: Arc::clone(holder) }))
    }

    /// All keys whose private halves are in tokens.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn all_held(&self, holder: &Arc<Holder>) -> Result<Vec<Held>> {
        let names = self.names(".token")?;
        names.iter().filter_map(|name| self.held(name, holder).transpose()).collect()
    }

    /// A certificate of X.509, by the fingerprint of its key.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn x509(&self, fingerprint: &str) -> Result<Option<X509>> {
        let bytes = self.read(&format!("{fingerprint}.x509"))?;
        bytes.map(|bytes| X509::from_der(&bytes)).transpose()
    }

    /// Those certificates of X.509 that have no OpenPGP certificate beside them.
    fn lone_x509(&self) -> Result<Vec<X509>> {
        let known = self.names(".cert")?;
        let names = self.names(".x509")?.into_iter().filter(|name| !known.contains(name));
        names.filter_map(|name| self.x509(&name).transpose()).collect()
    }

    /// Puts in a key that came from elsewhere, under the alias that it had there. Gives its
    /// fingerprint.
    ///
    /// # Errors
    /// If the folder takes nothing.
    pub fn add_foreign(&self, foreign: &Foreign) -> Result<String> {
        let print = foreign.certificate.fingerprint();
        if let Some(key) = &foreign.key {
            self.add_secret(key)?;
        }
        let held = self.lock()?;
        self.write(&format!("{print}.x509"), foreign.certificate.der())?;
        drop(held);
        if let Some(alias) = &foreign.alias {
            self.set_alias(alias, &print)?;
        }
        Ok(print)
    }

    /// Puts in whatever keys and certificates these bytes hold, armored or not; also certificates
    /// of X.509, in DER or PEM. What would be of no use here is left out.
    ///
    /// # Errors
    /// If they are neither, or nothing would be of use.
    pub fn import(&self, bytes: &[u8]) -> Result<Imported> {
        is_of_a_known_type(bytes)?;
        let mut imported = Imported::default();
        // No packet begins like DER does.
        if is_pem(bytes) || bytes.first() == Some(&0x30) {
            for certificate in X509::read(bytes)? {
                let foreign = Foreign { alias: None, certificate, key: None };
                imported.prints.push(self.add_foreign(&foreign)?);
            }
            return Ok(imported);
        }
        match Tsk::load(&mut &bytes[..]) {
            Ok(keys) if !keys.is_empty() => {
                for key in keys {
                    imported.take(&certificate_of(&key), || self.add_secret(&key))?;
                }
            }
            _ => {
                for one in Certificate::load(&mut &bytes[..])? {
                    imported.take(&one.clone(), || self.add_certificate(one))?;
                }
            }
        }
        match (&imported.prints[..], imported.left_out.first()) {
            ([], Some(why)) => Err(Error::UnfitKey(why.clone())),
            ([], None) => Err(Error::NotOpenPgp("there is no key in it".to_owned())),
            _ => Ok(imported),
        }
    }

    /// Removes a certificate and its secret key; one in a token stays there.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn delete(&self, fingerprint: &str) -> Result<()> {
        let _held = self.lock()?;
        let mut aliases = self.aliases()?;
        aliases.retain(|(_, known)| known != fingerprint);
        self.write_aliases(&aliases)?;
        for ending in ["key", "token", "cert", "x509"] {
            let path = self.folder.join(format!("{fingerprint}.{ending}"));
            if self.seam.disk.exists(&path).map_err(on(&path))? {
                self.seam.disk.remove(&path).map_err(on(&path))?;
            }
        }
        self.seam.disk.sync_dir(&self.folder).map_err(on(&self.folder))
    }

    fn aliases(&self) -> Result<Vec<(String, String)>> {
        let bytes = self.read(ALIASES)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let pairs = text.lines().filter_map(|line| line.rsplit_once(' '));
        Ok(pairs.map(|(name, print)| (name.to_owned(), print.to_owned())).collect())
    }

    fn write_aliases(&self, aliases: &[(String, String)]) -> Result<()> {
        let lines = aliases.iter().map(|(name, print)| format!("{name} {print}\n"));
        self.write(ALIASES, lines.collect::<String>().as_bytes())
    }

    /// Gives a key a name; one that had it loses it.
    ///
    /// # Errors
    /// If the name is empty or has a line's end in it, or the folder takes nothing.
    pub fn set_alias(&self, alias: &str, fingerprint: &str) -> Result<()> {
        if alias.trim().is_empty() || alias.contains(['\n', '\r']) {
            return Err(Error::Usage("an alias is one line that is not empty".to_owned()));
        }
        let _held = self.lock()?;
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
        if sort.is_none_or(|sort| sort == Sort::Alias)
            && let Some((_, print)) = aliases.iter().find(|(alias, _)| alias == bare)
        {
            return Ok(print.clone());
        }
        let mut found = Vec::new();
        for certificate in self.certificates()? {
            if is_named(&certificate, sort, bare) {
                found.push(name_of(&certificate));
            }
        }
        for certificate in self.lone_x509()? {
            if is_named_x509(&certificate, sort, bare) {
                found.push(certificate.fingerprint());
            }
        }
        match &found[..] {
            [one] => Ok(one.clone()),
            [] => Err(Error::Name(format!(
                "no key in {} is called \"{name}\"; `holdfast pgp list` shows them",
                self.folder.display()
            ))),
            several => Err(Error::Name(format!(
                "\"{name}\" fits several keys: {}; say which by its fingerprint",
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
        make_dir(&*self.seam.disk, &self.folder).map_err(on(&self.folder))?;
        let mut checkup = Checkup::default();
        for name in self.names(".cert")? {
            match self.certificate(&name) {
                Ok(_) => checkup.certificates += 1,
                Err(error) => checkup.wrong.push(format!("{name}.cert: {error}")),
            }
        }
        for name in self.names(".key")? {
            match self.secret(&name) {
                Ok(_) => checkup.secrets += 1,
                Err(error) => checkup.wrong.push(format!("{name}.key: {error}")),
            }
        }
        for name in self.names(".token")? {
            match self.places(&name) {
                Ok(_) => checkup.secrets += 1,
                Err(error) => checkup.wrong.push(error.to_string()),
            }
        }
        for name in self.names(".x509")? {
            if let Err(error) = self.x509(&name) {
                checkup.wrong.push(format!("{name}.x509: {error}"));
            }
        }
        for (alias, print) in self.aliases()? {
            let is_here = |ending| self.read(&format!("{print}.{ending}")).map(|it| it.is_some());
            if !(is_here("cert")? || is_here("x509")?) {
                checkup.wrong.push(format!("the alias \"{alias}\" is of {print}, which is gone"));
            }
        }
        Ok(checkup)
    }

    /// Everything in the ring.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let aliases = self.aliases()?;
        let secrets = self.names(".key")?;
        let with_x509 = self.names(".x509")?;
        let mut entries = Vec::new();
        for certificate in self.certificates()? {
            let mut entry = describe(certificate, &aliases, &secrets);
            entry.has_x509 = with_x509.contains(&entry.fingerprint);
            entry.token = self.token(&entry.fingerprint)?;
            entries.push(entry);
        }
        entries.extend(self.lone_x509()?.iter().map(|one| describe_x509(one, &aliases)));
        Ok(entries)
    }
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
    let mut said = sorts.iter().filter_map(|(prefix, sort)| {
        let bare = name.strip_prefix(prefix)?;
        Some((Some(*sort), bare))
    });
    said.next().unwrap_or((None, name))
}

fn is_named(certificate: &Certificate, sort: Option<Sort>, name: &str) -> bool {
    let inner = pgp::composed::SignedPublicKey::from(certificate.clone());
    let mut prints = vec![(inner.fingerprint().to_string(), inner.legacy_key_id().to_string())];
    let parts = inner.public_subkeys.iter().map(|part| &part.key);
    prints
        .extend(parts.map(|key| (key.fingerprint().to_string(), key.legacy_key_id().to_string())));
    let users = inner.details.users.iter();
    let users: Vec<_> = users.map(|user| String::from_utf8_lossy(user.id.id())).collect();
    fits(sort, name, &prints, users.iter().map(|user| &**user))
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

fn describe(certificate: Certificate, aliases: &[(String, String)], secrets: &[String]) -> Entry {
    let fingerprint = name_of(&certificate);
    let now = pgp::types::Timestamp::now();
    let checked = Checked::new(certificate);
    let inner = checked.as_signed_public_key();
    let made = inner.created_at().as_secs();
    let newest = checked.active_certificate_self_signature_at(now);
    let lifetime = newest.and_then(pgp::packet::Signature::key_expiration_time);
    Entry {
        key_id: checked.key_id().to_string().to_uppercase(),
        version: u8::from(inner.version()),
        aliases: aliases
            .iter()
            .filter(|(_, print)| *print == fingerprint)
            .map(|(alias, _)| alias.clone())
            .collect(),
        users: inner
            .details
            .users
            .iter()
            .map(|user| String::from_utf8_lossy(user.id.id()).into_owned())
            .collect(),
        algorithm: format!("{:?}", inner.algorithm()),
        made,
        expires: lifetime
            .map(|lifetime| lifetime.as_secs())
            .filter(|lifetime| *lifetime != 0)
            .map(|lifetime| made.saturating_add(lifetime)),
        is_revoked: !inner.details.revocation_signatures.is_empty(),
        has_secret: secrets.contains(&fingerprint),
        token: None,
        has_x509: false,
        fingerprint,
    }
}

fn describe_x509(certificate: &X509, aliases: &[(String, String)]) -> Entry {
    let key = certificate.primary();
    let fingerprint = certificate.fingerprint();
    let (from, until) = certificate.validity();
    let own = aliases.iter().filter(|(_, print)| *print == fingerprint);
    Entry {
        key_id: key.legacy_key_id().to_string().to_uppercase(),
        version: u8::from(key.version()),
        aliases: own.map(|(alias, _)| alias.clone()).collect(),
        users: vec![certificate.user().to_owned()],
        algorithm: format!("{:?}", key.algorithm()),
        made: from,
        expires: Some(until),
        is_revoked: false,
        has_secret: false,
        token: None,
        has_x509: true,
        fingerprint,
    }
}
