//! IRM_TIMER: how long a client waits.

use std::time::Duration;

/// What a timer's byte means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// 00, or a value that means nothing: the server's own.
    Default,
    /// 01 to 9E.
    After(Duration),
    /// E9: nothing is waited for.
    NoWait,
    /// FF: for ever.
    Forever,
}

impl Timer {
    /// The meaning of a byte.
    ///
    /// | byte | meaning |
    /// |---|---|
    /// | 01-19 | 0.01 to 0.25 seconds |
    /// | 1A-27 | 0.30 to 0.95 seconds |
    /// | 28-63 | 1 to 60 seconds |
    /// | 64-9E | 1 minute more each, from 1 minute |
    #[must_use]
    pub fn of(byte: u8) -> Timer {
        let value = u64::from(byte);
        match byte {
            0x01..=0x19 => Timer::After(Duration::from_millis(value * 10)),
            0x1a..=0x27 => Timer::After(Duration::from_millis(300 + (value - 0x1a) * 50)),
            0x28..=0x63 => Timer::After(Duration::from_secs(value - 0x27)),
            0x64..=0x9e => Timer::After(Duration::from_secs(60 * (value - 0x63))),
            0xe9 => Timer::NoWait,
            0xff => Timer::Forever,
            _ => Timer::Default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_of_the_table_means_what_it_says() {
        let millis = |byte| match Timer::of(byte) {
            Timer::After(time) => time.as_millis(),
            other => panic!("{byte:02x} is {other:?}"),
        };
        assert_eq!([millis(0x01), millis(0x19)], [10, 250]);
        assert_eq!([millis(0x1a), millis(0x27)], [300, 950]);
        assert_eq!([millis(0x28), millis(0x63)], [1_000, 60_000]);
        assert_eq!([millis(0x64), millis(0x9e)], [60_000, 59 * 60_000]);
        assert_eq!(Timer::of(0xe9), Timer::NoWait);
        assert_eq!(Timer::of(0xff), Timer::Forever);
        for byte in [0x00, 0x9f, 0xe8, 0xfe] {
            assert_eq!(Timer::of(byte), Timer::Default);
        }
    }
}
