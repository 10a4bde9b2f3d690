//! Fetches the listed repositories, each at its commit and without history.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "writes a directory that the user names"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::FetchArgs;
use super::list::{self, Presence, Repository};
use xtask::{Outcome, say};

/// The directory for unfinished work; it is removed after each repository.
const PARTIAL: &str = ".partial";

/// Fetches the repositories that are not there yet.
pub(super) fn run(args: &FetchArgs) -> Result<Outcome> {
    let repositories = list::read()?;
    fs::create_dir_all(&args.into).with_context(|| format!("create {}", args.into.display()))?;
    let into = std::path::absolute(&args.into).context("find the directory")?;
    let mut wrong = Vec::new();
    let (mut fetched, mut there) = (0_usize, 0_usize);
    for repository in &repositories {
        match repository.presence(&into) {
            Presence::Fetched => there = there.saturating_add(1),
            Presence::Other(commit) => wrong.push(format!(
                "{}: the directory has {commit}; remove {} to fetch it again",
                repository.name,
                repository.path(&into).display()
            )),
            Presence::Absent => match fetch(repository, &into, args.mirrors.as_deref()) {
                Ok(note) => {
                    fetched = fetched.saturating_add(1);
                    say(&format!("{}{note}", repository.name));
                }
                Err(error) => wrong.push(format!("{}: {error:#}", repository.name)),
            },
        }
    }
    let count = repositories.len();
    let looked_at = format!("field fetch: {count} repositories, {fetched} fetched, {there} already there");
    Ok(Outcome { looked_at, wrong })
}

/// Fetches one repository; returns a note on files that its source does not have.
fn fetch(repository: &Repository, into: &Path, mirrors: Option<&Path>) -> Result<String> {
    let work = into.join(PARTIAL);
    remove(&work)?;
    let files = work.join("files");
    fs::create_dir_all(&files).context("create the directory")?;
    let store = match mirrors {
        Some(mirrors) => find_mirror(repository, mirrors)?,
        None => download(repository, &work.join("git"))?,
    };
    let note = write_files(repository, &store, &files, &work.join("index"))?;
    fs::rename(&files, repository.path(into)).context("move the files to their place")?;
    fs::write(repository.commit_file(into), format!("{}\n", repository.commit))
        .context("write the commit")?;
    remove(&work)?;
    Ok(note)
}

/// Downloads one commit to a new git directory.
fn download(repository: &Repository, store: &Path) -> Result<PathBuf> {
    let address = format!("https://github.com/{}", repository.name);
    run_git(git(store).arg("init").arg("--quiet"))?;
    run_git(
        git(store)
            .args(["fetch", "--quiet", "--depth", "1", "--no-tags"])
            .args([&address, &repository.commit]),
    )?;
    Ok(store.to_owned())
}

/// Returns the git directory of a repository: `OWNER+NAME`, or a directory inside it.
fn find_mirror(repository: &Repository, mirrors: &Path) -> Result<PathBuf> {
    let is_store = |path: &Path| path.join("HEAD").is_file() && path.join("objects").is_dir();
    let outer = repository.path(mirrors);
    let outer = std::path::absolute(&outer).context("find the directory")?;
    if is_store(&outer) {
        return Ok(outer);
    }
    let entries = fs::read_dir(&outer).with_context(|| format!("no mirror in {}", outer.display()))?;
    let mut inner: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    inner.sort();
    let found = inner.into_iter().find(|path| is_store(path));
    found.with_context(|| format!("no git directory in {}", outer.display()))
}

/// Writes the files of the commit. A mirror may lack some, such as large ones: they are left out and counted.
fn write_files(repository: &Repository, store: &Path, files: &Path, index: &Path) -> Result<String> {
    let command = || {
        let mut command = git(store);
        // The index of a mirror is not touched.
        command.arg("--work-tree").arg(files).env("GIT_INDEX_FILE", index).current_dir(files);
        command
    };
    run_git(command().args(["read-tree", &repository.commit]))?;
    let output = command().args(["checkout-index", "--all", "--force"]).output().context("start git")?;
    if output.status.success() {
        return Ok(String::new());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let missing = stderr.lines().filter(|line| line.contains("unable to read sha1 file of")).count();
    if missing == 0 || missing != stderr.lines().count() {
        bail!("git checkout-index: {}", stderr.trim());
    }
    let noun = if missing == 1 { "file is" } else { "files are" };
    Ok(format!(" ({missing} {noun} missing in the mirror)"))
}

/// Returns a git command that no settings of the user change.
fn git(store: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(store);
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(name);
    }
    command
}

fn run_git(command: &mut Command) -> Result<()> {
    let output = command.output().context("start git")?;
    if !output.status.success() {
        bail!("git: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

fn remove(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).context("remove unfinished work")?;
    }
    Ok(())
}
