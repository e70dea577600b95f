//! Scenarios with clients that people have.
#![allow(clippy::unwrap_used)] // a test that fails says where

mod door;
mod go_amqp_is_a_client;
mod nobody_harms_others;
mod qpid_jms_is_a_client;
mod qpid_proton_is_a_client;
mod refused_links_leave_nothing;
mod rhea_is_a_client;
mod subscribers_need_no_queues;
mod subscriptions_are_let_go;
mod users_go;
