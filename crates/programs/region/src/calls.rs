//! Which parameters the functions take, and what of them goes in and comes back (DLI-5).
//!
//! Invariants:
//! 1. A function that is not in the table goes to the engine with its area and nothing else: it is
//!    the engine that says AD or AM.
//! 2. Functions are compared as they are written; in lower case they are unknown (DLI-12.79).

use definitions::Function;

use crate::layout::PcbKind;

/// How long an I/O area is, if no AIB says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AreaLen {
    /// There is none.
    None,
    /// As the PCB's longest path, record or message.
    Longest,
    /// Always the same.
    Fixed(usize),
    /// So much goes in, and a message may come back.
    Answered(usize),
    /// Two bytes in front say it.
    Counted,
    /// As the function of STAT asks for.
    Statistics,
}

/// Which way an area goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
    Both,
}

/// What stands behind the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    Nothing,
    /// Search arguments.
    Ssas,
    /// One item of fixed length.
    Item(usize, Way),
    /// A record search argument, as long as the PCB's.
    Rsa,
    /// Perhaps a length in front of the area, and then pairs of length and area.
    Pairs(Way),
}

/// The parameters of a call behind its PCB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) area: AreaLen,
    pub(crate) way: Way,
    pub(crate) behind: Behind,
}

const fn plan(area: AreaLen, way: Way, behind: Behind) -> Plan {
    Plan { area, way, behind }
}

/// The parameters of a function with a PCB of a kind.
pub(crate) fn plan_of(function: Function, kind: Option<&PcbKind>) -> Plan {
    match kind {
        Some(PcbKind::Database(_)) => of_database(function),
        Some(PcbKind::Gsam(_)) => of_file(function),
        Some(PcbKind::Io(_) | PcbKind::Alternate { .. }) | None => of_terminal(function),
    }
}

fn of_database(function: Function) -> Plan {
    use AreaLen::{Fixed, Longest, Statistics};
    match function {
        Function::Gu
        | Function::Gn
        | Function::Gnp
        | Function::Ghu
        | Function::Ghn
        | Function::Ghnp => plan(Longest, Way::Out, Behind::Ssas),
        Function::Isrt | Function::Repl | Function::Dlet => plan(Longest, Way::In, Behind::Ssas),
        Function::Pos | Function::Fld => plan(Fixed(4096), Way::Both, Behind::Ssas),
        Function::Stat => plan(Statistics, Way::Out, Behind::Item(9, Way::In)),
        Function::Deq => plan(Fixed(1), Way::In, Behind::Nothing),
        Function::Gscd => plan(Fixed(8), Way::Out, Behind::Nothing),
        Function::Inqy => plan(Longest, Way::Out, Behind::Nothing),
        _ => plan(Longest, Way::In, Behind::Nothing),
    }
}

fn of_file(function: Function) -> Plan {
    use AreaLen::{Fixed, Longest};
    match function {
        Function::Gu | Function::Gn | Function::Ghu | Function::Ghn => {
            plan(Longest, Way::Out, Behind::Rsa)
        }
        Function::Isrt => plan(Longest, Way::In, Behind::Rsa),
        Function::Open => plan(Fixed(4), Way::In, Behind::Nothing),
        Function::Clse => plan(AreaLen::None, Way::In, Behind::Nothing),
        Function::Inqy => plan(Longest, Way::Out, Behind::Nothing),
        _ => plan(Longest, Way::In, Behind::Nothing),
    }
}

fn of_terminal(function: Function) -> Plan {
    use AreaLen::{Counted, Fixed, Longest, Statistics};
    match function {
        Function::Gu
        | Function::Gn
        | Function::Gcmd
        | Function::Rcmd
        | Function::Gmsg
        | Function::Inqy
        | Function::Rolb => plan(Longest, Way::Out, Behind::Nothing),
        Function::Isrt | Function::Purg => plan(Counted, Way::In, Behind::Item(8, Way::In)),
        Function::Chng => plan(Fixed(8), Way::In, Behind::Nothing),
        // A message program gets its next message with it.
        Function::Chkp => plan(AreaLen::Answered(8), Way::Both, Behind::Pairs(Way::In)),
        Function::Xrst => plan(Fixed(14), Way::Both, Behind::Pairs(Way::Both)),
        Function::Sets | Function::Setu => plan(Counted, Way::In, Behind::Item(4, Way::In)),
        Function::Rols => plan(Counted, Way::Both, Behind::Item(4, Way::In)),
        Function::Roll | Function::Sync | Function::Term => {
            plan(AreaLen::None, Way::In, Behind::Nothing)
        }
        Function::Log
        | Function::Init
        | Function::Cmd
        | Function::Icmd
        | Function::Auth
        | Function::Seto
        | Function::Ical => plan(Counted, Way::Both, Behind::Nothing),
        Function::Stat => plan(Statistics, Way::Out, Behind::Item(9, Way::In)),
        Function::Deq => plan(Fixed(1), Way::In, Behind::Nothing),
        Function::Gscd => plan(Fixed(8), Way::Out, Behind::Nothing),
        _ => plan(Counted, Way::In, Behind::Nothing),
    }
}

/// Whether a call brings a segment of a message into its area.
pub(crate) fn brings_segment(function: Function, kind: Option<&PcbKind>) -> bool {
    let gets = matches!(function, Function::Gu | Function::Gn | Function::Rolb | Function::Chkp);
    gets && matches!(kind, Some(PcbKind::Io(_)))
}

/// How long the area of STAT is for one of its functions: the enhanced ones return more.
pub(crate) fn statistics_len(function: &[u8]) -> usize {
    if function.get(2..4) == Some(b"ES") { 600 } else { 360 }
}

/// Whether a call gets, sends or directs messages of terminals and of other programs.
pub(crate) fn is_for_messages(function: Function, kind: Option<&PcbKind>) -> bool {
    match kind {
        Some(PcbKind::Io(_)) => {
            matches!(function, Function::Gu | Function::Gn | Function::Isrt | Function::Purg)
        }
        Some(PcbKind::Alternate { .. }) => {
            matches!(function, Function::Isrt | Function::Purg | Function::Chng)
        }
        _ => false,
    }
}

/// Whether 4 bytes can be a function code. It need not be a right one.
pub(crate) fn is_function(bytes: [u8; 4]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b' ';
    bytes[0].is_ascii_alphabetic() && bytes.iter().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::sample;

    #[test]
    fn the_same_function_means_other_parameters_with_another_pcb() {
        let layouts = sample();
        let of = |function, pcb: usize| plan_of(Function::of(function), Some(&layouts[pcb].kind));
        assert_eq!(of(*b"GU  ", 0).behind, Behind::Nothing);
        assert_eq!(of(*b"GU  ", 1).behind, Behind::Ssas);
        assert_eq!(of(*b"GU  ", 2).behind, Behind::Rsa);
        assert_eq!(of(*b"CHKP", 0).behind, Behind::Pairs(Way::In));
        assert_eq!(of(*b"gu  ", 1).behind, Behind::Nothing);
    }

    #[test]
    fn a_program_for_terminals_is_told_by_its_calls() {
        let layouts = sample();
        let is = |function, pcb: usize| {
            is_for_messages(Function::of(function), Some(&layouts[pcb].kind))
        };
        assert!(is(*b"GU  ", 0) && is(*b"ISRT", 0));
        assert!(!is(*b"CHKP", 0) && !is(*b"GU  ", 1) && !is(*b"ISRT", 2));
        assert!(!is_for_messages(Function::Gu, None));
    }

    #[test]
    fn a_count_is_no_function() {
        assert!(is_function(*b"GU  ") && is_function(*b"ghnp") && is_function(*b"XXXX"));
        assert!(!is_function([0, 0, 0, 4]) && !is_function([4, 0, 0, 0]));
        assert!(!is_function(*b"    "));
    }
}
