//! Channel authentication records: who may come in by a channel, and as which user.
//!
//! 1. An address that a record blocks is blocked on every channel that the record is for, whatever
//!    other records say.
//! 2. Of the records that fit, one decides: one that names the channel goes before one with a
//!    generic name; then one by certificate, by user or queue manager, by address.
//! 3. The user that comes of that, or of the channel's definition, must not be blocked.
//! 4. Channels whose names begin with `SYSTEM.` are patterns of others: no client comes in by them.
//! 5. A client that is given no user works as one who has no rights, once there are records of
//!    rights.
//! 6. A record that warns only lets in whom it would refuse.
//! 7. `*MQADMIN` blocks programs, and partners whom a record makes an administrator; a partner whom
//!    the definition of its channel does was let in as one by who wrote that.

use std::net::IpAddr;

use store::Store;

use crate::core::Core;
pub use crate::core::UNNAMED_USER;
use crate::name::matches_generic;
use crate::objects::{Kind, Object, Value};

/// What the names of channels begin with that are patterns only.
const PATTERNS: &str = "SYSTEM.";

/// A client that wants to come in.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'c> {
    /// The channel.
    pub channel: &'c str,
    /// The address it comes from.
    pub address: IpAddr,
    /// The distinguished name of its certificate, if it has shown one.
    pub subject: Option<&'c str>,
    /// Its queue manager, if it is one.
    pub partner: Option<&'c str>,
    /// The user that it has proved to be, if it is a program.
    pub user: Option<&'c str>,
}

/// As whom it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The user.
    pub user: String,
    /// What operators should know.
    pub warning: Option<String>,
}

/// Why it may not come in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Whether a client may come in by a channel, and as whom.
pub(crate) fn admit<S: Store>(core: &Core<S>, caller: &Caller<'_>) -> Result<Admitted, Refused> {
    if caller.channel.starts_with(PATTERNS) {
        return Err(Refused(format!("channel {} is a pattern of others", caller.channel)));
    }
    let channel = core.object(Kind::Channel, caller.channel);
    let own = match channel.as_ref().map_or("", |object| object.text_of("MCAUSER")) {
        // A program works as the user that it has proved to be.
        "" => user_of(caller.user.unwrap_or_default()),
        named => user_of(named),
    };
    let manager = core.object(Kind::QueueManager, &core.options.name);
    if manager.is_some_and(|manager| manager.is("CHLAUTH", "DISABLED")) {
        return Ok(Admitted { user: own, warning: None });
    }
    let records: Vec<_> = {
        let registry = core.definitions.registry();
        registry.of_space(Kind::ChannelAuthority).cloned().collect()
    };
    // Where users are not known, no user is told from others.
    let knows = core.options.users.is_some();
    let is_administrator = |user: &str| knows && core.is_administrator(user);
    decide(records.iter().map(AsRef::as_ref), caller, &own, &is_administrator)
}

/// The user that a definition names.
#[must_use]
pub fn user_of(named: &str) -> String {
    (if named.is_empty() { UNNAMED_USER } else { named }).to_owned()
}

fn decide<'r>(
    records: impl Iterator<Item = &'r Object>,
    caller: &Caller<'_>,
    own: &str,
    is_administrator: &dyn Fn(&str) -> bool,
) -> Result<Admitted, Refused> {
    let fitting = |record: &&Object| matches_generic(caller.channel, record.text_of("CHLAUTH"));
    let records: Vec<&Object> = records.filter(fitting).collect();
    let mut warning = None;
    let address = caller.address.to_string();
    for record in records.iter().filter(|record| record.is("TYPE", "BLOCKADDR")) {
        if list(record, "ADDRLIST").iter().any(|pattern| address_matches(pattern, &address)) {
            refuse(record, format!("address {address} is blocked"), &mut warning)?;
        }
    }
    let mut maps: Vec<&&Object> = records.iter().filter(|record| maps(record, caller)).collect();
    maps.sort_by_key(|record| rank(record));
    let mut user = own.to_owned();
    let is_mapped = maps.first().is_some_and(|record| !record.is("USERSRC", "CHANNEL"));
    let asserted = caller.partner.is_none() || is_mapped;
    if let Some(record) = maps.first() {
        match record.text_of("USERSRC") {
            "NOACCESS" => {
                let what = format!("channel {} lets nobody in from there", caller.channel);
                refuse(record, what, &mut warning)?;
            }
            "MAP" => user = user_of(record.text_of("MCAUSER")),
            _ => user = caller.user.map_or(user, str::to_owned),
        }
    }
    for record in records.iter().filter(|record| record.is("TYPE", "BLOCKUSER")) {
        let administers = asserted && is_administrator(&user);
        let blocks = |listed: &String| *listed == user || (listed == "*MQADMIN" && administers);
        if list(record, "USERLIST").iter().any(blocks) {
            refuse(record, format!("user {user} is blocked"), &mut warning)?;
        }
    }
    Ok(Admitted { user, warning })
}

fn refuse(record: &Object, what: String, warning: &mut Option<String>) -> Result<(), Refused> {
    if !record.is("WARN", "YES") {
        return Err(Refused(what));
    }
    *warning = Some(what);
    Ok(())
}

fn list<'r>(record: &'r Object, name: &str) -> &'r [String] {
    match record.get(name) {
        Some(Value::List(list)) => list,
        _ => &[],
    }
}

/// Whether a record maps this caller.
fn maps(record: &Object, caller: &Caller<'_>) -> bool {
    let pattern = record.text_of("ADDRESS");
    let from = pattern.is_empty() || address_matches(pattern, &caller.address.to_string());
    from && match record.text_of("TYPE") {
        "SSLPEERMAP" => {
            caller.subject.is_some_and(|subject| name_matches(record.text_of("SSLPEER"), subject))
        }
        "QMGRMAP" => {
            caller.partner.is_some_and(|name| matches_generic(name, record.text_of("QMNAME")))
        }
        "USERMAP" => {
            caller.user.is_some_and(|user| user.eq_ignore_ascii_case(record.text_of("CLNTUSER")))
        }
        "ADDRESSMAP" => !pattern.is_empty(),
        _ => false,
    }
}

/// What goes first comes out lowest.
fn rank(record: &Object) -> (bool, std::cmp::Reverse<usize>, u8, bool, std::cmp::Reverse<usize>) {
    let profile = record.text_of("CHLAUTH");
    let by = match record.text_of("TYPE") {
        "SSLPEERMAP" => 0,
        "USERMAP" | "QMGRMAP" => 1,
        _ => 2,
    };
    let address = record.text_of("ADDRESS");
    (
        profile.ends_with('*'),
        std::cmp::Reverse(profile.len()),
        by,
        address.is_empty() || address.contains('*'),
        std::cmp::Reverse(address.len()),
    )
}

/// Whether an address is one of a pattern: parts with `*` for any, `a-b` for a stretch; a `*` at
/// the end stands for all further parts.
fn address_matches(pattern: &str, address: &str) -> bool {
    let separator = if address.contains(':') { ':' } else { '.' };
    let mut parts = address.split(separator);
    let mut patterns = pattern.trim().split(separator).peekable();
    while let Some(pattern) = patterns.next() {
        if pattern == "*" && patterns.peek().is_none() {
            return true;
        }
        let Some(part) = parts.next() else { return false };
        let within = || {
            let (low, high) = pattern.split_once('-')?;
            let number = |text: &str| text.parse::<u32>().ok();
            Some((number(low)?..=number(high)?).contains(&number(part)?))
        };
        if pattern != "*" && pattern != part && within() != Some(true) {
            return false;
        }
    }
    parts.next().is_none()
}

/// The parts of a distinguished name, or of a pattern, with their keys in upper case: `,` and `;`
/// part them where they are not in quotes and have no `\\` in front. `None` if one has no key.
fn name_parts(text: &str) -> Option<Vec<(String, String)>> {
    let mut parts = Vec::new();
    let (mut key, mut part) = (None, String::new());
    let (mut quoted, mut letters) = (false, text.chars());
    // Blanks around values do not count, those that are escaped or quoted do.
    let mut kept = 0;
    loop {
        match letters.next() {
            Some('\\') => {
                part.push(letters.next()?);
                kept = part.len();
            }
            Some('"') => quoted = !quoted,
            Some('=') if key.is_none() && !quoted => {
                key = Some(std::mem::take(&mut part).trim().to_ascii_uppercase());
                kept = 0;
            }
            end @ (None | Some(',' | ';')) if !quoted => {
                while part.len() > kept && part.ends_with(' ') {
                    part.pop();
                }
                match key.take() {
                    Some(key) => parts.push((key, std::mem::take(&mut part))),
                    // A separator at the end parts nothing.
                    None if part.trim().is_empty() => part.clear(),
                    None => return None,
                }
                kept = 0;
                if end.is_none() {
                    return Some(parts);
                }
            }
            None => return None,
            Some(' ') if part.is_empty() && !quoted => {}
            Some(letter) => {
                part.push(letter);
                if quoted {
                    kept = part.len();
                }
            }
        }
    }
}

/// A part of a distinguished name, as [`name_matches`] reads it.
#[must_use]
pub fn name_part(key: &str, value: &str) -> String {
    let mut part = format!("{key}=");
    let blank = |at: usize| at == 0 || at + 1 == value.len();
    for (at, letter) in value.char_indices() {
        if ",;\\\"=+".contains(letter) || (letter == ' ' && blank(at)) {
            part.push('\\');
        }
        part.push(letter);
    }
    part
}

/// Whether a distinguished name has all parts of a pattern, such as `CN=qm2*,O=Ours`.
#[must_use]
pub fn name_matches(pattern: &str, subject: &str) -> bool {
    let (Some(has), Some(wanted)) = (name_parts(subject), name_parts(pattern)) else {
        return false;
    };
    !wanted.is_empty()
        && wanted.iter().all(|(key, pattern)| {
            has.iter().any(|(known, value)| known == key && matches_generic(value, pattern))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(values: &[(&str, &str)]) -> Object {
        let mut object = Object::new(Kind::ChannelAuthority, "X");
        for (name, value) in values {
            object.set(name, &(*value).into()).expect("it takes it");
        }
        object
    }

    fn asked(records: &[Object], caller: Caller<'_>) -> Result<String, String> {
        let admin = |user: &str| user == "root";
        let decided = decide(records.iter(), &caller, "own", &admin);
        decided.map(|admitted| admitted.user).map_err(|refused| refused.0)
    }

    fn caller<'c>(channel: &'c str, address: &str) -> Caller<'c> {
        let address = address.parse().expect("an address");
        Caller { channel, address, subject: None, partner: Some("QM2"), user: None }
    }

    #[test]
    fn the_most_particular_record_decides() {
        let records = [
            record(&[("CHLAUTH", "*"), ("ADDRESS", "*"), ("USERSRC", "NOACCESS")]),
            record(&[("CHLAUTH", "TO.*"), ("ADDRESS", "10.1-3.*"), ("MCAUSER", "net")]),
            record(&[
                ("CHLAUTH", "TO.*"),
                ("TYPE", "QMGRMAP"),
                ("QMNAME", "QM2"),
                ("MCAUSER", "two"),
            ]),
            record(&[("CHLAUTH", "TO.QM1"), ("ADDRESS", "10.9.9.9"), ("MCAUSER", "nine")]),
        ];
        assert_eq!(asked(&records, caller("TO.QM1", "10.2.7.7")).unwrap(), "two");
        assert_eq!(asked(&records, caller("TO.QM1", "10.9.9.9")).unwrap(), "nine");
        let other = Caller { partner: Some("QM3"), ..caller("TO.QM1", "10.2.7.7") };
        assert_eq!(asked(&records, other).unwrap(), "net");
        assert!(asked(&records, caller("FROM.X", "10.2.7.7")).is_err());
        assert_eq!(asked(&[], caller("FROM.X", "10.2.7.7")).unwrap(), "own");
    }

    #[test]
    fn blocked_addresses_and_users_stay_outside() {
        let blocked =
            record(&[("CHLAUTH", "*"), ("TYPE", "BLOCKADDR"), ("ADDRLIST", "192.168.*,10.0.0.5")]);
        assert!(asked(std::slice::from_ref(&blocked), caller("A", "192.168.3.4")).is_err());
        assert!(asked(std::slice::from_ref(&blocked), caller("A", "10.0.0.5")).is_err());
        assert!(asked(std::slice::from_ref(&blocked), caller("A", "10.0.0.6")).is_ok());
        let warned = {
            let mut object = blocked;
            object.set("WARN", &"YES".into()).unwrap();
            object
        };
        assert!(asked(&[warned], caller("A", "10.0.0.5")).is_ok());
        let users = record(&[("CHLAUTH", "A"), ("TYPE", "BLOCKUSER"), ("USERLIST", "*MQADMIN")]);
        let map = record(&[("CHLAUTH", "A"), ("ADDRESS", "*"), ("MCAUSER", "root")]);
        assert!(asked(&[users.clone(), map], caller("A", "10.0.0.6")).is_err());
        assert_eq!(asked(&[users], caller("A", "10.0.0.6")).unwrap(), "own");
    }

    #[test]
    fn programs_are_no_administrators_and_partners_if_their_channel_says_so() {
        let users = record(&[("CHLAUTH", "*"), ("TYPE", "BLOCKUSER"), ("USERLIST", "*MQADMIN")]);
        let admin = |user: &str| user == "root";
        let asked = |caller: &Caller<'_>| decide([&users].into_iter(), caller, "root", &admin);
        let partner = caller("A", "10.0.0.6");
        assert_eq!(asked(&partner).map(|admitted| admitted.user), Ok("root".into()));
        assert!(asked(&Caller { partner: None, user: Some("root"), ..partner }).is_err());
        assert!(asked(&Caller { partner: None, ..partner }).is_err());
    }

    #[test]
    fn certificates_go_first() {
        let records = [
            record(&[
                ("CHLAUTH", "A"),
                ("TYPE", "SSLPEERMAP"),
                ("SSLPEER", "CN=\"qm2*\" O=none"),
                ("MCAUSER", "wrong"),
            ]),
            record(&[
                ("CHLAUTH", "A"),
                ("TYPE", "SSLPEERMAP"),
                ("SSLPEER", "O=Ours"),
                ("MCAUSER", "right"),
            ]),
        ];
        let with = Caller { subject: Some("CN=qm2.example, O=Ours"), ..caller("A", "::1") };
        assert_eq!(asked(&records, with).unwrap(), "right");
        assert_eq!(asked(&records, caller("A", "::1")).unwrap(), "own");
    }

    #[test]
    fn what_stands_within_a_part_of_a_name_is_no_part() {
        let hostile = name_part("CN", "x, O=Ours");
        assert!(!name_matches("O=Ours", &hostile) && name_matches("CN=\"x, O=Ours\"", &hostile));
        assert!(!name_matches("CN=\"*\",O=Ours", &name_part("CN", "x\", O=Ours,L=\"")));
        assert!(!name_matches("O=Ours", &name_part("CN", "x\\, O=Ours")));
        let honest = format!("{}, {}", name_part("CN", "qm1 a"), name_part("O", "Ours, Inc; "));
        assert!(name_matches("cn=qm1*; O=\"Ours, Inc; \"", &honest));
        assert!(name_matches("O=Ours\\, Inc*,", &honest) && name_matches("O=Ours*", &honest));
        // What is no pattern fits nothing.
        assert!(!name_matches("O=Ours, Inc", &honest) && !name_matches("O=\"Ours", &honest));
        assert!(!name_matches("", &honest) && !name_matches("CN=qm1 a\\", &honest));
    }

    #[test]
    fn patterns_of_addresses_have_as_many_parts() {
        assert!(address_matches("*", "1.2.3.4") && address_matches("1.2.*", "1.2.3.4"));
        assert!(address_matches("1.2.*.4", "1.2.3.4") && address_matches("1.2.0-9.4", "1.2.3.4"));
        assert!(!address_matches("1.2.3", "1.2.3.4") && !address_matches("1.2.3.4.5", "1.2.3.4"));
        assert!(!address_matches("1.2.4-9.4", "1.2.3.4"));
        assert!(address_matches("fe80:*", "fe80::1") && !address_matches("fe81:*", "fe80::1"));
    }
}
