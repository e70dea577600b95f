//! The header of a request (IRM).
//!
//! | at | bytes | field | from level |
//! |---|---|---|---|
//! | 4 | 2 | its length, extensions included | 0 |
//! | 6 | 1 | architecture level, 0 to 5 | 0 |
//! | 7 | 1 | [`f0`] | 0 |
//! | 8 | 8 | the exit's id | 0 |
//! | 16 | 2 | reason of a NAK | 0 |
//! | 20 | 1 | [`f5`] | 0 |
//! | 21 | 1 | timer | 0 |
//! | 22 | 1 | kind of socket | 0 |
//! | 23 | 1 | encoding scheme | 0 |
//! | 24 | 8 | client id | 0 |
//! | 32 | 3 | [`f1`], [`f2`], [`f3`] | 0 |
//! | 35 | 1 | function, a letter | 0 |
//! | 36 | 48 | transaction, data store, terminal, user, group, password | 0 |
//! | 84 | 8 | application's name, if the length says so | 0 |
//! | 92 | 8 | reroute name, or the other client id of a resume tpipe | 1 |
//! | 100 | 16 | tag adapter, tag map | 2 |
//! | 116 | 40 | correlation token | 3 |
//! | 156 | 8 | format's name (MOD) | 3 |
//! | 164 | 8 | session token | 4 |
//! | 172 | 2 | where the extensions begin, counted from byte 4 | 5 |
//!
//! A header of level 3 that ends at byte 124 has the format's name at 116 and no token, as some
//! clients send it.

use otma::{Encoding, Name};

use super::pages::Pages;
use super::request::Rejection;

/// The highest architecture level.
pub const LEVEL_MAX: u8 = 5;

/// Flags of IRM_F0.
pub mod f0 {
    /// Resume tpipe: synchronous callouts only.
    pub const SYNC_ONLY: u8 = 0x80;
    /// Resume tpipe: synchronous callouts and queued outputs.
    pub const SYNC_AND_ASYNC: u8 = 0x40;
    /// NAK: the output is kept.
    pub const NAK_RETAIN: u8 = 0x20;
    /// NAK: there is a reason.
    pub const NAK_REASON: u8 = 0x10;
    /// The header has extensions.
    pub const EXTENSIONS: u8 = 0x04;
}

/// Flags of IRM_F1.
pub mod f1 {
    /// The response is to have the format's name.
    pub const MOD_NAME: u8 = 0x80;
    /// The response is to have the client id.
    pub const CLIENT_ID: u8 = 0x40;
    /// Unicode data.
    pub const UNICODE_DATA: u8 = 0x20;
    /// Unicode transaction code.
    pub const UNICODE_TRANSACTION: u8 = 0x10;
    /// No text in the acknowledgement of a send-only request.
    pub const NO_TEXT: u8 = 0x04;
    /// No answer to the acknowledgement of an output of mode 0.
    pub const NO_WAIT: u8 = 0x02;
    /// The input expires with the request's timer.
    pub const EXPIRES: u8 = 0x01;
}

/// Flags of IRM_F2.
pub mod f2 {
    /// Commit mode 0.
    pub const MODE_0: u8 = 0x40;
    /// Commit mode 1.
    pub const MODE_1: u8 = 0x20;
    /// The server is to make a client id.
    pub const MAKE_CLIENT_ID: u8 = 0x01;
}

/// Flags of IRM_F3.
pub mod f3 {
    /// Sync level confirm.
    pub const CONFIRM: u8 = 0x01;
    /// Sync level syncpt.
    pub const SYNC_POINT: u8 = 0x02;
    /// Outputs that cannot be delivered are discarded.
    pub const PURGE: u8 = 0x04;
    /// Outputs that cannot be delivered go to another tpipe.
    pub const REROUTE: u8 = 0x08;
    /// Send-only inputs are processed in order.
    pub const ORDERED: u8 = 0x10;
    /// PURG calls do not end a message.
    pub const IGNORE_PURGE: u8 = 0x20;
    /// DFS2082 if there is no reply.
    pub const TELL_NO_REPLY: u8 = 0x40;
    /// Another connection with this client id is ended.
    pub const CANCEL_DUPLICATE: u8 = 0x80;
}

/// Flags of IRM_F5.
pub mod f5 {
    /// The client made the headers of OTMA.
    pub const CLIENT_HEADERS: u8 = 0x80;
    /// The client has translated.
    pub const TRANSLATED: u8 = 0x40;
    /// Resume tpipe: one output, waited for.
    pub const SINGLE_WAIT: u8 = 0x10;
    /// Resume tpipe: all outputs that there are.
    pub const NO_AUTO: u8 = 0x04;
    /// Resume tpipe: all outputs, those to come as well.
    pub const AUTO: u8 = 0x02;
    /// Resume tpipe: one output.
    pub const SINGLE: u8 = 0x01;
}

/// What a request wants: IRM_F4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Function {
    /// Blank: send, and receive the reply.
    #[default]
    SendReceive,
    /// `A`.
    Ack,
    /// `N`.
    Nak,
    /// `C`: cancel the timer of this client's other connection.
    CancelTimer,
    /// `D`: end the conversation.
    Deallocate,
    /// `R`: resume tpipe.
    ResumeTpipe,
    /// `S`.
    SendOnly,
    /// `K`: send-only, acknowledged.
    SendOnlyAck,
    /// `J`: send-only, with an answer if it fails.
    SendOnlyError,
    /// `L`: the response to a callout, acknowledged.
    CalloutAck,
    /// `M`: the response to a callout.
    Callout,
}

impl Function {
    const LETTERS: [(Function, u8); 11] = [
        (Function::SendReceive, b' '),
        (Function::Ack, b'A'),
        (Function::Nak, b'N'),
        (Function::CancelTimer, b'C'),
        (Function::Deallocate, b'D'),
        (Function::ResumeTpipe, b'R'),
        (Function::SendOnly, b'S'),
        (Function::SendOnlyAck, b'K'),
        (Function::SendOnlyError, b'J'),
        (Function::CalloutAck, b'L'),
        (Function::Callout, b'M'),
    ];

    /// Every function.
    #[must_use]
    pub fn all() -> [Function; 11] {
        Self::LETTERS.map(|(function, _)| function)
    }

    /// Its letter, in ASCII.
    #[must_use]
    pub fn letter(self) -> u8 {
        let found = Self::LETTERS.iter().find(|(function, _)| *function == self);
        found.map_or(b' ', |(_, letter)| *letter)
    }

    /// A byte's function. Blanks of both code pages and zero are send-receive, whatever the rest
    /// of the message is in.
    fn of(byte: u8, encoding: Encoding, pages: &Pages) -> Option<Function> {
        if matches!(byte, 0x00 | 0x20 | 0x40) {
            return Some(Function::SendReceive);
        }
        let mut letter = [byte];
        pages.translate(&mut letter, encoding, Encoding::Ascii);
        let found = Self::LETTERS.iter().find(|(_, known)| *known == letter[0]);
        found.map(|(function, _)| *function)
    }

    /// Whether it comes with data.
    #[must_use]
    pub fn has_data(self) -> bool {
        use Function::{Ack, CancelTimer, Deallocate, Nak, ResumeTpipe};
        !matches!(self, Ack | CancelTimer | Deallocate | Nak | ResumeTpipe)
    }
}

/// What becomes of a connection behind an exchange: IRM_SOCT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SocketType {
    /// 00: it ends.
    #[default]
    Transaction,
    /// 10: it stays.
    Persistent,
    /// 40: it ends behind each response.
    NonPersistent,
}

/// By which the response to a callout finds whoever waits for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorrelationToken {
    /// The system, four characters.
    pub system: [u8; 4],
    /// The member's token.
    pub member: [u8; 8],
    /// The message's token.
    pub message: [u8; 8],
    /// The tpipe.
    pub tpipe: Name,
    /// The user.
    pub user: Name,
}

/// Something that was added to the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its id, such as `*TRCKID*`, in ASCII.
    pub id: [u8; 8],
    /// What it says.
    pub data: Vec<u8>,
}

/// The header of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Irm {
    /// Its length without extensions, as sent: fields behind it are blank.
    pub length: u16,
    /// The architecture level.
    pub level: u8,
    /// Flags, see [`f0`].
    pub f0: u8,
    /// The exit's id, in ASCII.
    pub exit: [u8; 8],
    /// Reason of a NAK.
    pub nak_reason: u16,
    /// Flags, see [`f5`].
    pub f5: u8,
    /// The timer's byte, see [`super::Timer`].
    pub timer: u8,
    /// The kind of socket as sent, see [`Irm::socket_type`].
    pub socket: u8,
    /// Encoding scheme: 01 UTF-8, 02 UTF-16.
    pub scheme: u8,
    /// Client id.
    pub client: Name,
    /// Flags, see [`f1`].
    pub f1: u8,
    /// Flags, see [`f2`].
    pub f2: u8,
    /// Flags, see [`f3`].
    pub f3: u8,
    /// What is wanted.
    pub function: Function,
    /// Transaction code.
    pub transaction: Name,
    /// Data store.
    pub data_store: Name,
    /// Logical terminal.
    pub terminal: Name,
    /// User.
    pub user: Name,
    /// Group.
    pub group: Name,
    /// Password.
    pub password: Name,
    /// Application's name.
    pub application: Name,
    /// Reroute name, or the other client id of a resume tpipe.
    pub reroute: Name,
    /// Tag adapter.
    pub tag_adapter: Name,
    /// Tag map.
    pub tag_map: Name,
    /// Correlation token.
    pub correlation: CorrelationToken,
    /// Format's name (MOD).
    pub mod_name: Name,
    /// Session token.
    pub session: [u8; 8],
    /// What was added.
    pub extensions: Vec<Extension>,
}

/// Where the header begins in a message.
const BEGIN: usize = 4;
/// Where a header of level 0 ends at the least.
const END_MIN: usize = 84;
/// Where a header of level 3 ends that has the format's name alone.
const END_MOD_ALONE: usize = 124;
/// Where the offset of the extensions stands.
const OFFSET_AT: usize = 172;
/// Bytes of an extension without its data.
const EXTENSION_HEAD: usize = 12;

/// Where a header of that level ends if all of its fields are there, but at level 0 the
/// application's name.
const fn end_of_level(level: u8) -> usize {
    match level {
        0 => END_MIN,
        1 => 100,
        2 => 116,
        3 => 164,
        4 => 172,
        _ => 176,
    }
}

impl Irm {
    /// A header of a level that says nothing yet.
    #[must_use]
    pub fn new(level: u8, exit: [u8; 8]) -> Irm {
        let level = level.min(LEVEL_MAX);
        let length = (end_of_level(level) - BEGIN) as u16;
        Irm { length, level, exit, ..Irm::default() }
    }

    /// What becomes of the connection.
    #[must_use]
    pub fn socket_type(&self) -> SocketType {
        match self.socket {
            socket if socket & 0x10 != 0 => SocketType::Persistent,
            socket if socket & 0x40 != 0 => SocketType::NonPersistent,
            _ => SocketType::Transaction,
        }
    }

    /// What an extension of that id says.
    #[must_use]
    pub fn extension(&self, id: &[u8; 8]) -> Option<&[u8]> {
        let found = self.extensions.iter().find(|extension| extension.id == *id);
        found.map(|extension| extension.data.as_slice())
    }

    /// The header of a message, LLLL included, and where the data begins.
    pub(super) fn decode(
        message: &[u8],
        encoding: Encoding,
        pages: &Pages,
    ) -> Result<(Irm, usize), Rejection> {
        let total = usize::from(u16::from_be_bytes(field(message, BEGIN)));
        let end = BEGIN + total;
        if end < END_MIN || end > message.len() {
            return Err(Rejection::IrmLength);
        }
        let header = &message[..end];
        let level = header[6];
        if level > LEVEL_MAX {
            return Err(Rejection::IrmLength);
        }
        let mut irm = Irm { level, ..Irm::default() };
        irm.fixed(header, encoding, pages)?;
        let own = irm.extensions_at(header)?.unwrap_or(end);
        irm.length = (own - BEGIN) as u16;
        irm.variable(&header[..own], encoding, pages);
        irm.extensions = extensions(&header[own..], pages)?;
        Ok((irm, end))
    }

    fn fixed(&mut self, h: &[u8], encoding: Encoding, pages: &Pages) -> Result<(), Rejection> {
        let name = |at| pages.name(field(h, at), encoding);
        self.f0 = h[7];
        self.exit = name(8).0;
        self.nak_reason = u16::from_be_bytes(field(h, 16));
        [self.f5, self.timer, self.socket, self.scheme] = field(h, 20);
        self.client = name(24);
        [self.f1, self.f2, self.f3] = field(h, 32);
        self.function = Function::of(h[35], encoding, pages).ok_or(Rejection::Function)?;
        self.transaction = name(36);
        self.data_store = name(44);
        self.terminal = name(52);
        self.user = name(60);
        self.group = name(68);
        self.password = name(76);
        Ok(())
    }

    fn variable(&mut self, h: &[u8], encoding: Encoding, pages: &Pages) {
        let name = |at| {
            let bytes = h.get(at..at + 8).and_then(|bytes| bytes.first_chunk::<8>());
            bytes.map_or(Name::BLANK, |bytes| pages.name(*bytes, encoding))
        };
        self.application = name(84);
        if self.level >= 1 {
            self.reroute = name(92);
        }
        if self.level >= 2 {
            self.tag_adapter = name(100);
            self.tag_map = name(108);
        }
        if self.level >= 3 {
            if h.len() == END_MOD_ALONE {
                self.mod_name = name(116);
            } else {
                self.mod_name = name(156);
                self.correlation = token(h.get(120..156), encoding, pages);
            }
        }
        if self.level >= 4 && h.len() >= OFFSET_AT {
            self.session = field(h, 164);
        }
    }

    /// Where extensions begin, if there are any.
    fn extensions_at(&self, header: &[u8]) -> Result<Option<usize>, Rejection> {
        if self.f0 & f0::EXTENSIONS == 0 {
            return Ok(None);
        }
        let stated = match header.get(OFFSET_AT..OFFSET_AT + 2) {
            Some(bytes) if self.level >= 5 => usize::from(u16::from_be_bytes(field(bytes, 0))),
            _ => 0,
        };
        let at = if stated == 0 { end_of_level(self.level) } else { BEGIN + stated };
        let fits = at >= END_MIN && at <= header.len();
        if fits { Ok(Some(at)) } else { Err(Rejection::IrmLength) }
    }

    /// Adds the header to a message that has its LLLL.
    pub(super) fn encode(&self, out: &mut Vec<u8>, encoding: Encoding, pages: &Pages) {
        let end = (BEGIN + usize::from(self.length)).max(END_MIN);
        let mut h = vec![0; end.max(end_of_level(LEVEL_MAX))];
        let mut put = |at: usize, bytes: &[u8]| h[at..at + bytes.len()].copy_from_slice(bytes);
        let name = |name: Name| pages.name_bytes(name, encoding);
        let mut letter = [self.function.letter()];
        pages.translate(&mut letter, Encoding::Ascii, encoding);
        put(6, &[self.level, self.f0]);
        put(8, &name(Name(self.exit)));
        put(16, &self.nak_reason.to_be_bytes());
        put(20, &[self.f5, self.timer, self.socket, self.scheme]);
        put(24, &name(self.client));
        put(32, &[self.f1, self.f2, self.f3, letter[0]]);
        let names = [
            self.transaction,
            self.data_store,
            self.terminal,
            self.user,
            self.group,
            self.password,
        ];
        for (index, value) in names.into_iter().enumerate() {
            put(36 + 8 * index, &name(value));
        }
        put(84, &name(self.application));
        put(92, &name(self.reroute));
        put(100, &name(self.tag_adapter));
        put(108, &name(self.tag_map));
        if end == END_MOD_ALONE {
            put(116, &name(self.mod_name));
        } else {
            put(116, &[0, 40, 0, 0]);
            put(120, &self.correlation.encode(encoding, pages));
            put(156, &name(self.mod_name));
        }
        put(164, &self.session);
        let added: usize = self.extensions.iter().map(|one| EXTENSION_HEAD + one.data.len()).sum();
        put(4, &((end - BEGIN + added) as u16).to_be_bytes());
        let offset = if self.extensions.is_empty() { 0 } else { end - BEGIN };
        put(OFFSET_AT, &(offset as u16).to_be_bytes());
        out.extend_from_slice(&h[BEGIN..end]);
        for extension in &self.extensions {
            let length = (EXTENSION_HEAD + extension.data.len()) as u16;
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(&[0, 0]);
            out.extend_from_slice(&name(Name(extension.id)));
            out.extend_from_slice(&extension.data);
        }
    }
}

impl CorrelationToken {
    /// Its 36 bytes behind length and reserved bytes.
    pub(super) fn encode(&self, encoding: Encoding, pages: &Pages) -> Vec<u8> {
        let mut system = self.system;
        pages.translate(&mut system, Encoding::Ascii, encoding);
        let [tpipe, user] = [self.tpipe, self.user].map(|name| pages.name_bytes(name, encoding));
        [&system[..], &self.member, &self.message, &tpipe, &user].concat()
    }

    /// From its 36 bytes.
    pub(super) fn decode(bytes: &[u8], encoding: Encoding, pages: &Pages) -> CorrelationToken {
        let mut system: [u8; 4] = field(bytes, 0);
        pages.translate(&mut system, encoding, Encoding::Ascii);
        CorrelationToken {
            system,
            member: field(bytes, 4),
            message: field(bytes, 12),
            tpipe: pages.name(field(bytes, 20), encoding),
            user: pages.name(field(bytes, 28), encoding),
        }
    }
}

fn token(bytes: Option<&[u8]>, encoding: Encoding, pages: &Pages) -> CorrelationToken {
    bytes.map_or_else(CorrelationToken::default, |bytes| {
        CorrelationToken::decode(bytes, encoding, pages)
    })
}

fn extensions(mut bytes: &[u8], pages: &Pages) -> Result<Vec<Extension>, Rejection> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length =
            bytes.first_chunk::<2>().map_or(0, |two| usize::from(u16::from_be_bytes(*two)));
        if length < EXTENSION_HEAD || length > bytes.len() {
            return Err(Rejection::IrmLength);
        }
        let (one, rest) = bytes.split_at(length);
        // An id is EBCDIC or ASCII whatever the message is in; its asterisk tells.
        let encoding = if one[4] == b'*' { Encoding::Ascii } else { Encoding::Ebcdic };
        let id = pages.name(field(one, 4), encoding).0;
        found.push(Extension { id, data: one[EXTENSION_HEAD..].to_vec() });
        bytes = rest;
    }
    Ok(found)
}

/// Bytes at a place that is there.
pub(super) fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    let there = bytes.get(at..).unwrap_or_default();
    let count = there.len().min(N);
    out[..count].copy_from_slice(&there[..count]);
    out
}
