//! COBOL sources become shared objects: translated, compiled by `cobc`, kept.
//!
//! | file in a cache folder | what |
//! |---|---|
//! | `program.so` | what is loaded |
//! | `facts` | entries and files |
//! | `digest` | what of these two is believed |
//! | `holdfast.conf`, `copy/`, `display.h` | what the compiler was given |
//!
//! The compiler makes C names of its files' names, and does not like all of them; so it sees every
//! source under one name.
//!
//! Invariants:
//! 1. Messages name the user's files and show the user's lines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use super::copies::{Copied, Folders, file_names};
use super::facts::Facts;
use super::foreign::translated_for;
use super::messages::{Shown, for_people};
use super::statuses::with_statuses;
use super::storage::{KEEPS_ORDER, placed};
use super::{
    COMPILED_NAME, Digest, FACTS, Language, OBJECT, Prepared, Translated, Untranslated, Workshop,
};
use crate::error::RegionError;

const COMPILER: &str = "cobc";
/// What is kept in that file: changes with it, so that what was compiled before is not believed.
const FACTS_KEPT: &[u8] = b"entries files with forms calls names, in upper case";
const CONFIGURATION: &str = "holdfast.conf";
const COPIES: &str = "copy";
const TRANSLATION: &str = "program.c";
/// Is put behind the run time's declarations in the C source, which depend on what stands in front
/// of them.
const HEADER: &str = "display.h";
const RUNTIME: &str = "#include <libcob.h>\n";
const DISPLAY: &str = include_str!("display.h");
const NUMBERS: &str = include_str!("numbers.h");
const FILES: &str = include_str!("files.h");
/// Has files handled here (`files.h`).
const HANDLES_FILES: &str = "-fcallfh=HOLDFASTFH";
/// Asks of each number whether it is one before it is used (`numbers.h`).
const CHECKS_NUMBERS: &str = "-fec=EC-DATA-INCOMPATIBLE";

/// A text with an end to its last line, which the compiler would remark upon at every step.
fn ended(text: &[u8]) -> Cow<'_, [u8]> {
    match text.last() {
        None | Some(b'\n') => Cow::Borrowed(text),
        Some(_) => Cow::Owned([text, b"\n"].concat()),
    }
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

/// What DISPLAY is to be, what becomes of numbers that are none, and who handles files.
fn header(work: &Compilation<'_>) -> String {
    let defined = work.translated.display.iter().map(|name| format!("#define {name}\n"));
    defined.chain([DISPLAY, NUMBERS, FILES].map(str::to_owned)).collect()
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
        let translated = translated.map_err(|error| match error {
            Untranslated::Wrong(messages) => RegionError::Source {
                path: path.to_owned(),
                messages: messages.replace(COMPILED_NAME, &path.to_string_lossy()),
            },
            Untranslated::Elsewhere { system, text } => {
                RegionError::Elsewhere { path: path.to_owned(), system, text }
            }
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
        let done = self.is_sound(&folder, &[OBJECT, FACTS]);
        let warnings = if done { String::new() } else { self.compile(&work, &folder)? };
        let facts = self.read(&folder.join(FACTS))?;
        let facts = Facts::from_text(&String::from_utf8_lossy(&facts));
        if let Some((module, system)) = translated_for(&facts.calls) {
            let text = format!("it calls {module}, as what its translator makes does");
            let (path, system) = (path.to_owned(), system.to_owned());
            return Err(RegionError::Elsewhere { path, system, text });
        }
        Ok(Prepared {
            source: path.to_owned(),
            object: folder.join(OBJECT),
            language: Language::Cobol,
            facts,
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
        // With the flags of the C compiler, and what of them comes from the environment.
        let compiler = self.words_of(COMPILER, "--info", work.path)?;
        let mut digest = Digest::default();
        digest.add(FACTS_KEPT);
        digest.add(&compiler);
        digest.add(header(work).as_bytes());
        digest.add(KEEPS_ORDER.as_bytes());
        digest.add(CHECKS_NUMBERS.as_bytes());
        digest.add(HANDLES_FILES.as_bytes());
        digest.add(self.configuration(work).as_bytes());
        let options = self.options.iter().map(String::as_str);
        let options = options.chain(work.translated.options.iter().copied());
        options.for_each(|option| digest.add(option.as_bytes()));
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
            Ok(_) => {
                let files = [OBJECT, FACTS].map(str::to_owned);
                self.publish(&folder, object_folder, &files)?;
            }
            Err(_) => self.discard(&folder),
        }
        compiled
    }

    fn compile_in(&self, folder: &Path, work: &Compilation<'_>) -> Result<String, RegionError> {
        self.write(&folder.join(CONFIGURATION), self.configuration(work).as_bytes())?;
        self.write(&folder.join(COMPILED_NAME), &ended(&work.translated.text))?;
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
        translate.args([CHECKS_NUMBERS, HANDLES_FILES]);
        translate.args(["-I", COPIES, "-o", TRANSLATION]);
        translate.arg(format!("-conf=./{CONFIGURATION}")).args(&self.options);
        translate.args(&work.translated.options);
        let complaints = self.checked(translate.arg(COMPILED_NAME), work)?;
        let mut warnings = work.translated.warnings.clone();
        if !warnings.is_empty() && !complaints.is_empty() {
            warnings.push('\n');
        }
        warnings.push_str(&complaints);
        self.write(&folder.join(HEADER), header(work).as_bytes())?;
        let storage_of_all = self.place_storage(folder)?;
        let c_source = self.read(&folder.join(TRANSLATION))?;
        let storage = self.read(&folder.join(format!("{TRANSLATION}.h")))?;
        let c_source = String::from_utf8_lossy(&c_source);
        let facts = Facts::of_translation(&c_source, &String::from_utf8_lossy(&storage));
        let with_display = format!("{RUNTIME}#include \"{HEADER}\"\n");
        let c_source = c_source.replacen(RUNTIME, &with_display, 1);
        let members = work.translated.members.iter().map(|(_, text)| &text[..]);
        let copied = work.members.values().map(|copied| &copied.text[..]);
        let texts: Vec<&[u8]> = [&work.translated.text[..]].into_iter().chain(members).collect();
        let texts: Vec<&[u8]> = texts.into_iter().chain(copied).collect();
        let c_source = with_statuses(&c_source, &storage_of_all, &texts);
        let c_source = c_source.replace("cob_cmp_packed_int (", "hf_cmp_packed_int (");
        self.write(&folder.join(TRANSLATION), c_source.as_bytes())?;
        let mut build = self.compiler(folder);
        build.args(["-A", KEEPS_ORDER]);
        self.checked(build.args(["-m", "-o", OBJECT, TRANSLATION]), work)?;
        self.write(&folder.join(FACTS), facts.to_text().as_bytes())?;
        Ok(warnings)
    }

    /// Puts the levels of every program in order. Answers their declarations, by their files.
    fn place_storage(&self, folder: &Path) -> Result<BTreeMap<String, String>, RegionError> {
        let mut all = BTreeMap::new();
        for name in self.disk.list(folder).map_err(RegionError::file(folder))? {
            let name = name.to_string_lossy();
            if name.starts_with(&format!("{TRANSLATION}.l")) {
                let path = folder.join(&*name);
                let declarations = self.read(&path)?;
                let declarations = String::from_utf8_lossy(&declarations);
                self.write(&path, placed(&declarations).as_bytes())?;
                all.insert(name.into_owned(), declarations.into_owned());
            }
        }
        Ok(all)
    }

    fn lay_out(&self, copies: &Path, member: &str, text: &[u8]) -> Result<(), RegionError> {
        let text = ended(text);
        file_names(member).iter().try_for_each(|name| self.write(&copies.join(name), &text))
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
        let complaints = String::from_utf8_lossy(&output.stderr);
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
        for_people(&complaints, &std::iter::once(own).chain(copied).collect::<Vec<_>>())
    }
}
