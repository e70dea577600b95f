//! What is converted at the call interface for a PSB over databases that keep EBCDIC data.
//!
//! Invariants:
//! 1. A PCB whose view cannot be converted for certain is named, with the reason; nothing of it is
//!    converted by halves.

use std::sync::Arc;

use codec::transcode::{Class, Transcoder};
use copybook::{Map, Mapped};
use definitions::resolve::{
    Definitions, Home, Index, IndexPart, PartSource, ResolvedKind, ResolvedPcb, ResolvedPsb, View,
    ViewSegment,
};
use definitions::{Dbd, DbdName, SegmentPart};
use region::encoding::{FieldClasses, PcbMap, SegmentMap};
use region::layout::Name;

/// What is known of a database's data.
#[derive(Clone)]
pub enum Kept {
    /// It is what programs have here.
    AsPrograms,
    /// It is EBCDIC, and a map says what its fields are.
    Ebcdic(Arc<Map>, Arc<Transcoder>),
    /// It is EBCDIC, and nothing says what its fields are.
    Unknown,
}

/// What the maps of a PSB's databases come to.
#[derive(Default)]
pub struct Conversions {
    /// By the numbers of the PCBs.
    pub pcbs: Vec<Option<PcbMap>>,
    /// EBCDIC data that programs get as it is, and why.
    pub unconverted: Vec<(DbdName, String)>,
}

/// Fits the maps to the PCBs of a PSB.
pub fn conversions(
    psb: &ResolvedPsb,
    definitions: &dyn Definitions,
    kept: &mut dyn FnMut(DbdName) -> Kept,
) -> Conversions {
    let mut all = Conversions { pcbs: vec![None], unconverted: Vec::new() };
    for pcb in &psb.pcbs {
        let made = of_pcb(pcb, definitions, kept);
        all.pcbs.push(made.unwrap_or_else(|(dbd, why)| {
            if !all.unconverted.iter().any(|known| *known == (dbd, why.clone())) {
                all.unconverted.push((dbd, why));
            }
            None
        }));
    }
    all
}

type Made = Result<Option<PcbMap>, (DbdName, String)>;

fn no_map() -> String {
    "no map says what its fields are".into()
}

fn of_pcb(
    pcb: &ResolvedPcb,
    definitions: &dyn Definitions,
    kept: &mut dyn FnMut(DbdName) -> Kept,
) -> Made {
    match &pcb.kind {
        ResolvedKind::Terminal(_) => Ok(None),
        ResolvedKind::Gsam(view) => match kept(view.dbd) {
            Kept::AsPrograms => Ok(None),
            Kept::Unknown => Err((view.dbd, no_map())),
            Kept::Ebcdic(map, page) => {
                let mapped = map.segment(view.dbd.text());
                let why = || (view.dbd, "its map has no section for its records".to_owned());
                let mapped = Arc::new(mapped.ok_or_else(why)?.clone());
                Ok(Some(PcbMap::File { mapped, page }))
            }
        },
        ResolvedKind::Database(view) => of_view(view, definitions, kept),
    }
}

fn of_view(
    view: &View,
    definitions: &dyn Definitions,
    kept: &mut dyn FnMut(DbdName) -> Kept,
) -> Made {
    if let Some(index) = &view.entries {
        return match kept(index.target_dbd) {
            Kept::AsPrograms => Ok(None),
            _ => Err((
                index.target_dbd,
                format!("{} uses its index as a database, which is not converted", view.dbd),
            )),
        };
    }
    let mut page_of_all = None;
    let mut segments = Vec::with_capacity(view.segments.len());
    for segment in &view.segments {
        let home = segment.stored.dbd;
        let (map, page) = match kept(home) {
            Kept::AsPrograms => {
                segments.push(plain(view, segment));
                continue;
            }
            Kept::Unknown => return Err((home, no_map())),
            Kept::Ebcdic(map, page) => (map, page),
        };
        if page_of_all.as_ref().is_some_and(|known: &Arc<Transcoder>| known.page() != page.page()) {
            return Err((home, format!("{} spans databases of two code pages", view.dbd)));
        }
        page_of_all = Some(page);
        let maker = Maker { map: &map, definitions };
        segments.push(maker.segment(view, segment).map_err(|why| (home, why))?);
    }
    Ok(page_of_all.map(|page| PcbMap::Database { segments, page }))
}

/// A segment that is not converted.
fn plain(view: &View, segment: &ViewSegment) -> SegmentMap {
    let raw = |len: usize| vec![Class::Raw; len];
    let fields = segment.fields.iter();
    let fields = fields.map(|field| (*field.name.bytes(), Some(raw(usize::from(field.len)))));
    let sequence = view.sequence.as_ref().filter(|_| segment.parent.is_none());
    let indexes = segment.indices.iter().chain(sequence);
    let indexes =
        indexes.map(|index| (*index.name.bytes(), Some(raw(index.search_len() as usize))));
    let key = match sequence {
        Some(index) => index.search_len() as usize,
        None => segment.key.map_or(0, |key| usize::from(key.len)),
    };
    let seen = !segment.access.seen.is_empty();
    let joined = segment.destination.as_ref().map_or(0, |one| usize::from(one.max));
    SegmentMap {
        name: *segment.name.bytes(),
        parent: segment.parent.map(usize::from),
        bytes_max: match seen {
            true => segment.access.seen_len as usize,
            false => usize::from(segment.form.max) + joined,
        },
        variable: segment.form.variable && !seen && joined == 0,
        mapped: None,
        key: raw(key),
        fields: fields.chain(indexes).collect(),
    }
}

struct Maker<'a> {
    map: &'a Map,
    definitions: &'a dyn Definitions,
}

impl Maker<'_> {
    fn mapped(&self, segment: &str) -> Result<&Mapped, String> {
        self.map.segment(segment).ok_or_else(|| format!("its map has no [segment.{segment}]"))
    }

    fn segment(&self, view: &View, segment: &ViewSegment) -> Result<SegmentMap, String> {
        let name = segment.name;
        let refused = |what: &str| Err(format!("{name} of {} {what}", view.dbd));
        if segment.destination.is_some() || segment.part != SegmentPart::Data {
            return refused("is a concatenated segment, which is not converted");
        }
        if !segment.access.seen.is_empty() {
            return refused("has sensitive fields, which are not converted");
        }
        let home: &Home = &segment.stored;
        let mapped = self.mapped(home.segment.text())?;
        let max = usize::from(segment.form.max);
        mapped.fits(max, segment.form.variable).map_err(|error| error.to_string())?;
        let classes = |offset: u16, len: u16| -> FieldClasses {
            mapped.classes(usize::from(offset), usize::from(len)).map(<[Class]>::to_vec)
        };
        let mut fields: Vec<(Name, FieldClasses)> = segment
            .fields
            .iter()
            .map(|field| (*field.name.bytes(), classes(field.offset, field.len)))
            .collect();
        let sequence = view.sequence.as_ref().filter(|_| segment.parent.is_none());
        for index in segment.indices.iter().chain(sequence) {
            let name = *index.name.bytes();
            if !fields.iter().any(|(known, _)| *known == name) {
                fields.push((name, self.search(index)?));
            }
        }
        let key = match (sequence, segment.key) {
            (Some(index), _) => self.search(index)?,
            (None, Some(key)) => classes(key.offset, key.len),
            (None, None) => Some(Vec::new()),
        };
        let key = key.ok_or_else(|| format!("the key of {name} is not the same in all records"))?;
        Ok(SegmentMap {
            name: *name.bytes(),
            parent: segment.parent.map(usize::from),
            bytes_max: max,
            variable: segment.form.variable,
            mapped: Some(Arc::new(mapped.clone())),
            key,
            fields,
        })
    }

    /// What an XDFLD compares with; `None` if it is not the same in all records.
    fn search(&self, index: &Index) -> Result<FieldClasses, String> {
        let mut all = Vec::new();
        for part in &index.search {
            let Some(classes) = self.part(index, part)? else { return Ok(None) };
            all.extend(classes);
        }
        Ok(Some(all))
    }

    fn part(&self, index: &Index, part: &IndexPart) -> Result<FieldClasses, String> {
        let len = usize::from(part.len);
        match part.from {
            PartSource::Unique => Ok(Some(vec![Class::Raw; len])),
            PartSource::Segment(offset) => {
                let mapped = self.mapped(index.source.text())?;
                Ok(mapped.classes(usize::from(offset), len).map(<[Class]>::to_vec))
            }
            PartSource::ConcatenatedKey(offset) => {
                let dbd = self.definitions.dbd(index.target_dbd);
                let dbd = dbd.ok_or_else(|| format!("there is no DBD {}", index.target_dbd))?;
                let Some(path) = self.key_path(&dbd, index)? else { return Ok(None) };
                let from = usize::from(offset);
                Ok(path.get(from..from + len).map(<[Class]>::to_vec))
            }
        }
    }

    /// What the physical concatenated key of an index's source is.
    fn key_path(&self, dbd: &Dbd, index: &Index) -> Result<FieldClasses, String> {
        let mut path: Vec<Vec<Class>> = Vec::new();
        let mut next = dbd.segments.iter().find(|one| one.name == index.source);
        while let Some(segment) = next.filter(|_| path.len() <= dbd.segments.len()) {
            let key = segment.fields.iter().find(|field| field.is_key());
            if let Some(key) = key {
                let mapped = self.mapped(segment.name.text())?;
                let offset = key.offset().unwrap_or_default();
                let Some(classes) = mapped.classes(offset, usize::from(key.len)) else {
                    return Ok(None);
                };
                path.push(classes.to_vec());
            }
            next = segment.parent.and_then(|parent| dbd.segments.get(usize::from(parent)));
        }
        Ok(Some(path.into_iter().rev().flatten().collect()))
    }
}
