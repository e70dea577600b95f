//! Moments as programs see them: dates and times in packed decimal (DLI-4), and the
//! time stamps of checkpoints.
//!
//! | | bytes | digits and sign |
//! |---|---|---|
//! | date | 4 | 0 0 y y d d d F |
//! | time | 4 | H H M M S S t F |
//! | stamp: date | 4 | y y y y d d d F |
//! | stamp: time | 6 | H H M M S S t h m i j u |
//! | stamp: offset from UTC | 2 | hours 2, quarters of an hour 1, C east or D west |
//!
//! Invariants:
//! 1. All of it is local time, as the machine has it.

use base::calendar::Date;
use region::IoFeedback;
use seam::clock::Clock;

/// A moment, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    year: u64,
    /// From 1.
    day: u64,
    /// Within the day.
    second: u64,
    micro: u64,
    /// Seconds that the local clock is ahead of UTC.
    offset: i32,
}

impl Moment {
    /// Now, by the local clock.
    #[must_use]
    pub fn now(clock: &dyn Clock) -> Moment {
        let utc = clock.utc_us();
        Moment::new(utc, clock.offset_s(utc))
    }

    /// Microseconds since 1970-01-01 UTC, by a clock that is `offset` seconds ahead of UTC.
    #[must_use]
    pub fn new(utc_us: u64, offset: i32) -> Moment {
        let micros = utc_us.saturating_add_signed(i64::from(offset) * 1_000_000);
        let seconds = micros / 1_000_000;
        let date = Date::of_second(seconds);
        let (year, day) = (date.year.cast_unsigned(), date.day_of_year().cast_unsigned());
        Moment { year, day, second: seconds % 86_400, micro: micros % 1_000_000, offset }
    }

    /// The year and its day, from 1.
    #[must_use]
    pub fn day(self) -> (u64, u64) {
        (self.year, self.day)
    }

    /// Hours, minutes and seconds.
    #[must_use]
    pub fn clock(self) -> (u64, u64, u64) {
        (self.second / 3_600, self.second / 60 % 60, self.second % 60)
    }

    /// HHMMSS.
    fn clock_digits(self) -> u64 {
        let (hours, minutes, seconds) = self.clock();
        hours * 10_000 + minutes * 100 + seconds
    }

    /// Has the I/O PCB show it.
    pub fn show(self, io: &mut IoFeedback) {
        io.date = self.date();
        io.time = self.time();
        io.stamp = self.stamp();
    }

    fn date(self) -> [u8; 4] {
        packed(self.year % 100 * 1_000 + self.day, 0x0f)
    }

    fn time(self) -> [u8; 4] {
        packed(self.clock_digits() * 10 + self.micro / 100_000, 0x0f)
    }

    fn stamp(self) -> [u8; 12] {
        let quarters = u64::from(self.offset.unsigned_abs() / 900);
        let sign = if self.offset < 0 { 0x0d } else { 0x0c };
        let mut stamp = [0; 12];
        stamp[..4].copy_from_slice(&packed::<4>(self.year * 1_000 + self.day, 0x0f));
        stamp[4..10].copy_from_slice(&digits::<6>(self.clock_digits() * 1_000_000 + self.micro));
        stamp[10..].copy_from_slice(&packed::<2>(quarters / 4 * 10 + quarters % 4, sign));
        stamp
    }

    /// The time stamp of a checkpoint: 0000, day of the year, HHMMSST.
    pub(crate) fn checkpoint(self) -> [u8; 14] {
        let tenth = self.micro / 100_000;
        let text = format!("0000{:03}{:06}{tenth}", self.day, self.clock_digits());
        let mut stamp = [b'0'; 14];
        for (place, byte) in stamp.iter_mut().zip(text.bytes()) {
            *place = byte;
        }
        stamp
    }
}

/// Decimal digits, two a byte.
fn digits<const N: usize>(mut value: u64) -> [u8; N] {
    let mut out = [0; N];
    for byte in out.iter_mut().rev() {
        *byte = (value / 10 % 10 * 16 + value % 10) as u8;
        value /= 100;
    }
    out
}

/// Decimal digits with a sign behind them.
fn packed<const N: usize>(value: u64, sign: u8) -> [u8; N] {
    let mut out = digits::<N>(value * 10);
    if let Some(last) = out.last_mut() {
        *last |= sign;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-12-31 23:30:15.123456 UTC.
    const NEW_YEARS_EVE: u64 = 1_735_687_815_123_456;

    #[test]
    fn dates_and_times_are_local_and_packed() {
        let utc = Moment::new(NEW_YEARS_EVE, 0);
        assert_eq!(utc.date(), [0x00, 0x24, 0x36, 0x6f]);
        assert_eq!(utc.time(), [0x23, 0x30, 0x15, 0x1f]);
        assert_eq!(
            utc.stamp(),
            [0x20, 0x24, 0x36, 0x6f, 0x23, 0x30, 0x15, 0x12, 0x34, 0x56, 0x00, 0x0c]
        );
        let delhi = Moment::new(NEW_YEARS_EVE, 19_800);
        assert_eq!(delhi.date(), [0x00, 0x25, 0x00, 0x1f]);
        assert_eq!(delhi.time(), [0x05, 0x00, 0x15, 0x1f]);
        assert_eq!(delhi.stamp()[10..], [0x05, 0x2c]);
        let halifax = Moment::new(NEW_YEARS_EVE, -14_400);
        assert_eq!(halifax.time(), [0x19, 0x30, 0x15, 0x1f]);
        assert_eq!(halifax.stamp()[10..], [0x04, 0x0d]);
    }

    #[test]
    fn a_checkpoint_has_day_and_time() {
        assert_eq!(&Moment::new(NEW_YEARS_EVE, 0).checkpoint(), b"00003662330151");
        assert_eq!(&Moment::new(0, 0).checkpoint(), b"00000010000000");
    }
}
