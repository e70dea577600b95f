//! Which handler an address means: by what it begins with.
//!
//! Invariants:
//! 1. An address that has a password in it is refused: addresses are shown to operators.

use std::sync::Arc;

use vsam::handler::{Described, Handler, HandlerError, Handlers};

/// Handlers, by what their addresses begin with.
#[derive(Clone, Default)]
pub struct Registry {
    schemes: Vec<(&'static str, Arc<dyn Handlers>)>,
}

impl Registry {
    /// The same with another one.
    #[must_use]
    pub fn with(mut self, scheme: &'static str, handlers: Arc<dyn Handlers>) -> Registry {
        self.schemes.push((scheme, handlers));
        self
    }

    /// Whose an address is.
    ///
    /// # Errors
    /// If it is no handler's, or has a password in it.
    pub fn of(&self, address: &str) -> Result<&Arc<dyn Handlers>, HandlerError> {
        if has_password(address) {
            let what = "the address has a password in it: keep it in a file, see PGPASSFILE";
            return Err(HandlerError::Refused(what.into()));
        }
        let found = self.schemes.iter().find(|(scheme, _)| address.starts_with(scheme));
        found.map(|(_, handlers)| handlers).ok_or_else(|| {
            let known: Vec<&str> = self.schemes.iter().map(|(scheme, _)| *scheme).collect();
            let what = format!("{address} is no address of a handler: they begin with {known:?}");
            HandlerError::Refused(what)
        })
    }
}

fn has_password(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return false };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let place = place.split('/').next().unwrap_or_default();
    let in_user = place.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    in_user || query.split('&').any(|pair| pair.starts_with("password="))
}

impl Handlers for Registry {
    fn connect(&self, file: &Described) -> Result<Box<dyn Handler>, HandlerError> {
        self.of(&file.redirection.to)?.connect(file)
    }

    fn prepare(&self, file: &Described) -> Result<(), HandlerError> {
        self.of(&file.redirection.to)?.prepare(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_a_password_is_refused() {
        for bad in ["postgres://me:secret@db/bank", "postgres://db/bank?user=me&password=x"] {
            assert!(has_password(bad), "{bad}");
        }
        for good in ["postgres://me@db:5432/bank?sslmode=require", "#VSAM.#CICS.BANK"] {
            assert!(!has_password(good), "{good}");
        }
        let error = Registry::default().of("ftp://x").err();
        assert!(error.is_some_and(|error| error.to_string().contains("no address of a handler")));
    }
}
