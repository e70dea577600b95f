//! Certificates.

use std::sync::Arc;

use otma::Name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::Error;
use super::options::Tls;

fn error(text: &impl ToString) -> Error {
    Error::Tls(text.to_string())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|why| error(&why))?;
    if found.is_empty() { Err(error(&"there is no certificate in the PEM")) } else { Ok(found) }
}

/// What accepts handshakes.
pub(super) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, Error> {
    let chain = certificates(&tls.certificates)?;
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(|why| error(&why))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|why| error(&why))?;
    let builder = match &tls.client_roots {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for root in certificates(pem)? {
                roots.add(root).map_err(|why| error(&why))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier =
                if tls.client_required { verifier } else { verifier.allow_unauthenticated() };
            builder.with_client_cert_verifier(verifier.build().map_err(|why| error(&why))?)
        }
    };
    let config = builder.with_single_cert(chain, key).map_err(|why| error(&why))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The user that a client's certificate names: its common name, in capital letters.
pub(super) fn user(chain: Option<&[CertificateDer<'_>]>) -> Option<Name> {
    let (_, certificate) = x509_parser::parse_x509_certificate(chain?.first()?).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    Name::new(&name.to_ascii_uppercase()).filter(|name| !name.is_blank())
}
