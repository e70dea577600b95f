//! How a command has something done in a system, whether it is in use or stopped.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use system::SystemError;
use system::operator::{self, Request};

use crate::command::Context;
use crate::failure::{Failure, Result};
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;
use crate::verbs::options;

/// Has `verb` done in the system in `dir`: by the process that has it open or, if there is none,
/// here; only then is the passphrase asked for. Shows how far it is.
pub(crate) fn operate<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    verb: &str,
    arguments: &impl Serialize,
) -> Result<T> {
    let request = Request::new(verb).with(arguments)?;
    let mut progress = Progress::new(&context.seam);
    let answer =
        operator::run(&context.seam, dir, options(), &request, || passphrase.get(), &mut |at| {
            progress.show(&at.object, at.done, at.total, &at.unit);
        });
    progress.clear();
    serde_json::from_value(answer?).map_err(|error| {
        let (dir, why) = (dir.to_owned(), format!("its answer is not understood: {error}"));
        Failure::from(SystemError::NoAnswer { dir, why })
    })
}
