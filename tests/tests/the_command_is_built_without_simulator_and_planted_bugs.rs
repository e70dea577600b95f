//! The simulator, the deliberate bugs and what only tests need are features of the seam and
//! dependencies of other packages. Nothing of them may get into the command that people run.

use holdfast_tests::cargo::built_into;

#[test]
fn the_command_is_built_without_simulator_and_planted_bugs() {
    let inside = built_into("holdfast");
    let seam = inside.iter().find(|line| line.starts_with("holdfast-seam "));
    let seam = seam.expect("the command is built on the seam");
    assert!(seam.ends_with("[]"), "features of the seam in the command: {seam}");
    for stranger in ["corosensei", "loom", "proptest", "holdfast-sim", "holdfast-bench"] {
        let found = inside.iter().find(|line| line.split(' ').next() == Some(stranger));
        assert!(found.is_none(), "{stranger} is in the command: {found:?}");
    }
    // The same question about the simulator's package has the other answer.
    let simulator = built_into("holdfast-sim");
    assert!(
        simulator.iter().any(|line| line.starts_with("holdfast-seam ") && line.contains("sim"))
    );
}
