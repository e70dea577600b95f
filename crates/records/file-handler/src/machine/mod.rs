//! Files of the machine: sequential, lines, and relative ones, in the formats of libcob; indexed
//! ones in a format of our own.
//!
//! Invariants:
//! 1. Whatever the system says against a write comes back as a status, at the WRITE that met it or
//!    at CLOSE; a file that was closed without one is durable.
//! 2. Nothing is written behind a part of a record.
//! 3. A file is locked while it is open, as libcob locks it: several may read, one may write.

mod device;
mod ending;
mod indexed;
mod lines;
mod lock;
mod relative;
mod sequential;

use std::path::Path;

pub use device::Device;
pub use indexed::{delete as delete_indexed, open as open_indexed};
pub use lines::Lines;
pub use relative::Relative;
pub use sequential::{Sequential, VariableForm};

use crate::body::{Absent, Body, Done};
use crate::fcd::{OpenMode, Organization};
use crate::status::FileStatus;

/// What a program says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its organization.
    pub organization: Organization,
    /// Its shortest record.
    pub least: usize,
    /// Its longest.
    pub most: usize,
    /// Whether it need not be there.
    pub optional: bool,
}

impl Shape {
    /// Whether records have different lengths.
    #[must_use]
    pub fn is_variable(&self) -> bool {
        self.least != self.most
    }
}

/// How lines are written and read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineForm {
    /// Blanks at the end of a record stay (`COB_LS_FIXED`).
    pub keep_blanks: bool,
    /// X'00' stands in front of control characters (`COB_LS_NULLS`).
    pub nulls: bool,
    /// Lines end with CR LF (`COB_LS_USES_CR`).
    pub carriage_return: bool,
}

/// How the files of the machine look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// Lengths in front of records.
    pub variable: VariableForm,
    /// Lines.
    pub lines: LineForm,
    /// OPEN OUTPUT writes behind what a sequential file has.
    pub goes_on: bool,
}

/// Opens a file; answers 00 or 05 with it.
///
/// # Errors
/// Why it cannot be opened.
pub fn open(
    path: &Path,
    shape: &Shape,
    mode: OpenMode,
    forms: Forms,
) -> Done<(Box<dyn Body>, FileStatus)> {
    if shape.organization == Organization::LineSequential && mode == OpenMode::InputOutput {
        return Err(FileStatus::MODE);
    }
    let is_sequential = shape.organization != Organization::Relative;
    let mode = match mode {
        OpenMode::Output if forms.goes_on && is_sequential => OpenMode::Extend,
        mode => mode,
    };
    let is_there = Device::exists(path)?;
    let status = match (is_there, mode, shape.optional) {
        (true, ..) | (_, OpenMode::Output, _) => FileStatus::DONE,
        (false, OpenMode::Extend, _) if forms.goes_on => FileStatus::DONE,
        (false, OpenMode::Input, true) => {
            return Ok((Box::new(Absent::default()), FileStatus::OPTIONAL));
        }
        (false, _, true) => FileStatus::OPTIONAL,
        (false, _, false) => return Err(FileStatus::NO_FILE),
    };
    let both = shape.organization == Organization::Relative;
    let device = Device::open(path, mode, both)?;
    let body: Box<dyn Body> = match shape.organization {
        Organization::LineSequential if mode == OpenMode::Extend => {
            Box::new(Lines::extend(device, shape, forms.lines)?)
        }
        Organization::LineSequential => Box::new(Lines::new(device, shape, forms.lines)),
        Organization::Relative => Box::new(Relative::new(device, shape, mode)),
        Organization::Sequential | Organization::Indexed => {
            if mode == OpenMode::Extend && !ending::is_whole(&device, shape, forms.variable)? {
                return Err(FileStatus::ERROR);
            }
            Box::new(Sequential::new(device, shape, forms.variable))
        }
    };
    Ok((body, status))
}

/// Takes a file away.
///
/// # Errors
/// Why it cannot be taken away.
pub fn delete(path: &Path) -> Done<()> {
    rustix::fs::unlink(path).map_err(FileStatus::of_errno)
}

/// What libcob's bits say of ADVANCING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Advancing(u32);

impl Advancing {
    const LINES: u32 = 0x1_0000;
    const PAGE: u32 = 0x2_0000;
    const AFTER: u32 = 0x10_0000;
    const BEFORE: u32 = 0x20_0000;

    pub(crate) fn of(options: u32) -> Advancing {
        Advancing(options)
    }

    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_after(self) -> bool {
        self.0 & Advancing::AFTER != 0
    }

    pub(crate) fn is_before(self) -> bool {
        self.0 & Advancing::BEFORE != 0
    }

    pub(crate) fn is_page(self) -> bool {
        self.0 & Advancing::PAGE != 0
    }

    /// The characters that move the paper.
    pub(crate) fn push(self, out: &mut Vec<u8>) {
        if self.0 & Advancing::LINES != 0 {
            match (self.0 & 0xffff) as usize {
                0 => out.push(b'\r'),
                lines => out.resize(out.len() + lines, b'\n'),
            }
        } else if self.is_page() {
            out.push(b'\x0c');
        }
    }
}
