//! Clients that others have written for the interface run on our library as they are.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::path::PathBuf;
use std::process::Command;

use dlopen2::wrapper::Container;
use libmqm_sys as mq;
use libmqm_sys::dlopen2::MqWrapper;

use crate::place::{Place, libraries, real_manager, run};

/// The package `ibmmq` for Node.js, which loads the library by its name.
const PROGRAM: &str = r#"
const mq = require("ibmmq");
const MQC = mq.MQC;
const call = require("util").promisify((f, ...rest) => f(...rest));
(async () => {
  const cno = new mq.MQCNO();
  cno.Options = MQC.MQCNO_HANDLE_SHARE_BLOCK;
  cno.ApplName = "node client";
  const hconn = await mq.ConnxPromise("QM1", cno);
  const od = new mq.MQOD();
  od.ObjectName = "APP.Q";
  const options = MQC.MQOO_OUTPUT | MQC.MQOO_INPUT_AS_Q_DEF | MQC.MQOO_INQUIRE;
  const hobj = await mq.OpenPromise(hconn, od, options);
  const md = new mq.MQMD();
  md.Format = MQC.MQFMT_STRING;
  const pmo = new mq.MQPMO();
  pmo.Options = MQC.MQPMO_SYNCPOINT | MQC.MQPMO_NEW_MSG_ID;
  for (const text of ["one", "two", "three"]) await mq.PutPromise(hobj, md, pmo, text);
  await call(mq.Cmit, hconn);
  const depth = new mq.MQAttr(MQC.MQIA_CURRENT_Q_DEPTH);
  await call(mq.Inq, hobj, [depth]);
  console.log("depth", depth.value);
  const buffer = Buffer.alloc(100);
  const gmo = new mq.MQGMO();
  gmo.Options = MQC.MQGMO_SYNCPOINT | MQC.MQGMO_NO_WAIT;
  const one = mq.GetSync(hobj, new mq.MQMD(), gmo, buffer);
  console.log("sync", buffer.toString("utf8", 0, one));
  await call(mq.Back, hconn);
  const seen = [];
  await new Promise((ok, no) => {
    const gmo = new mq.MQGMO();
    gmo.Options = MQC.MQGMO_NO_SYNCPOINT | MQC.MQGMO_WAIT;
    gmo.WaitInterval = MQC.MQWI_UNLIMITED;
    mq.Get(hobj, new mq.MQMD(), gmo, (error, handle, gmo, md, data) => {
      if (error) return no(error);
      seen.push(data.toString());
      if (seen.length === 3) ok();
    });
    mq.Ctl(hconn, MQC.MQOP_START, (e) => { if (e) no(e); });
  });
  console.log("async", seen.join(","));
  await call(mq.GetDone, hobj);
  await mq.ClosePromise(hobj, 0);
  try {
    const none = new mq.MQOD();
    none.ObjectName = "NO.SUCH";
    await mq.OpenPromise(hconn, none, MQC.MQOO_OUTPUT);
  } catch (e) { console.log("refused", e.mqcc, e.mqrc); }
  mq.DiscSync(hconn);
  console.log("done");
  process.exit(0);
})().catch((e) => { console.error("failed:", e.message); process.exit(1); });
"#;

/// Where `scripts/setup.sh messages` has installed the package.
fn package() -> PathBuf {
    let given = std::env::var_os("HOLDFAST_IBMMQ").map(PathBuf::from);
    let built = || libraries().ancestors().nth(2).unwrap().join("tools/mq/node_modules");
    let modules = given.unwrap_or_else(built);
    let is_there = modules.join("ibmmq/package.json").exists();
    assert!(
        is_there,
        "the npm package ibmmq is not in {}: run `scripts/setup.sh messages`, or let \
         HOLDFAST_IBMMQ name a folder node_modules that has it",
        modules.display()
    );
    modules
}

#[test]
fn the_package_ibmmq_for_node_runs_as_it_is() {
    let modules = package();
    let place = Place::new(real_manager(&["APP.Q"]));
    let program = place.folder.join("client.js");
    std::fs::write(&program, PROGRAM).unwrap();
    let mut node = place.program("node");
    node.arg(&program).env("NODE_PATH", modules).env("MQIJS_PREFER_INSTALLED_LIBRARY", "1");
    let printed = run(&mut node);
    let expected = "depth 3\nsync one\nasync one,two,three\nrefused 2 2085\ndone\n";
    assert_eq!(printed, expected);
}

/// The values that the package has for constants are those of our list.
#[test]
fn the_package_ibmmq_has_the_same_constants() {
    let modules = package();
    let script = "const m = require('ibmmq/lib/mqidefs.js'); for (const k of Object.keys(m)) \
                  if (typeof m[k] === 'number') console.log(k + ' ' + m[k]);";
    let mut node = Command::new("node");
    let printed = run(node.args(["-e", script]).env("NODE_PATH", modules));
    let mut compared = 0;
    for line in printed.lines() {
        let (name, value) = line.split_once(' ').unwrap();
        let is_ours = !name.starts_with("MQCMDL_")
            && !name.ends_with("_CURRENT_VERSION")
            && !name.ends_with("_LAST_USED")
            && !name.contains("_LENGTH");
        if let Some(ours) = mqi::constants::number(name).filter(|_| is_ours) {
            assert_eq!(ours.to_string(), value, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 1000, "only {compared} constants are in both");
}

fn name(text: &str) -> mq::MQCHAR48 {
    let mut field = [32; 48];
    for (to, from) in field.iter_mut().zip(text.bytes()) {
        *to = from.cast_signed();
    }
    field
}

/// The crate `libmqm-sys` finds every call it knows in the library, and makes them.
#[test]
fn the_crate_libmqm_sys_loads_the_library_and_calls_it() {
    let place = Place::new(real_manager(&["APP.Q"]));
    // SAFETY: no other thread of this test reads the environment while it is set: nextest runs
    // each test in a process of its own, and the other tests give it to their programs only.
    #[allow(unsafe_code)]
    unsafe {
        std::env::set_var("HOLDFAST_SYSTEM", &place.folder);
    }
    let path = libraries().join("libmqm_r.so");
    // SAFETY: the library is ours, and the arguments are as the interface has them.
    #[allow(unsafe_code)]
    unsafe {
        let api: Container<MqWrapper> = Container::load(path).unwrap();
        let (mut hconn, mut cc, mut rc) = (mq::MQHC_UNUSABLE_HCONN, -1, -1);
        api.MQCONN(&name("QM1"), &mut hconn, &mut cc, &mut rc);
        assert_eq!((cc, rc), (mq::MQCC_OK, mq::MQRC_NONE));
        api.MQCMIT(hconn, &mut cc, &mut rc);
        assert_eq!((cc, rc), (mq::MQCC_OK, mq::MQRC_NONE));
        api.MQDISC(&mut hconn, &mut cc, &mut rc);
        assert_eq!((cc, rc, hconn), (0, 0, mq::MQHC_UNUSABLE_HCONN));
    }
}
