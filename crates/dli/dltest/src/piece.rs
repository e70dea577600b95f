//! Data on cards: of a call, or to compare with.
//!
//! Invariant: the bytes are those of columns 16 to 71 of the cards, all 56 of each, so that
//! values keep their position. A length cuts or pads them, a form puts lengths in front.
//!
//! | column 2, 3 | with data of a call |
//! |---|---|
//! | `K` | the length of columns 5 to 8 is 2,500 more |
//! | `P` | the 50 bytes from column 16 are repeated up to the length |

/// What stands in front of data in the I/O area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing: a segment of fixed length (blank or `P`).
    Plain,
    /// Two bytes of length, these included: a segment of variable length (`V` or `M`).
    Variable,
    /// Two bytes of length, these included, and two zeros: a message segment (`Z`).
    Message,
    /// Nothing: a GSAM record of undefined length, which the PCB says (`U`).
    Undefined,
}

impl Form {
    pub(crate) fn of(column: u8) -> Self {
        match column {
            b'V' | b'M' => Form::Variable,
            b'Z' => Form::Message,
            b'U' => Form::Undefined,
            _ => Form::Plain,
        }
    }

    /// How long it is.
    pub(crate) fn prefix(self) -> usize {
        match self {
            Form::Plain | Form::Undefined => 0,
            Form::Variable => 2,
            Form::Message => 4,
        }
    }
}

/// The data of a `DATA` card and its continuations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its first card.
    pub card: u32,
    /// What stands in front of it in the I/O area.
    pub form: Form,
    /// Its length, if columns 5 to 8 say it.
    pub length: Option<usize>,
    /// The columns of its cards.
    pub text: Vec<u8>,
}

/// What `K` adds to a length.
const MORE: usize = 2500;
/// How much of a card `P` repeats.
const PATTERN: usize = 50;

impl Piece {
    /// With what columns 2 and 3 say about its length and about what is behind its text.
    pub(crate) fn grown(mut self, more: u8, repeated: u8) -> Self {
        if more == b'K' {
            self.length = self.length.map(|length| length + MORE);
        }
        if repeated == b'P' {
            self.text.truncate(PATTERN);
            self.text = self.text.iter().copied().cycle().take(self.len()).collect();
        }
        self
    }

    /// Its length in the I/O area, without what the form puts in front.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length.unwrap_or(self.text.len())
    }

    /// Whether it is nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts it into the I/O area, and says how long it is there; `None` if it does not fit.
    pub(crate) fn put(&self, area: &mut [u8]) -> Option<usize> {
        let (prefix, length) = (self.form.prefix(), self.len());
        let whole = prefix + length;
        let into = area.get_mut(..whole)?;
        if prefix > 0 {
            let stated = u16::try_from(whole).ok()?;
            into[..prefix].fill(0);
            into[..2].copy_from_slice(&stated.to_be_bytes());
        }
        let text = &self.text[..self.text.len().min(length)];
        into[prefix..].fill(b' ');
        into[prefix..prefix + text.len()].copy_from_slice(text);
        Some(whole)
    }

    /// Compares the length that stands in front of a segment with its own, which counts those
    /// bytes too. What is left to compare is the data.
    pub(crate) fn compare_length(&self, area: &[u8]) -> (Piece, Option<String>) {
        let prefix = self.form.prefix().max(Form::Variable.prefix());
        let form = if self.form.prefix() == 0 { Form::Variable } else { self.form };
        let expected = self.len();
        let data = Piece { form, length: Some(expected.saturating_sub(prefix)), ..self.clone() };
        let difference = match area.first_chunk::<2>() {
            None => Some(format!("length {expected} expected, nothing returned")),
            Some(stated) => {
                let returned = usize::from(u16::from_be_bytes(*stated));
                let differs = returned != expected;
                differs.then(|| format!("length {expected} expected, {returned} returned"))
            }
        };
        (data, difference)
    }

    /// Compares it with what stands in the I/O area; says how long it is there, and where and
    /// what the first difference is.
    ///
    /// Without a length, only as much is compared as there is on the cards and in the area; what
    /// the cards have beyond must be blank.
    pub(crate) fn compare(&self, area: &[u8]) -> (usize, Option<String>) {
        let prefix = self.form.prefix().min(area.len());
        let area = &area[prefix..];
        let expected = |at: usize| self.text.get(at).copied().unwrap_or(b' ');
        let length = match self.length {
            Some(length) if length > area.len() => {
                let stated = format!("{length} bytes expected, {} returned", area.len());
                return (prefix + area.len(), Some(stated));
            }
            Some(length) => length,
            None => self.text.len().min(area.len()),
        };
        let unlike = (0..length).find(|at| area[*at] != expected(*at)).map(|at| {
            let (byte, returned) = (expected(at), area[at]);
            format!("byte {}: x'{byte:02x}' expected, x'{returned:02x}' returned", at + 1)
        });
        let beyond = || match self.length {
            None => (length..self.text.len()).find(|at| self.text[*at] != b' ').map(|at| {
                format!("byte {}: x'{:02x}' expected, nothing returned", at + 1, self.text[at])
            }),
            Some(_) => None,
        };
        (prefix + length, unlike.or_else(beyond))
    }
}
