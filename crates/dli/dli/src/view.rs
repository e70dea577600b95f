//! A compiled view: how the occurrences of each of its segments are found.
//!
//! Calls move on *virtual keys*: bytes whose order is the hierarchic order of the view. In a view
//! of one database in its own order they are the paths of segments. Through an index or a logical
//! relationship they are joined from several trees:
//!
//! | segment is reached as | part of the virtual key |
//! |---|---|
//! | root, or physical child | as in its path |
//! | root over a secondary index, or an entry of one used as a database | the key of the entry |
//! | virtual logical child | the key in the relation, behind the parent's path |
//! | physical parent of what is above it (inverted) | nothing: there is one |
//!
//! Each part but the root's has a code in front: in a plain view the segment code, in a derived one
//! the place in the view and one.
//!
//! Invariants:
//! 1. In a plain view the virtual key of a segment is its path.
//! 2. A node's parent stands in front of it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::ssa::{Alphabet, Table};
use definitions::resolve::{Definitions, Destination, Home, View, ViewSegment};
use definitions::{DbdName, ProcessingOptions};
use hierarchy::{Database, LEVELS_MAX, Levels, TypeAt};
use placement::Collation;
use store::LockMode;

/// Partitions one behind the other, by their numbers.
pub(crate) type Span = RangeInclusive<u16>;

/// How the occurrences of a segment are found below those of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chain {
    /// All roots of the database.
    Root,
    /// The targets of the index at this place of the database's indexes, or its entries.
    Index(usize),
    /// The physical children of the parent, or of the parent's destination.
    Child { of_destination: bool },
    /// The logical children of the parent, or of its destination: the relation at this place of
    /// what the parent's database knows as parent.
    Relation { at: usize, of_destination: bool },
    /// The physical parent of the parent, or of its destination.
    Up { of_destination: bool },
}

/// A segment of the view.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) chain: Chain,
    /// The database that stores it, among the view's.
    pub(crate) database: usize,
    /// Its type there.
    pub(crate) of: TypeAt,
    /// The destination parent that is joined to it.
    pub(crate) destination: Option<Joined>,
    /// Its code in virtual keys; none for the root.
    pub(crate) code: u8,
    pub(crate) level: usize,
    pub(crate) parent: Option<u16>,
    pub(crate) children: Vec<u16>,
    /// The nodes from the root down to this one.
    pub(crate) path: Vec<u16>,
    /// Where its key stands in the concatenated key.
    pub(crate) key_at: usize,
    pub(crate) key_len: usize,
    /// Of a key that is shown as it is stored: how many bytes are in front of it in its part.
    pub(crate) shown_from: Option<usize>,
    pub(crate) options: ProcessingOptions,
    /// Whether its twins are found by their key in order.
    pub(crate) is_ordered: bool,
}

/// A destination parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joined {
    pub(crate) database: usize,
    pub(crate) of: TypeAt,
}

/// A compiled view: one made ready for calls.
#[derive(Clone, Debug)]
pub(crate) struct CompiledView {
    /// What the definitions say of it.
    pub(crate) resolved: View,
    pub(crate) table: Table,
    pub(crate) nodes: Vec<Node>,
    pub(crate) databases: Vec<Arc<Database>>,
    /// Virtual keys are paths of the first database.
    pub(crate) is_plain: bool,
    /// In a plain view: the node of each segment type.
    pub(crate) node_of: Vec<Option<u16>>,
    /// Bytes of the longest path call.
    pub(crate) area_max: usize,
    /// Whether a get may return anything.
    pub(crate) reads_some: bool,
    /// Whether some partition of a database that it opens is offline.
    pub(crate) beside_offline: bool,
    /// The partitions that the PCB is limited to, if it is.
    pub(crate) span: Option<Span>,
}

/// Why a view cannot be used.
pub(crate) enum ViewError {
    /// A database could not be opened.
    Database(Box<hierarchy::HierarchyError>),
    /// What the definitions say about this segment fits no path.
    NoPath(definitions::SegmentName),
}

impl From<hierarchy::HierarchyError> for ViewError {
    fn from(error: hierarchy::HierarchyError) -> ViewError {
        ViewError::Database(Box::new(error))
    }
}

impl CompiledView {
    /// Makes a view ready; `open` gives the databases.
    pub(crate) fn new(
        view: View,
        definitions: &dyn Definitions,
        open: &mut dyn FnMut(DbdName) -> hierarchy::Result<Arc<Database>>,
    ) -> Result<CompiledView, ViewError> {
        let mut builder = Builder { databases: Vec::new(), places: BTreeMap::new(), open };
        let mut nodes: Vec<Node> = Vec::with_capacity(view.segments.len());
        for (at, segment) in view.segments.iter().enumerate() {
            let node = builder.node(&view, &nodes, segment, definitions)?;
            if let Some(parent) = node.parent {
                // A view has fewer segments than a code has values.
                nodes[usize::from(parent)].children.push(at as u16);
            }
            nodes.push(node);
            nodes[at].path.push(at as u16);
        }
        if view.segments.iter().any(|segment| segment.access.options.allows('D')) {
            builder.place_related()?;
        }
        let databases = builder.databases;
        let is_plain = nodes.iter().all(|node| {
            node.database == 0
                && node.destination.is_none()
                && matches!(node.chain, Chain::Root | Chain::Child { of_destination: false })
        });
        let mut node_of = Vec::new();
        if is_plain {
            node_of = vec![None; databases[0].schema.types.len()];
            for (at, node) in nodes.iter().enumerate() {
                node_of[node.of.index()] = Some(at as u16);
            }
        } else {
            for (at, node) in nodes.iter_mut().enumerate() {
                node.code = (at + 1) as u8;
            }
        }
        let collation = databases.first().map(|one| one.schema.placement.collation());
        let collation = collation.filter(|one| *one != Collation::Binary);
        let table = Table::new(&view, Alphabet::Ascii, collation.map(Collation::table));
        let area_max = longest_path(&view, &nodes);
        let reads_some = nodes.iter().any(|node| node.options.allows('G'));
        let beside_offline = databases.iter().any(|database| !database.offline().is_empty());
        Ok(CompiledView {
            resolved: view,
            table,
            nodes,
            databases,
            is_plain,
            node_of,
            area_max,
            reads_some,
            beside_offline,
            span: None,
        })
    }

    /// The node of a level of a path.
    #[inline]
    pub(crate) fn node_at(&self, levels: &Levels, level: usize) -> u16 {
        let of = levels.type_at(level);
        if self.is_plain {
            return self.node_of[of.index()].unwrap_or(0);
        }
        u16::from(of.0)
    }

    pub(crate) fn node(&self, at: u16) -> &Node {
        &self.nodes[usize::from(at)]
    }

    pub(crate) fn segment(&self, at: u16) -> &ViewSegment {
        &self.resolved.segments[usize::from(at)]
    }

    /// How records are locked that are read; `None` for PROCOPT=GO.
    pub(crate) fn lock_mode(&self) -> Option<LockMode> {
        let options = self.resolved.options;
        if options.has('O') {
            return None;
        }
        let updates = ['I', 'R', 'D'].into_iter().any(|letter| options.allows(letter));
        Some(if updates { LockMode::Update } else { LockMode::Shared })
    }

    /// The database that stores a node.
    pub(crate) fn database(&self, node: &Node) -> &Arc<Database> {
        &self.databases[node.database]
    }

    /// An open database by its name.
    pub(crate) fn named(&self, name: DbdName) -> Option<&Arc<Database>> {
        self.databases.iter().find(|database| database.name() == name)
    }

    /// The levels of a virtual key whose nodes are known; `None` if it does not fit them.
    pub(crate) fn levels_of(&self, nodes: &[u16], key: &[u8]) -> Option<Levels> {
        let (mut levels, mut end) = (Levels::NONE, 0);
        for (level, at) in nodes.iter().enumerate() {
            let node = self.nodes.get(usize::from(*at))?;
            let from = end + usize::from(level > 0);
            let part = self.part_len(node, key.get(from..)?)?;
            end = from + part;
            let of = TypeAt::of_code(node.code).unwrap_or(TypeAt::ROOT);
            (node.level == level + 1 && levels.push(of, end)).then_some(())?;
        }
        (end == key.len()).then_some(levels)
    }

    /// The length of a node's part of a virtual key, at the beginning of `bytes`, without code.
    pub(crate) fn part_len(&self, node: &Node, bytes: &[u8]) -> Option<usize> {
        let database = self.database(node);
        let len = match node.chain {
            Chain::Root => {
                let front = database.schema.front();
                front + database.schema.part_len(TypeAt::ROOT, bytes.get(front..)?)?
            }
            Chain::Child { .. } => return database.schema.part_len(node.of, bytes),
            Chain::Index(at) => {
                let index = &database.indexes[at].index;
                index.key_len() as usize + if index.unique { 0 } else { ORDER_BYTES }
            }
            Chain::Relation { at, .. } => {
                let parent = self.node(node.parent?);
                let relation = &self.parent_database(node, parent).as_parent[at];
                relation.key_len() + if relation.unique { 0 } else { ORDER_BYTES }
            }
            Chain::Up { .. } => 0,
        };
        (len <= bytes.len()).then_some(len)
    }

    /// The database in which the parent's occurrence stands that a node hangs on.
    pub(crate) fn parent_database(&self, node: &Node, parent: &Node) -> &Arc<Database> {
        let of_destination = match node.chain {
            Chain::Child { of_destination }
            | Chain::Relation { of_destination, .. }
            | Chain::Up { of_destination } => of_destination,
            Chain::Root | Chain::Index(_) => false,
        };
        let joined = parent.destination.filter(|_| of_destination);
        &self.databases[joined.map_or(parent.database, |joined| joined.database)]
    }
}

/// Bytes that order entries of equal keys in indexes and relations.
pub(crate) const ORDER_BYTES: usize = 8;

struct Builder<'o> {
    databases: Vec<Arc<Database>>,
    places: BTreeMap<DbdName, usize>,
    open: &'o mut dyn FnMut(DbdName) -> hierarchy::Result<Arc<Database>>,
}

impl Builder<'_> {
    fn place(&mut self, name: DbdName) -> hierarchy::Result<usize> {
        if let Some(place) = self.places.get(&name) {
            return Ok(*place);
        }
        self.databases.push((self.open)(name)?);
        self.places.insert(name, self.databases.len() - 1);
        Ok(self.databases.len() - 1)
    }

    /// Opens every database that a delete may have to look at or change: those with logical
    /// parents or children of these, and so on.
    fn place_related(&mut self) -> hierarchy::Result<()> {
        let mut at = 0;
        while let Some(database) = self.databases.get(at).cloned() {
            for relation in database.as_child.iter().chain(&database.as_parent) {
                self.place(relation.child_dbd)?;
                self.place(relation.parent_dbd)?;
            }
            at += 1;
        }
        Ok(())
    }

    fn node(
        &mut self,
        view: &View,
        nodes: &[Node],
        segment: &ViewSegment,
        definitions: &dyn Definitions,
    ) -> Result<Node, ViewError> {
        let stored = stored_home(segment, definitions);
        let database = self.place(stored.dbd)?;
        let of = TypeAt::of_code(stored.code).ok_or(ViewError::NoPath(segment.name))?;
        // A logical child is inserted only below a parent that is there.
        let relation = self.databases[database].relation_of(of).map(|one| one.parent_dbd);
        if let Some(parent) = relation {
            self.place(parent)?;
        }
        let destination = match &segment.destination {
            Some(joined) => Some(self.joined(joined, segment)?),
            None => None,
        };
        let chain = match segment.parent {
            None => self.root_chain(view, database),
            Some(parent) => {
                let above = &view.segments[usize::from(parent)];
                let found = chain_below(segment, above, stored != segment.home, definitions);
                let found = found.ok_or(ViewError::NoPath(segment.name))?;
                self.relation_chain(found, segment, stored, above)?
            }
        };
        let parent = segment.parent.map(|at| &nodes[usize::from(at)]);
        let path = parent.map_or_else(Vec::new, |parent| parent.path.clone());
        let schema = &self.databases[database].schema;
        let is_ordered = match chain {
            Chain::Root => !schema.is_hashed() && segment.key.is_some(),
            Chain::Index(_) => true,
            Chain::Up { .. } => false,
            Chain::Child { .. } | Chain::Relation { .. } => segment.key.is_some(),
        };
        let front = match chain {
            Chain::Root => Some(schema.front()),
            Chain::Child { .. } => Some(0),
            _ => None,
        };
        let is_as_stored = schema.key_collation(of) == Collation::Binary;
        let own_key = segment.key.map_or(0, |key| usize::from(key.len));
        let key_len = match (&view.sequence, segment.parent) {
            (Some(index), None) => index.search_len() as usize,
            _ => own_key,
        };
        Ok(Node {
            chain,
            database,
            of,
            destination,
            code: of.code(),
            level: usize::from(segment.level).min(LEVELS_MAX),
            parent: segment.parent,
            children: Vec::new(),
            path,
            key_at: segment.key_at as usize,
            key_len,
            shown_from: front.filter(|_| is_as_stored),
            options: segment.access.options,
            is_ordered,
        })
    }

    fn joined(&mut self, of: &Destination, segment: &ViewSegment) -> Result<Joined, ViewError> {
        let database = self.place(of.home.dbd)?;
        let at = TypeAt::of_code(of.home.code).ok_or(ViewError::NoPath(segment.name))?;
        Ok(Joined { database, of: at })
    }

    fn root_chain(&self, view: &View, database: usize) -> Chain {
        let index = view.entries.as_ref().or(view.sequence.as_ref()).and_then(|index| {
            let indexes = &self.databases[database].indexes;
            indexes.iter().position(|tree| tree.index.dbd == index.dbd)
        });
        index.map_or(Chain::Root, Chain::Index)
    }

    /// Finds the relation behind a virtual logical child.
    fn relation_chain(
        &mut self,
        chain: Chain,
        segment: &ViewSegment,
        stored: Home,
        above: &ViewSegment,
    ) -> Result<Chain, ViewError> {
        let Chain::Relation { of_destination, .. } = chain else { return Ok(chain) };
        let home = match &above.destination {
            Some(joined) if of_destination => joined.home,
            _ => above.stored,
        };
        let parent = self.place(home.dbd)?;
        let relations = &self.databases[parent].as_parent;
        let at = relations.iter().position(|relation| {
            relation.child_dbd == stored.dbd && relation.child_name == stored.segment
        });
        match at {
            Some(at) => Ok(Chain::Relation { at, of_destination }),
            None => Err(ViewError::NoPath(segment.name)),
        }
    }
}

/// The type that stores a segment: of two that are physically paired only one does.
fn stored_home(segment: &ViewSegment, definitions: &dyn Definitions) -> Home {
    let home = segment.stored;
    let other = || {
        let dbd = definitions.dbd(home.dbd)?;
        let at = usize::from(home.code.checked_sub(1)?);
        let (dbd, of) = hierarchy::relation::stored_for(&dbd, at, definitions)?;
        let segment = definitions.dbd(dbd)?.segments.get(of.index())?.name;
        Some(Home { dbd, segment, code: of.code() })
    };
    other().unwrap_or(home)
}

/// How a segment hangs on the one above it in the view.
fn chain_below(
    segment: &ViewSegment,
    above: &ViewSegment,
    is_virtual: bool,
    definitions: &dyn Definitions,
) -> Option<Chain> {
    let parent_of = |home: Home| {
        let dbd = definitions.dbd(home.dbd)?;
        let at = usize::from(home.code.checked_sub(1)?);
        let parent = usize::from(dbd.segments.get(at)?.parent?);
        Some((home.dbd, dbd.segments.get(parent)?.code))
    };
    let is = |one: Option<(DbdName, u8)>, home: Home| one == Some((home.dbd, home.code));
    let destination = above.destination.as_ref().map(|joined| joined.home);
    for (of_destination, home) in [(false, Some(above.home)), (true, destination)] {
        let Some(home) = home else { continue };
        if is(parent_of(segment.home), home) {
            return Some(match is_virtual {
                true => Chain::Relation { at: 0, of_destination },
                false => Chain::Child { of_destination },
            });
        }
        if is(parent_of(home), segment.home) {
            return Some(Chain::Up { of_destination });
        }
    }
    None
}

/// The bytes of the longest path from the root as it may be returned by one call.
fn longest_path(view: &View, nodes: &[Node]) -> usize {
    let len = |at: u16| -> usize {
        let segment = &view.segments[usize::from(at)];
        if segment.access.seen_len > 0 {
            return segment.access.seen_len as usize;
        }
        let joined = segment.destination.as_ref().map_or(0, |joined| usize::from(joined.max));
        usize::from(segment.form.max) + joined
    };
    let paths = nodes.iter().map(|node| node.path.iter().copied().map(len).sum());
    paths.max().unwrap_or(0)
}
