//! The users of a system, as authority records of its queue manager name them.
//!
//! Invariants:
//! 1. The user who owns the process of the system may do everything, and so may root: both could
//!    read its memory.
//! 2. Groups are those of this machine, looked up each time: who leaves a group has left it.

use queue_manager::Users;

/// As whom the system itself works.
const OWN: &str = "holdfast";

/// Users and groups of this machine.
#[derive(Clone, Debug)]
pub(crate) struct MachineUsers {
    owner: String,
}

impl MachineUsers {
    pub(crate) fn of_process() -> MachineUsers {
        MachineUsers { owner: seam::user::own().name }
    }
}

impl Users for MachineUsers {
    fn is_administrator(&self, user: &str) -> bool {
        user == self.owner || user == "root" || user == OWN
    }

    #[allow(clippy::disallowed_methods)] // the machine's groups are no part of a system
    fn groups(&self, user: &str) -> Vec<String> {
        let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        groups_of(user, &users, &groups)
    }
}

/// The groups of a user: the main one, and those that list it.
fn groups_of(user: &str, users: &str, groups: &str) -> Vec<String> {
    let main = users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.first() == Some(&user)).then(|| fields.get(3).copied().unwrap_or_default())
    });
    let names = groups.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let (name, number) = (fields.first()?, fields.get(2)?);
        let listed = fields.get(3).is_some_and(|all| all.split(',').any(|one| one == user));
        (listed || main == Some(*number)).then(|| (*name).to_owned())
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_in_its_main_group_and_in_those_that_list_it() {
        let users = "root:x:0:0::/:/bin/sh\nann:x:7:70::/:/bin/sh\n";
        let groups = "root:x:0:\nstaff:x:70:\nclerks:x:71:bob,ann\nothers:x:72:anna\n";
        assert_eq!(groups_of("ann", users, groups), ["staff", "clerks"]);
        assert!(groups_of("eve", users, groups).is_empty());
        let machine = MachineUsers { owner: "ann".into() };
        assert!(machine.is_administrator("ann") && machine.is_administrator("holdfast"));
        assert!(!machine.is_administrator("bob"));
    }
}
