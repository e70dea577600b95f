//! Where a root goes: randomizers, partitions, collation.
