//! `holdfast redirect`: clusters whose records, or whose changes, go to a handler.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use operations::redirections::{Owner, RedirectRequest, Redirected, RedirectedCluster};
use operations::verbs::Operation;

use super::DONE;
use crate::context::Context;
use crate::failure::Result;
use crate::operate::{Where, perform};
use crate::text::count;

/// Redirect clusters: have a handler keep their records, or follow their changes
///
/// A handler is a database of PostgreSQL (postgres://...), or a cluster of another system
/// (#VSAM.#CICS.APPLID). Programs use a redirected cluster as any other one. With --owner vsam its
/// records stay here, and every change that is committed is sent on, in order and once; what
/// cannot be sent is kept. With --owner redir the handler has the records, and every request goes
/// there. In PostgreSQL a cluster is a table with a column for each field of its record map
/// (`ALTER name RECORDMAP(file)` of holdfast idcams).
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast redirect add -s /srv/bank BANK.ACCT --owner vsam --to postgres://me@db/bank \
--table accounts --copy")]
pub(crate) struct RedirectArgs {
    #[command(subcommand)]
    what: What,
}

/// Who has the records.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Keeper {
    /// This system; changes are sent on
    Vsam,
    /// The handler
    Redir,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Redirect a cluster, or correct the address of its handler
    ///
    /// The table is made if it is not there. The cluster must be closed.
    #[command(after_help = "Example: holdfast redirect add -s /srv/bank BANK.ACCT --owner redir \
--to postgres://me@db/bank --table accounts")]
    Add {
        #[command(flatten)]
        place: Where,
        /// The cluster
        cluster: String,
        /// Who has the records
        #[arg(long)]
        owner: Keeper,
        /// The address of the handler; passwords stand in the file of PGPASSFILE
        #[arg(long, value_name = "ADDRESS")]
        to: String,
        /// The table, or the file of the other system; left out: named like the cluster
        #[arg(long, visible_alias = "file", value_name = "NAME")]
        table: Option<String>,
        /// The code page of text in its records, if it is not ASCII
        #[arg(long, value_name = "PAGE")]
        page: Option<String>,
        /// Send all records that are there already
        #[arg(long)]
        copy: bool,
    },
    /// List redirected clusters
    #[command(after_help = "Example: holdfast redirect list -s /srv/bank --json")]
    List(Where),
    /// End the redirection of a cluster
    #[command(after_help = "Example: holdfast redirect remove -s /srv/bank BANK.ACCT")]
    Remove {
        #[command(flatten)]
        place: Where,
        /// The cluster
        cluster: String,
        /// Give up changes that were not sent
        #[arg(long)]
        discard: bool,
    },
    /// Say what was not sent, and whether handlers can be reached
    #[command(after_help = "Example: holdfast redirect status -s /srv/bank")]
    Status {
        #[command(flatten)]
        place: Where,
        /// The cluster; left out: all
        cluster: Option<String>,
    },
    /// Send what was not sent, now
    #[command(after_help = "Example: holdfast redirect resend -s /srv/bank BANK.ACCT --all")]
    Resend {
        #[command(flatten)]
        place: Where,
        /// The cluster; left out: all
        cluster: Option<String>,
        /// Send all records anew
        #[arg(long)]
        all: bool,
    },
}

pub(super) fn run(context: &mut Context, args: &RedirectArgs) -> Result<ExitCode> {
    let (place, asked) = request(&args.what);
    let is_status = matches!(asked, RedirectRequest::Status { .. });
    let operation = Operation::Redirect(asked);
    let done: Redirected = perform(context, &place.system, &place.passphrase, &operation)?;
    if context.output.is_json() {
        context.output.document(&done)?;
    } else {
        show(context, &args.what, &done)?;
    }
    let is_wrong = done.clusters.iter().any(|one| one.problem.is_some());
    if is_status && is_wrong { Ok(ExitCode::FAILURE) } else { DONE }
}

/// What is asked, and of which system.
fn request(what: &What) -> (&Where, RedirectRequest) {
    match what {
        What::Add { place, cluster, owner, to, table, page, copy } => {
            let object = table.clone().unwrap_or_else(|| match to.starts_with('#') {
                true => cluster.clone(),
                false => cluster.to_ascii_lowercase().replace(['.', '-', '#', '@', '$'], "_"),
            });
            let owner = match owner {
                Keeper::Vsam => Owner::Vsam,
                Keeper::Redir => Owner::Redir,
            };
            let (file, to, page) = (cluster.clone(), to.clone(), page.clone());
            (place, RedirectRequest::Add { file, owner, to, object, page, copies: *copy })
        }
        What::List(place) => (place, RedirectRequest::List {}),
        What::Remove { place, cluster, discard } => {
            let request = RedirectRequest::Remove { file: cluster.clone(), discard: *discard };
            (place, request)
        }
        What::Status { place, cluster } => {
            (place, RedirectRequest::Status { file: cluster.clone() })
        }
        What::Resend { place, cluster, all } => {
            (place, RedirectRequest::Resend { file: cluster.clone(), all: *all })
        }
    }
}

fn show(context: &mut Context, what: &What, done: &Redirected) -> Result<()> {
    let output = &mut context.output;
    match what {
        What::Add { .. } => {
            for one in &done.clusters {
                output.line(format_args!("{} is redirected to {}", one.file, one.to))?;
            }
        }
        What::Remove { .. } => {
            for one in &done.clusters {
                output.line(format_args!("{} is not redirected any more", one.file))?;
            }
        }
        What::Resend { .. } => {}
        What::List(_) | What::Status { .. } if done.clusters.is_empty() => {
            output.line("nothing is redirected")?;
        }
        What::List(_) => {
            let head = ["cluster", "owner", "to", "there", "unsent"];
            let rows: Vec<Vec<String>> = done.clusters.iter().map(|one| row(one, false)).collect();
            output.table(&head, &rows)?;
        }
        What::Status { .. } => {
            let head = ["cluster", "owner", "to", "there", "unsent", "batch", "received"];
            let rows: Vec<Vec<String>> = done.clusters.iter().map(|one| row(one, true)).collect();
            output.table(&head, &rows)?;
            for one in &done.clusters {
                if let Some(problem) = &one.problem {
                    output.line(format_args!("{}: {problem}", one.file))?;
                }
            }
        }
    }
    if done.sent > 0 || matches!(what, What::Resend { .. }) {
        output.line(format_args!("changes sent: {}", count(done.sent)))?;
    }
    Ok(())
}

fn row(one: &RedirectedCluster, is_status: bool) -> Vec<String> {
    let owner = match one.owner {
        Owner::Vsam => "vsam",
        Owner::Redir => "redir",
    };
    let mut row =
        vec![one.file.clone(), owner.into(), one.to.clone(), one.object.clone(), count(one.unsent)];
    if is_status {
        row.push(count(one.batch));
        row.push(one.received.map_or_else(|| "-".to_owned(), count));
    }
    row
}
