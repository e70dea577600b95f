//! What a configuration says, and what is wrong with one.

use super::*;

fn parse(text: &str) -> Result<SystemConfig, SystemError> {
    SystemConfig::parse(text.as_bytes(), Path::new("holdfast.toml"))
}

fn text() -> String {
    SystemConfig::new(SystemId([0xa7; 16])).to_text()
}

#[test]
fn the_template_says_what_the_defaults_are() {
    let config = SystemConfig::new(SystemId([0xa7; 16]));
    assert_eq!(parse(&config.to_text()).unwrap(), config);
    // With every comment that sets something made a setting, nothing changes.
    let set: String = text()
        .lines()
        .map(|line| line.strip_prefix("#: ").unwrap_or(line).to_owned() + "\n")
        .collect();
    assert_ne!(set, text());
    assert_eq!(parse(&set).unwrap(), config, "{set}");
}

#[test]
fn what_differs_from_the_defaults_is_written_and_read() {
    let mut config = SystemConfig::new(SystemId([1; 16]));
    config.log.copies = vec!["log".into(), "/mnt/b/log".into()];
    config.log.stripe_folders = vec![vec!["c".into(), "/mnt/d".into()]];
    config.log.segment_bytes = Bytes(1 << 20);
    config.log.format = Format::Plain;
    config.data.format = Format::Plain;
    config.locks.timeout_seconds = 5;
    config.anchor.file = "/mnt/other/bank.anchor".into();
    config.archive = ArchiveSettings {
        folders: vec!["archive".into(), "/mnt/b/archive".into()],
        compress: 3,
        bytes_per_second: Bytes(50 << 20),
        keep_days: 30,
        keep_files: 10,
    };
    config.read_ahead.threads = 0;
    config.channels.listen = vec!["127.0.0.1:1414".into()];
    config.online.ims_connect = vec!["127.0.0.1:9999".into()];
    config.amqp.listen = vec!["127.0.0.1:5672".into()];
    config.amqp.anonymous = true;
    config.mqi.listen = vec!["127.0.0.1:1415".into()];
    config.rest.listen = vec!["127.0.0.1:9080".into()];
    config.rest.administrators = vec!["ANNA".into()];
    config.online.regions = vec![
        RegionSettings { classes: vec![7], count: 3, ..RegionSettings::default() },
        RegionSettings {
            program: "QUICK".into(),
            name: "FAST".into(),
            ..RegionSettings::default()
        },
    ];
    config.online.exits = vec!["exits/libterse.so".into()];
    config.online.program_messages = ProgramMessages::Ascii;
    let places = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect());
    config.online.maps = vec![
        MapSettings { transaction: "PART".into(), input: places(&["0-7", "9"]), output: None },
        MapSettings { transaction: "B*".into(), input: places(&[]), output: places(&["0-3"]) },
    ];
    config.pools.insert(
        "large".into(),
        PoolSettings { unit: Bytes(32_768), bytes: Bytes(1 << 30), data_sets: Vec::new() },
    );
    assert_eq!(parse(&config.to_text()).unwrap(), config);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let line = |text: &str| match parse(text) {
        Err(SystemError::Config { line, why, .. }) => (line, why),
        other => panic!("{other:?}"),
    };
    let base = text();
    let changed = base.replace("[locks]\n", "[locks]\nlock_max = 3\n");
    let (at, why) = line(&changed);
    assert_eq!(changed.lines().nth(at - 1), Some("lock_max = 3"), "{why}");
    assert!(why.contains("lock_max"), "{why}");
    let (at, why) = line(&base.replace("[log]", "[lug]"));
    assert_eq!(base.lines().position(|l| l == "[log]"), Some(at - 1), "{why}");
    let (at, why) = line(&base.replace("unit = \"8 KiB\"", "unit = \"9 KiB\""));
    assert!(base.lines().nth(at - 1).unwrap().contains("unit"), "{at} {why}");
    assert!(why.contains("9216"), "{why}");
    let many = base.replace("[read_ahead]\n", "[read_ahead]\nthreads = 65\n");
    let (at, why) = line(&many);
    assert_eq!(many.lines().nth(at - 1), Some("threads = 65"), "{why}");
}

/// They were taken, and then had no effect, or every call failed. What does not start the system
/// takes them still.
#[test]
fn limits_with_which_nothing_can_be_done_are_refused_at_the_start() {
    let checked = |section: &str, setting: &str| {
        let head = format!("[{section}]\n");
        parse(&text().replace(&head, &format!("{head}{setting}\n"))).unwrap().check_limits()
    };
    for (section, setting, possible) in [
        ("units", "log_bytes_max = \"1 B\"", "4 KiB or more"),
        ("units", "log_bytes_max = 0", "4 KiB or more"),
        ("locks", "locks_max = 0", "64 to 1073741824"),
        ("locks", "locks_max = 9223372036854775807", "64 to"),
        ("locks", "locks_per_unit_max = 0", "1 to"),
        ("checkpoint", "log_bytes = 0", "4 KiB or more"),
        ("checkpoint", "redo_bytes_max = 0", "4 KiB or more"),
        ("checkpoint", "interval_seconds = 0", "1 second or more"),
    ] {
        let (named, why) = checked(section, setting).unwrap_err();
        assert!(setting.starts_with(named), "{setting}: {named}");
        assert!(why.contains(possible), "{setting}: {why}");
    }
    for (section, setting) in [
        ("units", "log_bytes_max = \"4 KiB\""),
        ("locks", "locks_max = 64"),
        ("locks", "locks_per_unit_max = 1"),
    ] {
        assert_eq!(checked(section, setting), Ok(()), "{setting}");
    }
}

#[test]
fn pages_are_written_long_before_the_log_is_full() {
    let mut config = SystemConfig::new(SystemId([1; 16]));
    config.log.segment_bytes = Bytes(1 << 20);
    let (kernel, capacity) =
        (config.kernel(Path::new("/srv/bank")), u64::from(config.log.segments_max) << 20);
    assert!(kernel.writer.redo_bytes_max <= capacity / 4);
    assert!(kernel.checkpoint_bytes <= capacity / 8);
    config.log.segment_bytes = Bytes(1 << 30);
    let writer = config.kernel(Path::new("/srv/bank")).writer;
    assert_eq!(writer.redo_bytes_max, config.checkpoint.redo_bytes_max.0);
}

#[test]
fn a_version_from_the_future_is_refused_whatever_else_it_says() {
    let later = text().replace("version = 1", "version = 2") + "\n[teleport]\nspeed = 9\n";
    assert!(matches!(parse(&later), Err(SystemError::FutureConfig { found: 2, .. })));
}
