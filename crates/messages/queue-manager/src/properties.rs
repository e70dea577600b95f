//! Message properties: named, typed values that travel with a message.

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the names say it
pub enum PropertyValue {
    Null,
    Boolean(bool),
    Bytes(Vec<u8>),
    Int8(i8),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Float32(f32),
    Float64(f64),
    String(String),
}

/// A property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name, with the folder in front: `usr` is that of names without one.
    pub name: String,
    /// Its value.
    pub value: PropertyValue,
}

/// Which property an inquiry is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum InquireOptions {
    #[default]
    First,
    Next,
    UnderCursor,
}
