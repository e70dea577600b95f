//! Who asks, and whether they may: passwords, tokens, certificates; administrators.
//!
//! 1. Nothing is answered without a user, but for the login itself; while a system has no users, a
//!    client on this machine is one, if it names this machine as the host: a page of a browser that
//!    was led here by another name is not.
//! 2. A request that changes something carries the header [`CSRF`], which no page of a browser can
//!    add for another site; its value is of no account.
//! 3. A password is hashed by two threads at a time. One that was right is remembered for a minute
//!    as a keyed digest, as long as the user's entry is the same.
//! 4. Without TLS, passwords come from this machine alone, unless the settings trust the network.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_door::Peer;
use seam::clock::Clock;
use seam::sync::Mutex;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::error::{Problem, id};
use crate::token::{Proven, Tokens};

/// The header that a request has to have that changes something.
pub(crate) const CSRF: &str = "ibm-mq-rest-csrf-token";
/// The cookie of a token.
pub(crate) const COOKIE: &str = "LtpaToken2";
/// How long a password that was right is remembered, in seconds.
const REMEMBERED_S: u64 = 60;
/// How many are.
const REMEMBERED_MAX: usize = 1_024;
/// Passwords that are hashed at a time.
const CHECKS_MAX: usize = 2;
/// Bytes of the longest user or password.
const SECRET_BYTES_MAX: usize = 1_024;

/// Who knows users. Answers are the names of users of the queue manager.
pub trait Authenticator: Send + Sync + 'static {
    /// The user with that name, if it is their password. It takes its time.
    fn password(&self, user: &str, password: &[u8]) -> Option<String>;

    /// What changes when a user's password does; `None`: there is no such user.
    fn mark(&self, user: &str) -> Option<u64>;

    /// The user of a client certificate, in DER: by default its common name in capital letters, if
    /// there is such a user.
    fn certificate(&self, certificate: &[u8]) -> Option<String> {
        let user = tls::user(certificate)?;
        self.mark(&user).map(|_| user)
    }

    /// The user that a client on this machine is while there are no users; `None`: there are.
    fn nobody(&self) -> Option<String>;

    /// Whether a user may administer the queue manager.
    fn is_administrator(&self, user: &str) -> bool;
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) administrator: bool,
    /// Where from.
    pub(crate) address: String,
}

/// Lets users in.
pub(crate) struct Gate {
    authenticator: Arc<dyn Authenticator>,
    pub(crate) tokens: Tokens,
    clock: Arc<dyn Clock>,
    checks: Arc<Semaphore>,
    remembered: Mutex<BTreeMap<[u8; 32], (Proven, u64)>>,
    clear_passwords: bool,
}

impl Gate {
    pub(crate) fn new(
        authenticator: Arc<dyn Authenticator>,
        tokens: Tokens,
        clock: Arc<dyn Clock>,
        clear_passwords: bool,
    ) -> Gate {
        Gate {
            authenticator,
            tokens,
            clock,
            checks: Arc::new(Semaphore::new(CHECKS_MAX)),
            remembered: Mutex::default(),
            clear_passwords,
        }
    }

    fn user(&self, name: String, peer: &Peer) -> User {
        let administrator = self.authenticator.is_administrator(&name);
        User { name, administrator, address: peer.address.ip().to_string() }
    }

    /// Finds out who it is.
    pub(crate) async fn admit(&self, headers: &HeaderMap, peer: &Peer) -> Result<User, Problem> {
        if let Some((user, password)) = basic(headers)? {
            let proven = self.prove(&user, password, peer).await?;
            return Ok(self.user(proven.user, peer));
        }
        if let Some(token) = token(headers) {
            let proven = self.tokens.check(token).filter(|proven| self.is_current(proven));
            let text = "The authentication token failed verification.";
            let bad = || Problem::unauthenticated(id::BAD_TOKEN, text);
            return proven.map(|proven| self.user(proven.user, peer)).ok_or_else(bad);
        }
        if let Some(certificate) = &peer.certificate
            && let Some(user) = self.authenticator.certificate(certificate)
        {
            return Ok(self.user(user, peer));
        }
        let unknown =
            || Problem::unauthenticated(id::NOT_AUTHENTICATED, "The request is not authenticated.");
        let name = self.authenticator.nobody().filter(|_| is_here(peer)).ok_or_else(unknown)?;
        if !names_this_machine(headers) {
            let message = "Requests without a user name this machine as their host.";
            return Err(Problem::new(StatusCode::FORBIDDEN, id::FOREIGN_HOST, message)
                .because("The host of the request is another name than localhost.")
                .action("Address the request to localhost, or define a user."));
        }
        let address = peer.address.ip().to_string();
        Ok(User { name, administrator: true, address })
    }

    fn is_current(&self, proven: &Proven) -> bool {
        self.authenticator.mark(&proven.user) == Some(proven.mark)
    }

    /// Checks a password.
    pub(crate) async fn prove(
        &self,
        user: &str,
        password: Zeroizing<Vec<u8>>,
        peer: &Peer,
    ) -> Result<Proven, Problem> {
        if !peer.secured && !self.clear_passwords && !is_here(peer) {
            let message = "Passwords are not taken over a connection that others can read.";
            return Err(Problem::new(StatusCode::FORBIDDEN, id::NOT_AUTHENTICATED, message)
                .because("The request came from another machine, without TLS.")
                .action("Use HTTPS."));
        }
        let wrong = || {
            let text = "The request is not authenticated: the user or the password is wrong.";
            Problem::unauthenticated(id::NOT_AUTHENTICATED, text)
        };
        if user.is_empty() || user.len().max(password.len()) > SECRET_BYTES_MAX {
            return Err(wrong());
        }
        let digest = self.tokens.digest(user, &password);
        if let Some(proven) = self.remembers(&digest) {
            return Ok(proven);
        }
        let busy = || Problem::busy("Users cannot be checked now.");
        let turn = Arc::clone(&self.checks).acquire_owned().await.map_err(|_| busy())?;
        let (authenticator, asked) = (Arc::clone(&self.authenticator), user.to_owned());
        let checked = tokio::task::spawn_blocking(move || {
            // Kept to the end of the work, also if its client has gone.
            let _turn = turn;
            let user = authenticator.password(&asked, &password)?;
            let mark = authenticator.mark(&user)?;
            Some(Proven { user, mark })
        });
        let proven = checked.await.map_err(|_| busy())?.ok_or_else(wrong)?;
        self.remember(digest, &proven);
        Ok(proven)
    }

    fn remembers(&self, digest: &[u8; 32]) -> Option<Proven> {
        let now = self.clock.monotonic().as_secs();
        let found = self.remembered.lock().get(digest).cloned();
        let (proven, _) = found.filter(|(_, until)| now < *until)?;
        self.is_current(&proven).then_some(proven)
    }

    fn remember(&self, digest: [u8; 32], proven: &Proven) {
        let now = self.clock.monotonic().as_secs();
        let mut remembered = self.remembered.lock();
        remembered.retain(|_, (_, until)| now < *until);
        if remembered.len() < REMEMBERED_MAX {
            remembered.insert(digest, (proven.clone(), now + REMEMBERED_S));
        }
    }
}

/// A user and a password.
type Credentials = (String, Zeroizing<Vec<u8>>);

/// User and password of a header.
fn basic(headers: &HeaderMap) -> Result<Option<Credentials>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let bad = || {
        let text = "The request is not authenticated: its authorization cannot be read.";
        Problem::unauthenticated(id::NOT_AUTHENTICATED, text)
    };
    let text = value.to_str().map_err(|_| bad())?;
    let (scheme, credentials) = text.split_once(' ').ok_or_else(bad)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(bad());
    }
    let bytes = Zeroizing::new(STANDARD.decode(credentials.trim()).map_err(|_| bad())?);
    let colon = bytes.iter().position(|byte| *byte == b':').ok_or_else(bad)?;
    let user = std::str::from_utf8(&bytes[..colon]).map_err(|_| bad())?.to_owned();
    Ok(Some((user, Zeroizing::new(bytes[colon + 1..].to_vec()))))
}

/// The token of a cookie.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|one| one.split_once('='));
    let found = pairs.find(|(name, _)| name.trim().starts_with(COOKIE));
    found.map(|(_, value)| value.trim().trim_matches('"'))
}

/// Whether a client is on this machine.
fn is_here(peer: &Peer) -> bool {
    peer.address.ip().to_canonical().is_loopback()
}

/// Whether the host of a request is this machine's own name for itself.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
        // A client of version 1.0; browsers always say it.
        return true;
    };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let address = name.parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn with(name: header::HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        headers
    }

    #[test]
    fn credentials_are_read_or_refused() {
        // anna:se:cret
        let read = basic(&with(header::AUTHORIZATION, "basic YW5uYTpzZTpjcmV0")).unwrap().unwrap();
        assert_eq!((&*read.0, &read.1[..]), ("anna", &b"se:cret"[..]));
        for bad in ["Basic", "Bearer abc", "Basic !!", "Basic YW5uYQ=="] {
            assert!(basic(&with(header::AUTHORIZATION, bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_token_is_found_among_cookies() {
        let headers = with(header::COOKIE, "a=b; LtpaToken2_17=\"xyz\"; c=d");
        assert_eq!(token(&headers), Some("xyz"));
        assert_eq!(token(&with(header::COOKIE, "a=b")), None);
    }

    #[test]
    fn hosts_of_this_machine_are_told_from_others() {
        for here in ["localhost", "LOCALHOST:9443", "127.0.0.1:1", "[::1]:9443", "127.1.2.3"] {
            assert!(names_this_machine(&with(header::HOST, here)), "{here}");
        }
        for there in ["example.com", "localhost.example.com:80", "10.0.0.1", "[::2]:1", ""] {
            assert!(!names_this_machine(&with(header::HOST, there)), "{there}");
        }
    }
}
