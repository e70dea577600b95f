//! Control statements of access method services: text that people write.

use idcams::{Step, statements_of};

/// Text is read as statements, whatever it is.
///
/// # Panics
/// If a statement stands on lines that the text does not have, or before the one in front of it.
pub fn fuzz(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let count = text.lines().count();
    let steps = statements_of(&text);
    let mut before = 0;
    for Step { first, last, .. } in &steps {
        assert!(first <= last && *last as usize <= count, "{first} to {last} of {count}");
        assert!(*first >= before, "line {first} behind {before}");
        before = *first;
    }
}

/// Statements with every kind of word.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        " DEFINE CLUSTER (NAME(BANK.ACCT) INDEXED KEYS(8 0) RECORDSIZE(100,200) -\n   \
         SHR(2 3) VOLUMES(A B)) DATA (NAME(BANK.D) CISZ(4096)) /* a comment */ -\n   \
         INDEX(NAME(BANK.I))\n",
        " REPRO INFILE(IN ENV(RECFM(FB) RECSZ(80))) OUTDATASET(A.B(+1)) FROMKEY(X'C1C2') -\n \
         TOKEY('it''s') REPLACE\n IF LASTCC >= 8 THEN DO\n SET MAXCC = 0\n END\n ELSE -\n \
         CANCEL\n",
        " PARM MARGINS(1 80)\nLISTCAT ENTRIES(A.* B.+\n  C) ALL; VERIFY DATASET(A)\n/*\nthe end\n",
        " RESTORE INFILE(DD) OBJECTS((A NEWNAME(B)) C.**) SYNONYM((A B.C)(D E))\n",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).to_vec()
}
