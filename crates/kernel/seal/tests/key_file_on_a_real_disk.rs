//! A key file on the real disk, at the real price of a passphrase: made, changed, opened again.

use std::os::unix::fs::PermissionsExt;

use base::{CiNumber, Coded, DataSetId, SystemId};
use holdfast_seal::{Format, KdfCost, KeyProvider, Keyset, PageSealer, Passphrase};
use seam::Seam;
use std::sync::Arc;

#[test]
fn a_page_sealed_before_a_restart_opens_after_it() {
    let seam = Seam::real();
    let dir = std::env::temp_dir().join(format!("holdfast-seal-{}", std::process::id()));
    seam.disk.create_dir(&dir).unwrap();
    let path = dir.join("keys");
    let (system, set, ci) = (SystemId([3; 16]), DataSetId(1), CiNumber(9));
    let first = Passphrase::from("first");
    let second = Passphrase::from("second");
    let sealer = |keyset: Keyset| {
        let generation = keyset.current("PAYROLL").unwrap();
        let (keys, entropy) = (Arc::new(keyset), Arc::clone(&seam.entropy));
        PageSealer::new(keys, entropy, system, set, "PAYROLL", Format::Sealed, generation)
    };

    let keyset = Keyset::create(&seam, &path, system, &first, KdfCost::default()).unwrap();
    keyset.add_label("PAYROLL").unwrap();
    keyset.change_passphrase(&second, KdfCost::default()).unwrap();
    keyset.change_master(&second).unwrap();
    let mut page = vec![7; 4096];
    let prefix = sealer(keyset).seal(ci, &mut page).unwrap();

    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "only its owner reads the key file");
    let refused = Keyset::open(&seam, &path, system, &first).unwrap_err();
    assert_eq!(refused.code().0, "HFS027");
    let keyset = Keyset::open(&seam, &path, system, &second).unwrap();
    assert_eq!(sealer(keyset).open(ci, &mut page).unwrap(), prefix);
    assert!(page[..4000].iter().all(|byte| *byte == 7));

    seam.disk.remove(&path).unwrap();
    let missing = Keyset::open(&seam, &path, system, &second).unwrap_err();
    assert_eq!(missing.code().0, "HFS020");
    std::fs::remove_dir(&dir).unwrap();
}
