//! What comes in: connections of partners that send, that ask to be sent to, or that only ping.
//!
//! 1. No partner is told anything of a channel before its records have let it in.
//! 2. In the clear, only this machine is let in; a channel with `SSLCIPH` wants TLS even then.
//! 3. The certificate with which a queue manager comes first is the one it always comes with:
//!    nobody
//!    whom the channel lets in, too, takes its place.
//! 4. Over TLS a partner shows a certificate, unless the channel says `SSLCAUTH(OPTIONAL)`.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use queue_manager::channel::admission::{Caller, name_matches};
use queue_manager::channel::{ChannelError, ChannelState, ChannelType, Instance};
use queue_manager::event::{Blocked, Event};
use queue_manager::objects::Object;
use store::Store;

use crate::frame::{CONTROL_BYTES_MAX, Frame, Role, Terms, VERSION};
use crate::handshake::{
    is_who_it_says, lost, offer, partner, proposal, refuse, unexpected, welcome,
};
use crate::link::Link;
use crate::outbound::{begun, receive, receiver_options};
use crate::place::Place;
use crate::sending::Sending;
use crate::shared::Shared;

/// How long a partner that connects may take, with all of its handshake, to say what for.
const GREETING: Duration = Duration::from_secs(10);
/// How long a new connection of a partner waits for the end of its old one.
const TAKE_PLACE: Duration = Duration::from_secs(30);
/// The first byte of a handshake of TLS.
const HANDSHAKE: u8 = 0x16;

/// Serves a connection to its end.
pub(crate) fn serve<S: Store>(shared: &Arc<Shared<S>>, socket: TcpStream, seat: &mut Place<S>) {
    let Ok((mut link, hello)) = greeting(shared, socket) else { return };
    let Some(Frame::Hello { version, role, terms, channel, manager }) = hello else { return };
    if !seat.greeted() {
        let error = partner(&channel, "all places for partners are taken");
        return refuse(&mut link, &error);
    }
    if version != VERSION {
        let error = partner(&channel, format!("version {VERSION} is spoken here"));
        return refuse(&mut link, &error);
    }
    let guest = Guest { role, terms, channel, manager };
    if let Err(error) = guest.serve(shared, &mut link) {
        refuse(&mut link, &error);
        if !matches!(error, ChannelError::Partner { .. }) {
            shared.notice(format!("channel {}: {error}", guest.channel));
        }
    }
}

/// What a connection says first.
fn greeting<S: Store>(shared: &Shared<S>, socket: TcpStream) -> io::Result<(Link, Option<Frame>)> {
    let deadline = shared.clock.monotonic() + GREETING;
    let mut link = accept(shared, socket, deadline)?;
    let left = deadline.saturating_sub(shared.clock.monotonic());
    let hello = link.receive(CONTROL_BYTES_MAX, left, &|| shared.is_closed())?;
    link.lift_deadline()?;
    Ok((link, hello))
}

fn accept<S: Store>(shared: &Shared<S>, socket: TcpStream, deadline: Duration) -> io::Result<Link> {
    socket.set_read_timeout(Some(GREETING))?;
    let mut first = [0];
    if socket.peek(&mut first)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let clock = Arc::clone(&shared.clock);
    match (&shared.keys, first[0]) {
        (Some(keys), HANDSHAKE) => Link::from(socket, keys, clock, deadline),
        (_, HANDSHAKE) => Err(io::Error::other("the system has no certificate for channels")),
        _ if socket.peer_addr()?.ip().is_loopback() => Link::plain(socket, clock, deadline),
        _ => Err(io::Error::other("other machines are let in over TLS only")),
    }
}

/// Who has come.
struct Guest {
    role: Role,
    terms: Terms,
    channel: String,
    manager: String,
}

impl Guest {
    fn serve<S: Store>(
        &self,
        shared: &Arc<Shared<S>>,
        link: &mut Link,
    ) -> Result<(), ChannelError> {
        let channel = &*self.channel;
        let (user, object, of_type) = self.admit(shared, link)?;
        if shared.channels.is_stopped(channel) {
            return Err(ChannelError::Stopped(channel.into()));
        }
        if self.role == Role::Pings {
            return self.pong(link, &object);
        }
        let fits = match self.role {
            Role::Sends => !of_type.sends(),
            _ => of_type == ChannelType::Server,
        };
        if !fits {
            let is = of_type.word().to_owned();
            return Err(ChannelError::WrongType { channel: channel.into(), is });
        }
        let instance = shared.channels.instance(channel, of_type);
        instance.update(|status| {
            status.state = ChannelState::Starting;
            status.connection_name = link.peer().to_string();
            status.partner.clone_from(&self.manager);
            status.user.clone_from(&user);
        });
        match self.role {
            Role::Sends => self.receive(shared, link, (&object, &user), &instance),
            _ => send(shared, link, &object, &instance),
        }
    }

    /// Lets the guest in, or not. Answers as whom.
    fn admit<S: Store>(
        &self,
        shared: &Shared<S>,
        link: &Link,
    ) -> Result<(String, Arc<Object>, ChannelType), ChannelError> {
        let channel = &*self.channel;
        let refused = |why: &str| partner(channel, why);
        let caller = Caller {
            channel,
            address: link.peer().ip(),
            subject: link.subject(),
            partner: Some(&self.manager),
            user: None,
        };
        let admitted = shared.channels.admit(&caller);
        let address = link.peer().ip().to_string();
        let blocked = |warns| {
            let (address, who) = (&*address, Blocked::NoAccess);
            shared.channels.tell(&Event::ChannelBlocked { channel, address, who, warns });
        };
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(why) => {
                blocked(false);
                shared.notice(format!("channel {channel}: {} is not let in: {why}", self.manager));
                return Err(refused("the channel authentication records do not let it in"));
            }
        };
        if let Some(why) = &admitted.warning {
            blocked(true);
            shared
                .notice(format!("channel {channel}: {} would not be let in: {why}", self.manager));
        }
        let (object, of_type) = shared.channels.definition(channel)?;
        let wants_tls = !object.text_of("SSLCIPH").is_empty();
        if wants_tls && link.cipher().is_empty() {
            return Err(refused("it is for connections over TLS only"));
        }
        let secured = !link.cipher().is_empty();
        if secured && !object.is("SSLCAUTH", "OPTIONAL") && link.subject().is_none() {
            return Err(refused("it is for partners with a certificate only"));
        }
        let peer = object.text_of("SSLPEER");
        let matches = |subject| name_matches(peer, subject);
        if !peer.is_empty() && !link.subject().is_some_and(matches) {
            return Err(refused("the certificate is not one of SSLPEER"));
        }
        Ok((admitted.user, object, of_type))
    }

    fn pong(&self, link: &mut Link, object: &Object) -> Result<(), ChannelError> {
        let channel = &*self.channel;
        let manager = String::new();
        let terms = proposal(object);
        let welcome = Frame::Welcome { terms, last: 0, sequence: 0, manager };
        link.send(&welcome).map_err(lost(channel))?;
        let asked = link.receive(CONTROL_BYTES_MAX, GREETING, &|| false);
        match asked.map_err(lost(channel))? {
            Some(Frame::Ping(bytes)) => link.send(&Frame::Pong(bytes)).map_err(lost(channel)),
            _ => Err(unexpected(channel)),
        }
    }

    /// Receives what the guest sends.
    fn receive<S: Store>(
        &self,
        shared: &Arc<Shared<S>>,
        link: &mut Link,
        (object, user): (&Object, &str),
        instance: &Instance,
    ) -> Result<(), ChannelError> {
        let channel = &*self.channel;
        is_who_it_says(shared, link, channel, &self.manager)?;
        let options = receiver_options(object, link, user);
        let begin = || shared.channels.receiver(channel, &self.manager, options.clone());
        let mut receiver = match begin() {
            Err(ChannelError::InUse(_)) => {
                // Its last connection is not known to be gone yet: this one takes its place.
                shared.cut(|name, partner| name == channel && partner == self.manager);
                self.wait_for(shared, begin)?
            }
            begun => begun?,
        };
        let _cut = shared.watch(channel, &self.manager, link)?;
        let manager = shared.channels.manager_name();
        let terms = welcome(link, &mut receiver, instance, (object, manager), &self.terms)?;
        begun(shared, object, instance, link);
        receive(shared, channel, (link, &mut receiver), instance, terms).map(drop)
    }

    /// Waits until a claim is free.
    fn wait_for<S: Store, T>(
        &self,
        shared: &Shared<S>,
        begin: impl Fn() -> Result<T, ChannelError>,
    ) -> Result<T, ChannelError> {
        let deadline = shared.clock.monotonic() + TAKE_PLACE;
        loop {
            match begin() {
                Err(ChannelError::InUse(_)) if shared.clock.monotonic() < deadline => {
                    if !shared.pause(Duration::from_millis(20), &|| false) {
                        return Err(ChannelError::InUse(self.channel.clone()));
                    }
                }
                begun => return begun,
            }
        }
    }
}

/// Sends to a requester that has come.
fn send<S: Store>(
    shared: &Arc<Shared<S>>,
    link: &mut Link,
    object: &Object,
    instance: &Instance,
) -> Result<(), ChannelError> {
    let channel = &*object.name;
    let mut sender = shared.channels.sender(channel)?;
    instance.update(|status| status.transmission_queue = sender.queue_name());
    let _cut = shared.watch(channel, "", link)?;
    let manager = shared.channels.manager_name();
    let terms = offer(link, &mut sender, instance, (object, manager))?;
    begun(shared, object, instance, link);
    let (sender, clock) = (&mut sender, Arc::clone(&shared.clock));
    Sending { link, sender, instance, terms, clock }.run(object).map(drop)
}
