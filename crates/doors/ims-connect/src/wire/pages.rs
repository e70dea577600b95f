//! Code pages: what a client sends in EBCDIC, in ASCII, and back.
//!
//! Byte for byte over a table, with ISO 8859-1 on the side of ASCII, so that every byte survives
//! there and back.

use std::ops::Range;

use codec::CodePage;
use otma::{Encoding, Name, Segments};

/// Tables of an EBCDIC code page.
#[derive(Clone)]
pub struct Pages {
    to_ascii: [u8; 256],
    to_ebcdic: [u8; 256],
}

/// Which bytes of a message are characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All of them.
    Text,
    /// None: data goes through as it is.
    Nothing,
    /// These, counted from each segment's first byte of data.
    Fields(Vec<Range<usize>>),
}

impl Pages {
    /// The tables of a page; those of 037 if it is no EBCDIC page.
    #[must_use]
    pub fn new(page: CodePage) -> Pages {
        let page = if page.is_ebcdic() { page } else { CodePage::Cp037 };
        let mut pages = Pages { to_ascii: [0; 256], to_ebcdic: [0; 256] };
        for byte in 0..=255_u8 {
            // The euro is in no page of ASCII's side; its byte stands for the currency sign there.
            let ascii = CodePage::Latin1.byte(page.character(byte)).unwrap_or(0xa4);
            pages.to_ascii[usize::from(byte)] = ascii;
            pages.to_ebcdic[usize::from(ascii)] = byte;
        }
        pages
    }

    /// Translates bytes where they are.
    pub fn translate(&self, bytes: &mut [u8], from: Encoding, to: Encoding) {
        let table = match (from, to) {
            (Encoding::Ebcdic, Encoding::Ascii) => &self.to_ascii,
            (Encoding::Ascii, Encoding::Ebcdic) => &self.to_ebcdic,
            _ => return,
        };
        for byte in bytes {
            *byte = table[usize::from(*byte)];
        }
    }

    /// A name as ASCII; a binary zero is a blank.
    #[must_use]
    pub fn name(&self, mut bytes: [u8; 8], encoding: Encoding) -> Name {
        self.translate(&mut bytes, encoding, Encoding::Ascii);
        Name(bytes.map(|byte| if byte == 0 { b' ' } else { byte }))
    }

    /// A name in a code page.
    #[must_use]
    pub fn name_bytes(&self, name: Name, encoding: Encoding) -> [u8; 8] {
        let mut bytes = name.0;
        self.translate(&mut bytes, Encoding::Ascii, encoding);
        bytes
    }

    /// Segments whose characters are translated by a rule; what they were if nothing is to be done.
    #[must_use]
    pub fn segments(
        &self,
        segments: Segments,
        from: Encoding,
        to: Encoding,
        rule: &Rule,
    ) -> Segments {
        if from == to || *rule == Rule::Nothing {
            return segments;
        }
        let ends: Vec<Range<usize>> = segments
            .iter()
            .scan(0, |at, segment| {
                let begin = *at + otma::SEGMENT_HEAD;
                *at += segment.len();
                Some(begin..*at)
            })
            .collect();
        let mut bytes = segments.into_bytes();
        for data in ends {
            let data = &mut bytes[data];
            match rule {
                Rule::Text => self.translate(data, from, to),
                Rule::Nothing => {}
                Rule::Fields(fields) => {
                    for field in fields {
                        let end = field.end.min(data.len());
                        if let Some(part) = data.get_mut(field.start.min(end)..end) {
                            self.translate(part, from, to);
                        }
                    }
                }
            }
        }
        // Only characters changed, no length.
        Segments::from_bytes(bytes).unwrap_or_default()
    }
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pages")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_there_and_back() {
        for page in CodePage::ALL.into_iter().filter(|page| page.is_ebcdic()) {
            let pages = Pages::new(page);
            let all: Vec<u8> = (0..=255).collect();
            let mut bytes = all.clone();
            pages.translate(&mut bytes, Encoding::Ebcdic, Encoding::Ascii);
            pages.translate(&mut bytes, Encoding::Ascii, Encoding::Ebcdic);
            assert_eq!(bytes, all, "{page}");
        }
    }

    #[test]
    fn fields_of_a_message_are_translated_and_the_rest_is_not() {
        let pages = Pages::new(CodePage::Cp037);
        let mut segments = Segments::new();
        segments.push([0, 0], b"PART\x00\x12AB").expect("short");
        let rule = Rule::Fields(vec![0..4, 6..99]);
        let out = pages.segments(segments, Encoding::Ascii, Encoding::Ebcdic, &rule);
        assert_eq!(out.data().next(), Some(&b"\xd7\xc1\xd9\xe3\x00\x12\xc1\xc2"[..]));
    }

    #[test]
    fn names_are_ascii_inside() {
        let pages = Pages::new(CodePage::Cp037);
        let name = pages.name(*b"\xc1\xc2\xf1\x40\x40\x00\x00\x00", Encoding::Ebcdic);
        assert_eq!(name.text(), "AB1");
        assert_eq!(pages.name_bytes(name, Encoding::Ebcdic), *b"\xc1\xc2\xf1\x40\x40\x40\x40\x40");
    }
}
