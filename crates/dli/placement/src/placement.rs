//! Where the roots of one database go: its definition and the settings, fitted together.
//!
//! | organization | anchor in front of the root key |
//! |---|---|
//! | HDAM, PHDAM, DEDB | the randomizer's, four bytes |
//! | all others | none |
//!
//! | randomizer | chosen by, the first that is there |
//! |---|---|
//! | name | the partition's `randomizer`, the database's, the module of RMNAME= |
//! | what it does | the section `[randomizer.NAME]`, else a hash (note HFW101) |
//! | blocks, anchors | the partition's, the section's, RMNAME's; else 16,777,215 and 1 |
//!
//! Invariants:
//! 1. [`Placement::partitions`] has at least one partition.
//! 2. Partitions whose randomizer is the same list share it in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use definitions::{Dbd, DbdName, Organization, Segment};

use crate::collation::Collation;
use crate::error::{Note, PlacementError};
use crate::hash::{self, ANCHORS_MAX, BLOCKS_MAX};
use crate::list::{Form, RootList};
use crate::partition::{Partition, Selection};
use crate::settings::{
    DatabaseSettings, Encoding, PartitionSettings, RandomizerKind, RandomizerSettings, Settings,
};

/// The partition of a partitioned database for which none is set.
const ONLY_PARTITION: &str = "PART1";

/// Where the roots of a database go.
#[derive(Clone, Debug)]
pub struct Placement {
    database: DbdName,
    collation: Collation,
    root_collation: Collation,
    encoding: Encoding,
    plain: Option<bool>,
    pool: Option<String>,
    partitions: Vec<Partition>,
    selection: Selection,
    /// Whether partitions are chosen by key strings.
    by_string: bool,
    /// For each partition; empty if roots are not hashed.
    randomizers: Vec<Randomizer>,
    /// How its identity tells lists apart.
    form: Form,
    notes: Vec<Note>,
}

/// What gives a root its anchor.
#[derive(Clone, Debug)]
enum Randomizer {
    Hash { blocks: u32, anchors: u32 },
    Key,
    List(Arc<RootList>),
}

/// With what the line of an identity begins that says the code page. Data that was stored before
/// code pages were kept has none.
pub const ENCODING: &str = "encoding ";

impl Placement {
    /// Fits the settings to a definition; `load` brings the contents of a file that a setting
    /// names.
    ///
    /// # Errors
    /// What is wrong with the settings, by themselves or for this database.
    pub fn new(
        dbd: &Dbd,
        settings: &Settings,
        load: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Placement, PlacementError> {
        settings.check()?;
        let usual = DatabaseSettings::default();
        let own = settings.databases.get(dbd.name.text()).unwrap_or(&usual);
        let key = dbd.root().and_then(Segment::key);
        let root_collation =
            key.map_or(Collation::Binary, |key| own.collation.of_field(key.kind_of_data));
        let width = key.map_or(0, |key| usize::from(key.len));
        let mut maker = Maker { dbd, settings, own, width, load, lists: BTreeMap::new() };
        let mut notes = maker.notes();
        let (selection, order) = maker.select(root_collation)?;
        let mut partitions = Vec::with_capacity(order.len());
        let mut randomizers = Vec::new();
        for partition in &order {
            // The entries of an index stand in one data set, whatever partitions it has.
            let block = partition.block_bytes.filter(|_| !dbd.organization.is_index());
            let bytes = block.or(own.interval_bytes);
            partitions.push(Partition::new(&partition.name, bytes));
            if dbd.organization.is_hashed() {
                randomizers.push(maker.randomizer(partition, &mut notes)?);
            }
        }
        Ok(Placement {
            database: dbd.name,
            collation: own.collation,
            root_collation,
            encoding: own.encoding,
            plain: own.plain,
            pool: own.pool.clone(),
            by_string: order.iter().any(|partition| partition.key_string.is_some()),
            partitions,
            selection,
            randomizers,
            form: Form::default(),
            notes,
        })
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> DbdName {
        self.database
    }

    /// How its character fields compare.
    #[must_use]
    pub fn collation(&self) -> Collation {
        self.collation
    }

    /// How its root keys compare: as character fields do, if the root's key is one.
    #[must_use]
    pub fn root_collation(&self) -> Collation {
        self.root_collation
    }

    /// The code page of its character data.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether its data sets are plain, if the settings say so or say the opposite.
    #[must_use]
    pub fn plain(&self) -> Option<bool> {
        self.plain
    }

    /// The pool of its data sets, if the settings say one.
    #[must_use]
    pub fn pool(&self) -> Option<&str> {
        self.pool.as_deref()
    }

    /// What a person should know about these settings.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The partitions in the order of selection; the only one of a database that is not
    /// partitioned has no name.
    #[must_use]
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// The number of the partition that a root belongs to; `None` if its key is above all of
    /// them, and the call is FM.
    #[inline]
    #[must_use]
    pub fn partition_of(&self, root_key: &[u8]) -> Option<u16> {
        self.selection.find(root_key)
    }

    /// Whether a randomizer places the roots, so that an anchor stands in front of their keys.
    #[must_use]
    pub fn is_hashed(&self) -> bool {
        !self.randomizers.is_empty()
    }

    /// Whether all roots stand in key order, over all partitions.
    #[must_use]
    pub fn keeps_key_order(&self) -> bool {
        let by_key = self.randomizers.iter().all(|one| matches!(one, Randomizer::Key));
        by_key && (!self.by_string || self.partitions.len() == 1)
    }

    /// The anchor of a root within its partition: four bytes that order it before its key does.
    /// `None` if the randomizer refuses the key, and the call is FM. All zero where no randomizer
    /// places the roots.
    #[inline]
    #[must_use]
    pub fn anchor(&self, partition: u16, root_key: &[u8]) -> Option<[u8; 4]> {
        match self.randomizers.get(usize::from(partition)) {
            Some(Randomizer::Hash { blocks, anchors }) => {
                Some(hash::anchor(root_key, *blocks, *anchors))
            }
            Some(Randomizer::List(list)) => list.anchor(root_key),
            Some(Randomizer::Key) => Some([0; 4]),
            None => (usize::from(partition) < self.partitions.len()).then_some([0; 4]),
        }
    }

    /// The facts that decide where roots and keys stand and what bytes mean, one a line: the
    /// collation, then each partition, then the code page ([`ENCODING`]). Kept with the data, it
    /// shows whether settings were changed under it.
    #[must_use]
    pub fn identity(&self) -> String {
        self.identity_in(self.form)
    }

    /// The same by which no two lists are taken for one, whatever form was recorded.
    #[must_use]
    pub fn exact_identity(&self) -> String {
        self.identity_in(Form::Digest)
    }

    /// The same placement with the identity that was recorded of it, which may have the form of an
    /// earlier release; `None` if that is another one's.
    #[must_use]
    pub fn recorded_as(&self, identity: &str) -> Option<Placement> {
        // What was recorded before code pages were kept says none.
        let is_so = |form: &Form| places_of(&self.identity_in(*form)) == places_of(identity);
        let form = [Form::Digest, Form::Hash].into_iter().find(is_so)?;
        Some(Placement { form, ..self.clone() })
    }

    fn identity_in(&self, form: Form) -> String {
        let mut text = format!("collation {}\n", self.collation.name());
        for (number, partition) in self.partitions.iter().enumerate() {
            if let Some(end) = self.selection.shown(number) {
                text += &format!("partition {} up to {end}, ", partition.name);
            }
            text += &match self.randomizers.get(number) {
                None | Some(Randomizer::Key) => "roots by key".into(),
                Some(Randomizer::Hash { blocks, anchors }) => {
                    format!("roots by hash, {blocks} blocks, {anchors} anchors")
                }
                Some(Randomizer::List(list)) => format!("roots by {}", list.identity(form)),
            };
            text.push('\n');
        }
        text + &format!("{ENCODING}{}\n", self.encoding.name())
    }
}

/// Where roots and keys stand, of an identity; what it says of the code page is left out.
#[must_use]
pub fn places_of(identity: &str) -> String {
    let lines = identity.lines().filter(|line| !line.starts_with(ENCODING));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// What a placement is made from.
struct Maker<'a> {
    dbd: &'a Dbd,
    settings: &'a Settings,
    own: &'a DatabaseSettings,
    /// Bytes of the root key.
    width: usize,
    load: &'a mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
    /// Lists by the name of their randomizer.
    lists: BTreeMap<&'a str, Arc<RootList>>,
}

impl<'a> Maker<'a> {
    /// The ends of the partitions, and the partitions in that order.
    fn select(
        &self,
        collation: Collation,
    ) -> Result<(Selection, Vec<PartitionSettings>), PlacementError> {
        let organization = self.dbd.organization;
        let name = self.dbd.name.text();
        if !organization.is_partitioned() {
            if !self.own.partitions.is_empty() {
                return Err(PlacementError::NotPartitioned { database: name.into(), organization });
            }
            return Ok((Selection::everything(), vec![PartitionSettings::default()]));
        }
        if self.own.partitions.is_empty() {
            let only =
                PartitionSettings { name: ONLY_PARTITION.into(), ..PartitionSettings::default() };
            return Ok((Selection::everything(), vec![only]));
        }
        let (selection, order) = Selection::new(name, self.own, self.width, collation)?;
        Ok((selection, order.into_iter().cloned().collect()))
    }

    fn randomizer(
        &mut self,
        partition: &PartitionSettings,
        notes: &mut Vec<Note>,
    ) -> Result<Randomizer, PlacementError> {
        let module = self.dbd.randomizer.as_ref();
        let named = partition.randomizer.as_deref().or(self.own.randomizer.as_deref());
        let name = named.or(module.map(|module| module.module.text()));
        let found = name.and_then(|name| self.settings.randomizers.get_key_value(name));
        let number = |own: Option<u32>, set: Option<u32>, module: Option<u32>, most: u32| {
            own.or(set).or(module).filter(|value| *value > 0).map(|value| value.min(most))
        };
        match found {
            Some((_, section)) if section.kind == RandomizerKind::Key => Ok(Randomizer::Key),
            Some((name, section)) if section.kind == RandomizerKind::List => {
                self.list(name, section).map(Randomizer::List)
            }
            _ => {
                if let (Some(name), None) = (name, found) {
                    self.note_module(name, notes);
                }
                let section = found.map(|(_, section)| section);
                let blocks = number(
                    partition.blocks,
                    section.and_then(|section| section.blocks),
                    module.and_then(|module| module.blocks),
                    BLOCKS_MAX,
                );
                let anchors = number(
                    partition.anchors,
                    section.and_then(|section| section.anchors),
                    module.and_then(|module| module.anchors),
                    ANCHORS_MAX,
                );
                let (blocks, anchors) = (blocks.unwrap_or(BLOCKS_MAX), anchors.unwrap_or(1));
                Ok(Randomizer::Hash { blocks, anchors })
            }
        }
    }

    fn list(
        &mut self,
        name: &'a str,
        section: &RandomizerSettings,
    ) -> Result<Arc<RootList>, PlacementError> {
        if let Some(known) = self.lists.get(name) {
            return Ok(Arc::clone(known));
        }
        let file = section.file.as_deref().unwrap_or_default();
        let contents = (self.load)(file).map_err(|error| PlacementError::ListUnread {
            name: name.to_owned(),
            file: file.to_owned(),
            error,
        })?;
        let unlisted = section.unlisted.unwrap_or_default();
        let page = self.own.encoding.page();
        let list = Arc::new(RootList::read(file, &contents, self.width, page, unlisted)?);
        self.lists.insert(name, Arc::clone(&list));
        Ok(list)
    }

    fn note_module(&self, module: &str, notes: &mut Vec<Note>) {
        let text = format!(
            "{}: no [randomizer.{module}] says what the module {module} does; its roots are placed \
             by a hash",
            self.dbd.name
        );
        let note = Note::new(Note::MODULE, text);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// What follows from the definition and the settings without looking further.
    fn notes(&self) -> Vec<Note> {
        let (name, organization) = (self.dbd.name, self.dbd.organization);
        let mut notes = Vec::new();
        let is_one_set = organization == Organization::Psindex;
        if is_one_set && !self.own.partitions.is_empty() {
            let text = format!(
                "{name}: all of the index is one data set; the partitions of [database.{name}] in \
                 holdfast.toml only say what DFSHALDB statements may name, and block_bytes of a \
                 partition has no effect: set interval_bytes of [database.{name}] in its place"
            );
            notes.push(Note::new(Note::ONE_SET, text));
        } else if organization.is_partitioned() && !is_one_set && self.own.partitions.is_empty() {
            let text = format!(
                "{name}: no partitions are set, so it has one, {ONLY_PARTITION}, for all roots"
            );
            notes.push(Note::new(Note::ONE_PARTITION, text));
        }
        let exit = self.dbd.partition_exit.filter(|_| organization.is_partitioned());
        if let Some(exit) = exit {
            let text = format!(
                "{name}: the partition selection exit {exit} does not run here; partitions are \
                 chosen by comparing root keys with their high_key or key_string"
            );
            notes.push(Note::new(Note::EXIT, text));
        }
        let placed = |partition: &PartitionSettings| {
            partition.randomizer.is_some()
                || partition.blocks.is_some()
                || partition.anchors.is_some()
        };
        let randomized = self.own.randomizer.is_some() || self.own.partitions.iter().any(placed);
        if randomized && !organization.is_hashed() {
            let text = format!(
                "{name}: randomizer, blocks and anchors have no effect, for {organization} keeps \
                 its roots in key order"
            );
            notes.push(Note::new(Note::NO_EFFECT, text));
        }
        notes
    }
}
