//! Making a data set: its first five intervals, written and synced before the log mentions it.

use std::path::Path;
use std::sync::Arc;

use base::CiNumber;
use pool::Pool;
use seam::disk::{Disk, Open};
use seam::mem::AlignedBuf;

use crate::data_set::{Environment, sealer};
use crate::files::Files;
use crate::header::{read_header_interval, write_header_interval};
use crate::{DataSet, Definition, MapLayout, ROOT, SpaceError, map};

/// Makes the files of a data set with an empty tree, whose root `format_root` writes. Everything is
/// durable when it returns; the data set exists once the log says so, together with the tag prefix
/// of its topmost map ([`DataSet::top`]).
///
/// A file that an interrupted attempt left behind is overwritten, because its header proves that it
/// was to be this data set; one of another system is refused; any other one is set aside, as
/// `NAME.aside`.
///
/// # Errors
/// [`SpaceError::Foreign`]; whatever the disk says; no key.
pub fn create(
    environment: &Environment,
    definition: Definition,
    pool: Arc<Pool>,
    format_root: &dyn Fn(&mut [u8]),
) -> Result<Arc<DataSet>, SpaceError> {
    definition
        .check()
        .map_err(|why| SpaceError::Decode { what: "a data set's definition".into(), why })?;
    assert_eq!(definition.unit_bytes(), pool.unit_bytes(), "a pool serves one unit size");
    leave_others(environment, &definition, &pool)?;
    let disk = (Arc::clone(&environment.seam.disk), environment.system);
    let files = Files::open(disk, environment.home.clone(), definition.clone(), true)?;
    let made = write(environment, &definition, &pool, &files, format_root);
    let made = made.and_then(|top| Ok((top, files.intervals()?)));
    match made {
        Ok((top, intervals)) => {
            Ok(DataSet::around(environment, definition, pool, files, intervals, top))
        }
        Err(error) => {
            // Nobody knows of it yet, and a device may be full because of it.
            let _ = files.remove();
            Err(error)
        }
    }
}

/// Removes whatever there is of the files of a data set that is not open, which may be none.
///
/// # Errors
/// Whatever the disk says.
pub fn remove_closed(environment: &Environment, definition: Definition) -> Result<(), SpaceError> {
    let disk = (Arc::clone(&environment.seam.disk), environment.system);
    Files::closed(disk, environment.home.clone(), definition).remove_present()
}

/// Sees to it that nothing is written over but what an interrupted attempt left.
fn leave_others(
    environment: &Environment,
    definition: &Definition,
    pool: &Pool,
) -> Result<(), SpaceError> {
    let disk = environment.seam.disk.as_ref();
    let path = environment.home.join(definition.file_name(0));
    let io = |verb, source| SpaceError::Io {
        name: definition.name.clone(),
        path: path.clone(),
        verb,
        source,
    };
    if !disk.exists(&path).map_err(|error| io("looked for", error))? {
        return Ok(());
    }
    let mut unit = AlignedBuf::zeroed(definition.unit_bytes());
    let file = disk.open(&path, Open { direct: true, ..Open::READ });
    let file = file.map_err(|error| io("opened", error))?;
    // With less than an interval nothing was kept in it.
    if file.len().map_err(|error| io("measured", error))? < unit.len() as u64 {
        return Ok(());
    }
    file.read_at(&mut unit, 0).map_err(|error| io("read", error))?;
    if unit.iter().all(|byte| *byte == 0) {
        return Ok(());
    }
    // What is plain says whose it is without a key.
    if let Ok((system, _)) = read_header_interval(&unit[..pool.usable_bytes()])
        && system != environment.system
    {
        return Err(SpaceError::Foreign { name: definition.name.clone(), path, system });
    }
    // System and number are proven with it.
    if sealer(environment, definition).open(CiNumber(0), &mut unit).is_ok() {
        return Ok(());
    }
    drop(file);
    set_aside(disk, &path).map_err(|error| io("set aside", error))
}

/// Gives a file a name that nobody asks for.
fn set_aside(disk: &dyn Disk, path: &Path) -> std::io::Result<()> {
    for number in 1_u32.. {
        let mut aside = path.as_os_str().to_owned();
        aside.push(if number == 1 { ".aside".to_owned() } else { format!(".aside{number}") });
        if !disk.exists(aside.as_ref())? {
            return disk.rename(path, aside.as_ref());
        }
    }
    Ok(())
}

/// Writes the first intervals of a data set durably. Returns the topmost tag prefix.
fn write(
    environment: &Environment,
    definition: &Definition,
    pool: &Pool,
    files: &Files,
    format_root: &dyn Fn(&mut [u8]),
) -> Result<u64, SpaceError> {
    let unit_bytes = definition.unit_bytes();
    let mut units = AlignedBuf::zeroed(unit_bytes * (ROOT.0 as usize + 1));
    let top = fill(environment, definition, pool, &mut units, format_root)?;
    let io = |verb, source| SpaceError::Io {
        name: definition.name.clone(),
        path: environment.home.join(definition.file_name(0)),
        verb,
        source,
    };
    let writes: Vec<(CiNumber, &[u8])> = units
        .chunks_exact(unit_bytes)
        .enumerate()
        .map(|(number, unit)| (CiNumber(number as u32), unit))
        .collect();
    files.write(&writes).map_err(|error| io("written", error))?;
    files.sync().map_err(|error| io("synced", error))?;
    files.sync_folder(0)?;
    Ok(top)
}

/// Writes the five units, sealed bottom up, and returns the topmost tag prefix.
fn fill(
    environment: &Environment,
    definition: &Definition,
    pool: &Pool,
    units: &mut [u8],
    format_root: &dyn Fn(&mut [u8]),
) -> Result<u64, SpaceError> {
    let usable = pool.usable_bytes();
    let layout = MapLayout::new(usable);
    let sealer = sealer(environment, definition);
    let mut units: Vec<&mut [u8]> = units.chunks_exact_mut(definition.unit_bytes()).collect();
    write_header_interval(&mut units[0][..usable], environment.system, definition);
    format_root(&mut units[ROOT.0 as usize][..usable]);
    for level in 1..=3_u8 {
        map::format(&mut units[usize::from(level)][..usable], CiNumber(u32::from(level)), level);
    }
    let mut prefix = 0;
    // Each interval is sealed after everything that it vouches for.
    for ci in [0, ROOT.0, 1, 2, 3].map(CiNumber) {
        prefix = sealer.seal(ci, units[ci.0 as usize])?.0;
        if let Some(guardian) = layout.guardian(ci) {
            let map_page = &mut units[guardian.map.0 as usize][..usable];
            map::set_tag_prefix(map_page, guardian.index, prefix);
        }
    }
    Ok(prefix)
}
