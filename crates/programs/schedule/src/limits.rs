//! What PSBGEN allows a program (DLI-6).
//!
//! | operand | limits | beyond it |
//! |---|---|---|
//! | SSASIZE= | bytes of all search arguments of a call | AU |
//! | IOASIZE= | bytes of the I/O area that a call fills or takes | AT |
//! | MAXQ= | calls with command code Q between two sync points (DLI-12.26) | U0775 |
//! | GSROLBOK= | BC, in place of the abend, for a program that has sequential files | U0777 |
//!
//! Invariants:
//! 1. What the PSB leaves out limits nothing. \[ours; on the host the longest path bounds an area,
//!    and a program without MAXQ may not use Q\]
//! 2. MAXQ counts where Q does something: beside other programs.

use definitions::Psb;
use region::Abend;

use crate::error::abend;

/// The abend of a program that uses Q more often than its PSB says. \[K\]
const TOO_MANY_Q: &str = "U0775";

/// What a PSB allows.
pub(crate) struct Limits {
    /// Bytes of all search arguments of a call.
    pub(crate) ssa_bytes: usize,
    /// Bytes of a call's I/O area.
    pub(crate) area_bytes: usize,
    /// Whether a deadlock may become a status: sequential files are not rolled back with the
    /// databases, so their program has to say that it can live with that.
    pub(crate) may_roll_back: bool,
    q_max: Option<u32>,
    q_made: u32,
}

impl Limits {
    /// Those of a PSB; `shared` if others use the databases too.
    pub(crate) fn of(psb: Option<&Psb>, shared: bool, has_files: bool) -> Limits {
        let bytes = |size: Option<u32>| {
            size.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX)
        };
        Limits {
            ssa_bytes: bytes(psb.and_then(|psb| psb.ssa_size)),
            area_bytes: bytes(psb.and_then(|psb| psb.io_area_size)),
            may_roll_back: !has_files || psb.is_some_and(|psb| psb.gsam_backout),
            q_max: psb.and_then(|psb| psb.max_q).filter(|_| shared),
            q_made: 0,
        }
    }

    /// Counts a call with these search arguments.
    ///
    /// # Errors
    /// The abend of the first call with Q that is one too many.
    pub(crate) fn count(&mut self, ssas: &[&[u8]]) -> Result<(), Abend> {
        let Some(most) = self.q_max.filter(|_| ssas.iter().any(|ssa| has_q(ssa))) else {
            return Ok(());
        };
        self.q_made += 1;
        if self.q_made > most {
            let text = format!(
                "more calls with command code Q since the last sync point than the {most} of the \
                 PSB's MAXQ. Take checkpoints more often, or raise MAXQ"
            );
            return Err(abend(TOO_MANY_Q, text));
        }
        Ok(())
    }

    /// A sync point: nothing is held by Q any more.
    pub(crate) fn sync(&mut self) {
        self.q_made = 0;
    }
}

/// Whether Q stands among the command codes of a search argument; no other code's operand can be
/// that letter.
fn has_q(ssa: &[u8]) -> bool {
    let codes = ssa.get(8..).and_then(|behind| behind.strip_prefix(b"*")).unwrap_or_default();
    codes.iter().take_while(|code| !matches!(code, b'(' | b' ')).any(|code| *code == b'Q')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_is_found_among_codes_and_nowhere_else() {
        for (ssa, has) in [
            (&b"CUSTOMER*QA "[..], true),
            (b"CUSTOMER*-DQA(CUSTNO  = 0001)", true),
            (b"CUSTOMER*D(CUSTNO  = QQQQ)", false),
            (b"CUSTOMERQ*QA ", false),
            (b"QUESTION ", false),
            (b"CUST", false),
        ] {
            assert_eq!(has_q(ssa), has, "{}", String::from_utf8_lossy(ssa));
        }
    }
}
