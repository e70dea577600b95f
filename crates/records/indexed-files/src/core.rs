//! The trees of a file together, and their commits.
//!
//! | table `meta`, key | value |
//! |---|---|
//! | `definition` | keys and lengths ([`crate::definition`]) |
//! | `arrivals` | 8 bytes, least first: how many arrivals at alternate keys were counted |
//! | `commits` | 8 bytes, least first: how many commits there were |
//!
//! Invariants:
//! 1. Between two calls of [`Core::change`] the trees are those of whole requests. Only then are
//!    they committed.
//! 2. When room is short, a change is committed before it is answered, and taken back if that
//!    fails: so all that stays in memory has had room.
//! 3. After a commit that failed, the store is opened anew, and its count of commits tells whether
//!    it was taken all the same. The count of the next attempt is one more than what it says then.
//!    What has changed is still in memory, as whole blocks, so that it may be committed once more
//!    in any case.

use std::sync::Arc;
use std::time::Duration;

use redb::WriteTransaction;
use redb::{Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase as _, TableDefinition};
use seam::clock::Clock;

use crate::definition::Definition;
use crate::keeper::{DELAY, Kept};
use crate::refusal::Refusal;
use crate::tree::Tree;

const META: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("meta");
const DEFINITION: &str = "definition";
const ARRIVALS: &str = "arrivals";
const COMMITS: &str = "commits";
/// How many bytes of changes gather in memory before they are committed.
const CHANGED_BYTES_MAX: usize = 128 << 20;
/// How much may be used before it is looked again how much room there is.
const LOOK_BYTES: usize = 256 << 10;
/// What the store itself may need for a commit, whatever has changed.
const RESERVE_BYTES: u64 = 1 << 20;

/// Opens the store.
pub(crate) type Opener = Box<dyn Fn() -> Result<Database, Refusal> + Send>;
/// Says how much room there is.
pub(crate) type Room = Box<dyn Fn() -> u64 + Send>;

/// The store beneath.
pub(crate) enum Source {
    Reader(ReadOnlyDatabase),
    Writer { store: Option<Database>, open: Opener, room: Room },
}

/// A change of a tree.
pub(crate) enum Change {
    Put { tree: usize, key: Vec<u8>, value: Vec<u8> },
    Remove { tree: usize, key: Vec<u8> },
}

/// The trees of a file.
pub(crate) struct Core {
    pub(crate) definition: Definition,
    pub(crate) trees: Vec<Tree>,
    pub(crate) arrivals: u64,
    commits: u64,
    source: Source,
    clock: Arc<dyn Clock>,
    /// When the oldest change that is not committed is to be.
    due: Option<Duration>,
    room_seen: u64,
    cost_seen: Option<usize>,
    /// Whether the last change was made with room enough.
    has_room: bool,
}

/// What a store says of itself.
pub(crate) struct Meta {
    definition: Definition,
    arrivals: u64,
    commits: u64,
}

/// Reads what a store is; `None` if nothing was ever put into it.
pub(crate) fn read_meta(transaction: &ReadTransaction) -> Result<Option<Meta>, Refusal> {
    let mut tables = transaction.list_tables().map_err(Refusal::of_store)?;
    if tables.next().is_none() {
        return Ok(None);
    }
    let table = match transaction.open_table(META) {
        Ok(table) => table,
        Err(redb::TableError::Storage(error)) => return Err(Refusal::of_store(error)),
        Err(_) => return Err(Refusal::Foreign),
    };
    let get = |key| table.get(key).map_err(Refusal::of_store);
    let definition = get(DEFINITION)?.ok_or(Refusal::Foreign)?;
    let wrong = || Refusal::damaged("its definition makes no sense");
    let definition = Definition::read(definition.value()).ok_or_else(wrong)?;
    let number = |key| {
        let bytes = get(key)?.ok_or_else(wrong)?;
        let bytes: [u8; 8] = bytes.value().try_into().map_err(|_| wrong())?;
        Ok(u64::from_le_bytes(bytes))
    };
    let (arrivals, commits) = (number(ARRIVALS)?, number(COMMITS)?);
    Ok(Some(Meta { definition, arrivals, commits }))
}

fn write_meta(transaction: &WriteTransaction, meta: &Meta) -> Result<(), Refusal> {
    let Meta { definition, arrivals, commits } = meta;
    let mut table = transaction.open_table(META).map_err(Refusal::of_store)?;
    let definition = definition.to_bytes();
    table.insert(DEFINITION, &definition[..]).map_err(Refusal::of_store)?;
    for (key, number) in [(ARRIVALS, arrivals), (COMMITS, commits)] {
        table.insert(key, &number.to_le_bytes()[..]).map_err(Refusal::of_store)?;
    }
    Ok(())
}

/// Begins a transaction that is durable, and leaves a file that opens at once after a kill.
fn begin(store: &Database) -> Result<WriteTransaction, Refusal> {
    let mut transaction = store.begin_write().map_err(Refusal::of_store)?;
    transaction.set_quick_repair(true);
    Ok(transaction)
}

fn trees_of(definition: &Definition) -> Vec<Tree> {
    let prime = definition.keys.first().map_or(0, |key| key.bytes());
    let tree = |(number, key): (usize, &crate::definition::Key)| {
        let entry =
            if number == 0 { prime + definition.most as usize } else { key.bytes() + prime };
        Tree::new(number, entry)
    };
    definition.keys.iter().enumerate().map(tree).collect()
}

impl Core {
    /// Over what a store holds; `Missing` if it holds nothing yet.
    pub(crate) fn open(source: Source, clock: Arc<dyn Clock>) -> Result<Core, Refusal> {
        let transaction = match &source {
            Source::Reader(store) => store.begin_read(),
            Source::Writer { store: Some(store), .. } => store.begin_read(),
            Source::Writer { store: None, .. } => return Err(Refusal::Missing),
        };
        let transaction = transaction.map_err(Refusal::of_store)?;
        let meta = read_meta(&transaction)?.ok_or(Refusal::Missing)?;
        let Meta { definition, arrivals, commits } = meta;
        let trees = trees_of(&definition);
        let (due, room_seen, cost_seen) = (None, 0, None);
        let mut core = Core {
            definition,
            trees,
            arrivals,
            commits,
            source,
            clock,
            due,
            room_seen,
            cost_seen,
            has_room: false,
        };
        for tree in &mut core.trees {
            tree.see(&transaction)?;
        }
        Ok(core)
    }

    /// Makes an empty file in an empty store.
    pub(crate) fn create(store: &Database, definition: &Definition) -> Result<(), Refusal> {
        let transaction = begin(store)?;
        let meta = Meta { definition: definition.clone(), arrivals: 0, commits: 0 };
        write_meta(&transaction, &meta)?;
        for tree in trees_of(definition) {
            tree.create(&transaction)?;
        }
        transaction.commit().map_err(Refusal::of_store)
    }

    /// A record by its prime key.
    pub(crate) fn record(&mut self, prime: &[u8]) -> Result<Option<&[u8]>, Refusal> {
        let Some(tree) = self.trees.first_mut() else { return Ok(None) };
        let Some(spot) = tree.get(prime)? else { return Ok(None) };
        Ok(Some(tree.block(&spot.low)?.value(spot.at)))
    }

    /// Makes changes, all or none: what is taken away first, and at most one entry put into each
    /// tree. Says whether they are the first since the last commit.
    pub(crate) fn change(&mut self, changes: &[Change]) -> Result<bool, Refusal> {
        // Where room is short, what waits for its commit does not wait for this change.
        let changed = self.trees.iter().map(Tree::changed_bytes).sum::<usize>();
        if changed > CHANGED_BYTES_MAX || self.is_tight() {
            self.commit()?;
        }
        let mut touched = Vec::with_capacity(changes.len());
        for change in changes {
            let (Change::Put { tree, key, .. } | Change::Remove { tree, key }) = change;
            touched.push((*tree, self.trees[*tree].touch(key)?));
        }
        let is_tight = self.is_tight();
        self.has_room = !is_tight;
        let copies = is_tight.then(|| {
            let copies = touched.iter().map(|(tree, low)| self.trees[*tree].copy(low));
            copies.collect::<Vec<_>>()
        });
        let mut made = Vec::with_capacity(changes.len());
        for (change, (tree, low)) in changes.iter().zip(&touched) {
            let tree = &mut self.trees[*tree];
            made.push(match change {
                Change::Put { key, value, .. } => tree.put(low, key, value),
                Change::Remove { key, .. } => {
                    tree.remove(low, key);
                    None
                }
            });
        }
        let is_first = self.due.is_none();
        if is_first {
            self.due = Some(self.clock.monotonic() + DELAY);
        }
        if let Some(copies) = copies
            && let Err(refusal) = self.commit()
        {
            for (((tree, low), copy), made) in touched.into_iter().zip(copies).zip(made) {
                if let Some(copy) = copy {
                    self.trees[tree].restore(low, copy, made);
                }
            }
            if is_first && self.is_open() {
                // Everything else is committed.
                self.trees.iter_mut().for_each(Tree::forget);
                (self.due, self.cost_seen) = (None, None);
            }
            return Err(refusal);
        }
        Ok(is_first && self.due.is_some())
    }

    /// Puts a record without alternate keys behind all others, where that needs nothing but memory;
    /// `false` if it does.
    pub(crate) fn append(&mut self, prime: &[u8], record: &[u8]) -> bool {
        let [tree] = &mut self.trees[..] else { return false };
        let is_full = tree.changed_bytes() > CHANGED_BYTES_MAX;
        // The block's room was looked after when it was touched.
        self.due.is_some() && !is_full && self.has_room && tree.append(prime, record)
    }

    fn cost(&self) -> usize {
        self.trees.iter().map(Tree::cost).sum()
    }

    /// Whether there might not be room for everything that has changed.
    fn is_tight(&mut self) -> bool {
        let cost = self.cost();
        if self.cost_seen.is_none_or(|seen| cost > seen + LOOK_BYTES) {
            if let Source::Writer { room, .. } = &self.source {
                self.room_seen = room();
            }
            self.cost_seen = Some(cost);
        }
        self.room_seen < 2 * (cost + LOOK_BYTES) as u64 + RESERVE_BYTES
    }

    /// Makes everything durable that has changed.
    pub(crate) fn commit(&mut self) -> Result<(), Refusal> {
        if self.due.is_none() {
            return Ok(());
        }
        if let Err(refusal) = self.reopen() {
            // The keeper has to wait as after any other failure.
            self.due = Some(self.clock.monotonic() + DELAY);
            return Err(refusal);
        }
        let attempt = self.commits + 1;
        let committed = self.try_commit();
        if committed.is_err() {
            if let Source::Writer { store, .. } = &mut self.source {
                self.trees.iter_mut().for_each(Tree::let_go);
                *store = None;
            }
            (self.due, self.cost_seen) = (Some(self.clock.monotonic() + DELAY), None);
            // If it cannot be opened now, the next request tries again.
            let is_taken = self.reopen().is_ok() && self.commits == attempt;
            if !is_taken {
                return committed;
            }
        }
        self.commits = attempt;
        self.trees.iter_mut().for_each(Tree::saved);
        (self.due, self.cost_seen) = (None, None);
        self.look()
    }

    fn is_open(&self) -> bool {
        !matches!(self.source, Source::Writer { store: None, .. })
    }

    fn try_commit(&mut self) -> Result<(), Refusal> {
        let Source::Writer { store: Some(store), .. } = &self.source else {
            return Err(Refusal::Forbidden);
        };
        let transaction = begin(store)?;
        let (arrivals, commits) = (self.arrivals, self.commits + 1);
        let meta = Meta { definition: self.definition.clone(), arrivals, commits };
        write_meta(&transaction, &meta)?;
        for tree in &self.trees {
            tree.save(&transaction)?;
        }
        transaction.commit().map_err(Refusal::of_store)
    }

    /// Opens the store again if it was given up, and counts on from the commits that it has taken.
    pub(crate) fn reopen(&mut self) -> Result<(), Refusal> {
        let Source::Writer { store: slot @ None, open, .. } = &mut self.source else {
            return Ok(());
        };
        let store = open()?;
        let read = store.begin_read().map_err(Refusal::of_store)?;
        self.commits = read_meta(&read)?.ok_or(Refusal::Missing)?.commits;
        // One that cannot be looked into is not open.
        self.trees.iter_mut().try_for_each(|tree| tree.see(&read))?;
        drop(read);
        *slot = Some(store);
        Ok(())
    }

    fn look(&mut self) -> Result<(), Refusal> {
        let transaction = match &self.source {
            Source::Writer { store: Some(store), .. } => store.begin_read(),
            Source::Reader(store) => store.begin_read(),
            Source::Writer { store: None, .. } => return Ok(()),
        };
        let transaction = transaction.map_err(Refusal::of_store)?;
        self.trees.iter_mut().try_for_each(|tree| tree.see(&transaction))
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.due.is_some()
    }
}

impl Kept for Core {
    fn left(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_sub(self.clock.monotonic()))
    }

    fn keep(&mut self) {
        // Kept, tried again, and told by the next request or at the end.
        let _ = self.commit();
    }
}
