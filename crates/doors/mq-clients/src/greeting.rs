//! Who a program is, by which channel it comes in, and as whom it works.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mqi::server::{About, Calls, is_asked_for, welcome};
use mqi::wire::codec::Writer;
use mqi::wire::frame::{self, DATA_BYTES_MAX, Incoming};
use mqi::wire::{Connecting, Credentials, Entry, Request};
use queue_manager::channel::admission::{Caller, UNNAMED_USER, name_matches};
use queue_manager::event::{Blocked, Event};
use queue_manager::name::unpadded;
use queue_manager::objects::{Kind, Object};
use queue_manager::options::ConnectOptions;
use queue_manager::reason::Answer;
use queue_manager::{Failed, Reason};
use store::Store;

use crate::link::{Link, Terms};
use crate::places::{Client, Held, Limits};
use crate::shared::{Shared, Standing};

/// How long a program that connects has to be let in.
pub const GREETING: Duration = Duration::from_secs(10);
/// The most bytes of what a program says first.
const FIRST_BYTES_MAX: usize = 16 << 10;
/// A secured connection is asked for.
const SECURED_ONLY: Reason = Reason::SSL_INITIALIZATION_ERROR;
/// The certificate is not one that the channel takes.
const PEER_NAME_MISMATCH: Reason = Reason(2398);

/// A program that was let in.
pub(crate) struct Guest {
    pub(crate) calls: Box<dyn Calls>,
    /// Of the channel's messages.
    pub(crate) longest: usize,
    /// Whom it is let in as.
    pub(crate) standing: Standing,
    /// Its places, as long as it is here.
    pub(crate) _places: Held,
}

/// What a program has shown of itself.
struct Shown {
    user: Option<String>,
    /// Nobody, whom only a system without users lets in.
    nobody: bool,
    subject: Option<String>,
}

/// Finds out who has come, and answers; `None`: a program that is not let in.
pub(crate) fn greet<S: Store>(
    shared: &Shared<S>,
    incoming: &mut Incoming<Link>,
) -> io::Result<Option<Guest>> {
    let Some((header, fields)) = incoming.begin_within(FIRST_BYTES_MAX, 0)? else {
        return Ok(None);
    };
    let Some(Request::Enter(entry, connecting)) = Request::read(header.kind, &fields) else {
        let mut fields = Writer::new();
        fields.number(2).number(Reason::HCONN_ERROR.0);
        frame::send(&mut incoming.get_ref(), header.kind, &fields.into_bytes(), &[])?;
        return Ok(None);
    };
    let link = incoming.get_ref();
    let admitted = admit(shared, link, &entry, &connecting);
    let number = admitted.as_ref().map(|(guest, _)| guest.calls.number()).map_err(|no| *no);
    let fields = welcome(&About::of(&shared.manager), number);
    frame::send(&mut incoming.get_ref(), header.kind, &fields, &[])?;
    let Ok((guest, terms)) = admitted else { return Ok(None) };
    incoming.get_ref().let_in(terms)?;
    Ok(Some(guest))
}

fn admit<S: Store>(
    shared: &Shared<S>,
    link: &Link,
    entry: &Entry,
    connecting: &Connecting,
) -> Answer<(Guest, Terms)> {
    let address = link.peer().ip().to_canonical();
    let shown = prove(shared, link, connecting.proof.as_ref())?;
    let user = pass(shared, address, entry, &shown)?;
    let object = definition(shared, link, &entry.channel, &shown)?;
    is_asked_for(&connecting.manager, shared.manager.name())?;
    let most = |name: &str| usize::try_from(object.number_of(name)).unwrap_or_default();
    let client = Client { user: &user, channel: &entry.channel, address };
    let limits = Limits {
        door: shared.connections_max,
        instances: most("MAXINST"),
        of_address: most("MAXINSTC"),
    };
    let places =
        shared.places.program(&client, limits).ok_or(Failed(Reason::MAX_CONNS_LIMIT_REACHED))?;
    let calls = shared.manager.connect(ConnectOptions {
        user: user.clone(),
        application: unpadded(&connecting.program),
        channel: entry.channel.clone(),
        connection_name: address.to_string(),
        process: entry.process,
        thread: connecting.thread,
        // The door knows no administrators.
        may_command: false,
        by_door: true,
        ..ConnectOptions::default()
    })?;
    let seconds = |name: &str| {
        let seconds = u64::try_from(object.number_of(name)).ok().filter(|seconds| *seconds > 0);
        seconds.map(Duration::from_secs)
    };
    let heartbeat = seconds("HBINT").map(|beat| beat.min(Duration::from_secs(3_600)));
    // None is that of the queue manager.
    let longest = Some(most("MAXMSGL")).filter(|most| *most > 0).unwrap_or(DATA_BYTES_MAX);
    let standing = standing(shared, &shown, &user)?;
    let terms = Terms { user, silence: seconds("DISCINT"), heartbeat };
    Ok((Guest { calls: Box::new(calls), longest, standing, _places: places }, terms))
}

/// Who a program has proved to be.
fn prove<S: Store>(shared: &Shared<S>, link: &Link, proof: Option<&Credentials>) -> Answer<Shown> {
    let certificate = link.certificate();
    let subject = certificate.as_deref().and_then(mqi::certificate::subject);
    let user = match (proof, &certificate) {
        (Some(proof), _) => {
            let turn = shared.places.check(link.left());
            let _turn = turn.ok_or(Failed(Reason::RESOURCE_PROBLEM))?;
            let known = shared.users.password(&proof.user, &proof.password);
            Some(known.ok_or(Failed(Reason::NOT_AUTHORIZED))?)
        }
        (None, Some(certificate)) => {
            let name = tls::common_name(certificate);
            name.and_then(|name| shared.users.certificate(&name))
        }
        (None, None) => {
            let here = link.peer().ip().to_canonical().is_loopback();
            let nobody = shared.users.nobody().filter(|_| here);
            Some(nobody.ok_or(Failed(Reason::NOT_AUTHORIZED))?)
        }
    };
    let nobody = proof.is_none() && certificate.is_none();
    Ok(Shown { user, nobody, subject })
}

/// Whom a program is let in as: who it has proved to be, and as whom it works, if that is a user.
fn standing<S: Store>(shared: &Shared<S>, shown: &Shown, works_as: &str) -> Answer<Standing> {
    if shown.nobody {
        return Ok(Standing { marks: Vec::new(), nobody: true });
    }
    let mut marks = Vec::new();
    if let Some(user) = &shown.user {
        // He may have gone just now.
        let mark = shared.users.mark(user).ok_or(Failed(Reason::NOT_AUTHORIZED))?;
        marks.push((user.clone(), mark));
    }
    if let Some(mark) = shared.users.mark(works_as) {
        marks.push((works_as.to_owned(), mark));
    }
    Ok(Standing { marks, nobody: false })
}

/// As whom the records of the channel let a program in.
fn pass<S: Store>(
    shared: &Shared<S>,
    address: IpAddr,
    entry: &Entry,
    shown: &Shown,
) -> Answer<String> {
    let channels = shared.manager.channels();
    let channel = &*entry.channel;
    let blocked = |warns| {
        let (address, who) = (&*address.to_string(), Blocked::NoAccess);
        channels.tell(&Event::ChannelBlocked { channel, address, who, warns });
    };
    let admitted = channels.admit(&Caller {
        channel,
        address,
        subject: shown.subject.as_deref(),
        partner: None,
        user: shown.user.as_deref(),
    });
    let Ok(admitted) = admitted else {
        blocked(false);
        return Err(Failed(Reason::NOT_AUTHORIZED));
    };
    if admitted.warning.is_some() {
        blocked(true);
    }
    // A certificate that no record gives a user, and that names none.
    match admitted.user == UNNAMED_USER {
        true => Err(Failed(Reason::NOT_AUTHORIZED)),
        false => Ok(admitted.user),
    }
}

/// The definition of the channel, if it takes connections like this one.
fn definition<S: Store>(
    shared: &Shared<S>,
    link: &Link,
    channel: &str,
    shown: &Shown,
) -> Answer<Arc<Object>> {
    let found = shared.manager.object(Kind::Channel, channel);
    let found = found.filter(|object| object.is("CHLTYPE", "SVRCONN"));
    let object = found.ok_or(Failed(Reason::UNKNOWN_CHANNEL_NAME))?;
    if shared.manager.channels().is_stopped(channel) {
        return Err(Failed(Reason::CHANNEL_NOT_AVAILABLE));
    }
    let wants_tls = !object.text_of("SSLCIPH").is_empty();
    if wants_tls && !link.is_secured() {
        return Err(Failed(SECURED_ONLY));
    }
    if wants_tls && object.is("SSLCAUTH", "REQUIRED") && shown.subject.is_none() {
        return Err(Failed(SECURED_ONLY));
    }
    let peer = object.text_of("SSLPEER");
    let fits = |subject: &String| name_matches(peer, subject);
    if !peer.is_empty() && !shown.subject.as_ref().is_some_and(fits) {
        return Err(Failed(PEER_NAME_MISMATCH));
    }
    Ok(Arc::new(object))
}
