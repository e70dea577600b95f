//! The interface's constants: names and values.
//!
//! `interface.txt` has those of the calls, `commands.txt` those of command messages. A line is a
//! name and a value: a number, `"text"`, `char(n)` for one character, `zero(n)` for so many zero
//! bytes. Headers and copybooks are made from these lists.

/// Constants of the calls.
const INTERFACE: &str = include_str!("interface.txt");
/// Constants of command messages.
const COMMANDS: &str = include_str!("commands.txt");

/// What a constant is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    /// A number.
    Number(i64),
    /// Characters.
    Text(&'static str),
    /// One character.
    Character(u8),
    /// So many zero bytes.
    Zero(usize),
}

/// Constants of the calls, in the order of the list.
pub fn interface() -> impl Iterator<Item = (&'static str, Constant)> {
    INTERFACE.lines().filter_map(parse)
}

/// Constants of command messages, in the order of the list.
pub fn commands() -> impl Iterator<Item = (&'static str, Constant)> {
    COMMANDS.lines().filter_map(parse)
}

/// The value of a constant that is a number.
#[must_use]
pub fn number(name: &str) -> Option<i64> {
    let found = interface().chain(commands()).find(|(known, _)| *known == name)?;
    match found.1 {
        Constant::Number(value) => Some(value),
        _ => None,
    }
}

fn parse(line: &'static str) -> Option<(&'static str, Constant)> {
    let (name, value) = line.split_once(' ')?;
    let inside = |kind: &str| value.strip_prefix(kind)?.strip_suffix(')');
    let constant = if let Some(text) = value.strip_prefix('"') {
        Constant::Text(text.strip_suffix('"')?)
    } else if let Some(number) = inside("char(") {
        Constant::Character(number.parse().ok()?)
    } else if let Some(number) = inside("zero(") {
        Constant::Zero(number.parse().ok()?)
    } else {
        Constant::Number(value.parse().ok()?)
    };
    Some((name, constant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use queue_manager::Reason;

    #[test]
    fn every_line_is_a_constant() {
        assert_eq!(interface().count(), INTERFACE.lines().count());
        assert_eq!(commands().count(), COMMANDS.lines().count());
        assert_eq!(number("MQRC_NO_MSG_AVAILABLE"), Some(2033));
        assert_eq!(number("MQCMD_INQUIRE_Q"), Some(13));
        let format = interface().find(|(name, _)| *name == "MQFMT_STRING");
        assert_eq!(format, Some(("MQFMT_STRING", Constant::Text("MQSTR   "))));
    }

    #[test]
    fn the_reasons_of_the_queue_manager_are_the_interfaces() {
        let differs = |reason: &&Reason| {
            let name = format!("MQRC_{}", reason.name().unwrap_or_default());
            number(&name) != Some(i64::from(reason.0))
        };
        let wrong: Vec<String> =
            Reason::ALL.iter().filter(differs).map(ToString::to_string).collect();
        assert!(wrong.is_empty(), "reasons with other names or numbers: {wrong:?}");
    }
}
