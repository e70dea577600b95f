//! Channels and listeners that run: `START`, `STOP`, `PING`, `RESET`, `RESOLVE`, and their status.
//!
//! 1. The door that runs channels is asked to; where there is none, a command says so and does
//!    nothing but what it can keep: that a channel is stopped, or its sequence number.
//! 2. Status is that of now; what is kept of channels that do not run is shown with `SAVED`.

use queue_manager::QueueManager;
use queue_manager::channel::{
    ChannelError, ChannelStatus, ChannelType, SenderState, StopMode, StopRequest, WasReset,
};
use queue_manager::name::matches_generic;
use queue_manager::objects::Kind;
use store::Store;

use crate::command::{Command, Verb};
use crate::define::{find, not_found};
use crate::display::{Wanted, is_generic};
use crate::error::SyntaxError;
use crate::failure::{CommandError, Done};
use crate::moment::{date_and_time, if_any};
use crate::reply::{Field, MessageId, Reply};

fn done(number: u16, text: &str) -> Done {
    Ok(vec![Reply::new(MessageId::done(number), text)])
}

pub(crate) fn run<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let channel = command.named()?.text.trim_end().to_owned();
    match command.verb {
        Verb::Start => {
            command.keywords.end()?;
            manager.channels().start(&channel)?;
            done(8018, "Start channel accepted.")
        }
        Verb::Stop => stop(manager, command, channel),
        Verb::Ping => {
            let bytes = number(&mut command, "DATALEN", (16, 32_768))?.unwrap_or(64);
            command.keywords.end()?;
            let channels = manager.channels();
            channels.definition(&channel)?;
            channels.initiator()?.ping(&channel, usize::try_from(bytes).unwrap_or(64))?;
            done(8020, "Ping channel complete.")
        }
        Verb::Reset => {
            let next = number(&mut command, "SEQNUM", (1, 999_999_999))?.unwrap_or(1);
            command.keywords.end()?;
            let was_reset = manager.channels().reset(&channel, next)?;
            done(8023, &format!("Channel reset complete.{}", after_reset(&was_reset, next)))
        }
        _ => {
            let action = command.keywords.word("ACTION", &["COMMIT", "BACKOUT"])?;
            command.keywords.end()?;
            let Some(action) = action else {
                let (command, end) = (command.title.clone(), command.keywords.end_of_text());
                return Err(SyntaxError::Missing { command, keyword: "ACTION", end }.into());
            };
            manager.channels().resolve(&channel, action == "COMMIT")?;
            done(8025, "Channel resolved.")
        }
    }
}

/// What a reset did at a receiver's end; nothing for a sender.
fn after_reset(was_reset: &WasReset, next: u64) -> String {
    let WasReset { partners, certificates } = was_reset;
    let mut text = String::new();
    if !partners.is_empty() {
        text += &format!(" The next message of {} has number {next}.", partners.join(", "));
    }
    if !certificates.is_empty() {
        text += &format!(" {} may come with another certificate.", certificates.join(", "));
    }
    text
}

fn number(
    command: &mut Command,
    keyword: &str,
    (low, high): (u64, u64),
) -> Result<Option<u64>, SyntaxError> {
    let Some(value) = command.keywords.one(keyword)? else { return Ok(None) };
    match value.text.trim().parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(Some(number)),
        _ => Err(SyntaxError::Value {
            keyword: keyword.to_owned(),
            value: value.text,
            why: format!("it takes a number from {low} to {high}"),
            end: value.end,
        }),
    }
}

fn stop<S: Store>(manager: &QueueManager<S>, mut command: Command, channel: String) -> Done {
    let mode = command.keywords.word("MODE", &["QUIESCE", "FORCE", "TERMINATE"])?;
    let status = command.keywords.word("STATUS", &["STOPPED", "INACTIVE"])?;
    let partner = command.keywords.one("QMNAME")?;
    command.keywords.end()?;
    let mode = match mode {
        Some("FORCE" | "TERMINATE") => StopMode::Force,
        _ => StopMode::Quiesce,
    };
    let partner = partner.map(|value| value.text.trim_end().to_owned());
    // One instance that is stopped leaves the channel to others.
    let inactive = status.map_or(partner.is_some(), |status| status == "INACTIVE");
    manager.channels().stop(&StopRequest { channel, mode, inactive, partner })?;
    done(8019, "Stop channel accepted.")
}

pub(crate) fn listener<S: Store>(manager: &QueueManager<S>, command: &Command) -> Done {
    let name = match &command.name {
        Some(_) => command.named()?.text.trim_end().to_owned(),
        None => "SYSTEM.DEFAULT.LISTENER.TCP".to_owned(),
    };
    command.keywords.end()?;
    if find(manager, Kind::Listener, &name).is_none() {
        return Err(not_found(Kind::Listener, &name));
    }
    let initiator = manager.channels().initiator()?;
    if command.verb == Verb::Start {
        initiator.listen(&name)?;
        return done(8021, "Request to start listener accepted.");
    }
    match initiator.end_listener(&name) {
        true => done(8706, "Request to stop listener accepted."),
        false => Err(CommandError::NotFound { what: "Listener status", name }),
    }
}

pub(crate) fn listener_status<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    const WORDS: &[&str] = &["LISTENER", "STATUS", "PORT", "IPADDR", "STARTDA", "STARTTI", "CONNS"];
    let name = command.named()?.text.trim_end().to_owned();
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| WORDS.contains(&keyword))?;
    let running = match manager.channels().initiator() {
        Ok(initiator) => initiator.listeners(),
        Err(ChannelError::NoInitiator) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let rows = running.iter().filter(|one| matches_generic(&one.name, &name)).map(|one| {
        let (date, time) = date_and_time(one.started_ms);
        vec![
            Field::new("LISTENER", &one.name),
            Field::new("STATUS", "RUNNING"),
            Field::new("PORT", one.address.port()),
            Field::new("IPADDR", one.address.ip()),
            Field::new("STARTDA", date),
            Field::new("STARTTI", time),
            Field::new("CONNS", one.connections),
        ]
    });
    let replies: Vec<Reply> = rows
        .filter(|row| wanted.holds(row))
        .map(|row| {
            let fields = wanted.select(row, 2, !is_generic(&name));
            Reply::new(MessageId::done(8631), "Display listener status details.").with(fields)
        })
        .collect();
    match replies.is_empty() {
        true => Err(CommandError::NotFound { what: "Listener status", name }),
        false => Ok(replies),
    }
}

const STATUS_WORDS: &[&str] = &[
    "BATCHES",
    "BATCHSZ",
    "BYTSRCVD",
    "BYTSSENT",
    "CHANNEL",
    "CHLTYPE",
    "CHSTADA",
    "CHSTATI",
    "CONNAME",
    "CURLUWID",
    "CURMSGS",
    "CURSEQNO",
    "HBINT",
    "INDOUBT",
    "LASTLUWID",
    "LASTSEQNO",
    "LONGRTS",
    "LSTMSGDA",
    "LSTMSGTI",
    "MCASTAT",
    "MCAUSER",
    "MSGS",
    "NPMSPEED",
    "RQMNAME",
    "SECPROT",
    "SHORTRTS",
    "SSLCIPH",
    "STATUS",
    "STOPREQ",
    "SUBSTATE",
    "XMITQ",
];

/// What is shown of every channel, whatever is asked for.
const HEAD: usize = 7;

pub(crate) fn status<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    let saved = command.keywords.flag("SAVED")?;
    let _ = (command.keywords.flag("CURRENT")?, command.keywords.flag("SHORT")?);
    let connection = command.keywords.one_if_valued("CONNAME")?;
    let queue = command.keywords.one_if_valued("XMITQ")?;
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| STATUS_WORDS.contains(&keyword))?;
    let channels = manager.channels();
    let mut all = if saved { kept(manager)? } else { channels.statuses() };
    let fits = |given: &Option<crate::syntax::Value>, own: &str| {
        given.as_ref().is_none_or(|given| matches_generic(own, given.text.trim_end()))
    };
    all.retain(|one| {
        matches_generic(&one.channel, &name)
            && fits(&connection, &one.connection_name)
            && fits(&queue, &one.transmission_queue)
    });
    let rows = all.iter().map(|one| fields(one, saved)).filter(|row| wanted.holds(row));
    let replies: Vec<Reply> = rows
        .map(|row| {
            let fields = wanted.select(row, HEAD, !is_generic(&name));
            Reply::new(MessageId::done(8417), "Display Channel Status details.").with(fields)
        })
        .collect();
    match replies.is_empty() {
        true => Err(CommandError::NoStatus { what: "Channel Status", number: 8420 }),
        false => Ok(replies),
    }
}

/// What is kept of every channel.
fn kept<S: Store>(manager: &QueueManager<S>) -> Result<Vec<ChannelStatus>, CommandError> {
    let channels = manager.channels();
    let mut all = Vec::new();
    for object in manager.list(Kind::Channel, "*") {
        let Some(of_type) = ChannelType::of(object.text_of("CHLTYPE")) else { continue };
        let mut status = ChannelStatus::new(&object.name, of_type);
        status.connection_name = object.text_of("CONNAME").to_owned();
        status.transmission_queue = object.text_of("XMITQ").to_owned();
        if of_type.sends() {
            let state = channels.sender_state(&object.name)?;
            if state != SenderState::default() {
                status.progress.done(state.last, state.sequence);
                status.progress.in_doubt = !state.in_doubt.is_none();
                (status.progress.batch, status.progress.sequence) =
                    (state.in_doubt, state.in_doubt_sequence);
                all.push(status);
            }
            continue;
        }
        for (partner, state) in channels.partners(&object.name)? {
            let mut one = ChannelStatus { partner, ..status.clone() };
            one.progress.done(state.last, state.sequence);
            all.push(one);
        }
    }
    Ok(all)
}

fn yes(is: bool) -> &'static str {
    if is { "YES" } else { "NO" }
}

fn fields(one: &ChannelStatus, saved: bool) -> Vec<Field> {
    let mut fields = vec![
        Field::new("CHANNEL", &one.channel),
        Field::new("CHLTYPE", one.of_type.word()),
        Field::new("CONNAME", &one.connection_name),
        Field::word(if saved { "SAVED" } else { "CURRENT" }),
        Field::new("RQMNAME", &one.partner),
        Field::new("STATUS", if saved { "INACTIVE" } else { one.state.word() }),
        Field::new("XMITQ", &one.transmission_queue),
        Field::new("CURLUWID", one.progress.batch),
        Field::new("CURMSGS", one.progress.batch_messages),
        Field::new("CURSEQNO", one.progress.sequence.0),
        Field::new("INDOUBT", yes(one.progress.in_doubt)),
        Field::new("LASTLUWID", one.progress.last_batch),
        Field::new("LASTSEQNO", one.progress.last_sequence.0),
    ];
    if saved {
        return fields;
    }
    let (last_date, last_time) = if_any(one.progress.last_message_ms);
    let (date, time) = if_any((one.started_ms > 0).then_some(one.started_ms));
    let running = one.started_ms > 0;
    let stops = one.state.word() == "STOPPING";
    fields.extend([
        Field::new("BATCHES", one.traffic.batches),
        Field::new("BATCHSZ", one.batch_size),
        Field::new("BYTSRCVD", one.traffic.bytes_received),
        Field::new("BYTSSENT", one.traffic.bytes_sent),
        Field::new("CHSTADA", date),
        Field::new("CHSTATI", time),
        Field::new("HBINT", one.heartbeat_s),
        Field::new("LONGRTS", one.long_retries),
        Field::new("LSTMSGDA", last_date),
        Field::new("LSTMSGTI", last_time),
        Field::new("MCASTAT", if running { "RUNNING" } else { "STOPPED" }),
        Field::new("MCAUSER", &one.user),
        Field::new("MSGS", one.traffic.messages),
        Field::new("NPMSPEED", if one.fast { "FAST" } else { "NORMAL" }),
        Field::new("SECPROT", if one.cipher.is_empty() { "NONE" } else { "TLSV13" }),
        Field::new("SHORTRTS", one.short_retries),
        Field::new("SSLCIPH", &one.cipher),
        Field::new("STOPREQ", yes(stops)),
        Field::new("SUBSTATE", ""),
    ]);
    fields
}
