//! Messages, read: decrypted, decompressed and verified in one pass.
//!
//! ```text
//! read -> open (N threads; version 1: decipher, then sum) -> unpack -> literal data -> output
//! ```
//!
//! 1. What is written to the output is provisional until [`Reading::run`] has returned without an
//!    error; [`crate::target`] keeps it from being seen before.
//! 2. A message is read to its very end: what follows it, a missing end, a second message are
//!    errors. It is right only when every layer that was opened has given its last block, proven,
//!    and was read to there ([`crate::ledger`]); a layer is opened by [`Run::layer`] alone.
//! 3. Layers are bounded ([`LAYERS_MAX`]), small packets too, and what is unpacked without becoming
//!    data, so no message can exhaust memory or time.
//! 4. Old and weak things are refused unless they are asked for ([`Reading::allow_old`]).

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::thread::Scope;

use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::packet::{Packet, Signature};
use pgp::types::{CompressionAlgorithm, PacketLength, Tag};
use seam::sync::Mutex;

use crate::aead::{ChunkCipher, HEADER, TAG, chunk_of};
use crate::armor::is_armored;
use crate::buffers::{Block, Buffers};
use crate::dearmor::Dearmorer;
use crate::deflate::Unpacker;
use crate::encrypted_session_keys::EncryptedSessionKeys;
use crate::error::{Error, Result};
use crate::judge::Verified;
use crate::ledger::Ledger;
use crate::legacy::{self, is_aes};
use crate::lines::Lines;
use crate::packet::{
    Body, FeedReader, Room, Source, expect_end, is_noise, kind_of, next_header,
    next_header_and_bytes, read_announcement, read_full, read_signature, read_small, skip,
    write_all,
};
use crate::reading::Reading;
use crate::seal::JOB;
use crate::session_key::{KEYS_MAX, SessionKey};
use crate::sign::{LayerHash, SignatureCounts, Verifying};
use crate::stage::{Feed, ahead};
use crate::stats::{Stage, Stats};
use crate::unseal::{self, Opening};

/// What is read at once of headers and the like; contents are read past it.
const READ: usize = 64 << 10;
/// What tells of a container of version 1 whether a key is its own: a block, and what comes twice.
const BEGIN: usize = 18;
/// No message is packed into more layers.
const LAYERS_MAX: usize = 8;

/// What a message was.
#[derive(Clone, Default)]
pub struct Opened {
    /// What it was encrypted under; nothing if it was not encrypted.
    pub session_key: Option<SessionKey>,
    /// The signatures that are good.
    pub verified: Vec<Verified>,
    /// Why others of keys that are known are bad.
    pub bad: Vec<String>,
    /// Why others could not be checked: nothing is known of their keys, or of how they are made.
    pub unchecked: Vec<String>,
    /// How many signatures it had.
    pub signatures: usize,
    /// The signatures themselves, good or not.
    pub packets: Vec<Signature>,
    /// The name that the sender gave the file.
    pub name: Vec<u8>,
    /// Whether the sender said that it is text.
    pub is_text: bool,
    /// Whether it was encrypted in a way that does not show whether it was changed since;
    /// read only if that was allowed.
    pub is_unproven: bool,
}

/// Everything that the layers share.
struct Run<'a, 's> {
    reading: &'a Reading,
    output: &'a mut (dyn Write + Send),
    buffers: Buffers,
    ledger: Ledger,
    /// For the packets that are read whole.
    room: Room,
    stats: &'s Stats,
    opened: Opened,
}

impl Reading {
    /// Reads a message; its data goes to `output`, provisionally (1).
    ///
    /// # Errors
    /// If it is damaged, cannot be opened with what was given, or input or output fail.
    pub fn run(
        &self,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
        stats: &Stats,
    ) -> Result<Opened> {
        std::thread::scope(|scope| {
            let mut input: Box<dyn BufRead + Send + '_> =
                Box::new(BufReader::with_capacity(READ, Counted { input, stats }));
            if is_armored(&mut input)? {
                input = Box::new(BufReader::with_capacity(READ, Dearmorer::new(input)));
            }
            let mut run = Run {
                reading: self,
                output,
                buffers: Buffers::default(),
                ledger: Ledger::default(),
                room: Room::default(),
                stats,
                opened: Opened::default(),
            };
            let verifying = run.message(scope, Source::Input(input), 0, Verifying::default())?;
            run.ledger.settled()?;
            run.output.flush().map_err(Error::io("writing the output"))?;
            Ok(run.judged(verifying))
        })
    }
}

/// The input, counted.
struct Counted<'a> {
    input: &'a mut (dyn Read + Send),
    stats: &'a Stats,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.stats.time(Stage::Read, || self.input.read(out))?;
        self.stats.count_in(read);
        Ok(read)
    }
}

/// A compressed packet of a message.
struct Packed<'h> {
    length: PacketLength,
    /// Its header as it stands in the message.
    header: &'h [u8],
    /// How deep it lies.
    layer: usize,
    /// How many signatures stood around its layer.
    before: SignatureCounts,
}

impl Run<'_, '_> {
    /// Reads what a layer holds to its end. `verifying` has the signatures that stand around the
    /// layer, and comes back with those in it.
    fn message<'s>(
        &mut self,
        scope: &'s Scope<'s, '_>,
        mut source: Source<'s>,
        layer: usize,
        mut verifying: Verifying,
    ) -> Result<Verifying>
    where
        Self: 's,
    {
        let before = verifying.counts();
        if layer > LAYERS_MAX {
            return Err(Error::damaged("it is packed into too many layers"));
        }
        let mut encrypted = EncryptedSessionKeys::default();
        while let Some((tag, length, header)) = next_header_and_bytes(&mut source)? {
            match tag {
                Tag::PublicKeyEncryptedSessionKey | Tag::SymKeyEncryptedSessionKey => {
                    self.take_session_key(&mut encrypted, &mut source, tag, length)?;
                }
                Tag::SymEncryptedProtectedData | Tag::SymEncryptedData => {
                    self.is_outermost(&verifying)?;
                    let feed = match tag {
                        Tag::SymEncryptedData => {
                            self.unseal_unproven(source, length, &encrypted)?
                        }
                        _ => self.unseal(scope, source, length, &encrypted)?,
                    };
                    let inner = self.layer(feed);
                    return self.message(scope, inner, layer + 1, verifying);
                }
                Tag::GnupgAeadData => {
                    let what = "it is encrypted in a form that GnuPG alone has; \
                        its sender makes one that others read by `gpg --rfc4880`";
                    return Err(Error::Unsupported(what.to_owned()));
                }
                Tag::CompressedData => {
                    self.is_allowed_bare(&encrypted)?;
                    let packed = Packed { length, header: &header, layer, before };
                    return self.packed(scope, source, &packed, verifying);
                }
                Tag::OnePassSignature => {
                    let announced = read_announcement(&mut source, length, &mut self.room)?;
                    verifying.announce(announced)?;
                }
                Tag::Signature => {
                    verifying.know(read_signature(&mut source, length, &mut self.room)?)?;
                }
                Tag::LiteralData => {
                    self.is_allowed_bare(&encrypted)?;
                    let source = self.literal(source, length, &mut verifying)?;
                    self.signatures(source, &mut verifying, before.announced)?;
                    return Ok(verifying);
                }
                tag if is_noise(tag) => {
                    self.ledger.noise()?;
                    skip(&mut source, length)?;
                }
                other => {
                    let what = format!("a message does not begin with {}", kind_of(other));
                    return Err(Error::NotOpenPgp(what));
                }
            }
        }
        Err(match (layer == 0 && encrypted.is_empty(), verifying.is_empty()) {
            (true, true) => Error::NotOpenPgp("there is no message in it".to_owned()),
            (true, false) if verifying.expected() == 0 => Error::SignatureAlone,
            _ => Error::damaged("it ends before its contents"),
        })
    }

    /// Reads what a compressed packet holds. Signatures that stand around it may be over what it
    /// holds, or over the packet as it is.
    fn packed<'s>(
        &mut self,
        scope: &'s Scope<'s, '_>,
        source: Source<'s>,
        packed: &Packed<'_>,
        verifying: Verifying,
    ) -> Result<Verifying>
    where
        Self: 's,
    {
        let &Packed { length, header, layer, before } = packed;
        if verifying.counts() == before {
            let inner = self.unpack(scope, source, length, None)?;
            return self.message(scope, inner, layer + 1, verifying);
        }
        let behind = Behind::default();
        let (source, hashes) = signed(source, header, verifying.around(before));
        let inner = self.unpack(scope, source, length, Some(behind.clone()))?;
        let mut verifying = self.message(scope, inner, layer + 1, verifying)?;
        verifying.take_layer(std::mem::take(&mut *hashes.lock()));
        self.signatures(behind.take()?, &mut verifying, before.announced)?;
        Ok(verifying)
    }

    /// Makes sure that an encrypted container lies in nothing that was signed or encrypted.
    fn is_outermost(&self, verifying: &Verifying) -> Result<()> {
        let what = match (verifying.is_empty(), self.opened.session_key.is_none()) {
            (true, true) => return Ok(()),
            (false, _) => "a message that was signed after it was encrypted",
            (true, false) => "a message that is encrypted twice",
        };
        Err(Error::Unsupported(what.to_owned()))
    }

    /// What was deciphered or unpacked, to be read from (2).
    fn layer<'s>(&self, feed: Feed<'s, Block>) -> Source<'s> {
        Source::Layer(FeedReader::new(feed, self.buffers.clone(), &self.ledger))
    }

    /// What the opening of a container needs of this message.
    fn opening(&self) -> Opening<'_> {
        let stages = &self.reading.stages;
        Opening {
            buffers: &self.buffers,
            ledger: &self.ledger,
            reads_ahead: stages.io,
            workers: stages.workers(stages.cipher),
        }
    }

    /// Makes sure that contents may stand in clear where they do.
    fn is_allowed_bare(&self, encrypted: &EncryptedSessionKeys) -> Result<()> {
        if !encrypted.is_empty() {
            let what = "session keys stand before contents that are not encrypted";
            return Err(Error::damaged(what));
        }
        if self.reading.must_be_encrypted && self.opened.session_key.is_none() {
            return Err(Error::NotOpenPgp("the message is not encrypted".to_owned()));
        }
        Ok(())
    }

    fn take_session_key(
        &mut self,
        encrypted: &mut EncryptedSessionKeys,
        source: &mut Source<'_>,
        tag: Tag,
        length: PacketLength,
    ) -> Result<()> {
        if self.opened.session_key.is_some() {
            return Err(Error::Unsupported("a message that is encrypted twice".to_owned()));
        }
        // One that is not understood may be for another reader.
        match read_small(source, tag, length, &mut self.room) {
            Ok(Packet::PublicKeyEncryptedSessionKey(packet)) => encrypted.by_key.push(packet),
            Ok(Packet::SymKeyEncryptedSessionKey(packet)) => encrypted.by_passphrase.push(packet),
            Ok(_) | Err(Error::NotOpenPgp(_) | Error::Unsupported(_)) => encrypted.unknown += 1,
            Err(error) => return Err(error),
        }
        if encrypted.by_key.len() + encrypted.by_passphrase.len() + encrypted.unknown > KEYS_MAX {
            return Err(Error::Unsupported(format!("more than {KEYS_MAX} recipients")));
        }
        Ok(())
    }

    /// The contents of the encrypted container.
    fn unseal<'s>(
        &mut self,
        scope: &'s Scope<'s, '_>,
        source: Source<'s>,
        length: PacketLength,
        encrypted: &EncryptedSessionKeys,
    ) -> Result<Feed<'s, Block>>
    where
        Self: 's,
    {
        let mut body = Body::new(source, length);
        let mut version = [0];
        let cut = || Error::damaged("it ends too early");
        let read = read_full(&mut body, &mut version).map_err(Error::io("reading the message"))?;
        if read == 0 {
            return Err(cut());
        }
        match version[0] {
            1 => {
                let begin = body.peek(BEGIN).map_err(Error::io("reading the message"))?;
                let fits = |key: &SessionKey| unseal::may_fit(key, begin);
                let session = encrypted.open(self.reading, false, fits)?;
                let session = session.ok_or_else(|| encrypted.explain(self.reading))?;
                self.unseal_v1(scope, body, session)
            }
            2 => {
                let mut header = [0; HEADER];
                header[0] = 2;
                let read = read_full(&mut body, &mut header[1..]);
                if read.map_err(Error::io("reading the message"))? < HEADER - 1 {
                    return Err(cut());
                }
                self.unseal_v2(scope, body, &header, encrypted)
            }
            other => {
                let what = format!("version {other} of the encrypted container is not known");
                Err(Error::Unsupported(what))
            }
        }
    }

    fn unseal_v2<'s>(
        &mut self,
        scope: &'s Scope<'s, '_>,
        mut body: Body<Source<'s>>,
        header: &[u8; HEADER],
        encrypted: &EncryptedSessionKeys,
    ) -> Result<Feed<'s, Block>>
    where
        Self: 's,
    {
        // Only a session key that was given has to prove itself; any other was decrypted.
        let mut begin: &[u8] = &[];
        if !self.reading.session_keys.is_empty() {
            let bytes = chunk_of(header)? + 2 * TAG;
            begin = body.peek(bytes).map_err(Error::io("reading the message"))?;
        }
        let fits = |key: &SessionKey| begin.is_empty() || unseal::opens(key, header, begin);
        let session = encrypted.open(self.reading, true, fits)?;
        let session = session.ok_or_else(|| encrypted.explain(self.reading))?;
        let cipher = ChunkCipher::new(header, &session.key)?;
        let key = SessionKey { cipher: header[1], key: session.key };
        self.opened.session_key = Some(key);
        Ok(unseal::v2(scope, body, cipher, self.opening(), self.stats))
    }

    fn unseal_v1<'s>(
        &mut self,
        scope: &'s Scope<'s, '_>,
        body: Body<Source<'s>>,
        session: SessionKey,
    ) -> Result<Feed<'s, Block>>
    where
        Self: 's,
    {
        let cipher = SymmetricKeyAlgorithm::from(session.cipher);
        if session.key.len() != cipher.key_size() {
            return Err(Error::damaged("its key does not fit its cipher"));
        }
        let session = self.opened.session_key.insert(session).clone();
        if is_aes(cipher) {
            return unseal::v1(scope, body, &session.key, self.opening(), self.stats);
        }
        if !self.reading.allow_old {
            let what = format!("it is encrypted with {cipher:?}, which nobody should use any more");
            return Err(Error::Old(what));
        }
        legacy::contents(body, &session, true, (self.buffers.clone(), self.ledger.clone()))
    }

    /// The contents of a container that nothing protects against change (4).
    fn unseal_unproven<'s>(
        &mut self,
        source: Source<'s>,
        length: PacketLength,
        encrypted: &EncryptedSessionKeys,
    ) -> Result<Feed<'s, Block>> {
        if !self.reading.allow_old {
            let what = "its encryption does not show whether somebody has changed it since";
            return Err(Error::Old(what.to_owned()));
        }
        let mut body = Body::new(source, length);
        let begin = body.peek(BEGIN).map_err(Error::io("reading the message"))?;
        let fits = |key: &SessionKey| unseal::may_fit(key, begin);
        let session = encrypted.open(self.reading, false, fits)?;
        let session = session.ok_or_else(|| encrypted.explain(self.reading))?;
        if session.key.len() != SymmetricKeyAlgorithm::from(session.cipher).key_size() {
            return Err(Error::damaged("its key does not fit its cipher"));
        }
        self.opened.is_unproven = true;
        let session = self.opened.session_key.insert(session).clone();
        legacy::contents(body, &session, false, (self.buffers.clone(), self.ledger.clone()))
    }

    /// The contents of a compressed packet; what follows it, if anything may, goes to `behind`.
    fn unpack<'s>(
        &mut self,
        scope: &'s Scope<'s, '_>,
        source: Source<'s>,
        length: PacketLength,
        behind: Option<Behind<'s>>,
    ) -> Result<Source<'s>>
    where
        Self: 's,
    {
        let mut body = Body::new(source, length);
        let mut algorithm = [0];
        let read = read_full(&mut body, &mut algorithm);
        if read.map_err(Error::io("reading the message"))? == 0 {
            return Err(Error::damaged("it ends too early"));
        }
        let algorithm = CompressionAlgorithm::from(algorithm[0]);
        let unpacker = Unpacker::new(body, algorithm)?;
        let is_proven = self.opened.session_key.is_some() && !self.opened.is_unproven;
        let blocks = Unpacked {
            unpacker: Some(unpacker),
            behind,
            may_be_padded: is_proven && algorithm == CompressionAlgorithm::ZIP,
            buffers: self.buffers.clone(),
            ledger: self.ledger.clone(),
            stats: self.stats,
        };
        let apart = self.reading.stages.compress;
        Ok(self.layer(ahead(scope, Box::new(blocks), apart)))
    }

    /// The data itself; gives what follows it.
    fn literal<'s>(
        &mut self,
        source: Source<'s>,
        length: PacketLength,
        verifying: &mut Verifying,
    ) -> Result<Source<'s>> {
        let mut body = Body::new(source, length);
        let cut = || Error::damaged("it ends too early");
        let reading = || Error::io("reading the message");
        let mut fields = [0; 2];
        if read_full(&mut body, &mut fields).map_err(reading())? < 2 {
            return Err(cut());
        }
        let mut name = vec![0; usize::from(fields[1]) + 4];
        if read_full(&mut body, &mut name).map_err(reading())? < name.len() {
            return Err(cut());
        }
        name.truncate(usize::from(fields[1]));
        self.opened.name = name;
        self.opened.is_text = matches!(fields[0], b't' | b'u');
        let is_native =
            self.opened.is_text && self.reading.native_lines && verifying.leaves_line_ends();
        let mut lines = is_native.then(Lines::default);
        loop {
            let bytes = body.fill_buf().map_err(reading())?;
            if bytes.is_empty() {
                break;
            }
            verifying.update(bytes);
            let used = bytes.len();
            self.ledger.data(used);
            let shown = match &mut lines {
                Some(lines) => lines.native(bytes),
                None => bytes,
            };
            self.stats.time(Stage::Write, || write_all(self.output, shown))?;
            self.stats.count_out(shown.len());
            body.consume(used);
        }
        if let Some(lines) = lines {
            write_all(self.output, lines.rest())?;
        }
        body.into_source()
    }

    /// The signatures behind the data, or behind what that is packed into, and the end of the layer
    /// that they stand in; those that are around the layer come later.
    fn signatures(
        &mut self,
        mut source: Source<'_>,
        verifying: &mut Verifying,
        around: usize,
    ) -> Result<()> {
        while verifying.expected() > around {
            let missing = || Error::damaged("a signature that was announced is missing");
            let (tag, length) = next_header(&mut source)?.ok_or_else(missing)?;
            match tag {
                Tag::Signature => {
                    verifying.arrive(read_signature(&mut source, length, &mut self.room)?)?;
                }
                tag if is_noise(tag) => {
                    self.ledger.noise()?;
                    skip(&mut source, length)?;
                }
                _ => return Err(missing()),
            }
        }
        expect_end(&mut source, &self.ledger)
    }

    /// What has come of the message, all of which was read.
    fn judged(self, verifying: Verifying) -> Opened {
        let mut opened = self.opened;
        opened.signatures = verifying.count();
        opened.packets = verifying.packets();
        let judged = verifying.finish(&self.reading.certificates, self.reading.allow_old);
        opened.verified = judged.verified;
        opened.bad = judged.bad;
        opened.unchecked = judged.unchecked;
        opened
    }
}

/// What follows a compressed packet: the signatures that were announced before it. It is here once
/// the last block of the packet is.
#[derive(Clone, Default)]
struct Behind<'s>(Arc<Mutex<Option<Source<'s>>>>);

impl<'s> Behind<'s> {
    fn take(&self) -> Result<Source<'s>> {
        self.0.lock().take().ok_or_else(|| Error::damaged("it ends too early"))
    }
}

/// The hashes of a layer, which grow while it is read.
type LayerHashes = Arc<Mutex<Vec<LayerHash>>>;

/// The source of a layer, with these hashes taken of it, beginning with its header.
fn signed<'s>(
    source: Source<'s>,
    header: &[u8],
    hashes: Vec<LayerHash>,
) -> (Source<'s>, LayerHashes) {
    if hashes.is_empty() {
        return (source, LayerHashes::default());
    }
    let hashes = Arc::new(Mutex::new(hashes));
    let shown = Arc::clone(&hashes);
    let take = move |bytes: &[u8]| shown.lock().iter_mut().for_each(|one| one.update(bytes));
    take(header);
    (source.shown_to(Box::new(take)), hashes)
}

/// Makes sure that nothing follows a compressed packet's contents but padding, if it may; gives
/// what follows the packet.
fn end_of_packet<S: BufRead>(mut body: Body<S>, may_be_padded: bool) -> Result<S> {
    let reading = || Error::io("reading the message");
    if may_be_padded {
        std::io::copy(&mut body, &mut std::io::sink()).map_err(reading())?;
    } else if !body.fill_buf().map_err(reading())?.is_empty() {
        return Err(Error::damaged("something follows its compressed contents"));
    }
    body.into_source()
}

/// What is unpacked, as blocks.
struct Unpacked<'s> {
    unpacker: Option<Unpacker<Body<Source<'s>>>>,
    /// Who goes on with what follows; else nothing may.
    behind: Option<Behind<'s>>,
    /// Whether bytes may follow in the packet: Sequoia hides the length of what it encrypts by
    /// them, behind deflate (ZIP) and nothing else. What is encrypted is proven as a whole, so
    /// only its sender can have put them there.
    may_be_padded: bool,
    buffers: Buffers,
    ledger: Ledger,
    stats: &'s Stats,
}

impl<'s> Unpacked<'s> {
    /// Comes to the end of what is unpacked.
    fn end(&self, body: Body<Source<'s>>) -> Result<()> {
        let mut source = end_of_packet(body, self.may_be_padded)?;
        match &self.behind {
            Some(behind) => *behind.0.lock() = Some(source.alone()),
            None => expect_end(&mut source, &self.ledger)?,
        }
        Ok(())
    }
}

impl Iterator for Unpacked<'_> {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Result<Block>> {
        let mut unpacker = self.unpacker.take()?;
        let mut data = self.buffers.take_full(JOB);
        let read = self.stats.time(Stage::Compress, || read_full(&mut unpacker, &mut data));
        let filled = match read.map_err(Error::io("reading the message")) {
            Ok(filled) => filled,
            Err(error) => return Some(Err(error)),
        };
        data.truncate(filled);
        if let Err(error) = self.ledger.unpacked(filled, LAYERS_MAX) {
            return Some(Err(error));
        }
        let last = filled < JOB;
        if last {
            let ended = self.end(unpacker.into_source());
            return Some(ended.map(|()| Block { data, start: 0, last }));
        }
        self.unpacker = Some(unpacker);
        Some(Ok(Block { data, start: 0, last }))
    }
}
