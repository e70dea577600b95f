//! Names and types, spelled.

use copybook::ValueKind;
use tokio_postgres::types::Type;

/// A statement and the types of what is given to it.
pub(crate) type Spelled = (String, Vec<Type>);

/// The most digits behind the point that a declared type takes here.
const SCALE_MAX: u32 = 1000;

/// A name between quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The type of a field's column.
pub(crate) fn column_type(kind: ValueKind) -> String {
    match kind {
        ValueKind::Text => "text".into(),
        ValueKind::Decimal { digits, scale } => {
            format!("numeric({},{})", digits.clamp(1, SCALE_MAX), scale.min(SCALE_MAX))
        }
        ValueKind::Single => "real".into(),
        ValueKind::Double => "double precision".into(),
        ValueKind::Bytes => "bytea".into(),
    }
}

/// Text as a value of a field's column.
pub(crate) fn cast(text: &str, kind: ValueKind) -> String {
    match kind {
        ValueKind::Text => text.into(),
        ValueKind::Decimal { .. } => format!("{text}::numeric"),
        other => format!("{text}::{}", column_type(other)),
    }
}
