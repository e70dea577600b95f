//! What every signature that is made says of itself: when, and by whom.

use pgp::packet::{SignatureConfig, SignatureType, Subpacket, SubpacketData};
use pgp::types::{KeyVersion, SigningKey, Timestamp};

use crate::entropy::Random;
use crate::error::Result;

/// A signature of that kind by a key, before it is made.
pub(crate) fn config_for(key: &impl SigningKey, kind: SignatureType) -> Result<SignatureConfig> {
    let mut config = SignatureConfig::from_key(Random, key, kind)?;
    config.hashed_subpackets = vec![
        Subpacket::critical(SubpacketData::SignatureCreationTime(Timestamp::now()))?,
        Subpacket::regular(SubpacketData::IssuerFingerprint(key.fingerprint()))?,
    ];
    if key.version() != KeyVersion::V6 {
        let id = SubpacketData::IssuerKeyId(key.legacy_key_id());
        config.unhashed_subpackets = vec![Subpacket::regular(id)?];
    }
    Ok(config)
}
