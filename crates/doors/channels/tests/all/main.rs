//! Channels between queue managers, over sockets of this machine.

mod channels_are_run;
mod common;
mod ledgers_hold;
mod messages_travel;
mod partners_prove_themselves;
