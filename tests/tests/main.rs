//! End to end: the reference loader on folders of every kind.

mod corpus;
mod hostile;
mod pins;
mod transcripts;
