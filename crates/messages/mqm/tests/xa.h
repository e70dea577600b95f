/* The XA specification's own declarations, for programs of tests. */
typedef struct { long formatID, gtrid_length, bqual_length; char data[128]; } XID;
struct xa_switch_t {
  char name[32];
  long flags, version;
  int (*xa_open_entry)(char *, int, long);
  int (*xa_close_entry)(char *, int, long);
  int (*xa_start_entry)(XID *, int, long);
  int (*xa_end_entry)(XID *, int, long);
  int (*xa_rollback_entry)(XID *, int, long);
  int (*xa_prepare_entry)(XID *, int, long);
  int (*xa_commit_entry)(XID *, int, long);
  int (*xa_recover_entry)(XID *, long, int, long);
  int (*xa_forget_entry)(XID *, int, long);
  int (*xa_complete_entry)(int *, int *, int, long);
};
extern struct xa_switch_t MQRMIXASwitch, MQRMIXASwitchDynamic;
