//! DBDs and PSBs: from macro source to views, and as the repository stores them.

use std::path::Path;

use definitions::change::{Effect, compare, effect};
use definitions::resolve::{Nothing, Overlay};
use definitions::{Compiled, Member, compile, decode, encode};
use macros::{NoMembers, Sources, read};

/// Bytes are tried as a stored member and as a source; whatever comes out is sound, encodes to
/// itself, and fits together or says why not.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    if let Ok(member) = decode(bytes) {
        prove(&member);
        fit(vec![member]);
    }
    let compiled = compiled(bytes);
    for one in &compiled.members {
        assert_eq!(one.member.is_some(), one.errors == 0);
        one.member.iter().for_each(prove);
    }
    fit(compiled.members.into_iter().filter_map(|one| one.member).collect());
}

fn compiled(bytes: &[u8]) -> Compiled {
    compile(&read(&mut Sources::new(), Path::new("any"), bytes, &NoMembers))
}

fn prove(member: &Member) {
    match member {
        Member::Dbd(dbd) => {
            assert!(dbd.is_sound());
            assert_eq!(effect(&compare(dbd, dbd)), Effect::Harmless);
        }
        Member::Psb(psb) => assert!(psb.is_sound()),
    }
    assert_eq!(decode(&encode(member)).as_ref(), Ok(member));
}

fn fit(members: Vec<Member>) {
    let mut overlay = Overlay::new(&Nothing);
    for member in members {
        overlay.add(member);
    }
    for psb in overlay.resolve().psbs {
        assert!(overlay.psbs().any(|one| one.name == psb.name && one.pcbs.len() == psb.pcbs.len()));
    }
}

/// A database with its index and a program, as source and as stored.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let source = "\
\x20DBD NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,3,100)
 DATASET DD1=SHOPDD
 SEGM NAME=SHOP,PARENT=0,BYTES=40
 FIELD NAME=(NUMBER,SEQ,U),START=1,BYTES=4
 FIELD NAME=TOWN,START=5,BYTES=20
 FIELD NAME=/SX1
 LCHILD NAME=(TOWNKEY,TOWNIX),PTR=INDX
 XDFLD NAME=XTOWN,SRCH=TOWN,SUBSEQ=/SX1,NULLVAL=BLANK
 SEGM NAME=SALE,PARENT=((SHOP,DBLE)),BYTES=(80,12),RULES=(LLL,HERE)
 FIELD NAME=(DAY,SEQ,M),START=3,BYTES=4,TYPE=P
 DBDGEN
 DBD NAME=TOWNIX,ACCESS=INDEX
 DATASET DD1=TOWNDD
 SEGM NAME=TOWNKEY,BYTES=24
 FIELD NAME=(KEY,SEQ,U),START=1,BYTES=24
 LCHILD NAME=(SHOP,SHOPDB),INDEX=XTOWN
 DBDGEN
 PCB TYPE=TP,LTERM=OUT
 PCB TYPE=DB,DBDNAME=SHOPDB,PROCOPT=AP,PROCSEQ=TOWNIX,KEYLEN=24
 SENSEG NAME=SHOP
 SENFLD NAME=NUMBER,START=1
 SENSEG NAME=SALE,PARENT=SHOP,PROCOPT=GRP
 PSBGEN PSBNAME=SELLING,LANG=COBOL
";
    let mut seeds = vec![source.as_bytes().to_vec()];
    let members = compiled(source.as_bytes()).members;
    assert!(members.iter().all(|one| one.errors == 0), "{members:#?}");
    seeds.extend(members.iter().filter_map(|one| one.member.as_ref()).map(encode));
    seeds
}
