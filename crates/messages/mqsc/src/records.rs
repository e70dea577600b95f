//! `CHLAUTH` and `AUTHREC`: who may connect as whom, and who may do what.
//!
//! 1. A record is an object like others. Its name is composed of what tells it from other records,
//!    part by part; what no name may have stands as `%` and two digits.
//! 2. An authority record without any authority is not kept.

use queue_manager::QueueManager;
use queue_manager::name::matches_generic;
use queue_manager::objects::{Kind, Object, Value};
use store::Store;

use crate::attributes::{Given, assign, displayed, field};
use crate::command::Command;
use crate::display::Wanted;
use crate::error::SyntaxError;
use crate::failure::{CommandError, Done};
use crate::reply::{Field, MessageId, Reply};

/// Parts of a name, one behind the other.
fn composed(parts: &[&str]) -> String {
    let mut name = String::new();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            name.push('/');
        }
        for byte in part.bytes() {
            match byte {
                b'.' | b'_' => name.push(byte as char),
                byte if byte.is_ascii_alphanumeric() => name.push(byte as char),
                byte => name.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    name
}

/// What tells a channel authentication record from others of its channel and type.
const DISTINGUISHED_BY: &[&str] = &["ADDRESS", "CLNTUSER", "QMNAME", "SSLPEER", "SSLCERTI"];

const MAP_TYPES: [&str; 6] =
    ["BLOCKUSER", "BLOCKADDR", "SSLPEERMAP", "ADDRESSMAP", "USERMAP", "QMGRMAP"];

pub(crate) fn set_channel<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let profile = command.named()?.text.trim_end().to_owned();
    let of_type = command.keywords.word("TYPE", &MAP_TYPES)?;
    let actions = ["ADD", "REPLACE", "REMOVE", "REMOVEALL"];
    let action = command.keywords.word("ACTION", &actions)?.unwrap_or("ADD");
    let words = command.keywords.rest();
    let mut given = assign(Kind::ChannelAuthority, &command.title, &words)?;
    let Some(of_type) = of_type else {
        let (command, end) = (command.title.clone(), command.keywords.end_of_text());
        return Err(SyntaxError::Missing { command, keyword: "TYPE", end }.into());
    };
    let text = |given: &Given, name: &str| {
        let found = given.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_string()).unwrap_or_default()
    };
    let parts: Vec<String> = DISTINGUISHED_BY.iter().map(|part| text(&given, part)).collect();
    let mut name = vec![&*profile, of_type];
    name.extend(parts.iter().map(|part| &**part));
    let name = composed(&name);
    let here = manager.object(Kind::ChannelAuthority, &name);
    match (action, here) {
        ("REMOVE" | "REMOVEALL", None) => {
            return Err(CommandError::NotFound {
                what: "Channel authentication record",
                name: format!("CHLAUTH({profile}) TYPE({of_type})"),
            });
        }
        ("REMOVE" | "REMOVEALL", Some(_)) => {
            manager.delete(Kind::ChannelAuthority, &name, false)?;
        }
        (_, Some(here)) => {
            let changes: Given = given
                .into_iter()
                .filter(|(name, _)| !DISTINGUISHED_BY.contains(name))
                .map(|(name, value)| match (action, here.get(name), value) {
                    ("ADD", Some(Value::List(old)), Value::List(more)) => {
                        (name, Value::List(joined(old, &more)))
                    }
                    (_, _, value) => (name, value),
                })
                .collect();
            manager.alter(Kind::ChannelAuthority, &name, &changes)?;
        }
        (_, None) => {
            given.push(("CHLAUTH", Value::Text(profile)));
            given.push(("TYPE", of_type.into()));
            manager.define(Kind::ChannelAuthority, &name, &given, false, None)?;
        }
    }
    let text = "Channel authentication record set.";
    Ok(vec![Reply::new(MessageId::done(8877), text)])
}

/// A list with more items, each once.
fn joined(old: &[String], more: &[String]) -> Vec<String> {
    let mut all = old.to_vec();
    for item in more {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

pub(crate) fn display_channel<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let profile = command.named()?.text.trim_end().to_owned();
    let of_type = command.keywords.word("TYPE", &MAP_TYPES)?;
    let _ = command.keywords.word("MATCH", &["GENERIC", "EXACT", "ALL"])?;
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| {
        crate::attributes::named(Kind::ChannelAuthority, keyword).is_some()
    })?;
    let found = manager.list(Kind::ChannelAuthority, "*");
    let replies: Vec<Reply> = found
        .iter()
        .filter(|record| matches_generic(record.text_of("CHLAUTH"), &profile))
        .filter(|record| of_type.is_none_or(|of_type| record.is("TYPE", of_type)))
        .filter_map(|record| shown(record, &["CHLAUTH", "TYPE"], &wanted, 8878))
        .collect();
    match replies.is_empty() {
        true => {
            Err(CommandError::NotFound { what: "Channel authentication record", name: profile })
        }
        false => Ok(replies),
    }
}

/// A record with its head first; blank attributes are not shown.
fn shown(record: &Object, head: &[&str], wanted: &Wanted, number: u16) -> Option<Reply> {
    let all = displayed(record);
    let of_head = |name: &str| head.iter().position(|part| *part == name);
    let mut fields: Vec<_> = all
        .iter()
        .filter(|(attribute, value)| {
            let blank = value.to_string().is_empty();
            of_head(attribute.name).is_some() || !blank
        })
        .collect();
    fields.sort_by_key(|(attribute, _)| of_head(attribute.name).unwrap_or(head.len()));
    let fields: Vec<Field> =
        fields.iter().map(|(attribute, value)| field(attribute, value)).collect();
    let text = match number {
        8878 => "Display channel authentication record details.",
        _ => "Display authority record details.",
    };
    let reply = |fields| Reply::new(MessageId::done(number), text).with(fields);
    wanted.holds(&fields).then(|| reply(wanted.select(fields, head.len(), true)))
}

const OBJECT_TYPES: [&str; 12] = [
    "QMGR", "QUEUE", "PROCESS", "NAMELIST", "CHANNEL", "CLNTCONN", "LISTENER", "SERVICE",
    "AUTHINFO", "TOPIC", "COMMINFO", "RQMNAME",
];

/// Authorities, each with the objects that it is for being nobody's concern here.
const AUTHORITIES: &[&str] = &[
    "ALTUSR", "BROWSE", "CHG", "CLR", "CONNECT", "CRT", "CTRL", "CTRLX", "DLT", "DSP", "GET",
    "INQ", "PASSALL", "PASSID", "PUB", "PUT", "RESUME", "SET", "SETALL", "SETID", "SUB", "SYSTEM",
];
/// Words that stand for several.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "ALLMQI",
        &[
            "ALTUSR", "BROWSE", "CONNECT", "GET", "INQ", "PASSALL", "PASSID", "PUB", "PUT",
            "RESUME", "SET", "SETALL", "SETID", "SUB",
        ],
    ),
    ("ALLADM", &["CHG", "CLR", "CRT", "CTRL", "CTRLX", "DLT", "DSP"]),
    ("ALL", AUTHORITIES),
    ("NONE", &[]),
];

/// What a record is about, as a command names it.
struct Subject {
    profile: String,
    object_type: &'static str,
    entity: String,
    entity_type: &'static str,
}

impl Subject {
    fn read(command: &mut Command) -> Result<Option<Subject>, SyntaxError> {
        let profile = command.keywords.one("PROFILE")?;
        let object_type = command.keywords.word("OBJTYPE", &OBJECT_TYPES)?;
        let principal = command.keywords.one("PRINCIPAL")?;
        let group = command.keywords.one("GROUP")?;
        let (entity, entity_type) = match (principal, group) {
            (Some(entity), None) => (entity, "PRINCIPAL"),
            (None, Some(entity)) => (entity, "GROUP"),
            (Some(_), Some(other)) => {
                return Err(SyntaxError::Twice { keyword: "GROUP".into(), end: other.end });
            }
            (None, None) => return Ok(None),
        };
        let Some(object_type) = object_type else { return Ok(None) };
        let profile = match profile {
            Some(profile) => profile.text.trim_end().to_owned(),
            None if object_type == "QMGR" => "SELF".to_owned(),
            None => return Ok(None),
        };
        let entity = entity.text.trim_end().to_owned();
        Ok(Some(Subject { profile, object_type, entity, entity_type }))
    }

    fn name(&self) -> String {
        composed(&[&self.profile, self.object_type, self.entity_type, &self.entity])
    }
}

fn needs_subject(command: &Command) -> CommandError {
    let (title, end) = (command.title.clone(), command.keywords.end_of_text());
    let keyword = "PROFILE, OBJTYPE, and PRINCIPAL or GROUP";
    SyntaxError::Missing { command: title, keyword, end }.into()
}

fn authorities(command: &mut Command, keyword: &str) -> Result<Vec<String>, SyntaxError> {
    let Some(word) = command.keywords.take(keyword) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for value in word.values.as_deref().unwrap_or_default() {
        let text = value.text.to_ascii_uppercase();
        let several = GROUPS.iter().find(|(name, _)| *name == text).map(|(_, parts)| *parts);
        let one = AUTHORITIES.iter().find(|known| **known == text).copied();
        match (several, one) {
            (Some(parts), _) => all.extend(parts.iter().map(|part| (*part).to_owned())),
            (None, Some(known)) => all.push(known.to_owned()),
            (None, None) => {
                let why = format!("it takes ALL, ALLADM, ALLMQI, NONE, {}", AUTHORITIES.join(", "));
                let keyword = keyword.to_owned();
                return Err(SyntaxError::Value { keyword, value: text, why, end: value.end });
            }
        }
    }
    Ok(all)
}

pub(crate) fn set_authority<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let subject = Subject::read(&mut command)?.ok_or_else(|| needs_subject(&command))?;
    let add = authorities(&mut command, "AUTHADD")?;
    let remove = authorities(&mut command, "AUTHRMV")?;
    command.keywords.end()?;
    let name = subject.name();
    let here = manager.object(Kind::AuthorityRecord, &name);
    let old = match here.as_ref().and_then(|record| record.get("AUTHLIST")) {
        Some(Value::List(list)) => list.clone(),
        _ => Vec::new(),
    };
    let mut list = joined(&old, &add);
    list.retain(|one| !remove.contains(one));
    list.sort_unstable();
    let given: Given = vec![
        ("PROFILE", Value::Text(subject.profile)),
        ("OBJTYPE", Value::Text(subject.object_type.to_owned())),
        ("ENTITY", Value::Text(subject.entity)),
        ("ENTTYPE", subject.entity_type.into()),
        ("AUTHLIST", Value::List(list.clone())),
    ];
    match (here.is_some(), list.is_empty()) {
        (true, true) => manager.delete(Kind::AuthorityRecord, &name, false)?,
        (true, false) => {
            let changes = [("AUTHLIST", Value::List(list))];
            manager.alter(Kind::AuthorityRecord, &name, &changes)?;
        }
        (false, true) => {}
        (false, false) => manager.define(Kind::AuthorityRecord, &name, &given, false, None)?,
    }
    Ok(vec![Reply::new(MessageId::done(8862), "Authority record set.")])
}

pub(crate) fn delete_authority<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let subject = Subject::read(&mut command)?.ok_or_else(|| needs_subject(&command))?;
    command.keywords.end()?;
    let name = subject.name();
    if manager.object(Kind::AuthorityRecord, &name).is_none() {
        let name = subject.profile;
        return Err(CommandError::NotFound { what: "Authority record", name });
    }
    manager.delete(Kind::AuthorityRecord, &name, false)?;
    Ok(vec![Reply::new(MessageId::done(8863), "Authority record deleted.")])
}

pub(crate) fn display_authority<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let profile = command.keywords.one_if_valued("PROFILE")?;
    let object_type = match command.keywords.one_if_valued("OBJTYPE")? {
        Some(value) if value.text == "ALL" => None,
        value => value,
    };
    let principal = command.keywords.one_if_valued("PRINCIPAL")?;
    let group = command.keywords.one_if_valued("GROUP")?;
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| {
        crate::attributes::named(Kind::AuthorityRecord, keyword).is_some()
    })?;
    let matches = |value: &Option<crate::syntax::Value>, text: &str| {
        value.as_ref().is_none_or(|value| matches_generic(text, value.text.trim_end()))
    };
    let found = manager.list(Kind::AuthorityRecord, "*");
    let replies: Vec<Reply> = found
        .iter()
        .filter(|record| matches(&profile, record.text_of("PROFILE")))
        .filter(|record| matches(&object_type, record.text_of("OBJTYPE")))
        .filter(|record| match record.is("ENTTYPE", "GROUP") {
            true => principal.is_none() && matches(&group, record.text_of("ENTITY")),
            false => group.is_none() && matches(&principal, record.text_of("ENTITY")),
        })
        .filter_map(|record| shown(record, &["PROFILE", "ENTITY", "ENTTYPE"], &wanted, 8864))
        .collect();
    match replies.is_empty() {
        true => {
            let name = profile.map_or_else(|| "*".to_owned(), |profile| profile.text);
            Err(CommandError::NotFound { what: "Authority record", name })
        }
        false => Ok(replies),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_composed_so_that_parts_stay_apart() {
        assert_eq!(composed(&["A.*", "QUEUE", "jo e"]), "A.%2A/QUEUE/jo%20e");
        assert_ne!(composed(&["A/B", "C"]), composed(&["A", "B/C"]));
    }
}
