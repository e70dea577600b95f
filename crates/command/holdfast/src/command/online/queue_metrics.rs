//! What metrics say of the queue manager: its queues and its channels.

use http_door::{Kind, Metrics};
use queue_manager::channel::ChannelStatus;
use queue_manager::status::QueueStatus;

/// A page lists no more queues than this, those with the most messages first.
const QUEUES_MAX: usize = 1_000;

type Family = (&'static str, Kind, &'static str, fn(&QueueStatus) -> f64);

/// Milliseconds as seconds.
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1e3
}

const FAMILIES: &[Family] = &[
    ("holdfast_mq_depth", Kind::Gauge, "Messages on a queue, uncommitted ones among them.", |of| {
        of.depth as f64
    }),
    ("holdfast_mq_bytes", Kind::Gauge, "Bytes of messages on a queue.", |of| of.bytes as f64),
    (
        "holdfast_mq_oldest_seconds",
        Kind::Gauge,
        "The age of the oldest message on a queue.",
        |of| of.message_age_s.unwrap_or(0) as f64,
    ),
    (
        "holdfast_mq_uncommitted",
        Kind::Gauge,
        "Puts and gets of units of work that are not ended.",
        |of| of.uncommitted as f64,
    ),
    (
        "holdfast_mq_uncommitted_seconds",
        Kind::Gauge,
        "How long a queue has had puts or gets that are not committed.",
        |of| seconds(of.uncommitted_ms),
    ),
    ("holdfast_mq_input_handles", Kind::Gauge, "Handles that are open for input.", |of| {
        of.input_handles as f64
    }),
    ("holdfast_mq_output_handles", Kind::Gauge, "Handles that are open for output.", |of| {
        of.output_handles as f64
    }),
    ("holdfast_mq_damaged", Kind::Gauge, "Messages that were found damaged.", |of| {
        of.damaged as f64
    }),
    ("holdfast_mq_puts_total", Kind::Counter, "Messages that were put.", |of| {
        of.statistics.puts as f64
    }),
    ("holdfast_mq_gets_total", Kind::Counter, "Messages that were got.", |of| {
        of.statistics.gets as f64
    }),
    ("holdfast_mq_put_bytes_total", Kind::Counter, "Bytes that were put.", |of| {
        of.statistics.put_bytes as f64
    }),
    ("holdfast_mq_get_bytes_total", Kind::Counter, "Bytes that were got.", |of| {
        of.statistics.get_bytes as f64
    }),
    ("holdfast_mq_expired_total", Kind::Counter, "Messages whose time was over.", |of| {
        of.statistics.expired as f64
    }),
    ("holdfast_mq_backed_out_total", Kind::Counter, "Messages that came back by backout.", |of| {
        of.statistics.backed_out as f64
    }),
];

/// Writes the families of queues and channels.
pub(super) fn write(
    metrics: &mut Metrics,
    mut queues: Vec<QueueStatus>,
    channels: &[ChannelStatus],
) {
    queues.sort_by(|left, right| right.depth.cmp(&left.depth).then(left.name.cmp(&right.name)));
    queues.truncate(QUEUES_MAX);
    for (name, kind, help, value) in FAMILIES {
        metrics.family(name, *kind, help);
        for queue in &queues {
            metrics.sample(name, &[("queue", &queue.name)], value(queue));
        }
    }
    let labels =
        |one: &ChannelStatus| [("channel", one.channel.clone()), ("partner", one.partner.clone())];
    let name = "holdfast_mq_channel_running";
    metrics.family(name, Kind::Gauge, "Whether a channel runs.");
    for one in channels {
        let labels = labels(one);
        let labels = labels.each_ref().map(|(label, value)| (*label, value.as_str()));
        metrics.sample(name, &labels, f64::from(u8::from(one.state.word() == "RUNNING")));
    }
    let name = "holdfast_mq_channel_messages_total";
    metrics.family(name, Kind::Counter, "Messages that a channel carried since it was started.");
    for one in channels {
        let labels = labels(one);
        let labels = labels.each_ref().map(|(label, value)| (*label, value.as_str()));
        metrics.sample(name, &labels, one.traffic.messages as f64);
    }
}

#[cfg(test)]
mod tests {
    use queue_manager::status::QueueStatistics;

    use super::*;

    #[test]
    fn each_queue_has_a_sample_in_each_family() {
        let queue = QueueStatus {
            name: "APP.IN".into(),
            depth: 3,
            message_age_s: Some(9),
            statistics: QueueStatistics { expired: 2, ..QueueStatistics::default() },
            ..QueueStatus::default()
        };
        let mut metrics = Metrics::default();
        write(&mut metrics, vec![queue], &[]);
        let text = metrics.into_text();
        for line in [
            "holdfast_mq_depth{queue=\"APP.IN\"} 3\n",
            "holdfast_mq_oldest_seconds{queue=\"APP.IN\"} 9\n",
            "holdfast_mq_expired_total{queue=\"APP.IN\"} 2\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
