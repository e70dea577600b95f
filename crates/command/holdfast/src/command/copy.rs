//! `holdfast copy`: folders of files into clusters, and out of them, as a control file says.
//!
//! Invariants:
//! 1. What is to be copied is known, and every name in it possible, before the first record is.
//! 2. No file goes where another one of the same command would be lost: neither into a cluster that
//!    is emptied for the second of them, nor by chance into one cluster because `*` stands for the
//!    same letters, nor out to one file, whatever names and links lead to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::idcams::Dd;
use clap::{Args, ValueEnum};
use schedule::FilePlace;
use seam::disk::Disk;
use serde::Deserialize;

use super::idcams;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input::text_of;
use crate::operate::SystemArgs;
use crate::standard::is_special;

/// The longest control file.
const CONTROL_BYTES_MAX: usize = 1 << 20;
/// The most files of one command.
const FILES_MAX: usize = 9_999;

/// Copy a folder of files into clusters, or clusters into a folder
///
/// The control file is TOML: a `[[copy]]` for each kind of file. It becomes one REPRO of holdfast
/// idcams for each file, in the order of the control file and of names; what they say is printed.
/// A file that fails does not keep the others from being copied.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast copy -s /srv/bank in /transfer/today transfer.toml, with

  [[copy]]
  files = \"ACCT*.dat\"          # in the folder; out: the file's name
  cluster = \"BANK.ACCT\"        # BANK.* is one for each file, by its name
  form = \"fb=80\"               # text, vb, bdw; as the cluster has it if left out
  replace = true               # or reuse = true: empty the cluster first
  ebcdic = \"037\"               # the file is EBCDIC: converted by the record map")]
pub(crate) struct CopyArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// Into clusters, or out of them
    way: Way,
    /// The folder
    folder: PathBuf,
    /// The control file
    control: PathBuf,
    /// Where what REPRO says goes, in place of standard output
    #[arg(long, value_name = "PATH")]
    sysprint: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Into clusters
    In,
    /// Out of clusters
    Out,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Control {
    copy: Vec<Rule>,
}

/// A kind of files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    files: String,
    cluster: String,
    form: Option<String>,
    #[serde(default)]
    replace: bool,
    #[serde(default)]
    reuse: bool,
    ebcdic: Option<String>,
}

/// A file, and what becomes of it.
struct Step {
    path: PathBuf,
    cluster: String,
    rule: usize,
}

pub(super) fn run(context: &mut Context, args: &CopyArgs) -> Result<ExitCode> {
    let control = control_of(&args.control)?;
    let mut steps = Vec::new();
    for (at, rule) in control.copy.iter().enumerate() {
        check(rule, args.way)?;
        let found = match args.way {
            Way::In => matching(&args.folder, &rule.files)?,
            Way::Out => vec![rule.files.clone()],
        };
        if found.is_empty() {
            let what = format!("no file of {} is called {}", args.folder.display(), rule.files);
            return Err(Failure::other(what, "Correct files in the control file."));
        }
        for file in found {
            let cluster = match rule.cluster.contains('*') {
                true => rule.cluster.replace('*', &qualifier(&file)?),
                false => rule.cluster.clone(),
            };
            steps.push(Step { path: args.folder.join(&file), cluster, rule: at });
        }
    }
    match args.way {
        Way::In => apart(&control, &steps)?,
        Way::Out => apart_out(context.seam.disk.as_ref(), &steps)?,
    }
    if steps.len() > FILES_MAX {
        let what = format!("there are more than {FILES_MAX} files");
        return Err(Failure::other(what, "Copy them in parts."));
    }
    let (mut dds, mut text) = (Vec::new(), String::new());
    for (number, step) in steps.iter().enumerate() {
        let (Some(rule), name) = (control.copy.get(step.rule), format!("F{:07}", number + 1))
        else {
            continue;
        };
        // A name without a slash could be one of the catalog.
        let path = std::path::absolute(&step.path).unwrap_or_else(|_| step.path.clone());
        dds.push(dd(&name, &path, rule.form.as_deref())?);
        text += &statement(rule, args.way, &name, &step.cluster);
    }
    idcams::copying(context, &args.system, &dds, &text, args.sysprint.as_deref())
}

/// The DD of a file. What would be read as another file, or in another form, is refused.
fn dd(name: &str, path: &Path, form: Option<&str>) -> Result<String> {
    let refused = |why: &str| {
        let what = format!("{} cannot be copied: {why}", path.display());
        Err(Failure::other(what, "Rename the file, or correct its form in the control file."))
    };
    let Some(text) = path.to_str() else { return refused("its name is no text in UTF-8") };
    let form = form.map(|form| format!(",{form}")).unwrap_or_default();
    let operand = format!("{name}={text}{form}");
    match Dd::parse(&operand) {
        Some(dd) if dd.target == path && dd.form.is_none() == form.is_empty() => Ok(operand),
        _ => refused(&format!("{text}{form} means another file, or another form")),
    }
}

/// Whether no step takes from another one what it has copied.
fn apart(control: &Control, steps: &[Step]) -> Result<()> {
    let mut into = BTreeMap::new();
    for step in steps {
        let Some(rule) = control.copy.get(step.rule) else { continue };
        let (path, cluster) = (step.path.display(), step.cluster.to_ascii_uppercase());
        let Some((first, known)) = into.insert(cluster.clone(), (&step.path, step.rule)) else {
            continue;
        };
        let first = first.display();
        if rule.reuse {
            let what = format!("{cluster} would be emptied for {path} after {first} was copied");
            let remedy = "Leave out reuse, or copy them one by one.";
            return Err(Failure::other(what, remedy));
        }
        // Where a cluster is named, that several files go there is what was asked for.
        if known == step.rule && rule.cluster.contains('*') {
            let what = format!("{first} and {path} would both be copied into {cluster}");
            let remedy = "Name one of them in a rule of its own, with its cluster without *.";
            return Err(Failure::other(what, remedy));
        }
    }
    Ok(())
}

/// The same for steps out of clusters: each has a file of its own. What goes to devices and pipes
/// is not lost to the next.
fn apart_out(disk: &dyn Disk, steps: &[Step]) -> Result<()> {
    let mut out_to: BTreeMap<FilePlace, &Step> = BTreeMap::new();
    for step in steps.iter().filter(|step| !is_special(&step.path)) {
        let Some(first) = out_to.insert(FilePlace::of(disk, &step.path), step) else { continue };
        let (path, of_first) = (step.path.display(), first.cluster.to_ascii_uppercase());
        let cluster = step.cluster.to_ascii_uppercase();
        let also = match first.path == step.path {
            true => String::new(),
            false => format!(", which {} leads to as well", first.path.display()),
        };
        let what = format!("{of_first} and {cluster} would both be copied to {path}{also}");
        return Err(Failure::other(what, "Give each cluster a file of its own."));
    }
    Ok(())
}

fn statement(rule: &Rule, way: Way, dd: &str, cluster: &str) -> String {
    let mut words = match way {
        Way::In => vec![format!("INFILE({dd})"), format!("OUTDATASET({cluster})")],
        Way::Out => vec![format!("INDATASET({cluster})"), format!("OUTFILE({dd})")],
    };
    if rule.replace {
        words.push("REPLACE".into());
    }
    if rule.reuse {
        words.push("REUSE".into());
    }
    if let Some(page) = &rule.ebcdic {
        words.push(if way == Way::In { "FROMEBCDIC".into() } else { "TOEBCDIC".into() });
        words.push(format!("CODEPAGE({page})"));
    }
    format!("  REPRO {}\n", words.join(" -\n    "))
}

/// Whether what stands in a rule can stand in a statement.
fn check(rule: &Rule, way: Way) -> Result<()> {
    let wrong = |what: String| Err(Failure::other(what, "Correct the control file."));
    let name = |text: &str, more: &str| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || more.contains(letter);
        !text.is_empty() && text.chars().all(fits)
    };
    if !name(&rule.cluster, ".-#@$()+*") || rule.cluster.matches('*').count() > 1 {
        return wrong(format!("{} is no name of a cluster", rule.cluster));
    }
    if rule.ebcdic.as_ref().is_some_and(|page| !name(page, "-")) {
        return wrong("ebcdic is to be a code page, such as \"037\"".into());
    }
    if rule.form.as_ref().is_some_and(|form| !name(form, "=")) {
        return wrong("form is to be \"text\", \"vb\", \"bdw\" or \"fb=\" and a length".into());
    }
    if rule.replace && rule.reuse {
        return wrong("a cluster is emptied (reuse), or records are replaced: not both".into());
    }
    if rule.files.is_empty() || rule.files.contains(['/', '\n', ',']) {
        return wrong(format!("{:?} is no name of files within the folder", rule.files));
    }
    if way == Way::Out && (rule.files.contains('*') || rule.cluster.contains('*')) {
        return wrong("a cluster is copied to one file: no * can stand for it".into());
    }
    Ok(())
}

/// What stands for `*` in the name of a cluster: a file's name up to its first point.
fn qualifier(file: &str) -> Result<String> {
    let stem = file.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "#@$-".contains(letter);
    if stem.is_empty() || stem.len() > 8 || !stem.chars().all(allowed) {
        let what = format!("{file} gives no qualifier of a cluster's name");
        return Err(Failure::other(what, "Name its cluster in the control file, without *."));
    }
    Ok(stem)
}

fn control_of(path: &Path) -> Result<Control> {
    let unusable = |what: &str| {
        let what = format!("the control file {}: {what}", path.display());
        Failure::other(what, "Write it as in holdfast copy --help.")
    };
    let text = text_of(path, CONTROL_BYTES_MAX, unusable)?;
    toml::from_str(&text).map_err(|error| unusable(error.message()))
}

/// The files of a folder whose names a pattern stands for, by name.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn matching(folder: &Path, pattern: &str) -> Result<Vec<String>> {
    let unusable = |error: std::io::Error| {
        let what = format!("{} cannot be read: {error}", folder.display());
        Failure::other(what, "Check the folder and its permissions.")
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unusable)? {
        let entry = entry.map_err(unusable)?;
        let name = entry.file_name();
        if !stands_for(pattern, &name.to_string_lossy()) || !entry.path().is_file() {
            continue;
        }
        let lost = |name: std::ffi::OsString| {
            let what = format!("the name of {} is no text in UTF-8", Path::new(&name).display());
            Failure::other(what, "Rename the file.")
        };
        found.push(name.into_string().map_err(lost)?);
    }
    found.sort();
    Ok(found)
}

/// Whether a pattern, in which `*` is any letters, stands for a name.
fn stands_for(pattern: &str, name: &str) -> bool {
    base::wildcard::text_fits(pattern.as_bytes(), name.as_bytes(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with copying these files by these rules: pattern, cluster, reuse.
    fn wrong(rules: &[(&str, &str, bool)], way: Way) -> Option<String> {
        let copy = rules.iter().map(|(files, cluster, reuse)| Rule {
            files: (*files).into(),
            cluster: (*cluster).into(),
            form: None,
            replace: false,
            reuse: *reuse,
            ebcdic: None,
        });
        let (control, mut steps) = (Control { copy: copy.collect() }, Vec::new());
        for (rule, (files, cluster, _)) in rules.iter().enumerate() {
            for file in files.split(' ') {
                let cluster = cluster.replace('*', &qualifier(file).unwrap());
                steps.push(Step { path: PathBuf::from(file), cluster, rule });
            }
        }
        let disk = seam::Seam::real().disk;
        let checked = match way {
            Way::In => apart(&control, &steps),
            Way::Out => apart_out(&*disk, &steps),
        };
        checked.err().map(|failure| match failure {
            Failure::Other { what, .. } => what,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn no_file_takes_from_another_what_was_copied() {
        let both = wrong(&[("A.dat A.old", "BANK.*", false)], Way::In).unwrap();
        assert!(both.contains("A.dat") && both.contains("A.old") && both.contains("BANK.A"));
        assert!(wrong(&[("a.dat A.dat", "BANK.*", false)], Way::In).is_some(), "letters are large");
        assert!(wrong(&[("A.dat B.dat", "BANK.ACCT", true)], Way::In).is_some());
        assert!(wrong(&[("A.dat", "bank.a", false), ("A.old", "BANK.A", true)], Way::In).is_some());
        assert!(wrong(&[("out", "BANK.A", false), ("out", "BANK.B", false)], Way::Out).is_some());
        for fine in [
            &[("A.dat B.dat", "BANK.*", true)][..],
            &[("A.dat B.dat", "BANK.ACCT", false)],
            &[("A.dat", "BANK.*", true), ("A.old", "BANK.A", false)],
        ] {
            assert_eq!(wrong(fine, Way::In), None);
        }
        let fine = [("one", "BANK.A", false), ("two", "BANK.A", true)];
        assert_eq!(wrong(&fine, Way::Out), None);
    }

    #[test]
    fn a_name_that_a_dd_would_read_as_another_is_refused() {
        for (path, form) in
            [("/in/A.dat", None), ("/in/A.dat,vb", Some("fb=80")), ("/in,vb/A.dat", None)]
        {
            assert!(dd("F1", Path::new(path), form).is_ok(), "{path}");
        }
        for (path, form) in [("/in/A.dat,vb", None), ("/in/A.dat", Some("fb=x"))] {
            assert!(dd("F1", Path::new(path), form).is_err(), "{path}");
        }
        let bytes: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"/in/A\xff.dat");
        assert!(dd("F1", Path::new(bytes), None).is_err());
    }

    #[test]
    fn a_pattern_stands_for_names() {
        for (pattern, name) in [("a*.dat", "a.dat"), ("*", "x"), ("a*b*c", "aXbYc"), ("x", "x")] {
            assert!(stands_for(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a*.dat", "b.dat"), ("x", "xy"), ("a*b*c", "aXcYb"), ("a*a", "a")]
        {
            assert!(!stands_for(pattern, name), "{pattern} {name}");
        }
    }
}
