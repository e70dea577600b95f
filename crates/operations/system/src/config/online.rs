//! The section `[online]`: how a started system processes transactions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::SystemConfig;
use super::template::{Text, folders, list, path, plain, quoted};

/// The section `[online]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OnlineSettings {
    /// The name by which clients ask for this system.
    pub data_store: String,
    /// Addresses at which IMS Connect clients are served; none: the system has no such door.
    pub ims_connect: Vec<String>,
    /// The certificates of the door's TLS, in PEM; empty: connections are in the clear.
    pub tls_certificate: PathBuf,
    /// The key of its first certificate, in PEM.
    pub tls_key: PathBuf,
    /// Who signs the certificates of clients, in PEM; empty: clients need none.
    pub tls_clients: PathBuf,
    /// Serve clients that name no user also at addresses that other machines reach.
    pub anonymous: bool,
    /// The address at which metrics are served over HTTP; empty: nowhere.
    pub metrics: String,
    /// Addresses at which programs of other machines use this system's clusters; none: only
    /// processes of this machine do.
    pub records: Vec<String>,
    /// The name by which they ask for this system; empty: that of its folder.
    pub applid: String,
    /// Names of their own for its clusters and paths.
    pub files: BTreeMap<String, String>,
    /// Folders with the programs of transactions: `NAME.cbl`, `NAME.c` or `NAME.so`.
    pub programs: Vec<PathBuf>,
    /// Folders with copy members for their compilation.
    pub include: Vec<PathBuf>,
    /// Message regions.
    pub regions: Vec<RegionSettings>,
    /// Message exits: shared libraries.
    pub exits: Vec<PathBuf>,
    /// The code page of clients that speak EBCDIC.
    pub client_page: String,
    /// What programs have their messages in; as their clients without it.
    pub program_messages: ProgramMessages,
    /// Which bytes of messages are characters, where that is not all of them.
    pub maps: Vec<MapSettings>,
}

/// What programs have their messages in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProgramMessages {
    /// What each client sends.
    #[default]
    Client,
    /// ASCII.
    Ascii,
    /// EBCDIC.
    Ebcdic,
}

impl ProgramMessages {
    fn word(self) -> &'static str {
        match self {
            ProgramMessages::Client => "client",
            ProgramMessages::Ascii => "ascii",
            ProgramMessages::Ebcdic => "ebcdic",
        }
    }
}

/// Which bytes of a transaction's messages are characters: places as `8-15`, both included, counted
/// from 0 behind each segment's LL and ZZ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapSettings {
    /// The transaction; `*` at its end stands for anything.
    pub transaction: String,
    /// Of what comes in; all of them without it.
    pub input: Option<Vec<String>>,
    /// Of what goes out; all of them without it.
    pub output: Option<Vec<String>>,
}

impl MapSettings {
    /// Places as ranges; `None` if one is none.
    #[must_use]
    pub fn ranges(places: &[String]) -> Option<Vec<std::ops::Range<usize>>> {
        let range = |place: &String| {
            let (first, last) = place.split_once('-').unwrap_or((place, place));
            let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last).then(|| usize::from(first)..usize::from(last) + 1)
        };
        places.iter().map(range).collect()
    }
}

/// Message regions of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegionSettings {
    /// The classes whose transactions they process, in the order of preference.
    pub classes: Vec<u16>,
    /// How many there are.
    pub count: u16,
    /// The program whose expedited inputs they process, in place of classes; empty: none.
    pub program: String,
    /// What jobs of theirs are called, with a number behind it; empty: MPP, or IFP.
    pub name: String,
}

impl RegionSettings {
    /// What jobs are called, without their number.
    #[must_use]
    pub fn job(&self) -> &str {
        match (self.name.as_str(), self.program.is_empty()) {
            ("", true) => "MPP",
            ("", false) => "IFP",
            (name, _) => name,
        }
    }
}

/// More classes than a region has.
const CLASSES_MAX: usize = 4;
/// The highest class.
const CLASS_MAX: u16 = 999;
/// More regions than any machine keeps busy.
const REGIONS_MAX: u32 = 999;

impl Default for RegionSettings {
    fn default() -> RegionSettings {
        let (program, name) = (String::new(), String::new());
        RegionSettings { classes: vec![1], count: 1, program, name }
    }
}

impl Default for OnlineSettings {
    fn default() -> OnlineSettings {
        OnlineSettings {
            data_store: "HOLDFAST".into(),
            ims_connect: Vec::new(),
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            tls_clients: PathBuf::new(),
            anonymous: false,
            metrics: String::new(),
            records: Vec::new(),
            applid: String::new(),
            files: BTreeMap::new(),
            programs: Vec::new(),
            include: Vec::new(),
            regions: vec![RegionSettings {
                classes: vec![1, 2, 3, 4],
                count: 2,
                ..RegionSettings::default()
            }],
            exits: Vec::new(),
            client_page: "cp037".into(),
            program_messages: ProgramMessages::default(),
            maps: Vec::new(),
        }
    }
}

impl OnlineSettings {
    /// Folders of a system in `dir` as other processes find them.
    #[must_use]
    pub fn folders(dir: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
        folders.iter().map(|folder| dir.join(folder)).collect()
    }
}

impl SystemConfig {
    /// What the layers above would take for granted.
    pub(super) fn check_online(&self) -> Result<(), (&'static str, String)> {
        let online = &self.online;
        let name = &online.data_store;
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        if name.is_empty() || name.len() > 8 || !name.bytes().all(is_name) {
            return Err(("data_store", "it is a name of up to 8 letters and digits".into()));
        }
        let is_file = |name: &String| {
            let mut bytes = name.bytes();
            let first = bytes.next().is_some_and(|byte| byte.is_ascii_uppercase());
            first && name.len() <= 8 && bytes.all(is_name)
        };
        if !online.applid.is_empty() && !is_file(&online.applid) {
            let what = "it is a letter and up to 7 letters and digits, in upper case";
            return Err(("applid", what.into()));
        }
        if let Some(name) = online.files.keys().find(|name| !is_file(name)) {
            let what = format!("{name} is no letter and up to 7 letters and digits, in upper case");
            return Err(("files", what));
        }
        if online.tls_certificate.as_os_str().is_empty() != online.tls_key.as_os_str().is_empty() {
            return Err(("tls_certificate", "a certificate and its key go together".into()));
        }
        for map in &online.maps {
            let all = [&map.input, &map.output];
            let is_good = |places: &&Vec<String>| MapSettings::ranges(places).is_some();
            if !all.into_iter().flatten().all(|places| is_good(&places)) {
                return Err(("maps", "a place is written as in \"0-7\"".into()));
            }
        }
        for region in &online.regions {
            let is_class = |class: &u16| (1..=CLASS_MAX).contains(class);
            if region.classes.is_empty() || region.classes.len() > CLASSES_MAX {
                return Err(("regions", format!("a region has 1 to {CLASSES_MAX} classes")));
            }
            if !region.classes.iter().all(is_class) {
                return Err(("regions", format!("a class is 1 to {CLASS_MAX}")));
            }
            let is_name = |name: &str| name.len() <= 8 && name.bytes().all(is_name);
            if !is_name(&region.program) || !is_name(&region.name) || region.job().len() > 5 {
                let what = "a program's name has up to 8 letters and digits, that of a job up to 5";
                return Err(("regions", what.into()));
            }
        }
        let regions: u32 = online.regions.iter().map(|region| u32::from(region.count)).sum();
        if regions > REGIONS_MAX {
            return Err(("regions", format!("there are {REGIONS_MAX} regions at most")));
        }
        Ok(())
    }
}

pub(super) fn write(text: &mut Text, online: &OnlineSettings) {
    let usual = OnlineSettings::default();
    text.line("");
    text.line("# Transactions. Without an address the system takes none over the network.");
    text.line("[online]");
    let name = (&online.data_store, &usual.data_store);
    text.set("data_store", name, |name| quoted(name), "as clients call this system");
    let doors = (&online.ims_connect, &usual.ims_connect);
    text.set("ims_connect", doors, list, "such as \"127.0.0.1:9999\"");
    let certificate = (&online.tls_certificate, &usual.tls_certificate);
    text.set("tls_certificate", certificate, path, "PEM; with it the door speaks TLS alone");
    text.set("tls_key", (&online.tls_key, &usual.tls_key), path, "PEM");
    let clients = (&online.tls_clients, &usual.tls_clients);
    text.set("tls_clients", clients, path, "PEM; clients must have a certificate of these");
    let anonymous = (&online.anonymous, &usual.anonymous);
    text.set("anonymous", anonymous, plain, "true: others than this machine need no user");
    let metrics = (&online.metrics, &usual.metrics);
    text.set("metrics", metrics, |one| quoted(one), "address of metrics over HTTP");
    let records = (&online.records, &usual.records);
    text.set("records", records, list, "where other machines use clusters of this system");
    let applid = (&online.applid, &usual.applid);
    text.set("applid", applid, |name| quoted(name), "as their programs call it; else the folder");
    let files = (&online.files, &usual.files);
    text.set("files", files, names, "clusters by short names: { ACCOUNT = \"BANK.ACCOUNT\" }");
    let programs = (&online.programs, &usual.programs);
    text.set("programs", programs, |all| folders(all), "where NAME.cbl, NAME.c, NAME.so lie");
    let include = (&online.include, &usual.include);
    text.set("include", include, |all| folders(all), "where their copy members lie");
    let exits = (&online.exits, &usual.exits);
    text.set("exits", exits, |all| folders(all), "message exits of the door, shared libraries");
    let page = (&online.client_page, &usual.client_page);
    text.set("client_page", page, |one| quoted(one), "of clients that speak EBCDIC");
    let messages = (&online.program_messages, &usual.program_messages);
    let what = "what programs have messages in: client, ascii, ebcdic";
    text.set("program_messages", messages, |one| quoted(one.word()), what);
    let what = "which bytes are characters, by transaction: { transaction, input, output }";
    text.set("maps", (&online.maps, &usual.maps), |all| mapped(all), what);
    let regions = (&online.regions, &usual.regions);
    text.set(
        "regions",
        regions,
        |all| shown(all),
        "message regions by class, or by program for expedited inputs",
    );
}

fn names(files: &BTreeMap<String, String>) -> String {
    let one = |(name, data_set): (&String, &String)| format!("{name} = {}", quoted(data_set));
    format!("{{ {} }}", files.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn mapped(maps: &[MapSettings]) -> String {
    let list = |name: &str, places: &Option<Vec<String>>| {
        let places: Option<Vec<String>> =
            places.as_ref().map(|all| all.iter().map(|one| quoted(one)).collect());
        places.map_or_else(String::new, |all| format!(", {name} = [{}]", all.join(", ")))
    };
    let one = |map: &MapSettings| {
        let (input, output) = (list("input", &map.input), list("output", &map.output));
        format!("{{ transaction = {}{input}{output} }}", quoted(&map.transaction))
    };
    format!("[{}]", maps.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn shown(regions: &[RegionSettings]) -> String {
    let one = |region: &RegionSettings| {
        let classes: Vec<String> = region.classes.iter().map(ToString::to_string).collect();
        let mut text = match region.program.as_str() {
            "" => format!("classes = [{}]", classes.join(", ")),
            program => format!("program = {}", quoted(program)),
        };
        text += &format!(", count = {}", region.count);
        if !region.name.is_empty() {
            text += &format!(", name = {}", quoted(&region.name));
        }
        format!("{{ {text} }}")
    };
    format!("[{}]", regions.iter().map(one).collect::<Vec<_>>().join(", "))
}
