//! Records to copy or print: of a cluster, an alternate index, through a path, or of a file.
//!
//! Invariants:
//! 1. Records come in the order of the input, each once, from where the range begins to where it
//!    ends.

use store::Store;
use vsam::{
    BLOCK_BYTES, Definition, Failure, Feedback, File, Intent, KeyField, LogicalReason, Match,
    OpenMode, OpenOptions, Organization, Position, Rba, Search, Target,
};

use crate::form::Form;
use crate::locate::Located;
use crate::range::{Begin, End, Range, Ways};
use crate::records::RecordReader;
use crate::refusal::Refusal;
use crate::session::Session;

/// Bytes in front of the key in a record of an alternate index.
const INDEX_HEADER_BYTES: u32 = 5;

enum Kind<S: Store> {
    Cluster {
        file: File<S>,
        position: Box<Position<S>>,
    },
    /// A linear cluster, and its next block.
    Blocks {
        file: File<S>,
        position: Box<Position<S>>,
        next: Rba,
    },
    File(RecordReader),
}

/// Records, one after the other.
pub(crate) struct Source<S: Store> {
    pub(crate) name: String,
    kind: Kind<S>,
    /// What can be asked of it.
    pub(crate) ways: Ways,
    end: End,
    taken: u64,
    /// A record that was found when the place was sought is read first.
    skip: u64,
}

impl<S: Store> Source<S> {
    /// Opens it. `form` is that of a file for which none was said; lines are filled up to `least`.
    pub(crate) fn open(
        session: &mut Session<'_, S>,
        located: &Located,
        form: Form,
        least: usize,
    ) -> Result<Source<S>, Refusal> {
        let name = located.name();
        let (kind, ways) = match located {
            Located::Entry(entry) => {
                let options = OpenOptions::default();
                let file = session.catalog.open_file(&entry.name, OpenMode::Input, &options)?;
                let ways = match &entry.definition {
                    Definition::AlternateIndex(index) => {
                        let bytes = index.key.bytes;
                        let key = Some(KeyField { offset: INDEX_HEADER_BYTES, bytes });
                        Ways { key, ..Ways::default() }
                    }
                    _ => ways_of(&file),
                };
                let position = Box::new(position_of(&file, &name)?);
                let kind = match file.organization() {
                    Organization::Linear => Kind::Blocks { file, position, next: Rba(0) },
                    _ => Kind::Cluster { file, position },
                };
                (kind, ways)
            }
            Located::File { path, form: stated } => {
                let input = session.machine.read(path);
                let input = input.map_err(|error| Refusal::of_file(&name, &error))?;
                let reader = RecordReader::new(input, stated.unwrap_or(form), least);
                (Kind::File(reader), Ways::default())
            }
        };
        Ok(Source { name, kind, ways, end: End::Last, taken: 0, skip: 0 })
    }

    /// Whether a relative record number belongs to each record.
    pub(crate) fn has_numbers(&self) -> bool {
        self.ways.numbers
    }

    /// Goes to where a range begins.
    pub(crate) fn begin(&mut self, unit: &mut S::Unit, range: Range) -> Result<(), Refusal> {
        self.end = range.end;
        if let Begin::Skip(skip) = range.begin {
            self.skip = skip;
            return Ok(());
        }
        let (file, position) = match (&mut self.kind, &range.begin) {
            (Kind::Cluster { file, position }, _) => (file, position),
            (Kind::Blocks { next, .. }, Begin::Address(rba)) => {
                *next = *rba;
                return Ok(());
            }
            _ => return Ok(()),
        };
        let search = match &range.begin {
            Begin::Key(key) => Search::by(Target::Generic(key), Match::GreaterOrEqual),
            Begin::Number(number) => Search::by(Target::Number(*number), Match::GreaterOrEqual),
            Begin::Address(rba) => Search::equal(Target::Rba(*rba)),
            Begin::Front | Begin::Skip(_) => return Ok(()),
        };
        match file.point(unit, position, &search) {
            Ok(_) => Ok(()),
            // Nothing from there on: the range is empty.
            Err(failure) if is_end(&failure) && !matches!(range.begin, Begin::Address(_)) => {
                self.end = End::Count(0);
                Ok(())
            }
            Err(failure) => Err(Refusal::of_request(&self.name, &failure)),
        }
    }

    /// Reads the next record of the range; `None` behind the last.
    pub(crate) fn next_record(
        &mut self,
        unit: &mut S::Unit,
        record: &mut Vec<u8>,
    ) -> Result<Option<Feedback>, Refusal> {
        if matches!(self.end, End::Count(count) if self.taken >= count) {
            return Ok(None);
        }
        loop {
            let feedback = match &mut self.kind {
                Kind::Cluster { file, position } => {
                    match file.get_next(unit, position, Intent::Look, record) {
                        Ok(feedback) => feedback,
                        Err(failure) if failure.reason() == Some(LogicalReason::EndOfData) => {
                            return Ok(None);
                        }
                        Err(failure) => return Err(Refusal::of_request(&self.name, &failure)),
                    }
                }
                Kind::Blocks { file, position, next } => {
                    match file.get_block(unit, position, *next, Intent::Look, record) {
                        Ok(feedback) => {
                            *next = Rba(next.0.saturating_add(BLOCK_BYTES as u64));
                            feedback
                        }
                        Err(failure) if failure.reason() == Some(LogicalReason::EndOfData) => {
                            return Ok(None);
                        }
                        Err(failure) => return Err(Refusal::of_request(&self.name, &failure)),
                    }
                }
                Kind::File(reader) => {
                    let more = reader.next_record(record);
                    match more.map_err(|error| unreadable(&self.name, &error))? {
                        true => Feedback::default(),
                        false => return Ok(None),
                    }
                }
            };
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            if !self.end.includes(self.taken, self.ways.key, record, &feedback) {
                return Ok(None);
            }
            self.taken += 1;
            return Ok(Some(feedback));
        }
    }

    /// Closes it.
    pub(crate) fn close(self) -> Result<(), Refusal> {
        match self.kind {
            // What was counted is known when the position is gone.
            Kind::Cluster { file, position } | Kind::Blocks { file, position, .. } => {
                drop(position);
                Ok(file.close()?)
            }
            Kind::File(_) => Ok(()),
        }
    }
}

/// A file of the machine whose records do not have the form that they should have.
fn unreadable(name: &str, error: &std::io::Error) -> Refusal {
    Refusal::severe("IDC3302I", format!("ACTION ERROR ON {name}: {error}"))
}

pub(crate) fn position_of<S: Store>(file: &File<S>, name: &str) -> Result<Position<S>, Refusal> {
    file.position().map_err(|failure| Refusal::of_request(name, &failure))
}

fn is_end(failure: &Failure) -> bool {
    matches!(failure.reason(), Some(LogicalReason::NotFound | LogicalReason::EndOfData))
}

fn ways_of<S: Store>(file: &File<S>) -> Ways {
    let index = file.alternate_index().and_then(|entry| entry.alternate_index());
    if let Some(index) = index {
        return Ways { key: Some(index.key), ..Ways::default() };
    }
    let Some(cluster) = file.base().cluster() else { return Ways::default() };
    Ways {
        key: cluster.key,
        numbers: cluster.organization.is_relative(),
        addresses: matches!(
            cluster.organization,
            Organization::EntrySequenced | Organization::Linear
        ),
    }
}
