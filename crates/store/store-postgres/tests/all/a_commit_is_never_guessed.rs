//! The connection goes at COMMIT, before or after it reaches the server: the store finds out what
//! happened, or says that it does not know and can be asked.

#[path = "common/proxy.rs"]
mod proxy;

use std::time::Duration;

use crate::common::Server;
use holdfast_store_postgres::{EngineOptions, EngineStore};
use proxy::{Cut, Proxy};
use seam::Seam;
use store::{
    Read, Resolution, Result, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions, run,
};

struct Cutting {
    proxy: Proxy,
    /// Through the proxy, and around it.
    store: EngineStore,
    direct: EngineStore,
    set: SetId,
}

fn cutting(change: impl FnOnce(&mut EngineOptions)) -> Cutting {
    let server = Server::shared();
    let options = server.new_schema(change);
    let proxy = Proxy::new(server.socket());
    let open = |url: &str| EngineStore::open(url, options.clone(), &Seam::real()).unwrap();
    let (store, direct) = (open(&proxy.url()), open(&server.url()));
    let set = store.create_set("S", &SetAttributes::default()).unwrap();
    Cutting { proxy, store, direct, set }
}

impl Cutting {
    fn commit(&self, key: &[u8]) -> Result<()> {
        let mut unit = self.store.begin(UnitOptions::default())?;
        unit.put(self.set, key, b"value")?;
        unit.commit().map(drop)
    }

    fn is_there(&self, key: &[u8]) -> bool {
        let mut unit = self.direct.begin(UnitOptions::READ_ONLY).unwrap();
        unit.get(self.set, key, Read::Shared, &mut Vec::new()).unwrap()
    }
}

#[test]
fn a_commit_that_was_cut_is_resolved_by_itself() {
    let cutting = cutting(|_| ());
    for (cut, happens) in [(Cut::Before, false), (Cut::Within, false), (Cut::After, true)] {
        let key = format!("{cut:?}");
        cutting.proxy.cut(cut);
        let committed = cutting.commit(key.as_bytes());
        assert_eq!(cutting.is_there(key.as_bytes()), happens, "{cut:?}: {committed:?}");
        match committed {
            Ok(()) => assert!(happens, "{cut:?} was acknowledged"),
            Err(error) => assert!(!happens && error.is_retryable(), "{cut:?}: {error}"),
        }
    }
    assert_eq!(cutting.proxy.cuts(), 3);
    // Whoever lets it be run again does not notice at all.
    for (number, cut) in [Cut::Before, Cut::Within, Cut::After].into_iter().enumerate() {
        cutting.proxy.cut(cut);
        run(&cutting.store, UnitOptions::default(), |unit| {
            let mut value = Vec::new();
            unit.get(cutting.set, b"counter", Read::Update, &mut value)?;
            value.push(b'x');
            unit.put(cutting.set, b"counter", &value)
        })
        .unwrap();
        let mut unit = cutting.direct.begin(UnitOptions::READ_ONLY).unwrap();
        let mut value = Vec::new();
        unit.get(cutting.set, b"counter", Read::Shared, &mut value).unwrap();
        assert_eq!(value.len(), number + 1, "once for each unit of work, {cut:?}");
    }
}

#[test]
fn a_commit_that_cannot_be_resolved_is_unknown_and_can_be_asked_for() {
    for (cut, expected) in [
        (Cut::Before, Resolution::BackedOut),
        (Cut::Within, Resolution::BackedOut),
        (Cut::After, Resolution::Committed),
    ] {
        let cutting = cutting(|options| options.resolve_within = Duration::from_millis(300));
        cutting.commit(b"warm").unwrap();
        cutting.proxy.cut(cut);
        cutting.proxy.refuse(true);
        let token = match cutting.commit(b"k") {
            Err(StoreError::CommitUnknown(token)) => token,
            other => panic!("{cut:?}: {other:?}"),
        };
        assert_eq!(cutting.direct.resolve(token).unwrap(), expected, "{cut:?}");
        assert_eq!(cutting.is_there(b"k"), expected == Resolution::Committed, "{cut:?}");
        // The answer stays the same, whoever asks.
        cutting.proxy.refuse(false);
        assert_eq!(cutting.store.resolve(token).unwrap(), expected, "{cut:?}");
    }
}

#[test]
fn what_was_resolved_as_backed_out_never_happens_later() {
    let cutting = cutting(|options| options.resolve_within = Duration::from_millis(300));
    cutting.commit(b"warm").unwrap();
    cutting.proxy.cut(Cut::Held);
    cutting.proxy.refuse(true);
    let token = match cutting.commit(b"late") {
        Err(StoreError::CommitUnknown(token)) => token,
        other => panic!("{other:?}"),
    };
    assert_eq!(cutting.direct.resolve(token).unwrap(), Resolution::BackedOut);
    // Only now does it reach the server.
    cutting.proxy.let_go();
    assert!(!cutting.is_there(b"late"));
    assert_eq!(cutting.direct.resolve(token).unwrap(), Resolution::BackedOut);
}
