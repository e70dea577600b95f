//! What a local queue is told by its definition, ready for use by every put and get.

use super::bodies::PageSet;
use super::watch::{DepthWatch, ServiceWatch};
use crate::name::{ObjectName, padded};
use crate::objects::Object;

/// When a trigger message is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TriggerKind {
    First,
    Every,
    Depth,
}

/// The trigger of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trigger {
    pub(crate) kind: TriggerKind,
    pub(crate) depth: u64,
    pub(crate) priority: i32,
    pub(crate) data: [u8; 64],
    pub(crate) process: ObjectName,
    pub(crate) initiation_queue: ObjectName,
}

/// How the queue came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Defined,
    PermanentDynamic,
    TemporaryDynamic,
}

/// What becomes of properties when a getter says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyControl {
    Compatible,
    None,
    All,
    Force,
}

impl PropertyControl {
    /// As a definition says it.
    pub(crate) fn of(object: &Object) -> PropertyControl {
        match object.text_of("PROPCTL") {
            "NONE" => PropertyControl::None,
            "ALL" => PropertyControl::All,
            "FORCE" => PropertyControl::Force,
            _ => PropertyControl::Compatible,
        }
    }
}

/// What a definition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) put_enabled: bool,
    pub(crate) get_enabled: bool,
    pub(crate) priority: i32,
    pub(crate) persistent: bool,
    pub(crate) depth_max: u64,
    pub(crate) length_max: usize,
    pub(crate) by_priority: bool,
    pub(crate) shareable: bool,
    pub(crate) default_exclusive: bool,
    pub(crate) backout_threshold: u32,
    pub(crate) backout_queue: ObjectName,
    pub(crate) harden_backout: bool,
    pub(crate) transmission: bool,
    pub(crate) trigger: Option<Trigger>,
    pub(crate) property_control: PropertyControl,
    pub(crate) origin: Origin,
    /// Tenths of a second that no message may live longer than.
    pub(crate) expiry_max: Option<i32>,
    /// When it counts as deep or full.
    pub(crate) watch: DepthWatch,
    /// When its messages count as got too late.
    pub(crate) service: ServiceWatch,
    /// Whether accounts of it are kept; none: as the queue manager has it.
    pub(crate) accounting: Option<bool>,
    pub(crate) storage_class: String,
    /// Where its messages are to be kept: what the storage class says.
    pub(crate) page_set: PageSet,
}

impl Settings {
    pub(crate) fn of(object: &Object) -> Settings {
        let kind = match object.text_of("TRIGTYPE") {
            "FIRST" => Some(TriggerKind::First),
            "EVERY" => Some(TriggerKind::Every),
            "DEPTH" => Some(TriggerKind::Depth),
            _ => None,
        };
        let trigger = kind.filter(|_| object.is("TRIGGER", "TRIGGER")).map(|kind| Trigger {
            kind,
            depth: object.number_of("TRIGDPTH").unsigned_abs(),
            priority: object.number_of("TRIGMPRI") as i32,
            data: padded(object.text_of("TRIGDATA")),
            process: object.text_of("PROCESS").into(),
            initiation_queue: object.text_of("INITQ").into(),
        });
        Settings {
            put_enabled: object.is("PUT", "ENABLED"),
            get_enabled: object.is("GET", "ENABLED"),
            priority: object.number_of("DEFPRTY") as i32,
            persistent: object.is("DEFPSIST", "YES"),
            depth_max: object.number_of("MAXDEPTH").unsigned_abs(),
            length_max: usize::try_from(object.number_of("MAXMSGL")).unwrap_or(usize::MAX),
            by_priority: object.is("MSGDLVSQ", "PRIORITY"),
            shareable: object.is("SHARE", "SHARE"),
            default_exclusive: object.is("DEFSOPT", "EXCL"),
            backout_threshold: object.number_of("BOTHRESH") as u32,
            backout_queue: object.text_of("BOQNAME").into(),
            harden_backout: object.is("HARDENBO", "HARDENBO"),
            transmission: object.is("USAGE", "XMITQ"),
            trigger,
            property_control: PropertyControl::of(object),
            origin: match object.text_of("DEFTYPE") {
                "TEMPDYN" => Origin::TemporaryDynamic,
                "PERMDYN" | "SHAREDYN" => Origin::PermanentDynamic,
                _ => Origin::Defined,
            },
            expiry_max: expiry_max(object),
            watch: DepthWatch::of(object),
            service: ServiceWatch::of(object),
            accounting: match object.text_of("ACCTQ") {
                "ON" => Some(true),
                "QMGR" => None,
                _ => Some(false),
            },
            storage_class: object.text_of("STGCLASS").to_owned(),
            page_set: PageSet::ZERO,
        }
    }
}

/// The longest life of a message by a definition's `CAPEXPRY`, in tenths of a second.
pub(crate) fn expiry_max(object: &Object) -> Option<i32> {
    object.text_of("CAPEXPRY").parse().ok().filter(|tenths| *tenths > 0)
}
