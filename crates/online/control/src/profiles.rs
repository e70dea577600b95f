//! Profiles: who may use what is protected.
//!
//! | bytes of an entry's key | |
//! |---|---|
//! | 8 | class, such as `TRAN` |
//! | 8 | resource; `*` at its end stands for anything |
//!
//! | bytes of its value | |
//! |---|---|
//! | 1 | version, 1 |
//! | 8 each | users and groups who may use it; `*` is everybody |
//!
//! | class | its resources | is asked |
//! |---|---|---|
//! | `TRAN` | transactions | when an input comes in, and when a program chooses its destination |
//! | `CMD` | verbs of commands of type 1, by three letters | when a client sends one |
//! | `GROUP` | groups; their members are who is named | when a profile names a group |
//! | `TPIPE` | tpipes | when a client fetches what waits there, or uses another's as its terminal |
//! | any other | what programs say | when a program asks by AUTH |
//!
//! Invariants:
//! 1. What no profile protects everybody may use, but commands. Of several profiles that fit the
//!    longest name counts.
//! 2. Memory and store say the same whenever nobody is changing a profile.
//! 3. A user is in a group if a profile says so: that a client names a group proves nothing.

use std::collections::BTreeMap;

use otma::{Identity, Name};
use seam::sync::Mutex;
use store::{Cursor as _, KeyRange, Locking, Read, SetAttributes, SetId, Store, Unit, UnitOptions};

use crate::error::ControlError;

/// The set's name.
const SET: &str = "HOLDFAST.PROFILES";
const VERSION: u8 = 1;
/// Everybody.
const ALL: Name = Name(*b"*       ");
/// The class of transactions.
pub(crate) const TRANSACTIONS: Name = Name(*b"TRAN    ");
/// The class of commands of type 1.
pub(crate) const COMMANDS: Name = Name(*b"CMD     ");
/// The class of tpipes.
pub(crate) const TPIPES: Name = Name(*b"TPIPE   ");
/// The class of groups.
const GROUPS: Name = Name(*b"GROUP   ");
/// The letters by which the verb of a command is known.
pub(crate) const VERB_LETTERS: usize = 3;

/// What is protected, and who may use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The class.
    pub class: Name,
    /// The resource; `*` at its end stands for anything.
    pub resource: Name,
    /// Users and groups who may use it; `*` is everybody.
    pub permitted: Vec<Name>,
}

type Known = BTreeMap<(Name, Name), Vec<Name>>;

/// The profiles of a system.
pub(crate) struct Profiles {
    set: SetId,
    known: Mutex<Known>,
}

fn unreadable() -> ControlError {
    let what = "a profile is wrong";
    ControlError::Unreadable { queue: SET.to_owned(), arrival: 0, what }
}

fn decode(key: &[u8], value: &[u8]) -> Option<((Name, Name), Vec<Name>)> {
    let (class, resource) = key.split_first_chunk::<8>()?;
    let resource = resource.try_into().ok()?;
    let (version, rest) = value.split_first()?;
    let (names, rest) = rest.as_chunks::<8>();
    let whole = *version == VERSION && rest.is_empty();
    whole.then(|| ((Name(*class), Name(resource)), names.iter().map(|name| Name(*name)).collect()))
}

/// Whether a profile's resource stands for one.
fn fits(mask: Name, resource: Name) -> bool {
    match mask.text().strip_suffix('*') {
        Some(front) => resource.text().starts_with(front),
        None => mask == resource,
    }
}

/// A resource as its class knows it: the verb of a command may be written out.
fn known_as(class: Name, resource: Name) -> Name {
    if class != COMMANDS {
        return resource;
    }
    let text = resource.text();
    let (front, star) = text.strip_suffix('*').map_or((&*text, ""), |front| (front, "*"));
    let verb: String = front.trim_start_matches('/').chars().take(VERB_LETTERS).collect();
    Name::new(&format!("{verb}{star}")).unwrap_or(resource)
}

/// Who is permitted by the profile that protects a resource; `None` if none does.
fn permitted(known: &Known, class: Name, resource: Name) -> Option<&Vec<Name>> {
    let of_class = known.range((class, Name([0; 8]))..=(class, Name([0xff; 8])));
    let fitting = of_class.filter(|((_, mask), _)| fits(*mask, resource));
    fitting.max_by_key(|((_, mask), _)| mask.text().len()).map(|(_, permitted)| permitted)
}

/// Whether a profile says that a user is in a group.
fn is_member(known: &Known, user: Name, group: Name) -> bool {
    let members = permitted(known, GROUPS, group);
    members.is_some_and(|members| members.contains(&user) || members.contains(&ALL))
}

impl Profiles {
    pub(crate) fn open<S: Store>(store: &S) -> Result<Profiles, ControlError> {
        let set = match store.set(SET)? {
            Some(set) => set,
            None => {
                let attributes =
                    SetAttributes { locking: Locking::Keys, ..SetAttributes::default() };
                store.create_set(SET, &attributes)?
            }
        };
        let mut known = Known::new();
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = store.cursor(set)?;
        cursor.limit(KeyRange::ALL);
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let (key, names) = decode(entry.key, entry.value).ok_or_else(unreadable)?;
            known.insert(key, names);
        }
        unit.backout()?;
        Ok(Profiles { set, known: Mutex::new(known) })
    }

    /// Protects a resource, or says anew who may use it; durable on return.
    pub(crate) fn put<S: Store>(&self, store: &S, profile: &Profile) -> Result<(), ControlError> {
        let of = (profile.class, known_as(profile.class, profile.resource));
        let key = [of.0.0, of.1.0].concat();
        let names = profile.permitted.iter().flat_map(|name| name.0);
        let value: Vec<u8> = std::iter::once(VERSION).chain(names).collect();
        store::run(store, UnitOptions::default(), |unit| {
            unit.put(self.set, &key, &value).map_err(ControlError::from)
        })?;
        self.known.lock().insert(of, profile.permitted.clone());
        Ok(())
    }

    /// Protects a resource no more; answers whether it was protected.
    pub(crate) fn remove<S: Store>(
        &self,
        store: &S,
        class: Name,
        resource: Name,
    ) -> Result<bool, ControlError> {
        let resource = known_as(class, resource);
        let key = [class.0, resource.0].concat();
        let removed = store::run(store, UnitOptions::default(), |unit| {
            let outcome = unit.delete(self.set, &key)?;
            Ok::<bool, ControlError>(outcome.is_done())
        })?;
        self.known.lock().remove(&(class, resource));
        Ok(removed)
    }

    pub(crate) fn all(&self) -> Vec<Profile> {
        let known = self.known.lock();
        let profile = |((class, resource), permitted): (&(Name, Name), &Vec<Name>)| Profile {
            class: *class,
            resource: *resource,
            permitted: permitted.clone(),
        };
        known.iter().map(profile).collect()
    }

    /// Whether somebody may use a resource; `None` if it is not protected.
    pub(crate) fn may_use(&self, who: Identity, class: Name, resource: Name) -> Option<bool> {
        let known = self.known.lock();
        let permitted = permitted(&known, class, resource)?;
        let user = who.user;
        let by_name = |name: &Name| *name == user || is_member(&known, user, *name);
        Some(permitted.contains(&ALL) || (!user.is_blank() && permitted.iter().any(by_name)))
    }
}

#[cfg(test)]
mod tests {
    use store_suite::model::ModelStore;

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).expect("a name")
    }

    fn profile(resource: &str, permitted: &[&str]) -> Profile {
        let permitted = permitted.iter().map(|one| name(one)).collect();
        Profile { class: name("VAULT"), resource: name(resource), permitted }
    }

    #[test]
    fn the_longest_name_that_fits_says_who_may() {
        let store = ModelStore::new();
        let profiles = Profiles::open(&store).expect("a store");
        let chiefs = Profile { class: GROUPS, ..profile("CHIEFS", &["BERT"]) };
        let vaults = [profile("*", &["CHIEFS"]), profile("GOLD*", &["ANNA"])];
        let all = [&vaults[..], &[profile("DOOR", &["*"]), chiefs]].concat();
        all.iter().for_each(|one| profiles.put(&store, one).expect("durable"));
        let store = store.crash();
        let profiles = Profiles::open(&store).expect("a store");
        assert_eq!(profiles.all().len(), 4);
        let anna = Identity { user: name("ANNA"), group: Name::BLANK };
        let chief = Identity { user: name("BERT"), group: Name::BLANK };
        let may = |who, resource: &str| profiles.may_use(who, name("VAULT"), name(resource));
        assert_eq!((may(anna, "GOLD1"), may(chief, "GOLD1")), (Some(true), Some(false)));
        assert_eq!((may(anna, "SILVER"), may(chief, "SILVER")), (Some(false), Some(true)));
        assert_eq!(may(Identity::default(), "DOOR"), Some(true));
        let claims = |user| Identity { user, group: name("CHIEFS") };
        for nobody in [Identity::default(), claims(Name::BLANK), claims(name("CARL"))] {
            assert_eq!(may(nobody, "SILVER"), Some(false), "{nobody:?}");
        }
        assert_eq!(profiles.may_use(anna, name("OTHER"), name("GOLD1")), None);
        assert_eq!(profiles.remove(&store, name("VAULT"), name("*")).ok(), Some(true));
        assert_eq!(may(anna, "SILVER"), None);
    }
    #[test]
    fn a_command_is_known_by_three_letters_of_its_verb() {
        let store = ModelStore::new();
        let profiles = Profiles::open(&store).expect("a store");
        for (verb, who) in [("/DISPLAY", "ANNA"), ("STA*", "BERT"), ("*", "CARL")] {
            let one = Profile { class: COMMANDS, ..profile(verb, &[who]) };
            profiles.put(&store, &one).expect("durable");
        }
        let may = |user: &str, verb: &str| {
            let who = Identity { user: name(user), group: Name::BLANK };
            profiles.may_use(who, COMMANDS, name(verb))
        };
        assert_eq!((may("ANNA", "DIS"), may("ANNA", "STA")), (Some(true), Some(false)));
        assert_eq!((may("BERT", "STA"), may("BERT", "STO")), (Some(true), Some(false)));
        assert_eq!((may("CARL", "STO"), may("CARL", "DIS")), (Some(true), Some(false)));
        assert_eq!(profiles.remove(&store, COMMANDS, name("DIS")).ok(), Some(true));
        assert_eq!(may("CARL", "DIS"), Some(true));
    }
}
