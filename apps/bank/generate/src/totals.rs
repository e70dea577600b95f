//! The figures that the bank's programs must print.

use std::fmt;

use crate::Plan;
use crate::model::Bank;
use crate::words::surname;

/// The figures, in the order of `totals.txt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    lines: Vec<(&'static str, String)>,
}

impl Totals {
    /// Those of a bank whose transactions are posted.
    #[must_use]
    pub fn of(plan: &Plan, bank: &Bank) -> Self {
        let branches = plan.branches();
        let accounts = bank.accounts.len() as u64;
        let segments = branches
            + bank.customers
            + accounts
            + bank.postings
            + bank.history_accounts
            + bank.history_entries;
        let (with_interest, interest) = bank.interest();
        let all_postings = bank.postings + bank.posted;
        let counts = [
            ("branches", branches),
            ("customers", bank.customers),
            ("accounts", accounts),
            ("postings-loaded", bank.postings),
            ("history-accounts", bank.history_accounts),
            ("history-loaded", bank.history_entries),
            ("segments-loaded", segments),
            ("transactions", plan.transactions),
            ("posted", bank.posted),
            ("refused", bank.refused),
            ("postings", all_postings),
            ("history", bank.history_entries + bank.posted),
            ("statement-lines", bank.customers + 2 * accounts + all_postings),
            ("accounts-with-interest", with_interest),
        ];
        let amounts = [
            ("deposits", bank.deposits),
            ("withdrawals", bank.withdrawals),
            ("balances", bank.balances()),
            ("interest", interest),
        ];
        let mut lines: Vec<_> = counts.map(|(name, count)| (name, count.to_string())).into();
        lines.extend(amounts.map(|(name, cents)| (name, in_pounds(cents))));
        // The surname that most customers have; the first of them if there are several.
        let most = bank.surnames.iter().max().copied().unwrap_or(0);
        let number = bank.surnames.iter().position(|count| *count == most).unwrap_or(0);
        lines.push(("surname", surname(number)));
        lines.push(("namesakes", most.to_string()));
        Self { lines }
    }
}

/// Cents with a point where COBOL's editing puts it.
fn in_pounds(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{}.{:02}{sign}", cents.abs() / 100, cents.abs() % 100)
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|(name, value)| writeln!(f, "{name} {value}"))
    }
}
