//! What of a system is open to others, by its configuration: listeners that other machines reach,
//! who comes in without a name or as an administrator, whose certificates are believed, which
//! libraries are loaded. The control file binds it, as it binds what bytes must prove.
//!
//! | setting | what is bound |
//! |---|---|
//! | addresses | those that other machines reach, and whether they are with TLS |
//! | `anonymous`, `clear_passwords` | that they are set |
//! | `administrators` | each name |
//! | `tls_certificate`, `tls_key` | their paths: certificates are renewed |
//! | `tls_clients`, `tls_partners`, `exits` | their paths and their bytes |
//!
//! Invariants:
//! 1. The first start with this release that opens its doors binds what they are; from then on a
//!    configuration that opens more opens nothing, until `holdfast protect --accept` has bound it.
//! 2. A start that opens less binds that, when its doors are open.
//! 3. Only digests are bound: what is closed again is not shown, what is new is.

use std::collections::BTreeSet;
use std::net::ToSocketAddrs as _;
use std::path::Path;

use uow::{Lowered, Opening, Protection};

use crate::SystemConfig;

/// Something that a configuration opens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Open {
    setting: String,
    what: String,
}

impl Open {
    fn new(section: &str, name: &str, what: impl Into<String>) -> Open {
        Open { setting: format!("[{section}] {name}"), what: what.into() }
    }

    fn digest(&self) -> Opening {
        let text = format!("{}\0{}", self.setting, self.what);
        let mut short = [0; 16];
        short.copy_from_slice(&seal::sha256(text.as_bytes())[..16]);
        Opening(short)
    }
}

/// What a configuration opens, of a system in `dir`.
pub(crate) fn of(config: &SystemConfig, dir: &Path) -> Vec<Open> {
    let (online, amqp, rest, channels, mqi) =
        (&config.online, &config.amqp, &config.rest, &config.channels, &config.mqi);
    let mut all = Vec::new();
    let secured = match (is_given(&online.tls_certificate), is_given(&online.tls_clients)) {
        (false, _) => "without TLS",
        (true, false) => "with TLS",
        (true, true) => "with TLS, for clients with a certificate",
    };
    let metrics: Vec<String> = [online.metrics.clone()].into();
    let partners = if is_given(&channels.tls_certificate) { "with TLS" } else { "without TLS" };
    let listeners = [
        ("online", "ims_connect", &online.ims_connect, secured),
        ("online", "records", &online.records, secured),
        ("online", "metrics", &metrics, "without TLS"),
        ("amqp", "listen", &amqp.listen, "without TLS"),
        ("amqp", "tls", &amqp.tls, "with TLS"),
        ("rest", "listen", &rest.listen, "without TLS"),
        ("rest", "tls", &rest.tls, "with TLS"),
        ("channels", "listen", &channels.listen, partners),
        ("mqi", "listen", &mqi.listen, "with TLS"),
    ];
    for (section, name, addresses, secured) in listeners {
        let reached = addresses.iter().filter(|address| is_reached(address));
        all.extend(reached.map(|at| Open::new(section, name, format!("{at} {secured}"))));
    }
    let switches = [
        ("online", "anonymous", online.anonymous),
        ("amqp", "anonymous", amqp.anonymous),
        ("rest", "clear_passwords", rest.clear_passwords),
    ];
    let set = switches.into_iter().filter(|(_, _, is_set)| *is_set);
    all.extend(set.map(|(section, name, _)| Open::new(section, name, "true")));
    let administrators = rest.administrators.iter();
    all.extend(administrators.map(|who| Open::new("rest", "administrators", who)));
    let paths = [
        ("online", "tls_certificate", &online.tls_certificate),
        ("online", "tls_key", &online.tls_key),
        ("amqp", "tls_certificate", &amqp.tls_certificate),
        ("amqp", "tls_key", &amqp.tls_key),
        ("rest", "tls_certificate", &rest.tls_certificate),
        ("rest", "tls_key", &rest.tls_key),
        ("channels", "tls_certificate", &channels.tls_certificate),
        ("channels", "tls_key", &channels.tls_key),
        ("mqi", "tls_certificate", &mqi.tls_certificate),
        ("mqi", "tls_key", &mqi.tls_key),
    ];
    let given = paths.into_iter().filter(|(_, _, path)| is_given(path));
    all.extend(given.map(|(section, name, path)| Open::new(section, name, path.to_string_lossy())));
    let files = [
        ("online", "tls_clients", &online.tls_clients),
        ("amqp", "tls_clients", &amqp.tls_clients),
        ("rest", "tls_clients", &rest.tls_clients),
        ("mqi", "tls_clients", &mqi.tls_clients),
        ("channels", "tls_partners", &channels.tls_partners),
    ];
    let exits = online.exits.iter().map(|path| ("online", "exits", path));
    let files = files.into_iter().chain(exits).filter(|(_, _, path)| is_given(path));
    all.extend(files.map(|(section, name, path)| Open::new(section, name, contents(dir, path))));
    all
}

fn is_given(path: &Path) -> bool {
    !path.as_os_str().is_empty()
}

/// Whether other machines reach an address; one that leads nowhere now may do so later.
fn is_reached(address: &str) -> bool {
    let is_local = |found: std::vec::IntoIter<std::net::SocketAddr>| {
        found.into_iter().all(|at| at.ip().to_canonical().is_loopback())
    };
    !address.is_empty() && !address.to_socket_addrs().is_ok_and(is_local)
}

/// A file with what is in it.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn contents(dir: &Path, path: &Path) -> String {
    let shown = path.to_string_lossy();
    match std::fs::read(dir.join(path)) {
        Ok(bytes) => {
            format!("{shown}, SHA-256 {}", base::hex::lower(&seal::sha256(&bytes)))
        }
        // Whoever needs it says so; there is nothing in it that could do harm.
        Err(_) => format!("{shown}, which cannot be read"),
    }
}

/// What a configuration asks to have bound.
pub(crate) fn asked(config: &SystemConfig, dir: &Path) -> BTreeSet<Opening> {
    of(config, dir).iter().map(Open::digest).collect()
}

/// What a configuration opens that is not bound.
pub(crate) fn lowered(bound: &Protection, config: &SystemConfig, dir: &Path) -> Vec<Lowered> {
    let Some(bound) = &bound.openings else { return Vec::new() };
    let new = of(config, dir).into_iter().filter(|open| !bound.contains(&open.digest()));
    new.map(|Open { setting, what }| Lowered {
        setting,
        bound: "no such thing".into(),
        asked: what,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use base::SystemId;
    use serde::Deserialize;

    use super::*;
    use crate::{AmqpSettings, ChannelSettings, OnlineSettings, RestSettings};

    /// The sections of doors.
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Sections {
        online: OnlineSettings,
        amqp: AmqpSettings,
        rest: RestSettings,
        channels: ChannelSettings,
    }

    fn config(text: &str) -> SystemConfig {
        let Sections { online, amqp, rest, channels } = toml::from_str(text).unwrap();
        SystemConfig { online, amqp, rest, channels, ..SystemConfig::new(SystemId([7; 16])) }
    }

    fn opened(text: &str) -> Vec<String> {
        let all = of(&config(text), Path::new("/nowhere"));
        all.into_iter().map(|open| format!("{} = {}", open.setting, open.what)).collect()
    }

    #[test]
    fn what_this_machine_alone_reaches_is_no_opening() {
        let local = "[online]\nims_connect = [\"127.0.0.1:1\", \"[::1]:2\", \"localhost:3\"]\n\
                     metrics = \"127.0.0.1:4\"\n[rest]\nlisten = [\"127.0.0.1:5\"]\n";
        assert_eq!(opened(local), Vec::<String>::new());
        let wide = "[online]\nims_connect = [\"0.0.0.0:1\"]\n[amqp]\ntls = [\"[::]:2\"]\n";
        let both = ["[online] ims_connect = 0.0.0.0:1 without TLS", "[amqp] tls = [::]:2 with TLS"];
        assert_eq!(opened(wide), both);
        assert_eq!(opened("[channels]\nlisten = [\"nowhere.invalid:1\"]\n").len(), 1);
    }

    #[test]
    fn each_thing_that_lets_more_in_is_not_bound_by_what_was() {
        let before = "[online]\nims_connect = [\"0.0.0.0:1\"]\ntls_certificate = \"c\"\n\
                      tls_key = \"k\"\ntls_clients = \"roots\"\nexits = [\"one.so\"]\n\
                      [rest]\nadministrators = [\"ANNA\"]\n";
        let dir = Path::new("/nowhere");
        let bound =
            Protection { openings: Some(asked(&config(before), dir)), ..Protection::SEALED };
        let named = |text: &str| -> Vec<String> {
            lowered(&bound, &config(text), dir).into_iter().map(|one| one.setting).collect()
        };
        assert_eq!(named(before), Vec::<String>::new());
        let changes = [
            ("0.0.0.0:1", "0.0.0.0:2", "[online] ims_connect"),
            ("exits", "metrics = \"0.0.0.0:9\"\nexits", "[online] metrics"),
            ("exits", "anonymous = true\nexits", "[online] anonymous"),
            ("one.so", "two.so", "[online] exits"),
            ("\"roots\"", "\"others\"", "[online] tls_clients"),
            ("tls_clients = \"roots\"\n", "", "[online] ims_connect"),
            ("\"k\"", "\"l\"", "[online] tls_key"),
            ("[\"ANNA\"]", "[\"ANNA\", \"EVE\"]", "[rest] administrators"),
            ("[rest]\n", "[rest]\nclear_passwords = true\n", "[rest] clear_passwords"),
            ("[rest]\n", "[amqp]\nanonymous = true\n[rest]\n", "[amqp] anonymous"),
            ("[rest]\n", "[rest]\nlisten = [\"0.0.0.0:3\"]\n", "[rest] listen"),
        ];
        for (from, to, setting) in changes {
            assert!(before.contains(from));
            assert_eq!(named(&before.replacen(from, to, 1)), [setting], "{to}");
        }
        // Less is no matter.
        assert_eq!(named(""), Vec::<String>::new());
        assert!(lowered(&Protection::SEALED, &config(before), dir).is_empty());
    }

    #[test]
    #[allow(clippy::disallowed_methods)] // changes a file of people
    fn another_files_bytes_are_another_opening() {
        let dir = std::env::temp_dir().join(format!("openings-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let config = config("[online]\nexits = [\"exit.so\"]\n");
        std::fs::write(dir.join("exit.so"), b"one").unwrap();
        let openings = Some(asked(&config, &dir));
        let bound = Protection { openings, ..Protection::SEALED };
        assert!(lowered(&bound, &config, &dir).is_empty());
        std::fs::write(dir.join("exit.so"), b"two").unwrap();
        let lowered = lowered(&bound, &config, &dir);
        assert_eq!(lowered.len(), 1);
        assert!(lowered[0].asked.starts_with("exit.so, SHA-256 "), "{lowered:?}");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
