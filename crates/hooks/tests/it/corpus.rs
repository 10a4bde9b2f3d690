//! Hooks files of published plugins.

use std::path::{Path, PathBuf};

use plugward_hooks::{EventClass, Plan, RawOutput, Scope};
use plugward_manifest::{Dialect, SurfaceItem};

use crate::common::notes;

/// The corpus next to the workspace; absent on most machines.
fn corpus() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = ["../../../shared/corpus", "../../../../shared/corpus"];
    let found = places.iter().map(|place| own.join(place)).find(|place| place.is_dir());
    if found.is_none() {
        println!("skipped: no corpus next to the workspace");
    }
    found
}

/// Every hooks file and settings file of the corpus, by path.
fn files(corpus: &Path) -> Vec<(String, Vec<u8>)> {
    let (mut left, mut files) = (vec![corpus.to_path_buf()], Vec::new());
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|end| end == "json")
                && (name.contains("hooks") || name.contains("settings"))
            {
                let bytes = std::fs::read(&path).unwrap();
                files.push((path.strip_prefix(corpus).unwrap().to_str().unwrap().to_owned(), bytes));
            }
        }
    }
    files.sort();
    files
}

/// Hooks of all files as plugins, in the given order.
fn plan<'a>(files: impl Iterator<Item = &'a (String, Vec<SurfaceItem>)>) -> Plan {
    let mut builder = Plan::builder(RawOutput::ManagedAndUser);
    for (id, items) in files {
        builder.plugin(id, items.iter().map(|item| (Dialect::Claude, item)));
    }
    builder.build()
}

#[test]
fn adr004_prompt_hooks_after_use_in_the_corpus() {
    let Some(corpus) = corpus() else { return };
    let (mut hooks, mut prompts) = (0, Vec::new());
    for (path, bytes) in files(&corpus) {
        let mut builder = Plan::builder(RawOutput::ManagedAndUser);
        builder.file(Scope::User, Dialect::Claude, &path, &bytes);
        for hook in builder.build().hooks() {
            hooks += 1;
            let asks_model = matches!(hook.handler(), "prompt" | "agent");
            if asks_model && hook.event().class() == EventClass::Content {
                prompts.push(format!("{path} {}", hook.id()));
            }
        }
    }
    println!("{hooks} hooks, {} of them ask a model about output", prompts.len());
    assert!(hooks >= 40, "{hooks}");
    assert!(prompts.is_empty(), "ADR-004 is to be reopened if this is common: {prompts:?}");
}

#[test]
fn every_file_of_the_corpus_gives_a_plan_the_same_in_every_order() {
    let Some(corpus) = corpus() else { return };
    let files = files(&corpus);
    assert!(files.len() >= 16, "{}", files.len());
    for (path, bytes) in &files {
        for dialect in [Dialect::Claude, Dialect::Codex, Dialect::Gnoma] {
            let mut builder = Plan::builder(RawOutput::ManagedAndUser);
            builder.file(Scope::Project, dialect, path, bytes);
            let plan = builder.build();
            let gates_are_whole = plan.refused().is_empty() || plan.hooks().is_empty();
            assert!(gates_are_whole, "{path}: {:?}", plan.refused());
        }
    }
    let items: Vec<(String, Vec<SurfaceItem>)> = files
        .iter()
        .filter_map(|(path, bytes)| {
            let file = plugward_manifest::read_hooks_file(Dialect::Claude, bytes).ok()?;
            Some((path.clone(), file.into_items()))
        })
        .collect();
    let text = |plan: &Plan| {
        let ids: Vec<String> =
            plan.hooks().iter().map(|hook| format!("{} {}", hook.event(), hook.id())).collect();
        format!("{ids:#?}{:#?}{:#?}", notes(plan), plan.refused())
    };
    let forward = text(&plan(items.iter()));
    assert_eq!(forward, text(&plan(items.iter().rev())));
    for start in 1..items.len() {
        let rotated = items.iter().cycle().skip(start).take(items.len());
        assert_eq!(forward, text(&plan(rotated)), "from {start}");
    }
}
