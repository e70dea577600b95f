//! What a load reads from: segments in hierarchic order, and the databases of logical parents.

use std::sync::Arc;

use base::Coded;
use definitions::DbdName;

use crate::database::Database;
use crate::error::Result;
use crate::schema::TypeAt;
use crate::value::Deleted;

/// A segment that is to be loaded.
#[derive(Clone, Copy, Debug)]
pub struct Given<'i> {
    /// Its type.
    pub of: TypeAt,
    /// Its data, as programs know it.
    pub data: &'i [u8],
    /// Whether it was deleted on one of its paths.
    pub deleted: Deleted,
}

/// Why there is no next segment.
pub type InputError = Arc<dyn Coded + Send + Sync>;

/// What a load reads from.
pub trait Input {
    /// The next segment in hierarchic order, `None` behind the last one.
    ///
    /// # Errors
    /// What keeps the input from going on.
    fn next_segment(&mut self) -> std::result::Result<Option<Given<'_>>, InputError>;
}

/// Finds a database by its name: one that holds logical parents.
pub type Others<'o> = &'o mut dyn FnMut(DbdName) -> Result<Arc<Database>>;
