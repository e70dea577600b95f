//! Abends that the call interface itself puts to a program.

use definitions::Function;

use crate::server::Abend;

/// An abend of ours.
pub(crate) fn abend(code: &str, text: &str) -> Abend {
    Abend { code: code.to_owned(), text: text.to_owned() }
}

/// A parameter leads nowhere.
pub(crate) fn out_of_reach(function: Function, what: &str) -> Abend {
    abend("U0474", &format!("{function}: {what} is not in the program's memory"))
}
