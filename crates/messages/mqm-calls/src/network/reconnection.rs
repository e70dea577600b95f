//! Whether a connection that breaks is made again, and with how much patience.
//!
//! | asked | said by |
//! |---|---|
//! | first | the configuration of clients, `DefRecon`; without one the channel (`DefReconnect` of MQCD, `defaultReconnect` of a table): DISABLED holds whatever the program wants |
//! | then | the program: MQCNO_RECONNECT, MQCNO_RECONNECT_Q_MGR, MQCNO_RECONNECT_DISABLED |
//! | last | the first again, if the program says MQCNO_RECONNECT_AS_DEF |
//!
//! The configuration is a text of stanzas; this stanza counts, the others are passed over:
//!
//! ```text
//! CHANNELS:
//!    DefRecon=YES
//!    MQReconnectTimeout=1800
//!    ReconDelay=(1000,200)(2000,200)(4000,200)
//! ```
//!
//! 1. A value that is not understood is refused, not guessed.

use std::path::Path;
use std::time::Duration;

use queue_manager::Reason;

const RECONNECT: i32 = 0x100_0000;
const RECONNECT_DISABLED: i32 = 0x200_0000;
const RECONNECT_Q_MGR: i32 = 0x400_0000;
/// How long to try in all, in seconds.
const TIMEOUT_S: u64 = 1_800;
/// Milliseconds before a try, and how many more at most, by chance; the last goes on.
const DELAYS_MS: [(u64, u64); 6] =
    [(1_000, 200), (2_000, 200), (4_000, 200), (8_000, 200), (16_000, 200), (25_000, 200)];
/// The longest configuration.
const BYTES_MAX: u64 = 1 << 20;

/// What is said of making connections again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    No,
    Yes,
    /// To the same queue manager.
    SameManager,
    /// Never, whatever programs want.
    Disabled,
}

impl Wish {
    pub(super) fn of_number(number: i32) -> Option<Wish> {
        Some(match number {
            1 => Wish::Yes,
            2 => Wish::SameManager,
            3 => Wish::Disabled,
            _ => return None,
        })
    }

    pub(super) fn of_word(word: &str) -> Result<Wish, Reason> {
        Ok(match word.trim().to_ascii_uppercase().as_str() {
            "NO" => Wish::No,
            "YES" => Wish::Yes,
            "QMGR" | "QUEUEMANAGER" => Wish::SameManager,
            "DISABLED" => Wish::Disabled,
            _ => return Err(Reason::CHANNEL_CONFIG_ERROR),
        })
    }

    /// What options of a connect say; `None`: nothing.
    fn of_options(options: i32) -> Result<Option<Wish>, Reason> {
        match options & (RECONNECT | RECONNECT_DISABLED | RECONNECT_Q_MGR) {
            0 => Ok(None),
            RECONNECT => Ok(Some(Wish::Yes)),
            RECONNECT_DISABLED => Ok(Some(Wish::No)),
            RECONNECT_Q_MGR => Ok(Some(Wish::SameManager)),
            _ => Err(Reason::OPTIONS_ERROR),
        }
    }
}

/// How long to try, and how often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Patience {
    pub(crate) timeout: Duration,
    delays_ms: Vec<(u64, u64)>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { timeout: Duration::from_secs(TIMEOUT_S), delays_ms: DELAYS_MS.to_vec() }
    }
}

impl Patience {
    /// How long to wait before a try, the first being 0. That one is made soon: most queue
    /// managers that stopped a connection are there, or another one is.
    pub(crate) fn delay(&self, tried: usize, chance: u64) -> Duration {
        let (fixed, random) = match tried.checked_sub(1) {
            None => (0, self.delays_ms.first().map_or(0, |one| one.1)),
            Some(at) => {
                let at = at.min(self.delays_ms.len().saturating_sub(1));
                self.delays_ms.get(at).copied().unwrap_or_default()
            }
        };
        Duration::from_millis(fixed.saturating_add(chance % random.saturating_add(1)))
    }
}

/// What the configuration of clients says.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Configuration {
    wish: Option<Wish>,
    pub(crate) patience: Patience,
}

impl Configuration {
    /// That of a file; without one, what holds without one.
    #[allow(clippy::disallowed_methods)] // people's files are no part of a system
    pub(crate) fn read(file: Option<&Path>) -> Result<Configuration, Reason> {
        let Some(file) = file else { return Ok(Configuration::default()) };
        let bad = |_| Reason::CHANNEL_CONFIG_ERROR;
        if std::fs::metadata(file).map_err(bad)?.len() > BYTES_MAX {
            return Err(Reason::CHANNEL_CONFIG_ERROR);
        }
        Configuration::of(&std::fs::read_to_string(file).map_err(bad)?)
    }

    fn of(text: &str) -> Result<Configuration, Reason> {
        let bad = Reason::CHANNEL_CONFIG_ERROR;
        let mut found = Configuration::default();
        let mut is_ours = false;
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(stanza) = line.strip_suffix(':') {
                is_ours = stanza.eq_ignore_ascii_case("CHANNELS");
                continue;
            }
            let Some((name, value)) = line.split_once('=').filter(|_| is_ours) else { continue };
            let value = value.trim();
            match name.trim().to_ascii_uppercase().as_str() {
                "DEFRECON" => found.wish = Some(Wish::of_word(value)?),
                "MQRECONNECTTIMEOUT" => {
                    let seconds = value.parse::<u32>().map_err(|_| bad)?;
                    found.patience.timeout = Duration::from_secs(u64::from(seconds));
                }
                "RECONDELAY" => found.patience.delays_ms = delays(value).ok_or(bad)?,
                _ => {}
            }
        }
        Ok(found)
    }

    /// Whether a connection of these options and this channel is made again; if so, whether to
    /// the same queue manager alone.
    pub(crate) fn reconnects(
        &self,
        options: i32,
        channel: Option<Wish>,
    ) -> Result<Option<bool>, Reason> {
        let asked = Wish::of_options(options)?;
        let known = self.wish.or(channel);
        Ok(match (known, asked) {
            (Some(Wish::Disabled), _) => None,
            (known, asked) => match asked.or(known) {
                Some(Wish::Yes) => Some(false),
                Some(Wish::SameManager) => Some(true),
                None | Some(Wish::No | Wish::Disabled) => None,
            },
        })
    }
}

/// Pairs in parentheses: milliseconds, and how many more by chance.
fn delays(text: &str) -> Option<Vec<(u64, u64)>> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    while let Some(open) = rest.strip_prefix('(') {
        let (pair, after) = open.split_once(')')?;
        let (fixed, random) = pair.split_once(',').unwrap_or((pair, "0"));
        let number = |text: &str| text.trim().parse::<u32>().ok().map(u64::from);
        all.push((number(fixed)?, number(random)?));
        rest = after.trim_start();
    }
    (rest.is_empty() && !all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# ours\nTCP:\n  DefRecon=sometimes\nchannels:\n  DefRecon = QMGR\n\
        MQReconnectTimeout=5\nReconDelay=(10,0)(20, 5)\nOther=1\n";

    #[test]
    fn a_configuration_says_whether_and_how_patiently() {
        let found = Configuration::of(TEXT).unwrap();
        assert_eq!(found.wish, Some(Wish::SameManager));
        assert_eq!(found.patience.timeout, Duration::from_secs(5));
        let waits = |tried, chance| found.patience.delay(tried, chance).as_millis();
        assert_eq!((waits(0, 7), waits(1, 7), waits(2, 7), waits(9, 5)), (0, 10, 21, 25));
        for wrong in ["DefRecon=x", "MQReconnectTimeout=-1", "ReconDelay=1", "ReconDelay=(1,2"] {
            let text = format!("CHANNELS:\n{wrong}\n");
            assert_eq!(Configuration::of(&text), Err(Reason::CHANNEL_CONFIG_ERROR), "{wrong}");
        }
    }

    #[test]
    fn a_program_has_its_way_unless_that_is_disabled() {
        let none = Configuration::default();
        let of = |wish| Configuration { wish: Some(wish), ..Configuration::default() };
        assert_eq!(none.reconnects(0, None), Ok(None));
        assert_eq!(none.reconnects(0, Some(Wish::Yes)), Ok(Some(false)));
        assert_eq!(none.reconnects(RECONNECT_Q_MGR, Some(Wish::Yes)), Ok(Some(true)));
        assert_eq!(none.reconnects(RECONNECT_DISABLED, Some(Wish::Yes)), Ok(None));
        assert_eq!(of(Wish::SameManager).reconnects(0, Some(Wish::Yes)), Ok(Some(true)));
        assert_eq!(of(Wish::Disabled).reconnects(RECONNECT, None), Ok(None));
        assert_eq!(none.reconnects(RECONNECT, Some(Wish::Disabled)), Ok(None));
        let both = RECONNECT | RECONNECT_DISABLED;
        assert_eq!(none.reconnects(both, None), Err(Reason::OPTIONS_ERROR));
    }
}
