//! What version 1 of the encrypted container is made of: AES in CFB mode, and SHA-1.
//!
//! 1. Enciphering is serial by its nature: each block needs the one before.
//! 2. Deciphering is not: a piece needs only the last block of ciphertext before it, so pieces go
//!    to many threads.
//! 3. SHA-1 is here what the format demands to find changes (RFC 9580, 5.13.1); it signs nothing.

use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, EncryptionContext, StreamingEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;

use crate::error::{Error, Result};
use crate::ocb::Aes;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;
const GROUP: usize = 64;

/// A stream that is being enciphered.
pub(crate) struct Encipher {
    stream: StreamingEncryptingKey,
    out: Vec<u8>,
}

impl Encipher {
    /// A stream under a key of 16, 24 or 32 bytes, from an initial vector of zeros.
    pub(crate) fn new(key: &[u8]) -> Result<Encipher> {
        let unfit = |_| Error::Unsupported("the cipher library does not take this key".to_owned());
        let cipher = match key.len() {
            16 => &AES_128,
            24 => &AES_192,
            _ => &AES_256,
        };
        let key = UnboundCipherKey::new(cipher, key).map_err(unfit)?;
        let start = EncryptionContext::Iv128(FixedLength::from([0; BLOCK]));
        let stream = StreamingEncryptingKey::less_safe_cfb128(key, start).map_err(unfit)?;
        Ok(Encipher { stream, out: Vec::new() })
    }

    /// Enciphers in place what comes next.
    pub(crate) fn next(&mut self, data: &mut [u8]) -> Result<()> {
        self.out.resize(data.len() + BLOCK, 0);
        let done = self.stream.update(data, &mut self.out);
        let done = done.map_err(|_| Error::Unsupported("the cipher library gave up".to_owned()))?;
        if done.written().len() != data.len() {
            return Err(Error::Unsupported("the cipher library kept bytes back".to_owned()));
        }
        data.copy_from_slice(done.written());
        Ok(())
    }
}

/// Deciphers a piece in place; `before` is the block of ciphertext before it (2).
pub(crate) fn decipher(aes: &Aes, before: [u8; BLOCK], data: &mut [u8]) {
    let mut before = before;
    for group in data.chunks_mut(GROUP * BLOCK) {
        let mut pad = [[0_u8; BLOCK]; GROUP];
        pad[0] = before;
        let (blocks, tail) = group.as_chunks::<BLOCK>();
        for (slot, block) in pad[1..].iter_mut().zip(blocks) {
            *slot = *block;
        }
        if let (Some(last), true) = (blocks.last(), tail.is_empty()) {
            before = *last;
        }
        let used = blocks.len() + usize::from(!tail.is_empty());
        aes.encrypt(&mut pad[..used]);
        for (byte, mask) in group.iter_mut().zip(pad.as_flattened()) {
            *byte ^= mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_decipher_on_their_own() {
        for size in [16, 24, 32] {
            let key = vec![9; size];
            let plain: Vec<u8> = (0..5000_u32).map(|i| (i % 253) as u8).collect();
            let mut data = plain.clone();
            let mut stream = Encipher::new(&key).unwrap();
            for piece in data.chunks_mut(1600) {
                stream.next(piece).unwrap();
            }
            let aes = Aes::new(&key).unwrap();
            let sealed = data.clone();
            let mut before = [0; BLOCK];
            for (index, piece) in data.chunks_mut(1600).enumerate() {
                decipher(&aes, before, piece);
                let end = ((index + 1) * 1600).min(sealed.len());
                before.copy_from_slice(&sealed[end - BLOCK..end]);
            }
            assert_eq!(data, plain);
        }
    }
}
