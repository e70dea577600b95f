//! Generation data groups: names of generations, which one a relative number stands for, and which
//! ones leave.
//!
//! 1. A generation is called as its group, then `.GnnnnVnn`: its number and version.
//! 2. A group lists its generations from the oldest to the newest. The number after 9999 is 1.
//! 3. A generation with another version of a number that is listed takes its place.
//! 4. What is renamed is a generation by its new name, or none; nothing that is called otherwise
//!    leaves a group.

use crate::attributes::GenerationGroupAttributes;
use crate::entry::Definition;
use crate::error::CatalogError;
use crate::name::DataSetName;

/// The highest number of a generation.
const NUMBER_MAX: u16 = 9999;

/// The generations of a group at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationList {
    pub(crate) group: DataSetName,
    pub(crate) generations: Vec<DataSetName>,
}

impl GenerationList {
    /// The name of a generation by its relative number: 0 is the newest, -1 the one before, 1 the
    /// one that is defined next.
    ///
    /// # Errors
    /// If there is no such generation.
    pub fn relative(&self, number: i32) -> Result<DataSetName, CatalogError> {
        let name = relative(&self.group, &self.generations, number);
        let none = || CatalogError::NoGeneration { name: self.group.clone(), relative: number };
        name.ok_or_else(none)
    }
}

/// The last qualifier of a generation's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) number: u16,
    pub(crate) version: u8,
}

/// What a new generation does to its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RolledIn {
    pub(crate) generations: Vec<DataSetName>,
    pub(crate) leave: Vec<DataSetName>,
}

impl Generation {
    /// Reads the last qualifier of a name.
    pub(crate) fn of(name: &DataSetName) -> Option<Generation> {
        let last = name.qualifiers().next_back()?;
        let (number, version) = last.strip_prefix('G')?.split_once('V')?;
        let digits = |text: &str| text.bytes().all(|letter| letter.is_ascii_digit());
        if number.len() != 4 || version.len() != 2 || !digits(number) || !digits(version) {
            return None;
        }
        let (number, version) = (number.parse().ok()?, version.parse().ok()?);
        (number > 0).then_some(Generation { number, version })
    }

    /// The name of the generation in a group.
    pub(crate) fn name(self, group: &DataSetName) -> Option<DataSetName> {
        group.with(&format!("G{:04}V{:02}", self.number, self.version)).ok()
    }
}

/// The name of the group that a generation would belong to by its name.
pub(crate) fn group_of(name: &DataSetName) -> Option<DataSetName> {
    Generation::of(name)?;
    name.first_qualifiers(name.qualifiers().count() - 1)
}

/// Whether a name is that of a generation of a group.
pub(crate) fn is_of(name: &DataSetName, group: &DataSetName) -> bool {
    group_of(name).as_ref() == Some(group)
}

/// The generation by its relative number; `None` if there is none.
pub(crate) fn relative(
    group: &DataSetName,
    generations: &[DataSetName],
    relative: i32,
) -> Option<DataSetName> {
    if relative <= 0 {
        let back = usize::try_from(relative.unsigned_abs()).ok()?;
        return generations.iter().rev().nth(back).cloned();
    }
    let newest = generations.last().and_then(Generation::of).map_or(0, |last| last.number);
    let number = (i64::from(newest) + i64::from(relative) - 1) % i64::from(NUMBER_MAX) + 1;
    Generation { number: u16::try_from(number).ok()?, version: 0 }.name(group)
}

/// What becomes of a group when a generation is added.
pub(crate) fn roll_in(
    attributes: &GenerationGroupAttributes,
    generations: &[DataSetName],
    name: &DataSetName,
) -> RolledIn {
    let mut generations = generations.to_vec();
    let mut leave = Vec::new();
    let number = Generation::of(name).map(|new| new.number);
    let same =
        generations.iter().position(|old| Generation::of(old).map(|old| old.number) == number);
    match same {
        Some(at) => leave.push(std::mem::replace(&mut generations[at], name.clone())),
        None => {
            let at = place(&generations, number.unwrap_or(0));
            generations.insert(at, name.clone());
        }
    }
    let limit = usize::from(attributes.limit);
    if attributes.empty && generations.len() > limit {
        let new = generations.iter().position(|old| old == name).unwrap_or(0);
        let kept = generations.remove(new);
        leave.append(&mut generations);
        generations.push(kept);
    }
    leave.extend(oldest(limit, &mut generations));
    leave.retain(|old| old != name);
    RolledIn { generations, leave }
}

/// Takes those out of a group, the oldest first, that are more than its definition allows.
pub(crate) fn past_limit(
    definition: &Definition,
    generations: &mut Vec<DataSetName>,
) -> Vec<DataSetName> {
    match definition {
        Definition::GenerationGroup(group) => oldest(usize::from(group.limit), generations),
        _ => Vec::new(),
    }
}

fn oldest(limit: usize, generations: &mut Vec<DataSetName>) -> Vec<DataSetName> {
    generations.drain(..generations.len().saturating_sub(limit)).collect()
}

/// Where a number belongs: behind those that are not newer. Half of all numbers are newer than
/// any one, so that the order survives the step from 9999 to 1.
fn place(generations: &[DataSetName], number: u16) -> usize {
    let is_newer = |old: &DataSetName| {
        let old = Generation::of(old).map_or(0, |old| old.number);
        let ahead = (i32::from(old) - i32::from(number)).rem_euclid(i32::from(NUMBER_MAX));
        (1..i32::from(NUMBER_MAX) / 2).contains(&ahead)
    };
    generations.iter().rposition(|old| !is_newer(old)).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DataSetName {
        DataSetName::parse(text).unwrap()
    }

    fn names(numbers: &[u16]) -> Vec<DataSetName> {
        let of = |number: &u16| Generation { number: *number, version: 0 };
        numbers.iter().filter_map(|number| of(number).name(&name("A.B"))).collect()
    }

    fn group(limit: u16, empty: bool) -> GenerationGroupAttributes {
        let remarks = crate::attributes::Remarks::default();
        GenerationGroupAttributes { limit, empty, scratch: false, remarks }
    }

    #[test]
    fn a_generation_is_known_by_its_last_qualifier() {
        assert_eq!(group_of(&name("A.B.G0012V01")), Some(name("A.B")));
        for other in ["A.B", "A.G12V01", "A.G0012V1", "A.G0000V00", "G0001V00", "A.GABCDV00"] {
            assert_eq!(group_of(&name(other)), None, "{other}");
        }
    }

    #[test]
    fn relative_numbers_count_from_the_newest() {
        let all = names(&[7, 9, 10]);
        let at = |number| relative(&name("A.B"), &all, number).map(|name| name.to_string());
        assert_eq!(at(0).as_deref(), Some("A.B.G0010V00"));
        assert_eq!(at(-2).as_deref(), Some("A.B.G0007V00"));
        assert_eq!(at(-3), None);
        assert_eq!(at(1).as_deref(), Some("A.B.G0011V00"));
        assert_eq!(at(2).as_deref(), Some("A.B.G0012V00"));
        let first = relative(&name("A.B"), &[], 1);
        assert_eq!(first, Some(name("A.B.G0001V00")));
        let wrapped = relative(&name("A.B"), &names(&[9999]), 1);
        assert_eq!(wrapped, Some(name("A.B.G0001V00")));
        assert_eq!(relative(&name("A.B"), &[], i32::MIN), None);
        assert!(relative(&name("A.B"), &[], i32::MAX).is_some());
    }

    #[test]
    fn past_the_limit_the_oldest_leaves_or_all_do() {
        let rolled = roll_in(&group(3, false), &names(&[1, 2, 3]), &names(&[4])[0]);
        assert_eq!((rolled.generations, rolled.leave), (names(&[2, 3, 4]), names(&[1])));
        let rolled = roll_in(&group(3, true), &names(&[1, 2, 3]), &names(&[4])[0]);
        assert_eq!((rolled.generations, rolled.leave), (names(&[4]), names(&[1, 2, 3])));
        // The limit was lowered since.
        let rolled = roll_in(&group(2, false), &names(&[1, 2, 3, 4]), &names(&[5])[0]);
        assert_eq!((rolled.generations, rolled.leave), (names(&[4, 5]), names(&[1, 2, 3])));
        let rolled = roll_in(&group(3, false), &names(&[9998, 9999]), &names(&[1])[0]);
        assert_eq!((rolled.generations, rolled.leave), (names(&[9998, 9999, 1]), vec![]));
        let rolled = roll_in(&group(3, false), &names(&[1, 3]), &names(&[2])[0]);
        assert_eq!(rolled.generations, names(&[1, 2, 3]));
        let rolled = roll_in(&group(3, false), &names(&[1, 3]), &name("A.B.G0003V01"));
        assert_eq!(rolled.generations, vec![names(&[1])[0].clone(), name("A.B.G0003V01")]);
        assert_eq!(rolled.leave, names(&[3]));
    }
}
