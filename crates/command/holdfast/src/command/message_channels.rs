//! What a started system does for its queue manager beside programs: channels to others, commands
//! that come as messages.
//!
//! Invariants:
//! 1. It begins when the queue manager is opened first: at the start of a system that has one, or
//!    with the first connection or command.
//! 2. Channels end before the queue manager does.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::channels::{ChannelServer, Options, Tls};
use mqsc::pcf::server::CommandServer;
use queue_manager::QueueManager;
use seam::Seam;
use seam::sync::Mutex;
use seam::thread::JoinHandle;
use store_any::AnyStore;
use system::{ChannelSettings, System};

use super::listen::{self, pem};
use crate::failure::{Failure, Result};
use crate::output::warn;

/// How long the command server waits after it could not go on.
const PAUSE: Duration = Duration::from_secs(1);

type Manager = QueueManager<AnyStore>;

/// What it takes to begin.
struct Settings {
    addresses: Vec<SocketAddr>,
    tls: Option<Tls>,
    seam: Seam,
}

/// What runs beside the queue manager of a started system.
pub(crate) struct Beside {
    settings: Mutex<Option<Settings>>,
    running: Mutex<Option<Running>>,
}

struct Running {
    channels: ChannelServer<AnyStore>,
    commands: Option<JoinHandle>,
    over: Arc<AtomicBool>,
}

impl Beside {
    /// Reads the settings; nothing runs yet.
    pub(crate) fn new(system: &System) -> Result<Beside> {
        let settings = &system.config().channels;
        let addresses = listen::addresses(&settings.listen, "listen in the section [channels]")?;
        let tls = tls(system.dir(), settings)?;
        let seam = system.kernel().seam().clone();
        let settings = Mutex::new(Some(Settings { addresses, tls, seam }));
        Ok(Beside { settings, running: Mutex::new(None) })
    }

    /// Whether partners are to be listened for.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.settings.lock().as_ref().is_some_and(|settings| !settings.addresses.is_empty())
    }

    /// Begins; once.
    pub(crate) fn begin(&self, manager: &Manager) -> Result<()> {
        let Some(Settings { addresses, tls, seam }) = self.settings.lock().take() else {
            return Ok(());
        };
        let clock = Arc::clone(&seam.clock);
        let options = Options { addresses, tls, clock };
        let channels = ChannelServer::start(manager, options);
        let channels = channels.map_err(|error| Failure::Error(Box::new(error)))?;
        let over = Arc::new(AtomicBool::new(false));
        let (own, stop) = (manager.clone(), Arc::clone(&over));
        let commands = seam::thread::spawn("mq-commands", move || serve(&own, &stop, &seam));
        let commands = Some(commands?);
        *self.running.lock() = Some(Running { channels, commands, over });
        Ok(())
    }

    /// Where partners come in.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let running = self.running.lock();
        running.as_ref().map(|running| running.channels.addresses().to_vec()).unwrap_or_default()
    }

    /// Tells operators what they should know.
    pub(crate) fn tick(&self) {
        let notices = {
            let running = self.running.lock();
            running.as_ref().map(|running| running.channels.take_notices()).unwrap_or_default()
        };
        notices.iter().for_each(warn);
    }

    /// Ends channels and the command server.
    pub(crate) fn end(&self) {
        // Nothing begins any more.
        *self.settings.lock() = None;
        let Some(running) = self.running.lock().take() else { return };
        running.over.store(true, Ordering::Release);
        running.channels.close();
        if let Some(commands) = running.commands {
            commands.join();
        }
    }
}

/// Serves command messages until it is over.
fn serve(manager: &Manager, over: &AtomicBool, seam: &Seam) {
    let mut last = None;
    while !over.load(Ordering::Acquire) && !manager.is_stopping() {
        let served = CommandServer::open(manager).and_then(|mut server| server.run(over));
        if let Err(failed) = served
            && last != Some(failed)
        {
            warn(format!("commands that come as messages are not served: {failed}"));
            last = Some(failed);
        }
        // In pieces: a system that stops does not wait for it.
        let mut left = PAUSE;
        while !left.is_zero() && !over.load(Ordering::Acquire) {
            let piece = left.min(Duration::from_millis(100));
            seam.clock.sleep(piece);
            left -= piece;
        }
    }
}

fn tls(dir: &Path, settings: &ChannelSettings) -> Result<Option<Tls>> {
    if settings.tls_certificate.as_os_str().is_empty() {
        return Ok(None);
    }
    Ok(Some(Tls {
        certificates: pem(&dir.join(&settings.tls_certificate), "channels")?,
        key: pem(&dir.join(&settings.tls_key), "channels")?,
        roots: pem(&dir.join(&settings.tls_partners), "channels")?,
    }))
}
