//! Branches, customers, their accounts, postings and history.
//!
//! 1. A customer and all below him depend on the seed and his number alone.
//! 2. An account's number is its customer's with two more digits, so that all files have one order.
//! 3. Customer numbers are spread evenly over eight digits, whatever the size of the bank.
//! 4. The postings of an account add up to its balance, which is never negative.
//!
//! The layouts are those of the copybooks in `../copy`.

use std::io::{self, Write};

use crate::model::{Account, Bank};
use crate::random::Random;
use crate::records::Record;
use crate::words::{TOWNS, draw_address, draw_forename, draw_surname, surname};
use crate::{Files, Plan};

const FIRST_NUMBER: u64 = 10_000_000;
const NUMBERS: u64 = 90_000_000;
/// Streams of random numbers that are not a customer's.
const BRANCHES: u64 = u64::MAX;
const FIRST_REFERENCE: u64 = 1;
const POSTINGS_MAX: u64 = 6;

/// The number of a branch by its place.
#[must_use]
pub fn branch_number(index: u64) -> u64 {
    101 + index
}

/// A kind of account: its code, the rates and limits that it may have, and how much at most is
/// brought forward. Rates are in hundredths of a per cent, the rest in cents.
struct Kind {
    code: &'static str,
    rates: [i64; 2],
    limits: [i64; 4],
    opening_max: u64,
}

const KINDS: [Kind; 3] = [
    Kind {
        code: "CA",
        rates: [0, 25],
        limits: [0, 50_000, 100_000, 250_000],
        opening_max: 400_000,
    },
    Kind { code: "SA", rates: [275, 350], limits: [0; 4], opening_max: 1_500_000 },
    Kind { code: "DP", rates: [475, 525], limits: [0; 4], opening_max: 5_000_000 },
];

/// Writes all branches, without any business yet.
///
/// # Errors
/// If the writer fails.
pub fn write_branches<W: Write>(plan: &Plan, files: &mut Files<W>) -> io::Result<()> {
    let mut random = Random::new(plan.seed, BRANCHES);
    for index in 0..plan.branches() {
        let (town, _) = TOWNS[index as usize % TOWNS.len()];
        let manager = format!("{} {}", draw_forename(&mut random), surname(index as usize));
        Record::<100>::new()
            .digits(1, 4, branch_number(index))
            .text(5, 24, &format!("{town} {}", index / TOWNS.len() as u64 + 1))
            .text(29, 24, town)
            .text(53, 24, &manager)
            .packed(77, 8, 0)?
            .packed(85, 8, 0)?
            .packed(93, 5, 0)?
            .write_to(&mut files.branches)?;
    }
    Ok(())
}

/// Writes the customer number `index` with all that is below.
///
/// # Errors
/// If a writer fails.
pub fn write_customer<W: Write>(
    plan: &Plan,
    index: u64,
    files: &mut Files<W>,
    bank: &mut Bank,
) -> io::Result<()> {
    let mut random = Random::new(plan.seed, index);
    let stride = NUMBERS / plan.customers;
    let number = FIRST_NUMBER + index * stride + random.below(stride);
    let branch = branch_number(random.below(plan.branches()));
    let blocked = random.chance(10);
    let name = draw_surname(&mut random);
    bank.surnames[name] += 1;
    let since = random.between(1970, 1993) * 10_000 + day_of_year(&mut random);
    let (town, area) = TOWNS[random.below(TOWNS.len() as u64) as usize];
    Record::<160>::new()
        .digits(1, 8, number)
        .text(9, 24, &surname(name))
        .text(33, 20, &draw_forename(&mut random))
        .digits(53, 8, random.between(1910, 1969) * 10_000 + day_of_year(&mut random))
        .text(61, 30, &draw_address(&mut random))
        .text(91, 8, &format!("{area}{} {}", random.between(1, 29), random.between(10, 99)))
        .text(99, 24, town)
        .text(123, 16, &format!("0{} {}", random.between(111, 999), random.between(1_000, 999_999)))
        .digits(139, 4, branch)
        .digits(143, 8, since)
        .text(151, 1, if blocked { "B" } else { "A" })
        .write_to(&mut files.customers)?;
    bank.customers += 1;
    let accounts = random.between(1, KINDS.len() as u64);
    for (place, kind) in KINDS.iter().enumerate().take(accounts as usize) {
        let number = number * 100 + place as u64 + 1;
        let owner = Owner { branch, blocked, since };
        write_account(number, kind, &owner, &mut random, files, bank)?;
    }
    Ok(())
}

/// A day as a month and a day of it.
fn day_of_year(random: &mut Random) -> u64 {
    random.between(1, 12) * 100 + random.between(1, 28)
}

/// What an account has from its customer.
struct Owner {
    branch: u64,
    blocked: bool,
    since: u64,
}

/// A posting of an account, with the balance behind it.
#[derive(Clone, Copy)]
struct Posting {
    date: u64,
    reference: u64,
    amount: i64,
    balance: i64,
    text: &'static str,
}

fn write_account<W: Write>(
    number: u64,
    kind: &Kind,
    owner: &Owner,
    random: &mut Random,
    files: &mut Files<W>,
    bank: &mut Bank,
) -> io::Result<()> {
    let limit = random.pick(&kind.limits);
    let rate = random.pick(&kind.rates);
    let count = random.between(1, POSTINGS_MAX);
    let mut last = None;
    let mut kept: [Option<Posting>; 2] = [None; 2];
    for place in 0..count {
        let reference = FIRST_REFERENCE + bank.postings;
        let posting = draw_posting(place, count, reference, kind, last, random);
        write_posting(number, &posting, &mut files.postings)?;
        if let Some(place) = kept.get_mut(place as usize) {
            *place = Some(posting);
        }
        bank.postings += 1;
        last = Some(posting);
    }
    let (balance, date) = last.map_or((0, owner.since), |posting| (posting.balance, posting.date));
    Record::<80>::new()
        .digits(1, 10, number)
        .text(11, 2, kind.code)
        .text(13, 3, "GBP")
        .digits(16, 4, owner.branch)
        .digits(20, 8, owner.since)
        .packed(28, 8, balance)?
        .packed(36, 6, limit)?
        .packed(42, 3, rate)?
        .packed(45, 7, 0)?
        .digits(52, 8, 0)
        .packed(60, 4, count as i64)?
        .digits(64, 8, date)
        .write_to(&mut files.accounts)?;
    // Some accounts have no history, so that a posting may be the first of it.
    if !random.chance(20) {
        let entries = kept.iter().flatten().take(random.below(3) as usize);
        write_opening(number, owner, bank.postings, &mut files.history)?;
        bank.history_accounts += 1;
        bank.history_entries += 1;
        for posting in entries {
            write_entry(number, owner.branch, posting, &mut files.history)?;
            bank.history_entries += 1;
        }
    }
    bank.accounts.push(Account { number, balance, limit, rate, blocked: owner.blocked });
    Ok(())
}

/// The posting number `place` of `count`: each in a month of its own, from January 1995 on.
fn draw_posting(
    place: u64,
    count: u64,
    reference: u64,
    kind: &Kind,
    last: Option<Posting>,
    random: &mut Random,
) -> Posting {
    let Some(last) = last else {
        let amount = random.between(10_000, kind.opening_max) as i64;
        let text = "BROUGHT FORWARD";
        return Posting { date: 19_950_102, reference, amount, balance: amount, text };
    };
    let month = place * 14 / count;
    let date = (1995 + month / 12) * 10_000 + (month % 12 + 1) * 100 + random.between(3, 28);
    let half = (last.balance / 2).max(0) as u64;
    let (amount, text) = if random.chance(550) || half == 0 {
        (random.between(500, 200_000) as i64, random.pick(&["SALARY", "CASH PAID IN", "DIVIDEND"]))
    } else {
        let paid = random.between(1, half) as i64;
        (-paid, random.pick(&["STANDING ORDER", "CASH WITHDRAWN", "CHEQUE", "RENT"]))
    };
    Posting { date, reference, amount, balance: last.balance + amount, text }
}

fn write_posting(account: u64, posting: &Posting, writer: &mut impl Write) -> io::Result<()> {
    Record::<66>::new()
        .digits(1, 10, account)
        .digits(11, 8, posting.date)
        .digits(19, 9, posting.reference)
        .text(28, 1, if posting.amount < 0 { "W" } else { "D" })
        .packed(29, 7, posting.amount)?
        .text(36, 1, "L")
        .text(43, 24, posting.text)
        .write_to(writer)
}

/// The entry that the account was opened; its reference is that of the last posting.
fn write_opening(
    account: u64,
    owner: &Owner,
    reference: u64,
    writer: &mut impl Write,
) -> io::Result<()> {
    Record::<82>::new()
        .digits(1, 10, account)
        .digits(11, 8, owner.since)
        .digits(19, 9, reference)
        .digits(28, 6, 90_000)
        .text(34, 1, "O")
        .digits(35, 4, owner.branch)
        .packed(45, 7, 0)?
        .packed(52, 8, 0)?
        .text(60, 23, "ACCOUNT OPENED")
        .write_to(writer)
}

fn write_entry(
    account: u64,
    branch: u64,
    posting: &Posting,
    writer: &mut impl Write,
) -> io::Result<()> {
    Record::<82>::new()
        .digits(1, 10, account)
        .digits(11, 8, posting.date)
        .digits(19, 9, posting.reference)
        .digits(28, 6, 120_000)
        .text(34, 1, "L")
        .digits(35, 4, branch)
        .packed(45, 7, posting.amount)?
        .packed(52, 8, posting.balance)?
        .text(60, 23, posting.text)
        .write_to(writer)
}
