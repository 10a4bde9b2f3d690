//! `plugward diff ID`: what changed since a plugin was trusted.

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::host::Host;
use crate::out::Out;

pub(crate) fn run(args: &ExplainArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    crate::verbs::info::run(args, host, out)
}
