//! What is old and weak, and only read if that is asked for: ciphers but AES, and the container
//! without any protection against change (RFC 9580, 5.7).
//!
//! 1. Nothing of this is ever written.
//! 2. What the container without protection holds may be altered by its carriers, so who
//!    reads it has to be told; [`crate::Opened::is_unproven`] says so.
//! 3. Nothing may follow either container.

use std::io::BufRead;

use pgp::crypto::sym::{StreamDecryptor, SymmetricKeyAlgorithm};
use pgp::types::Seipdv1ReadMode;

use crate::buffers::{Block, Buffers};
use crate::error::{Error, Result};
use crate::ledger::Ledger;
use crate::packet::{Body, expect_end, read_full};
use crate::seal::JOB;
use crate::session_key::SessionKey;
use crate::stage::Feed;

/// Whether a cipher is one that is written, too.
pub(crate) fn is_aes(cipher: SymmetricKeyAlgorithm) -> bool {
    use SymmetricKeyAlgorithm::{AES128, AES192, AES256};
    matches!(cipher, AES128 | AES192 | AES256)
}

/// Whether a key of an old cipher may be that of a container which begins like this: the end of
/// its first block comes twice.
pub(crate) fn may_fit(key: &SessionKey, begin: &[u8]) -> bool {
    let cipher = SymmetricKeyAlgorithm::from(key.cipher);
    let block = cipher.block_size();
    if is_aes(cipher) || block < 2 || key.key.len() != cipher.key_size() {
        return false;
    }
    let Some(begin) = begin.get(..block + 2) else { return true };
    let mut plain = begin.to_vec();
    let done = cipher.decrypt_with_iv_regular(&key.key, &vec![0; block], &mut plain);
    done.is_ok() && plain[block - 2..block] == plain[block..]
}

/// The contents of a container of version 1, or of one without protection.
pub(crate) fn contents<'s, S: BufRead + Send + 's>(
    body: Body<S>,
    session: &SessionKey,
    is_protected: bool,
    (buffers, ledger): (Buffers, Ledger),
) -> Result<Feed<'s, Block>> {
    let cipher = SymmetricKeyAlgorithm::from(session.cipher);
    let stream = match is_protected {
        true => cipher.stream_decryptor_protected(Seipdv1ReadMode::Streaming, &session.key, body),
        false => cipher.stream_decryptor_unprotected(&session.key, body),
    };
    let stream = stream.map_err(|_| Error::damaged("its contents do not begin as they should"))?;
    Ok(Box::new(Blocks { stream: Some(stream), buffers, ledger }))
}

/// What is deciphered, as blocks; after the last one nothing may follow (3).
struct Blocks<S: BufRead> {
    stream: Option<StreamDecryptor<Body<S>>>,
    buffers: Buffers,
    ledger: Ledger,
}

impl<S: BufRead> Iterator for Blocks<S> {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Result<Block>> {
        let mut stream = self.stream.take()?;
        let mut data = self.buffers.take_full(JOB);
        // An error of this stream is a wrong sum, or an early end.
        let Ok(filled) = read_full(&mut stream, &mut data) else {
            return Some(Err(Error::damaged("its contents are not what was encrypted")));
        };
        data.truncate(filled);
        let last = filled < JOB;
        if !last {
            self.stream = Some(stream);
            return Some(Ok(Block { data, start: 0, last }));
        }
        let rest = stream.into_inner().into_source();
        let ended = rest.and_then(|mut rest| expect_end(&mut rest, &self.ledger));
        Some(ended.map(|()| Block { data, start: 0, last }))
    }
}
