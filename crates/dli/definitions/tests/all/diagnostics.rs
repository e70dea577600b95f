//! Every diagnostic, provoked: a table of codes and of sources that lead to them.

use std::collections::BTreeSet;

use holdfast_definitions as definitions;

use definitions::{CODES, Severity};

use crate::samples::{BOOKDB, DATABASES, LENDING, MEMBDB, MEMBLOG, MEMBPX, NAMEIX, OTHERS};
use crate::support::{codes, resolved, source};

/// A DBD around these statements.
fn hdam(statements: &str) -> String {
    format!(
        "         DBD   NAME=XDB,ACCESS=(HDAM,OSAM),RMNAME=RANDOM\n         DATASET DD1=XDD\n\
         {statements}         DBDGEN\n"
    )
}

/// A root with a key, and these statements behind it.
fn rooted(statements: &str) -> String {
    hdam(&format!(
        "         SEGM  NAME=ROOT,PARENT=0,BYTES=20\n         FIELD \
         NAME=(KEY,SEQ,U),START=1,BYTES=4\n{statements}"
    ))
}

/// A PSB around these statements.
fn program(statements: &str) -> String {
    format!("{statements}         PSBGEN PSBNAME=XPSB\n")
}

/// What compiling tells: (code, source).
fn in_one_member() -> Vec<(&'static str, String)> {
    let mut cases = statements();
    cases.extend(databases());
    cases.extend(fields());
    cases.extend(programs());
    cases
}

fn statements() -> Vec<(&'static str, String)> {
    vec![
        ("HFG101", "         SEGM  NAME=A,BYTES=4\n".to_owned()),
        ("HFG101", "         SENSEG NAME=A\n".to_owned()),
        ("HFG101", "         DBDGEN\n".to_owned()),
        ("HFG101", hdam("         FIELD NAME=A,START=1,BYTES=1\n")),
        ("HFG101", hdam("         LCHILD NAME=(A,B)\n")),
        ("HFG101", program("         PCB   TYPE=DB,DBDNAME=A\n         SENFLD NAME=F,START=1\n")),
        ("HFG102", "         CSECT\n".to_owned()),
        ("HFG103", "         DBD   NAME=A,ACCESS=HDAM\n".to_owned()),
        ("HFG103", "         PCB   TYPE=TP\n".to_owned()),
        ("HFG104", rooted("         SEGMENT NAME=A\n")),
        ("HFG105", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,BITES=4\n")),
        ("HFG106", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,BYTES=5\n")),
        ("HFG106", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,PTR=T,POINTER=T\n")),
        ("HFG107", rooted("         SEGM  PARENT=ROOT,BYTES=4\n")),
        ("HFG107", rooted("         SEGM  NAME=A,PARENT=ROOT\n")),
        ("HFG107", rooted("         FIELD NAME=A,BYTES=4\n")),
        ("HFG107", rooted("         FIELD NAME=A,START=4\n")),
        ("HFG107", rooted("         FIELD START=4,BYTES=1\n")),
        ("HFG107", "         DBD   ACCESS=HDAM\n         DBDGEN\n".to_owned()),
        ("HFG107", "         DBD   NAME=A\n         DBDGEN\n".to_owned()),
        ("HFG107", "         PSBGEN LANG=COBOL\n".to_owned()),
        ("HFG108", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,FREQ=2\n")),
        ("HFG108", OTHERS.to_owned()),
        ("HFG109", hdam("").replace("NAME=XDB", "NAME=(XDB,YDB)")),
        ("HFG109", NAMEIX.replace("NAME=NAMEIX", "NAME=(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q)")),
        ("HFG207", NAMEIX.replace("NAME=NAMEIX", "NAME=(NAMEIX,OTHER)")),
        ("HFG109", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=(4,4,4)\n")),
        ("HFG109", rooted("         SEGM  NAME=(A,B),PARENT=ROOT,BYTES=4\n")),
        ("HFG110", rooted("         SEGM  NAME=NINECHARS,PARENT=ROOT,BYTES=4\n")),
        ("HFG110", rooted("         SEGM  NAME=A-B,PARENT=ROOT,BYTES=4\n")),
        ("HFG111", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4K\n")),
        ("HFG111", MEMBDB.replace("CONST=X'01'", "CONST=X'0101'")),
        ("HFG112", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=40000\n")),
        ("HFG112", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=99999999999\n")),
        ("HFG113", rooted("         FIELD NAME=A,START=5,BYTES=1,TYPE=Z\n")),
        ("HFG113", "         DBD   NAME=A,ACCESS=HIDM\n         DBDGEN\n".to_owned()),
        ("HFG113", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,RULES=LL\n")),
        ("HFG113", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,PTR=TWINS\n")),
        ("HFG113", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,COMPRTN=(X,Y)\n")),
        ("HFG113", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,EXIT=(X,Y)\n")),
        ("HFG114", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,PTR=(T,TB)\n")),
        ("HFG114", BOOKDB.replace("(HDAM,OSAM)", "(HDAM,BSAM)")),
        ("HFG114", BOOKDB.replace("(HDAM,OSAM)", "(HDAM,OSAM,PROT)")),
        ("HFG115", rooted("         SEGM  A,NAME=A,PARENT=ROOT,BYTES=4\n")),
        ("HFG116", rooted("         SEGM  NAME=ROOT,PARENT=ROOT,BYTES=4\n")),
        ("HFG116", rooted("         FIELD NAME=KEY,START=5,BYTES=1\n")),
        ("HFG116", MEMBDB.replace("XNAME", "SURNAME")),
    ]
}

fn databases() -> Vec<(&'static str, String)> {
    let deep: String = (1..=15)
        .map(|at| {
            let parent = if at == 1 { "ROOT".to_owned() } else { format!("S{}", at - 1) };
            format!("         SEGM  NAME=S{at},PARENT={parent},BYTES=4\n")
        })
        .collect();
    let wide: String =
        (1..=255).map(|at| format!("         SEGM  NAME=S{at},PARENT=ROOT,BYTES=4\n")).collect();
    let fields: String =
        (1..=255).map(|at| format!("         FIELD NAME=F{at},START=5,BYTES=1\n")).collect();
    let second = "         SEGM  NAME=B,PARENT=ROOT,BYTES=4\n";
    vec![
        ("HFG120", rooted("         AREA  DD1=A\n")),
        ("HFG120", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,TYPE=SEQ\n")),
        ("HFG120", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=4,DSGROUP=A\n")),
        ("HFG120", OTHERS.replace("NAME=STEP", "NAME=STEP,SSPTR=2")),
        ("HFG120", MEMBLOG.replace("DATASET LOGICAL", "DATASET DD1=A")),
        ("HFG120", BOOKDB.replace("DATASET DD1=BOOKDD,BLOCK=4096", "DATASET LOGICAL")),
        ("HFG120", NAMEIX.replace("INDEX=XNAME", "INDEX=XNAME,RKSIZE=4")),
        ("HFG120", rooted("         LCHILD NAME=(A,B),INDEX=KEY\n")),
        (
            "HFG120",
            OTHERS
                .replace("NAME=STEP,PARENT=((RATE))", "NAME=STEP,PARENT=RATE")
                .replace("(HISAM,VSAM)", "(SHISAM,VSAM)"),
        ),
        ("HFG121", rooted("         SEGM  NAME=A,PARENT=NONE,BYTES=4\n")),
        ("HFG121", rooted("         SEGM  NAME=A,PARENT=0,BYTES=4\n")),
        (
            "HFG122",
            rooted(&format!(
                "         SEGM  NAME=A,PARENT=ROOT,BYTES=4\n{second}         SEGM  \
             NAME=C,PARENT=A,BYTES=4\n"
            )),
        ),
        ("HFG123", rooted(&deep)),
        ("HFG124", rooted(&wide)),
        ("HFG124", rooted(&fields)),
        ("HFG125", hdam("")),
        ("HFG126", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=(4,8)\n")),
        ("HFG126", OTHERS.replace("NAME=ZIP,PARENT=0,BYTES=40", "NAME=ZIP,BYTES=(40,20)")),
        ("HFG126", rooted("         SEGM  NAME=A,PARENT=ROOT,BYTES=(40,3)\n")),
        (
            "HFG126",
            MEMBDB
                .replace("NAME=SURNAME,START=7,BYTES=20", "NAME=SURNAME,START=7,BYTES=260")
                .replace("BYTES=80", "BYTES=800"),
        ),
    ]
}

fn fields() -> Vec<(&'static str, String)> {
    vec![
        ("HFG127", rooted("         FIELD NAME=A,START=20,BYTES=2\n")),
        (
            "HFG128",
            rooted(
                "         SEGM  NAME=A,PARENT=ROOT,BYTES=8\n         FIELD \
            NAME=B,START=1,BYTES=4\n         FIELD NAME=(C,SEQ),START=5,BYTES=4\n",
            ),
        ),
        ("HFG129", rooted("         FIELD NAME=(C,SEQ),START=5,BYTES=4\n")),
        ("HFG130", MEMBDB.replace("(MEMBNO,SEQ,U)", "MEMBNO")),
        ("HFG130", MEMBDB.replace("(MEMBNO,SEQ,U)", "(MEMBNO,SEQ,M)")),
        ("HFG131", MEMBDB.replace("(FINENO,SEQ,M),START=3", "(FINENO,SEQ,M),START=2")),
        ("HFG131", MEMBDB.replace("(FINENO,SEQ,M),START=3", "(FINENO,SEQ,M),START=12")),
        ("HFG132", rooted("         XDFLD NAME=X,SRCH=KEY\n")),
        ("HFG133", MEMBDB.replace("SRCH=AMOUNT", "SRCH=SURNAME")),
        ("HFG134", MEMBDB.replace("SRCH=AMOUNT", "SRCH=/CKMB")),
        ("HFG134", MEMBDB.replace("NAME=/CKMB,START=1,BYTES=6", "NAME=/CKMB,START=16,BYTES=6")),
        ("HFG134", rooted("         FIELD NAME=/XX1,START=1,BYTES=4\n")),
        ("HFG135", MEMBDB.replace("XFINE,SRCH", "XFINE,SEGMENT=MEMBER,SRCH")),
        ("HFG136", rooted("         FIELD NAME=A,START=5,BYTES=3,TYPE=F\n")),
        ("HFG136", rooted("         FIELD NAME=A,START=1,BYTES=18,TYPE=P\n")),
        ("HFG137", MEMBPX.replace("         DATASET DD1=MEMBPXDD\n", "")),
        (
            "HFG137",
            OTHERS.replace("         DATASET DD1=LISTIN,DD2=LISTOUT,RECFM=FB,RECORD=80\n", ""),
        ),
    ]
}

fn programs() -> Vec<(&'static str, String)> {
    let pcb = "         PCB   TYPE=DB,DBDNAME=A,KEYLEN=4\n";
    let root = "         SENSEG NAME=R,PARENT=0\n";
    vec![
        ("HFG106", program(&format!("{pcb}         SENSEG NAME=R,SSPTR=((1,R),(1,U))\n"))),
        ("HFG107", program("         PCB   DBDNAME=A\n")),
        ("HFG107", program("         PCB   TYPE=DB\n         SENSEG NAME=R\n")),
        ("HFG107", program("         PCB   TYPE=GSAM,DBDNAME=A\n")),
        ("HFG113", program("         PCB   TYPE=DL,DBDNAME=A\n")),
        ("HFG113", "         PSBGEN PSBNAME=A,LANG=BASIC\n".to_owned()),
        ("HFG114", program(&format!("X        PCB   TYPE=DB,DBDNAME=A,PCBNAME=Y\n{root}"))),
        ("HFG116", program(&format!("{pcb}{root}{root}"))),
        ("HFG116", program("X        PCB   TYPE=TP\nX        PCB   TYPE=TP\n")),
        ("HFG120", program("         PCB   TYPE=TP\n         SENSEG NAME=R\n")),
        ("HFG150", program(&format!("{pcb}{root}         PCB   TYPE=TP\n"))),
        ("HFG151", program(&format!("         PCB   TYPE=DB,DBDNAME=A,PROCOPT=GX\n{root}"))),
        ("HFG151", program(&format!("         PCB   TYPE=DB,DBDNAME=A,PROCOPT=AO\n{root}"))),
        ("HFG151", program(&format!("         PCB   TYPE=DB,DBDNAME=A,PROCOPT=K\n{root}"))),
        ("HFG151", program("         PCB   TYPE=GSAM,DBDNAME=A,PROCOPT=A\n")),
        ("HFG152", program(&format!("{pcb}{root}         SENSEG NAME=S,PARENT=T\n"))),
        ("HFG152", program(&format!("{pcb}{root}         SENSEG NAME=S\n"))),
        ("HFG153", program(pcb)),
    ]
}

/// All databases but those with a `replaced` text, which get the new one; and a program.
fn library(changes: &[(&str, &str)], program: &str) -> Vec<String> {
    let mut texts: Vec<String> = DATABASES.iter().map(|text| (*text).to_owned()).collect();
    for (old, new) in changes {
        let hit = texts.iter_mut().find(|text| text.contains(old));
        let hit = hit.unwrap_or_else(|| panic!("no sample has {old}"));
        *hit = hit.replace(old, new);
    }
    texts.push(program.to_owned());
    texts
}

fn pcb(operands: &str, sensegs: &str) -> String {
    program(&format!("         PCB   TYPE=DB,DBDNAME={operands}\n{sensegs}"))
}

/// What fitting together tells: (code, changes to the samples, program).
type Case = (&'static str, &'static [(&'static str, &'static str)], String);

fn between_members() -> Vec<Case> {
    let mut cases = between_databases();
    cases.extend(between_programs());
    cases
}

fn case(
    code: &'static str,
    changes: &'static [(&'static str, &'static str)],
    program: String,
) -> Case {
    (code, changes, program)
}

fn between_databases() -> Vec<Case> {
    let none = || LENDING.to_owned();
    vec![
        case("HFG201", &[("NAME=(FINEKEY,FINEIX)", "NAME=(FINEKEY,NOIX)")], none()),
        case("HFG201", &[("(BOOK,PHYSICAL,BOOKDB)", "(BOOK,PHYSICAL,NODB)")], none()),
        case("HFG202", &[("NAME=(FINEKEY,FINEIX)", "NAME=(NOKEY,FINEIX)")], none()),
        case("HFG206", &[("         LCHILD NAME=(MEMBKEY,MEMBPX),POINTER=INDX\n", "")], none()),
        case("HFG206", &[("NAME=(MEMBKEY,MEMBPX)", "NAME=(BOOK,BOOKDB)")], none()),
        case("HFG207", &[("INDEX=XFINE", "INDEX=OTHER")], none()),
        case("HFG207", &[("INDEX=MEMBNO", "INDEX=SURNAME")], none()),
        case("HFG207", &[("NAME=(DAYKEY,DAYIX)", "NAME=(NAMEKEY,NAMEIX)")], none()),
        case(
            "HFG208",
            &[(
                "BYTES=12\n         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=12",
                "BYTES=12\n         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=11",
            )],
            none(),
        ),
        case(
            "HFG208",
            &[(
                "BYTES=6\n         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=6",
                "BYTES=6\n         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=5",
            )],
            none(),
        ),
        case("HFG208", &[("SRCH=DAY,SUBSEQ=/SX9", "SRCH=DAY,SUBSEQ=/SX9,DDATA=DAY")], none()),
        case("HFG209", &[("LCHILD NAME=(LOAN,MEMBDB)", "LCHILD NAME=(FINE,MEMBDB)")], none()),
        case(
            "HFG209",
            &[
                ("BYTES=120,COMP", "BYTES=190,COMP"),
                ("(ISBN,SEQ,U),START=1,BYTES=10", "(ISBN,SEQ,U),START=71,BYTES=50"),
            ],
            none(),
        ),
        case("HFG210", &[("PAIR=LENT", "PAIR=NONE")], none()),
        case("HFG210", &[("PAIR=LENT", "PAIR=COPY")], none()),
        case("HFG211", &[("SOURCE=((LOAN,DATA,MEMBDB))", "SOURCE=((FINE,DATA,MEMBDB))")], none()),
        case("HFG211", &[("SOURCE=((COPY,,BOOKDB))", "SOURCE=((NONE,,BOOKDB))")], none()),
        case("HFG211", &[("(BOOK,DATA,BOOKDB))", "(COPY,DATA,BOOKDB))")], none()),
        case("HFG212", &[("NAME=COPY,PARENT=LOANBOOK", "NAME=COPY,PARENT=MEMBER")], none()),
        case(
            "HFG212",
            &[("SOURCE=((COPY,,BOOKDB))", "SOURCE=((NONE,,BOOKDB))")],
            pcb("MEMBLOG,KEYLEN=6", "         SENSEG NAME=MEMBER\n"),
        ),
    ]
}

fn between_programs() -> Vec<Case> {
    let member = "         SENSEG NAME=MEMBER\n";
    let hist = "         SENSEG NAME=YEAR\n";
    vec![
        case("HFG201", &[], pcb("NODB", member)),
        case("HFG202", &[], pcb("MEMBDB", "         SENSEG NAME=MEMBERS\n")),
        case("HFG203", &[], pcb("MEMBDB", "         SENSEG NAME=LOAN\n")),
        case(
            "HFG203",
            &[],
            pcb(
                "MEMBDB",
                "         SENSEG NAME=MEMBER\n         SENSEG \
            NAME=FINE,PARENT=MEMBER\n",
            ),
        ),
        case(
            "HFG204",
            &[],
            pcb(
                "MEMBDB",
                "         SENSEG NAME=MEMBER\n         SENFLD \
            NAME=NONE,START=1\n",
            ),
        ),
        case("HFG205", &[], pcb("MEMBDB,PROCSEQ=MEMBPX", member)),
        case("HFG205", &[], pcb("MEMBDB", "         SENSEG NAME=MEMBER,INDICES=FINEIX\n")),
        case("HFG213", &[], pcb("MEMBDB,KEYLEN=4", member)),
        case("HFG213", &[], pcb("MEMBDB,KEYLEN=40", member)),
        case("HFG214", &[], pcb("MEMBDB,PROCOPT=L", member)),
        case("HFG214", &[], pcb("HISTDB,PROCOPT=G", "         SENSEG NAME=YEAR,PROCOPT=L\n")),
        case("HFG215", &[], pcb("NAMEIX,PROCOPT=A", "         SENSEG NAME=NAMEKEY\n")),
        case("HFG215", &[], pcb("HISTDB,PROCOPT=GH", hist)),
        case("HFG216", &[], pcb("LISTDB", "         SENSEG NAME=X\n")),
        case("HFG216", &[], program("         PCB   TYPE=GSAM,DBDNAME=BOOKDB,PROCOPT=G\n")),
        case(
            "HFG217",
            &[],
            pcb(
                "MEMBDB,PROCOPT=I",
                "         SENSEG NAME=MEMBER\n         SENFLD \
            NAME=SURNAME,START=1\n",
            ),
        ),
        case("HFG218", &[], pcb("MEMBDB,PROCSEQD=NAMEIX", member)),
        case(
            "HFG219",
            &[],
            pcb(
                "DESKDB",
                "         SENSEG NAME=DESK\n         SENSEG \
            NAME=QUEUE,PARENT=DESK,SSPTR=((4,U))\n",
            ),
        ),
        case("HFG220", &[], pcb("OLDDB,PROCOPT=A", "         SENSEG NAME=OLD\n")),
    ]
}

#[test]
fn compiling_tells_what_is_wrong() {
    for (code, text) in in_one_member() {
        let compiled = source(&text);
        let printed: Vec<_> = compiled.diagnostics.iter().map(|one| one.code).collect();
        assert!(printed.contains(&code), "{code} is not among {printed:?}:\n{text}");
        let errors = compiled.diagnostics.iter().filter(|one| one.severity == Severity::Error);
        let answer = errors.count();
        let spoiled = compiled.members.iter().filter(|one| one.member.is_none()).count();
        assert!(answer > 0 || spoiled == 0, "a member is spoiled without an error:\n{text}");
    }
}

#[test]
fn fitting_together_tells_what_is_wrong() {
    for (code, changes, program) in between_members() {
        let texts = library(changes, &program);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let outcome = resolved(&texts);
        let printed = codes(&outcome);
        assert!(printed.contains(&code), "{code} is not among {printed:?}: {changes:?}\n{program}");
    }
}

#[test]
fn every_code_is_provoked() {
    let one = in_one_member().into_iter().map(|(code, _)| code);
    let many = between_members().into_iter().map(|(code, _, _)| code);
    let provoked: BTreeSet<_> = one.chain(many).collect();
    let missing: Vec<_> = CODES.iter().filter(|one| !provoked.contains(one.code)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn several_errors_of_a_member_are_told() {
    let text = MEMBDB
        .replace("TYPE=P,", "TYPE=Q,")
        .replace("BYTES=40,RULES=(PLV,HERE)", "BYTES=X,RULES=(PLX,HERE)")
        .replace("NULLVAL=BLANK", "NULLVAL=NOTHING");
    let printed: Vec<_> = source(&text).diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(printed, ["HFG113", "HFG111", "HFG111", "HFG113"]);
}

#[test]
fn findings_lead_to_their_words() {
    let text = MEMBDB.replace("NAME=(FINEKEY,FINEIX)", "NAME=(FINEKEY,NOIX)");
    let compiled = source(&text);
    let mut texts: Vec<&str> = DATABASES[1..].to_vec();
    texts.push(&text);
    let outcome = resolved(&texts);
    let finding = outcome.findings.iter().find(|one| one.code == "HFG201").unwrap();
    let diagnostic = finding.diagnostic(&compiled.members[0].places);
    let line = text.lines().position(|line| line.contains("NOIX")).unwrap() + 1;
    assert_eq!(diagnostic.place.card as usize, line);
    assert!(finding.to_string().contains("DBD MEMBDB"), "{finding}");
}
