//! `holdfast mqsc` defines, displays and dumps in a stopped system, also by the name `runmqsc`, and
//! what it defined is there the next time.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use crate::common::{Ended, Folder, SECRET, command, in_time, init, run};

fn script(folder: &Folder, text: &str) -> std::path::PathBuf {
    let file = folder.join("script.mqsc");
    fs::write(&file, text).unwrap();
    file
}

fn mqsc(dir: &Path, more: &[&OsStr]) -> Ended {
    let mut args: Vec<&OsStr> = vec!["mqsc".as_ref(), "-s".as_ref(), dir.as_ref()];
    args.extend(more);
    run(args)
}

#[test]
fn operators_type_commands_of_the_queue_manager() {
    let folder = Folder::new("mqsc");
    let dir = folder.join("qm1");
    init(&dir, &[]);
    let file = script(
        &folder,
        "* a script\nDEFINE QLOCAL(APP.IN) +\n  MAXDEPTH(7)\nDISPLAY QLOCAL(APP.IN) MAXDEPTH\n",
    );
    let ended = mqsc(&dir, &["-f".as_ref(), file.as_ref()]);
    assert_eq!(ended.code, 0, "{} {}", ended.out, ended.err);
    assert!(ended.out.contains("Starting MQSC for queue manager QM1.\n"), "{}", ended.out);
    assert!(ended.out.contains("       : * a script\n     1 : DEFINE QLOCAL(APP.IN) +\n"));
    assert!(ended.out.contains("   MAXDEPTH(7)\n2 MQSC commands read.\n"), "{}", ended.out);

    // A command that is not processed is 10; what was defined before is still there.
    let file = script(&folder, "DEFINE QLOCAL(APP.IN)\n");
    let ended = mqsc(&dir, &["-e".as_ref(), "-f".as_ref(), file.as_ref()]);
    assert_eq!(ended.code, 10, "{}", ended.out);
    assert!(ended.out.contains("AMQ8150E: ") && !ended.out.contains(" 1 : "), "{}", ended.out);

    let ended = mqsc(&dir, &["--dump".as_ref(), "-n".as_ref(), "APP.*".as_ref()]).done();
    assert!(ended.out.contains("DEFINE QLOCAL('APP.IN') +\n"), "{}", ended.out);

    // Another name of the queue manager, and no system, are told.
    assert_eq!(mqsc(&dir, &["OTHER".as_ref()]).code, 2);
    let nowhere = folder.join("nowhere");
    assert_eq!(mqsc(&nowhere, &["-v".as_ref()]).code, 20);
}

#[test]
fn the_name_runmqsc_is_enough() {
    let folder = Folder::new("runmqsc");
    let dir = folder.join("qm2");
    init(&dir, &[]);
    let file = script(&folder, "PING QMGR\n");
    let mut command = command(Some(SECRET));
    command.arg0("runmqsc").env("HOLDFAST_SYSTEM", &dir).arg("-f").arg(&file).arg("QM2");
    let ended = Ended::of(&seam::process::output(&mut command, in_time::LONG).unwrap());
    assert_eq!(ended.code, 0, "{} {}", ended.out, ended.err);
    assert!(ended.out.contains("AMQ8415I: "), "{}", ended.out);
}

#[test]
fn page_sets_are_reported_with_what_sealing_them_costs() {
    let folder = Folder::new("pset");
    let dir = folder.join("qm3");
    init(&dir, &[]);
    let pset = |more: &[&str]| {
        let mut args: Vec<&OsStr> =
            vec!["mq".as_ref(), "pset".as_ref(), "-s".as_ref(), dir.as_ref()];
        args.extend(more.iter().map(OsStr::new));
        run(args).done().out
    };
    assert!(pset(&[]).starts_with("no page sets"));
    let file = script(&folder, "DEFINE QLOCAL(APP.IN)\n");
    assert_eq!(mqsc(&dir, &["-f".as_ref(), file.as_ref()]).code, 0);
    let report: serde_json::Value = serde_json::from_str(&pset(&["--json"])).unwrap();
    let sets = report["page_sets"].as_array().unwrap();
    let messages = sets.iter().find(|set| set["name"] == "HOLDFAST.MQ.MESSAGES").unwrap();
    assert_eq!(messages["sealed"], true, "{report}");
    assert!(messages["pages"].as_u64().unwrap() > 0, "{report}");
    let pool = &report["pools"][0];
    assert_eq!(pool["name"], messages["pool"], "{report}");
    assert_eq!(
        messages["bytes"].as_u64().unwrap(),
        messages["pages"].as_u64().unwrap() * pool["page_bytes"].as_u64().unwrap()
    );
    assert!(pool["write_us"].as_f64().is_some_and(|us| us >= 0.0), "{report}");
    let text = pset(&[]);
    assert!(text.contains("HOLDFAST.MQ.MESSAGES") && text.contains("sealing adds"), "{text}");
}
