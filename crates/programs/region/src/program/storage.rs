//! Where a COBOL program's items lie: in the order of the source, as on the mainframe.
//!
//! Programs rely on it: a segment that is longer than the 01 level that it is read into goes on in
//! the levels behind it. The compiler's C source has a variable for each 01 and 77 level, which a C
//! compiler may put wherever it likes, and others between them.
//!
//! Invariants:
//! 1. Every 01 and 77 level begins on the first doubleword behind the one before it, whatever its
//!    size, and whether or not it has a value or is used.
//! 2. Nothing but such levels lies between them. (They have a section of their own; the C compiler
//!    is told to keep the order.)

/// What the C compiler is told, so that it keeps the order of what it is given.
pub(super) const KEEPS_ORDER: &str = "-fno-toplevel-reorder";

/// How the compiler declares the storage of a level, and with what behind.
const DECLARED: &str = "static cob_u8_t\tb_";
const ALIGNED: &str = "__attribute__((aligned))";
/// The section's name makes it one of zeros, which takes no room in the file.
const PLACED: &str = "__attribute__((aligned(8), section(\".bss.holdfast\")))";

/// How registers are declared that are 4 digits long on the mainframe.
const REGISTERS: [&str; 2] = ["/* RETURN-CODE */", "/* SORT-RETURN */"];
const FIELD: &str = "static cob_field f_";
const ATTRIBUTES: &str = "&a_";

/// The declarations of a program's storage, with every level in its place; and with what DISPLAY
/// needs to know of registers.
pub(super) fn placed(declarations: &str) -> String {
    let place = |line: &str| {
        if line.starts_with(DECLARED) {
            return line.replace(ALIGNED, PLACED);
        }
        let is_register = REGISTERS.iter().any(|register| line.trim_end().ends_with(register));
        match (line.find(ATTRIBUTES), line.find("};")) {
            (Some(from), Some(to)) if is_register && line.starts_with(FIELD) && from < to => {
                format!("{}&hf_return_code{}", &line[..from], &line[to..])
            }
            _ => line.to_owned(),
        }
    };
    declarations.split_inclusive('\n').map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_placed_and_all_else_stays() {
        let made = "\
static int\tb_2;\t/* RETURN-CODE */\n\
static cob_u8_t\tb_8[3] __attribute__((aligned));\t/* A */\n\
static cob_field f_2\t= {4, (cob_u8_ptr)&b_2, &a_1};\t/* RETURN-CODE */\n\
static cob_field f_8\t= {3, b_8, &a_2};\t/* A */\n";
        let expected = "\
static int\tb_2;\t/* RETURN-CODE */\n\
static cob_u8_t\tb_8[3] __attribute__((aligned(8), section(\".bss.holdfast\")));\t/* A */\n\
static cob_field f_2\t= {4, (cob_u8_ptr)&b_2, &hf_return_code};\t/* RETURN-CODE */\n\
static cob_field f_8\t= {3, b_8, &a_2};\t/* A */\n";
        assert_eq!(placed(made), expected);
    }
}
