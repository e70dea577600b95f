//! The door to locks and waits: a mutex, a condition variable and a raw latch.
//!
//! On a real machine these are `parking_lot`'s. In simulation the same words are tried, and a
//! thread that would block gives way to another instead; who goes first is drawn from the seed.
//! Locking, unlocking and notifying are scheduling points there, and a latch or guard whose holder
//! will never run again (its run has crashed) does not stop a destructor.
//! There is no poisoning: a thread that panics stops the kernel (see [`crate::stop`]).

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
#[cfg(feature = "sim")]
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use lock_api::{RawMutex as _, RawRwLock as _};

#[cfg(feature = "sim")]
use crate::sim::{Wait, Waited};

/// Mutual exclusion around a value.
pub struct Mutex<T: ?Sized> {
    raw: parking_lot::RawMutex,
    /// The simulated thread that holds it, for the report of a deadlock.
    #[cfg(feature = "sim")]
    holder: std::sync::atomic::AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the raw mutex admits one thread at a time to the value.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The value of a locked [`Mutex`]; unlocks when dropped.
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// False only for a destructor that went on without the mutex while its simulated run died:
    /// its holder will not run again.
    #[cfg(feature = "sim")]
    held: bool,
    /// Guards stay on the thread that locked.
    not_send: std::marker::PhantomData<*const ()>,
}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            raw: parking_lot::RawMutex::INIT,
            #[cfg(feature = "sim")]
            holder: std::sync::atomic::AtomicUsize::new(usize::MAX),
            value: UnsafeCell::new(value),
        }
    }

    /// The value, when no other thread can have the mutex any more.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks, waiting if need be.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        #[cfg(feature = "sim")]
        if crate::sim::active() {
            crate::sim::point();
            let held = self.lock_simulated();
            let mut guard = self.guard();
            guard.held = held;
            return guard;
        }
        self.raw.lock();
        self.guard()
    }

    /// Locks if no thread holds it.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        #[cfg(feature = "sim")]
        if crate::sim::active() {
            crate::sim::point();
            return self.try_lock_simulated().then(|| self.guard());
        }
        self.raw.try_lock().then(|| self.guard())
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard {
            mutex: self,
            #[cfg(feature = "sim")]
            held: true,
            not_send: std::marker::PhantomData,
        }
    }

    #[inline]
    #[allow(unsafe_code)]
    fn unlock(&self) {
        // SAFETY: only a guard calls this, and a guard exists only while the mutex is locked.
        unsafe { self.raw.unlock() };
    }
}

#[cfg(feature = "sim")]
impl<T: ?Sized> Mutex<T> {
    fn address(&self) -> usize {
        std::ptr::from_ref(&self.raw).addr()
    }

    fn try_lock_simulated(&self) -> bool {
        let held = self.raw.try_lock();
        if held {
            self.holder.store(crate::sim::current().0, Relaxed);
        }
        held
    }

    /// Waits for the mutex; `false` if the run dies and it cannot be had.
    #[track_caller]
    fn lock_simulated(&self) -> bool {
        while !self.try_lock_simulated() {
            let holder = Some(crate::sim::TaskId(self.holder.load(Relaxed)));
            let wait = Wait { holder, ..Wait::new("mutex", self.address()) };
            if crate::sim::block(wait) == Waited::Forsaken {
                return false;
            }
        }
        true
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    #[allow(unsafe_code)]
    fn deref(&self) -> &T {
        // SAFETY: the guard proves that this thread holds the mutex.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    #[allow(unsafe_code)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard proves that this thread holds the mutex.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    fn drop(&mut self) {
        #[cfg(feature = "sim")]
        if crate::sim::active() {
            if self.held {
                self.mutex.unlock();
                crate::sim::wake_all(self.mutex.address());
            }
            return crate::sim::quiet_point();
        }
        self.mutex.unlock();
    }
}

/// Waiting for a condition under a [`Mutex`]. Wakes may be spurious: wait in a loop.
#[derive(Default)]
pub struct Condvar {
    real: RealCondvar,
}

/// A wake count under its own tiny mutex: `parking_lot::Condvar` works with its own guard type
/// only, and this keeps one code path for both worlds.
#[derive(Default)]
struct RealCondvar {
    wakes: parking_lot::Mutex<u64>,
    condvar: parking_lot::Condvar,
    waiting: std::sync::atomic::AtomicU32,
}

impl Condvar {
    /// A condition that no thread waits for.
    #[must_use]
    pub fn new() -> Condvar {
        Condvar::default()
    }

    /// Unlocks, waits for a notification, locks again.
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_until(guard, None);
    }

    /// The same, for at most `time`. `false` if the time ran out.
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, time: Duration) -> bool {
        self.wait_until(guard, Some(time))
    }

    #[cfg_attr(feature = "sim", track_caller)]
    fn wait_until<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, time: Option<Duration>) -> bool {
        #[cfg(feature = "sim")]
        if crate::sim::active() {
            return self.wait_simulated(guard, time);
        }
        let mutex = guard.mutex;
        // The count is taken before the caller's mutex is given up, so no notification is missed.
        let mut wakes = self.real.wakes.lock();
        let before = *wakes;
        self.real.waiting.fetch_add(1, SeqCst);
        mutex.unlock();
        let mut woken = true;
        while *wakes == before && woken {
            match time {
                None => self.real.condvar.wait(&mut wakes),
                Some(time) => woken = !self.real.condvar.wait_for(&mut wakes, time).timed_out(),
            }
        }
        self.real.waiting.fetch_sub(1, SeqCst);
        drop(wakes);
        mutex.raw.lock();
        woken
    }

    /// No point lies between the unlock and the wait, so no notification is missed.
    #[cfg(feature = "sim")]
    #[track_caller]
    fn wait_simulated<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        time: Option<Duration>,
    ) -> bool {
        let mutex = guard.mutex;
        if std::mem::replace(&mut guard.held, false) {
            mutex.unlock();
            crate::sim::wake_all(mutex.address());
        }
        // Beyond five centuries it is forever.
        let nanos_max = time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let wait = Wait { nanos_max, ..Wait::new("condition", std::ptr::from_ref(self).addr()) };
        let waited = if crate::sim::spurious() {
            crate::sim::point();
            Waited::Woken
        } else {
            crate::sim::block(wait)
        };
        guard.held = mutex.lock_simulated();
        waited != Waited::TimedOut
    }

    /// Wakes one waiter, if there is one.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn notify_one(&self) {
        self.notify(false);
    }

    /// Wakes all waiters.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn notify_all(&self) {
        self.notify(true);
    }

    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    fn notify(&self, all: bool) {
        #[cfg(feature = "sim")]
        if crate::sim::active() {
            let address = std::ptr::from_ref(self).addr();
            if all {
                crate::sim::wake_all(address);
            } else {
                crate::sim::wake_one(address);
            }
            return crate::sim::quiet_point();
        }
        if self.real.waiting.load(SeqCst) == 0 {
            return;
        }
        *self.real.wakes.lock() += 1;
        if all {
            self.real.condvar.notify_all();
        } else {
            self.real.condvar.notify_one();
        }
    }
}

/// A reader-writer latch without a value, for owners that guard memory of their own (the pool).
pub struct RawLatch {
    raw: parking_lot::RawRwLock,
    /// Holders that went on without the latch while their simulated run died.
    #[cfg(feature = "sim")]
    forsaken: std::sync::atomic::AtomicU32,
}

impl Default for RawLatch {
    fn default() -> RawLatch {
        RawLatch {
            raw: parking_lot::RawRwLock::INIT,
            #[cfg(feature = "sim")]
            forsaken: std::sync::atomic::AtomicU32::new(0),
        }
    }
}

#[allow(unsafe_code)]
impl RawLatch {
    /// Takes the latch with others.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn lock_shared(&self) {
        #[cfg(feature = "sim")]
        if crate::sim::active() {
            return self.lock_simulated("latch (shared)", |raw| raw.try_lock_shared());
        }
        self.raw.lock_shared();
    }

    /// Takes the latch alone.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn lock_exclusive(&self) {
        #[cfg(feature = "sim")]
        if crate::sim::active() {
            return self.lock_simulated("latch (exclusive)", |raw| raw.try_lock_exclusive());
        }
        self.raw.lock_exclusive();
    }

    /// Takes the latch with others if that needs no wait.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn try_lock_shared(&self) -> bool {
        crate::thread::point();
        self.raw.try_lock_shared()
    }

    /// Takes the latch alone if that needs no wait.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn try_lock_exclusive(&self) -> bool {
        crate::thread::point();
        self.raw.try_lock_exclusive()
    }

    /// Gives the latch back.
    ///
    /// # Safety
    /// The caller holds it shared.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub unsafe fn unlock_shared(&self) {
        #[cfg(feature = "sim")]
        if self.was_forsaken() {
            return;
        }
        // SAFETY: passed on to the caller.
        unsafe { self.raw.unlock_shared() };
        self.released();
    }

    /// Gives the latch back.
    ///
    /// # Safety
    /// The caller holds it alone.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub unsafe fn unlock_exclusive(&self) {
        #[cfg(feature = "sim")]
        if self.was_forsaken() {
            return;
        }
        // SAFETY: passed on to the caller.
        unsafe { self.raw.unlock_exclusive() };
        self.released();
    }

    /// Whether a thread holds it. A guess by the time it returns; for assertions.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }

    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    fn released(&self) {
        #[cfg(feature = "sim")]
        if crate::sim::active() {
            crate::sim::wake_all(self.address());
            crate::sim::quiet_point();
        }
    }
}

#[cfg(feature = "sim")]
impl RawLatch {
    fn address(&self) -> usize {
        std::ptr::from_ref(&self.raw).addr()
    }

    #[track_caller]
    fn lock_simulated(&self, kind: &'static str, lock: fn(&parking_lot::RawRwLock) -> bool) {
        crate::sim::point();
        while !lock(&self.raw) {
            if crate::sim::block(Wait::new(kind, self.address())) == Waited::Forsaken {
                self.forsaken.fetch_add(1, Relaxed);
                return;
            }
        }
    }

    /// Whether this release has no lock to give back. With several holders it does not matter
    /// which of them finds out: the sum is right.
    fn was_forsaken(&self) -> bool {
        let less = |count: u32| count.checked_sub(1);
        self.forsaken.load(Relaxed) > 0
            && self.forsaken.fetch_update(Relaxed, Relaxed, less).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_notification_between_unlock_and_wait_is_not_lost() {
        let shared = Arc::new((Mutex::new(0_u32), Condvar::new()));
        let other = Arc::clone(&shared);
        let thread = crate::thread::spawn("other", move || {
            for _ in 0..1_000 {
                let mut turn = other.0.lock();
                while turn.is_multiple_of(2) {
                    other.1.wait(&mut turn);
                }
                *turn += 1;
                other.1.notify_all();
            }
        })
        .unwrap();
        for _ in 0..1_000 {
            let mut turn = shared.0.lock();
            *turn += 1;
            shared.1.notify_all();
            while *turn % 2 == 1 {
                shared.1.wait(&mut turn);
            }
        }
        thread.join();
        assert_eq!(*shared.0.lock(), 2_000);
    }

    #[test]
    fn waiting_ends_when_its_time_is_over() {
        let mutex = Mutex::new(());
        let condvar = Condvar::new();
        assert!(!condvar.wait_for(&mut mutex.lock(), Duration::from_millis(5)));
    }

    #[test]
    #[allow(unsafe_code)]
    fn a_latch_has_many_readers_or_one_writer() {
        let latch = RawLatch::default();
        latch.lock_shared();
        assert!(latch.try_lock_shared());
        assert!(!latch.try_lock_exclusive());
        // SAFETY: held twice, shared, by the two lines above.
        unsafe {
            latch.unlock_shared();
            latch.unlock_shared();
        }
        assert!(latch.try_lock_exclusive());
        assert!(!latch.try_lock_shared());
        // SAFETY: held alone.
        unsafe { latch.unlock_exclusive() };
    }
}
