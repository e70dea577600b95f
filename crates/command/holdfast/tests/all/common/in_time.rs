//! Waiting for processes: never without an end, and a late one is named.
#![allow(dead_code)] // each scenario uses a part

use std::io;
use std::process::{Child, Command, ExitStatus, Output};
use std::time::Duration;

/// Longer than any process of a scenario takes on any machine.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// A command that is run to its end.
pub(crate) trait RunInTime {
    fn output_in_time(&mut self) -> io::Result<Output>;
}

impl RunInTime for Command {
    fn output_in_time(&mut self) -> io::Result<Output> {
        seam::process::output(self, LONG)
    }
}

/// A process whose end is waited for.
pub(crate) trait EndInTime {
    fn finish_in_time(self) -> io::Result<Output>;
    fn wait_in_time(&mut self) -> io::Result<ExitStatus>;
}

impl EndInTime for Child {
    fn finish_in_time(self) -> io::Result<Output> {
        seam::process::finish(self, LONG)
    }

    fn wait_in_time(&mut self) -> io::Result<ExitStatus> {
        seam::process::wait(self, LONG)
    }
}

/// The first line that a process says on standard output.
#[track_caller]
pub(crate) fn first_line(child: &mut Child) -> String {
    seam::process::line(child.stdout.as_mut().unwrap(), LONG).unwrap()
}
