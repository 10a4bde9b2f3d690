//! `plugward mcp wrap`: prints how to start the servers of hosts through plugward.

use crate::args::McpWrapArgs;
use crate::failure::Failure;
use crate::host::Host;
use crate::out::Out;

pub(super) fn run(_args: &McpWrapArgs, _host: &Host, _out: &mut Out) -> Result<u8, Failure> {
    Ok(0)
}
