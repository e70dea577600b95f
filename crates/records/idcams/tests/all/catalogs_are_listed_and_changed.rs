//! DEFINE, LISTCAT, ALTER, DELETE; generations; user catalogs.

use store::Store;
use vsam::{DataSetName, OpenMode, OpenOptions};

use super::common::{ACCOUNTS, Site, kernel, model};

const ALL: &str = "
 DEFINE AIX (NAME(BANK.AIX) REL(BANK.ACCT) KEYS(3 5) UNQK) -
   DATA(NAME(BANK.D1))
 DEFINE PATH (NAME(BANK.PATH) PENT(BANK.AIX) NUPD)
 DEFINE NONVSAM (NAME(BANK.TEXT) DEVT(3390) VOL(V1) -
   PATHNAME('./t.txt'))
 DEFINE CLUSTER (NAME(SHOP.LOG) NONINDEXED RECSZ(10 10) -
   TO(2099001) OWNER(SUE))
 DEFINE ALIAS (NAME(BANK.NICK) RELATE(BANK.ACCT))
";

fn shows_what_was_defined<S: Store>(site: &mut Site<S>) {
    site.run(0, &format!("{ACCOUNTS}{ALL}"));
    site.expected_text(
        0,
        " LISTCAT ENTRIES(BANK.ACCT BANK.AIX) ALL\n",
        &[
            "CLUSTER ------- BANK.ACCT",
            "DATA ------- BANK.ACCT.DATA",
            "INDEX ------ BANK.ACCT.INDEX",
            "DATA ------- BANK.D1",
            "KEYLEN-----------------4",
            "AVGLRECL--------------20",
            "MAXLRECL--------------80",
            "SHROPTNS(2,3) INDEXED RECOVERY NOERASE NOREUSE NONSPANNED",
            "AXRKP------------------5",
            "UNIQUEKEY UPGRADE",
            "VOLSER------------SYSDA1",
            "REC-TOTAL--------------0",
            "AIX--------------------1",
            "TOTAL------------------6",
        ],
    );
    site.expected_text(
        0,
        " LISTCAT ENT(SHOP.**) HISTORY\n",
        &["DATASET-OWNER--------SUE", "EXPIRATION------2099.001"],
    );
    site.expected_text(
        4,
        " LISTCAT ENTRIES(BANK.NONE BANK.PATH)\n",
        &["PATH ---------- BANK.PATH", "IDC3012I ENTRY BANK.NONE NOT FOUND"],
    );
    site.expected_text(4, " LISTCAT ENTRIES(NO.NE)\n", &["IDC3012I", "IDC1566I NO.NE NOT LISTED"]);
    site.expected_text(
        0,
        " LISTCAT LEVEL(BANK) PATH\n",
        &["PATH-------------------1", "TOTAL------------------1"],
    );
    site.expected_text(
        0,
        " LISTCAT ENT(BANK.NICK) ALL\n",
        &["ALIAS --------- BANK.NICK", "BANK.ACCT"],
    );
    site.expected_text(0, " LISTCAT\n", &["NONVSAM ------- BANK.TEXT", "CLUSTER ------- SHOP.LOG"]);
}

#[test]
fn a_catalog_shows_what_was_defined_on_the_model() {
    shows_what_was_defined(&mut model());
}

#[test]
fn a_catalog_shows_what_was_defined_on_the_kernel() {
    let (mut site, _running) = kernel("listed");
    shows_what_was_defined(&mut site);
}

#[test]
fn what_is_deleted_takes_with_it_what_stands_over_it() {
    let mut site = model();
    site.run(0, &format!("{ACCOUNTS}{ALL}"));
    site.expected_text(8, " DELETE BANK.ACCT PATH\n", &["NOT FOUND AS path", "IDC0551I"]);
    site.expected_text(8, " DELETE SHOP.LOG\n", &["IDC3022I", "PURGE"]);
    site.expected_text(0, " DELETE BANK.NICK ALIAS\n", &["ENTRY (X) BANK.NICK DELETED"]);
    site.expected_text(
        8,
        " DELETE (BANK.ACCT NO.SUCH SHOP.LOG) PURGE\n",
        &[
            "ENTRY (R) BANK.PATH DELETED",
            "ENTRY (G) BANK.AIX DELETED",
            "ENTRY (C) BANK.ACCT DELETED",
            "ENTRY NO.SUCH NOT FOUND",
            "ENTRY (C) SHOP.LOG DELETED",
        ],
    );
    site.file("./t.txt", "text");
    site.run(0, " DELETE BANK.TEXT NOSCRATCH\n");
    assert_eq!(site.bytes("./t.txt"), b"text");
    site.run(0, " DEFINE NVSAM (NAME(A.T) PATHNAME('./t.txt'))\n DELETE A.T\n");
    assert_eq!(site.bytes("./t.txt"), b"");
    site.run(0, " DELETE NO.SUCH IGNORERROR\n");
    site.expected_text(0, " LISTCAT\n", &["TOTAL------------------0"]);
}

#[test]
fn masks_reach_clusters_and_nothing_by_accident() {
    let mut site = model();
    site.run(0, &format!("{ACCOUNTS}{ALL}"));
    site.run(0, " DELETE BANK.A* CLUSTER\n");
    assert!(site.printed.contains("(C) BANK.ACCT DELETED"), "{}", site.printed);
    site.expected_text(
        0,
        " LISTCAT LEVEL(BANK)\n",
        &["NONVSAM----------------1", "CLUSTER----------------0"],
    );
    site.expected_text(8, " DELETE BANK.%CCT\n", &["NOT FOUND"]);
    site.run(0, " DELETE ** PURGE NOSCRATCH\n");
    site.expected_text(0, " LISTCAT CLUSTER NONVSAM\n", &["TOTAL------------------0"]);
}

#[test]
fn entries_change_their_names_and_attributes() {
    let mut site = model();
    site.run(0, &format!("{ACCOUNTS}{ALL}"));
    site.run(0, " ALTER BANK.ACCT SHR(1 3) FSPC(10 5) AVOL(V9) RVOL(SYSDA1)\n");
    site.expected_text(
        0,
        " LISTCAT ENT(BANK.ACCT) ALL\n",
        &["SHROPTNS(1,3)", "FREESPACE-%CI---------10", "VOLSER----------------V9"],
    );
    site.expected_text(
        12,
        " ALTER BANK.PATH SHR(1 3)\n",
        &["IDC3210I", "SHAREOPTIONS is not possible"],
    );
    site.expected_text(12, " ALTER BANK.ACCT INHIBIT\n", &["IDC3211I"]);
    site.expected_text(12, " ALTER BANK.NONE NEWNAME(X)\n", &["IDC3012I"]);
    site.run(0, " ALTER BANK.PATH UPDATE\n ALTER BANK.AIX NOUPGRADE\n");
    site.expected_text(0, " ALTER BANK.ACCT NEWNAME(BANK.ACCOUNT)\n", &["IDC0531I"]);
    site.expected_text(
        0,
        " LISTCAT ENT(BANK.AIX BANK.PATH) ALL\n",
        &["BANK.ACCOUNT", "NOUPGRADE", " UPDATE"],
    );
    // What is not renamed was not altered either, and nothing says so.
    for more in ["", " OWNER(ANNA)"] {
        let alter = format!(" ALTER BANK.ACCOUNT NEWNAME(SHOP.LOG){more}\n");
        site.expected_text(12, &alter, &["IDC3013I"]);
        assert!(!site.printed.contains("IDC0531I"), "{}", site.printed);
        site.run(0, " LISTCAT ENT(BANK.ACCOUNT) HIST\n");
        assert!(!site.printed.contains("ANNA"), "{}", site.printed);
    }
    let options = OpenOptions::default();
    let name = DataSetName::parse("BANK.ACCOUNT").expect("a name");
    let reader = site.catalog.open_file(&name, OpenMode::Input, &options);
    site.expected_text(12, " ALTER BANK.ACCOUNT NEWNAME(BANK.OTHER)\n", &["IDC3024I"]);
    assert!(!site.printed.contains("IDC0531I"), "{}", site.printed);
    drop(reader);
    site.run(0, " ALTER SHOP.* NEWNAME(STORE.*)\n ALTER STORE.LOG NULLIFY(OWNER RETENTION)\n");
    site.expected_text(0, " LISTCAT ENT(STORE.LOG) HIST\n", &["(NULL)", "0000.000"]);
}

#[test]
fn a_model_lends_what_a_definition_leaves_out() {
    let mut site = model();
    let text = " DEFINE CLUSTER (NAME(BANK.COPY) MODEL(BANK.ACCT) RECSZ(30 90))\n";
    site.run(0, &format!("{ACCOUNTS}{text}"));
    site.expected_text(
        0,
        " LISTCAT ENT(BANK.COPY) ALL\n",
        &[
            "KEYLEN-----------------4",
            "MAXLRECL--------------90",
            "SHROPTNS(2,3)",
            "BANK.COPY.DATA",
        ],
    );
    site.expected_text(
        12,
        " DEFINE PATH (NAME(P) PENT(BANK.ACCT) MODEL(BANK.ACCT))\n",
        &["IDC3210I"],
    );
    site.expected_text(
        12,
        " DEFINE CL (NAME(X) KEYS(8 0) RECSZ(10 5))\n",
        &["IDC3210I", "RECORDSIZE"],
    );
    site.expected_text(12, " DEFINE CL (NAME(X) NIXD KEYS(8 0))\n", &["IDC3203I", "KEYS"]);
    site.expected_text(12, " DEFINE CL (NAME(TOOLONGNAME.X))\n", &["IDC3203I"]);
}

#[test]
fn generations_come_and_go() {
    let mut site = model();
    site.run(0, " DEFINE GDG (NAME(BANK.DAY) LIMIT(2) SCRATCH)\n");
    for number in 1..=3 {
        let path = format!("./day{number}");
        site.file(&path, "x\n");
        let text = format!(" DEFINE NONVSAM (NAME(BANK.DAY.G000{number}V00) PATHNAME('{path}'))\n");
        site.run(0, &text);
    }
    assert!(site.printed.contains("G0001V00 HAS LEFT ITS GROUP"), "{}", site.printed);
    assert_eq!(site.bytes("./day1"), b"");
    site.file("./day3", "the third\n").file("./day2", "the second\n");
    site.expected_text(0, " PRINT INDATASET(BANK.DAY(0)) CHAR\n", &["the third"]);
    site.dd("OLD=BANK.DAY(-1)");
    site.expected_text(0, " PRINT INFILE(OLD) CHAR\n", &["the second"]);
    site.expected_text(12, " PRINT INDATASET(BANK.DAY(-5)) CHAR\n", &["IDC3012I"]);
    site.expected_text(
        0,
        " LISTCAT ENT(BANK.DAY) ALL\n",
        &["GDG BASE ------ BANK.DAY", "SCRATCH NOEMPTY"],
    );
    // A lower limit holds at once.
    let altered = &["G0002V00 HAS LEFT ITS GROUP", "BANK.DAY ALTERED"];
    site.expected_text(0, " ALTER BANK.DAY LIMIT(1)\n", altered);
    assert_eq!(site.bytes("./day2"), b"");
    site.expected_text(0, " PRINT INDATASET(BANK.DAY(0)) CHAR\n", &["the third"]);
    site.expected_text(12, " PRINT INDATASET(BANK.DAY(-1)) CHAR\n", &["IDC3012I"]);
    site.expected_text(8, " DELETE BANK.DAY GDG\n", &["IDC3028I"]);
    site.run(0, " DELETE BANK.DAY GDG FORCE\n");
}

#[test]
fn user_catalogs_hold_entries_of_their_own() {
    let mut site = model();
    let text = " DEFINE USERCATALOG (NAME(UCAT.BANK) VOLUME(V1))\n \
                DEFINE ALIAS (NAME(BANK) RELATE(UCAT.BANK))\n";
    site.run(0, &format!("{text}{ACCOUNTS}"));
    site.expected_text(
        0,
        " LISTCAT CATALOG(UCAT.BANK) ALL\n",
        &["IN-CAT --- UCAT.BANK", "BANK.ACCT"],
    );
    site.expected_text(12, " LISTCAT CATALOG(NO.CAT)\n", &["IDC3012I"]);
    site.expected_text(12, " EXPORT UCAT.BANK DISCONNECT\n", &["IDC3028I"]);
    site.run(0, " DELETE BANK.ACCT CATALOG(UCAT.BANK)\n DELETE BANK ALIAS\n");
    site.run(0, " EXPORT UCAT.BANK DISCONNECT\n IMPORT CONNECT OBJECTS((UCAT.BANK VOLUMES(V1)))\n");
    site.expected_text(4, " IMPORT CONNECT OBJECTS((UCAT.BANK))\n", &["CONNECTED ALREADY"]);
}
