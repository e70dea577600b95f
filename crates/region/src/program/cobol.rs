//! COBOL sources become shared objects: translated, compiled by `cobc`, kept.
//!
//! | file in a cache folder | what |
//! |---|---|
//! | `program.so` | what is loaded |
//! | `facts` | entries and files |
//! | `holdfast.conf`, `copy/` | what the compiler was given |
//!
//! The compiler makes C names of its files' names, and does not like all of them; so it sees every
//! source under one name.
//!
//! Invariants:
//! 1. Messages name the user's files and show the user's lines.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use super::copies::{Copied, Folders, file_names};
use super::facts::Facts;
use super::messages::{Shown, for_people};
use super::{COMPILED_NAME, Digest, Language, Prepared, Translated, Workshop};
use crate::error::RegionError;

const COMPILER: &str = "cobc";
const OBJECT: &str = "program.so";
const FACTS: &str = "facts";
/// What is kept in that file: changes with it, so that what was compiled before is not believed.
const FACTS_KEPT: &[u8] = b"entries files with forms calls names, in upper case";
const CONFIGURATION: &str = "holdfast.conf";
const COPIES: &str = "copy";
const TRANSLATION: &str = "program.c";

fn has_word(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

/// A source on its way through the compiler.
struct Compilation<'a> {
    path: &'a Path,
    original: &'a [u8],
    translated: Translated,
    members: BTreeMap<String, Copied>,
}

impl Workshop<'_> {
    pub(super) fn prepare_cobol(
        &self,
        path: &Path,
        original: &[u8],
    ) -> Result<Prepared, RegionError> {
        let folders = Folders::open(self.disk, &self.folders(path))?;
        let member = |name: &str| folders.member(self.disk, name).map(|copied| copied.text);
        let translated = self.translate.translate(path, original, &member);
        let translated = translated.map_err(|messages| RegionError::Source {
            path: path.to_owned(),
            messages: messages.replace(COMPILED_NAME, &path.to_string_lossy()),
        })?;
        let mut texts = vec![&translated.text[..]];
        texts.extend(translated.members.iter().map(|(_, text)| &text[..]));
        let members = folders.copied_by(self.disk, &texts);
        let all = texts.iter().copied().chain(members.values().map(|copied| &copied.text[..]));
        if !all.map(<[u8]>::to_ascii_uppercase).any(|text| has_word(&text, b"PROGRAM-ID")) {
            // The compiler would make up a program that does nothing.
            let messages = "it has no PROGRAM-ID: it is no COBOL program".to_owned();
            return Err(RegionError::Source { path: path.to_owned(), messages });
        }
        let work = Compilation { path, original, translated, members };
        let folder = self.cache.join(self.digest(&work)?);
        let done = self.disk.exists(&folder.join(FACTS)).map_err(RegionError::file(&folder))?;
        let warnings = if done { String::new() } else { self.compile(&work, &folder)? };
        let facts = self.read(&folder.join(FACTS))?;
        Ok(Prepared {
            source: path.to_owned(),
            object: folder.join(OBJECT),
            language: Language::Cobol,
            facts: Facts::from_text(&String::from_utf8_lossy(&facts)),
            fresh: !done,
            warnings,
        })
    }

    fn configuration(&self, work: &Compilation<'_>) -> String {
        let members = work.members.values().map(|copied| &copied.text[..]);
        let texts: Vec<&[u8]> = std::iter::once(work.original).chain(members).collect();
        self.translate.configuration(&texts)
    }

    fn digest(&self, work: &Compilation<'_>) -> Result<String, RegionError> {
        let version = self.run(seam::process::command(COMPILER).arg("--version"), work.path)?;
        let mut digest = Digest::default();
        digest.add(FACTS_KEPT);
        digest.add(&version.stdout);
        digest.add(self.configuration(work).as_bytes());
        self.options.iter().for_each(|option| digest.add(option.as_bytes()));
        digest.add(&work.translated.text);
        for (name, text) in &work.translated.members {
            digest.add(name.as_bytes());
            digest.add(text);
        }
        for (name, copied) in &work.members {
            digest.add(name.as_bytes());
            digest.add(&copied.text);
        }
        Ok(digest.name())
    }

    /// Compiles into a folder that appears only when it is complete; gives back the warnings.
    fn compile(&self, work: &Compilation<'_>, object_folder: &Path) -> Result<String, RegionError> {
        let folder = self.begin(object_folder)?;
        let compiled = self.compile_in(&folder, work);
        match &compiled {
            Ok(_) => self.publish(&folder, object_folder)?,
            Err(_) => self.discard(&folder),
        }
        compiled
    }

    fn compile_in(&self, folder: &Path, work: &Compilation<'_>) -> Result<String, RegionError> {
        self.write(&folder.join(CONFIGURATION), self.configuration(work).as_bytes())?;
        self.write(&folder.join(COMPILED_NAME), &work.translated.text)?;
        let copies = folder.join(COPIES);
        self.disk.create_dir(&copies).map_err(RegionError::file(&copies))?;
        for (name, copied) in &work.members {
            self.lay_out(&copies, name, &copied.text)?;
        }
        for (name, text) in &work.translated.members {
            self.lay_out(&copies, &name.to_ascii_uppercase(), text)?;
        }
        let mut translate = self.compiler(folder);
        translate.args(["-C", "-ffold-copy=UPPER", "-ffold-call=UPPER"]);
        translate.args(["-I", COPIES, "-o", TRANSLATION]);
        translate.arg(format!("-conf=./{CONFIGURATION}")).args(&self.options);
        let warnings = self.checked(translate.arg(COMPILED_NAME), work)?;
        let c_source = self.read(&folder.join(TRANSLATION))?;
        let storage = self.read(&folder.join(format!("{TRANSLATION}.h")))?;
        let facts = Facts::of_translation(
            &String::from_utf8_lossy(&c_source),
            &String::from_utf8_lossy(&storage),
        );
        let mut build = self.compiler(folder);
        self.checked(build.args(["-m", "-o", OBJECT, TRANSLATION]), work)?;
        self.write(&folder.join(FACTS), facts.to_text().as_bytes())?;
        Ok(warnings)
    }

    fn lay_out(&self, copies: &Path, member: &str, text: &[u8]) -> Result<(), RegionError> {
        file_names(member).iter().try_for_each(|name| self.write(&copies.join(name), text))
    }

    fn compiler(&self, folder: &Path) -> Command {
        let mut command = seam::process::command(COMPILER);
        command.current_dir(folder);
        command
    }

    fn checked(
        &self,
        command: &mut Command,
        work: &Compilation<'_>,
    ) -> Result<String, RegionError> {
        let output = self.run(command, work.path)?;
        let messages = self.messages(&output, work);
        if output.status.success() {
            return Ok(messages);
        }
        Err(RegionError::Source { path: work.path.to_owned(), messages })
    }

    fn messages(&self, output: &Output, work: &Compilation<'_>) -> String {
        let said = String::from_utf8_lossy(&output.stderr);
        let laid_out: Vec<(String, &Copied)> = work
            .members
            .iter()
            .flat_map(|(name, copied)| file_names(name).map(|file| (file, copied)))
            .collect();
        let own = Shown { compiled: COMPILED_NAME, original: work.path, text: work.original };
        let copied = laid_out.iter().map(|(file, copied)| Shown {
            compiled: file,
            original: &copied.path,
            text: &copied.text,
        });
        for_people(&said, &std::iter::once(own).chain(copied).collect::<Vec<_>>())
    }
}
