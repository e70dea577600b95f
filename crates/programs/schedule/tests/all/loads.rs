//! A load that did not end is never taken for one that did (DLI-12.40 and DLI-12.50).

use crate::support::{ALONE, LOADER, Shop};
use base::Coded as _;
use holdfast_schedule::Options;

#[test]
fn what_a_load_has_loaded_can_be_used_after_its_end() {
    let shop = Shop::new("loaded");
    let mut load = shop.program(LOADER);
    ["0001", "0002", "0003"].iter().for_each(|key| load.customer(1, key));
    load.end().expect("an end");
    assert_eq!(shop.customers(), ["0001", "0002", "0003"]);
    let mut again = shop.program(LOADER);
    assert_eq!(again.customer_status(1, "0004"), "AI", "it is not empty");
    again.end().expect("an end");
    assert_eq!(shop.customers().len(), 3);
}

#[test]
fn a_load_that_abends_at_once_leaves_an_empty_database() {
    let shop = Shop::new("empty");
    let mut load = shop.program(LOADER);
    load.customer(1, "0001");
    load.abend();
    assert!(shop.customers().is_empty());
    let mut again = shop.program(LOADER);
    again.customer(1, "0001");
    again.end().expect("an end");
    assert_eq!(shop.customers(), ["0001"]);
}

#[test]
fn a_long_load_that_abends_keeps_everybody_out_until_it_is_emptied() {
    let shop = Shop::new("half");
    let options = Options { load_commit: 2, ..Options::default() };
    let mut load = shop.program_with(LOADER, options.clone());
    ["0001", "0002", "0003"].iter().for_each(|key| load.customer(1, key));
    load.abend();
    let refused = shop.schedule(ALONE, Options::default()).err().expect("a refusal");
    assert_eq!(refused.code().0, "HFH004");
    assert!(refused.to_string().contains("SHOPDB") && refused.remedy().contains("db empty"));
    let mut again = shop.program(LOADER);
    assert_eq!(again.customer_status(1, "0004"), "AI");
    again.end().expect("an end");
    assert!(shop.schedule(ALONE, Options::default()).is_err());
}

#[test]
fn a_program_that_dies_in_a_load_keeps_everybody_out_too() {
    let shop = Shop::new("dies");
    let options = Options { load_commit: 2, ..Options::default() };
    let mut load = shop.program_with(LOADER, options);
    ["0001", "0002", "0003"].iter().for_each(|key| load.customer(1, key));
    drop(load);
    assert!(shop.schedule(ALONE, Options::default()).is_err());
}
