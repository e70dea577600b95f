//! What programs outside see of an owner's files.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use file_handler::FileStatus;
use file_handler::body::Which;
use file_handler::data_set::DataSets as _;
use file_handler::fcd::{Access, OpenMode};
use file_handler::opcode::Relation;
use owner::Options;
use owner::unit::{BACKOUT, BEGIN, COMMIT};
use store::Store;
use store_suite::model::ModelStore;

use crate::ground::{Ground, Owner, account};

/// Each case runs over the model of the store and over the kernel.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod on_the_model {
            use super::{ModelStore, Options, Owner};
            $(#[test]
            fn $name() {
                super::$name(&mut Owner::over(ModelStore::new(), Options::default()));
            })*
        }
        mod on_the_kernel {
            use super::{Ground, Options, Owner};
            $(#[test]
            fn $name() {
                let ground = Ground::new(stringify!($name));
                super::$name(&mut Owner::over(ground.store.clone(), Options::default()));
            })*
        }
    };
}

on_both! {
    records_are_read_ahead_and_in_both_directions
    what_is_read_ahead_shows_the_programs_own_changes
    going_back_leads_to_the_record_itself
    several_programs_change_one_file_whatever_its_share_options
    a_record_that_was_read_to_be_changed_waits_for_nobody_else
    a_unit_of_work_is_whole_or_nothing
    behind_a_unit_of_work_that_has_failed_nothing_is_emptied
    a_connection_that_is_lost_is_a_status_and_backs_out_what_was_begun
    what_is_written_behind_delete_file_stays
    a_file_that_is_emptied_in_a_unit_of_work_that_has_changed_it_comes_back_with_that
    names_of_another_system_and_of_none_are_refused
    what_is_no_request_harms_nobody
}

fn records_are_read_ahead_and_in_both_directions<S: Store>(owner: &mut Owner<S>) {
    let mut program = owner.program();
    program.load(1000);
    let mut file = program.open(OpenMode::Input, Access::Dynamic);
    for number in 0..700 {
        assert_eq!(file.next().as_deref(), Ok(account(number, "ANNA").trim_end()), "{number}");
    }
    for number in (100..699).rev() {
        assert_eq!(file.previous().as_deref(), Ok(account(number, "ANNA").trim_end()), "{number}");
    }
    for number in 101..1000 {
        assert_eq!(file.next().as_deref(), Ok(account(number, "ANNA").trim_end()), "{number}");
    }
    assert_eq!(file.next(), Err(FileStatus::END));
    assert_eq!(file.previous().as_deref(), Ok("AA0998ANNA"));
    assert_eq!(file.read("AA0500").as_deref(), Ok("AA0500ANNA"));
    assert_eq!(file.next().as_deref(), Ok("AA0501ANNA"));
    file.0.start(Relation::GreaterOrEqual, Which::Key { number: 1, value: b"ANNA" }).unwrap();
    for number in 0..200 {
        assert_eq!(file.next().as_deref(), Ok(account(number, "ANNA").trim_end()), "{number}");
    }
    let mut record = Vec::new();
    let found = file.0.read_next(false, &mut record).unwrap();
    assert_eq!(found.status, FileStatus::DUPLICATE, "another one has the same name");
    file.0.close().unwrap();
    assert_eq!(file.next(), Err(FileStatus::NOT_OPEN));
}

fn what_is_read_ahead_shows_the_programs_own_changes<S: Store>(owner: &mut Owner<S>) {
    let mut program = owner.program();
    program.load(100);
    let mut reader = program.open(OpenMode::Input, Access::Sequential);
    for _ in 0..10 {
        reader.next().unwrap();
    }
    let mut writer = program.open(OpenMode::InputOutput, Access::Random);
    assert_eq!(writer.rewrite(&account(10, "BERT")), FileStatus::DONE);
    assert_eq!(writer.delete("AA0011"), FileStatus::DONE);
    assert_eq!(writer.write(&account(12, "CARL")), FileStatus::KEY_EXISTS);
    assert_eq!(reader.next().as_deref(), Ok("AA0010BERT"));
    assert_eq!(reader.next().as_deref(), Ok("AA0012ANNA"));
}

fn going_back_leads_to_the_record_itself<S: Store>(owner: &mut Owner<S>) {
    let mut program = owner.program();
    program.load(100);
    let mut reader = program.open(OpenMode::Input, Access::Dynamic);
    for _ in 0..30 {
        reader.next().unwrap();
    }
    // Another program removes and adds records on both sides of the place.
    let mut other = owner.program();
    let mut writer = other.open(OpenMode::InputOutput, Access::Dynamic);
    for key in ["AA0027", "AA0031", "AA0032", "AA0040"] {
        assert_eq!(writer.delete(key), FileStatus::DONE);
    }
    assert_eq!(reader.previous().as_deref(), Ok("AA0028ANNA"));
    assert_eq!(reader.previous().as_deref(), Ok("AA0026ANNA"));
    assert_eq!(reader.next().as_deref(), Ok("AA0028ANNA"));
}

fn several_programs_change_one_file_whatever_its_share_options<S: Store>(owner: &mut Owner<S>) {
    let mut first = owner.program();
    first.load(10);
    let mut second = owner.program();
    let mut one = first.open(OpenMode::InputOutput, Access::Random);
    let mut other = second.open(OpenMode::InputOutput, Access::Random);
    assert_eq!(one.rewrite(&account(3, "BERT")), FileStatus::DONE);
    assert_eq!(other.read("AA0003").as_deref(), Ok("AA0003BERT"));
    assert_eq!(other.rewrite(&account(3, "CARL")), FileStatus::DONE);
    assert_eq!(one.read("AA0003").as_deref(), Ok("AA0003CARL"));
    assert_eq!(one.delete("AA0003"), FileStatus::DONE);
    assert_eq!(other.read("AA0003"), Err(FileStatus::NOT_FOUND));
    assert_eq!(other.delete("AA0003"), FileStatus::NOT_FOUND);
    // No program loads it meanwhile.
    let load = second.opens("#VSAM.#CICS.BANK/ACCOUNT", OpenMode::Output, Access::Sequential);
    assert_eq!(load.err(), Some(FileStatus::RESOURCE));
}

fn a_record_that_was_read_to_be_changed_waits_for_nobody_else<S: Store>(owner: &mut Owner<S>) {
    let mut first = owner.program();
    first.load(10);
    let mut one = first.open(OpenMode::InputOutput, Access::Random);
    assert_eq!(one.read("AA0003").as_deref(), Ok("AA0003ANNA"));
    let mut second = owner.program();
    let other = seam::thread::spawn("other", move || {
        let mut other = second.open(OpenMode::InputOutput, Access::Random);
        // It waits until the first program has changed the record.
        assert_eq!(other.read("AA0003").as_deref(), Ok("AA0003BERT"));
        assert_eq!(other.rewrite(&account(3, "CARL")), FileStatus::DONE);
    })
    .unwrap();
    assert_eq!(one.rewrite(&account(3, "BERT")), FileStatus::DONE);
    other.join();
    assert_eq!(one.read("AA0003").as_deref(), Ok("AA0003CARL"));
    // What is only read is let go with the next request.
    assert_eq!(one.read("AA0004").as_deref(), Ok("AA0004ANNA"));
    let mut third = owner.program();
    let mut free = third.open(OpenMode::InputOutput, Access::Random);
    assert_eq!(free.rewrite(&account(3, "DORA")), FileStatus::DONE);
}

fn a_unit_of_work_is_whole_or_nothing<S: Store>(owner: &mut Owner<S>) {
    let mut program = owner.program();
    program.load(10);
    let mut file = program.open(OpenMode::InputOutput, Access::Random);
    assert_eq!(program.unit(COMMIT), FileStatus::LOGIC, "none was begun");
    assert_eq!(program.unit(BEGIN), FileStatus::DONE);
    assert_eq!(program.unit(BEGIN), FileStatus::LOGIC, "there is one");
    assert_eq!(file.rewrite(&account(1, "BERT")), FileStatus::DONE);
    assert_eq!(file.delete("AA0002"), FileStatus::DONE);
    assert_eq!(program.unit(BACKOUT), FileStatus::DONE);
    assert_eq!(file.read("AA0001").as_deref(), Ok("AA0001ANNA"));
    assert_eq!(file.read("AA0002").as_deref(), Ok("AA0002ANNA"));
    assert_eq!(program.unit(BEGIN), FileStatus::DONE);
    assert_eq!(file.rewrite(&account(1, "BERT")), FileStatus::DONE);
    assert_eq!(file.write("AA0003ANNA          "), FileStatus::KEY_EXISTS);
    assert_eq!(file.delete("AA0002"), FileStatus::DONE);
    assert_eq!(program.unit(COMMIT), FileStatus::DONE);
    assert_eq!(file.read("AA0001").as_deref(), Ok("AA0001BERT"));
    assert_eq!(file.read("AA0002"), Err(FileStatus::NOT_FOUND));
}

fn a_connection_that_is_lost_is_a_status_and_backs_out_what_was_begun<S: Store>(
    owner: &mut Owner<S>,
) {
    let mut program = owner.program();
    program.load(300);
    let mut file = program.open(OpenMode::InputOutput, Access::Dynamic);
    assert_eq!(program.unit(BEGIN), FileStatus::DONE);
    assert_eq!(file.rewrite(&account(1, "BERT")), FileStatus::DONE);
    owner.server = None;
    assert_eq!(file.read("AA0001"), Err(FileStatus::UNREACHABLE));
    assert_eq!(file.rewrite(&account(1, "BERT")), FileStatus::UNREACHABLE);
    let opened = program.opens("#VSAM.#CICS.BANK/ACCOUNT", OpenMode::Input, Access::Random);
    assert_eq!(opened.err(), Some(FileStatus::RESOURCE));
    owner.start(Options::default());
    assert_eq!(file.next(), Err(FileStatus::UNREACHABLE), "it was open over another one");
    let mut again = program.open(OpenMode::InputOutput, Access::Random);
    assert_eq!(again.read("AA0001").as_deref(), Ok("AA0001ANNA"));
    assert_eq!(file.0.close(), Err(FileStatus::UNREACHABLE));
    assert_eq!(again.read("AA0299").as_deref(), Ok("AA0299ANNA"), "it was loaded and closed");
}

const ACCOUNTS: &str = "#VSAM.#CICS.BANK/ACCOUNT";

fn what_is_written_behind_delete_file_stays<S: Store>(owner: &mut Owner<S>) {
    let mut program = owner.program();
    program.load(10);
    assert_eq!(program.owners.empty(ACCOUNTS), Ok(()));
    let gone = program.opens(ACCOUNTS, OpenMode::Input, Access::Sequential);
    assert_eq!(gone.err(), Some(FileStatus::NO_FILE), "as if it had never had a record");
    assert_eq!(program.unit(COMMIT), FileStatus::LOGIC, "none was begun");
    program.load(2);
    let mut file = program.open(OpenMode::InputOutput, Access::Random);
    assert_eq!(program.owners.empty(ACCOUNTS), Err(FileStatus::RESOURCE), "it is open");
    assert_eq!(file.rewrite(&account(1, "BERT")), FileStatus::DONE);
    file.0.close().unwrap();
    drop((file, program));
    owner.server = None;
    owner.start(Options::default());
    let mut later = owner.program();
    let mut file = later.open(OpenMode::Input, Access::Dynamic);
    assert_eq!(file.next().as_deref(), Ok("AA0000ANNA"));
    assert_eq!(file.next().as_deref(), Ok("AA0001BERT"));
    assert_eq!(file.next(), Err(FileStatus::END));
}

fn a_file_that_is_emptied_in_a_unit_of_work_that_has_changed_it_comes_back_with_that<S: Store>(
    owner: &mut Owner<S>,
) {
    let mut program = owner.program();
    program.load(3);
    for (end, left) in [(BACKOUT, "AA0000ANNA"), (COMMIT, "AA0007CARL")] {
        assert_eq!(program.unit(BEGIN), FileStatus::DONE);
        let mut file = program.open(OpenMode::InputOutput, Access::Random);
        assert_eq!(file.rewrite(&account(1, "BERT")), FileStatus::DONE);
        file.0.close().unwrap();
        let mut file = program.open(OpenMode::Output, Access::Sequential);
        assert_eq!(file.write(&account(5, "DORA")), FileStatus::DONE);
        file.0.close().unwrap();
        assert_eq!(program.owners.empty(ACCOUNTS), Ok(()));
        let mut file = program.open(OpenMode::Output, Access::Sequential);
        assert_eq!(file.write(&account(7, "CARL")), FileStatus::DONE);
        file.0.close().unwrap();
        assert_eq!(program.unit(end), FileStatus::DONE);
        let mut file = program.open(OpenMode::Input, Access::Dynamic);
        assert_eq!(file.next().as_deref(), Ok(left));
        let by_name = Which::Key { number: 1, value: b"CARL" };
        let found = file.0.start(Relation::Equal, by_name);
        assert_eq!(found.is_ok(), end == COMMIT, "the index goes with it");
        file.0.close().unwrap();
    }
}

fn behind_a_unit_of_work_that_has_failed_nothing_is_emptied<S: Store>(owner: &mut Owner<S>) {
    let mut first = owner.program();
    first.load(5);
    let mut second = owner.program();
    let mut one = first.open(OpenMode::InputOutput, Access::Random);
    let mut two = second.open(OpenMode::InputOutput, Access::Random);
    assert_eq!(first.unit(BEGIN), FileStatus::DONE);
    assert_eq!(second.unit(BEGIN), FileStatus::DONE);
    assert_eq!(one.rewrite(&account(1, "BERT")), FileStatus::DONE);
    assert_eq!(two.rewrite(&account(2, "DORA")), FileStatus::DONE);
    // Each wants the other's record: one of them is backed out, whichever.
    let answer = std::sync::Arc::new(seam::sync::Mutex::new(None));
    let told = std::sync::Arc::clone(&answer);
    let other = seam::thread::spawn("other", move || {
        let status = two.rewrite(&account(1, "CARL"));
        *told.lock() = Some((status, two));
    });
    let status = one.rewrite(&account(2, "EMMA"));
    let (mut lost, mut won) = match status == FileStatus::DONE {
        true => (None, Some((&mut first, one))),
        false => (Some((&mut first, one)), None),
    };
    // Who goes on holds the other one up.
    if let Some((program, mut file)) = won.take() {
        assert_eq!(program.unit(BACKOUT), FileStatus::DONE);
        file.0.close().unwrap();
    }
    other.unwrap().join();
    let (theirs, mut two) = answer.lock().take().unwrap();
    if lost.is_none() {
        assert_eq!(theirs, FileStatus::RESOURCE);
        lost = Some((&mut second, two));
    } else {
        assert_eq!(theirs, FileStatus::DONE);
        assert_eq!(second.unit(BACKOUT), FileStatus::DONE);
        two.0.close().unwrap();
    }
    let (victim, mut file) = lost.unwrap();
    file.0.close().unwrap();
    assert_eq!(victim.owners.empty(ACCOUNTS), Err(FileStatus::RESOURCE));
    let loads = victim.opens(ACCOUNTS, OpenMode::Output, Access::Sequential).err();
    assert_eq!(loads, Some(FileStatus::RESOURCE));
    assert_eq!(victim.unit(COMMIT), FileStatus::RESOURCE);
    let mut file = victim.open(OpenMode::Input, Access::Random);
    for number in 0..5 {
        let text = account(number, "ANNA");
        assert_eq!(file.read(&text[..6]).as_deref(), Ok(text.trim_end()));
    }
    file.0.close().unwrap();
    // It is over: the next one is a new one.
    assert_eq!(victim.owners.empty(ACCOUNTS), Ok(()));
}

fn names_of_another_system_and_of_none_are_refused<S: Store>(owner: &mut Owner<S>) {
    let mut program = owner.program();
    program.load(1);
    let mut open = |name: &str| program.opens(name, OpenMode::Input, Access::Random).err();
    assert_eq!(open("#VSAM.#CICS.BANK/NOFILE"), Some(FileStatus::NO_FILE));
    assert_eq!(open("#VSAM.#CICS.BANK/BANK.ACCOUNT"), None, "a name of the catalog");
    assert_eq!(open("#VSAM.#CICS.SHOP/ACCOUNT"), Some(FileStatus::RESOURCE));
    assert_eq!(open("BANK.ACCOUNT"), Some(FileStatus::NO_DD), "no system is named");
    let folder = owner.folder.to_str().unwrap();
    let variables = [("HOLDFAST_SYSTEM", folder), ("HOLDFAST_OWNER_SHOP", folder)];
    let mut named = crate::ground::Program::with(&variables);
    let mut open = |name: &str| named.opens(name, OpenMode::Input, Access::Random).err();
    assert_eq!(open("#VSAM.#CICS.SHOP/ACCOUNT"), Some(FileStatus::RESOURCE), "it is BANK");
    // The path of the names is BANK's by its own name, too.
    assert_eq!(open("BANK.ACCOUNT"), None);
    assert_eq!(open("ACCOUNT"), Some(FileStatus::NO_FILE), "files' names are the applid's");
}

fn what_is_no_request_harms_nobody<S: Store>(owner: &mut Owner<S>) {
    let mut program = owner.program();
    program.load(3);
    let socket = owner.folder.join(owner::place::SOCKET);
    for bytes in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0xff; 64], &[0; 64]] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let _ = stream.write_all(bytes);
    }
    let line = program.owners.line("#VSAM.#CICS.BANK/ACCOUNT").unwrap().unwrap();
    let mut seed = 1_u64;
    for len in 0..400_usize {
        let bytes: Vec<u8> = (0..len % 40)
            .map(|at| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if at == 0 { (seed >> 40) as u8 % 40 } else { (seed >> 56) as u8 % 4 }
            })
            .collect();
        // BEGIN and its like are requests.
        if !matches!(bytes.first(), Some(10..=12)) {
            let mut answer = Vec::new();
            assert!(file_handler::Carrier::carry(&mut *line.lock(), &bytes, &mut answer));
            assert!(!answer.is_empty(), "{bytes:?}");
        }
    }
    let mut file = program.open(OpenMode::Input, Access::Sequential);
    assert_eq!(file.next().as_deref(), Ok("AA0000ANNA"));
}
