//! Who drives what, how fast and how long.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use otma::{Encoding, Name, Segments};

/// How a transaction is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// Mode 1 without confirmation: the reply says that it is committed.
    #[default]
    Plain,
    /// Mode 1 with confirmation: the reply is acknowledged, and the end says that it is committed.
    Confirmed,
    /// Mode 0: the reply is acknowledged, and nothing more comes.
    Queued,
}

/// How fast terminals are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Each thinks so long between a reply and the next request, on average; times are spread as
    /// those of people who do not know of each other.
    Think(Duration),
    /// All together send so many a second, whatever comes back.
    Rate(f64),
}

/// A transaction to be sent.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Its data; the first segment begins with the transaction's code.
    pub segments: Segments,
    /// How it is sent.
    pub flow: Flow,
}

/// What a kind of transaction sends, and whether the reply is right.
pub trait Work: Send + Sync {
    /// The transaction with that number of that terminal.
    fn ask(&self, terminal: u32, number: u64, random: &mut Random) -> Ask;

    /// Looks at the reply to it.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, terminal: u32, number: u64, ask: &Ask, reply: &Segments) -> Result<(), String>;
}

/// A kind of transaction in a mix.
#[derive(Clone)]
pub struct Kind {
    /// Its name in the report.
    pub name: String,
    /// How often it is sent beside the others.
    pub weight: u32,
    /// What it does.
    pub work: Arc<dyn Work>,
}

/// How connections are secured.
#[derive(Clone, Debug)]
pub struct Tls {
    /// Certificates of those who sign that of the system, as PEM.
    pub roots: Vec<u8>,
    /// The name that the system's certificate is for.
    pub name: String,
    /// The terminals' own certificates and their key, as PEM.
    pub own: Option<(Vec<u8>, Vec<u8>)>,
}

/// A run.
#[derive(Clone)]
pub struct Plan {
    /// The port.
    pub address: SocketAddr,
    /// How connections are secured, if they are.
    pub tls: Option<Tls>,
    /// How many terminals, each with a connection.
    pub terminals: u32,
    /// Threads that carry them.
    pub threads: usize,
    /// The code page that they have.
    pub encoding: Encoding,
    /// The data store that they want.
    pub data_store: Name,
    /// Who they are; blank is nobody.
    pub user: Name,
    /// The user's group.
    pub group: Name,
    /// The user's password.
    pub password: Name,
    /// The beginning of their client ids, at most three characters.
    pub prefix: String,
    /// What they send.
    pub mix: Vec<Kind>,
    /// How fast they are.
    pub pace: Pace,
    /// Within which time they come, one behind the other.
    pub ramp: Duration,
    /// What is left out of the report at the beginning, the ramp included.
    pub warm_up: Duration,
    /// How long they send, from the beginning.
    pub time: Duration,
    /// How long they wait for a reply.
    pub patience: Duration,
    /// By which their choices are made: the same seed makes the same.
    pub seed: u64,
}

/// Numbers that look random, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next of all numbers.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another; 0 if that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.any()) * u128::from(end)) >> 64) as u64
    }

    /// A number from 0 up to, not including, 1.
    pub fn part(&mut self) -> f64 {
        (self.any() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A time with that average, as between events that do not know of each other.
    pub fn spread(&mut self, average: Duration) -> Duration {
        let times = -(1.0 - self.part()).ln();
        average.mul_f64(times.clamp(0.0, 20.0))
    }
}
