//! Fields of a record as values, and back: what code that shows records, or keeps them in columns,
//! needs of a description.
//!
//! | an item | its value, as text |
//! |---|---|
//! | of characters | the characters, without blanks at the end |
//! | a decimal or binary number | the number, exactly: `-12.34` |
//! | COMP-1, COMP-2 | the number, so that it comes back bit by bit |
//! | anything else | its bytes: `\x00ff` |
//!
//! A table has a field for each occurrence. FILLER has none, nor has what redefines something.
//!
//! Invariants:
//! 1. A field whose bytes are none of its kind has no value; nothing is guessed.
//! 2. A value that is set is what is read then, or it is refused.
//! 3. There are at most [`FIELDS_MAX`] fields.

use codec::{CodePage, binary, packed, zoned};

use crate::entry::SignClause;
use crate::error::CopybookError;
use crate::record::{Item, Kind, RECORD_BYTES_MAX};

/// The most fields of a record.
pub const FIELDS_MAX: usize = 1_500;

/// What the value of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Characters.
    Text,
    /// A number of at most so many digits, so many of them behind the point.
    Decimal {
        /// All digits.
        digits: u32,
        /// Those behind the point.
        scale: u32,
    },
    /// Floating point, 4 bytes.
    Single,
    /// Floating point, 8 bytes.
    Double,
    /// Bytes.
    Bytes,
}

/// A field of a record.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; that of an occurrence with its number, from 1: `LINE(2)`.
    pub name: String,
    /// Its place in the record.
    pub offset: usize,
    /// Its bytes.
    pub bytes: usize,
    /// What its value is.
    pub value: ValueKind,
    form: Form,
    scale: i32,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Text,
    Zoned(Option<SignClause>),
    Packed(bool),
    Binary(bool),
    Native(bool),
    Single,
    Double,
    Bytes,
}

/// A table at the end of a record that is as long as an item says.
#[derive(Clone, Debug)]
struct Tail {
    offset: usize,
    bytes: usize,
    min: usize,
    max: usize,
    /// The field that says how long.
    count: usize,
}

/// The fields of a record.
#[derive(Clone, Debug)]
pub struct Fields {
    all: Vec<Field>,
    bytes_max: usize,
    tail: Option<Tail>,
    page: CodePage,
}

impl Fields {
    /// The fields of a description, whose text is of a code page. Under ASCII text may be UTF-8.
    ///
    /// # Errors
    /// If there are too many, or something stands behind a table whose length varies.
    pub fn of(record: &Item, page: CodePage) -> Result<Fields, CopybookError> {
        let mut making =
            Making { all: Vec::new(), page, tail: None, depending: None, end: record.bytes_max() };
        making.item(record, 0, "")?;
        let Making { all, tail, depending, end, .. } = making;
        let tail = match (tail, depending) {
            (Some(tail), Some(name)) => {
                let at = all.iter().position(|field| field.name == name);
                let count = at.ok_or_else(|| CopybookError::Syntax {
                    place: record.place.clone(),
                    what: format!("{name}, which a table depends on, is no item in front of it"),
                })?;
                Some(Tail { count, ..tail })
            }
            _ => None,
        };
        Ok(Fields { all, bytes_max: end, tail, page })
    }

    /// All of them, in the order of the text.
    #[must_use]
    pub fn all(&self) -> &[Field] {
        &self.all
    }

    /// The longest record.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The value of a field; `None` if the record does not reach so far, or its bytes are none of
    /// the field's kind.
    #[must_use]
    pub fn value(&self, field: &Field, record: &[u8]) -> Option<String> {
        let bytes = record.get(field.offset..field.offset + field.bytes)?;
        match field.form {
            Form::Text => self.text(bytes),
            Form::Zoned(sign) => Some(decimal(zoned_value(self.page, sign, bytes)?, field.scale)),
            Form::Packed(_) => Some(decimal(packed::decode(bytes).ok()?, field.scale)),
            Form::Binary(signed) => Some(decimal(binary_value(bytes, signed)?, field.scale)),
            Form::Native(signed) => {
                let turned: Vec<u8> = bytes.iter().rev().copied().collect();
                Some(decimal(binary_value(&turned, signed)?, field.scale))
            }
            Form::Single => Some(f32::from_le_bytes(bytes.try_into().ok()?).to_string()),
            Form::Double => Some(f64::from_le_bytes(bytes.try_into().ok()?).to_string()),
            Form::Bytes => Some(format!("\\x{}", base::hex::lower(bytes))),
        }
    }

    /// Gives a field of a record a value; `false`, and the field as it was, if it does not take it.
    pub fn set(&self, field: &Field, value: &str, record: &mut [u8]) -> bool {
        let Some(bytes) = record.get_mut(field.offset..field.offset + field.bytes) else {
            return false;
        };
        self.set_bytes(field, value, bytes).is_some()
    }

    fn set_bytes(&self, field: &Field, value: &str, bytes: &mut [u8]) -> Option<()> {
        let number = || unscaled(value, field.scale);
        match field.form {
            Form::Text => {
                let text = match self.page {
                    CodePage::Ascii => value.as_bytes().to_vec(),
                    page => page.encode(value).ok()?,
                };
                if text.len() > bytes.len() {
                    return None;
                }
                bytes[..text.len()].copy_from_slice(&text);
                bytes[text.len()..].fill(self.page.blank());
                Some(())
            }
            Form::Zoned(sign) => set_zoned(self.page, sign, number()?, bytes),
            Form::Packed(signed) => {
                let sign = if signed { packed::Sign::Signed } else { packed::Sign::Unsigned };
                packed::encode(number()?, sign, bytes).ok()
            }
            Form::Binary(signed) => set_binary(number()?, signed, bytes),
            Form::Native(signed) => {
                let mut turned = vec![0; bytes.len()];
                set_binary(number()?, signed, &mut turned)?;
                turned.reverse();
                bytes.copy_from_slice(&turned);
                Some(())
            }
            Form::Single => {
                bytes.copy_from_slice(&value.parse::<f32>().ok()?.to_le_bytes());
                Some(())
            }
            Form::Double => {
                bytes.copy_from_slice(&value.parse::<f64>().ok()?.to_le_bytes());
                Some(())
            }
            Form::Bytes => {
                let hex = value.strip_prefix("\\x")?;
                if hex.len() != bytes.len() * 2 || !hex.is_ascii() {
                    return None;
                }
                let pairs = hex.as_bytes().chunks(2).map(|pair| {
                    std::str::from_utf8(pair)
                        .ok()
                        .and_then(|pair| u8::from_str_radix(pair, 16).ok())
                });
                let all: Option<Vec<u8>> = pairs.collect();
                bytes.copy_from_slice(&all?);
                Some(())
            }
        }
    }

    fn text(&self, bytes: &[u8]) -> Option<String> {
        let text = match self.page {
            CodePage::Ascii => std::str::from_utf8(bytes).ok()?.to_owned(),
            page => page.decode(bytes),
        };
        // No database takes this character.
        if text.contains('\0') {
            return None;
        }
        Some(text.trim_end_matches(' ').to_owned())
    }

    /// The values of all fields of a record.
    #[must_use]
    pub fn values(&self, record: &[u8]) -> Vec<Option<String>> {
        self.all.iter().map(|field| self.value(field, record)).collect()
    }

    /// A record with values. `over` is one that has what no field says: FILLER, other signs of the
    /// same number, fields without a value; without it that is blank, and numbers are 0. A field
    /// whose value in `over` is the one that it is to have stays as it is there.
    ///
    /// # Errors
    /// The field that does not take its value.
    pub fn record(
        &self,
        values: &[Option<String>],
        over: Option<&[u8]>,
    ) -> Result<Vec<u8>, &Field> {
        let mut record = match over {
            Some(over) => over.to_vec(),
            None => self.blank(),
        };
        if let Some(tail) = &self.tail {
            let count = values.get(tail.count).and_then(Option::as_ref);
            let was = over.and_then(|over| self.value(&self.all[tail.count], over));
            if over.is_none() || was.as_ref() != count {
                let count = count.and_then(|count| count.parse().ok()).unwrap_or(tail.min);
                let bytes = tail.offset + tail.bytes * count.clamp(tail.min, tail.max);
                let mut fresh = self.blank();
                let kept = record.len().min(bytes);
                fresh[..kept].copy_from_slice(&record[..kept]);
                fresh.truncate(bytes);
                record = fresh;
            }
        }
        for (field, value) in self.all.iter().zip(values) {
            let Some(value) = value else { continue };
            // Of a table that is shorter now.
            let varies = self.tail.as_ref().is_some_and(|tail| field.offset >= tail.offset);
            if varies && field.offset + field.bytes > record.len() {
                continue;
            }
            let same = over.is_some() && self.value(field, &record).as_ref() == Some(value);
            if !same && !self.set(field, value, &mut record) {
                return Err(field);
            }
        }
        Ok(record)
    }

    /// A longest record of blanks and zeros.
    fn blank(&self) -> Vec<u8> {
        let mut record = vec![self.page.blank(); self.bytes_max];
        for field in &self.all {
            match field.value {
                ValueKind::Text => {}
                ValueKind::Bytes => {
                    record[field.offset..field.offset + field.bytes].fill(0);
                }
                _ => {
                    let _ = self.set(field, "0", &mut record);
                }
            }
        }
        record
    }
}

/// Fields that are being gathered.
struct Making {
    all: Vec<Field>,
    page: CodePage,
    tail: Option<Tail>,
    depending: Option<String>,
    end: usize,
}

impl Making {
    fn item(&mut self, item: &Item, shift: usize, occurrence: &str) -> Result<(), CopybookError> {
        if item.redefines.is_some() {
            return Ok(());
        }
        let wrong = |what: String| CopybookError::Syntax { place: item.place.clone(), what };
        if let Some(occurs) = item.occurs.as_ref().filter(|occurs| occurs.depending.is_some()) {
            if item.offset + shift + item.bytes_max() != self.end || self.tail.is_some() {
                let what = format!("{}: its length varies, and it is not the last", item.title());
                return Err(wrong(what));
            }
            self.depending.clone_from(&occurs.depending);
            let (min, max) = (occurs.min, occurs.max);
            self.tail =
                Some(Tail { offset: item.offset + shift, bytes: item.bytes, min, max, count: 0 });
        }
        for time in 0..item.times_max() {
            let number = match item.occurs.is_some() {
                true if occurrence.is_empty() => (time + 1).to_string(),
                true => format!("{occurrence},{}", time + 1),
                false => occurrence.to_owned(),
            };
            let shift = shift + time * item.bytes;
            if item.children.is_empty() {
                self.leaf(item, shift, &number);
            }
            for child in &item.children {
                self.item(child, shift, &number)?;
            }
            if self.all.len() > FIELDS_MAX {
                return Err(wrong(format!("there are more than {FIELDS_MAX} fields")));
            }
        }
        Ok(())
    }

    fn leaf(&mut self, item: &Item, shift: usize, occurrence: &str) {
        let Some(name) = &item.name else { return };
        if item.bytes == 0 || item.bytes > RECORD_BYTES_MAX {
            return;
        }
        let name = match occurrence {
            "" => name.clone(),
            number => format!("{name}({number})"),
        };
        let (form, digits) = self.form_of(item);
        let scale = item.picture.as_ref().map_or(0, |picture| picture.scale);
        let value = match form {
            Form::Text => ValueKind::Text,
            Form::Single => ValueKind::Single,
            Form::Double => ValueKind::Double,
            Form::Bytes => ValueKind::Bytes,
            _ => {
                let behind = u32::try_from(scale).unwrap_or(0);
                let front = u32::try_from(-scale).unwrap_or(0);
                ValueKind::Decimal { digits: (digits + front).max(behind), scale: behind }
            }
        };
        let (offset, bytes) = (item.offset + shift, item.bytes);
        self.all.push(Field { name, offset, bytes, value, form, scale });
    }

    /// How an item is read, and how many digits it can have.
    fn form_of(&self, item: &Item) -> (Form, u32) {
        let bytes = u32::try_from(item.bytes).unwrap_or(u32::MAX);
        let of_binary = match bytes {
            1 => 3,
            2 => 5,
            4 => 10,
            8 => 20,
            _ => 39,
        };
        let is_ascii = !self.page.is_ebcdic();
        match item.kind {
            Kind::Text => (Form::Text, 0),
            Kind::Zoned { sign } => {
                let own = u32::from(sign.is_some_and(|sign| sign.separate));
                (Form::Zoned(sign), bytes - own)
            }
            Kind::Packed { signed } => (Form::Packed(signed), bytes.saturating_mul(2) - 1),
            Kind::Binary { signed } => (Form::Binary(signed), of_binary),
            Kind::Native { signed } => (Form::Native(signed), of_binary),
            // Those of a mainframe have another form.
            Kind::Single if is_ascii => (Form::Single, 0),
            Kind::Double if is_ascii => (Form::Double, 0),
            _ => (Form::Bytes, 0),
        }
    }
}

/// A number with its point.
fn decimal(value: i128, scale: i32) -> String {
    let Ok(behind) = usize::try_from(scale) else {
        let zeros = "0".repeat(scale.unsigned_abs() as usize);
        return if value == 0 { "0".into() } else { format!("{value}{zeros}") };
    };
    if behind == 0 {
        return value.to_string();
    }
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = behind + 1);
    let (front, back) = digits.split_at(digits.len() - behind);
    format!("{}{front}.{back}", if value < 0 { "-" } else { "" })
}

/// The number without its point; `None` if it has digits that have no room.
fn unscaled(text: &str, scale: i32) -> Option<i128> {
    let (minus, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (front, back) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if front.len() + back.len() == 0 || !is_number(front) || !is_number(back) {
        return None;
    }
    let whole = match usize::try_from(scale) {
        Ok(behind) => {
            let back = back.trim_end_matches('0');
            if back.len() > behind {
                return None;
            }
            format!("{front}{back:0<behind$}")
        }
        Err(_) => {
            let zeros = scale.unsigned_abs() as usize;
            if !back.trim_end_matches('0').is_empty() {
                return None;
            }
            match front.trim_start_matches('0') {
                "" => "0".to_owned(),
                front => front.strip_suffix(&"0".repeat(zeros))?.to_owned(),
            }
        }
    };
    let value: i128 = match whole.trim_start_matches('0') {
        "" => 0,
        digits => digits.parse().ok()?,
    };
    Some(if minus { -value } else { value })
}

fn binary_value(bytes: &[u8], signed: bool) -> Option<i128> {
    match signed {
        true => binary::decode_signed(bytes).ok(),
        false => i128::try_from(binary::decode_unsigned(bytes).ok()?).ok(),
    }
}

fn set_binary(value: i128, signed: bool, bytes: &mut [u8]) -> Option<()> {
    match signed {
        true => binary::encode_signed(value, bytes).ok(),
        false => binary::encode_unsigned(value, bytes).ok(),
    }
}

fn alphabet(page: CodePage) -> (zoned::Alphabet, u8) {
    match page.is_ebcdic() {
        true => (zoned::Alphabet::Ebcdic, 0xf1),
        false => (zoned::Alphabet::Ascii, b'1'),
    }
}

fn sign_byte(page: CodePage, minus: bool) -> u8 {
    page.byte(if minus { '-' } else { '+' }).unwrap_or(b'+')
}

fn zoned_value(page: CodePage, sign: Option<SignClause>, bytes: &[u8]) -> Option<i128> {
    let (alphabet, one) = alphabet(page);
    let unsigned = |digits: &[u8]| {
        // A digit in front, so that the last one has no sign.
        let value = zoned::decode(alphabet, digits).ok()?;
        let last = digits.last()?;
        (last & 0xf0 == one & 0xf0).then_some(value)
    };
    match sign {
        None => unsigned(bytes),
        Some(SignClause { separate: true, leading }) => {
            let (mark, digits) = match leading {
                true => bytes.split_first()?,
                false => bytes.split_last()?,
            };
            let value = unsigned(digits)?;
            match *mark {
                mark if mark == sign_byte(page, false) => Some(value),
                mark if mark == sign_byte(page, true) => Some(-value),
                _ => None,
            }
        }
        Some(SignClause { leading: true, .. }) => {
            let (first, rest) = bytes.split_first()?;
            let punched = zoned::decode(alphabet, &[one, *first]).ok()?;
            let digit = punched.abs() - 10;
            let rest_value = if rest.is_empty() { 0 } else { unsigned(rest)? };
            let power = 10_i128.checked_pow(u32::try_from(rest.len()).ok()?)?;
            let value = digit.checked_mul(power)?.checked_add(rest_value)?;
            Some(if punched < 0 { -value } else { value })
        }
        Some(_) => zoned::decode(alphabet, bytes).ok(),
    }
}

fn set_zoned(
    page: CodePage,
    sign: Option<SignClause>,
    value: i128,
    bytes: &mut [u8],
) -> Option<()> {
    let (alphabet, _) = alphabet(page);
    let plain = |value: i128, digits: &mut [u8]| {
        zoned::encode(alphabet, value, zoned::Sign::Unsigned, digits).ok()
    };
    match sign {
        None => plain(value, bytes),
        Some(SignClause { separate: true, leading }) => {
            let mut digits = vec![0; bytes.len().checked_sub(1)?];
            plain(value.checked_abs()?, &mut digits)?;
            let at = if leading { 0 } else { digits.len() };
            digits.insert(at, sign_byte(page, value < 0));
            bytes.copy_from_slice(&digits);
            Some(())
        }
        Some(SignClause { leading: true, .. }) => {
            let mut digits = vec![0; bytes.len()];
            plain(value.checked_abs()?, &mut digits)?;
            let first = i128::from(digits.first()? & 0x0f) + 10;
            let mut punched = [0; 2];
            let signed = if value < 0 { -first } else { first };
            zoned::encode(alphabet, signed, zoned::Sign::Zone, &mut punched).ok()?;
            digits[0] = punched[1];
            bytes.copy_from_slice(&digits);
            Some(())
        }
        Some(_) => zoned::encode(alphabet, value, zoned::Sign::Zone, bytes).ok(),
    }
}
