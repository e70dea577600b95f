//! Who is at the other end: SASL with PLAIN, EXTERNAL and ANONYMOUS.
//!
//! 1. Which mechanisms are offered, the authenticator decides; PLAIN is offered over TLS, and
//!    without it only where the options say that the network is trusted.
//! 2. A password is wiped once it was checked, and stands in no message.

use zeroize::Zeroizing;

use crate::value::{Value, field};

/// How somebody proves who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// By a name and a password.
    Plain,
    /// By the certificate of the TLS connection.
    External,
    /// Not at all.
    Anonymous,
}

impl Mechanism {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mechanism::Plain => "PLAIN",
            Mechanism::External => "EXTERNAL",
            Mechanism::Anonymous => "ANONYMOUS",
        }
    }
}

/// Who knows users. Answers are the names of users of the queue manager.
pub trait Authenticator: Send + Sync {
    /// The user with that name, if it is their password.
    fn plain(&self, user: &str, password: &[u8]) -> Option<String>;

    /// The user of a client certificate.
    fn external(&self, certificate: &[u8]) -> Option<String> {
        let _ = certificate;
        None
    }

    /// The user that somebody without a name is, on this machine or elsewhere; none: nobody may
    /// come without a name.
    fn anonymous(&self, local: bool) -> Option<String> {
        let _ = local;
        None
    }

    /// What changes with a user's password, and with nothing else; none: there is no such user. A
    /// conversation ends when it is another than at its beginning.
    fn mark(&self, user: &str) -> Option<u64> {
        let _ = user;
        None
    }

    /// Whether there are users with passwords.
    fn has_passwords(&self) -> bool {
        true
    }
}

/// What a client says of itself.
pub(crate) enum Claim {
    Plain { user: String, password: Zeroizing<Vec<u8>> },
    External,
    Anonymous,
}

/// Reads what a client begins with; `None` if it is no mechanism that was offered.
pub(crate) fn claim(fields: &[Value], offered: &[Mechanism]) -> Option<Claim> {
    let name = field(fields, 0).text()?;
    let mechanism = offered.iter().find(|one| one.name() == name)?;
    match (mechanism, field(fields, 1)) {
        (Mechanism::External, _) => Some(Claim::External),
        (Mechanism::Anonymous, _) => Some(Claim::Anonymous),
        (Mechanism::Plain, Value::Binary(response)) => {
            let mut parts = response.splitn(3, |byte| *byte == 0);
            let (_as, user, password) = (parts.next()?, parts.next()?, parts.next()?);
            let user = std::str::from_utf8(user).ok()?.to_owned();
            Some(Claim::Plain { user, password: Zeroizing::new(password.to_vec()) })
        }
        (Mechanism::Plain, _) => None,
    }
}

/// What is offered, as a performative.
pub(crate) fn mechanisms(offered: &[Mechanism]) -> Value {
    let names = offered.iter().map(|one| Value::symbol(one.name())).collect();
    Value::composite(0x40, vec![Value::Array(names)])
}

/// The code of an outcome: 0 welcome, 1 not who it says.
pub(crate) fn outcome(welcome: bool) -> Value {
    Value::composite(0x44, vec![Value::Ubyte(u8::from(!welcome))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_password_are_told_apart() {
        let fields = [Value::symbol("PLAIN"), Value::Binary(b"\0joe\0se\0cret".to_vec())];
        let claimed = claim(&fields, &[Mechanism::Plain]);
        let Some(Claim::Plain { user, password }) = claimed else { panic!("it is PLAIN") };
        assert_eq!((&*user, &password[..]), ("joe", &b"se\0cret"[..]));
        assert!(claim(&fields, &[Mechanism::Anonymous]).is_none(), "it was not offered");
        let broken = [Value::symbol("PLAIN"), Value::Binary(b"joe".to_vec())];
        assert!(claim(&broken, &[Mechanism::Plain]).is_none());
    }
}
