//! Random databases and programs, drawn from numbers, written as macro source.
//!
//! Every segment has the same three fields, so that calls are easily made up:
//!
//! | field | place | length |
//! |---|---|---|
//! | (LL) | 1, variable length only | 2 |
//! | `Kn` | 1 or 3 | 2: the key, if it has one |
//! | `Fn` | behind it | 1 |
//! | `Tn` | behind it | 2; of variable length it may be missing |
//!
//! Where there are indexes, `F` and `T` of the root have one each; in both, equal entries come last
//! in first out. The entries of the second one have the same three fields when it is used as a
//! database: `T` of the root as key, `F` as duplicate data, and user data.
//!
//! Invariants:
//! 1. Whatever the numbers are, the sources compile and fit.
//! 2. Zeros are the simplest: HIDAM, a unique key everywhere, one PCB with everything.

use std::fmt::Write as _;

/// What a database and a program are drawn from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Which organization.
    pub organization: u8,
    /// The types: parent, key, rules, form.
    pub segments: Vec<[u8; 4]>,
    /// The PCBs behind the first: options, positions, types left out, options of types, fields.
    pub pcbs: Vec<[u8; 5]>,
    /// Whether there are secondary indexes.
    pub index: u8,
    /// Whether the first PCB loads; the second then reads, and there are no others.
    pub load: bool,
}

/// A segment type, as calls need to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// Its number, which its fields carry.
    pub number: usize,
    /// The place of its parent.
    pub parent: Option<usize>,
    /// Whether it has a key.
    pub keyed: bool,
    /// Whether the key is unique.
    pub unique: bool,
    /// Whether it begins with LL.
    pub variable: bool,
    /// The rule for twins.
    rule: &'static str,
    single: bool,
}

/// What a PCB sees of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The type.
    pub kind: usize,
    /// Whether through fields: `K` at 1, `F` at 4.
    pub fields: bool,
}

/// A database and a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// The macro source.
    pub source: String,
    /// The types in hierarchic order; behind them the entries of an index.
    pub kinds: Vec<Kind>,
    /// What each PCB sees, in hierarchic order; the first sees all.
    pub pcbs: Vec<Vec<Seen>>,
    /// Of each PCB the XDFLD by which its root is met, if it is by a secondary index.
    pub by_index: Vec<Option<&'static str>>,
}

/// The number of the entries of the second index, as if they were a segment type.
const ENTRIES: usize = 9;

/// How a PCB sees the database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    ByIndex { second: bool },
    Entries,
}

const ORGANIZATIONS: &[&str] = &["HIDAM", "HDAM", "HISAM", "PHIDAM", "PHDAM"];
const OPTIONS: &[&str] = &["AP", "A", "G", "GP", "GRDP", "GIP", "GOP", "GRP", "GIDP"];
const OF_TYPES: &[&str] = &["", "", "", "", "K", "G", "GRDP", "GIRP", "A"];

impl Shape {
    /// The sources, and what calls need to know of them.
    #[must_use]
    pub fn world(&self) -> World {
        let organization = pick(ORGANIZATIONS, self.organization);
        let kinds = self.kinds(organization);
        let indexed = self.index % 4 == 3 && organization != "HISAM";
        // What stands behind the key of a PSINDEX is not for programs that use it as a database.
        let has_entries = indexed && !organization.starts_with('P');
        let mut world = World {
            source: database(organization, &kinds, indexed),
            pcbs: Vec::new(),
            by_index: Vec::new(),
            kinds,
        };
        if self.load {
            let hashed = matches!(organization, "HDAM" | "PHDAM");
            world.add_pcb(if hashed { "L" } else { "LS" }, [0; 4], Way::Plain);
            world.add_pcb("G", [0; 4], Way::Plain);
        } else {
            world.add_pcb(OPTIONS[0], [0; 4], Way::Plain);
            for [options, rest @ ..] in &self.pcbs {
                let way = match rest[2] % 4 {
                    1 | 3 if indexed => Way::ByIndex { second: rest[2] % 8 > 4 },
                    2 if has_entries => Way::Entries,
                    _ => Way::Plain,
                };
                world.add_pcb(pick(OPTIONS, *options), *rest, way);
            }
            if has_entries {
                world.kinds.push(Kind::entries());
            }
        }
        world.source.push_str("         PSBGEN LANG=COBOL,PSBNAME=RANDOM\n         END\n");
        world
    }

    /// The types in hierarchic order.
    fn kinds(&self, organization: &str) -> Vec<Kind> {
        let mut drawn: Vec<(Kind, usize)> = Vec::new();
        for (number, [parent, key, rules, form]) in self.segments.iter().enumerate() {
            let parent = number.checked_sub(1).map(|last| usize::from(*parent) % (last + 1));
            let level = parent.map_or(1, |parent| drawn[parent].1 + 1);
            // At most four levels: a deeper one goes under the root.
            let parent = if level > 4 { Some(0) } else { parent };
            let level = parent.map_or(1, |parent| drawn[parent].1 + 1);
            let root = parent.is_none();
            let hashed = matches!(organization, "HDAM" | "PHDAM");
            let unique = match key % 5 {
                0..=2 => true,
                _ => root && !hashed,
            };
            drawn.push((
                Kind {
                    name: format!("S{number}"),
                    number,
                    parent,
                    keyed: root || unique || key % 5 == 3,
                    unique,
                    variable: form % 4 == 3,
                    // DLI-12.48: in a load twins stand as they come, whatever the rule.
                    rule: if self.load { "LAST" } else { pick(&["LAST", "FIRST", "HERE"], *rules) },
                    single: !root && form % 8 == 6,
                },
                level,
            ));
        }
        let drawn: Vec<Kind> = drawn.into_iter().map(|(kind, _)| kind).collect();
        in_order(&drawn)
    }
}

/// The types in hierarchic order, each behind its parent.
fn in_order(drawn: &[Kind]) -> Vec<Kind> {
    let mut order: Vec<usize> = Vec::new();
    let mut waiting: Vec<usize> = if drawn.is_empty() { Vec::new() } else { vec![0] };
    while let Some(next) = waiting.pop() {
        order.push(next);
        let beneath = (0..drawn.len()).rev().filter(|at| drawn[*at].parent == Some(next));
        waiting.extend(beneath);
    }
    let place = |number: usize| order.iter().position(|one| *one == number);
    let moved = |at: &usize| {
        let parent = drawn[*at].parent.and_then(place);
        Kind { parent, ..drawn[*at].clone() }
    };
    order.iter().map(moved).collect()
}

fn pick<'a>(words: &[&'a str], number: u8) -> &'a str {
    words[usize::from(number) % words.len()]
}

fn line(source: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(source, "         {text}");
}

fn database(organization: &str, kinds: &[Kind], indexed: bool) -> String {
    let mut source = String::new();
    let hashed = matches!(organization, "HDAM" | "PHDAM");
    let randomizer = if hashed { ",RMNAME=(RANDOM,1,50,500)" } else { "" };
    let partitioned = organization.starts_with('P');
    let method = if partitioned { "OSAM" } else { "VSAM" };
    line(&mut source, &format!("DBD   NAME=RANDDB,ACCESS=({organization},{method}){randomizer}"));
    if !partitioned {
        let overflow = if organization == "HISAM" { ",OVFLW=RANDOV" } else { "" };
        line(&mut source, &format!("DATASET DD1=RANDDD{overflow}"));
    }
    for kind in kinds {
        segment(&mut source, kind, kinds);
        if kind.parent.is_none() && organization == "HIDAM" {
            line(&mut source, "LCHILD NAME=(RANDKEY,RANDPX),POINTER=INDX");
        }
        if kind.parent.is_none() && indexed {
            // The keys of a PSINDEX are unique.
            let subsequence = if partitioned { ",SUBSEQ=K0" } else { "" };
            line(&mut source, "LCHILD NAME=(INDKEY,RANDIX),POINTER=INDX");
            line(&mut source, &format!("XDFLD NAME=XF,SRCH=F0{subsequence}"));
            line(&mut source, "LCHILD NAME=(ENTRY,RANDIY),POINTER=INDX");
            line(&mut source, &format!("XDFLD NAME=XT,SRCH=T0,DDATA=F0{subsequence}"));
        }
    }
    line(&mut source, "DBDGEN");
    if organization == "HIDAM" {
        index(&mut source, "RANDPX", "RANDKEY", 2, "(KEY,SEQ,U),START=1,BYTES=2", "K0");
    }
    if indexed && partitioned {
        partitioned_index(&mut source, ("RANDIX", "INDKEY"), (3, 3), "XF");
        partitioned_index(&mut source, ("RANDIY", "ENTRY"), (5, 4), "XT");
    } else if indexed {
        index(&mut source, "RANDIX", "INDKEY", 1, "(KEY,SEQ,M),START=1,BYTES=1", "XF");
        index(&mut source, "RANDIY", "ENTRY", 5, "(K9,SEQ,M),START=1,BYTES=2", "XT");
    }
    source
}

fn segment(source: &mut String, kind: &Kind, kinds: &[Kind]) {
    let n = kind.number;
    let parent = kind.parent.map_or("0", |parent| kinds[parent].name.as_str());
    let bytes = if kind.variable { "(7,5)" } else { "5" };
    let pointer = if kind.single { ",PTR=NOTWIN" } else { "" };
    let text = format!(
        "SEGM  NAME={},PARENT={parent},BYTES={bytes},RULES=(LLL,{}){pointer}",
        kind.name, kind.rule
    );
    line(source, &text);
    let start = if kind.variable { 3 } else { 1 };
    let key = match (kind.keyed, kind.unique) {
        (true, true) => format!("(K{n},SEQ,U)"),
        (true, false) => format!("(K{n},SEQ,M)"),
        (false, _) => format!("K{n}"),
    };
    line(source, &format!("FIELD NAME={key},START={start},BYTES=2"));
    line(source, &format!("FIELD NAME=F{n},START={},BYTES=1", start + 2));
    line(source, &format!("FIELD NAME=T{n},START={},BYTES=2", start + 3));
}

fn index(source: &mut String, dbd: &str, segment: &str, len: usize, key: &str, field: &str) {
    line(source, &format!("DBD   NAME={dbd},ACCESS=(INDEX,VSAM)"));
    line(source, &format!("DATASET DD1={dbd}"));
    line(source, &format!("SEGM  NAME={segment},PARENT=0,BYTES={len}"));
    line(source, &format!("FIELD NAME={key}"));
    if len == 5 {
        line(source, &format!("FIELD NAME=F{ENTRIES},START=3,BYTES=1"));
        line(source, &format!("FIELD NAME=T{ENTRIES},START=4,BYTES=2"));
    }
    line(source, &format!("LCHILD NAME=(S0,RANDDB),INDEX={field}"));
    line(source, "DBDGEN");
}

fn partitioned_index(
    source: &mut String,
    (dbd, segment): (&str, &str),
    (len, key_len): (usize, usize),
    field: &str,
) {
    line(source, &format!("DBD   NAME={dbd},ACCESS=(PSINDEX,VSAM)"));
    line(source, &format!("SEGM  NAME={segment},PARENT=0,BYTES={len}"));
    line(source, &format!("FIELD NAME=(KEY,SEQ,U),START=1,BYTES={key_len}"));
    line(source, &format!("LCHILD NAME=(S0,RANDDB),INDEX={field}"));
    line(source, "DBDGEN");
}

impl Kind {
    /// The entries of the second index, used as a database.
    fn entries() -> Kind {
        Kind {
            name: "ENTRY".to_owned(),
            number: ENTRIES,
            parent: None,
            keyed: true,
            unique: false,
            variable: false,
            rule: "LAST",
            single: false,
        }
    }

    /// The first byte of its keys.
    #[must_use]
    pub fn first_of_key(&self) -> u8 {
        if self.number == ENTRIES { b't' } else { b'K' }
    }
}

impl World {
    /// Adds a PCB; all zeros make one with everything.
    fn add_pcb(
        &mut self,
        options: &str,
        [multiple, left_out, of_types, fields]: [u8; 4],
        way: Way,
    ) {
        let multiple = if multiple % 4 == 3 { ",\n               POS=MULTIPLE" } else { "" };
        let (field, sequence) = match way {
            Way::ByIndex { second: false } => (Some("XF"), ",\n               PROCSEQ=RANDIX"),
            Way::ByIndex { second: true } => (Some("XT"), ",\n               PROCSEQ=RANDIY"),
            Way::Plain | Way::Entries => (None, ""),
        };
        self.by_index.push(field);
        let dbd = if way == Way::Entries { "RANDIY" } else { "RANDDB" };
        let text = format!("PCB   TYPE=DB,DBDNAME={dbd},PROCOPT={options}{multiple}{sequence}");
        line(&mut self.source, &text);
        if way == Way::Entries {
            line(&mut self.source, "SENSEG NAME=ENTRY,PARENT=0");
            return self.pcbs.push(vec![Seen { kind: self.kinds.len(), fields: false }]);
        }
        let mut seen: Vec<Seen> = Vec::new();
        for (at, kind) in self.kinds.iter().enumerate() {
            let visible = kind.parent.is_none_or(|up| seen.iter().any(|one| one.kind == up));
            let left = kind.parent.is_some() && left_out.rotate_right(u32_of(at)) & 7 == 7;
            if !visible || left {
                continue;
            }
            let parent = kind.parent.map_or("0", |parent| self.kinds[parent].name.as_str());
            let through_fields = fields.rotate_right(u32_of(at)) & 7 == 7;
            let own = pick(OF_TYPES, of_types.rotate_right(u32_of(at)) % 9);
            let own = match own {
                "" => String::new(),
                _ if of_types < 128 => String::new(),
                _ => format!(",PROCOPT={own}"),
            };
            line(&mut self.source, &format!("SENSEG NAME={},PARENT={parent}{own}", kind.name));
            if through_fields {
                line(&mut self.source, &format!("SENFLD NAME=K{},START=1", kind.number));
                let replace = if fields % 2 == 0 { ",REPL=NO" } else { "" };
                let text = format!("SENFLD NAME=F{},START=4{replace}", kind.number);
                line(&mut self.source, &text);
            }
            seen.push(Seen { kind: at, fields: through_fields });
        }
        self.pcbs.push(seen);
    }
}

fn u32_of(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(0)
}
