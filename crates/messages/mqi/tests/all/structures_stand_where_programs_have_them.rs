//! Offsets, lengths and defaults: of the tables, of the header as a C compiler sees it, and of the
//! facts.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mqi::structures::{Cno, Gmo, Md, Od, Pmo, Sd, layouts};
use mqi::table::{Invalid, Structure};

/// Lengths of the newest versions, as the facts have them.
const LENGTHS: &[(&str, usize)] = &[
    ("MQMD", 364),
    ("MQOD", 424),
    ("MQPMO", 184),
    ("MQGMO", 112),
    ("MQCNO", 272),
    ("MQSD", 344),
    ("MQSRO", 16),
    ("MQSTS", 280),
    ("MQBO", 12),
    ("MQDLH", 172),
    ("MQMDE", 72),
    ("MQXQH", 428),
    ("MQTM", 684),
    ("MQTMC2", 732),
    ("MQRFH", 32),
    ("MQRFH2", 36),
    ("MQCSP", 104),
    ("MQSCO", 672),
    ("MQCD", 1992),
    ("MQCIH", 180),
    ("MQIIH", 84),
    ("MQRMH", 108),
    ("MQWIH", 120),
    ("MQCMHO", 12),
    ("MQDMHO", 12),
    ("MQIMPO", 64),
    ("MQSMPO", 20),
    ("MQPD", 24),
    ("MQCBD", 168),
    ("MQCBC", 64),
    ("MQCTLO", 24),
];

#[test]
fn lengths_are_those_of_the_interface() {
    for (name, len) in LENGTHS {
        let layout = layouts().into_iter().find(|layout| layout.name == *name).unwrap();
        assert_eq!(layout.len(), *len, "{name}");
    }
    assert_eq!(Od::LENGTHS, [168, 208, 344, 424]);
    assert_eq!(Pmo::LENGTHS, [128, 160, 184]);
    assert_eq!(Gmo::LENGTHS, [72, 80, 100, 112]);
    assert_eq!(Cno::LENGTHS, [12, 24, 152, 168, 200, 224, 256, 272]);
}

#[test]
fn fields_follow_each_other_without_overlap() {
    for layout in layouts() {
        let mut at = 0;
        for field in &layout.fields {
            assert!(field.offset >= at, "{}.{}", layout.name, field.name);
            let gap = field.offset - at;
            assert!(gap < 8, "{}.{} stands {gap} bytes too far", layout.name, field.name);
            at = field.end();
        }
        assert!(at <= layout.len() && layout.len() - at < 8, "{}", layout.name);
    }
}

/// A C program that prints offset and length of every field.
fn program() -> String {
    let mut text =
        "#include <stdio.h>\n#include <stddef.h>\n#include <cmqc.h>\n#include <cmqxc.h>\n\
                    #include <cmqcfc.h>\n#include <cmqstrc.h>\nint main(void) {\n"
            .to_owned();
    for layout in layouts() {
        let of = layout.name;
        let _ = writeln!(text, "  {{ {of} s = {{ {of}_DEFAULT }}; (void)s;");
        let _ = writeln!(text, "  printf(\"{of} %zu\\n\", sizeof({of}));");
        for field in &layout.fields {
            let name = field.name;
            let _ = writeln!(
                text,
                "  printf(\"{of}.{name} %zu %zu\\n\", offsetof({of}, {name}), sizeof(s.{name}));"
            );
        }
        text.push_str("  }\n");
    }
    text.push_str("  return MQRC_STR(2033)[0] == 'M' ? 0 : 1;\n}\n");
    text
}

fn run(command: &mut Command) -> String {
    let done = seam::process::output(command, Duration::from_secs(60)).unwrap();
    let printed = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{printed}");
    assert!(printed.is_empty(), "{printed}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn a_c_compiler_sees_the_header_as_the_tables_are() {
    let folder = std::env::temp_dir().join(format!("mqi-header-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("offsets.c"), folder.join("offsets"));
    std::fs::write(&source, program()).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mqm/include");
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"];
    run(Command::new("gcc")
        .args(flags)
        .arg("-I")
        .arg(&include)
        .arg(&source)
        .arg("-o")
        .arg(&binary));
    let mut expected = String::new();
    for layout in layouts() {
        let _ = writeln!(expected, "{} {}", layout.name, layout.len());
        for field in &layout.fields {
            let (name, len) = (field.name, field.kind.len());
            let _ = writeln!(expected, "{}.{name} {} {len}", layout.name, field.offset);
        }
    }
    assert_eq!(run(&mut Command::new(&binary)), expected);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn defaults_are_those_of_the_interface() {
    let md = Md::initial().bytes();
    assert_eq!((md.len(), &md[..4], &md[4..8]), (324, &b"MD  "[..], &[1, 0, 0, 0][..]));
    assert_eq!(&md[12..20], &[8, 0, 0, 0, 255, 255, 255, 255]);
    assert_eq!(&md[24..28], &546_i32.to_le_bytes());
    assert_eq!(&md[40..48], &[255, 255, 255, 255, 2, 0, 0, 0]);
    let md = Md::initial();
    assert_eq!((md.msg_seq_number, md.original_length), (1, -1));
    assert_eq!(&Od::initial().dynamic_q_name[..6], b"AMQ.* ");
    assert_eq!(Od::initial().object_type, 1);
    assert_eq!((Pmo::initial().timeout, Pmo::initial().pub_level), (-1, 9));
    assert_eq!((Gmo::initial().match_options, Gmo::initial().returned_length), (3, -1));
    let sd = Sd::initial();
    assert_eq!((sd.sub_expiry, sd.pub_priority, sd.sub_level), (-1, -3, 1));
}

/// Whatever a structure of an old version is followed by is not its own.
#[test]
fn nothing_past_the_stated_version_is_read_or_written() {
    fn check<T: Structure + std::fmt::Debug>(change: fn(&mut T)) {
        for (index, len) in T::LENGTHS.iter().enumerate() {
            let newest = *T::LENGTHS.last().unwrap();
            let mut bytes = vec![0xEE; newest + 64];
            T::initial().put_all(&mut bytes[..*len]);
            let version = i32::try_from(index + 1).unwrap();
            bytes[4..8].copy_from_slice(&version.to_le_bytes());
            let mut value = T::read(&bytes).unwrap();
            let before = value.clone();
            let mut bare = T::initial();
            bare.take(&bytes[..*len]).unwrap();
            assert_eq!(value, bare, "fields that an old version has not are read");
            change(&mut value);
            let old = bytes.clone();
            value.give(&before, &mut bytes[..*len]);
            assert_eq!(&bytes[*len..], &old[*len..]);
            assert_eq!(T::read(&bytes[..*len - 1]), Err(Invalid::Short));
        }
    }
    check::<Md>(|md| (md.msg_id, md.group_id, md.offset) = ([7; 24], [8; 24], 9));
    check::<Od>(|od| {
        (od.object_name, od.resolved_q_name, od.resolved_type) = ([1; 48], [2; 48], 3);
    });
    check::<Pmo>(|pmo| (pmo.resolved_q_name, pmo.recs_present, pmo.action) = ([1; 48], 2, 3));
    check::<Gmo>(|gmo| (gmo.match_options, gmo.msg_token, gmo.msg_handle) = (1, [2; 16], 3));
    check::<Cno>(|cno| (cno.connection_id, cno.appl_name) = ([1; 24], [2; 28]));
}

#[test]
fn what_is_no_structure_is_refused() {
    let mut md = Md::initial().bytes();
    assert_eq!(Md::read(&md[..3]), Err(Invalid::Short));
    for version in [0, 3, -1, i32::MAX, i32::MIN] {
        md[4..8].copy_from_slice(&version.to_le_bytes());
        assert_eq!(Md::read(&md), Err(Invalid::Version), "{version}");
    }
    md[0] = b'm';
    assert_eq!(Md::read(&md), Err(Invalid::Identifier));
}
