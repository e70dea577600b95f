//! Files: connections of an opener to the data of a cluster, directly or by a path: an ACB.

use store::Store;

use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::error::OpenError;
use crate::name::DataSetName;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// To read.
    Input,
    /// To load: the cluster is empty or is emptied (REUSE), and keys ascend.
    Output,
    /// To read and to change.
    InputOutput,
    /// To add records: behind the last one where there is an order of arrival or number.
    Extend,
}

/// How a file is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// `RST`: a reusable cluster is emptied, in whatever mode that changes it. [`OpenMode::Output`]
    /// does so anyway.
    pub reset: bool,
    /// The opener is one of those that share by record locks (RLS): together they count as one
    /// for the share options.
    pub record_level: bool,
    /// `STRNO`: how many positions there may be at once; `None`: any number.
    pub strings: Option<u32>,
}

/// An open file.
pub struct File<S: Store> {
    pub(crate) catalog: Catalog<S>,
}

impl<S: Store> Catalog<S> {
    /// Opens a cluster, a path, or an alternate index as a file of its own (for reading only).
    ///
    /// # Errors
    /// If there is no such object, others have it open, or the mode is not possible.
    pub fn open_file(
        &self,
        name: &DataSetName,
        mode: OpenMode,
        options: &OpenOptions,
    ) -> Result<File<S>, OpenError> {
        todo!("{name} {mode:?} {options:?}")
    }
}

impl<S: Store> File<S> {
    /// The entry of the cluster whose records it gives.
    #[must_use]
    pub fn base(&self) -> &Entry {
        todo!("{:p}", &self.catalog)
    }

    /// The entry of the alternate index through which it goes, if it does.
    #[must_use]
    pub fn alternate_index(&self) -> Option<&Entry> {
        todo!()
    }

    /// Whether the cluster had a record when it was opened, or has been given one since.
    #[must_use]
    pub fn mode(&self) -> OpenMode {
        todo!()
    }

    /// Closes it: its statistics are kept. Dropping it does the same, but says nothing of failures.
    /// What was changed is committed with the caller's unit of work, before or after.
    ///
    /// # Errors
    /// If the catalog cannot be changed.
    pub fn close(self) -> Result<(), OpenError> {
        todo!()
    }
}
