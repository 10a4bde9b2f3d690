//! What the fuzz targets do with their bytes. The ordinary tests replay the corpora through the same functions.

use plugward_manifest::json::{ParseLimits, parse};
use plugward_manifest::{CommandContext, CommandSources, Dialect, Files, MapFiles, PluginContext};
use plugward_manifest::{judge_argv, judge_command, read, read_all, read_jp_entry, read_marketplace};

/// Any bytes give a value whose span is in them, or errors whose places are.
pub(crate) fn json(bytes: &[u8]) {
    match parse(bytes, &ParseLimits::standard()) {
        Ok(node) => assert!(node.span().end <= bytes.len()),
        Err(errors) => {
            assert!(errors.iter().count() > 0);
            for error in errors.iter() {
                assert!(error.span().end <= bytes.len());
                assert!(error.position().line >= 1 && error.position().column >= 1);
            }
        }
    }
}

/// One byte for the dialect, then a line for each file: the path, a tab, and the text with `\x1e` for line ends.
pub(crate) fn files_of(bytes: &[u8]) -> (Dialect, MapFiles) {
    let (first, rest) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let dialects: Vec<Dialect> =
        Dialect::ALL.into_iter().filter(|dialect| dialect.main_file().is_some()).collect();
    let dialect = dialects[usize::from(first) % dialects.len()];
    let mut files = MapFiles::new();
    for line in rest.split(|byte| *byte == b'\n') {
        let at = line.iter().position(|byte| *byte == b'\t');
        let (path, text) = at.map_or((&b""[..], line), |at| (&line[..at], &line[at + 1..]));
        let path = match core::str::from_utf8(path) {
            Ok("") | Err(_) => dialect.main_file().unwrap_or_default().to_owned(),
            Ok(path) => path.to_owned(),
        };
        let text: Vec<u8> = text.iter().map(|byte| if *byte == 0x1E { b'\n' } else { *byte }).collect();
        files = files.with(&path, text);
    }
    (dialect, files)
}

/// Any files give a manifest that keeps its promises, or coded errors; twice the same.
pub(crate) fn read_files(bytes: &[u8]) {
    let (dialect, files) = files_of(bytes);
    let at = PluginContext::for_directory("a").with_excluded(&[".git"]);
    let one = read(dialect, &files, &at);
    assert_eq!(one, read(dialect, &files, &at));
    match one {
        Ok(manifest) => {
            assert!(manifest.id("s").is_ok());
            assert!(manifest.surface_text().starts_with("surface-v1\n"));
            for item in manifest.surface() {
                for path in item.files() {
                    assert!(path.split('/').all(|part| part != ".."), "{path}");
                    assert!(!path.starts_with('/') && !path.starts_with(".git/"), "{path}");
                }
            }
        }
        Err(errors) => assert!(errors.iter().count() > 0),
    }
    let found = read_all(&files, &at);
    // A skill and a package of OpenClaw have no main file of their own.
    let has_main = |dialect: Dialect| dialect.main_files().any(|file| files.get(file).is_some());
    let is_other = |dialect: Dialect| matches!(dialect, Dialect::Skill | Dialect::Openclaw);
    assert!(found.iter().all(|found| is_other(found.dialect) || has_main(found.dialect)));
}

/// Any bytes give a marketplace or coded errors; its entries can be read with.
pub(crate) fn market(bytes: &[u8]) {
    let _unused = read_jp_entry("a", bytes).is_ok();
    let Ok((market, _)) = read_marketplace("marketplace.json", bytes, CommandSources::Allowed) else {
        return;
    };
    let files = MapFiles::new();
    for entry in market.entries().iter().take(8) {
        match read(Dialect::Claude, &files, &PluginContext::without_directory().with_entry(entry)) {
            Ok(manifest) => assert_eq!(manifest.name(), entry.name()),
            Err(errors) => assert!(errors.iter().all(|error| !error.message().is_empty())),
        }
    }
}

/// Any text gives a label that is never better than that of its parts.
pub(crate) fn command(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for dialect in Dialect::ALL {
        let context = CommandContext::new(dialect);
        let words: Vec<&str> = text.split(' ').collect();
        for view in [judge_command(&text, &context), judge_argv(&words, &context)] {
            assert!(view.parts().iter().all(|part| !part.coverage().is_worse_than(view.coverage())));
        }
    }
}
