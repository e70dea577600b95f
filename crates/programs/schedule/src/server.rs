//! What a region asks of a scheduled PSB: which call goes where, and how the program's end is met.
//!
//! | PCB | functions | answered in |
//! |---|---|---|
//! | database | gets, ISRT, REPL, DLET | `database` |
//! | GSAM | OPEN, CLSE, GN, GU, ISRT | `file` |
//! | I/O | CHKP, XRST, SYNC, ROLB, ROLL | `sync` |
//! | I/O | SETS, SETU, ROLS | `points` |
//! | I/O, or none with an AIB | INIT, INQY, LOG, DEQ, GSCD | `service` |
//! | I/O, alternate | GU, GN, ISRT, PURG, CHNG, SETO, AUTH | `terminal`; without messages `service` |
//! | I/O or database | STAT | `statistics` |
//! | none | data sets; the message queue interface | `records`; `queues` |
//!
//! Invariants:
//! 1. The end of a program is met once; a schedule that is dropped without it is backed out.

use definitions::Function;
use file_handler::FileStatus;
use region::layout::PcbLayout;
use region::{Abend, Ending, Failure, Feedback, Reply, Request, Server};
use store::Store;

use crate::error::abend;
use crate::pcbs::Pcb;
use crate::schedule::Schedule;

impl<S: Store> Schedule<S> {
    fn route(&mut self, request: Request<'_>, reply: &mut Reply) -> Result<(), Abend> {
        if self.is_over {
            return Err(abend("U0476", "a call after the end of the program"));
        }
        if request.function == Function::Inqy {
            return self.inquire(request, reply);
        }
        let number = request.pcb.unwrap_or_default();
        let kind = request.pcb.map(|number| self.pcbs.get(number));
        match kind {
            None => self.without_pcb(&request, reply),
            Some(None) => return Err(abend("U0476", format!("there is no PCB {number}"))),
            Some(Some(Pcb::Io)) => return self.service(request, reply),
            Some(Some(Pcb::Alternate)) if self.unit.terminals.are_there() => {
                return self.terminal(number, request, reply);
            }
            Some(Some(Pcb::Alternate)) => {
                let status = self.alternate(request.function);
                reply.pcb(number, Feedback::status(status));
            }
            Some(Some(Pcb::Database(_))) => {
                self.restart.need()?;
                return self.database(number, request, reply);
            }
            Some(Some(Pcb::File(_))) => {
                self.restart.need()?;
                let tell = self.program.options.tell;
                if let Some(Pcb::File(file)) = self.pcbs.get_mut(number) {
                    file.call(number, request, reply, tell);
                }
            }
        }
        Ok(())
    }

    fn normal_end(&mut self) -> Result<(), Abend> {
        self.restart.need()?;
        for file in self.pcbs.files() {
            if file.close() != gsam::Status::Done {
                let text = file.fault().map_or_else(String::new, ToString::to_string);
                return Err(abend("U0844", text));
            }
        }
        self.unit.data_sets.close()?;
        self.unit.data_sets.join(&mut self.unit.session)?;
        let stamp = self.stamp();
        self.restart.put_end((&self.store, &mut self.unit.session), stamp)?;
        self.unit.commit()?;
        self.unit.data_sets.joined(self.program.options.tell);
        self.unit.queues.disconnect();
        self.loads.end(&self.store)
    }

    fn abnormal_end(&mut self, is_there: bool) -> Result<(), Abend> {
        let closed = self.unit.data_sets.close();
        let backed_out = self.unit.back_out();
        self.unit.data_sets.give_up(self.program.options.tell);
        self.unit.terminals.backed_out(false);
        self.unit.queues.disconnect();
        for file in self.pcbs.files() {
            match is_there {
                // What a sequential file holds beyond the checkpoint is cut at the restart
                // (DLI-12.63).
                true => drop(file.close()),
                // The restart may be over already.
                false => file.abandon(),
            }
        }
        backed_out?;
        closed?;
        self.loads.give_up(&self.store)
    }
}

impl<S: Store> Server for Schedule<S> {
    fn pcbs(&self) -> &[PcbLayout] {
        self.pcbs.layouts()
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        self.tally.count(request.function);
        if let Err(abend) = self.route(request, reply) {
            self.unit.terminals.abends(&abend);
            reply.abend(&abend.code, abend.text);
        }
    }

    fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), Abend> {
        if self.is_over {
            file_handler::wire::plain_answer(FileStatus::NOT_OPEN, 0, answer);
            return Ok(());
        }
        let place = (&self.store, &self.clock);
        let served = self.unit.data_sets.serve(&mut self.unit.session, place, request, answer);
        served.inspect_err(|abend| self.unit.terminals.abends(abend))
    }

    fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), Abend> {
        if self.is_over {
            mqi::server::nowhere(answer);
            return Ok(());
        }
        let served = self.unit.queues.call(&mut self.unit.session, request, answer);
        served.inspect_err(|abend| self.unit.terminals.abends(abend))
    }

    fn end(&mut self, ending: Ending) -> Result<(), Failure> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        let ended = match ending {
            Ending::Abend => self.abnormal_end(true),
            Ending::Gone => self.abnormal_end(false),
            Ending::Normal => self.normal_end().inspect_err(|_| {
                let _ = self.abnormal_end(true);
            }),
        };
        ended.map_err(|Abend { code, text }| Failure { code, text, remedy: String::new() })
    }
}
