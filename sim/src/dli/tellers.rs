//! Tellers at once: programs that post to the same accounts, with crashes in between.
//!
//! Each unit of work of a teller holds an account, raises its sum and inserts a posting beneath it,
//! looks at another account, and is committed or backed out. After every restart and at the end
//! the accounts must say:
//! 1. the sum of an account is the number of its postings (no update was lost, nothing is half
//!    there);
//! 2. every posting whose commit was acknowledged is there, once;
//! 3. none is there whose commit was not asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use dli_model::Setup;
use dli_model::script::Call;
use parking_lot::Mutex;
use seam::Seam;
use seam::sim::{CrashStyle, End, Rng, SimConfig};

use super::life::{created, machine};
use super::tale::{Met, walk};
use super::{Program, Site};
use crate::machine::Make;
use crate::verify::{self, Wrong};

/// Accounts with sums and postings; the index tells which teller was there last.
const BANK: &str = "
         DBD   NAME=BANKDB,ACCESS=(HIDAM,VSAM)
         DATASET DD1=BANKDD
         SEGM  NAME=ACCT,PARENT=0,BYTES=8
         FIELD NAME=(NO,SEQ,U),START=1,BYTES=2
         FIELD NAME=LAST,START=3,BYTES=2
         FIELD NAME=SUM,START=5,BYTES=4
         LCHILD NAME=(BANKKEY,BANKPX),POINTER=INDX
         LCHILD NAME=(LASTKEY,BANKLX),POINTER=INDX
         XDFLD NAME=XLAST,SRCH=LAST
         SEGM  NAME=POST,PARENT=ACCT,BYTES=6
         FIELD NAME=(PNO,SEQ,U),START=1,BYTES=6
         DBDGEN
         DBD   NAME=BANKPX,ACCESS=(INDEX,VSAM)
         DATASET DD1=BANKPX
         SEGM  NAME=BANKKEY,PARENT=0,BYTES=2
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(ACCT,BANKDB),INDEX=NO
         DBDGEN
         DBD   NAME=BANKLX,ACCESS=(INDEX,VSAM)
         DATASET DD1=BANKLX
         SEGM  NAME=LASTKEY,PARENT=0,BYTES=2
         FIELD NAME=(KEY,SEQ,M),START=1,BYTES=2
         LCHILD NAME=(ACCT,BANKDB),INDEX=XLAST
         DBDGEN
         PCB   TYPE=DB,DBDNAME=BANKDB,PROCOPT=A
         SENSEG NAME=ACCT,PARENT=0
         SENSEG NAME=POST,PARENT=ACCT
         PCB   TYPE=DB,DBDNAME=BANKDB,PROCOPT=G
         SENSEG NAME=ACCT,PARENT=0
         SENSEG NAME=POST,PARENT=ACCT
         PSBGEN LANG=COBOL,PSBNAME=TELLER
         END
";

/// Tellers at once.
const TELLERS: u64 = 3;
/// Accounts, few enough that tellers meet.
const ACCOUNTS: u64 = 3;
/// Units of work of each teller in each life.
const UNITS: u64 = 6;

/// Postings by what became of them.
#[derive(Clone, Debug, Default)]
struct Postings {
    asked: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
}

/// What all tellers work with.
struct Branch {
    site: Site,
    postings: Arc<Mutex<Postings>>,
    life: u64,
    seed: u64,
}

/// What tellers did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// Crashes survived.
    pub crashes: u64,
    /// Postings that were acknowledged.
    pub postings: usize,
}

/// Lives of a branch.
///
/// # Errors
/// The first thing that is wrong.
pub fn work_through(seed: u64) -> Result<Worked, String> {
    lives(seed).map_err(|why| why.to_string())
}

fn lives(seed: u64) -> Result<Worked, Wrong> {
    let setup = Setup::from_source(BANK).map_err(|error| Wrong::refused(&error))?;
    let setup = Arc::new(setup);
    let mut rng = Rng::stream(seed, "tellers");
    let make = machine(&mut rng);
    let mut disk = created(&make, seed)?;
    let postings = Arc::new(Mutex::new(Postings::default()));
    let last = 1 + rng.below(3);
    for life in 0.. {
        if life < last {
            disk.crash_after(10 + rng.below(150));
        }
        let (setup, postings, make) = (Arc::clone(&setup), Arc::clone(&postings), make.clone());
        let body = move |seam: &Seam| one_life(seam, (&make, &setup), postings, (seed, life));
        let (outcome, result) = verify::run_to_end(SimConfig::new(rng.word() >> 1), &disk, body);
        match (&outcome.end, result) {
            (End::Completed, Some(result)) => result.map_err(|why| why.when("tellers"))?,
            (End::Crashed, _) => {}
            _ => return Err(Wrong::Broken(outcome.to_string())),
        }
        if outcome.end == End::Completed && life >= last {
            break;
        }
        disk = disk.crash_image(&mut rng, CrashStyle::Random);
    }
    let postings = postings.lock().acknowledged.len();
    Ok(Worked { crashes: last, postings })
}

fn one_life(
    seam: &Seam,
    (make, setup): (&Make, &Arc<Setup>),
    postings: Arc<Mutex<Postings>>,
    (seed, life): (u64, u64),
) -> Result<(), Wrong> {
    let kernel =
        make.open(seam).map_err(|error| Wrong::refused(&error).when("it does not start"))?;
    let site = Site::open(&kernel, make, setup)?;
    let branch = Arc::new(Branch { site, postings, life, seed });
    branch.judge()?;
    branch.open_accounts()?;
    let wrong = Arc::new(Mutex::new(None));
    let tellers = (0..TELLERS).map(|teller| {
        let (branch, wrong) = (Arc::clone(&branch), Arc::clone(&wrong));
        let body = move || {
            if let Err(why) = branch.serve(teller) {
                *wrong.lock() = Some(why);
            }
        };
        seam::thread::spawn(&format!("teller {teller}"), body)
    });
    for teller in tellers.collect::<Vec<_>>() {
        teller.map_err(|error| Wrong::Broken(error.to_string()))?.join();
    }
    if let Some(why) = wrong.lock().take() {
        return Err(why);
    }
    branch.judge()?;
    drop(branch);
    verify::wait_for_quiet(&kernel)?;
    kernel.close().map_err(|error| Wrong::refused(&error).when("it does not stop"))
}

/// What a unit of work came to.
enum Ended {
    Done,
    /// Chosen to end a deadlock: nothing of it is there.
    Chosen,
}

impl Branch {
    fn program(&self, owner: u64) -> Result<Program, Wrong> {
        let options = dli::SessionOptions { shared: true, owner, ..Default::default() };
        self.site.program(options)
    }

    /// Makes the accounts in the first life that comes so far.
    fn open_accounts(&self) -> Result<(), Wrong> {
        let mut program = self.program(0)?;
        for account in 0..ACCOUNTS {
            let area = format!("A{account}--0000");
            let answer = tell(&mut program, 0, "ISRT", &area, &["ACCT     "])?;
            if !matches!(&answer, Some((status, _)) if matches!(status, b"  " | b"II")) {
                return Err(Wrong::Broken(format!("account {account} answers {answer:?}")));
            }
        }
        program.commit().map_err(|failure| Wrong::refused(&failure))
    }

    fn serve(&self, teller: u64) -> Result<(), Wrong> {
        let mut rng = Rng::stream(self.seed, &format!("teller {teller} in life {}", self.life));
        let mut program = self.program(teller)?;
        for unit in 0..UNITS {
            let number = format!("{:02}{teller}{unit:03}", self.life);
            while let Ended::Chosen = self.post(&mut program, teller, &number, &mut rng)? {
                program.back_out().map_err(|failure| Wrong::refused(&failure))?;
            }
        }
        Ok(())
    }

    /// A unit of work: one posting, or several calls that come to nothing.
    fn post(
        &self,
        program: &mut Program,
        teller: u64,
        number: &str,
        rng: &mut Rng,
    ) -> Result<Ended, Wrong> {
        let (account, other) = (rng.below(ACCOUNTS), rng.below(ACCOUNTS));
        let root = format!("ACCT    (NO      = A{account})");
        let Some((_, area)) = tell(program, 0, "GHU", "", &[&root])? else {
            return Ok(Ended::Chosen);
        };
        let sum: u32 = area.get(4..8).and_then(|sum| sum.parse().ok()).unwrap_or(9_000);
        let area = format!("A{account}T{teller}{:04}", sum + 1);
        let look = format!("ACCT    (NO      = A{other})");
        let reader = rng.index(2);
        for (pcb, function, area, ssas) in [
            (0, "REPL", &area[..], &[][..]),
            (reader, "GU", "", &[&look[..]][..]),
            (0, "ISRT", number, &[&root, "POST     "]),
        ] {
            seam::thread::yield_now();
            match tell(program, pcb, function, area, ssas)? {
                Some((status, _)) if status == *b"  " => {}
                Some((status, _)) => {
                    let status = String::from_utf8_lossy(&status).into_owned();
                    return Err(Wrong::Broken(format!("{function} answers {status}")));
                }
                None => return Ok(Ended::Chosen),
            }
        }
        if rng.one_in(4) {
            program.back_out().map_err(|failure| Wrong::refused(&failure))?;
            return Ok(Ended::Done);
        }
        self.postings.lock().asked.insert(number.to_owned());
        program.commit().map_err(|failure| Wrong::refused(&failure))?;
        self.postings.lock().acknowledged.insert(number.to_owned());
        Ok(Ended::Done)
    }

    /// What the accounts must say.
    fn judge(&self) -> Result<(), Wrong> {
        self.site.verify()?;
        let mut program = self.program(0)?;
        let met = walk(0, |call| program.call(call)).map_err(|failure| Wrong::refused(&failure))?;
        program.back_out().map_err(|failure| Wrong::refused(&failure))?;
        let (mut accounts, mut there) = (Vec::new(), BTreeSet::new());
        for Met { at, data, .. } in &met {
            let text = String::from_utf8_lossy(data).into_owned();
            if at.0 == 1 {
                let sum = text.get(4..8).and_then(|sum| sum.parse().ok()).unwrap_or(0);
                accounts.push((text, sum, 0_u32));
            } else if let Some((_, _, count)) = accounts.last_mut() {
                *count += 1;
                if !there.insert(text.clone()) {
                    return Err(Wrong::Broken(format!("posting {text} is there twice")));
                }
            }
        }
        if let Some((account, _, count)) = accounts.iter().find(|(_, sum, count)| sum != count) {
            return Err(Wrong::Broken(format!("account {account} has {count} postings")));
        }
        let postings = self.postings.lock();
        let lost = postings.acknowledged.difference(&there).next();
        let invented = there.difference(&postings.asked).next();
        match (lost, invented) {
            (None, None) => Ok(()),
            _ => Err(Wrong::Broken(format!("posting {lost:?} lost, {invented:?} invented"))),
        }
    }
}

/// A call; `None` if the program was chosen to end a deadlock.
pub(super) fn tell(
    program: &mut Program,
    pcb: usize,
    function: &str,
    area: &str,
    ssas: &[&str],
) -> Result<Option<([u8; 2], String)>, Wrong> {
    let ssas = ssas.iter().map(|ssa| ssa.as_bytes().to_vec()).collect();
    let (function, area) = (function.to_owned(), area.as_bytes().to_vec());
    match program.call(&Call { pcb, function, area, ssas, expected: None }) {
        Ok(feedback) => {
            let area = feedback.area.unwrap_or_default();
            Ok(Some((feedback.status, String::from_utf8_lossy(&area).into_owned())))
        }
        Err(failure) if failure.abend == "U0777" => Ok(None),
        Err(failure) => Err(Wrong::refused(&failure)),
    }
}
