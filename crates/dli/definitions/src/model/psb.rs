//! A program specification: PCB, SENSEG, SENFLD and PSBGEN.

use super::Attribute;
use super::names::{DbdName, FieldName, PcbName, PsbName, SegmentName, TerminalName};
use super::options::ProcessingOptions;
use super::words::{ProgramLanguage, SubsetUsage};

/// A program specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Psb {
    /// `PSBNAME=`.
    pub name: PsbName,
    /// `LANG=`.
    pub language: Option<ProgramLanguage>,
    /// `CMPAT=YES`: batch programs get the I/O PCB too.
    pub compatible: bool,
    /// `MAXQ=`: calls with command code Q between two sync points.
    pub max_q: Option<u32>,
    /// `IOASIZE=`.
    pub io_area_size: Option<u32>,
    /// `SSASIZE=`.
    pub ssa_size: Option<u32>,
    /// `IOEROPN=`.
    pub io_error: Option<IoError>,
    /// `OLIC=YES`.
    pub online_image_copy: bool,
    /// `GSROLBOK=YES`: backout may be done though GSAM files were written.
    pub gsam_backout: bool,
    /// `LOCKMAX=`, in thousands of locks.
    pub lock_max: Option<u32>,
    /// `WRITE=YES`.
    pub write: bool,
    /// The PCBs in the order of the source, which is the order of the program's parameters.
    pub pcbs: Vec<Pcb>,
    /// What only describes.
    pub metadata: Vec<Attribute>,
}

impl Psb {
    /// A PSB without PCBs.
    #[must_use]
    pub fn new(name: PsbName) -> Psb {
        Psb {
            name,
            language: None,
            compatible: false,
            max_q: None,
            io_area_size: None,
            ssa_size: None,
            io_error: None,
            online_image_copy: false,
            gsam_backout: false,
            lock_max: None,
            write: false,
            pcbs: Vec::new(),
            metadata: Vec::new(),
        }
    }

    /// Every database that a PCB or an index operand names, sorted, each once.
    #[must_use]
    pub fn databases(&self) -> Vec<DbdName> {
        let mut names = Vec::new();
        for pcb in &self.pcbs {
            match &pcb.kind {
                PcbKind::Terminal(_) => {}
                PcbKind::Gsam(gsam) => names.push(gsam.dbd),
                PcbKind::Database(database) => {
                    names.push(database.dbd);
                    names.extend(database.sequence);
                    let segments = &database.segments;
                    names.extend(segments.iter().flat_map(|segment| segment.indices.iter()));
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether parents stand in front of their children in every PCB.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.pcbs.iter().all(|pcb| match &pcb.kind {
            PcbKind::Database(database) => {
                let segments = database.segments.iter().enumerate();
                segments.into_iter().all(|(at, one)| match one.parent {
                    None => at == 0,
                    Some(parent) => usize::from(parent) < at,
                })
            }
            PcbKind::Terminal(_) | PcbKind::Gsam(_) => true,
        })
    }
}

/// `IOEROPN=(n,WTOR)`: what a batch program returns after an I/O error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoError {
    /// The condition code.
    pub code: u16,
    /// Whether the operator is asked.
    pub ask: bool,
}

/// A PCB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pcb {
    /// `PCBNAME=` or the statement's label.
    pub name: Option<PcbName>,
    /// Whether it is among the program's parameters; with `LIST=NO` only its name leads to it.
    pub listed: bool,
    /// What it is for.
    pub kind: PcbKind,
    /// What only describes.
    pub metadata: Vec<Attribute>,
}

/// The three types of PCB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PcbKind {
    /// `TYPE=TP`: an alternate PCB.
    Terminal(TerminalPcb),
    /// `TYPE=DB`.
    Database(DatabasePcb),
    /// `TYPE=GSAM`.
    Gsam(GsamPcb),
}

/// An alternate PCB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalPcb {
    /// `LTERM=` or `NAME=`; none where the program sets it.
    pub destination: Option<TerminalName>,
    /// `ALTRESP=YES`.
    pub alternate_response: bool,
    /// `SAMETRM=YES`.
    pub same_terminal: bool,
    /// `MODIFY=YES`: CHNG may set the destination.
    pub modifiable: bool,
    /// `EXPRESS=YES`: messages go out even if the unit of work is backed out.
    pub express: bool,
}

/// A PCB for a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabasePcb {
    /// `DBDNAME=` or `NAME=`.
    pub dbd: DbdName,
    /// `PROCOPT=`.
    pub options: ProcessingOptions,
    /// `KEYLEN=`.
    pub key_len: Option<u32>,
    /// `POS=MULTIPLE`.
    pub multiple_positions: bool,
    /// `PROCSEQ=` or `PROCSEQD=`: the index whose order is used.
    pub sequence: Option<DbdName>,
    /// Whether it was `PROCSEQD=`: an index of a DEDB.
    pub sequence_of_dedb: bool,
    /// `SB=COND`: sequential buffering.
    pub sequential_buffering: bool,
    /// `VIEW=MSDB`.
    pub msdb_view: bool,
    /// `DBVER=`.
    pub db_version: Option<u32>,
    /// The sensitive segments.
    pub segments: Vec<Sensitive>,
}

/// A sensitive segment: SENSEG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitive {
    /// `NAME=`.
    pub name: SegmentName,
    /// The place of its parent among the PCB's segments; none for the root.
    pub parent: Option<u16>,
    /// `PROCOPT=`, which replaces the PCB's.
    pub options: Option<ProcessingOptions>,
    /// `SSPTR=((n,R|U)..)`.
    pub subsets: Vec<SubsetUse>,
    /// `INDICES=`: indexes whose fields SSAs may name.
    pub indices: Vec<DbdName>,
    /// The sensitive fields; empty if the whole segment is.
    pub fields: Vec<SensitiveField>,
    /// What only describes.
    pub metadata: Vec<Attribute>,
}

/// A subset pointer that a program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubsetUse {
    /// Its number, 1 to 8.
    pub number: u8,
    /// Whether the program moves it.
    pub usage: SubsetUsage,
}

/// A sensitive field: SENFLD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensitiveField {
    /// `NAME=`.
    pub name: FieldName,
    /// `START=`: where the program sees it, from 1.
    pub start: u16,
    /// `REPLACE=YES`.
    pub replace: bool,
    /// What only describes.
    pub metadata: Vec<Attribute>,
}

/// A PCB for sequential files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GsamPcb {
    /// `DBDNAME=` or `NAME=`.
    pub dbd: DbdName,
    /// `PROCOPT=`: G, GS, L, LS.
    pub options: ProcessingOptions,
}
