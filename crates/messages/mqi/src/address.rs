//! Connection names: `host(port)`, several one behind the other.

use std::net::{SocketAddr, ToSocketAddrs as _};

/// The port that a connection name without one means.
const PORT: u16 = 1414;

/// One end of a connection name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The machine.
    pub host: String,
    /// The port there.
    pub port: u16,
}

impl Place {
    /// Its addresses, as the machine knows them now.
    ///
    /// # Errors
    /// What the machine says of the name.
    pub fn addresses(&self) -> std::io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

/// The places of a connection name; `None` if it is none.
#[must_use]
pub fn places(name: &str) -> Option<Vec<Place>> {
    let place = |part: &str| -> Option<Place> {
        let part = part.trim();
        let (host, port) = match part.split_once('(') {
            Some((host, port)) => (host, port.strip_suffix(')')?.trim().parse().ok()?),
            None => (part, PORT),
        };
        let host = host.trim().to_owned();
        (!host.is_empty()).then_some(Place { host, port })
    };
    name.split(',').map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_stand_in_parentheses() {
        let place = |host: &str, port| Place { host: host.into(), port };
        assert_eq!(
            places("a.b(1415), ::1(7) ,c"),
            Some(vec![place("a.b", 1415), place("::1", 7), place("c", 1414)])
        );
        assert_eq!(places("a(b)"), None);
        assert_eq!(places("a(1"), None);
        assert_eq!(places(""), None);
        assert_eq!(places("a(70000)"), None);
    }
}
