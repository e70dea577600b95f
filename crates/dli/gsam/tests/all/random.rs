//! Random records, places and files.

use holdfast_gsam::{Gsam, Status};
use proptest::collection::vec;
use proptest::prelude::*;
use seam::sim::{CrashStyle, Rng, SimDisk};

use crate::{contents, holding, pcb, read_all, variable, write_all};

#[derive(Clone, Debug)]
struct Sample {
    format: &'static str,
    most: u32,
    text: bool,
    /// As areas have them.
    records: Vec<Vec<u8>>,
}

impl Sample {
    fn pcb(&self, disk: &SimDisk, options: &str) -> Gsam {
        pcb(disk, options, self.format, self.most, self.text)
    }
}

/// Bytes that a line can have, and that come back from one.
fn data(text: bool, len: impl Into<proptest::collection::SizeRange>) -> BoxedStrategy<Vec<u8>> {
    if text {
        vec(prop_oneof![Just(b' '), b'A'..=b'Z', 0x80..=0xff_u8], len).boxed()
    } else {
        vec(any::<u8>(), len).boxed()
    }
}

fn sample() -> impl Strategy<Value = Sample> {
    let kind = prop_oneof![Just("FB"), Just("VB"), Just("U")];
    (kind, 1..600_usize, any::<bool>()).prop_flat_map(|(format, len, text)| {
        let most = len as u32 + if format == "VB" { 2 } else { 0 };
        let data = if format == "FB" { data(text, len) } else { data(text, 1..=len) };
        vec(data, 0..60).prop_map(move |records| {
            let lead = |data: &Vec<u8>| match format {
                "VB" => variable(data),
                _ => data.clone(),
            };
            Sample { format, most, text, records: records.iter().map(lead).collect() }
        })
    })
}

proptest! {
    #[test]
    fn what_was_written_is_read(sample in sample()) {
        let disk = SimDisk::new();
        let mut output = sample.pcb(&disk, "LS");
        let mut places = Vec::new();
        prop_assert_eq!(output.open(b""), Status::Done);
        for record in &sample.records {
            places.push(output.insert(record, record.len() as u32).rsa.unwrap());
        }
        prop_assert_eq!(output.close(), Status::Done);
        let mut input = sample.pcb(&disk, "GS");
        prop_assert_eq!(&read_all(&mut input), &sample.records);
        let mut area = vec![0; input.form().area_bytes()];
        for (rsa, record) in places.iter().zip(&sample.records).rev() {
            let outcome = input.get_unique(Some(&rsa.basic()), &mut area);
            prop_assert_eq!(outcome.status, Status::Done);
            prop_assert_eq!(&area[..outcome.length], &record[..]);
        }
    }

    #[test]
    fn a_restart_anywhere_leaves_the_same_file(
        sample in sample(), cut: prop::sample::Index, more in 0..40_usize, seed: u64,
    ) {
        let straight = SimDisk::new();
        let mut output = sample.pcb(&straight, "L");
        output.open(b"OUT");
        write_all(&mut output, &sample.records);
        let cut = cut.index(sample.records.len() + 1);
        let disk = SimDisk::new();
        let mut output = sample.pcb(&disk, "L");
        prop_assert_eq!(output.open(b"OUT"), Status::Done);
        for record in &sample.records[..cut] {
            output.insert(record, record.len() as u32);
        }
        output.sync().unwrap();
        let place = output.place();
        for record in sample.records.iter().cycle().take(more) {
            output.insert(record, record.len() as u32);
        }
        output.close();
        let disk = disk.crash_image(&mut Rng::new(seed), CrashStyle::Random);
        let mut output = sample.pcb(&disk, "L");
        output.reposition(&place).unwrap();
        write_all(&mut output, &sample.records[cut..]);
        prop_assert_eq!(contents(&disk), contents(&straight));
    }

    #[test]
    fn reading_goes_on_from_any_place(sample in sample(), cut: prop::sample::Index) {
        let disk = SimDisk::new();
        let mut output = sample.pcb(&disk, "L");
        output.open(b"OUT");
        write_all(&mut output, &sample.records);
        let cut = cut.index(sample.records.len() + 1);
        let mut input = sample.pcb(&disk, "G");
        let mut area = vec![0; input.form().area_bytes()];
        prop_assert_eq!(input.open(b"INP"), Status::Done);
        for _ in 0..cut {
            prop_assert_eq!(input.get_next(&mut area).status, Status::Done);
        }
        let place = input.place();
        let mut input = sample.pcb(&disk, "G");
        input.reposition(&place).unwrap();
        prop_assert_eq!(read_all(&mut input), &sample.records[cut..]);
    }

    #[test]
    fn no_file_and_no_argument_do_harm(
        bytes in vec(prop_oneof![4 => 0..12_u8, 1 => any::<u8>()], 0..200),
        format in prop_oneof![Just("F"), Just("V"), Just("U")],
        most in 3..20_u32,
        text: bool,
        calls in vec(prop_oneof![
            Just(None),
            vec(any::<u8>(), 0..13).prop_map(Some),
            (0..220_u64).prop_map(|offset| Some((offset + (1 << 32)).to_be_bytes().to_vec())),
        ], 0..40),
        area in 0..40_usize,
    ) {
        let disk = holding(&bytes);
        let mut input = pcb(&disk, "G", format, most, text);
        let mut area = vec![0; area];
        for call in calls {
            let outcome = match &call {
                None => input.get_next(&mut area),
                Some(rsa) => input.get_unique(Some(rsa), &mut area),
            };
            prop_assert!(outcome.length <= area.len());
            prop_assert_eq!(outcome.rsa.is_some(), outcome.status == Status::Done);
        }
        prop_assert_eq!(contents(&disk), bytes);
    }

    #[test]
    fn no_area_does_harm(
        areas in vec((vec(0..12_u8, 0..30), 0..30_u32), 0..30),
        format in prop_oneof![Just("F"), Just("V"), Just("U")],
        most in 3..20_u32,
        text: bool,
    ) {
        let disk = SimDisk::new();
        let mut output = pcb(&disk, "L", format, most, text);
        output.open(b"OUT");
        let mut written = 0;
        for (area, length) in &areas {
            written += usize::from(output.insert(area, *length).status == Status::Done);
        }
        output.close();
        prop_assert_eq!(read_all(&mut pcb(&disk, "G", format, most, text)).len(), written);
    }
}
