//! Sealing: authenticated encryption of blocks, working keys, page trailers, the keyset.
//!
//! A block is sealed the moment it leaves memory and stays sealed in every copy. This crate owns
//! how: which key, which nonce, what is bound to the block, and where the keys come from.
//!
//! * [`WorkingKey`] seals and opens bytes under a counter: AES-256-GCM, or for plain data sets a
//!   checksum (XXH3-128) in the same place. The log uses it directly.
//! * [`PageSealer`] seals and opens the control intervals of one data set; [`Trailer`] is the
//!   layout of their last 48 bytes.
//! * [`KeyProvider`] says where data keys come from: [`Keyset`] is the real one (a key file under
//!   a passphrase or a [`Token`]), [`TestKeys`] the one for tests and the simulator.
//!
//! Invariants, which comments here and elsewhere cite:
//! 1. *No nonce twice under one key* (K3). A working key is HKDF(data key, salt, identity); a salt
//!    of 16 random bytes is drawn at the first write after an open; the nonce is a counter that
//!    only grows. Copies of a disk, restored backups and clones draw their own salts and so never
//!    share a nonce with their origin.
//! 2. *Bound to its place.* The associated data names the system, the data set, the interval and
//!    the whole trailer before the tag: a block that stands elsewhere does not open.
//! 3. *No downgrade* (K4). What form a block may have is the caller's policy ([`Accept`]), which
//!    comes from the catalog; the block's own words are only compared with it.
//! 4. *Secrets are wiped* when they are dropped, and their `Debug` shows none of their bytes.
//!
//! What sealing does not do: it cannot see that a block was put back to an older, valid version
//! (the freshness map does, K5), and it cannot hide which blocks change, or how often.

mod cache;
mod digest;
mod error;
mod format;
mod gcm;
mod hardware;
mod kdf;
mod key_file;
mod keyset;
mod page;
mod passphrase;
mod permit;
mod proof;
mod provider;
mod secret;
mod test_keys;
#[cfg(test)]
mod testing;
mod token;
mod tokens;
mod trailer;
mod working_key;
mod wrapped;
mod wrapping;

pub use digest::sha256;
pub use error::{PageFault, SealError};
pub use format::{Form, Format};
pub use gcm::{Gcm, NONCE_BYTES};
pub use hardware::CipherCheck;
pub use kdf::KdfCost;
#[doc(hidden)]
pub use keyset::fuzz_key_file;
pub use keyset::{KeyFileInfo, KeyInfo, Keyset};
pub use page::{Accept, Converting, PageSealer, SealStats};
pub use passphrase::Passphrase;
pub use permit::{PermitFor, PlainPermit};
pub use proof::Proof;
pub use provider::KeyProvider;
pub use secret::{DataKey, Salt};
pub use test_keys::TestKeys;
pub use token::{Token, TokenFault, TokenPlace};
pub use tokens::{KeyTokens, TOKEN_BYTES};
pub use trailer::Trailer;
pub use working_key::{BadTag, Tag, TagPrefix, WorkingKey};
pub use wrapping::Protection;

/// How many bytes at the end of each unit of a data set belong to the seal (K4).
pub const TRAILER_BYTES: usize = 48;
/// How many bytes a tag has.
pub const TAG_BYTES: usize = 16;
/// How many bytes a salt has.
pub const SALT_BYTES: usize = 16;
