//! A segment occurrence as SSAs look at it.

use std::convert::Infallible;

use ssa::{Entries, Subject};

use crate::shape::Shape;

/// An occurrence: its data and that of its destination parent.
pub(crate) struct Occurrence<'o> {
    pub(crate) shape: &'o Shape,
    pub(crate) node: u16,
    pub(crate) data: &'o [u8],
    pub(crate) joined: &'o [u8],
}

impl Occurrence<'_> {
    /// Its key as the program knows it.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        let key = self.shape.segment(self.node).key?;
        let from = usize::from(key.offset);
        self.data.get(from..from + usize::from(key.len))
    }
}

impl Subject for Occurrence<'_> {
    type Error = Infallible;

    fn bytes(&self, offset: u16, len: u16, of_destination: bool) -> Option<&[u8]> {
        let data = if of_destination { self.joined } else { self.data };
        let from = usize::from(offset);
        data.get(from..from + usize::from(len))
    }

    fn any_entry(
        &self,
        _entries: Entries,
        _test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Infallible> {
        Ok(false)
    }
}
