//! Programs as files: sources that are compiled into a cache, and shared objects.
//!
//! | file | is | entered at |
//! |---|---|---|
//! | may be executed, and begins with `#!` or is an ELF executable | an executable | its beginning |
//! | begins with X'7F' `ELF` | a shared object | `DLITCBL`, the file's name, or `main` |
//! | ends with `.c` | a C source | `DLITCBL`, the file's name, or `main` |
//! | anything else | a COBOL source | PROGRAM-ID if that has USING, else `DLITCBL` if it is there |
//!
//! Invariants:
//! 1. What was compiled is used again only if source, copied members, compiler with its flags,
//!    configuration and options are the same, byte for byte, and what they became is still as it
//!    was.
//! 2. A compilation that was cut short leaves nothing that a later one could take for a program.

mod c;
mod cards;
mod cobol;
mod compiled_files;
mod compiler;
mod copies;
mod elf;
mod facts;
mod foreign;
mod library;
mod messages;
mod program_cache;
mod statuses;
mod storage;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use seam::disk::{Disk, read_small};

pub use self::compiled_files::{Cleared, clear};
pub use self::facts::{CobolFile, EntryPoint, Facts, FileForm};
pub use self::library::Library;
pub use self::program_cache::{Found, ProgramCache};
use crate::error::RegionError;
use crate::masks::Order;

/// The longest source, and the longest member.
const SOURCE_BYTES_MAX: usize = 64 << 20;

/// What is loaded, in the folder of a compiled program.
const OBJECT: &str = "program.so";
/// What is known of a COBOL program, beside it.
const FACTS: &str = "facts";

/// What a program is written in, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// COBOL, compiled here.
    Cobol,
    /// C, compiled here.
    C,
    /// Unknown: a shared object.
    Object,
    /// Unknown: an executable of its own, which calls through `libholdfast`.
    Executable,
}

/// A program that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    source: PathBuf,
    object: PathBuf,
    language: Language,
    facts: Facts,
    fresh: bool,
    warnings: String,
}

impl Prepared {
    /// The file that was given.
    #[must_use]
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// The shared object that is loaded.
    #[must_use]
    pub fn object(&self) -> &Path {
        &self.object
    }

    /// The name of what it was compiled to, for [`Workshop::prepared_as`].
    #[must_use]
    pub fn kept_as(&self) -> Option<&str> {
        let folder = self.object.parent().filter(|_| self.is_compiled());
        folder?.file_name()?.to_str()
    }

    fn is_compiled(&self) -> bool {
        matches!(self.language, Language::Cobol | Language::C)
    }

    /// What it is written in.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// The files of a COBOL program, by the names that it assigns them to.
    #[must_use]
    pub fn files(&self) -> &[CobolFile] {
        &self.facts.files
    }

    /// Whether it may call for databases or messages by itself. Of other languages than COBOL
    /// nobody knows.
    #[must_use]
    pub fn makes_calls(&self) -> bool {
        self.language != Language::Cobol || self.facts.makes_calls()
    }

    /// Whether it was compiled just now.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// What the compiler remarked, if it was compiled just now.
    #[must_use]
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// The order of bytes in PCBs that its language has: COMP is big-endian, C is not.
    #[must_use]
    pub fn usual_order(&self) -> Order {
        match self.language {
            Language::Cobol | Language::Object => Order::Big,
            Language::C | Language::Executable => Order::Native,
        }
    }

    /// The COBOL programs in it, by name.
    #[must_use]
    pub fn programs(&self) -> Vec<String> {
        self.facts.entries.iter().map(|entry| entry.name.clone()).collect()
    }

    /// The names at which it may be entered, the preferred one first.
    #[must_use]
    pub fn entries(&self, wanted: Option<&str>) -> Vec<String> {
        if let Some(wanted) = wanted {
            return vec![wanted.to_owned()];
        }
        if self.language == Language::Cobol {
            return self.facts.entries();
        }
        let stem = self.source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut names: Vec<String> = Vec::new();
        for name in [DLITCBL.to_owned(), stem.to_ascii_uppercase(), stem, "main".to_owned()] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// The entry of programs whose PROCEDURE DIVISION takes no parameters.
pub(crate) const DLITCBL: &str = "DLITCBL";

/// The name under which the compiler sees a COBOL source. A translation may name it in what it
/// writes; in messages it becomes the name that the source really has.
pub const COMPILED_NAME: &str = "program.cbl";

/// A source that was translated before the compiler sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translated {
    /// The text for the compiler, with the lines of the original in their places.
    pub text: Vec<u8>,
    /// Members that go with it, by name, and are found before those of the copy folders.
    pub members: Vec<(String, Vec<u8>)>,
    /// What DISPLAY is to know (`display.h`).
    pub display: Vec<&'static str>,
    /// Further options of the compiler that the source asks for.
    pub options: Vec<&'static str>,
    /// What there is to say about it.
    pub warnings: String,
}

/// Why a source cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untranslated {
    /// It has mistakes: for people, with the lines shown.
    Wrong(String),
    /// It is for a system that is not here.
    Elsewhere {
        /// Which system.
        system: String,
        /// What tells it.
        text: String,
    },
}

/// Who prepares COBOL sources for the compiler.
pub trait Translate {
    /// Translates a source. `member` finds what it copies.
    ///
    /// # Errors
    /// Why it cannot be.
    fn translate(
        &self,
        file: &Path,
        source: &[u8],
        member: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Translated, Untranslated>;

    /// The compiler configuration for a program of these texts, its source and its members.
    fn configuration(&self, texts: &[&[u8]]) -> String;
}

/// Where and how programs are compiled.
pub struct Workshop<'a> {
    /// The disk.
    pub disk: &'a dyn Disk,
    /// The folder of what has been compiled.
    pub cache: PathBuf,
    /// Where members and headers are looked for, in this order, and at last beside the source.
    pub copy_folders: Vec<PathBuf>,
    /// Who prepares COBOL sources.
    pub translate: &'a dyn Translate,
    /// Further options for the compiler.
    pub options: Vec<String>,
}

impl Workshop<'_> {
    /// Makes a file ready to run.
    ///
    /// # Errors
    /// If it is missing, or does not compile.
    pub fn prepare(&self, path: &Path) -> Result<Prepared, RegionError> {
        if !self.disk.exists(path).map_err(RegionError::file(path))? {
            return Err(RegionError::NoProgram(path.to_owned()));
        }
        let path = std::path::absolute(path).map_err(RegionError::file(path))?;
        let source = self.read(&path)?;
        let is_own = elf::is_executable(&path, &source);
        if is_own || source.starts_with(elf::MAGIC) {
            return Ok(Prepared {
                source: path.clone(),
                object: path,
                language: if is_own { Language::Executable } else { Language::Object },
                facts: Facts::default(),
                fresh: false,
                warnings: String::new(),
            });
        }
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("c")) {
            return self.prepare_c(&path);
        }
        let source = cards::lines_of(source);
        if let Some(language) = foreign::language(&path, &source) {
            return Err(RegionError::Foreign { path, language });
        }
        self.prepare_cobol(&path, &source)
    }

    /// What a source was compiled to a moment ago ([`Prepared::kept_as`]), if that is still there
    /// as it was.
    #[must_use]
    pub fn prepared_as(&self, path: &Path, name: &str) -> Option<Prepared> {
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let folder = self.cache.join(name);
        let is_c = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("c"));
        let (language, files) = match is_c {
            true => (Language::C, &[OBJECT][..]),
            false => (Language::Cobol, &[OBJECT, FACTS][..]),
        };
        if !is_name || !self.is_sound(&folder, files) {
            return None;
        }
        let facts = match language {
            Language::Cobol => {
                let facts = self.read(&folder.join(FACTS)).ok()?;
                Facts::from_text(&String::from_utf8_lossy(&facts))
            }
            _ => Facts::default(),
        };
        let (source, object) = (path.to_owned(), folder.join(OBJECT));
        let warnings = String::new();
        Some(Prepared { source, object, language, facts, fresh: false, warnings })
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, RegionError> {
        read_small(self.disk, path, SOURCE_BYTES_MAX).map_err(RegionError::file(path))
    }

    /// The copy folders, and the source's own at last.
    fn folders(&self, source: &Path) -> Vec<PathBuf> {
        let own = source.parent().map(Path::to_owned);
        let given = self.copy_folders.iter();
        let given = given.map(|folder| std::path::absolute(folder).unwrap_or(folder.clone()));
        given.chain(own).collect()
    }

    /// Runs a compiler.
    fn run(&self, command: &mut Command, source: &Path) -> Result<Output, RegionError> {
        command.output().map_err(|error| RegionError::NoCompiler {
            compiler: command.get_program().to_string_lossy().into_owned(),
            path: source.to_owned(),
            text: error.to_string(),
        })
    }
}

/// The name of what has been compiled: a digest of all that it depends on.
#[derive(Default)]
struct Digest(Vec<u8>);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    fn name(&self) -> String {
        format!("{:032x}", twox_hash::XxHash3_128::oneshot(&self.0))
    }
}
