//! Commands of storage: page sets by their numbers, and what the system says of them.
#![allow(clippy::unwrap_used)] // a test that fails says where

use std::sync::Arc;

use mqsc::Console;
use queue_manager::storage::{DataSetFigures, LogCopy, LogFigures, PoolFigures, Storage};
use queue_manager::{Options, QueueManager};
use store_suite::model::ModelStore;

use crate::common::{done, refused};

struct Known;

impl Storage for Known {
    fn data_set(&self, name: &str) -> Option<DataSetFigures> {
        name.contains(".PS04.").then(|| DataSetFigures {
            pages: 100,
            page_bytes: 8_192,
            pool: "BP3".into(),
            sealed: true,
            pages_got: 7,
            pages_written: 9,
        })
    }

    fn pools(&self) -> Vec<PoolFigures> {
        let pool = |name: &str, crowded, pressed| PoolFigures {
            name: name.into(),
            buffers: 50,
            free: 10,
            written: 30,
            written_crowded: crowded,
            written_pressed: pressed,
            ..PoolFigures::default()
        };
        vec![pool("default", 0, 0), pool("BP3", 20, 0), pool("BP5", 20, 1)]
    }

    fn log(&self) -> LogFigures {
        let copy = |place: &str| LogCopy { place: place.into(), living: true };
        LogFigures {
            copies: vec![copy("/log/1"), copy("/log/2")],
            sealed: true,
            segments: 2,
            restart_at: 16,
            latest_at: 255,
            archives: vec!["/archive".into()],
            archive_trouble: None,
        }
    }

    fn archive_log(&self) -> Result<u64, String> {
        Ok(1)
    }
}

fn console(storage: Option<Arc<dyn Storage>>) -> Console<ModelStore> {
    let options = Options { storage, ..Options::new("QM1") };
    Console::new(&QueueManager::open(&ModelStore::new(), options).expect("it opens"))
}

#[test]
fn page_sets_and_buffer_pools_are_defined_shown_and_deleted_by_number() {
    let console = console(Some(Arc::new(Known)));
    done(&console, "DEFINE BUFFPOOL(3) BUFFERS(1000) LOCATION(ABOVE)");
    done(&console, "DEFINE PSID(4) BUFFPOOL(3) DSN('MQ.PS04') EXPAND(SYSTEM)");
    done(&console, "DEFINE STGCLASS(FAST) PSID(4)");
    let answer = done(&console, "DISPLAY PSID(04) ALL");
    assert!(answer.contains("PSID(04)") && answer.contains("BUFFPOOL(3)"), "{answer}");
    done(&console, "ALTER PSID(4) EXPAND(NONE)");
    assert!(done(&console, "DISPLAY PSID(4) EXPAND").contains("EXPAND(NONE)"));
    done(&console, "ALTER BUFFPOOL(3) BUFFERS(2000)");
    assert!(done(&console, "DISPLAY BUFFPOOL(3) ALL").contains("BUFFERS(2000)"));
    assert!(refused(&console, "DELETE PSID(4)").contains("storage class FAST names it"));
    assert!(refused(&console, "DELETE BUFFPOOL(3)").contains("page set 04 is in it"));
    done(&console, "DELETE STGCLASS(FAST)");
    done(&console, "DELETE PSID(4)");
    done(&console, "DELETE BUFFPOOL(3)");
    assert!(refused(&console, "DEFINE PSID(100)").contains("100"));
}

#[test]
fn usage_is_what_the_system_has_counted() {
    let console = console(Some(Arc::new(Known)));
    done(&console, "DEFINE BUFFPOOL(3)");
    done(&console, "DEFINE BUFFPOOL(5)");
    done(&console, "DEFINE PSID(4) BUFFPOOL(3)");
    let answer = done(&console, "DISPLAY USAGE TYPE(PAGESET) PSID(4)");
    for part in ["PSID(04)", "TOTAL(200)", "SIZEMB(2)", "ENCRYPT(YES)", "GETPAGES(14)", "POOL(BP3)"]
    {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let answer = done(&console, "DISPLAY USAGE TYPE(BUFFPOOL) STATE DWT SWT");
    assert!(
        answer.contains("STATE(DEFERRED)") && answer.contains("STATE(SYNCHRONOUS)"),
        "{answer}"
    );
    assert!(done(&console, "DISPLAY USAGE").contains("LATEST(00000000000000FF)"));
    assert!(refused(&console, "DISPLAY USAGE PSID(9)").contains("not found"));
}

#[test]
fn the_log_and_its_archives_are_shown_and_the_log_is_archived() {
    let console = console(Some(Arc::new(Known)));
    let answer = done(&console, "DISPLAY LOG");
    for part in ["TWOACTV(YES)", "TWOARCH(NO)", "OFFLOAD(ON)", "DSNAME(/log/2)"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(done(&console, "DISPLAY ARCHIVE").contains("DSNAME(/archive)"));
    assert!(done(&console, "ARCHIVE LOG MODE(QUIESCE) TIME(9)").contains("archives made: 1"));
    let console = self::console(None);
    assert!(refused(&console, "DISPLAY LOG").contains("not provided"));
}
