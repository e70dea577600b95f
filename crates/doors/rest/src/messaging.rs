//! Messages: put, got, looked at, listed, published.
//!
//! 1. What is answered with 201 is on its queue; if it is persistent, durably.
//! 2. A message that is got has left its queue when its answer is begun. A client that has gone
//!    while it waited gets none: the message stays.
//! 3. A message that is no text stays on its queue, and its backout count does not rise.
//! 4. Waits look every so often whether they still have a client to wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use codec::CodePage;
use queue_manager::descriptor::Identifier;
use queue_manager::options::value::{get, matching, open, put};
use queue_manager::options::{
    ConnectOptions, GetOptions, Handle, MessageHandle, ObjectDescriptor, PutOptions,
};
use queue_manager::properties::{InquireOptions, Property};
use queue_manager::{
    Connection, Failed, MESSAGE_BYTES_MAX, MessageDescriptor, QueueManager, Reason,
};
use seam::clock::Clock;
use serde_json::{Value, json};
use store::Store;

use crate::budget::{Budget, Share};
use crate::error::{Problem, id, json_response};
use crate::headers::{self, Correlation, Heading};
use crate::request::{Ask, Version};

/// How often a wait looks whether it still has a client to wait for.
const LOOK_MS: u64 = 250;
/// The longest wait, in milliseconds.
const WAIT_MS_MAX: u64 = i32::MAX as u64;
/// Messages that a list has if the request does not say.
const LIST_USUAL: u64 = 10;
/// Messages that a list has at most.
const LIST_MAX: u64 = 100_000;

type Answer<T> = Result<T, Problem>;

/// What a request does to a message that it has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It leaves its queue.
    Take,
    /// It stays.
    Look,
}

/// A message to be put.
pub(crate) struct Putting {
    what: ObjectDescriptor,
    name: String,
    heading: Heading,
    version: Version,
}

/// Reads what a request says about its message; `topic`: it is to be published.
pub(crate) fn putting(ask: &Ask, topic: bool) -> Answer<Putting> {
    let kind = ask.header(header::CONTENT_TYPE.as_str())?;
    media_type(kind.unwrap_or_default())?;
    let heading = headers::read(ask)?;
    let (what, name) = match topic {
        true => (ObjectDescriptor::topic(ask.name("topicString")), ask.name("topicString")),
        false => {
            let name = ask.name("queueName");
            queue_manager::ObjectName::new(name)
                .ok_or_else(|| Problem::no_object("queue", name))?;
            (ObjectDescriptor::queue(name), name)
        }
    };
    Ok(Putting { what, name: name.to_owned(), heading, version: ask.version })
}

/// Refuses what is no text in UTF-8.
fn media_type(text: &str) -> Answer<()> {
    let refused = |number, message: String| {
        Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, number, message)
            .because("A message is a text in UTF-8.")
            .action("Name text/plain, text/html, text/xml, application/json or application/xml."))
    };
    let mut parts = text.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let known = ["text/plain", "text/html", "text/xml", "application/json", "application/xml"];
    if !known.contains(&&*kind) {
        return refused(id::BAD_MEDIA, "The media type is not one of a message.".into());
    }
    for part in parts {
        let Some((name, value)) = part.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        if name.trim().eq_ignore_ascii_case("charset") && !value.eq_ignore_ascii_case("utf-8") {
            let shown: String = crate::error::harmless(value).chars().take(40).collect();
            let message = format!("The character set {shown} is not acceptable.");
            return refused(id::BAD_CHARSET, message);
        }
    }
    Ok(())
}

/// Refuses answers in anything but UTF-8.
pub(crate) fn accepts(ask: &Ask) -> Answer<()> {
    let Some(text) = ask.header(header::ACCEPT_CHARSET.as_str())? else { return Ok(()) };
    let names = text.split(',').map(|one| one.split(';').next().unwrap_or_default().trim());
    let fits = |name: &str| name == "*" || name.eq_ignore_ascii_case("utf-8");
    if text.trim().is_empty() || { names }.any(fits) {
        return Ok(());
    }
    let message = "The character set that is asked for is not acceptable.";
    Err(Problem::new(StatusCode::BAD_REQUEST, id::BAD_CHARSET, message)
        .because("Messages come in UTF-8.")
        .action("Ask for utf-8, or for nothing."))
}

/// How a request connects.
pub(crate) fn connect<S: Store>(manager: &QueueManager<S>, ask: &Ask) -> Answer<Connection<S>> {
    let options = ConnectOptions {
        user: ask.user.name.clone(),
        application: "REST".into(),
        channel: "REST".into(),
        connection_name: ask.user.address.clone(),
        may_command: ask.user.administrator,
        by_door: !ask.user.administrator,
        ..ConnectOptions::default()
    };
    manager.connect(options).map_err(|failed| Problem::call(failed, manager.name()))
}

/// Puts or publishes a message.
pub(crate) fn put_message<S: Store>(
    manager: &QueueManager<S>,
    ask: &Ask,
    mut putting: Putting,
    data: &[u8],
) -> Answer<Response> {
    if std::str::from_utf8(data).is_err() {
        let message = "Cannot create the message: its text is no UTF-8.";
        return Err(Problem::new(StatusCode::BAD_REQUEST, id::NO_MESSAGE, message)
            .because("A message is a text in UTF-8.")
            .action("Convert the text, or put it by other means."));
    }
    let mut connection = connect(manager, ask)?;
    let mut descriptor = putting.heading.descriptor.clone();
    let mut options = PutOptions::new(put::NO_SYNCPOINT | put::NEW_MSG_ID | put::FAIL_IF_QUIESCING);
    let failed = |failed| Problem::call(failed, &putting.name);
    if !putting.heading.properties.is_empty() {
        let handle = connection.create_message_handle().map_err(failed)?;
        for (name, value) in std::mem::take(&mut putting.heading.properties) {
            connection.set_property(handle, &name, value).map_err(failed)?;
        }
        options.original_msg_handle = Some(handle);
    }
    let done = connection.put1(&mut putting.what, &mut descriptor, &mut options, data);
    done.map_err(failed)?;
    let mut headers = HeaderMap::new();
    headers::write_message_id(&mut headers, &descriptor.msg_id, putting.version);
    Ok((StatusCode::CREATED, headers).into_response())
}

/// Which message is meant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    message: Option<Identifier>,
    correlation: Option<Correlation>,
}

/// Reads which message a request means.
pub(crate) fn wanted(ask: &Ask) -> Answer<Wanted> {
    let mut wanted = Wanted::default();
    if let Some(text) = ask.query.get("messageId") {
        let id = headers::message_id(text, ask.version);
        let why = "It takes 48 hexadecimal digits, behind ID: in version 3.";
        wanted.message = Some(id.ok_or_else(|| Problem::parameter("messageId", why))?);
    }
    if let Some(text) = ask.query.get("correlationId") {
        let read = headers::correlation(text, ask.version);
        let why = "It takes 48 hexadecimal digits; in version 3 ID: and these, or a text.";
        wanted.correlation = Some(read.ok_or_else(|| Problem::parameter("correlationId", why))?);
    }
    Ok(wanted)
}

/// How long a request waits.
pub(crate) fn wait(ask: &Ask) -> Answer<Duration> {
    let ms = ask.query.number("wait", (0, WAIT_MS_MAX))?;
    Ok(Duration::from_millis(ms.unwrap_or(0)))
}

/// Whether there is still a client to answer.
#[derive(Clone, Default)]
pub(crate) struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    pub(crate) fn is_live(&self) -> bool {
        !self.0.load(Ordering::Acquire)
    }

    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Notes, when it is dropped, that there is no client any more.
pub(crate) struct CancelOnDrop(pub(crate) CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What a search has around it.
pub(crate) struct Around<'a> {
    pub(crate) clock: &'a dyn Clock,
    pub(crate) budget: &'a Budget,
    pub(crate) cancel: CancelToken,
    pub(crate) door: CancelToken,
}

/// A message that was found.
struct Found {
    descriptor: MessageDescriptor,
    properties: Vec<Property>,
    data: Vec<u8>,
    /// Bytes of all its data, however many of them were read.
    length: usize,
}

/// A message as it is answered.
pub(crate) struct Shown {
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) share: Share,
}

/// A queue that is open for a request.
struct OpenQueue<'a, S: Store> {
    connection: Connection<S>,
    queue: Handle,
    properties: MessageHandle,
    name: &'a str,
}

impl<'a, S: Store> OpenQueue<'a, S> {
    fn open(manager: &QueueManager<S>, ask: &'a Ask, purpose: Purpose) -> Answer<OpenQueue<'a, S>> {
        let name = ask.name("queueName");
        queue_manager::ObjectName::new(name).ok_or_else(|| Problem::no_object("queue", name))?;
        let mut connection = connect(manager, ask)?;
        let failed = |failed| Problem::call(failed, name);
        let how = match purpose {
            Purpose::Take => open::INPUT_AS_Q_DEF | open::BROWSE | open::FAIL_IF_QUIESCING,
            Purpose::Look => open::BROWSE | open::FAIL_IF_QUIESCING,
        };
        let mut what = ObjectDescriptor::queue(name);
        let (queue, _) = connection.open(&mut what, how).map_err(failed)?;
        let properties = connection.create_message_handle().map_err(failed)?;
        Ok(OpenQueue { connection, queue, properties, name })
    }

    /// One call.
    fn call(
        &mut self,
        how: i32,
        wanted: &Wanted,
        (wait_ms, room): (u64, usize),
    ) -> Result<Found, Failed> {
        let mut options = GetOptions::new(how | get::PROPERTIES_IN_HANDLE | get::FAIL_IF_QUIESCING);
        options.msg_handle = Some(self.properties);
        options.match_options = matching::NONE;
        if wait_ms > 0 {
            options.options |= get::WAIT;
            options.wait_interval = i32::try_from(wait_ms).unwrap_or(i32::MAX);
        }
        let mut descriptor = MessageDescriptor::default();
        if let Some(id) = wanted.message {
            options.match_options |= matching::MSG_ID;
            descriptor.msg_id = id;
        }
        if let Some(correlation) = &wanted.correlation {
            options.match_options |= matching::CORREL_ID;
            descriptor.correl_id = correlation.identifier();
        }
        let mut data = Vec::new();
        let got =
            self.connection.get(self.queue, &mut descriptor, &mut options, room, &mut data)?;
        let mut properties = Vec::new();
        let mut which = InquireOptions::First;
        while let Ok(one) = self.connection.inquire_property(self.properties, "%", which) {
            properties.push(Property { name: one.name, value: one.value });
            which = InquireOptions::Next;
        }
        Ok(Found { descriptor, properties, data, length: got.data_length })
    }

    /// Looks at the first or next message that is meant, without its data; `None`: there is none.
    fn look(
        &mut self,
        (mut how, lock): (i32, i32),
        wanted: &Wanted,
        wait_ms: u64,
    ) -> Answer<Option<Found>> {
        loop {
            let asked = how | lock | get::ACCEPT_TRUNCATED_MSG;
            match self.call(asked, wanted, (wait_ms, 0)) {
                Ok(found) => {
                    let fits = wanted.correlation.as_ref();
                    if fits.is_none_or(|wanted| wanted.fits(&found.properties)) {
                        return Ok(Some(found));
                    }
                    how = get::BROWSE_NEXT;
                }
                Err(failed) if failed.0 == Reason::NO_MSG_AVAILABLE => return Ok(None),
                Err(failed) => return Err(Problem::call(failed, self.name)),
            }
        }
    }

    /// Reads the message that was looked at; `None`: another getter was faster.
    fn read(&mut self, lock: i32) -> Answer<Option<Found>> {
        self.at_cursor(get::BROWSE_MSG_UNDER_CURSOR | lock, MESSAGE_BYTES_MAX)
    }

    /// Gets the message that was read, but not its data again; `None`: another getter was faster.
    fn take(&mut self) -> Answer<Option<Found>> {
        self.at_cursor(get::MSG_UNDER_CURSOR | get::SYNCPOINT | get::ACCEPT_TRUNCATED_MSG, 0)
    }

    fn at_cursor(&mut self, how: i32, room: usize) -> Answer<Option<Found>> {
        match self.call(how, &Wanted::default(), (0, room)) {
            Ok(found) => Ok(Some(found)),
            Err(failed)
                if [Reason::NO_MSG_UNDER_CURSOR, Reason::NO_MSG_AVAILABLE].contains(&failed.0) =>
            {
                Ok(None)
            }
            Err(failed) => Err(Problem::call(failed, self.name)),
        }
    }
}

/// A message whose data is text.
struct TextMessage {
    descriptor: MessageDescriptor,
    properties: Vec<Property>,
    text: String,
}

/// The text of a message, or why it has none.
fn text_of(found: Found) -> Answer<TextMessage> {
    let Found { descriptor, properties, data, .. } = found;
    let no_text = |why: &str| {
        let message = "The message is no text, and stays on its queue.";
        Problem::new(StatusCode::NOT_IMPLEMENTED, id::NO_TEXT, message)
            .because(why)
            .action("Get it by the message queue interface, or by AMQP.")
    };
    if !headers::is_text(&descriptor, &properties) {
        return Err(no_text("Its format is neither MQSTR nor that of a JMS TextMessage."));
    }
    let text = match descriptor.ccsid {
        0 | headers::UTF_8 => String::from_utf8(data).map_err(|_| no_text("It is no UTF-8."))?,
        ccsid => {
            let page = CodePage::named(&ccsid.to_string());
            page.ok_or_else(|| no_text("Its code page is not known here."))?.decode(&data)
        }
    };
    Ok(TextMessage { descriptor, properties, text })
}

fn shown(message: TextMessage, share: Share, version: Version) -> Shown {
    let TextMessage { descriptor, properties, text } = message;
    let mut headers = HeaderMap::new();
    headers::write(&mut headers, &descriptor, &properties, version);
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    Shown { headers, text, share }
}

/// What a search is for, and how long it waits.
pub(crate) struct Search<'w> {
    pub(crate) purpose: Purpose,
    pub(crate) wanted: &'w Wanted,
    pub(crate) wait: Duration,
}

/// Finds a message, waiting for it if it is to be taken; `None`: there is none.
pub(crate) fn find<S: Store>(
    manager: &QueueManager<S>,
    ask: &Ask,
    search: &Search<'_>,
    around: &Around<'_>,
) -> Answer<Option<Shown>> {
    let Search { purpose, wanted, wait } = *search;
    let deadline = around.clock.monotonic().saturating_add(wait);
    let mut opened = OpenQueue::open(manager, ask, purpose)?;
    let lock = if purpose == Purpose::Take { get::LOCK } else { 0 };
    loop {
        if !around.door.is_live() {
            return Err(Problem::stopping());
        }
        let left = deadline.saturating_sub(around.clock.monotonic());
        let slice = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).min(LOOK_MS);
        let found = opened.look((get::BROWSE_FIRST, lock), wanted, slice)?;
        if !around.cancel.is_live() {
            return Ok(None);
        }
        let Some(found) = found else {
            if around.clock.monotonic() >= deadline {
                return Ok(None);
            }
            continue;
        };
        // There is room for it before it is read.
        let share = around.budget.take(found.length)?;
        let Some(found) = opened.read(lock)? else { continue };
        // What it would be answered with: a message that cannot be answered is not taken.
        let answer = text_of(found)?;
        if purpose == Purpose::Look {
            return Ok(Some(shown(answer, share, ask.version)));
        }
        let Some(taken) = opened.take()? else { continue };
        if !around.cancel.is_live() {
            let _ = opened.connection.back();
            return Ok(None);
        }
        opened.connection.commit().map_err(|failed| Problem::call(failed, opened.name))?;
        let (descriptor, properties) = (taken.descriptor, taken.properties);
        let taken = TextMessage { descriptor, properties, text: answer.text };
        return Ok(Some(shown(taken, share, ask.version)));
    }
}

/// Lists messages.
pub(crate) fn list<S: Store>(
    manager: &QueueManager<S>,
    ask: &Ask,
    wanted: &Wanted,
    cancel: &CancelToken,
) -> Answer<Response> {
    let limit = ask.query.number("limit", (1, LIST_MAX))?.unwrap_or(LIST_USUAL);
    let mut messages: Vec<Value> = Vec::new();
    let mut opened = OpenQueue::open(manager, ask, Purpose::Look)?;
    let mut how = get::BROWSE_FIRST;
    while (messages.len() as u64) < limit && cancel.is_live() {
        let found = match opened.look((how, 0), wanted, 0) {
            Ok(Some(found)) => found,
            Ok(None) => break,
            Err(problem) if problem.is_inhibited() => break,
            Err(problem) => return Err(problem),
        };
        how = get::BROWSE_NEXT;
        let descriptor = &found.descriptor;
        let mut one = json!({
            "format": queue_manager::name::unpadded(&descriptor.format),
            "messageId": headers::shown_id(&descriptor.msg_id, ask.version),
        });
        if let Some(text) = headers::shown_correlation(descriptor, &found.properties, ask.version) {
            one["correlationId"] = text.into();
        }
        messages.push(one);
    }
    Ok(json_response(StatusCode::OK, &json!({ "messages": messages })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_utf_8_are_messages() {
        for fits in [
            "text/plain",
            "text/plain;charset=utf-8",
            "Application/JSON; charset=\"UTF-8\"",
            "text/xml ; version=1",
        ] {
            assert!(media_type(fits).is_ok(), "{fits}");
        }
        for bad in ["", "application/octet-stream", "text/plain; charset=latin1", "text", "*/*"] {
            assert!(media_type(bad).is_err(), "{bad}");
        }
    }
}
