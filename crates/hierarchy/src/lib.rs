//! Databases as key order: segments, indexes and logical relationships over a keyed store.
