//! A system's folder with a server in it, and programs that are built and run against it.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mqi::place::SOCKET;
use mqi::server::{LocalUsers, Manager, Server};
use queue_manager::objects::Kind;
use queue_manager::{Options, QueueManager};
use store_suite::model::ModelStore;

/// How long a program may take.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A queue manager over the model of a store, with some queues.
pub(crate) fn real_manager(queues: &[&str]) -> QueueManager<ModelStore> {
    let manager = QueueManager::open(&ModelStore::new(), Options::new("QM1")).unwrap();
    for name in queues {
        manager.define(Kind::QueueLocal, name, &[], false, None).unwrap();
    }
    manager
}

/// A system that programs connect to.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) server: Option<Server>,
}

impl Place {
    pub(crate) fn new(manager: impl Manager + 'static) -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let name = format!("mqm-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let mut place = Place { folder, server: None };
        place.serve(manager);
        place
    }

    /// Serves programs.
    pub(crate) fn serve(&mut self, manager: impl Manager + 'static) {
        let socket = self.folder.join(SOCKET);
        let server = Server::start(&socket, Arc::new(manager), Arc::new(LocalUsers)).unwrap();
        self.server = Some(server);
    }

    /// Builds a C program with our headers and a library of ours, and returns its path.
    pub(crate) fn c(&self, name: &str, source: &str) -> PathBuf {
        let (file, binary) = (self.folder.join(format!("{name}.c")), self.folder.join(name));
        std::fs::write(&file, source).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-Wall", "-Werror", "-Wno-unused-function", "-D_GNU_SOURCE", "-I"])
            .arg(include());
        gcc.arg(&file).arg("-o").arg(&binary).arg("-L").arg(libraries());
        // Transaction managers are called back by names.
        run(gcc.args(["-rdynamic", "-lmqm_r", "-lpthread", "-ldl"]));
        binary
    }

    /// A command for a program of this system.
    pub(crate) fn program(&self, binary: impl AsRef<Path>) -> Command {
        let mut command = Command::new(binary.as_ref());
        command.env("HOLDFAST_SYSTEM", &self.folder).env("LD_LIBRARY_PATH", libraries());
        command.current_dir(&self.folder);
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.server = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where our headers are.
pub(crate) fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// Where the libraries are that were built with this test.
pub(crate) fn libraries() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    for library in ["libmqm_r.so", "libmqm.so", "libmqmcb_r.so"] {
        assert!(folder.join(library).exists(), "{library} is not beside the test");
    }
    folder
}

/// Runs a command that must succeed, and returns what it said.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let done = seam::process::output(command, LONG).unwrap();
    let (printed, wrong) = (
        String::from_utf8_lossy(&done.stdout).into_owned(),
        String::from_utf8_lossy(&done.stderr).into_owned(),
    );
    assert!(done.status.success(), "{command:?}: {}\n{printed}\n{wrong}", done.status);
    printed
}

/// What every C program begins with: a call that must end as it says.
pub(crate) const HEAD: &str = r#"
#include <cmqc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static MQLONG cc, rc;
#define IS(wanted_cc, wanted_rc) do { if (cc != (wanted_cc) || rc != (wanted_rc)) { \
  printf("line %d: %d %d\n", __LINE__, cc, rc); exit(1); } } while (0)
#define HOLDS(what) do { if (!(what)) { printf("line %d: " #what "\n", __LINE__); exit(1); } \
  } while (0)
static MQHCONN connect_to(const char *name) {
  MQHCONN h = MQHC_UNUSABLE_HCONN;
  char field[49] = "";
  strncpy(field, name, 48);
  MQCONN(field, &h, &cc, &rc);
  return h;
}
static MQHOBJ open_queue(MQHCONN h, const char *name, MQLONG options) {
  MQOD od = {MQOD_DEFAULT};
  MQHOBJ o = MQHO_UNUSABLE_HOBJ;
  strncpy(od.ObjectName, name, 48);
  MQOPEN(h, &od, options, &o, &cc, &rc);
  return o;
}
"#;

/// Builds and runs a C program that is whole but for its main function's head.
pub(crate) fn program(place: &Place, name: &str, main: &str) -> String {
    let source = format!("{HEAD}\nint main(void) {{\n{main}\n  return 0;\n}}\n");
    run(&mut place.program(place.c(name, &source)))
}
