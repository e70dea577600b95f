//! Planted anomalies of every kind, alone and hidden in long histories; no alarm without one.

use proptest::prelude::*;

use super::*;
use crate::rng::Rng;

/// A unit of work from text: its fate, then steps such as `a1:5` (append 5 to list 1), `r1:5,6`
/// (read list 1 as [5, 6]), `r1:` (as empty).
fn unit(text: &str, start: u64, end: u64) -> Observed {
    let mut words = text.split_whitespace();
    let fate = match words.next() {
        Some("ok") => Fate::Committed,
        Some("fail") => Fate::BackedOut,
        Some("info") => Fate::Unknown,
        other => panic!("no fate: {other:?}"),
    };
    let step = |word: &str| {
        let (kind, rest) = word.split_at(1);
        let (list, elements) = rest.split_once(':').unwrap();
        let list = list.parse().unwrap();
        let elements = elements.split(',').filter(|element| !element.is_empty());
        let elements: Vec<u64> = elements.map(|element| element.parse().unwrap()).collect();
        match kind {
            "a" => Step::Append { list, element: elements[0] },
            _ => Step::Read { list, elements },
        }
    };
    Observed { process: start, start, end, steps: words.map(step).collect(), fate }
}

/// Units of work that all overlap.
fn together(texts: &[&str]) -> History {
    let count = texts.len() as u64;
    let units = texts.iter().zip(0..).map(|(text, at)| unit(text, at, count + at)).collect();
    History { units }
}

/// Units of work one after another.
fn in_turn(texts: &[&str]) -> History {
    let units = texts.iter().zip(0..).map(|(text, at)| unit(text, 2 * at, 2 * at + 1)).collect();
    History { units }
}

fn kinds(history: &History, order: Order) -> Vec<(Kind, bool)> {
    let found = check(history, order);
    found.into_iter().map(|anomaly| (anomaly.kind, anomaly.real_time)).collect()
}

/// Every kind of anomaly as the shortest history that has it.
const PLANTED: [(Kind, &[&str]); 16] = [
    (Kind::BadHistory, &["ok a1:1", "ok a1:1"]),
    (Kind::Garbage, &["ok a1:1", "ok r1:1,9"]),
    (Kind::Duplicate, &["ok a1:1", "ok r1:1,1"]),
    (Kind::Incompatible, &["ok a1:1", "ok a1:2", "ok r1:1,2", "ok r1:2,1"]),
    (Kind::Internal, &["ok a1:1", "ok a1:2 r1:1"]),
    // Non-repeatable read.
    (Kind::Internal, &["ok a1:1", "ok r1: r1:1"]),
    (Kind::G0, &["ok a1:1 a2:3", "ok a1:2 a2:4", "ok r1:1,2", "ok r2:4,3"]),
    (Kind::G1a, &["fail a1:1", "ok r1:1"]),
    (Kind::G1b, &["ok a1:1 a1:2", "ok r1:1", "ok r1:1,2"]),
    // Dirty read: each saw what the other had not committed yet.
    (Kind::G1c, &["ok a1:1 r2:2", "ok a2:2 r1:1"]),
    // Lost update.
    (Kind::GSingle, &["ok r1: a1:1", "ok r1: a1:2", "ok r1:1,2"]),
    // Read skew: one list before another unit of work, the other list after it.
    (Kind::GSingle, &["ok a1:1 a2:2", "ok r1: r2:2", "ok r1:1"]),
    // Write skew.
    (Kind::G2, &["ok r1: r2: a1:1", "ok r1: r2: a2:2", "ok r1:1 r2:2"]),
    // Phantom: two readers disagree on the order of two writers.
    (Kind::G2, &["ok a1:1", "ok a2:2", "ok r1:1 r2:", "ok r1: r2:2"]),
    // The append that no read shows still comes after what the reads show.
    (Kind::G2, &["ok r2: a1:1", "ok r1: a2:2"]),
    // A commit whose answer was lost took effect, and then it did not.
    (Kind::GSingle, &["info a1:1 a2:2", "ok r1:1 r2:"]),
];

#[test]
fn each_planted_anomaly_is_found_and_named() {
    for (kind, texts) in PLANTED {
        let history = together(texts);
        let found = check(&history, Order::Serial);
        let first = found.first().map(|anomaly| anomaly.kind);
        assert_eq!(first, Some(kind), "{texts:?}: {found:?}");
        assert!(found.iter().all(|anomaly| !anomaly.story.is_empty()));
    }
}

#[test]
fn what_is_an_anomaly_in_real_time_only_is_found_there_only() {
    let planted: [(Kind, bool, &[&str]); 4] = [
        (Kind::Lost, false, &["ok a1:1", "ok r1:"]),
        // A stale read of what later reads do show.
        (Kind::GSingle, true, &["ok a1:1", "ok r1:", "ok r1:1"]),
        (Kind::G0, true, &["ok a1:1", "ok a1:2", "ok r1:2,1"]),
        (Kind::G1c, true, &["ok r1:1", "ok a1:1"]),
    ];
    for (kind, real_time, texts) in planted {
        let history = in_turn(texts);
        assert_eq!(kinds(&history, Order::Serial), [], "{texts:?}");
        let found = kinds(&history, Order::StrictSerial);
        assert!(found.contains(&(kind, real_time)), "{texts:?}: {found:?}");
    }
}

#[test]
fn write_skew_around_a_span_of_real_time_is_found() {
    // The last one overlaps the others: it misses the first's append, the second misses its own.
    let units = vec![unit("ok a2:2", 0, 1), unit("ok r1:", 2, 3), unit("ok r2: a1:1", 0, 3)];
    let history = History { units };
    assert_eq!(kinds(&history, Order::Serial), []);
    assert_eq!(kinds(&history, Order::StrictSerial), [(Kind::G2, true)]);
}

#[test]
fn what_is_no_anomaly_is_not_called_one() {
    let sound: [&[&str]; 8] = [
        &[],
        &["ok", "fail a1:1", "info a1:2"],
        // What was backed out, or nobody knows, may have seen anything.
        &["fail r1:7,7 a1:1 r1:", "info r1:9"],
        &["ok a1:1 r1:1 a1:2 r1:1,2", "ok r1:"],
        &["ok a1:1 r1:5,1", "ok a1:5"],
        &["info a1:1", "ok r1:1"],
        &["info a1:1", "ok r1:"],
        &["ok r1: a2:1", "ok r2:1 a1:2", "ok r1:2 r2:1"],
    ];
    for texts in sound {
        assert_eq!(check(&together(texts), Order::StrictSerial), [], "{texts:?}");
    }
}

#[test]
fn an_unknown_commit_may_take_effect_late_but_not_early() {
    let late = in_turn(&["info a1:1", "ok r1:", "ok r1:1"]);
    assert_eq!(check(&late, Order::StrictSerial), []);
    let early = in_turn(&["ok r1:1", "info a1:1"]);
    assert_eq!(kinds(&early, Order::StrictSerial), [(Kind::G1c, true)]);
}

#[test]
fn a_recording_that_is_dropped_is_of_unknown_fate() {
    let recorder = Recorder::new();
    let mut in_flight = recorder.begin(1);
    in_flight.append(1, 1);
    drop(in_flight);
    let history = recorder.history();
    assert_eq!(history.units.len(), 1);
    assert_eq!(history.units[0].fate, Fate::Unknown);
    assert_eq!(history.units[0].steps, [Step::Append { list: 1, element: 1 }]);
}

#[test]
fn the_story_of_a_circle_can_be_followed() {
    let history = together(&["ok r1: r2: a1:1", "ok r1: r2: a2:2", "ok r1:1 r2:2"]);
    let found = check(&history, Order::Serial);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "G2: write skew or phantom\n  \
         unit 0 (process 0) stands before unit 1 (process 1): it did not see the other's 2 in \
         list 2 (rw)\n  \
         unit 1 (process 1) stands before unit 0 (process 0): it did not see the other's 1 in \
         list 1 (rw)"
    );
}

/// Units of work in some serial order, seen through overlapping spans of time: each took effect at
/// one moment within its span. Some are backed out, some end unknown, seen or not.
fn serial_history(seed: u64, units: usize, lists: u64) -> History {
    let mut chance = Rng::new(seed);
    let mut state: std::collections::BTreeMap<u64, Vec<u64>> = std::collections::BTreeMap::new();
    let mut observed = Vec::new();
    for number in 0..units as u64 {
        let fate = match chance.below(10) {
            0 => Fate::BackedOut,
            1 => Fate::Unknown,
            _ => Fate::Committed,
        };
        let mut own = state.clone();
        let mut steps = Vec::new();
        for step in 0..chance.below(6) as u64 {
            let list = chance.next() % lists;
            let elements = own.entry(list).or_default();
            if chance.once_in(2) {
                elements.push(number * 10 + step);
                steps.push(Step::Append { list, element: number * 10 + step });
            } else {
                steps.push(Step::Read { list, elements: elements.clone() });
            }
        }
        let takes_effect = match fate {
            Fate::Committed => true,
            Fate::BackedOut => false,
            Fate::Unknown => chance.once_in(2),
        };
        if takes_effect {
            state = own;
        }
        let moment = number * 1_000 + 10_000;
        let span = 1 + chance.below(8_000) as u64;
        let (start, end) = (moment - chance.next() % span, moment + chance.next() % span);
        observed.push(Observed { process: number % 7, start, end, steps, fate });
    }
    // The places in the history follow the ends, not the order that nobody is told.
    observed.sort_by_key(|unit| unit.end);
    History { units: observed }
}

/// Moves a planted history to lists and moments of its own within another.
fn plant(history: &mut History, planted: &History, seed: u64) {
    let mut chance = Rng::new(seed);
    let at = chance.next() % 20_000;
    for unit in &planted.units {
        let steps = unit.steps.iter().map(|step| match step {
            Step::Append { list, element } => {
                Step::Append { list: list + 1_000_000, element: *element }
            }
            Step::Read { list, elements } => {
                Step::Read { list: list + 1_000_000, elements: elements.clone() }
            }
        });
        let (start, end) = (at + unit.start, at + unit.end);
        let unit = Observed { start, end, steps: steps.collect(), ..unit.clone() };
        let place = chance.below(history.units.len() + 1);
        history.units.insert(place, unit);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn serial_histories_raise_no_alarm(seed: u64, units in 0_usize..200, lists in 1_u64..12) {
        let history = serial_history(seed, units, lists);
        prop_assert_eq!(check(&history, Order::StrictSerial), []);
        prop_assert_eq!(check(&history, Order::Serial), []);
    }

    #[test]
    fn a_planted_anomaly_is_found_in_a_long_history(seed: u64, which in 0..PLANTED.len()) {
        let (kind, texts) = PLANTED[which];
        let mut history = serial_history(seed, 150, 6);
        plant(&mut history, &together(texts), seed);
        let found = check(&history, Order::Serial);
        prop_assert!(found.iter().any(|anomaly| anomaly.kind == kind), "{:?}", found);
        // Nothing but the planted units of work is blamed.
        for anomaly in found {
            for unit in anomaly.units {
                let steps = &history.units[unit].steps;
                let planted = steps.iter().all(|step| match step {
                    Step::Append { list, .. } | Step::Read { list, .. } => *list >= 1_000_000,
                });
                prop_assert!(planted, "unit {unit} is blamed");
            }
        }
    }

    /// Whatever one read is made to miss, the history is no longer serial in real time.
    #[test]
    fn a_read_that_misses_an_element_is_found(seed: u64) {
        let mut history = serial_history(seed, 80, 4);
        let mut chance = Rng::new(seed);
        // A last reader sees all lists, so that nothing hides behind the end of the history.
        let reads: Vec<_> = (0..4).map(|list| longest(&history, list)).collect();
        let reads = reads.into_iter().zip(0..).map(|(elements, list)| {
            Step::Read { list, elements }
        });
        let candidates: Vec<(usize, usize)> = (history.units.iter().enumerate())
            .filter(|(_, unit)| unit.fate == Fate::Committed)
            .flat_map(|(at, unit)| {
                unit.steps.iter().enumerate().filter_map(move |(step, read)| match read {
                    Step::Read { elements, .. } if !elements.is_empty() => Some((at, step)),
                    _ => None,
                })
            })
            .collect();
        prop_assume!(!candidates.is_empty());
        let (at, step) = candidates[chance.below(candidates.len())];
        let reads: Vec<Step> = reads.collect();
        // All units of work in turn: then a missing element cannot be a matter of order.
        for (place, unit) in history.units.iter_mut().enumerate() {
            (unit.start, unit.end) = (0, place as u64 + 1);
        }
        history.units.push(Observed {
            process: 99, start: 1_000_000, end: 1_000_001, steps: reads, fate: Fate::Committed,
        });
        let unit = &mut history.units[at];
        unit.start = 1_000_002;
        unit.end = 1_000_003;
        if let Step::Read { elements, .. } = &mut unit.steps[step] {
            elements.pop();
        }
        prop_assert_ne!(check(&history, Order::StrictSerial), []);
    }
}

fn longest(history: &History, wanted: u64) -> Vec<u64> {
    let reads = history.units.iter().filter(|unit| unit.fate == Fate::Committed);
    let reads = reads.flat_map(|unit| &unit.steps).filter_map(|step| match step {
        Step::Read { list, elements } if *list == wanted => Some(elements.clone()),
        _ => None,
    });
    reads.max_by_key(Vec::len).unwrap_or_default()
}
