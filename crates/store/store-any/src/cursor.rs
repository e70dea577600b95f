//! A place in a set of either store.

use store::{Cursor, KeyRange, Position, SetId};
use store_kernel::KernelCursor;
use store_postgres::EngineCursor;

/// A cursor of an [`AnyStore`](crate::AnyStore).
#[allow(clippy::large_enum_variant)] // the kernel's is the one whose calls must cost little
pub enum AnyCursor {
    /// In a kernel.
    Kernel(KernelCursor),
    /// In an engine.
    Engine(Box<EngineCursor>),
}

/// Does the same with whichever cursor it is.
macro_rules! on_either {
    ($any:expr, $one:ident => $work:expr) => {
        match $any {
            AnyCursor::Kernel($one) => $work,
            AnyCursor::Engine($one) => $work,
        }
    };
}

impl Cursor for AnyCursor {
    #[inline]
    fn set(&self) -> SetId {
        on_either!(self, one => one.set())
    }

    #[inline]
    fn limit(&mut self, range: KeyRange<'_>) {
        on_either!(self, one => one.limit(range));
    }

    #[inline]
    fn seek(&mut self, to: Position<'_>) {
        on_either!(self, one => one.seek(to));
    }

    #[inline]
    fn position(&self) -> Position<'_> {
        on_either!(self, one => one.position())
    }

    #[inline]
    fn key(&self) -> Option<&[u8]> {
        on_either!(self, one => one.key())
    }
}
