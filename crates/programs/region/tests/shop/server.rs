//! A scripted server: five customers, and a log of everything that it was asked.

use std::path::Path;
use std::sync::Arc;

use definitions::Function;
use holdfast_region::layout::{
    DatabaseLayout, FieldLayout, GsamLayout, NO_NAME, Name, PcbKind, PcbLayout, SegmentLayout, name,
};
use holdfast_region::{Ending, Failure, Feedback, IoFeedback, Reply, Request, Server};
use seam::disk::{Create, Disk, File, Open};
use seam::real::RealDisk;

pub(crate) const SEGMENT_BYTES: usize = 30;

/// The server.
pub(crate) struct Shop {
    layouts: Vec<PcbLayout>,
    customers: Vec<[u8; SEGMENT_BYTES]>,
    at: Option<usize>,
    saved: Vec<Vec<u8>>,
    log: Log,
}

/// Lines in a file that outlive the process.
struct Log {
    file: Arc<dyn File>,
    end: u64,
}

impl Log {
    fn line(&mut self, text: &str) {
        let line = format!("{text}\n");
        self.file.write_at(line.as_bytes(), self.end).expect("room for the log");
        self.end += line.len() as u64;
    }
}

impl Shop {
    pub(crate) fn new(log: &Path) -> Shop {
        let how = Open { create: Create::IfMissing, write: true, direct: false, dsync: false };
        let file = RealDisk::new().open(log, how).expect("a log");
        let customer = |key: usize| {
            let text = format!("{key:06}CUSTOMER NUMBER {key:<8}");
            let mut segment = [b' '; SEGMENT_BYTES];
            segment.copy_from_slice(&text.as_bytes()[..SEGMENT_BYTES]);
            segment
        };
        Shop {
            layouts: layouts(),
            customers: (1..=5).map(customer).collect(),
            at: None,
            saved: vec![b"SAVED BY THE SHOP".to_vec(), b"42".to_vec()],
            log: Log { end: file.len().expect("a length"), file },
        }
    }

    fn get(&mut self, function: Function, ssas: &[&[u8]]) -> [u8; 2] {
        let wanted = ssas.first().and_then(|ssa| ssa.get(19..25));
        let found = match (wanted, &function.bytes()[..2]) {
            (Some(key), _) => self.customers.iter().position(|customer| customer.starts_with(key)),
            (None, b"GN") => {
                let next = self.at.map_or(0, |at| at + 1);
                (next < self.customers.len()).then_some(next)
            }
            (None, _) => Some(0),
        };
        match (found, wanted) {
            (Some(found), _) => {
                self.at = Some(found);
                *b"  "
            }
            (None, Some(_)) => *b"GE",
            (None, None) => {
                self.at = None;
                *b"GB"
            }
        }
    }

    fn database(&mut self, request: Request<'_>, reply: &mut Reply) {
        let Request { function, pcb, area, ssas, .. } = request;
        let pcb = pcb.unwrap_or_default();
        let mut status = match &function.bytes() {
            b"GU  " | b"GN  " | b"GHU " | b"GHN " => self.get(function, ssas),
            b"REPL" => *b"  ",
            _ => *b"AD",
        };
        let (Some(at), b"  ") = (self.at, &status) else {
            return reply.pcb(pcb, Feedback::status(status));
        };
        match area {
            Some(area) if area.len() < SEGMENT_BYTES => status = *b"AG",
            Some(area) if function == Function::Repl => {
                self.customers[at].copy_from_slice(&area[..SEGMENT_BYTES]);
            }
            Some(area) => {
                area[..SEGMENT_BYTES].copy_from_slice(&self.customers[at]);
                reply.fill(SEGMENT_BYTES);
            }
            None => status = *b"AB",
        }
        let key = &self.customers[at][..6];
        let segment = name("CUSTOMER");
        reply.pcb(pcb, Feedback { level: 1, segment, key, ..Feedback::status(status) });
    }

    fn file(&mut self, request: Request<'_>, reply: &mut Reply) {
        let Request { function, area, more, .. } = request;
        let mut key = *b"RSA00001\0\0\0\0";
        let status = match (&function.bytes(), area) {
            (b"GN  ", Some(area)) => {
                area[..5].copy_from_slice(b"HELLO");
                reply.fill(5);
                key[8] = 5;
                *b"  "
            }
            (b"GU  ", Some(_)) => {
                let rsa = more.first().map(|rsa| String::from_utf8_lossy(rsa).into_owned());
                self.log.line(&format!("searched {rsa:?}"));
                *b"GB"
            }
            (b"ISRT", Some(area)) => {
                self.log.line(&format!("written {}", String::from_utf8_lossy(area)));
                *b"  "
            }
            _ => *b"AM",
        };
        if let (Some(item), b"  ") = (more.first_mut(), &status) {
            item.copy_from_slice(&key[..8]);
        }
        reply.pcb(2, Feedback { key: &key, ..Feedback::status(status) });
    }

    fn system(&mut self, request: Request<'_>, reply: &mut Reply) {
        let Request { function, area, more, .. } = request;
        let io = IoFeedback { user: name("CLERK"), sequence: 7, ..IoFeedback::default() };
        let status = match &function.bytes() {
            b"CHKP" => {
                self.log.line(&format!("saved {}", more.len()));
                for item in more.iter() {
                    self.log.line(&format!("  {}", String::from_utf8_lossy(item)));
                }
                *b"  "
            }
            b"XRST" => {
                if area.as_ref().is_some_and(|area| area.starts_with(b"LAST")) {
                    for (item, saved) in more.iter_mut().zip(&self.saved) {
                        item[..saved.len()].copy_from_slice(saved);
                    }
                    if let Some(area) = area {
                        area[..8].copy_from_slice(b"CHKP0007");
                        reply.fill(8);
                    }
                }
                *b"  "
            }
            b"ROLL" => return reply.abend("U0778", "the program asked for it"),
            b"LOG " => {
                self.log.line(&format!("logged {}", area.unwrap_or_default().escape_ascii()));
                *b"  "
            }
            b"SYNC" => *b"  ",
            // What no real server does, to see what then becomes of the program.
            b"EXIT" => std::process::exit(3),
            b"PANI" => panic!("the server is broken"),
            _ => *b"AD",
        };
        reply.pcb(0, Feedback { io: Some(&io), ..Feedback::status(status) });
    }
}

impl Server for Shop {
    fn pcbs(&self) -> &[PcbLayout] {
        &self.layouts
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        let ssas: Vec<_> = request.ssas.iter().map(|ssa| String::from_utf8_lossy(ssa)).collect();
        let function = String::from_utf8_lossy(&request.function.bytes()).into_owned();
        let area = request.area.as_ref().map_or(0, |area| area.len());
        let pcb = request.pcb.unwrap_or(99);
        self.log.line(&format!("{function} pcb {pcb} area {area} {}", ssas.join(" ")));
        match request.pcb {
            Some(1) => self.database(request, reply),
            Some(2) => self.file(request, reply),
            _ => self.system(request, reply),
        }
    }

    fn end(&mut self, ending: Ending) -> Result<(), Failure> {
        self.log.line(&format!("end {ending:?}"));
        Ok(())
    }
}

fn layouts() -> Vec<PcbLayout> {
    let fields = vec![FieldLayout { name: name("CUSTKEY"), len: 6 }];
    let segments = vec![SegmentLayout {
        name: name("CUSTOMER"),
        bytes_max: SEGMENT_BYTES as u16,
        variable: false,
        key_path: 6,
        fields,
    }];
    let database = DatabaseLayout {
        dbd: name("SHOPDB"),
        organization: name("HIDAM"),
        options: *b"A   ",
        key_max: 6,
        segments,
    };
    let gsam = GsamLayout { dbd: name("EXTRACT"), options: *b"L   ", rsa_len: 8, undefined: true };
    let of = |title: Name, area_max, kind| PcbLayout { name: title, listed: true, area_max, kind };
    vec![
        of(name("IOPCB"), 64, PcbKind::Io(IoFeedback::default())),
        of(name("SHOP"), SEGMENT_BYTES as u32, PcbKind::Database(database)),
        of(NO_NAME, 80, PcbKind::Gsam(gsam)),
    ]
}
