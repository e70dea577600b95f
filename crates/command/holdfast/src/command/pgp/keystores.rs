//! Java keystores beside the key ring: opened once for a command, and changed.
//!
//! 1. What is in a keystore comes before what is in the ring, and is never written into it.
//! 2. A keystore is replaced whole and durably; who changes it holds the lock on a file beside it,
//!    from before it is read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use openpgp::keystore::Keystore;
use openpgp::{Error, NewX509, SecretKey, Store, Target, X509, replace_file};
use seam::disk::HeldLock;
use zeroize::Zeroizing;

use super::RingArgs;
use super::files::shown;
use super::keyring::{report, small};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::passphrase::{KEYSTORE_VARIABLE, for_files};

/// How long another command's change is waited for, in tries of so many milliseconds each.
const TRIES: u32 = 1500;
const TRY_MS: u64 = 20;

impl RingArgs {
    /// The key ring, with the keystore before it if one is named (1).
    pub(super) fn store(&self, context: &Context) -> Result<Store> {
        let store = self.folder(context)?;
        let Some(path) = &self.keystore else { return Ok(store) };
        let bytes = Zeroizing::new(small(path)?);
        let passphrase = self.keystore_passphrase(context, false)?;
        let keystore = Keystore::read(&bytes, &passphrase)?.foreign(None)?;
        Ok(store.with_keystore(&keystore)?)
    }

    /// The passphrase of a keystore; a new one is asked for twice.
    pub(super) fn keystore_passphrase(
        &self,
        context: &Context,
        is_new: bool,
    ) -> Result<Zeroizing<String>> {
        let word = match (&self.keystore_passphrase_file, &context.given.keystore) {
            (None, Some(given)) => given.clone(),
            (file, _) => {
                let prompt = "Passphrase of the keystore: ";
                let found = for_files(file.as_deref(), KEYSTORE_VARIABLE, prompt, is_new)?;
                Zeroizing::new(found.bytes().to_vec())
            }
        };
        let text = std::str::from_utf8(&word).map_err(|_| {
            Failure::usage("the passphrase of a keystore is text", "Check its file or variable.")
        })?;
        Ok(Zeroizing::new(text.to_owned()))
    }
}

/// A keystore that is being changed (2).
struct Change {
    path: PathBuf,
    keystore: Keystore,
    passphrase: Zeroizing<String>,
    _held: Box<dyn HeldLock>,
}

impl Change {
    fn begin(context: &Context, ring: &RingArgs, path: &Path, may_make: bool) -> Result<Change> {
        let path = std::path::absolute(path).map_err(on(path))?;
        Target::spare(&path)?;
        let _held = lock(context, &path)?;
        let is_new = may_make && !context.seam.disk.exists(&path).map_err(on(&path))?;
        let bytes = if is_new { Vec::new() } else { small(&path)? };
        let bytes = Zeroizing::new(bytes);
        let passphrase = ring.keystore_passphrase(context, is_new)?;
        let keystore = match is_new {
            true => Keystore::new(),
            false => Keystore::read_to_change(&bytes, &passphrase)?,
        };
        Ok(Change { path, keystore, passphrase, _held })
    }

    fn finish(self, context: &Context) -> Result<()> {
        let bytes = self.keystore.write(&self.passphrase)?;
        replace_file(&*context.seam.disk, &self.path, &bytes).map_err(on(&self.path))?;
        Ok(())
    }
}

fn on(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let what = shown(path);
    |source| Error::Io { what, source }
}

fn lock(context: &Context, path: &Path) -> Result<Box<dyn HeldLock>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let path = path.with_file_name(format!(".{name}.lock"));
    for _ in 0..TRIES {
        match context.seam.disk.lock(&path) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                context.seam.clock.sleep(Duration::from_millis(TRY_MS));
            }
            locked => return Ok(locked.map_err(on(&path))?),
        }
    }
    let what = format!("another command has held {} for 30 seconds", shown(&path));
    Err(Failure::other(what, "Try again when it has ended."))
}

/// Puts a key that was just made, and has no passphrase yet, into a keystore.
pub(super) fn keep(
    context: &mut Context,
    ring: &RingArgs,
    path: &Path,
    alias: &str,
    key: &SecretKey,
    x509: NewX509<'_>,
) -> Result<ExitCode> {
    let certificates = x509.of(key, &[])?;
    let mut change = Change::begin(context, ring, path, true)?;
    change.keystore.add(alias, key, &[], &certificates)?;
    change.finish(context)?;
    report(context, &certificates[0].fingerprint(), "made")
}

/// Removes keys from a keystore.
pub(super) fn delete(
    context: &mut Context,
    ring: &RingArgs,
    path: &Path,
    prints: &[String],
) -> Result<ExitCode> {
    let mut change = Change::begin(context, ring, path, false)?;
    for print in prints {
        if !change.keystore.remove(print) {
            let what = format!("{print} is not in the keystore {}", shown(path));
            return Err(Failure::other(what, "Leave --keystore out to delete it from the ring."));
        }
    }
    change.finish(context)?;
    for print in prints {
        report(context, print, "deleted")?;
    }
    super::super::DONE
}

/// A keystore with one key, to give it away.
pub(super) fn export(
    context: &Context,
    ring: &RingArgs,
    alias: &str,
    key: &SecretKey,
    certificates: &[X509],
) -> Result<Zeroizing<Vec<u8>>> {
    let passphrases = ring.passphrases(context, std::slice::from_ref(key))?;
    let mut keystore = Keystore::new();
    keystore.add(alias, key, &passphrases, certificates)?;
    Ok(keystore.write(&ring.keystore_passphrase(context, true)?)?)
}
