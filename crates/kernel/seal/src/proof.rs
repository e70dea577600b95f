//! Proofs that somebody can open the key file of a system, for a process that has it open.
//!
//! Whoever asks draws bytes that were never used before; whoever proves it knows the master key and
//! authenticates them, and what he wants done, under a key that is derived from it. The passphrase
//! and the keys stay where they are.
//!
//! Invariants:
//! 1. A proof is good for the bytes that it was made for, in the system that it was made in.
//! 2. Comparing takes the same time for every wrong proof.

use aws_lc_rs::hmac;
use base::SystemId;

use crate::working_key::derive_key;
use crate::{DataKey, Keyset, Salt};

/// A proof: HMAC-SHA256 under a key of its own.
pub type Proof = [u8; 32];

/// What the key of proofs is for; nothing else is derived under this name.
const PURPOSE: &[u8] = b"holdfast operator proof 1";

impl Keyset {
    /// Proves that these keys are known, to whoever has chosen these bytes.
    #[must_use]
    pub fn prove(&self, bytes: &[u8]) -> Proof {
        let mut proof = Proof::default();
        proof.copy_from_slice(hmac::sign(&self.proof_key(), bytes).as_ref());
        proof
    }

    /// Whether somebody knows these keys who gives this proof for these bytes.
    #[must_use]
    pub fn is_proven(&self, bytes: &[u8], proof: &[u8]) -> bool {
        hmac::verify(&self.proof_key(), bytes, proof).is_ok()
    }

    fn proof_key(&self) -> hmac::Key {
        let (master, system) = self.master();
        derived(&master, &system)
    }
}

fn derived(master: &DataKey, system: &SystemId) -> hmac::Key {
    let key = derive_key(master, &Salt(system.0), PURPOSE);
    hmac::Key::new(hmac::HMAC_SHA256, key.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_for_its_bytes_its_keys_and_its_system() {
        let key = |byte| DataKey::from_bytes([byte; 32]);
        let system = |byte| SystemId([byte; 16]);
        let proof = hmac::sign(&derived(&key(1), &system(1)), b"archive delete");
        let proves = |master, system, bytes: &[u8], proof: &[u8]| {
            hmac::verify(&derived(&master, &system), bytes, proof).is_ok()
        };
        assert!(proves(key(1), system(1), b"archive delete", proof.as_ref()));
        assert!(!proves(key(2), system(1), b"archive delete", proof.as_ref()));
        assert!(!proves(key(1), system(2), b"archive delete", proof.as_ref()));
        assert!(!proves(key(1), system(1), b"archive begin", proof.as_ref()));
        assert!(!proves(key(1), system(1), b"archive delete", &proof.as_ref()[..31]));
    }
}
