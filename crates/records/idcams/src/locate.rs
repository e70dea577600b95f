//! What a DD name or the name of a data set stands for: an entry of the catalog, or a file.
//!
//! Invariants:
//! 1. A name that is in the catalog is that entry, whatever files there are.

use std::path::{Path, PathBuf};

use store::Store;
use vsam::{Catalog, ClusterAttributes, DataSetName, Definition, Entry, Organization};

use crate::fault::Place;
use crate::form::Form;
use crate::names::{entry_in, resolved};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::syntax::{Parameters, Text, Value};

/// What was found.
#[derive(Clone, Debug)]
pub(crate) enum Located {
    /// A cluster, an alternate index or a path.
    Entry(Box<Entry>),
    /// A file of the machine.
    File { path: PathBuf, form: Option<Form> },
}

impl Located {
    /// Its name, for people.
    pub(crate) fn name(&self) -> String {
        match self {
            Located::Entry(entry) => entry.name.to_string(),
            Located::File { path, .. } => path.display().to_string(),
        }
    }

    /// The attributes of the cluster whose records it gives.
    pub(crate) fn cluster<S: Store>(
        &self,
        catalog: &Catalog<S>,
    ) -> Result<Option<ClusterAttributes>, Refusal> {
        let Located::Entry(entry) = self else { return Ok(None) };
        let mut entry = Entry::clone(entry);
        // A path, its index, the base.
        for _ in 0..4 {
            let next = match entry.definition {
                Definition::Cluster(attributes) => return Ok(Some(attributes)),
                Definition::AlternateIndex(index) => index.base,
                Definition::Path(path) => path.entry,
                _ => return Ok(None),
            };
            entry = entry_in(catalog, None, &next)?;
        }
        Ok(None)
    }
}

/// The form that fits the records of a cluster.
pub(crate) fn usual_form(cluster: Option<&ClusterAttributes>) -> Option<Form> {
    let cluster = cluster?;
    let has_slots = cluster.organization == Organization::VariableRelative;
    Some(match cluster.average_bytes == cluster.record_bytes_max && !has_slots {
        true => Form::Fixed(cluster.record_bytes_max),
        false => Form::Variable,
    })
}

impl<S: Store> Session<'_, S> {
    /// What `file(dd)` or `data_set(name)` stands for.
    pub(crate) fn locate(
        &mut self,
        parameters: &Parameters,
        file: &str,
        data_set: &str,
    ) -> Result<Located, Refusal> {
        if let Some(value) = parameters.value(data_set) {
            return self.data_set(value);
        }
        let Some(given) = parameters.get(file) else {
            return Err(Refusal::severe("IDC3213I", format!("{file} or {data_set} is missing")));
        };
        let sub = given.rows.first();
        let value = given.values.first().or_else(|| sub?.positional.first());
        let Some(value) = value else {
            return Err(Refusal::severe("IDC3213I", format!("{file} needs a DD name")));
        };
        let form = sub.and_then(|sub| sub.sub("ENVIRONMENT")).map(form_of).transpose()?.flatten();
        self.dd(value, form)
    }

    /// What a name of a data set stands for; in apostrophes, with `/`, it is a file.
    pub(crate) fn data_set(&mut self, value: &Value) -> Result<Located, Refusal> {
        if let Text::Quoted(text) = &value.text
            && text.contains('/')
        {
            return Ok(Located::File { path: PathBuf::from(text), form: None });
        }
        let name = resolved(&self.catalog, value)?;
        let entry = entry_in(&self.catalog, None, &name)?;
        self.of_entry(entry, None)
    }

    /// What a DD name stands for.
    pub(crate) fn dd(&mut self, value: &Value, form: Option<Form>) -> Result<Located, Refusal> {
        let name = value.name();
        let Some(dd) = self.dds.iter().find(|dd| dd.name == name).cloned() else {
            let text = format!("ERROR OPENING {name}: there is no --dd {name}=");
            return Err(Refusal::severe("IDC3300I", text));
        };
        if let Some(text) = dd.data_set()
            && let Some(entry) = self.of_name(text)?
        {
            return self.of_entry(entry, form);
        }
        Ok(Located::File { path: dd.target, form: form.or(dd.form) })
    }

    /// The entry that a text names, if it is a name of a data set.
    fn of_name(&mut self, text: &str) -> Result<Option<Entry>, Refusal> {
        let name = if text.contains('(') {
            let value = Value { text: Text::Word(text.to_owned()), place: Place::default() };
            resolved(&self.catalog, &value)?
        } else {
            let Ok(name) = DataSetName::parse(text) else { return Ok(None) };
            name
        };
        if let Some(entry) = self.catalog.get(&name)? {
            return Ok(Some(entry));
        }
        // A slip in a name would make a file of it.
        let looks_like_one = text.chars().all(|letter| !letter.is_ascii_lowercase());
        if looks_like_one && !self.machine.exists(Path::new(text)) {
            let text = format!("ENTRY {name} NOT FOUND; if a new file is meant, write ./{text}");
            return Err(Refusal::severe("IDC3012I", text));
        }
        Ok(None)
    }

    fn of_entry(&self, entry: Entry, form: Option<Form>) -> Result<Located, Refusal> {
        let name = &entry.name;
        match &entry.definition {
            Definition::Cluster(_) | Definition::AlternateIndex(_) | Definition::Path(_) => {
                Ok(Located::Entry(Box::new(entry)))
            }
            Definition::Component(of) => {
                let of = entry_in(&self.catalog, None, of)?;
                Ok(Located::Entry(Box::new(of)))
            }
            Definition::NonVsam(attributes) => match &attributes.file {
                Some(file) => Ok(Located::File { path: PathBuf::from(file), form }),
                None => {
                    let text = format!(
                        "ERROR OPENING {name}: its entry names no file; define it with PATHNAME"
                    );
                    Err(Refusal::severe("IDC3300I", text))
                }
            },
            _ => {
                let kind = entry.kind();
                let text = format!("ERROR OPENING {name}: a {kind} has no records");
                Err(Refusal::severe("IDC3300I", text))
            }
        }
    }
}

/// The form that ENVIRONMENT says.
fn form_of(environment: &Parameters) -> Result<Option<Form>, Refusal> {
    let size = environment.numbers("RECORDSIZE")?.last().copied();
    let block = environment.small("BLOCKSIZE")?;
    let Some(value) = environment.value("RECORDFORMAT") else {
        return Ok(size.map(Form::Fixed));
    };
    let name = value.name();
    let fixed = |bytes: Option<u32>| match bytes.filter(|bytes| *bytes > 0) {
        Some(bytes) => Ok(Some(Form::Fixed(bytes))),
        None => Err(Refusal::severe("IDC3213I", format!("{name} needs RECORDSIZE"))),
    };
    match name.as_str() {
        "F" | "FIXUNB" => fixed(size.or(block)),
        "FB" | "FIXBLK" => fixed(size),
        "V" | "VB" | "VARUNB" | "VARBLK" | "SPNUNB" | "SPNBLK" => Ok(Some(Form::Variable)),
        "TEXT" => Ok(Some(Form::Lines)),
        _ => Err(Refusal::severe("IDC3203I", format!("RECORDFORMAT({name}) is not possible"))),
    }
}
