//! Media faults at rest are repaired or named, never silently wrong (K20).

use std::path::PathBuf;

use holdfast_sim::machine::Make;
use holdfast_sim::media::{self, Met, Rested};
use holdfast_sim::{ahead, parallel};
use seam::sim::Rng;

/// Spoils each of the files some times, one fault a time.
fn each_file_is_spoilt(rested: &Rested, files: &[PathBuf], times: u64) -> (usize, usize) {
    let (mut right, mut named) = (0, 0);
    for path in files {
        for time in 0..times {
            let mut rng = Rng::stream(time, path.to_str().expect("paths are plain"));
            let disk = rested.disk.snapshot();
            let done = media::spoil(&disk, &rested.earlier, path, &mut rng);
            match media::meet(rested, &disk, rng.word() >> 1) {
                Ok(Met::Right) => right += 1,
                Ok(Met::Named(_)) => named += 1,
                Err(why) => panic!("{done} (time {time}): {why}"),
            }
        }
    }
    (right, named)
}

fn makes() -> Vec<Make> {
    vec![
        Make::small(),
        Make { sealed: false, ..Make::small() },
        Make { stripes: 2, file_intervals: 20, ..Make::small() },
        Make { copies: 2, ..Make::small() },
    ]
}

#[test]
fn a_stopped_system_is_right_or_names_what_is_damaged() {
    for (seed, make) in makes().iter().enumerate() {
        let rested = media::stopped(make, seed as u64);
        let (right, named) = each_file_is_spoilt(&rested, &media::files(&rested.disk), 25);
        println!("{right} were right, {named} named the damage");
        assert!(right > 0 && named > 0);
    }
}

#[test]
fn a_crashed_system_is_right_or_names_what_is_damaged() {
    for stripes in [1, 2] {
        let make = Make { copies: 2, stripes, ..Make::small() };
        let rested = media::crashed(&make, 7);
        let (right, named) = each_file_is_spoilt(&rested, &media::files(&rested.disk), 25);
        println!("{right} were right, {named} named the damage");
        assert!(right > 0 && named > 0);
    }
}

#[test]
fn a_damaged_log_copy_is_repaired_from_the_other_one() {
    for (seed, stripes) in [(1, 1), (2, 2), (3, 3)] {
        let make = Make { copies: 2, stripes, ..Make::small() };
        for rested in [media::stopped(&make, seed), media::crashed(&make, seed)] {
            for copy in ["/log1", "/log2"] {
                let of_copy = |path: &PathBuf| path.starts_with(copy);
                let files: Vec<_> =
                    media::files(&rested.disk).into_iter().filter(of_copy).collect();
                let (_, named) = each_file_is_spoilt(&rested, &files, 15);
                assert_eq!(named, 0, "{copy} could have been repaired");
            }
        }
    }
}

#[test]
fn one_write_ahead_data_set_of_two_is_enough() {
    for seed in 1..=3 {
        let rested = media::crashed(&Make { copies: 2, ahead: 2, ..Make::small() }, seed);
        for folder in ["/ahead1", "/ahead2"] {
            let of_folder = |path: &PathBuf| path.starts_with(folder);
            let files: Vec<_> = media::files(&rested.disk).into_iter().filter(of_folder).collect();
            assert!(!files.is_empty(), "it was used");
            let (right, named) = each_file_is_spoilt(&rested, &files, 40);
            assert!(right > 0 && named == 0, "{folder} could have been done without");
        }
    }
}

#[test]
fn a_system_whose_only_write_ahead_data_set_is_gone_or_cut_says_so() {
    let rested = media::crashed(&Make { copies: 2, ahead: 1, ..Make::small() }, 5);
    let of_ahead = |path: &PathBuf| path.starts_with("/ahead1");
    let path = media::files(&rested.disk).into_iter().find(of_ahead).expect("it was used");
    for cut in [None, Some(0), Some(4096)] {
        let disk = rested.disk.snapshot();
        match cut {
            None => disk.lose(&path),
            Some(len) => disk.truncate(&path, len),
        }
        let met = media::meet(&rested, &disk, 1).expect("nothing is silently wrong");
        assert!(matches!(&met, Met::Named(why) if why.contains("write-ahead")), "{cut:?}: {met:?}");
    }
}

#[test]
fn a_system_whose_only_write_ahead_data_set_was_overwritten_says_so() {
    parallel::each(1..5, ahead::overwritten_is_named);
}
