#!/bin/sh
# Builds what NOTEJV runs: build.sh FOLDER INCLUDE LIBRARY
#   FOLDER   where to put it; HOLDFAST_JAVA names it when the system is started
#   INCLUDE  the folder of holdfast.h
#   LIBRARY  the path of libholdfast.so
set -e
folder=$1 include=$2 library=$3
here=$(dirname "$0")
home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
javac -d "$folder" "$here/Holdfast.java" "$here/Notes.java"
cc -O2 -Wall -Werror -shared -fPIC -I"$include" -I"$home/include" -I"$home/include/linux" \
  -o "$folder/libholdfast_jni.so" "$here/holdfast_jni.c" "$library" \
  -Wl,-rpath,"$(dirname "$library")"
