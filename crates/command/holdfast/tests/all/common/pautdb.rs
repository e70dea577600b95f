//! A database that others have unloaded on a host, and our definitions of it.

/// Made by others on a host; `unload` says more about it.
pub(crate) const GENUINE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../dli/unload/tests/data/pautdb-hd-unload.dat");

/// Our own definition of the database that the file is of, and of an index on its details.
pub(crate) const SOURCE: &str = "* PENDING AUTHORIZATIONS
         DBD   NAME=PAUTDB,ACCESS=(HIDAM,VSAM)
         DATASET DD1=PAUTDD,SIZE=4096
         SEGM  NAME=PAUTSUM0,PARENT=0,BYTES=100,PTR=TB
         FIELD NAME=(ACCNTID,SEQ,U),START=1,BYTES=6,TYPE=P
         LCHILD NAME=(PAUTKEY,PAUTPX),PTR=INDX
         SEGM  NAME=PAUTDTL1,PARENT=PAUTSUM0,BYTES=200,PTR=T
         FIELD NAME=(PAUT9CTS,SEQ,U),START=1,BYTES=8,TYPE=C
         FIELD NAME=ORIGDATE,START=9,BYTES=6
         LCHILD NAME=(DATEKEY,PAUTIX),PTR=INDX
         XDFLD NAME=XDATE,SRCH=ORIGDATE
         DBDGEN
         FINISH
         END
         DBD   NAME=PAUTPX,ACCESS=(INDEX,VSAM)
         DATASET DD1=PAUTPXDD
         SEGM  NAME=PAUTKEY,PARENT=0,BYTES=6
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=6
         LCHILD NAME=(PAUTSUM0,PAUTDB),INDEX=ACCNTID
         DBDGEN
         FINISH
         END
         DBD   NAME=PAUTIX,ACCESS=(INDEX,VSAM)
         DATASET DD1=PAUTIXDD,OVFLW=PAUTIXOV
         SEGM  NAME=DATEKEY,PARENT=0,BYTES=6
         FIELD NAME=(KEY,SEQ,M),START=1,BYTES=6
         LCHILD NAME=(PAUTDTL1,PAUTDB),INDEX=XDATE
         DBDGEN
         FINISH
         END
";
