//! ISRT in load mode (DLI-12.40 and DLI-12.48 to DLI-12.50).
//!
//! Invariants:
//! 1. The path is that of the segment loaded last; what is loaded stands behind everything.

use definitions::Organization;

use crate::bytes::part;
use crate::insert::{Override, Stop, take_all};
use crate::lens::{Node, Path};
use crate::logical;
use crate::model::{End, Model};
use crate::position::Tail;
use crate::search::levels;
use crate::ssa::{Purpose, Ssa};
use crate::types::is_child;

impl Model {
    pub(crate) fn load(
        &mut self,
        pcb: usize,
        function: &str,
        area: &[u8],
        ssas: &[Vec<u8>],
    ) -> End {
        if function != "ISRT" {
            return End::status(b"AM");
        }
        let empty = self.is_empty(pcb);
        // DLI-12.40. decision: a database that was not empty at the first call stays AI.
        if !*self.pcbs[pcb].may_load.get_or_insert(empty) {
            return End::status(b"AI");
        }
        if ssas.is_empty() {
            return End::status(b"AH");
        }
        let (ssas, first_new) = match self.read_insert(pcb, ssas, Purpose::Load) {
            Ok(read) => read,
            Err(fault) => return self.fault(pcb, fault),
        };
        let new: Vec<usize> = ssas[first_new..].iter().map(|ssa| ssa.seg).collect();
        let given = match take_all(&self.lens(pcb), &new, area) {
            Ok(given) => given,
            Err(status) => return End::status(status),
        };
        let before = self.forest.clone();
        let mut path = match self.loaded_parent(pcb, new[0], &ssas[..first_new]) {
            Ok(path) => path,
            Err(end) => return end,
        };
        for (seg, given) in new.iter().zip(&given) {
            let key = self.lens(pcb).seg(*seg).key;
            let key = key.map(|key| {
                part(&given.image, usize::from(key.offset), usize::from(key.len)).to_vec()
            });
            let status = match self.may_load(pcb, &path, *seg, key.as_deref()) {
                Some(status) => Some(status),
                None => match self.add(pcb, &path, *seg, given, Override::default()) {
                    Ok(node) => {
                        path.push(node);
                        None
                    }
                    // DLI-12.30: what is II elsewhere is LB here.
                    Err(Stop::Refused(_)) => Some(b"LB"),
                    Err(Stop::Status(status)) => Some(status),
                },
            };
            if let Some(status) = status {
                self.forest = before;
                return End::status(status);
            }
        }
        if logical::link(self).is_err() || !self.index() {
            self.forest = before;
            return End::status(b"NI");
        }
        self.loaded(pcb, &path);
        End::status(b"  ")
    }

    fn loaded(&mut self, pcb: usize, path: &[Node]) {
        let mut position = self.pcbs[pcb].position.clone();
        position.go(&self.lens(pcb), path.to_vec(), Tail::Inside);
        self.pcbs[pcb].position = position;
        self.show(pcb, path);
    }

    /// The last loaded path down to the parent, which the SSAs must fit (DLI-12.49); LD without it.
    ///
    /// decision: SSAs with more than `=` on the key are AJ; those that do not fit are LD.
    fn loaded_parent(&mut self, pcb: usize, seg: usize, ssas: &[Ssa]) -> Result<Path, End> {
        let lens = self.lens(pcb);
        let path = self.pcbs[pcb].position.path.clone();
        let Some(above) = lens.seg(seg).parent.map(usize::from) else { return Ok(Path::new()) };
        let levels = levels(&lens, above, ssas);
        if let Some(level) = levels.iter().find(|level| !level.asked.is_key_alone()) {
            let at = ssas.iter().position(|ssa| ssa.seg == level.seg).unwrap_or(0);
            return Err(self.fault(pcb, crate::ssa::Fault::of(b"AJ", at)));
        }
        let fits = levels
            .iter()
            .zip(&path)
            .take_while(|(level, node)| level.seg == node.seg && level.asked.is_met(&lens, node));
        let fitting = fits.count();
        if fitting == levels.len() {
            return Ok(path[..fitting].to_vec());
        }
        // LD shows the deepest loaded parent (DLI-2.11).
        self.show(pcb, &path[..fitting]);
        Err(End::status(b"LD"))
    }

    /// DLI-12.48: what is out of order.
    ///
    /// decision: twins with a non-unique key must ascend as well, equal keys as they come.
    fn may_load(
        &self,
        pcb: usize,
        above: &[Node],
        seg: usize,
        key: Option<&[u8]>,
    ) -> Option<&'static [u8; 2]> {
        let lens = self.lens(pcb);
        let segment = lens.seg(seg);
        let partitioned = lens.dbds.get(&segment.home.dbd).is_some_and(|dbd| {
            matches!(dbd.organization, Organization::Phdam | Organization::Phidam)
        });
        if partitioned && is_child(lens.dbds, crate::forest::Type::of(&segment.home)) {
            // DLI-12.50.
            return Some(b"LF");
        }
        let later = lens.types_under(above.last().map(|node| node.seg));
        let mut later = later.into_iter().filter(|one| *one > seg);
        if !above.is_empty() && later.any(|one| !lens.twins(one, above).is_empty()) {
            return Some(b"LE");
        }
        let (key, unique) = (key?, segment.key?.unique);
        let twins = lens.twins(seg, above);
        if lens.is_hashed(seg) {
            return None;
        }
        match twins.last().map(|twin| lens.key(twin)) {
            Some(last) if unique && key == last => Some(b"LB"),
            Some(last) if key < last.as_slice() => Some(b"LC"),
            _ => None,
        }
    }
}
