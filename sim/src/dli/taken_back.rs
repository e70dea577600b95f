//! A backout in an index that programs work with at the same time: what one of them may put back,
//! nobody misses (K14).
//!
//! A program that has deleted an entry holds the gap that it has left, to the sync point: whoever
//! comes across waits. An entry that a backout brings back splits such a gap; a reader who came
//! over its front part alone would miss what the program then puts back. And nobody may add an
//! entry beside one that a backout takes away, until that has taken effect.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use archive::LogSource;
use base::UowId;
use dli_model::Setup;
use parking_lot::Mutex;
use recon::Recon;
use recovery::{BackoutOptions, Ties, committed};
use seam::Seam;
use seam::sim::Rng;
use uow::Kernel;

use super::life::{created, machine};
use super::tellers::tell;
use super::{Program, Site};
use crate::backout::Interrupted;
use crate::machine::Make;
use crate::recovery::recon_of;
use crate::verify::{self, Wrong};

/// Customers by number and by town.
const CUSTOMERS: &str = "
         DBD   NAME=CUSTDB,ACCESS=(HIDAM,VSAM)
         DATASET DD1=CUSTDD
         SEGM  NAME=CUST,PARENT=0,BYTES=6
         FIELD NAME=(CNO,SEQ,U),START=1,BYTES=2
         FIELD NAME=TOWN,START=3,BYTES=4
         LCHILD NAME=(CUSTKEY,CUSTPX),POINTER=INDX
         LCHILD NAME=(TOWNKEY,CUSTTX),POINTER=INDX
         XDFLD NAME=XTOWN,SRCH=TOWN
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
         PCB   TYPE=DB,DBDNAME=CUSTDB,PROCOPT=A
         SENSEG NAME=CUST,PARENT=0
         PCB   TYPE=DB,DBDNAME=CUSTDB,PROCOPT=A,PROCSEQ=CUSTTX
         SENSEG NAME=CUST,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=SELLER
         END
";

/// Neighbours by town are none by number.
const CUSTOMERS_THERE: [&str; 5] = ["C1BERN", "C2KIEV", "C3ROMA", "C4RIGA", "C5OSLO"];

/// A system in use.
struct Town {
    kernel: Arc<Kernel>,
    site: Site,
    recon: Recon,
}

impl Town {
    fn open(seam: &Seam, make: &Make) -> Result<Arc<Town>, Wrong> {
        let setup = Setup::from_source(CUSTOMERS).map_err(|error| Wrong::refused(&error))?;
        let kernel = make.open(seam).map_err(|error| Wrong::refused(&error))?;
        let site = Site::open(&kernel, make, &Arc::new(setup))?;
        let recon = recon_of(&make.parts(seam.clone()));
        Recon::create(&recon, &[]).map_err(|error| Wrong::refused(&error))?;
        let (recon, _) = Recon::open(recon).map_err(|error| Wrong::refused(&error))?;
        let town = Town { kernel, site, recon };
        let mut program = town.program(0)?;
        for area in CUSTOMERS_THERE {
            expect_blank(&mut program, 0, ("ISRT", area), &["CUST     "])?;
        }
        program.commit().map_err(|failure| Wrong::refused(&failure))?;
        Ok(Arc::new(town))
    }

    fn program(&self, owner: u64) -> Result<Program, Wrong> {
        let options = dli::SessionOptions { shared: true, owner, ..Default::default() };
        self.site.program(options)
    }

    /// A unit of work that is committed; its number.
    fn work(&self, calls: &[(&str, &str, &[&str])]) -> Result<UowId, Wrong> {
        let mut program = self.program(0)?;
        for (function, area, ssas) in calls {
            expect_blank(&mut program, 0, (function, area), ssas)?;
        }
        program.commit().map_err(|failure| Wrong::refused(&failure))?;
        let log = self.log();
        let end = log.end();
        let all = committed(&log, (log.oldest(), end), &|_| true, 1, &mut |_| ());
        let newest = all.map_err(|error| Wrong::refused(&error))?.pop();
        newest.map(|unit| unit.uow).ok_or_else(|| Wrong::Broken("nothing was committed".into()))
    }

    /// The log as an operator's commands read it: what is written ahead of it lands first.
    fn log(&self) -> LogSource {
        LogSource::new(None, Some(Arc::clone(self.kernel.log())))
    }

    /// Backs a unit of work out; `locked` is done when it has its locks: it reads the log for the
    /// second time then.
    fn back_out(&self, unit: UowId, locked: &dyn Fn()) -> Result<(), Wrong> {
        let gapped = BTreeSet::from(["CUSTTX".to_owned()]);
        let ties = Ties { gapped, gap: Some(hierarchy::entry::gap), ..Ties::default() };
        let options = BackoutOptions { check: false, wait: Duration::from_secs(60), ties };
        let log = Interrupted::at(2, self.log(), locked);
        let (store, units) = (&self.site.store, [unit]);
        let done = recovery::backout(store, &self.recon, &log, &units, &options, &mut |_| ());
        done.map(drop).map_err(|error| Wrong::refused(&error))
    }

    /// The customers through a PCB.
    fn customers(&self, pcb: usize) -> Result<Vec<String>, Wrong> {
        let (mut program, mut found) = (self.program(9)?, Vec::new());
        loop {
            match tell(&mut program, pcb, "GN", "", &["CUST     "])? {
                Some((status, area)) if status == *b"  " => found.push(area),
                Some((status, _)) if status == *b"GB" => break,
                other => return Err(Wrong::Broken(format!("GN answers {other:?}"))),
            }
        }
        program.back_out().map_err(|failure| Wrong::refused(&failure))?;
        Ok(found)
    }

    fn sleep(&self, milliseconds: u64) {
        self.kernel.seam().clock.sleep(Duration::from_millis(milliseconds));
    }
}

/// A call that must be done.
fn expect_blank(
    program: &mut Program,
    pcb: usize,
    (function, area): (&str, &str),
    ssas: &[&str],
) -> Result<(), Wrong> {
    match tell(program, pcb, function, area, ssas)? {
        Some((status, _)) if status == *b"  " => Ok(()),
        other => Err(Wrong::Broken(format!("{function} {area} answers {other:?}"))),
    }
}

/// Runs a body on a machine of its own, and proves its database.
fn in_town(
    seed: u64,
    body: impl FnOnce(&Arc<Town>) -> Result<(), Wrong> + Send + 'static,
) -> Result<(), String> {
    let make = machine(&mut Rng::stream(seed, "taken back"));
    let disk = created(&make, seed).map_err(|why| why.to_string())?;
    let ran = verify::run(seed, &disk, move |seam| {
        let town = Town::open(seam, &make)?;
        body(&town)?;
        town.site.verify()?;
        verify::wait_for_quiet(&town.kernel)?;
        town.kernel.close().map_err(|error| Wrong::refused(&error))
    });
    ran.map_err(|why| why.to_string())
}

/// A thread that works in a town; what it found wrong is kept.
fn at_work(
    town: &Arc<Town>,
    wrong: &Arc<Mutex<Vec<String>>>,
    body: impl FnOnce(&Town) -> Result<(), Wrong> + Send + 'static,
) -> Result<seam::thread::JoinHandle, Wrong> {
    let (town, wrong) = (Arc::clone(town), Arc::clone(wrong));
    let thread = seam::thread::spawn("program", move || {
        if let Err(why) = body(&town) {
            wrong.lock().push(why.to_string());
        }
    });
    thread.map_err(|error| Wrong::Broken(error.to_string()))
}

fn nothing_wrong(wrong: &Mutex<Vec<String>>) -> Result<(), Wrong> {
    match wrong.lock().pop() {
        Some(why) => Err(Wrong::Broken(why)),
        None => Ok(()),
    }
}

/// A customer comes back beside one whom a program has deleted, and then does not delete: nobody
/// who goes over customers meanwhile misses the latter, be it by town or by number.
///
/// # Errors
/// If somebody does, or something is not as it was.
pub fn a_neighbour_comes_back(seed: u64) -> Result<(), String> {
    for (pcb, neighbour) in [(1, "C5OSLO"), (0, "C3ROMA")] {
        comes_back(seed, pcb, neighbour).map_err(|why| format!("PCB {pcb}: {why}"))?;
    }
    Ok(())
}

fn comes_back(seed: u64, pcb: usize, neighbour: &'static str) -> Result<(), String> {
    in_town(seed, move |town| {
        let root = format!("CUST    (CNO     = {})", &neighbour[..2]);
        let gone = town.work(&[("GHU", "", &[&root]), ("DLET", neighbour, &[])])?;
        let wrong = Arc::new(Mutex::new(Vec::new()));
        let mut program = town.program(1)?;
        expect_blank(&mut program, 0, ("GHU", ""), &["CUST    (CNO     = C2)"])?;
        expect_blank(&mut program, 0, ("DLET", "C2KIEV"), &[])?;
        let deleter = at_work(town, &wrong, move |town| {
            town.sleep(50);
            program.back_out().map_err(|failure| Wrong::refused(&failure))
        })?;
        let reader = at_work(town, &wrong, move |town| {
            town.sleep(20);
            let found = town.customers(pcb)?;
            match found.iter().any(|area| area == "C2KIEV") {
                true => Ok(()),
                false => Err(Wrong::Broken(format!("there are {found:?} alone"))),
            }
        })?;
        town.back_out(gone, &|| ())?;
        deleter.join();
        reader.join();
        nothing_wrong(&wrong)?;
        match (town.customers(0)?.len(), town.customers(1)?.len()) {
            (5, 5) => Ok(()),
            other => Err(Wrong::Broken(format!("{other:?} customers are there"))),
        }
    })
}

/// A program adds a neighbour of an entry that a backout is taking away: it waits for that.
///
/// # Errors
/// If it does not, or something is lost.
pub fn a_neighbour_is_added(seed: u64) -> Result<(), String> {
    in_town(seed, |town| {
        let added = town.work(&[("ISRT", "C7LIMA", &["CUST     "])])?;
        let (wrong, done) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let told_done = Arc::clone(&done);
        let adder = Mutex::new(None);
        town.back_out(added, &|| {
            let done = Arc::clone(&told_done);
            *adder.lock() = Some(at_work(town, &wrong, move |town| {
                let mut program = town.program(1)?;
                expect_blank(&mut program, 0, ("ISRT", "C0KYIV"), &["CUST     "])?;
                done.store(true, SeqCst);
                program.commit().map_err(|failure| Wrong::refused(&failure))
            }));
            town.sleep(20);
            if told_done.load(SeqCst) {
                wrong.lock().push("nobody waited for the backout".into());
            }
        })?;
        adder.lock().take().ok_or_else(|| Wrong::Broken("nothing was locked".into()))??.join();
        nothing_wrong(&wrong)?;
        let found = town.customers(1)?;
        let expected = ["C1BERN", "C2KIEV", "C0KYIV", "C5OSLO", "C4RIGA", "C3ROMA"];
        match done.load(SeqCst) && found == expected {
            true => Ok(()),
            false => Err(Wrong::Broken(format!("the index leads to {found:?}"))),
        }
    })
}
