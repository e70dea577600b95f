//! A database of customers with an index of their towns, and a program that may do everything.

pub(crate) const SHOP: &str = "         DBD   NAME=SHOP,ACCESS=(HIDAM,OSAM)
         SEGM  NAME=CUST,PARENT=0,BYTES=200
         FIELD NAME=(CK,SEQ,U),START=1,BYTES=4
         FIELD NAME=TOWN,START=5,BYTES=4
         LCHILD NAME=(X,SHOPX),PTR=INDX
         LCHILD NAME=(Y,SHOPY),PTR=INDX
         XDFLD NAME=XTOWN,SRCH=TOWN,SUBSEQ=/SX1
         FIELD NAME=/SX1
         DBDGEN
         FINISH
         END
         DBD   NAME=SHOPX,ACCESS=(INDEX,VSAM)
         SEGM  NAME=X,PARENT=0,BYTES=4
         FIELD NAME=(XK,SEQ,U),START=1,BYTES=4
         LCHILD NAME=(CUST,SHOP),INDEX=CK
         DBDGEN
         FINISH
         END
         DBD   NAME=SHOPY,ACCESS=(INDEX,VSAM)
         SEGM  NAME=Y,PARENT=0,BYTES=8
         FIELD NAME=(YK,SEQ,U),START=1,BYTES=8
         LCHILD NAME=(CUST,SHOP),INDEX=XTOWN
         DBDGEN
         FINISH
         END
         PCB   TYPE=DB,DBDNAME=SHOP,PROCOPT=A,KEYLEN=4
         SENSEG NAME=CUST,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=CLERK,CMPAT=YES
         END
";
