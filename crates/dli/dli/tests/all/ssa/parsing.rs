//! SSAs that are accepted, and what they are taken for.

use holdfast_dli::ssa;

use ssa::{Alphabet, Calling, Code, Joined, Operand, Operator, Qualification, Ssas, Table, parse};

use crate::ssa::views::{
    ACCOUNT, CUSTOMER, NOTE, POSTING, by_name, deep, fast, get, joined, names_only, shop, table,
};

fn conditions<'a, 's>(ssas: &'s Ssas<'a>, at: usize) -> &'s [ssa::Condition<'a>] {
    match &ssas[at].qualification {
        Qualification::Sets(sets) => sets.conditions(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_name_alone_is_unqualified_whatever_follows_the_blank() {
    let table = table(&shop());
    // DLI-2.17 and DLI-12.19.
    for text in ["NOTE    ", "NOTE     ", "NOTE     (TEXT", "NOTE    *  (", "NOTE    *---- "] {
        let ssas = get(&table, &[text]).unwrap();
        assert_eq!(ssas.len(), 1, "{text}");
        assert_eq!((ssas[0].segment, ssas[0].level), (NOTE, 2), "{text}");
        assert_eq!(ssas[0].qualification, Qualification::None, "{text}");
        assert!(ssas[0].codes.is_empty(), "{text}");
    }
    assert!(get(&table, &[]).unwrap().is_empty());
}

#[test]
fn a_path_may_skip_levels() {
    // DLI-2.19.
    let table = table(&shop());
    let ssas = get(&table, &["CUSTOMER ", "POSTING  "]).unwrap();
    assert_eq!(ssas.iter().map(|one| one.segment).collect::<Vec<_>>(), [CUSTOMER, POSTING]);
    let ssas = get(&table, &["CUSTOMER ", "ACCOUNT  ", "POSTING  "]).unwrap();
    assert_eq!(ssas.iter().map(|one| one.level).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(get(&table, &["POSTING  "]).unwrap().len(), 1);
}

#[test]
fn a_value_is_as_long_as_its_field() {
    // DLI-3: what looks like syntax within a value is value.
    let table = table(&shop());
    let ssas = get(&table, &["CUSTOMER(NAME     =A)*+(=)whatever follows"]).unwrap();
    let [one] = conditions(&ssas, 0) else { panic!("{ssas:?}") };
    assert_eq!((one.value, one.operator, one.joined), (&b"A)*+(="[..], Operator::Eq, Joined::Or));
    let operand =
        Operand::Field { offset: 4, len: 6, is_key: false, of_destination: false, collated: false };
    assert_eq!(one.operand, operand);
    assert!(get(&table, &["CUSTOMER(CUSTKEY  =0001)"]).is_ok());
}

#[test]
fn operators_have_many_spellings() {
    // DLI-3 and DLI-12.19.
    let table = table(&shop());
    let spellings: [(Operator, &[&[u8; 2]]); 6] = [
        (Operator::Eq, &[b"= ", b" =", b"EQ"]),
        (Operator::Gt, &[b"> ", b" >", b"GT"]),
        (Operator::Lt, &[b"< ", b" <", b"LT"]),
        (Operator::Ge, &[b">=", b"=>", b"GE"]),
        (Operator::Le, &[b"<=", b"=<", b"LE"]),
        (
            Operator::Ne,
            &[b"^=", b"=^", b"!=", b"=!", b"<>", b"NE", b"\x5F=", b"=\x5F", b"\xB0=", b"=\xB0"],
        ),
    ];
    for (operator, all) in spellings {
        for spelling in all {
            let ssa = [b"ACCOUNT (ACCTNO  ", &spelling[..], b"007)"].concat();
            let ssas = parse(&table, Calling::Get, &[&ssa]).unwrap();
            assert_eq!(conditions(&ssas, 0)[0].operator, operator, "{spelling:?}");
        }
    }
}

#[test]
fn conditions_form_sets() {
    // DLI-12.18: AND binds tighter than OR, left to right.
    let table = table(&shop());
    let text = "ACCOUNT (KIND     =AA*ACCTNO  >=001&ACCTNO  <=009+KIND     =BB|KIND    NECC)";
    let ssas = get(&table, &[text]).unwrap();
    let Qualification::Sets(sets) = &ssas[0].qualification else { panic!("{ssas:?}") };
    assert_eq!(sets.sets().map(<[_]>::len).collect::<Vec<_>>(), [3, 1, 1]);
    let joined: Vec<_> = sets.conditions().iter().map(|one| one.joined).collect();
    assert_eq!(joined, [Joined::Or, Joined::And, Joined::And, Joined::Or, Joined::Or]);
}

#[test]
fn independent_conditions_are_for_indexed_fields() {
    let table = table(&shop());
    let ssas = get(&table, &["CUSTOMER(XKIND    =AA1#XKIND    =BB2)"]).unwrap();
    let [first, second] = conditions(&ssas, 0) else { panic!("{ssas:?}") };
    assert_eq!(first.operand, Operand::Index { at: 0 });
    assert_eq!((second.joined, second.value), (Joined::Independent, &b"BB2"[..]));
}

#[test]
fn codes_come_in_any_order() {
    let table = table(&shop());
    let ssas = get(&table, &["CUSTOMER*P-D-QB(CUSTKEY  =0001)", "ACCOUNT *LF "]).unwrap();
    let codes: Vec<_> = ssas[0].codes.iter().collect();
    assert_eq!(codes, [Code::D, Code::P, Code::Q]);
    assert_eq!(ssas[0].lock_class, Some(b'B'));
    // DLI-2.13: both may be given.
    assert!(ssas[1].codes.has(Code::F) && ssas[1].codes.has(Code::L));
}

#[test]
fn codes_without_effect_are_dropped() {
    let table = table(&shop());
    // DLI-12.25: N on a get. DLI-2.14: U and V beside a qualification.
    let ssas = get(&table, &["CUSTOMER*NUVD(CUSTKEY  =0001)", "ACCOUNT *UN "]).unwrap();
    assert_eq!(ssas[0].codes.iter().collect::<Vec<_>>(), [Code::D]);
    assert_eq!(ssas[1].codes.iter().collect::<Vec<_>>(), [Code::U]);
    let ssas = parse(&table, Calling::Delete, &[b"ACCOUNT *N "]).unwrap();
    assert!(ssas[0].codes.is_empty());
}

#[test]
fn a_replace_ignores_the_qualification_beside_n() {
    // DLI-12.34.
    let table = table(&shop());
    let ssas = parse(&table, Calling::Replace, &[b"CUSTOMER*N(anything", b"ACCOUNT  "]).unwrap();
    assert!(ssas[0].codes.has(Code::N));
    assert_eq!(ssas[0].qualification, Qualification::None);
    assert_eq!(ssas[1].segment, ACCOUNT);
}

#[test]
fn an_insert_finds_its_parent_by_qualified_ssas() {
    let table = table(&shop());
    let ssas: [&[u8]; 3] = [b"CUSTOMER(CUSTKEY  =0001)", b"ACCOUNT *L ", b"POSTING  "];
    assert_eq!(parse(&table, Calling::Insert, &ssas).unwrap().len(), 3);
    let ssas: [&[u8]; 3] = [b"CUSTOMER*C(0001)", b"ACCOUNT *D ", b"POSTING  "];
    assert_eq!(parse(&table, Calling::Insert, &ssas).unwrap().len(), 3);
}

#[test]
fn a_concatenated_key_is_as_long_as_the_keys_of_its_path() {
    // DLI-12.20: other codes may stand beside it, SSAs for lower levels may follow.
    let plain = table(&shop());
    let ssas = get(&plain, &["ACCOUNT *CD(0001007)", "POSTING *L "]).unwrap();
    assert_eq!(ssas[0].qualification, Qualification::ConcatenatedKey(b"0001007"));
    assert!(ssas[0].codes.has(Code::D));
    assert_eq!(plain.key_in(CUSTOMER, b"0001007"), Some(&b"0001"[..]));
    assert_eq!(plain.key_in(ACCOUNT, b"0001007"), Some(&b"007"[..]));
    assert_eq!(plain.key_in(POSTING, b"0001007"), None);
    // Without a key of its own the path's keys are all there is.
    assert!(get(&plain, &["NOTE    *C(0001)"]).is_ok());
    // DLI-12.64: under PROCSEQ the search fields stand for the root's key.
    let sequenced = table(&by_name());
    assert!(get(&sequenced, &["ACCOUNT *C(NADIA 007)"]).is_ok());
}

#[test]
fn code_o_takes_position_and_length() {
    // DLI-12.21.
    let plain = table(&shop());
    let ssa = b"POSTING *O(\0\0\0\x05\0\0\0\x02>=AB*\0\0\0\x01\0\0\0\x01 =\xFF)";
    let ssas = parse(&plain, Calling::Get, &[ssa]).unwrap();
    let [first, second] = conditions(&ssas, 0) else { panic!("{ssas:?}") };
    assert_eq!(first.operand, Operand::Bytes { offset: 4, len: 2, of_destination: false });
    assert_eq!(second.operand, Operand::Bytes { offset: 0, len: 1, of_destination: false });
    assert_eq!(second.value, b"\xFF");
    // Behind a logical child the destination parent goes on.
    let both = table(&joined());
    let ssas = parse(&both, Calling::Get, &[b"ACCOUNT *O(\0\0\0\x0D\0\0\0\x02 =AB)"]).unwrap();
    let operand = conditions(&ssas, 0)[0].operand;
    assert_eq!(operand, Operand::Bytes { offset: 0, len: 2, of_destination: true });
}

#[test]
fn a_field_of_the_destination_parent_is_known_but_is_no_key() {
    let both = table(&joined());
    let ssas = get(&both, &["ACCOUNT (BRANCH   =0042)"]).unwrap();
    let operand = conditions(&ssas, 0)[0].operand;
    assert!(matches!(operand, Operand::Field { of_destination: true, is_key: false, .. }));
}

#[test]
fn the_index_of_procseq_takes_the_place_of_the_key() {
    // DLI-12.64.
    let table = table(&by_name());
    let ssas = get(&table, &["CUSTOMER(XNAME    =NADIA &CUSTKEY  =0001)"]).unwrap();
    let [first, second] = conditions(&ssas, 0) else { panic!("{ssas:?}") };
    assert_eq!(first.operand, Operand::Sequence);
    assert!(first.operand.is_key() && !second.operand.is_key());
}

#[test]
fn the_sequence_field_may_be_named_in_gets_though_unseen() {
    // DLI-12.47.
    let table = table(&names_only());
    assert!(get(&table, &["CUSTOMER(CUSTKEY  =0001*NAME     =NADIA )"]).is_ok());
}

#[test]
fn subset_pointers_are_for_databases_that_have_them() {
    let table = table(&fast());
    let ssas = get(&table, &["ACCOUNT *R1S2S3 "]).unwrap();
    assert_eq!(ssas[0].subsets.of(Code::R).collect::<Vec<_>>(), [1]);
    assert_eq!(ssas[0].subsets.of(Code::S).collect::<Vec<_>>(), [2, 3]);
    assert!(parse(&table, Calling::Delete, &[b"ACCOUNT *Z1 "]).is_ok());
    assert!(parse(&table, Calling::Replace, &[b"ACCOUNT *M1W2Z3 "]).is_ok());
}

#[test]
fn programs_may_be_written_in_ebcdic() {
    let page = codec::CodePage::Cp037;
    let table = Table::new(&shop(), Alphabet::Ebcdic, None);
    let ssa = page.encode("ACCOUNT *DQC(ACCTNO  >=007*KIND    ^=AA+KIND    NEBB)").unwrap();
    let ssas = parse(&table, Calling::Get, &[&ssa]).unwrap();
    assert_eq!((ssas[0].segment, ssas[0].lock_class), (ACCOUNT, Some(b'C')));
    let operators: Vec<_> = conditions(&ssas, 0).iter().map(|one| one.operator).collect();
    assert_eq!(operators, [Operator::Ge, Operator::Ne, Operator::Ne]);
    assert_eq!(conditions(&ssas, 0)[0].value, [0xF0, 0xF0, 0xF7]);
    let shown = ssas[0].show(&table).to_string();
    assert_eq!(shown, "ACCOUNT *DQC(ACCTNO  >=007&KIND    ^=AA+KIND    ^=BB)");
    // The not sign of code page 500, and booleans by their places.
    let page = codec::CodePage::Cp500;
    let mut ssa = page.encode("ACCOUNT (KIND    ??AA?KIND     =BB)").unwrap();
    ssa[17..19].copy_from_slice(&[0xBA, 0x7E]);
    ssa[21] = 0x4F;
    let ssas = parse(&table, Calling::Get, &[&ssa]).unwrap();
    assert_eq!(conditions(&ssas, 0)[0].operator, Operator::Ne);
    assert_eq!(conditions(&ssas, 0)[1].joined, Joined::Or);
}

#[test]
fn four_ssas_with_four_conditions_each_stand_on_the_stack() {
    let table = table(&deep(4));
    let four = "*O(".to_owned() + &["\0\0\0\x01\0\0\0\x01 =A"; 4].join("+") + ")";
    let texts: Vec<String> = ('A'..='D').map(|letter| format!("LEVEL{letter}  {four}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ssas = get(&table, &texts).unwrap();
    let own = std::ptr::from_ref(&ssas).addr();
    let own = own..own + size_of_val(&ssas);
    assert!(own.contains(&ssas.as_ptr().addr()));
    for at in 0..4 {
        assert_eq!(conditions(&ssas, at).len(), 4);
        assert!(own.contains(&conditions(&ssas, at).as_ptr().addr()));
    }
}

#[test]
fn ssas_are_shown_with_their_names() {
    let table = table(&shop());
    let posting = b"POSTING *O(\0\0\0\x05\0\0\0\x02>=AB)";
    for (bytes, text) in [
        (&b"CUSTOMER(CUSTKEY = 0001)"[..], "CUSTOMER(CUSTKEY  =0001)"),
        (b"CUSTOMER*-DP(XKIND   >=AA1#XKIND   <=BB2)", "CUSTOMER*DP(XKIND   >=AA1#XKIND   <=BB2)"),
        (b"CUSTOMER(BALANCE  =\x01\x23\x4C)", "CUSTOMER(BALANCE  =X'01234C')"),
        (b"ACCOUNT *C(0001007)", "ACCOUNT *C(0001007)"),
        (posting, "POSTING *O(5,2>=AB)"),
        (b"NOTE    *QAL ", "NOTE    *LQA"),
        (b"NOTE     ", "NOTE    "),
    ] {
        let ssas = parse(&table, Calling::Get, &[bytes]).unwrap();
        assert_eq!(ssas[0].show(&table).to_string(), text);
    }
}
