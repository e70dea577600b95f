//! Who may ask for what: users, data stores, client ids.

use std::time::Duration;

use otma::{CommitMode, Encoding, Identity, Input, InputOptions, Name, Segments, SyncLevel};
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::clients::Claim;
use super::connection::Connection;
use crate::conversation::{Asked, status};
use crate::wire::{
    Function, Irm, RACF_REFUSED, Reason, Request, ReturnCode, Rsm, Rule, f1, f3, f5, word,
};

/// Where outputs go that are to go elsewhere, if the client does not say where.
const REROUTED: &str = "HWS$DEF";
/// How long a user who was checked is believed before it is looked whether he is still there, with
/// the same password.
const LOOK: Duration = Duration::from_secs(1);

/// A user who was checked, and by what.
pub(super) struct Known {
    user: Name,
    group: Name,
    password: Zeroizing<Vec<u8>>,
    identity: Identity,
    /// The user's mark when the password was checked, and when that was last looked at.
    mark: Option<u64>,
    looked: Instant,
}

impl Known {
    /// Whether the user is still who was checked; looked at now and then.
    fn stands(&mut self, mark: impl FnOnce() -> Option<u64>) -> bool {
        if self.looked.elapsed() < LOOK {
            return true;
        }
        self.looked = Instant::now();
        mark() == self.mark
    }
}

type Admitted = (Box<Asked>, Option<Box<Input>>);

fn connect(reason: Reason) -> Rsm {
    Rsm::new(ReturnCode::Connect, reason)
}

impl Connection {
    /// Lets a request in, or says why not.
    pub(super) async fn admit(&mut self, request: Request) -> Result<Admitted, Rsm> {
        let irm = &request.irm;
        if matches!(irm.function, Function::Ack | Function::Nak) {
            return Ok((Box::new(Asked::new(irm, self.client)), None));
        }
        if irm.f5 & f5::CLIENT_HEADERS != 0 {
            return Err(Rsm::new(ReturnCode::Exit, Reason::BadBuffer));
        }
        let identity = self.identify(irm).await?;
        if irm.function == Function::CancelTimer {
            self.user = identity.user;
            return Ok((Box::new(Asked::new(irm, irm.client)), None));
        }
        if let Err(refusal) = self.shared.manager.data_store(irm.data_store) {
            return Err(status(&refusal));
        }
        self.name(irm, identity.user)?;
        let asked = Asked::new(irm, self.client);
        let has_input = irm.function.has_data() || irm.function == Function::Deallocate;
        let input = has_input.then(|| Box::new(self.input(request, &asked, identity)));
        Ok((Box::new(asked), input))
    }

    async fn identify(&mut self, irm: &Irm) -> Result<Identity, Rsm> {
        let phrase = irm.extension(b"*PHRASE*");
        let mut password = Zeroizing::new(phrase.unwrap_or(&irm.password.0).to_vec());
        if phrase.is_some() {
            self.shared.pages.translate(&mut password, self.encoding, Encoding::Ascii);
        }
        let kept = password.iter().rposition(|byte| !matches!(byte, b' ' | 0));
        password.truncate(kept.map_or(0, |last| last + 1));
        let named = if irm.user.is_blank() { None } else { Some(irm.user) };
        // A certificate stands for its user, who needs no password then; but a user it has to be.
        if let Some(user) = self.certified
            && password.is_empty()
            && named.is_none_or(|named| named == user)
            && self.shared.manager.knows(user)
        {
            return Ok(Identity { user, group: irm.group });
        }
        let Some(user) = named else {
            let anonymous = Identity { user: Name::BLANK, group: irm.group };
            let refused = Rsm { detail: RACF_REFUSED, ..connect(Reason::Security) };
            return if self.shared.manager.allows_anonymous() {
                Ok(anonymous)
            } else {
                Err(refused)
            };
        };
        let mark = || self.shared.manager.user_mark(user);
        if let Some(known) = &mut self.known
            && (known.user, known.group) == (user, irm.group)
            && same(&known.password, &password)
            && known.stands(mark)
        {
            return Ok(known.identity);
        }
        self.known = None;
        // Asked before the password is checked: another one that comes meanwhile is noticed.
        let mark = self.shared.manager.user_mark(user);
        let identity = self.check(user, irm.group, password.clone()).await?;
        let (group, looked) = (irm.group, Instant::now());
        self.known = Some(Box::new(Known { user, group, password, identity, mark, looked }));
        Ok(identity)
    }

    /// Has a password checked where it hurts nobody.
    async fn check(
        &self,
        user: Name,
        group: Name,
        password: Zeroizing<Vec<u8>>,
    ) -> Result<Identity, Rsm> {
        let shared = &self.shared;
        shared.counters.add(&shared.counters.password_checks);
        let turn = shared.checks.clone().acquire_owned().await;
        let manager = shared.manager.clone();
        let checked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            manager.authenticate(user, group, &password)
        });
        match checked.await {
            Ok(Ok(identity)) => Ok(identity),
            Ok(Err(refusal)) => Err(status(&refusal)),
            Err(_) => Err(connect(Reason::SecurityFailure)),
        }
    }

    /// Gives the connection its client id.
    fn name(&mut self, irm: &Irm, user: Name) -> Result<(), Rsm> {
        let clients = &self.shared.clients;
        let wanted = match (irm.client.is_blank(), self.client.is_blank()) {
            (false, _) => irm.client,
            (true, false) => self.client,
            (true, true) => {
                let manager = &self.shared.manager;
                clients.make(|name| manager.is_in_conversation(name))
            }
        };
        let cancel = irm.f3 & f3::CANCEL_DUPLICATE != 0;
        match clients.claim(self.id, (self.client, wanted), user, cancel) {
            Claim::Taken => Err(connect(Reason::DuplicateClient)),
            Claim::Ours => {
                self.is_now(wanted, user);
                Ok(())
            }
        }
    }

    /// The input that a request is.
    fn input(&mut self, request: Request, asked: &Asked, identity: Identity) -> Input {
        let irm = &request.irm;
        let shared = &self.shared;
        let transaction = word(&request.segments, self.encoding, &shared.pages);
        let as_it_is = irm.f5 & f5::TRANSLATED != 0 || irm.f1 & f1::UNICODE_DATA != 0;
        let (rule, output_rule) = match &shared.options.translation {
            _ if as_it_is => (Rule::Nothing, Rule::Nothing),
            Some(maps) => (maps.rule(transaction), maps.output_rule(transaction)),
            None => (Rule::Text, Rule::Text),
        };
        self.rule = output_rule;
        let inside = shared.options.programs.unwrap_or(self.encoding);
        let segments: Segments =
            shared.pages.segments(request.segments, self.encoding, inside, &rule);
        let send_only = !request.irm.function.has_data()
            || matches!(
                irm.function,
                Function::SendOnly | Function::SendOnlyAck | Function::SendOnlyError
            );
        let reroutes = irm.f3 & f3::REROUTE != 0;
        let elsewhere = if irm.reroute.is_blank() {
            Name::new(REROUTED).unwrap_or_default()
        } else {
            irm.reroute
        };
        let expires = irm.f1 & f1::EXPIRES != 0;
        let limits = shared.options.limits;
        Input {
            transaction,
            segments,
            client: self.client,
            tpipe: self.client,
            terminal: irm.terminal,
            mod_name: irm.mod_name,
            identity,
            mode: if asked.is_mode_0() && irm.function != Function::Deallocate {
                CommitMode::CommitThenSend
            } else {
                CommitMode::SendThenCommit
            },
            sync_level: if asked.is_mode_0() || asked.confirms() {
                SyncLevel::Confirm
            } else {
                SyncLevel::None
            },
            encoding: inside,
            options: InputOptions {
                send_only: send_only && irm.function != Function::Deallocate,
                ordered: irm.f3 & f3::ORDERED != 0,
                ignore_purge: irm.f3 & f3::IGNORE_PURGE != 0,
                tell_if_no_reply: irm.f3 & f3::TELL_NO_REPLY != 0,
                purge_undeliverable: irm.f3 & f3::PURGE != 0,
                reroute: if reroutes { elsewhere } else { Name::BLANK },
                expires_in: expires
                    .then(|| asked.wait(limits.reply, Duration::ZERO))
                    .flatten()
                    .filter(|time| !time.is_zero()),
            },
            correlator: None,
        }
    }
}

/// Compares without telling by its time where they differ.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differ = one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b));
    one.len() == other.len() && differ == 0
}
