//! Random databases with a logical relationship, as macro source.
//!
//! Invariants:
//! 1. Whatever the numbers are, the sources compile and fit.
//! 2. B is stored, whichever way V shows it: it is the one that has a dependent.

use std::fmt::Write as _;

use super::related::Related;

/// What a relationship looks like.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Whether V shows B.
    pub(super) has_path: bool,
    /// Whether the pair is physical.
    pub(super) is_physical: bool,
    pub(super) key_of_child: &'static str,
    pub(super) key_of_virtual: &'static str,
    pub(super) place: &'static str,
    pub(super) variable_child: bool,
    pub(super) variable_parent: bool,
    pub(super) below_p: bool,
    /// Whether A goes by itself with its last child.
    pub(super) bidirectional: bool,
}

impl Form {
    /// A delete rule; B is one of virtual pairing (DLI-12.74).
    fn deletes(self, number: u8) -> &'static str {
        pick(if self.has_path { &["L", "V", "P", "B"] } else { &["L", "V", "P"] }, number)
    }
}

fn pick(words: &[&'static str], number: u8) -> &'static str {
    words[usize::from(number) % words.len()]
}

impl Related {
    /// What the relationship looks like.
    pub(super) fn form(&self) -> Form {
        let [path, child, shown, place, ll_child, ll_parent, deep] = self.forms;
        let mut form = Form {
            has_path: path % 4 != 3,
            is_physical: path % 4 == 2,
            key_of_child: pick(&["U", "U", "M", ""], child),
            key_of_virtual: pick(&["U", "U", "M", ""], shown),
            place: pick(&["LAST", "FIRST"], place),
            variable_child: ll_child % 4 == 3,
            variable_parent: ll_parent % 4 == 3,
            below_p: deep % 4 == 3,
            bidirectional: false,
        };
        form.bidirectional = form.deletes(self.rules[0][1]) == "B";
        form
    }

    /// The macro source.
    #[must_use]
    pub fn source(&self) -> String {
        let form = self.form();
        let rule = |at: usize| {
            let [insert, delete, replace] = self.rules[at];
            let (insert, replace) =
                (pick(&["L", "V", "P"], insert), pick(&["L", "V", "P"], replace));
            format!("{insert}{}{replace}", form.deletes(delete))
        };
        let key_len = if form.below_p { 4 } else { 2 };
        let mut text = String::new();
        self.left(&mut text, key_len, [&rule(0), &rule(1)]);
        self.right(&mut text, &rule(1), &rule(2));
        let logical = "
         DBD   NAME=LOGLEFT,ACCESS=LOGICAL
         DATASET LOGICAL
         SEGM  NAME=A,SOURCE=((A,,LEFT))
         SEGM  NAME=BL,PARENT=A,SOURCE=((B,DATA,LEFT),(L,DATA,RIGHT))
         SEGM  NAME=R,PARENT=BL,SOURCE=((R,,RIGHT))
         SEGM  NAME=E,PARENT=BL,SOURCE=((E,,LEFT))
         DBDGEN";
        let _ = writeln!(text, "{}", logical.trim_start_matches('\n'));
        let roots = |root: &str| match form.below_p {
            true => format!("SENSEG NAME=P,PARENT=0\n         SENSEG NAME={root},PARENT=P"),
            false => format!("SENSEG NAME={root},PARENT=0"),
        };
        if form.has_path {
            let p = "         SEGM  NAME=P,SOURCE=((P,,RIGHT))\n";
            let (p, parent) = if form.below_p { (p, ",PARENT=P") } else { ("", "") };
            let _ = writeln!(
                text,
                "         DBD   NAME=LOGRIGHT,ACCESS=LOGICAL\n         DATASET LOGICAL\n{p}         \
                 SEGM  NAME=L{parent},SOURCE=((L,,RIGHT))\n         SEGM  NAME=VA,PARENT=L,\
                 SOURCE=((V,DATA,RIGHT),(A,DATA,LEFT))\n         DBDGEN"
            );
        }
        let pcb = |text: &mut String, dbd: &str, segments: &[&str]| {
            let _ = writeln!(text, "         PCB   TYPE=DB,DBDNAME={dbd},PROCOPT=AP");
            segments.iter().for_each(|one| {
                let _ = writeln!(text, "         {one}");
            });
        };
        let left = ["SENSEG NAME=A,PARENT=0", "SENSEG NAME=B,PARENT=A", "SENSEG NAME=E,PARENT=B"];
        let right = [&roots("L"), "SENSEG NAME=V,PARENT=L", "SENSEG NAME=R,PARENT=L"];
        let right = if form.has_path { &right[..] } else { &[right[0], right[2]] };
        let joined = ["SENSEG NAME=A,PARENT=0", "SENSEG NAME=BL,PARENT=A"];
        let joined = [joined[0], joined[1], "SENSEG NAME=R,PARENT=BL", "SENSEG NAME=E,PARENT=BL"];
        // The last two look whether something is there; no call of the script goes through them.
        for _ in 0..2 {
            pcb(&mut text, "LEFT", &left);
            pcb(&mut text, "RIGHT", right);
            pcb(&mut text, "LOGLEFT", &joined);
            match form.has_path {
                true => pcb(&mut text, "LOGRIGHT", &[&roots("L"), "SENSEG NAME=VA,PARENT=L"]),
                false => pcb(&mut text, "RIGHT", right),
            }
        }
        text.push_str("         PSBGEN LANG=COBOL,PSBNAME=RANDOM\n         END\n");
        text
    }

    fn left(&self, text: &mut String, key_len: usize, [a, b]: [&str; 2]) {
        let form = self.form();
        let (start, bytes) = match form.variable_child {
            true => (3, format!("({},{})", key_len + 4, key_len + 3)),
            false => (1, format!("{}", key_len + 2)),
        };
        let (back, pointer) = match form.is_physical {
            true => {
                let back = "         LCHILD NAME=(V,RIGHT),POINTER=NONE,PAIR=B\n";
                (back, "LPARNT,PAIRED")
            }
            false => ("", "LTWIN,LPARNT"),
        };
        let key = match form.key_of_child {
            "" => "KB".to_owned(),
            unique => format!("(KB,SEQ,{unique})"),
        };
        let _ = writeln!(
            text,
            "         DBD   NAME=LEFT,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,1,50,500)
         DATASET DD1=LEFTDD
         SEGM  NAME=A,PARENT=0,BYTES=4,RULES=({a})
         FIELD NAME=(KA,SEQ,U),START=1,BYTES=2
         FIELD NAME=TA,START=3,BYTES=2
{back}         SEGM  NAME=B,PARENT=((A,DBLE),(L,PHYSICAL,RIGHT)),
               BYTES={bytes},RULES=({b},{}),
               PTR=(TWINBWD,{pointer})
         FIELD NAME={key},START={start},BYTES={key_len}
         SEGM  NAME=E,PARENT=B,BYTES=4
         FIELD NAME=(KE,SEQ,U),START=1,BYTES=2
         DBDGEN",
            form.place
        );
    }

    fn right(&self, text: &mut String, of_child: &str, rules: &str) {
        let form = self.form();
        let p = "         SEGM  NAME=P,PARENT=0,BYTES=4
         FIELD NAME=(KP,SEQ,U),START=1,BYTES=2
";
        let (p, parent) = if form.below_p { (p, "P") } else { ("", "0") };
        let (start, bytes) = if form.variable_parent { (3, "(8,6)") } else { (1, "4") };
        let pair = if form.has_path { ",PAIR=V" } else { "" };
        let pointer = if form.is_physical { "NONE" } else { "DBLE" };
        let _ = writeln!(
            text,
            "         DBD   NAME=RIGHT,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,1,50,500)
         DATASET DD1=RIGHTDD
{p}         SEGM  NAME=L,PARENT={parent},BYTES={bytes},RULES=({rules})
         FIELD NAME=(KL,SEQ,U),START={start},BYTES=2
         FIELD NAME=TL,START={},BYTES=2
         LCHILD NAME=(B,LEFT),POINTER={pointer}{pair},RULES={}",
            start + 2,
            form.place
        );
        if form.has_path {
            let start = if form.variable_child { 3 } else { 1 };
            let key = match form.key_of_virtual {
                "" => "KV".to_owned(),
                unique => format!("(KV,SEQ,{unique})"),
            };
            let bytes = if form.variable_child { "(6,5)" } else { "4" };
            let segment = match form.is_physical {
                true => format!(
                    "PARENT=((L,DBLE),(A,PHYSICAL,LEFT)),
               BYTES={bytes},RULES=({of_child},{}),
               PTR=(TWINBWD,LPARNT,PAIRED)",
                    form.place
                ),
                false => "PARENT=L,PTR=PAIRED,SOURCE=((B,DATA,LEFT))".to_owned(),
            };
            let _ = writeln!(
                text,
                "         SEGM  NAME=V,{segment}
         FIELD NAME={key},START={start},BYTES=2"
            );
        }
        let _ = writeln!(
            text,
            "         SEGM  NAME=R,PARENT=L,BYTES=4
         FIELD NAME=(KR,SEQ,U),START=1,BYTES=2
         DBDGEN"
        );
    }
}
