
/* Command messages: a header, then parameters. */
typedef struct tagMQCFH {
  MQLONG Type, StrucLength, Version, Command, MsgSeqNumber, Control, CompCode, Reason;
  MQLONG ParameterCount;
} MQCFH;
typedef MQCFH MQPOINTER PMQCFH;
#define MQCFH_STRUC_LENGTH 36
#define MQCFH_DEFAULT 1, 36, 1, 0, 1, 1, 0, 0, 0

typedef struct tagMQCFIN { MQLONG Type, StrucLength, Parameter, Value; } MQCFIN;
typedef MQCFIN MQPOINTER PMQCFIN;
#define MQCFIN_STRUC_LENGTH 16
#define MQCFIN_DEFAULT 3, 16, 0, 0

typedef struct tagMQCFIN64 {
  MQLONG Type, StrucLength, Parameter, Reserved;
  MQINT64 Value;
} MQCFIN64;
typedef MQCFIN64 MQPOINTER PMQCFIN64;
#define MQCFIN64_STRUC_LENGTH 24
#define MQCFIN64_DEFAULT 25, 24, 0, 0, 0

typedef struct tagMQCFIL { MQLONG Type, StrucLength, Parameter, Count, Values[1]; } MQCFIL;
typedef MQCFIL MQPOINTER PMQCFIL;
#define MQCFIL_STRUC_LENGTH_FIXED 16
#define MQCFIL_DEFAULT 5, 16, 0, 0, {0}

typedef struct tagMQCFIL64 {
  MQLONG Type, StrucLength, Parameter, Count;
  MQINT64 Values[1];
} MQCFIL64;
typedef MQCFIL64 MQPOINTER PMQCFIL64;
#define MQCFIL64_STRUC_LENGTH_FIXED 16
#define MQCFIL64_DEFAULT 27, 16, 0, 0, {0}

typedef struct tagMQCFST {
  MQLONG Type, StrucLength, Parameter, CodedCharSetId, StringLength;
  MQCHAR String[1];
} MQCFST;
typedef MQCFST MQPOINTER PMQCFST;
#define MQCFST_STRUC_LENGTH_FIXED 20
#define MQCFST_DEFAULT 4, 20, 0, 0, 0, {""}

typedef struct tagMQCFSL {
  MQLONG Type, StrucLength, Parameter, CodedCharSetId, Count, StringLength;
  MQCHAR Strings[1];
} MQCFSL;
typedef MQCFSL MQPOINTER PMQCFSL;
#define MQCFSL_STRUC_LENGTH_FIXED 24
#define MQCFSL_DEFAULT 6, 24, 0, 0, 0, 0, {""}

typedef struct tagMQCFBS {
  MQLONG Type, StrucLength, Parameter, StringLength;
  MQBYTE String[1];
} MQCFBS;
typedef MQCFBS MQPOINTER PMQCFBS;
#define MQCFBS_STRUC_LENGTH_FIXED 16
#define MQCFBS_DEFAULT 9, 16, 0, 0, {0}

typedef struct tagMQCFGR { MQLONG Type, StrucLength, Parameter, ParameterCount; } MQCFGR;
typedef MQCFGR MQPOINTER PMQCFGR;
#define MQCFGR_STRUC_LENGTH 16
#define MQCFGR_DEFAULT 20, 16, 0, 0

typedef struct tagMQCFIF { MQLONG Type, StrucLength, Parameter, Operator, FilterValue; } MQCFIF;
typedef MQCFIF MQPOINTER PMQCFIF;
#define MQCFIF_STRUC_LENGTH 20
#define MQCFIF_DEFAULT 13, 20, 0, 0, 0

typedef struct tagMQCFSF {
  MQLONG Type, StrucLength, Parameter, Operator, CodedCharSetId, FilterValueLength;
  MQCHAR FilterValue[1];
} MQCFSF;
typedef MQCFSF MQPOINTER PMQCFSF;
#define MQCFSF_STRUC_LENGTH_FIXED 24
#define MQCFSF_DEFAULT 14, 24, 0, 0, 0, 0, {""}

typedef struct tagMQCFBF {
  MQLONG Type, StrucLength, Parameter, Operator, FilterValueLength;
  MQBYTE FilterValue[1];
} MQCFBF;
typedef MQCFBF MQPOINTER PMQCFBF;
#define MQCFBF_STRUC_LENGTH_FIXED 20
#define MQCFBF_DEFAULT 15, 20, 0, 0, 0, {0}
