//! TLS of a client: whom it believes, how it says who it is.
//!
//! 1. TLS 1.3 alone is spoken. A cipher that a program names selects among its suites; names of
//!    older suites only say that the connection is to be secured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CipherSuite, ClientConfig, RootCertStore};

use super::{KEY_REPOSITORY_ERROR, KeyFiles};
use queue_manager::Reason;

/// The suites that can be chosen by their names.
const SUITES: [(&str, CipherSuite); 3] = [
    ("TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_AES_256_GCM_SHA384", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("TLS_CHACHA20_POLY1305_SHA256", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
];

/// What makes handshakes.
pub(super) fn config(keys: &KeyFiles, cipher: &str) -> Result<Arc<ClientConfig>, Reason> {
    let repository = keys.repository.as_deref().map(repository).transpose()?;
    let roots = match (&keys.roots, &repository) {
        (Some(file), _) => pem(file)?,
        (None, Some(all)) => all.clone(),
        (None, None) => return Err(KEY_REPOSITORY_ERROR),
    };
    let mut believed = RootCertStore::empty();
    for root in certificates(&roots)? {
        believed.add(root).map_err(|_| KEY_REPOSITORY_ERROR)?;
    }
    let mut provider = aws_lc_rs::default_provider();
    choose(&mut provider, cipher);
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|_| Reason::SSL_INITIALIZATION_ERROR)?
        .with_root_certificates(believed);
    let own = match (&keys.certificate, &keys.key, repository) {
        (Some(certificate), Some(key), _) => Some((pem(certificate)?, pem(key)?)),
        (None, None, Some(all)) => Some((all.clone(), all)),
        (None, None, None) => None,
        _ => return Err(KEY_REPOSITORY_ERROR),
    };
    // A repository without a key has none of the program's own.
    let own = own.and_then(|(chain, key)| Some((chain, PrivateKeyDer::from_pem_slice(&key).ok()?)));
    let config = match own {
        Some((chain, key)) => builder
            .with_client_auth_cert(certificates(&chain)?, key)
            .map_err(|_| KEY_REPOSITORY_ERROR)?,
        None if keys.key.is_some() => return Err(KEY_REPOSITORY_ERROR),
        None => builder.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn choose(provider: &mut CryptoProvider, cipher: &str) {
    if let Some((_, suite)) = SUITES.iter().find(|(name, _)| *name == cipher) {
        provider.cipher_suites.retain(|one| one.suite() == *suite);
    }
}

/// A repository is a file of the name that is given, or with an ending.
fn repository(name: &Path) -> Result<Vec<u8>, Reason> {
    let mut ended = name.as_os_str().to_owned();
    ended.push(".pem");
    pem(name).or_else(|_| pem(&PathBuf::from(ended)))
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn pem(file: &Path) -> Result<Vec<u8>, Reason> {
    std::fs::read(file).map_err(|_| KEY_REPOSITORY_ERROR)
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Reason> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.ok().filter(|all| !all.is_empty()).ok_or(KEY_REPOSITORY_ERROR)
}
