//! How a request goes through the door: found in the table, let in, read, done, answered.
//!
//! 1. Who asks is found out before anything of the request is done or its body is read.
//! 2. Calls of the queue manager are made in threads that may wait; there are [`CALLS_MAX`] at a
//!    time, and those that wait for messages leave some of them to the others.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_door::Peer;
use queue_manager::event::{Commander, Origin};
use queue_manager::{MESSAGE_BYTES_MAX, QueueManager};
use seam::clock::Clock;
use seam::entropy::Entropy;
use serde_json::{Value, json};
use store::Store;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::admin::{self, channel, command, queue, subscription};
use crate::authentication::{Authenticator, COOKIE, CSRF, Gate, User, token};
use crate::budget::{Budget, Received, sent};
use crate::error::{Problem, id, json_response};
use crate::messaging::{self, Around, CancelOnDrop, CancelToken, Purpose, Search};
use crate::openapi;
use crate::request::{Ask, Query};
use crate::resources::{Call, Lead, Resource, Role, lead};
use crate::token::Tokens;

/// Calls of the queue manager at a time.
const CALLS_MAX: usize = 512;
/// Of these, so many may wait for messages.
const WAITS_MAX: usize = 448;
/// Bytes of a body that is no message.
const COMMAND_BYTES_MAX: usize = 1 << 20;

/// Who has the queue manager.
pub trait Managers<S: Store>: Send + Sync + 'static {
    /// Its name.
    fn name(&self) -> String;

    /// The queue manager; opened now, perhaps.
    ///
    /// # Errors
    /// For people.
    fn manager(&self) -> Result<QueueManager<S>, String>;
}

impl<S: Store> Managers<S> for QueueManager<S> {
    fn name(&self) -> String {
        QueueManager::name(self).to_owned()
    }

    fn manager(&self) -> Result<QueueManager<S>, String> {
        Ok(self.clone())
    }
}

/// How the door is opened.
pub struct Options {
    /// Its clock.
    pub clock: Arc<dyn Clock>,
    /// Where keys and tokens come from.
    pub entropy: Arc<dyn Entropy>,
    /// Bytes of the longest message that is taken.
    pub message_bytes_max: usize,
    /// Bytes of all bodies together.
    pub bodies_bytes_max: usize,
    /// Whether passwords may come from other machines without TLS.
    pub clear_passwords: bool,
}

impl Options {
    /// As a machine has them.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Options {
        Options {
            clock,
            entropy,
            message_bytes_max: MESSAGE_BYTES_MAX,
            bodies_bytes_max: 512 << 20,
            clear_passwords: false,
        }
    }
}

/// The door. Clones stand for the same one.
pub struct Door<S: Store>(Arc<Inner<S>>);

impl<S: Store> Clone for Door<S> {
    fn clone(&self) -> Self {
        Door(Arc::clone(&self.0))
    }
}

struct Inner<S: Store> {
    managers: Arc<dyn Managers<S>>,
    gate: Gate,
    options: Options,
    budget: Budget,
    calls: Arc<Semaphore>,
    waits: Arc<Semaphore>,
    opened_ms: u64,
    received: AtomicU64,
    sent: AtomicU64,
    /// Whether the door is still open.
    open: CancelToken,
    closes: CancelOnDrop,
}

impl<S: Store> Door<S> {
    /// A door.
    ///
    /// # Errors
    /// If the machine has no entropy to give.
    pub fn new(
        managers: Arc<dyn Managers<S>>,
        authenticator: Arc<dyn Authenticator>,
        options: Options,
    ) -> io::Result<Door<S>> {
        let tokens = Tokens::new(Arc::clone(&options.clock), Arc::clone(&options.entropy))?;
        let clock = Arc::clone(&options.clock);
        let open = CancelToken::default();
        Ok(Door(Arc::new(Inner {
            managers,
            gate: Gate::new(authenticator, tokens, clock, options.clear_passwords),
            budget: Budget::new(options.bodies_bytes_max),
            calls: Arc::new(Semaphore::new(CALLS_MAX)),
            waits: Arc::new(Semaphore::new(WAITS_MAX)),
            opened_ms: options.clock.utc_us() / 1_000,
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            closes: CancelOnDrop(open.clone()),
            open,
            options,
        })))
    }

    /// What answers requests.
    pub fn router(&self) -> Router {
        let inner = Arc::clone(&self.0);
        Router::new().fallback(move |request: Request| {
            let inner = Arc::clone(&inner);
            async move { inner.answer(request).await }
        })
    }

    /// Messages that came in, and messages that went out.
    #[must_use]
    pub fn messages(&self) -> (u64, u64) {
        (self.0.received.load(Ordering::Relaxed), self.0.sent.load(Ordering::Relaxed))
    }

    /// Ends every wait: the system stops.
    pub fn stop(&self) {
        self.0.closes.0.cancel();
    }
}

type Answer = Result<Response, Problem>;

impl<S: Store> Inner<S> {
    async fn answer(self: Arc<Self>, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let mut response = match self.handle(parts, body).await {
            Ok(response) => response,
            Err(problem) => problem.into_response(),
        };
        let headers = response.headers_mut();
        let always = [
            (header::CONTENT_LANGUAGE, "en"),
            (header::CACHE_CONTROL, "no-store"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        for (name, value) in always {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }

    async fn handle(self: Arc<Self>, parts: Parts, body: Body) -> Answer {
        let (resource, version, names) = match lead(parts.method.as_str(), parts.uri.path()) {
            Lead::To(resource, version, names) => (resource, version, names),
            Lead::OtherMethod(methods) => return Err(no_method(methods)),
            Lead::Broken => return Err(Problem::parameter("", "The path has a broken escape.")),
            Lead::Nowhere => return Err(no_resource()),
        };
        let nowhere = ([0, 0, 0, 0], 0).into();
        let unknown = Peer { address: nowhere, secured: false, certificate: None };
        let peer = parts.extensions.get::<Peer>().cloned().unwrap_or(unknown);
        let user = match resource.role {
            Role::Anybody => {
                User { name: String::new(), administrator: false, address: String::new() }
            }
            _ => self.gate.admit(&parts.headers, &peer).await?,
        };
        if resource.changes && !parts.headers.contains_key(CSRF) {
            return Err(no_csrf());
        }
        if resource.role == Role::Administrator && !user.administrator {
            return Err(no_role(&user));
        }
        let query = Query::read(parts.uri.query().unwrap_or_default())?;
        query.only(resource.names())?;
        let ask = Ask { version, names, query, headers: parts.headers, user };
        match resource.call {
            Call::Describe => Ok(json_response(StatusCode::OK, &openapi::describe())),
            Call::Login => self.login(&ask, body, &peer).await,
            Call::WhoAmI => Ok(who_am_i(&ask.user)),
            Call::Logout => self.logout(&ask, &peer),
            Call::Put | Call::Publish => self.put(ask, body, resource).await,
            Call::Get => self.find(ask, Purpose::Take).await,
            Call::Browse => self.find(ask, Purpose::Look).await,
            _ => self.administer(ask, body, resource).await,
        }
    }

    async fn login(&self, ask: &Ask, body: Body, peer: &Peer) -> Answer {
        let body = self.json(ask, body).await?;
        let text = |name: &str| body.get(name).and_then(Value::as_str);
        let (Some(user), Some(password)) = (text("username"), text("password")) else {
            return Err(Problem::body("It has a username and a password."));
        };
        let password = Zeroizing::new(password.as_bytes().to_vec());
        let proven = self.gate.prove(user, password, peer).await?;
        let token = self.gate.tokens.give(&proven).map_err(|_| no_token())?;
        cookie(&format!("{COOKIE}={token}"), "", peer)
    }

    fn logout(&self, ask: &Ask, peer: &Peer) -> Answer {
        if let Some(token) = token(&ask.headers) {
            self.gate.tokens.end(token).map_err(|_| no_token())?;
        }
        cookie(&format!("{COOKIE}="), "; Max-Age=0", peer)
    }

    async fn put(self: Arc<Self>, ask: Ask, body: Body, resource: &Resource) -> Answer {
        self.check_manager(&ask)?;
        let putting = messaging::putting(&ask, resource.call == Call::Publish)?;
        let most = self.options.message_bytes_max.min(MESSAGE_BYTES_MAX);
        let received = self.budget.receive(&ask.headers, body, most).await?;
        let done = self.run(false, move |manager, _| {
            messaging::put_message(manager, &ask, putting, &received.bytes)
        });
        let done = done.await?;
        self.received.fetch_add(1, Ordering::Relaxed);
        Ok(done)
    }

    async fn find(self: Arc<Self>, ask: Ask, purpose: Purpose) -> Answer {
        self.check_manager(&ask)?;
        messaging::accepts(&ask)?;
        let wanted = messaging::wanted(&ask)?;
        let wait = match purpose {
            Purpose::Take => messaging::wait(&ask)?,
            Purpose::Look => std::time::Duration::ZERO,
        };
        let inner = Arc::clone(&self);
        let found = self.run(!wait.is_zero(), move |manager, cancel| {
            let around = Around {
                clock: &*inner.options.clock,
                budget: &inner.budget,
                cancel,
                door: inner.open.clone(),
            };
            let search = Search { purpose, wanted: &wanted, wait };
            messaging::find(manager, &ask, &search, &around)
        });
        Ok(match found.await? {
            Some(shown) => {
                self.sent.fetch_add(1, Ordering::Relaxed);
                sent(shown.headers, shown.text, shown.share)
            }
            None => StatusCode::NO_CONTENT.into_response(),
        })
    }

    async fn administer(self: Arc<Self>, ask: Ask, body: Body, resource: &Resource) -> Answer {
        self.check_manager(&ask)?;
        let body = match resource.body {
            crate::resources::Body::Json(_) => self.json(&ask, body).await?,
            _ => Value::Null,
        };
        let (call, opened_ms) = (resource.call, self.opened_ms);
        if call == Call::Installations {
            return admin::installations(&ask);
        }
        let command = match call {
            Call::Command => Some(command::read(&body)?),
            _ => None,
        };
        let user = ask.user.name.clone();
        let who = Commander { user, origin: Origin::Rest, application: "REST".into() };
        self.run(false, move |manager, cancel| {
            let commanded = manager.commanded_by(who);
            match (call, command) {
                (_, Some(command)) => Ok(command::run(&commanded, &command)),
                (Call::List, _) => {
                    messaging::list(manager, &ask, &messaging::wanted(&ask)?, &cancel)
                }
                (Call::Queues, _) => queue::show(manager, &ask),
                (Call::DefineQueue, _) => queue::define(&commanded, &ask, &body),
                (Call::AlterQueue, _) => queue::alter(&commanded, &ask, &body),
                (Call::DeleteQueue, _) => queue::delete(&commanded, &ask),
                (Call::Channels, _) => channel::show(manager, &ask),
                (Call::Subscriptions, _) => subscription::show(manager, &ask),
                _ => admin::managers(manager, &ask, opened_ms),
            }
        })
        .await
    }

    /// Whether the queue manager of the path is the one that is here.
    fn check_manager(&self, ask: &Ask) -> Result<(), Problem> {
        let name = ask.name("qmgrName");
        match name.is_empty() || name == self.managers.name() {
            true => Ok(()),
            false => Err(Problem::no_manager(name)),
        }
    }

    /// Reads a body in JSON.
    async fn json(&self, ask: &Ask, body: Body) -> Result<Value, Problem> {
        let kind = ask.header(header::CONTENT_TYPE.as_str())?.unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let message = "The media type of the request is not application/json.";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, id::BAD_MEDIA, message)
                .because("The resource takes JSON.")
                .action("Send JSON, and name application/json as its type."));
        }
        let received: Received = self.budget.receive(&ask.headers, body, COMMAND_BYTES_MAX).await?;
        serde_json::from_slice(&received.bytes)
            .map_err(|error| Problem::body(format!("It is no JSON: {error}.")))
    }

    /// Has something done with the queue manager in a thread that may wait.
    async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        waits: bool,
        work: impl FnOnce(&QueueManager<S>, CancelToken) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = |_| Problem::busy("Too many requests are being answered at this moment.");
        let waiting = match waits {
            true => Some(Arc::clone(&self.waits).try_acquire_owned().map_err(busy)?),
            false => None,
        };
        let turn = Arc::clone(&self.calls).try_acquire_owned().map_err(busy)?;
        let cancel = CancelToken::default();
        // Dropped with this future, when the client has gone.
        let _on_drop = CancelOnDrop(cancel.clone());
        let managers = Arc::clone(&self.managers);
        let done = tokio::task::spawn_blocking(move || {
            let _turns = (turn, waiting);
            let manager = managers.manager().map_err(|why| Problem::no_connection(&why))?;
            work(&manager, cancel)
        });
        done.await.unwrap_or_else(|_| Err(internal()))
    }
}

fn who_am_i(user: &User) -> Response {
    let roles: &[&str] = match user.administrator {
        true => &["MQWebAdmin", "MQWebUser"],
        false => &["MQWebUser"],
    };
    json_response(StatusCode::OK, &json!({ "user": [{ "name": user.name, "role": roles }] }))
}

/// An answer that sets the cookie of a token.
fn cookie(pair: &str, more: &str, peer: &Peer) -> Answer {
    let secure = if peer.secured { "; Secure" } else { "" };
    let text = format!("{pair}; Path=/; HttpOnly; SameSite=Strict{secure}{more}");
    let mut headers = HeaderMap::new();
    let value = HeaderValue::from_str(&text).map_err(|_| internal())?;
    headers.insert(header::SET_COOKIE, value);
    Ok((StatusCode::NO_CONTENT, headers).into_response())
}

fn internal() -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, id::INTERNAL, "The request could not be done.")
        .because("What answers it has failed.")
        .action("Look at `holdfast status` and at what the system writes.")
}

fn no_token() -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, id::INTERNAL, "There is no token to be given.")
        .because("The machine has no random bytes to give.")
        .action("Send user and password with each request.")
}

fn no_method(methods: String) -> Problem {
    let message = "The resource does not have the method of the request.";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, id::NO_METHOD, message)
        .because(format!("It has {methods}."))
        .action("Use one of these methods.")
        .allow(methods)
}

fn no_resource() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, id::NO_RESOURCE, "There is no such resource.")
        .because("The path leads nowhere in this version of the interface.")
        .action("Look at /ibm/api/docs for the resources that there are.")
}

fn no_csrf() -> Problem {
    let message = format!("The header {CSRF} was omitted from the request.");
    Problem::new(StatusCode::FORBIDDEN, id::NO_CSRF, message)
        .because("A request that changes something has it, so that no page of a browser makes one.")
        .action("Send the header; its value may be anything, also nothing.")
}

fn no_role(user: &User) -> Problem {
    let name = crate::error::harmless(&user.name);
    let message = format!("The user '{name}' does not have the role MQWebAdmin.");
    Problem::new(StatusCode::FORBIDDEN, id::NO_ROLE, message)
        .because("Administrators alone may make this request.")
        .action("Name the user among administrators in the section [rest] of holdfast.toml.")
}
