//! EXEC DLI in COBOL sources: taken apart and written as CALL statements.
