/* What Java needs to call libholdfast: the native methods of class Holdfast. */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast.h"

#define SSAS_MAX 15

static void fail(JNIEnv *env, const char *what) {
  jclass kind = (*env)->FindClass(env, "java/lang/IllegalStateException");
  if (kind != NULL) (*env)->ThrowNew(env, kind, what);
}

JNIEXPORT void JNICALL Java_Holdfast_begin(JNIEnv *env, jclass self) {
  (void)self;
  if (hf_begin() != 0) fail(env, hf_error());
}

JNIEXPORT jint JNICALL Java_Holdfast_pcb(JNIEnv *env, jclass self, jstring name) {
  (void)self;
  const char *text = (*env)->GetStringUTFChars(env, name, NULL);
  if (text == NULL) return -1;
  jint found = hf_pcb(text);
  (*env)->ReleaseStringUTFChars(env, name, text);
  if (found < 0) fail(env, hf_error());
  return found;
}

static jobject answer_of(JNIEnv *env, const hf_answer *said) {
  jclass kind = (*env)->FindClass(env, "Holdfast$Answer");
  if (kind == NULL) return NULL;
  jobject answer = (*env)->AllocObject(env, kind);
  jbyteArray key = (*env)->NewByteArray(env, said->key_length);
  if (answer == NULL || key == NULL) return NULL;
  (*env)->SetByteArrayRegion(env, key, 0, said->key_length, (const jbyte *)said->key);
  const char *text = "Ljava/lang/String;";
  (*env)->SetObjectField(env, answer, (*env)->GetFieldID(env, kind, "status", text),
                         (*env)->NewStringUTF(env, said->status));
  (*env)->SetObjectField(env, answer, (*env)->GetFieldID(env, kind, "segment", text),
                         (*env)->NewStringUTF(env, said->segment));
  (*env)->SetIntField(env, answer, (*env)->GetFieldID(env, kind, "level", "I"), said->level);
  (*env)->SetIntField(env, answer, (*env)->GetFieldID(env, kind, "areaLength", "I"),
                      said->area_length);
  (*env)->SetObjectField(env, answer, (*env)->GetFieldID(env, kind, "key", "[B"), key);
  return answer;
}

JNIEXPORT jobject JNICALL Java_Holdfast_call(JNIEnv *env, jclass self, jstring function, jint pcb,
                                             jbyteArray area, jint given, jobjectArray ssas) {
  (void)self;
  hf_bytes lent[SSAS_MAX];
  memset(lent, 0, sizeof lent);
  jsize count = (*env)->GetArrayLength(env, ssas);
  const char *name = (*env)->GetStringUTFChars(env, function, NULL);
  jbyte *bytes = (*env)->GetByteArrayElements(env, area, NULL);
  int called = -1;
  hf_answer said;
  int can = name != NULL && bytes != NULL && count <= SSAS_MAX;
  for (jsize at = 0; can && at < count; at++) {
    jbyteArray ssa = (*env)->GetObjectArrayElement(env, ssas, at);
    lent[at].length = (*env)->GetArrayLength(env, ssa);
    lent[at].bytes = malloc(lent[at].length + 1);
    can = lent[at].bytes != NULL;
    if (can) (*env)->GetByteArrayRegion(env, ssa, 0, lent[at].length, lent[at].bytes);
  }
  if (can) {
    called = hf_call(name, pcb, bytes, given, (*env)->GetArrayLength(env, area), lent, count, NULL,
                     0, &said);
  }
  for (jsize at = 0; at < SSAS_MAX; at++) free(lent[at].bytes);
  if (bytes != NULL) (*env)->ReleaseByteArrayElements(env, area, bytes, 0);
  if (name != NULL) (*env)->ReleaseStringUTFChars(env, function, name);
  if (called != 0) {
    fail(env, can ? hf_error() : "the call cannot be made");
    return NULL;
  }
  return answer_of(env, &said);
}

JNIEXPORT void JNICALL Java_Holdfast_end(JNIEnv *env, jclass self, jboolean commit) {
  (void)self;
  if (hf_end(commit == JNI_TRUE) != 0) fail(env, hf_error());
}
