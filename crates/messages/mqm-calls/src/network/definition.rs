//! Where a client's connection goes: by which channel, to which places, how secured.
//!
//! | asked | said by |
//! |---|---|
//! | first | the program: a channel that it describes (MQCD), a table that it names |
//! | then | `MQSERVER`: `CHANNEL/TCP/host(port),host(port)` |
//! | last | a table of channels: `MQCCDTURL`, or `MQCHLLIB` and `MQCHLTAB` |

use std::path::PathBuf;

use mqi::address::{Place, places};
use mqi::structures::{Cd, Cno, Sco};
use queue_manager::Reason;
use queue_manager::name::unpadded;

use super::reconnection::Wish;
use super::{KeyFiles, Settings, table};
use crate::memory::{self, Lent};

/// The letters of a channel's description are wrong, or its version.
const CD_ERROR: Reason = Reason(2277);
/// The letters of options of TLS are wrong, or their version.
const SCO_ERROR: Reason = Reason(2380);
/// The address of a table of channels is wrong.
const CCDT_URL_ERROR: Reason = Reason(2600);
/// TCP, among the transports.
const TCP: i32 = 2;
/// A channel of a client.
const CLIENT_CONNECTION: i32 = 6;

/// One way to a queue manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    /// The channel over there.
    pub(crate) channel: String,
    pub(crate) places: Vec<Place>,
    /// The cipher of TLS; blank: none is named.
    pub(crate) cipher: String,
    /// What the certificate over there has to say; blank: its name alone counts.
    pub(crate) peer_name: String,
    /// Seconds between signs of life.
    pub(crate) heartbeat_s: i32,
    /// The program asks for one of a group of queue managers, whatever its name is.
    pub(crate) any_manager: bool,
    /// Whether a connection that breaks is made again, unless the program says so itself.
    pub(crate) reconnects: Option<Wish>,
}

impl Definition {
    pub(crate) fn new(channel: &str, connection_name: &str) -> Option<Definition> {
        let channel = channel.trim();
        if channel.is_empty() || channel.len() > 20 {
            return None;
        }
        Some(Definition {
            channel: channel.to_owned(),
            places: places(connection_name.trim())?,
            cipher: String::new(),
            peer_name: String::new(),
            heartbeat_s: 300,
            any_manager: false,
            reconnects: None,
        })
    }

    /// What `MQSERVER` says.
    fn of_server(text: &str) -> Option<Definition> {
        let mut parts = text.splitn(3, '/');
        let (channel, transport, name) = (parts.next()?, parts.next()?, parts.next()?);
        if !transport.trim().eq_ignore_ascii_case("TCP") {
            return None;
        }
        Definition::new(channel, name)
    }

    /// What a program describes.
    fn of_program(cd: &Cd, peer_name: String) -> Option<Definition> {
        if cd.transport_type != TCP || cd.channel_type != CLIENT_CONNECTION {
            return None;
        }
        let short = unpadded(&cd.short_connection_name);
        let name = unpadded(&cd.connection_name);
        let name = if cd.version == 1 || name.is_empty() { short } else { name };
        let mut definition = Definition::new(&unpadded(&cd.channel_name), &name)?;
        definition.cipher = unpadded(&cd.ssl_cipher_spec);
        definition.peer_name = peer_name;
        if cd.version >= 4 && cd.heartbeat_interval > 1 {
            definition.heartbeat_s = cd.heartbeat_interval;
        }
        if cd.version >= 10 {
            definition.reconnects = Wish::of_number(cd.def_reconnect);
        }
        Some(definition)
    }
}

/// The file of a table's address; `None` for one that is not on this machine.
pub(crate) fn path_of(url: &str) -> Option<&str> {
    let url = url.trim();
    match url.strip_prefix("file://") {
        Some(path) => Some(path.strip_prefix("localhost").unwrap_or(path)),
        None => (!url.contains("://") && !url.is_empty()).then_some(url),
    }
}

/// The ways to a queue manager of that name, in the order to try.
///
/// # Safety
/// The options lead to what they say that they lead to.
pub(crate) unsafe fn definitions(
    cno: Option<&Lent<Cno>>,
    name: &str,
    settings: &Settings,
) -> Result<Vec<Definition>, Reason> {
    if let Some(cno) = cno {
        // SAFETY: as promised to this function.
        if let Some(described) = unsafe { described(cno) }? {
            return Ok(vec![described]);
        }
        // SAFETY: as promised to this function.
        if let Some(file) = unsafe { table_of(cno) }? {
            return table::read(&file, name);
        }
    }
    if let Some(server) = &settings.server {
        return Ok(vec![Definition::of_server(server).ok_or(Reason::CHANNEL_CONFIG_ERROR)?]);
    }
    match &settings.table {
        Some(file) => table::read(file, name),
        None => Err(Reason::Q_MGR_NOT_AVAILABLE),
    }
}

/// The channel that a program describes, if it does.
///
/// # Safety
/// As for [`definitions`].
unsafe fn described(cno: &Lent<Cno>) -> Result<Option<Definition>, Reason> {
    let now = &cno.now;
    let at = memory::place(now.client_conn_ptr, now.client_conn_offset, cno.base());
    let Some(at) = at.filter(|_| now.version >= 2) else { return Ok(None) };
    // SAFETY: as promised to this function.
    let cd = unsafe { memory::channel(at, CD_ERROR) }?;
    let peer_name = match memory::place(cd.ssl_peer_name_ptr, 0, at) {
        Some(at) if cd.version >= 7 => {
            let length = cd.ssl_peer_name_length;
            // SAFETY: as promised to this function.
            let bytes = unsafe { memory::input(at.cast(), length, CD_ERROR, CD_ERROR) }?;
            memory::text(bytes).trim_end_matches(['\0', ' ']).to_owned()
        }
        _ => String::new(),
    };
    let described = Definition::of_program(&cd, peer_name);
    described.map(Some).ok_or(Reason::CHANNEL_CONFIG_ERROR)
}

/// The table of channels that a program names, if it does.
///
/// # Safety
/// As for [`definitions`].
unsafe fn table_of(cno: &Lent<Cno>) -> Result<Option<PathBuf>, Reason> {
    let now = &cno.now;
    let at = memory::place(now.ccdt_url_ptr, now.ccdt_url_offset, cno.base());
    let Some(at) = at.filter(|_| now.version >= 6 && now.ccdt_url_length > 0) else {
        return Ok(None);
    };
    // SAFETY: as promised to this function.
    let url =
        unsafe { memory::input(at.cast(), now.ccdt_url_length, CCDT_URL_ERROR, CCDT_URL_ERROR) }?;
    let url = memory::text(url);
    let path = path_of(url.trim_end_matches('\0')).ok_or(CCDT_URL_ERROR)?;
    Ok(Some(PathBuf::from(path)))
}

/// The certificates and keys of a program: those that it names, or those of the environment.
///
/// # Safety
/// As for [`definitions`].
pub(crate) unsafe fn keys(
    cno: Option<&Lent<Cno>>,
    settings: &Settings,
) -> Result<KeyFiles, Reason> {
    let mut keys = settings.keys.clone();
    let Some(cno) = cno.filter(|cno| cno.now.version >= 4) else { return Ok(keys) };
    let at = memory::place(cno.now.ssl_config_ptr, cno.now.ssl_config_offset, cno.base());
    let Some(at) = at else { return Ok(keys) };
    // SAFETY: as promised to this function.
    let sco = unsafe { Lent::<Sco>::take(at.cast(), SCO_ERROR) }?;
    let repository = unpadded(&sco.now.key_repository);
    if !repository.is_empty() {
        keys.repository = Some(PathBuf::from(repository));
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use mqi::table::Structure as _;

    use super::*;

    #[test]
    fn a_server_is_a_channel_a_transport_and_places() {
        let found = Definition::of_server("TO.QM1/TCP/qm1.example(1500),::1").unwrap();
        assert_eq!(found.channel, "TO.QM1");
        let place = |host: &str, port| Place { host: host.into(), port };
        assert_eq!(found.places, [place("qm1.example", 1500), place("::1", 1414)]);
        assert_eq!(Definition::of_server("TO.QM1/tcp/h/x(1)").unwrap().places[0].host, "h/x");
        for wrong in ["", "TO.QM1", "TO.QM1/TCP", "TO.QM1/LU62/h", "/TCP/h", "A/TCP/", "A/TCP/h(x)"]
        {
            assert_eq!(Definition::of_server(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_description_has_the_fields_of_its_version() {
        let mut cd = Cd::initial();
        cd.channel_name = queue_manager::name::padded("TO.QM1");
        cd.connection_name = queue_manager::name::padded("long.example(2)");
        cd.short_connection_name = queue_manager::name::padded("short(3)");
        let place = |cd: &Cd| Definition::of_program(cd, String::new()).unwrap().places[0].port;
        assert_eq!(place(&cd), 2);
        cd.version = 1;
        assert_eq!(place(&cd), 3);
        cd.transport_type = 1;
        assert_eq!(Definition::of_program(&cd, String::new()), None);
    }
}
