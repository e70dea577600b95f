//! Programs compiled for this machine's characters, over databases that keep EBCDIC data: a server
//! in front of the one that answers, which converts what crosses the call interface.
//!
//! | of a call | is converted |
//! |---|---|
//! | I/O area of ISRT and REPL | to EBCDIC, segment by segment, before the call |
//! | I/O area of gets | from EBCDIC, as far as the call has set it |
//! | values in search arguments | to EBCDIC, each as the field that it is compared with |
//! | concatenated keys, of command code C and in key feedback | by the keys of the path |
//! | records of a GSAM file | as I/O areas |
//!
//! Everything else, checkpoint areas among it, is the program's own and stays as it is.
//!
//! Invariants:
//! 1. No conversion changes a length: what the engine says about lengths holds on both sides.
//! 2. What cannot be converted for certain ends the program; nothing is guessed.
//! 3. A number that a program did not change keeps the bytes that it has in the database.

use std::sync::Arc;

use codec::transcode::{Class, Direction, Transcoder};
use copybook::Mapped;
use definitions::Function;

use crate::feedback::{put_feedback, read_feedback};
use crate::layout::{Name, PcbLayout, text};
use crate::server::{Ending, Failure, Feedback, Reply, Request, Server};

/// What ends a program whose data cannot be converted.
const ABEND: &str = "HFR030";

const NAME: usize = 8;
const OPERATOR: usize = 2;

/// What the bytes of a field are; `None` if that differs from segment to segment.
pub type FieldClasses = Option<Vec<Class>>;

/// A segment of a PCB, as far as its conversion needs it.
#[derive(Clone, Debug)]
pub struct SegmentMap {
    /// Its name in the PCB.
    pub name: Name,
    /// The place of its parent among the PCB's segments.
    pub parent: Option<usize>,
    /// Its longest length.
    pub bytes_max: usize,
    /// Whether it begins with its length.
    pub variable: bool,
    /// How it is converted; `None` if it is not.
    pub mapped: Option<Arc<Mapped>>,
    /// Its part of the concatenated key.
    pub key: Vec<Class>,
    /// The fields that search arguments may name, XDFLDs among them.
    pub fields: Vec<(Name, FieldClasses)>,
}

/// What is converted for a PCB.
#[derive(Clone, Debug)]
pub enum PcbMap {
    /// A database.
    Database {
        /// Its sensitive segments in hierarchic order.
        segments: Vec<SegmentMap>,
        /// The code page.
        page: Arc<Transcoder>,
    },
    /// A sequential file.
    File {
        /// Its records.
        mapped: Arc<Mapped>,
        /// The code page.
        page: Arc<Transcoder>,
    },
}

/// What a get left in a program's area: the segments, and their bytes in the database.
#[derive(Clone, Debug, Default)]
struct Held {
    segments: Vec<usize>,
    bytes: Vec<u8>,
}

/// A server whose calls are converted.
pub struct Converted<S> {
    inner: S,
    /// By the numbers of the PCBs.
    pcbs: Vec<Option<PcbMap>>,
    held: Vec<Held>,
}

impl<S: Server> Converted<S> {
    /// Calls go to `inner`, those of PCBs that have a map converted.
    #[must_use]
    pub fn new(inner: S, mut pcbs: Vec<Option<PcbMap>>) -> Converted<S> {
        pcbs.resize_with(inner.pcbs().len(), || None);
        let held = vec![Held::default(); pcbs.len()];
        Converted { inner, pcbs, held }
    }

    /// The server behind it.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn converts(&self) -> bool {
        self.pcbs.iter().any(Option::is_some)
    }

    /// A call through a PCB of a database.
    fn database(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), String> {
        let Some(Some(PcbMap::Database { segments, page })) = self.pcbs.get(number) else {
            return Ok(());
        };
        let Request { function, of_command, pcb, area, ssas, more, aib } = request;
        let mut own: Vec<Vec<u8>> = ssas.iter().map(|ssa| ssa.to_vec()).collect();
        let mut named = Vec::with_capacity(own.len());
        for ssa in &mut own {
            named.extend(Ssa { segments, page }.convert(ssa)?);
        }
        let mut area = area;
        let held = self.held.get_mut(number);
        if let Some(area) = area.as_deref_mut() {
            let held = held.as_deref().map_or((&[][..], &[][..]), |held| {
                (held.segments.as_slice(), held.bytes.as_slice())
            });
            let (list, old) = in_area(function, of_command, &named, held);
            to_host(segments, page, &list, old, area)?;
        }
        let ssas: Vec<&[u8]> = own.iter().map(Vec::as_slice).collect();
        let more = &mut more.iter_mut().map(|item| &mut **item).collect::<Vec<&mut [u8]>>()[..];
        let request = Request {
            function,
            of_command,
            pcb,
            area: area.as_deref_mut(),
            ssas: &ssas,
            more,
            aib,
        };
        self.inner.call(request, reply);
        if !function.is_get() {
            return Ok(());
        }
        let filled = reply.filled;
        let Some(area) = area.and_then(|area| area.get_mut(..filled)) else { return Ok(()) };
        let list = match named.split_last() {
            Some((last, above)) => {
                let paths = above.iter().filter(|one| one.path);
                paths.chain([last]).map(|one| one.segment).collect()
            }
            None => shown(number, reply, segments).into_iter().collect::<Vec<usize>>(),
        };
        if let Some(held) = held {
            held.segments.clone_from(&list);
            held.bytes.clear();
            if function.is_get_hold() {
                held.bytes.extend_from_slice(area);
            }
        }
        from_host(segments, page, &list, area)
    }

    /// A call through a PCB of a sequential file.
    fn file(
        &mut self,
        mapped: &Mapped,
        page: &Transcoder,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), String> {
        let Request { function, of_command, pcb, area, ssas, more, aib } = request;
        let mut area = area;
        let unknown = || {
            "a record is of none of the kinds that the map describes, or longer, or does not say \
             how often its tables are there"
                .to_owned()
        };
        if let (Function::Isrt, Some(area)) = (function, area.as_deref_mut()) {
            // The area may be longer than the record.
            let described = area.len().min(mapped.bytes_max());
            if !mapped.convert_whole(page, Direction::ToEbcdic, &mut area[..described]) {
                return Err(unknown());
            }
        }
        let more = &mut more.iter_mut().map(|item| &mut **item).collect::<Vec<&mut [u8]>>()[..];
        let ssas = &ssas.to_vec()[..];
        let given = area.as_deref_mut();
        let request = Request { function, of_command, pcb, area: given, ssas, more, aib };
        self.inner.call(request, reply);
        let filled = reply.filled;
        if let Some(area) = area.and_then(|area| area.get_mut(..filled))
            && function.is_get()
            && filled > 0
            && !mapped.convert_whole(page, Direction::FromEbcdic, area)
        {
            return Err(unknown());
        }
        Ok(())
    }

    /// Converts the key feedback of every PCB in a reply.
    fn feedback(&self, reply: &mut Reply) {
        let mut out = Vec::with_capacity(reply.feedback.len());
        let mut reader = base::bytes::Reader::new(&reply.feedback);
        for _ in 0..reply.pcbs {
            // What was put there a moment ago is right.
            let Some((pcb, feedback, io)) = read_feedback(&mut reader) else { return };
            let mut key = feedback.key.to_vec();
            if let Some(Some(PcbMap::Database { segments, page })) = self.pcbs.get(pcb)
                && let Some(at) = segments.iter().position(|one| one.name == feedback.segment)
            {
                page.convert(Direction::FromEbcdic, &key_path(segments, at), &mut key);
            }
            put_feedback(pcb, &Feedback { key: &key, io: io.as_ref(), ..feedback }, &mut out);
        }
        reply.feedback = out;
    }
}

impl<S: Server> Server for Converted<S> {
    fn pcbs(&self) -> &[PcbLayout] {
        self.inner.pcbs()
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        if !self.converts() {
            return self.inner.call(request, reply);
        }
        let function = request.function;
        let moves = function.is_get() || function.is_change();
        let number = request.pcb.filter(|_| moves);
        let done = match number.and_then(|pcb| self.pcbs.get(pcb)) {
            Some(Some(PcbMap::Database { .. })) => {
                self.database(number.unwrap_or_default(), request, reply)
            }
            Some(Some(PcbMap::File { mapped, page })) => {
                let (mapped, page) = (Arc::clone(mapped), Arc::clone(page));
                self.file(&mapped, &page, request, reply)
            }
            _ => {
                self.inner.call(request, reply);
                Ok(())
            }
        };
        self.feedback(reply);
        if let Err(what) = done {
            reply.abend(ABEND, format!("{function}: {what}; correct the map (holdfast db map)"));
        }
    }

    fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), crate::Abend> {
        self.inner.file(request, answer)
    }

    fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), crate::Abend> {
        self.inner.messages(request, answer)
    }

    fn end(&mut self, ending: Ending) -> Result<(), Failure> {
        self.inner.end(ending)
    }
}

/// The segments that a program has put into its area, and how the database has them, if it is
/// known: `held` is what a get has left there.
fn in_area<'h>(
    function: Function,
    of_command: bool,
    named: &[Named],
    held: (&[usize], &'h [u8]),
) -> (Vec<usize>, &'h [u8]) {
    let segments = |named: &[Named]| named.iter().map(|one| one.segment).collect::<Vec<usize>>();
    match function {
        Function::Isrt => {
            let last = named.len().saturating_sub(1);
            let begin = named.iter().position(|one| one.path).unwrap_or(last);
            (segments(&named[begin..]), &[])
        }
        // A command names what it replaces.
        Function::Repl if of_command && !named.is_empty() => (segments(named), &[]),
        Function::Repl => (held.0.to_vec(), held.1),
        _ => (Vec::new(), &[]),
    }
}

/// The segment that the call's own PCB shows.
fn shown(number: usize, reply: &Reply, segments: &[SegmentMap]) -> Option<usize> {
    let mut reader = base::bytes::Reader::new(&reply.feedback);
    for _ in 0..reply.pcbs {
        let (pcb, feedback, _) = read_feedback(&mut reader)?;
        if pcb == number {
            return segments.iter().position(|one| one.name == feedback.segment);
        }
    }
    None
}

/// What the concatenated key of a segment is.
fn key_path(segments: &[SegmentMap], at: usize) -> Vec<Class> {
    let mut path = Vec::new();
    let mut next = Some(at);
    while let Some(segment) = next.and_then(|at| segments.get(at)) {
        path.push(&segment.key);
        if path.len() > segments.len() {
            break;
        }
        next = segment.parent;
    }
    path.into_iter().rev().flatten().copied().collect()
}

/// How many bytes of an area the segment at its front has.
fn len_of(segment: &SegmentMap, area: &[u8]) -> usize {
    let own = match (segment.variable, area.first_chunk::<2>()) {
        (true, Some(len)) => usize::from(u16::from_be_bytes(*len)),
        _ => segment.bytes_max,
    };
    own.min(segment.bytes_max).min(area.len())
}

fn unknown(segment: &SegmentMap) -> String {
    let name = text(&segment.name);
    format!(
        "a segment {name} is of none of the kinds that the map describes, or longer, or does not \
         say how often its tables are there"
    )
}

/// Converts the segments of a path from EBCDIC.
fn from_host(
    segments: &[SegmentMap],
    page: &Transcoder,
    list: &[usize],
    mut area: &mut [u8],
) -> Result<(), String> {
    for segment in list.iter().filter_map(|at| segments.get(*at)) {
        if area.is_empty() {
            return Ok(());
        }
        let len = len_of(segment, area);
        let (own, rest) = area.split_at_mut(len);
        area = rest;
        if let Some(mapped) = &segment.mapped
            && !mapped.convert_whole(page, Direction::FromEbcdic, own)
        {
            return Err(unknown(segment));
        }
    }
    Ok(())
}

/// Converts the segments of a path to EBCDIC; `old` is the path as the database has it, or nothing.
fn to_host(
    segments: &[SegmentMap],
    page: &Transcoder,
    list: &[usize],
    old: &[u8],
    mut area: &mut [u8],
) -> Result<(), String> {
    let mut old = old;
    for segment in list.iter().filter_map(|at| segments.get(*at)) {
        let (len, old_len) = (len_of(segment, area), len_of(segment, old));
        let (own, rest) = area.split_at_mut(len);
        let (before, behind) = old.split_at(old_len);
        (area, old) = (rest, behind);
        let Some(mapped) = &segment.mapped else { continue };
        let converted = match before.is_empty() {
            true => mapped.convert_whole(page, Direction::ToEbcdic, own),
            false => mapped.convert_keeping(page, before, own),
        };
        if !converted {
            return Err(unknown(segment));
        }
    }
    Ok(())
}

/// A search argument that was converted.
struct Named {
    segment: usize,
    /// Command code D.
    path: bool,
}

/// Where search arguments are converted.
struct Ssa<'a> {
    segments: &'a [SegmentMap],
    page: &'a Transcoder,
}

impl Ssa<'_> {
    /// Converts the values of an argument; `None` if it names no segment, which the engine says.
    fn convert(&self, ssa: &mut [u8]) -> Result<Option<Named>, String> {
        let is_own = |one: &SegmentMap| ssa.starts_with(&one.name);
        let Some(segment) = self.segments.iter().position(is_own) else { return Ok(None) };
        let mut at = NAME;
        let (mut path, mut concatenated, mut by_place) = (false, false, false);
        if ssa.get(at) == Some(&b'*') {
            at += 1;
            while let Some(code) = ssa.get(at).filter(|byte| !matches!(byte, b'(' | b' ')) {
                match code {
                    b'D' => path = true,
                    b'C' => concatenated = true,
                    b'O' => by_place = true,
                    // A lock class follows.
                    b'Q' => at += 1,
                    _ => {}
                }
                at += 1;
            }
        }
        let named = Ok(Some(Named { segment, path }));
        if ssa.get(at) != Some(&b'(') {
            return named;
        }
        at += 1;
        if concatenated {
            let classes = key_path(self.segments, segment);
            let end = (at + classes.len()).min(ssa.len());
            if let Some(value) = ssa.get_mut(at..end) {
                self.page.convert(Direction::ToEbcdic, &classes, value);
            }
            return named;
        }
        let own = &self.segments[segment];
        while let Some(field) = ssa.get(at..).and_then(<[u8]>::first_chunk::<NAME>) {
            let Some(classes) = self.classes(own, *field, by_place)? else { return named };
            at += NAME + OPERATOR;
            let end = at + classes.len();
            let Some(value) = ssa.get_mut(at..end) else { return named };
            self.page.convert(Direction::ToEbcdic, &classes, value);
            match ssa.get(end) {
                Some(b'*' | b'&' | b'+' | b'|' | b'#') => at = end + 1,
                _ => return named,
            }
        }
        named
    }

    /// What the bytes of a field are; `None` if there is none of that name.
    fn classes(
        &self,
        segment: &SegmentMap,
        field: Name,
        by_place: bool,
    ) -> Result<FieldClasses, String> {
        let unclear = |what: String| {
            let name = text(&segment.name);
            format!("{what} of {name} is not the same in all its records, as the map has them")
        };
        if !by_place {
            let known = segment.fields.iter().find(|(name, _)| *name == field);
            let Some((_, classes)) = known else { return Ok(None) };
            return match classes {
                Some(classes) => Ok(Some(classes.clone())),
                None => Err(unclear(format!("the field {}", text(&field)))),
            };
        }
        let [a, b, c, d, ..] = field;
        let (place, len) = (u16::from_be_bytes([a, b]), usize::from(u16::from_be_bytes([c, d])));
        let Some(offset) = place.checked_sub(1).map(usize::from) else { return Ok(None) };
        match &segment.mapped {
            None => Ok(Some(vec![Class::Raw; len])),
            Some(_) if offset + len > segment.bytes_max => Ok(None),
            Some(mapped) => match mapped.classes(offset, len) {
                Some(classes) => Ok(Some(classes.to_vec())),
                None => Err(unclear(format!("the {len} bytes at {place}"))),
            },
        }
    }
}
