//! `plugward completions SHELL` and `plugward man`: generated from the command line's definition.

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::failure::Failure;
use crate::out::Out;

pub(crate) fn run(shell: clap_complete::Shell, out: &mut Out) -> Result<u8, Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "plugward", &mut bytes);
    out.result(&String::from_utf8_lossy(&bytes))?;
    Ok(0)
}

pub(crate) fn man(out: &mut Out) -> Result<u8, Failure> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut bytes)?;
    out.result(&String::from_utf8_lossy(&bytes))?;
    Ok(0)
}
