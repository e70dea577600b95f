//! What VSAM promises, tried on the model of the store and on the kernel's.
#![allow(clippy::disallowed_methods)] // folders of the real machine

mod catalogs;
mod common;
mod copies;
mod crashes;
mod feedback;
mod generations;
mod indexes;
mod model;
mod programs;
mod redirections;
mod sequence;
mod sharing;
