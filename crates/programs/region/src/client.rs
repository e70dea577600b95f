//! Calls without a program: a caller that has everything at hand makes them over a link.
//!
//! Invariants:
//! 1. A client's calls are the messages that a program's calls are; a server cannot tell them
//!    apart.

use base::Coded;

use crate::abends::abend;
use crate::interface::{DirectAnswer, DirectCall};
use crate::layout::PcbLayout;
use crate::link::Link;
use crate::server::{Abend, AibFields, AibReply, Ending};
use crate::wire::{Answer, MORE_MAX, Malformed, SSAS_MAX, Writer};

/// Makes calls over a link.
pub struct Client {
    link: Box<dyn Link>,
    message: Vec<u8>,
    answer: Vec<u8>,
}

impl Client {
    /// Over this link.
    #[must_use]
    pub fn new(link: Box<dyn Link>) -> Client {
        Client { link, message: Vec::new(), answer: Vec::new() }
    }

    /// The PCBs, the I/O PCB first.
    #[must_use]
    pub fn pcbs(&self) -> &[PcbLayout] {
        self.link.layouts()
    }

    /// Makes a call.
    ///
    /// # Errors
    /// The abend that it ends in.
    pub fn call(&mut self, call: &DirectCall<'_>) -> Result<DirectAnswer, Abend> {
        self.issue(call, None).map(|(answer, _)| answer)
    }

    /// Makes a call as a program does that names its PCB in an AIB.
    ///
    /// # Errors
    /// The abend that it ends in.
    pub fn call_with_aib(
        &mut self,
        call: &DirectCall<'_>,
        fields: &AibFields,
    ) -> Result<(DirectAnswer, AibReply), Abend> {
        self.issue(call, Some(fields))
    }

    fn issue(
        &mut self,
        call: &DirectCall<'_>,
        fields: Option<&AibFields>,
    ) -> Result<(DirectAnswer, AibReply), Abend> {
        if call.pcb >= self.pcbs().len() {
            return Err(abend("U0476", &format!("there is no PCB {}", call.pcb)));
        }
        let mut writer = Writer::call(&mut self.message, call.function, Some(call.pcb), fields);
        for ssa in call.ssas.iter().take(SSAS_MAX) {
            writer.ssa(ssa);
        }
        call.more.iter().take(MORE_MAX).for_each(|item| writer.more(item));
        if let Some(area) = call.area {
            writer.area(call.room, area);
        }
        writer.finish();
        self.exchange()?;
        let mut answer = Answer::parse(&self.answer).map_err(strange)?;
        if let Some(abend) = answer.abend.take() {
            return Err(abend);
        }
        let mut direct = DirectAnswer {
            area: answer.area.to_vec(),
            more: answer.more().map(<[u8]>::to_vec).collect(),
            ..DirectAnswer::default()
        };
        answer.pcbs(|number, feedback| {
            if number == call.pcb {
                direct.status = feedback.status;
                direct.level = feedback.level;
                direct.segment = feedback.segment;
                direct.key = feedback.key.to_vec();
            }
        });
        let reply = answer.aib.settled(direct.status);
        Ok((direct, reply))
    }

    /// Ends: commits or backs out.
    ///
    /// # Errors
    /// Why there was no commit.
    pub fn end(&mut self, ending: Ending) -> Result<(), Abend> {
        Writer::end(&mut self.message, ending);
        self.exchange()?;
        let answer = Answer::parse(&self.answer).map_err(strange)?;
        answer.abend.map_or(Ok(()), Err)
    }

    fn exchange(&mut self) -> Result<(), Abend> {
        let sent = self.link.exchange(&self.message, &mut self.answer);
        self.message.clear();
        sent.map_err(|error| Abend { code: error.code().to_string(), text: error.to_string() })
    }
}

fn strange(_: Malformed) -> Abend {
    abend("HFR016", "the answer to a call makes no sense")
}
