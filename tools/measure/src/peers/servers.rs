//! `cargo xtask peers servers`: public MCP servers, for the test of `plugward mcp run` with them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use xtask::{Outcome, target_directory};

use super::npm_install;

const FROM_NPM: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];
const FROM_PYPI: [&str; 2] = ["mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19"];

/// Installs the servers below `peers/mcp` in the target directory: `node_modules`, and the virtual environment `py`.
pub(super) fn install() -> Result<Outcome> {
    let target = PathBuf::from(target_directory()?).join("peers/mcp");
    npm_install(&target, &FROM_NPM)?;
    install_from_pypi(&target.join("py"), &FROM_PYPI)?;
    let count = FROM_NPM.len().saturating_add(FROM_PYPI.len());
    let next = "test with them: PLUGWARD_PEERS=require cargo test -p plugward --test mcp real";
    Ok(Outcome { looked_at: format!("{count} servers in {}; {next}", target.display()), wrong: Vec::new() })
}

/// Creates a virtual environment and installs packages into it.
pub(super) fn install_from_pypi(environment: &Path, packages: &[&str]) -> Result<()> {
    python(Path::new("python3"), &["-m", "venv", &environment.to_string_lossy()])?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    python(&environment.join("bin/python"), &[&install[..], packages].concat())
}

fn python(program: &Path, args: &[&str]) -> Result<()> {
    let status = Command::new(program).args(args).stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("start {}", program.display()))?;
    ensure!(status.success(), "{} {} ended with {status}", program.display(), args.join(" "));
    Ok(())
}
