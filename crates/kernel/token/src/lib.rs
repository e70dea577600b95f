//! PKCS#11 tokens as keepers of the master key, and of private keys.
//!
//! A [`Pkcs11`] reaches the tokens of one library, which the maker of the token brings along. The
//! master key that it makes is AES-256, stays in the token, and encrypts with AES-256-GCM. Key
//! pairs sign and decrypt there.
//!
//! Invariants:
//! 1. The library is loaded when a token is first needed, and never for a system that a passphrase
//!    protects. Which one is the operator's word, never that of a file of a system: whoever could
//!    write there would choose what code runs.
//! 2. A request is one session: it logs in once, with the PIN that was given, and logs out. So a
//!    PIN is tried once.
//! 3. A request that fails leaves the library as it was; the next one begins anew.

#![forbid(unsafe_code)]

mod pairs;

use std::path::{Path, PathBuf};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11 as Library};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::{RawAuthPin, Ulong};
use seal::{Token, TokenFault, TokenPlace};
use seam::sync::Mutex;
use zeroize::Zeroizing;

pub use pairs::{Pair, PairKind, PublicHalf};

/// Tokens behind a PKCS#11 library.
pub struct Pkcs11 {
    module: PathBuf,
    /// Held during a request: not every library can serve two at once.
    library: Mutex<Option<Library>>,
}

const TAG_BITS: u64 = 128;
const KEY_BYTES: u64 = 32;

type Result<T> = std::result::Result<T, TokenFault>;

impl Pkcs11 {
    /// The tokens behind the library `module`, which is not loaded yet.
    #[must_use]
    pub fn new(module: &Path) -> Pkcs11 {
        Pkcs11 { module: module.to_owned(), library: Mutex::default() }
    }

    /// Runs one request in a session of its own, logged in (2).
    fn request<T>(
        &self,
        pin: &[u8],
        place: &TokenPlace,
        work: impl FnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let mut library = self.library.lock();
        let loaded = match library.take() {
            Some(loaded) => loaded,
            None => self.load()?,
        };
        let done = in_session(&loaded, pin, place, work);
        if done.is_ok() {
            *library = Some(loaded);
        }
        done
    }

    fn load(&self) -> Result<Library> {
        let unusable = |error: Error| TokenFault::Driver {
            module: self.module.display().to_string(),
            why: error.to_string(),
        };
        let library = Library::new(&self.module).map_err(unusable)?;
        match library.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
            Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => Ok(library),
            Err(error) => Err(unusable(error)),
        }
    }
}

fn in_session<T>(
    library: &Library,
    pin: &[u8],
    place: &TokenPlace,
    work: impl FnOnce(&Session) -> Result<T>,
) -> Result<T> {
    let slot = find_token(library, &place.token)?;
    let session = library.open_rw_session(slot).map_err(failed)?;
    let pin = RawAuthPin::new(Box::new(pin.to_vec()));
    match session.login_with_raw(UserType::User, &pin) {
        Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => {}
        Err(error) => return Err(not_let_in(library, slot, error)),
    }
    let done = work(&session);
    // Closing the session logs out in any case; whoever is told of it could do nothing.
    let _ = session.logout();
    done
}

/// The slot of the token with that label.
fn find_token(library: &Library, label: &str) -> Result<Slot> {
    let mut present = Vec::new();
    let mut found = Vec::new();
    for slot in library.get_slots_with_initialized_token().map_err(failed)? {
        // One that has just been taken out is not there.
        let Ok(info) = library.get_token_info(slot) else { continue };
        if info.label() == label {
            found.push(slot);
        }
        present.push(info.label().to_owned());
    }
    match found[..] {
        [slot] => Ok(slot),
        [] => Err(TokenFault::Absent { present }),
        _ => Err(TokenFault::Ambiguous),
    }
}

/// Why the token did not let its user in.
fn not_let_in(library: &Library, slot: Slot, error: Error) -> TokenFault {
    let info = library.get_token_info(slot).ok();
    match error {
        Error::Pkcs11(RvError::PinLocked, _) => TokenFault::Locked,
        Error::Pkcs11(RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange, _) => {
            match info {
                Some(info) if info.user_pin_locked() => TokenFault::Locked,
                info => TokenFault::WrongPin {
                    final_try: info.is_some_and(|info| info.user_pin_final_try()),
                },
            }
        }
        error => failed(error),
    }
}

/// The key of that label.
fn find_key(session: &Session, label: &str) -> Result<Option<ObjectHandle>> {
    let keys = session.find_objects(&[
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::AES),
        Attribute::Token(true),
        Attribute::Label(label.as_bytes().to_vec()),
    ]);
    match keys.map_err(failed)?[..] {
        [] => Ok(None),
        [key] => Ok(Some(key)),
        _ => Err(TokenFault::ManyKeys),
    }
}

/// What a token has decrypted.
fn decrypted(done: std::result::Result<Vec<u8>, Error>) -> Result<Zeroizing<Vec<u8>>> {
    match done {
        Ok(clear) => Ok(Zeroizing::new(clear)),
        // Not every maker has an own word for a tag, or a padding, that does not fit.
        Err(Error::Pkcs11(
            RvError::EncryptedDataInvalid | RvError::EncryptedDataLenRange | RvError::GeneralError,
            _,
        )) => Err(TokenFault::Altered),
        Err(error) => Err(failed(error)),
    }
}

fn failed(error: Error) -> TokenFault {
    match error {
        Error::Pkcs11(
            RvError::TokenNotPresent | RvError::DeviceRemoved | RvError::TokenNotRecognized,
            _,
        ) => TokenFault::Absent { present: Vec::new() },
        error => TokenFault::Failed { why: error.to_string() },
    }
}

impl Token for Pkcs11 {
    fn make_key(&self, pin: &[u8], place: &TokenPlace) -> Result<()> {
        self.request(pin, place, |session| {
            if find_key(session, &place.key)?.is_some() {
                return Ok(());
            }
            let template = [
                Attribute::Class(ObjectClass::SECRET_KEY),
                Attribute::KeyType(KeyType::AES),
                Attribute::ValueLen(Ulong::from(KEY_BYTES)),
                Attribute::Label(place.key.as_bytes().to_vec()),
                Attribute::Token(true),
                Attribute::Private(true),
                Attribute::Sensitive(true),
                Attribute::Extractable(false),
                Attribute::Encrypt(true),
                Attribute::Decrypt(true),
            ];
            session.generate_key(&Mechanism::AesKeyGen, &template).map_err(failed)?;
            Ok(())
        })
    }

    fn wrap(
        &self,
        pin: &[u8],
        place: &TokenPlace,
        nonce: &[u8; 12],
        associated: &[u8],
        clear: &[u8],
    ) -> Result<Vec<u8>> {
        self.request(pin, place, |session| {
            let key = find_key(session, &place.key)?.ok_or(TokenFault::NoKey)?;
            let mut nonce = *nonce;
            let gcm = GcmParams::new(&mut nonce, associated, Ulong::from(TAG_BITS));
            let mechanism = Mechanism::AesGcm(gcm.map_err(failed)?);
            session.encrypt(&mechanism, key, clear).map_err(failed)
        })
    }

    fn unwrap(
        &self,
        pin: &[u8],
        place: &TokenPlace,
        nonce: &[u8; 12],
        associated: &[u8],
        wrapped: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.request(pin, place, |session| {
            let key = find_key(session, &place.key)?.ok_or(TokenFault::NoKey)?;
            let mut nonce = *nonce;
            let gcm = GcmParams::new(&mut nonce, associated, Ulong::from(TAG_BITS));
            let mechanism = Mechanism::AesGcm(gcm.map_err(failed)?);
            decrypted(session.decrypt(&mechanism, key, wrapped))
        })
    }
}
