//! What `TELLER` and `INTEREST` must do, told without a database.
//!
//! 1. Accounts are sorted by number, as they were made.
//! 2. A transaction is refused for the first of these reasons that holds: no such account, its
//!    customer is blocked, no such branch, over the limit. A refused one changes no account.

use crate::words::SURNAMES;

/// What the programs look at in an account. Amounts are in cents.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its number.
    pub number: u64,
    /// Its balance.
    pub balance: i64,
    /// How far below zero the balance may go.
    pub limit: i64,
    /// Hundredths of a per cent a year.
    pub rate: i64,
    /// Whether its customer is blocked.
    pub blocked: bool,
}

/// A transaction as `TELLER` reads it.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// The account's number.
    pub account: u64,
    /// Whether the branch exists.
    pub branch_known: bool,
    /// Cents, negative for a withdrawal.
    pub amount: i64,
}

/// The bank in figures.
#[derive(Clone, Debug)]
pub struct Bank {
    /// How many customers.
    pub customers: u64,
    /// All accounts.
    pub accounts: Vec<Account>,
    /// How many postings were loaded.
    pub postings: u64,
    /// How many accounts have a history.
    pub history_accounts: u64,
    /// How many entries the loaded history has.
    pub history_entries: u64,
    /// How many customers have each surname.
    pub surnames: Vec<u64>,
    /// How many transactions were posted.
    pub posted: u64,
    /// How many were refused.
    pub refused: u64,
    /// What was paid in.
    pub deposits: i64,
    /// What was paid out.
    pub withdrawals: i64,
}

impl Default for Bank {
    fn default() -> Self {
        Self {
            customers: 0,
            accounts: Vec::new(),
            postings: 0,
            history_accounts: 0,
            history_entries: 0,
            surnames: vec![0; SURNAMES],
            posted: 0,
            refused: 0,
            deposits: 0,
            withdrawals: 0,
        }
    }
}

impl Bank {
    /// Does what `TELLER` does with one transaction.
    pub fn post(&mut self, transaction: &Transaction) {
        let found = self.accounts.binary_search_by_key(&transaction.account, |a| a.number);
        let account = found.ok().and_then(|place| self.accounts.get_mut(place));
        let amount = transaction.amount;
        match account {
            Some(account) if account.takes(transaction) => {
                account.balance += amount;
                self.posted += 1;
                if amount < 0 {
                    self.withdrawals -= amount;
                } else {
                    self.deposits += amount;
                }
            }
            _ => self.refused += 1,
        }
    }

    /// How many accounts get interest for a month, and how much together.
    #[must_use]
    pub fn interest(&self) -> (u64, i64) {
        let in_credit = self.accounts.iter().filter(|account| account.balance > 0);
        in_credit.fold((0, 0), |(count, sum), account| (count + 1, sum + account.interest()))
    }

    /// All balances together.
    #[must_use]
    pub fn balances(&self) -> i64 {
        self.accounts.iter().map(|account| account.balance).sum()
    }
}

impl Account {
    fn takes(&self, transaction: &Transaction) -> bool {
        let within = transaction.amount >= 0 || self.balance + transaction.amount >= -self.limit;
        !self.blocked && transaction.branch_known && within
    }

    /// A twelfth of a year's interest, rounded to the next cent, a half upwards.
    fn interest(&self) -> i64 {
        const YEAR: i64 = 100 * 100 * 12;
        (self.balance * self.rate + YEAR / 2) / YEAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bank() -> Bank {
        let account =
            |number, balance, blocked| Account { number, balance, limit: 500, rate: 350, blocked };
        let accounts = vec![account(10, 1_000, false), account(20, 1_000, true)];
        Bank { accounts, ..Bank::default() }
    }

    #[test]
    fn a_limit_may_be_reached_but_not_passed() {
        let mut bank = bank();
        bank.post(&Transaction { account: 10, branch_known: true, amount: -1_501 });
        assert_eq!((bank.posted, bank.refused, bank.balances()), (0, 1, 2_000));
        bank.post(&Transaction { account: 10, branch_known: true, amount: -1_500 });
        assert_eq!((bank.posted, bank.withdrawals, bank.balances()), (1, 1_500, 500));
    }

    #[test]
    fn unknown_accounts_and_branches_and_blocked_customers_are_refused() {
        let mut bank = bank();
        bank.post(&Transaction { account: 11, branch_known: true, amount: 1 });
        bank.post(&Transaction { account: 10, branch_known: false, amount: 1 });
        bank.post(&Transaction { account: 20, branch_known: true, amount: 1 });
        assert_eq!((bank.posted, bank.refused, bank.deposits), (0, 3, 0));
    }

    #[test]
    fn interest_is_rounded_to_the_next_cent() {
        // 10.00 at 3.5 % are 2.9166... cents a month.
        assert_eq!(bank().interest(), (2, 6));
    }
}
