//! The smallest parts of stored records: how numbers and truth values become bytes.
//!
//! | | bytes |
//! |---|---|
//! | number | its own, little-endian |
//! | truth | 1: 0 or 1, nothing else is read |
//! | what may be missing | whether it is there, then what it is |
//!
//! Texts and lists have their lengths from the format that they are in, so each format writes
//! them by itself: a crate makes its own trait here and adds its types.

/// Makes a trait of what goes to bytes and comes back, for these numbers, for truth values, and
/// for what may be missing.
///
/// ```
/// holdfast_base::coding! { trait Coding for u8 u16 }
///
/// let mut out = Vec::new();
/// Some(0x0102_u16).put(&mut out);
/// assert_eq!(out, [1, 2, 1]);
/// let mut reader = holdfast_base::bytes::Reader::new(&out);
/// assert_eq!(Option::<u16>::get(&mut reader), Some(Some(0x0102)));
/// assert_eq!(u8::get(&mut reader), None);
/// ```
#[macro_export]
macro_rules! coding {
    ($visible:vis trait $name:ident for $($number:ident)*) => {
        /// Something that goes to bytes and comes back.
        $visible trait $name: Sized {
            /// Appends its bytes.
            fn put(&self, out: &mut Vec<u8>);
            /// Reads it; `None` if the bytes end too early or are none of it.
            fn get(reader: &mut $crate::bytes::Reader<'_>) -> Option<Self>;
        }

        $(
            impl $name for $number {
                fn put(&self, out: &mut Vec<u8>) {
                    out.extend_from_slice(&self.to_le_bytes());
                }
                fn get(reader: &mut $crate::bytes::Reader<'_>) -> Option<$number> {
                    reader.$number()
                }
            }
        )*

        impl $name for bool {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(u8::from(*self));
            }
            fn get(reader: &mut $crate::bytes::Reader<'_>) -> Option<bool> {
                match reader.u8()? {
                    0 => Some(false),
                    1 => Some(true),
                    _ => None,
                }
            }
        }

        impl<T: $name> $name for Option<T> {
            fn put(&self, out: &mut Vec<u8>) {
                self.is_some().put(out);
                if let Some(value) = self {
                    value.put(out);
                }
            }
            fn get(reader: &mut $crate::bytes::Reader<'_>) -> Option<Option<T>> {
                Some(if bool::get(reader)? { Some(T::get(reader)?) } else { None })
            }
        }
    };
}
