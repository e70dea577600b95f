//! Physically paired logical children: both sides are loaded and unloaded, one is stored (DLI-12.71
//! to DLI-12.74).
//!
//! Students enrol (ENRL, which is shown) for courses, courses are attended (ATTD, which is stored).

use super::*;

/// The two databases; ENRL and ATTD have this rule, and ENRL these fields.
fn source(rule: &str, fields: &str) -> String {
    format!(
        "* TWO SIDES
         DBD   NAME=STUDDB,ACCESS=(HISAM,VSAM)
         DATASET DD1=STUDDD,OVFLW=STUDOV
         SEGM  NAME=STUD,PARENT=0,BYTES=4
         FIELD NAME=(STNO,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(ATTD,CRSEDB),POINTER=NONE,PAIR=ENRL
         SEGM  NAME=BOOK,PARENT=STUD,BYTES=2
         SEGM  NAME=ENRL,BYTES=3,RULES=({rule}),PTR=PAIRED,
               PARENT=((STUD,DBLE),(CRSE,PHYSICAL,CRSEDB))
{fields}         SEGM  NAME=NOTE,PARENT=STUD,BYTES=2
         DBDGEN
         FINISH
         END
         DBD   NAME=CRSEDB,ACCESS=(HISAM,VSAM)
         DATASET DD1=CRSEDD,OVFLW=CRSEOV
         SEGM  NAME=CRSE,PARENT=0,BYTES=4
         FIELD NAME=(CRNO,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(ENRL,STUDDB),POINTER=NONE,PAIR=ATTD
         SEGM  NAME=ATTD,BYTES=3,RULES=({rule}),PTR=PAIRED,
               PARENT=((CRSE,DBLE),(STUD,PHYSICAL,STUDDB))
         SEGM  NAME=ROOM,PARENT=CRSE,BYTES=2
         DBDGEN
         FINISH
         END
"
    )
    .lines()
    .map(|line| match line.ends_with("PAIRED,") {
        true => format!("{line:<71}X\n"),
        false => format!("{line}\n"),
    })
    .collect()
}

const KEY: &str = "         FIELD NAME=(CNUM,SEQ,U),START=1,BYTES=2\n";

fn students() -> Vec<(u8, Vec<u8>)> {
    vec![
        seg(1, "S1AA"),
        seg(2, "b1"),
        seg(3, "C1x"),
        seg(3, "C2y"),
        seg(4, "n1"),
        seg(1, "S2BB"),
        seg(3, "C1z"),
        seg(1, "S3CC"),
        seg(4, "n3"),
    ]
}

fn courses() -> Vec<(u8, Vec<u8>)> {
    vec![
        seg(1, "C1PQ"),
        seg(2, "S1x"),
        seg(2, "S2z"),
        seg(3, "r1"),
        seg(1, "C2RS"),
        seg(2, "S1y"),
        seg(1, "C3TU"),
    ]
}

#[test]
fn both_sides_come_and_go() {
    let world = World::of(&source("LVL", KEY));
    let (students_db, courses_db) = (world.open("STUDDB"), world.open("CRSEDB"));
    for room in [ROOM, 40] {
        let loaded = world.load_within(&students_db, &students(), room).unwrap();
        assert_eq!((loaded.segments, loaded.out_of_order), (9, false));
        let waits = state::admit_whole(&world.store, &students_db).unwrap_err();
        assert!(matches!(waits, HierarchyError::Waiting { .. }), "{waits}");
        assert!(waits.to_string().contains("CRSEDB"), "{waits}");
        world.load_within(&courses_db, &courses(), room).unwrap();
        for (database, segments) in [(&students_db, students()), (&courses_db, courses())] {
            state::admit_whole(&world.store, database).unwrap();
            assert_eq!(unloaded(&world, database), segments);
            assert_eq!(world.verify(database).findings, []);
        }
        // One of them is loaded again, and compared with the other one, which stayed.
        students_db.empty(&world.store).unwrap();
        world.load_within(&students_db, &students(), room).unwrap();
        state::admit_whole(&world.store, &students_db).unwrap();
        assert_eq!(unloaded(&world, &students_db), students());
        students_db.empty(&world.store).unwrap();
        courses_db.empty(&world.store).unwrap();
        state::admit_whole(&world.store, &students_db).unwrap();
    }
}

#[test]
fn what_does_not_match_is_named_and_refused() {
    for (at, with, words) in [
        (2, seg(3, "C1w"), &["STUDDB", "number 3", "ENRL", "'C1w'", "other data"][..]),
        (2, seg(3, "C3x"), &["number 3", "ENRL", "'C3x'", "not in CRSEDB, as ATTD"]),
        (8, seg(3, "C3v"), &["number 9", "ENRL", "'S3'", "'C3v'"]),
        (3, seg(2, "b2"), &["CRSEDB", "ATTD", "'C2y'", "did not come with STUDDB, as ENRL"]),
    ] {
        let world = World::of(&source("LVL", KEY));
        let (students_db, courses_db) = (world.open("STUDDB"), world.open("CRSEDB"));
        let mut given = students();
        given[at] = with;
        world.load(&students_db, &given).unwrap();
        let error = world.load(&courses_db, &courses()).unwrap_err();
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} in {text}");
        assert!(state::is_empty(&world.store, &courses_db).unwrap());
        // What waits is still there for the right file.
        let whole = state::admit_whole(&world.store, &students_db);
        assert!(matches!(whole, Err(HierarchyError::Waiting { .. })));
        students_db.empty(&world.store).unwrap();
        world.load(&students_db, &students()).unwrap();
        world.load(&courses_db, &courses()).unwrap();
    }
}

#[test]
fn what_cannot_be_of_the_other_side_is_refused_at_once() {
    let world = World::of(&source("LVL", KEY));
    let students_db = world.open("STUDDB");
    for (segments, word) in
        [(vec![seg(3, "C1x")], "parent"), (vec![seg(1, "S1AA"), seg(3, "C1")], "2 bytes")]
    {
        let text = world.load(&students_db, &segments).unwrap_err().to_string();
        assert!(text.contains("ENRL") && text.contains(word), "{text}");
        state::admit_whole(&world.store, &students_db).unwrap();
    }
}

#[test]
fn a_side_that_was_deleted_on_its_path_stays_deleted() {
    let world = World::of(&source("LLL", KEY));
    let (students_db, courses_db) = (world.open("STUDDB"), world.open("CRSEDB"));
    let mut without = students();
    without.remove(2);
    world.load(&students_db, &without).unwrap();
    assert_eq!(world.load(&courses_db, &courses()).unwrap().alone, 1);
    assert_eq!(unloaded(&world, &students_db), without);
    assert_eq!(unloaded(&world, &courses_db), courses());
    assert_eq!(world.verify(&students_db).findings, []);
    assert_eq!(world.verify(&courses_db).findings, []);
}

#[test]
fn without_the_side_that_is_shown_the_other_one_is_enough() {
    let world = World::of(&source("LVL", KEY));
    let (students_db, courses_db) = (world.open("STUDDB"), world.open("CRSEDB"));
    let without: Vec<_> = students().into_iter().filter(|(code, _)| *code != 3).collect();
    world.load(&students_db, &without).unwrap();
    world.load(&courses_db, &courses()).unwrap();
    assert_eq!(unloaded(&world, &students_db), students());
}

#[test]
fn twins_without_a_key_keep_the_order_in_which_they_came() {
    for place in ["LAST", "FIRST"] {
        let world = World::of(&source(&format!("LVL,{place}"), ""));
        let (students_db, courses_db) = (world.open("STUDDB"), world.open("CRSEDB"));
        let students = ["C2a", "C1b", "C2c", "C3d", "C1e", "C2a"].map(|one| seg(3, one));
        let students = [vec![seg(1, "S1AA")], students.to_vec(), vec![seg(4, "n1")]].concat();
        let courses: Vec<_> = ["C1PQ", "S1e", "S1b", "C2RS", "S1c", "S1a", "S1a", "C3TU", "S1d"]
            .map(|one| seg(if one.starts_with('C') { 1 } else { 2 }, one))
            .into();
        for _ in 0..2 {
            world.load(&students_db, &students).unwrap();
            world.load(&courses_db, &courses).unwrap();
            assert_eq!(unloaded(&world, &students_db), students, "{place}");
            assert_eq!(unloaded(&world, &courses_db), courses, "{place}");
            assert_eq!(world.verify(&students_db).findings, []);
            assert_eq!(world.verify(&courses_db).findings, []);
            students_db.empty(&world.store).unwrap();
            courses_db.empty(&world.store).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn any_attendance_comes_back_as_it_was(
        pairs in prop::collection::btree_map((0_u8..4, 0_u8..4), 0_u8..26, 0..14),
        room in 1_usize..400,
    ) {
        let world = World::of(&source("LVL", KEY));
        let (students_db, courses_db) = (world.open("STUDDB"), world.open("CRSEDB"));
        let (mut students, mut courses) = (Vec::new(), Vec::new());
        for number in 0..4 {
            students.push(seg(1, &format!("S{number}AA")));
            courses.push(seg(1, &format!("C{number}AA")));
            for other in 0..4 {
                let grade = |mark: &u8| char::from(b'a' + mark);
                if let Some(mark) = pairs.get(&(number, other)) {
                    students.push(seg(3, &format!("C{other}{}", grade(mark))));
                }
                if let Some(mark) = pairs.get(&(other, number)) {
                    courses.push(seg(2, &format!("S{other}{}", grade(mark))));
                }
            }
        }
        world.load_within(&students_db, &students, room).unwrap();
        world.load_within(&courses_db, &courses, room).unwrap();
        prop_assert_eq!(unloaded(&world, &students_db), students);
        prop_assert_eq!(unloaded(&world, &courses_db), courses);
        prop_assert_eq!(&world.verify(&courses_db).findings, &[]);
    }
}
