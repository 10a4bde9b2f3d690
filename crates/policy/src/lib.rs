#![doc = include_str!("../README.md")]

mod command;

pub use command::{Checksum, ChecksumAlgorithm, CommandRules, RunRule};
