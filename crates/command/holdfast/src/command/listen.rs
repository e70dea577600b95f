//! What the doors of a started system have in common: addresses, who comes in while there are no
//! users, and certificates.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::path::Path;

use otma::Name;
use system::{DoorCertificates, OnlineSettings, System};
use tls::Tls;

use crate::failure::{Failure, Result};
use crate::input::bytes_of;
use crate::output::warn;

/// A user's name as the system has it.
pub(super) fn user_name(text: &str) -> Option<Name> {
    Name::new(&text.to_ascii_uppercase()).filter(|name| !name.is_blank())
}

/// The addresses of a setting; `place` says where it stands in holdfast.toml.
pub(super) fn addresses(setting: &[String], place: &str) -> Result<Vec<SocketAddr>> {
    let mut addresses = Vec::new();
    for address in setting {
        let found = address.to_socket_addrs().map_err(|error| {
            let what = format!("{address} is no address to listen at: {error}");
            Failure::other(what, format!("Correct {place} of holdfast.toml."))
        })?;
        addresses.extend(found);
    }
    Ok(addresses)
}

/// Leaves a door to this machine alone, and says so: there are no users.
pub(super) fn on_this_machine(addresses: &mut [SocketAddr], door: &str) {
    only_here(addresses, door, "no users are configured", "`holdfast user` makes one");
}

/// Leaves a door to this machine alone, and says why, and what would open it to others.
pub(super) fn only_here(addresses: &mut [SocketAddr], door: &str, why: &str, remedy: &str) {
    for address in addresses.iter_mut().filter(|address| !address.ip().is_loopback()) {
        let asked = *address;
        address.set_ip(match asked {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
        warn(format!("{why}: the {door} door listens on {address}, not on {asked}; {remedy}"));
    }
}

/// The addresses of a setting of a door, whose section has that name; those of this machine alone
/// unless others may come in.
pub(super) fn addresses_of(
    setting: &[String],
    (door, section): (&str, &str),
    open: bool,
) -> Result<Vec<SocketAddr>> {
    let mut addresses = addresses(setting, &format!("the section [{section}]"))?;
    if !open {
        on_this_machine(&mut addresses, door);
    }
    Ok(addresses)
}

/// The certificates of a door that listens at these addresses with TLS.
pub(super) fn certificates_of(
    system: &System,
    addresses: &[String],
    files: DoorCertificates<'_>,
) -> Result<Option<Tls>> {
    if addresses.is_empty() { Ok(None) } else { certificates(system, files) }
}

/// The certificates of a section, or those that IMS Connect has; none if neither has any.
pub(super) fn certificates(system: &System, files: DoorCertificates<'_>) -> Result<Option<Tls>> {
    let (dir, online) = (system.dir(), &system.config().online);
    let is_own = !files.certificate.as_os_str().is_empty();
    let (certificate, key) = match is_own {
        true => (files.certificate, files.key),
        false => (&*online.tls_certificate, &*online.tls_key),
    };
    let clients = match files.clients.as_os_str().is_empty() {
        true => &*online.tls_clients,
        false => files.clients,
    };
    if certificate.as_os_str().is_empty() {
        return Ok(None);
    }
    let read = |path: &Path| pem(&dir.join(path), files.section);
    let client_roots = (!clients.as_os_str().is_empty()).then(|| read(clients)).transpose()?;
    Ok(Some(Tls {
        certificates: read(certificate)?,
        key: read(key)?,
        client_roots,
        // Who has none proves in another way who they are.
        client_required: false,
    }))
}

/// The certificates of the section `[online]`, for doors whose clients have to have one if it names
/// who signs them; none if it names none.
pub(super) fn online_certificates(dir: &Path, settings: &OnlineSettings) -> Result<Option<Tls>> {
    let is_named = |path: &Path| !path.as_os_str().is_empty();
    let (certificate, key) = (&*settings.tls_certificate, &*settings.tls_key);
    if !is_named(certificate) || !is_named(key) {
        return Ok(None);
    }
    let read = |path: &Path| pem(&dir.join(path), "online");
    let clients = &*settings.tls_clients;
    let client_roots = is_named(clients).then(|| read(clients)).transpose()?;
    let client_required = client_roots.is_some();
    Ok(Some(Tls {
        certificates: read(certificate)?,
        key: read(key)?,
        client_roots,
        client_required,
    }))
}

/// A file of a door's TLS.
pub(super) fn pem(path: &Path, section: &str) -> Result<Vec<u8>> {
    bytes_of(path, format!("Correct the section [{section}] of holdfast.toml."))
}
