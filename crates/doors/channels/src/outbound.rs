//! A channel that connects: it tries the places of its connection name one after the other, and
//! waits before it tries again.
//!
//! 1. What another try may help against is tried again: so often after short waits, then so often
//!    after long ones, then never. A connection that was made lets the count begin anew.
//! 2. What only an operator can help against stops the channel.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use queue_manager::channel::{
    ChannelError, ChannelState, ChannelType, Instance, Receiver, ReceiverOptions,
};
use queue_manager::event::{ChannelEnd, Event};
use queue_manager::objects::Object;
use store::Store;

use crate::frame::{Frame, Role, Terms, VERSION};
use crate::handshake::{
    ANSWER, answer, is_who_it_says, lost, offer, partner, proposal, refuse, unexpected, welcome,
};
use crate::link::Link;
use crate::receiving::Receiving;
use crate::sending::{End, Sending};
use crate::shared::Shared;
use mqi::address::{Place, places};

/// What is waited at least before another try.
const BREATH: Duration = Duration::from_millis(50);
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// Runs a channel until it has ended, or is stopped.
pub(crate) fn run<S: Store>(shared: &Arc<Shared<S>>, channel: &str) {
    let Ok((object, of_type)) = shared.channels.definition(channel) else { return };
    let instance = shared.channels.instance(channel, of_type);
    let count = |name: &str| u32::try_from(object.number_of(name)).unwrap_or(u32::MAX);
    let (mut short, mut long) = (count("SHORTRTY"), count("LONGRTY"));
    loop {
        instance.update(|status| {
            (status.short_retries, status.long_retries) = (short, long);
            status.state = ChannelState::Binding;
        });
        let mut met = false;
        let ended = attempt(shared, &object, &instance, &mut met);
        if met {
            (short, long) = (count("SHORTRTY"), count("LONGRTY"));
        }
        let error = match ended {
            Ok(_) => return tell(shared, &object, ChannelEnd::Ok, None),
            Err(error) if instance.stops().is_some() || shared.is_closed() => {
                return tell(shared, &object, ChannelEnd::Ok, Some(&error));
            }
            Err(error) => error,
        };
        instance.update(|status| status.trouble = error.to_string());
        let wait = match (short, long) {
            _ if !error.passes() => None,
            (0, 0) => None,
            (0, _) => {
                long -= 1;
                Some(object.number_of("LONGTMR"))
            }
            _ => {
                short -= 1;
                Some(object.number_of("SHORTTMR"))
            }
        };
        let Some(seconds) = wait else {
            // If that cannot be noted, the store has failed, and the system with it.
            let _ = shared.channels.set_stopped(channel, true);
            shared.notice(format!("channel {channel} is stopped: {error}"));
            return tell(shared, &object, ChannelEnd::Disabled, Some(&error));
        };
        tell(shared, &object, ChannelEnd::Retry, Some(&error));
        instance.update(|status| {
            (status.short_retries, status.long_retries) = (short, long);
            status.state = ChannelState::Retrying;
        });
        let time = Duration::from_secs(seconds.unsigned_abs()).max(BREATH);
        if !shared.pause(time, &|| instance.stops().is_some()) {
            return;
        }
    }
}

fn tell<S: Store>(
    shared: &Shared<S>,
    object: &Object,
    end: ChannelEnd,
    error: Option<&ChannelError>,
) {
    let (connection, queue) = (object.text_of("CONNAME"), object.text_of("XMITQ"));
    let number = match error {
        Some(ChannelError::Call { reason, .. } | ChannelError::Undeliverable { reason, .. }) => {
            reason.0
        }
        _ => 0,
    };
    let channel = &*object.name;
    let event = Event::ChannelStopped { channel, connection, queue, end, error: number };
    shared.channels.tell(&event);
}

/// One connection, from its beginning to its end.
fn attempt<S: Store>(
    shared: &Arc<Shared<S>>,
    object: &Object,
    instance: &Instance,
    met: &mut bool,
) -> Result<End, ChannelError> {
    let channel = &*object.name;
    if ChannelType::of(object.text_of("CHLTYPE")) == Some(ChannelType::Requester) {
        return request(shared, object, instance, met);
    }
    // First the queue: there is no need to disturb a partner with a channel that cannot send.
    let mut sender = shared.channels.sender(channel)?;
    let mut link = connect(shared, object, instance)?;
    let _cut = shared.watch(channel, "", &link)?;
    instance.update(|status| {
        status.transmission_queue = sender.queue_name();
        status.state = ChannelState::Starting;
    });
    let manager = shared.channels.manager_name();
    let terms = offer(&mut link, &mut sender, instance, (object, manager))?;
    *met = true;
    begun(shared, object, instance, &link);
    let (link, sender, clock) = (&mut link, &mut sender, Arc::clone(&shared.clock));
    Sending { link, sender, instance, terms, clock }.run(object)
}

/// Shows that a channel runs.
pub(crate) fn begun<S: Store>(
    shared: &Shared<S>,
    object: &Object,
    instance: &Instance,
    link: &Link,
) {
    instance.update(|status| {
        if status.state != ChannelState::Stopping {
            status.state = ChannelState::Running;
        }
        status.trouble.clear();
        status.cipher = link.cipher().to_owned();
    });
    let connection = link.peer().to_string();
    let (channel, queue) = (&*object.name, object.text_of("XMITQ"));
    let event = Event::ChannelStarted { channel, connection: &connection, queue };
    shared.channels.tell(&event);
}

/// Asks a server to send, and receives.
fn request<S: Store>(
    shared: &Arc<Shared<S>>,
    object: &Object,
    instance: &Instance,
    met: &mut bool,
) -> Result<End, ChannelError> {
    let channel = &*object.name;
    let mut link = connect(shared, object, instance)?;
    let _cut = shared.watch(channel, "", &link)?;
    instance.update(|status| status.state = ChannelState::Requesting);
    let manager = shared.channels.manager_name();
    let hello = Frame::Hello {
        version: VERSION,
        role: Role::Requests,
        terms: proposal(object),
        channel: channel.to_owned(),
        manager: manager.to_owned(),
    };
    link.send(&hello).map_err(lost(channel))?;
    let hello = answer(&mut link, channel, ANSWER)?;
    let Frame::Hello { role: Role::Sends, terms, manager: theirs, .. } = hello else {
        return Err(unexpected(channel));
    };
    is_who_it_says(shared, &link, channel, &theirs)?;
    instance.update(|status| status.partner.clone_from(&theirs));
    let options = receiver_options(object, &link, object.text_of("MCAUSER"));
    let mut receiver = shared.channels.receiver(channel, &theirs, options)?;
    let terms = welcome(&mut link, &mut receiver, instance, (object, manager), &terms)?;
    *met = true;
    begun(shared, object, instance, &link);
    let done = receive(shared, channel, (&mut link, &mut receiver), instance, terms);
    if let Err(error) = &done {
        refuse(&mut link, error);
    }
    done
}

/// How a channel of that definition receives.
pub(crate) fn receiver_options(object: &Object, link: &Link, user: &str) -> ReceiverOptions {
    let number = |name: &str| u32::try_from(object.number_of(name)).unwrap_or(0);
    ReceiverOptions {
        user: queue_manager::channel::admission::user_of(user),
        checks_context: object.is("PUTAUT", "CTX"),
        connection_name: link.peer().to_string(),
        uses_dead_letters: object.is("USEDLQ", "YES"),
        sequence_max: object.number_of("SEQWRAP").unsigned_abs(),
        retries: number("MRRTY"),
        retry_wait: Duration::from_millis(u64::from(number("MRTMR"))),
    }
}

/// Receives over a connection on which everything is agreed on.
pub(crate) fn receive<S: Store>(
    shared: &Shared<S>,
    channel: &str,
    (link, receiver): (&mut Link, &mut Receiver<S>),
    instance: &Instance,
    terms: Terms,
) -> Result<End, ChannelError> {
    let pause = |time| shared.pause(time, &|| instance.stops().is_some());
    let now_ms = || shared.channels.now_ms();
    let notice = |text| shared.notice(text);
    let notice = &notice as &dyn Fn(String);
    let (pause, now_ms) = (&pause as &dyn Fn(Duration) -> bool, &now_ms as &dyn Fn() -> u64);
    Receiving { link, receiver, instance, terms, pause, now_ms, notice }.run(channel)
}

/// Connects to the first place of the connection name that lets it.
pub(crate) fn connect<S: Store>(
    shared: &Shared<S>,
    object: &Object,
    instance: &Instance,
) -> Result<Link, ChannelError> {
    let channel = &*object.name;
    let definition = |why: String| ChannelError::Definition { channel: channel.into(), why };
    let name = object.text_of("CONNAME");
    let all = places(name).ok_or_else(|| definition(format!("CONNAME({name}) is no address")))?;
    let mut trouble = "CONNAME names no address".to_owned();
    for place in all {
        let addresses = match place.addresses() {
            Ok(addresses) => addresses,
            Err(error) => {
                trouble = format!("{} is not known: {error}", place.host);
                continue;
            }
        };
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(socket) => {
                    instance.update(|status| status.connection_name = address.to_string());
                    return secure(shared, object, (socket, &place));
                }
                Err(error) => trouble = format!("{address} cannot be connected to: {error}"),
            }
        }
    }
    Err(partner(channel, trouble))
}

/// Makes a connection one over TLS, where the definition wants that.
fn secure<S: Store>(
    shared: &Shared<S>,
    object: &Object,
    (socket, place): (TcpStream, &Place),
) -> Result<Link, ChannelError> {
    let channel = &*object.name;
    let definition = |why: &str| {
        let why = why.to_owned();
        ChannelError::Definition { channel: channel.into(), why }
    };
    let failed = |error: std::io::Error| partner(channel, format!("no connection: {error}"));
    let clock = Arc::clone(&shared.clock);
    if object.text_of("SSLCIPH").is_empty() {
        let here = socket.peer_addr().is_ok_and(|address| address.ip().is_loopback());
        if !here {
            return Err(definition("it has no SSLCIPH, and leads to another machine"));
        }
        let deadline = clock.monotonic() + CONNECT;
        let mut link = Link::plain(socket, clock, deadline).map_err(failed)?;
        link.lift_deadline().map_err(failed)?;
        return Ok(link);
    }
    let Some(keys) = &shared.keys else {
        return Err(definition("it has SSLCIPH, and the system has no certificate for channels"));
    };
    let link = Link::to(socket, &place.host, keys, clock).map_err(failed)?;
    let wanted = object.text_of("SSLPEER");
    let matches = |subject| queue_manager::channel::admission::name_matches(wanted, subject);
    if !wanted.is_empty() && !link.subject().is_some_and(matches) {
        return Err(partner(channel, "the certificate of the other end is not one of SSLPEER"));
    }
    Ok(link)
}

/// Sends bytes to the other end of a channel, and waits for them.
pub(crate) fn ping<S: Store>(
    shared: &Shared<S>,
    channel: &str,
    bytes: usize,
) -> Result<(), ChannelError> {
    let (object, of_type) = shared.channels.definition(channel)?;
    if object.text_of("CONNAME").is_empty() {
        let is = of_type.word().to_owned();
        return Err(ChannelError::WrongType { channel: channel.into(), is });
    }
    let instance = shared.channels.instance(channel, of_type);
    let mut link = connect(shared, &object, &instance)?;
    let hello = Frame::Hello {
        version: VERSION,
        role: Role::Pings,
        terms: proposal(&object),
        channel: channel.to_owned(),
        manager: shared.channels.manager_name().to_owned(),
    };
    link.send(&hello).map_err(lost(channel))?;
    let Frame::Welcome { .. } = answer(&mut link, channel, ANSWER)? else {
        return Err(unexpected(channel));
    };
    let data: Vec<u8> = (0..bytes).map(|at| at as u8).collect();
    link.send(&Frame::Ping(data.clone())).map_err(lost(channel))?;
    match answer(&mut link, channel, ANSWER)? {
        Frame::Pong(back) if back == data => Ok(()),
        _ => Err(unexpected(channel)),
    }
}
