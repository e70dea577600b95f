//! Rollback, points, the log, inquiries, statistics, and what is refused (DLI-5 and
//! DLI-12.26, DLI-12.55 to DLI-12.57 and DLI-12.59).

use crate::support::{ALONE, CLERK, Shop};
use holdfast_schedule::{Options, RegionKind, USER_LOG, User};
use placement::BatchLog;
use region::{AibFields, DirectCall};

#[test]
fn rolb_returns_and_roll_ends_the_program() {
    let shop = Shop::new("rolb");
    let mut caller = shop.program(ALONE);
    caller.customer(2, "0001");
    assert_eq!(caller.service(b"CHKP", b"CKPT0001", &[]), "  ");
    caller.customer(2, "0002");
    assert_eq!(caller.service(b"ROLB", b"", &[]), "  ");
    caller.customer(2, "0003");
    assert_eq!(caller.service(b"ROLL", b"", &[]), "U0778");
    caller.abend();
    assert_eq!(shop.customers(), ["0001"]);
}

#[test]
fn rols_goes_back_to_a_point_and_gives_its_data_back() {
    let shop = Shop::new("rols");
    let mut caller = shop.program(ALONE);
    for (token, key) in [(b"AAAA", "0001"), (b"BBBB", "0002"), (b"CCCC", "0003")] {
        let data = format!("\0\x08\0\0{key}");
        assert_eq!(caller.service(b"SETS", data.as_bytes(), &[token]), "  ");
        caller.customer(2, key);
    }
    let back = caller.call(0, b"ROLS", Some(b"\0\x08\0\0...."), (&[], &[b"BBBB"]));
    let back = back.expect("an answer");
    assert_eq!((back.status, &back.area[..]), (*b"  ", &b"\0\x08\0\x000002"[..]));
    assert_eq!(caller.service(b"ROLS", b"", &[b"CCCC"]), "RA", "it was rolled back past");
    caller.customer(2, "0004");
    assert_eq!(caller.service(b"CHKP", b"CKPT0001", &[]), "  ");
    assert_eq!(caller.service(b"ROLS", b"", &[b"AAAA"]), "RA", "a commit drops all points");
    assert_eq!(caller.service(b"ROLS", b"", &[]), "U3303");
    caller.abend();
    assert_eq!(shop.customers(), ["0001", "0004"]);
}

#[test]
fn there_are_nine_points_and_a_known_token_moves_its_own() {
    let shop = Shop::new("nine");
    let mut caller = shop.program(ALONE);
    let tokens: Vec<[u8; 4]> = (0..10_u32).map(u32::to_be_bytes).collect();
    for token in &tokens[..9] {
        assert_eq!(caller.service(b"SETS", b"", &[token]), "  ");
    }
    assert_eq!(caller.service(b"SETS", b"", &[&tokens[9]]), "SB");
    caller.customer(2, "0001");
    assert_eq!(caller.service(b"SETS", b"", &[&tokens[0]]), "  ", "moved");
    assert_eq!(caller.service(b"ROLS", b"", &[&tokens[0]]), "  ");
    assert_eq!(caller.get(2, b"GU  ", &[b"CUSTOMER(CUSTNO  = 0001)"]).status, *b"  ");
    assert_eq!(caller.status(0, b"SETS", None, &[]), "  ", "drops all");
    assert_eq!(caller.service(b"ROLS", b"", &[&tokens[0]]), "RA");
}

#[test]
fn points_are_not_possible_with_sequential_files() {
    let shop = Shop::new("points");
    let mut caller = shop.program(CLERK);
    assert_eq!(caller.service(b"SETS", b"", &[b"AAAA"]), "SC");
    assert_eq!(caller.service(b"SETU", b"", &[b"AAAA"]), "  ");
    assert_eq!(caller.service(b"ROLS", b"", &[b"AAAA"]), "SC");
}

#[test]
fn without_a_log_on_disk_batch_cannot_roll_back() {
    let shop = Shop::new("al");
    let options = Options { batch_log: BatchLog::None, ..Options::default() };
    let mut caller = shop.program_with(ALONE, options.clone());
    for function in [b"ROLB", b"SETS", b"ROLS"] {
        assert_eq!(caller.service(function, b"", &[b"AAAA"]), "AL");
    }
    let mut online = shop.program_with(ALONE, Options { kind: RegionKind::Bmp, ..options });
    assert_eq!(online.service(b"ROLB", b"", &[]), "  ");
}

#[test]
fn log_records_are_committed_with_the_changes_that_they_speak_of() {
    let shop = Shop::new("log");
    let mut caller = shop.program(ALONE);
    assert_eq!(caller.service(b"LOG ", b"\0\x09\0\0\xA0KEPT", &[]), "  ");
    assert_eq!(caller.service(b"CHKP", b"CKPT0001", &[]), "  ");
    assert_eq!(caller.service(b"LOG ", b"\0\x09\0\0\xA0LOST", &[]), "  ");
    assert_eq!(caller.service(b"LOG ", b"\0\x09\0\0\x9FCODE", &[]), "GL");
    assert_eq!(caller.service(b"LOG ", b"\0\x50\0\0\xA0LONG", &[]), "QF");
    assert_eq!(caller.service(b"LOG ", b"\0\x02\0\0\xA0SHORT", &[]), "QF");
    assert_eq!(caller.service(b"LOG ", b"\0\x04\0\0", &[]), "QF", "no room for a code");
    assert_eq!(caller.status(0, b"LOG ", None, &[]), "AB");
    caller.abend();
    let records = shop.entries(USER_LOG);
    assert_eq!(records.len(), 1);
    assert!(records[0].starts_with(b"ALONE   ") && records[0].ends_with(b"\xA0KEPT"));
}

#[test]
fn messages_are_not_for_batch_and_a_bmp_has_none() {
    let shop = Shop::new("messages");
    let mut batch = shop.program(ALONE);
    for function in [b"GU  ", b"GN  ", b"ISRT", b"PURG", b"CMD ", b"AUTH"] {
        assert_eq!(batch.service(function, b"\0\x05\0\0X", &[]), "AL");
    }
    assert_eq!(batch.status(1, b"ISRT", Some(b"\0\x05\0\0X"), &[]), "AL");
    assert_eq!(batch.status(1, b"GU  ", Some(b"."), &[]), "AD");
    let mut bmp = shop.program_with(ALONE, Options { kind: RegionKind::Bmp, ..Options::default() });
    assert_eq!(bmp.service(b"GU  ", b"....", &[]), "QC");
    assert_eq!(bmp.service(b"GN  ", b"....", &[]), "QD");
    assert_eq!(bmp.status(1, b"CHNG", Some(b"NOWHERE "), &[]), "A1");
}

#[test]
fn unknown_functions_are_ad_and_gsam_has_am() {
    let shop = Shop::new("unknown");
    let mut caller = shop.program(CLERK);
    for (pcb, status) in [(0, "AD"), (1, "AD"), (2, "AM"), (3, "AM")] {
        for function in [b"XXXX", b"gu  ", b"FLD "] {
            assert_eq!(caller.status(pcb, function, Some(b"...."), &[]), status);
        }
    }
    assert_eq!(caller.status(3, b"GN  ", Some(b"...."), &[]), "AM", "it is for output");
    assert_eq!(caller.status(2, b"GN  ", Some(b"...."), &[]), "AI", "there is no such file");
    assert_eq!(caller.status(2, b"GU  ", Some(b"...."), &[]), "AH");
    assert_eq!(caller.status(2, b"CLSE", None, &[]), "  ");
    assert_eq!(caller.status(2, b"GN  ", None, &[]), "AB");
    assert_eq!(caller.service(b"GSCD", b"........", &[]), "  ");
}

#[test]
fn init_and_deq_know_their_words() {
    let shop = Shop::new("init");
    let mut caller = shop.program(ALONE);
    for (text, status) in [
        (&b"\0\x0B\0\0DBQUERY"[..], "  "),
        (b"\0\x11\0\0STATUS GROUPA", "  "),
        (b"\0\x11\0\0STATUS GROUPB", "  "),
        (b"\0\x09\0\0OTHER", "AJ"),
    ] {
        assert_eq!(caller.service(b"INIT", text, &[]), status);
    }
    assert_eq!(caller.service(b"DEQ ", b"A", &[]), "  ");
    assert_eq!(caller.service(b"DEQ ", b"K", &[]), "GL");
    assert_eq!(caller.status(0, b"DEQ ", None, &[]), "GL");
    assert_eq!(caller.status(2, b"INQY", Some(b"...."), &[]), "AD", "without an AIB");
}

#[test]
fn after_init_rsa12_files_have_record_search_arguments_of_twelve_bytes() {
    let shop = Shop::new("rsa12");
    shop.write("orders", b"0001000200030004");
    let mut caller = shop.program(CLERK);
    assert_eq!(caller.service(b"INIT", b"\0\x09\0\0RSA12", &[]), "  ");
    let mut area = |rsa: &[&[u8]], function| {
        let answer = caller.call(2, function, Some(b"...."), (&[], rsa)).expect("an answer");
        (answer.key, String::from_utf8_lossy(&answer.area).into_owned())
    };
    let _ = area(&[], b"GN  ");
    let (second, record) = area(&[], b"GN  ");
    assert_eq!((second.len(), &record[..]), (12, "0002"));
    let _ = area(&[], b"GN  ");
    assert_eq!(area(&[&second], b"GU  "), (second.clone(), "0002".to_owned()));
    assert_eq!(area(&[b"\0\0\0\x01\0\0\0\x08"], b"GU  ").1, "0003", "the basic form still works");
}

#[test]
fn data_beyond_ioasize_are_at_and_nothing_moves() {
    let mut shop = Shop::new("ioasize");
    shop.limits = |psb| psb.io_area_size = Some(20);
    let mut caller = shop.program(ALONE);
    caller.customer(2, "0001");
    let order = b"01OF GOODS";
    let ssas: [&[u8]; 2] = [b"CUSTOMER(CUSTNO  = 0001)", b"ORDER    "];
    let one = caller.call(2, b"ISRT", Some(order), (&ssas, &[])).expect("an answer");
    assert_eq!(one.status, *b"  ", "as long as it is");
    let path: [&[u8]; 2] = [b"CUSTOMER*D ", b"ORDER    "];
    let both = [&b"0002                "[..], order].concat();
    let both = caller.call(2, b"ISRT", Some(&both), (&path, &[])).expect("an answer");
    assert_eq!(both.status, *b"AT");
    let got = caller.get(2, b"GU  ", &ssas[..1]);
    assert_eq!((got.status, got.area.len()), (*b"  ", 20));
    let path = caller.get(2, b"GN  ", &[b"CUSTOMER*D ", b"ORDER    "]);
    assert_eq!((path.status, &path.area[..]), (*b"AT", &b""[..]));
    let next = caller.get(2, b"GN  ", &[]);
    assert_eq!((next.status, &next.area[..]), (*b"  ", &order[..]), "nothing has moved");
    caller.end().expect("an end");
    assert_eq!(shop.customers(), ["0001"]);
}

#[test]
fn maxq_counts_calls_with_q_up_to_the_sync_point() {
    let mut shop = Shop::new("maxq");
    let mut first = shop.program(ALONE);
    first.customer(2, "0001");
    first.end().expect("an end");
    shop.limits = |psb| psb.max_q = Some(2);
    let held: [&[u8]; 1] = [b"CUSTOMER*QA(CUSTNO  = 0001)"];
    let ask = |caller: &mut crate::support::Caller| match caller.call(
        2,
        b"GU  ",
        Some(&[b'.'; 20]),
        (&held, &[]),
    ) {
        Ok(answer) => String::from_utf8_lossy(&answer.status).into_owned(),
        Err(abend) => abend.code,
    };
    let mut alone = shop.program(ALONE);
    assert_eq!([(); 3].map(|()| ask(&mut alone)), ["  "; 3], "in batch Q does nothing");
    alone.abend();
    let mut bmp = shop.program_with(ALONE, Options { kind: RegionKind::Bmp, ..Options::default() });
    assert_eq!([(); 2].map(|()| ask(&mut bmp)), ["  "; 2]);
    assert_eq!(bmp.get(2, b"GU  ", &[]).status, *b"  ", "calls without Q do not count");
    assert_eq!(bmp.service(b"CHKP", b"CKPT0001", &[]), "  ");
    assert_eq!([(); 3].map(|()| ask(&mut bmp)), ["  ", "  ", "U0775"]);
    bmp.abend();
}

#[test]
fn the_io_pcb_names_the_user_and_the_moment() {
    use region::Server as _;
    use region::layout::{PcbKind, name};
    let shop = Shop::new("user");
    let io = |options: Options| {
        let schedule = shop.schedule(ALONE, options).expect("a schedule");
        match &schedule.pcbs()[0].kind {
            PcbKind::Io(io) => *io,
            other => panic!("{other:?}"),
        }
    };
    let user = User { name: "sam".to_owned(), group: "tellers-east".to_owned() };
    let shown = io(Options { user: Some(user), ..Options::default() });
    assert_eq!((shown.user, shown.group, shown.indicator), (name("SAM"), name("TELLERS-"), b'U'));
    assert!(shown.date[0] == 0 && shown.date[3] & 0x0f == 0x0f, "{:?}", shown.date);
    assert_eq!(shown.stamp[0], 0x20, "the year");
    let nobody = io(Options::default());
    assert_eq!((nobody.user, nobody.indicator), (name("ALONE"), b'P'));
}

#[test]
fn stat_tells_of_all_pools_or_of_one_after_the_other() {
    let shop = Shop::new("stat");
    let mut caller = shop.program(ALONE);
    let area = [b'.'; 360];
    let mut stat = |function: &[u8]| {
        let answer = caller.call(2, b"STAT", Some(&area), (&[], &[function])).expect("figures");
        let status = String::from_utf8_lossy(&answer.status).into_owned();
        (status, String::from_utf8_lossy(&answer.area).into_owned())
    };
    let (status, all) = stat(b"DBASF    ");
    assert!(status == "  " && all.contains(" 42 ") && all.len() == 360, "{all}");
    let (status, first) = stat(b"VBASS    ");
    assert!(status == "  " && first.contains("SMALL") && first.len() == 180);
    let (status, second) = stat(b"VBASS    ");
    assert!(status == "GA" && second.contains("LARGE") && second.contains("READS 35"));
    assert_eq!(stat(b"VBASS    "), ("GE".to_owned(), String::new()));
    assert_eq!(stat(b"VBASS    ").0, "  ", "from the front again");
    assert_eq!(stat(b"VBASU    ").1.len(), 72);
    for wrong in [&b"DBASX    "[..], b"XXXXF    ", b""] {
        assert_eq!(stat(wrong).0, "AC");
    }
}

/// DLI-12.79: an area that is too short is an error of the AIB, and nothing moves.
#[test]
fn an_area_that_is_too_short_is_said_in_the_aib() {
    let shop = Shop::new("short");
    let mut caller = shop.program(ALONE);
    caller.customer(2, "0001");
    let order = Some(&b"O1........"[..]);
    caller.call(2, b"ISRT", order, (&[b"ORDER    "], &[])).expect("an answer");
    assert_eq!(caller.get(2, b"GU  ", &[b"CUSTOMER(CUSTNO  = 0001)"]).status, *b"  ");
    let statistics: &[&[u8]] = &[b"DBASF    "];
    for (name, room, ssas, more) in [
        (b"GU  ", 5, &[&b"CUSTOMER "[..]][..], &[][..]),
        (b"ISRT", 10, &[&b"CUSTOMER "[..]][..], &[][..]),
        (b"STAT", 9, &[][..], statistics),
    ] {
        let area = vec![b'9'; room];
        let call = DirectCall {
            function: definitions::Function::of(*name),
            pcb: 2,
            ssas,
            more,
            area: Some(&area),
            room,
        };
        let fields = AibFields::default();
        let (_, printed) = caller.0.call_with_aib(&call, &fields).expect("an answer");
        let name = String::from_utf8_lossy(name);
        assert_eq!((printed.return_code, printed.reason), (0x104, 0x20C), "{name}");
        assert!(printed.area_used as usize > room, "{name}: {}", printed.area_used);
    }
    assert_eq!(caller.get(2, b"GNP ", &[b"ORDER    "]).status, *b"  ", "parentage stays");
    caller.abend();
}
