//! The PCBs of a program: what answers each, and what it looks like to the program.
//!
//! Invariants:
//! 1. The I/O PCB is number 0; PCB number n of the program is slot n - 1 of the call engine's
//!    session.
//! 2. There is one layout for each PCB.

use std::sync::Arc;

use gsam::Gsam;
use hierarchy::Database;
use region::Reply;
use region::layout::{NO_NAME, Name, PcbKind, PcbLayout};

use crate::file::FilePcb;

/// One PCB of the program.
pub(crate) enum Pcb {
    Io,
    Alternate,
    /// A database; the one that is loaded, if it is a load.
    Database(Option<Arc<Database>>),
    File(Box<FilePcb>),
}

/// All of them, by number.
pub(crate) struct Pcbs {
    pcbs: Vec<Pcb>,
    layouts: Vec<PcbLayout>,
}

impl Pcbs {
    /// The I/O PCB alone.
    pub(crate) fn new(io: PcbLayout) -> Pcbs {
        Pcbs { pcbs: vec![Pcb::Io], layouts: vec![io] }
    }

    /// Adds the PCB of the next slot.
    pub(crate) fn push(&mut self, pcb: Pcb, layout: PcbLayout) {
        self.pcbs.push(pcb);
        self.layouts.push(layout);
    }

    pub(crate) fn len(&self) -> usize {
        self.pcbs.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Pcb> {
        self.pcbs.get(number)
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Pcb> {
        self.pcbs.get_mut(number)
    }

    /// Those of the PSB, by slot.
    pub(crate) fn of_psb(&self) -> impl Iterator<Item = (usize, &Pcb)> {
        self.pcbs.iter().skip(1).enumerate()
    }

    pub(crate) fn layouts(&self) -> &[PcbLayout] {
        &self.layouts
    }

    /// The files of the GSAM PCBs.
    pub(crate) fn files(&mut self) -> impl Iterator<Item = &mut Gsam> {
        self.pcbs.iter_mut().filter_map(|pcb| match pcb {
            Pcb::File(file) => Some(file.gsam_mut()),
            _ => None,
        })
    }

    pub(crate) fn has_files(&self) -> bool {
        self.pcbs.iter().any(|pcb| matches!(pcb, Pcb::File(_)))
    }

    /// From now on files show record search arguments of 12 bytes (DLI-12.60).
    pub(crate) fn widen_rsas(&mut self, reply: &mut Reply) {
        for (number, pcb) in self.pcbs.iter_mut().enumerate() {
            if let Pcb::File(file) = pcb {
                file.widen(number, reply);
            }
        }
    }

    /// The DBD of a slot; blank if its PCB has none.
    pub(crate) fn dbd_of(&self, slot: usize) -> Name {
        match self.layouts.get(slot + 1).map(|layout| &layout.kind) {
            Some(PcbKind::Database(database)) => database.dbd,
            Some(PcbKind::Gsam(gsam)) => gsam.dbd,
            _ => NO_NAME,
        }
    }
}
