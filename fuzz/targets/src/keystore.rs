//! Keystores of type PKCS#12, as they come from anybody.
//!
//! No bytes make the reader panic, loop or take memory out of proportion, and a file cannot make
//! it hash a passphrase for minutes.

use openpgp::keystore;

/// A keystore with the key of somebody called A, which protects nothing: its passphrase is `x`.
const FILE: &str = "\
MIIEHAIBAzCCA9MGCSqGSIb3DQEHAaCCA8QEggPAMIIDvDCCAmEGCSqGSIb3DQEHBqCCAlIwggJOAgEAMIICRwYJ\
KoZIhvcNAQcBMFYGCSqGSIb3DQEFDTBJMCgGCSqGSIb3DQEFDDAbBAhoy4OZlzRqBwIBAjAMBggqhkiG9w0CCQUA\
MB0GCWCGSAFlAwQBKgQQdI8Uie176bX7AqLVkkgvC4CCAeAyDgNBmkZ9oMq2kX6jSbWfKsu0P3VyPy0enrj3ri5O\
a8qrtguz1Jmi6PVxsGta0nIYoIiBG30q87PDwOGLwTeJ+940RANs/MRnA5M7wfoE5U3sPWo8cWa5wpVZySV1sn01\
K19gQXh7k6UL5oV5x8SeceOzfSZ1SW6NUwfCfL7eh2iDdprtLvs+JiTA/o2PNJtWDMkDY+5eKNQtSIXOwtRT7w/i\
w0GgmDeZCptFvnJMdebEb6+h5egjz+jm2xITdgVFkrCpTMVe4h+KdFGmXllQoIYfLybPyB0pEHVF+g7+00GtoynF\
ZR+H3t9uM52os/xoI+lW4R2VXBcAEkXwZjB9yhth9aZV0Huv0wbSu1bkdq/ywBRTmnDW0+WpDreUhfTbd7FPCE3l\
k6xI5JWqhuBaurUqMxQhlHDuJ+dQAXA5GjNkaVQqSaZ0DOSwmbK29AKFB7tqzEr1cu/she6iROUhgumoMHCQbCyq\
dD9ba64Ii0WQA6qYG+k7xlThLYvmrp6WCFR7IvkV/NAy15teKxxEflUZncCHK/GZkeIf1SP2QoTcRlTGq09iHIdU\
rrWEqbGvREwrMkc0Y8YoW3E+pK0J6f30ABthwEYCOIbgNSJytRa+ShRfSx+uY+yFwoIOTuMwggFTBgkqhkiG9w0B\
BwGgggFEBIIBQDCCATwwggE4BgsqhkiG9w0BDAoBAqCB7jCB6zBWBgkqhkiG9w0BBQ0wSTAoBgkqhkiG9w0BBQww\
GwQIK8VJmsRm9wUCAQIwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGuGQfOeCuCoWE+T8s8oLw0EgZDz9gNh\
/aTSya7/gcl1boOw3S7iL+A5fTvSznjSzRiGlQOjA4DFR1nFjJyW0r6kxCCFsosc7D0x9mPb9mGF41aOBR7fsJen\
Vb96iVdJsRIxxSANqTJ9b/xIEshdI9dHhjM883TlT4bV0TmYtPdXUPNSf6Mgn6lv9jYZ88my2sbedWFSviRIvHNs\
yYNK5zpB6GwxODARBgkqhkiG9w0BCRQxBB4CAGEwIwYJKoZIhvcNAQkVMRYEFJ21qfn4OtOHQqEVMlbb/yUQJoTz\
MEAwMTANBglghkgBZQMEAgEFAAQg80XrLJkP9Y9RFgNXjxvMpe/NYlrSAmzsFE42Uu6eB7IECBqir0xXAle+AgEC";

/// What may be hashed for one input; more would only be slow.
const HASHES: u64 = 5_000;
/// What the reader refuses to hash.
const TOO_MANY: u64 = 20_000_000;

/// Reads any bytes as a keystore.
///
/// # Panics
/// If one is read that asks for more hashing than is done.
pub fn fuzz(bytes: &[u8]) {
    let hashes = keystore::passphrase_hashes(bytes);
    if (HASHES..=TOO_MANY).contains(&hashes) {
        return;
    }
    let read = keystore::read_pkcs12(bytes, "x", None);
    assert!(hashes < HASHES || read.is_err());
}

/// A whole keystore.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![decoded(FILE)]
}

/// Base64 without its padding's checks.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0_u32, 0);
    for letter in text.bytes() {
        let Some(digit) = DIGITS.iter().position(|known| *known == letter) else { continue };
        (held, bits) = ((held << 6 | digit as u32) & 0xffff, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}
