//! The medium laid bare: looking at and spoiling a disk from outside, past every promise.
//!
//! These tools are for a disk at rest, fresh from [`SimDisk::crash_image`] or settled. On a disk
//! with unsynced writes they change what programs see and what is durable alike, and a write that
//! becomes durable later may cover the change. Paths that are not there are a test's mistake and
//! panic.

use std::path::{Path, PathBuf};

use super::disk::{SimDisk, absolute};
use super::image::Image;
use super::inode::{Change, Inode};
use super::tree::Entry;
use crate::disk::BLOCK;

impl SimDisk {
    fn look<R>(&self, path: &Path, body: impl FnOnce(&Inode) -> R) -> R {
        self.with(|state| match state.tree.current.get(&absolute(path)) {
            Some(Entry::File(inode)) => body(&state.inodes[inode]),
            _ => panic!("no file {} on the simulated disk", path.display()),
        })
    }

    fn edit(&self, path: &Path, mut body: impl FnMut(&mut Image)) {
        self.with(|state| match state.tree.current.get(&absolute(path)) {
            Some(Entry::File(number)) => {
                let number = *number;
                let inode = state.inode(number);
                body(&mut inode.current);
                body(&mut inode.durable);
            }
            _ => panic!("no file {} on the simulated disk", path.display()),
        });
    }

    /// The length of a file.
    #[must_use]
    pub fn len_raw(&self, path: impl AsRef<Path>) -> u64 {
        self.look(path.as_ref(), |inode| inode.current.len())
    }

    /// Bytes of a file; zeros past its end.
    #[must_use]
    pub fn read_raw(&self, path: impl AsRef<Path>, offset: u64, len: usize) -> Vec<u8> {
        self.look(path.as_ref(), |inode| {
            let mut bytes = vec![0; len];
            inode.current.read(offset, &mut bytes);
            bytes
        })
    }

    /// Puts bytes into a file, growing it if need be.
    pub fn write_raw(&self, path: impl AsRef<Path>, offset: u64, bytes: &[u8]) {
        self.edit(path.as_ref(), |image| image.write(offset, bytes));
    }

    /// Turns the bits of `mask` over, from `offset` on.
    pub fn corrupt(&self, path: impl AsRef<Path>, offset: u64, mask: &[u8]) {
        self.edit(path.as_ref(), |image| {
            let mut bytes = vec![0; mask.len()];
            image.read(offset, &mut bytes);
            bytes.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
            let len = image.len();
            image.write(offset, &bytes);
            image.set_len(len);
        });
    }

    /// Cuts or extends a file.
    pub fn truncate(&self, path: impl AsRef<Path>, len: u64) {
        self.edit(path.as_ref(), |image| image.set_len(len));
    }

    /// Exchanges two ranges of a file, as a disk that loses track of its blocks does.
    pub fn swap_ranges(&self, path: impl AsRef<Path>, one: u64, other: u64, len: usize) {
        self.edit(path.as_ref(), |image| {
            let (mut first, mut second) = (vec![0; len], vec![0; len]);
            image.read(one, &mut first);
            image.read(other, &mut second);
            image.write(one, &second);
            image.write(other, &first);
        });
    }

    /// Exchanges two blocks of 4 KiB of a file, by number.
    pub fn swap_blocks(&self, path: impl AsRef<Path>, one: u64, other: u64) {
        let block = BLOCK as u64;
        self.swap_ranges(path, one * block, other * block, BLOCK);
    }

    /// Loses a file, durably.
    pub fn lose(&self, path: impl AsRef<Path>) {
        let path = absolute(path.as_ref());
        self.with(|state| state.tree.force(path, None));
    }

    /// Puts a file's content of another disk in the place of this one's: an old copy that somebody
    /// restored by hand. The file is made if need be; its folder must exist.
    pub fn take_from(&self, other: &SimDisk, path: impl AsRef<Path>) {
        let image = other.look(path.as_ref(), |inode| inode.current.clone());
        let path = absolute(path.as_ref());
        let inode = Inode { current: image.clone(), durable: image, ..Inode::default() };
        self.with(|state| {
            let number = state.add_inode(inode);
            state.tree.force(path, Some(Entry::File(number)));
        });
    }

    /// Where these bytes stand, in any file: in what programs see, on the medium, or on their way
    /// there. Files without a name any more are searched, too, as `/(unnamed)`.
    ///
    /// # Panics
    /// If `needle` is empty.
    #[must_use]
    pub fn find_bytes(&self, needle: &[u8]) -> Vec<(PathBuf, u64)> {
        assert!(!needle.is_empty(), "an empty needle is everywhere");
        let (names, inodes) = self.with(|state| (state.tree.names(), state.inodes.clone()));
        let mut found = Vec::new();
        for (number, inode) in &inodes {
            let name = names.get(number).cloned().unwrap_or_else(|| "/(unnamed)".into());
            let mut places = find_all(&inode.current.bytes(), needle, 0);
            places.extend(find_all(&inode.durable.bytes(), needle, 0));
            for pending in &inode.pending {
                if let Change::Write(write) = &pending.change {
                    places.extend(find_all(&write.bytes(), needle, write.offset));
                }
            }
            found.extend(places.into_iter().map(|place| (name.clone(), place)));
        }
        found.sort();
        found.dedup();
        found
    }

    /// Whether two disks show programs the same files with the same contents.
    #[must_use]
    pub fn same_content(&self, other: &SimDisk) -> bool {
        let paths = self.paths();
        paths == other.paths()
            && paths.iter().all(|path| {
                let one = self.look(path, Inode::clone);
                let other = other.look(path, Inode::clone);
                one.current.bytes() == other.current.bytes()
            })
    }
}

/// Every place of `needle` in `hay`, which begins at `base`.
fn find_all(hay: &[u8], needle: &[u8], base: u64) -> Vec<u64> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(next) = hay[from..].iter().position(|byte| *byte == needle[0]) {
        from += next;
        if hay[from..].starts_with(needle) {
            places.push(base + from as u64);
        }
        from += 1;
    }
    places
}
