//! FILE STATUS: which items a COBOL program names for its files, told to what handles them.
//!
//! The compiler passes the first item with each statement, but not with SORT and MERGE, and leaves
//! the second one out. SELECT names both; the compiler's C source says where items are. There, each
//! file gets a line where its program is set up:
//!
//! ```text
//!   hf_known (h_FILE, &f_12, b_30);
//! ```
//!
//! Invariants:
//! 1. A name that stands for several items, or for none that the program uses, is left out: the
//!    item stays as it is. So does a second item that is shorter than what goes into it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How long a second item is at least.
const FEEDBACK_BYTES: usize = 6;

/// Words that can stand behind the first item of FILE STATUS, besides the second one.
const CLAUSES: [&str; 22] = [
    "ACCESS",
    "ALTERNATE",
    "ASSIGN",
    "BLOCK",
    "COLLATING",
    "DYNAMIC",
    "FILE",
    "IN",
    "INDEXED",
    "LINE",
    "LOCK",
    "OF",
    "ORGANIZATION",
    "PADDING",
    "PASSWORD",
    "RECORD",
    "RELATIVE",
    "RESERVE",
    "SELECT",
    "SEQUENTIAL",
    "SHARING",
    "STATUS",
];

/// The items that a SELECT names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Items {
    status: String,
    feedback: Option<String>,
}

/// The C source with a line for each file, if a SELECT names items. `storage` are the declarations
/// of each program's items, by the name of the file that it includes.
pub(super) fn with_statuses(
    c_source: &str,
    storage: &BTreeMap<String, String>,
    texts: &[&[u8]],
) -> String {
    let mut items = BTreeMap::new();
    texts.iter().for_each(|text| find_items(text, &mut items));
    if items.is_empty() {
        return c_source.to_owned();
    }
    let mut places = Places::default();
    let mut made = String::with_capacity(c_source.len() + 1024);
    let mut file = None;
    for line in c_source.split_inclusive('\n') {
        made.push_str(line);
        let included = line
            .trim()
            .strip_prefix("#include \"")
            .and_then(|name| storage.get(name.trim_end_matches('"')));
        if let Some(declarations) = included {
            places = Places::of(declarations);
        }
        let Some((handle, member)) = line.trim().split_once("->") else { continue };
        if member.starts_with("select_name") {
            file = member.split('"').nth(1).map(str::to_ascii_uppercase);
        } else if member.starts_with("flag_select_features =") {
            // One without items is told, too: it may stand where another one stood.
            let items = file.take().and_then(|file| items.get(&file));
            let status = items.and_then(|items| places.field(&items.status));
            let feedback = items.and_then(|items| places.bytes(items.feedback.as_ref()?));
            let status = status.map_or("NULL".to_owned(), |field| format!("&{field}"));
            let feedback = feedback.unwrap_or_else(|| "NULL".to_owned());
            let _ = writeln!(made, "  hf_known ({handle}, {status}, {feedback});");
        }
    }
    made
}

/// Where items are, by name; nothing for a name that several have.
#[derive(Default)]
struct Places {
    fields: BTreeMap<String, Place>,
    levels: BTreeMap<String, Place>,
}

/// A variable and its size.
type Place = Option<(String, usize)>;

/// The variable that a line declares, and its size, which stands behind `mark`.
fn variable(line: &str, kind: &str, mark: char) -> Option<(String, usize)> {
    let rest = line.strip_prefix("static")?.trim_start().strip_prefix(kind)?.trim_start();
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let (_, size) = rest.split_once(mark)?;
    let digits = size.find(|c: char| !c.is_ascii_digit())?;
    Some((rest[..end].to_owned(), size[..digits].parse().ok()?))
}

impl Places {
    fn of(storage: &str) -> Places {
        let mut places = Places::default();
        for line in storage.lines() {
            let Some((front, comment)) = line.split_once("/*") else { continue };
            let name = comment.trim_end().trim_end_matches("*/").trim().to_ascii_uppercase();
            if let Some((field, size)) = variable(front, "cob_field", '{') {
                add(&mut places.fields, name, (field, size));
            } else if let Some((level, size)) = variable(front, "cob_u8_t", '[') {
                add(&mut places.levels, name, (level, size));
            }
        }
        places
    }

    fn bytes(&self, name: &str) -> Option<String> {
        let is_enough = |(_, size): &&(String, usize)| *size >= FEEDBACK_BYTES;
        if let Some(level) = self.levels.get(name) {
            return level.as_ref().filter(is_enough).map(|(level, _)| level.clone());
        }
        let field = self.fields.get(name)?.as_ref().filter(is_enough);
        field.map(|(field, _)| format!("{field}.data"))
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_ref().map(|(field, _)| field.as_str())
    }
}

fn add(places: &mut BTreeMap<String, Place>, name: String, place: (String, usize)) {
    places.entry(name).and_modify(|known| *known = None).or_insert(Some(place));
}

/// Reads the SELECTs of a text.
fn find_items(text: &[u8], found: &mut BTreeMap<String, Items>) {
    let text = String::from_utf8_lossy(text).to_ascii_uppercase();
    let mut words = text.lines().flat_map(words_of).peekable();
    while let Some(word) = words.next() {
        if word != "SELECT" {
            continue;
        }
        let mut file = words.next().unwrap_or_default();
        if file == "OPTIONAL" {
            file = words.next().unwrap_or_default();
        }
        let mut items = Items::default();
        while let Some(word) = words.next_if(|word| *word != "SELECT") {
            if word == "." {
                break;
            }
            if word != "STATUS" {
                continue;
            }
            words.next_if(|word| *word == "IS");
            items.status = words.next().unwrap_or_default().to_owned();
            while words.next_if(|word| matches!(*word, "OF" | "IN")).is_some() {
                words.next();
            }
            items.feedback = words.next_if(|word| is_item(word)).map(str::to_owned);
        }
        if !items.status.is_empty() {
            found.insert(file.to_owned(), items);
        }
    }
}

fn is_item(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && !CLAUSES.contains(&word)
}

/// The words of a line, a period as one of them; none of a comment.
fn words_of(line: &str) -> impl Iterator<Item = &str> {
    let is_comment = matches!(line.as_bytes().get(6), Some(b'*' | b'/'));
    let line = if is_comment { "" } else { line.split("*>").next().unwrap_or_default() };
    // Sequence numbers in front, if there are some, are words that are not looked for; what is
    // behind column 72 is cut.
    let line = line.get(..72).unwrap_or(line);
    line.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty()).flat_map(|word| {
        let plain = word.strip_suffix('.').unwrap_or(word);
        let period = (plain.len() < word.len()).then_some(".");
        (!plain.is_empty()).then_some(plain).into_iter().chain(period)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &[u8] = b"\
       FILE-CONTROL.
      *    SELECT NO-FILE ASSIGN TO X FILE STATUS IS A B.
           SELECT OPTIONAL KEYED ASSIGN TO KEYED
               ORGANIZATION INDEXED FILE STATUS IS KEYED-STATUS
               VSAM-CODE ACCESS DYNAMIC RECORD KEY K.
           select LISTED assign 'LIST.DAT'
               status LIST-STATUS OF ALL-OF-THEM.
           SELECT LAST-ONE ASSIGN L STATUS LAST-STATUS
           SELECT PLAIN ASSIGN PLAIN.
";

    #[test]
    fn select_names_one_item_or_two() {
        let mut found = BTreeMap::new();
        find_items(SOURCE, &mut found);
        let items = |status: &str, feedback: Option<&str>| Items {
            status: status.to_owned(),
            feedback: feedback.map(str::to_owned),
        };
        let expected = [
            ("KEYED".to_owned(), items("KEYED-STATUS", Some("VSAM-CODE"))),
            ("LAST-ONE".to_owned(), items("LAST-STATUS", None)),
            ("LISTED".to_owned(), items("LIST-STATUS", None)),
        ];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn each_file_is_told_where_its_items_are() {
        let storage = "\
static cob_u8_t\tb_8[2] __attribute__((aligned));\t/* KEYED-STATUS */
static cob_u8_t\tb_9[6] __attribute__((aligned));\t/* VSAM-CODE */
static cob_field f_8\t= {2, b_8, &a_2};\t/* KEYED-STATUS */
static cob_field f_10\t= {2, b_10 + 4, &a_2};\t/* LIST-STATUS */
static cob_field f_11\t= {2, b_11 + 4, &a_2};\t/* LIST-STATUS */
";
        let storage = BTreeMap::from([("program.c.l.h".to_owned(), storage.to_owned())]);
        let c_source = "\
  #include \"program.c.l.h\"
  h_KEYED->select_name = (const char *)\"KEYED\";
  h_KEYED->flag_select_features = 1;
  h_LISTED->select_name = (const char *)\"LISTED\";
  h_LISTED->flag_select_features = 1;
";
        let made = with_statuses(c_source, &storage, &[SOURCE]);
        let lines: Vec<&str> = made.lines().filter(|line| line.contains("hf_known")).collect();
        let expected = ["  hf_known (h_KEYED, &f_8, b_9);", "  hf_known (h_LISTED, NULL, NULL);"];
        assert_eq!(lines, expected);
        assert_eq!(with_statuses(c_source, &storage, &[]), c_source);
    }
}
