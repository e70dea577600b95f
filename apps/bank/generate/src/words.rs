//! The names of people, streets and towns. All of them are made up.

use crate::random::Random;

const SURNAME_HEADS: [&str; 40] = [
    "ASH", "ALDER", "BARROW", "BECK", "BIRCH", "BLACK", "BRAM", "BROAD", "CALDER", "COMBE", "CROW",
    "DALE", "DUN", "ELM", "FAIR", "FERN", "FOX", "GARTH", "GLEN", "HALLOW", "HART", "HAWK",
    "HOLLOW", "IVER", "KESTREL", "LANG", "LARK", "MARSH", "MERE", "MILL", "NETHER", "OAK", "PENN",
    "QUARRY", "ROWAN", "SEDGE", "THORN", "UPPER", "WHIT", "YARROW",
];
const SURNAME_TAILS: [&str; 24] = [
    "BOURNE", "BRIDGE", "BY", "CLIFFE", "COTE", "CROFT", "DEN", "FIELD", "FORD", "GATE", "GROVE",
    "HAM", "HOLT", "HURST", "LAND", "LEY", "MAN", "MOOR", "RIDGE", "STEAD", "STONE", "TON", "WELL",
    "WOOD",
];
const FORENAMES: [&str; 32] = [
    "ADELA", "ALBAN", "BENNET", "BRIONY", "CASPAR", "CELIA", "CLEMENT", "DELIA", "EDGAR", "EDITH",
    "FELIX", "FLORA", "GILES", "GRETA", "HILARY", "HUGO", "IMOGEN", "JONAS", "JUDITH", "KESTER",
    "LEONIE", "LIONEL", "MABEL", "MAGNUS", "NORA", "OSWIN", "PHILIPPA", "QUENTIN", "ROSALIND",
    "SILAS", "THEA", "WALTER",
];
const STREETS: [&str; 16] = [
    "BARLEY ROW",
    "CANAL WHARF",
    "CHANDLER STREET",
    "DYERS COURT",
    "FERRY LANE",
    "GRANARY HILL",
    "LAMPLIGHT YARD",
    "MALTHOUSE ROAD",
    "MARKET SQUARE",
    "MILL RACE",
    "ORCHARD CLOSE",
    "PACKHORSE LANE",
    "ROPEWALK",
    "SALTERS GATE",
    "TANNERY STREET",
    "WEIR TERRACE",
];
/// Towns, each with the first half of its postcodes.
pub const TOWNS: [(&str, &str); 12] = [
    ("ALDERWICK", "AK"),
    ("BRAMSEA", "BS"),
    ("CALDERMOUTH", "CM"),
    ("DUNHOLLOW", "DH"),
    ("EASTERLEIGH", "EL"),
    ("FOXBRIDGE", "FB"),
    ("HARTCOMBE", "HC"),
    ("KESTREL BAY", "KB"),
    ("LARKHAVEN", "LH"),
    ("MERESIDE", "MS"),
    ("NETHERPORT", "NP"),
    ("WHITGATE", "WG"),
];

/// How many surnames there are.
pub const SURNAMES: usize = SURNAME_HEADS.len() * SURNAME_TAILS.len();

/// A surname by its number, below [`SURNAMES`].
#[must_use]
pub fn surname(number: usize) -> String {
    let tail = SURNAME_TAILS[number % SURNAME_TAILS.len()];
    format!("{}{tail}", SURNAME_HEADS[number / SURNAME_TAILS.len() % SURNAME_HEADS.len()])
}

/// The number of a surname; low ones are more common.
pub fn draw_surname(random: &mut Random) -> usize {
    let heads = SURNAME_HEADS.len() as u64;
    let head = random.below(heads).min(random.below(heads));
    let tails = SURNAME_TAILS.len() as u64;
    let tail = random.below(tails).min(random.below(tails));
    (head * tails + tail) as usize
}

/// A forename, sometimes two that differ.
pub fn draw_forename(random: &mut Random) -> String {
    let count = FORENAMES.len() as u64;
    let first = random.below(count);
    let name = FORENAMES[first as usize];
    if random.chance(250) {
        let second = (first + random.between(1, count - 1)) % count;
        return format!("{name} {}", FORENAMES[second as usize]);
    }
    name.to_owned()
}

/// A house in a street.
pub fn draw_address(random: &mut Random) -> String {
    format!("{} {}", random.between(1, 180), random.pick(&STREETS))
}
