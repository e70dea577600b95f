//! A run of all terminals.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base::{Code, Coded};
use parking_lot::Mutex;
use thiserror::Error;
use tls::TlsError;
use tokio::runtime::Builder;
use tokio::time::Instant;

use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::report::{Report, Seen, times};
use crate::secure::Secure;
use crate::terminal::Terminal;

/// How many counts are kept, each by a part of the terminals.
const SHARES: usize = 16;

/// Why nothing is driven.
#[derive(Debug, Error)]
pub enum Error {
    /// There are no threads for it.
    #[error("the threads of the terminals cannot be started: {0}")]
    Threads(io::Error),
    /// Certificates or keys cannot be used.
    #[error("the certificates of the terminals cannot be used: {0}")]
    Tls(TlsError),
    /// There is nothing to send.
    #[error("the plan has no terminals, or no transactions to send")]
    Nothing,
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Threads(_) => Code("HFY911"),
            Error::Nothing => Code("HFY912"),
            Error::Tls(_) => Code("HFY913"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            Error::Threads(_) => "Raise the limit of threads, or use fewer.".into(),
            Error::Tls(_) => "Give certificates and keys as PEM.".into(),
            Error::Nothing => {
                "Give at least one terminal and one transaction with a weight.".into()
            }
        }
    }
}

/// Drives, and says what was seen. It blocks until the plan's time is over and the last reply has
/// come.
///
/// # Errors
/// If there is nothing to drive with. A system that does not answer is no error: the report says
/// so.
pub fn run(plan: Plan) -> Result<(Report, Ledger), Error> {
    if plan.terminals == 0 || plan.mix.iter().all(|kind| kind.weight == 0) {
        return Err(Error::Nothing);
    }
    let secure = plan.tls.as_ref().map(Secure::new).transpose().map_err(Error::Tls)?;
    let secure = secure.map(Arc::new);
    let runtime = Builder::new_multi_thread()
        .worker_threads(plan.threads.max(1))
        .thread_name("terminals")
        .enable_io()
        .enable_time()
        .build()
        .map_err(Error::Threads)?;
    let plan = Arc::new(plan);
    let (processor, machine) = (own_seconds(), Machine::now());
    let (seen, ledger) = runtime.block_on(drive(&plan, secure.as_ref()));
    let busy = Machine::now().busy_since(machine);
    let seconds = plan.time.saturating_sub(plan.warm_up).as_secs_f64();
    let transactions = seen.response.len();
    let rate = if seconds > 0.0 { transactions as f64 / seconds } else { 0.0 };
    let kinds = plan.mix.iter().zip(&seen.kinds);
    let report = Report {
        terminals: plan.terminals,
        seconds,
        transactions,
        rate,
        response: times(&seen.response),
        service: times(&seen.service),
        kinds: kinds.map(|(kind, seen)| (kind.name.clone(), times(seen))).collect(),
        wrong: seen.wrong,
        wrong_first: seen.wrong_first,
        refused: seen.refused,
        broken: seen.broken,
        broken_first: seen.broken_first,
        unknown: ledger.unknown.len() as u64,
        busy,
        internal_rate: if busy > 0.0 { rate / busy } else { 0.0 },
        driver_seconds: own_seconds() - processor,
    };
    Ok((report, ledger))
}

async fn drive(plan: &Arc<Plan>, secure: Option<&Arc<Secure>>) -> (Seen, Ledger) {
    let begin = Instant::now() + Duration::from_millis(1);
    let kinds = plan.mix.len();
    let shared: [_; SHARES] = std::array::from_fn(|_| Arc::new(Mutex::new(Seen::new(kinds))));
    let terminals: Vec<_> = (0..plan.terminals)
        .map(|number| {
            let seen = Arc::clone(&shared[number as usize % SHARES]);
            tokio::spawn(
                Terminal::new(Arc::clone(plan), secure.cloned(), number, seen).drive(begin),
            )
        })
        .collect();
    let mut seen = Seen::new(kinds);
    let mut ledger = Ledger::default();
    for terminal in terminals {
        match terminal.await {
            Ok(terminal) => ledger.add(terminal.ledger),
            // What a terminal's own code did wrong is not the system's fault, but is told.
            Err(error) => seen.wrong(error.to_string()),
        }
    }
    for share in shared {
        let share = std::mem::replace(&mut *share.lock(), Seen::new(0));
        seen.add(share);
    }
    (seen, ledger)
}

/// Processor time of this process.
fn own_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What the machine's processors have done.
#[derive(Clone, Copy, Default)]
struct Machine {
    all: u64,
    idle: u64,
}

impl Machine {
    fn now() -> Machine {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let parts: Vec<u64> =
            line.split_whitespace().skip(1).take(8).filter_map(|part| part.parse().ok()).collect();
        let idle = parts.iter().skip(3).take(2).sum();
        Machine { all: parts.iter().sum(), idle }
    }

    fn busy_since(self, before: Machine) -> f64 {
        let all = self.all.saturating_sub(before.all);
        let idle = self.idle.saturating_sub(before.idle);
        if all == 0 { 0.0 } else { all.saturating_sub(idle) as f64 / all as f64 }
    }
}
