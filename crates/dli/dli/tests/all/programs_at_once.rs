//! Programs at once: no update is lost through hold calls, and what a program reads cannot change
//! while it stands there (H5).
//!
//! `HOLDFAST_SEEDS=500` tries so many schedules of each.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use std::sync::Arc;

use crate::programs::{Program, Yard, under_every_schedule};

/// Accounts with a sum, postings with a number and notes without; an index by a tag of its own
/// for each account. PCBs: 0 all, 1 all by tag, 2 all without locks, 3 reading, 4 all once more, 5
/// the index as a database.
const BANK: &str = "
         DBD   NAME=BANKDB,ACCESS=(HIDAM,VSAM)
         DATASET DD1=BANKDD
         SEGM  NAME=ACCT,PARENT=0,BYTES=8
         FIELD NAME=(NO,SEQ,U),START=1,BYTES=2
         FIELD NAME=TAG,START=3,BYTES=2
         FIELD NAME=SUM,START=5,BYTES=4
         LCHILD NAME=(BANKKEY,BANKPX),POINTER=INDX
         LCHILD NAME=(TAGKEY,BANKTX),POINTER=INDX
         XDFLD NAME=XTAG,SRCH=TAG,NULLVAL=BLANK
         SEGM  NAME=POST,PARENT=ACCT,BYTES=5
         FIELD NAME=(PNO,SEQ,U),START=1,BYTES=4
         SEGM  NAME=NOTE,PARENT=ACCT,BYTES=4,RULES=(LLL,LAST)
         FIELD NAME=TEXT,START=1,BYTES=4
         DBDGEN
         DBD   NAME=BANKPX,ACCESS=(INDEX,VSAM)
         DATASET DD1=BANKPX
         SEGM  NAME=BANKKEY,PARENT=0,BYTES=2
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(ACCT,BANKDB),INDEX=NO
         DBDGEN
         DBD   NAME=BANKTX,ACCESS=(INDEX,VSAM)
         DATASET DD1=BANKTX
         SEGM  NAME=TAGKEY,PARENT=0,BYTES=8
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(ACCT,BANKDB),INDEX=XTAG
         DBDGEN
         PCB   TYPE=DB,DBDNAME=BANKDB,PROCOPT=AP
         SENSEG NAME=ACCT,PARENT=0
         SENSEG NAME=POST,PARENT=ACCT
         SENSEG NAME=NOTE,PARENT=ACCT
         PCB   TYPE=DB,DBDNAME=BANKDB,PROCOPT=A,PROCSEQ=BANKTX
         SENSEG NAME=ACCT,PARENT=0
         SENSEG NAME=POST,PARENT=ACCT
         SENSEG NAME=NOTE,PARENT=ACCT
         PCB   TYPE=DB,DBDNAME=BANKDB,PROCOPT=GO
         SENSEG NAME=ACCT,PARENT=0
         SENSEG NAME=POST,PARENT=ACCT
         SENSEG NAME=NOTE,PARENT=ACCT
         PCB   TYPE=DB,DBDNAME=BANKDB,PROCOPT=G
         SENSEG NAME=ACCT,PARENT=0
         SENSEG NAME=POST,PARENT=ACCT
         SENSEG NAME=NOTE,PARENT=ACCT
         PCB   TYPE=DB,DBDNAME=BANKDB,PROCOPT=A
         SENSEG NAME=ACCT,PARENT=0
         SENSEG NAME=POST,PARENT=ACCT
         SENSEG NAME=NOTE,PARENT=ACCT
         PCB   TYPE=DB,DBDNAME=BANKTX,PROCOPT=A
         SENSEG NAME=TAGKEY,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=TELLER
         END
";

/// Three accounts, the second one with two postings.
const GIVEN: &str = r#"
0 ISRT <"A1aa0000" ACCT
0 ISRT <"A2bb0000" ACCT
0 ISRT <"0001x" POST
0 ISRT <"0002y" POST
0 ISRT <"A3cc0000" ACCT
"#;

fn in_the_bank(test: impl Fn(&Arc<Yard>)) {
    under_every_schedule(BANK, GIVEN, test);
}

/// What the area of an account says, with its sum raised by one.
fn raised(account: &str) -> String {
    let sum: u32 = account[4..8].parse().unwrap();
    format!("{}{:04}", &account[..4], sum + 1)
}

/// The sum of an account.
fn sum_of(program: &mut Program, account: &str) -> String {
    program.done(&format!("0 GU ACCT(NO={account})"))[4..8].to_owned()
}

/// How programs find the account whose sum they raise.
fn count_up(ways: &'static [&'static str], rounds: usize) {
    in_the_bank(|yard| {
        let counting = |way: &'static str| {
            yard.beside(way, move |_, program| {
                for _ in 0..rounds {
                    program.work(|program| {
                        for line in way.split(';') {
                            let (status, area) = program.call(line)?;
                            assert_eq!(status, "  ", "{line}");
                            let area = String::from_utf8(area).unwrap();
                            if area.len() == 8 && line.contains(" GH") {
                                let pcb = &line[..1];
                                let replace = format!("{pcb} REPL <\"{}\"", raised(&area));
                                assert_eq!(program.call(&replace)?.0, "  ");
                            }
                        }
                        Ok(())
                    });
                }
            })
        };
        let others: Vec<_> = ways.iter().map(|way| counting(way)).collect();
        others.into_iter().for_each(crate::programs::Other::end);
        let mut judge = yard.program();
        let sum = format!("{:04}", ways.len() * rounds);
        assert_eq!(sum_of(&mut judge, "A2"), sum);
    });
}

#[test]
fn no_update_is_lost_through_hold_calls() {
    count_up(&["0 GHU ACCT(NO=A2)", "0 GHU ACCT(NO=A2)", "4 GHU ACCT(NO=A2)"], 6);
}

#[test]
fn no_update_is_lost_by_who_reads_first_and_holds_later() {
    count_up(&["3 GU ACCT(NO=A2);0 GHU ACCT(NO=A2)", "0 GU ACCT(NO=A2);0 GHU ACCT(NO=A2)"], 6);
}

#[test]
fn no_update_is_lost_through_two_pcbs_of_a_program() {
    count_up(&["0 GHU ACCT(NO=A2);4 GHU ACCT(NO=A3)", "4 GHU ACCT(NO=A3);0 GHU ACCT(NO=A2)"], 5);
}

#[test]
fn no_update_is_lost_when_the_record_is_found_by_walking() {
    count_up(&["0 GU ACCT(NO=A1);0 GHN ACCT", "0 GHU ACCT(NO>A1)", "0 GHU ACCT(TAG=bb)"], 6);
}

#[test]
fn no_update_is_lost_through_a_secondary_index() {
    count_up(&["1 GHU ACCT(XTAG=bb)", "0 GHU ACCT(NO=A2)", "1 GHU ACCT(XTAG>aa)"], 6);
}

#[test]
fn a_record_cannot_change_while_a_position_is_in_it() {
    for reader in ["0", "3"] {
        in_the_bank(|yard| {
            let mut here = yard.program();
            let before = here.done(&format!("{reader} GU ACCT(NO=A2)"));
            let other = yard.beside("writer", |_, program| {
                program.work(|program| {
                    let (_, area) = program.call("0 GHU ACCT(NO=A2)")?;
                    let area = raised(std::str::from_utf8(&area).unwrap());
                    program.call(&format!("0 REPL <\"{area}\"")).map(drop)
                });
            });
            yard.let_others_run();
            assert!(other.waits());
            here.done(&format!("{reader} GNP POST"));
            yard.let_others_run();
            assert!(other.waits(), "the position is in the record still");
            assert_eq!(here.done(&format!("{reader} GU ACCT(NO=A2)")), before);
            here.done(&format!("{reader} GN ACCT"));
            yard.let_others_run();
            assert!(!other.waits(), "the position has left the record");
            other.end();
            here.commit();
            assert_eq!(sum_of(&mut here, "A2"), "0001");
        });
    }
}

#[test]
fn a_changed_record_stays_locked_to_the_sync_point() {
    for (change, seen) in [
        ("0 GHU ACCT(NO=A2);0 REPL <\"A2bb0007\"", "0007"),
        ("0 GHU ACCT(NO=A2) POST(PNO=0001);0 REPL <\"0001z\"", "0000"),
        ("0 GHU ACCT(NO=A2) POST(PNO=0001);0 DLET <\"0001x\"", "0000"),
        ("0 ISRT <\"0003z\" ACCT(NO=A2) POST", "0000"),
    ] {
        for backed_out in [false, true] {
            in_the_bank(|yard| {
                let mut here = yard.program();
                change.split(';').for_each(|line| assert_eq!(here.status(line), "  "));
                here.done("0 GU ACCT(NO=A1)");
                let other = yard.beside("reader", move |_, program| {
                    let seen = if backed_out { "0000" } else { seen };
                    assert_eq!(&program.done("3 GU ACCT(NO=A2)")[4..], seen);
                    program.commit();
                });
                yard.let_others_run();
                assert!(other.waits(), "{change}");
                if backed_out {
                    here.back_out();
                } else {
                    here.commit();
                }
                other.end();
            });
        }
    }
}

#[test]
fn a_deadlock_ends_one_program_with_u0777_and_the_other_goes_on() {
    in_the_bank(|yard| {
        let crossing = |first: &'static str, tag: &'static str, second: &'static str| {
            yard.beside(first, move |yard, program| {
                let mut chosen = 0;
                loop {
                    program.done(&format!("0 GHU ACCT(NO={first})"));
                    assert_eq!(program.status(&format!("0 REPL <\"{first}{tag}0001\"")), "  ");
                    yard.let_others_run();
                    match program.call(&format!("0 GHU ACCT(NO={second})")) {
                        Ok((status, _)) => {
                            assert_eq!(status, "  ");
                            program.commit();
                            break;
                        }
                        Err(failure) => {
                            assert_eq!(failure.abend, "U0777");
                            program.back_out();
                            chosen += 1;
                            assert!(chosen < 2, "nobody is chosen again");
                        }
                    }
                }
            })
        };
        let (one, two) = (crossing("A1", "aa", "A3"), crossing("A3", "cc", "A1"));
        one.end();
        two.end();
        let mut judge = yard.program();
        assert_eq!(sum_of(&mut judge, "A1"), "0001");
    });
}

#[test]
fn a_read_with_go_waits_for_nobody() {
    in_the_bank(|yard| {
        let mut here = yard.program();
        here.done("0 GHU ACCT(NO=A2)");
        assert_eq!(here.status("0 REPL <\"A2bb0009\""), "  ");
        let other = yard.beside("reader", |_, program| {
            assert_eq!(program.done("2 GU ACCT(NO=A2)"), "A2bb0009");
            assert_eq!(program.done("2 GN POST"), "0001x");
            assert_eq!(program.done("2 GU ACCT(NO=A3)"), "A3cc0000");
            program.commit();
        });
        yard.let_others_run();
        assert!(!other.waits());
        other.end();
        here.back_out();
    });
}

#[test]
fn a_position_of_go_keeps_nobody_waiting() {
    in_the_bank(|yard| {
        let mut here = yard.program();
        here.done("2 GU ACCT(NO=A2)");
        let other = yard.beside("writer", |_, program| {
            program.done("0 GHU ACCT(NO=A2)");
            assert_eq!(program.status("0 DLET <\"A2bb0000\""), "  ");
            program.commit();
        });
        yard.let_others_run();
        assert!(!other.waits());
        other.end();
        assert_eq!(here.done("2 GN ACCT"), "A3cc0000");
    });
}

#[test]
fn a_record_in_a_q_class_is_kept_until_the_class_is_dequeued() {
    in_the_bank(|yard| {
        let mut here = yard.program();
        here.done("3 GU ACCT*QA(NO=A2)");
        here.done("3 GU ACCT*QB(NO=A1)");
        here.done("3 GU ACCT(NO=A3)");
        let other = yard.beside("writer", |_, program| {
            program.done("0 GHU ACCT(NO=A2)");
            assert_eq!(program.status("0 REPL <\"A2bb0001\""), "  ");
            program.commit();
        });
        yard.let_others_run();
        assert!(other.waits(), "class A keeps it");
        here.session.dequeue(b'B').unwrap();
        yard.let_others_run();
        assert!(other.waits(), "another class was dequeued");
        here.session.dequeue(b'A').unwrap();
        yard.let_others_run();
        assert!(!other.waits());
        other.end();
    });
}

#[test]
fn inserts_under_one_parent_both_survive() {
    for segment in ["POST", "NOTE"] {
        in_the_bank(|yard| {
            let inserting = |text: &'static str| {
                yard.beside(text, move |_, program| {
                    for number in 0..4 {
                        let rest = if segment == "POST" { "x" } else { "" };
                        let line =
                            format!("0 ISRT <\"{text}{number}{rest}\" ACCT(NO=A1) {segment}");
                        program.work(|program| {
                            assert_eq!(program.call(&line)?.0, "  ");
                            Ok(())
                        });
                    }
                })
            };
            let others = [inserting("one"), inserting("two"), inserting("six")];
            others.into_iter().for_each(crate::programs::Other::end);
            let mut judge = yard.program();
            judge.done("0 GU ACCT(NO=A1)");
            let mut there = Vec::new();
            while let (status, area) = judge.tried(&format!("0 GNP {segment}"))
                && status == "  "
            {
                there.push(String::from_utf8(area[..4].to_vec()).unwrap());
            }
            there.sort();
            let made = ["one", "six", "two"].iter();
            let made: Vec<String> =
                made.flat_map(|text| (0..4).map(move |number| format!("{text}{number}"))).collect();
            assert_eq!(there, made);
        });
    }
}

#[test]
fn a_root_that_two_programs_insert_is_there_once() {
    in_the_bank(|yard| {
        let inserting = |name: &'static str, tag: &'static str, other: &'static str| {
            yard.beside(name, move |_, program| {
                program.work(|program| {
                    let status = program.call(&format!("0 ISRT <\"A5{tag}0000\" ACCT"))?.0;
                    assert!(status == "  " || status == "II", "{status}");
                    let seen = program.call("0 GU ACCT(NO=A5)")?.1;
                    let expected = if status == "  " { tag } else { other };
                    assert_eq!(&seen[2..4], expected.as_bytes());
                    Ok(())
                });
            })
        };
        let others = [inserting("one", "x1", "x2"), inserting("two", "x2", "x1")];
        others.into_iter().for_each(crate::programs::Other::end);
    });
}

#[test]
fn a_key_of_a_unique_index_that_two_programs_race_for_gives_one_ni() {
    in_the_bank(|yard| {
        let outcomes = Arc::new(seam::sync::Mutex::new(Vec::new()));
        let inserting = |account: &'static str| {
            let outcomes = Arc::clone(&outcomes);
            yard.beside(account, move |_, program| {
                let mut status = String::new();
                while status.is_empty() {
                    match program.call(&format!("0 ISRT <\"{account}zz0000\" ACCT")) {
                        Ok((answer, _)) => status = answer,
                        Err(failure) => assert_eq!(failure.abend, "U0777"),
                    }
                    if status.is_empty() { program.back_out() } else { program.commit() }
                }
                outcomes.lock().push(status);
            })
        };
        let others = [inserting("A7"), inserting("A8")];
        others.into_iter().for_each(crate::programs::Other::end);
        let mut outcomes = outcomes.lock().clone();
        outcomes.sort();
        assert_eq!(outcomes, ["  ", "NI"]);
    });
}

#[test]
fn a_key_of_a_unique_index_is_free_only_when_its_removal_is_committed() {
    for backed_out in [false, true] {
        in_the_bank(|yard| {
            let mut here = yard.program();
            here.done("0 GHU ACCT(NO=A2)");
            assert_eq!(here.status("0 REPL <\"A2qq0000\""), "  ");
            let other = yard.beside("taker", move |_, program| {
                let expected = if backed_out { "NI" } else { "  " };
                assert_eq!(program.status("0 ISRT <\"A9bb0000\" ACCT"), expected);
                program.commit();
            });
            yard.let_others_run();
            assert!(other.waits());
            if backed_out {
                here.back_out();
            } else {
                here.commit();
            }
            other.end();
        });
    }
}

#[test]
fn nobody_gets_a_record_whose_insert_is_backed_out() {
    for line in ["3 GU ACCT(NO=A25)", "3 GU ACCT(NO>A2)", "3 GN ACCT", "1 GU ACCT(XTAG=bc)"] {
        in_the_bank(|yard| {
            let mut here = yard.program();
            assert_eq!(here.status("0 ISRT <\"A4bc0000\" ACCT"), "  ");
            let line = line.replace("A25", "A4");
            let other = yard.beside("reader", move |_, program| {
                program.done("3 GU ACCT(NO=A3)");
                let (_, area) = program.tried(&line);
                assert!(!area.starts_with(b"A4"), "{line}: {}", area.escape_ascii());
                program.commit();
            });
            yard.let_others_run();
            here.back_out();
            other.end();
        });
    }
}

#[test]
fn nobody_misses_a_record_whose_removal_is_backed_out() {
    for (first, line) in [
        ("3 GU ACCT(NO=A1)", "3 GU ACCT(NO=A2)"),
        ("3 GU ACCT(NO=A1)", "3 GN ACCT"),
        ("3 GU ACCT(NO=A1)", "3 GN"),
        ("3 GU ACCT(NO=A1)", "3 GU ACCT(NO>A1)"),
    ] {
        in_the_bank(|yard| {
            let mut here = yard.program();
            here.done("0 GHU ACCT(NO=A2)");
            assert_eq!(here.status("0 DLET <\"A2bb0000\""), "  ");
            let other = yard.beside("reader", move |_, program| {
                program.done(first);
                let (_, area) = program.tried(line);
                assert!(area.starts_with(b"A2"), "{line}: {}", area.escape_ascii());
                program.commit();
            });
            yard.let_others_run();
            here.back_out();
            other.end();
        });
    }
}

/// Rules K14 and H5 for index entries: whatever takes one away, whoever comes over its gap waits.
#[test]
fn nobody_misses_an_entry_whose_removal_is_backed_out() {
    let removals = [
        "0 GHU ACCT(NO=A2);0 DLET <\"A2bb0000\"",
        "0 GHU ACCT(NO=A2);0 REPL <\"A2zz0000\"",
        "0 GHU ACCT(NO=A2);0 REPL <\"A2ba0000\"",
        "0 GHU ACCT(NO=A3);0 DLET <\"A3cc0000\";0 GHU ACCT(NO=A2);0 DLET <\"A2bb0000\"",
        "5 GHU TAGKEY(KEY=bb);5 DLET <\"bb\\x00\\x00\\x00\\x00\\x00\\x00\"",
    ];
    let readers = [
        ("1 GU ACCT(XTAG=aa)", "1 GN ACCT", 2),
        ("1 GU ACCT(XTAG=aa)", "1 GU ACCT(XTAG=bb)", 2),
        ("1 GU ACCT(XTAG=aa)", "1 GU ACCT(XTAG>aa)", 2),
        ("5 GU TAGKEY(KEY=aa)", "5 GN", 0),
    ];
    for (removal, (first, line, at)) in
        removals.iter().flat_map(|removal| readers.map(|reader| (*removal, reader)))
    {
        in_the_bank(|yard| {
            let mut here = yard.program();
            removal.split(';').for_each(|line| assert_eq!(here.status(line), "  ", "{line}"));
            let other = yard.beside("reader", move |_, program| {
                program.done(first);
                let (_, area) = program.tried(line);
                let tag = area.get(at..at + 2).unwrap_or(&area);
                assert_eq!(tag, b"bb", "{removal}: {line}: {}", area.escape_ascii());
                program.commit();
            });
            yard.let_others_run();
            assert!(other.waits(), "{removal}: {line}");
            here.back_out();
            other.end();
        });
    }
}

#[test]
fn nothing_is_added_in_a_gap_whose_entry_may_come_back() {
    in_the_bank(|yard| {
        let mut here = yard.program();
        here.done("0 GHU ACCT(NO=A2)");
        assert_eq!(here.status("0 DLET <\"A2bb0000\""), "  ");
        let other = yard.beside("inserter", |_, program| {
            assert_eq!(program.status("0 ISRT <\"A7bc0000\" ACCT"), "  ");
            program.commit();
        });
        yard.let_others_run();
        assert!(other.waits());
        assert_eq!(here.status("0 ISRT <\"A8bd0000\" ACCT"), "  ");
        here.commit();
        other.end();
        assert_eq!(here.status("1 GU ACCT(XTAG=bc)"), "  ");
    });
}

#[test]
fn user_data_of_an_entry_is_not_lost_through_hold_calls() {
    in_the_bank(|yard| {
        let counting = |name: &'static str| {
            yard.beside(name, |_, program| {
                for _ in 0..4 {
                    program.work(|program| {
                        let (_, mut entry) = program.call("5 GHU TAGKEY(KEY=bb)")?;
                        entry[7] += 1;
                        let area: String =
                            entry.iter().map(|byte| format!("\\x{byte:02X}")).collect();
                        assert_eq!(program.call(&format!("5 REPL <\"{area}\""))?.0, "  ");
                        Ok(())
                    });
                }
            })
        };
        let others = [counting("one"), counting("two")];
        others.into_iter().for_each(crate::programs::Other::end);
        let (_, entry) = yard.program().tried("5 GU TAGKEY(KEY=bb)");
        assert_eq!(entry, b"bb\0\0\0\0\0\x08");
    });
}

#[test]
fn a_record_that_an_index_leads_to_still_has_that_key() {
    for backed_out in [false, true] {
        in_the_bank(|yard| {
            let mut here = yard.program();
            here.done("0 GHU ACCT(NO=A2)");
            assert_eq!(here.status("0 REPL <\"A2bz0000\""), "  ");
            let other = yard.beside("reader", move |_, program| {
                let expected = if backed_out { "GE" } else { "  " };
                assert_eq!(program.status("1 GU ACCT(XTAG=bz)"), expected);
                program.commit();
                let expected = if backed_out { "  " } else { "GE" };
                assert_eq!(program.status("1 GU ACCT(XTAG=bb)"), expected);
                program.commit();
            });
            yard.let_others_run();
            if backed_out {
                here.back_out();
            } else {
                here.commit();
            }
            other.end();
        });
    }
}

#[test]
fn walking_programs_and_changing_programs_all_come_to_their_end() {
    in_the_bank(|yard| {
        let walking = |name: &'static str, pcb: &'static str| {
            yard.beside(name, move |_, program| {
                for _ in 0..3 {
                    program.work(|program| {
                        let mut last = Vec::new();
                        loop {
                            let (status, area) = program.call(&format!("{pcb} GN ACCT"))?;
                            if status == "GB" {
                                return Ok(());
                            }
                            let key = if pcb == "1" { &area[2..4] } else { &area[..2] };
                            assert!(key > &last[..], "keys come in order");
                            last = key.to_vec();
                        }
                    });
                }
            })
        };
        let changing = yard.beside("changing", |_, program| {
            for number in 0..4 {
                program.work(|program| {
                    let _ = program.call(&format!("0 ISRT <\"B{number}b{number}0000\" ACCT"))?;
                    let _ = program.call("0 ISRT <\"0001x\" POST")?;
                    let _ = program.call("0 GHU ACCT(NO=A2)")?;
                    let _ = program.call("0 DLET <\"A2bb0000\"")?;
                    program.call("0 ISRT <\"A2bb0000\" ACCT").map(drop)
                });
            }
        });
        let others = [walking("by key", "3"), walking("by tag", "1"), changing];
        others.into_iter().for_each(crate::programs::Other::end);
    });
}

/// Rule K14 for roots: one that is added in a gap which another program has made, and may take
/// back, hides that gap from nobody.
#[test]
fn a_root_that_is_added_beside_a_deleted_one_waits_until_that_is_gone_or_back() {
    for behind in [None, Some("C1ee0000")] {
        in_the_bank(move |yard| {
            let mut deleting = yard.program();
            if let Some(root) = behind {
                deleting.done(&format!("0 ISRT <\"{root}\" ACCT"));
                deleting.commit();
            }
            deleting.done("0 GHU ACCT(NO=A3)");
            deleting.done("0 DLET <\"A3cc0000\"");
            let adding = yard.beside("adding", |_, program| {
                program.work(|program| {
                    assert_eq!(program.call("0 ISRT <\"B1dd0000\" ACCT")?.0, "  ");
                    Ok(())
                });
            });
            yard.let_others_run();
            assert!(adding.waits(), "it is added in the gap");
            let reading = yard.beside("reading", |_, program| {
                assert_eq!(program.done("3 GU ACCT(NO=A2)"), "A2bb0000");
                assert_eq!(program.done("3 GN ACCT"), "A3cc0000");
                program.commit();
            });
            yard.let_others_run();
            deleting.back_out();
            reading.end();
            adding.end();
            let mut judge = yard.program();
            assert_eq!(judge.done("0 GU ACCT(NO=B1)"), "B1dd0000");
        });
    }
}

/// Who deletes looks again for the root behind the gap once it has waited for that.
#[test]
fn a_gap_is_locked_up_to_the_root_that_is_there_in_the_end() {
    in_the_bank(|yard| {
        let mut adding = yard.program();
        adding.done("0 ISRT <\"B1dd0000\" ACCT");
        let deleting = yard.beside("deleting", |yard, program| {
            program.done("0 GHU ACCT(NO=A3)");
            program.done("0 DLET <\"A3cc0000\"");
            yard.let_others_run();
            yard.let_others_run();
            program.back_out();
        });
        yard.let_others_run();
        assert!(deleting.waits(), "the root behind the gap is not committed");
        adding.back_out();
        let reading = yard.beside("reading", |_, program| {
            assert_eq!(program.done("3 GU ACCT(NO=A2)"), "A2bb0000");
            assert_eq!(program.done("3 GN ACCT"), "A3cc0000");
            program.commit();
        });
        deleting.end();
        reading.end();
    });
}
