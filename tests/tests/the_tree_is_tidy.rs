//! The repository keeps its own house style: what a reviewer would otherwise have to look for.

use holdfast_tests::source::code_lines;
use holdfast_tests::{TextFile, files, none_of};

const FILE_LINES_MAX: usize = 700;
const COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;

/// Where `unsafe` may stand in the product; each place is a small module of its own.
const UNSAFE_ALLOWED: &[&str] = &[
    "crates/ground/seam/src/",
    "crates/kernel/pool/src/",
    "crates/kernel/log-ring/src/lib.rs",
    "crates/files/openpgp/src/isal.rs",
    "crates/records/file-handler/src/abi/",
    "crates/records/file-handler/src/machine/lock.rs",
    "crates/records/fh-library/src/lib.rs",
    "crates/programs/region/src/memory/",
    "crates/programs/region/src/abi/",
    "crates/programs/region/src/exports/",
    "crates/programs/program-library/src/lib.rs",
    "crates/doors/ims-connect/src/exit_library.rs",
    // The calls of the message queue interface, and the libraries and tests that name them.
    "crates/messages/mqm",
];

#[test]
fn every_source_file_opens_with_what_it_owns() {
    let offences = files(&[".rs"]).into_iter().filter(|file| !file.text.starts_with("//! "));
    none_of("these do not open with //!", &offences.map(|file| file.path).collect::<Vec<_>>());
}

#[test]
fn no_source_file_holds_a_second_noun() {
    let long = files(&[".rs"]).into_iter().filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > FILE_LINES_MAX).then(|| format!("{} has {lines} lines", file.path))
    });
    none_of("files past 700 lines", &long.collect::<Vec<_>>());
}

#[test]
fn lines_fit_a_screen() {
    let is_table =
        |line: &str| line.trim_start().trim_start_matches(['/', '!', ' ']).starts_with('|');
    let offences = offences(&[".rs"], |_, line| {
        let wide = line.chars().count() > COLUMNS_MAX;
        // A message to people, or an attribute, is easier to find whole than broken.
        let is_whole = line.trim_start().starts_with(['"', '#']);
        let is_link = line.contains("http://") || line.contains("https://");
        wide && !is_table(line) && !is_whole && !is_link
    });
    none_of("lines over 100 columns", &offences);
}

#[test]
fn no_line_ends_in_blanks_and_no_tab_indents() {
    let offences = offences(&[".rs", ".md", ".toml", ".sh"], |_, line| {
        line.ends_with([' ', '\t']) || line.starts_with('\t')
    });
    none_of("blanks at the end or tabs at the front", &offences);
}

/// A file of tests that no other file names is never compiled, and never fails.
#[test]
fn every_file_of_tests_is_part_of_them() {
    let all = files(&[".rs"]);
    let mut lost = Vec::new();
    for main in all.iter().filter(|file| file.path.ends_with("/tests/all/main.rs")) {
        let folder = main.path.trim_end_matches("main.rs");
        let inside = all.iter().filter_map(|file| file.path.strip_prefix(folder));
        let names = inside.filter_map(|path| path.strip_suffix(".rs"));
        let own = names.filter(|name| !name.contains('/') && *name != "main");
        let named = |name: &&str| !main.text.contains(&format!("mod {name};"));
        lost.extend(own.filter(named).map(|name| format!("{folder}{name}.rs")));
    }
    none_of("tests that nobody runs", &lost);
}

/// Each binary is linked with everything beneath it, and binaries run one after another: a second
/// one in a crate has a reason.
#[test]
fn a_crate_has_one_binary_of_integration_tests() {
    // The folder of tests, the files that are binaries beside `all`, and why.
    let apart: [(&str, &[&str], &str); 3] = [
        (
            "crates/programs/region/tests/",
            &["programs.rs", "storage_and_numbers.rs"],
            "guests are this binary again, started by the name of a test",
        ),
        (
            "crates/files/openpgp/tests/",
            &["tokens.rs"],
            "a token's library reads the environment of a process that has a token alone",
        ),
        ("tests/tests/", &[], "each rule of the house is called by its name"),
    ];
    let mut binaries = std::collections::BTreeMap::<String, Vec<String>>::new();
    for file in files(&[".rs"]) {
        let Some((crate_path, name)) = file.path.rsplit_once("tests/") else { continue };
        let folder = format!("{crate_path}tests/");
        let of_crate = crate_path.is_empty() || crate_path.ends_with('/');
        let is_binary = !name.contains('/') || name == "all/main.rs";
        if of_crate && is_binary && !crate_path.contains("/src/") {
            binaries.entry(folder).or_default().push(name.to_owned());
        }
    }
    assert!(binaries.len() > 15, "the folders of tests are found: {}", binaries.len());
    let mut many = Vec::new();
    for (folder, mut names) in binaries {
        if let Some((_, allowed, _)) = apart.iter().find(|(of, ..)| *of == folder) {
            names.retain(|name| !allowed.is_empty() && !allowed.contains(&&**name));
        }
        if names.len() > 1 {
            many.push(format!("{folder}: {} belong into all/main.rs", names.join(", ")));
        }
    }
    none_of("crates with several binaries of tests", &many);
}

#[test]
fn nothing_unfinished_is_left_behind() {
    let notes =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
    let offences = offences(&[".rs", ".md", ".toml", ".sh", "Makefile"], |_, line| {
        let words = line.split(|c: char| !c.is_alphanumeric());
        words.into_iter().any(|word| notes.contains(&word))
    });
    none_of("notes to oneself", &offences);

    let calls = ["todo!", "unimplemented!", "dbg!", "#[ignore", "#![ignore"];
    let mut unfinished = Vec::new();
    for file in files(&[".rs"]) {
        for (index, code) in code_lines(&file.text).iter().enumerate() {
            let squeezed: String = code.chars().filter(|c| !c.is_whitespace()).collect();
            if calls.iter().any(|call| squeezed.contains(call)) {
                unfinished.push(file.at(index + 1));
            }
        }
    }
    none_of("calls that say that something is missing, and tests switched off", &unfinished);
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    let mut bare = Vec::new();
    for file in files(&[".rs"]) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (index, code) in code_lines(&file.text).iter().enumerate() {
            // A function or a foreign block that is unsafe moves the promise to its callers.
            let moves =
                ["fn", "extern"].iter().any(|what| code.contains(&format!("unsafe {what}")));
            let opens = is_unsafe(code) && !moves;
            if opens && !has_note_above(&lines, index) {
                bare.push(file.at(index + 1));
            }
        }
    }
    none_of("unsafe without a SAFETY note above", &bare);
}

#[test]
fn unsafe_code_stands_only_where_the_architecture_allows_it() {
    let mut elsewhere = Vec::new();
    let product = files(&[".rs"]).into_iter().filter(|file| file.path.starts_with("crates/"));
    for file in product {
        let allowed = UNSAFE_ALLOWED.iter().any(|place| file.path.starts_with(place));
        for (index, code) in code_lines(&file.text).iter().enumerate() {
            if !allowed && is_unsafe(code) {
                elsewhere.push(file.at(index + 1));
            }
        }
    }
    none_of("unsafe outside of the places that the architecture allows", &elsewhere);
}

fn is_unsafe(code: &str) -> bool {
    let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.any(|word| word == "unsafe")
}

/// A note in the same line, or in the comments and attributes right above, or within three lines.
fn has_note_above(lines: &[&str], index: usize) -> bool {
    let is_lead =
        |line: &str| line.trim_start().starts_with("//") || line.trim_start().starts_with('#');
    let nearby = lines[index.saturating_sub(3)..=index].iter();
    let lead = lines[..index].iter().rev().take_while(|line| is_lead(line));
    nearby.chain(lead).any(|line| line.contains("SAFETY"))
}

#[test]
fn the_repository_speaks_of_the_product_alone() {
    // Paths of somebody's machine, and words about how the text came about.
    let strange = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("sub", "agent"),
        concat!("AI a", "gent"),
        concat!("this se", "ssion"),
        concat!("as an A", "I"),
    ];
    let endings = [".rs", ".md", ".toml", ".sh", ".yml", ".json", "Makefile"];
    let offences = offences(&endings, |_, line| strange.iter().any(|word| line.contains(word)));
    none_of("words that do not belong to the product", &offences);
}

#[test]
fn no_reason_code_has_two_meanings() {
    let mut seen: Vec<(String, String)> = Vec::new();
    let mut twice = Vec::new();
    let gives = ["=> Code(\"HF", "=> \"HF", " = \"HF"];
    for file in files(&[".rs"]).iter().filter(|file| file.path.starts_with("crates/")) {
        for (line, content) in file.lines() {
            let given = gives.iter().find_map(|gives| content.split_once(gives));
            let Some((_, rest)) = given else { continue };
            let code = rest.split('"').next().unwrap_or_default().to_owned();
            let place = file.at(line);
            match seen.iter().find(|(known, _)| *known == code) {
                Some((_, first)) => twice.push(format!("HF{code} at {first} and at {place}")),
                None => seen.push((code, place)),
            }
        }
    }
    assert!(seen.len() > 20, "the search for reason codes finds them: {}", seen.len());
    none_of("reason codes that are given twice", &twice);
}

/// A test that waits for a process without end stops all of them, and names nothing.
#[test]
fn tests_wait_for_processes_with_a_limit() {
    let endless = [".wait_with_output()", ".output()", ".status()", ".wait()"];
    let mut found = Vec::new();
    for file in files(&[".rs"]) {
        // The crates below the seam have a program that limits the others.
        let below = ["crates/programs/exec-dli/", "crates/ground/copybook/"];
        let is_exempt = below.iter().any(|folder| file.path.starts_with(folder));
        let is_test = file.path.starts_with("crates/") && file.path.contains("/tests/");
        if !is_test || is_exempt || !file.text.contains("process::") {
            continue;
        }
        for (line, content) in file.lines() {
            let is_process = content.contains("Command") || content.contains("child");
            let waits = endless[..2].iter().any(|way| content.contains(way))
                || is_process && endless[2..].iter().any(|way| content.contains(way));
            if waits {
                found.push(file.at(line));
            }
        }
    }
    none_of("waits without a limit (use seam::process)", &found);
}

/// What is started has the environment of whoever starts it, with the passphrase in it.
#[test]
fn the_product_starts_processes_without_its_secrets() {
    let mut found = Vec::new();
    for file in files(&[".rs"]).iter().filter(|file| file.path.starts_with("crates/")) {
        let is_product =
            file.path.contains("/src/") && file.path != "crates/ground/seam/src/process.rs";
        if !is_product || !file.text.contains("std::process::") {
            continue;
        }
        let code = code_lines(&file.text);
        let of_tests = code.iter().position(|line| line.contains("mod tests {"));
        let product = code.iter().take(of_tests.unwrap_or(code.len())).enumerate();
        let starts = product.filter(|(_, line)| line.contains("Command::new("));
        found.extend(starts.map(|(index, _)| file.at(index + 1)));
    }
    none_of("processes that are started with secrets (use seam::process::command)", &found);
}

fn offences(endings: &[&str], is_bad: impl Fn(&TextFile, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for file in files(endings) {
        for (line, content) in file.lines() {
            if is_bad(&file, content) {
                found.push(file.at(line));
            }
        }
    }
    found
}

#[test]
fn functions_fit_a_screen() {
    let mut long = Vec::new();
    for file in files(&[".rs"]) {
        let code = code_lines(&file.text);
        for (index, line) in code.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let is_function = line.trim_start().split(' ').take(5).any(|word| word == "fn");
            if !is_function {
                continue;
            }
            let closing = format!("{}}}", " ".repeat(indent));
            let ends = |line: &String| line.trim_end() == closing;
            let lines = code[index..].iter().position(ends).map_or(0, |last| last + 1);
            // A declaration without a body ends before the next line at its own depth does.
            let declared = code[index..].iter().position(|line| line.trim_end().ends_with(';'));
            let opened = code[index..].iter().position(|line| line.trim_end().ends_with('{'));
            let has_body = opened.is_some_and(|at| declared.is_none_or(|end| at < end));
            if has_body && lines > FUNCTION_LINES_MAX {
                long.push(format!("{} has {lines} lines", file.at(index + 1)));
            }
        }
    }
    none_of("functions over 70 lines", &long);
}

/// Whether a line of documentation begins an example that would be run.
fn begins_example(line: &str) -> bool {
    let Some(text) = line.trim_start().strip_prefix("//") else { return false };
    let text = text.trim_start_matches(['/', '!']).trim();
    matches!(text, "```" | "```rust" | "```no_run")
}

#[test]
fn crates_that_run_no_examples_have_none() {
    let manifests = files(&["Cargo.toml"]);
    let silent = manifests.iter().filter(|file| file.text.contains("doctest = false"));
    let sources = files(&[".rs"]);
    let mut wrong = Vec::new();
    for manifest in silent {
        let folder = manifest.path.trim_end_matches("Cargo.toml").to_owned() + "src/";
        for file in sources.iter().filter(|file| file.path.starts_with(&folder)) {
            // Fences that end others are none: every second one.
            let fences = file
                .text
                .lines()
                .filter(|line| line.trim_start().starts_with("//") && line.contains("```"));
            let begins = fences.step_by(2).any(begins_example);
            wrong.extend(begins.then(|| format!("{} (doctest = false)", file.path)));
        }
    }
    none_of("examples that are not run", &wrong);
}
