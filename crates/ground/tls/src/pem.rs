//! What PEM has in it.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::TlsError;

/// The certificates; at least one.
pub(crate) fn certificates(
    what: &'static str,
    bytes: &[u8],
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
    let found = found.map_err(|why| TlsError::Pem { what, why: why.to_string() })?;
    if found.is_empty() { Err(TlsError::Missing { what }) } else { Ok(found) }
}

/// The key.
pub(crate) fn key(bytes: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(bytes).map_err(|why| match why {
        pem::Error::NoItemsFound => TlsError::Missing { what: "key" },
        // What such an error shows is of the lines around the key, not of the key.
        why => TlsError::Pem { what: "the key", why: why.to_string() },
    })
}

/// Those who sign.
pub(crate) fn authorities(bytes: &[u8]) -> Result<Arc<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    for (at, root) in certificates("certificate of an authority", bytes)?.into_iter().enumerate() {
        roots
            .add(root)
            .map_err(|why| TlsError::Authority { number: at + 1, why: why.to_string() })?;
    }
    Ok(Arc::new(roots))
}

/// The library of ciphers.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

pub(crate) fn setup(why: &impl ToString) -> TlsError {
    TlsError::Setup(why.to_string())
}

pub(crate) fn no_pair(why: &impl ToString) -> TlsError {
    TlsError::Key(why.to_string())
}
