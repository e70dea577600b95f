//! A database definition as a whole: the DBD, DATASET and AREA statements.

use super::field::{Field, IndexedField};
use super::names::{DbdName, DdName, FieldName, GroupName, ModuleName, SegmentName};
use super::segment::{LogicalChild, Segment};
use super::words::{AccessMethod, Organization, Protection};
use super::{Attribute, Extra};

/// A database definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dbd {
    /// `NAME=`.
    pub name: DbdName,
    /// The first value of `ACCESS=`.
    pub organization: Organization,
    /// The second value of `ACCESS=`.
    pub access_method: Option<AccessMethod>,
    /// Whether an index is protected from programs that use it as a database.
    pub protection: Option<Protection>,
    /// `DOSCOMP`: the index segment begins with a code; kept, without effect.
    pub dos_compatible: bool,
    /// `RMNAME=`.
    pub randomizer: Option<Randomizer>,
    /// `PASSWD=YES`.
    pub password: bool,
    /// `VERSION=`: the text that marks this generation.
    pub version: Option<String>,
    /// `DBVER=`.
    pub db_version: Option<u32>,
    /// `FPINDEX=YES`: an index of a DEDB.
    pub fp_index: bool,
    /// `PSNAME=`: the partition selection exit.
    pub partition_exit: Option<ModuleName>,
    /// `DATXEXIT=YES`.
    pub data_exit: bool,
    /// `EXIT=` for all segments.
    pub exits: Vec<Exit>,
    /// The data set groups, in the order of the source.
    pub data_sets: Vec<DataSet>,
    /// The areas of a DEDB.
    pub areas: Vec<Area>,
    /// The segment types in hierarchic order, at most 255.
    pub segments: Vec<Segment>,
    /// `ENCODING=`, `REMARKS=` and the like.
    pub metadata: Vec<Attribute>,
    /// Statements between DBD and the first SEGM that only describe.
    pub extras: Vec<Extra>,
}

impl Dbd {
    /// A DBD that says nothing but its name and organization.
    #[must_use]
    pub fn new(name: DbdName, organization: Organization) -> Dbd {
        Dbd {
            name,
            organization,
            access_method: None,
            protection: None,
            dos_compatible: false,
            randomizer: None,
            password: false,
            version: None,
            db_version: None,
            fp_index: false,
            partition_exit: None,
            data_exit: false,
            exits: Vec::new(),
            data_sets: Vec::new(),
            areas: Vec::new(),
            segments: Vec::new(),
            metadata: Vec::new(),
            extras: Vec::new(),
        }
    }

    /// The place of a segment in [`segments`](Dbd::segments).
    #[must_use]
    pub fn position(&self, name: SegmentName) -> Option<usize> {
        self.segments.iter().position(|segment| segment.name == name)
    }

    /// A segment by its name.
    #[must_use]
    pub fn segment(&self, name: SegmentName) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.name == name)
    }

    /// The root segment; LOGICAL and GSAM databases may have none.
    #[must_use]
    pub fn root(&self) -> Option<&Segment> {
        self.segments.first()
    }

    /// Whether the segment at `position` is the one at `above` or lies beneath it.
    #[must_use]
    pub fn is_within(&self, position: usize, above: usize) -> bool {
        self.path(position).any(|one| one == above)
    }

    /// From the segment at `position` up to the root.
    pub fn path(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        let parent = move |at: &usize| self.segments.get(*at)?.parent.map(usize::from);
        std::iter::successors(Some(position), parent).take(self.segments.len())
    }

    /// The length of the concatenated key of the segment at `position`.
    #[must_use]
    pub fn concatenated_key_len(&self, position: usize) -> u32 {
        let key = |at: usize| self.segments.get(at).and_then(Segment::key);
        self.path(position).filter_map(key).map(|field| u32::from(field.len)).sum()
    }

    /// Every LCHILD with an XDFLD: (place of its target segment, the LCHILD, its XDFLD).
    pub fn secondary_indexes(
        &self,
    ) -> impl Iterator<Item = (usize, usize, &LogicalChild, &IndexedField)> + '_ {
        self.segments.iter().enumerate().flat_map(|(at, segment)| {
            let children = segment.children.iter().enumerate();
            children.filter_map(move |(n, child)| Some((at, n, child, child.indexed.as_ref()?)))
        })
    }

    /// A field of the segment at `position`.
    #[must_use]
    pub fn field(&self, position: usize, name: FieldName) -> Option<&Field> {
        self.segments.get(position)?.field(name)
    }

    /// Whether what the type cannot say holds: parents in front of their children, levels,
    /// codes, data set numbers (the crate's invariant 2).
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let in_order = self.segments.iter().enumerate().all(|(at, segment)| {
            let level = match segment.parent.map(usize::from) {
                None => (at == 0).then_some(1),
                Some(parent) if parent < at => self.segments.get(parent).map(|up| up.level + 1),
                Some(_) => None,
            };
            level == Some(segment.level)
                && segment.level <= 15
                && usize::from(segment.code) == at + 1
                && segment.min <= segment.max
                && segment.is_sound()
        });
        in_order && self.segments.len() <= 255
    }
}

/// `RMNAME=(module,anchors,blocks,bytes)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Randomizer {
    /// The module; what it does is decided by the system's configuration.
    pub module: ModuleName,
    /// Root anchor points in each block.
    pub anchors: Option<u32>,
    /// Blocks of the root addressable area.
    pub blocks: Option<u32>,
    /// Bytes of one database record that may go there in one series of inserts.
    pub bytes: Option<u32>,
    /// `XCI`: extended call interface (DEDB).
    pub extended: bool,
}

/// A data capture exit: `EXIT=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The exit, or none for `*`: captured to the log only.
    pub module: Option<ModuleName>,
    /// Its options as written, `KEY`, `NODATA`, `CASCADE` and so on.
    pub options: Vec<String>,
}

/// Two numbers of which sources may give one: `SIZE=`, `BLOCK=`, `RECORD=`, `FRSPC=`, `UOW=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// The first.
    pub first: Option<u32>,
    /// The second.
    pub second: Option<u32>,
}

/// A data set group, or the files of a GSAM database: DATASET.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataSet {
    /// The statement's label.
    pub label: Option<GroupName>,
    /// `DD1=`: the primary data set; for GSAM the input (DLI-12.62).
    pub dd1: Option<DdName>,
    /// `DD2=`: for GSAM the output.
    pub dd2: Option<DdName>,
    /// `OVFLW=`: the overflow data set of HISAM.
    pub overflow: Option<DdName>,
    /// `SIZE=`.
    pub size: Pair,
    /// `BLOCK=`.
    pub block: Pair,
    /// `RECORD=`: record lengths; for GSAM (maximum, minimum).
    pub record: Pair,
    /// `RECFM=`, such as `FB`.
    pub record_format: Option<String>,
    /// `FRSPC=`: free block frequency, free space in percent.
    pub free_space: Pair,
}

/// An area of a DEDB: AREA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// `DD1=`: the area's name.
    pub dd1: DdName,
    /// `SIZE=`: the length of a control interval.
    pub size: Option<u32>,
    /// `UOW=(intervals,overflow)`.
    pub unit_of_work: Pair,
    /// `ROOT=(units of work,independent overflow)`.
    pub root: Pair,
}
