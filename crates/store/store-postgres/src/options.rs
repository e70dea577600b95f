//! Where the engine is and how the store behaves towards it.

use std::sync::Arc;
use std::time::Duration;

use seal::KeyProvider;
use store::{Result, StoreError};
use tokio_postgres::Config;

use crate::error::EngineError;

/// With which keys values are sealed before they leave the process.
#[derive(Clone)]
pub struct Sealing {
    /// Where the data keys come from.
    pub keys: Arc<dyn KeyProvider>,
    /// Their label.
    pub label: String,
    /// The identity that the store in the engine must have; another one is refused. `None` trusts
    /// what the engine says.
    pub identity: Option<[u8; 16]>,
}

/// How a store uses its engine.
#[derive(Clone)]
pub struct EngineOptions {
    /// The schema that holds the store.
    pub schema: String,
    /// How this system is called in displays.
    pub system: String,
    /// Connections for calls and commits; as many again for units of work that read sets under
    /// [`Locking::Keys`](store::Locking).
    pub connections_max: usize,
    /// How long one exchange with the engine may take, connecting included.
    pub answer_within: Duration,
    /// How long a call waits for a free connection.
    pub connection_within: Duration,
    /// How long a commit whose answer was lost asks what became of it before it answers
    /// [`StoreError::CommitUnknown`].
    pub resolve_within: Duration,
    /// How old a unit of work may become.
    pub unit_age_max: Duration,
    /// Bytes that a unit of work may change: it stands in memory until it commits.
    pub unit_bytes_max: u64,
    /// Changes that a unit of work may make.
    pub unit_writes_max: u64,
    /// What seals the values; `None` keeps them in the clear.
    pub sealing: Option<Sealing>,
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            schema: "holdfast".into(),
            system: "holdfast".into(),
            connections_max: 16,
            answer_within: Duration::from_secs(30),
            connection_within: Duration::from_secs(10),
            resolve_within: Duration::from_secs(10),
            unit_age_max: Duration::from_secs(3_600),
            unit_bytes_max: 64 << 20,
            unit_writes_max: 100_000,
            sealing: None,
        }
    }
}

/// How connections are protected.
#[derive(Clone)]
pub(crate) enum Protection {
    /// Not at all: `sslmode=disable`, or a Unix socket.
    None,
    /// By TLS, with a certificate that was checked.
    Tls(tokio_postgres_rustls::MakeRustlsConnect),
}

/// An address that was read: where the engine is, and how connections to it are protected.
#[derive(Clone)]
pub(crate) struct Address {
    /// Where it may be, a host each: whoever leads is the one that is meant.
    pub(crate) hosts: Vec<Config>,
    pub(crate) protection: Protection,
}

impl Address {
    /// Reads `postgres://...` with its parameters. `sslmode` is `disable` or one of `require`,
    /// `verify-ca` and `verify-full`, which all check certificate and name; without it there is
    /// TLS to every host that is not a Unix socket. `sslrootcert` names the authorities.
    pub(crate) fn read(url: &str) -> Result<Address> {
        let wrong = |why: String| StoreError::beneath(EngineError::Address(why));
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(wrong("it does not begin with postgres://".into()));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut authorities, mut rest) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => authorities = Some(unescaped(value)),
                _ => rest.push(pair),
            }
        }
        let plain = |base: String| {
            let url = format!("{base}?{}", rest.join("&"));
            let read = url.trim_end_matches('?').parse::<Config>();
            let mut config = read.map_err(|error| wrong(error.to_string()))?;
            crate::password::add(&mut config)?;
            Ok::<_, StoreError>(config)
        };
        let mut hosts = hosts_of(base).into_iter().map(plain).collect::<Result<Vec<_>>>()?;
        let sockets = hosts
            .iter()
            .flat_map(Config::get_hosts)
            .all(|host| matches!(host, tokio_postgres::config::Host::Unix(_)));
        let wants_tls = match mode {
            Some("disable") => false,
            Some("require" | "verify-ca" | "verify-full") => true,
            None => !sockets,
            Some(other) => return Err(wrong(format!("sslmode {other} is not offered"))),
        };
        use tokio_postgres::config::{SslMode, TargetSessionAttrs};
        for config in &mut hosts {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
            config.ssl_mode(if wants_tls { SslMode::Require } else { SslMode::Disable });
        }
        let protection = match wants_tls {
            false => Protection::None,
            true => Protection::Tls(tls(authorities.as_deref())?),
        };
        Ok(Address { hosts, protection })
    }
}

/// The address of each host of `postgres://USER@HOST:PORT,HOST:PORT/DATABASE`.
fn hosts_of(base: &str) -> Vec<String> {
    let begin = base.find("://").map_or(0, |at| at + 3);
    let end = base[begin..].find('/').map_or(base.len(), |at| begin + at);
    let begin = base[begin..end].rfind('@').map_or(begin, |at| begin + at + 1);
    let whole = |host: &str| format!("{}{host}{}", &base[..begin], &base[end..]);
    base[begin..end].split(',').map(whole).collect()
}

/// Percent escapes undone, as paths in an address have them.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, tail)) = rest.split_first() {
        let hex = |at: usize| tail.get(at).and_then(|digit| (*digit as char).to_digit(16));
        match (first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where Debian keeps the authorities that it trusts.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

#[allow(clippy::disallowed_methods)] // the machine's file, or people's; no part of a system
fn tls(authorities: Option<&str>) -> Result<tokio_postgres_rustls::MakeRustlsConnect> {
    let path = authorities.unwrap_or(AUTHORITIES);
    let wrong = |why: String| StoreError::beneath(EngineError::Tls(format!("{path}: {why}")));
    let roots = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let trust = tls::Trust { roots: &roots, own: None };
    let config = trust.connector().map_err(|error| wrong(error.to_string()))?;
    Ok(tokio_postgres_rustls::MakeRustlsConnect::new(config.as_ref().clone()))
}

/// A name that can stand in SQL as it is.
pub(crate) fn checked_schema(schema: &str) -> Result<&str> {
    let good = schema.len() <= 63
        && schema.starts_with(|first: char| first.is_ascii_lowercase())
        && schema.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if good {
        return Ok(schema);
    }
    let why = format!("{schema:?} is no schema of small letters, digits and underscores");
    Err(StoreError::beneath(EngineError::Address(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_gets_tls_and_a_socket_does_not_unless_told_otherwise() {
        let tls_of = |url: &str| match Address::read(url).map(|address| address.protection) {
            Ok(Protection::None) => "plain",
            Ok(Protection::Tls(_)) => "tls",
            Err(_) => "refused",
        };
        assert_eq!(tls_of("postgres://me@%2Ftmp%2Fpg/db"), "plain");
        assert_eq!(tls_of("postgres://me@db.example/db?sslmode=disable"), "plain");
        assert_eq!(tls_of("postgres://me@db.example/db?sslmode=prefer"), "refused");
        assert_eq!(tls_of("postgres://me@db.example/db?sslrootcert=%2Fnot%2Fthere"), "refused");
        assert_eq!(tls_of("mysql://me@db.example/db"), "refused");
        assert_eq!(unescaped("%2Ftmp%2fx%"), "/tmp/x%");
    }

    #[test]
    fn every_host_of_an_address_has_the_rest_of_it() {
        let all = hosts_of("postgres://me:a@one:1,two,three:3/db");
        assert_eq!(
            all,
            ["postgres://me:a@one:1/db", "postgres://me:a@two/db", "postgres://me:a@three:3/db"]
        );
        assert_eq!(hosts_of("postgres://one,two"), ["postgres://one", "postgres://two"]);
        assert_eq!(hosts_of("postgres:///db"), ["postgres:///db"]);
    }

    #[test]
    fn a_schema_is_a_plain_name() {
        assert!(checked_schema("holdfast_1").is_ok());
        for bad in ["", "Holdfast", "1st", "a b", "a\"b", "a;b", &"a".repeat(64)] {
            assert!(checked_schema(bad).is_err(), "{bad}");
        }
    }
}
