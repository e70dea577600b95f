//! LISTCAT: entries of the catalog, as text.
//!
//! | | shows |
//! |---|---|
//! | NAME, or nothing | the kinds and names of entries and of their components |
//! | HISTORY | owner, creation, expiration, too |
//! | VOLUME | and volumes |
//! | ALLOCATION | and the space that was asked for |
//! | ALL | and relations, attributes, statistics |
//!
//! ENTRIES names entries, or masks; LEVEL leading qualifiers; CLUSTER, AIX and so on choose kinds.
//! CREATION(n) and EXPIRATION(n) choose entries that are at least n days old, that expire within
//! n days.
//!
//! Invariants:
//! 1. What is not there is told by name, with condition code 4.
//! 2. Entries come by name, each once.

use std::collections::BTreeMap;

use store::Store;
use vsam::{
    ClusterAttributes, DataSetName, Definition, Entry, Filter, FreeSpace, KeyField, Kind,
    Organization, Remarks, ShareOptions, State, Statistics,
};

use crate::generate::unit_name;
use crate::names::{catalog_of, day_of, filter_of, itself_in, level_of, resolved, shown_day};
use crate::print::opened;
use crate::refusal::{Refusal, WARNING};
use crate::session::{Done, Session};
use crate::syntax::{Command, Parameters};
use crate::sysprint::Sysprint;

/// How much is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    Names,
    History,
    Volumes,
    Allocation,
    All,
}

impl Depth {
    fn of(parameters: &Parameters) -> Depth {
        let depths = [
            ("ALL", Depth::All),
            ("ALLOCATION", Depth::Allocation),
            ("VOLUME", Depth::Volumes),
            ("HISTORY", Depth::History),
        ];
        let given = depths.into_iter().find(|(name, _)| parameters.has(name));
        given.map_or(Depth::Names, |(_, depth)| depth)
    }
}

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let catalog = catalog_of(parameters)?;
    let (mut entries, missing) = chosen(session, parameters, catalog.as_ref())?;
    let kinds = kinds_of(parameters);
    let today = day_of(session.machine.now_us());
    let age = parameters.small("CREATION")?;
    let rest = parameters.small("EXPIRATION")?;
    entries.retain(|entry| {
        let old = age.is_none_or(|days| is_before(day_of(entry.created_us), today, days));
        let due = rest.is_none_or(|days| match expires(entry) {
            Some(day) => is_before(today, day, days) || day <= today,
            None => false,
        });
        (kinds.is_empty() || kinds.iter().any(|kind| shows(*kind, entry))) && old && due
    });
    let elsewhere = parameters.value("OUTFILE").map(|dd| session.dd(dd, None)).transpose()?;
    let mut file = elsewhere.map(|located| opened(session, &located)).transpose()?;
    let depth = Depth::of(parameters);
    let mut lines = Lines { counts: BTreeMap::new(), text: Vec::new(), depth, kinds: &kinds };
    for entry in &entries {
        let statistics = match entry.data.is_some() && depth == Depth::All {
            true => session.catalog.statistics(entry)?,
            false => Statistics::default(),
        };
        lines.entry(entry, &statistics);
    }
    lines.summary();
    match &mut file {
        None => lines.text.iter().for_each(|line| session.print.line(line)),
        Some(file) => {
            let mut print = Sysprint::new(file);
            lines.text.iter().for_each(|line| print.line(line));
            let flushed = print.flush().and_then(|()| file.finish());
            flushed.map_err(|error| Refusal::of_file("OUTFILE", &error))?;
        }
    }
    for name in &missing {
        session.say("IDC3012I", format!("ENTRY {name} NOT FOUND"));
        session.say("IDC1566I", format!("{name} NOT LISTED"));
    }
    Ok(if missing.is_empty() { 0 } else { WARNING })
}

/// Whether `day` is at least so many days before `other`, roughly over the turn of a year.
fn is_before(day: u32, other: u32, days: u32) -> bool {
    let count = |day: u32| day / 1000 * 1461 / 4 + day % 1000;
    count(other).saturating_sub(count(day)) >= days || day == other && days == 0
}

/// The entries that ENTRIES or LEVEL choose, and the names that have none.
fn chosen<S: Store>(
    session: &Session<'_, S>,
    parameters: &Parameters,
    catalog: Option<&DataSetName>,
) -> Result<(Vec<Entry>, Vec<String>), Refusal> {
    let mut all: BTreeMap<DataSetName, Entry> = BTreeMap::new();
    let mut missing = Vec::new();
    let mut take = |found: Vec<Entry>, name: String| {
        if found.is_empty() {
            missing.push(name);
        }
        all.extend(found.into_iter().map(|entry| (entry.name.clone(), entry)));
    };
    for value in parameters.values("ENTRIES") {
        let name = value.name();
        let found = match name.contains(['*', '%']) {
            true => session.catalog.list(&filter_of(value)?, catalog)?,
            false => match resolved(&session.catalog, value) {
                Ok(name) => named(session, catalog, &name)?.into_iter().collect(),
                Err(refusal) if refusal.is_not_found() => Vec::new(),
                Err(refusal) => return Err(refusal),
            },
        };
        take(found, name);
    }
    for value in parameters.values("LEVEL") {
        let level = value.name();
        let listed = session.catalog.list(&level_of(value)?, catalog)?;
        let below = listed.into_iter().filter(|entry| entry.name.as_str() != level);
        take(below.collect(), level);
    }
    if !parameters.has("ENTRIES") && !parameters.has("LEVEL") {
        let listed = session.catalog.list(&Filter::all(), catalog)?;
        all.extend(listed.into_iter().map(|entry| (entry.name.clone(), entry)));
    }
    Ok((all.into_values().collect(), missing))
}

/// The entry of a name, an alias itself; of a component the object that it belongs to.
fn named<S: Store>(
    session: &Session<'_, S>,
    catalog: Option<&DataSetName>,
    name: &DataSetName,
) -> Result<Option<Entry>, Refusal> {
    let found = match itself_in(&session.catalog, catalog, name) {
        Ok(entry) => Some(entry),
        Err(refusal) if refusal.is_not_found() => None,
        Err(refusal) => return Err(refusal),
    };
    match found {
        Some(Entry { definition: Definition::Component(of), .. }) => {
            Ok(session.catalog.get(&of)?)
        }
        found => Ok(found),
    }
}

/// What is listed of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Entry(Kind),
    Data,
    Index,
}

fn kinds_of(parameters: &Parameters) -> Vec<Shown> {
    let kinds = [
        ("ALIAS", Shown::Entry(Kind::Alias)),
        ("ALTERNATEINDEX", Shown::Entry(Kind::AlternateIndex)),
        ("CLUSTER", Shown::Entry(Kind::Cluster)),
        ("GENERATIONDATAGROUP", Shown::Entry(Kind::GenerationGroup)),
        ("NONVSAM", Shown::Entry(Kind::NonVsam)),
        ("PATH", Shown::Entry(Kind::Path)),
        ("USERCATALOG", Shown::Entry(Kind::UserCatalog)),
        ("DATA", Shown::Data),
        ("INDEX", Shown::Index),
    ];
    kinds.into_iter().filter(|(name, _)| parameters.has(name)).map(|(_, kind)| kind).collect()
}

fn shows(shown: Shown, entry: &Entry) -> bool {
    match shown {
        Shown::Entry(kind) => entry.kind() == kind,
        Shown::Data => !entry.components().is_empty(),
        Shown::Index => entry.components().len() > 1,
    }
}

fn remarks_of(entry: &Entry) -> Option<&Remarks> {
    match &entry.definition {
        Definition::Cluster(cluster) => Some(&cluster.remarks),
        Definition::AlternateIndex(index) => Some(&index.remarks),
        Definition::NonVsam(attributes) => Some(&attributes.remarks),
        Definition::GenerationGroup(group) => Some(&group.remarks),
        _ => None,
    }
}

fn expires(entry: &Entry) -> Option<u32> {
    remarks_of(entry)?.expires
}

/// A title with its value, filled up with hyphens as listings have it.
fn pair(title: &str, value: impl std::fmt::Display) -> String {
    let value = value.to_string();
    let hyphens = 24_usize.saturating_sub(title.len() + value.len()).max(1);
    format!("{title}{}{value}", "-".repeat(hyphens))
}

struct Lines<'k> {
    counts: BTreeMap<&'static str, u64>,
    text: Vec<String>,
    depth: Depth,
    kinds: &'k [Shown],
}

impl Lines<'_> {
    fn add(&mut self, line: impl Into<String>) {
        self.text.push(line.into());
    }

    fn count(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    fn wants(&self, shown: Shown) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&shown)
    }

    fn entry(&mut self, entry: &Entry, statistics: &Statistics) {
        if self.wants(Shown::Entry(entry.kind())) {
            self.own(entry);
        }
        let mut components = entry.components().into_iter();
        if let Some(data) = components.next().filter(|_| self.wants(Shown::Data)) {
            self.data(entry, &data, statistics);
        }
        if let Some(index) = components.next().filter(|_| self.wants(Shown::Index)) {
            self.count("INDEX");
            self.add(format!("   INDEX ------ {index}"));
            self.history(entry, 7);
            self.space(entry);
        }
    }

    fn own(&mut self, entry: &Entry) {
        let (title, count) = title_of(entry.kind());
        self.count(count);
        self.add(format!("{title} {}", entry.name));
        if let Some(catalog) = &entry.catalog {
            self.add(format!("     IN-CAT --- {catalog}"));
        }
        self.history(entry, 5);
        if self.depth < Depth::All {
            return;
        }
        match &entry.definition {
            Definition::Path(path) => {
                self.add("     ATTRIBUTES");
                self.add(format!("       {}", if path.update { "UPDATE" } else { "NOUPDATE" }));
                self.relations([("ENTRY", path.entry.clone())]);
            }
            Definition::AlternateIndex(index) => {
                self.relations([("CLUSTER", index.base.clone())]);
            }
            Definition::Alias(of) => self.relations([("RELATED", of.clone())]),
            Definition::GenerationGroup(group) => {
                let empty = if group.empty { "EMPTY" } else { "NOEMPTY" };
                let scratch = if group.scratch { "SCRATCH" } else { "NOSCRATCH" };
                self.add("     ATTRIBUTES");
                self.add(format!("       {}   {scratch} {empty}", pair("LIMIT", group.limit)));
            }
            Definition::NonVsam(attributes) => {
                if let Some(file) = &attributes.file {
                    self.add(format!("     FILE ------- {file}"));
                }
            }
            _ => {}
        }
        let title = if entry.kind() == Kind::GenerationGroup { "NONVSAM" } else { "RELATED" };
        self.relations(entry.related.iter().map(|name| (title, name.clone())));
    }

    fn relations(&mut self, all: impl IntoIterator<Item = (&'static str, DataSetName)>) {
        for (at, (title, name)) in all.into_iter().enumerate() {
            if at == 0 {
                self.add("     ASSOCIATIONS");
            }
            self.add(format!("       {title:-<10}{name}"));
        }
    }

    fn history(&mut self, entry: &Entry, indent: usize) {
        if self.depth < Depth::History {
            return;
        }
        let blanks = " ".repeat(indent);
        let remarks = remarks_of(entry);
        let owner = remarks.and_then(|remarks| remarks.owner.as_deref()).unwrap_or("(NULL)");
        let owner = pair("DATASET-OWNER", owner);
        let created = pair("CREATION", shown_day(day_of(entry.created_us)));
        let until = pair("EXPIRATION", shown_day(expires(entry).unwrap_or(0)));
        self.add(format!("{blanks}HISTORY"));
        self.add(format!("{blanks}  {owner}   {created}   {until}"));
    }

    fn space(&mut self, entry: &Entry) {
        let remarks = remarks_of(entry);
        if self.depth == Depth::Volumes || self.depth == Depth::All {
            let volumes = remarks.map(|remarks| remarks.volumes.join(" ")).unwrap_or_default();
            let volumes = if volumes.is_empty() { "(NONE)".to_owned() } else { volumes };
            self.add("       VOLUMES");
            self.add(format!("         {}", pair("VOLSER", volumes)));
        }
        let space = remarks.and_then(|remarks| remarks.space);
        if let Some(space) = space.filter(|_| self.depth >= Depth::Allocation) {
            let unit = pair("SPACE-TYPE", unit_name(space.unit));
            let (first, more) = (space.primary, space.secondary);
            let (first, more) = (pair("SPACE-PRI", first), pair("SPACE-SEC", more));
            self.add("       ALLOCATION");
            self.add(format!("         {unit}   {first}   {more}"));
        }
    }

    /// Where the records, or the changes, of a cluster go.
    fn redirection(&mut self, entry: &Entry) {
        let Some(redirection) = &entry.redirection else { return };
        let (owner, there) = (pair("OWNER", redirection.owner), pair("THERE", &redirection.object));
        self.add("       REDIRECTION");
        self.add(format!("         {owner}   {there}"));
        self.add(format!("         TO {}", redirection.to));
    }

    fn data(&mut self, entry: &Entry, name: &DataSetName, statistics: &Statistics) {
        self.count("DATA");
        self.add(format!("   DATA ------- {name}"));
        self.history(entry, 7);
        if self.depth == Depth::All {
            match &entry.definition {
                Definition::Cluster(cluster) => self.cluster(cluster),
                Definition::AlternateIndex(index) => {
                    let key = KeyField { offset: 5, bytes: index.key.bytes };
                    let sizes = (index.average_bytes, index.record_bytes_max);
                    self.attributes(Some(key), sizes, index.interval_bytes, index.free_space);
                    let axrkp = pair("AXRKP", index.key.offset);
                    let mut words = share(index.share);
                    words.push(if index.unique { "UNIQUEKEY" } else { "NONUNIQUEKEY" }.into());
                    words.push(if index.upgrade { "UPGRADE" } else { "NOUPGRADE" }.into());
                    words.push(if index.reuse { "REUSE" } else { "NOREUSE" }.into());
                    self.add(format!("         {axrkp}   {}", words.join(" ")));
                }
                _ => {}
            }
            self.redirection(entry);
            self.statistics(entry, statistics);
        }
        self.space(entry);
    }

    fn cluster(&mut self, cluster: &ClusterAttributes) {
        let sizes = (cluster.average_bytes, cluster.record_bytes_max);
        self.attributes(cluster.key, sizes, cluster.interval_bytes, cluster.free_space);
        let mut words = share(cluster.share);
        let organization = match cluster.organization {
            Organization::Keyed => "INDEXED",
            Organization::EntrySequenced => "NONINDEXED",
            Organization::Relative | Organization::VariableRelative => "NUMBERED",
            Organization::Linear => "LINEAR",
        };
        let switches = [
            (cluster.speed, "SPEED", "RECOVERY"),
            (cluster.erase, "ERASE", "NOERASE"),
            (cluster.reuse, "REUSE", "NOREUSE"),
            (cluster.spanned, "SPANNED", "NONSPANNED"),
            (cluster.record_map.is_some(), "RECORDMAP", "NORECORDMAP"),
        ];
        words.push(organization.into());
        words.extend(switches.iter().map(|(is, yes, no)| if *is { *yes } else { *no }.into()));
        self.add(format!("         {}", words.join(" ")));
    }

    fn attributes(
        &mut self,
        key: Option<KeyField>,
        (average, most): (u32, u32),
        interval: Option<u32>,
        free: FreeSpace,
    ) {
        let key = key.unwrap_or(KeyField { offset: 0, bytes: 0 });
        let (length, place) = (pair("KEYLEN", key.bytes), pair("RKP", key.offset));
        let (average, most) = (pair("AVGLRECL", average), pair("MAXLRECL", most));
        let interval = pair("CISIZE", interval.unwrap_or(0));
        let own = pair("FREESPACE-%CI", free.interval_percent);
        let area = pair("FREESPACE-%CA", free.area_percent);
        self.add("       ATTRIBUTES");
        self.add(format!("         {length}   {average}   {interval}"));
        self.add(format!("         {place}   {most}   {own}"));
        self.add(format!("         {area}"));
    }

    fn statistics(&mut self, entry: &Entry, statistics: &Statistics) {
        let Statistics { records, inserted, deleted, updated, retrieved } = *statistics;
        let (total, deleted) = (pair("REC-TOTAL", records), pair("REC-DELETED", deleted));
        let (inserted, updated) = (pair("REC-INSERTED", inserted), pair("REC-UPDATED", updated));
        self.add("       STATISTICS");
        self.add(format!("         {total}   {inserted}"));
        self.add(format!("         {deleted}   {updated}"));
        self.add(format!("         {}", pair("REC-RETRIEVED", retrieved)));
        if entry.state != State::Ready {
            self.add(format!("         STATE {:?}", entry.state).to_uppercase());
        }
    }

    fn summary(&mut self) {
        let order =
            ["AIX", "ALIAS", "CLUSTER", "DATA", "GDG", "INDEX", "NONVSAM", "PATH", "USERCATALOG"];
        self.add("");
        self.add("         THE NUMBER OF ENTRIES PROCESSED WAS:");
        let mut total = 0;
        for kind in order {
            let count = self.counts.get(kind).copied().unwrap_or_default();
            total += count;
            self.add(format!("                   {}", pair(kind, count)));
        }
        self.add(format!("                   {}", pair("TOTAL", total)));
        self.add("");
    }
}

fn share(options: ShareOptions) -> Vec<String> {
    vec![format!("SHROPTNS({},{})", options.regions.number(), options.systems.number())]
}

fn title_of(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Cluster => ("CLUSTER -------", "CLUSTER"),
        Kind::AlternateIndex => ("AIX -----------", "AIX"),
        Kind::Path => ("PATH ----------", "PATH"),
        Kind::NonVsam => ("NONVSAM -------", "NONVSAM"),
        Kind::GenerationGroup => ("GDG BASE ------", "GDG"),
        Kind::UserCatalog => ("USERCATALOG ---", "USERCATALOG"),
        Kind::Alias => ("ALIAS ---------", "ALIAS"),
        Kind::Component => ("DATA ----------", "DATA"),
    }
}
