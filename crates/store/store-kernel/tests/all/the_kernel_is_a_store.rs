//! The conformance suite of the store trait, on the kernel.

#![allow(clippy::disallowed_methods)] // tests make and remove their folders themselves

use crate::common::fresh;
use store_suite::conformance::Subject;

fn subject() -> Subject<holdfast_store_kernel::KernelStore> {
    let (store, running) = fresh("conformance");
    Subject::new(store).keeping(running)
}

store_suite::conformance_tests!(conformance, subject());
