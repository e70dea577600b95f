//! The door to what the kernel keeps a program of others from: a filter of system calls, and a
//! brand by which its process and all that descend from it are known.
//!
//! | what is refused | because |
//! |---|---|
//! | `prctl` that takes back that a process adopts its descendants | an orphan would be nobody's |
//! | `clone` with `CLONE_PARENT`, and `clone3` | a brother of the program would be below nobody |
//! | `prctl` by which its parent's end does not kill it | nobody would look after it any more |
//! | `prctl` that lets others look into a process that forbade it | keys may be in it |
//! | `keyctl`, `add_key`, `request_key` | a keyring of the user may hold what opens a system |
//! | a new limit of the resource that is the brand | it would be gone |
//! | calls by other conventions (32 bits, x32) | their numbers say something else |
//!
//! `clone3` hides its flags behind an address; it is not there (`ENOSYS`), as in many containers,
//! and the C library takes `clone`. The brand is the hard limit of `RLIMIT_RSS`, which Linux does
//! not heed: it is inherited, can be read of every process, and the filter keeps it as it is.
//!
//! Invariants:
//! 1. The filter holds for every thread, and for whatever the process starts, until it ends.
//! 2. A process that has the brand has it for ever, and has the filter.
//! 3. No system call that the filter does not name is refused.

#![allow(unsafe_code)]

use std::io;

use libc::{c_long, c_ulong, rlimit, sock_filter, sock_fprog};

/// What the limit of a branded process is; no program asks for so many bytes by chance.
const BRAND: libc::rlim_t = 0x4000_4846_5052_4F47;

/// The convention of system calls that programs are compiled for here.
#[cfg(target_arch = "x86_64")]
const CONVENTION: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const CONVENTION: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CONVENTION: Option<u32> = None;

/// From here on numbers of x86-64 are those of x32.
const FOREIGN_NUMBERS: u32 = 0x4000_0000;

/// Where the kernel lays the number, the convention and the arguments of a system call.
const NUMBER: u32 = 0;
const CONVENTION_AT: u32 = 4;
const ARGUMENTS: u32 = 16;

/// Puts up the filter, for this process and everything that it starts from now on. Set-user-ID
/// programs give no rights any more to the process behind it.
///
/// # Errors
/// If the kernel has no filters, or the machine is of a kind that none is written for.
pub fn put_up() -> io::Result<()> {
    let convention = CONVENTION.ok_or(io::ErrorKind::Unsupported)?;
    let mut program = filter(convention);
    let len = u16::try_from(program.len()).map_err(io::Error::other)?;
    let filter = sock_fprog { len, filter: program.as_mut_ptr() };
    let (on, off) = (1 as c_ulong, 0 as c_ulong);
    // SAFETY: it takes numbers.
    done(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, on, off, off, off) }.into())?;
    // SAFETY: the filter is as long as is said, and the kernel copies it.
    done(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            // Older kernels would slow the process down for a danger that is as great without it.
            libc::SECCOMP_FILTER_FLAG_TSYNC | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW,
            &raw const filter,
        )
    })
}

/// Brands this process, and everything that it starts from now on.
///
/// # Errors
/// If its parent has set a lower limit.
pub fn brand() -> io::Result<()> {
    let mut limit = rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is ours.
    done(unsafe { libc::getrlimit(libc::RLIMIT_RSS, &raw mut limit) }.into())?;
    if limit.rlim_max < BRAND {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // Programs may go by the other limit; it means no more than before.
    limit = rlimit { rlim_cur: limit.rlim_cur.min(BRAND), rlim_max: BRAND };
    // SAFETY: the limit is ours.
    done(unsafe { libc::setrlimit(libc::RLIMIT_RSS, &raw const limit) }.into())
}

/// Whether a process has the brand.
///
/// # Errors
/// `NotFound` if there is no such process; what else the kernel says if it is not to be seen.
pub fn is_branded(process: u32) -> io::Result<bool> {
    // By number 0 the kernel understands the process that asks.
    let number = libc::pid_t::try_from(process).ok().filter(|number| *number > 0);
    let number = number.ok_or(io::ErrorKind::NotFound)?;
    let mut limit = rlimit { rlim_cur: 0, rlim_max: 0 };
    let none: *const rlimit = std::ptr::null();
    // SAFETY: nothing is set, and the limit is ours.
    let asked = done(unsafe {
        libc::syscall(libc::SYS_prlimit64, number, libc::RLIMIT_RSS, none, &raw mut limit)
    });
    match asked {
        Ok(()) => Ok(limit.rlim_max == BRAND),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {
            Err(io::ErrorKind::NotFound.into())
        }
        // Of the same user, but in another group.
        Err(error) => shown_limit(process).map(|hard| hard == BRAND).ok_or(error),
    }
}

/// The hard limit of a process, as the kernel shows it to everybody.
#[allow(clippy::disallowed_methods)] // a file of the kernel's
fn shown_limit(process: u32) -> Option<libc::rlim_t> {
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max resident set "))?;
    let hard = limit.split_ascii_whitespace().nth(1)?;
    Some(hard.parse().unwrap_or(libc::RLIM_INFINITY))
}

fn done(result: c_long) -> io::Result<()> {
    match result {
        0 => Ok(()),
        -1 => Err(io::Error::last_os_error()),
        // The number of a thread that has a filter of its own already.
        thread => Err(io::Error::other(format!("thread {thread} has another filter"))),
    }
}

/// The filter, as the kernel runs it for each system call. Each block looks for one of them, and
/// answers if it is that.
fn filter(convention: u32) -> Vec<sock_filter> {
    let (subreaper, dumpable) = (libc::PR_SET_CHILD_SUBREAPER, libc::PR_SET_DUMPABLE);
    let (subreaper, dumpable) = (subreaper.cast_unsigned(), dumpable.cast_unsigned());
    let (death, kill) = (libc::PR_SET_PDEATHSIG.cast_unsigned(), libc::SIGKILL.cast_unsigned());
    let (absent, refused) = (error(libc::ENOSYS), error(libc::EPERM));
    let brand: u32 = libc::RLIMIT_RSS;
    let mut program = vec![load(CONVENTION_AT), equal(convention, 1, 0), absent];
    program.push(load(NUMBER));
    if cfg!(target_arch = "x86_64") {
        program.extend([jump(libc::BPF_JGE, FOREIGN_NUMBERS, 0, 1), absent]);
    }
    let mut block = |call: c_long, answer: &[sock_filter]| {
        let skipped = u8::try_from(answer.len()).unwrap_or(u8::MAX);
        program.push(equal(u32::try_from(call).unwrap_or(u32::MAX), 0, skipped));
        program.extend(answer);
    };
    for call in [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key] {
        block(call, &[refused]);
    }
    block(libc::SYS_clone3, &[absent]);
    let parent = libc::CLONE_PARENT.cast_unsigned();
    let clone = [low(0), jump(libc::BPF_JSET, parent, 0, 1), refused, ALLOWED];
    block(libc::SYS_clone, &clone);
    let prctl = [
        low(0),
        equal(death, 0, 6),
        low(1),
        equal(kill, 0, 3),
        high(1),
        equal(0, 0, 1),
        ALLOWED,
        refused,
        equal(subreaper, 0, 4),
        // It is taken back by a long word of zero.
        low(1),
        equal(0, 0, 5),
        high(1),
        equal(0, 4, 3),
        equal(dumpable, 0, 2),
        low(1),
        equal(0, 0, 1),
        ALLOWED,
        refused,
    ];
    block(libc::SYS_prctl, &prctl);
    // Without a new limit it only asks.
    let prlimit = [
        low(1),
        equal(brand, 0, 4),
        low(2),
        equal(0, 0, 3),
        high(2),
        equal(0, 0, 1),
        ALLOWED,
        refused,
    ];
    block(libc::SYS_prlimit64, &prlimit);
    block(libc::SYS_setrlimit, &[low(0), equal(brand, 0, 1), refused, ALLOWED]);
    program.push(ALLOWED);
    program
}

const ALLOWED: sock_filter = answer(libc::SECCOMP_RET_ALLOW);

const fn answer(k: u32) -> sock_filter {
    sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k }
}

const fn error(number: i32) -> sock_filter {
    answer(libc::SECCOMP_RET_ERRNO | (number.cast_unsigned() & libc::SECCOMP_RET_DATA))
}

/// Loads the word at an offset.
const fn load(k: u32) -> sock_filter {
    let code = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    sock_filter { code, jt: 0, jf: 0, k }
}

/// The lower half of an argument; the machines here have it first.
const fn low(argument: u32) -> sock_filter {
    load(ARGUMENTS + 8 * argument)
}

const fn high(argument: u32) -> sock_filter {
    load(ARGUMENTS + 8 * argument + 4)
}

/// Skips so many instructions if the word that was loaded is this one, and so many if not.
const fn equal(k: u32, jt: u8, jf: u8) -> sock_filter {
    jump(libc::BPF_JEQ, k, jt, jf)
}

const fn jump(how: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | how | libc::BPF_K) as u16, jt, jf, k }
}

#[cfg(test)]
#[cfg(not(miri))] // it asks the operating system
mod tests {
    use super::*;

    /// What a system call says in a process behind the fence: 0, or the number of an error.
    fn behind(call: impl FnOnce() -> c_long) -> i32 {
        // SAFETY: the child makes system calls alone, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_up = brand().is_ok() && put_up().is_ok();
            let outcome =
                if call() == -1 { io::Error::last_os_error().raw_os_error() } else { None };
            // SAFETY: it ends the child, and nothing else.
            unsafe { libc::_exit(if is_up { outcome.unwrap_or(0) } else { 255 }) };
        }
        let mut status = 0;
        // SAFETY: the child is ours.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status), "{status}");
        libc::WEXITSTATUS(status)
    }

    fn raw(number: c_long, arguments: [u64; 5]) -> i32 {
        let [a, b, c, d, e] = arguments;
        // SAFETY: the tests give numbers, and addresses of what is theirs.
        behind(|| unsafe { libc::syscall(number, a, b, c, d, e) })
    }

    #[test]
    fn what_would_hide_a_process_or_read_a_keyring_is_refused_behind_the_fence() {
        let prctl = |option: i32, value: u64| {
            raw(libc::SYS_prctl, [u64::from(option.cast_unsigned()), value, 0, 0, 0])
        };
        assert_eq!(prctl(libc::PR_SET_CHILD_SUBREAPER, 0), libc::EPERM);
        assert_eq!(prctl(libc::PR_SET_CHILD_SUBREAPER, 1), 0);
        assert_eq!(prctl(libc::PR_SET_CHILD_SUBREAPER, 1 << 32), 0, "this is no zero");
        assert_eq!(prctl(libc::PR_SET_DUMPABLE, 1), libc::EPERM);
        assert_eq!(prctl(libc::PR_SET_DUMPABLE, 0), 0);
        assert_eq!(prctl(libc::PR_GET_DUMPABLE, 0), 0);
        let kill = u64::from(libc::SIGKILL.cast_unsigned());
        for signal in [0, u64::from(libc::SIGCHLD.cast_unsigned()), 1 << 32 | kill] {
            assert_eq!(prctl(libc::PR_SET_PDEATHSIG, signal), libc::EPERM, "{signal}");
        }
        assert_eq!(prctl(libc::PR_SET_PDEATHSIG, kill), 0);
        for call in [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key] {
            assert_eq!(raw(call, [0; 5]), libc::EPERM);
        }
        let brother = (libc::CLONE_PARENT | libc::SIGCHLD).cast_unsigned();
        assert_eq!(raw(libc::SYS_clone, [brother.into(), 0, 0, 0, 0]), libc::EPERM);
        assert_eq!(raw(libc::SYS_clone3, [0; 5]), libc::ENOSYS);
    }

    #[test]
    fn children_and_threads_are_started_behind_the_fence_as_before() {
        let all = || {
            // SAFETY: the child ends at once.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: it ends the child, and nothing else.
                unsafe { libc::_exit(0) };
            }
            let child_number = child.cast_unsigned();
            let is_branded = is_branded(child_number).is_ok_and(|is| is)
                && shown_limit(child_number) == Some(BRAND);
            // SAFETY: the child is ours.
            let waited = unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } == child;
            let thread = crate::thread::spawn("behind", || ()).map(|thread| thread.join()).is_ok();
            if is_branded && waited && thread { 0 } else { -1 }
        };
        assert_eq!(behind(all), 0);
    }

    #[test]
    fn a_brand_stays() {
        assert!(!is_branded(std::process::id()).unwrap());
        assert!(shown_limit(std::process::id()).is_some_and(|limit| limit != BRAND));
        assert_eq!(is_branded(u32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
        let limit = rlimit { rlim_cur: 0, rlim_max: 0 };
        let at = (&raw const limit) as u64;
        let (brand, other) = (u64::from(libc::RLIMIT_RSS), u64::from(libc::RLIMIT_CORE));
        assert_eq!(raw(libc::SYS_prlimit64, [0, brand, at, 0, 0]), libc::EPERM);
        assert_eq!(raw(libc::SYS_setrlimit, [brand, at, 0, 0, 0]), libc::EPERM);
        assert_eq!(raw(libc::SYS_setrlimit, [other, at, 0, 0, 0]), 0);
        let itself = || c_long::from(is_branded(std::process::id()).is_ok_and(|is| is)) - 1;
        assert_eq!(behind(itself), 0, "asking is not refused");
    }

    /// By `int 0x80` the numbers are those of 32 bits, and so are the arguments.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn no_other_convention_leads_around_the_fence() {
        const PRCTL_OF_32_BITS: i64 = 172;
        let call = || {
            let outcome: i64;
            // SAFETY: the call takes numbers; the kernel keeps what is not named.
            unsafe {
                std::arch::asm!(
                    "push rbx",
                    "mov ebx, {option:e}",
                    "int 0x80",
                    "pop rbx",
                    option = in(reg) libc::PR_SET_CHILD_SUBREAPER,
                    inout("rax") PRCTL_OF_32_BITS => outcome,
                    in("rcx") 0_i64,
                    out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                );
            }
            // SAFETY: the number of the error is this thread's.
            unsafe { *libc::__errno_location() = i32::try_from(-outcome).unwrap_or(0) };
            if outcome < 0 { -1 } else { outcome }
        };
        assert_eq!(behind(call), libc::ENOSYS);
        let x32 = c_long::from(FOREIGN_NUMBERS.cast_signed()) | libc::SYS_prctl;
        let option = u64::from(libc::PR_SET_CHILD_SUBREAPER.cast_unsigned());
        assert_eq!(raw(x32, [option, 0, 0, 0, 0]), libc::ENOSYS);
    }
}
