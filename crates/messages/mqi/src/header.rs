//! C headers, made from the declarations of structures and the lists of constants.
//!
//! | header | what it has |
//! |---|---|
//! | `cmqc.h` | types, constants of the calls, structures and their initial values, the calls |
//! | `cmqxc.h` | what describes channels |
//! | `cmqcfc.h` | constants and structures of command messages |
//! | `cmqstrc.h` | names of numbers, by their prefix |

use std::fmt::Write as _;

use crate::constants::{self, Constant};
use crate::structures::layouts;
use crate::table::{Field, Kind, Layout};

const NOTE: &str =
    "/* Holdfast: the message queue interface. Made from the tables of crate mqi. */\n";

/// Lengths that have a type of their own for characters.
const CHARACTERS: [usize; 12] = [4, 8, 12, 20, 28, 32, 48, 64, 128, 256, 264, 1024];
/// Lengths that have a type of their own for bytes.
const BYTES: [usize; 8] = [4, 8, 16, 24, 32, 40, 48, 128];

/// `cmqc.h`.
#[must_use]
pub fn cmqc() -> String {
    let mut out = begin("CMQC_H");
    out.push_str(include_str!("text/types.h"));
    for len in CHARACTERS {
        let _ = writeln!(out, "typedef MQCHAR MQCHAR{len}[{len}];");
        let _ = writeln!(out, "typedef MQCHAR{len} MQPOINTER PMQCHAR{len};");
    }
    for len in BYTES {
        let _ = writeln!(out, "typedef MQBYTE MQBYTE{len}[{len}];");
        let _ = writeln!(out, "typedef MQBYTE{len} MQPOINTER PMQBYTE{len};");
    }
    out.push('\n');
    constants::interface().for_each(|one| define(&mut out, one));
    let all: Vec<Layout> = layouts().into_iter().filter(|one| one.name != "MQCD").collect();
    declare(&mut out, &all, &["MQMD1", "MQMD2", "MQCD"]);
    let of = |name: &str| all.iter().find(|layout| layout.name == name).cloned();
    if let Some(mut md) = of("MQMD") {
        structure(&mut out, &md);
        md.name = "MQMD2";
        structure(&mut out, &md);
        md.name = "MQMD1";
        md.fields.retain(|field| field.end() <= 324);
        md.lengths = &[324];
        structure(&mut out, &md);
    }
    all.iter().filter(|layout| layout.name != "MQMD").for_each(|one| structure(&mut out, one));
    out.push_str(include_str!("text/calls.h"));
    end(out)
}

/// `cmqxc.h`.
#[must_use]
pub fn cmqxc() -> String {
    let mut out = begin("CMQXC_H");
    out.push_str("#include <cmqc.h>\n\n");
    layouts().iter().filter(|one| one.name == "MQCD").for_each(|one| structure(&mut out, one));
    out.push_str("#define MQCD_CLIENT_CONN_DEFAULT MQCD_DEFAULT\n");
    end(out)
}

/// `cmqcfc.h`.
#[must_use]
pub fn cmqcfc() -> String {
    let mut out = begin("CMQCFC_H");
    out.push_str("#include <cmqc.h>\n\n");
    constants::commands().for_each(|one| define(&mut out, one));
    out.push_str(include_str!("text/commands.h"));
    end(out)
}

/// `cmqstrc.h`: for each prefix, a function from a number to its name.
#[must_use]
pub fn cmqstrc() -> String {
    let mut out = begin("CMQSTRC_H");
    out.push_str("#include <cmqc.h>\n#include <cmqcfc.h>\n\n");
    let mut prefixes: std::collections::BTreeMap<&str, Vec<(&str, i64)>> =
        std::collections::BTreeMap::new();
    for (name, constant) in constants::interface().chain(constants::commands()) {
        if let (Some((prefix, _)), Constant::Number(number)) = (name.split_once('_'), constant) {
            let of = prefixes.entry(prefix).or_default();
            if of.iter().all(|(_, known)| *known != number) {
                of.push((name, number));
            }
        }
    }
    for (prefix, names) in prefixes {
        let _ = writeln!(out, "static inline char *{prefix}_STR(MQLONG v)\n{{\n  switch (v) {{");
        for (name, number) in names {
            let _ = writeln!(out, "  case {number}: return \"{name}\";");
        }
        out.push_str("  default: return \"\";\n  }\n}\n");
    }
    end(out)
}

fn begin(guard: &str) -> String {
    format!(
        "{NOTE}#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
    )
}

fn end(mut out: String) -> String {
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    out
}

fn define(out: &mut String, (name, constant): (&str, Constant)) {
    let _ = match constant {
        Constant::Number(value) if i32::try_from(value).is_ok() => match value {
            // The least number cannot be written as one.
            -2_147_483_648 => writeln!(out, "#define {name} (-2147483647-1)"),
            0.. => writeln!(out, "#define {name} {value}"),
            _ => writeln!(out, "#define {name} ({value})"),
        },
        Constant::Number(value) => writeln!(out, "#define {name} {value}L"),
        Constant::Text(text) => {
            let _ = writeln!(out, "#define {name} \"{text}\"");
            writeln!(out, "#define {name}_ARRAY {}", characters(text.as_bytes()))
        }
        Constant::Character(byte) => writeln!(out, "#define {name} {}", character(byte)),
        Constant::Zero(len) => {
            let zeros = "\\0".repeat(len);
            let _ = writeln!(out, "#define {name} \"{zeros}\"");
            writeln!(out, "#define {name}_ARRAY {}", characters(&vec![0; len]))
        }
    };
}

fn declare(out: &mut String, all: &[Layout], more: &[&str]) {
    out.push('\n');
    for name in all.iter().map(|layout| layout.name).chain(more.iter().copied()) {
        let _ = writeln!(out, "typedef struct tag{name} {name};");
        let _ = writeln!(out, "typedef {name} MQPOINTER P{name};");
        let _ = writeln!(out, "typedef P{name} MQPOINTER PP{name};");
    }
    out.push_str("typedef struct tagMQCHARV MQCHARV;\ntypedef MQCHARV MQPOINTER PMQCHARV;\n\n");
    out.push_str(
        "struct tagMQCHARV {\n  MQPTR VSPtr;\n  MQLONG VSOffset;\n  MQLONG VSBufSize;\n  \
         MQLONG VSLength;\n  MQLONG VSCCSID;\n};\n#define MQCHARV_DEFAULT NULL, 0, 0, 0, 1208\n\n",
    );
}

fn structure(out: &mut String, layout: &Layout) {
    let name = layout.name;
    if name == "MQCD" {
        let _ = writeln!(out, "/* {}: see cmqc.h for its names. */", layout.about);
    }
    let _ = writeln!(out, "/* {name} {}. */", layout.about);
    let _ = writeln!(out, "struct tag{name} {{");
    for field in &layout.fields {
        let version = layout.version_of(field);
        let note = if version > 1 { format!(" /* version {version} */") } else { String::new() };
        let _ = writeln!(out, "  {};{note}", member(field));
    }
    out.push_str("};\n");
    for (index, len) in layout.lengths.iter().enumerate().filter(|(_, len)| **len > 0) {
        let _ = writeln!(out, "#define {name}_LENGTH_{} {len}", index + 1);
    }
    let _ = writeln!(out, "#define {name}_CURRENT_LENGTH {}", layout.len());
    if let Some(id) = layout.fields.first().filter(|field| field.name == "StrucId") {
        let text = String::from_utf8_lossy(&id.default);
        let _ = writeln!(out, "#define {name}_STRUC_ID \"{text}\"");
        let _ = writeln!(out, "#define {name}_STRUC_ID_ARRAY {}", characters(&id.default));
    }
    let values: Vec<String> = layout.fields.iter().map(initial).collect();
    let _ = writeln!(out, "#define {name}_DEFAULT {}\n", values.join(", \\\n  "));
}

fn member(field: &Field) -> String {
    let name = field.name;
    match field.kind {
        Kind::Long => {
            let handle = matches!(name, "Hobj" | "Context");
            format!("{} {name}", if handle { "MQHOBJ" } else { "MQLONG" })
        }
        Kind::Handle => format!("MQHMSG {name}"),
        Kind::Pointer(to) => format!("{to} {name}"),
        Kind::Character => format!("MQCHAR {name}"),
        Kind::Variable => format!("MQCHARV {name}"),
        Kind::Descriptor => format!("MQMD1 {name}"),
        Kind::Longs(count) => format!("MQLONG {name}[{count}]"),
        Kind::Text(len) if CHARACTERS.contains(&len) => format!("MQCHAR{len} {name}"),
        Kind::Text(len) => format!("MQCHAR {name}[{len}]"),
        Kind::Bytes(len) if BYTES.contains(&len) => format!("MQBYTE{len} {name}"),
        Kind::Bytes(len) => format!("MQBYTE {name}[{len}]"),
    }
}

/// What stands for a field's initial value.
fn initial(field: &Field) -> String {
    let longs = || {
        let four = |bytes: &[u8]| bytes.try_into().map_or(0, i32::from_le_bytes);
        field.default.chunks_exact(4).map(four).collect::<Vec<_>>()
    };
    match field.kind {
        Kind::Long => longs().first().copied().unwrap_or_default().to_string(),
        Kind::Longs(_) => {
            let all: Vec<String> = longs().iter().map(ToString::to_string).collect();
            format!("{{{}}}", all.join(","))
        }
        Kind::Handle => "0".into(),
        Kind::Pointer(_) => "NULL".into(),
        Kind::Character => character(field.default.first().copied().unwrap_or_default()),
        Kind::Variable => "{MQCHARV_DEFAULT}".into(),
        Kind::Descriptor => "{MQMD1_DEFAULT}".into(),
        // Blank fields begin with one zero byte, as programs expect that print them.
        Kind::Text(_) if field.default.iter().all(|byte| *byte == b' ') => "{\"\"}".into(),
        Kind::Text(len) if len <= 8 => characters(&field.default),
        Kind::Text(_) => {
            let text = String::from_utf8_lossy(&field.default);
            format!("{{\"{}\"}}", text.trim_end())
        }
        Kind::Bytes(_) => "{0}".into(),
    }
}

fn characters(bytes: &[u8]) -> String {
    let all: Vec<String> = bytes.iter().map(|byte| character(*byte)).collect();
    format!("{{{}}}", all.join(","))
}

fn character(byte: u8) -> String {
    match byte {
        b'\'' | b'\\' => format!("'\\{}'", char::from(byte)),
        b' '..=b'~' => format!("'{}'", char::from(byte)),
        _ => format!("'\\{byte:03o}'"),
    }
}
