//! Whoever has the catalog, for programs that use clusters as VSAM has them: ACBs, and what RPLs
//! ask for.
//!
//! | OPEN answers, with return code 8 | if |
//! |---|---|
//! | 148 | there is no such entry |
//! | 160 | the mode is none for such a cluster |
//! | 168 | others have it open in a way that does not go with this |
//! | 188 | its alternate index is not built, or it cannot be read |
//! | 244 | it is to be emptied or loaded, and is neither empty nor reusable |
//!
//! Invariants:
//! 1. The unit of work is the caller's.
//! 2. After a direct request that neither updates nor keeps its place, a sequential one has none.
//! 3. Each string has a place of its own; one that was never used, or has ended, costs nothing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use store::{Store, StoreError};
use vsam::{
    Access, Catalog, CatalogError, DataSetName, Failure, Feedback, File, Intent, LogicalReason,
    Match, ObjectNumber, OpenError, OpenMode, OpenOptions, Organization, Position, Rba,
    RecordNumber, Search, Target,
};

use crate::acb_wire::{ANSWER, AcbAnswer, AcbRequest, Options, Rpl, Verb};

/// The most ACBs that a program has open at once.
const ACBS_MAX: usize = 4096;
/// Return codes.
const LOGICAL: u8 = 8;
const PHYSICAL: u8 = 12;
/// OPEN: there is no such entry.
const NO_ENTRY: u8 = 148;

/// An open ACB.
struct Acb<S: Store> {
    // Positions go before their file: they count with it.
    strings: BTreeMap<u16, Position<S>>,
    file: File<S>,
}

/// A cluster or path that is to be opened.
struct AcbOpening<'n> {
    mode: OpenMode,
    reset: bool,
    /// Positions at once; 0: any number.
    strings: u16,
    name: &'n [u8],
}

/// The ACBs of a program.
pub(crate) struct Acbs<S: Store> {
    catalog: Catalog<S>,
    record_level: bool,
    acbs: Vec<Option<Acb<S>>>,
}

/// Why a request was not carried out, but its unit of work goes on.
type Refused = AcbAnswer<'static>;

fn refused(reason: LogicalReason) -> Refused {
    AcbAnswer { return_code: LOGICAL, reason: reason.number(), ..AcbAnswer::default() }
}

/// What a request came to, or that the unit of work is doomed.
type Outcome<T> = Result<Result<T, Refused>, StoreError>;

impl<S: Store> Acbs<S> {
    pub(crate) fn new(catalog: Catalog<S>, record_level: bool) -> Acbs<S> {
        Acbs { catalog, record_level, acbs: Vec::new() }
    }

    pub(crate) fn close_all(&mut self) {
        self.acbs.clear();
    }

    /// The cluster that an ACB is open for.
    pub(crate) fn cluster_of(&self, acb: u32) -> Option<ObjectNumber> {
        let slot = (acb as usize).checked_sub(1).and_then(|at| self.acbs.get(at))?;
        slot.as_ref().map(|acb| acb.file.base().number)
    }

    /// Whether a record is held through a string.
    pub(crate) fn holds(&self, acb: u32, string: u16) -> bool {
        let slot = (acb as usize).checked_sub(1).and_then(|at| self.acbs.get(at));
        let position = slot.and_then(Option::as_ref).and_then(|acb| acb.strings.get(&string));
        position.is_some_and(Position::holds_record)
    }

    /// Carries out a request in a unit of work, and replaces `out` by the answer. `apart`: what an
    /// OPEN does in it is not kept.
    ///
    /// # Errors
    /// What dooms the unit of work: it has to be backed out.
    pub(crate) fn serve(
        &mut self,
        (unit, apart): (&mut S::Unit, bool),
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        out.clear();
        let outcome = match AcbRequest::read(request) {
            None => Err(refused(LogicalReason::BadOptions)),
            Some(AcbRequest::Open { mode, reset, strings, name }) => {
                let unit = (!apart).then_some(unit);
                self.open(unit, &AcbOpening { mode, reset, strings, name }, out)?
            }
            Some(AcbRequest::Close(acb)) => self.close(acb),
            Some(AcbRequest::Do(rpl)) => self.perform(unit, &rpl, out)?,
        };
        match outcome {
            Ok(answer) => answer.front(out),
            Err(answer) => {
                out.clear();
                answer.front(out);
            }
        }
        Ok(())
    }

    fn open(
        &mut self,
        unit: Option<&mut S::Unit>,
        &AcbOpening { mode, reset, strings, name }: &AcbOpening<'_>,
        out: &mut Vec<u8>,
    ) -> Outcome<AcbAnswer<'static>> {
        let none = || AcbAnswer { return_code: LOGICAL, reason: NO_ENTRY, ..AcbAnswer::default() };
        let free = self.acbs.iter().position(Option::is_none);
        if free.is_none() && self.acbs.len() >= ACBS_MAX {
            return Ok(Err(refused(LogicalReason::NoString)));
        }
        let text = std::str::from_utf8(name).ok();
        let name = text.and_then(|name| DataSetName::parse(name.trim()).ok());
        let Some(name) = name else { return Ok(Err(none())) };
        let options = OpenOptions {
            reset,
            record_level: self.record_level,
            bulk: false,
            strings: (strings > 0).then_some(u32::from(strings)),
        };
        let opened = self.catalog.open_file_within(unit, &name, mode, &options);
        let file = match opened {
            Ok(file) => file,
            // It was emptied in the program's unit of work, which has failed.
            Err(OpenError::Catalog(CatalogError::Store(error))) if error.dooms_unit() => {
                return Err(error);
            }
            Err(error) => return Ok(Err(of_open(&error))),
        };
        let at = free.unwrap_or_else(|| {
            self.acbs.push(None);
            self.acbs.len() - 1
        });
        out.resize(ANSWER, 0);
        let attributes = file.attributes();
        let key = match file.alternate_index().and_then(|entry| entry.alternate_index()) {
            Some(index) => Some(index.key),
            None => attributes.key,
        };
        out.push(organization_number(attributes.organization));
        let (offset, bytes) = key.map_or((0, 0), |key| (key.offset, key.bytes));
        for number in [offset, bytes, attributes.record_bytes_max] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        self.acbs[at] = Some(Acb { strings: BTreeMap::new(), file });
        Ok(Ok(AcbAnswer { number: at as u64 + 1, ..AcbAnswer::default() }))
    }

    fn close(&mut self, acb: u32) -> Result<AcbAnswer<'static>, Refused> {
        let slot = (acb as usize).checked_sub(1).and_then(|at| self.acbs.get_mut(at));
        let not_open = || refused(LogicalReason::NotOpenForThis);
        let Acb { strings, file } = slot.and_then(Option::take).ok_or_else(not_open)?;
        drop(strings);
        file.close().map_err(|error| of_open(&error))?;
        Ok(AcbAnswer::default())
    }

    fn perform(
        &mut self,
        unit: &mut S::Unit,
        rpl: &Rpl<'_>,
        out: &mut Vec<u8>,
    ) -> Outcome<AcbAnswer<'static>> {
        let slot = (rpl.acb as usize).checked_sub(1).and_then(|at| self.acbs.get_mut(at));
        let Some(Acb { file, strings }) = slot.and_then(Option::as_mut) else {
            return Ok(Err(refused(LogicalReason::NotOpenForThis)));
        };
        if rpl.verb == Verb::End {
            // What was counted goes with it, and its string is free for another one.
            strings.remove(&rpl.string);
            return Ok(Ok(AcbAnswer::default()));
        }
        if !rpl.options.is_sound() {
            return Ok(Err(refused(LogicalReason::BadOptions)));
        }
        let position = match strings.entry(rpl.string) {
            Entry::Occupied(position) => position.into_mut(),
            Entry::Vacant(string) => match file.position() {
                Ok(position) => string.insert(position),
                Err(failure) => return of_failure(failure),
            },
        };
        let mut string = UseOf { file, position };
        match string.perform(unit, rpl, out) {
            Ok(feedback) => Ok(Ok(answer_of(&feedback))),
            Err(failure) => of_failure(failure),
        }
    }
}

/// A string of an open file, for one request.
struct UseOf<'a, S: Store> {
    file: &'a File<S>,
    position: &'a mut Position<S>,
}

impl<S: Store> UseOf<'_, S> {
    fn perform(
        &mut self,
        unit: &mut S::Unit,
        rpl: &Rpl<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        let options = rpl.options;
        self.position.set_area(Some(rpl.area));
        self.position.set_access(match options.0 & (Options::KEYED | Options::ADDRESSED) {
            Options::KEYED => Some(Access::Keyed),
            Options::ADDRESSED => Some(Access::Addressed),
            _ => None,
        });
        let is_linear = self.file.organization() == Organization::Linear;
        match rpl.verb {
            Verb::Get if is_linear => self.block(unit, rpl, out),
            Verb::Get => self.get(unit, rpl, out),
            Verb::Point => {
                let search = self.search(rpl)?;
                self.file.point(unit, self.position, &search)
            }
            Verb::Put if is_linear => {
                let rba = Rba(number_of(rpl.argument)?);
                self.position.set_access(None);
                self.file.put_block(unit, self.position, rba, rpl.record)
            }
            Verb::Put if options.has(Options::UPDATE) => {
                self.file.rewrite(unit, self.position, rpl.record)
            }
            Verb::Put if is_direct(options) && self.file.organization().is_relative() => {
                let number = record_number(rpl.argument)?;
                self.file.put_number(unit, self.position, number, rpl.record)
            }
            Verb::Put => self.file.put(unit, self.position, rpl.record),
            Verb::Erase => self.file.erase(unit, self.position),
            Verb::End => Ok(Feedback::default()),
        }
    }

    fn block(
        &mut self,
        unit: &mut S::Unit,
        rpl: &Rpl<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        let rba = Rba(number_of(rpl.argument)?);
        self.position.set_access(None);
        let mut block = Vec::new();
        let feedback = self.file.get_block(unit, self.position, rba, intent(rpl), &mut block)?;
        give(rpl, &block, out)?;
        Ok(feedback)
    }

    fn get(
        &mut self,
        unit: &mut S::Unit,
        rpl: &Rpl<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        let (options, mut record) = (rpl.options, Vec::new());
        let backward = options.has(Options::BACKWARD);
        let feedback = if is_direct(options) {
            let search = self.search(rpl)?;
            self.file.get(unit, self.position, &search, intent(rpl), &mut record)?
        } else if backward {
            self.file.get_previous(unit, self.position, intent(rpl), &mut record)?
        } else {
            self.file.get_next(unit, self.position, intent(rpl), &mut record)?
        };
        give(rpl, &record, out)?;
        let keeps = Options::UPDATE | Options::KEEP_PLACE | Options::SKIP;
        if options.has(Options::DIRECT) && !options.has(keeps) {
            self.file.end_request(self.position);
        }
        Ok(feedback)
    }

    /// What the argument of a request stands for.
    fn search<'k>(&self, rpl: &Rpl<'k>) -> Result<Search<'k>, Failure> {
        let options = rpl.options;
        let is_path = self.file.alternate_index().is_some();
        let target = match self.file.organization() {
            _ if options.has(Options::LAST) => Target::Last,
            _ if is_path => key(rpl),
            Organization::Keyed => key(rpl),
            Organization::EntrySequenced if options.has(Options::KEYED) => key(rpl),
            Organization::EntrySequenced | Organization::Linear => {
                Target::Rba(Rba(number_of(rpl.argument)?))
            }
            Organization::Relative | Organization::VariableRelative => {
                Target::Number(record_number(rpl.argument)?)
            }
        };
        let by = match options.has(Options::GREATER_OR_EQUAL) {
            true => Match::GreaterOrEqual,
            false => Match::Equal,
        };
        let search = Search::by(target, by);
        Ok(if options.has(Options::BACKWARD) { search.backward() } else { search })
    }
}

fn key<'k>(rpl: &Rpl<'k>) -> Target<'k> {
    match rpl.options.has(Options::GENERIC) {
        true => Target::Generic(rpl.argument),
        false => Target::Key(rpl.argument),
    }
}

fn is_direct(options: Options) -> bool {
    options.has(Options::DIRECT | Options::SKIP)
}

fn intent(rpl: &Rpl<'_>) -> Intent {
    if rpl.options.has(Options::UPDATE) { Intent::Update } else { Intent::Look }
}

/// A number or an address: 4 or 8 bytes, the least first.
fn number_of(argument: &[u8]) -> Result<u64, Failure> {
    let four = argument.try_into().map(u32::from_le_bytes).map(u64::from);
    let number = four.or_else(|_| argument.try_into().map(u64::from_le_bytes));
    number.map_err(|_| Failure::logical(LogicalReason::BadKeyLength))
}

fn record_number(argument: &[u8]) -> Result<RecordNumber, Failure> {
    let number = u32::try_from(number_of(argument)?);
    number.map(RecordNumber).map_err(|_| Failure::logical(LogicalReason::BadNumber))
}

/// Puts a record behind the place of an answer's front.
fn give(rpl: &Rpl<'_>, record: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
    if record.len() > rpl.area as usize {
        return Err(Failure::Logical {
            reason: LogicalReason::AreaTooSmall,
            component: vsam::Component::Base,
            bytes: u32::try_from(record.len()).unwrap_or(u32::MAX),
        });
    }
    out.clear();
    out.resize(ANSWER, 0);
    out.extend_from_slice(record);
    Ok(())
}

fn answer_of(feedback: &Feedback) -> AcbAnswer<'static> {
    let address = feedback.rba.map(|rba| rba.0);
    let number = feedback.number.map(|number| u64::from(number.0));
    AcbAnswer {
        return_code: 0,
        component: feedback.component as u8,
        reason: feedback.condition as u8,
        number: address.or(number).unwrap_or(0),
        bytes: feedback.bytes,
        record: &[],
    }
}

fn of_failure<T>(failure: Failure) -> Outcome<T> {
    match failure {
        Failure::Store(error) if error.dooms_unit() => Err(error),
        Failure::InPart(error) => Err(error),
        Failure::Logical { reason, component, bytes } => Ok(Err(AcbAnswer {
            return_code: LOGICAL,
            component: component as u8,
            reason: reason.number(),
            bytes,
            ..AcbAnswer::default()
        })),
        _ => Ok(Err(AcbAnswer { return_code: PHYSICAL, reason: 4, ..AcbAnswer::default() })),
    }
}

fn of_open(error: &OpenError) -> Refused {
    let reason = match error {
        OpenError::Shared(_) | OpenError::Catalog(CatalogError::InUse(_)) => 168,
        OpenError::Mode { .. } => 160,
        OpenError::NotEmpty(_) => 244,
        OpenError::Catalog(CatalogError::NotFound(_) | CatalogError::NoCatalog(_)) => NO_ENTRY,
        OpenError::Catalog(CatalogError::Store(
            StoreError::NoSpace(_) | StoreError::LogFull(_),
        )) => LogicalReason::NoSpace.number(),
        OpenError::Catalog(CatalogError::Store(_)) | OpenError::Handler { .. } => {
            return AcbAnswer { return_code: PHYSICAL, reason: 4, ..AcbAnswer::default() };
        }
        _ => 188,
    };
    AcbAnswer { return_code: LOGICAL, reason, ..AcbAnswer::default() }
}

/// As `holdfast_vsam.h` numbers them.
fn organization_number(organization: Organization) -> u8 {
    match organization {
        Organization::Keyed => 0,
        Organization::EntrySequenced => 1,
        Organization::Relative => 2,
        Organization::VariableRelative => 3,
        Organization::Linear => 4,
    }
}
