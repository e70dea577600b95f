//! Permits of plain data sets: what proves that a data set may be in clear.
//!
//! A definition stands in the log, and a log may be plain: then anybody who can write to it can
//! make a definition. One that calls a sealed data set plain would have the system write it in
//! clear by itself. So a definition of a plain data set carries a permit, which only a process that
//! holds the system's key can make, and without which it is not believed.
//!
//! Invariants:
//! 1. A permit is good for one data set, by number and name, of one system.
//! 2. It is made where a data set is made plain, becomes so or is about to be so no longer, and
//!    nowhere else.
//! 3. Comparing takes the same time for every wrong permit.
//!
//! What it does not see: that it was made for an earlier time at which the same data set was plain.
//! What is sealed is therefore not used under a plain log at all (`uow`).

use std::fmt;

use aws_lc_rs::hmac;
use base::bytes::Reader;
use base::{DataSetId, KeyGeneration, SystemId};

use crate::working_key::derive_key;
use crate::{KeyProvider, Salt, SealError};

/// What the key of permits is for; nothing else is derived under this name.
const PURPOSE: &[u8] = b"holdfast plain permit 1";
const TAG_BYTES: usize = 16;

/// Proves that a data set may be plain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PlainPermit {
    /// The generation of the system's key that it was made with.
    generation: KeyGeneration,
    /// HMAC-SHA256 of number and name, cut to 16 bytes.
    tag: [u8; TAG_BYTES],
}

/// Whom a permit is for.
#[derive(Clone, Copy, Debug)]
pub struct PermitFor<'n> {
    /// The system.
    pub system: SystemId,
    /// The data set.
    pub set: DataSetId,
    /// Its name.
    pub name: &'n str,
}

impl PlainPermit {
    /// Makes one with the system's key, whose label is given.
    ///
    /// # Errors
    /// Whatever the key provider says.
    pub fn issue(
        keys: &dyn KeyProvider,
        label: &str,
        whom: &PermitFor<'_>,
    ) -> Result<PlainPermit, SealError> {
        let generation = keys.current(label)?;
        let mac = hmac::sign(&permit_key(keys, label, generation, whom)?, &whom.bytes());
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&mac.as_ref()[..TAG_BYTES]);
        Ok(PlainPermit { generation, tag })
    }

    /// Whether it was made with the system's key, for this data set.
    ///
    /// # Errors
    /// Whatever the key provider says of the generation that it names.
    pub fn is_genuine(
        &self,
        keys: &dyn KeyProvider,
        label: &str,
        whom: &PermitFor<'_>,
    ) -> Result<bool, SealError> {
        let mac = hmac::sign(&permit_key(keys, label, self.generation, whom)?, &whom.bytes());
        let expected = &mac.as_ref()[..TAG_BYTES];
        Ok(aws_lc_rs::constant_time::verify_slices_are_equal(expected, &self.tag).is_ok())
    }

    /// Its bytes: the generation (4), the tag (16).
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.generation.0.to_le_bytes());
        out.extend_from_slice(&self.tag);
    }

    /// Reads it back; `None` if there are too few bytes.
    #[must_use]
    pub fn decode(reader: &mut Reader<'_>) -> Option<PlainPermit> {
        let generation = KeyGeneration(reader.u32()?);
        let tag = reader.take(TAG_BYTES)?.try_into().ok()?;
        Some(PlainPermit { generation, tag })
    }
}

impl fmt::Debug for PlainPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlainPermit({:?})", self.generation)
    }
}

impl PermitFor<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.set.0.to_le_bytes().to_vec();
        bytes.extend_from_slice(self.name.as_bytes());
        bytes
    }
}

fn permit_key(
    keys: &dyn KeyProvider,
    label: &str,
    generation: KeyGeneration,
    whom: &PermitFor<'_>,
) -> Result<hmac::Key, SealError> {
    let key = derive_key(&keys.key(label, generation)?, &Salt(whom.system.0), PURPOSE);
    Ok(hmac::Key::new(hmac::HMAC_SHA256, key.bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestKeys;

    #[test]
    fn a_permit_is_good_for_its_data_set_its_system_and_its_keys() {
        let keys = TestKeys::new(1);
        let whom = |system, set, name| PermitFor {
            system: SystemId([system; 16]),
            set: DataSetId(set),
            name,
        };
        let good = whom(1, 7, "BANK.CUSTOMER");
        let permit = PlainPermit::issue(&keys, "system", &good).unwrap();
        let is = |keys: &TestKeys, label, whom: &PermitFor<'_>| {
            permit.is_genuine(keys, label, whom).unwrap()
        };
        assert!(is(&keys, "system", &good));
        keys.new_generation();
        assert!(is(&keys, "system", &good), "of an earlier generation");
        assert!(!is(&keys, "data", &good));
        assert!(!is(&TestKeys::new(2), "system", &good));
        for other in [whom(2, 7, "BANK.CUSTOMER"), whom(1, 8, "BANK.CUSTOMER"), whom(1, 7, "BANK")]
        {
            assert!(!is(&keys, "system", &other), "{other:?}");
        }
        let mut bytes = Vec::new();
        permit.encode(&mut bytes);
        assert_eq!(PlainPermit::decode(&mut Reader::new(&bytes)), Some(permit));
        for at in 4..bytes.len() {
            let mut forged = bytes.clone();
            forged[at] ^= 1;
            let forged = PlainPermit::decode(&mut Reader::new(&forged)).unwrap();
            assert!(!forged.is_genuine(&keys, "system", &good).unwrap(), "byte {at}");
        }
        bytes.pop();
        assert_eq!(PlainPermit::decode(&mut Reader::new(&bytes)), None);
    }
}
