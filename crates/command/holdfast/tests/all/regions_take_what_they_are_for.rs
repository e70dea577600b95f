//! Regions of a started system: for classes, for expedited inputs, for batch message programs that
//! read a queue; started, stopped and ended by operators; programs that change while they wait.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use ims_connect::wire::{Function, f2};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::terminal::{Terminal, put_online, started, text_of};
use crate::common::{Folder, SECRET, command, init, on, pause};

const RESOURCES: &str = "         APPLCTN PSB=LATEPY,PGMTYPE=BATCH
         TRANSACT CODE=LATE,EDIT=ULC
         APPLCTN PSB=QUICKPY,FPATH=YES
         TRANSACT CODE=QUICK,MSGTYPE=(SNGLSEG,RESPONSE,1),FPATH=YES
         APPLCTN PSB=ECHOPY,PGMTYPE=(TP,,1)
         TRANSACT CODE=ECHO,EDIT=ULC
";

fn languages() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/languages");
    folder.canonicalize().unwrap()
}

fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libholdfast.so")
}

/// A program that answers each message with a word in front of it, and sleeps if it is to.
fn write_program(folder: &Path, name: &str, word: &str) -> PathBuf {
    let text = format!(
        "#!/usr/bin/env python3\n\
         import sys, time\n\
         sys.path.insert(0, {:?})\n\
         import holdfast\n\
         holdfast.begin()\n\
         while (data := holdfast.message()) is not None:\n    \
             if data.endswith(b\"SLEEP\"):\n        \
                 time.sleep(1000)\n    \
             print(data.decode(), flush=True)\n    \
             holdfast.reply(b\"{word} \" + data)\n\
         holdfast.end()\n",
        languages().join("python").display().to_string(),
    );
    let path = folder.join(name);
    // As an editor does it: no reader sees a half of it.
    let new = folder.join(format!(".{name}.new"));
    std::fs::write(&new, text).unwrap();
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&new, &path).unwrap();
    path
}

struct Installed {
    folder: Folder,
    dir: PathBuf,
    programs: PathBuf,
    system: Child,
    address: String,
}

fn installed(name: &str) -> Option<Installed> {
    if Command::new("python3").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: python3 is not installed");
        return None;
    }
    let folder = Folder::new(name);
    let dir = folder.join("system");
    init(&dir, &[]);
    let programs = folder.join("online");
    std::fs::create_dir(&programs).unwrap();
    let regions = "[{ classes = [1], count = 1 }, { program = \"QUICKPY\", count = 1 }]";
    let listed = [("programs", format!("[{programs:?}]")), ("regions", regions.to_owned())];
    put_online(&dir, &listed);
    let (resources, psbs) = (folder.join("resources.defs"), folder.join("psbs"));
    std::fs::write(&resources, RESOURCES).unwrap();
    let psb = std::fs::read_to_string(languages().join("psb/NOTEPY.psb")).unwrap();
    let names = ["LATEPY", "QUICKPY", "ECHOPY"];
    let all: Vec<String> = names.map(|name| psb.replace("NOTEPY", name)).into();
    std::fs::write(&psbs, all.concat()).unwrap();
    let own = |path: &Path| path.display().to_string();
    on(SECRET, &["gen", "-s"], &dir, &[&own(&languages().join("dbd")), &own(&psbs)]).done();
    on(SECRET, &["define", "-s"], &dir, &[&own(&resources)]).done();
    names.iter().for_each(|name| drop(write_program(&programs, name, "ONE")));
    let mut start = command(Some(SECRET));
    start.env("HOLDFAST_LIBRARY", library());
    let (system, address) = started(&mut start, &dir);
    Some(Installed { folder, dir, programs, system, address })
}

impl Installed {
    fn tell(&self, text: &str) -> String {
        let ended = on(SECRET, &["cmd", "-s"], &self.dir, &[text]);
        ended.out + &ended.err
    }

    /// Asks until the answer holds something.
    fn wait_for(&self, text: &str, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let printed = self.tell(text);
            if wanted(&printed) {
                return printed;
            }
            pause(50);
        }
    }

    fn stop(mut self) {
        on(SECRET, &["stop", "-s"], &self.dir, &[]).done();
        self.system.wait_in_time().unwrap();
        drop(self.folder);
    }
}

#[test]
fn a_batch_message_program_reads_the_queue_of_a_transaction() {
    let Some(own) = installed("batch-in") else { return };
    let mut terminal = Terminal::at(&own.address, "SENDER");
    for number in 0..3 {
        let text = format!("LATE {number}");
        let mut request = terminal.request(Function::SendOnlyAck, text.as_bytes());
        request.irm.f2 = f2::MODE_0;
        assert_eq!(text_of(&terminal.exchange(&request)), "");
    }
    assert!(own.tell("/DIS Q").contains("LATE"));
    let program = own.programs.join("LATEPY").display().to_string();
    let batch = |more: &[&str]| {
        let mut run = command(Some(SECRET));
        run.env("HOLDFAST_LIBRARY", library()).args(["batch", "-s"]).arg(&own.dir);
        run.args(["--psb", "LATEPY", "--program", &program]).args(more);
        let done = run.output_in_time().unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        (text, String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (text, err) = batch(&["--type", "bmp", "--in", "LATE"]);
    assert!(text.starts_with("LATE 0\nLATE 1\nLATE 2\n"), "{text}{err}");
    assert!(text.contains("return code 0, 7 calls"), "{text}{err}");
    assert!(!err.contains("program for terminals"), "{err}");
    assert!(own.tell("/DIS Q").contains("NO MESSAGES QUEUED"));
    // Its answers wait where the terminal can fetch them.
    let mut resume = terminal.request(Function::ResumeTpipe, b"");
    (resume.irm.f2, resume.irm.f3) = (f2::MODE_0, ims_connect::wire::f3::CONFIRM);
    assert_eq!(text_of(&terminal.exchange(&resume)), "ONE LATE 0");
    let (_, err) = batch(&["--type", "bmp", "--in", "NOTHERE"]);
    assert!(err.contains("DFS064") && err.contains("NOTHERE"), "{err}");
    let (_, err) = batch(&["--in", "LATE"]);
    assert!(err.contains("--type bmp"), "{err}");
    own.stop();
}

#[test]
fn operators_start_stop_and_end_what_runs_in_regions() {
    let Some(own) = installed("regions") else { return };
    let mut terminal = Terminal::at(&own.address, "QUICK1");
    assert_eq!(terminal.ask("QUICK HELLO"), "ONE QUICK HELLO");
    let shown = own.tell("/DIS A");
    assert!(shown.contains("IFP1     FP   QUICK     QUICKPY"), "{shown}");
    assert!(shown.contains("BATCHREG BMP  NONE"), "{shown}");

    let started = own.tell("/START REGION MPP");
    assert!(started.contains("REGION MPP2 STARTED"), "{started}");
    assert!(own.tell("/DIS A").contains("MPP2     TP"), "it is there");
    assert!(own.tell("/STA REG NOSUCH").contains("THERE ARE MPP, IFP"));
    assert!(own.tell("/STOP REGION JOBNAME MPP2").contains("COMPLETED"));
    own.wait_for("/DIS A", |shown| !shown.contains("MPP2"));

    // A program that does not come to its end is ended, and its client is told.
    let address = own.address.clone();
    let asks = std::thread::spawn(move || Terminal::at(&address, "ECHO1").ask("ECHO SLEEP"));
    let shown = own.wait_for("/DIS A", |shown| shown.contains("TP   ECHO"));
    let line = shown.lines().find(|line| line.contains("TP   ECHO")).unwrap();
    let number = line.split_whitespace().next().unwrap();
    let wrong = own.tell(&format!("/STOP REGION {number} ABDUMP LATE"));
    assert!(wrong.contains("IT DOES NOT PROCESS THAT TRANSACTION, BUT ECHO"), "{wrong}");
    // The program is there when its process has got its message.
    own.wait_for(&format!("/STOP REGION {number} ABDUMP ECHO"), |answer| {
        answer.contains("COMPLETED")
    });
    let answer = asks.join().unwrap();
    assert!(answer.starts_with("DFS555I TRAN ECHO ABEND S000,U0474"), "{answer}");
    assert_eq!(Terminal::at(&own.address, "ECHO2").ask("ECHO AGAIN"), "ONE ECHO AGAIN");
    own.stop();
}

#[test]
fn a_program_that_waits_for_input_is_scheduled_again_when_its_file_has_changed() {
    let Some(own) = installed("renewed") else { return };
    let mut terminal = Terminal::at(&own.address, "ECHO1");
    assert_eq!(terminal.ask("ECHO"), "ONE ECHO");
    own.wait_for("/DIS A", |shown| shown.contains("ECHOPY   WAIT-INPUT"));
    write_program(&own.programs, "ECHOPY", "THE OTHER");
    own.wait_for("/DIS A", |shown| !shown.contains("ECHOPY   WAIT-INPUT"));
    assert_eq!(terminal.ask("ECHO"), "THE OTHER ECHO");
    own.stop();
}
