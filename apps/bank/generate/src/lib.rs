//! Makes up the sample bank: load files, a day's transactions, and the totals that its programs
//! must arrive at.
//!
//! 1. The same [`Plan`] gives the same bytes, on every machine.
//! 2. The files are fixed-length records without delimiters, sorted as `BANKLOAD` wants them.
//! 3. The totals come from a model of the programs in [`model`], not from the programs.
//!
//! | file | record | sorted by |
//! |---|---|---|
//! | `custin.dat` | 160, segment CUSTOMER | customer number |
//! | `acctin.dat` | 80, segment ACCOUNT | account number |
//! | `postin.dat` | 66, account number and segment POSTING | account number, posting key |
//! | `branin.dat` | 100, segment BRANCH | - |
//! | `histin.dat` | 82, account number and segment HISTENT | account number, history key |
//! | `tranin.dat` | 80, one transaction | reference number |
//! | `totals.txt` | lines of a name, a blank and a value | - |

pub mod customers;
pub mod model;
pub mod random;
pub mod records;
pub mod totals;
pub mod transactions;
pub mod words;

use std::io::{self, Write};

pub use totals::Totals;

use crate::model::Bank;

/// How large a bank, and which one.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many customers, up to [`Plan::CUSTOMERS_MAX`].
    pub customers: u64,
    /// How many transactions, up to [`Plan::TRANSACTIONS_MAX`].
    pub transactions: u64,
    /// Other seeds give other banks.
    pub seed: u64,
}

impl Plan {
    /// More would not leave a posting's reference number its nine digits.
    pub const CUSTOMERS_MAX: u64 = 10_000_000;
    /// The room of the program `VERIFY`.
    pub const TRANSACTIONS_MAX: u64 = 1_000_000;

    /// How many branches a bank of this size has.
    #[must_use]
    pub fn branches(&self) -> u64 {
        (self.customers / 1_000).clamp(5, 100)
    }
}

/// Where the records go, one writer for each file.
#[derive(Debug, Default)]
pub struct Files<W> {
    /// `custin.dat`
    pub customers: W,
    /// `acctin.dat`
    pub accounts: W,
    /// `postin.dat`
    pub postings: W,
    /// `branin.dat`
    pub branches: W,
    /// `histin.dat`
    pub history: W,
    /// `tranin.dat`
    pub transactions: W,
}

impl<W> Files<W> {
    /// The names of the files, in the order of the fields.
    pub const NAMES: [&'static str; 6] =
        ["custin.dat", "acctin.dat", "postin.dat", "branin.dat", "histin.dat", "tranin.dat"];
    /// The file of the totals.
    pub const TOTALS: &'static str = "totals.txt";

    /// Makes each writer from its file's name.
    ///
    /// # Errors
    /// The first that `make` gives.
    pub fn make<E>(mut make: impl FnMut(&'static str) -> Result<W, E>) -> Result<Self, E> {
        let [customers, accounts, postings, branches, history, transactions] = Self::NAMES;
        Ok(Self {
            customers: make(customers)?,
            accounts: make(accounts)?,
            postings: make(postings)?,
            branches: make(branches)?,
            history: make(history)?,
            transactions: make(transactions)?,
        })
    }

    /// The writers with their files' names.
    pub fn each(&mut self) -> [(&'static str, &mut W); 6] {
        let [customers, accounts, postings, branches, history, transactions] = Self::NAMES;
        [
            (customers, &mut self.customers),
            (accounts, &mut self.accounts),
            (postings, &mut self.postings),
            (branches, &mut self.branches),
            (history, &mut self.history),
            (transactions, &mut self.transactions),
        ]
    }
}

/// Writes the whole bank. `progress` hears of every customer, by how many there were before.
///
/// # Errors
/// If a writer fails.
pub fn write<W: Write>(
    plan: &Plan,
    files: &mut Files<W>,
    mut progress: impl FnMut(u64),
) -> io::Result<Totals> {
    let mut bank = Bank::default();
    customers::write_branches(plan, files)?;
    for index in 0..plan.customers {
        progress(index);
        customers::write_customer(plan, index, files, &mut bank)?;
    }
    transactions::write(plan, &mut files.transactions, &mut bank)?;
    Ok(Totals::of(plan, &bank))
}
