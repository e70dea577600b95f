//! Programs as guests: their processes, their call interface, their libraries.
