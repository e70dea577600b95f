//! `holdfast-sop`: the Stateless OpenPGP command line over Holdfast's OpenPGP.
//!
//! It follows draft-dkg-openpgp-stateless-cli: no key ring, no configuration, everything by
//! arguments, standard input and standard output. What every command keeps:
//!
//! 1. Exit codes are the specification's ([`failure::Reason`]); errors go to standard error.
//! 2. Nothing is written to standard output, nor left under a name, before everything about it is
//!    right; a signal leaves nothing behind.
//! 3. Passphrases and keys are wiped from memory, and stand in no error and no core dump.

mod armor;
mod date;
mod failure;
mod inline;
mod keys;
mod messages;
mod place;
mod sign;
mod users;
mod verifications;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use openpgp::Target;
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use seam::Seam;

use failure::{Failure, Result, say};

/// Encrypts, decrypts, signs and verifies without keeping anything
#[derive(Parser)]
#[command(
    name = "holdfast-sop",
    disable_version_flag = true,
    after_help = "Example: holdfast-sop generate-key 'Ada <ada@example.org>' >ada.key\n\
                  Exit codes are those of draft-dkg-openpgp-stateless-cli."
)]
struct Cli {
    #[command(subcommand)]
    what: What,
    /// Say more when something fails
    #[arg(long, global = true)]
    debug: bool,
}

#[derive(Subcommand)]
enum What {
    /// Say which program this is
    Version(VersionArgs),
    /// List the profiles of a subcommand
    ListProfiles(keys::ProfilesArgs),
    /// Make a secret key
    GenerateKey(keys::GenerateArgs),
    /// Lock secret keys with another passphrase, or with none
    ChangeKeyPassword(keys::PasswordArgs),
    /// Make a certificate that says that its key is used no more
    RevokeKey(keys::RevokeArgs),
    /// Give the certificate of a secret key
    ExtractCert(keys::ExtractArgs),
    /// Keep a secret key up to date
    UpdateKey(keys::UpdateArgs),
    /// Bring together what is known of certificates
    MergeCerts(users::MergeArgs),
    /// Say that user ids belong to certificates
    CertifyUserid(users::CertifyArgs),
    /// Say whether a user id belongs to certificates
    ValidateUserid(users::ValidateArgs),
    /// Make detached signatures
    Sign(sign::SignArgs),
    /// Verify detached signatures
    Verify(sign::VerifyArgs),
    /// Encrypt a message
    Encrypt(messages::EncryptArgs),
    /// Decrypt a message
    Decrypt(messages::DecryptArgs),
    /// Turn binary OpenPGP into text
    Armor(armor::ArmorArgs),
    /// Turn armored OpenPGP into binary
    Dearmor,
    /// Take the signatures off a signed message
    InlineDetach(inline::DetachArgs),
    /// Verify a signed message
    InlineVerify(inline::VerifyArgs),
    /// Make a signed message
    InlineSign(inline::SignArgs),
}

#[derive(Args)]
struct VersionArgs {
    /// The library behind it
    #[arg(long, group = "which")]
    backend: bool,
    /// More than one line
    #[arg(long, group = "which")]
    extended: bool,
    /// The specification that it follows
    #[arg(long, group = "which")]
    sop_spec: bool,
    /// The version of the verifying subset
    #[arg(long, group = "which")]
    sopv: bool,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            let code = match error.use_stderr() {
                true => ExitCode::from(Failure::of_arguments(&mut error) as u8),
                false => ExitCode::SUCCESS,
            };
            // There is nobody to tell that nobody can be told.
            let _ = error.print();
            return code;
        }
    };
    let seam = Seam::real();
    protect(cli.debug);
    let watching = Target::leave_nothing_on_signals(&seam).map_err(Failure::from);
    if let Err(failure) = watching.and_then(|()| run(&seam, cli.what)) {
        say(&failure.text);
        if cli.debug {
            say(format_args!("{:?}, exit code {}", failure.reason, failure.reason as u8));
        }
        return ExitCode::from(failure.reason as u8);
    }
    ExitCode::SUCCESS
}

fn run(seam: &Seam, what: What) -> Result<()> {
    match what {
        What::Version(args) => version(seam, &args),
        What::ListProfiles(args) => keys::list_profiles(seam, &args),
        What::GenerateKey(args) => keys::generate(seam, args),
        What::ChangeKeyPassword(args) => keys::change_password(seam, &args),
        What::RevokeKey(args) => keys::revoke(seam, &args),
        What::ExtractCert(args) => keys::extract(seam, &args),
        What::UpdateKey(args) => keys::update(seam, &args),
        What::MergeCerts(args) => users::merge(seam, &args),
        What::CertifyUserid(args) => users::certify(seam, &args),
        What::ValidateUserid(args) => users::validate(seam, &args),
        What::Sign(args) => sign::sign(seam, &args),
        What::Verify(args) => sign::verify(seam, &args),
        What::Encrypt(args) => messages::encrypt(seam, &args),
        What::Decrypt(args) => messages::decrypt(seam, &args),
        What::Armor(args) => armor::armor(seam, &args),
        What::Dearmor => armor::dearmor(seam),
        What::InlineDetach(args) => inline::detach(seam, &args),
        What::InlineVerify(args) => inline::verify(seam, &args),
        What::InlineSign(args) => inline::sign(seam, &args),
    }
}

fn version(seam: &Seam, args: &VersionArgs) -> Result<()> {
    let own = format!("holdfast-sop {}\n", env!("CARGO_PKG_VERSION"));
    let library = format!("holdfast-openpgp {}\n", env!("CARGO_PKG_VERSION"));
    let text = match args {
        VersionArgs { backend: true, .. } => library,
        VersionArgs { extended: true, .. } => own + &library + "rPGP 0.21\n",
        VersionArgs { sop_spec: true, .. } => "draft-dkg-openpgp-stateless-cli-11\n".to_owned(),
        VersionArgs { sopv: true, .. } => "1.0\n".to_owned(),
        _ => own,
    };
    place::tell(seam, text.as_bytes())
}

/// Keeps keys out of core dumps (3).
fn protect(says_more: bool) {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let done = setrlimit(Resource::Core, none)
        .and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    if let Err(error) = done
        && says_more
    {
        say(format_args!("core dumps cannot be switched off: {error}"));
    }
}
