//! Which DL/I call a command means, from its COBOL text to function code, SSAs and I/O areas.

use holdfast_exec_dli::dib::ByteOrder;
use holdfast_exec_dli::plan::{
    Action, Argument, Call, Items, Output, Pcb, Plan, Room, SegmentSize, Segments, Status, plan,
    scatter,
};
use holdfast_exec_dli::{Command, NoMembers, Options, decode, translate};

/// Items by the order in which a command names them, numbers by the order of their computation.
#[derive(Default)]
struct Program {
    items: Vec<Vec<u8>>,
    numbers: Vec<i32>,
}

impl Items for Program {
    fn number(&mut self, slot: u8) -> i32 {
        self.numbers.get(usize::from(slot)).copied().unwrap_or(0)
    }

    fn item(&mut self, parameter: u8, length: usize) -> Option<Vec<u8>> {
        self.items.get(usize::from(parameter))?.get(..length).map(<[u8]>::to_vec)
    }
}

/// CUST has four bytes, ACCT six, NOTE as many as it says; others are not seen.
struct Sizes;

impl Segments for Sizes {
    fn size(&self, _pcb: u16, segment: &[u8; 8]) -> Option<SegmentSize> {
        match segment {
            b"CUST    " => Some(SegmentSize::Fixed(4)),
            b"ACCT    " => Some(SegmentSize::Fixed(6)),
            b"NOTE    " => Some(SegmentSize::Variable),
            _ => None,
        }
    }
}

/// What the translation of this command passes as its descriptor.
fn command(text: &str) -> Command {
    let source = format!("PROCEDURE DIVISION.\nEXEC DLI {text} END-EXEC.\n");
    let options = Options { file: "a", is_free: true };
    let made = translate(source.as_bytes(), &options, &NoMembers);
    assert_eq!(made.diagnostics, [], "{text}");
    let member = String::from_utf8_lossy(&made.members[0].text).into_owned();
    let hex: String =
        member.split("X\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let byte = |at: usize| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).expect("hex");
    decode(&(0..hex.len() / 2).map(byte).collect::<Vec<_>>()).expect("a descriptor")
}

fn planned(text: &str, items: &[&[u8]], numbers: &[i32]) -> Result<Plan, Status> {
    let items = items.iter().map(|item| item.to_vec()).collect();
    plan(&command(text), &mut Program { items, numbers: numbers.to_vec() }, &Sizes)
}

fn call(text: &str, items: &[&[u8]], numbers: &[i32]) -> Call {
    match planned(text, items, numbers).expect("a plan").action {
        Action::Call(call) => call,
        other => panic!("{text} is {other:?}"),
    }
}

/// Function code, a blank, and the SSAs with `/` between them.
fn shown(text: &str, items: &[&[u8]], numbers: &[i32]) -> String {
    let call = call(text, items, numbers);
    let ssas: Vec<String> =
        call.ssas.iter().map(|ssa| String::from_utf8_lossy(ssa).into_owned()).collect();
    format!("{} {}", String::from_utf8_lossy(&call.function.bytes()), ssas.join("/"))
}

#[test]
fn options_become_command_codes() {
    let lengths = [4; 8];
    let items: [&[u8]; 4] = [b"V1V1", b"V2V2", b"V3V3", b"V4V4"];
    let get = |options: &str| {
        let text = format!("GN USING PCB(1) {options}");
        shown(&text, &items, &lengths)
    };
    let table = [
        ("", "GHN  "),
        ("SEGMENT(A)", "GHN  A        "),
        ("SEGMENT(A) INTO(X)", "GHN  A        "),
        ("SEGMENT(A) INTO(X) SEGMENT(B) INTO(Y)", "GHN  A       *D /B        "),
        ("FIRST SEGMENT(A)", "GHN  A       *F "),
        ("VARIABLE LAST SEGMENT(A)", "GHN  A       *L "),
        ("CURRENT SEGMENT(A) FIRST SEGMENT(B)", "GHN  A       *V /B       *F "),
        ("SEGMENT(A) SETPARENT LOCKED", "GHN  A       *PQA "),
        ("SEGMENT(A) LOCKCLASS(C)", "GHN  A       *QC "),
        ("SEGMENT(A) LOCKCLASS('d')", "GHN  A       *Qd "),
        ("SEGMENT(A) KEYS(K) KEYLENGTH(3)", "GHN  A       *C(V1V)"),
        ("SEGMENT((N))", "GHN  V1V1V1V1 "),
        ("SEGMENT(A) MOVENEXT('12') SETZERO(3)", "GHN  A       *M1M2Z3 "),
        ("SEGMENT(A) GETFIRST(1) SET(2) SETCOND(3)", "GHN  A       *R1S2W3 "),
        ("SEGMENT(A) WHERE(F = X)", "GHN  A       (F       EQV1V1)"),
        (
            "SEGMENT(A) WHERE(F1 GE X AND F2 < Y OR F3 NE 'IT''S' # F4 =< X'4142')",
            "GHN  A       (F1      GEV1V1&F2      LTV2V2|F3      NEIT'S#F4      LEAB)",
        ),
        (
            "SEGMENT(A) WHERE(F1 > X * F2 >= Y + F3 => X) FIELDLENGTH(1, 2, N)",
            "GHN  A       (F1      GTV&F2      GEV2|F3      GEV1V1)",
        ),
    ];
    for (options, expected) in table {
        let items: [&[u8]; 4] = match options.contains("((N))") {
            true => [b"V1V1V1V1", b"", b"", b""],
            false => items,
        };
        let text = format!("GN USING PCB(1) {options}");
        assert_eq!(shown(&text, &items, &lengths), expected, "{options}");
    }
    assert_eq!(get("SEGMENT(A) OFFSET(4)"), "GHN  A        ");
}

#[test]
fn every_verb_has_its_function_code() {
    let items: [&[u8]; 4] = [b"V1V1V1V1V1V1V1", b"V2V2V2V2", b"V3V3V3V3", b"V4V4V4V4"];
    let table = [
        ("GU USING PCB(1)", "GHU  "),
        ("GET UNIQUE USING PCB(1)", "GHU  "),
        ("GET NEXT USING PCB(1)", "GHN  "),
        ("GET NEXT IN PARENT USING PCB(1)", "GHNP "),
        ("GNP USING PCB(1)", "GHNP "),
        ("INSERT USING PCB(1) SEGMENT(X) FROM(Y)", "ISRT X        "),
        ("LOAD USING PCB(1) SEGMENT(X) FROM(Y)", "ISRT X        "),
        ("REPLACE USING PCB(1) SEGMENT(X) FROM(Y)", "REPL X        "),
        ("DELETE USING PCB(1) SEGMENT(X) FROM(Y)", "DLET X        "),
        ("POS USING PCB(1) SEGMENT(X) INTO(Y)", "POS  X        "),
        ("STAT USING PCB(1) INTO(Y) LENGTH(360) SUMMARY", "STAT "),
        ("REFRESH DBQUERY", "INIT "),
        ("ACCEPT STATUSGROUP('A')", "INIT "),
        ("CHECKPOINT ID(X)", "CHKP "),
        ("CHKP ID('CHK1')", "CHKP "),
        ("SYMCHKP ID(X) AREA1(Y) LENGTH1(4)", "CHKP "),
        ("XRST", "XRST "),
        ("ROLL", "ROLL "),
        ("ROLB", "ROLB "),
        ("ROLS TOKEN(X) AREA(Y)", "ROLS "),
        ("SETS TOKEN(X) AREA(Y)", "SETS "),
        ("SETU TOKEN(X) AREA(Y)", "SETU "),
        ("LOG FROM(X) LENGTH(5)", "LOG  "),
        ("DEQ LOCKCLASS(B)", "DEQ  "),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text, &items, &[4, 4, 4]), expected, "{text}");
    }
    let action = |text: &str| planned(text, &items, &[4, 4]).expect("a plan").action;
    assert_eq!(action("QUERY USING PCB(3)"), Action::Query(3));
    assert_eq!(action("SCHD PSB(TELLER) NODHABEND"), Action::Schedule(*b"TELLER  "));
    assert_eq!(action("SCHEDULE PSB((NAME))"), Action::Schedule(*b"V1V1V1V1"));
    assert_eq!(action("TERMINATE"), Action::Terminate);
}

#[test]
fn a_path_is_gathered_from_its_areas() {
    let path = "ISRT USING PCB(2) SEGMENT(BANK) WHERE(NO='1') SEGMENT(CUST) FROM(A) VARIABLE \
                SEGMENT(NOTE) FROM(B)";
    let call = call(path, &[b"custREST", b"\0\x05texREST"], &[8, 8]);
    assert_eq!(call.pcb, Pcb::Number(2));
    assert_eq!(call.arguments, [Argument::Bytes(b"cust\0\x05tex".to_vec())]);
    assert_eq!(call.ssas[0], b"BANK    (NO      EQ1)");
    assert_eq!(call.ssas[1], b"CUST    *D ");
    assert_eq!(call.ssas[2], b"NOTE     ");
    let short = planned("DLET USING PCB(1) SEGMENT(ACCT) FROM(A)", &[b"key"], &[3]);
    let Action::Call(call) = short.expect("a plan").action else { panic!("it is a call") };
    assert_eq!(call.arguments, [Argument::Bytes(b"key\0\0\0".to_vec())]);
}

#[test]
fn what_was_read_goes_to_the_areas() {
    let text = "GU USING PCB(1) KEYFEEDBACK(K) SEGMENT(CUST) INTO(A) SEGMENT(BRANCH) \
                SEGMENT(NOTE) INTO(B) SEGMENT(ACCT)";
    let plan = planned(text, &[b"", b"", b""], &[10, 3, 20]).expect("a plan");
    assert_eq!(plan.feedback, Some(Room { parameter: 0, length: 10 }));
    let room = |parameter, length| Some(Room { parameter, length });
    let output = |name: &[u8; 8], room| Output { segment: Some(*name), room };
    let expected = [
        output(b"CUST    ", room(1, 3)),
        output(b"NOTE    ", room(2, 20)),
        output(b"ACCT    ", None),
    ];
    assert_eq!(plan.outputs, expected);
    let pieces = scatter(&plan.outputs, 1, b"cust\0\x06noteACCOUNT", &Sizes, ByteOrder::Big);
    let pieces: Vec<&[u8]> = pieces.into_iter().map(|(_, piece)| piece).collect();
    assert_eq!(pieces, [&b"cus"[..], b"\0\x06note"]);
    // A call that found only the first level.
    let pieces = scatter(&plan.outputs, 1, b"cust", &Sizes, ByteOrder::Big);
    assert_eq!(pieces.len(), 2);
    assert_eq!(pieces[1].1, b"");
    let plan = planned("GN USING PCB(1) INTO(A)", &[b""], &[5]).expect("a plan");
    let pieces = scatter(&plan.outputs, 1, b"whatever", &Sizes, ByteOrder::Big);
    assert_eq!(pieces, [(Room { parameter: 0, length: 5 }, &b"whate"[..])]);
}

#[test]
fn checkpoints_pass_their_areas() {
    let text = "SYMCHKP ID('CHK00001') AREA1(A) LENGTH1(20) AREA2(B)";
    let one = Room { parameter: 0, length: 20 };
    let two = Room { parameter: 1, length: 9 };
    let saved =
        [Argument::Length(20), Argument::Item(one), Argument::Length(9), Argument::Item(two)];
    let chkp = call(text, &[b"", b""], &[9]);
    let lead = [Argument::Length(20), Argument::Bytes(b"CHK00001".to_vec())];
    assert_eq!(chkp.arguments, [&lead[..], &saved].concat());
    let xrst = call("XRST MAXLENGTH(30) ID(ID-AREA) AREA1(A)", &[b"CHK00001"], &[6]);
    let back = Some(Room { parameter: 0, length: 8 });
    let work = Argument::Work(b"CHK00001      ".to_vec(), back);
    let item = Argument::Item(Room { parameter: 1, length: 6 });
    assert_eq!(xrst.arguments, [Argument::Length(30), work, Argument::Length(6), item]);
    assert_eq!(call("XRST", &[], &[]).arguments[1], Argument::Work(vec![b' '; 14], None));
    let init = call("ACCEPT STATUSGROUP(B)", &[], &[]);
    assert_eq!(init.arguments, [Argument::Message(b"STATUS GROUPB".to_vec())]);
    assert_eq!(init.pcb, Pcb::Io);
}

/// Commands with the lengths that the program computes, and the status that each gets.
#[test]
fn impossible_values_get_their_status() {
    let table: [(&str, &[i32], &str); 15] = [
        ("GU USING PCB(N)", &[0], "TP"),
        ("GU USING PCB(N)", &[70_000], "TP"),
        ("GU USING PCB(1) SEGMENT(A) INTO(B) SEGLENGTH(L)", &[-1], "V2"),
        ("ISRT USING PCB(1) SEGMENT(CUST) FROM(B) SEGLENGTH(L)", &[3], "V2"),
        ("GU USING PCB(1) SEGMENT(A) WHERE(B=C) FIELDLENGTH(L)", &[0], "V3"),
        ("ISRT USING PCB(1) VARIABLE SEGMENT(A) FROM(B)", &[4], "V4"),
        ("GU USING PCB(1) SEGMENT(A) OFFSET(L)", &[0], "V5"),
        ("GU USING PCB(1) SEGMENT(A) KEYS(B) KEYLENGTH(L)", &[0], "V6"),
        ("GU USING PCB(1) KEYFEEDBACK(A) FEEDBACKLEN(L)", &[0], "V6"),
        ("STAT USING PCB(1) INTO(A)", &[100], "V7"),
        ("STAT USING PCB(1) INTO(A) NONVSAM UNFORMATTED", &[71], "V7"),
        ("SYMCHKP ID('A') AREA1(B)", &[0], "V2"),
        ("GU USING PCB(1) SEGMENT(A) WHERE(B=C)", &[i32::MAX], "TZ"),
        ("CHKP ID(A) ", &[], "TN"),
        ("ISRT USING PCB(1) SEGMENT(A) FROM(B) SEGMENT(C) FROM(D)", &[40_000, 40_000], "TZ"),
    ];
    let big = vec![0x7F; 40_000];
    for (text, numbers, expected) in table {
        let items: &[&[u8]] = if expected == "TN" { &[] } else { &[&big, &big] };
        let status = planned(text, items, numbers).expect_err(text);
        assert_eq!(std::str::from_utf8(&status), Ok(expected), "{text}");
    }
}
