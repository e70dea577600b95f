//! Programs of DL/I calls over the kernel, crashed at random writes and at every write.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure names its seed.

use std::sync::Arc;

use dli_model::Subject;
use dli_model::script::{Script, Step};
use holdfast_sim::dli::life::{self, Lived};
use holdfast_sim::dli::numbered;
use holdfast_sim::dli::taken_back;
use holdfast_sim::dli::tale::Tale;
use holdfast_sim::dli::tellers;
use holdfast_sim::machine::Make;
use holdfast_sim::parallel;

/// HIDAM with a secondary index and twins without keys, HDAM, PHIDAM.
const SHOP: &str = "
         DBD   NAME=CUSTDB,ACCESS=(HIDAM,VSAM)
         DATASET DD1=CUSTDD
         SEGM  NAME=CUST,PARENT=0,BYTES=6
         FIELD NAME=(CNO,SEQ,U),START=1,BYTES=2
         FIELD NAME=TOWN,START=3,BYTES=4
         LCHILD NAME=(CUSTKEY,CUSTPX),POINTER=INDX
         LCHILD NAME=(TOWNKEY,CUSTTX),POINTER=INDX
         XDFLD NAME=XTOWN,SRCH=TOWN
         SEGM  NAME=SALE,PARENT=CUST,BYTES=4
         FIELD NAME=(SNO,SEQ,U),START=1,BYTES=2
         SEGM  NAME=ITEM,PARENT=SALE,BYTES=(300,4)
         FIELD NAME=TEXT,START=3,BYTES=2
         SEGM  NAME=NOTE,PARENT=CUST,BYTES=4,RULES=(LLL,FIRST)
         FIELD NAME=WORD,START=1,BYTES=4
         DBDGEN
         DBD   NAME=CUSTPX,ACCESS=(INDEX,VSAM)
         DATASET DD1=CUSTPX
         SEGM  NAME=CUSTKEY,PARENT=0,BYTES=2
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(CUST,CUSTDB),INDEX=CNO
         DBDGEN
         DBD   NAME=CUSTTX,ACCESS=(INDEX,VSAM)
         DATASET DD1=CUSTTX
         SEGM  NAME=TOWNKEY,PARENT=0,BYTES=4
         FIELD NAME=(KEY,SEQ,M),START=1,BYTES=4
         LCHILD NAME=(CUST,CUSTDB),INDEX=XTOWN
         DBDGEN
         DBD   NAME=STOCKDB,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,1,50,500)
         DATASET DD1=STOCKDD
         SEGM  NAME=PART,PARENT=0,BYTES=4
         FIELD NAME=(PNO,SEQ,U),START=1,BYTES=2
         SEGM  NAME=BIN,PARENT=PART,BYTES=3
         FIELD NAME=(BNO,SEQ,U),START=1,BYTES=2
         DBDGEN
         DBD   NAME=PASTDB,ACCESS=(PHIDAM,OSAM)
         SEGM  NAME=YEAR,PARENT=0,BYTES=4
         FIELD NAME=(YNO,SEQ,U),START=1,BYTES=4
         SEGM  NAME=FACT,PARENT=YEAR,BYTES=4,RULES=(LLL,LAST)
         FIELD NAME=SAYS,START=1,BYTES=4
         DBDGEN
         PCB   TYPE=DB,DBDNAME=CUSTDB,PROCOPT=AP
         SENSEG NAME=CUST,PARENT=0
         SENSEG NAME=SALE,PARENT=CUST
         SENSEG NAME=ITEM,PARENT=SALE
         SENSEG NAME=NOTE,PARENT=CUST
         PCB   TYPE=DB,DBDNAME=CUSTDB,PROCOPT=A,PROCSEQ=CUSTTX
         SENSEG NAME=CUST,PARENT=0
         SENSEG NAME=SALE,PARENT=CUST
         PCB   TYPE=DB,DBDNAME=STOCKDB,PROCOPT=A
         SENSEG NAME=PART,PARENT=0
         SENSEG NAME=BIN,PARENT=PART
         PCB   TYPE=DB,DBDNAME=PASTDB,PROCOPT=A
         SENSEG NAME=YEAR,PARENT=0
         SENSEG NAME=FACT,PARENT=YEAR
         PSBGEN LANG=COBOL,PSBNAME=SHOPPGM
         END
";

/// A program that spans three databases in each unit of work.
const SHOP_CALLS: &str = r#"
0 ISRT <"C1ROMAS1aa" CUST*D SALE
0 ISRT <"\x00\x06abcd" CUST(CNO=C1) SALE(SNO=S1) ITEM
0 ISRT <"nine" CUST(CNO=C1) NOTE
0 ISRT <"C2OSLO" CUST
2 ISRT <"P1xx" PART
2 ISRT <"B1a" PART(PNO=P1) BIN
3 ISRT <"2024" YEAR
3 ISRT <"snow" YEAR(YNO=2024) FACT
checkpoint
0 GHU CUST(CNO=C1)
0 REPL <"C1BONN"
0 ISRT <"\x00\x06efgh" CUST(CNO=C1) SALE(SNO=S1) ITEM
0 ISRT <"four" CUST(CNO=C1) NOTE
2 GHU PART(PNO=P1) BIN(BNO=B1)
2 REPL <"B1z"
3 ISRT <"rain" YEAR(YNO=2024) FACT
checkpoint
1 GHU CUST(XTOWN=OSLO)
0 GHU CUST(CNO=C2)
0 DLET <"C2OSLO"
2 ISRT <"P2yy" PART
2 GHU PART(PNO=P1)
2 DLET <"P1xx"
rollback
1 GHU CUST(XTOWN=BONN)
1 GNP SALE
0 ISRT <"C3BONN" CUST
0 ISRT <"S7zz" CUST(CNO=C3) SALE
3 GHU YEAR(YNO=2024) FACT
3 REPL <"hail"
checkpoint
0 GHU CUST(CNO=C1)
0 DLET <"C1BONN"
2 GHU PART(PNO=P1)
2 DLET <"P1xx"
3 ISRT <"2025" YEAR
checkpoint
1 GN CUST
0 ISRT <"C4KIEVS1bb" CUST*D SALE
checkpoint
"#;

#[test]
fn random_programs_go_on_behind_their_last_sync_point() {
    let lived: Vec<Lived> = parallel::each(1..121, life::live_through);
    let crashes: usize = lived.iter().map(|one| one.crashes).sum();
    assert!(crashes > lived.len(), "{crashes} crashes are too few");
}

#[test]
fn tellers_at_once_lose_no_posting() {
    let worked = parallel::each(1..41, tellers::work_through);
    let postings: usize = worked.iter().map(|one| one.postings).sum();
    assert!(postings > 10 * worked.len(), "{postings} postings are too few");
}

#[test]
fn nobody_misses_what_is_put_back_beside_what_a_backout_brings_back() {
    parallel::each(1..11, taken_back::a_neighbour_comes_back);
}

#[test]
fn nobody_adds_an_entry_beside_one_that_a_backout_is_taking_away() {
    parallel::each(1..11, taken_back::a_neighbour_is_added);
}

#[test]
fn an_index_of_equal_keys_is_built_over_data_whenever_the_machine_crashes() {
    match numbered::every_crash(1) {
        Ok(images) => assert!(images > 100, "{images} images are too few"),
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn a_program_goes_on_from_every_crash_point() {
    let script = Script::parse(SHOP_CALLS).expect("a script");
    let tale = Arc::new(Tale::of_script(SHOP, &script).expect("sources that compile"));
    expect_answers(&tale);
    let make = Make { frames: 64, redo_bytes_max: 6 << 10, ..Make::dual() };
    match life::sweep(&tale, &make, 1) {
        Ok(images) => assert!(images > 200, "{images} images are too few"),
        Err(why) => panic!("{why}"),
    }
}

/// Every call of the script does what it is meant to do.
fn expect_answers(tale: &Tale) {
    let mut model = tale.model_behind(0);
    for step in &tale.steps {
        match step {
            Step::Call(call) => {
                let answer = model.call(call.pcb, &call.function, &call.area, &call.ssas);
                assert_eq!(answer.status, *b"  ", "{step}");
            }
            Step::Checkpoint => model.checkpoint(),
            Step::Rollback => model.rollback(),
        }
    }
}
