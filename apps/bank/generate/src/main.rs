//! The command that writes the sample bank's files into a folder.
//!
//! 1. It refuses a plan that the files' fields have no room for, before it writes.
//! 2. Progress goes to standard error, and only if that is a terminal.
#![allow(clippy::disallowed_methods)] // writes plain files, not a system's

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use holdfast_bank_data::{Files, Plan, write};

/// Make up the sample bank's load files and transactions
#[derive(Parser)]
#[command(after_help = "Example: holdfast-bank-data --customers 100000 --transactions 50000 demo")]
struct Arguments {
    /// Customers; each has 1 to 3 accounts, and about 15 segments are loaded for him in all
    #[arg(long, default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(1..=Plan::CUSTOMERS_MAX))]
    customers: u64,
    /// Transactions for the teller program
    #[arg(long, default_value_t = 50_000,
          value_parser = clap::value_parser!(u64).range(0..=Plan::TRANSACTIONS_MAX))]
    transactions: u64,
    /// Another seed makes another bank
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder; it is made if it does not exist
    folder: PathBuf,
}

/// Why it failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
struct Failure {
    path: PathBuf,
    source: io::Error,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let &Arguments { customers, transactions, seed, .. } = arguments;
    let plan = Plan { customers, transactions, seed };
    let folder = arguments.folder.as_path();
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Failure { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut files = Files::make(|name| {
        let path = folder.join(name);
        File::create(&path).map(BufWriter::new).map_err(failed(&path))
    })?;
    let totals = write(&plan, &mut files, report(customers)).map_err(failed(folder))?;
    for (name, writer) in files.each() {
        writer.flush().map_err(failed(&folder.join(name)))?;
    }
    let path = folder.join(Files::<File>::TOTALS);
    fs::write(&path, totals.to_string()).map_err(failed(&path))?;
    print!("{totals}");
    Ok(())
}

/// A line that shows how far it is, on a terminal.
fn report(customers: u64) -> impl FnMut(u64) {
    let shown = io::stderr().is_terminal();
    let step = (customers / 100).max(1);
    move |done| {
        if shown && done % step == 0 {
            eprint!("\r{:3} % of {customers} customers", done * 100 / customers);
        }
        if shown && done + 1 == customers {
            eprintln!("\r100 % of {customers} customers");
        }
    }
}
