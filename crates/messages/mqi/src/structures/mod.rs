//! The structures of the interface, each declared once with its offsets, defaults and versions.
//!
//! Invariants:
//! 1. Whatever a structure is made into, on the wire or in a header, is made from its declaration
//!    here.

mod channel;
mod connections;
mod headers;
mod messages;
mod properties;
mod subscriptions;

pub use channel::Cd;
pub use connections::{Air, Bno, Bo, Cbc, Cbd, Cno, Csp, Ctlo, Sco};
pub use headers::{
    Cih, Dh, Dlh, Iih, Mde, ObjectRecord, ResponseRecord, Rfh, Rfh2, Rmh, Tm, Tmc2, Wih, Xqh,
};
pub use messages::{Gmo, Md, Od, Pmo};
pub use properties::{Bmho, Cmho, Dmho, Dmpo, Impo, Mhbo, Pd, Smpo};
pub use subscriptions::{Sd, Sro, Sts};

use crate::table::{Layout, Structure};

/// Every structure, in the order of their names in the interface.
#[must_use]
pub fn layouts() -> Vec<Layout> {
    let mut all = vec![
        Air::layout(),
        Bmho::layout(),
        Bno::layout(),
        Bo::layout(),
        Cbc::layout(),
        Cbd::layout(),
        Cd::layout(),
        Cih::layout(),
        Cmho::layout(),
        Cno::layout(),
        Csp::layout(),
        Ctlo::layout(),
        Dh::layout(),
        Dlh::layout(),
        Dmho::layout(),
        Dmpo::layout(),
        Gmo::layout(),
        Iih::layout(),
        Impo::layout(),
        Md::layout(),
        Mde::layout(),
        Mhbo::layout(),
        ObjectRecord::layout(),
        Od::layout(),
        Pd::layout(),
        Pmo::layout(),
        ResponseRecord::layout(),
        Rfh::layout(),
        Rfh2::layout(),
        Rmh::layout(),
        Sco::layout(),
        Sd::layout(),
        Smpo::layout(),
        Sro::layout(),
        Sts::layout(),
        Tm::layout(),
        Tmc2::layout(),
        Wih::layout(),
        Xqh::layout(),
    ];
    all.sort_by_key(|layout| layout.name);
    all
}
