//! Lines and printers: byte for byte what the run time's own files are.

use crate::stage::{Stage, With};

#[test]
fn pages_are_the_run_times() {
    let [ours, theirs] = [With::Library, With::RunTime].map(|with| {
        let stage = Stage::new(&format!("pages-{with:?}"));
        (stage.play("pages", with, &[]), stage.bytes("PFILE"))
    });
    assert!(ours.0.contains("00 0000"), "{}", ours.0);
    assert_eq!(ours, theirs);
}

#[test]
fn printed_files_have_the_bytes_that_the_run_time_writes() {
    let [ours, theirs] = [With::Library, With::RunTime].map(|with| {
        let stage = Stage::new(&format!("print-{with:?}"));
        stage.write("TFILE", b"short\n\nexactly 12 b\r\nmuch too long a line\nno end");
        let printed = stage.play("print", with, &[]);
        (printed, stage.bytes("LFILE"), stage.bytes("SFILE"))
    });
    assert_eq!(String::from_utf8_lossy(&ours.1), String::from_utf8_lossy(&theirs.1));
    assert_eq!(String::from_utf8_lossy(&ours.2), String::from_utf8_lossy(&theirs.2));
    let expected = "EXTENDED 00\nINPUT 00\n00 short       <\n00             <\n\
                    00 exactly 12 b<\n04 much too lon<\n00 no end      <\n10 no end      <\n";
    assert_eq!(ours.0, expected);
    // The run time says nothing of a line that it has cut.
    assert_eq!(theirs.0, expected.replace("04 much", "00 much"));
}
