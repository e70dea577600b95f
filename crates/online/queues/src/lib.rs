//! Message queues.
