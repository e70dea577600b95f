//! Keys that were made elsewhere, bound to a name: certificates for them, by their own signature.
//!
//! 1. The key itself signs, wherever it is: in memory, or in a token.
//! 2. What was signed is verified with the public part before it is given out, so a secret key that
//!    does not belong to its public part is found at once.

use pgp::composed::SignedKeyDetails;
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::packet::{
    Features, KeyFlags, PublicKey, PublicSubkey, Signature, SignatureType, Subpacket,
    SubpacketData, UserId,
};
use pgp::types::{
    CompressionAlgorithm, Duration, KeyDetails as _, PacketHeaderVersion, Password, SignedUser,
    SigningKey, Tag, Timestamp,
};

use crate::error::{Error, Result};
use crate::signature_config::config_for;

/// What is to be said of a key.
pub(crate) struct Identity<'a> {
    /// Who it belongs to.
    pub(crate) user: &'a str,
    /// When it ends, in seconds since 1970.
    pub(crate) until: Option<u32>,
    /// Whether the key signs data.
    pub(crate) signs: bool,
    /// Whether it can be encrypted to, itself or by its part.
    pub(crate) encrypts: bool,
}

/// The signatures that make a certificate of a key, and of its part to encrypt to (1, 2).
pub(crate) fn bind(
    signer: &impl SigningKey,
    public: &PublicKey,
    part: Option<&PublicSubkey>,
    identity: &Identity<'_>,
) -> Result<(SignedKeyDetails, Vec<Signature>)> {
    let foreign = |_| {
        let what = "the secret key does not belong to the public key beside it";
        Error::NotOpenPgp(what.to_owned())
    };
    let none = Password::empty();
    let user = UserId::from_str(PacketHeaderVersion::New, identity.user)?;
    let mut config = config_for(signer, SignatureType::CertPositive)?;
    let mut flags = KeyFlags::default();
    flags.set_certify(true);
    flags.set_sign(identity.signs);
    let itself = identity.encrypts && part.is_none();
    flags.set_encrypt_comms(itself);
    flags.set_encrypt_storage(itself);
    let mut subpackets = vec![SubpacketData::KeyFlags(flags), SubpacketData::IsPrimary(true)];
    subpackets.extend(ends(public.created_at(), identity.until));
    subpackets.extend(preferences());
    for one in subpackets {
        config.hashed_subpackets.push(Subpacket::regular(one)?);
    }
    let certified = config.sign_certification(signer, public, &none, Tag::UserId, &user)?;
    certified.verify_certification(public, Tag::UserId, &user).map_err(foreign)?;
    let mut of_part = Vec::new();
    if let Some(part) = part {
        let mut config = config_for(signer, SignatureType::SubkeyBinding)?;
        let mut flags = KeyFlags::default();
        flags.set_encrypt_comms(true);
        flags.set_encrypt_storage(true);
        let subpackets = [SubpacketData::KeyFlags(flags)].into_iter();
        for one in subpackets.chain(ends(part.created_at(), identity.until)) {
            config.hashed_subpackets.push(Subpacket::regular(one)?);
        }
        let made = config.sign_subkey_binding(signer, public, &none, part)?;
        made.verify_subkey_binding(public, part).map_err(foreign)?;
        of_part.push(made);
    }
    let users = vec![SignedUser::new(user, vec![certified])];
    Ok((SignedKeyDetails::new(Vec::new(), Vec::new(), users, Vec::new()), of_part))
}

/// After how many seconds a key of that age ends.
fn ends(made: Timestamp, until: Option<u32>) -> Option<SubpacketData> {
    let lifetime = until?.saturating_sub(made.as_secs()).max(1);
    Some(SubpacketData::KeyExpirationTime(Duration::from_secs(lifetime)))
}

/// What its owner's program can read: this one does.
fn preferences() -> [SubpacketData; 4] {
    use SymmetricKeyAlgorithm::{AES128, AES192, AES256};
    let hashes = [HashAlgorithm::Sha512, HashAlgorithm::Sha384, HashAlgorithm::Sha256];
    let packings = [CompressionAlgorithm::ZLIB, CompressionAlgorithm::ZIP];
    let mut features = Features::default();
    features.set_seipd_v1(true);
    [
        SubpacketData::PreferredSymmetricAlgorithms([AES256, AES192, AES128].into_iter().collect()),
        SubpacketData::PreferredHashAlgorithms(hashes.into_iter().collect()),
        SubpacketData::PreferredCompressionAlgorithms(packings.into_iter().collect()),
        SubpacketData::Features(features),
    ]
}
