//! The section `[engine]`: where the databases of a system are that has no kernel.

use std::fmt::Write as _;

use serde::Deserialize;

use super::SystemConfig;
use super::template::{Text, plain, quoted};

/// The section `[engine]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineSettings {
    /// `postgres://USER@HOST:PORT/DATABASE`, without a password.
    pub url: String,
    /// The schema that holds everything.
    pub schema: String,
    /// The identity of the store in it: 32 hexadecimal digits. Another store is refused.
    pub store: String,
    /// Connections for calls; as many again for reads under the store's own locking.
    pub connections: u32,
}

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            url: String::new(),
            schema: "holdfast".into(),
            store: String::new(),
            connections: 16,
        }
    }
}

/// More connections than any engine likes from one system.
const CONNECTIONS_MAX: u32 = 1_000;

impl EngineSettings {
    /// The identity of the store.
    #[must_use]
    pub fn identity(&self) -> Option<[u8; 16]> {
        super::parse_system_id(&self.store).map(|id| id.0)
    }

    /// Whether the address says what must not stand in a file.
    #[must_use]
    pub fn names_password(&self) -> bool {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        user.contains(':') || query.split('&').any(|pair| pair.starts_with("password="))
    }
}

impl SystemConfig {
    pub(super) fn check_engine(&self) -> Result<(), (&'static str, String)> {
        let Some(engine) = &self.engine else { return Ok(()) };
        if engine.names_password() {
            let why = "no password stands in this file: it belongs in PGPASSWORD, or in the file \
                       that PGPASSFILE names";
            return Err(("url", why.into()));
        }
        if engine.identity().is_none() {
            return Err(("store", "a store has 32 hexadecimal digits".into()));
        }
        if !(1..=CONNECTIONS_MAX).contains(&engine.connections) {
            return Err(("connections", format!("there are 1 to {CONNECTIONS_MAX}")));
        }
        let usual = SystemConfig::new(self.system);
        let meaningless = [
            ("log", self.log == usual.log),
            ("anchor", self.anchor == usual.anchor),
            ("archive", self.archive == usual.archive),
            ("pool", self.pools == usual.pools),
            ("data", self.data == usual.data),
            ("locks", self.locks == usual.locks),
            ("units", self.units == usual.units),
            ("checkpoint", self.checkpoint == usual.checkpoint),
            ("read_ahead", self.read_ahead == usual.read_ahead),
            ("recon", self.recon == usual.recon),
        ];
        match meaningless.into_iter().find(|(_, is_usual)| !is_usual) {
            Some((section, _)) => {
                Err((section, "a system on an engine has no such part: the engine has".into()))
            }
            None => Ok(()),
        }
    }
}

pub(super) fn write(text: &mut Text, engine: &EngineSettings) {
    let usual = EngineSettings::default();
    text.line(
        "# Where the databases are. A password never stands here: PGPASSWORD, or the file that",
    );
    text.line("# PGPASSFILE names. Systems that share the databases have the same section.");
    text.line("[engine]");
    let _ = writeln!(text.0, "url = {}", quoted(&engine.url));
    let _ = writeln!(text.0, "schema = {}", quoted(&engine.schema));
    let _ = writeln!(text.0, "store = {}  # its identity; never change it", quoted(&engine.store));
    let connections = (&engine.connections, &usual.connections);
    text.set("connections", connections, plain, "for calls; as many again for guarded reads");
    text.line("");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_found_wherever_it_stands() {
        let names =
            |url: &str| EngineSettings { url: url.into(), ..Default::default() }.names_password();
        assert!(!names("postgres://me@db.example:5432/bank?sslmode=verify-full"));
        assert!(!names("postgres://me@%2Ftmp%2Fpg/bank"));
        assert!(names("postgres://me:secret@db.example/bank"));
        assert!(names("postgres://me@db.example/bank?sslmode=disable&password=secret"));
        assert!(names("postgres://me:a@b@db.example/bank"));
    }
}
