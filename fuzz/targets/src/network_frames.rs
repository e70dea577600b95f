//! Messages of IMS Connect from the network, and what its clients read.

use codec::CodePage;
use ims_connect::wire::{
    Function, HEAD_BYTES, Irm, Pages, Request, Response, Rsm, exit_id, is_ping, ping,
    response_length, word,
};
use otma::{Encoding, Segments};

/// What is a message can be said again and is the same; what is none is refused.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    let pages = Pages::new(CodePage::Cp037);
    for encoding in [Encoding::Ascii, Encoding::Ebcdic] {
        if let Ok(request) = Request::decode(bytes, encoding, &pages) {
            let again = request.encode(encoding, &pages);
            let back = Request::decode(&again, encoding, &pages);
            assert_eq!(back.as_ref().map(|back| &back.segments), Ok(&request.segments));
            assert!(again.len() <= bytes.len() + 100, "it does not grow");
            let _ = word(&request.segments, encoding, &pages);
            let _ = is_ping(&request.segments, encoding, &pages);
        }
    }
    if let Some(head) = bytes.first_chunk::<HEAD_BYTES>() {
        let _ = exit_id(head, &pages);
    }
    if let Ok(response) = Response::decode(bytes, &pages) {
        let again = response.encode(false, Encoding::Ascii, &pages);
        assert_eq!(response_length(&again, &pages).ok().flatten(), Some(again.len()));
        let back = Response::decode(&again, &pages).expect("it was a response");
        assert_eq!(back.status, response.status);
    }
}

/// A request of each level and function, a ping, and responses.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let pages = Pages::new(CodePage::Cp037);
    let mut data = Segments::new();
    let _ = data.push([0, 0], b"PART    AN960C10");
    let mut seeds = Vec::new();
    for (number, function) in Function::all().into_iter().enumerate() {
        let mut irm = Irm::new((number % 6) as u8, *b"*SAMPL1*");
        irm.function = function;
        let segments = if function.has_data() { data.clone() } else { Segments::new() };
        let encoding = if number % 2 == 0 { Encoding::Ascii } else { Encoding::Ebcdic };
        seeds.push(Request { irm, segments }.encode(encoding, &pages));
    }
    let irm = Irm::new(0, *b"*SAMPLE*");
    let segments = ping(Encoding::Ascii, &pages);
    seeds.push(Request { irm, segments }.encode(Encoding::Ascii, &pages));
    for response in [Response::complete(data, 0x20), Response::status(Rsm::default())] {
        seeds.push(response.encode(false, Encoding::Ascii, &pages));
    }
    seeds
}
