//! Making a system where there is none: folders, key file, control file, log, RECON, and last of
//! all its configuration.
//!
//! Invariants:
//! 1. A folder is a system once it has its configuration, which is written last.
//! 2. If it cannot be finished, what was made is removed, and nothing else.

use std::path::Path;
use std::sync::Arc;

use base::SystemId;
use btree::TreeResource;
use recon::Recon;
use seal::{KdfCost, KeyProvider, Keyset, Passphrase, TokenPlace};
use seam::Seam;
use seam::disk::{Disk, make_dir};
use seam::fresh::replace_small;
use seam::made::MadeHere;
use uow::{Kernel, Parts};

use crate::config::CONFIG_FILE;
use crate::keyset::LABELS;
use crate::lock::lock;
use crate::places::Places;
use crate::{SystemConfig, SystemError, registry};

/// How a system is made.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// Its configuration; the identity in it is drawn anew.
    pub config: SystemConfig,
    /// What a guess at the passphrase costs.
    pub cost: KdfCost,
    /// The key in a token that protects the key file in place of a passphrase.
    pub token: Option<TokenPlace>,
}

impl Default for InitOptions {
    fn default() -> InitOptions {
        InitOptions {
            config: SystemConfig::new(SystemId::default()),
            cost: KdfCost::default(),
            token: None,
        }
    }
}

/// What the kernel is made of.
pub(crate) fn parts(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    keys: Arc<dyn KeyProvider>,
) -> Parts {
    Parts {
        seam: seam.clone(),
        keys,
        system: config.system,
        home: dir.to_owned(),
        resource: Arc::new(TreeResource),
        override_stale: false,
        offline: Vec::new(),
    }
}

/// Makes a system where there is none, alone. If that fails, what was made is removed, and nothing
/// else: other systems may have files in the same folders.
pub(crate) fn make_alone(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    make: impl FnOnce(&Seam) -> Result<(), SystemError>,
) -> Result<(), SystemError> {
    let places = Places::of(config, dir);
    // What is refused at once leaves no trace.
    places.free(seam.disk.as_ref())?;
    let (seam, here) = MadeHere::over(seam);
    let made =
        make_folders(seam.disk.as_ref(), dir, config).and_then(|()| lock(&seam, dir)).map(|lock| {
            // Again: somebody may have been faster, and some paths led nowhere before.
            let made = places
                .free(seam.disk.as_ref())
                .and_then(|()| places.claim(&seam, true))
                .and_then(|()| make(&seam));
            if made.is_err() {
                here.undo();
            }
            drop(lock);
            made
        });
    made.flatten()
}

/// Makes all of it but the folders.
pub(crate) fn make(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
    options: &InitOptions,
    config: &SystemConfig,
) -> Result<(), SystemError> {
    let disk = seam.disk.as_ref();
    let (path, id) = (config.key_file(dir), config.system);
    let keys = match &options.token {
        None => Keyset::create(seam, &path, id, passphrase, options.cost)?,
        Some(place) => Keyset::create_in_token(seam, &path, id, passphrase, place)?,
    };
    for label in LABELS {
        keys.add_label(label)?;
    }
    let keys: Arc<dyn KeyProvider> = Arc::new(keys);
    let parts = parts(seam, dir, config, Arc::clone(&keys));
    Kernel::create(&parts, &config.kernel(dir))?;
    Recon::create(&registry::recon_setup(seam, dir, config, keys), &[])?;
    let path = dir.join(CONFIG_FILE);
    replace_small(disk, &path, config.to_text().as_bytes())
        .map_err(|error| SystemError::io("write", &path, error))
}

/// The folders of a system.
fn make_folders(disk: &dyn Disk, dir: &Path, config: &SystemConfig) -> Result<(), SystemError> {
    let data = config.data.folders.iter().map(|folder| dir.join(folder));
    let folders = std::iter::once(dir.to_owned()).chain(config.all_log_folders(dir)).chain(data);
    for folder in folders {
        make_dir(disk, &folder).map_err(|error| SystemError::io("make", &folder, error))?;
    }
    Ok(())
}
