//! Calls through GSAM PCBs (DLI-12.59 to DLI-12.63).
//!
//! Invariants:
//! 1. Any function but OPEN, CLSE, GN, GU and ISRT is AM.
//! 2. A file without a DD cannot be opened: AI, and the operator is told which DD is missing.
//! 3. What the disk refuses the operator is told, too; the program has the status alone.

use std::path::PathBuf;
use std::sync::Arc;

use base::Coded as _;
use definitions::Function;
use definitions::resolve::GsamView;
use gsam::{FileSpec, Form, Gsam, GsamError, Outcome, Rsa, Status};
use region::layout::NO_NAME;
use region::{Feedback, Reply, Request};
use seam::disk::Disk;

/// How many faults of a file are told.
const WARNINGS_MAX: u32 = 10;

/// The DD of a sequential file.
pub(crate) fn dd_of(view: &GsamView) -> String {
    view.dd.map_or_else(|| view.dbd.text().to_owned(), |dd| dd.text().to_owned())
}

/// A GSAM PCB.
pub(crate) struct FilePcb {
    gsam: Gsam,
    dd: String,
    /// Whether the job has the DD.
    given: bool,
    /// Show record search arguments of 12 bytes.
    wide: bool,
    warnings: u32,
}

impl FilePcb {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        view: &GsamView,
        files: &dyn Fn(&str) -> Option<FileSpec>,
    ) -> Result<FilePcb, GsamError> {
        let dd = dd_of(view);
        let file = files(&dd);
        let given = file.is_some();
        let absent = FileSpec { path: PathBuf::from(&dd), text: false };
        let gsam = Gsam::new(disk, view, file.unwrap_or(absent))?;
        Ok(FilePcb { gsam, dd, given, wide: false, warnings: 0 })
    }

    pub(crate) fn gsam(&self) -> &Gsam {
        &self.gsam
    }

    pub(crate) fn gsam_mut(&mut self) -> &mut Gsam {
        &mut self.gsam
    }

    /// Shows 12 bytes of record search argument from now on.
    pub(crate) fn widen(&mut self, number: usize, reply: &mut Reply) {
        self.wide = true;
        let key = self.feedback(Rsa::FRONT, 0);
        reply.pcb(number, Feedback { key: &key, ..Feedback::status(*b"  ") });
    }

    fn feedback(&self, rsa: Rsa, length: usize) -> Vec<u8> {
        let mut key = if self.wide { rsa.large().to_vec() } else { rsa.basic().to_vec() };
        if matches!(self.gsam.form(), Form::Undefined { .. }) {
            key.extend_from_slice(&(length as u32).to_le_bytes());
        }
        key
    }

    /// Answers a call, and tells the operator what is wrong with the file.
    pub(crate) fn call(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
        tell: fn(&str),
    ) {
        let is_get = request.function.is_get();
        let outcome = match self.given {
            true => self.answer(request),
            false => self.without_dd(request.function),
        };
        self.tell_fault(outcome.status, tell);
        let key = outcome.rsa.map_or_else(Vec::new, |rsa| self.feedback(rsa, outcome.length));
        if is_get && outcome.status == Status::Done {
            reply.fill(outcome.length);
        }
        let status = outcome.status.code();
        reply.pcb(number, Feedback { status, level: 0, segment: NO_NAME, key: &key, io: None });
    }

    fn answer(&mut self, request: Request<'_>) -> Outcome {
        let Request { function, area, more, ssas, .. } = request;
        if !ssas.is_empty() {
            return Status::Am.into();
        }
        match (function, area) {
            (Function::Open, area) => self.gsam.open(area.map_or(&[][..], |area| &*area)).into(),
            (Function::Clse, _) => self.gsam.close().into(),
            (Function::Gn | Function::Gu | Function::Isrt, None) => Status::Ab.into(),
            (Function::Gn, Some(area)) => self.gsam.get_next(area),
            (Function::Gu, Some(area)) => {
                let rsa = more.first().map(|rsa| &**rsa);
                self.gsam.get_unique(rsa, area)
            }
            (Function::Isrt, Some(area)) => {
                let length = u32::try_from(area.len()).unwrap_or(u32::MAX);
                self.gsam.insert(area, length)
            }
            _ => Status::Am.into(),
        }
    }

    fn without_dd(&self, function: Function) -> Outcome {
        match function {
            Function::Clse => Status::Done.into(),
            Function::Open | Function::Gn | Function::Gu | Function::Isrt => Status::Ai.into(),
            _ => Status::Am.into(),
        }
    }

    fn tell_fault(&mut self, status: Status, tell: fn(&str)) {
        if !matches!(status, Status::Ai | Status::Ao | Status::Af) || self.warnings == WARNINGS_MAX
        {
            return;
        }
        self.warnings += 1;
        let dd = &self.dd;
        match self.gsam.fault() {
            _ if !self.given => tell(&format!("DD {dd} is missing: give --dd {dd}=PATH")),
            Some(fault) => tell(&format!("DD {dd}: {}", fault.with_code())),
            None => {}
        }
    }
}
