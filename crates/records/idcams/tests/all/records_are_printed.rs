//! PRINT in its three looks.

use super::common::{ACCOUNTS, model};

#[test]
fn a_record_is_dumped_in_hexadecimal_and_in_characters() {
    let mut site = model();
    site.dd("IN=in.vb,vb").file("in.vb", b"\0\x2A\0\x00K001abcdefghijklmnopqrstuvwxyz\0\xFF012345");
    site.run(0, &format!("{ACCOUNTS} REPRO IFILE(IN) ODS(BANK.ACCT)\n"));
    site.expected_text(
        0,
        " PRINT IDS(BANK.ACCT)\n",
        &[
            "LISTING OF DATA SET -BANK.ACCT",
            "KEY OF RECORD - 4B303031",
            "000000  4B303031 61626364 65666768 696A6B6C 6D6E6F70 71727374 75767778 797A00FF  \
             *K001abcdefghijklmnopqrstuvwxyz..*",
            "000020  30313233 3435",
            "*012345*",
            "IDC0005I NUMBER OF RECORDS PROCESSED WAS 1",
        ],
    );
    site.expected_text(0, " PRINT IDS(BANK.ACCT) HEX\n", &["4B303031616263", "303132333435"]);
    site.expected_text(
        0,
        " PRINT IDS(BANK.ACCT) CHAR\n",
        &["KEY OF RECORD - K001", "K001abcdefghijklmnopqrstuvwxyz..012345"],
    );
}

#[test]
fn characters_are_those_of_the_code_page() {
    let mut site = model();
    site.dd("IN=in.dat,fb=5").file("in.dat", b"\xC1\xC2\xF1\x00\x40".as_slice());
    site.expected_text(
        0,
        " PRINT IFILE(IN) CHARACTER CODEPAGE(037)\n",
        &["RECORD SEQUENCE NUMBER - 1", "AB1."],
    );
    site.expected_text(12, " PRINT IFILE(IN) CODEPAGE(999)\n", &["IDC3203I"]);
}

#[test]
fn a_listing_can_go_to_a_file() {
    let mut site = model();
    site.dd("IN=in.txt,text").dd("LIST=list.txt").file("in.txt", "one\ntwo\n");
    site.run(0, " PRINT IFILE(IN) CHAR OUTFILE(LIST) SKIP(1)\n");
    assert!(!site.printed.contains("two"));
    assert!(String::from_utf8_lossy(&site.bytes("list.txt")).contains("\ntwo\n"));
}

#[test]
fn records_are_shown_field_by_field() {
    let mut site = model();
    let book = "       01 R.\n          05 NUMB PIC X(4).\n          05 BALANCE PIC S9(3)V99 \
                COMP-3.\n          05 REMARK PIC X(4).\n";
    site.dd("IN=in.dat,fb=11").file("account.cpy", book);
    site.file("in.dat", b"K001\x12\x34\x5dok  K002\0\0\0\x01\x02ab".as_slice());
    site.run(
        0,
        " DEFINE CLUSTER (NAME(A.B) INDEXED KEYS(4 0) RECORDSIZE(11 11) -\n \
         RECORDMAP('account.cpy'))\n REPRO IFILE(IN) ODS(A.B)\n",
    );
    site.expected_text(
        0,
        " PRINT IDS(A.B) FIELDS\n",
        &[
            "KEY OF RECORD - K001",
            "000000  NUMB                            K001",
            "000004  BALANCE                         -123.45",
            "000007  REMARK                          ok",
            "000004  BALANCE                         X'000000' IS NO VALUE",
            "000007  REMARK                          ..ab",
        ],
    );
    site.run(0, " ALTER A.B NULLIFY(RECORDMAP)\n");
    site.expected_text(12, " PRINT IDS(A.B) FIELDS\n", &["FIELDS needs a record map"]);
}
