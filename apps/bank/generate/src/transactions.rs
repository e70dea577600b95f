//! The day's transactions, a few of which no teller should have accepted.
//!
//! 1. Reference numbers follow each other without a gap, above all of the postings loaded.
//! 2. Times go up within each of the five business days, days from first to last.

use std::io::{self, Write};

use crate::Plan;
use crate::customers::branch_number;
use crate::model::{Bank, Transaction};
use crate::random::Random;
use crate::records::Record;

const STREAM: u64 = u64::MAX - 1;
const FIRST_REFERENCE: u64 = 900_000_001;
/// Monday, the 4th of March 1996.
const FIRST_DAY: u64 = 19_960_304;
const DAYS: u64 = 5;
const OPENING_HOUR: u64 = 9;
const BUSINESS_SECONDS: u64 = 7 * 3_600;
/// No branch has this number.
const CLOSED_BRANCH: u64 = 9_999;
const DEPOSIT_TEXTS: [&str; 4] = ["CASH PAID IN", "CHEQUE PAID IN", "TAKINGS", "COUNTER CREDIT"];
const WITHDRAWAL_TEXTS: [&str; 3] = ["CASH WITHDRAWN", "BANKERS DRAFT", "FOREIGN NOTES"];

/// Writes them, and does to `bank` what they do to it.
///
/// # Errors
/// If the writer fails.
pub fn write(plan: &Plan, writer: &mut impl Write, bank: &mut Bank) -> io::Result<()> {
    let mut random = Random::new(plan.seed, STREAM);
    for index in 0..plan.transactions {
        write_one(plan, index, &mut random, writer, bank)?;
    }
    Ok(())
}

fn write_one(
    plan: &Plan,
    index: u64,
    random: &mut Random,
    writer: &mut impl Write,
    bank: &mut Bank,
) -> io::Result<()> {
    let place = random.below(bank.accounts.len() as u64) as usize;
    let Some(owner) = bank.accounts.get(place) else { return Ok(()) };
    // No customer has a ninth account.
    let unknown = random.chance(10);
    let account = if unknown { owner.number / 100 * 100 + 9 } else { owner.number };
    let branch_known = !random.chance(5);
    let branch =
        if branch_known { branch_number(random.below(plan.branches())) } else { CLOSED_BRANCH };
    let amount = if random.chance(550) {
        random.between(100, 300_000) as i64
    } else {
        // Now and then more than there is.
        let reach = (owner.balance + owner.limit).max(0) as u64;
        let most = if random.chance(40) { reach * 2 + 10_000 } else { reach / 4 };
        -(random.between(1, most.max(1)) as i64)
    };
    let texts: &[&str] = if amount < 0 { &WITHDRAWAL_TEXTS } else { &DEPOSIT_TEXTS };
    let (day, time) = moment(index, plan.transactions);
    Record::<80>::new()
        .digits(1, 9, FIRST_REFERENCE + index)
        .digits(10, 8, FIRST_DAY + day)
        .digits(18, 6, time)
        .digits(24, 4, branch)
        .text(28, 1, "T")
        .digits(29, 5, branch * 10 + random.below(6))
        .digits(34, 10, account)
        .text(44, 1, if amount < 0 { "W" } else { "D" })
        .packed(45, 7, amount.abs())?
        .text(52, 24, random.pick(texts))
        .write_to(writer)?;
    bank.post(&Transaction { account, branch_known, amount });
    Ok(())
}

/// The day, from 0, and the time as HHMMSS of the transaction number `index` of `count`.
fn moment(index: u64, count: u64) -> (u64, u64) {
    let day = index * DAYS / count;
    // Those of a day are spread evenly over its business hours.
    let first = (day * count).div_ceil(DAYS);
    let next = ((day + 1) * count).div_ceil(DAYS);
    let second = (index - first) * BUSINESS_SECONDS / (next - first).max(1);
    let hour = OPENING_HOUR + second / 3_600;
    (day, hour * 10_000 + second / 60 % 60 * 100 + second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_forward() {
        for count in [1, 2, 7, 200, 50_000] {
            let moments: Vec<_> = (0..count).map(|index| moment(index, count)).collect();
            assert!(moments.is_sorted(), "{count} transactions");
            assert!(moments.iter().all(|(day, time)| *day < DAYS && *time < 160_000));
        }
    }
}
