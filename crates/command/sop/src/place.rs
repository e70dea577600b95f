//! Where arguments lead: files, variables of the environment, open files.
//!
//! | argument    | input                               | output                     |
//! |-------------|-------------------------------------|----------------------------|
//! | `@ENV:NAME` | the value of the variable           | -                          |
//! | `@FD:N`     | what file descriptor N gives        | what file descriptor N takes |
//! | `@...`      | not supported, by its own exit code | as for input               |
//! | else        | a file                              | a file that is not there yet |
//!
//! 1. A file whose name looks like `@...` makes the argument ambiguous, and an error.
//! 2. Output beside the main one is written before the main one appears and comes to its name
//!    after it: who gets an error has no reason to look at either.
//! 3. An argument that leads nowhere is never repeated: it may be a passphrase, or a whole key,
//!    where the name of its file belongs. Which argument it is says its place in the line.
//! 4. Of a file descriptor there is a second handle: it stands where the caller's stands, sockets
//!    among them, and nothing here closes the caller's. Where a sandbox refuses that, it is opened
//!    anew through `/proc`.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use openpgp::pgp::types::{Fingerprint, Password};
use openpgp::{Bundle, Certificate, SecretKey, Target};
use seam::Seam;
use zeroize::Zeroizing;

use crate::failure::{Failure, Reason, Result, say};

/// No key, passphrase or signature is longer.
const SMALL_MAX: u64 = 64 << 20;

/// What an argument designates.
enum Place<'a> {
    File(&'a Path),
    Variable(&'a str),
    Descriptor(u32),
}

fn place(argument: &str) -> Result<Place<'_>> {
    if !argument.starts_with('@') {
        return Ok(Place::File(Path::new(argument)));
    }
    if Path::new(argument).exists() {
        let what = format!("{argument} is a special designator, and there is a file of that name");
        return Err(Reason::AmbiguousInput.because(what + "; call that ./" + argument));
    }
    if let Some(name) = argument.strip_prefix("@ENV:") {
        return Ok(Place::Variable(name));
    }
    if let Some(number) = argument.strip_prefix("@FD:")
        && let Ok(number) = number.parse()
    {
        return Ok(Place::Descriptor(number));
    }
    if argument.starts_with("@HARDWARE") {
        let what = "no key in hardware can be reached from here; `holdfast pgp` uses tokens";
        return Err(Reason::NoHardwareKeyFound.because(what));
    }
    let what = "the special designators are @ENV:NAME and @FD:NUMBER";
    Err(Reason::UnsupportedSpecialPrefix.because(format!("{}: {what}", called(argument))))
}

/// How an argument that leads nowhere is called in errors (3).
fn called(argument: &str) -> String {
    let words = std::env::args_os();
    let is_it = |word: &OsString| word.to_str().is_some_and(|word| word.ends_with(argument));
    let at = words.skip(1).position(|word| is_it(&word));
    at.map_or_else(|| "an argument".to_owned(), |at| format!("argument {}", at + 1))
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn options() -> OpenOptions {
    OpenOptions::new()
}

/// A second handle of an open file (4).
fn again(number: u32, opening: &OpenOptions) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let target = i32::try_from(number).map_err(io::Error::other)?;
    let handle = pidfd_open(getpid(), PidfdFlags::empty())
        .and_then(|me| pidfd_getfd(me, target, PidfdGetfdFlags::empty()));
    match handle {
        Ok(handle) => Ok(File::from(handle)),
        Err(rustix::io::Errno::PERM | rustix::io::Errno::NOSYS) => {
            opening.open(format!("/proc/self/fd/{number}"))
        }
        Err(error) => Err(error.into()),
    }
}

/// What an argument gives.
pub(crate) fn input(argument: &str) -> Result<Box<dyn Read + Send>> {
    let mut how = options();
    let how = how.read(true);
    let opened = match place(argument)? {
        Place::File(path) => how.open(path),
        Place::Descriptor(number) => again(number, how),
        Place::Variable(name) => {
            let missing = || Reason::MissingInput.because(format!("{name} is not set"));
            let value = std::env::var_os(name).ok_or_else(missing)?;
            return Ok(Box::new(io::Cursor::new(std::os::unix::ffi::OsStringExt::into_vec(value))));
        }
    };
    let failed = |error: io::Error| {
        if error.kind() == io::ErrorKind::NotFound {
            let what = format!("the file of {} is missing", called(argument));
            return Reason::MissingInput.because(what);
        }
        let name = match error.kind() {
            io::ErrorKind::PermissionDenied => argument.to_owned(),
            _ => called(argument),
        };
        Reason::MissingInput.because(format!("opening the file of {name}: {error}"))
    };
    Ok(Box::new(opened.map_err(failed)?))
}

/// Everything that an input gives; keys and passphrases leave memory with it.
pub(crate) fn all_of(name: &str, input: impl Read) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    let read = input.take(SMALL_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Reason::Unspecified.because(format!("reading {name}: {error}")))?;
    if bytes.len() as u64 > SMALL_MAX {
        return Err(Reason::BadData.because(format!("{name} is longer than 64 MiB")));
    }
    Ok(bytes)
}

/// What an argument gives, whole.
pub(crate) fn small(argument: &str) -> Result<Zeroizing<Vec<u8>>> {
    all_of(argument, input(argument)?)
}

/// The name of standard input in errors.
pub(crate) const STDIN: &str = "standard input";

/// What certificates or secret keys are in these bytes.
fn bundle_in(name: &str, bytes: &[u8], what: &str) -> Result<Bundle> {
    let none = |error| Reason::BadData.because(format!("no {what} in {name}: {error}"));
    Bundle::read(bytes).map_err(none)
}

/// What to say where nothing of the right kind was found.
fn nothing_in(name: &str, bundle: &Bundle, what: &str) -> Failure {
    match bundle.left_out.first() {
        Some(why) => Reason::UnsupportedAsymmetricAlgo.because(format!("{name}: {why}")),
        None => Reason::BadData.because(format!("no {what} in {name}")),
    }
}

/// Says what is passed over.
fn tell_left_out(name: &str, bundle: &Bundle) {
    let all = bundle.left_out.iter().chain(&bundle.passed_over);
    all.for_each(|why| say(format_args!("{name}: {why}")));
}

/// The certificates in these bytes.
pub(crate) fn certificates_in(name: &str, bytes: &[u8]) -> Result<Vec<Certificate>> {
    Ok(bundle_of_certificates(name, bytes)?.certificates)
}

fn bundle_of_certificates(name: &str, bytes: &[u8]) -> Result<Bundle> {
    const WHAT: &str = "certificates";
    let bundle = bundle_in(name, bytes, WHAT)?;
    if !bundle.keys.is_empty() {
        let what = format!("{name} holds secret keys where certificates belong");
        return Err(Reason::BadData.because(what));
    }
    if bundle.certificates.is_empty() {
        return Err(nothing_in(name, &bundle, WHAT));
    }
    tell_left_out(name, &bundle);
    Ok(bundle)
}

/// The secret keys in these bytes.
pub(crate) fn keys_in(name: &str, bytes: &[u8]) -> Result<Vec<SecretKey>> {
    const WHAT: &str = "secret keys";
    let bundle = bundle_in(name, bytes, WHAT)?;
    if bundle.keys.is_empty() {
        return Err(nothing_in(name, &bundle, WHAT));
    }
    tell_left_out(name, &bundle);
    Ok(bundle.keys)
}

/// The secret keys in these bytes, of which none may be left out.
pub(crate) fn every_key_in(name: &str, bytes: &[u8]) -> Result<Vec<SecretKey>> {
    let bundle = bundle_in(name, bytes, "secret keys")?;
    match (bundle.left_out.first(), bundle.keys.is_empty()) {
        (Some(why), _) => Err(Reason::UnsupportedAsymmetricAlgo.because(why)),
        (None, true) => Err(nothing_in(name, &bundle, "secret keys")),
        (None, false) => Ok(bundle.keys),
    }
}

/// The certificates that arguments give, each with the argument.
pub(crate) fn certificates(arguments: &[String]) -> Result<Vec<(String, Certificate)>> {
    let mut all = Vec::new();
    for argument in arguments {
        let found = certificates_in(argument, &small(argument)?)?;
        all.extend(found.into_iter().map(|one| (argument.clone(), one)));
    }
    Ok(all)
}

/// The certificates to encrypt to that arguments give, and of which of them a part for that is left
/// out because such parts are not supported.
pub(crate) fn recipients(arguments: &[String]) -> Result<(Vec<Certificate>, Vec<Fingerprint>)> {
    let (mut all, mut unsupported) = (Vec::new(), Vec::new());
    for argument in arguments {
        let bundle = bundle_of_certificates(argument, &small(argument)?)?;
        all.extend(bundle.certificates);
        unsupported.extend(bundle.unsupported);
    }
    Ok((all, unsupported))
}

/// The secret keys that arguments give.
pub(crate) fn keys(arguments: &[String]) -> Result<Vec<SecretKey>> {
    let mut all = Vec::new();
    for argument in arguments {
        all.extend(keys_in(argument, &small(argument)?)?);
    }
    Ok(all)
}

/// Passphrases to try: as they stand, and without the blanks at their end.
pub(crate) fn passwords_to_try(arguments: &[String]) -> Result<Vec<Password>> {
    let mut all = Vec::new();
    for argument in arguments {
        let bytes = small(argument)?;
        all.push(Password::from(&bytes[..]));
        let trimmed = bytes.trim_ascii_end();
        if trimmed.len() < bytes.len() {
            all.push(Password::from(trimmed));
        }
    }
    Ok(all)
}

/// A passphrase for something new: text that people can type, without blanks at its end.
pub(crate) fn password_to_set(argument: &str) -> Result<Password> {
    let bytes = small(argument)?;
    let text = std::str::from_utf8(&bytes).ok();
    let text = text.filter(|text| !text.trim_end().chars().any(char::is_control));
    let unfit = || Reason::PasswordNotHumanReadable.because(format!("{argument} is no UTF-8 text"));
    Ok(Password::from(text.ok_or_else(unfit)?.trim_end().as_bytes()))
}

/// The main output: it appears when everything is right.
pub(crate) fn main_output(seam: &Seam) -> Target {
    Target::stream(seam, Box::new(seam::standard::output()))
}

/// Writes the main output at once.
pub(crate) fn tell(seam: &Seam, bytes: &[u8]) -> Result<()> {
    let mut target = main_output(seam);
    target.write_all(bytes).map_err(Failure::of_output)?;
    Ok(target.release()?)
}

/// Output beside the main one (2).
pub(crate) struct Beside {
    target: Target,
}

impl Beside {
    /// Opens the place that an option names, if there is one. What is there already stays.
    pub(crate) fn open(seam: &Seam, argument: Option<&String>) -> Result<Option<Beside>> {
        let Some(argument) = argument else { return Ok(None) };
        let target = match place(argument)? {
            Place::Variable(_) => {
                let what = format!("{argument}: nothing can be written to a variable");
                return Err(Reason::UnsupportedSpecialPrefix.because(what));
            }
            Place::Descriptor(number) => {
                let file = again(number, options().append(true));
                let failed = |error| Reason::Unspecified.because(format!("{argument}: {error}"));
                Target::stream(seam, Box::new(file.map_err(failed)?))
            }
            Place::File(path) => {
                if path.exists() {
                    return Err(Reason::OutputExists.because(format!("{argument} exists")));
                }
                Target::file(seam, path, false)?
            }
        };
        Ok(Some(Beside { target }))
    }

    /// Fills it, in its hidden place.
    pub(crate) fn fill(&mut self, bytes: &[u8]) -> Result<()> {
        self.target.write_all(bytes).and_then(|()| self.target.flush()).map_err(Failure::of_output)
    }

    /// Lets it appear.
    pub(crate) fn release(self) -> Result<()> {
        Ok(self.target.release()?)
    }
}

/// Lets the main output appear, then what stands beside it (2).
pub(crate) fn release(main: Target, beside: impl IntoIterator<Item = Beside>) -> Result<()> {
    main.release()?;
    beside.into_iter().try_for_each(Beside::release)
}

impl Failure {
    /// An output that takes no more.
    #[allow(clippy::needless_pass_by_value)] // the form that map_err wants
    pub(crate) fn of_output(error: io::Error) -> Failure {
        Reason::Unspecified.because(format!("writing the output: {error}"))
    }
}
