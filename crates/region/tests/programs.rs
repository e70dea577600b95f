//! Programs of many shapes run as guests.
