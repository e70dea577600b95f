//! Which checkpoint a restart goes on from, and whether the databases stand where it was taken.
//!
//! | asked for | in the way | comes to |
//! |---|---|---|
//! | anything | a database that the program updates was recovered to a point before the checkpoint, or emptied or loaded since | refused, with the newest that fits |
//! | LAST | the newest record that fits is an end | refused |
//! | an id, a time stamp | a newer record that fits, and the program updates databases | refused: its work stands |
//!
//! Invariants:
//! 1. Nothing is done twice, and nothing left out: a restart goes on from the last commit that the
//!    databases have of the step, or not at all.
//! 2. A record that a backout has taken back is none.

use definitions::DbdName;
use hierarchy::replacements::Replaced;

use crate::checkpoint::{Checkpoint, Event, Record};

/// How many checkpoints are named for people.
const SHOWN: usize = 5;

/// What a search for a checkpoint came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sought {
    Found(Box<Checkpoint>),
    /// There is none; those that there are, the newest first, for people.
    Absent(Vec<String>),
    /// The step has ended normally since: its last checkpoint, if there is one, for people.
    Ended(Option<String>),
    /// The step has gone on since: its newest checkpoint, for people, or nothing if it has ended.
    Older {
        newest: Option<String>,
    },
    /// What the database has is not what it had there; the newest checkpoint that fits, for people.
    Replaced {
        database: DbdName,
        fits: Option<String>,
    },
    /// Its record cannot be read.
    Damaged,
}

/// A search, from the newest record of a PSB on.
pub(crate) struct Search<'a> {
    wanted: &'a str,
    step: &'a str,
    /// The databases that the program updates, with what has replaced their data.
    updated: &'a [(DbdName, Vec<Replaced>)],
    found: Option<Sought>,
    /// The step's newest record that fits.
    newest: Option<Newest>,
    /// The database that one does not fit that was asked for.
    replaced: Option<DbdName>,
    titles: Vec<String>,
}

enum Newest {
    End,
    Checkpoint(String),
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        wanted: &'a str,
        step: &'a str,
        updated: &'a [(DbdName, Vec<Replaced>)],
    ) -> Search<'a> {
        let titles = Vec::new();
        Search { wanted, step, updated, found: None, newest: None, replaced: None, titles }
    }

    /// Takes the next record; whether more are wanted.
    pub(crate) fn goes_on(&mut self, record: Option<Record>) -> bool {
        let is_last = self.wanted == "LAST";
        let has_ended = matches!(self.newest, Some(Newest::End));
        match record {
            None if is_last && !has_ended => self.found = Some(Sought::Damaged),
            None => {}
            Some(record) if !record.is_of(self.step) => {
                self.titles.extend(record.title().filter(|_| self.titles.len() < SHOWN));
            }
            Some(record) => {
                let replaced = self.replaced_since(&record);
                match (record.event, replaced) {
                    (Event::Checkpoint(one), Some(database)) => {
                        if is_last || one.is(self.wanted) {
                            self.replaced.get_or_insert(database);
                        }
                    }
                    // The end went with what it had ended.
                    (Event::End(_), Some(database)) => {
                        if is_last {
                            self.replaced.get_or_insert(database);
                        }
                    }
                    (Event::End(_), None) => {
                        self.newest.get_or_insert(Newest::End);
                        self.found = self.without_newer();
                    }
                    (Event::Checkpoint(one), None) => {
                        self.found = self.fitting(one, is_last);
                    }
                }
            }
        }
        self.found.is_none()
    }

    /// What an end that stands comes to.
    fn without_newer(&self) -> Option<Sought> {
        let database = self.replaced?;
        Some(Sought::Replaced { database, fits: None })
    }

    /// What a checkpoint that stands comes to.
    fn fitting(&mut self, one: Box<Checkpoint>, is_last: bool) -> Option<Sought> {
        let title = one.title();
        if let Some(database) = self.replaced {
            return Some(Sought::Replaced { database, fits: Some(title) });
        }
        if is_last || one.is(self.wanted) {
            return Some(match &self.newest {
                Some(Newest::End) if is_last => Sought::Ended(Some(title)),
                Some(newest) if !self.updated.is_empty() => Sought::Older {
                    newest: match newest {
                        Newest::End => None,
                        Newest::Checkpoint(title) => Some(title.clone()),
                    },
                },
                _ => Sought::Found(one),
            });
        }
        if self.titles.len() < SHOWN {
            self.titles.push(title.clone());
        }
        self.newest.get_or_insert(Newest::Checkpoint(title));
        None
    }

    /// The database whose data of the record's time is there no more.
    fn replaced_since(&self, record: &Record) -> Option<DbdName> {
        let is_gone = |replaced: &Replaced| match record.position {
            Some(position) => position >= replaced.to && position < replaced.at,
            None => true,
        };
        let mut updated = self.updated.iter();
        updated.find(|(_, all)| all.iter().any(is_gone)).map(|(database, _)| *database)
    }

    /// What it has come to when there are no more records.
    pub(crate) fn outcome(self) -> Sought {
        match (self.found, self.replaced, self.newest) {
            (Some(found), ..) => found,
            (None, Some(database), _) => Sought::Replaced { database, fits: None },
            (None, None, Some(Newest::End)) if self.wanted == "LAST" => Sought::Ended(None),
            (None, None, _) => Sought::Absent(self.titles),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: [u8; 14] = *b"00000601234567";

    fn record(position: u64, id: &str) -> Record {
        let event = match <[u8; 8]>::try_from(id.as_bytes()) {
            Ok(id) => {
                let (areas, spots) = (Vec::new(), Vec::new());
                Event::Checkpoint(Box::new(Checkpoint { id, stamp: STAMP, areas, spots }))
            }
            Err(_) => Event::End(STAMP),
        };
        Record { step: Some("TELLER".to_owned()), position: Some(position), event }
    }

    /// What is found, in a word; `records` have the newest last.
    fn sought(records: &[(u64, &str)], replaced: Option<(u64, u64)>, wanted: &str) -> String {
        let name = DbdName::new("BANKCUST").expect("a name");
        let replaced = replaced.map(|(to, at)| Replaced { to, at }).into_iter().collect();
        let updated = [(name, replaced)];
        let mut search = Search::new(wanted, "TELLER", &updated);
        for (position, id) in records.iter().rev() {
            if !search.goes_on(Some(record(*position, id))) {
                break;
            }
        }
        let first = |title: Option<String>| match title {
            Some(title) => title.chars().take(8).collect(),
            None => "none".to_owned(),
        };
        match search.outcome() {
            Sought::Found(one) => format!("found {}", first(Some(one.title()))),
            Sought::Absent(_) => "absent".to_owned(),
            Sought::Ended(last) => format!("ended {}", first(last)),
            Sought::Older { newest } => format!("older than {}", first(newest)),
            Sought::Replaced { fits, .. } => format!("replaced, fits {}", first(fits)),
            Sought::Damaged => "damaged".to_owned(),
        }
    }

    const THREE: [(u64, &str); 3] = [(100, "CKPT0001"), (200, "CKPT0002"), (300, "CKPT0003")];

    #[test]
    fn only_the_newest_checkpoint_is_where_the_databases_stand() {
        for wanted in ["LAST", "CKPT0003"] {
            assert_eq!(sought(&THREE, None, wanted), "found CKPT0003");
        }
        assert_eq!(sought(&THREE, None, "CKPT0001"), "older than CKPT0003");
        assert_eq!(sought(&THREE, None, "CKPT0009"), "absent");
        let ended = [&THREE[..], &[(400, "end")]].concat();
        assert_eq!(sought(&ended, None, "LAST"), "ended CKPT0003");
        assert_eq!(sought(&ended, None, "CKPT0003"), "older than none");
        let mut search = Search::new("CKPT0001", "TELLER", &[]);
        let more = THREE.iter().rev().all(|(at, id)| search.goes_on(Some(record(*at, id))));
        assert!(!more && matches!(search.outcome(), Sought::Found(_)), "it updates nothing");
    }

    #[test]
    fn a_recovery_to_a_point_makes_void_what_was_committed_behind_it() {
        let back = Some((250, 500));
        assert_eq!(sought(&THREE, back, "LAST"), "replaced, fits CKPT0002");
        assert_eq!(sought(&THREE, back, "CKPT0003"), "replaced, fits CKPT0002");
        assert_eq!(sought(&THREE, back, "CKPT0002"), "found CKPT0002");
        assert_eq!(sought(&THREE, back, "CKPT0001"), "older than CKPT0002");
        let again = [&THREE[..], &[(600, "CKPT0003")]].concat();
        assert_eq!(sought(&again, back, "LAST"), "found CKPT0003", "the restart went on");
        let ended = [&THREE[..], &[(400, "end")]].concat();
        assert_eq!(sought(&ended, back, "LAST"), "replaced, fits CKPT0002");
        assert_eq!(sought(&ended, back, "CKPT0002"), "found CKPT0002");
        let ended = [(100, "CKPT0001"), (200, "end"), (300, "CKPT0003")];
        assert_eq!(sought(&ended, back, "LAST"), "replaced, fits none");
        assert_eq!(sought(&ended, back, "CKPT0001"), "older than none");
    }

    #[test]
    fn nothing_fits_a_database_that_was_loaded_anew() {
        for wanted in ["LAST", "CKPT0001", "CKPT0003"] {
            assert_eq!(sought(&THREE, Some((0, 500)), wanted), "replaced, fits none");
        }
        assert_eq!(sought(&THREE, Some((0, 50)), "LAST"), "found CKPT0003", "it was before");
    }
}
