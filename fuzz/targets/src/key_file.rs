//! The key file: magic, version, cost of the passphrase, wrapped keys, list tag, checksum.

use std::path::Path;
use std::sync::Arc;

use base::SystemId;
use seal::{KdfCost, Keyset, Passphrase, Token, TokenFault, TokenPlace};
use seam::sim::SimDisk;
use zeroize::Zeroizing;

use crate::input::simulated;

/// Any bytes, with and without the checksum, and with a master key that does not fit.
pub fn fuzz(bytes: &[u8]) {
    let _ = seal::fuzz_key_file(bytes);
}

/// A token that protects nothing.
struct Echo;

impl Token for Echo {
    fn make_key(&self, _: &[u8], _: &TokenPlace) -> Result<(), TokenFault> {
        Ok(())
    }

    fn wrap(
        &self,
        _: &[u8],
        _: &TokenPlace,
        _: &[u8; 12],
        _: &[u8],
        clear: &[u8],
    ) -> Result<Vec<u8>, TokenFault> {
        Ok([clear, &[0; 16]].concat())
    }

    fn unwrap(
        &self,
        _: &[u8],
        _: &TokenPlace,
        _: &[u8; 12],
        _: &[u8],
        wrapped: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, TokenFault> {
        Ok(Zeroizing::new(wrapped[..wrapped.len() - 16].to_vec()))
    }
}

/// Key files in a token and under a passphrase, with no key, one, and several generations.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let (disk, path) = (SimDisk::new(), Path::new("/keys"));
    let contents = || disk.read_raw(path, 0, disk.len_raw(path) as usize);
    simulated(&disk, |seam| {
        let system = SystemId([3; 16]);
        let passphrase = Passphrase::new(b"fuzz".to_vec());
        let keyset = Keyset::create(&seam, path, system, &passphrase, KdfCost::TEST)
            .expect("a key file on an empty disk");
        let mut seeds = vec![contents()];
        let pin = Passphrase::new(b"1".to_vec()).with_token(Arc::new(Echo));
        let place = TokenPlace { token: "BANK".into(), key: "holdfast".into() };
        keyset.move_to_token(&pin, &place).expect("a token that does what it is told");
        seeds.push(contents());
        keyset.change_passphrase(&passphrase, KdfCost::TEST).expect("and back");
        for _ in 0..2 {
            for label in ["log", "payroll"] {
                let _ = keyset.add_label(label).or_else(|_| keyset.new_generation(label));
                seeds.push(contents());
            }
        }
        seeds
    })
}
