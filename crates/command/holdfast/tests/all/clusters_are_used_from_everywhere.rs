//! Clusters of a started system: programs in regions have them in their units of work, processes
//! outside by the system's name, operators by their own.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use owner::{OwnerWays, Places};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::shop::SHOP;
use crate::common::{Ended, Folder, SECRET, command, init, on, start, system_of};

fn idcams(dir: &Path, statements: &str) -> Ended {
    let mut command = command(Some(SECRET));
    command.arg("idcams").arg("-s").arg(dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
    Ended::of(&child.finish_in_time().unwrap())
}

const DEFINE: &str = "  DEFINE CLUSTER (NAME(BANK.ACCT) INDEXED KEYS(6 0) -
    RECORDSIZE(20 20) SHAREOPTIONS(1 3))
  DEFINE AIX (NAME(BANK.AIX) RELATE(BANK.ACCT) KEYS(4 6) NONUNIQUEKEY)
  DEFINE PATH (NAME(BANK.PATH) PATHENTRY(BANK.AIX))
  BLDINDEX INDATASET(BANK.ACCT) OUTDATASET(BANK.AIX)
";

/// A program that puts a record, and ends well or not.
fn program(folder: &Folder, name: &str, key: &str, ends_well: bool) -> PathBuf {
    let header = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../records/fh-library/include/holdfast_vsam.h");
    let end = if ends_well { "return 0;" } else { "CEE3ABD(&code, &code); return 0;" };
    let text = format!(
        "#include <stdio.h>
#include <string.h>
#include \"{}\"
void CEE3ABD(int *code, int *timing);
int DLITCBL(void) {{
    holdfast_acb *acb; holdfast_rpl rpl; int code = 77; char area[21];
    int opened = holdfast_vsam_open(\"ACCT\", HOLDFAST_INOUT, 0, &acb, NULL);
    memset(&rpl, 0, sizeof rpl);
    memcpy(area, \"{key}ANNA          \", 20);
    rpl.acb = acb; rpl.area = area; rpl.area_bytes = rpl.record_bytes = 20;
    rpl.options = HOLDFAST_DIR;
    printf(\"open %d put %d begin %d\\n\", opened, holdfast_vsam_put(&rpl),
        holdfast_vsam_begin(acb));
    {end}
}}
",
        header.display()
    );
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_region_has_clusters_in_its_unit_of_work_and_others_by_the_name_of_the_system() {
    if Command::new("cc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cc is not installed");
        return;
    }
    let settings = "\n[online]\napplid = \"BANK\"\nfiles = { ACCT = \"BANK.ACCT\" }\n";
    let (folder, dir) = system_of("clusters-everywhere", SHOP, "");
    let config = dir.join("holdfast.toml");
    let text = fs::read_to_string(&config).unwrap().replace("\n[online]\n", settings);
    fs::write(&config, text).unwrap();
    idcams(&dir, DEFINE).done();
    let good = program(&folder, "good.c", "AA0001", true);
    let bad = program(&folder, "bad.c", "AA0002", false);
    let mut started = start(&dir);
    let batch = |program: &Path| {
        let program = ["--psb", "CLERK", "--program", program.to_str().unwrap()];
        let rest = ["--type", "bmp", "--dd", "ACCT=//BANK.ACCT", "--dd", "SYSOUT=/dev/stdout"];
        on(SECRET, &["batch", "-s"], &dir, &[&program[..], &rest].concat())
    };
    let ended = [batch(&good), batch(&bad)];
    let outside = outside(&dir);
    let copied = on(
        SECRET,
        &["image-copy", "-s"],
        &dir,
        &["--db", "BANK.PATH", "--to"]
            .into_iter()
            .chain([folder.join("copies").to_str().unwrap()])
            .collect::<Vec<_>>(),
    );
    let printed = idcams(&dir, "  PRINT INDATASET(BANK.ACCT) CHARACTER\n");
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    started.wait_in_time().unwrap();
    let output_text = &ended[0].out;
    assert!(output_text.contains("open 0 put 0 begin 8"), "{output_text}{}", ended[0].err);
    assert!(ended[1].code != 0 && ended[1].out.contains("put 0"), "{}", ended[1].out);
    outside.unwrap();
    let printed = printed.done();
    assert!(
        printed.out.contains("AA0001ANNA") && printed.out.contains("CC0003ANNA"),
        "{}",
        printed.out
    );
    assert!(!printed.out.contains("AA0002"), "it was backed out: {}", printed.out);
    assert!(copied.code == 0, "{}{}", copied.out, copied.err);
    let recovered = on(SECRET, &["recover", "-s"], &dir, &["--db", "BANK.ACCT"]);
    assert!(recovered.code == 0, "{}{}", recovered.out, recovered.err);
    let list = idcams(&dir, "  PRINT INDATASET(BANK.PATH) CHARACTER\n").done();
    assert!(list.out.contains("CC0003ANNA"), "{}", list.out);
}

/// Puts a record from this process, through the running system.
fn outside(dir: &Path) -> Result<(), String> {
    use file_handler::Ways as _;
    use file_handler::acb_wire::{AcbAnswer, AcbRequest, Options, Rpl, Verb};
    let variables = [("HOLDFAST_OWNER_BANK".to_owned(), OsString::from(dir))];
    let places = Places::given(BTreeMap::from(variables));
    let mut ways = OwnerWays::new(None, places, |_| {});
    let way = ways.way("#VSAM.#CICS.BANK/ACCT").ok_or("no way")?;
    let (mut request, mut answer) = (Vec::new(), Vec::new());
    let mut ask = |asked: &AcbRequest<'_>| {
        asked.write(&mut request);
        if !way.carry(&request, &mut answer) {
            return Err("no answer".to_owned());
        }
        let answer = AcbAnswer::read(&answer).ok_or("no such answer")?;
        match answer.return_code {
            0 => Ok(answer.number),
            code => Err(format!("{code} {}", answer.reason)),
        }
    };
    let name = b"#VSAM.#CICS.BANK/ACCT";
    let mode = vsam::OpenMode::InputOutput;
    let acb = ask(&AcbRequest::Open { mode, reset: false, strings: 0, name })?;
    let acb = u32::try_from(acb).map_err(|error| error.to_string())?;
    let rpl = Rpl {
        acb,
        string: 0,
        verb: Verb::Put,
        options: Options(Options::DIRECT),
        area: 20,
        argument: b"",
        record: b"CC0003ANNA          ",
    };
    ask(&AcbRequest::Do(rpl))?;
    ask(&AcbRequest::Close(acb)).map(drop)
}

#[test]
fn a_system_that_is_no_system_of_that_name_lets_nobody_in() {
    let folder = Folder::new("clusters-strange");
    let dir = folder.join("bank-two");
    init(&dir, &[]);
    let mut started = start(&dir);
    let wrong = outside(&dir).unwrap_err();
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    started.wait_in_time().unwrap();
    assert_eq!(wrong, "no way");
}
