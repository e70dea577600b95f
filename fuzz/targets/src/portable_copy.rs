//! Portable copies of clusters: files that come from elsewhere.

use idcams::scan;

/// A file is read to its end or refused, whatever its bytes.
pub fn fuzz(bytes: &[u8]) {
    let _ = scan(bytes);
}

/// The begin of a copy, and one without clusters.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let head = b"HFVSAM01H\0\0\0\x08\0\x06\0\0\0\0\0\0".to_vec();
    let cluster = b"C\0\0\0\x19 DEFINE CLUSTER (NAME(A))\nR\0\0\0\x03one";
    let mut end = head.clone();
    end.extend_from_slice(b"E\0\0\0\x08\0\0\0\0\0\0\0\0");
    vec![[head.as_slice(), cluster].concat(), end, head]
}
