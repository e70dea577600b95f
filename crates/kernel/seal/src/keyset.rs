//! The keyset: data keys by label and generation, kept in a key file under a passphrase.
//!
//! A passphrase opens the master key, the master key opens the data keys, a data key gives the
//! working keys that seal blocks (`key_file` has the bytes). So a new passphrase or a new master
//! key touches one small file and no data; a new generation of a data key touches the data sets
//! that use its label, which convert while they are in use.
//!
//! 1. The file on disk is replaced whole before the ring in memory changes. If that fails, the
//!    ring is as before and the file is the old one or the new one; either opens, and a key that
//!    only the file has was never used.
//! 2. Generations of a label count up from 1 and are never used twice: the current one, the
//!    highest, cannot be deleted.
//! 3. No lock is held across the disk that a reader of keys waits for.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use base::{KeyGeneration, SystemId};
use seam::Seam;
use seam::disk::{Disk, read_small};
use seam::entropy::Entropy;
use seam::fresh::replace_small;
use seam::sync::Mutex;

use crate::key_file::{FILE_BYTES_MAX, FileFault, KEYS_MAX, KeyFile, WrappedKey, is_label};
use crate::wrapped::VERSION;
use crate::wrapping::{Protection, Wrapping};
use crate::{DataKey, KdfCost, KeyProvider, Passphrase, Salt, SealError, TokenPlace};

/// Data keys in a key file. See the head of this file.
///
/// ```no_run
/// # fn main() -> Result<(), holdfast_seal::SealError> {
/// # let (seam, system) = (seam::Seam::real(), base::SystemId([1; 16]));
/// use holdfast_seal::{KdfCost, KeyProvider, Keyset, Passphrase};
///
/// let path = std::path::Path::new("/etc/holdfast/keys");
/// let passphrase = Passphrase::from("correct horse battery staple");
/// let ring = Keyset::create(&seam, path, system, &passphrase, KdfCost::default())?;
/// let generation = ring.add_label("PAYROLL")?;
/// let key = ring.key("PAYROLL", generation)?;
/// # Ok(())
/// # }
/// ```
pub struct Keyset {
    seam: Seam,
    path: PathBuf,
    /// Held by whoever changes the ring, across the disk.
    changes: Mutex<()>,
    /// Held for a look or a swap only (3).
    state: Mutex<State>,
}

/// What `list` says about a key. Never the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyInfo {
    /// The label.
    pub label: String,
    /// The generation within the label.
    pub generation: KeyGeneration,
    /// When it was drawn, in microseconds since 1970-01-01 UTC.
    pub created_us: u64,
    /// Whether new blocks under the label use it.
    pub current: bool,
}

/// What a key file says about itself in clear, unproven.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyFileInfo {
    /// The system whose keys it holds.
    pub system: SystemId,
    /// The version of its format.
    pub version: u16,
    /// How often it has been written.
    pub edition: u64,
    /// What protects its master key.
    pub protection: Protection,
    /// How many keys it holds.
    pub keys: usize,
}

#[derive(Clone)]
struct State {
    system: SystemId,
    master: DataKey,
    wrapping: Wrapping,
    edition: u64,
    labels: BTreeMap<String, BTreeMap<KeyGeneration, KeysetKey>>,
}

#[derive(Clone)]
struct KeysetKey {
    created_us: u64,
    key: DataKey,
}

impl Keyset {
    /// Makes a new key file without labels and opens it. A folder for it exists already.
    ///
    /// # Errors
    /// [`SealError::KeyFileExists`] if there is a file; [`SealError::EmptyPassphrase`],
    /// [`SealError::CostRefused`], and what entropy and disk say.
    pub fn create(
        seam: &Seam,
        path: &Path,
        system: SystemId,
        passphrase: &Passphrase,
        cost: KdfCost,
    ) -> Result<Keyset, SealError> {
        Keyset::create_with(seam, path, system, |master| {
            Wrapping::by_passphrase(master, &system, passphrase, cost, seam.entropy.as_ref())
        })
    }

    /// The same with a master key that a key in a token protects, which is made if there is none.
    ///
    /// # Errors
    /// [`SealError::KeyFileExists`], [`SealError::Token`], and what entropy and disk say.
    pub fn create_in_token(
        seam: &Seam,
        path: &Path,
        system: SystemId,
        pin: &Passphrase,
        place: &TokenPlace,
    ) -> Result<Keyset, SealError> {
        Keyset::create_with(seam, path, system, |master| {
            Wrapping::by_token(master, &system, pin, place, seam.entropy.as_ref())
        })
    }

    fn create_with(
        seam: &Seam,
        path: &Path,
        system: SystemId,
        wrap: impl FnOnce(&DataKey) -> Result<Wrapping, SealError>,
    ) -> Result<Keyset, SealError> {
        let exists = seam.disk.exists(path);
        if exists.map_err(|error| SealError::KeyFileUnread { path: path.to_owned(), error })? {
            return Err(SealError::KeyFileExists { path: path.to_owned() });
        }
        let master = DataKey::draw(seam.entropy.as_ref())?;
        let wrapping = wrap(&master)?;
        let state = State { system, master, wrapping, edition: 0, labels: BTreeMap::new() };
        let keyset = Keyset::with(seam, path, state);
        keyset.change(|_| Ok(()))?;
        Ok(keyset)
    }

    /// Opens the key file of `system`.
    ///
    /// # Errors
    /// One for each way in which a key file can be missing, foreign, damaged, altered or closed
    /// to this passphrase; see [`SealError`].
    pub fn open(
        seam: &Seam,
        path: &Path,
        system: SystemId,
        passphrase: &Passphrase,
    ) -> Result<Keyset, SealError> {
        let bytes = read_file(seam.disk.as_ref(), path)?;
        let state = State::open(&bytes, path, system, passphrase)?;
        Ok(Keyset::with(seam, path, state))
    }

    /// The key to which the passphrase of a key file is stretched, in its place: it opens this file
    /// at once, until the passphrase or the master key is changed. `None` if a token protects it.
    ///
    /// # Errors
    /// As [`Keyset::open`]: what is given back has opened the file.
    pub fn stretch(
        seam: &Seam,
        path: &Path,
        system: SystemId,
        passphrase: &Passphrase,
    ) -> Result<Option<Passphrase>, SealError> {
        let bytes = read_file(seam.disk.as_ref(), path)?;
        let Some(stretched) = decode(&bytes, path)?.wrapping.stretch(passphrase)? else {
            return Ok(None);
        };
        State::open(&bytes, path, system, &stretched)?;
        Ok(Some(stretched))
    }

    /// The name under which a session may hold the stretched key of a key file: another one after
    /// each change of its passphrase or master key. `None` if a token protects it.
    ///
    /// # Errors
    /// If there is no file, or none that this Holdfast can read.
    pub fn session_name(disk: &dyn Disk, path: &Path) -> Result<Option<String>, SealError> {
        let file = decode(&read_file(disk, path)?, path)?;
        let salt = file.wrapping.salt();
        Ok(salt.map(|salt| format!("holdfast:{}:{salt:?}", file.system)))
    }

    /// What a key file says about itself, without its passphrase.
    ///
    /// # Errors
    /// If there is no file, or none that this Holdfast can read.
    pub fn inspect(disk: &dyn Disk, path: &Path) -> Result<KeyFileInfo, SealError> {
        let file = decode(&read_file(disk, path)?, path)?;
        Ok(KeyFileInfo {
            system: file.system,
            version: VERSION,
            edition: file.edition,
            protection: file.wrapping.protection(),
            keys: file.keys.len(),
        })
    }

    /// Adds a label with its first key.
    ///
    /// # Errors
    /// [`SealError::BadLabel`], [`SealError::LabelExists`], [`SealError::Full`], and what entropy
    /// and disk say.
    pub fn add_label(&self, label: &str) -> Result<KeyGeneration, SealError> {
        if !is_label(label) {
            return Err(SealError::BadLabel { label: label.to_owned() });
        }
        self.change(|state| {
            if state.labels.contains_key(label) {
                return Err(SealError::LabelExists { label: label.to_owned() });
            }
            self.add_key(state, label, KeyGeneration(1))
        })
    }

    /// Draws a new key for a label; it is the current one when this returns.
    ///
    /// # Errors
    /// [`SealError::UnknownLabel`], [`SealError::Full`], and what entropy and disk say.
    pub fn new_generation(&self, label: &str) -> Result<KeyGeneration, SealError> {
        self.change(|state| {
            let last = state.current(label)?;
            self.add_key(state, label, KeyGeneration(last.0 + 1))
        })
    }

    /// Deletes a key for good: what is still sealed with it can never be read again. Whoever
    /// calls has made sure that no data set, image copy or archive needs it (K18).
    ///
    /// # Errors
    /// [`SealError::CurrentGeneration`], [`SealError::UnknownLabel`],
    /// [`SealError::UnknownGeneration`], and what entropy and disk say.
    pub fn delete_generation(
        &self,
        label: &str,
        generation: KeyGeneration,
    ) -> Result<(), SealError> {
        self.change(|state| {
            if state.current(label)? == generation {
                return Err(SealError::CurrentGeneration { label: label.to_owned(), generation });
            }
            let keys = state.labels.get_mut(label);
            let gone = keys.and_then(|keys| keys.remove(&generation)).is_some();
            if gone { Ok(()) } else { Err(unknown_generation(label, generation)) }
        })
    }

    /// Wraps the master key under another passphrase, or the same one at another cost; also if a
    /// token has protected it so far.
    ///
    /// Old copies of the key file still open with the old passphrase: if that is known to
    /// others, change the master key and the data keys too.
    ///
    /// # Errors
    /// [`SealError::EmptyPassphrase`], [`SealError::CostRefused`], and what entropy and disk say.
    pub fn change_passphrase(&self, new: &Passphrase, cost: KdfCost) -> Result<(), SealError> {
        self.change(|state| {
            let entropy = self.seam.entropy.as_ref();
            let (master, system) = (&state.master, &state.system);
            state.wrapping = Wrapping::by_passphrase(master, system, new, cost, entropy)?;
            Ok(())
        })
    }

    /// Wraps the master key under a key in a token, which is made if there is none. The file
    /// changes only when the token has given back what it wrapped.
    ///
    /// Old copies of the key file still open as they did.
    ///
    /// # Errors
    /// [`SealError::Token`], [`SealError::BadTokenPlace`], and what entropy and disk say.
    pub fn move_to_token(&self, pin: &Passphrase, place: &TokenPlace) -> Result<(), SealError> {
        self.change(|state| {
            let entropy = self.seam.entropy.as_ref();
            let (master, system) = (&state.master, &state.system);
            state.wrapping = Wrapping::by_token(master, system, pin, place, entropy)?;
            Ok(())
        })
    }

    /// What protects the master key.
    #[must_use]
    pub fn protection(&self) -> Protection {
        self.state.lock().wrapping.protection()
    }

    /// Draws a new master key and wraps all data keys with it. The passphrase, or the token, stays,
    /// and is asked for because it has to wrap the new key.
    ///
    /// # Errors
    /// [`SealError::WrongPassphrase`], and what entropy and disk say.
    pub fn change_master(&self, passphrase: &Passphrase) -> Result<(), SealError> {
        self.change(|state| {
            if state.wrapping.unwrap(&state.system, passphrase)?.is_none() {
                return Err(SealError::WrongPassphrase { path: self.path.clone() });
            }
            let entropy = self.seam.entropy.as_ref();
            state.master = DataKey::draw(entropy)?;
            let (master, system) = (&state.master, &state.system);
            state.wrapping = match state.wrapping.protection() {
                Protection::Passphrase(cost) => {
                    Wrapping::by_passphrase(master, system, passphrase, cost, entropy)?
                }
                Protection::Token(place) => {
                    Wrapping::by_token(master, system, passphrase, &place, entropy)?
                }
            };
            Ok(())
        })
    }

    /// All keys, by label and generation.
    #[must_use]
    pub fn list(&self) -> Vec<KeyInfo> {
        let state = self.state.lock();
        let labels = state.labels.iter();
        let infos = labels.flat_map(|(label, keys)| {
            let last = keys.last_key_value().map(|(generation, _)| *generation);
            keys.iter().map(move |(&generation, key)| KeyInfo {
                label: label.clone(),
                generation,
                created_us: key.created_us,
                current: Some(generation) == last,
            })
        });
        infos.collect()
    }

    /// Proves that the key file on disk holds these very keys, without asking for the passphrase.
    ///
    /// # Errors
    /// One for each way in which it can be missing, foreign, damaged, altered or older.
    pub fn prove_file(&self) -> Result<(), SealError> {
        let _changes = self.changes.lock();
        let state = self.state.lock().clone();
        let file = decode(&read_file(self.seam.disk.as_ref(), &self.path)?, &self.path)?;
        let altered = |what| SealError::AlteredKeyFile { path: self.path.clone(), what };
        if file.system != state.system {
            let (path, found) = (self.path.clone(), file.system);
            return Err(SealError::OtherSystem { path, found, expected: state.system });
        }
        let older = file.edition != state.edition;
        let found = State::prove(file, state.master.clone()).map_err(altered)?;
        let same = !older && found.labels.keys().eq(state.labels.keys());
        if same { Ok(()) } else { Err(altered("it is not the one that was written last")) }
    }

    /// Writes the key file again, with the keys as they are.
    ///
    /// # Errors
    /// What entropy and disk say.
    pub fn write_again(&self) -> Result<(), SealError> {
        let _changes = self.changes.lock();
        let state = self.state.lock().clone();
        self.replace(state)
    }

    /// The system whose keys these are.
    #[must_use]
    pub fn system(&self) -> SystemId {
        self.state.lock().system
    }

    /// How often the key file has been written.
    #[must_use]
    pub fn edition(&self) -> u64 {
        self.state.lock().edition
    }

    /// Where the key file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What proofs are derived from.
    pub(crate) fn master(&self) -> (DataKey, SystemId) {
        let state = self.state.lock();
        (state.master.clone(), state.system)
    }

    fn with(seam: &Seam, path: &Path, state: State) -> Keyset {
        let (changes, state) = (Mutex::new(()), Mutex::new(state));
        Keyset { seam: seam.clone(), path: path.to_owned(), changes, state }
    }

    /// Makes a change on a copy, replaces the file, then the ring (1). What another process has
    /// written there since, a passphrase perhaps, is not undone.
    fn change<T>(
        &self,
        make: impl FnOnce(&mut State) -> Result<T, SealError>,
    ) -> Result<T, SealError> {
        let _changes = self.changes.lock();
        let mut state = self.state.lock().clone();
        self.refuse_others(&state)?;
        let made = make(&mut state)?;
        self.replace(state)?;
        Ok(made)
    }

    /// Refuses to change a file that is not the one whose keys these are. One that is lost or
    /// damaged is made anew: everything that it said is here.
    fn refuse_others(&self, state: &State) -> Result<(), SealError> {
        let file = read_file(self.seam.disk.as_ref(), &self.path);
        let Some(file) = file.ok().and_then(|bytes| decode(&bytes, &self.path).ok()) else {
            return Ok(());
        };
        if file.system != state.system {
            let (path, found) = (self.path.clone(), file.system);
            return Err(SealError::OtherSystem { path, found, expected: state.system });
        }
        match file.edition == state.edition {
            true => Ok(()),
            false => Err(SealError::ChangedKeyFile { path: self.path.clone() }),
        }
    }

    fn replace(&self, mut state: State) -> Result<(), SealError> {
        state.edition += 1;
        let bytes = state.encode(self.seam.entropy.as_ref()).map_err(SealError::Entropy)?;
        replace_small(self.seam.disk.as_ref(), &self.path, &bytes)
            .map_err(|error| SealError::KeyFileUnwritten { path: self.path.clone(), error })?;
        *self.state.lock() = state;
        Ok(())
    }

    fn add_key(
        &self,
        state: &mut State,
        label: &str,
        generation: KeyGeneration,
    ) -> Result<KeyGeneration, SealError> {
        let held: usize = state.labels.values().map(BTreeMap::len).sum();
        if held >= KEYS_MAX {
            return Err(SealError::Full { path: self.path.clone(), keys_max: KEYS_MAX });
        }
        let key = DataKey::draw(self.seam.entropy.as_ref())?;
        let created_us = self.seam.clock.utc_us();
        let keys = state.labels.entry(label.to_owned()).or_default();
        let before = keys.insert(generation, KeysetKey { created_us, key });
        assert!(before.is_none(), "a generation is never used twice");
        Ok(generation)
    }
}

impl KeyProvider for Keyset {
    fn current(&self, label: &str) -> Result<KeyGeneration, SealError> {
        self.state.lock().current(label)
    }

    fn key(&self, label: &str, generation: KeyGeneration) -> Result<DataKey, SealError> {
        let state = self.state.lock();
        let keys = state.labels.get(label).ok_or_else(|| unknown_label(label))?;
        let found = keys.get(&generation).ok_or_else(|| unknown_generation(label, generation))?;
        Ok(found.key.clone())
    }
}

impl State {
    /// Decodes, unwraps and proves the bytes of a key file.
    fn open(
        bytes: &[u8],
        path: &Path,
        system: SystemId,
        passphrase: &Passphrase,
    ) -> Result<State, SealError> {
        let file = decode(bytes, path)?;
        if file.system != system {
            let (path, found) = (path.to_owned(), file.system);
            return Err(SealError::OtherSystem { path, found, expected: system });
        }
        let master = file.wrapping.unwrap(&system, passphrase).map_err(|error| match error {
            // The cost is the file's, so the file is at fault and not the caller.
            SealError::CostRefused { what } => {
                SealError::DamagedKeyFile { path: path.into(), what }
            }
            other => other,
        })?;
        let master = master.ok_or_else(|| SealError::WrongPassphrase { path: path.to_owned() })?;
        State::prove(file, master)
            .map_err(|what| SealError::AlteredKeyFile { path: path.to_owned(), what })
    }

    /// Unwraps all keys of a file whose master key is known.
    fn prove(file: KeyFile, master: DataKey) -> Result<State, &'static str> {
        if !file.is_proven(&master) {
            return Err("its list of keys is not the one that was written");
        }
        let mut labels: BTreeMap<String, BTreeMap<KeyGeneration, KeysetKey>> = BTreeMap::new();
        for wrapped in &file.keys {
            let key = wrapped.unwrap(&master, &file.system);
            let key = key.ok_or("a key is not the one that was written")?;
            let keyset_key = KeysetKey { created_us: wrapped.created_us, key };
            labels.entry(wrapped.label.clone()).or_default().insert(wrapped.generation, keyset_key);
        }
        let KeyFile { system, wrapping, edition, .. } = file;
        Ok(State { system, master, wrapping, edition, labels })
    }

    fn encode(&self, entropy: &dyn Entropy) -> io::Result<Vec<u8>> {
        let mut keys = Vec::new();
        for (label, generations) in &self.labels {
            for (&generation, key) in generations {
                let name = (label.as_str(), generation, key.created_us);
                let salt = Salt::draw(entropy)?;
                keys.push(WrappedKey::wrap(&key.key, &self.master, &self.system, name, salt));
            }
        }
        let (wrapping, salt) = (self.wrapping.clone(), Salt::draw(entropy)?);
        let file = KeyFile::new(self.system, wrapping, self.edition, keys, &self.master, salt);
        Ok(file.encode())
    }

    fn current(&self, label: &str) -> Result<KeyGeneration, SealError> {
        let keys = self.labels.get(label).ok_or_else(|| unknown_label(label))?;
        let last = keys.last_key_value().expect("a label has at least its current key");
        Ok(*last.0)
    }
}

impl fmt::Debug for Keyset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyRing({}, edition {})", self.path.display(), self.edition())
    }
}

/// Takes the bytes through everything that needs no passphrase, and then through the rest with a
/// master key that is known: for fuzzing. Returns whether they are a key file.
#[doc(hidden)]
#[must_use]
pub fn fuzz_key_file(bytes: &[u8]) -> bool {
    let checked = KeyFile::decode(bytes).is_ok();
    let Ok(file) = KeyFile::decode_unchecked(bytes) else { return checked };
    let again = file.encode();
    assert_eq!(again[..again.len() - 16], bytes[..bytes.len() - 16], "one encoding for a file");
    if let Protection::Passphrase(cost) = file.wrapping.protection() {
        let _ = cost.check();
    }
    let _ = State::prove(file, DataKey::blank());
    checked
}

fn read_file(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, SealError> {
    read_small(disk, path, FILE_BYTES_MAX).map_err(|error| {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => SealError::NoKeyFile { path },
            io::ErrorKind::InvalidData => SealError::ForeignKeyFile { path },
            _ => SealError::KeyFileUnread { path, error },
        }
    })
}

fn decode(bytes: &[u8], path: &Path) -> Result<KeyFile, SealError> {
    KeyFile::decode(bytes).map_err(|fault| {
        let path = path.to_owned();
        match fault {
            FileFault::Foreign => SealError::ForeignKeyFile { path },
            FileFault::Future { version } => SealError::FutureKeyFile { path, version },
            FileFault::UnknownWrapping { kind } => SealError::UnknownWrapping { path, kind },
            FileFault::Damaged { what } => SealError::DamagedKeyFile { path, what },
        }
    })
}

fn unknown_label(label: &str) -> SealError {
    SealError::UnknownLabel { label: label.to_owned() }
}

fn unknown_generation(label: &str, generation: KeyGeneration) -> SealError {
    SealError::UnknownGeneration { label: label.to_owned(), generation }
}

#[cfg(test)]
mod tests;
