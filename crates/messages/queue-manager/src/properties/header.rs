//! Properties in front of the data: the rules and formatting header, version 2.
//!
//! | bytes | |
//! |---|---|
//! | 0, 4, 4 | `RFH `, version 2 |
//! | 8, 4 | length of the header with its folders |
//! | 12, 4, 4, 8 | encoding, code page, format of what follows |
//! | 28, 4, 4 | flags; code page of the folders |
//! | 36 ... | for each folder its length (4) and its text, filled with blanks to a multiple of 4 |
//!
//! A folder is an element with the properties as elements within, such as
//! `<usr><size dt='i4'>7</size></usr>`.
//!
//! 1. Bytes that are no such header are an error, never a panic and never half read.
//! 2. Folders that are no properties stay in the header.

use super::{Properties, Property, PropertyValue};
use crate::descriptor::{MessageDescriptor, value};
use crate::reason::{Answer, Reason, fail};

const FIXED_BYTES: usize = 36;
const UTF_8: i32 = 1_208;
/// Folders that belong to publish and subscribe commands, not to properties.
const NO_PROPERTIES: [&str; 2] = ["psc", "pscr"];

/// A message's data without its properties.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Split {
    pub(crate) properties: Properties,
    /// Format, code page and encoding of `data`.
    pub(crate) format: [u8; 8],
    pub(crate) ccsid: i32,
    pub(crate) encoding: i32,
    /// Where the data behind the header begins.
    pub(crate) data_at: usize,
    /// A header with the folders that are no properties; empty if there are none.
    pub(crate) remainder: Vec<u8>,
}

/// Takes the header in front of data apart; `None` if there is none.
///
/// # Errors
/// `RFH_ERROR`, `RFH_FORMAT_ERROR`.
pub(crate) fn split(of: &MessageDescriptor, data: &[u8]) -> Answer<Option<Split>> {
    if of.format != value::format::RF_HEADER_2 {
        return Ok(None);
    }
    if data.get(..4) != Some(b"RFH ".as_slice()) || data.len() < FIXED_BYTES {
        return fail(Reason::RFH_ERROR);
    }
    let big = is_big_endian(of);
    let number = |at: usize| -> Option<i32> {
        let bytes = data.get(at..at + 4)?.try_into().ok()?;
        Some(if big { i32::from_be_bytes(bytes) } else { i32::from_le_bytes(bytes) })
    };
    let length = number(8).and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    if number(4) != Some(2) || length < FIXED_BYTES || length > data.len() {
        return fail(Reason::RFH_ERROR);
    }
    let mut properties = Properties::default();
    let mut others: Vec<&str> = Vec::new();
    let mut at = FIXED_BYTES;
    while at < length {
        let size = number(at).and_then(|size| usize::try_from(size).ok());
        let Some(text) = size.and_then(|size| data[..length].get(at + 4..at + 4 + size)) else {
            return fail(Reason::RFH_FORMAT_ERROR);
        };
        let Ok(text) = std::str::from_utf8(text) else { return fail(Reason::RFH_FORMAT_ERROR) };
        at += 4 + text.len();
        let text = text.trim_end_matches([' ', '\0']);
        if text.is_empty() {
            continue;
        }
        let Some((folder, found)) = read_folder(text) else {
            return fail(Reason::RFH_FORMAT_ERROR);
        };
        if NO_PROPERTIES.contains(&folder) {
            others.push(text);
            continue;
        }
        for one in found {
            properties.push(one);
        }
    }
    let (encoding, ccsid) = (number(12).unwrap_or(0), number(16).unwrap_or(0));
    let mut format = [b' '; 8];
    format.copy_from_slice(&data[20..28]);
    let after = Chain { format, ccsid, encoding };
    let remainder = if others.is_empty() { Vec::new() } else { header(&others, &after) };
    Ok(Some(Split { properties, format, ccsid, encoding, data_at: length, remainder }))
}

/// How many bytes of data are a header with properties; 0 if none is.
pub(crate) fn header_bytes(of: &MessageDescriptor, data: &[u8]) -> usize {
    let is_header = of.format == value::format::RF_HEADER_2 && data.starts_with(b"RFH ");
    let bytes = data.get(8..12).and_then(|bytes| bytes.try_into().ok()).filter(|_| is_header);
    let length = bytes.map_or(0, |bytes| match is_big_endian(of) {
        true => i32::from_be_bytes(bytes),
        false => i32::from_le_bytes(bytes),
    });
    usize::try_from(length).unwrap_or_default().min(data.len())
}

/// Whether the numbers of a message are written so.
fn is_big_endian(of: &MessageDescriptor) -> bool {
    of.encoding & 0xf == 1
}

/// The header in front of data says of them that they are in another code page and encoding now.
pub(crate) fn describe_data(
    of: &MessageDescriptor,
    data: &mut [u8],
    (ccsid, encoding): (i32, i32),
) {
    for (at, number) in [(12, encoding), (16, ccsid)] {
        let bytes = if is_big_endian(of) { number.to_be_bytes() } else { number.to_le_bytes() };
        if let Some(field) = data.get_mut(at..at + 4) {
            field.copy_from_slice(&bytes);
        }
    }
}

/// What follows a header.
struct Chain {
    format: [u8; 8],
    ccsid: i32,
    encoding: i32,
}

fn header(folders: &[&str], after: &Chain) -> Vec<u8> {
    let mut out = Vec::with_capacity(FIXED_BYTES + 200);
    out.extend_from_slice(b"RFH ");
    out.extend_from_slice(&2_i32.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&after.encoding.to_le_bytes());
    out.extend_from_slice(&after.ccsid.to_le_bytes());
    out.extend_from_slice(&after.format);
    out.extend_from_slice(&0_i32.to_le_bytes());
    out.extend_from_slice(&UTF_8.to_le_bytes());
    for folder in folders {
        let size = folder.len().next_multiple_of(4);
        out.extend_from_slice(&(size as i32).to_le_bytes());
        out.extend_from_slice(folder.as_bytes());
        out.resize(out.len() + size - folder.len(), b' ');
    }
    let length = (out.len() as i32).to_le_bytes();
    out[8..12].copy_from_slice(&length);
    out
}

/// The header of properties, for data that `of` describes; `of` then describes both. Nothing if
/// there are no properties.
pub(crate) fn write(properties: &Properties, of: &mut MessageDescriptor) -> Vec<u8> {
    if properties.is_empty() {
        return Vec::new();
    }
    let mut folders: Vec<(String, String)> = Vec::new();
    for one in properties.iter() {
        let (folder, name) = one.name.split_once('.').unwrap_or(("usr", &one.name));
        if !folders.iter().any(|(known, _)| known == folder) {
            folders.push((folder.to_owned(), String::new()));
        }
        let known = folders.iter_mut().find(|(known, _)| known == folder);
        if let Some((_, text)) = known {
            write_element(text, name, &one.value);
        }
    }
    let texts: Vec<String> =
        folders.iter().map(|(name, text)| format!("<{name}>{text}</{name}>")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let after = Chain { format: of.format, ccsid: of.ccsid, encoding: of.encoding };
    let out = header(&texts, &after);
    of.format = value::format::RF_HEADER_2;
    of.encoding = value::ENCODING_NATIVE;
    of.ccsid = UTF_8;
    out
}

fn write_element(out: &mut String, name: &str, value: &PropertyValue) {
    use std::fmt::Write as _;
    let (kind, text) = match value {
        PropertyValue::Null => (" xsi:nil='true'", String::new()),
        PropertyValue::Boolean(yes) => (" dt='boolean'", u8::from(*yes).to_string()),
        PropertyValue::Bytes(bytes) => (" dt='bin.hex'", base::hex::upper(bytes)),
        PropertyValue::Int8(number) => (" dt='i1'", number.to_string()),
        PropertyValue::Int16(number) => (" dt='i2'", number.to_string()),
        PropertyValue::Int32(number) => (" dt='i4'", number.to_string()),
        PropertyValue::Int64(number) => (" dt='i8'", number.to_string()),
        PropertyValue::Float32(number) => (" dt='r4'", number.to_string()),
        PropertyValue::Float64(number) => (" dt='r8'", number.to_string()),
        PropertyValue::String(text) => ("", escape(text)),
    };
    // Groups within a folder are elements, too.
    let parts: Vec<&str> = name.split('.').collect();
    let (last, groups) = parts.split_last().unwrap_or((&name, &[]));
    groups.iter().for_each(|group| {
        let _ = write!(out, "<{group}>");
    });
    let _ = write!(out, "<{last}{kind}>{text}</{last}>");
    groups.iter().rev().for_each(|group| {
        let _ = write!(out, "</{group}>");
    });
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn unescape(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    plain.replace("&apos;", "'").replace("&amp;", "&")
}

/// Groups within groups, at most.
const DEPTH_MAX: usize = 32;

/// A folder's name and its properties.
fn read_folder(text: &str) -> Option<(&str, Vec<Property>)> {
    let (name, _, rest) = opening(text)?;
    let mut found = Vec::new();
    let rest = read_elements(name, name, rest, 0, &mut found)?;
    rest.trim().is_empty().then_some((name, found))
}

/// Name, attributes and what follows, of the tag that a text begins with.
fn opening(text: &str) -> Option<(&str, &str, &str)> {
    let inner = text.trim_start().strip_prefix('<')?;
    let (tag, rest) = inner.split_once('>')?;
    let (name, attributes) = tag.split_once([' ', '\t', '\n']).unwrap_or((tag, ""));
    let named = !name.is_empty() && !name.starts_with(['/', '!', '?']);
    named.then_some((name, attributes, rest))
}

/// Reads elements up to the closing tag of `name`, and what follows that.
fn read_elements<'t>(
    name: &str,
    path: &str,
    mut text: &'t str,
    depth: usize,
    found: &mut Vec<Property>,
) -> Option<&'t str> {
    loop {
        let trimmed = text.trim_start();
        if let Some(rest) = trimmed.strip_prefix("</") {
            return rest.strip_prefix(name)?.trim_start().strip_prefix('>');
        }
        let (inner, attributes, rest) = opening(trimmed)?;
        let path = format!("{path}.{}", inner.trim_end_matches('/'));
        if inner.ends_with('/') || attributes.ends_with('/') {
            let value = typed(attributes.trim_end_matches('/'), "")?;
            found.push(Property { name: public(&path), value });
            text = rest;
            continue;
        }
        let content_end = rest.find('<')?;
        let (content, behind) = rest.split_at(content_end);
        text = match behind.strip_prefix("</") {
            Some(closing) => {
                let closed = closing.strip_prefix(inner)?.trim_start().strip_prefix('>')?;
                let value = typed(attributes, &unescape(content))?;
                found.push(Property { name: public(&path), value });
                closed
            }
            None if depth < DEPTH_MAX => read_elements(inner, &path, rest, depth + 1, found)?,
            None => return None,
        };
    }
}

fn public(path: &str) -> String {
    super::without_usr(path).to_owned()
}

fn typed(attributes: &str, text: &str) -> Option<PropertyValue> {
    if attributes.contains("xsi:nil") && attributes.contains("true") {
        return Some(PropertyValue::Null);
    }
    let kind = attributes.split_once("dt=").map(|(_, rest)| rest);
    let quoted = kind.and_then(|rest| {
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        rest[1..].split(quote).next()
    });
    let text_of = |text: &str| text.trim().to_owned();
    Some(match quoted.unwrap_or("string") {
        "boolean" => PropertyValue::Boolean(matches!(text.trim(), "1" | "true" | "TRUE")),
        "bin.hex" => PropertyValue::Bytes(base::hex::read(&text_of(text))?),
        "i1" => PropertyValue::Int8(text.trim().parse().ok()?),
        "i2" => PropertyValue::Int16(text.trim().parse().ok()?),
        "i4" | "int" => PropertyValue::Int32(text.trim().parse().ok()?),
        "i8" => PropertyValue::Int64(text.trim().parse().ok()?),
        "r4" => PropertyValue::Float32(text.trim().parse().ok()?),
        "r8" => PropertyValue::Float64(text.trim().parse().ok()?),
        _ => PropertyValue::String(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_every_type_come_back() {
        let mut all = Properties::default();
        let values = [
            ("nothing", PropertyValue::Null),
            ("yes", PropertyValue::Boolean(true)),
            ("raw", PropertyValue::Bytes(vec![0, 255])),
            ("i1", PropertyValue::Int8(-7)),
            ("i2", PropertyValue::Int16(300)),
            ("i4", PropertyValue::Int32(i32::MIN)),
            ("i8", PropertyValue::Int64(i64::MAX)),
            ("r4", PropertyValue::Float32(0.5)),
            ("r8", PropertyValue::Float64(-1e300)),
            ("text", PropertyValue::String("<a & 'b'>".into())),
            ("jms.Dst", PropertyValue::String("queue:///Q".into())),
            ("usr.deep.er", PropertyValue::Int32(1)),
        ];
        for (name, value) in values {
            all.set(name, value).unwrap();
        }
        let mut of = MessageDescriptor { format: value::format::STRING, ..Default::default() };
        let mut data = write(&all, &mut of);
        let bytes = data.len();
        data.extend_from_slice(b"body");
        let back = split(&of, &data).unwrap().unwrap();
        let mut sorted: Vec<_> = back.properties.iter().cloned().collect();
        let mut expected: Vec<_> = all.iter().cloned().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        expected.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(sorted, expected);
        assert_eq!((back.format, back.data_at), (value::format::STRING, bytes));
        assert!(back.remainder.is_empty());
    }

    #[test]
    fn folders_of_commands_stay_where_they_are() {
        let after = Chain { format: value::format::NONE, ccsid: 1_208, encoding: 546 };
        let data =
            header(&["<psc><Command>Publish</Command></psc>", "<usr><a>1</a></usr>"], &after);
        let format = value::format::RF_HEADER_2;
        let of = MessageDescriptor { format, ..Default::default() };
        let back = split(&of, &data).unwrap().unwrap();
        assert_eq!(back.properties.iter().count(), 1);
        assert_eq!(back.remainder, header(&["<psc><Command>Publish</Command></psc>"], &after));
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let format = value::format::RF_HEADER_2;
        let of = MessageDescriptor { format, ..Default::default() };
        let after = Chain { format, ccsid: 0, encoding: 0 };
        let good = header(&["<usr><a dt='i4'>1</a></usr>"], &after);
        for cut in 0..good.len() {
            assert!(split(&of, &good[..cut]).is_err(), "{cut}");
        }
        for folder in
            ["<usr><a dt='i4'>x</a></usr>", "<usr><a>1</b></usr>", "usr", "<usr><a></usr>"]
        {
            let bad = header(&[folder], &after);
            assert_eq!(split(&of, &bad).unwrap_err().0, Reason::RFH_FORMAT_ERROR, "{folder}");
        }
    }
}
