//! Tests of the message queue interface against its facts.
