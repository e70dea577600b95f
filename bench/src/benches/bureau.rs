//! The bureau's databases and transactions of `apps/bank/online`, as an embedded caller has them:
//! the same DBDs and PSBs, the same calls in the same order with the same bytes.
//!
//! | transaction | calls | of them replaced, inserted, deleted |
//! |---|---|---|
//! | INVT: three items come in | 24 | 6, 2, 1 |
//! | HOTL: a room for four nights | 24 | 5, 2, 1 |
//! | WHSE: an order of four lines | 24 | 5, 6, 1 |
//!
//! 1. A transaction leaves one segment behind that nothing else leaves: a movement, a stay, an
//!    order. So what was done can be counted in the data.
//! 2. Whoever is chosen to end a deadlock does its transaction again.

use std::collections::BTreeMap;

use dli::{Failure, SessionOptions, Status};
use hierarchy::HierarchyError;
use placement::{DatabaseSettings, RandomizerKind, RandomizerSettings, Settings};

use crate::customers::{digits, qualified};
use crate::databases::{Library, Program, Site, partition};
use crate::error::{BenchError, Result};
use crate::kernel::failed;
use crate::ours::StoreSetup;
use crate::workload::Random;

/// DL/I calls of a transaction.
pub(crate) const CALLS: u64 = 24;
/// The date of all transactions.
pub(crate) const DATE: u64 = 19_960_401;
/// The databases, those that hold what a transaction leaves behind first.
const DATABASES: [&str; 6] = ["INVSTOCK", "HOTGUEST", "WHSORDER", "INVSUPP", "HOTHOTEL", "WHSDIST"];

/// The sources, as `holdfast gen` takes them.
const SOURCES: [&str; 10] = [
    include_str!("../../../apps/bank/online/dbd/INVSTOCK.dbd"),
    include_str!("../../../apps/bank/online/dbd/INVSUPP.dbd"),
    include_str!("../../../apps/bank/online/dbd/HOTHOTEL.dbd"),
    include_str!("../../../apps/bank/online/dbd/HOTGUEST.dbd"),
    include_str!("../../../apps/bank/online/dbd/WHSDIST.dbd"),
    include_str!("../../../apps/bank/online/dbd/WHSORDER.dbd"),
    include_str!("../../../apps/bank/online/psb/BURLOAD.psb"),
    include_str!("../../../apps/bank/online/psb/INVTONL.psb"),
    include_str!("../../../apps/bank/online/psb/HOTLONL.psb"),
    include_str!("../../../apps/bank/online/psb/WHSEONL.psb"),
];

/// How much of everything there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) items: u64,
    pub(crate) suppliers: u64,
    pub(crate) hotels: u64,
    pub(crate) guests: u64,
    pub(crate) districts: u64,
}

/// Nights of a hotel.
pub(crate) const NIGHTS: u64 = 120;
/// Offers of a supplier.
pub(crate) const OFFERS: u64 = 6;
/// Bins of an item.
pub(crate) const BINS: u64 = 3;

/// What a transaction is about, drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Inventory { item: u64, supplier: u64, quantity: u64 },
    Hotel { guest: u64, hotel: u64, day: u64 },
    Warehouse { district: u64, item: u64, quantity: u64 },
}

impl Size {
    /// As `apps/bank/online/load.card` says.
    pub(crate) const FULL: Size =
        Size { items: 10_000, suppliers: 500, hotels: 500, guests: 10_000, districts: 200 };
    /// To try whether it works.
    pub(crate) const SMALL: Size =
        Size { items: 1_000, suppliers: 50, hotels: 50, guests: 1_000, districts: 20 };

    /// The card of the load program.
    pub(crate) fn card(self) -> String {
        let Size { items, suppliers, hotels, guests, districts } = self;
        format!(
            "ITEMS={items:06} SUPPLIERS={suppliers:04} HOTELS={hotels:04} GUESTS={guests:06} \
             DISTRICTS={districts:04}\n"
        )
    }

    /// One of the three kinds, as the plan `apps/bank/online/mix.toml` draws them.
    pub(crate) fn draw(self, random: &mut Random) -> Wanted {
        let from_one = |random: &mut Random, most: u64| 1 + random.below(most);
        let item = from_one(random, self.items - 10);
        match random.below(3) {
            0 => Wanted::Inventory {
                item,
                supplier: from_one(random, self.suppliers),
                quantity: from_one(random, 99),
            },
            1 => Wanted::Hotel {
                guest: from_one(random, self.guests),
                hotel: from_one(random, self.hotels - 1),
                day: from_one(random, NIGHTS - 10),
            },
            _ => Wanted::Warehouse {
                district: from_one(random, self.districts),
                item,
                quantity: from_one(random, 9),
            },
        }
    }
}

impl Wanted {
    /// What a terminal sends.
    pub(crate) fn input(self, reference: u64) -> String {
        match self {
            Wanted::Inventory { item, supplier, quantity } => {
                format!("INVT    {reference:09}{DATE}{item:08}{supplier:04}{quantity:05}")
            }
            Wanted::Hotel { guest, hotel, day } => {
                format!("HOTL    {reference:09}{DATE}{guest:08}{hotel:04}{day:03}")
            }
            Wanted::Warehouse { district, item, quantity } => {
                format!("WHSE    {reference:09}{DATE}{district:04}{item:08}{quantity:02}")
            }
        }
    }
}

/// Why a call did not do what it should.
enum Stop {
    /// To be done again.
    Deadlock,
    Failed(BenchError),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        match failure.abend {
            "U0777" => Stop::Deadlock,
            _ => Stop::Failed(failed(failure)),
        }
    }
}

/// The databases, loaded.
pub(crate) fn create(setup: &StoreSetup, size: Size) -> Result<Site> {
    let site = Site::create(setup, Library::compile(&SOURCES.concat())?, &settings(), &DATABASES)?;
    load(&site, size)?;
    Ok(site)
}

/// What `holdfast.toml.part` says.
fn settings() -> Settings {
    let randomizer = RandomizerSettings {
        kind: RandomizerKind::Hash,
        blocks: None,
        anchors: None,
        file: None,
        unlisted: None,
    };
    let parts = |name: &str, high: &[&str]| DatabaseSettings {
        partitions: (1..)
            .zip(high)
            .map(|(number, high)| partition(&format!("{name}{number}"), Some((*high).to_owned())))
            .collect(),
        ..DatabaseSettings::default()
    };
    let guests = parts("GUEST", &["00002500", "00005000", "00007500", "99999999"]);
    let orders = parts("ORDER", &["010099999999999999999", "999999999999999999999"]);
    Settings {
        randomizers: BTreeMap::from([("BANKRAND".to_owned(), randomizer)]),
        databases: [("HOTGUEST", guests), ("WHSORDER", orders)]
            .map(|(name, one)| (name.to_owned(), one))
            .into(),
        ..Settings::default()
    }
}

/// What the COBOL program BURLOAD loads.
fn load(site: &Site, size: Size) -> Result<()> {
    let mut program = site.program("BURLOAD", SessionOptions::default())?;
    let mut put = |pcb, segment: &str, bytes: usize, keys: &[(usize, usize, u64)]| {
        program.area[..bytes].fill(b' ');
        for (at, length, number) in keys {
            digits(*number, &mut program.area[*at..at + length]);
        }
        program.put(pcb, b"ISRT", bytes, &[format!("{segment:9}").as_bytes()])
    };
    for item in 1..=size.items {
        put(0, "ITEM", 80, &[(0, 8, item)])?;
        for bin in 1..=BINS {
            put(0, "BIN", 32, &[(0, 2, bin)])?;
        }
        put(0, "REQUEST", 32, &[])?;
    }
    for supplier in 1..=size.suppliers {
        put(1, "SUPPLIER", 60, &[(0, 4, supplier)])?;
        for offer in 1..=OFFERS {
            put(1, "OFFER", 32, &[(0, 8, offer)])?;
        }
    }
    for hotel in 1..=size.hotels {
        put(2, "HOTEL", 80, &[(0, 4, hotel)])?;
        put(2, "RATE", 20, &[(0, 2, 1)])?;
        put(2, "RATE", 20, &[(0, 2, 2)])?;
        for night in 1..=NIGHTS {
            put(2, "NIGHT", 20, &[(0, 3, night)])?;
        }
    }
    for guest in 1..=size.guests {
        put(3, "GUEST", 60, &[(0, 8, guest)])?;
        put(3, "WISH", 24, &[])?;
    }
    for district in 1..=size.districts {
        put(4, "DISTRICT", 60, &[(0, 4, district)])?;
        put(4, "TASK", 24, &[])?;
    }
    for district in 1..=size.districts {
        put(5, "ORDER", 60, &[(0, 4, district), (4, 8, DATE - 70), (12, 9, 0)])?;
        put(5, "LINE", 40, &[(0, 2, 1)])?;
    }
    program.commit()
}

/// The movements, stays and orders in the databases, those of the load left out.
pub(crate) fn done(site: &Site, size: Size) -> Result<u64> {
    let mut found = 0;
    for (name, code) in [("INVSTOCK", 3), ("HOTGUEST", 2), ("WHSORDER", 1)] {
        let mut no_other = |name| Err(HierarchyError::NoDefinition(name));
        let unloaded = site.database(name)?.unload(&site.store, &mut no_other, |of, _, _| {
            found += u64::from(of.code() == code);
            Ok(())
        });
        unloaded.map_err(failed)?;
    }
    Ok(found - size.districts)
}

/// A key in an SSA.
struct Ssa {
    text: Vec<u8>,
}

impl Ssa {
    fn of(segment: &str, field: &str, bytes: usize) -> Ssa {
        Ssa { text: qualified(segment, field, bytes) }
    }

    fn set(&mut self, at: usize, bytes: usize, number: u64) {
        let from = crate::customers::SSA_VALUE + at;
        digits(number, &mut self.text[from..from + bytes]);
    }
}

/// A caller that does transactions: three programs, each with its PSB.
pub(crate) struct Caller {
    inventory: Program,
    hotel: Program,
    warehouse: Program,
    item: Ssa,
    bin: Ssa,
    movement: Ssa,
    supplier: Ssa,
    hotels: Ssa,
    night: Ssa,
    guest: Ssa,
    stay: Ssa,
    district: Ssa,
    order: Ssa,
}

/// A get that has to find something.
fn find(program: &mut Program, pcb: usize, function: &[u8; 4], ssas: &[&[u8]]) -> Done {
    match program.look(pcb, function, ssas)? {
        Status::OK => Ok(()),
        status => Err(Stop::Failed(failed(format!("a get ended with {status:?}")))),
    }
}

/// A get that may find nothing.
fn look(program: &mut Program, pcb: usize, function: &[u8; 4], ssas: &[&[u8]]) -> Done {
    match program.look(pcb, function, ssas)? {
        Status::OK | Status::GE => Ok(()),
        status => Err(Stop::Failed(failed(format!("a get ended with {status:?}")))),
    }
}

/// A change from the area.
fn change(
    program: &mut Program,
    pcb: usize,
    function: &[u8; 4],
    bytes: usize,
    ssas: &[&[u8]],
) -> Done {
    match program.change(pcb, function, bytes, ssas)? {
        Status::OK => Ok(()),
        status => Err(Stop::Failed(failed(format!("a change ended with {status:?}")))),
    }
}

type Done = std::result::Result<(), Stop>;

/// Counts on in a byte of the area, as a program adds to a number.
fn add(program: &mut Program, at: usize) {
    program.area[at] = program.area[at].wrapping_add(1);
}

/// Fills an area with blanks and numbers.
fn fill(program: &mut Program, bytes: usize, numbers: &[(usize, usize, u64)]) {
    program.area[..bytes].fill(b' ');
    for (at, length, number) in numbers {
        digits(*number, &mut program.area[*at..at + length]);
    }
}

impl Caller {
    pub(crate) fn new(site: &Site, owner: u64) -> Result<Caller> {
        let options = SessionOptions { shared: true, online: true, owner };
        Ok(Caller {
            inventory: site.program("INVTONL", options)?,
            hotel: site.program("HOTLONL", options)?,
            warehouse: site.program("WHSEONL", options)?,
            item: Ssa::of("ITEM", "ITEMNO", 8),
            bin: Ssa::of("BIN", "BINNO", 2),
            movement: Ssa::of("MOVEMENT", "MOVEKEY", 17),
            supplier: Ssa::of("SUPPLIER", "SUPPNO", 4),
            hotels: Ssa::of("HOTEL", "HOTLNO", 4),
            night: Ssa::of("NIGHT", "NIGHTDAY", 3),
            guest: Ssa::of("GUEST", "GUESTNO", 8),
            stay: Ssa::of("STAY", "STAYKEY", 17),
            district: Ssa::of("DISTRICT", "DISTNO", 4),
            order: Ssa::of("ORDER", "ORDERKEY", 21),
        })
    }

    /// Does a transaction, up to its commit; answers the program that is to be committed.
    pub(crate) fn transact(&mut self, wanted: Wanted, reference: u64) -> Result<&mut Program> {
        loop {
            let done = match wanted {
                Wanted::Inventory { item, supplier, .. } => {
                    self.inventory(item, supplier, reference)
                }
                Wanted::Hotel { guest, hotel, day } => self.hotel((guest, hotel, day), reference),
                Wanted::Warehouse { district, item, .. } => {
                    self.warehouse(district, item, reference)
                }
            };
            let program = match wanted {
                Wanted::Inventory { .. } => &mut self.inventory,
                Wanted::Hotel { .. } => &mut self.hotel,
                Wanted::Warehouse { .. } => &mut self.warehouse,
            };
            match done {
                Ok(()) => break,
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Deadlock) => program.backout()?,
            }
        }
        Ok(match wanted {
            Wanted::Inventory { .. } => &mut self.inventory,
            Wanted::Hotel { .. } => &mut self.hotel,
            Wanted::Warehouse { .. } => &mut self.warehouse,
        })
    }

    fn inventory(&mut self, item: u64, supplier: u64, reference: u64) -> Done {
        let Caller { inventory: program, item: of_item, bin, movement, supplier: of, .. } = self;
        of_item.set(0, 8, item);
        movement.set(0, 8, DATE);
        movement.set(8, 9, reference);
        look(program, 0, b"GU  ", &[&of_item.text, &movement.text])?;
        of.set(0, 4, supplier);
        find(program, 1, b"GU  ", &[&of.text])?;
        for _ in 0..4 {
            look(program, 1, b"GNP ", &[b"OFFER    "])?;
        }
        bin.set(0, 2, 1);
        for next in item..item + 3 {
            of_item.set(0, 8, next);
            find(program, 0, b"GHU ", &[&of_item.text])?;
            add(program, 41);
            add(program, 51);
            change(program, 0, b"REPL", 80, &[])?;
            find(program, 0, b"GHU ", &[&of_item.text, &bin.text])?;
            add(program, 6);
            change(program, 0, b"REPL", 32, &[])?;
        }
        of_item.set(0, 8, item);
        fill(program, 48, &[(0, 8, DATE), (8, 9, reference)]);
        change(program, 0, b"ISRT", 48, &[&of_item.text, b"MOVEMENT "])?;
        fill(program, 32, &[(0, 9, reference), (9, 8, DATE)]);
        change(program, 0, b"ISRT", 32, &[&of_item.text, b"REQUEST  "])?;
        find(program, 0, b"GHU ", &[&of_item.text, b"REQUEST  "])?;
        change(program, 0, b"DLET", 32, &[])?;
        of_item.set(0, 8, item + 3);
        find(program, 0, b"GU  ", &[&of_item.text])?;
        look(program, 0, b"GNP ", &[b"BIN      "])
    }

    fn hotel(&mut self, (guest, hotel, day): (u64, u64, u64), reference: u64) -> Done {
        let Caller { hotel: program, hotels, night, guest: of_guest, stay, .. } = self;
        of_guest.set(0, 8, guest);
        stay.set(0, 8, DATE);
        stay.set(8, 9, reference);
        look(program, 1, b"GU  ", &[&of_guest.text, &stay.text])?;
        hotels.set(0, 4, hotel);
        find(program, 0, b"GU  ", &[&hotels.text])?;
        for _ in 0..2 {
            look(program, 0, b"GNP ", &[b"RATE     "])?;
        }
        find(program, 1, b"GHU ", &[&of_guest.text])?;
        add(program, 34);
        add(program, 41);
        change(program, 1, b"REPL", 60, &[])?;
        for next in day..day + 4 {
            night.set(0, 3, next);
            find(program, 0, b"GHU ", &[&hotels.text, &night.text])?;
            add(program, 5);
            add(program, 9);
            change(program, 0, b"REPL", 20, &[])?;
        }
        fill(program, 48, &[(0, 8, DATE), (8, 9, reference), (17, 4, hotel), (21, 3, day)]);
        change(program, 1, b"ISRT", 48, &[&of_guest.text, b"STAY     "])?;
        fill(program, 24, &[(0, 9, reference), (9, 4, hotel)]);
        change(program, 1, b"ISRT", 24, &[&of_guest.text, b"WISH     "])?;
        find(program, 1, b"GHU ", &[&of_guest.text, b"WISH     "])?;
        change(program, 1, b"DLET", 24, &[])?;
        hotels.set(0, 4, hotel + 1);
        find(program, 0, b"GU  ", &[&hotels.text])?;
        for _ in 0..5 {
            look(program, 0, b"GNP ", &[b"NIGHT    "])?;
        }
        Ok(())
    }

    fn warehouse(&mut self, district: u64, item: u64, reference: u64) -> Done {
        let Caller { warehouse: program, item: of_item, district: of, order, .. } = self;
        order.set(0, 4, district);
        order.set(4, 8, DATE);
        order.set(12, 9, reference);
        look(program, 2, b"GU  ", &[&order.text])?;
        of.set(0, 4, district);
        find(program, 0, b"GHU ", &[&of.text])?;
        let kept: [u8; 60] = std::array::from_fn(|at| program.area[at]);
        for next in item..item + 4 {
            of_item.set(0, 8, next);
            find(program, 1, b"GHU ", &[&of_item.text])?;
            add(program, 41);
            add(program, 46);
            change(program, 1, b"REPL", 80, &[])?;
        }
        program.area[..60].copy_from_slice(&kept);
        add(program, 32);
        change(program, 0, b"REPL", 60, &[])?;
        fill(program, 60, &[(0, 4, district), (4, 8, DATE), (12, 9, reference), (21, 2, 4)]);
        change(program, 2, b"ISRT", 60, &[b"ORDER    "])?;
        for line in 1..=4 {
            fill(program, 40, &[(0, 2, line), (2, 8, item + line - 1)]);
            change(program, 2, b"ISRT", 40, &[&order.text, b"LINE     "])?;
        }
        fill(program, 24, &[(0, 9, reference), (9, 2, 4)]);
        change(program, 0, b"ISRT", 24, &[&of.text, b"TASK     "])?;
        find(program, 0, b"GHU ", &[&of.text, b"TASK     "])?;
        change(program, 0, b"DLET", 24, &[])?;
        find(program, 2, b"GU  ", &[&order.text])?;
        for _ in 0..4 {
            find(program, 2, b"GNP ", &[b"LINE     "])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transaction_makes_its_calls_and_leaves_one_segment_behind() {
        let context = super::super::tests::context("bureau");
        let setup = super::super::dli::setup(&context, "databases", 8 << 20).unwrap();
        let site = create(&setup, Size::SMALL).unwrap();
        let mut caller = Caller::new(&site, 1).unwrap();
        let mut random = Random::new(1);
        for reference in 1..=60 {
            let wanted = Size::SMALL.draw(&mut random);
            let program = caller.transact(wanted, reference).unwrap();
            assert_eq!(program.take_calls(), CALLS, "{wanted:?}");
            program.commit().unwrap();
        }
        assert_eq!(done(&site, Size::SMALL).unwrap(), 60);
        drop(caller);
        drop(site);
        std::fs::remove_dir_all(&context.folder).unwrap();
    }

    #[test]
    fn the_card_is_that_of_the_load_program() {
        let card = include_str!("../../../apps/bank/online/load.card");
        assert_eq!(Size::FULL.card(), card);
    }
}
