//! Programs outside that use the files of a started system, in COBOL and in C.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use owner::{Admission, Applid, Files, Options, Server, Service, Who};
use seam::Seam;
use store_suite::model::ModelStore;
use vsam::{
    AlternateIndexAttributes, Catalog, ClusterAttributes, DataSetName, Definition, KeyField,
    PathAttributes,
};

use crate::stage::{LONG, Stage, With, library};

/// Lets everybody in.
struct Anybody;

impl Admission for Anybody {
    fn admits(&self, _: &Who<'_>) -> bool {
        true
    }
}

fn named(name: &str) -> DataSetName {
    DataSetName::parse(name).expect("a name")
}

/// A system that owns a keyed cluster and a path over its names.
fn owner(stage: &Stage) -> Server<ModelStore> {
    let catalog = Catalog::open(ModelStore::new(), Seam::real().clock).expect("a catalog");
    let define = |name: &str, definition| {
        catalog.define(&named(name), definition, None).expect("a definition");
    };
    let cluster = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 6 }, 20);
    define("BANK.ACCOUNT", Definition::Cluster(ClusterAttributes { reuse: true, ..cluster }));
    let key = KeyField { offset: 6, bytes: 4 };
    let index = AlternateIndexAttributes::new(named("BANK.ACCOUNT"), key);
    let index = AlternateIndexAttributes { unique: false, upgrade: true, ..index };
    define("BANK.BYNAME", Definition::AlternateIndex(index));
    catalog.build_index(&named("BANK.BYNAME")).expect("an index");
    let path = PathAttributes { entry: named("BANK.BYNAME"), update: true };
    define("BANK.NAMES", Definition::Path(path));
    let names = [("ACCOUNT", "BANK.ACCOUNT"), ("NAMES", "BANK.NAMES")];
    let names: BTreeMap<String, String> =
        names.iter().map(|(name, of)| ((*name).to_owned(), (*of).to_owned())).collect();
    let service = Service {
        files: Arc::new(Files { applid: Applid::parse("BANK").expect("a name"), names }),
        catalog: Box::new(move || Some(catalog.clone())),
        admission: Box::new(Anybody),
        clock: Seam::real().clock,
    };
    let socket = stage.path(owner::place::SOCKET);
    Server::start(Options { socket, ..Options::default() }, service).expect("a server")
}

/// Runs a program; what it says.
fn run(program: &Path, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", library()).envs(variables.iter().copied());
    let output = seam::process::output(&mut command, LONG).expect("a program that was compiled");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>() + &errors
}

fn compile_c(stage: &Stage, name: &str) -> std::path::PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = stage.path(name);
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Werror", "-o"]).arg(&program);
    cc.arg(own.join(format!("tests/programs/{name}.c"))).arg("-I").arg(own.join("include"));
    cc.arg("-L").arg(library()).arg("-lholdfast_fh");
    let output = seam::process::output(&mut cc, LONG).expect("cc is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// What `rpl.c` says, from the meaning of each request.
const REQUESTS: &str = "\
open BANK.NONE 8 148 0 0/0 0
open ACCOUNT 0 0 0 0/6 20
load 0 0
load 0 0
load 0 8
out of sequence 8 12
loading 8 116
close 0 116
open ACCOUNT 0 0 0 0/6 20
first 0 0 AA0001ANNA..........
next 0 0 BB0001BERT..........
direct 0 0 AA0001ANNA..........
no place 8 88
kept 0 0 AA0001ANNA..........
next 0 0 BB0001BERT..........
generic 0 0 BB0001BERT..........
not less 0 0 BB0001BERT..........
next 0 0 BB0002ANNA..........
end 8 4
backward 0 0 BB0001BERT..........
last 0 0 BB0002ANNA..........
not found 8 16
short key 8 112
address 8 104
options 8 104
it has 20
small area 8 44
insert 0 0
duplicate 8 8
not read 8 92
update 0 0 AA0002CARL..........
key changed 8 96
update 0 0 AA0002CARL..........
rewrite 0 0
again 8 92
nothing to erase 8 92
update 0 0 BB0001BERT..........
another string 0 0 AA0001ANNA..........
no string 8 64
ended 0 0
erase 0 0
point 0 0
next 0 0 BB0002ANNA..........
open #VSAM.#CICS.BANK/NAMES 0 0 0 6/4 20
by name 0 8 AA0001ANNA..........
next 0 0 BB0002ANNA..........
read only 8 68
close 0 68
begin 0
insert 0 8
back out 0
gone 8 16
begin 0
insert 0 8
commit 0
commit 8
there 0 0 DD0002DORA..........
no ACB 8 104
close 0 104
";

#[test]
fn programs_in_c_use_clusters_as_vsam_has_them() {
    let stage = Stage::new("rpl");
    let _owner = owner(&stage);
    let program = compile_c(&stage, "rpl");
    let folder = stage.path("").display().to_string();
    let name = "//#VSAM.#CICS.BANK/ACCOUNT";
    let printed = run(
        &program,
        &[("HOLDFAST_OWNER_BANK", &folder), ("HOLDFAST_SYSTEM", &folder), ("DD_ACCOUNT", name)],
    );
    assert_eq!(printed, REQUESTS);
}

#[test]
fn programs_in_cobol_reach_clusters_by_the_name_of_their_system() {
    let stage = Stage::new("owned");
    let owner = owner(&stage);
    let program = stage.compile("owned", With::Library);
    let folder = stage.path("").display().to_string();
    let load = compile_c(&stage, "fill");
    run(&load, &[("HOLDFAST_SYSTEM", &folder)]);
    let by_applid =
        [("HOLDFAST_OWNER_BANK", folder.as_str()), ("DD_ACCOUNT", "//#VSAM.#CICS.BANK/ACCOUNT")];
    let expected = "\
OPEN 00
READ 2000
REWRITE 00
DELETE 00
WRITE 22
BY NAME 00 AA0003
BEGIN +000000000
TWICE +000000092
BACKOUT +000000000
AGAIN 00 ANNA
AGAIN 00 ANNA
CLOSE 00
";
    assert_eq!(run(&program, &by_applid), expected);
    let by_catalog = [("HOLDFAST_SYSTEM", folder.as_str()), ("DD_ACCOUNT", "//BANK.ACCOUNT")];
    let again = expected.replace("2000", "1999").replace("DELETE 00", "DELETE 23");
    assert_eq!(run(&program, &by_catalog), again);
    assert_eq!(run(&program, &[("DD_ACCOUNT", "//BANK.ACCOUNT")]), "OPEN 96\n", "no system");
    drop(owner);
    let gone = run(&program, &by_applid);
    assert!(gone.starts_with("OPEN 93\nholdfast: "), "{gone}");
}
