//! Record maps of clusters for operators: what the fields of their records are, as the catalog
//! keeps it.
//!
//! Invariants:
//! 1. What is kept describes a record that the cluster can have.

use codec::CodePage;
use copybook::{Copybook, Fields, ValueKind};
use serde::{Deserialize, Serialize};
use store_any::AnyStore;
use system::System;
use vsam::{Catalog, DataSetName, Definition, Entry, Filter};

use crate::clusters::catalog_of;
use crate::{OperationsError, Result};

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum RecordMapRequest {
    /// Keeps a record description.
    Define {
        /// The cluster.
        file: String,
        /// The description, in COBOL.
        text: String,
    },
    /// Lists the clusters that have one.
    List {},
    /// Shows one, and its fields.
    Show {
        /// The cluster.
        file: String,
    },
    /// Forgets one.
    Drop {
        /// The cluster.
        file: String,
    },
}

/// A record map.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordMap {
    /// The cluster.
    pub file: String,
    /// Its fields; of a list none.
    pub fields: Vec<FieldRow>,
    /// Bytes of the record that it describes, at most.
    pub bytes: usize,
    /// The description; of a list none.
    pub text: Option<String>,
}

/// A field of a record map.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FieldRow {
    /// Its name.
    pub name: String,
    /// Its place, from 0.
    pub offset: usize,
    /// Its bytes.
    pub bytes: usize,
    /// What it holds.
    pub value: String,
}

fn refused(file: &str, what: impl Into<String>) -> OperationsError {
    OperationsError::RecordMap { name: file.to_owned(), what: what.into() }
}

/// Does what is asked; answers the maps that it is about.
///
/// # Errors
/// If there is no such cluster, it has no map, or the description does not go with it.
pub fn perform(system: &System, asked: &RecordMapRequest) -> Result<Vec<RecordMap>> {
    let catalog = catalog_of(system)?;
    match asked {
        RecordMapRequest::Define { file, text } => {
            let entry = cluster(&catalog, file)?;
            let map = described(file, text, true)?;
            let most = entry.cluster().map_or(0, |cluster| cluster.record_bytes_max as usize);
            if map.bytes > most {
                let what = format!("it has {} bytes, the longest record {most}", map.bytes);
                return Err(refused(file, what));
            }
            change(&catalog, &entry, Some(text))?;
            Ok(vec![map])
        }
        RecordMapRequest::List {} => {
            let mut maps = Vec::new();
            for entry in catalog.list(&Filter::all(), None)? {
                let text = entry.cluster().and_then(|cluster| cluster.record_map.as_ref());
                if let Some(text) = text {
                    let map = described(entry.name.as_str(), text, false);
                    maps.push(map.unwrap_or_else(|_| RecordMap {
                        file: entry.name.to_string(),
                        fields: Vec::new(),
                        bytes: 0,
                        text: None,
                    }));
                }
            }
            Ok(maps)
        }
        RecordMapRequest::Show { file } => {
            let entry = cluster(&catalog, file)?;
            let text = entry.cluster().and_then(|cluster| cluster.record_map.as_ref());
            let text = text.ok_or_else(|| refused(file, "it has no record map"))?;
            Ok(vec![described(file, text, true)?])
        }
        RecordMapRequest::Drop { file } => {
            let entry = cluster(&catalog, file)?;
            if entry.cluster().is_none_or(|cluster| cluster.record_map.is_none()) {
                return Err(refused(file, "it has no record map"));
            }
            change(&catalog, &entry, None)?;
            Ok(Vec::new())
        }
    }
}

fn cluster(catalog: &Catalog<AnyStore>, file: &str) -> Result<Entry> {
    let name = DataSetName::parse(file).map_err(vsam::CatalogError::from)?;
    let entry = catalog.get(&name)?.ok_or(vsam::CatalogError::NotFound(name))?;
    match entry.definition {
        Definition::Cluster(_) => Ok(entry),
        _ => Err(refused(file, "it is no cluster")),
    }
}

fn change(catalog: &Catalog<AnyStore>, entry: &Entry, text: Option<&String>) -> Result<()> {
    catalog.alter(&entry.name, &mut |definition| {
        if let Definition::Cluster(cluster) = definition {
            cluster.record_map = text.cloned();
        }
    })?;
    Ok(())
}

fn described(file: &str, text: &str, whole: bool) -> Result<RecordMap> {
    let wrong = |error: copybook::CopybookError| refused(file, error.to_string());
    let book = Copybook::parse("RECORDMAP", text.as_bytes(), &|_| None).map_err(wrong)?;
    let record = book.records.first().ok_or_else(|| refused(file, "it describes no record"))?;
    let fields = Fields::of(record, CodePage::Ascii).map_err(wrong)?;
    let row = |field: &copybook::Field| FieldRow {
        name: field.name.clone(),
        offset: field.offset,
        bytes: field.bytes,
        value: match field.value {
            ValueKind::Text => "text".into(),
            ValueKind::Decimal { digits, scale: 0 } => format!("number of {digits} digits"),
            ValueKind::Decimal { digits, scale } => {
                format!("number of {digits} digits, {scale} behind the point")
            }
            ValueKind::Single | ValueKind::Double => "floating point".into(),
            ValueKind::Bytes => "bytes".into(),
        },
    };
    let rows = if whole { fields.all().iter().map(row).collect() } else { Vec::new() };
    Ok(RecordMap {
        file: file.to_ascii_uppercase(),
        fields: rows,
        bytes: fields.bytes_max(),
        text: whole.then(|| text.to_owned()),
    })
}
