//! Users and their passwords.
//!
//! | bytes of an entry | key: the user's name |
//! |---|---|
//! | 1 | version, 1 |
//! | 4, 4, 4 | Argon2id: memory in KiB, passes, lanes |
//! | 16 | salt |
//! | 32 | hash |
//!
//! Invariants:
//! 1. No password is kept, and none is compared but by its hash, in constant time.
//! 2. Once there was a user since the start, nobody is let in without a name, unless that is asked
//!    for: removing the last user opens no door.
//! 3. An unknown user costs a client as much time as a wrong password.

use std::sync::atomic::Ordering::SeqCst;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use otma::{Identity, Name, Reason, Refusal};
use seam::entropy::Entropy;
use store::{Locking, Read, SetAttributes, SetId, Store, Unit, UnitOptions};

use crate::error::ControlError;
use crate::inner::Inner;

/// The set's name.
const SET: &str = "HOLDFAST.USERS";
const VERSION: u8 = 1;
const SALT: usize = 16;
const HASH: usize = 32;
const ENTRY: usize = 1 + 12 + SALT + HASH;
/// 19 MiB, two passes, one lane.
const COST: [u32; 3] = [19 << 10, 2, 1];
/// What an entry may ask for.
const MEMORY_KIB_MAX: u32 = 256 << 10;
const PASSES_MAX: u32 = 16;

pub(crate) fn set_of<S: Store>(store: &S) -> Result<SetId, ControlError> {
    Ok(match store.set(SET)? {
        Some(set) => set,
        None => {
            let attributes = SetAttributes { locking: Locking::Keys, ..SetAttributes::default() };
            store.create_set(SET, &attributes)?
        }
    })
}

/// Whether there is any user.
pub(crate) fn are_there<S: Store>(store: &S, users: SetId) -> Result<bool, ControlError> {
    let mut cursor = store.cursor(users)?;
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let found = unit.next(&mut cursor, Read::Unlocked)?.is_some();
    unit.backout()?;
    Ok(found)
}

fn hash(password: &[u8], salt: &[u8], cost: [u32; 3]) -> Option<[u8; HASH]> {
    let [memory, passes, lanes] = cost;
    if memory > MEMORY_KIB_MAX || passes > PASSES_MAX || lanes != 1 {
        return None;
    }
    let params = Params::new(memory, passes, lanes, Some(HASH)).ok()?;
    let mut blocks = vec![Block::default(); params.block_count()];
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut hash = [0; HASH];
    argon.hash_password_into_with_memory(password, salt, &mut hash, &mut blocks).ok()?;
    Some(hash)
}

fn entry_of(password: &[u8], entropy: &dyn Entropy) -> Option<Vec<u8>> {
    let mut salt = [0; SALT];
    entropy.fill(&mut salt).ok()?;
    let mut entry = vec![VERSION];
    COST.iter().for_each(|cost| entry.extend_from_slice(&cost.to_le_bytes()));
    entry.extend_from_slice(&salt);
    entry.extend_from_slice(&hash(password, &salt, COST)?);
    Some(entry)
}

/// Whether a password is that of an entry; `None` if the entry cannot be read.
fn fits(entry: &[u8], password: &[u8]) -> Option<bool> {
    if entry.len() != ENTRY || entry[0] != VERSION {
        return None;
    }
    let cost = |at: usize| Some(u32::from_le_bytes(entry[at..at + 4].try_into().ok()?));
    let costs = [cost(1)?, cost(5)?, cost(9)?];
    let (salt, kept) = entry[13..].split_at(SALT);
    let own = hash(password, salt, costs)?;
    Some(own.iter().zip(kept).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0)
}

impl<S: Store> Inner<S> {
    /// Defines a user, or gives one another password.
    pub(crate) fn put_user(&self, user: Name, password: &[u8]) -> Result<(), ControlError> {
        let wrong = |what: &str| ControlError::User { user: user.text(), what: what.to_owned() };
        if user.is_blank() || password.is_empty() {
            return Err(wrong("a user has a name and a password"));
        }
        let entry = entry_of(password, &*self.entropy)
            .ok_or_else(|| wrong("the password could not be hashed"))?;
        // Before the user is there: nobody without a name is let in beside it.
        self.has_users.store(true, SeqCst);
        store::run(&self.store, UnitOptions::default(), |unit| {
            unit.put(self.users, &user.0, &entry).map_err(ControlError::from)
        })
    }

    /// Removes a user; answers whether there was one.
    pub(crate) fn remove_user(&self, user: Name) -> Result<bool, ControlError> {
        store::run(&self.store, UnitOptions::default(), |unit| {
            let outcome = unit.delete(self.users, &user.0)?;
            Ok::<bool, ControlError>(outcome.is_done())
        })
    }

    /// What changes with a user's password, and with nothing else; `None`: there is no such user,
    /// or the store cannot tell.
    pub(crate) fn user_mark(&self, user: Name) -> Option<u64> {
        let mut entry = Vec::new();
        let mut unit = self.store.begin(UnitOptions::READ_ONLY).ok()?;
        let found = unit.get(self.users, &user.0, Read::Shared, &mut entry).ok()?;
        unit.backout().ok()?;
        // The salt, which is drawn anew for each password.
        let salt = entry.get(13..21).filter(|_| found)?;
        Some(u64::from_le_bytes(salt.try_into().ok()?))
    }

    pub(crate) fn check_user(
        &self,
        user: Name,
        group: Name,
        password: &[u8],
    ) -> Result<Identity, Refusal> {
        let refused = || {
            let text = "USER IS NOT DEFINED, OR THE PASSWORD IS WRONG";
            Refusal::new(Reason::NotAuthenticated, text)
        };
        let mut entry = Vec::new();
        let read = self.store.begin(UnitOptions::READ_ONLY).and_then(|mut unit| {
            let found = unit.get(self.users, &user.0, Read::Shared, &mut entry)?;
            unit.backout()?;
            Ok(found)
        });
        let found = read.map_err(|error| Refusal::new(Reason::Store, error.to_string()))?;
        if !found {
            // As much work as for a user who is there.
            let _ = hash(password, &[0; SALT], COST);
            return Err(refused());
        }
        match fits(&entry, password) {
            Some(true) => Ok(Identity { user, group }),
            Some(false) => Err(refused()),
            None => {
                let text = format!("the entry of user {user} is damaged; define the user again");
                Err(Refusal::new(Reason::Store, text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_fits_its_entry_alone() {
        let entry = entry_of(b"secret", &seam::entropy::OsEntropy).expect("entropy");
        assert_eq!(fits(&entry, b"secret"), Some(true));
        assert_eq!(fits(&entry, b"Secret"), Some(false));
        assert_eq!(fits(&entry[1..], b"secret"), None);
        let mut greedy = entry;
        greedy[1..5].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(fits(&greedy, b"secret"), None);
    }
}
