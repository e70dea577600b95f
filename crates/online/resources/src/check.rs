//! What does not fit together, in one definition and among several.

use std::collections::BTreeMap;

use otma::Name;

use crate::attribute::{Commands, FastPath, Mode, ScheduleType};
use crate::error::ResourceError;
use crate::model::{Definition, Kind, SetError, Transaction};

/// A change to definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new resource.
    Create(Definition),
    /// One that may be there already; it is replaced then.
    Put(Definition),
    /// Other attributes for one that is there.
    Update {
        /// The kind.
        kind: Kind,
        /// The name, or a mask with `*` and `%`.
        name: String,
        /// Attributes and values.
        settings: Vec<(String, String)>,
    },
    /// One that goes.
    Delete {
        /// The kind.
        kind: Kind,
        /// The name, or a mask with `*` and `%`.
        name: String,
    },
}

/// Definitions by kind and name.
pub type Known = BTreeMap<(Kind, Name), Definition>;

const LONE: u16 = 65_535;

/// Checks a definition against the others.
///
/// # Errors
/// What does not fit.
pub fn check(definition: &Definition, known: &Known) -> Result<(), ResourceError> {
    let (kind, name) = (definition.kind(), definition.name());
    let named = match definition {
        Definition::Transaction(one) => one.program,
        Definition::RoutingCode(one) => one.program,
        Definition::Database(_) | Definition::Program(_) => return Ok(()),
    };
    let program = match known.get(&(Kind::Program, named)) {
        Some(Definition::Program(program)) => program,
        _ => return Err(ResourceError::NoProgram { kind, name, program: named }),
    };
    let Definition::Transaction(one) = definition else { return Ok(()) };
    let serial = program.schedule_type == ScheduleType::Serial;
    let offence = of_transaction(one, serial).or_else(|| {
        (one.fast_path == FastPath::Exclusive && program.fast_path != FastPath::Exclusive)
            .then_some("FP(E) needs a program with FP(E)")
    });
    offence.map_or(Ok(()), |what| Err(ResourceError::Conflict { kind, name, what }))
}

fn of_transaction(one: &Transaction, serial_program: bool) -> Option<&'static str> {
    let rules = [
        (one.conversation && one.spa_bytes < 16, "CONV(Y) needs SPASZ of at least 16"),
        (one.conversation && one.spa_bytes > 32_767, "SPASZ may be at most 32767"),
        (!one.conversation && one.spa_bytes > 0, "SPASZ needs CONV(Y)"),
        (one.conversation && !one.recoverable, "CONV(Y) needs RECOVER(Y)"),
        (one.conversation && one.mode == Mode::Multiple, "CONV(Y) needs CMTMODE(SNGL)"),
        (!one.recoverable && !one.inquiry, "RECOVER(N) needs INQ(Y)"),
        (one.limit_priority < one.normal_priority, "LPRI may not be less than NPRI"),
        (one.limit_count == 0, "LCT is at least 1"),
        (one.regions_max > 0 && one.parallel_limit == LONE, "MAXRGN needs PARLIM below 65535"),
        (serial_program && one.parallel_limit != LONE, "PARLIM needs SCHDTYPE(PARALLEL)"),
        (one.serial && one.parallel_limit != LONE, "SERIAL(Y) needs PARLIM(65535)"),
        (one.remote && one.remote_id == 0 && one.msname.is_blank(), "REMOTE(Y) needs SIDR"),
        (one.remote && one.commands != Commands::None, "REMOTE(Y) issues no commands here"),
        (one.fast_path == FastPath::Exclusive && !one.response, "FP(E) needs RESP(Y)"),
        (one.segments_max > 0x7fff, "SEGNO may be at most 32767"),
    ];
    rules.into_iter().find_map(|(offends, what)| offends.then_some(what))
}

/// Applies changes to definitions; answers which keys they touch.
pub(crate) fn apply(
    known: &mut Known,
    changes: &[Change],
) -> Result<Vec<(Kind, Name)>, ResourceError> {
    let mut touched = Vec::with_capacity(changes.len());
    for change in changes {
        match change {
            Change::Create(one) | Change::Put(one) => {
                let key = (one.kind(), one.name());
                if matches!(change, Change::Create(_)) && known.contains_key(&key) {
                    return Err(ResourceError::Exists { kind: key.0, name: key.1 });
                }
                known.insert(key, one.clone());
                touched.push(key);
            }
            Change::Update { kind, name, settings } => {
                for key in matching(known, *kind, name)? {
                    if let Some(one) = known.get_mut(&key) {
                        set_all(one, settings)?;
                    }
                    touched.push(key);
                }
            }
            Change::Delete { kind, name } => {
                for key in matching(known, *kind, name)? {
                    known.remove(&key);
                    touched.push(key);
                }
            }
        }
    }
    still_fits(known, &touched)?;
    Ok(touched)
}

pub(crate) fn set_all(
    one: &mut Definition,
    settings: &[(String, String)],
) -> Result<(), ResourceError> {
    for (attribute, value) in settings {
        one.set(attribute, value).map_err(|error| ResourceError::Value {
            kind: one.kind(),
            name: one.name(),
            attribute: attribute.clone(),
            value: value.clone(),
            expected: match error {
                SetError::Unknown => "no value: there is no such attribute",
                SetError::Value(expected) => expected,
            },
        })?;
    }
    Ok(())
}

/// What was touched fits, and nothing names a program that has gone.
fn still_fits(known: &Known, touched: &[(Kind, Name)]) -> Result<(), ResourceError> {
    let mut programs = false;
    for key in touched {
        match known.get(key) {
            Some(one) => check(one, known)?,
            None => programs |= key.0 == Kind::Program,
        }
        programs |= key.0 == Kind::Program;
    }
    if !programs {
        return Ok(());
    }
    let dependants = known.range((Kind::RoutingCode, Name([0; 8]))..);
    for ((kind, name), one) in dependants {
        match check(one, known) {
            Err(ResourceError::NoProgram { program, .. })
                if touched.contains(&(Kind::Program, program)) =>
            {
                return Err(ResourceError::InUse { program, kind: *kind, name: *name });
            }
            other => other?,
        }
    }
    Ok(())
}

fn matching(known: &Known, kind: Kind, mask: &str) -> Result<Vec<(Kind, Name)>, ResourceError> {
    let absent = || ResourceError::Absent { kind, name: Name::new(mask).unwrap_or_default() };
    if !mask.contains(['*', '%']) {
        let name = Name::new(mask).ok_or_else(absent)?;
        return known.get(&(kind, name)).map(|_| vec![(kind, name)]).ok_or_else(absent);
    }
    let keys = known.range((kind, Name([0; 8]))..=(kind, Name([0xff; 8])));
    let found: Vec<_> =
        keys.map(|(key, _)| *key).filter(|(_, name)| fits(mask, &name.text())).collect();
    if found.is_empty() { Err(absent()) } else { Ok(found) }
}

/// Whether a name fits a mask: `*` stands for any characters, `%` for one.
pub(crate) fn fits(mask: &str, name: &str) -> bool {
    base::wildcard::text_fits(mask.as_bytes(), name.as_bytes(), Some(b'%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_fit_names() {
        for (mask, name, expected) in [
            ("*", "", true),
            ("PA*", "PART", true),
            ("PA*", "PB", false),
            ("P%RT", "PART", true),
            ("*RT*", "PARTS", true),
            ("P%", "P", false),
            ("*A*A", "BABAB", false),
        ] {
            assert_eq!(fits(mask, name), expected, "{mask} {name}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let name = |text: &str| Name::new(text).expect("a name");
        let mut known = Known::new();
        let program = Definition::new(Kind::Program, name("P"));
        let mut transaction = Definition::new(Kind::Transaction, name("T"));
        transaction.set("PGM", "P").expect("a name");
        let alone = apply(&mut known.clone(), &[Change::Create(transaction.clone())]);
        assert!(matches!(alone, Err(ResourceError::NoProgram { .. })), "{alone:?}");
        let both = [Change::Create(transaction.clone()), Change::Create(program)];
        assert_eq!(apply(&mut known, &both).map(|touched| touched.len()).ok(), Some(2));
        let conv = vec![("CONV".to_owned(), "Y".to_owned())];
        let update = Change::Update { kind: Kind::Transaction, name: "T".into(), settings: conv };
        let without = apply(&mut known.clone(), &[update]);
        assert!(matches!(without, Err(ResourceError::Conflict { .. })), "{without:?}");
        // Each turn of a terminal is a unit of work; one for several would keep one turn alone.
        let multiple = [("CONV", "Y"), ("SPASZ", "30"), ("CMTMODE", "MULT")];
        let multiple = multiple.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        let of_many = |settings: &[(String, String)]| {
            let (kind, name, settings) = (Kind::Transaction, "T".into(), settings.to_vec());
            apply(&mut known.clone(), &[Change::Update { kind, name, settings }])
        };
        assert!(of_many(&multiple[..2]).is_ok());
        let refused = of_many(&multiple).map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|text| text.contains("CMTMODE(SNGL)")), "{refused:?}");
        let gone = Change::Delete { kind: Kind::Program, name: "P*".into() };
        let used = apply(&mut known.clone(), std::slice::from_ref(&gone));
        assert!(matches!(used, Err(ResourceError::InUse { .. })), "{used:?}");
        let whole = [gone, Change::Delete { kind: Kind::Transaction, name: "T".into() }];
        assert!(apply(&mut known, &whole).is_ok() && known.is_empty());
    }
}
