//! From a record's items to the steps of its plan: what redefines what, and which of them counts.
//!
//! Invariants:
//! 1. Nothing is guessed: items that redefine each other and would be converted differently need a
//!    choice. Characters and digits without a sign are alike but for the last digit; where they
//!    meet, all are characters, which come back whatever they are.

use codec::transcode::Class;

use crate::error::CopybookError;
use crate::record::{Item, Kind};
use crate::steps::{Number, PLAN_BYTES_MAX, Step, walk_fixed};

/// What is decided about a record besides its description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    /// Which of items that redefine each other count.
    pub(crate) redefinitions: Vec<String>,
    /// Items that are not converted.
    pub(crate) binary: Vec<String>,
    /// Items that are converted as text.
    pub(crate) text: Vec<String>,
}

/// What was made.
pub(crate) struct Made {
    pub(crate) steps: Vec<Step>,
    /// The names of its numbers.
    pub(crate) names: Vec<String>,
    /// The items that say how often tables are there.
    pub(crate) slots: Vec<String>,
    /// Items of COMP-1, COMP-2 and COMP-5.
    pub(crate) native: Vec<String>,
}

/// The steps of a record.
pub(crate) fn steps_of(
    subject: &str,
    record: &Item,
    choices: &Choices,
) -> Result<Made, CopybookError> {
    let mut maker = Maker {
        subject,
        choices,
        names: Vec::new(),
        slots: Vec::new(),
        known: 0,
        native: Vec::new(),
        record,
        made: 0,
    };
    maker.check_names()?;
    if record.bytes > PLAN_BYTES_MAX {
        return Err(maker.misfit(format!("it describes more than {PLAN_BYTES_MAX} bytes")));
    }
    let steps = maker.item(record)?;
    let Maker { names, slots, native, .. } = maker;
    Ok(Made { steps, names, slots, native })
}

struct Maker<'a> {
    subject: &'a str,
    choices: &'a Choices,
    record: &'a Item,
    names: Vec<String>,
    /// The items that say how often tables are there.
    slots: Vec<String>,
    /// How many of them stand in front of the place that is looked at, as bits.
    known: u64,
    native: Vec<String>,
    /// How many steps were made.
    made: usize,
}

impl Maker<'_> {
    fn misfit(&self, what: String) -> CopybookError {
        CopybookError::Misfit { subject: self.subject.to_owned(), what }
    }

    /// Every name that the choices use is there, and finds the counters.
    fn check_names(&mut self) -> Result<(), CopybookError> {
        let Choices { redefinitions, binary, text } = self.choices;
        for name in redefinitions.iter().chain(binary).chain(text) {
            if self.record.find(name).is_none() {
                return Err(self.misfit(format!("there is no item {name}")));
            }
        }
        let mut names: Vec<String> = Vec::new();
        self.record.visit(&mut |item| {
            let name = item.occurs.as_ref().and_then(|occurs| occurs.depending.clone());
            names.extend(name);
        });
        names.sort();
        names.dedup();
        if names.len() > 60 {
            return Err(self.misfit("more than 60 items say how often tables are there".into()));
        }
        self.slots = names;
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<Vec<Step>, CopybookError> {
        self.made += 1;
        if self.made > PLAN_BYTES_MAX {
            return Err(self.misfit("it has too many items".into()));
        }
        let listed = |names: &[String]| {
            let own = item.name.as_deref();
            own.is_some_and(|own| names.iter().any(|name| name.eq_ignore_ascii_case(own)))
        };
        let forced = match (listed(&self.choices.binary), listed(&self.choices.text)) {
            (true, _) => Some(Class::Raw),
            (_, true) => Some(Class::Text),
            _ => None,
        };
        let mut steps = match forced {
            Some(class) if !item.children.iter().any(Item::is_variable) => {
                vec![Step::Run { class, len: item.bytes }]
            }
            _ if item.kind == Kind::Group => self.group(item)?,
            _ => vec![self.elementary(item)?],
        };
        let slot =
            item.name.as_ref().and_then(|name| self.slots.iter().position(|slot| slot == name));
        if let Some(slot) = slot {
            steps.insert(0, Step::Count { slot, kind: item.kind, len: item.bytes });
            self.known |= 1 << slot;
        }
        let Some(occurs) = &item.occurs else { return Ok(steps) };
        let mut varying = None;
        if let Some(name) = &occurs.depending {
            let slot = self.slots.iter().position(|slot| slot == name);
            let slot = slot.filter(|slot| self.known & 1 << slot != 0).ok_or_else(|| {
                self.misfit(format!(
                    "{} is there as often as {name} says, which does not stand in front of it",
                    item.title()
                ))
            })?;
            varying = Some((slot, occurs.min));
        }
        Ok(vec![Step::Repeat { times: occurs.max, slot: varying, steps }])
    }

    fn elementary(&mut self, item: &Item) -> Result<Step, CopybookError> {
        let run = |class| Step::Run { class, len: item.bytes };
        Ok(match item.kind {
            Kind::Text => run(Class::Text),
            Kind::Zoned { sign } => {
                self.names.push(item.title());
                Step::Zoned(Number { name: self.names.len() - 1, len: item.bytes, sign })
            }
            Kind::Dbcs => {
                return Err(self.misfit(format!(
                    "{} holds double-byte characters, which are not converted: name it in \
                     `binary` to keep them as they are",
                    item.title()
                )));
            }
            Kind::Single | Kind::Double | Kind::Native { .. } => {
                self.native.push(item.title());
                run(Class::Raw)
            }
            _ => run(Class::Raw),
        })
    }

    /// The items of a group, those that redefine each other as one.
    fn group(&mut self, group: &Item) -> Result<Vec<Step>, CopybookError> {
        let mut steps = Vec::new();
        let mut at = group.offset;
        let mut rest = &group.children[..];
        while let Some(first) = rest.first() {
            let others = rest[1..].iter().take_while(|item| item.redefines.is_some()).count();
            let (same, behind) = rest.split_at(others + 1);
            rest = behind;
            if first.offset > at {
                steps.push(Step::Run { class: Class::Raw, len: first.offset - at });
            }
            let len = same.iter().map(Item::bytes_max).max().unwrap_or_default();
            let (own, mut chosen) = self.chosen(same)?;
            steps.append(&mut chosen);
            if own < len {
                steps.push(Step::Run { class: Class::Text, len: len - own });
            }
            at = first.offset + len;
        }
        let end = group.offset + group.bytes;
        if end > at {
            steps.push(Step::Run { class: Class::Raw, len: end - at });
        }
        Ok(steps)
    }

    /// The steps of that one of items that redefine each other which counts, and its length.
    fn chosen(&mut self, same: &[Item]) -> Result<(usize, Vec<Step>), CopybookError> {
        if let [only] = same {
            return Ok((only.bytes_max(), self.item(only)?));
        }
        let is_named = |item: &&Item| {
            let names = &self.choices.redefinitions;
            names.iter().any(|name| item.find(name).is_some())
        };
        let named: Vec<&Item> = same.iter().filter(is_named).collect();
        let titles = || same.iter().map(Item::title).collect::<Vec<_>>().join(", ");
        match named[..] {
            [one] => return Ok((one.bytes_max(), self.item(one)?)),
            [] => {}
            _ => return Err(self.misfit(format!("`redefines` names several of {}", titles()))),
        }
        // Each is looked at once, whatever stands beneath it: its steps are made here.
        let (known, native) = (self.known, self.native.clone());
        let mut best: Option<(usize, Vec<Step>, u64, Vec<String>)> = None;
        let mut flat: Vec<Vec<Class>> = Vec::new();
        for item in same.iter().filter(|_| !same.iter().any(Item::is_variable)) {
            (self.known, self.native) = (known, native.clone());
            let steps = self.item(item)?;
            flat.push(walk_fixed(&steps).classes);
            let len = item.bytes_max();
            if best.as_ref().is_none_or(|(best, ..)| len > *best) {
                best = Some((len, steps, self.known, std::mem::take(&mut self.native)));
            }
        }
        // What only one of them describes is as that one has it: the longest describes everything.
        match best.zip(together(&flat)) {
            Some(((len, steps, known, native), classes)) => {
                (self.known, self.native) = (known, native);
                let mut as_agreed = Vec::new();
                agree(&steps, &classes, &mut 0, &mut as_agreed);
                Ok((len, as_agreed))
            }
            None => Err(self.misfit(format!(
                "{} redefine each other and are converted differently: say in `redefines` which \
                 of them counts, with `when` if that depends on the record",
                titles()
            ))),
        }
    }
}

/// The classes of bytes that several items describe; `None` if these do not agree (1).
fn together(flat: &[Vec<Class>]) -> Option<Vec<Class>> {
    let mut classes = flat.iter().max_by_key(|classes| classes.len())?.clone();
    for item in flat {
        for (own, class) in item.iter().zip(&mut classes) {
            *class = match (*own, *class) {
                (own, class) if own == class => own,
                (Class::Text, Class::Unsigned) | (Class::Unsigned, Class::Text) => Class::Text,
                _ => return None,
            };
        }
    }
    Some(classes)
}

/// The same steps with other classes: a number of which a digit is a character is none.
fn agree(steps: &[Step], classes: &[Class], at: &mut usize, out: &mut Vec<Step>) {
    for step in steps {
        let own = walk_fixed(std::slice::from_ref(step)).classes;
        let agreed = classes.get(*at..*at + own.len()).unwrap_or_default();
        match step {
            _ if own == agreed => {
                out.push(step.clone());
                *at += own.len();
            }
            Step::Repeat { times, slot: None, steps } => {
                (0..*times).for_each(|_| agree(steps, classes, at, out));
            }
            _ => {
                let runs = agreed.chunk_by(|one, other| one == other);
                out.extend(runs.map(|run| Step::Run { class: run[0], len: run.len() }));
                *at += own.len();
            }
        }
    }
}
