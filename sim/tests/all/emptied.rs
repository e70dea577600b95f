//! A cluster that its own unit of work empties, crashed at every write.

use holdfast_sim::emptied::every_crash;

#[test]
fn records_come_back_that_a_unit_of_work_has_emptied_whenever_the_machine_crashes() {
    match every_crash(1) {
        Ok(images) => assert!(images > 20, "{images} images are too few"),
        Err(why) => panic!("{why}"),
    }
}
