//! How the records of a file of the machine look.

/// Bytes of the longest record of a file.
pub const RECORD_BYTES_MAX: usize = 16 << 20;

/// How the records of a file look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Of so many bytes each.
    Fixed(u32),
    /// Behind record descriptor words.
    Variable,
    /// The same, in blocks behind block descriptor words.
    Blocked,
    /// Of lines.
    Lines,
}

impl Form {
    /// By its name: `text`, `vb`, `bdw`, `fb=80`.
    #[must_use]
    pub fn named(name: &str) -> Option<Form> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "text" => Some(Form::Lines),
            "vb" => Some(Form::Variable),
            "bdw" => Some(Form::Blocked),
            _ => {
                let bytes: u32 = name.strip_prefix("fb=")?.parse().ok()?;
                (1..=RECORD_BYTES_MAX as u32).contains(&bytes).then_some(Form::Fixed(bytes))
            }
        }
    }
}
