//! One EXEC DLI command: from its words to a [`Command`](crate::Command) and the items of the
//! program that go with it.
//!
//! `verbs` knows which verb takes which options, `items` takes the words apart into options and
//! arguments, `build` makes the command of them.

pub(crate) mod build;
pub(crate) mod items;
pub(crate) mod verbs;
