//! `cargo xtask screenshots`: the HTML report in headless Chromium, as images in docs/. Not a part of the gate.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "starts the program and a browser, and writes files under target/ and docs/"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use xtask::{Outcome, root};

/// The narrowest screen that the page has to fit, in CSS pixels.
const NARROW: u32 = 400;

/// Options that keep Chromium off the network and without a window.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

pub(crate) fn run(browser: &OsStr) -> Result<Outcome> {
    let root = root();
    let work = root.join("target/screenshots");
    std::fs::create_dir_all(&work)?;
    let page = report(root, &work)?;
    let images = root.join("docs/images");
    std::fs::create_dir_all(&images)?;
    // Blink numbers the schemes: 0 is dark, 1 is light.
    for (name, size, scheme) in [
        ("report-light", (1200, 1400), 1),
        ("report-dark", (1200, 1400), 0),
        ("report-narrow", (NARROW, 1800), 1),
    ] {
        let image = images.join(name).with_extension("png");
        let mut command = chromium(browser, &work);
        command.arg(format!("--window-size={},{}", size.0, size.1));
        command.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
        command.arg(format!("--screenshot={}", image.display())).arg(&page);
        let status =
            command.stdout(Stdio::null()).stderr(Stdio::null()).status().context("start the browser")?;
        ensure!(status.success(), "the browser ended with {status}");
    }
    let width = scroll_width(browser, &work, &page)?;
    let wrong = if width > NARROW { vec![format!("the page is {width} pixels wide")] } else { Vec::new() };
    Ok(Outcome { looked_at: format!("3 images in docs/images, a page in a frame of {NARROW} pixels"), wrong })
}

/// Writes the report of the example plugins, with stores that are thrown away.
fn report(root: &Path, work: &Path) -> Result<PathBuf> {
    let page = work.join("report.html");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "run",
        "--quiet",
        "--locked",
        "-p",
        "plugward",
        "--",
        "check",
        "--exit-zero",
        "--format",
        "html",
    ]);
    cargo.arg("--output").arg(&page).arg("examples/plugins").current_dir(root);
    for name in ["config", "state"] {
        let dir = work.join(name);
        if dir.exists() {
            std::fs::remove_dir_all(&dir)?;
        }
        cargo.env(format!("PLUGWARD_{}_DIR", name.to_uppercase()), dir);
    }
    let status = cargo.status().context("start cargo")?;
    ensure!(status.success(), "plugward check ended with {status}");
    Ok(page)
}

fn chromium(browser: &OsStr, work: &Path) -> Command {
    let mut command = Command::new(browser);
    command.args(FLAGS).arg(format!("--user-data-dir={}", work.join("profile").display()));
    command
}

/// Measures how wide the page is in a narrow frame. A window of the browser cannot be that narrow, so a frame is.
fn scroll_width(browser: &OsStr, work: &Path, page: &Path) -> Result<u32> {
    let html = std::fs::read_to_string(page)?;
    let script = "<script>parent.postMessage(document.documentElement.scrollWidth,'*')</script></body>";
    std::fs::write(work.join("inner.html"), html.replace("</body>", script))?;
    let outer = work.join("outer.html");
    let frame = format!(
        "<title>none</title><script>onmessage=e=>document.title=e.data</script><iframe width={NARROW} src=inner.html></iframe>"
    );
    std::fs::write(&outer, frame)?;
    let output = chromium(browser, work)
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(&outer)
        .stderr(Stdio::null())
        .output()
        .context("start the browser")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    title.context("find the title")?.0.trim().parse().context("read the width")
}
