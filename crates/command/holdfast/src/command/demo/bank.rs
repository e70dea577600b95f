//! The bank: accounts, transfers between them, a journal of what was transferred. It is written
//! against the store trait, so that its tests run on the model in memory.
//!
//! | set | key | value |
//! |---|---|---|
//! | `ACCOUNTS` | account, 4 bytes big-endian | balance 8, then the name of who owns it |
//! | `JOURNAL` | run 4, thread 2, number 8, big-endian | from 4, to 4, amount 8 |
//!
//! 1. A transfer changes two balances and adds one journal entry, in one unit of work.
//! 2. Its number is never used twice: a run is one life of the process, and counts up.

use store::{
    LoadSource, Pairs, Position, Read, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions,
};

/// The sets of a bank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bank {
    pub(crate) accounts: SetId,
    pub(crate) journal: SetId,
}

/// What every account has at first.
pub(crate) const OPENING_BALANCE: i64 = 1_000;
const ACCOUNTS: &str = "ACCOUNTS";
const JOURNAL: &str = "JOURNAL";

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) number: Number,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) amount: i64,
}

/// The number of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Number {
    pub(crate) run: u32,
    pub(crate) thread: u16,
    pub(crate) sequence: u64,
}

impl Number {
    fn key(self) -> [u8; 14] {
        let mut key = [0; 14];
        key[..4].copy_from_slice(&self.run.to_be_bytes());
        key[4..6].copy_from_slice(&self.thread.to_be_bytes());
        key[6..].copy_from_slice(&self.sequence.to_be_bytes());
        key
    }

    fn of_key(key: &[u8]) -> Option<Number> {
        let (run, rest) = key.split_first_chunk()?;
        let (thread, rest) = rest.split_first_chunk()?;
        Some(Number {
            run: u32::from_be_bytes(*run),
            thread: u16::from_be_bytes(*thread),
            sequence: u64::from_be_bytes(rest.try_into().ok()?),
        })
    }
}

impl Transfer {
    fn value(&self) -> [u8; 16] {
        let mut value = [0; 16];
        value[..4].copy_from_slice(&self.from.to_le_bytes());
        value[4..8].copy_from_slice(&self.to.to_le_bytes());
        value[8..].copy_from_slice(&self.amount.to_le_bytes());
        value
    }

    fn of_entry(key: &[u8], value: &[u8]) -> Option<Transfer> {
        let (from, rest) = value.split_first_chunk()?;
        let (to, rest) = rest.split_first_chunk()?;
        Some(Transfer {
            number: Number::of_key(key)?,
            from: u32::from_le_bytes(*from),
            to: u32::from_le_bytes(*to),
            amount: i64::from_le_bytes(rest.try_into().ok()?),
        })
    }
}

impl Bank {
    /// Makes the sets and loads so many accounts.
    pub(crate) fn found(store: &impl Store, accounts: u32) -> Result<Bank, StoreError> {
        let bank = Bank {
            accounts: store.create_set(ACCOUNTS, &SetAttributes::default())?,
            journal: store.create_set(JOURNAL, &SetAttributes::default())?,
        };
        let owned = |number: u32| {
            let mut value = OPENING_BALANCE.to_le_bytes().to_vec();
            value.extend_from_slice(owner(number).as_bytes());
            (number.to_be_bytes(), value)
        };
        store.load_sorted(bank.accounts, &mut source((0..accounts).map(owned)))?;
        Ok(bank)
    }

    /// The bank of a store that has one.
    pub(crate) fn find(store: &impl Store) -> Result<Option<Bank>, StoreError> {
        let (accounts, journal) = (store.set(ACCOUNTS)?, store.set(JOURNAL)?);
        Ok(accounts.zip(journal).map(|(accounts, journal)| Bank { accounts, journal }))
    }

    /// Does a transfer within a unit of work. `false` if the payer has too little; then nothing
    /// was changed.
    pub(crate) fn transfer<U: Unit>(
        &self,
        unit: &mut U,
        transfer: &Transfer,
        scratch: &mut Vec<u8>,
    ) -> Result<bool, StoreError> {
        // Everybody locks the lower account first, so that no teller waits in a circle.
        let low_first = transfer.from < transfer.to;
        let order = if low_first { [-1, 1] } else { [1, -1] };
        let accounts = [transfer.from.min(transfer.to), transfer.from.max(transfer.to)];
        let mut values: [Vec<u8>; 2] = [Vec::new(), Vec::new()];
        for ((account, sign), value) in accounts.into_iter().zip(order).zip(&mut values) {
            let key = account.to_be_bytes();
            if !unit.get(self.accounts, &key, Read::Exclusive, scratch)? {
                return Ok(false);
            }
            let Some((balance, name)) = scratch.split_first_chunk() else { return Ok(false) };
            let balance = i64::from_le_bytes(*balance) + sign * transfer.amount;
            if balance < 0 {
                return Ok(false);
            }
            value.extend_from_slice(&balance.to_le_bytes());
            value.extend_from_slice(name);
        }
        for (account, value) in accounts.into_iter().zip(&values) {
            let _ = unit.replace(self.accounts, &account.to_be_bytes(), value)?;
        }
        let added = unit.insert(self.journal, &transfer.number.key(), &transfer.value())?;
        assert!(added.is_done(), "a number is used once");
        Ok(true)
    }

    /// Shows every transfer of a run, in the order of their numbers.
    pub(crate) fn journal_of(
        &self,
        store: &impl Store,
        run: u32,
        mut see: impl FnMut(Transfer),
    ) -> Result<(), StoreError> {
        let first = Number { run, thread: 0, sequence: 0 }.key();
        let behind = Number { run: run + 1, thread: 0, sequence: 0 }.key();
        each(store, self.journal, &first, |key, value| {
            let inside = key < &behind[..];
            if let Some(transfer) = Transfer::of_entry(key, value).filter(|_| inside) {
                see(transfer);
            }
            inside
        })
    }

    /// Shows every account with its balance.
    pub(crate) fn balances(
        &self,
        store: &impl Store,
        mut see: impl FnMut(u32, i64),
    ) -> Result<(), StoreError> {
        each(store, self.accounts, &[], |key, value| {
            if let (Ok(key), Some((balance, _))) = (key.try_into(), value.split_first_chunk()) {
                see(u32::from_be_bytes(key), i64::from_le_bytes(*balance));
            }
            true
        })
    }
}

/// Steps through a set until `see` has enough.
fn each<S: Store>(
    store: &S,
    set: SetId,
    from: &[u8],
    mut see: impl FnMut(&[u8], &[u8]) -> bool,
) -> Result<(), StoreError> {
    use store::Cursor as _;
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    cursor.seek(Position::Before(from));
    while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
        if !see(entry.key, entry.value) {
            break;
        }
    }
    unit.commit().map(drop)
}

fn source<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    entries: impl Iterator<Item = (K, V)>,
) -> impl LoadSource {
    Pairs::new(entries)
}

/// Who owns an account: some text, as customer records have.
fn owner(number: u32) -> String {
    const FIRST: [&str; 8] = ["ADA", "ALAN", "BARBARA", "EDGAR", "FRANCES", "GRACE", "JIM", "VERN"];
    const LAST: [&str; 6] = ["BACHMAN", "CODD", "GRAY", "HOPPER", "LISKOV", "WATTS"];
    let (first, last) = (FIRST[number as usize % 8], LAST[number as usize / 8 % 6]);
    format!("{last}, {first:<12} ACCOUNT {number:010} OPENED AT THE HOLDFAST BANK")
}
