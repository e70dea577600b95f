//! A program's library: the programs that it calls, found as sources and compiled like itself.
//!
//! | called | found in |
//! |---|---|
//! | by a literal | the folders of STEPLIB, then that of the program |
//! | by the name in a data item | the same, if a literal of the caller is that name; STEPLIB else |
//!
//! What is found goes into one folder, as shared objects under the names by which they are called:
//! libcob looks there first. Shared objects that STEPLIB holds already are left to it.
//!
//! Invariants:
//! 1. A source that a literal calls has to compile; of the others those that do not are named and
//!    left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{CobolFile, Digest, Prepared, Workshop};
use crate::error::RegionError;

const EXTENSIONS: [&str; 3] = ["CBL", "COB", "C"];

/// What a program calls, ready to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    /// The folder of the shared objects, if there are any.
    pub folder: Option<PathBuf>,
    /// The programs in it, by the names under which they are called.
    pub programs: Vec<String>,
    /// The files of the programs that it calls, as far as names tell.
    pub files: Vec<CobolFile>,
    /// The files of the others in STEPLIB, which it calls only if a name comes from elsewhere.
    pub other_files: Vec<CobolFile>,
    /// Whether a program in it may call for databases or messages, or it is not known.
    pub makes_calls: bool,
    /// What there is to say about sources that were left out.
    pub warnings: Vec<String>,
}

/// A name to be found.
struct Wanted {
    name: String,
    why: Why,
}

/// Why a program may be wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It is in STEPLIB.
    Listed,
    /// A literal that a called data item may hold is its name.
    Named,
    /// A literal calls it.
    Called,
}

/// What a program calls or may call; what it does for certain comes last.
fn called_by(program: &Prepared) -> impl Iterator<Item = Wanted> {
    let wanted = |why| move |name: &String| Wanted { name: name.clone(), why };
    let facts = &program.facts;
    facts.names.iter().map(wanted(Why::Named)).chain(facts.calls.iter().map(wanted(Why::Called)))
}

impl Workshop<'_> {
    /// Makes ready what `program` calls. `steplib` are folders; one that is missing holds nothing.
    ///
    /// # Errors
    /// If a source that is called by a literal does not compile.
    pub fn library(&self, program: &Prepared, steplib: &[PathBuf]) -> Result<Library, RegionError> {
        self.gather(Some(program), steplib)
    }

    /// Makes all programs of some folders ready to be called by each other: one library for all of
    /// them. Those that do not compile are named and left out.
    ///
    /// # Errors
    /// If what was compiled cannot be kept.
    pub fn shared_library(&self, folders: &[PathBuf]) -> Result<Library, RegionError> {
        self.gather(None, folders)
    }

    fn gather(
        &self,
        program: Option<&Prepared>,
        steplib: &[PathBuf],
    ) -> Result<Library, RegionError> {
        let listed = self.sources_in(steplib.iter().map(PathBuf::as_path));
        let beside = self.sources_in(program.and_then(|program| program.source.parent()));
        let mut wanted: Vec<Wanted> =
            listed.keys().map(|name| Wanted { name: name.clone(), why: Why::Listed }).collect();
        wanted.extend(program.into_iter().flat_map(called_by));
        let is_its_own = |source: &Path| program.is_some_and(|program| program.source == source);
        let mut library = Library::default();
        let mut objects: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut is_called = true;
        // Whether what is merely there may be called, by a name that comes from elsewhere.
        let mut calls_items = program.is_none_or(|program| !program.facts.names.is_empty());
        // The last one is next: what a literal calls is found before the others are tried, and all
        // that the program calls before what is merely there.
        while let Some(Wanted { name, why }) = wanted.pop() {
            is_called &= why != Why::Listed;
            let key = name.to_ascii_uppercase();
            let Some(source) = listed.get(&key).or_else(|| beside.get(&key)) else { continue };
            let is_object = |folder: &PathBuf| {
                self.disk.exists(&folder.join(format!("{name}.so"))).unwrap_or(false)
            };
            library.makes_calls |= is_called && steplib.iter().any(is_object);
            if is_its_own(source) || steplib.iter().any(is_object) || !seen.insert(key) {
                continue;
            }
            let prepared = match self.prepare(source) {
                Ok(prepared) => prepared,
                Err(error) if why == Why::Called && program.is_some() => return Err(error),
                Err(error) => {
                    let source = source.display();
                    library.warnings.push(format!("{source} is left out: {error}"));
                    continue;
                }
            };
            calls_items |= is_called && !prepared.facts.names.is_empty();
            library.makes_calls |= (is_called || calls_items) && prepared.makes_calls();
            wanted.extend(called_by(&prepared));
            let entries = prepared.facts.entries.iter().map(|entry| entry.name.clone());
            for name in entries.chain([name.to_ascii_uppercase(), name]) {
                objects.entry(name).or_insert_with(|| prepared.object.clone());
            }
            let files = if is_called { &mut library.files } else { &mut library.other_files };
            files.extend(prepared.facts.files);
        }
        library.programs = objects.keys().cloned().collect();
        library.folder = self.shelve(&objects)?;
        Ok(library)
    }

    /// The sources in folders, by their names in upper case without extension; the first wins.
    fn sources_in<'p>(
        &self,
        folders: impl IntoIterator<Item = &'p Path>,
    ) -> BTreeMap<String, PathBuf> {
        let mut found = BTreeMap::new();
        for folder in folders {
            for file in self.disk.list(folder).unwrap_or_default() {
                let upper = file.to_string_lossy().to_ascii_uppercase();
                if let Some((name, extension)) = upper.rsplit_once('.')
                    && EXTENSIONS.contains(&extension)
                {
                    found.entry(name.to_owned()).or_insert_with(|| folder.join(&file));
                }
            }
        }
        found
    }

    /// Puts shared objects into one folder under their names.
    fn shelve(&self, objects: &BTreeMap<String, PathBuf>) -> Result<Option<PathBuf>, RegionError> {
        if objects.is_empty() {
            return Ok(None);
        }
        let mut digest = Digest::default();
        let mut files = BTreeMap::new();
        for (name, object) in objects {
            let bytes = self.read(object)?;
            digest.add(name.as_bytes());
            digest.add(&bytes);
            files.insert(format!("{name}.so"), bytes);
        }
        let published = self.cache.join(format!("lib-{}", digest.name()));
        let names: Vec<String> = files.keys().cloned().collect();
        if !self.is_sound(&published, &names) {
            let folder = self.begin(&published)?;
            for (name, bytes) in &files {
                self.write(&folder.join(name), bytes)?;
            }
            self.publish(&folder, &published, &names)?;
        }
        Ok(Some(published))
    }
}
