//! Whether a file is of an image copy that RECON knows, also if it is damaged.
//!
//! Invariants:
//! 1. A damaged file is of a copy if it is as long as that, and its beginning or its manifest
//!    proves it: no other system can seal either. What of the rest proves itself serves a recovery,
//!    and nothing else of it.

use std::path::Path;

use recon::ImageCopy;
use seam::Seam;

use crate::envelope::{CopyKeys, HEAD, Head, Kind, Opener};
use crate::media::Source;
use crate::reader::beginning;
use crate::{CopyFiles, RecoveryError};

/// What a manifest holds beside four bytes for each data set.
const MANIFEST_BYTES: u64 = 24;

impl CopyFiles {
    /// Reads a file from front to back that is to be of a copy. Returns what is wrong with it, if
    /// it is of that copy all the same.
    ///
    /// # Errors
    /// It is of another copy, or of none that can be told; what is wrong with it then.
    pub fn is_of(
        seam: &Seam,
        path: &Path,
        copy: &ImageCopy,
        keys: &CopyKeys,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Option<RecoveryError>, RecoveryError> {
        let another = || {
            let why = format!("it is not image copy {}", copy.number);
            RecoveryError::Damaged { path: path.to_owned(), why }
        };
        match CopyFiles::verify(seam, path, keys, progress) {
            Ok(info) if info.tag == copy.tag => Ok(None),
            Ok(_) => Err(another()),
            Err(error @ RecoveryError::Damaged { .. }) => {
                let mut source = Source::open(seam, path)?;
                if source.bytes() != copy.bytes {
                    return Err(error);
                }
                match begins(&mut source, copy, keys)? {
                    Some(true) => Ok(Some(error)),
                    Some(false) => Err(another()),
                    None if ends(&mut source, copy, keys)? => Ok(Some(error)),
                    None => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether a file begins as the copy does; nothing if its beginning proves nothing.
fn begins(
    source: &mut Source,
    copy: &ImageCopy,
    keys: &CopyKeys,
) -> Result<Option<bool>, RecoveryError> {
    let Some((_, payload)) = piece(source, (0, Kind::Beginning), keys)? else { return Ok(None) };
    let is_it = |number: u32, from_us: u64| (number, from_us) == (copy.number, copy.from_us);
    Ok(beginning(&payload).map(|info| is_it(info.number, info.from_us)))
}

/// Whether the copy's manifest stands where its file ends.
fn ends(source: &mut Source, copy: &ImageCopy, keys: &CopyKeys) -> Result<bool, RecoveryError> {
    let bytes = HEAD as u64 + MANIFEST_BYTES + 4 * copy.sets.len() as u64;
    let Some(at) = copy.bytes.checked_sub(bytes) else { return Ok(false) };
    let manifest = piece(source, (at, Kind::Manifest), keys)?;
    Ok(manifest.is_some_and(|(head, _)| head.tag.0 == copy.tag))
}

/// The piece at a place of a file, if it is one of that kind and proves itself.
fn piece(
    source: &mut Source,
    (at, kind): (u64, Kind),
    keys: &CopyKeys,
) -> Result<Option<(Head, Vec<u8>)>, RecoveryError> {
    source.seek(at);
    let mut clear = [0; HEAD];
    if !source.take(&mut clear)? {
        return Ok(None);
    }
    let Ok(head) = Head::decode(&clear, keys.system) else { return Ok(None) };
    if head.kind != kind || head.sealed as u64 > source.bytes().saturating_sub(at) {
        return Ok(None);
    }
    let mut payload = vec![0; head.sealed];
    if !source.take(&mut payload)? {
        return Ok(None);
    }
    let opened = Opener::at(keys, head.number).open(&head, &clear, &mut payload)?;
    Ok(opened.is_ok().then_some((head, payload)))
}
