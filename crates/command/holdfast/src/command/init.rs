//! `holdfast init`: makes a system.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use seal::{Format, KdfCost, TokenPlace};
use serde::Serialize;
use serde_json::json;
use system::{Bytes, EngineSettings, EngineSystem, InitOptions, System};

use super::DONE;
use crate::context::Context;
use crate::failure::Result;
use crate::passphrase::PassphraseArgs;

/// Make a system: configuration, keys, an empty log
///
/// Everything at rest is sealed under keys that the passphrase opens. Without the passphrase
/// nothing can be read again, ever: keep it, and keep a copy of the key file.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast init /srv/bank --log-copy log --log-copy /mnt/second/log
         holdfast init /srv/bank --engine postgres://bank@db.example/bank")]
pub(crate) struct InitArgs {
    /// The folder; it must be empty or not exist
    dir: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Protect the keys by the token of this label; the passphrase is its PIN (--token-module)
    #[arg(long, value_name = "LABEL")]
    token: Option<String>,
    /// The label of the key in the token, which is made if it is not there
    #[arg(long, value_name = "LABEL", default_value = "holdfast", requires = "token")]
    token_key: String,
    /// Keep the databases on this engine: postgres://USER@HOST:PORT/DATABASE, without a password
    #[arg(long, value_name = "URL", conflicts_with_all = OF_KERNEL)]
    engine: Option<String>,
    /// The schema in the engine, which is made
    #[arg(long, value_name = "NAME", default_value = "holdfast", requires = "engine")]
    schema: String,
    /// Keep data sets and log in clear
    #[arg(long)]
    plain: bool,
    /// A folder for a copy of the log, relative to DIR; give two on two devices for dual logging
    #[arg(long = "log-copy", value_name = "FOLDER", num_args = 1)]
    log_copies: Vec<PathBuf>,
    /// Files of the log side by side, 1 to 8
    #[arg(long, value_name = "N", default_value_t = 1)]
    stripes: u8,
    /// Length of a log segment's file, such as "64 MiB"
    #[arg(long, value_name = "BYTES")]
    segment_bytes: Option<Bytes>,
    /// Segments that the log may have
    #[arg(long, value_name = "N")]
    segments_max: Option<u32>,
    /// Memory of the pool for intervals of 8 KiB, such as "1 GiB"
    #[arg(long, value_name = "BYTES")]
    pool_bytes: Option<Bytes>,
    /// Memory that a guess at the passphrase takes
    #[arg(long, value_name = "BYTES", default_value = "64 MiB")]
    guess_memory: Bytes,
    /// How often a guess passes over that memory
    #[arg(long, value_name = "N", default_value_t = 3)]
    guess_passes: u32,
}

/// What a system without a kernel does not have.
const OF_KERNEL: [&str; 6] =
    ["plain", "log_copies", "stripes", "segment_bytes", "segments_max", "pool_bytes"];

#[derive(Serialize)]
struct Made {
    system: String,
    dir: PathBuf,
    format: String,
    log_copies: Vec<PathBuf>,
}

pub(super) fn run(context: &mut Context, args: &InitArgs) -> Result<ExitCode> {
    let mut options = InitOptions {
        cost: KdfCost {
            memory_kib: u32::try_from(args.guess_memory.0 >> 10).unwrap_or(u32::MAX),
            passes: args.guess_passes,
            lanes: 1,
        },
        ..InitOptions::default()
    };
    options.cost.check()?;
    let config = &mut options.config;
    if !args.log_copies.is_empty() {
        config.log.copies.clone_from(&args.log_copies);
    }
    config.log.stripes = args.stripes;
    if let Some(bytes) = args.segment_bytes {
        config.log.segment_bytes = bytes;
        config.log.group_bytes_max.0 = config.log.group_bytes_max.0.min(bytes.0 / 4).max(8192);
    }
    if let Some(most) = args.segments_max {
        config.log.segments_max = most;
        config.log.segments_min = config.log.segments_min.min(most);
    }
    if let (Some(bytes), Some(pool)) = (args.pool_bytes, config.pools.get_mut("default")) {
        pool.bytes = bytes;
    }
    if args.plain {
        (config.log.format, config.data.format) = (Format::Plain, Format::Plain);
    }
    let key = args.token_key.clone();
    options.token = args.token.clone().map(|token| TokenPlace { token, key });
    let passphrase = match &options.token {
        Some(_) => args.passphrase.get()?,
        None => args.passphrase.choose()?,
    };
    if let Some(url) = &args.engine {
        let (url, schema) = (url.clone(), args.schema.clone());
        let engine = EngineSettings { url, schema, ..EngineSettings::default() };
        let system = EngineSystem::init(&context.seam, &args.dir, &passphrase, &options, &engine)?;
        return tell_engine(context, args, &system.to_string());
    }
    let system = System::init(&context.seam, &args.dir, &passphrase, &options)?;
    let made = Made {
        system: system.to_string(),
        dir: args.dir.clone(),
        format: options.config.data.format.to_string(),
        log_copies: options.config.log_folders(&args.dir),
    };
    if context.output.is_json() {
        context.output.document(&made)?;
        return DONE;
    }
    let output = &mut context.output;
    output.line(format!(
        "made system {} in {}, {}",
        made.system,
        made.dir.display(),
        made.format
    ))?;
    let keys = options.config.key_file(&args.dir);
    output.line(format!("keep a copy of {} elsewhere: it opens everything", keys.display()))?;
    output.line(format!("settings: {}/holdfast.toml", args.dir.display()))?;
    DONE
}

fn tell_engine(context: &mut Context, args: &InitArgs, system: &str) -> Result<ExitCode> {
    let (output, dir) = (&mut context.output, args.dir.display());
    if output.is_json() {
        let (engine, schema) = (&args.engine, &args.schema);
        let dir = &args.dir;
        output.document(
            &json!({ "system": system, "dir": dir, "engine": engine, "schema": schema }),
        )?;
        return DONE;
    }
    output.line(format!("made system {system} in {dir}, sealed, in schema {}", args.schema))?;
    output.line(format!("keep a copy of {dir}/holdfast.keys elsewhere: it opens everything"))?;
    output.line(format!("settings: {dir}/holdfast.toml"))?;
    output.line("another machine shares the databases with a copy of the folder")?;
    DONE
}
