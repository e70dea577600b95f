//! Redirected clusters for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use holdfast_redirect_postgres::{Databases, SCHEME};
use redirector::Registry;
use store::Store;
use vsam::handler::{Described, Handlers};
use vsam::{
    Catalog, ClusterAttributes, Definition, Entry, KeyField, RecordOwner, Redirection, SourceId,
};

use crate::clusters::name;

/// Records of 30 bytes: a key of 4, a name of 6, a balance, a rate, something without a name.
pub(crate) const BOOK: &str = "       01 ACCOUNT.
          05 ACCT-NO      PIC X(4).
          05 OWNER-NAME   PIC X(6).
          05 BALANCE      PIC S9(7)V99 COMP-3.
          05 LIMIT        PIC S9(9) COMP.
          05 RATE         PIC S9(2)V999.
          05 FILLER       PIC X(6).
";

pub(crate) fn account(key: &str, owner: &str, cents: i64) -> Vec<u8> {
    let mut record = format!("{key:4}{owner:6}").into_bytes();
    let digits = format!("{:09}", cents.unsigned_abs());
    let sign = if cents < 0 { 'd' } else { 'c' };
    let packed: Vec<u8> = format!("{digits}{sign}")
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    record.extend_from_slice(&packed);
    record.extend_from_slice(&(-5_i32).to_be_bytes());
    record.extend_from_slice(b"01250      ");
    record
}

pub(crate) fn keyed(mapped: bool) -> ClusterAttributes {
    ClusterAttributes {
        record_map: mapped.then(|| BOOK.to_owned()),
        reuse: true,
        ..ClusterAttributes::keyed(KeyField { offset: 0, bytes: 4 }, 30)
    }
}

/// Who has the tables, for a test that does not wait long.
pub(crate) fn handlers() -> Arc<dyn Handlers> {
    let databases = Arc::new(Databases::within(Duration::from_secs(20)));
    Arc::new(Registry::default().with(SCHEME, databases))
}

/// Defines a cluster that is redirected to a table of its own; answers the table's name.
pub(crate) fn redirected<S: Store>(
    catalog: &Catalog<S>,
    named: &str,
    attributes: ClusterAttributes,
    (owner, url): (RecordOwner, &str),
) -> (Entry, String) {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Relaxed);
    let object = format!("records_{number}");
    catalog.define(&name(named), Definition::Cluster(attributes), None).unwrap();
    catalog.set_handlers(handlers());
    let mut source = [9; 16];
    source[..4].copy_from_slice(&number.to_be_bytes());
    let redirection = Redirection {
        owner,
        to: url.to_owned(),
        object: object.clone(),
        page: None,
        source: SourceId(source),
    };
    let entry = catalog.redirect(&name(named), &redirection).unwrap();
    handlers().prepare(&Described::of(&entry).unwrap()).unwrap();
    (entry, object)
}

/// All records at the handler, in their order.
pub(crate) fn there(entry: &Entry) -> Vec<Vec<u8>> {
    let mut link = handlers().connect(&Described::of(entry).unwrap()).unwrap();
    let mut rows = Vec::new();
    link.read(vsam::handler::Edge::End, false, 10_000, &mut rows).unwrap();
    rows.into_iter().map(|row| row.record).collect()
}
