//! The wire between programs and a queue manager: frames, fields, calls.
//!
//! | kind | call | fields of the request | fields of the answer, behind the outcome |
//! |---|---|---|---|
//! | 1 | connect | manager (48 bytes), program (28 bytes), thread, flag: user and password follow | name, connection's number (8 bytes), identifier, flag: calls that do not say so are in the unit of work |
//! | 2 | disconnect | | |
//! | 3 | open | object, options | object, handle |
//! | 4 | close | handle, options | |
//! | 5 | put | handle, posting | posting; data: none |
//! | 6 | put1 | object, posting | object, posting |
//! | 7 | get | handle, wanted | wanted, length of the message; data: of the message |
//! | 8 | inquire | handle, selectors | numbers, characters |
//! | 9 | set | handle, selectors, numbers, characters | |
//! | 10 | commit | | |
//! | 11 | back | | |
//! | 12 | begin | | |
//! | 13 | subscribe | MQSD, 4 texts, handle or -1 | MQSD, topic string, queue's handle or -1, subscription's handle |
//! | 14 | subscription request | handle, action | publications |
//! | 15 | status | kind | MQSTS |
//! | 16 | create message handle | | message handle |
//! | 17 | delete message handle | message handle | |
//! | 18 | set property | message handle, name, property | |
//! | 19 | inquire property | message handle, name, which (0, 1, 2) | name, property |
//! | 20 | delete property | message handle, name | |
//! | 21 | buffer to handle | message handle, MQMD, flag: delete; data: the buffer | MQMD; data: what is left |
//! | 22 | handle to buffer | message handle, name, MQMD, flag: delete | MQMD; data: the buffer |
//! | 23 | consume | milliseconds, list of: handle, wanted | place in the list or -1, then as for get |
//! | 24 | enter, of a client over the network, in place of connect | channel, process over there, then as for connect | as for connect |
//! | 25 | branch of a global transaction | see [`branch`] | see [`branch`] |
//!
//! An outcome is two numbers, completion and reason. An object is MQOD, two texts (object string,
//! selection string), a list of names and their managers (48 bytes each) and a flag that says
//! whether answers for each are wanted; it comes back as MQOD, the resolved object string and a
//! list of outcomes. A posting is MQMD, MQPMO, a list of records (three identifiers of 24 bytes,
//! feedback, accounting token of 32 bytes) and such a flag; it comes back as MQMD, MQPMO, the list
//! of records and a list of outcomes. Wanted is MQMD, MQGMO and how much room there is; it comes
//! back as MQMD and MQGMO. A property is its type's number and its value's bytes. Structures in
//! answers say what differs from those of the request. If a request cannot be understood, its
//! answer ends with the outcome.

pub mod branch;
pub mod carried;
pub mod codec;
pub mod frame;
mod request;

pub use request::{
    CONSUMERS_MAX, Connecting, Credentials, Entry, Object, Posting, Request, Wanted, property,
    property_parts,
};
pub(crate) use request::{read_records, write_records};
