//! Tokens: what a login gives, and what a later request shows instead of a password.
//!
//! | bytes of a token, in URL-safe base 64 | |
//! |---|---|
//! | 1 | version, 1 |
//! | 8 | when it ends, in seconds of this process's clock |
//! | 16 | random |
//! | 8 | the mark of the user's entry when it was given |
//! | n | the user |
//! | 32 | HMAC-SHA-256 of all that stands before |
//!
//! 1. The key is drawn when the process starts and leaves it nowhere: a restart ends every token.
//! 2. A token of a user who was removed since, or has another password, is none.
//! 3. A logout ends its token; too many of them at once end all tokens.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use seam::clock::Clock;
use seam::entropy::Entropy;
use seam::sync::Mutex;

/// How long a token lives.
pub(crate) const LIFE: Duration = Duration::from_secs(2 * 60 * 60);
const VERSION: u8 = 1;
const HEAD: usize = 1 + 8 + 16 + 8;
const TAG: usize = 32;
/// No token is longer.
const TOKEN_CHARACTERS_MAX: usize = 512;
/// Logouts that are remembered.
const ENDED_MAX: usize = 100_000;

/// A user, and the mark of the entry that proved them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proven {
    pub(crate) user: String,
    pub(crate) mark: u64,
}

/// Gives tokens and knows them again.
pub(crate) struct Tokens {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    state: Mutex<State>,
}

struct State {
    key: hmac::Key,
    /// Tokens that were given back, by what is random in them, with their ends.
    ended: BTreeMap<[u8; 16], u64>,
}

fn key(entropy: &dyn Entropy) -> io::Result<hmac::Key> {
    let mut bytes = zeroize::Zeroizing::new([0; 32]);
    entropy.fill(&mut *bytes)?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &*bytes))
}

impl Tokens {
    pub(crate) fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> io::Result<Tokens> {
        let state = State { key: key(&*entropy)?, ended: BTreeMap::new() };
        Ok(Tokens { clock, entropy, state: Mutex::new(state) })
    }

    fn now(&self) -> u64 {
        self.clock.monotonic().as_secs()
    }

    /// A new token.
    pub(crate) fn give(&self, proven: &Proven) -> io::Result<String> {
        let mut random = [0; 16];
        self.entropy.fill(&mut random)?;
        let end = self.now() + LIFE.as_secs();
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&end.to_le_bytes());
        bytes.extend_from_slice(&random);
        bytes.extend_from_slice(&proven.mark.to_le_bytes());
        bytes.extend_from_slice(proven.user.as_bytes());
        let tag = hmac::sign(&self.state.lock().key, &bytes);
        bytes.extend_from_slice(tag.as_ref());
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    fn open(&self, token: &str) -> Option<([u8; 16], u64, Proven)> {
        if token.len() > TOKEN_CHARACTERS_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (signed, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG)?)?;
        hmac::verify(&self.state.lock().key, signed, tag).ok()?;
        let (head, user) = signed.split_at_checked(HEAD)?;
        let number = |at: usize| Some(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?));
        let (end, mark) = (number(1)?, number(25)?);
        let random: [u8; 16] = head.get(9..25)?.try_into().ok()?;
        let user = std::str::from_utf8(user).ok()?.to_owned();
        (head[0] == VERSION && self.now() < end).then_some((random, end, Proven { user, mark }))
    }

    /// Whose token it is; `None` if it is none, or none any more.
    pub(crate) fn check(&self, token: &str) -> Option<Proven> {
        let (random, _, proven) = self.open(token)?;
        (!self.state.lock().ended.contains_key(&random)).then_some(proven)
    }

    /// Ends a token.
    pub(crate) fn end(&self, token: &str) -> io::Result<()> {
        let Some((random, end, _)) = self.open(token) else { return Ok(()) };
        let now = self.now();
        let mut state = self.state.lock();
        state.ended.retain(|_, end| *end > now);
        if state.ended.len() >= ENDED_MAX {
            state.key = key(&*self.entropy)?;
            state.ended.clear();
        }
        state.ended.insert(random, end);
        Ok(())
    }

    /// What stands for a user and a password while they are remembered.
    pub(crate) fn digest(&self, user: &str, password: &[u8]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.state.lock().key);
        context.update(&(user.len() as u64).to_le_bytes());
        context.update(user.as_bytes());
        context.update(password);
        let mut digest = [0; 32];
        digest.copy_from_slice(context.sign().as_ref());
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct FakeClock(AtomicU64);

    impl Clock for FakeClock {
        fn monotonic(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::Relaxed))
        }

        fn utc_us(&self) -> u64 {
            0
        }

        fn sleep(&self, _: Duration) {}
    }

    #[test]
    fn a_token_is_whole_or_none_and_ends() {
        let clock = Arc::new(FakeClock(AtomicU64::new(5)));
        let entropy = Arc::new(seam::entropy::OsEntropy);
        let tokens = Tokens::new(clock.clone(), entropy.clone()).unwrap();
        let anna = Proven { user: "ANNA".into(), mark: 7 };
        let token = tokens.give(&anna).unwrap();
        assert_eq!(tokens.check(&token), Some(anna.clone()));
        for at in 0..token.len() {
            let mut other = token.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert!(tokens.check(&other).is_none_or(|_| other == token), "{at}");
        }
        let others = Tokens::new(clock.clone(), entropy).unwrap();
        assert_eq!(others.check(&token), None, "another process has another key");
        let second = tokens.give(&anna).unwrap();
        tokens.end(&token).unwrap();
        assert_eq!((tokens.check(&token), tokens.check(&second)), (None, Some(anna)));
        clock.0.store(5 + LIFE.as_secs(), Ordering::Relaxed);
        assert_eq!(tokens.check(&second), None);
        assert_eq!(tokens.check(""), None);
    }
}
