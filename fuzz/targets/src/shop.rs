//! A shop's databases and a program that sees them in many ways, made from macro source.
//!
//! | database | has |
//! |---|---|
//! | `SHOPDB` | hashed roots, indexes, twins without a unique key, a logical child, compression |
//! | `ITEMDB` | the logical parent, of variable length |
//! | `SALELOG` | the logical child joined to its destination parent |
//! | `PASTDB` | partitions |
//! | `FIXED`, `VARIED`, `LOOSE` | sequential files, one for each form of records |

use std::path::Path;

use definitions::resolve::{GsamView, Nothing, Overlay, ResolvedKind, View};
use definitions::{Dbd, compile};
use macros::{NoMembers, Sources, read};
use placement::{Placement, Settings};

const SOURCE: &str = "\
\x20DBD NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,3,100)
 DATASET DD1=SHOPDD
 SEGM NAME=SHOP,PARENT=0,BYTES=20
 FIELD NAME=(NUMBER,SEQ,U),START=1,BYTES=4
 FIELD NAME=TOWN,START=5,BYTES=6
 FIELD NAME=DEBT,START=11,BYTES=3,TYPE=P
 LCHILD NAME=(TOWNKEY,TOWNIX),PTR=INDX
 XDFLD NAME=XTOWN,SRCH=TOWN,NULLVAL=BLANK
 LCHILD NAME=(TEXTKEY,TEXTIX),PTR=INDX
 XDFLD NAME=XTEXT,SEGMENT=VISIT,SRCH=TEXT,SUBSEQ=/SX1,DDATA=DAY
 SEGM NAME=VISIT,PARENT=SHOP,BYTES=(40,8),RULES=(LLL,HERE),COMPRTN=PACK
 FIELD NAME=(DAY,SEQ,M),START=3,BYTES=2,TYPE=X
 FIELD NAME=TEXT,START=5,BYTES=4
 FIELD NAME=/SX1
 SEGM NAME=NOTE,PARENT=VISIT,BYTES=8
 FIELD NAME=REMARK,START=1,BYTES=8
 SEGM NAME=SALE,PARENT=(SHOP,(ITEM,P,ITEMDB)),BYTES=6,PTR=(LT,LP)
 FIELD NAME=(ITEMNO,SEQ,U),START=1,BYTES=3
 FIELD NAME=COUNT,START=4,BYTES=2,TYPE=P
 DBDGEN
 DBD NAME=TOWNIX,ACCESS=(INDEX,VSAM)
 DATASET DD1=TOWNDD
 SEGM NAME=TOWNKEY,PARENT=0,BYTES=6
 FIELD NAME=(KEY,SEQ,U),START=1,BYTES=6
 LCHILD NAME=(SHOP,SHOPDB),INDEX=XTOWN
 DBDGEN
 DBD NAME=TEXTIX,ACCESS=(INDEX,VSAM)
 DATASET DD1=TEXTDD
 SEGM NAME=TEXTKEY,PARENT=0,BYTES=10
 FIELD NAME=(KEY,SEQ,U),START=1,BYTES=8
 LCHILD NAME=(SHOP,SHOPDB),INDEX=XTEXT
 DBDGEN
 DBD NAME=ITEMDB,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,1,50)
 DATASET DD1=ITEMDD
 SEGM NAME=ITEM,PARENT=0,BYTES=(20,9)
 FIELD NAME=(CODE,SEQ,U),START=3,BYTES=3
 FIELD NAME=LABEL,START=6,BYTES=4
 LCHILD NAME=(SALE,SHOPDB),POINTER=NONE
 DBDGEN
 DBD NAME=SALELOG,ACCESS=LOGICAL
 DATASET LOGICAL
 SEGM NAME=SHOP,SOURCE=((SHOP,,SHOPDB))
 SEGM NAME=SOLD,PARENT=SHOP,SOURCE=((SALE,,SHOPDB),(ITEM,,ITEMDB))
 DBDGEN
 DBD NAME=PASTDB,ACCESS=(PHIDAM,OSAM)
 SEGM NAME=PAST,PARENT=0,BYTES=9
 FIELD NAME=(YEAR,SEQ,U),START=1,BYTES=4
 SEGM NAME=ENTRY,PARENT=((PAST,DBLE)),BYTES=5
 DBDGEN
 DBD NAME=FIXED,ACCESS=(GSAM,BSAM)
 DATASET DD1=FIXIN,DD2=FIXOUT,RECFM=FB,RECORD=8
 DBDGEN
 DBD NAME=VARIED,ACCESS=(GSAM,BSAM)
 DATASET DD1=VARIN,DD2=VAROUT,RECFM=VB,RECORD=(30,4)
 DBDGEN
 DBD NAME=LOOSE,ACCESS=(GSAM,BSAM)
 DATASET DD1=LOOSEIN,DD2=LOOSEOUT,RECFM=U,RECORD=30
 DBDGEN
 PCB TYPE=DB,DBDNAME=SHOPDB,PROCOPT=AP,KEYLEN=20
 SENSEG NAME=SHOP,PARENT=0,INDICES=(TOWNIX,TEXTIX)
 SENSEG NAME=VISIT,PARENT=SHOP
 SENSEG NAME=NOTE,PARENT=VISIT
 SENSEG NAME=SALE,PARENT=SHOP
 PCB TYPE=DB,DBDNAME=SHOPDB,PROCOPT=AP,KEYLEN=20,PROCSEQ=TOWNIX
 SENSEG NAME=SHOP,PARENT=0,INDICES=TEXTIX
 SENSEG NAME=VISIT,PARENT=SHOP
 PCB TYPE=DB,DBDNAME=SHOPDB,PROCOPT=A,KEYLEN=20
 SENSEG NAME=SHOP,PARENT=0
 SENFLD NAME=TOWN,START=1
 SENFLD NAME=DEBT,START=8
 PCB TYPE=DB,DBDNAME=SALELOG,PROCOPT=A,KEYLEN=20
 SENSEG NAME=SHOP,PARENT=0
 SENSEG NAME=SOLD,PARENT=SHOP
 PCB TYPE=DB,DBDNAME=PASTDB,PROCOPT=A,KEYLEN=20
 SENSEG NAME=PAST,PARENT=0
 SENSEG NAME=ENTRY,PARENT=PAST
 PCB TYPE=GSAM,DBDNAME=FIXED,PROCOPT=G
 PCB TYPE=GSAM,DBDNAME=VARIED,PROCOPT=G
 PCB TYPE=GSAM,DBDNAME=LOOSE,PROCOPT=G
 PSBGEN PSBNAME=KEEPING,LANG=COBOL
";

/// All definitions.
pub(crate) fn definitions() -> Overlay<'static> {
    let program = read(&mut Sources::new(), Path::new("shop"), SOURCE.as_bytes(), &NoMembers);
    assert!(program.diagnostics.is_empty(), "{:#?}", program.diagnostics);
    let compiled = compile(&program);
    assert!(compiled.members.iter().all(|one| one.errors == 0), "{:#?}", compiled.diagnostics);
    let mut overlay = Overlay::new(&Nothing);
    compiled.members.into_iter().filter_map(|one| one.member).for_each(|member| {
        overlay.add(member);
    });
    overlay
}

fn kinds() -> impl Iterator<Item = ResolvedKind> {
    let outcome = definitions().resolve();
    assert_eq!(outcome.psbs.len(), 1, "the shop's members fit: {:?}", outcome.findings);
    outcome.psbs.into_iter().flat_map(|psb| psb.pcbs).map(|pcb| pcb.kind)
}

/// What the program sees of databases, PCB by PCB.
pub(crate) fn views() -> Vec<View> {
    let view = |kind| match kind {
        ResolvedKind::Database(view) => Some(*view),
        _ => None,
    };
    kinds().filter_map(view).collect()
}

/// The program's files.
pub(crate) fn files() -> Vec<GsamView> {
    let view = |kind| match kind {
        ResolvedKind::Gsam(view) => Some(view),
        _ => None,
    };
    kinds().filter_map(view).collect()
}

/// Where a database's roots go without any settings, but that partitions have to be defined.
pub(crate) fn placement(dbd: &Dbd) -> Placement {
    let mut settings = Settings::default();
    if dbd.organization.is_partitioned() {
        let partitions = "partition = [{ name = 'A', high_key = '1999' }, { name = 'B' }]";
        let text = format!("[database.{}]\n{partitions}", dbd.name);
        settings = toml::from_str(&text).expect("the shop's settings are right");
    }
    let none = &mut |_: &str| Ok(Vec::new());
    Placement::new(dbd, &settings, none).expect("the shop's settings fit")
}
