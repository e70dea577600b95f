//! How a record looks in the program's area and in the file.
//!
//! Invariants:
//! 1. What [`Form::give`] puts into an area is what [`Form::take`] of it would write again.
//! 2. No record is longer than `most`, neither read nor written.

use std::io;

use definitions::resolve::GsamView;

use crate::reader::{Line, Reader};
use crate::status::Status;
use crate::writer::Writer;

/// The longest record where no definition says.
const MOST: u32 = 32_752;
/// The longest record that RECORD= can say.
const RECORD_MOST: u32 = 32_767;
/// The smallest LL: one byte of data.
const LL_LEAST: u32 = 3;
/// Bytes of a descriptor.
const DESCRIPTOR: usize = 4;
/// Bytes of LL.
const LL: usize = 2;

/// The form of a database's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All have this length.
    Fixed {
        /// Bytes of a record.
        len: u32,
    },
    /// Each begins with its length.
    Variable {
        /// The largest LL.
        most: u32,
        /// The smallest LL of a record that is inserted.
        least: u32,
    },
    /// The PCB has the length of each.
    Undefined {
        /// The largest length.
        most: u32,
    },
}

/// A record that lies in the reader's buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Bytes in front of the data.
    lead: usize,
    /// Bytes of the data.
    len: usize,
    /// Bytes behind the data.
    rest: usize,
}

/// Why there is no record.
#[derive(Debug)]
pub(crate) enum Missing {
    /// The file ends here.
    End,
    /// What stands here is none.
    Bad(String),
    /// Reading failed.
    Io(io::Error),
}

impl From<io::Error> for Missing {
    fn from(error: io::Error) -> Missing {
        Missing::Io(error)
    }
}

impl Form {
    /// The form that a definition gives; the error says what is missing in it.
    pub(crate) fn of(view: &GsamView) -> Result<Form, String> {
        let known = |len: Option<u32>| len.filter(|len| *len > 0);
        let (most, least) = (known(view.record.first), known(view.record.second));
        let format = view.record_format.as_deref().unwrap_or(match (most, least) {
            (Some(most), Some(least)) if most != least => "V",
            (Some(_), _) => "F",
            (None, _) => "U",
        });
        if let Some(most) = most.filter(|most| *most > RECORD_MOST) {
            return Err(format!("RECORD= has {most} bytes, and {RECORD_MOST} is the most"));
        }
        match (format.bytes().next(), most) {
            (Some(b'F'), Some(len)) => Ok(Form::Fixed { len }),
            (Some(b'F'), None) => Err(format!("RECFM={format} needs RECORD=, the length")),
            (Some(b'V'), Some(most)) if most < LL_LEAST => {
                Err(format!("RECORD={most} leaves no room behind LL"))
            }
            (Some(b'V'), most) => {
                let most = most.unwrap_or(MOST);
                // Where one number stands twice, it is the maximum.
                let least = least.filter(|least| *least < most).unwrap_or(0).max(LL_LEAST);
                Ok(Form::Variable { most, least })
            }
            (Some(b'U'), most) => {
                let block = known(view.block.first).filter(|block| *block <= RECORD_MOST);
                Ok(Form::Undefined { most: most.or(block).unwrap_or(MOST) })
            }
            _ => Err(format!("RECFM={format} is none of F, V and U")),
        }
    }

    /// Bytes of an area that holds any record.
    #[must_use]
    pub fn area_bytes(self) -> usize {
        match self {
            Form::Fixed { len: most } | Form::Variable { most, .. } | Form::Undefined { most } => {
                most as usize
            }
        }
    }

    /// Bytes of the longest data.
    fn data_bytes(self) -> usize {
        self.area_bytes() - self.lead()
    }

    /// Bytes in front of the data in an area.
    fn lead(self) -> usize {
        if matches!(self, Form::Variable { .. }) { LL } else { 0 }
    }

    /// Looks for the record at the reader's place.
    pub(crate) fn find(self, reader: &mut Reader, text: bool) -> Result<Found, Missing> {
        if text {
            return self.find_line(reader);
        }
        if let Form::Fixed { len } = self {
            let len = len as usize;
            return match reader.peek(len)?.len() {
                0 => Err(Missing::End),
                found if found < len => {
                    Err(Missing::Bad(format!("the file ends after {found} of its {len} bytes")))
                }
                _ => Ok(Found { lead: 0, len, rest: 0 }),
            };
        }
        let whole = match *reader.peek(DESCRIPTOR)? {
            [] => return Err(Missing::End),
            [high, low, 0, 0] => usize::from(u16::from_be_bytes([high, low])),
            ref other => {
                return Err(Missing::Bad(format!("{other:02X?} is no descriptor of a record")));
            }
        };
        let most = self.data_bytes();
        let len = whole.checked_sub(DESCRIPTOR).filter(|len| *len <= most).ok_or_else(|| {
            let (least, most) = (DESCRIPTOR, most + DESCRIPTOR);
            Missing::Bad(format!("its descriptor says {whole} bytes, not {least} to {most}"))
        })?;
        let found = reader.peek(whole)?.len();
        if found < whole {
            return Err(Missing::Bad(format!("the file ends after {found} of its {whole} bytes")));
        }
        Ok(Found { lead: DESCRIPTOR, len, rest: 0 })
    }

    fn find_line(self, reader: &mut Reader) -> Result<Found, Missing> {
        let most = self.data_bytes();
        // The longest line, a carriage return, and one more byte to see that it ends.
        let (bytes, line) = reader.peek_line(most + 2)?;
        if bytes.is_empty() && line == Line::EndOfFile {
            return Err(Missing::End);
        }
        let data = bytes.strip_suffix(b"\r").unwrap_or(bytes).len();
        if data > most || line == Line::Longer {
            return Err(Missing::Bad(format!("the line is longer than {most} bytes")));
        }
        let rest = bytes.len() - data + usize::from(line == Line::Ended);
        Ok(Found { lead: 0, len: data, rest })
    }

    /// Puts a record into an area and steps behind it; how many bytes of the area it takes. `None`
    /// if it does not fit, and then nothing has moved.
    pub(crate) fn give(
        self,
        found: Found,
        reader: &mut Reader,
        area: &mut [u8],
    ) -> io::Result<Option<usize>> {
        let lead = self.lead();
        let padded = match self {
            Form::Fixed { len } => len as usize,
            // A line may be shorter than any record.
            Form::Variable { least, .. } if found.lead == 0 => found.len.max(least as usize - LL),
            _ => found.len,
        };
        let Some(area) = area.get_mut(..lead + padded) else { return Ok(None) };
        let whole = found.lead + found.len + found.rest;
        let data = &reader.peek(whole)?[found.lead..found.lead + found.len];
        if lead > 0 {
            area[..LL].copy_from_slice(&((lead + padded) as u16).to_be_bytes());
        }
        area[lead..lead + found.len].copy_from_slice(data);
        area[lead + found.len..].fill(b' ');
        reader.skip(whole);
        Ok(Some(area.len()))
    }

    /// The data of a record in an area; `length` is that of the PCB, for undefined records.
    pub(crate) fn take(self, area: &[u8], length: u32) -> Result<&[u8], (Status, String)> {
        let cut = |bytes: usize| {
            area.get(..bytes).ok_or_else(|| {
                let found = area.len();
                (Status::Ab, format!("the area has {found} bytes, the record {bytes}"))
            })
        };
        match self {
            Form::Fixed { len } => cut(len as usize),
            Form::Variable { most, least } => {
                let [high, low] = *cut(LL)? else { return Ok(&[]) };
                let ll = u32::from(u16::from_be_bytes([high, low]));
                if !(least..=most).contains(&ll) {
                    return Err((Status::Af, format!("LL is {ll}, not {least} to {most}")));
                }
                Ok(&cut(ll as usize)?[LL..])
            }
            Form::Undefined { most } => {
                if !(1..=most).contains(&length) {
                    return Err((Status::Af, format!("the length is {length}, not 1 to {most}")));
                }
                cut(length as usize)
            }
        }
    }

    /// Makes room for a record in the writer.
    pub(crate) fn make_room(self, data: &[u8], writer: &mut Writer) -> io::Result<()> {
        writer.make_room(data.len() + DESCRIPTOR)
    }

    /// Writes a record for which room was made.
    pub(crate) fn write(self, data: &[u8], writer: &mut Writer, text: bool) {
        match self {
            Form::Fixed { .. } if text => writer.put(without_blanks(data)),
            Form::Variable { .. } | Form::Undefined { .. } if !text => {
                let [high, low] = ((data.len() + DESCRIPTOR) as u16).to_be_bytes();
                writer.put(&[high, low, 0, 0]);
                writer.put(data);
            }
            _ => writer.put(data),
        }
        if text {
            writer.put(b"\n");
        }
    }

    /// Bytes of an area that a record takes.
    pub(crate) fn area_of(self, data: &[u8]) -> usize {
        self.lead() + data.len()
    }

    /// Whether a record may begin at that place of the file, as far as its form tells.
    pub(crate) fn may_begin(self, offset: u64, reader: &Reader, text: bool) -> io::Result<bool> {
        if offset >= reader.len() {
            return Ok(false);
        }
        match self {
            _ if text => reader.is_line(offset),
            Form::Fixed { len } => Ok(offset.is_multiple_of(u64::from(len))),
            Form::Variable { .. } | Form::Undefined { .. } => Ok(true),
        }
    }
}

fn without_blanks(bytes: &[u8]) -> &[u8] {
    let kept = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &bytes[..kept]
}
