//! `holdfast pool`: buffer pools.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use system::Bytes;
use system::operator::{AddPool, AssignPool, ChangedPool, DeletePool, ResizePool, SystemOperation};
use system::status::PoolStatus;

use super::DONE;
use super::status::pool_table;
use crate::context::Context;
use crate::failure::Result;
use crate::operate::{Where, look, operate};
use crate::text::{bytes, count, microseconds};

/// Buffer pools: show them, make them larger or smaller, add and delete them, assign data sets
///
/// Works on a system in use, whose programs go on meanwhile, and on one that is stopped; the
/// passphrase is needed for the latter. holdfast.toml is changed as well, so that the next start
/// finds the pools as they were left.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast pool resize -s /srv/bank default --bytes \"1 GiB\"")]
pub(crate) struct PoolArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show the pools
    #[command(after_help = "Example: holdfast pool list -s /srv/bank --json")]
    List(Where),
    /// Make a pool larger or smaller
    ///
    /// A smaller pool keeps what was used lately and what was changed, as far as it has room.
    #[command(after_help = "Example: holdfast pool resize -s /srv/bank default --frames 4000")]
    Resize {
        #[command(flatten)]
        place: Where,
        /// The pool
        pool: String,
        /// How many frames it shall have
        #[arg(long, required_unless_present = "bytes", conflicts_with = "bytes")]
        frames: Option<usize>,
        /// How much memory they shall take, such as "64 MiB"
        #[arg(long, value_name = "AMOUNT")]
        bytes: Option<Bytes>,
    },
    /// Add a pool
    #[command(after_help = "Example: holdfast pool add -s /srv/bank history --unit \"8 KiB\" \
--bytes \"64 MiB\"")]
    Add {
        #[command(flatten)]
        place: Where,
        /// Its name
        pool: String,
        /// The unit of its intervals, such as "8 KiB"
        #[arg(long, value_name = "AMOUNT")]
        unit: Bytes,
        /// How much memory its frames take, such as "64 MiB"
        #[arg(long, value_name = "AMOUNT")]
        bytes: Bytes,
    },
    /// Delete a pool that no data set is assigned to
    #[command(after_help = "Example: holdfast pool delete -s /srv/bank history")]
    Delete {
        #[command(flatten)]
        place: Where,
        /// The pool
        pool: String,
    },
    /// Move a data set to another pool
    ///
    /// It stays there until it is assigned to yet another one. Both have the same unit.
    #[command(after_help = "Example: holdfast pool assign -s /srv/bank history ACCOUNTS")]
    Assign {
        #[command(flatten)]
        place: Where,
        /// The pool
        pool: String,
        /// The data set
        data_set: String,
    },
}

pub(super) fn run(context: &mut Context, args: &PoolArgs) -> Result<ExitCode> {
    match &args.what {
        What::List(place) => list(context, place),
        What::Resize { place, pool, frames, bytes } => {
            let bytes = bytes.map(|Bytes(bytes)| bytes);
            let resize = ResizePool { name: pool.clone(), frames: *frames, bytes };
            change(context, place, &SystemOperation::PoolResize(resize))
        }
        What::Add { place, pool, unit: Bytes(unit), bytes: Bytes(bytes) } => {
            let add = AddPool { name: pool.clone(), unit: *unit, bytes: *bytes };
            change(context, place, &SystemOperation::PoolAdd(add))
        }
        What::Assign { place, pool, data_set } => {
            let assign = AssignPool { name: pool.clone(), data_set: data_set.clone() };
            change(context, place, &SystemOperation::PoolAssign(assign))
        }
        What::Delete { place, pool } => {
            let delete = DeletePool { name: pool.clone() };
            change(context, place, &SystemOperation::PoolDelete(delete))
        }
    }
}

fn list(context: &mut Context, place: &Where) -> Result<ExitCode> {
    let pools: Vec<PoolStatus> =
        look(context, &place.system, &place.passphrase, &SystemOperation::PoolList {})?;
    match context.output.is_json() {
        true => context.output.document(&pools)?,
        false => pool_table(&mut context.output, &pools)?,
    }
    DONE
}

fn change(context: &mut Context, place: &Where, operation: &SystemOperation) -> Result<ExitCode> {
    let changed: ChangedPool = operate(context, &place.system, &place.passphrase, operation)?;
    if context.output.is_json() {
        context.output.document(&changed)?;
        return DONE;
    }
    context.output.line(format_args!(
        "pool {}: {} frames before, {} now, {}; {} intervals carried, {} dropped, {}",
        changed.name,
        count(changed.before as u64),
        count(changed.frames as u64),
        bytes(changed.bytes),
        count(changed.carried as u64),
        count(changed.dropped as u64),
        microseconds(changed.elapsed_us)
    ))?;
    DONE
}
