//! Files of the machine that nobody closes in so many words.

use file_handler::fcd::{Access, Organization};
use file_handler::handler::IMPLICIT;
use file_handler::{FileStatus, Handler};

use crate::program::{
    CLOSE, DELETE, File, NEXT, Names, OPEN_EXTEND, OPEN_INPUT, OPEN_IO, OPEN_OUTPUT, Program, READ,
    REWRITE, WRITE,
};

fn program() -> Program {
    Program { handler: Handler::new(Box::new(Names::default()), None) }
}

/// A device that takes nothing, and says so at each write.
fn full() -> File {
    File::new("/dev/full", Organization::Sequential, Access::Sequential, 10)
}

#[test]
fn what_no_program_hears_of_is_kept_for_the_end_of_the_run() {
    let (mut program, mut file) = (program(), full());
    assert_eq!(file.ask(&mut program, OPEN_OUTPUT), "00");
    assert_eq!(file.record("lost").ask(&mut program, WRITE), "34");
    file.fcd.set_options(IMPLICIT);
    assert_eq!(file.ask(&mut program, CLOSE), "34");
    let unfinished = program.handler.close_all();
    let answer: Vec<_> = unfinished.iter().map(|one| (one.name.as_str(), one.status)).collect();
    assert_eq!(answer, [("/dev/full", FileStatus::NO_SPACE)]);
    assert!(program.handler.close_all().is_empty(), "it is told once");
}

#[test]
fn what_a_program_has_heard_of_is_not_told_again() {
    let (mut program, mut file) = (program(), full());
    assert_eq!(file.ask(&mut program, OPEN_OUTPUT), "00");
    assert_eq!(file.record("lost").ask(&mut program, WRITE), "34");
    assert_eq!(file.ask(&mut program, CLOSE), "34");
    assert!(program.handler.close_all().is_empty());
    // What is still open is.
    assert_eq!(file.ask(&mut program, OPEN_OUTPUT), "00");
    assert_eq!(file.record("lost").ask(&mut program, WRITE), "34");
    assert_eq!(program.handler.close_all().len(), 1);
}

#[test]
fn the_close_of_one_file_lets_go_of_nothing_that_another_of_the_program_has() {
    let path = std::env::temp_dir().join(format!("holdfast-lock-{}", std::process::id()));
    let name = path.to_str().unwrap().to_owned();
    let names = ["ONE", "TWO", "SIX"].map(|dd| (format!("DD_{dd}"), name.clone()));
    let names = Names(names.into_iter().collect());
    let mut program = Program { handler: Handler::new(Box::new(names), None) };
    let file = |name| File::new(name, Organization::Sequential, Access::Sequential, 10);
    let mut one = file("ONE");
    assert_eq!(one.ask(&mut program, OPEN_OUTPUT), "00");
    assert_eq!(one.record("first").ask(&mut program, WRITE), "00");
    // Another of the same program is kept out as one of another program is.
    for code in [OPEN_INPUT, OPEN_EXTEND, OPEN_OUTPUT] {
        assert_eq!(file("SIX").ask(&mut program, code), "93");
    }
    assert_eq!(one.ask(&mut program, CLOSE), "00");
    let (mut one, mut two) = (file("ONE"), file("TWO"));
    assert_eq!(one.ask(&mut program, OPEN_INPUT), "00");
    assert_eq!(two.ask(&mut program, OPEN_INPUT), "00");
    assert_eq!(two.ask(&mut program, CLOSE), "00");
    assert_eq!(file("SIX").ask(&mut program, OPEN_EXTEND), "93");
    assert_eq!(one.ask(&mut program, NEXT), "00");
    assert_eq!(one.text(), "first");
    assert_eq!(one.ask(&mut program, CLOSE), "00");
    assert_eq!(file("SIX").ask(&mut program, OPEN_EXTEND), "00");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_relative_file_that_ends_inside_a_slot_is_told_and_keeps_all_others() {
    let path = std::env::temp_dir().join(format!("holdfast-cut-{}", std::process::id()));
    let names = Names([("DD_SLOTS".to_owned(), path.to_str().unwrap().to_owned())].into());
    let mut program = Program { handler: Handler::new(Box::new(names), None) };
    let p = &mut program;
    let open = |access| File::new("SLOTS", Organization::Relative, access, 10);
    let mut file = open(Access::Sequential);
    assert_eq!(file.ask(p, OPEN_OUTPUT), "00");
    for text in ["first", "second", "third"] {
        assert_eq!(file.record(text).ask(p, WRITE), "00");
    }
    assert_eq!(file.ask(p, CLOSE), "00");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 4]).unwrap();

    let mut file = open(Access::Dynamic);
    assert_eq!(file.ask(p, OPEN_IO), "00");
    for (code, number, status) in
        [(READ, 2, "00"), (READ, 3, "30"), (READ, 4, "23"), (WRITE, 3, "30"), (WRITE, 9, "30")]
    {
        assert_eq!(file.number(number).ask(p, code), status, "{code:x} {number}");
    }
    for (number, code) in [(2, NEXT), (3, REWRITE), (3, DELETE)] {
        assert_eq!(file.number(2).ask(p, READ), "00");
        assert_eq!(file.number(number).ask(p, code), "30");
    }
    assert_eq!(file.ask(p, CLOSE), "00");
    let mut file = open(Access::Sequential);
    assert_eq!(file.ask(p, OPEN_EXTEND), "00");
    assert_eq!(file.record("fourth").ask(p, WRITE), "30");
    assert_eq!(file.ask(p, CLOSE), "00");
    assert_eq!(std::fs::read(&path).unwrap(), whole[..whole.len() - 4]);
    std::fs::remove_file(&path).unwrap();
}
