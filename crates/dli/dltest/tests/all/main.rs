//! Decks of cards: how they are read, what their calls do, and what the reports say.

mod any_bytes;
mod controlled;
mod punched;
mod ran;
mod read;
mod reported;
mod support;
mod wrong;
