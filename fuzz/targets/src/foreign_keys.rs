//! X.509 certificates, key files and files of OpenPGP keys, as they come from anybody.
//!
//! No bytes make a reader panic, loop or take memory out of proportion.

use openpgp::keys::{Algorithm, NewKey};
use openpgp::{Bundle, X509, keystore};

/// A certificate on P-256 that somebody called A has signed, and its secret key, which protects
/// nothing.
const FILE: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBbTCCAROgAwIBAgIUWk6nEETxza63dUkBd3GiO+D2+RkwCgYIKoZIzj0EAwIw\n\
DDEKMAgGA1UEAwwBQTAeFw0yNjExMjIxMDU5MzBaFw0zNjExMTkxMDU5MzBaMAwx\n\
CjAIBgNVBAMMAUEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR5+eI+E6zUx6hc\n\
qvIf1dfv+UpiiFOywP+9W56Cx1d2VNmWT+XAb7PP/eDy6h/GbFDSxKaFZfIAY11/\n\
AtxBU5qao1MwUTAdBgNVHQ4EFgQUs1amPF8VqHTzb4CCxC2spQtqq/MwHwYDVR0j\n\
BBgwFoAUs1amPF8VqHTzb4CCxC2spQtqq/MwDwYDVR0TAQH/BAUwAwEB/zAKBggq\n\
hkjOPQQDAgNIADBFAiEAkGR1fZodPkNau0GUj9ysOrh3dFulec4EOouxX/tpBpUC\n\
IG+bjpUd66H548d131BPTU3EgLTiykvHGJpiIKUYrspl\n\
-----END CERTIFICATE-----\n\
-----BEGIN PRIVATE KEY-----\n\
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRHUzE3zQsk0ptZDC\n\
2JQP2qY858aYtdPZ17K4k/F+f6OhRANCAAR5+eI+E6zUx6hcqvIf1dfv+UpiiFOy\n\
wP+9W56Cx1d2VNmWT+XAb7PP/eDy6h/GbFDSxKaFZfIAY11/AtxBU5qa\n\
-----END PRIVATE KEY-----";

/// Reads any bytes as certificates, as a key file, and as OpenPGP keys. What is read tells of
/// itself.
///
/// # Panics
/// If a certificate that was read is another one when it is read again.
pub fn fuzz(bytes: &[u8]) {
    for certificate in X509::read(bytes).unwrap_or_default() {
        let again = X509::read(certificate.pem().as_bytes()).unwrap_or_default();
        let prints: Vec<String> = again.iter().map(X509::fingerprint).collect();
        assert_eq!(prints, [certificate.fingerprint()]);
        let (from, until) = certificate.validity();
        let _ = (from <= until, certificate.user().len());
    }
    let _ = keystore::has_secret_key(bytes);
    let _ = keystore::read_pem(bytes, None);
    let _ = Bundle::read(bytes);
}

/// A certificate in both forms, a key file, and an OpenPGP key in both forms.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let end = FILE.find("-----BEGIN PRIVATE").unwrap_or(FILE.len());
    let certificate = &FILE[..end];
    let read = X509::read(certificate.as_bytes()).unwrap_or_default();
    let der = read.first().map(|one| one.der().to_vec()).unwrap_or_default();
    let mut all = vec![certificate.as_bytes().to_vec(), der, FILE.as_bytes().to_vec()];
    let new = NewKey {
        users: vec!["A".to_owned()],
        algorithm: Algorithm::Curve25519,
        v6: false,
        passphrase: None,
        lifetime_s: None,
        signing_only: false,
    };
    if let Ok(key) = new.generate() {
        for armored in [false, true] {
            let mut bytes = Vec::new();
            let saved = key.save(armored, &mut bytes);
            all.extend(saved.is_ok().then_some(bytes));
        }
    }
    all
}
