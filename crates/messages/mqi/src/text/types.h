#include <stddef.h>
#include <stdint.h>

#define MQENTRY
#define MQPOINTER *
#define MQINTERNAL

typedef uint8_t MQBYTE;
typedef char MQCHAR;
typedef int32_t MQLONG;
typedef uint32_t MQULONG;
typedef int64_t MQINT64;
typedef uint64_t MQUINT64;
typedef int16_t MQSHORT;
typedef uint16_t MQUSHORT;
typedef int8_t MQINT8;
typedef uint8_t MQUINT8;
typedef int16_t MQINT16;
typedef uint16_t MQUINT16;
typedef int32_t MQINT32;
typedef uint32_t MQUINT32;
typedef float MQFLOAT32;
typedef double MQFLOAT64;
typedef MQLONG MQBOOL;
typedef MQLONG MQHCONN;
typedef MQLONG MQHOBJ;
typedef MQINT64 MQHMSG;
typedef MQLONG MQPID;
typedef MQLONG MQTID;
typedef void MQVOID;
typedef void MQPOINTER MQPTR;
typedef MQVOID MQPOINTER PMQVOID;
typedef PMQVOID MQPOINTER PPMQVOID;
typedef MQBYTE MQPOINTER PMQBYTE;
typedef MQCHAR MQPOINTER PMQCHAR;
typedef PMQCHAR MQPOINTER PPMQCHAR;
typedef MQLONG MQPOINTER PMQLONG;
typedef MQULONG MQPOINTER PMQULONG;
typedef MQINT64 MQPOINTER PMQINT64;
typedef MQBOOL MQPOINTER PMQBOOL;
typedef MQHCONN MQPOINTER PMQHCONN;
typedef MQHOBJ MQPOINTER PMQHOBJ;
typedef MQHMSG MQPOINTER PMQHMSG;
typedef MQPTR MQPOINTER PMQPTR;
typedef void (MQENTRY *PMQFUNC)(void);

