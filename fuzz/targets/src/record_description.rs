//! COBOL record descriptions and maps of them: text that people bring along.

use codec::CodePage;
use codec::transcode::Transcoder;
use copybook::{Bundle, Copybook, Direction, Fields, Findings, Item};

/// Members that copy themselves would else take long.
const MEMBER_BYTES_MAX: usize = 200;
/// Records of which values are looked at.
const RECORD_BYTES_MAX: usize = 1 << 16;

/// Bytes are a description, which may copy itself; a map; and a bundle. What is described lies
/// within its record, and what is found convertible comes back.
///
/// # Panics
/// If it does not.
pub fn fuzz(bytes: &[u8]) {
    let own = &bytes[..bytes.len().min(MEMBER_BYTES_MAX)];
    let member = |name: &str| name.starts_with('M').then(|| own.to_vec());
    if let Ok(book) = Copybook::parse("DESCRIPTION", bytes, &member) {
        for record in &book.records {
            let end = record.offset + record.bytes_max();
            record.visit(&mut |item| {
                let inner = item.offset + item.bytes_max();
                assert!(inner <= end, "{} ends at {inner} in {end} bytes", item.title());
            });
            values(record, bytes);
        }
    }
    let described = |name: &str| match name {
        "SELF" => Some(bytes.to_vec()),
        _ => member(name),
    };
    let map = "[segment.A]\ncopybook = \"SELF\"\n";
    if let Ok(bundle) = Bundle::gather(map, &described) {
        assert_eq!(Bundle::decode(&bundle.encode()).as_ref(), Ok(&bundle));
        convert(&bundle, bytes);
    }
    let _ = Bundle::decode(bytes).and_then(|bundle| bundle.map());
    if let Ok(text) = std::str::from_utf8(bytes) {
        let known = |_: &str| Some(b"       01 A. 05 K PIC X. 05 N PIC S9(4).".to_vec());
        if let Ok(bundle) = Bundle::gather(text, &known) {
            convert(&bundle, bytes);
        }
    }
}

/// Bytes come back over themselves, whatever values they have.
fn values(record: &Item, data: &[u8]) {
    for page in [CodePage::Ascii, CodePage::Cp037] {
        let Ok(fields) = Fields::of(record, page) else { continue };
        if fields.bytes_max() > RECORD_BYTES_MAX {
            continue;
        }
        let values = fields.values(data);
        let again = fields.record(&values, Some(data)).map_err(|field| &field.name);
        assert_eq!(again.as_deref(), Ok(data));
        if let Ok(made) = fields.record(&values, None) {
            assert_eq!(fields.record(&fields.values(&made), None).map_err(|f| &f.name), Ok(made));
        }
    }
}

fn convert(bundle: &Bundle, data: &[u8]) {
    let page = Transcoder::new(CodePage::Cp037).expect("it is EBCDIC");
    let map = bundle.map().expect("it was one when it was gathered");
    for name in map.names().map(str::to_owned).collect::<Vec<_>>() {
        let mapped = map.segment(&name).expect("it was named");
        for (way, back) in [
            (Direction::FromEbcdic, Direction::ToEbcdic),
            (Direction::ToEbcdic, Direction::FromEbcdic),
        ] {
            let mut findings = Findings::default();
            mapped.check(&page, way, data, 1, &mut findings);
            let mut converted = data.to_vec();
            if !mapped.convert(&page, way, &mut converted) {
                assert!(findings.wrong > 0);
                continue;
            }
            let _ = mapped.convert(&page, back, &mut converted);
            if findings == Findings::default() && mapped.classes(0, data.len()).is_some() {
                assert_eq!(converted, data, "{name}");
            }
        }
    }
}

/// Descriptions with everything in them, a map, and a bundle.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let all = "       01  A.\n           05  N PIC S9(4) COMP.\n           05  T OCCURS 0 TO 9 \
               DEPENDING ON N.\n               10  X PIC X(3).\n               10  Z PIC S9(3) \
               SIGN LEADING.\n           05  R PIC X(9).\n               88  C VALUE 'A' THRU \
               'B'.\n           05  S REDEFINES R.\n               10  P PIC S9(5)V99 COMP-3 \
               SYNC.\n               10  FILLER PIC -(3)9.9.\n           COPY M REPLACING ==:T:== \
               BY ==X== LEADING ==A== BY ==B==.\n";
    let small = "01 A. 05 K PIC X. 05 N PIC S9(4).";
    let map = "codepage = \"500\"\n[segment.A]\ncopybook = \"B\"\n[[segment.B.record]]\nwhen = \
               \"K = 'X', 'Y'\"\ncopybook = \"B\"\n[[segment.B.record]]\ncopybook = \"B\"\n";
    let member = |_: &str| Some(small.as_bytes().to_vec());
    let bundle = Bundle::gather(map, &member).expect("the map is right");
    vec![all.into(), small.into(), map.into(), bundle.encode()]
}
