//! The door to threads.

use std::io;

use crate::panic_text::text_of;

/// A running thread.
pub struct JoinHandle(Inner);

enum Inner {
    Real(std::thread::JoinHandle<()>),
    #[cfg(feature = "sim")]
    Sim(crate::sim::TaskId),
}

/// Starts a named thread (a coroutine, in simulation).
///
/// # Errors
/// If the operating system refuses another thread.
#[allow(clippy::disallowed_methods)] // this is the seam
pub fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle> {
    #[cfg(feature = "sim")]
    if crate::sim::active() {
        return Ok(JoinHandle(Inner::Sim(crate::sim::spawn(name, Box::new(body)))));
    }
    let handle = std::thread::Builder::new().name(name.to_owned()).spawn(body)?;
    Ok(JoinHandle(Inner::Real(handle)))
}

impl JoinHandle {
    /// Waits for the thread's end. A panic in it is a panic here.
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn join(self) {
        match self.0 {
            Inner::Real(handle) => {
                if let Err(panic) = handle.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            #[cfg(feature = "sim")]
            Inner::Sim(task) => crate::sim::join(task),
        }
    }
}

/// Has the calling thread let all others of the machine go first from now on, for work that nobody
/// waits for.
pub fn give_way() {
    if !is_simulated() {
        // Only a favour, which an operating system may refuse.
        let _ = rustix::process::nice(GIVING_WAY);
    }
}

/// How nice a thread is that gives way.
const GIVING_WAY: i32 = 19;

/// Runs `body` and turns a panic in it into its text, for code that contains what guests break.
/// Plain `catch_unwind` in a loop would keep a thread alive in a simulated crash; this does not.
///
/// # Errors
/// The panic's text.
pub fn catch<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).map_err(|panic| {
        #[cfg(feature = "sim")]
        if crate::sim::is_end(&*panic) {
            std::panic::resume_unwind(panic);
        }
        text_of(&*panic).to_owned()
    })
}

/// Lets others run. In simulation this is a scheduling point, otherwise a hint.
#[inline]
#[cfg_attr(feature = "sim", track_caller)]
pub fn yield_now() {
    #[cfg(feature = "sim")]
    if crate::sim::active() {
        return crate::sim::yield_now();
    }
    std::hint::spin_loop();
}

/// A scheduling point in simulation; nothing on a real machine. Stands where the order of two
/// threads decides something that no lock shows.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub fn point() {
    #[cfg(feature = "sim")]
    if crate::sim::active() {
        crate::sim::point();
    }
}

/// A small number of the calling thread, for spreading counters; the same for all of one thread.
#[must_use]
pub fn slot() -> usize {
    #[cfg(feature = "sim")]
    if crate::sim::active() {
        return crate::sim::current().0;
    }
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    thread_local! {
        static SLOT: usize = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    SLOT.with(|slot| *slot)
}

/// Whether the calling thread is a simulated one.
#[inline]
#[must_use]
pub fn is_simulated() -> bool {
    #[cfg(feature = "sim")]
    return crate::sim::active();
    #[cfg(not(feature = "sim"))]
    false
}
