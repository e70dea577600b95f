//! The key file: magic, version, cost of the passphrase, wrapped keys, list tag, checksum.

use std::path::Path;

use base::SystemId;
use seal::{KdfCost, KeyRing, Passphrase};
use seam::sim::SimDisk;

use crate::input::simulated;

/// Any bytes, with and without the checksum, and with a master key that does not fit.
pub fn fuzz(bytes: &[u8]) {
    let _ = seal::fuzz_key_file(bytes);
}

/// Key files with no key, one, and several generations.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let (disk, path) = (SimDisk::new(), Path::new("/keys"));
    let contents = || disk.read_raw(path, 0, disk.len_raw(path) as usize);
    simulated(&disk, |seam| {
        let system = SystemId([3; 16]);
        let passphrase = Passphrase::new(b"fuzz".to_vec());
        let ring = KeyRing::create(&seam, path, system, &passphrase, KdfCost::TEST)
            .expect("a key file on an empty disk");
        let mut seeds = vec![contents()];
        for _ in 0..2 {
            for label in ["log", "payroll"] {
                let _ = ring.add_label(label).or_else(|_| ring.new_generation(label));
                seeds.push(contents());
            }
        }
        seeds
    })
}
