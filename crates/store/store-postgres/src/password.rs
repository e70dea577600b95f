//! The password for an engine: from the environment, as libpq has it, and never from a file of
//! Holdfast's.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use store::{Result, StoreError};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::error::EngineError;

/// Gives the configuration the password of PGPASSWORD, or else the one that the file of PGPASSFILE
/// has for this address.
///
/// # Errors
/// If the file cannot be read, or others than its owner can read it.
pub(crate) fn add(config: &mut Config) -> Result<()> {
    if config.get_password().is_some() {
        return Ok(());
    }
    if let Some(password) = std::env::var_os("PGPASSWORD") {
        config.password(password.as_encoded_bytes());
        return Ok(());
    }
    let Some(path) = std::env::var_os("PGPASSFILE") else { return Ok(()) };
    let text = zeroize::Zeroizing::new(read(Path::new(&path))?);
    if let Some(password) = find(&text, config) {
        config.password(password.as_bytes());
    }
    Ok(())
}

#[allow(clippy::disallowed_methods)] // the user's own file, no part of a system
fn read(path: &Path) -> Result<String> {
    let wrong = |why: String| {
        let why = format!("the password file {}: {why}", path.display());
        StoreError::beneath(EngineError::Address(why))
    };
    let mode = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?.mode();
    if mode & 0o077 != 0 {
        return Err(wrong("others than its owner can read it; make it mode 0600".into()));
    }
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| wrong("it is not text in UTF-8".into()))
}

/// The password of the first line `HOST:PORT:DATABASE:USER:PASSWORD` that fits.
fn find(text: &str, config: &Config) -> Option<String> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5_432).to_string();
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let wanted = [&host, &port, database, user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [first @ .., password] = &fields[..] else { return None };
        let fits = first.len() == wanted.len()
            && first.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        fits.then(|| password.clone())
    })
}

/// The five fields of a line; a backslash takes the meaning of what follows it.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            '\\' => fields[last].extend(letters.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let config: Config = "postgres://me@db.example:5433/bank".parse().unwrap();
        let text = "# a comment\nelse:*:*:*:no\ndb.example:5433:bank:you:no\n\
                    *:5433:bank:me:se\\:cr\\\\et:x\n*:*:*:*:late";
        assert_eq!(find(text, &config).as_deref(), Some("se:cr\\et:x"));
        assert_eq!(find("db.example:5432:bank:me:no", &config), None);
        let socket: Config = "postgres://me@%2Ftmp%2Fpg/bank".parse().unwrap();
        assert_eq!(find("localhost:5432:*:me:yes", &socket).as_deref(), Some("yes"));
    }
}
