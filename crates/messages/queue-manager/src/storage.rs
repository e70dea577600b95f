//! What a queue manager is told of the storage beneath it: data sets, pools, the log.
//!
//! | of the queue manager | is, in the store |
//! |---|---|
//! | page set nn (PSID) | two data sets of its own; messages of queues whose storage class names it are there |
//! | page set 00 | the data sets that every queue manager has |
//! | buffer pool n (BUFFPOOL) | the pool of the system with the name `BPn`, if there is one; otherwise its usual one |
//! | active and archive logs | the log of the system, and its archives: messages have none of their own |
//!
//! 1. Nothing here counts by reading: figures are those that the system keeps.

/// What is known of a data set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataSetFigures {
    /// Pages on disk.
    pub pages: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The pool of its pages.
    pub pool: String,
    /// Whether it is sealed.
    pub sealed: bool,
    /// Pages that were read since the system was started.
    pub pages_got: u64,
    /// Pages that were written.
    pub pages_written: u64,
}

/// What is known of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolFigures {
    /// Its name in the system.
    pub name: String,
    /// Its buffers.
    pub buffers: u64,
    /// Those that hold nothing.
    pub free: u64,
    /// Pages found in it.
    pub found: u64,
    /// Pages read.
    pub got: u64,
    /// Pages written.
    pub written: u64,
    /// Of these, because too many buffers held changes: the rule of 85 %.
    pub written_crowded: u64,
    /// Of these, because a thread waited for a buffer: the rule of 95 %.
    pub written_pressed: u64,
}

/// A copy of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCopy {
    /// Where it is.
    pub place: String,
    /// Whether it gets everything.
    pub living: bool,
}

/// What is known of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFigures {
    /// Its copies.
    pub copies: Vec<LogCopy>,
    /// Whether it is sealed.
    pub sealed: bool,
    /// Segments in use.
    pub segments: u64,
    /// Where a restart would begin to read.
    pub restart_at: u64,
    /// Where it ends.
    pub latest_at: u64,
    /// Folders of archives; none: it is not archived.
    pub archives: Vec<String>,
    /// Why the archive does not go on, if it does not.
    pub archive_trouble: Option<String>,
}

/// The storage beneath a queue manager.
pub trait Storage: Send + Sync {
    /// What is known of a data set; `None` if there is none of that name.
    fn data_set(&self, name: &str) -> Option<DataSetFigures>;

    /// The pools.
    fn pools(&self) -> Vec<PoolFigures>;

    /// The log.
    fn log(&self) -> LogFigures;

    /// Archives what was logged so far; answers how many archives that made.
    ///
    /// # Errors
    /// Why it could not, for people.
    fn archive_log(&self) -> Result<u64, String>;
}

/// The name of the pool that is a buffer pool.
#[must_use]
pub fn pool_name(number: i64) -> String {
    format!("BP{number}")
}

/// The name of a page set or buffer pool as it is kept; `None` if it can have none.
#[must_use]
pub fn numbered(name: &str) -> Option<String> {
    let digits = (1..=2).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| format!("{name:0>2}"))
}
