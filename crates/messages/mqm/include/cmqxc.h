/* Holdfast: the message queue interface. Made from the tables of crate mqi. */
#ifndef CMQXC_H
#define CMQXC_H

#ifdef __cplusplus
extern "C" {
#endif

#include <cmqc.h>

/* describes a channel: see cmqc.h for its names. */
/* MQCD describes a channel. */
struct tagMQCD {
  MQCHAR20 ChannelName;
  MQLONG Version;
  MQLONG ChannelType;
  MQLONG TransportType;
  MQCHAR64 Desc;
  MQCHAR48 QMgrName;
  MQCHAR48 XmitQName;
  MQCHAR20 ShortConnectionName;
  MQCHAR20 MCAName;
  MQCHAR8 ModeName;
  MQCHAR64 TpName;
  MQLONG BatchSize;
  MQLONG DiscInterval;
  MQLONG ShortRetryCount;
  MQLONG ShortRetryInterval;
  MQLONG LongRetryCount;
  MQLONG LongRetryInterval;
  MQCHAR128 SecurityExit;
  MQCHAR128 MsgExit;
  MQCHAR128 SendExit;
  MQCHAR128 ReceiveExit;
  MQLONG SeqNumberWrap;
  MQLONG MaxMsgLength;
  MQLONG PutAuthority;
  MQLONG DataConversion;
  MQCHAR32 SecurityUserData;
  MQCHAR32 MsgUserData;
  MQCHAR32 SendUserData;
  MQCHAR32 ReceiveUserData;
  MQCHAR12 UserIdentifier; /* version 2 */
  MQCHAR12 Password; /* version 2 */
  MQCHAR12 MCAUserIdentifier; /* version 2 */
  MQLONG MCAType; /* version 2 */
  MQCHAR264 ConnectionName; /* version 2 */
  MQCHAR12 RemoteUserIdentifier; /* version 2 */
  MQCHAR12 RemotePassword; /* version 2 */
  MQCHAR128 MsgRetryExit; /* version 3 */
  MQCHAR32 MsgRetryUserData; /* version 3 */
  MQLONG MsgRetryCount; /* version 3 */
  MQLONG MsgRetryInterval; /* version 3 */
  MQLONG HeartbeatInterval; /* version 4 */
  MQLONG BatchInterval; /* version 4 */
  MQLONG NonPersistentMsgSpeed; /* version 4 */
  MQLONG StrucLength; /* version 4 */
  MQLONG ExitNameLength; /* version 4 */
  MQLONG ExitDataLength; /* version 4 */
  MQLONG MsgExitsDefined; /* version 4 */
  MQLONG SendExitsDefined; /* version 4 */
  MQLONG ReceiveExitsDefined; /* version 4 */
  MQPTR MsgExitPtr; /* version 4 */
  MQPTR MsgUserDataPtr; /* version 4 */
  MQPTR SendExitPtr; /* version 4 */
  MQPTR SendUserDataPtr; /* version 4 */
  MQPTR ReceiveExitPtr; /* version 4 */
  MQPTR ReceiveUserDataPtr; /* version 4 */
  MQPTR ClusterPtr; /* version 5 */
  MQLONG ClustersDefined; /* version 5 */
  MQLONG NetworkPriority; /* version 5 */
  MQLONG LongMCAUserIdLength; /* version 6 */
  MQLONG LongRemoteUserIdLength; /* version 6 */
  MQPTR LongMCAUserIdPtr; /* version 6 */
  MQPTR LongRemoteUserIdPtr; /* version 6 */
  MQBYTE40 MCASecurityId; /* version 6 */
  MQBYTE40 RemoteSecurityId; /* version 6 */
  MQCHAR32 SSLCipherSpec; /* version 7 */
  MQPTR SSLPeerNamePtr; /* version 7 */
  MQLONG SSLPeerNameLength; /* version 7 */
  MQLONG SSLClientAuth; /* version 7 */
  MQLONG KeepAliveInterval; /* version 7 */
  MQCHAR48 LocalAddress; /* version 7 */
  MQLONG BatchHeartbeat; /* version 7 */
  MQLONG HdrCompList[2]; /* version 8 */
  MQLONG MsgCompList[16]; /* version 8 */
  MQLONG CLWLChannelRank; /* version 8 */
  MQLONG CLWLChannelPriority; /* version 8 */
  MQLONG CLWLChannelWeight; /* version 8 */
  MQLONG ChannelMonitoring; /* version 8 */
  MQLONG ChannelStatistics; /* version 8 */
  MQLONG SharingConversations; /* version 8 */
  MQLONG PropertyControl; /* version 9 */
  MQLONG MaxInstances; /* version 9 */
  MQLONG MaxInstancesPerClient; /* version 9 */
  MQLONG ClientChannelWeight; /* version 9 */
  MQLONG ConnectionAffinity; /* version 9 */
  MQLONG BatchDataLimit; /* version 9 */
  MQLONG UseDLQ; /* version 10 */
  MQLONG DefReconnect; /* version 10 */
  MQCHAR64 CertificateLabel; /* version 11 */
  MQLONG SPLProtection; /* version 12 */
};
#define MQCD_LENGTH_1 984
#define MQCD_LENGTH_2 1312
#define MQCD_LENGTH_3 1480
#define MQCD_LENGTH_4 1568
#define MQCD_LENGTH_5 1584
#define MQCD_LENGTH_6 1688
#define MQCD_LENGTH_7 1792
#define MQCD_LENGTH_8 1888
#define MQCD_LENGTH_9 1912
#define MQCD_LENGTH_10 1920
#define MQCD_LENGTH_11 1984
#define MQCD_LENGTH_12 1992
#define MQCD_CURRENT_LENGTH 1992
#define MQCD_DEFAULT {""}, \
  12, \
  6, \
  2, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  50, \
  6000, \
  10, \
  60, \
  999999999, \
  1200, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  999999999, \
  4194304, \
  1, \
  0, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  1, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  {""}, \
  10, \
  1000, \
  1, \
  0, \
  2, \
  1992, \
  128, \
  32, \
  0, \
  0, \
  0, \
  NULL, \
  NULL, \
  NULL, \
  NULL, \
  NULL, \
  NULL, \
  NULL, \
  0, \
  0, \
  0, \
  0, \
  NULL, \
  NULL, \
  {0}, \
  {0}, \
  {""}, \
  NULL, \
  0, \
  0, \
  -1, \
  {""}, \
  0, \
  {0,-1}, \
  {0,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1}, \
  0, \
  0, \
  50, \
  -3, \
  -3, \
  10, \
  0, \
  999999999, \
  999999999, \
  0, \
  1, \
  5000, \
  2, \
  0, \
  {""}, \
  0

#define MQCD_CLIENT_CONN_DEFAULT MQCD_DEFAULT

#ifdef __cplusplus
}
#endif

#endif
