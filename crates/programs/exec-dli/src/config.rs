//! The configuration with which the compiler reads programs of the mainframe.
//!
//! Invariants:
//!
//! 1. It builds on the compiler's own `ibm.conf` and only frees words: a word that the mainframe's
//!    compiler does not reserve can be a name of the program.
//! 2. A program that uses such a word as a device of ACCEPT or DISPLAY means the device: so it gets
//!    at its command line and its environment. One that calls a function of such a name means the
//!    function.
//! 3. Special registers stay what they are.

use std::collections::{BTreeSet, VecDeque};

/// The name under which the configuration is to be stored, for `cobc -conf`.
pub const CONFIGURATION_NAME: &str = "holdfast.conf";

/// The configuration, with every word free.
pub const CONFIGURATION: &str = include_str!("holdfast.conf");

/// What the compiler knows besides as devices.
const DEVICES: [&str; 5] =
    ["ARGUMENT-NUMBER", "ARGUMENT-VALUE", "COMMAND-LINE", "ENVIRONMENT-NAME", "ENVIRONMENT-VALUE"];
/// Functions whose names are not reserved, and are no functions any more once they are free.
const FUNCTIONS: [&str; 2] = ["CHAR", "REVERSE"];
/// So many words in front of FROM an ACCEPT may begin: its item may have subscripts.
const REACH: usize = 6;

/// The configuration for a program of these texts, its source and its members.
#[must_use]
pub fn configuration_for<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut used = BTreeSet::new();
    texts.into_iter().for_each(|text| find_used(text, &mut used));
    let is_used =
        |line: &&str| line.strip_prefix("not-reserved: ").is_some_and(|freed| used.contains(freed));
    let lines = CONFIGURATION.lines().filter(|line| !is_used(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Notes the devices that a text uses: behind ACCEPT ... FROM, and behind UPON; and the functions.
fn find_used(text: &[u8], used: &mut BTreeSet<&'static str>) {
    let text = String::from_utf8_lossy(text).to_ascii_uppercase();
    let mut before = VecDeque::with_capacity(REACH);
    for word in text.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ';'])) {
        let is_place = match before.back() {
            Some(&"UPON") => true,
            Some(&"FROM") => before.contains(&"ACCEPT"),
            _ => false,
        };
        used.extend(DEVICES.into_iter().find(|device| is_place && *device == word));
        if before.back().is_some_and(|last| last.ends_with("FUNCTION")) {
            let name = word.split('(').next().unwrap_or_default();
            used.extend(FUNCTIONS.into_iter().find(|function| *function == name));
        }
        if word == "INTRINSIC" {
            // All functions may be called without the word in front of them.
            used.extend(FUNCTIONS);
        }
        if before.len() == REACH {
            before.pop_front();
        }
        before.push_back(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_free_unless_it_is_used_as_a_device() {
        let plain = b"           MOVE COMMAND-LINE TO A.\n           WRITE B FROM COMMAND-LINE.";
        assert_eq!(configuration_for([&plain[..]]), CONFIGURATION);
        let device = b"           ACCEPT PARM-TEXT (1)\n               from Command-Line.";
        let made = configuration_for([&plain[..], device]);
        assert!(!made.contains("COMMAND-LINE"), "{made}");
        assert_eq!(made.lines().count() + 1, CONFIGURATION.lines().count());
        let device = b"DISPLAY 'A' UPON ENVIRONMENT-NAME";
        assert!(!configuration_for([&device[..]]).contains("ENVIRONMENT-NAME"));
    }

    #[test]
    fn a_function_is_free_for_names_unless_it_is_called() {
        let plain = b"           MOVE CHAR TO REVERSE.";
        assert_eq!(configuration_for([&plain[..]]), CONFIGURATION);
        let called = b"           DISPLAY (FUNCTION\n    char(66)) FUNCTION REVERSE (A).";
        let made = configuration_for([&called[..]]);
        assert!(!made.contains(": CHAR\n") && !made.contains(": REVERSE\n"), "{made}");
        let all = b"           FUNCTION ALL INTRINSIC.";
        assert!(!configuration_for([&all[..]]).contains(": CHAR\n"));
    }

    /// A name of a function that is free for names is no function any more.
    #[test]
    fn no_function_of_the_mainframe_is_freed() {
        let functions = "ACOS ANNUITY ASIN ATAN COS CURRENT-DATE DATE-OF-INTEGER \
             DATE-TO-YYYYMMDD DAY-OF-INTEGER DAY-TO-YYYYDDD FACTORIAL INTEGER INTEGER-OF-DATE \
             INTEGER-OF-DAY INTEGER-PART LENGTH LOG LOG10 LOWER-CASE MAX MEAN MEDIAN MIDRANGE MIN \
             MOD NUMVAL NUMVAL-C ORD ORD-MAX ORD-MIN PRESENT-VALUE RANDOM RANGE REM SIN \
             SQRT STANDARD-DEVIATION SUM TAN TRIM UPPER-CASE VARIANCE WHEN-COMPILED";
        for name in functions.split_ascii_whitespace() {
            let freed = format!("not-reserved: {name}");
            assert!(CONFIGURATION.lines().all(|line| line != freed), "{name}");
        }
    }
}
