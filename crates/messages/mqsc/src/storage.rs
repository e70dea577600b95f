//! Page sets, buffer pools and the log, as operators ask for them.
//!
//! | command | shows |
//! |---|---|
//! | `DISPLAY USAGE TYPE(PAGESET)` | each page set: its pages, how many were read and written, whether it is sealed, its messages |
//! | `DISPLAY USAGE TYPE(BUFFPOOL)` | each buffer pool: its buffers, and whether it had to write because of 85 or 95 % |
//! | `DISPLAY USAGE TYPE(DATASET)` | from where the log is needed, and where it ends |
//! | `DISPLAY LOG`, `DISPLAY ARCHIVE` | copies of the log; folders of archives |
//!
//! 1. What the system does not know is not shown: nothing here has a value of its own.

use queue_manager::QueueManager;
use queue_manager::objects::Kind;
use queue_manager::page_sets::PageSetStatus;
use queue_manager::storage::{DataSetFigures, PoolFigures, Storage, numbered, pool_name};
use store::Store;

use crate::command::{Command, Target};
use crate::define::noun;
use crate::display::Wanted;
use crate::error::SyntaxError;
use crate::failure::{CommandError, Done};
use crate::reply::{Field, MessageId, Reply};

/// Page sets and buffer pools are known by numbers: `4` is `04`.
pub(crate) fn number(command: &mut Command) {
    let by_number = matches!(command.target, Target::Object(Kind::PageSet | Kind::BufferPool));
    if let Some(name) = command.name.as_mut().filter(|_| by_number)
        && let Some(number) = numbered(&name.text)
    {
        name.text = number;
    }
}

/// What is known of the storage.
fn known<'m, S: Store>(
    manager: &'m QueueManager<S>,
    command: &Command,
) -> Result<&'m dyn Storage, CommandError> {
    let why = "nothing is known of the storage of a system that is not of the kernel";
    let refused = || CommandError::NotProvided { command: command.title.clone(), why };
    manager.storage().ok_or_else(refused)
}

fn yes(is: bool) -> &'static str {
    if is { "YES" } else { "NO" }
}

/// `DISPLAY USAGE`.
pub(crate) fn usage<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let types = ["ALL", "PAGESET", "BUFFPOOL", "DATASET", "SMDS"];
    let of_type = command.keywords.word("TYPE", &types)?.unwrap_or("ALL");
    let number = command.keywords.one_if_valued("PSID")?;
    let wanted = Wanted::read(&mut command.keywords)?;
    let storage = known(manager, &command)?;
    let number = match number.filter(|number| number.text != "*") {
        None => None,
        Some(value) => Some(numbered(&value.text).ok_or_else(|| SyntaxError::Value {
            keyword: "PSID".into(),
            value: value.text.clone(),
            why: "page sets have numbers from 0 to 99".into(),
            end: value.end,
        })?),
    };
    let shows = |what: &str| of_type == what || of_type == "ALL";
    let sets = manager.page_sets().all();
    let mut rows: Vec<(&str, Vec<Field>)> = Vec::new();
    if shows("PAGESET") {
        let meant = |one: &&PageSetStatus| {
            number.as_ref().is_none_or(|wanted| *wanted == format!("{:02}", one.number))
        };
        let own = sets.iter().filter(meant).map(|one| page_set_fields(storage, one));
        rows.extend(own.map(|row| ("Display page set usage details.", row)));
        if let (Some(number), true) = (number, rows.is_empty()) {
            return Err(CommandError::NotFound { what: noun(Kind::PageSet), name: number });
        }
    }
    if shows("BUFFPOOL") {
        let own = pools(manager, storage).into_iter();
        rows.extend(own.map(|row| ("Display buffer pool usage details.", row)));
    }
    if shows("DATASET") {
        let log = storage.log();
        let row = vec![
            Field::new("TYPE", "DATASET"),
            Field::new("RESTART", format!("{:016X}", log.restart_at)),
            Field::new("LATEST", format!("{:016X}", log.latest_at)),
        ];
        rows.push(("Display data set usage details.", row));
    }
    let words: Vec<String> =
        rows.iter().flat_map(|(_, row)| row.iter().map(|field| field.name.clone())).collect();
    wanted.check(&command.title, |keyword| words.iter().any(|word| word == keyword))?;
    let held = rows.into_iter().filter(|(_, row)| wanted.holds(row));
    let replies: Vec<Reply> = held
        .map(|(text, row)| {
            Reply::new(MessageId::done(8410), text).with(wanted.select(row, 2, true))
        })
        .collect();
    match replies.is_empty() {
        true => Err(CommandError::NoStatus { what: "Usage", number: 8420 }),
        false => Ok(replies),
    }
}

fn page_set_fields(storage: &dyn Storage, one: &PageSetStatus) -> Vec<Field> {
    let parts: Vec<DataSetFigures> =
        one.data_sets.iter().filter_map(|name| storage.data_set(name)).collect();
    let sum = |figure: fn(&DataSetFigures) -> u64| parts.iter().map(figure).sum::<u64>();
    let pages_bytes: u64 = parts.iter().map(|part| part.pages * part.page_bytes).sum();
    let sealed = !parts.is_empty() && parts.iter().all(|part| part.sealed);
    let pool = parts.first().map_or("", |part| &*part.pool);
    vec![
        Field::new("PSID", format!("{:02}", one.number)),
        Field::new("TYPE", "PAGESET"),
        Field::new("BUFFPOOL", one.pool),
        Field::new("POOL", pool),
        Field::new("TOTAL", sum(|part| part.pages)),
        Field::new("SIZEMB", pages_bytes.div_ceil(1 << 20)),
        Field::new("ENCRYPT", yes(sealed)),
        Field::new("GETPAGES", sum(|part| part.pages_got)),
        Field::new("WRTPAGES", sum(|part| part.pages_written)),
        Field::new("QUEUES", one.queues),
        Field::new("MESSAGES", one.messages),
    ]
}

/// Each buffer pool that is defined, with the pool that it is.
fn pools<S: Store>(manager: &QueueManager<S>, storage: &dyn Storage) -> Vec<Vec<Field>> {
    let all = storage.pools();
    let sets = manager.page_sets().all();
    let objects = manager.list(Kind::BufferPool, "*");
    let rows = objects.iter().map(|object| {
        let number: i64 = object.name.parse().unwrap_or(0);
        let own = pool_name(number);
        // Without a pool of its name it is the one that its page sets are in.
        let user = sets.iter().find(|one| one.pool == number);
        let used = user.and_then(|one| storage.data_set(&one.data_sets[0])).map(|set| set.pool);
        let named = all.iter().find(|pool| pool.name == own);
        let pool = named.or_else(|| all.iter().find(|pool| Some(&pool.name) == used.as_ref()));
        pool_fields(&object.name, object.text_of("LOCATION"), object.text_of("PAGECLAS"), pool)
    });
    rows.collect()
}

fn pool_fields(
    number: &str,
    location: &str,
    class: &str,
    pool: Option<&PoolFigures>,
) -> Vec<Field> {
    let figure = |figure: fn(&PoolFigures) -> u64| pool.map_or(0, figure);
    // The state that the pool has been in since the start: what it had to do most of all.
    let state = match pool {
        Some(pool) if pool.written_pressed > 0 => "SYNCHRONOUS",
        Some(pool) if pool.written_crowded > 0 => "DEFERRED",
        Some(_) => "NORMAL",
        None => "UNUSED",
    };
    vec![
        Field::new("BUFFPOOL", number),
        Field::new("TYPE", "BUFFPOOL"),
        Field::new("POOL", pool.map_or("", |pool| &*pool.name)),
        Field::new("BUFFERS", figure(|pool| pool.buffers)),
        Field::new("FREE", figure(|pool| pool.free)),
        Field::new("LOCATION", location),
        Field::new("PAGECLAS", class),
        Field::new("GETHIT", figure(|pool| pool.found)),
        Field::new("GETREAD", figure(|pool| pool.got)),
        Field::new("WRITTEN", figure(|pool| pool.written)),
        Field::new("DWT", figure(|pool| pool.written_crowded)),
        Field::new("SWT", figure(|pool| pool.written_pressed)),
        Field::new("STATE", state),
    ]
}

/// `DISPLAY LOG`.
pub(crate) fn log<S: Store>(manager: &QueueManager<S>, command: &Command) -> Done {
    command.keywords.end()?;
    let log = known(manager, command)?.log();
    let dual = |count: usize| if count > 1 { "YES" } else { "NO" };
    let mut replies = vec![Reply::new(MessageId::done(8410), "Display log details.").with(vec![
        Field::new("TYPE", "LOG"),
        Field::new("TWOACTV", dual(log.copies.len())),
        Field::new("TWOARCH", dual(log.archives.len())),
        Field::new("TWOBSDS", "YES"),
        Field::new("OFFLOAD", if log.archives.is_empty() { "OFF" } else { "ON" }),
        Field::new("ENCRYPT", yes(log.sealed)),
        Field::new("SEGMENTS", log.segments),
        Field::new("RESTART", format!("{:016X}", log.restart_at)),
        Field::new("LATEST", format!("{:016X}", log.latest_at)),
    ])];
    for (number, copy) in (1..).zip(&log.copies) {
        let fields = vec![
            Field::new("LOGCOPY", number),
            Field::new("TYPE", "COPY"),
            Field::new("STATUS", if copy.living { "ACTIVE" } else { "STALE" }),
            Field::new("DSNAME", &copy.place),
        ];
        replies.push(Reply::new(MessageId::done(8410), "Display log copy details.").with(fields));
    }
    Ok(replies)
}

/// `DISPLAY ARCHIVE`.
pub(crate) fn archive<S: Store>(manager: &QueueManager<S>, command: &Command) -> Done {
    command.keywords.end()?;
    let log = known(manager, command)?.log();
    let state = match (&log.archive_trouble, log.archives.is_empty()) {
        (_, true) => "OFF",
        (Some(_), false) => "STOPPED",
        (None, false) => "ON",
    };
    let mut fields = vec![Field::new("TYPE", "ARCHIVE"), Field::new("STATUS", state)];
    fields.extend(log.archive_trouble.iter().map(|why| Field::new("REASON", why)));
    let mut replies =
        vec![Reply::new(MessageId::done(8410), "Display archive details.").with(fields)];
    for (number, folder) in (1..).zip(&log.archives) {
        let fields = vec![
            Field::new("ARCHCOPY", number),
            Field::new("TYPE", "COPY"),
            Field::new("DSNAME", folder),
        ];
        replies
            .push(Reply::new(MessageId::done(8410), "Display archive copy details.").with(fields));
    }
    Ok(replies)
}

/// `ARCHIVE LOG`. Units of work need not end for it: archives have whatever was logged.
pub(crate) fn archive_log<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let _ = command.keywords.word("MODE", &["QUIESCE"])?;
    let _ = command.keywords.one("TIME")?;
    let _ = command.keywords.word("WAIT", &["YES", "NO"])?;
    command.keywords.end()?;
    match known(manager, &command)?.archive_log() {
        Ok(count) => Ok(vec![Reply::new(
            MessageId::done(8410),
            format!("The log is archived up to now; archives made: {count}."),
        )]),
        Err(why) => Err(CommandError::Storage { command: command.title.clone(), why }),
    }
}
