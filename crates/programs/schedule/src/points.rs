//! SETS, SETU and ROLS: points in a unit of work to roll back to (DLI-12.55 to DLI-12.57).
//!
//! Invariants:
//! 1. There are at most nine points; a known token moves its point.
//! 2. Every sync point drops all points.
//! 3. A program with GSAM PCBs has none: SC at SETS, and at ROLS after SETU.

use definitions::resolve::{ResolvedKind, ResolvedPsb};
use definitions::{Function, Organization};
use region::{Abend, Request};
use store::{Savepoint, Store, StoreError};

use crate::error::{abend, ended};
use crate::unit::UnitOfWork;

const POINTS_MAX: usize = 9;

/// A token of the program.
type Token = [u8; 4];

struct Point {
    token: Token,
    savepoint: Savepoint,
    /// Where the outputs stood.
    mark: Option<u64>,
    /// Where puts and gets stood.
    queues: mqi::server::Points,
    /// User data that ROLS gives back.
    data: Vec<u8>,
}

/// The points that stand.
#[derive(Default)]
pub(crate) struct Points {
    points: Vec<Point>,
    /// A PCB of the PSB cannot be rolled back.
    impossible: bool,
}

impl Points {
    pub(crate) fn of(psb: &ResolvedPsb) -> Points {
        let impossible = psb.pcbs.iter().any(|pcb| match &pcb.kind {
            ResolvedKind::Gsam(_) => true,
            ResolvedKind::Database(view) => {
                matches!(view.organization, Organization::Dedb | Organization::Msdb)
            }
            ResolvedKind::Terminal(_) => false,
        });
        Points { points: Vec::new(), impossible }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.points.clear();
    }

    /// SETS and SETU.
    pub(crate) fn set<S: Store>(
        &mut self,
        unit: &mut UnitOfWork<S>,
        request: Request<'_>,
    ) -> Result<[u8; 2], Abend> {
        let is_tolerant = request.function == Function::Setu;
        if self.impossible {
            return Ok(if is_tolerant { *b"  " } else { *b"SC" });
        }
        let Request { area, more, .. } = request;
        let Some(token) = token_of(more) else {
            if area.is_some() {
                // User data without a token to find it by.
                return Ok(*b"AB");
            }
            self.clear();
            return Ok(*b"  ");
        };
        self.points.retain(|point| point.token != token);
        if self.points.len() == POINTS_MAX {
            return Ok(*b"SB");
        }
        let mark = match unit.terminals.mark() {
            Some(None) => return Ok(if is_tolerant { *b"  " } else { *b"SC" }),
            mark => mark.flatten(),
        };
        let savepoint = match unit.session.savepoint() {
            Ok(savepoint) => savepoint,
            Err(failure) if is_too_much(&failure.error) => return Ok(*b"SA"),
            Err(failure) => return Err(ended(failure)),
        };
        let data = area.map_or_else(Vec::new, |area| area.to_vec());
        let queues = unit.queues.points();
        self.points.push(Point { token, savepoint, mark, queues, data });
        Ok(*b"  ")
    }

    /// ROLS. Answers how much of the area it has filled.
    pub(crate) fn roll_back<S: Store>(
        &mut self,
        unit: &mut UnitOfWork<S>,
        request: Request<'_>,
    ) -> Result<([u8; 2], usize), Abend> {
        let Request { area, more, .. } = request;
        let Some(token) = token_of(more) else {
            let text = "the program rolled back to its last commit (ROLS without a token)";
            return Err(abend("U3303", text));
        };
        if self.impossible {
            return Ok((*b"SC", 0));
        }
        let Some(at) = self.points.iter().position(|point| point.token == token) else {
            return Ok((*b"RA", 0));
        };
        let savepoint = self.points[at].savepoint;
        unit.session.rollback_to(savepoint).map_err(ended)?;
        unit.queues.return_to(&self.points[at].queues);
        if let Some(mark) = self.points[at].mark {
            unit.terminals.return_to(mark);
        }
        self.points.truncate(at + 1);
        let data = &self.points[at].data;
        let filled = match area {
            Some(area) => {
                let len = area.len().min(data.len());
                area[..len].copy_from_slice(&data[..len]);
                len
            }
            None => 0,
        };
        Ok((*b"  ", filled))
    }
}

fn token_of(more: &[&mut [u8]]) -> Option<Token> {
    more.first().and_then(|token| token.first_chunk()).copied()
}

fn is_too_much(error: &hierarchy::HierarchyError) -> bool {
    matches!(error, hierarchy::HierarchyError::Store(StoreError::TooLarge(_)))
}
