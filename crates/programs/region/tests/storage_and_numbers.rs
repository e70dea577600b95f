//! COBOL programs as they are on the mainframe: where their items lie, what they hold, how numbers
//! are shown; and what of them is believed that was compiled before.

#[allow(dead_code)] // each test uses other parts of it
mod shop {
    pub(crate) mod server;
    pub(crate) mod stage;
}

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use holdfast_region::RegionError;
use holdfast_region::host::Ended;
use holdfast_region::program::{Workshop, clear};
use shop::stage::{Outcome, Play, folder, guests, have, perform, play, prepare};

/// Longer than any of these processes takes.
const LONG: Duration = Duration::from_secs(600);

/// The process of a program; in the run of the tests itself it does nothing.
#[test]
fn guest() {
    perform();
}

/// A folder of a test's own without anything that an earlier run has left, at any depth.
#[allow(clippy::disallowed_methods)] // what earlier runs left
fn emptied(test: &str) -> std::path::PathBuf {
    let folder = folder(test);
    std::fs::remove_dir_all(&folder).expect("a folder");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn normal(outcome: &Outcome, return_code: i64) {
    assert_eq!(outcome.report.ended, Ended::Normal { return_code }, "{}", outcome.report);
}

/// The story: a program read a segment into a level that was shorter, which is harmless on the
/// mainframe, and found other bytes in the levels behind it.
#[test]
fn levels_lie_in_the_order_of_the_source() {
    if !have("cobc") {
        return;
    }
    let outcome = play("order", Play { program: "order.cbl", ..Play::default() });
    normal(&outcome, 0);
    let output = &outcome.output;
    assert!(output.contains("<000001CU/STOMER N/      >"), "{output}");
    assert!(output.contains("C=2345\n"), "TRUNC(STD) holds: {output}");
    let prepared = prepare(&guests().join("order.cbl")).expect("a program");
    let mut nm = Command::new("nm");
    let listed = seam::process::output(nm.arg("-n").arg(prepared.object()), LONG);
    let Ok(listed) = listed else { return };
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let level = |line: &str| {
        let (address, name) = line.split_once(" b b_")?;
        let number: u32 = name.split('.').next()?.parse().ok()?;
        Some((usize::from_str_radix(address, 16).ok()?, number))
    };
    let levels: Vec<(usize, u32)> = listed.lines().filter_map(level).collect();
    // By the size of each level in whole doublewords.
    let sizes = [3, 5003, 2, 7, 8, 8, 8, 6, 12, 4, 8, 8, 1];
    let from = levels.len() - sizes.len() - 1;
    let (registers, levels) = levels.split_at(from);
    assert!(registers.iter().all(|(at, _)| *at < levels[0].0), "{listed}");
    for (pair, size) in levels.windows(2).zip(sizes) {
        let [(at, number), (next, behind)] = pair else { panic!("a pair") };
        assert!(number < behind, "{listed}");
        assert_eq!(next - at, usize::next_multiple_of(size, 8), "level {number}: {listed}");
    }
}

#[test]
fn options_without_effect_are_named_once() {
    if !have("cobc") {
        return;
    }
    let cache = emptied("options-cache");
    let disk = seam::real::RealDisk::new();
    let prepare = || {
        let workshop = Workshop {
            disk: &disk,
            cache: cache.clone(),
            copy_folders: vec![guests().join("copy")],
            translate: &holdfast_region::Preprocessor::default(),
            options: Vec::new(),
        };
        workshop.prepare(&guests().join("order.cbl")).expect("a program")
    };
    let first = prepare();
    let warnings = first.warnings().to_owned();
    assert!(warnings.contains("NUMPROC(PFD): any valid sign"), "{warnings}");
    assert!(warnings.contains("SSRANGE: subscripts"), "{warnings}");
    assert!(!warnings.contains("XREF"), "{warnings}");
    assert_eq!((prepare().is_fresh(), prepare().warnings()), (false, ""));
}

#[test]
#[allow(clippy::disallowed_methods)] // people's files, seen from outside
fn numbers_are_shown_as_on_the_mainframe() {
    if !have("cobc") {
        return;
    }
    let shown = |test: &str, card: &str| {
        let source = std::fs::read_to_string(guests().join("numbers.cbl")).expect("a source");
        let program = folder(test).join("numbers.cbl");
        std::fs::write(&program, format!("{card}{source}")).expect("a source");
        let program = program.to_string_lossy().into_owned();
        let outcome = play(&format!("{test}-run"), Play { program: &program, ..Play::default() });
        normal(&outcome, 0);
        let is_line = |line: &&str| line.chars().next().is_some_and(|c| c.is_ascii_digit());
        outcome.output.lines().filter(is_line).map(str::to_owned).collect::<Vec<_>>()
    };
    let standard = [
        "1 0005/0005/00005/000123M/0034",
        "2 000E/000N/-0005/}005/ 12.34",
        "3  .12500000E 02/-.12500000000000000E 00",
        "4 12345678R/123456789012345678",
        "5 0000/-5/    /\"",
        "6 2345",
        "7 000J",
        "8 NOWRINGC",
    ];
    assert_eq!(shown("numbers", ""), standard);
    let all = shown("numbers-bin", "       CBL TRUNC(BIN),APOST\n");
    assert_eq!(all[0], "1 00005/00005/00005/000123M/0034");
    assert_eq!(all[3], "4 012345678R/00123456789012345678");
    assert_eq!(all[4], "5 0000/-5/    /'");
    assert_eq!(all[5], "6 12345");
    let fast = shown("numbers-opt", "       CBL TRUNC(OPT)\n");
    assert_eq!(fast[0], standard[0]);
    let separate = shown("numbers-sep", "       CBL DISPSIGN(SEP)\n");
    assert_eq!(separate[0], "1 +0005/0005/+00005/-0001234/0034");
    assert_eq!(separate[1], "2 +0005/-0005/-0005/-0005/ 12.34");
}

#[test]
fn a_copy_of_the_process_is_not_the_program() {
    if !have("cc") {
        return;
    }
    for far in [false, true] {
        let test = format!("forks-{far}");
        let outcome = play(&test, Play { program: "forks.c", far, ..Play::default() });
        normal(&outcome, 0);
        let output = &outcome.output;
        assert!(output.contains("copy ended with 1\n"), "{output}");
        assert!(output.contains("sharing copy ended with 1\n"), "{output}");
        assert!(output.contains("twin ended with 0\n"), "{output}");
        assert!(output.contains("copy returned 9\n"), "{output}");
        assert!(output.contains("program '  ' 000002"), "{output}");
        assert!(!output.contains("INSERTED"), "{output}");
        let calls: Vec<&str> = outcome.log.iter().map(|line| &line[..3]).collect();
        assert_eq!(calls, ["GU ", "GN ", "end"], "{:?}", outcome.log);
        assert!(outcome.report.notes[0].contains("HFR024"), "{:?}", outcome.report.notes);
        assert_eq!(outcome.report.calls, 2);
    }
}

/// The story: a record that a copy wrote was not stored, with status 00, and what was buffered when
/// the copy was made stood in the file twice.
#[test]
#[allow(clippy::disallowed_methods)] // looks at a program's file
fn a_copy_of_the_process_has_no_files() {
    if !have("cobc") {
        return;
    }
    let place = emptied("forkfile-files");
    let (records, keyed) = (place.join("records"), place.join("keyed"));
    let dds = [format!("SEQF={}", records.display()), format!("KEYF={}", keyed.display())];
    let dds: Vec<&str> = dds.iter().map(String::as_str).collect();
    let outcome = play("forkfile", Play { program: "forkfile.cbl", dds: &dds, ..Play::default() });
    normal(&outcome, 0);
    let output = &outcome.output;
    assert!(output.contains("OPEN 00/00\n") && output.contains("CLOSE 00/00\n"), "{output}");
    assert!(!output.contains("A COPY WROTE"), "{output}");
    let written = std::fs::read(&records).expect("records");
    assert_eq!(String::from_utf8_lossy(&written), "FIRST   SECOND  ");
    assert!(outcome.report.notes[0].contains("HFR024"), "{:?}", outcome.report.notes);
    let mode = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).expect("a file").permissions().mode() & 0o777
    };
    assert_eq!((mode(&records), mode(&keyed)), (0o600, 0o600), "its owner's alone");
}

/// The story: X'01234B' was -1234 when it was displayed, and +1234 everywhere else.
#[test]
fn packed_signs_are_those_of_the_host() {
    if !have("cobc") {
        return;
    }
    let outcome = play("signs", Play { program: "signs.cbl", ..Play::default() });
    normal(&outcome, 0);
    // The test's own name may stand in front of the first line.
    let of_signs = outcome.output.lines().filter(|line| line.len() > 20);
    let shown: Vec<&str> = of_signs.map(|line| line.split(" ... ").last().unwrap()).collect();
    let plus = "--Y-- 01234 01234 01234 01235 000002468 01234";
    let minus = "YY-Y- 0123M 01234 0123M 0123L 00000246Q 01234";
    let expected = [plus, minus, plus, minus, plus, plus];
    let expected = expected.iter().zip(1..).map(|(line, sign)| format!("{sign} {line}"));
    assert_eq!(shown, expected.collect::<Vec<_>>());
}

#[test]
fn a_program_with_counts_makes_its_calls() {
    if !have("cc") {
        return;
    }
    let outcome = play("counted", Play { program: "counted.c", ..Play::default() });
    normal(&outcome, 0);
    assert!(outcome.output.contains("6 calls, the last 'GB'"), "{}", outcome.output);
}

#[test]
fn a_program_may_be_called_like_a_function_of_the_c_library() {
    if !have("cc") {
        return;
    }
    let outcome = play("time", Play { program: "time.c", ..Play::default() });
    normal(&outcome, 5);
    assert!(outcome.output.contains("main of time: SHOPDB"), "{}", outcome.output);
    let wanted = play("time-named", Play { program: "time.c", entry: "time", ..Play::default() });
    let Ended::NotStarted(abend) = &wanted.report.ended else { panic!("{}", wanted.report) };
    assert_eq!(abend.code, "HFR006");
}

#[test]
fn a_symbol_that_is_missing_is_named() {
    if !have("cc") {
        return;
    }
    let outcome = play("missing", Play { program: "missing.c", ..Play::default() });
    let Ended::NotStarted(abend) = &outcome.report.ended else { panic!("{}", outcome.report) };
    assert!(abend.text.contains("shop_has_no_such_function"), "{} {}", abend.code, abend.text);
}

#[test]
fn an_entry_that_was_looked_for_is_named_once() {
    if !have("cc") {
        return;
    }
    let entries = |name: &str| prepare(&guests().join(name)).expect("a program").entries(None);
    assert_eq!(entries("SHOPHELP.c"), ["DLITCBL", "SHOPHELP", "main"]);
    assert_eq!(entries("main.c"), ["DLITCBL", "MAIN", "main"]);
}

#[test]
fn programs_that_cannot_run_here_are_told_in_one_sentence() {
    let printed = |name: &str| prepare(&guests().join(name)).expect_err("a refusal").to_string();
    let online = printed("online.cbl");
    assert!(online.ends_with("it has EXEC CICS in line 7 and 2 more"), "{online}");
    assert!(online.contains("is a program for CICS, which is not here"), "{online}");
    let pli = printed("plain.pli");
    assert!(pli.contains("is written in PL/I"), "{pli}");
    assert_eq!(pli.lines().count() + online.lines().count(), 2);
    if have("cobc") {
        let translated = printed("translated.cbl");
        assert!(translated.contains("it calls DFHEI1"), "{translated}");
    }
    if have("cc") {
        let outcome = play("message", Play { program: "message.c", ..Play::default() });
        let notes = &outcome.report.notes;
        assert!(notes[0].contains("program for terminals: 1 of its calls"), "{notes:?}");
    }
}

/// The story: after a power cut a program failed for good, for what it had been compiled to was
/// torn, and believed.
#[test]
#[allow(clippy::disallowed_methods)] // damage, done from outside
fn what_was_compiled_is_believed_only_while_it_is_the_same() {
    let disk = seam::real::RealDisk::new();
    let cache = emptied("damaged-cache");
    let prepare = |name: &str| {
        let workshop = Workshop {
            disk: &disk,
            cache: cache.clone(),
            copy_folders: vec![guests().join("copy")],
            translate: &holdfast_region::Preprocessor::default(),
            options: Vec::new(),
        };
        workshop.prepare(&guests().join(name)).unwrap_or_else(|error| panic!("{error}"))
    };
    for (name, compiler) in [("entry.cbl", "cobc"), ("main.c", "cc")] {
        if !have(compiler) {
            continue;
        }
        let first = prepare(name);
        let sound = std::fs::read(first.object()).expect("an object");
        assert!(!prepare(name).is_fresh());
        let beside = |file: &str| first.object().with_file_name(file);
        let damage: [&dyn Fn(); 4] = [
            &|| std::fs::write(first.object(), b"").expect("torn"),
            &|| {
                let mut bytes = std::fs::read(first.object()).expect("an object");
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(first.object(), bytes).expect("altered");
            },
            &|| std::fs::remove_file(beside("digest")).expect("lost"),
            &|| std::fs::write(beside("digest"), b"\0\0\0").expect("torn"),
        ];
        for harm in damage {
            harm();
            let again = prepare(name);
            assert!(again.is_fresh(), "{name} is compiled anew");
            assert_eq!(again.object(), first.object());
            let bytes = std::fs::read(again.object()).expect("an object");
            assert_eq!(bytes.len(), sound.len(), "{name}");
            assert!(!prepare(name).is_fresh());
        }
    }
    let names = std::fs::read_dir(&cache).expect("a folder");
    let left = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    assert!(left.into_iter().all(|name| !name.contains("new-")), "nothing is left over");
}

#[test]
#[allow(clippy::disallowed_methods)] // what killed processes leave
fn what_killed_processes_left_is_cleared() {
    let disk = seam::real::RealDisk::new();
    let programs = emptied("cleared");
    assert_eq!(clear(&disk, &programs.join("none")).expect("nothing"), Default::default());
    let records = programs.join("records");
    std::fs::create_dir_all(&records).expect("a folder");
    let stale = records.join("OUT.2147483646");
    let own = records.join(format!("OUT.{}", std::process::id()));
    let kept = records.join("OUT.2147483646.kept");
    for path in [&stale, &own, &kept] {
        std::fs::write(path, "in clear").expect("a file");
    }
    let unfinished = programs.join("0123.new-2147483646-0");
    std::fs::create_dir_all(unfinished.join("copy")).expect("a folder");
    std::fs::write(unfinished.join("copy/A"), "").expect("a file");
    let cleared = clear(&disk, &programs).expect("cleared");
    assert_eq!((cleared.records, cleared.kept), (vec![stale.clone()], vec![kept.clone()]));
    assert!(!stale.exists() && !unfinished.exists() && own.exists() && kept.exists());
}

#[test]
fn flags_of_the_compiler_are_part_of_what_is_compared() {
    if !have("cobc") {
        return;
    }
    let flags = |name: &str| {
        let mut another = Command::new(std::env::current_exe().expect("this test"));
        another
            .args(["compiles_for_another", "--exact", "--nocapture", "--test-threads=1"])
            .env("HOLDFAST_TEST_FLAGS", "yes")
            .env("COB_CFLAGS", name);
        let text = seam::process::output(&mut another, LONG).expect("a process");
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        text.lines().find_map(|line| line.strip_prefix("object ").map(str::to_owned))
    };
    let (plain, fast) = (flags("-O0 -fsigned-char"), flags("-O1 -fsigned-char"));
    assert!(plain.is_some() && plain != fast, "{plain:?} {fast:?}");
}

/// Compiles a program in a process of its own, whose environment is another; in the run of the
/// tests itself it does nothing.
#[test]
fn compiles_for_another() {
    if std::env::var_os("HOLDFAST_TEST_FLAGS").is_some() {
        let prepared = prepare(&guests().join("parm.cbl")).expect("a program");
        println!("\nobject {}", Path::new(prepared.object()).display());
    }
}

#[test]
fn a_refusal_has_a_code() {
    use base::Coded as _;
    let error = RegionError::Copy(1);
    assert_eq!((error.code().0, error.remedy().is_empty()), ("HFR024", false));
}
