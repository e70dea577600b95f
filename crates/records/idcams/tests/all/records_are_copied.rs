//! REPRO between clusters of every kind and files, and what it does with records that are refused.

use store::Store;

use super::common::{ACCOUNTS, Site, kernel, lines, model};

/// A cluster with the records 1 to `count`, from lines.
fn filled<S: Store>(site: &mut Site<S>, count: u32) {
    site.dd("LINES=lines.txt,text").dd("OUT=out.txt,text").file("lines.txt", lines(1..=count));
    site.run(0, &format!("{ACCOUNTS} REPRO INFILE(LINES) OUTDATASET(BANK.ACCT)\n"));
}

fn copies_every_range<S: Store>(site: &mut Site<S>) {
    filled(site, 9);
    site.expected_text(0, " REPRO IDS(BANK.ACCT) OFILE(OUT)\n", &["RECORDS PROCESSED WAS 9"]);
    assert_eq!(site.bytes("out.txt"), lines(1..=9).into_bytes());
    let cases = [
        ("FROMKEY(0003) TOKEY(0005)", lines(3..=5)),
        ("FROMKEY('0004x')", String::new()),
        ("FROMKEY(X'30303038')", lines(8..=9)),
        ("FROMKEY(000*) COUNT(2)", lines(1..=2)),
        ("FROMKEY(1)", String::new()),
        ("TOKEY(00*)", lines(1..=9)),
        ("SKIP(7)", lines(8..=9)),
        ("SKIP(2) COUNT(3)", lines(3..=5)),
        ("SKIP(20)", String::new()),
        ("COUNT(0)", String::new()),
    ];
    for (range, expected) in cases {
        let code = if range.contains("0004x") { 12 } else { 0 };
        site.run(code, &format!(" REPRO IDS(BANK.ACCT) OFILE(OUT) {range}\n"));
        if code == 0 {
            assert_eq!(site.bytes("out.txt"), expected.into_bytes(), "{range}");
        }
    }
    for wrong in ["FROMNUMBER(1)", "TOADDRESS(0)"] {
        let text = format!(" REPRO IDS(BANK.ACCT) OFILE(OUT) {wrong}\n");
        site.expected_text(12, &text, &["IDC3210I", "IDC3003I"]);
    }
}

#[test]
fn nothing_is_appended_to_a_part_of_a_record() {
    let mut site = model();
    site.dd("IN=in.txt,text").dd("FB=fb,fb=4").dd("VB=vb,vb").dd("LINES=lines,text");
    site.file("in.txt", "four\nmore\n");
    for (dd, file, cut, whole) in [
        ("FB", "fb", &b"aaaabb"[..], &b"aaaa"[..]),
        ("VB", "vb", b"\0\x08\0\0aaaa\0\x08\0\0b", b"\0\x08\0\0aaaa"),
    ] {
        let copy = format!(" REPRO INFILE(IN) OUTFILE({dd}) NOREUSE\n");
        site.file(file, cut);
        site.expected_text(12, &copy, &["record 2"]);
        assert_eq!(site.bytes(file), cut);
        site.file(file, whole);
        site.run(0, &copy);
        assert!(site.bytes(file).starts_with(whole) && site.bytes(file).ends_with(b"more"));
    }
    site.file("lines", "one\ntwo");
    site.run(0, " REPRO INFILE(IN) OUTFILE(LINES) NOREUSE\n");
    assert_eq!(site.bytes("lines"), b"one\ntwo\nfour\nmore\n");
}

#[test]
fn ranges_of_a_keyed_cluster_are_copied_on_the_model() {
    copies_every_range(&mut model());
}

#[test]
fn ranges_of_a_keyed_cluster_are_copied_on_the_kernel() {
    let (mut site, _running) = kernel("ranges");
    copies_every_range(&mut site);
}

#[test]
fn four_duplicates_end_a_copy_and_what_was_copied_stays() {
    let mut site = model();
    filled(&mut site, 2);
    site.file("lines.txt", lines([3, 1, 2, 4]));
    let repro = " REPRO INFILE(LINES) OUTDATASET(BANK.ACCT)\n";
    site.expected_text(
        8,
        repro,
        &["IDC3308I ** DUPLICATE RECORD", "WAS 2", "HIGHEST CONDITION CODE WAS 8"],
    );
    site.file("lines.txt", lines([5, 1, 2, 3, 4, 6]));
    site.expected_text(12, repro, &["IDC31467I", "PROCESSED WAS 1", "CONDITION CODE IS 12"]);
    site.run(0, " REPRO IDS(BANK.ACCT) OFILE(OUT)\n");
    assert_eq!(site.bytes("out.txt"), lines(1..=5).into_bytes());
    // More of them are taken where that is asked for.
    site.expected_text(8, " REPRO INFILE(LINES) ODS(BANK.ACCT) ELIMIT(9)\n", &["PROCESSED WAS 1"]);
}

#[test]
fn replace_puts_a_record_in_the_place_of_its_duplicate() {
    let mut site = model();
    filled(&mut site, 3);
    site.file("lines.txt", "0002 another one\n0004 new\n");
    site.expected_text(0, " REPRO INFILE(LINES) ODS(BANK.ACCT) REPLACE\n", &["PROCESSED WAS 2"]);
    site.run(0, " REPRO IDS(BANK.ACCT) OFILE(OUT) FKEY(0002)\n");
    let text = "0002 another one\n0003 name-3\n0004 new\n";
    assert_eq!(String::from_utf8_lossy(&site.bytes("out.txt")), text);
}

#[test]
fn a_load_wants_ascending_keys() {
    let mut site = model();
    site.dd("LINES=lines.txt,text").file("lines.txt", lines([2, 1, 3]));
    let text = format!("{ACCOUNTS} REPRO INFILE(LINES) OUTDATASET(BANK.ACCT)\n");
    site.expected_text(8, &text, &["IDC3314I ** RECORD OUT OF SEQUENCE", "PROCESSED WAS 2"]);
}

#[test]
fn reuse_empties_a_cluster_that_allows_it() {
    let mut site = model();
    filled(&mut site, 3);
    site.expected_text(12, " REPRO INFILE(LINES) ODS(BANK.ACCT) REUSE\n", &["IDC3300I", "REUSE"]);
    let define = " DEFINE CLUSTER (NAME(BANK.WORK) KEYS(4 0) RECSZ(20 80) REUSE)\n";
    let repro = " REPRO INFILE(LINES) ODS(BANK.WORK) REUSE\n";
    site.run(0, &format!("{define}{repro}"));
    site.file("lines.txt", lines(7..=8));
    site.run(0, repro);
    site.run(0, " REPRO IDS(BANK.WORK) OFILE(OUT)\n");
    assert_eq!(site.bytes("out.txt"), lines(7..=8).into_bytes());
}

#[test]
fn arrivals_stay_in_their_order_and_keep_their_addresses() {
    let mut site = model();
    site.dd("LINES=lines.txt,text").dd("OUT=out.txt,text").file("lines.txt", lines([9, 3, 6]));
    let define = " DEFINE CLUSTER (NAME(BANK.LOG) NONINDEXED RECSZ(20 80))\n";
    let repro = " REPRO INFILE(LINES) ODS(BANK.LOG)\n";
    site.run(0, &format!("{define}{repro}{repro}"));
    site.run(0, " REPRO IDS(BANK.LOG) OFILE(OUT)\n");
    assert_eq!(site.bytes("out.txt"), lines([9, 3, 6, 9, 3, 6]).into_bytes());
    // A record has 11 bytes, so the third begins at 22.
    site.run(0, " REPRO IDS(BANK.LOG) OFILE(OUT) FADDR(22) TADDR(33)\n");
    assert_eq!(site.bytes("out.txt"), lines([6, 9]).into_bytes());
    site.expected_text(
        12,
        " REPRO IDS(BANK.LOG) OFILE(OUT) FADDR(23)\n",
        &["IDC3302I", "feedback 32"],
    );
    site.expected_text(12, " REPRO IDS(BANK.LOG) OFILE(OUT) FROMKEY(A)\n", &["IDC3210I"]);
}

#[test]
fn relative_records_keep_their_numbers() {
    let mut site = model();
    site.dd("LINES=lines.txt,text").dd("OUT=out.dat,fb=12").file("lines.txt", lines(1..=5));
    let define = |name: &str| format!(" DEFINE CLUSTER (NAME({name}) NUMBERED RECSZ(12 12))\n");
    site.run(0, &format!("{} REPRO IFILE(LINES) ODS(R.ONE)\n", define("R.ONE")));
    site.run(0, &format!("{} REPRO IDS(R.ONE) ODS(R.TWO) FNUM(3) TNUM(4)\n", define("R.TWO")));
    site.expected_text(
        0,
        " PRINT IDS(R.TWO) CHARACTER\n",
        &["RELATIVE RECORD NUMBER - 3", "0003 name-3", "RELATIVE RECORD NUMBER - 4", "WAS 2"],
    );
    site.expected_text(8, " REPRO IDS(R.ONE) ODS(R.TWO)\n", &["IDC3308I", "PROCESSED WAS 3"]);
    site.run(0, " REPRO IDS(R.ONE) ODS(R.TWO) REPLACE\n");
    site.run(0, " REPRO IDS(R.TWO) OFILE(OUT) COUNT(2)\n");
    assert_eq!(site.bytes("out.dat"), b"0001 name-1 0002 name-2 ");
    // Records without numbers come behind all others, whatever gaps there are.
    site.run(0, &format!("{} REPRO IDS(R.ONE) ODS(R.GAP) FNUM(2) TNUM(3)\n", define("R.GAP")));
    site.file("lines.txt", lines(7..=8));
    for name in ["R.ONE", "R.GAP"] {
        site.expected_text(0, &format!(" REPRO IFILE(LINES) ODS({name})\n"), &["PROCESSED WAS 2"]);
    }
    site.run(0, " REPRO IDS(R.GAP) OFILE(OUT)\n");
    assert_eq!(site.bytes("out.dat"), b"0002 name-2 0003 name-3 0007 name-7 0008 name-8 ");
    site.expected_text(
        0,
        " PRINT IDS(R.ONE) CHARACTER\n",
        &["RELATIVE RECORD NUMBER - 7", "WAS 7"],
    );
}

#[test]
fn blocks_of_a_linear_cluster_are_copied() {
    let mut site = model();
    let blocks: Vec<u8> = (0..3_u8).flat_map(|number| vec![number; 4096]).collect();
    site.dd("IN=in.dat").dd("OUT=out.dat").file("in.dat", blocks.clone());
    let define = " DEFINE CLUSTER (NAME(L.ONE) LINEAR)\n";
    site.run(0, &format!("{define} REPRO IFILE(IN) ODS(L.ONE)\n REPRO IDS(L.ONE) OFILE(OUT)\n"));
    assert_eq!(site.bytes("out.dat"), blocks);
    site.run(0, " REPRO IDS(L.ONE) OFILE(OUT) FADDR(4096) COUNT(1)\n");
    assert_eq!(site.bytes("out.dat"), vec![1; 4096]);
}

#[test]
fn files_without_a_form_have_that_of_the_cluster() {
    let mut site = model();
    filled(&mut site, 3);
    site.dd("VB=./out.vb").dd("FB=./out.fb");
    site.run(0, " REPRO IDS(BANK.ACCT) OFILE(VB)\n");
    assert_eq!(&site.bytes("./out.vb")[..8], b"\x00\x0f\0\x000001");
    let define = " DEFINE CLUSTER (NAME(BANK.TWO) KEYS(4 0) RECSZ(20 80))\n";
    site.run(0, &format!("{define} REPRO IFILE(VB) ODS(BANK.TWO)\n"));
    site.run(0, " REPRO IDS(BANK.TWO) OFILE(OUT)\n");
    assert_eq!(site.bytes("out.txt"), lines(1..=3).into_bytes());
    site.expected_text(12, " REPRO IFILE(VB) OFILE(FB)\n", &["say how the records"]);
    let form = "ENV(RECFM(FB) RECSZ(11))";
    site.run(0, &format!(" REPRO IFILE(LINES) OFILE(FB {form})\n"));
    assert_eq!(site.bytes("./out.fb").len(), 33);
    site.expected_text(12, " REPRO IFILE(LINES) OFILE(NODD)\n", &["there is no --dd NODD="]);
    site.dd("SLIP=BANK.ACTC").dd("NEW=./BANK.NEW,text");
    site.expected_text(12, " REPRO IFILE(LINES) OFILE(SLIP)\n", &["IDC3012I", "write ./BANK.ACTC"]);
    site.run(0, " REPRO IFILE(LINES) OFILE(NEW)\n");
    assert_eq!(site.bytes("./BANK.NEW"), lines(1..=3).into_bytes());
}

#[test]
fn records_are_converted_field_by_field() {
    let mut site = model();
    let book = "
       01 R.
          05 K PIC X(4).
          05 N PIC S9(3) COMP-3.
          05 T PIC X(3).
";
    site.file("acct.cpy", book).dd("IN=in.dat,fb=9").dd("BACK=back.dat,fb=9");
    let host = b"\xF0\xF0\xF0\xF1\x12\x3C\xC1\xC2\xC3\xF0\xF0\xF0\xF2\x45\x6D\xC4\xC5\xC6";
    site.file("in.dat", host.as_slice());
    let define = " DEFINE CLUSTER (NAME(A.B) KEYS(4 0) RECSZ(9 9) RECORDMAP('acct.cpy'))\n";
    site.run(0, &format!("{define} REPRO IFILE(IN) ODS(A.B) FROMEBCDIC\n"));
    site.expected_text(0, " PRINT IDS(A.B) HEX\n", &["30303031123C414243", "30303032456D444546"]);
    site.run(0, " REPRO IDS(A.B) OFILE(BACK) TOEBCDIC FKEY(0001)\n");
    assert_eq!(site.bytes("back.dat"), host);
    site.run(0, " REPRO IFILE(IN) OFILE(BACK) FROMEBCDIC RECMAP('acct.cpy')\n");
    assert_eq!(&site.bytes("back.dat")[..9], b"0001\x12\x3CABC");
    site.expected_text(12, " REPRO IFILE(IN) OFILE(BACK) TOEBCDIC\n", &["RECORDMAP"]);
    site.expected_text(12, " REPRO IFILE(IN) OFILE(BACK) RECMAP(TEXT)\n", &["IDC3210I"]);
    site.run(0, " REPRO IFILE(IN) OFILE(BACK) FROMEBCDIC RECMAP(TEXT)\n");
    assert_eq!(&site.bytes("back.dat")[..4], b"0001");
}

#[test]
fn a_long_copy_is_committed_in_parts_and_tells_how_far_it_came() {
    let mut site = model();
    // The last record is too long for the cluster, the one before stays.
    let text = lines(1..=2500) + &"9".repeat(90) + "\n";
    site.dd("LINES=lines.txt,text").file("lines.txt", text);
    let repro = " REPRO INFILE(LINES) ODS(BANK.ACCT) COMMIT(100)\n";
    site.expected_text(8, &format!("{ACCOUNTS}{repro}"), &["IDC3309I", "PROCESSED WAS 2500"]);
    site.expected_text(0, " VERIFY DATASET(BANK.ACCT)\n", &["PROCESSED WAS 2500"]);
    let mut site = model();
    site.dd("VB=in.vb,vb").file("in.vb", b"\0\x090000a\0\x090001b\xFF".as_slice());
    site.file("in.vb", [b"\0\x09\0\x000001a".as_slice(), b"\0\x09\0\x000002b", b"\xFF"].concat());
    let repro = " REPRO INFILE(VB) ODS(BANK.ACCT)\n";
    site.expected_text(
        12,
        &format!("{ACCOUNTS}{repro}"),
        &["the file ends within a record", "WAS 0"],
    );
}

#[test]
fn a_path_reads_by_its_alternate_key() {
    let mut site = model();
    site.dd("LINES=lines.txt,text").dd("OUT=out.txt,text");
    site.file("lines.txt", "0001 zoe\n0002 ann\n0003 bob\n0004 ann\n");
    site.run(0, &format!("{ACCOUNTS} REPRO IFILE(LINES) ODS(BANK.ACCT)\n"));
    let index = " DEFINE AIX (NAME(BANK.AIX) RELATE(BANK.ACCT) KEYS(3 5) NUNQK UPGRADE)\n \
                 DEFINE PATH (NAME(BANK.PATH) PENT(BANK.AIX))\n";
    site.run(0, index);
    site.expected_text(12, " REPRO IDS(BANK.PATH) OFILE(OUT)\n", &["IDC3300I", "not been built"]);
    site.expected_text(
        0,
        " BLDINDEX IDS(BANK.ACCT) ODS(BANK.AIX)\n",
        &["IDC0652I BANK.AIX SUCCESSFULLY BUILT"],
    );
    site.run(0, " REPRO IDS(BANK.PATH) OFILE(OUT)\n");
    let all = "0002 ann\n0004 ann\n0003 bob\n0001 zoe\n";
    assert_eq!(String::from_utf8_lossy(&site.bytes("out.txt")), all);
    site.run(0, " REPRO IDS(BANK.PATH) OFILE(OUT) FKEY(b) TOKEY(b)\n");
    assert_eq!(site.bytes("out.txt"), b"0003 bob\n");
    site.expected_text(0, " PRINT IDS(BANK.PATH) CHAR COUNT(1)\n", &["KEY OF RECORD - ann"]);
    site.expected_text(0, " PRINT IDS(BANK.AIX) CHAR FKEY(zoe)\n", &["KEY OF RECORD - zoe"]);
    // The upgrade set changes with the base.
    site.file("lines.txt", "0005 amy\n");
    site.run(0, " REPRO IFILE(LINES) ODS(BANK.ACCT)\n REPRO IDS(BANK.PATH) OFILE(OUT) COUNT(1)\n");
    assert_eq!(site.bytes("out.txt"), b"0005 amy\n");
}

#[test]
fn a_cluster_with_speed_is_loaded_as_a_whole() {
    let mut site = model();
    site.dd("LINES=lines.txt,text").dd("OUT=out.txt,text").file("lines.txt", lines(1..=3000));
    let define = " DEFINE CLUSTER (NAME(BANK.FAST) KEYS(4 0) RECSZ(20 80) SPEED)\n \
                  DEFINE AIX (NAME(BANK.FAIX) REL(BANK.FAST) KEYS(6 5) NUNQK)\n \
                  DEFINE PATH (NAME(BANK.FPATH) PENT(BANK.FAIX))\n";
    let repro = " REPRO IFILE(LINES) ODS(BANK.FAST)\n";
    site.expected_text(0, &format!("{define}{repro}"), &["PROCESSED WAS 3000"]);
    site.run(0, " REPRO IDS(BANK.FPATH) OFILE(OUT) COUNT(1)\n");
    assert_eq!(site.bytes("out.txt"), lines([1]).into_bytes());
    // What is refused leaves what was copied before.
    let define = " DEFINE CLUSTER (NAME(BANK.TWO) KEYS(4 2) RECSZ(8 12) SPEED)\n";
    site.file("lines.txt", "x 0001\nx 0002\nx 0002\nx 0001\nx 0001\nx 0001\nx 0003\n");
    let repro = " REPRO IFILE(LINES) ODS(BANK.TWO)\n";
    site.expected_text(12, &format!("{define}{repro}"), &["IDC31467I", "PROCESSED WAS 2"]);
    site.expected_text(0, " VERIFY DATASET(BANK.TWO)\n", &["PROCESSED WAS 2"]);
}
