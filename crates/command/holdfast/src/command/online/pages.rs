//! What a started system tells those who measure it.

use std::path::PathBuf;
use std::sync::Arc;

use control::{Statistics, TRANSIT_US};
use http_door::{Kind, Metrics, Pages};
use operations::transactions::TransactionManager;
use pool::PoolStatistics;
use queues::Kind as QueueKind;
use system::{DoorStatus, Doors, System};
use uow::Kernel;

/// A page lists no more queues than this, those with the most messages first.
const QUEUES_MAX: usize = 1_000;

/// A family of figures of pools: its name, its help, and what it counts.
type Family = (&'static str, &'static str, fn(&PoolStatistics) -> u64);

/// The pages of a started system.
pub(super) struct StatusPages {
    dir: PathBuf,
    kernel: Arc<Kernel>,
    manager: TransactionManager,
    doors: Arc<Doors>,
}

impl StatusPages {
    pub(super) fn new(system: &System, manager: TransactionManager) -> StatusPages {
        let (dir, kernel) = (system.dir().to_owned(), Arc::clone(system.kernel()));
        let doors = system.doors();
        StatusPages { dir, kernel, manager, doors }
    }
}

impl Pages for StatusPages {
    fn metrics(&self, metrics: &mut Metrics) {
        transactions(metrics, &self.manager.statistics());
        self.queues(metrics);
        self.kernel(metrics);
        doors(metrics, &self.doors.status());
    }

    fn status(&self) -> Result<serde_json::Value, String> {
        match system::ask(&self.dir) {
            Ok(Some(status)) => serde_json::to_value(*status).map_err(|error| error.to_string()),
            Ok(None) => Err("the system is being opened, or closed".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn is_well(&self) -> bool {
        self.kernel.stop_switch().check().is_ok()
    }
}

/// A family of figures of doors: its name, its kind, its help, and what it counts.
type DoorFamily = (&'static str, Kind, &'static str, fn(&DoorStatus) -> u64);

fn doors(metrics: &mut Metrics, doors: &[DoorStatus]) {
    let families: [DoorFamily; 5] = [
        ("holdfast_door_connections", Kind::Gauge, "Connections that are open.", |door| {
            door.connections
        }),
        ("holdfast_door_accepted_total", Kind::Counter, "Connections that were let in.", |door| {
            door.accepted
        }),
        ("holdfast_door_refused_total", Kind::Counter, "Connections turned away.", |door| {
            door.refused
        }),
        ("holdfast_door_received_total", Kind::Counter, "Messages that came in.", |door| {
            door.received
        }),
        ("holdfast_door_sent_total", Kind::Counter, "Messages that went out.", |door| door.sent),
    ];
    for (name, kind, help, value) in families {
        metrics.family(name, kind, help);
        for door in doors {
            metrics.sample(name, &[("door", &door.name)], value(door) as f64);
        }
    }
}

fn transactions(metrics: &mut Metrics, figures: &Statistics) {
    let counters = [
        ("holdfast_inputs_total", "Inputs that were taken in.", figures.submitted),
        ("holdfast_refusals_total", "Inputs that were refused at once.", figures.refused),
        (
            "holdfast_transactions_total",
            "Inputs whose unit of work is committed.",
            figures.committed,
        ),
        ("holdfast_backouts_total", "Inputs that were backed out for good.", figures.backed_out),
        (
            "holdfast_reschedules_total",
            "Inputs given out again after a deadlock.",
            figures.rescheduled,
        ),
        ("holdfast_expirations_total", "Inputs that have expired.", figures.expired),
        ("holdfast_outputs_total", "Outputs that were delivered.", figures.delivered),
        ("holdfast_dead_letters_total", "Dead letters that were written.", figures.dead_letters),
        ("holdfast_schedules_total", "Times programs were scheduled.", figures.schedules),
    ];
    for (name, help, value) in counters {
        metrics.single(name, Kind::Counter, help, value as f64);
    }
    let name = "holdfast_region_busy_seconds_total";
    let busy = figures.occupied_us as f64 / 1e6;
    metrics.single(name, Kind::Counter, "How long regions have run programs, together.", busy);
    let gauges = [
        ("holdfast_regions", "Message regions.", figures.regions),
        ("holdfast_regions_busy", "Message regions that run a program.", figures.occupied),
        ("holdfast_conversations", "Conversations that go on.", figures.conversations),
    ];
    for (name, help, value) in gauges {
        metrics.single(name, Kind::Gauge, help, value as f64);
    }
    let name = "holdfast_input_age_seconds";
    let oldest = figures.oldest_input_ms as f64 / 1e3;
    metrics.single(name, Kind::Gauge, "The age of the oldest input that waits.", oldest);
    transit(metrics, figures);
}

/// Transit times, as a histogram.
fn transit(metrics: &mut Metrics, figures: &Statistics) {
    let name = "holdfast_transit_seconds";
    metrics.family(name, Kind::Histogram, "From an input's arrival to its commit.");
    let mut sum = 0;
    for (count, end) in figures.transit.iter().zip(TRANSIT_US) {
        sum += count;
        let end = (end as f64 / 1e6).to_string();
        metrics.sample("holdfast_transit_seconds_bucket", &[("le", &end)], sum as f64);
    }
    let all: u64 = figures.transit.iter().sum();
    metrics.sample("holdfast_transit_seconds_bucket", &[("le", "+Inf")], all as f64);
    metrics.sample("holdfast_transit_seconds_sum", &[], figures.transit_us as f64 / 1e6);
    metrics.sample("holdfast_transit_seconds_count", &[], all as f64);
}

impl StatusPages {
    fn queues(&self, metrics: &mut Metrics) {
        let kinds = [
            (QueueKind::Input, "input"),
            (QueueKind::Output, "output"),
            (QueueKind::DeadLetter, "dead_letter"),
        ];
        let name = "holdfast_queue_messages";
        metrics.family(name, Kind::Gauge, "Messages that wait, by queue.");
        for (kind, word) in kinds {
            let mut queues = self.manager.queues(kind);
            queues.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.waiting));
            for (queue, figures) in queues.iter().take(QUEUES_MAX) {
                let labels = [("kind", word), ("queue", &queue.name.text())];
                metrics.sample(name, &labels, figures.waiting as f64);
            }
        }
    }

    fn kernel(&self, metrics: &mut Metrics) {
        let figures = self.kernel.statistics();
        let name = "holdfast_commits_total";
        metrics.single(
            name,
            Kind::Counter,
            "Units of work that were committed.",
            figures.commits as f64,
        );
        let name = "holdfast_log_bytes_total";
        metrics.single(name, Kind::Counter, "Bytes of log records.", figures.log.bytes as f64);
        let name = "holdfast_lock_waits_total";
        metrics.single(name, Kind::Counter, "Waits for locks.", figures.locks.waits as f64);
        let name = "holdfast_deadlocks_total";
        metrics.single(
            name,
            Kind::Counter,
            "Deadlocks that were ended.",
            figures.locks.deadlocks as f64,
        );
        let families: [Family; 3] = [
            ("holdfast_pool_hits_total", "Pages that were found in a pool.", |pool| pool.hits),
            ("holdfast_pool_reads_total", "Pages that were read.", |pool| pool.reads),
            ("holdfast_pool_writes_total", "Pages that were written.", |pool| pool.writes),
        ];
        for (name, help, value) in families {
            metrics.family(name, Kind::Counter, help);
            for pool in &figures.pools {
                metrics.sample(name, &[("pool", &pool.name)], value(pool) as f64);
            }
        }
    }
}
