//! Tests with real manifests: nothing is refused, and every label matches the manual one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use plugward_manifest::{
    CommandSources, Dialect, FileMode, MAIN_FILES, Manifest, ManifestWarning, MapFiles, Pinning,
    PluginContext, Source, SurfaceItem, SurfaceKind,
};
use plugward_manifest::{Files as _, find_dialects, read, read_marketplace};

use crate::support::{load, shared};

/// The directories with a main file, and those without one but with an `.mcp.json`.
fn roots(corpus: &Path) -> Vec<PathBuf> {
    let mut roots = BTreeSet::new();
    let mut left = vec![corpus.to_path_buf()];
    while let Some(dir) = left.pop() {
        // The directory that contains a main file is not a plugin itself.
        let hidden = dir.file_name().unwrap().to_str().unwrap().starts_with('.');
        if !hidden && MAIN_FILES.iter().any(|(_, file)| dir.join(file).is_file()) {
            roots.insert(dir.clone());
        }
        for entry in std::fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            }
        }
    }
    roots.into_iter().collect()
}

fn name_of(root: &Path) -> String {
    root.file_name().unwrap().to_str().unwrap().to_owned()
}

/// A plugin that is refused.
#[derive(Debug)]
struct Refused {
    root: PathBuf,
    #[expect(dead_code, reason = "shown where the test fails")]
    dialect: Dialect,
    errors: Vec<String>,
}

/// Whether the programs of a plugin are added to its files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Programs {
    /// The files as in the corpus, which contains only JSON.
    LeftOut,
    /// An empty file is added for each program.
    Added,
}

/// Returns every plugin of the corpus by directory; a refused one is printed and left out.
fn all(corpus: &Path, programs: Programs) -> (Vec<(PathBuf, Manifest)>, Vec<Refused>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for root in roots(corpus) {
        let mut files = load(&root);
        for dialect in corpus_dialects(&root, &files) {
            let name = name_of(&root);
            let at = PluginContext::for_directory(&name);
            if programs == Programs::Added {
                add_programs(dialect, &mut files, &at);
            }
            match read(dialect, &files, &at) {
                Ok(manifest) => good.push((root.clone(), manifest)),
                Err(errors) => {
                    let errors =
                        errors.iter().map(|error| format!("{} {}", error.code(), error.pointer())).collect();
                    bad.push(Refused { root: root.clone(), dialect, errors });
                }
            }
        }
    }
    (good, bad)
}

/// Adds an empty file for each missing file of an item.
fn add_programs(dialect: Dialect, files: &mut MapFiles, at: &PluginContext<'_>) {
    let Ok(manifest) = read(dialect, files, at) else { return };
    for path in manifest.surface().iter().flat_map(SurfaceItem::files) {
        if files.get(path).is_none() {
            files.insert(path, Vec::new(), FileMode::Plain);
        }
    }
}

/// The corpus contains only JSON, so the entry file next to the manifest of one HyperAgent fixture is missing.
fn corpus_dialects(root: &Path, files: &MapFiles) -> Vec<Dialect> {
    if name_of(root) == "broken-plugin" { vec![Dialect::Hyperagent] } else { find_dialects(files) }
}

#[test]
fn every_plugin_of_the_corpus_is_read() {
    let Some(corpus) = shared("corpus") else { return println!("skipped: no corpus beside the workspace") };
    let (good, bad) = all(&corpus, Programs::LeftOut);
    assert_eq!(bad.len(), 1, "{bad:#?}");
    assert_eq!(name_of(&bad[0].root), "broken-plugin");
    assert_eq!(bad[0].errors, ["manifest/missing-key /version", "manifest/missing-key /hostModules"]);
    let mut counts = BTreeMap::new();
    for (_, manifest) in &good {
        *counts.entry(manifest.dialect().as_str()).or_insert(0) += 1;
    }
    let expected =
        [("claude", 176), ("codex", 92), ("cursor", 2), ("gemini", 1), ("hyperagent", 7), ("kimi", 1)];
    assert_eq!(counts, BTreeMap::from(expected));
}

/// Counts hooks by handler and label, and servers by label.
struct Labels<'m> {
    hooks: BTreeMap<(&'m str, &'m str), usize>,
    servers: BTreeMap<&'m str, usize>,
}

fn labels(plugins: &[(PathBuf, Manifest)]) -> Labels<'_> {
    let (mut hooks, mut servers, mut seen) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for (root, manifest) in plugins {
        for item in manifest.surface() {
            // Two dialects of one directory read the same file.
            let place = (root, item.place().file(), item.place().span());
            match item.kind() {
                SurfaceKind::Hook if seen.insert(place) => {
                    let handler = item.fact("handler").unwrap();
                    *hooks.entry((handler, item.coverage().code())).or_insert(0) += 1;
                }
                SurfaceKind::McpServer if seen.insert(place) => {
                    *servers.entry(item.coverage().code()).or_insert(0) += 1;
                }
                _ => {}
            }
        }
    }
    Labels { hooks, servers }
}

#[test]
fn hooks_and_servers_of_the_corpus_have_their_labels() {
    let Some(corpus) = shared("corpus") else { return println!("skipped: no corpus beside the workspace") };
    let (mut good, _) = all(&corpus, Programs::Added);
    // One `.mcp.json` is in a directory without a manifest, which is a plugin because of its entry.
    let (market, _) = read_marketplace(
        "marketplace.json",
        br#"{"name": "m", "owner": "o", "plugins": [{"name": "root", "source": "./"}]}"#,
        CommandSources::Refused,
    )
    .unwrap();
    let root = corpus.join("laurigates+claude-plugins");
    let files = MapFiles::new().with(".mcp.json", std::fs::read(root.join(".mcp.json")).unwrap());
    let at = PluginContext::without_directory().with_entry(&market.entries()[0]);
    good.push((root, read(Dialect::Claude, &files, &at).unwrap()));

    let Labels { hooks, servers } = labels(&good);
    let expected = [
        (("command", "script-interpreter-uncovered"), 81),
        (("command", "covered"), 2),
        (("command", "launcher-version"), 4),
        (("prompt", "covered"), 2),
        (("agent", "covered"), 2),
    ];
    assert_eq!(hooks, BTreeMap::from(expected));
    let expected = [("launcher-floating", 8), ("remote-url", 6), ("path-binary", 1), ("launcher-version", 1)];
    assert_eq!(servers, BTreeMap::from(expected));
    assert!(missing_programs(&good).is_empty(), "{:#?}", missing_programs(&good));
}

/// Returns the messages of `surface/missing-program`, each after its directory, dialect and place.
fn missing_programs(plugins: &[(PathBuf, Manifest)]) -> Vec<String> {
    let line = |root: &Path, manifest: &Manifest, notice: &ManifestWarning| {
        let (dialect, place) = (manifest.dialect().as_str(), notice.place());
        format!("{} {dialect} {place}: {}", root.display(), notice.message())
    };
    plugins
        .iter()
        .flat_map(|(root, manifest)| manifest.warnings().iter().map(move |notice| (root, manifest, notice)))
        .filter(|(.., notice)| notice.code() == "surface/missing-program")
        .map(|(root, manifest, notice)| line(root, manifest, notice))
        .collect()
}

/// The corpus contains no scripts. Each hook that starts one is `unresolved`; every other label is unchanged.
#[test]
fn a_hook_of_the_corpus_without_its_script_is_unresolved() {
    let Some(corpus) = shared("corpus") else { return println!("skipped: no corpus beside the workspace") };
    let (good, _) = all(&corpus, Programs::LeftOut);
    let expected = [
        (("command", "unresolved"), 83),
        (("command", "launcher-version"), 4),
        (("prompt", "covered"), 2),
        (("agent", "covered"), 2),
    ];
    assert_eq!(labels(&good).hooks, BTreeMap::from(expected));
    // 83 hooks, one of them in a file that three dialects read, and the entry files of seven HyperAgent plugins.
    let missing = missing_programs(&good);
    assert_eq!(missing.len(), 92, "{missing:#?}");
    let entries = missing.iter().filter(|line| line.contains(" hyperagent ")).count();
    assert_eq!(entries, 7);
}

#[test]
fn every_marketplace_of_the_corpus_is_read() {
    let Some(corpus) = shared("corpus") else { return println!("skipped: no corpus beside the workspace") };
    let files = load(&corpus);
    let mut names = BTreeMap::new();
    for path in plugward_manifest::Files::under(&files, "").filter(|path| path.ends_with("marketplace.json"))
    {
        let bytes = plugward_manifest::Files::get(&files, path).unwrap().bytes;
        let (market, _) = read_marketplace(path, bytes, CommandSources::Refused).unwrap();
        assert!(market.refused().is_empty(), "{path}: {:?}", market.refused());
        names.insert(path.to_owned(), market);
    }
    assert_eq!(names.len(), 8);
    let official = &names["anthropics+claude-plugins-official/.claude-plugin/marketplace.json"];
    assert_eq!(official.entries().len(), 286);
    assert_eq!(official.renames().len(), 9);
    let count = |kind: &str| official.entries().iter().filter(|entry| entry.source().kind() == kind).count();
    assert_eq!((count("local"), count("url"), count("git-subdir")), (53, 150, 83));
    let pinned =
        official.entries().iter().filter(|entry| entry.source().pinning() == Pinning::Immutable).count();
    assert_eq!(pinned, 233);
    assert_eq!(official.entries().iter().filter(|entry| !entry.is_strict()).count(), 15);
    assert!(official.entries().iter().all(|entry| !matches!(entry.source(), Source::Unknown { .. })));
}

#[test]
fn local_entries_merge_with_their_directories() {
    let Some(corpus) = shared("corpus") else { return println!("skipped: no corpus beside the workspace") };
    let repository = corpus.join("anthropics+claude-plugins-official");
    let path = ".claude-plugin/marketplace.json";
    let bytes = std::fs::read(repository.join(path)).unwrap();
    let (market, _) = read_marketplace(path, &bytes, CommandSources::Refused).unwrap();
    let mut labels = BTreeMap::new();
    for entry in market.entries() {
        let Source::Local { path } = entry.source() else { continue };
        let directory = repository.join(path);
        let files = if directory.is_dir() { load(&directory) } else { MapFiles::new() };
        let manifest =
            read(Dialect::Claude, &files, &PluginContext::without_directory().with_entry(entry)).unwrap();
        assert_eq!(manifest.name(), entry.name());
        assert_eq!(manifest.entry_text(), Some(entry.canonical()));
        for item in manifest.surface().iter().filter(|item| item.kind() == SurfaceKind::LspServer) {
            *labels.entry(item.coverage().code()).or_insert(0) += 1;
        }
    }
    // Twelve entries declare a language server, each a program in PATH.
    assert_eq!(labels.values().sum::<i32>(), labels.get("path-binary").copied().unwrap_or(0));
    assert_eq!(labels.values().sum::<i32>(), 12);
}

#[test]
fn a_rename_to_null_says_that_a_plugin_is_gone() {
    let read = |renames: &str| {
        let text = format!(
            r#"{{"name":"m","owner":{{"name":"o"}},"plugins":[{{"name":"a","source":"./a"}}],"renames":{renames}}}"#
        );
        read_marketplace("marketplace.json", text.as_bytes(), CommandSources::Refused).unwrap()
    };
    let (market, warnings) = read(r#"{"old":null,"older":"a"}"#);
    assert_eq!((market.entries().len(), market.renames().len(), warnings.len()), (1, 1, 0), "{warnings:?}");
    // A broken entry decides nothing, so the other plugins load.
    for broken in [r#"{"old":5,"older":"a"}"#, r#"{"old":"b"}"#, "[]"] {
        let (market, warnings) = read(broken);
        assert_eq!((market.entries().len(), warnings.len()), (1, 1), "{broken} {warnings:?}");
    }
}
