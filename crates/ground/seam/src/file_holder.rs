//! Who holds a file, as far as the operating system says: a process that cannot have it names the
//! one that has.

/// Who holds the file with this number on this device, as the end of a sentence about it.
pub(crate) fn by_whom(device: u64, inode: u64) -> String {
    // A table of the operating system's, not a file of anybody.
    let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    match holder(&table, device, inode) {
        Some(process) if process == std::process::id() => {
            format!("another step of this process, {process}, has it open")
        }
        Some(process) => format!("process {process} has it open"),
        None => "another process has it open".to_owned(),
    }
}

/// The process that the table of locks names: `1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF`.
fn holder(table: &str, device: u64, inode: u64) -> Option<u32> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    table.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Who only waits for it stands there, too, behind an arrow.
        let is_that = words.get(1) == Some(&"FLOCK") && words.get(5) == Some(&file.as_str());
        words.get(4).filter(|_| is_that)?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_locks_names_who_holds_a_file() {
        let table = "1: POSIX  ADVISORY  WRITE 9 fd:01:12 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 4711 fd:01:12 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 4712 fd:01:12 0 EOF\n\
                     3: FLOCK  ADVISORY  READ -1 fd:01:13 0 EOF\n";
        let device = rustix::fs::makedev(0xfd, 1);
        assert_eq!(holder(table, device, 12), Some(4711));
        assert_eq!(holder(table, device, 13), None);
        assert_eq!(holder("nonsense", device, 12), None);
    }
}
