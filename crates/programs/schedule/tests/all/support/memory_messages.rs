//! Messages in memory: what a program is given, what it sent, and what became of it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use holdfast_schedule::messages::{Messages, Segment, TerminalPcb};
use region::layout::{NO_NAME, Name, name};
use region::{Abend, IoFeedback};
use seam::sync::Mutex;
use store::{CommitSink, Store};

/// A message: a destination, the MOD name, its segments without LL and ZZ.
pub(crate) type Sent = (String, String, Vec<String>);

/// What tests look into.
#[derive(Default)]
pub(crate) struct MessageQueues {
    pub(crate) inputs: VecDeque<Vec<Vec<u8>>>,
    pub(crate) sent: Vec<Sent>,
    /// Sync points and backouts, as they came.
    pub(crate) events: Vec<String>,
    /// Who hears of commits that are queued.
    pub(crate) sink: Option<Arc<dyn CommitSink>>,
    /// The next sync point is refused.
    pub(crate) refuses: bool,
}

/// A message of a text for each segment.
pub(crate) fn message(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| segment(text)).collect()
}

pub(crate) fn segment(text: &str) -> Vec<u8> {
    let ll = u16::try_from(text.len() + 4).expect("short");
    [&ll.to_be_bytes()[..], &[0, 0], text.as_bytes()].concat()
}

/// The messages of one program.
pub(crate) struct MemoryMessages {
    message_queues: Arc<Mutex<MessageQueues>>,
    present: Option<Vec<Vec<u8>>>,
    /// Those that were got since the last sync point.
    taken: Vec<Vec<Vec<u8>>>,
    place: usize,
    count: u32,
    io: IoFeedback,
    destinations: BTreeMap<usize, Name>,
    /// By PCB: the message that is being made.
    making: BTreeMap<usize, (String, Vec<String>)>,
    made: Vec<Sent>,
}

impl MemoryMessages {
    pub(crate) fn new(
        message_queues: &Arc<Mutex<MessageQueues>>,
        fixed: &[(usize, &str)],
    ) -> MemoryMessages {
        MemoryMessages {
            message_queues: Arc::clone(message_queues),
            present: None,
            taken: Vec::new(),
            place: 0,
            count: 0,
            io: IoFeedback::default(),
            destinations: fixed.iter().map(|(pcb, to)| (*pcb, name(to))).collect(),
            making: BTreeMap::new(),
            made: Vec::new(),
        }
    }

    fn number(pcb: TerminalPcb) -> usize {
        match pcb {
            TerminalPcb::Io => 0,
            TerminalPcb::Alternate(number) => number,
        }
    }

    fn finish(&mut self, pcb: usize) {
        if let Some((mod_name, segments)) = self.making.remove(&pcb) {
            let to = match pcb {
                0 => "IO".to_owned(),
                _ => region::layout::text(&self.destinations[&pcb]),
            };
            self.made.push((to, mod_name, segments));
        }
    }

    fn forget(&mut self) {
        self.making.clear();
        self.made.clear();
    }
}

impl<S: Store> Messages<S> for MemoryMessages {
    fn next_message(&mut self, _: &mut S::Unit) -> Result<Option<Segment<'_>>, Abend> {
        self.present = self.message_queues.lock().inputs.pop_front();
        let Some(present) = &self.present else { return Ok(None) };
        self.taken.push(present.clone());
        self.place = 1;
        self.count += 1;
        self.io = IoFeedback {
            terminal: name("TERM1"),
            user: name("ANNA"),
            group: name("TELLERS"),
            sequence: self.count,
            indicator: b'U',
            ..IoFeedback::default()
        };
        Ok(Some(Segment { bytes: &present[0], io: Some(&self.io), status: *b"  " }))
    }

    fn next_segment(&mut self) -> Result<Segment<'_>, [u8; 2]> {
        let present = self.present.as_ref().ok_or(*b"QE")?;
        let bytes = present.get(self.place).ok_or(*b"QD")?;
        self.place += 1;
        Ok(Segment { bytes, io: None, status: *b"  " })
    }

    fn insert(&mut self, pcb: TerminalPcb, segment: &[u8], mod_name: Option<Name>) -> [u8; 2] {
        let text = String::from_utf8_lossy(&segment[4..]).into_owned();
        let mod_name = mod_name.map_or_else(String::new, |name| region::layout::text(&name));
        let number = MemoryMessages::number(pcb);
        self.making.entry(number).or_insert((mod_name, Vec::new())).1.push(text);
        *b"  "
    }

    fn purge(&mut self, pcb: TerminalPcb, segment: Option<&[u8]>, name: Option<Name>) -> [u8; 2] {
        self.finish(MemoryMessages::number(pcb));
        match segment {
            Some(segment) => Messages::<S>::insert(self, pcb, segment, name),
            None => *b"  ",
        }
    }

    fn change(&mut self, pcb: usize, destination: Name) -> [u8; 2] {
        if destination == name("NOBODY") {
            return *b"A1";
        }
        self.destinations.insert(pcb, destination);
        *b"  "
    }

    fn destination(&self, pcb: TerminalPcb) -> Name {
        self.destinations.get(&MemoryMessages::number(pcb)).copied().unwrap_or(NO_NAME)
    }

    fn prepare(&mut self, _: &mut S::Unit) -> Result<(), Abend> {
        if self.message_queues.lock().refuses {
            return Err(Abend { code: "U0119".into(), text: "the client has gone".into() });
        }
        let open: Vec<usize> = self.making.keys().copied().collect();
        open.into_iter().for_each(|pcb| self.finish(pcb));
        Ok(())
    }

    fn committed(&mut self) {
        let mut message_queues = self.message_queues.lock();
        message_queues.sent.append(&mut self.made);
        message_queues.events.push(format!("committed {}", self.taken.len()));
        self.taken.clear();
    }

    fn backed_out(&mut self, again: bool) {
        self.forget();
        self.message_queues
            .lock()
            .events
            .push(format!("backed out{}", if again { ", again" } else { "" }));
        if !again {
            self.present = None;
        }
    }

    fn first_segment(&mut self) -> Result<Segment<'_>, [u8; 2]> {
        let present = self.present.as_ref().ok_or(*b"QE")?;
        self.place = 1;
        Ok(Segment { bytes: &present[0], io: Some(&self.io), status: *b"  " })
    }

    fn queue(&mut self) -> Option<(Arc<dyn CommitSink>, u64)> {
        let sink = self.message_queues.lock().sink.clone()?;
        let token = self.taken.len() as u64;
        self.taken.clear();
        Some((sink, token))
    }

    fn abends(&mut self, abend: &Abend) {
        self.message_queues.lock().events.push(abend.code.clone());
    }
}
