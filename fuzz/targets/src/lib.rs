//! Fuzz targets: everything that decodes bytes from a disk or a program, or text that people
//! edit.
//!
//! Each module is one target: `fuzz` takes any bytes and panics if a promise is broken, `seeds`
//! makes valid inputs to start from. The promises are the same everywhere:
//!
//! 1. No bytes make a decoder panic, loop or take memory out of proportion.
//! 2. What is accepted encodes to the same again, or behaves like what it claims to be.
//! 3. Sealed bytes that were changed are never accepted as something new: what comes out is what
//!    was sealed, an older part of it, or an error.
//!
//! `make fuzz` runs all of them for a while, `make fuzz ONLY="NAME"` one. Files live on the
//! simulator's disk, in memory.

pub mod access_methods;
pub mod agent_answers;
pub mod amqp_frames;
pub mod archive_files;
pub mod bridge_requests;
pub mod call_buffers;
pub mod channel_frames;
pub mod checkpoint;
pub mod configuration;
pub mod control_file;
pub mod control_statements;
pub mod definition;
pub mod doctor;
pub mod double_write;
pub mod exec_dli;
pub mod facility_text;
pub mod file_requests;
pub mod foreign_keys;
pub mod header_interval;
pub mod image_copy;
pub mod input;
pub mod kernel_records;
pub mod key_file;
pub mod keystore;
pub mod log_files;
pub mod macro_source;
pub mod members;
pub mod message_calls;
pub mod mqsc_text;
pub mod network_frames;
pub mod openpgp_message;
pub mod operator_lines;
pub mod page;
pub mod partition_limits;
pub mod portable_copy;
pub mod program_checkpoint;
pub mod program_messages;
pub mod queued_messages;
pub mod recon_file;
pub mod record_description;
pub mod resource_definitions;
pub mod rest_requests;
pub mod restart;
pub mod sequential_file;
mod shop;
pub mod ssa;
pub mod stored_segments;
pub mod tree_node;
pub mod tree_redo;
pub mod unload_file;
pub mod write_ahead;

use std::path::Path;
use std::{env, fs};

/// One target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, that of its module and of its file in `fuzz_targets`.
    pub name: &'static str,
    /// Takes any bytes; panics if a promise is broken.
    pub fuzz: fn(&[u8]),
    /// Makes valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($name:ident),*) => {
        &[$(Target { name: stringify!($name), fuzz: $name::fuzz, seeds: $name::seeds }),*]
    };
}

/// Every target.
pub const TARGETS: &[Target] = targets![
    access_methods,
    agent_answers,
    amqp_frames,
    archive_files,
    bridge_requests,
    call_buffers,
    channel_frames,
    checkpoint,
    configuration,
    control_file,
    control_statements,
    definition,
    doctor,
    double_write,
    exec_dli,
    facility_text,
    file_requests,
    foreign_keys,
    header_interval,
    image_copy,
    kernel_records,
    key_file,
    keystore,
    log_files,
    macro_source,
    members,
    mqsc_text,
    message_calls,
    network_frames,
    openpgp_message,
    operator_lines,
    page,
    partition_limits,
    portable_copy,
    program_checkpoint,
    program_messages,
    queued_messages,
    recon_file,
    record_description,
    resource_definitions,
    rest_requests,
    restart,
    sequential_file,
    ssa,
    stored_segments,
    tree_node,
    tree_redo,
    unload_file,
    write_ahead
];

/// Writes a target's first inputs to its part of the folder `HOLDFAST_FUZZ_CORPUS`, if that is set;
/// called before the fuzzer reads them.
///
/// # Panics
/// If the folder cannot be written.
#[allow(clippy::disallowed_methods)] // the fuzzer's own files, not a system's
pub fn write_seeds(target: &str, seeds: fn() -> Vec<Vec<u8>>) {
    let Some(corpus) = env::var_os("HOLDFAST_FUZZ_CORPUS") else { return };
    let folder = Path::new(&corpus).join(target);
    fs::create_dir_all(&folder).expect("the corpus can be written");
    for (number, bytes) in seeds().iter().enumerate() {
        let path = folder.join(format!("seed-{number}"));
        fs::write(path, bytes).expect("the corpus can be written");
    }
}
