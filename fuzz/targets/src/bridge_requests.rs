//! Messages on bridge queues: a header, then segments, in any byte order and code page.

use ims_bridge::iih::{IMS, IMS_VAR_STRING, Iih, Reading};
use ims_bridge::request::{Request, write_segments};
use queue_manager::MessageDescriptor;

const FORMATS: [[u8; 8]; 4] = [IMS, IMS_VAR_STRING, *b"MQSTR   ", [b' '; 8]];
const PAGES: [i32; 4] = [1_208, 37, 1_047, 1_200];

/// What is accepted has the segments that it came with; other bytes are refused.
///
/// # Panics
/// If it has others.
pub fn fuzz(bytes: &[u8]) {
    let Some((how, data)) = bytes.split_first() else { return };
    let descriptor = MessageDescriptor {
        format: FORMATS[usize::from(how & 3)],
        ccsid: PAGES[usize::from(how >> 2 & 3)],
        encoding: if how & 16 == 0 { 785 } else { 546 },
        ..MessageDescriptor::default()
    };
    let Ok(request) = Request::read(&descriptor, data) else { return };
    let written = write_segments(&request.segments, request.reading.order);
    assert!(data.ends_with(&written), "the segments are those of the message");
    let front = data.len() - written.len();
    assert_eq!(front, if request.header.is_some() { 84 } else { 0 });
    if let Some(header) = &request.header {
        let again = Iih::read(&header.write(request.reading), request.reading);
        assert_eq!(again.as_ref(), Some(header));
    }
    let _ = request.command();
}

/// A request with a header and one without, in both byte orders.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let segments = b"\0\x0b\0\0PART 12\0\x06\0\0AB".to_vec();
    let little = b"\x0b\0\0\0PART 12".to_vec();
    let header = Reading::of(785, 1_208).map(|how| Iih::default().write(how));
    let with_header = [vec![0], header.unwrap_or_default(), segments.clone()].concat();
    vec![with_header, [vec![1], segments].concat(), [vec![17], little].concat()]
}
