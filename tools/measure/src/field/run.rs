//! Checks the fetched repositories and prints the figures.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "files that the user names")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::list::{self, Presence, Repository, Split};
use super::program::{self, Usage};
use super::report::{self, RepositoryResult};
use super::tables::{Table, TableForm};
use super::tally::{Details, Tally};
use super::{RunArgs, print};
use xtask::{Outcome, say};

/// All results of a run.
#[derive(Default)]
struct Results {
    /// A tally per repository, in the order of the list.
    repositories: Vec<(Repository, Tally)>,
    splits: BTreeMap<Split, (Tally, Details)>,
}

impl Results {
    fn add(&mut self, repository: &Repository, result: &RepositoryResult, usage: Usage) {
        let tally = Tally::of(result, usage);
        let (total, details) = self.splits.entry(repository.split).or_default();
        total.add(&tally);
        details.add(result);
        self.repositories.push((repository.clone(), tally));
    }

    fn print(&self, form: TableForm) {
        let columns = |first: &'static str| [&[first], &Tally::COLUMNS[..]].concat();
        for (split, (_, details)) in &self.splits {
            let name = split.as_str();
            let own = self.repositories.iter().filter(|(repository, _)| repository.split == *split);
            let mut table = Table::new(&format!("Repositories of {name}"), &columns("repository"));
            for (repository, tally) in own {
                table.row(tally.row(&repository.name));
            }
            print(&table.render(form));
            print(&details.dialects(&format!("Dialects of {name}")).render(form));
            print(&details.codes(&format!("Reasons of other gates in {name}")).render(form));
            print(&details.rules(&format!("Rules in {name}")).render(form));
        }
        let mut table = Table::new("Splits", &columns("split"));
        for (split, (tally, _)) in &self.splits {
            table.row(tally.row(split.as_str()));
        }
        print(&table.render(form));
    }
}

/// Checks the selected repositories.
pub(super) fn run(args: &RunArgs) -> Result<Outcome> {
    let repositories = select(list::read()?, args)?;
    let corpus = std::path::absolute(&args.corpus).context("find the corpus")?;
    let program = match &args.plugward {
        Some(program) => std::path::absolute(program).context("find the program")?,
        None => program::build()?,
    };
    let mut out = args.out.as_deref().map(create).transpose()?;
    let mut results = Results::default();
    let mut wrong = Vec::new();
    for repository in &repositories {
        say(&format!("checking {}", repository.name));
        match check(repository, &corpus, &program) {
            Ok((result, usage)) => {
                results.add(repository, &result, usage);
                for record in &result.findings {
                    if let Some(out) = &mut out {
                        out.write_all(record.to_line().as_bytes()).context("write the findings")?;
                    }
                }
            }
            Err(error) => wrong.push(format!("{}: {error:#}", repository.name)),
        }
    }
    if let Some(mut out) = out {
        out.flush().context("write the findings")?;
    }
    results.print(if args.markdown { TableForm::Markdown } else { TableForm::Text });
    let plugins: usize = results.repositories.iter().map(|(_, tally)| tally.plugins()).sum();
    let looked_at = format!("field run: {} repositories, {plugins} plugins", repositories.len());
    Ok(Outcome { looked_at, wrong })
}

/// Returns the repositories that the options select.
fn select(mut repositories: Vec<Repository>, args: &RunArgs) -> Result<Vec<Repository>> {
    let is_named = |one: &Repository| args.repository.as_ref().is_none_or(|name| *name == one.name);
    repositories.retain(|one| is_named(one) && args.split.is_none_or(|split| split == one.split));
    if repositories.is_empty() {
        bail!("no listed repository has this name and split");
    }
    Ok(repositories)
}

fn check(repository: &Repository, corpus: &Path, program: &Path) -> Result<(RepositoryResult, Usage)> {
    match repository.presence(corpus) {
        Presence::Fetched => {}
        Presence::Absent => bail!("not in the corpus: run `cargo xtask field fetch`"),
        Presence::Other(commit) => bail!("the corpus has {commit}, the list names {}", repository.commit),
    }
    let run = program::check(program, &repository.path(corpus))?;
    Ok((report::read(&run.report, repository, corpus)?, run.usage))
}

fn create(file: &Path) -> Result<BufWriter<File>> {
    let file: PathBuf = file.to_owned();
    Ok(BufWriter::new(File::create(&file).with_context(|| format!("create {}", file.display()))?))
}
