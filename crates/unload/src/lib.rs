//! Database unload files in the format that HD unload writes.
