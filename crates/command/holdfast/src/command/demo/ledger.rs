//! The proof: what a bank must hold after any number of crashes.
//!
//! 1. *Durable.* Every transfer that was acknowledged is in the journal.
//! 2. *Once, whole.* The balances are what the journal's transfers make of the opening balances:
//!    no half transfer, none twice, none that was not journaled.
//! 3. *Constant.* Nothing was made or lost: the sum of all balances is that of the opening ones.

use std::collections::BTreeSet;

use store::{Store, StoreError};

use super::bank::{Bank, Number, OPENING_BALANCE, Transfer};

/// What the bank must hold.
pub(crate) struct Ledger {
    balances: Vec<i64>,
    /// Transfers in the journal so far.
    pub(crate) transfers: u64,
}

/// So many violations are told; more would say nothing new.
const REPORTED_MAX: usize = 10;

impl Ledger {
    /// The ledger of a bank at its opening.
    pub(crate) fn new(accounts: u32) -> Ledger {
        Ledger { balances: vec![OPENING_BALANCE; accounts as usize], transfers: 0 }
    }

    /// Takes over the transfers of a run that has ended, however it did, and holds store and
    /// ledger against each other. Answers what is wrong, a sentence each.
    pub(crate) fn prove(
        &mut self,
        store: &impl Store,
        bank: &Bank,
        run: u32,
        acknowledged: &mut [Number],
    ) -> Result<Vec<String>, StoreError> {
        let mut wrong = Vec::new();
        acknowledged.sort_unstable();
        let twice = acknowledged.windows(2).find(|pair| pair[0] == pair[1]);
        if let Some(pair) = twice {
            wrong.push(format!("transfer {:?} was acknowledged twice", pair[0]));
        }
        let mut missing: BTreeSet<Number> = BTreeSet::new();
        let mut expected = acknowledged.iter().copied().peekable();
        bank.journal_of(store, run, |transfer| {
            while let Some(number) = expected.next_if(|number| *number < transfer.number) {
                missing.insert(number);
            }
            while expected.next_if_eq(&transfer.number).is_some() {}
            self.apply(&transfer);
        })?;
        missing.extend(expected);
        for number in missing.iter().take(REPORTED_MAX) {
            wrong.push(format!("transfer {number:?} was acknowledged and is not in the journal"));
        }
        self.compare(store, bank, &mut wrong)?;
        Ok(wrong)
    }

    fn apply(&mut self, transfer: &Transfer) {
        self.transfers += 1;
        for (account, amount) in [(transfer.from, -transfer.amount), (transfer.to, transfer.amount)]
        {
            if let Some(balance) = self.balances.get_mut(account as usize) {
                *balance += amount;
            }
        }
    }

    fn compare(
        &self,
        store: &impl Store,
        bank: &Bank,
        wrong: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let (mut seen, mut sum, mut differing) = (0_usize, 0_i64, 0_usize);
        bank.balances(store, |account, balance| {
            seen += 1;
            sum += balance;
            let expected = self.balances.get(account as usize).copied();
            if expected != Some(balance) {
                differing += 1;
                if differing <= REPORTED_MAX {
                    let expected = expected.map_or("nothing".to_owned(), |sum| sum.to_string());
                    wrong.push(format!(
                        "account {account} has {balance}, the journal makes it {expected}"
                    ));
                }
            }
        })?;
        if seen != self.balances.len() {
            wrong.push(format!("there are {seen} accounts, not {}", self.balances.len()));
        }
        let opening = self.balances.len() as i64 * OPENING_BALANCE;
        if sum != opening {
            wrong.push(format!("all accounts together hold {sum}, not {opening}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Unit, UnitOptions};
    use store_suite::model::ModelStore;

    fn number(sequence: u64) -> Number {
        Number { run: 1, thread: 0, sequence }
    }

    /// A bank of ten accounts after three transfers.
    fn bank() -> (ModelStore, Bank) {
        let store = ModelStore::new();
        let bank = Bank::found(&store, 10).unwrap();
        for (sequence, from, to) in [(1, 0, 9), (2, 9, 3), (3, 5, 4)] {
            let mut unit = store.begin(UnitOptions::default()).unwrap();
            let transfer = Transfer { number: number(sequence), from, to, amount: 70 };
            assert!(bank.transfer(&mut unit, &transfer, &mut Vec::new()).unwrap());
            unit.commit().unwrap();
        }
        (store, bank)
    }

    fn violations(store: &ModelStore, bank: &Bank, mut acknowledged: Vec<Number>) -> String {
        let mut ledger = Ledger::new(10);
        ledger.prove(store, bank, 1, &mut acknowledged).unwrap().join("; ")
    }

    fn change(store: &ModelStore, body: impl FnOnce(&mut <ModelStore as Store>::Unit)) {
        let mut unit = store.begin(UnitOptions::default()).unwrap();
        body(&mut unit);
        unit.commit().unwrap();
    }

    #[test]
    fn a_sound_bank_is_proven_and_what_nobody_acknowledged_may_be_there() {
        let (store, bank) = bank();
        assert_eq!(violations(&store, &bank, vec![number(3), number(1)]), "");
        assert_eq!(violations(&store, &bank, vec![]), "");
        let found = Bank::find(&store).unwrap().unwrap();
        assert_eq!((found.accounts, found.journal), (bank.accounts, bank.journal));
    }

    #[test]
    fn a_lost_transfer_is_noticed() {
        let (store, bank) = bank();
        let text = violations(&store, &bank, vec![number(2), number(4)]);
        assert!(text.contains("sequence: 4") && text.contains("not in the journal"), "{text}");
        assert!(!text.contains("sequence: 2"), "{text}");
    }

    #[test]
    fn half_a_transfer_is_noticed() {
        let (store, bank) = bank();
        change(&store, |unit| {
            let key = 3_u32.to_be_bytes();
            let mut value = Vec::new();
            assert!(unit.get(bank.accounts, &key, store::Read::Shared, &mut value).unwrap());
            value[0] ^= 1;
            assert!(unit.replace(bank.accounts, &key, &value).unwrap().is_done());
        });
        let text = violations(&store, &bank, vec![]);
        assert!(text.contains("account 3") && text.contains("together"), "{text}");
    }

    #[test]
    fn a_transfer_without_its_journal_entry_is_noticed() {
        let (store, bank) = bank();
        change(&store, |unit| {
            let first = store::KeyRange::ALL;
            assert_eq!(unit.delete_range(bank.journal, first).unwrap(), 3);
        });
        let text = violations(&store, &bank, vec![number(1)]);
        assert!(text.contains("account 0 has 930, the journal makes it 1000"), "{text}");
        assert!(text.contains("not in the journal"), "{text}");
    }

    #[test]
    fn an_acknowledgement_that_comes_twice_is_noticed() {
        let (store, bank) = bank();
        assert!(violations(&store, &bank, vec![number(1), number(1)]).contains("twice"));
    }

    #[test]
    fn who_has_too_little_pays_nothing() {
        let (store, bank) = bank();
        let mut unit = store.begin(UnitOptions::default()).unwrap();
        let transfer = Transfer { number: number(9), from: 1, to: 2, amount: 1_001 };
        assert!(!bank.transfer(&mut unit, &transfer, &mut Vec::new()).unwrap());
        unit.backout().unwrap();
        assert_eq!(violations(&store, &bank, vec![]), "");
    }
}
