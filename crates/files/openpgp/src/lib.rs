//! OpenPGP for files at rest: messages of any size, written and read by all cores, that every
//! OpenPGP program understands (RFC 4880 and RFC 9580).
//!
//! Packets, keys and signatures come from the `pgp` crate, and from `rpgpie` which of them prove
//! themselves. The way of the bulk data is this crate's own: independent blocks of deflate that
//! make one stream, independent chunks of authenticated encryption, the serial parts of the older
//! form in threads of their own. Nothing here knows of the kernel.
//!
//! ```
//! use holdfast_openpgp::keys::{Algorithm, NewKey, certificate_of};
//! use holdfast_openpgp::{Reading, Signer, Stats, Writing};
//!
//! # fn main() -> holdfast_openpgp::Result<()> {
//! let key = NewKey {
//!     users: vec!["Ada <ada@example.org>".to_owned()],
//!     algorithm: Algorithm::Curve25519,
//!     v6: true,
//!     passphrase: None,
//!     lifetime_s: None,
//!     signing_only: false,
//! }
//! .generate()?;
//!
//! let writing = Writing {
//!     recipients: vec![certificate_of(&key)],
//!     signers: Signer::of(&key, &[])?,
//!     ..Writing::default()
//! };
//! let mut message = Vec::new();
//! writing.run(&mut &b"at rest"[..], &mut message, &Stats::default())?;
//!
//! let reading = Reading {
//!     keys: vec![key.clone()],
//!     certificates: vec![certificate_of(&key)],
//!     ..Reading::default()
//! };
//! let mut data = Vec::new();
//! let opened = reading.run(&mut &message[..], &mut data, &Stats::default())?;
//! assert_eq!((data.as_slice(), opened.verified.len()), (&b"at rest"[..], 1));
//! # Ok(())
//! # }
//! ```
//!
//! Invariants:
//! 1. What a message says is provisional until the call that reads it has returned without an
//!    error; [`Target`] keeps it from being seen before.
//! 2. A message is right to its last byte or an error: cut, extended, reordered, changed ones are
//!    [`Kind::Damaged`].
//! 3. Memory is bounded by the blocks between stages, whatever the length of the data.
//! 4. Old and weak things are read only when asked for, and never written.
//! 5. Threads are scoped: none outlives the call that started it. The order of blocks, and so every
//!    byte but the random ones, does not depend on them. They are the standard library's, because
//!    the seam's threads cannot borrow; nothing here is kernel code that is simulated (K1).

mod adopt;
mod aead;
pub mod agent;
mod armor;
mod buffers;
mod bundle;
mod certification;
mod cfb;
mod cleartext;
mod dearmor;
mod decrypt;
mod deflate;
mod der;
mod detached;
mod embedded;
mod encrypt;
mod encrypted_session_keys;
mod entropy;
mod error;
mod expiry;
mod files;
mod frame;
mod isal;
mod issue;
mod judge;
pub mod keys;
pub mod keystore;
mod ledger;
mod legacy;
mod lines;
mod listing;
mod material;
mod merge;
mod ocb;
mod packet;
mod pkcs8;
mod reading;
mod readings;
mod revocation;
mod seal;
mod session_key;
mod sign;
mod signature_config;
mod stage;
mod stats;
mod store;
mod strength;
mod subject;
mod target;
mod tee;
mod token_keys;
mod transferable;
mod unseal;
pub mod upkeep;
mod usability;
mod validity;
mod writing;
mod x509;

pub use armor::{Armorer, Label, is_cleartext};
pub use bundle::Bundle;
pub use cleartext::{Cleartext, sign_cleartext};
pub use dearmor::Dearmorer;
pub use decrypt::Opened;
pub use detached::{sign_detached, signatures, verify_detached};
pub use encrypt::agreed_compression;
pub use error::{Error, Kind, Result, without_input};
pub use files::replace_file;
pub use issue::NewX509;
pub use judge::{Judged, Verified};
pub use listing::Entry;
pub use reading::{Ask, Reading};
pub use session_key::SessionKey;
pub use sign::Signer;
pub use stats::{CipherBlock, CipherBlocks, STAGES, Stage, Stats};
pub use store::{Checkup, Imported, Store};
pub use target::Target;
pub use token_keys::{AskPin, NewTokenKey, TokenKey, Tokens};
pub use usability::is_unsupported;
pub use writing::{Container, Stages, Writing};
pub use x509::X509;

/// What the key operations are written in: packets, signatures, algorithms.
pub use pgp;
pub use rpgpie::certificate::Certificate;
pub use rpgpie::tsk::Tsk as SecretKey;
