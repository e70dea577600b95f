//! Programs at once where logical relationships are: both roots are locked (H8), so neither a child
//! nor its logical parent is lost (H5).

use crate::programs::under_every_schedule;

/// Shops and goods; OFFER stands beneath SHOP and leads to GOOD.
const MARKET: &str = "
         DBD   NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,1,50,500)
         DATASET DD1=SHOPDD
         SEGM  NAME=SHOP,PARENT=0,BYTES=2
         FIELD NAME=(SNO,SEQ,U),START=1,BYTES=2
         SEGM  NAME=OFFER,BYTES=4,PTR=(TWIN,LPARNT),
               PARENT=((SHOP),(GOOD,PHYSICAL,GOODDB)),RULES=(VVV)
         FIELD NAME=(GKEY,SEQ,U),START=1,BYTES=2
         FIELD NAME=PRICE,START=3,BYTES=2
         DBDGEN
         DBD   NAME=GOODDB,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,1,50,500)
         DATASET DD1=GOODDD
         SEGM  NAME=GOOD,PARENT=0,BYTES=3,RULES=(PPV)
         FIELD NAME=(GNO,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(OFFER,SHOPDB)
         DBDGEN
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=A
         SENSEG NAME=SHOP,PARENT=0
         SENSEG NAME=OFFER,PARENT=SHOP
         PCB   TYPE=DB,DBDNAME=GOODDB,PROCOPT=A
         SENSEG NAME=GOOD,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=TRADER
         END
";

const GOODS: &str = r#"
0 ISRT <"S1" SHOP
0 ISRT <"S2" SHOP
1 ISRT <"G1x" GOOD
"#;

#[test]
fn a_logical_parent_whose_insert_is_backed_out_has_no_children() {
    under_every_schedule(MARKET, GOODS, |yard| {
        let mut here = yard.program();
        assert_eq!(here.status("1 ISRT <\"G2y\" GOOD"), "  ");
        let other = yard.beside("trader", |_, program| {
            assert_eq!(program.status("0 ISRT <\"G2aa\" SHOP(SNO=S1) OFFER"), "IX");
            program.commit();
        });
        yard.let_others_run();
        here.back_out();
        other.end();
    });
}

#[test]
fn a_logical_parent_is_not_deleted_while_it_gets_a_child() {
    under_every_schedule(MARKET, GOODS, |yard| {
        let mut here = yard.program();
        assert_eq!(here.status("0 ISRT <\"G1aa\" SHOP(SNO=S1) OFFER"), "  ");
        let other = yard.beside("trader", |_, program| {
            program.done("1 GHU GOOD(GNO=G1)");
            let _ = program.tried("1 DLET <\"G1x\"");
            program.commit();
        });
        yard.let_others_run();
        here.commit();
        other.end();
    });
}

#[test]
fn a_child_and_the_removal_of_its_logical_parent_race_for_it() {
    under_every_schedule(MARKET, GOODS, |yard| {
        let inserter = yard.beside("inserter", |_, program| {
            program.work(|program| {
                let status = program.call("0 ISRT <\"G1aa\" SHOP(SNO=S1) OFFER")?.0;
                assert!(status == "  " || status == "IX", "{status}");
                Ok(())
            });
        });
        let remover = yard.beside("remover", |_, program| {
            program.work(|program| {
                let _ = program.call("1 GHU GOOD(GNO=G1)")?;
                let status = program.call("1 DLET <\"G1x\"")?.0;
                assert!(status == "  " || status == "DX", "{status}");
                Ok(())
            });
        });
        inserter.end();
        remover.end();
    });
}

#[test]
fn children_that_two_programs_give_one_logical_parent_are_both_there() {
    under_every_schedule(MARKET, GOODS, |yard| {
        let offering = |shop: &'static str| {
            yard.beside(shop, move |_, program| {
                program.work(|program| {
                    let line = format!("0 ISRT <\"G1aa\" SHOP(SNO={shop}) OFFER");
                    assert_eq!(program.call(&line)?.0, "  ");
                    program.call("1 GU GOOD(GNO=G1)").map(drop)
                });
            })
        };
        let others = [offering("S1"), offering("S2")];
        others.into_iter().for_each(crate::programs::Other::end);
    });
}

#[test]
fn a_logical_parent_goes_by_itself_only_when_its_last_child_is_gone_for_good() {
    let market = MARKET.replace("RULES=(PPV)", "RULES=(PVV)");
    let goods = format!(
        "{GOODS}0 ISRT <\"G1aa\" SHOP(SNO=S1) OFFER\n0 ISRT <\"G1bb\" SHOP(SNO=S2) OFFER\n"
    );
    for stays in [true, false] {
        under_every_schedule(&market, &goods, |yard| {
            let mut here = yard.program();
            here.done("0 GHU SHOP(SNO=S1) OFFER");
            here.done("0 DLET <\"G1aa\"");
            let other = yard.beside("trader", |_, program| {
                program.work(|program| {
                    assert_eq!(program.call("0 GHU SHOP(SNO=S2) OFFER")?.0, "  ");
                    assert_eq!(program.call("0 DLET <\"G1bb\"")?.0, "  ");
                    Ok(())
                });
            });
            yard.let_others_run();
            assert!(other.waits());
            match stays {
                true => here.back_out(),
                false => here.commit(),
            }
            other.end();
            let expected = if stays { "  " } else { "GE" };
            assert_eq!(here.status("1 GU GOOD(GNO=G1)"), expected);
        });
    }
}

#[test]
fn a_logical_parent_that_went_by_itself_leaves_a_gap_that_others_wait_at() {
    let market = MARKET.replace("RULES=(PPV)", "RULES=(PVV)");
    let goods = format!("{GOODS}0 ISRT <\"G1aa\" SHOP(SNO=S1) OFFER\n");
    under_every_schedule(&market, &goods, |yard| {
        let mut here = yard.program();
        here.done("0 GHU SHOP(SNO=S1) OFFER");
        here.done("0 DLET <\"G1aa\"");
        let other = yard.beside("reader", |_, program| {
            assert_eq!(program.done("1 GU GOOD"), "G1x");
            program.commit();
        });
        yard.let_others_run();
        assert!(other.waits(), "G1 may come back");
        here.back_out();
        other.end();
    });
}
