//! A file of the key ring that is damaged stops nothing that can do without it.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdfast_openpgp as openpgp;
use openpgp::keys::{Algorithm, NewKey};
use openpgp::{Error, Kind, Reading, Stats, Store, Writing};
use seam::Seam;

fn ring(seam: &Seam) -> (std::path::PathBuf, Store, Arc<AtomicUsize>) {
    let folder = std::env::temp_dir().join(format!("hf-damaged-{}", std::process::id()));
    let answer = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&answer);
    let store = Store::open(seam, &folder).telling(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    (folder, store, answer)
}

fn add(store: &Store, user: &str) -> String {
    let new = NewKey {
        users: vec![user.to_owned()],
        algorithm: Algorithm::Curve25519,
        v6: false,
        passphrase: None,
        lifetime_s: None,
        signing_only: false,
    };
    store.add_secret(&new.generate().unwrap()).unwrap()
}

#[test]
fn others_are_used_and_the_damaged_file_is_named() {
    let seam = Seam::real();
    let (folder, store, answer) = ring(&seam);
    let (ada, bob) = (add(&store, "Ada"), add(&store, "Bob"));
    let writing = Writing {
        recipients: vec![store.certificate(&bob).unwrap().unwrap()],
        ..Writing::default()
    };
    let mut message = Vec::new();
    writing.run(&mut &b"at rest"[..], &mut message, &Stats::default()).unwrap();
    for (ending, length) in [("cert", 50), ("key", 0)] {
        let path = folder.join(format!("{ada}.{ending}"));
        let whole = seam::disk::read_small(&*seam.disk, &path, 1 << 20).unwrap();
        openpgp::replace_file(&*seam.disk, &path, &whole[..length]).unwrap();
    }
    assert_eq!(store.list().unwrap().len(), 1);
    assert_eq!(store.find("Bob").unwrap(), bob);
    let reading = Reading { keys: store.secrets(false).unwrap(), ..Reading::default() };
    let mut found = Vec::new();
    reading.run(&mut &message[..], &mut found, &Stats::default()).unwrap();
    assert_eq!(found, b"at rest");
    // Each is told once, however often it is asked for.
    assert_eq!(store.certificates().unwrap().len(), 1);
    assert_eq!(answer.load(Ordering::Relaxed), 2);
    // Who names the key hears which file it is.
    let print = store.find(&ada.to_lowercase()).unwrap();
    for failed in [store.certificate(&print).map(drop), store.secret(&print).map(drop)] {
        let error = failed.unwrap_err();
        assert!(matches!(&error, Error::RingFile(path) if path.contains(&ada)), "{error}");
        assert_eq!(error.kind(), Kind::Failed);
    }
    let wrong = store.check().unwrap().wrong;
    assert!(wrong.len() == 2 && wrong.iter().all(|what| what.contains(&ada)), "{wrong:?}");
    store.delete(&ada).unwrap();
    assert!(store.check().unwrap().wrong.is_empty());
    store.delete(&bob).unwrap();
    let _ = std::fs::remove_dir_all(&folder);
}
