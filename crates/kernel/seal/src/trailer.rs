//! The trailer of a control interval: the last 48 bytes of its unit, in clear, the same for plain
//! and sealed pages, so that conversion moves no record (K4).
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 1 | format: 0 never written, 1 plain, 2 sealed |
//! | 1 | 1 | version of the format: 1 |
//! | 2 | 2 | zero |
//! | 4 | 4 | key generation; 0 in a plain page |
//! | 8 | 16 | salt of the open that wrote it (K3) |
//! | 24 | 8 | write counter under that salt; the first is 1 |
//! | 32 | 16 | tag: of AES-256-GCM, or the plain form's checksum |
//!
//! The associated data of the tag is
//! system id (16) | data-set id (4) | interval number (4) | length of the unit (4) | trailer 0..32.

use base::bytes::Reader;
use base::{CiNumber, DataSetId, KeyGeneration, SystemId};

use crate::format::{Form, Format};
use crate::{PageFault, SALT_BYTES, Salt, TAG_BYTES, TRAILER_BYTES, Tag};

/// The trailer of a written page, as it stands there: nothing in it is proven until the page has
/// been opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trailer {
    /// Plain or sealed, and under which generation of the data key.
    pub form: Form,
    /// The salt of the open that wrote the page.
    pub salt: Salt,
    /// Which write under that salt it was; the first is 1.
    pub counter: u64,
    /// The proof.
    pub tag: Tag,
}

/// Where the tag stands in the trailer, and how much of the trailer it covers.
pub(crate) const TAG_AT: usize = TRAILER_BYTES - TAG_BYTES;
/// The only version of the format so far.
const VERSION: u8 = 1;
/// Length of the associated data.
const ASSOCIATED_BYTES: usize = 28 + TAG_AT;

impl Trailer {
    /// Reads the trailer at the end of `page`, without a key.
    ///
    /// # Errors
    /// [`PageFault::NeverWritten`] if the whole page is zero, [`PageFault::FutureVersion`], and
    /// [`PageFault::NotATrailer`] if the bytes can be no trailer.
    pub fn decode(page: &[u8]) -> Result<Trailer, PageFault> {
        let Some((body, trailer)) = page.split_last_chunk::<TRAILER_BYTES>() else {
            return Err(PageFault::NotATrailer);
        };
        if trailer[0] == 0 {
            // Without a way out of the loop, so that the compiler takes many bytes at once.
            let blank = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum | byte) == 0;
            let blank = blank(trailer) && blank(body);
            return Err(if blank { PageFault::NeverWritten } else { PageFault::NotATrailer });
        }
        if trailer[1] > VERSION {
            return Err(PageFault::FutureVersion { version: trailer[1] });
        }
        let fields = Trailer::decode_fields(trailer);
        fields.ok_or(PageFault::NotATrailer)
    }

    fn decode_fields(trailer: &[u8; TRAILER_BYTES]) -> Option<Trailer> {
        let mut reader = Reader::new(trailer);
        let format = Format::from_byte(reader.u8()?)?;
        let (version, zero) = (reader.u8()?, reader.u16()?);
        if version != VERSION || zero != 0 {
            return None;
        }
        let generation = KeyGeneration(reader.u32()?);
        Some(Trailer {
            form: Form { format, generation },
            salt: Salt(reader.array::<SALT_BYTES>()?),
            counter: reader.u64()?,
            tag: Tag(reader.array::<TAG_BYTES>()?),
        })
    }

    /// Everything before the tag, as it stands on disk.
    pub(crate) fn encode_head(form: Form, salt: &Salt, counter: u64) -> [u8; TAG_AT] {
        let mut head = [0; TAG_AT];
        head[0] = form.format as u8;
        head[1] = VERSION;
        head[4..8].copy_from_slice(&form.generation.0.to_le_bytes());
        head[8..24].copy_from_slice(&salt.0);
        head[24..32].copy_from_slice(&counter.to_le_bytes());
        head
    }
}

/// What a page is bound to besides its bytes.
#[inline]
pub(crate) fn associated(
    system: &SystemId,
    set: DataSetId,
    ci: CiNumber,
    unit_bytes: usize,
    head: &[u8],
) -> [u8; ASSOCIATED_BYTES] {
    let unit_bytes = u32::try_from(unit_bytes).expect("a unit is at most 32 KiB long");
    let mut bytes = [0; ASSOCIATED_BYTES];
    bytes[..16].copy_from_slice(&system.0);
    bytes[16..20].copy_from_slice(&set.0.to_le_bytes());
    bytes[20..24].copy_from_slice(&ci.0.to_le_bytes());
    bytes[24..28].copy_from_slice(&unit_bytes.to_le_bytes());
    bytes[28..].copy_from_slice(head);
    bytes
}
