//! Where panics of simulated tasks go: into the run's outcome, not to the terminal.

use super::scheduler::{active, with};
use crate::panic_text::text_of;

/// Keeps panics of simulated tasks off the terminal: they belong to the run's outcome. Panics of
/// real threads go where they went before.
pub(super) fn install_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !active() {
                return previous(info);
            }
            let place = info.location().map_or_else(String::new, |at| format!(", at {at}"));
            let mut text = format!("{}{place}", text_of(info.payload()));
            if std::env::var_os("HOLDFAST_SIM_BACKTRACE").is_some() {
                let trace = std::backtrace::Backtrace::force_capture();
                text.push_str(&format!("\n{trace}"));
            }
            with(|run| run.dying.note_panic(text));
        }));
    });
}
