//! DEFINE: from its parameters to what the catalog keeps.
//!
//! | left out | means |
//! |---|---|
//! | INDEXED, NONINDEXED, NUMBERED, LINEAR | INDEXED |
//! | KEYS | (64 0) |
//! | RECORDSIZE | (4089 4089); of an alternate index (4086 32600) |
//! | SHAREOPTIONS | (1 3) |
//! | NUMBERED with an average below the maximum | records of variable length |
//! | UPGRADE, NONUNIQUEKEY, UPDATE, RECOVERY, NOREUSE, NOERASE | these |
//!
//! Attributes stand in CLUSTER or ALTERNATEINDEX, in DATA or in INDEX; what stands in CLUSTER
//! counts before what stands in DATA. MODEL names an object of the same kind: what a definition
//! leaves out is as there.
//!
//! Invariants:
//! 1. An attribute that is given is kept or refused: none is dropped but those of places on
//!    volumes, which mean nothing here.

use std::path::Path;

use store::Store;
use vsam::{
    AlternateIndexAttributes, ClusterAttributes, DataSetName, Defined, Definition, Entry,
    FreeSpace, GenerationGroupAttributes, KeyField, NonVsamAttributes, Organization,
    PathAttributes, Remarks, Share, ShareOptions, Space, SpaceUnit,
};

use crate::fault::Fault;
use crate::names::{catalog_of, entry_in, expiry_of, name_of};
use crate::refusal::Refusal;
use crate::session::{Done, Session};
use crate::syntax::{Command, Parameters, Value};

/// An object to define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) name: DataSetName,
    pub(crate) definition: Definition,
    pub(crate) catalog: Option<DataSetName>,
}

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    if command.kind == Some("SPACE") {
        session.say("IDC0001I", "SPACE NEEDS NO DEFINITION: data sets grow by themselves");
        return Ok(0);
    }
    let wanted = wanted_of(session, command)?;
    for list in [command.kind.unwrap_or_default(), "DATA", "INDEX"] {
        command.parameters.sub(list).map_or(Ok(()), check_remarks)?;
    }
    let defined =
        session.catalog.define(&wanted.name, wanted.definition, wanted.catalog.as_ref())?;
    session.note_defined(&defined.entry);
    Ok(tell_rolled_off(session, &defined))
}

/// Says which generations have left their group; answers the condition code.
pub(crate) fn tell_rolled_off<S: Store>(session: &mut Session<'_, S>, defined: &Defined) -> u32 {
    tell_left(session, &defined.rolled_off, defined.scratch)
}

/// The same of these.
pub(crate) fn tell_left<S: Store>(
    session: &mut Session<'_, S>,
    rolled_off: &[Entry],
    scratch: bool,
) -> u32 {
    let mut worst = 0;
    for gone in rolled_off {
        session.say("IDC0550I", format!("ENTRY {} HAS LEFT ITS GROUP", gone.name));
        if scratch && let Err(refusal) = session.scratch(gone) {
            worst = session.refuse(&refusal);
        }
    }
    worst
}

/// Refuses an owner and volumes whose names are too long for the catalogs of other systems.
pub(crate) fn check_remarks(list: &Parameters) -> Result<(), Refusal> {
    let limits = [("OWNER", 8), ("VOLUMES", 6), ("ADDVOLUMES", 6)];
    for (name, most) in limits {
        let long = |value: &&Value| value.name().chars().count() > most;
        if let Some(value) = list.values(name).iter().find(long) {
            let text = format!("{name}: {} has more than {most} characters", value.name());
            return Err(Fault::new("IDC3203I", value.place, text).into());
        }
    }
    Ok(())
}

/// What a command wants defined.
pub(crate) fn wanted_of<S: Store>(
    session: &mut Session<'_, S>,
    command: &Command,
) -> Result<Wanted, Refusal> {
    let kind = command.kind.unwrap_or_default();
    let all = &command.parameters;
    let Some(own) = all.sub(kind) else {
        return Err(Refusal::severe("IDC3213I", format!("DEFINE has no {kind}")));
    };
    let Some(name) = own.value("NAME") else {
        return Err(Refusal::severe("IDC3213I", format!("{kind} needs NAME")));
    };
    let name = name_of(name)?;
    let mut catalog = catalog_of(all)?;
    if catalog.is_none() {
        catalog = catalog_of(own)?;
    }
    let parts = Parts { own, data: all.sub("DATA"), index: all.sub("INDEX") };
    let model = model_of(session, &parts, kind)?;
    let now_us = session.machine.now_us();
    let definition = match kind {
        "CLUSTER" => Definition::Cluster(cluster(session, &parts, model, now_us)?),
        "ALTERNATEINDEX" => Definition::AlternateIndex(alternate_index(&parts, model, now_us)?),
        "PATH" => Definition::Path(path(own, model)?),
        "NONVSAM" => Definition::NonVsam(NonVsamAttributes {
            file: own.value("PATHNAME").map(|value| absolute(session, &value.literal())),
            devices: own.values("DEVICETYPES").iter().map(Value::name).collect(),
            remarks: remarks(&parts, Remarks::default(), now_us)?,
        }),
        "GENERATIONDATAGROUP" => Definition::GenerationGroup(group(&parts, now_us)?),
        "USERCATALOG" => Definition::UserCatalog,
        "ALIAS" => match own.value("RELATE") {
            Some(related) => Definition::Alias(name_of(related)?),
            None => return Err(Refusal::severe("IDC3213I", "ALIAS needs RELATE")),
        },
        _ => return Err(Refusal::severe("IDC3217I", format!("DEFINE {kind} is not possible"))),
    };
    Ok(Wanted { name, definition, catalog })
}

/// A path as it is found from elsewhere, too.
fn absolute<S: Store>(session: &Session<'_, S>, path: &str) -> String {
    session.machine.absolute(Path::new(path)).to_string_lossy().into_owned()
}

/// The definition that MODEL names.
fn model_of<S: Store>(
    session: &Session<'_, S>,
    parts: &Parts<'_>,
    kind: &str,
) -> Result<Option<Definition>, Refusal> {
    let Some(value) = parts.value("MODEL") else { return Ok(None) };
    let name = name_of(value)?;
    let given = parts.get("MODEL").and_then(|parameters| parameters.values("MODEL").get(1));
    let given = given.map(name_of).transpose()?;
    let definition = entry_in(&session.catalog, given.as_ref(), &name)?.definition;
    let same = match &definition {
        Definition::Cluster(_) => kind == "CLUSTER",
        Definition::AlternateIndex(_) => kind == "ALTERNATEINDEX",
        Definition::Path(_) => kind == "PATH",
        _ => false,
    };
    if !same {
        let text = format!("MODEL {name} is of another kind than {kind}");
        return Err(Refusal::from(Fault::new("IDC3210I", value.place, text)));
    }
    Ok(Some(definition))
}

/// The lists of a definition in the order in which they count.
pub(crate) struct Parts<'p> {
    pub(crate) own: &'p Parameters,
    pub(crate) data: Option<&'p Parameters>,
    pub(crate) index: Option<&'p Parameters>,
}

impl<'p> Parts<'p> {
    /// Of an object without components.
    pub(crate) fn of(own: &'p Parameters) -> Parts<'p> {
        Parts { own, data: None, index: None }
    }

    /// The list that has a parameter.
    fn get(&self, name: &str) -> Option<&'p Parameters> {
        let all = [Some(self.own), self.data, self.index].into_iter().flatten();
        all.into_iter().find(|list| list.has(name))
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn value(&self, name: &str) -> Option<&'p Value> {
        self.get(name)?.value(name)
    }

    fn numbers(&self, name: &str) -> Result<Option<Vec<u32>>, Fault> {
        self.get(name).map(|list| list.numbers(name)).transpose()
    }

    /// One of two flags: the first is true, the second false.
    fn switch(&self, yes: &str, no: &str) -> Option<bool> {
        let list = [Some(self.own), self.data, self.index];
        list.into_iter().flatten().find_map(|list| match (list.has(yes), list.has(no)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        })
    }

    /// The name of a component, if it was given one.
    fn component(list: Option<&Parameters>) -> Result<Option<DataSetName>, Refusal> {
        list.and_then(|list| list.value("NAME")).map(name_of).transpose()
    }

    fn wrong(&self, name: &str, text: &str) -> Refusal {
        let place = self.get(name).and_then(|list| list.get(name)).map(|one| one.place);
        Fault::new("IDC3203I", place.unwrap_or(self.own.place), format!("{name}: {text}")).into()
    }
}

fn cluster<S: Store>(
    session: &mut Session<'_, S>,
    parts: &Parts<'_>,
    model: Option<Definition>,
    now_us: u64,
) -> Result<ClusterAttributes, Refusal> {
    let own = parts.own;
    let organizations = [
        ("INDEXED", Organization::Keyed),
        ("NONINDEXED", Organization::EntrySequenced),
        ("NUMBERED", Organization::Relative),
        ("LINEAR", Organization::Linear),
    ];
    let organizations = organizations
        .into_iter()
        .find(|(name, _)| own.has(name))
        .map(|(_, organizations)| organizations);
    let mut made = match model {
        Some(Definition::Cluster(model))
            if organizations.is_none_or(|organizations| organizations == model.organization) =>
        {
            ClusterAttributes { data_name: None, index_name: None, ..model }
        }
        _ => ClusterAttributes::new(organizations.unwrap_or(Organization::Keyed)),
    };
    attributes(parts, &mut made, now_us)?;
    if parts.has("KEYS") && made.organization != Organization::Keyed {
        return Err(parts.wrong("KEYS", "only an INDEXED cluster has a key"));
    }
    if made.organization == Organization::Relative && made.average_bytes < made.record_bytes_max {
        made.organization = Organization::VariableRelative;
    }
    if let Some(value) = parts.value("RECORDMAP") {
        made.record_map = Some(session.source_of(value)?);
    }
    made.data_name = Parts::component(parts.data)?;
    made.index_name = Parts::component(parts.index)?;
    Ok(made)
}

/// What DEFINE CLUSTER and ALTER have in common.
pub(crate) fn attributes(
    parts: &Parts<'_>,
    made: &mut ClusterAttributes,
    now_us: u64,
) -> Result<(), Refusal> {
    if let Some(key) = key_of(parts)? {
        made.key = Some(key);
    }
    if let Some((average, most)) = record_sizes(parts)? {
        (made.average_bytes, made.record_bytes_max) = (average, most);
    }
    if let Some(numbers) = parts.numbers("CONTROLINTERVALSIZE")? {
        made.interval_bytes = numbers.first().copied();
    }
    if let Some(free) = free_space(parts)? {
        made.free_space = free;
    }
    if let Some(share) = share_options(parts)? {
        made.share = share;
    }
    let switch = |value: &mut bool, yes, no| *value = parts.switch(yes, no).unwrap_or(*value);
    switch(&mut made.reuse, "REUSE", "NOREUSE");
    switch(&mut made.spanned, "SPANNED", "NONSPANNED");
    switch(&mut made.speed, "SPEED", "RECOVERY");
    switch(&mut made.erase, "ERASE", "NOERASE");
    made.remarks = remarks(parts, std::mem::take(&mut made.remarks), now_us)?;
    Ok(())
}

fn alternate_index(
    parts: &Parts<'_>,
    model: Option<Definition>,
    now_us: u64,
) -> Result<AlternateIndexAttributes, Refusal> {
    let base = parts.value("RELATE").map(name_of).transpose()?;
    let Some(base) = base else {
        return Err(Refusal::severe("IDC3213I", "ALTERNATEINDEX needs RELATE"));
    };
    let usual = KeyField { offset: 0, bytes: 64 };
    let mut made = match model {
        Some(Definition::AlternateIndex(model)) => {
            AlternateIndexAttributes { base, data_name: None, index_name: None, ..model }
        }
        _ => AlternateIndexAttributes::new(base, usual),
    };
    index_attributes(parts, &mut made, now_us)?;
    made.data_name = Parts::component(parts.data)?;
    made.index_name = Parts::component(parts.index)?;
    Ok(made)
}

/// What DEFINE ALTERNATEINDEX and ALTER have in common.
pub(crate) fn index_attributes(
    parts: &Parts<'_>,
    made: &mut AlternateIndexAttributes,
    now_us: u64,
) -> Result<(), Refusal> {
    if let Some(key) = key_of(parts)? {
        made.key = key;
    }
    if let Some((average, most)) = record_sizes(parts)? {
        (made.average_bytes, made.record_bytes_max) = (average, most);
    }
    if let Some(numbers) = parts.numbers("CONTROLINTERVALSIZE")? {
        made.interval_bytes = numbers.first().copied();
    }
    if let Some(free) = free_space(parts)? {
        made.free_space = free;
    }
    if let Some(share) = share_options(parts)? {
        made.share = share;
    }
    made.reuse = parts.switch("REUSE", "NOREUSE").unwrap_or(made.reuse);
    made.unique = parts.switch("UNIQUEKEY", "NONUNIQUEKEY").unwrap_or(made.unique);
    made.upgrade = parts.switch("UPGRADE", "NOUPGRADE").unwrap_or(made.upgrade);
    made.remarks = remarks(parts, std::mem::take(&mut made.remarks), now_us)?;
    Ok(())
}

fn path(own: &Parameters, model: Option<Definition>) -> Result<PathAttributes, Refusal> {
    let Some(entry) = own.value("PATHENTRY").map(name_of).transpose()? else {
        return Err(Refusal::severe("IDC3213I", "PATH needs PATHENTRY"));
    };
    let usual = match model {
        Some(Definition::Path(model)) => model.update,
        _ => true,
    };
    let update = Parts::of(own).switch("UPDATE", "NOUPDATE").unwrap_or(usual);
    Ok(PathAttributes { entry, update })
}

fn group(parts: &Parts<'_>, now_us: u64) -> Result<GenerationGroupAttributes, Refusal> {
    let limit = parts.own.small("LIMIT")?.and_then(|limit| u16::try_from(limit).ok());
    let Some(limit) = limit else {
        return Err(parts.wrong("LIMIT", "a group has 1 to 999 generations"));
    };
    Ok(GenerationGroupAttributes {
        limit,
        empty: parts.own.has("EMPTY"),
        scratch: parts.own.has("SCRATCH"),
        remarks: remarks(parts, Remarks::default(), now_us)?,
    })
}

fn key_of(parts: &Parts<'_>) -> Result<Option<KeyField>, Refusal> {
    match parts.numbers("KEYS")?.as_deref() {
        None => Ok(None),
        Some([bytes, offset]) => Ok(Some(KeyField { offset: *offset, bytes: *bytes })),
        Some(_) => Err(parts.wrong("KEYS", "a length and an offset are needed")),
    }
}

fn record_sizes(parts: &Parts<'_>) -> Result<Option<(u32, u32)>, Refusal> {
    match parts.numbers("RECORDSIZE")?.as_deref() {
        None => Ok(None),
        Some([average, most]) => Ok(Some((*average, *most))),
        Some(_) => Err(parts.wrong("RECORDSIZE", "an average and a maximum are needed")),
    }
}

fn free_space(parts: &Parts<'_>) -> Result<Option<FreeSpace>, Refusal> {
    let percent = |number: &u32| u8::try_from(*number).ok().filter(|percent| *percent <= 100);
    let free = match parts.numbers("FREESPACE")?.as_deref() {
        None => return Ok(None),
        Some([interval]) => percent(interval).map(|interval| (interval, 0)),
        Some([interval, area]) => percent(interval).zip(percent(area)),
        Some(_) => None,
    };
    let Some((interval_percent, area_percent)) = free else {
        return Err(parts.wrong("FREESPACE", "one or two percentages are needed"));
    };
    Ok(Some(FreeSpace { interval_percent, area_percent }))
}

fn share_options(parts: &Parts<'_>) -> Result<Option<ShareOptions>, Refusal> {
    let share = |number: &u32| u8::try_from(*number).ok().and_then(Share::from_number);
    let usual = ShareOptions::default().systems;
    let options = match parts.numbers("SHAREOPTIONS")?.as_deref() {
        None => return Ok(None),
        Some([regions]) => share(regions).map(|regions| (regions, usual)),
        Some([regions, systems]) => share(regions).zip(share(systems)),
        Some(_) => None,
    };
    let Some((regions, systems)) = options else {
        return Err(parts.wrong("SHAREOPTIONS", "a number from 1 to 4 is needed, then 3 or 4"));
    };
    Ok(Some(ShareOptions { regions, systems }))
}

/// What is only kept and shown.
fn remarks(parts: &Parts<'_>, old: Remarks, now_us: u64) -> Result<Remarks, Refusal> {
    let mut made = old;
    if let Some(list) = parts.get("VOLUMES") {
        made.volumes = list.values("VOLUMES").iter().map(Value::name).collect();
    }
    let units = [
        ("RECORDS", SpaceUnit::Records),
        ("TRACKS", SpaceUnit::Tracks),
        ("CYLINDERS", SpaceUnit::Cylinders),
        ("KILOBYTES", SpaceUnit::Kilobytes),
        ("MEGABYTES", SpaceUnit::Megabytes),
    ];
    for (name, unit) in units {
        if let Some([primary, rest @ ..]) = parts.numbers(name)?.as_deref() {
            let secondary = rest.first().copied().unwrap_or_default();
            made.space = Some(Space { unit, primary: *primary, secondary });
            break;
        }
    }
    if let Some(owner) = parts.value("OWNER") {
        made.owner = Some(owner.name());
    }
    if let Some(day) = expiry_of(parts.own, now_us)? {
        made.expires = Some(day);
    }
    Ok(made)
}
