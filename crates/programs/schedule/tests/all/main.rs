//! Scheduled PSBs: calls, checkpoints, loads.

mod calls_of_the_io_pcb;
mod checkpoints_and_restarts;
mod closed_databases;
mod data_sets;
mod loads;
mod message_regions;
mod messages;
mod partitions;
mod program_caches;
mod programs_beside_each_other;
mod queues;
mod regions_with_queues;
mod support;
