//! What a listing of a key ring shows.

use pgp::composed::SignedPublicKey;
use pgp::types::{KeyDetails, SignedUser};
use rpgpie::certificate::Certificate;

use crate::usability::{Claim, claim_of, end_of, is_revoked};
use crate::validity::Checked;
use crate::x509::X509;

/// What a listing shows of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The fingerprint, in hexadecimal.
    pub fingerprint: String,
    /// The key id, in hexadecimal.
    pub key_id: String,
    /// The version of the key's form: 4 or 6.
    pub version: u8,
    /// The names that were given to it here.
    pub aliases: Vec<String>,
    /// Who it says it belongs to, the primary user id first; what it has taken back is not among
    /// that.
    pub users: Vec<String>,
    /// Who it said it belongs to, if what said so has expired.
    pub lapsed: Vec<String>,
    /// The algorithm of its primary key.
    pub algorithm: String,
    /// When it was made, in seconds since 1970.
    pub made: u32,
    /// When it expires, in seconds since 1970.
    pub expires: Option<u64>,
    /// Whether it was revoked.
    pub is_revoked: bool,
    /// Whether the secret key is here, too.
    pub has_secret: bool,
    /// The token that has the secret key.
    pub token: Option<String>,
    /// Whether there is a certificate of X.509 for it.
    pub has_x509: bool,
}

/// The fingerprint of a certificate, as it stands in names of files.
pub(crate) fn print_of(certificate: &Certificate) -> String {
    certificate.fingerprint().to_string().to_uppercase()
}

/// What a listing shows of a certificate.
pub(crate) fn describe(
    certificate: Certificate,
    aliases: &[(String, String)],
    secrets: &[String],
) -> Entry {
    let fingerprint = print_of(&certificate);
    let given = SignedPublicKey::from(certificate.clone());
    let checked = Checked::new(certificate);
    let inner = checked.as_signed_public_key();
    let (users, lapsed) = users_of(&given, &checked);
    Entry {
        key_id: inner.legacy_key_id().to_string().to_uppercase(),
        version: u8::from(inner.version()),
        aliases: aliases
            .iter()
            .filter(|(_, print)| *print == fingerprint)
            .map(|(alias, _)| alias.clone())
            .collect(),
        users,
        lapsed,
        algorithm: format!("{:?}", inner.algorithm()),
        made: inner.created_at().as_secs(),
        expires: end_of(&checked),
        is_revoked: is_revoked(&checked),
        has_secret: secrets.contains(&fingerprint),
        token: None,
        has_x509: false,
        fingerprint,
    }
}

/// The user ids that the key says are its own, the primary one first, and those that have lapsed.
fn users_of(given: &SignedPublicKey, checked: &Checked) -> (Vec<String>, Vec<String>) {
    let primary = checked.primary_user_id().map(|user| &user.id);
    let text = |user: &SignedUser| String::from_utf8_lossy(user.id.id()).into_owned();
    let (mut users, mut lapsed) = (Vec::new(), Vec::new());
    for user in &given.details.users {
        match claim_of(user, &given.primary_key) {
            Claim::Good if Some(&user.id) == primary => users.insert(0, text(user)),
            Claim::Good => users.push(text(user)),
            Claim::Lapsed => lapsed.push(text(user)),
            Claim::Withdrawn | Claim::Foreign => {}
        }
    }
    (users, lapsed)
}

/// What a listing shows of a certificate of X.509.
pub(crate) fn describe_x509(certificate: &X509, aliases: &[(String, String)]) -> Entry {
    let key = certificate.primary();
    let fingerprint = certificate.fingerprint();
    let (from, until) = certificate.validity();
    let own = aliases.iter().filter(|(_, print)| *print == fingerprint);
    Entry {
        key_id: key.legacy_key_id().to_string().to_uppercase(),
        version: u8::from(key.version()),
        aliases: own.map(|(alias, _)| alias.clone()).collect(),
        users: vec![certificate.user().to_owned()],
        lapsed: Vec::new(),
        algorithm: format!("{:?}", key.algorithm()),
        made: from,
        expires: (until < u32::MAX).then_some(until.into()),
        is_revoked: false,
        has_secret: false,
        token: None,
        has_x509: true,
        fingerprint,
    }
}
