//! Identifiers of branches, as the X/Open XA specification has them in memory.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | format; -1: no branch |
//! | 8 | 8 | length of the transaction, 1 to 64 |
//! | 16 | 8 | length of the branch, 0 to 64 |
//! | 24 | 128 | transaction, then branch |
//!
//! 1. Lengths that cannot be are no identifier; nothing beside its bytes is read.

use std::ffi::c_long;

use queue_manager::branch::BranchId;

/// The identifier of a branch.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)] // the specification's own
pub struct Xid {
    pub format: c_long,
    pub transaction_length: c_long,
    pub branch_length: c_long,
    pub data: [u8; 128],
}

impl Xid {
    /// That of no branch.
    pub(crate) const NONE: Xid =
        Xid { format: -1, transaction_length: 0, branch_length: 0, data: [0; 128] };

    /// Whether it is that of no branch.
    pub(crate) fn is_none(&self) -> bool {
        self.format == Xid::NONE.format
    }

    /// The branch, if it can be one.
    pub(crate) fn branch(&self) -> Option<BranchId> {
        let transaction = usize::try_from(self.transaction_length).ok()?;
        let branch = usize::try_from(self.branch_length).ok()?;
        let (first, rest) = self.data.split_at_checked(transaction)?;
        BranchId::new(self.format, first, rest.get(..branch)?)
    }

    /// That of a branch.
    pub(crate) fn of(branch: &BranchId) -> Xid {
        let mut data = [0; 128];
        let bytes = branch.transaction().iter().chain(branch.branch());
        data.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Xid {
            format: branch.format(),
            transaction_length: branch.transaction().len() as c_long,
            branch_length: branch.branch().len() as c_long,
            data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_come_back_and_wrong_ones_are_none() {
        assert_eq!(size_of::<Xid>(), 152);
        let branch = BranchId::new(3, b"abc", b"defg").unwrap();
        let xid = Xid::of(&branch);
        assert_eq!(xid.branch(), Some(branch));
        for (format, transaction, branch) in
            [(-1, 3, 4), (3, 0, 4), (3, 65, 4), (3, 3, 65), (3, -1, 4)]
        {
            let wrong =
                Xid { format, transaction_length: transaction, branch_length: branch, ..xid };
            assert_eq!(wrong.branch(), None);
        }
        assert!(Xid::NONE.is_none() && Xid::NONE.branch().is_none());
    }
}
