//! Which algorithms and lengths of keys count, and which are supported at all.
//!
//! 1. Limits of keys are those that the library has for their signatures: nothing is weaker or
//!    stricter.

use pgp::ser::Serialize as _;
use pgp::types::{
    EcdhPublicParams, EcdsaPublicParams, EddsaLegacyPublicParams, KeyDetails, PublicParams,
};

/// What DSA signed after 3 February 2023 does not count (FIPS 186-5).
const DSA_UNTIL: u32 = 1_675_382_400;
/// Nor what RSA of less than 2048 bits signed after 2013.
const SHORT_RSA_UNTIL: u32 = 1_388_534_400;
const RSA_BITS_MIN: u16 = 2048;

/// Why a key of such an algorithm is of no use at that second.
pub(crate) fn obstacle(key: &(impl KeyDetails + ?Sized), at: u32) -> Option<String> {
    weakness(key, at).or_else(|| unsupported(key))
}

/// Why a key of such an algorithm counts for nothing at that second, though it is supported.
pub(crate) fn weakness(key: &(impl KeyDetails + ?Sized), at: u32) -> Option<String> {
    match key.public_params() {
        PublicParams::DSA(_) if at > DSA_UNTIL => {
            Some("it is of DSA, which has counted for nothing since February 2023".to_owned())
        }
        PublicParams::RSA(params) if at > SHORT_RSA_UNTIL => {
            // A number begins with its length in bits.
            let bits = params.to_bytes().ok().and_then(|bytes| bytes.first_chunk().copied());
            let bits = bits.map_or(0, u16::from_be_bytes);
            let weak = || format!("it is of RSA with {bits} bits; {RSA_BITS_MIN} are needed");
            (bits < RSA_BITS_MIN).then(weak)
        }
        _ => None,
    }
}

/// What of a key's kind is not supported.
pub(crate) fn unsupported(key: &(impl KeyDetails + ?Sized)) -> Option<String> {
    let on = |curve: &pgp::crypto::ecc_curve::ECCCurve| {
        Some(format!("it is on the curve {curve}, which is not supported"))
    };
    match key.public_params() {
        PublicParams::Elgamal(_) => Some("it is of Elgamal, which is not supported".to_owned()),
        PublicParams::ECDSA(EcdsaPublicParams::Unsupported { curve, .. })
        | PublicParams::EdDSALegacy(EddsaLegacyPublicParams::Unsupported { curve, .. }) => {
            on(curve)
        }
        PublicParams::ECDH(params) => match params {
            EcdhPublicParams::Curve25519Legacy { .. }
            | EcdhPublicParams::P256 { .. }
            | EcdhPublicParams::P384 { .. }
            | EcdhPublicParams::P521 { .. } => None,
            other => on(&other.curve()),
        },
        PublicParams::Unknown { .. } => {
            let number = u8::from(key.algorithm());
            Some(format!("it is of algorithm {number}, which is not known here"))
        }
        _ => None,
    }
}
