//! Programs of many shapes, compiled by the real compilers and run as guests of a scripted server.

mod shop {
    pub(crate) mod server;
    pub(crate) mod stage;
}

use holdfast_region::host::Ended;
use holdfast_region::program::{CobolFile, FileForm, Library};
use holdfast_region::{Dd, Files, RegionError, bmp};
use shop::stage::{Outcome, Play, door, folder, guests, have, perform, play, prepare};

/// The process of a program; in the run of the tests itself it does nothing.
#[test]
fn guest() {
    perform();
}

fn normal(outcome: &Outcome, return_code: i64) {
    let last = outcome.log.last().map(String::as_str);
    assert_eq!(outcome.report.ended, Ended::Normal { return_code }, "{}", outcome.report);
    assert_eq!(last, Some("end Normal"));
}

fn abend(outcome: &Outcome) -> (String, String) {
    let Ended::Abend(abend) = &outcome.report.ended else { panic!("{}", outcome.report) };
    assert!(!outcome.log.iter().any(|line| line == "end Normal"), "nothing is committed");
    (abend.code.clone(), abend.text.clone())
}

#[test]
fn a_program_with_an_entry_reads_all_customers_and_stops() {
    if !have("cobc") {
        return;
    }
    for far in [false, true] {
        let test = if far { "entry-far" } else { "entry" };
        let outcome = play(test, Play { program: "entry.cbl", far, ..Play::default() });
        normal(&outcome, 0);
        assert_eq!(outcome.report.calls, 5);
        let lines: Vec<&str> = outcome
            .output
            .lines()
            .filter_map(|line| line.find("SHOPDB").map(|at| &line[at..]))
            .collect();
        assert_eq!(lines[0], "SHOPDB  /01/  /CUSTOMER/0006/000002/CUSTOMER NUMBER 2       ");
        assert_eq!(lines[3], "SHOPDB  /01/  /CUSTOMER/0006/000005/CUSTOMER NUMBER 5       ");
        // The key feedback behind the returned length, and the area, stay as they were.
        assert_eq!(lines[4], "SHOPDB  /00/GB/        /0000/000005/CUSTOMER NUMBER 5       ");
        assert_eq!(outcome.log[0], "GU   pcb 1 area 30 CUSTOMER(CUSTKEY  =000002)");
    }
}

#[test]
fn a_program_with_using_sees_native_integers_and_its_return_code_comes_out() {
    if !have("cobc") {
        return;
    }
    let order = "native";
    let outcome = play("using", Play { program: "using.cbl", order, ..Play::default() });
    normal(&outcome, 4);
    assert!(outcome.output.contains("  /0000000006/0000000001/CUSTOMER NUMBER 4"));
    assert!(outcome.output.contains("NO FOURTH PCB"));
    assert_eq!(outcome.report.exit_code(), 1);
}

#[test]
fn every_stop_run_is_a_commit() {
    if !have("cobc") {
        return;
    }
    let outcome = play("stop", Play { program: "fails.cbl", input: "STOP\n", ..Play::default() });
    normal(&outcome, 12);
}

#[test]
fn a_program_that_fails_is_backed_out_and_its_last_calls_are_known() {
    if !have("cobc") {
        return;
    }
    for far in [false, true] {
        let fail = |how: &str| {
            let test = format!("fails-{how}-{far}");
            play(
                &test,
                Play { program: "fails.cbl", input: &format!("{how}\n"), far, ..Play::default() },
            )
        };
        let address = fail("ADDRESS");
        assert_eq!(abend(&address).0, "S0C4");
        assert_eq!(address.report.last_calls.len(), 1);
        assert_eq!(address.report.last_calls[0].key, "000001");
        let (code, text) = abend(&fail("CALL"));
        assert_eq!(code, "U4038");
        assert!(text.contains("NOTTHERE"), "{text}");
        let pcb = fail("PCB");
        assert_eq!(abend(&pcb).0, "U0476");
        assert_eq!(pcb.log.last().map(String::as_str), Some("end Abend"));
        normal(&fail("NOAREA"), 0);
        assert_eq!(
            abend(&fail("BADAREA")),
            ("U0474".into(), "GU: its I/O area is not in the program's memory".into())
        );
        let roll = fail("ROLL");
        assert_eq!(abend(&roll).0, "U0778");
        assert!(!roll.output.contains("STILL THERE"));
        let unknown = fail("XYZ");
        normal(&unknown, 0);
        assert!(unknown.output.contains("STILL THERE"));
    }
}

#[test]
fn a_stop_inside_a_call_and_a_broken_server_are_abends() {
    if !have("cobc") {
        return;
    }
    let fail = |how: &str| {
        let test = format!("inside-{how}");
        play(&test, Play { program: "fails.cbl", input: &format!("{how}\n"), ..Play::default() })
    };
    let exit = fail("EXIT");
    let (code, text) = abend(&exit);
    assert_eq!(code, "HFR019");
    assert!(text.contains("in a DL/I call"), "{text}");
    let last = exit.report.last_calls.last().expect("a call");
    assert_eq!((last.call.as_str(), last.status.as_deref()), ("EXIT", None));
    let (code, text) = abend(&fail("PANI"));
    assert_eq!(code, "HFR018");
    assert!(text.contains("the server is broken"), "{text}");
}

#[test]
fn checkpoints_carry_areas_out_and_back() {
    if !have("cobc") {
        return;
    }
    for far in [false, true] {
        let test = format!("restart-{far}");
        let outcome = play(&test, Play { program: "restart.cbl", far, ..Play::default() });
        normal(&outcome, 0);
        let output = &outcome.output;
        assert!(output.contains("CHKP0007    /SAVED BY THE SHOP   /42"), "{output}");
        assert!(output.contains("LOG   \n"), "{output}");
        let expected = [
            "XRST pcb 0 area 14 ",
            "LOG  pcb 0 area 10 ",
            r"logged \x00\n\x00\x00\xa0HELLO",
            "CHKP pcb 0 area 64 ",
            "saved 2",
            "  SAVED BY THE SHOP   ",
            "  43",
            "CHKP pcb 0 area 64 ",
            "saved 0",
            "end Normal",
        ];
        assert_eq!(outcome.log, expected);
    }
}

#[test]
fn dd_names_lead_to_files_lines_and_standard_input() {
    if !have("cobc") {
        return;
    }
    let own = folder("dd-files");
    let input = own.join("orders");
    let sysin = own.join("sysin");
    put(&input, "ONE\nTWO MORE\n");
    put(&sysin, "alpha\nbeta\n");
    let bills = own.join("bills");
    let dds = [
        format!("ORDERS={},text", input.display()),
        format!("BILLS={},text", bills.display()),
        format!("SYSIN={}", sysin.display()),
    ];
    let dds: Vec<&str> = dds.iter().map(String::as_str).collect();
    let outcome = play("dd", Play { program: "files.cbl", dds: &dds, ..Play::default() });
    normal(&outcome, 0);
    for line in ["FIRST alpha", "SECOND beta", "<ONE         >", "<TWO MORE    >"] {
        assert!(outcome.output.contains(line), "{line} in {}", outcome.output);
    }
    assert_eq!(shop::stage::read(&bills), "ONE          BILL\nTWO MORE     BILL\n");
}

fn put(path: &std::path::Path, text: &str) {
    seam::fresh::replace_small(&seam::real::RealDisk::new(), path, text.as_bytes())
        .expect("a file");
}

#[test]
fn exec_dli_commands_are_carried_out() {
    if !have("cobc") {
        return;
    }
    let outcome = play("command", Play { program: "command.cbl", ..Play::default() });
    // DLET is not among the calls of the shop: a status that does not return to the program.
    let (code, text) = abend(&outcome);
    assert_eq!(code, "U1041");
    assert!(text.contains("EXEC DLI DELETE got status AD"), "{text}");
    for line in [
        "SCHD   ",
        "  /CUSTOMER/01/SHOPDB  /000003/CUSTOMER NUMBER 3       ",
        "NONE GE",
        "TERM   ",
        "GN TH",
    ] {
        assert!(outcome.output.contains(line), "{line} in {}", outcome.output);
    }
    assert!(!outcome.output.contains("NOT REACHED"));
    let calls: Vec<&str> = outcome.log.iter().map(|line| &line[..4]).collect();
    assert_eq!(calls, ["GHU ", "GHU ", "CHKP", "save", "SYNC", "DLET", "end "]);
}

#[test]
fn a_c_program_may_call_in_every_style() {
    if !have("cc") {
        return;
    }
    for far in [false, true] {
        let test = format!("styles-{far}");
        let outcome = play(&test, Play { program: "styles.c", far, ..Play::default() });
        normal(&outcome, 0);
        let expected = "\
pli: '  ' CUSTOMER 6 1 000005CUSTOMER NUMBER 5       \n\
pli gn: 'GB'          0 1 000005CUSTOMER NUMBER 5       \n\
c: '  ' CUSTOMER 6 1 000005CUSTOMER NUMBER 5       \n\
asm: '  ' CUSTOMER 6 1 000005CUSTOMER NUMBER 5       \n\
aib 0 0 30 same pcb\n\
aib end 900\n\
aib nobody 104 208\n\
aib strange 104\n";
        assert!(outcome.output.contains(expected), "{}", outcome.output);
        for logged in [r"logged \x00\n\x00\x00\xa1TEXTS", r"logged \x00\t\x00\x00\xa1SHOR"] {
            assert!(outcome.log.contains(&logged.to_owned()), "{:?}", outcome.log);
        }
    }
}

#[test]
fn a_c_program_may_end_in_every_way() {
    if !have("cc") {
        return;
    }
    let run = |entry: &str| {
        let test = format!("c-{entry}");
        play(&test, Play { program: "styles.c", entry, ..Play::default() })
    };
    normal(&run("leaves"), 7);
    let divided = run("divide");
    let (code, text) = abend(&divided);
    assert_eq!(code, "S0CB");
    assert!(text.contains("outside of a DL/I call"), "{text}");
    let missing = run("nowhere");
    let Ended::NotStarted(abend) = &missing.report.ended else { panic!("{}", missing.report) };
    assert_eq!(abend.code, "HFR006");
    assert!(abend.text.contains("has no entry nowhere\n"), "{}", abend.text);
}

#[test]
fn the_main_of_a_c_program_is_entered_with_its_pcbs() {
    if !have("cc") {
        return;
    }
    let outcome = play("c-main", Play { program: "main.c", ..Play::default() });
    normal(&outcome, 3);
    assert!(outcome.output.contains("main: SHOPDB"), "{}", outcome.output);
}

#[test]
fn what_is_displayed_upon_syspunch_becomes_lines_of_its_dd() {
    if !have("cobc") {
        return;
    }
    let cards = folder("punch-file").join("cards");
    let dd = format!("SYSPUNCH={}", cards.display());
    let outcome = play("punch", Play { program: "punch.cbl", dds: &[&dd], ..Play::default() });
    normal(&outcome, 0);
    assert!(outcome.output.contains("PRINTED"), "{}", outcome.output);
    assert_eq!(shop::stage::read(&cards), "CARD ONE\nCARD TWO\n");
}

#[test]
fn a_killed_program_and_one_whose_server_broke_are_backed_out_by_the_system() {
    if !have("cc") || !have("cobc") {
        return;
    }
    let entry = "killed";
    let killed = play("killed", Play { program: "styles.c", entry, far: true, ..Play::default() });
    assert_eq!(abend(&killed).0, "S222");
    assert_eq!(killed.report.last_calls[0].key, "000001");
    assert_eq!(killed.log.last().map(String::as_str), Some("end Gone"));
    let input = "PANI\n";
    let broken =
        play("broken-far", Play { program: "fails.cbl", input, far: true, ..Play::default() });
    assert_eq!(abend(&broken).0, "HFR020");
    assert_eq!(broken.log.last().map(String::as_str), Some("end Abend"));
}

#[test]
fn a_file_gives_and_takes_search_arguments_and_lengths() {
    if !have("cc") {
        return;
    }
    let outcome = play("gsam", Play { program: "files.c", ..Play::default() });
    normal(&outcome, 0);
    let expected = "got '  ' RSA00001 5 HELLO.. RSA00001 8\nsearched 'GB'\nput '  '\n";
    assert!(outcome.output.contains(expected), "{}", outcome.output);
    assert!(outcome.log.contains(&"searched Some(\"RSA00042\")".to_owned()), "{:?}", outcome.log);
    assert!(outcome.log.contains(&"written NEW".to_owned()), "{:?}", outcome.log);
}

#[test]
fn a_program_finds_its_pcb_by_an_aib_and_calls_another_program() {
    if !have("cobc") {
        return;
    }
    let library = library("steplib", &["SHOPSUB.cbl"]);
    let steplib = format!("STEPLIB={}", library.display());
    let dds = [steplib.as_str()];
    let outcome = play("calls", Play { program: "calls.cbl", dds: &dds, ..Play::default() });
    normal(&outcome, 0);
    let output = &outcome.output;
    assert!(output.contains("000000000/000000000/000000030/SHOPDB  /000001"), "{output}");
    assert!(output.contains("CUSTOMER NUMBER 2"), "{output}");
}

/// A folder with programs that others call.
fn library(test: &str, programs: &[&str]) -> std::path::PathBuf {
    let library = folder(test);
    let disk = seam::real::RealDisk::new();
    for program in programs {
        let called = prepare(&guests().join(program)).expect("a program");
        let object = seam::disk::read_small(&disk, called.object(), 1 << 24).expect("an object");
        let path = library.join(program).with_extension("so");
        seam::fresh::replace_small(&disk, &path, &object).expect("a copy");
    }
    library
}

#[test]
fn a_c_function_of_a_cobol_program_makes_calls_too() {
    if !have("cobc") || !have("cc") {
        return;
    }
    let library = library("mixed-library", &["SHOPHELP.c"]);
    let steplib = format!("STEPLIB={}", library.display());
    let dds = [steplib.as_str()];
    let outcome = play("mixed", Play { program: "mixed.cbl", dds: &dds, ..Play::default() });
    normal(&outcome, 0);
    assert!(outcome.output.contains("HELPED   /000004"), "{}", outcome.output);
}

#[test]
fn a_program_reads_its_parm_as_its_command_line() {
    if !have("cobc") {
        return;
    }
    let outcome = play("parm", Play { program: "parm.cbl", ..Play::default() });
    normal(&outcome, 0);
    assert!(outcome.output.contains("PARM=the parm "), "{}", outcome.output);
}

#[test]
fn words_that_the_language_gives_a_meaning_keep_it() {
    if !have("cobc") {
        return;
    }
    let outcome = play("words", Play { program: "words.cbl", ..Play::default() });
    normal(&outcome, 0);
    assert!(outcome.output.contains("BLANKS=0009"), "{}", outcome.output);
    assert!(outcome.output.contains("THIS CENTURY"), "{}", outcome.output);
}

#[test]
fn packed_numbers_that_are_none_end_the_program_and_zoned_ones_if_asked() {
    if !have("cobc") {
        return;
    }
    let outcome = play("invalid", Play { program: "invalid.cbl", ..Play::default() });
    let (code, text) = abend(&outcome);
    assert_eq!(code, "S0C7");
    assert!(text.contains("'PACKED'") && text.contains("not numeric"), "{text}");
    assert!(outcome.output.contains("ZONED 000000012\n"), "{}", outcome.output);
    assert!(!outcome.output.contains("BEHIND"), "{}", outcome.output);
    let outcome = play("checked", Play { program: "checked.cbl", ..Play::default() });
    let (code, text) = abend(&outcome);
    assert!(code == "S0C7" && text.contains("'ZONED'"), "{code} {text}");
}

#[test]
fn a_division_by_zero_that_nothing_handles_ends_the_program() {
    if !have("cobc") {
        return;
    }
    for case in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let play = Play { program: "zero.cbl", input: case, ..Play::default() };
        let outcome = self::play(&format!("zero-{case}"), play);
        let (code, text) = abend(&outcome);
        assert_eq!(code, "S0CB", "{case}: {text}");
        assert!(text.contains("division by zero"), "{case}: {text}");
        let handled = (1..=7).map(|number| format!("HANDLED {number}\n"));
        let others = ["KEPT 00007/00007\n", "RESTS 00003\n", "SHARE 00002\n"];
        for line in handled.chain(others.map(str::to_owned)) {
            assert!(outcome.output.contains(&line), "{case}: {line}: {}", outcome.output);
        }
        assert!(!outcome.output.contains("NOT THIS"), "{case}: {}", outcome.output);
        assert!(!outcome.output.contains("BEHIND"), "{case}: {}", outcome.output);
    }
}

#[test]
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn a_sort_whose_files_fail_ends_the_program_or_says_so() {
    if !have("cobc") {
        return;
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("region-sorting");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = |name: &str| folder.join(name).display().to_string();
    std::fs::write(file("in"), b"BBBBBBBBBBAAAAAAAAAA").expect("a file");
    let sorts = |test: &str, input: &str, output: &str, how: &str| {
        let dds = [format!("INFILE={input}"), format!("OUTFILE={output}")];
        let dds: Vec<&str> = dds.iter().map(String::as_str).collect();
        play(test, Play { program: "sorting.cbl", dds: &dds, input: how, ..Play::default() })
    };
    let outcome = sorts("sort-done", &file("in"), &file("out"), "-");
    normal(&outcome, 0);
    assert!(outcome.output.contains("SORTED 0000 --"), "{}", outcome.output);
    assert_eq!(std::fs::read(file("out")).expect("a file"), b"AAAAAAAAAABBBBBBBBBB");
    for (test, input, output) in [
        ("sort-no-input", file("none"), file("out")),
        ("sort-folder", file("in"), file("")),
        ("sort-full", file("in"), "/dev/full".to_owned()),
    ] {
        let outcome = sorts(test, &input, &output, "-");
        let (code, text) = abend(&outcome);
        assert!(code == "U4038" && text.contains("status = 3"), "{test}: {code} {text}");
    }
    // A program with a status for the file goes on, and finds 16.
    let outcome = sorts("sort-watched", &file("in"), "/dev/full", "W");
    assert!(outcome.output.contains("SORTED 0016"), "{}", outcome.output);
}

#[test]
fn a_trace_has_every_call() {
    if !have("cobc") {
        return;
    }
    let outcome = play("trace", Play { program: "entry.cbl", trace: true, ..Play::default() });
    let lines: Vec<serde_json::Value> =
        outcome.trace.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0]["ssas"][0], "CUSTOMER(CUSTKEY  =000002)");
    assert_eq!(lines[0]["key"], "000002");
    assert_eq!(lines[4]["status"], "GB");
}

#[test]
fn errors_of_a_source_are_shown_with_its_lines() {
    if !have("cobc") {
        return;
    }
    let error = prepare(&guests().join("broken.cbl")).expect_err("it does not compile");
    let RegionError::Source { messages, .. } = &error else { panic!("{error}") };
    assert!(messages.contains("broken.cbl:7: error: 'NOBODY-KNOWS' is not defined"), "{messages}");
    assert!(messages.contains("     7 |            MOVE CUSTOMER-KEY TO NOBODY-KNOWS."));
    assert!(matches!(prepare(&guests().join("no.cbl")), Err(RegionError::NoProgram(_))));
}

#[test]
fn what_was_compiled_is_used_again() {
    if !have("cobc") {
        return;
    }
    let first = prepare(&guests().join("entry.cbl")).expect("a program");
    let second = prepare(&guests().join("entry.cbl")).expect("a program");
    assert!(!second.is_fresh());
    assert_eq!(first.object(), second.object());
}

#[test]
fn a_system_refuses_jobs_and_sends_programs_away() {
    let folder = folder("door");
    let socket = folder.join("socket");
    let absent = bmp::Connection::open(&socket, b"the shop").err().expect("nobody is there");
    assert!(matches!(absent, RegionError::NoSystem { .. }), "{absent}");
    let door = door(&folder);
    let refused = bmp::Connection::open(&socket, b"another").err().expect("a refusal");
    assert!(matches!(&refused, RegionError::Refused(failure) if failure.code == "HFY999"));
    let connection = bmp::Connection::open(&socket, b"the shop").expect("a connection");
    // The thread that refused the other one may still be on its way out.
    for _ in 0..1_000_000 {
        if door.programs() == 1 {
            break;
        }
        seam::thread::yield_now();
    }
    assert_eq!(door.programs(), 1);
    door.close();
    assert_eq!(shop::stage::read(&folder.join("log")), "end Abend\n");
    drop(connection);
}

#[test]
fn a_program_that_goes_without_a_word_is_backed_out() {
    let folder = folder("gone");
    let door = door(&folder);
    let connection = bmp::Connection::open(&folder.join("socket"), b"the shop");
    drop(connection.expect("a connection"));
    while door.programs() > 0 {
        seam::thread::yield_now();
    }
    assert_eq!(shop::stage::read(&folder.join("log")), "end Gone\n");
    door.close();
}

/// What was left of a killed run committed its checkpoint when the restart had looked for the last
/// one already.
#[test]
fn a_step_is_not_run_again_before_what_is_left_of_it_has_ended() {
    let folder = folder("again");
    let socket = folder.join("socket");
    let gate = std::sync::Arc::new(seam::sync::Mutex::new(()));
    let door = shop::stage::slow_door(&folder, &gate);
    let held = gate.lock();
    drop(bmp::Connection::open(&socket, b"the shop").expect("a connection"));
    let (ours, path) = (socket.clone(), folder.join("log"));
    let again = seam::thread::spawn("again", move || {
        drop(bmp::Connection::open(&ours, b"the shop").expect("a connection"));
        assert!(shop::stage::read(&path).starts_with("end Gone\n"), "the first one had ended");
    });
    let other = bmp::Connection::open(&socket, b"the other shop").expect("another step waits not");
    seam::Seam::real().clock.sleep(std::time::Duration::from_millis(300));
    assert_eq!(shop::stage::read(&folder.join("log")), "");
    drop(held);
    again.expect("a thread").join();
    drop(other);
    door.close();
}

#[test]
#[allow(clippy::disallowed_methods)] // people's files, seen from outside
fn records_that_cannot_become_lines_are_kept_and_those_of_killed_jobs_go() {
    let disk = seam::Seam::real().disk;
    let at = folder("kept");
    let (scratch, lines) = (at.join("scratch"), at.join("lines"));
    std::fs::create_dir_all(&scratch).expect("a folder");
    std::fs::create_dir_all(&lines).expect("a folder");
    let stale = scratch.join("OUT.2147483646");
    std::fs::write(&stale, "of a killed job").expect("a file");
    let dds = [Dd::parse(&format!("OUT={},text", lines.join("out").display())).expect("a DD")];
    let file = CobolFile { name: "OUT".into(), record_bytes: 4, form: FileForm::Fixed };
    let files = Files::prepare(&*disk, &dds, &[file], &Library::default(), &scratch);
    assert!(!stale.exists());
    let records = scratch.join(format!("OUT.{}", std::process::id()));
    std::fs::write(&records, "ONE TWO ").expect("the program writes");
    std::fs::remove_dir(&lines).expect("the folder goes");
    let error = files.expect("ready").finish(&*disk).expect_err("there is no place for them");
    let RegionError::NotWritten { records, .. } = error else { panic!("{error}") };
    assert_eq!(std::fs::read(records).expect("they are kept"), b"ONE TWO ");
}
