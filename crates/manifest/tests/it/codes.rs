//! Tests that every code has a planted directory with exactly this code, and a near miss without any.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plugward_manifest::{
    CODES, CommandSources, Dialect, FileMode, ManifestErrors, ManifestWarning, MapFiles, PluginContext,
};
use plugward_manifest::{Files as _, read, read_all, read_jp_entry, read_marketplace};

use crate::support::load;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The contents of a `case` file: one keyword per line, with its values.
#[derive(Default)]
struct Case {
    how: String,
    directory: Option<String>,
    host: Option<String>,
    excluded: Vec<String>,
    entry: Option<String>,
    files: MapFiles,
}

fn case(directory: &Path) -> Case {
    let mut case = Case::default();
    if directory.join("tree").is_dir() {
        case.files = load(&directory.join("tree"));
    }
    for line in std::fs::read_to_string(directory.join("case")).unwrap().lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "dialect" => rest.clone_into(&mut case.how),
            "market" | "jp" | "all" => word.clone_into(&mut case.how),
            "folder" => case.directory = Some(rest.to_owned()),
            "host-version" => case.host = Some(rest.to_owned()),
            "excluded" => case.excluded.push(rest.to_owned()),
            "entry" => case.entry = Some(rest.to_owned()),
            // A file that repeats one text; storing it in the repository would waste space.
            "fill" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let unit = words[3].replace("\\n", "\n").repeat(words[2].parse().unwrap());
                let text = format!("{}{unit}{}", words[1], words.get(4).copied().unwrap_or_default());
                case.files.insert(words[0], text.into_bytes(), FileMode::Plain);
            }
            "many" => {
                let paths = vec!["\"/x\""; 101].join(",");
                let text = format!("{{\"name\":\"a\",\"version\":\"1.0.0\",\"skills\":[{paths}]}}");
                case.files.insert(".claude-plugin/plugin.json", text.into_bytes(), FileMode::Plain);
            }
            other => panic!("{}: no such word: {other}", directory.display()),
        }
    }
    case
}

fn of_errors(errors: &ManifestErrors, codes: &mut Vec<(String, String)>) {
    codes.extend(errors.iter().map(|error| (error.code().to_owned(), error.help().to_owned())));
}

fn of_notices(notices: &[ManifestWarning], codes: &mut Vec<(String, String)>) {
    codes.extend(notices.iter().map(|notice| (notice.code().to_owned(), notice.help().to_owned())));
}

/// Returns every code of a case, with its help.
fn codes(case: &Case) -> Vec<(String, String)> {
    let mut codes = Vec::new();
    let bytes = |name: &str| case.files.get(name).unwrap().bytes.to_vec();
    let excluded: Vec<&str> = case.excluded.iter().map(String::as_str).collect();
    let market = case.entry.as_ref().map(|entry| {
        let text = format!(r#"{{"name":"m","owner":"o","plugins":[{entry}]}}"#);
        read_marketplace("marketplace.json", text.as_bytes(), CommandSources::Refused).unwrap().0
    });
    let mut at = case
        .directory
        .as_deref()
        .map_or_else(PluginContext::without_directory, PluginContext::for_directory)
        .with_excluded(&excluded);
    if let Some(host) = &case.host {
        at = at.with_host_version(host);
    }
    if let Some(market) = &market {
        at = at.with_entry(&market.entries()[0]);
    }
    let mut take = |result: Result<plugward_manifest::Manifest, ManifestErrors>| match result {
        Ok(manifest) => of_notices(manifest.warnings(), &mut codes),
        Err(errors) => of_errors(&errors, &mut codes),
    };
    match case.how.as_str() {
        "all" => read_all(&case.files, &at).into_iter().for_each(|found| take(found.manifest)),
        "jp" => take(read_jp_entry("a", &bytes("entry.json"))),
        "market" => {
            match read_marketplace("marketplace.json", &bytes("marketplace.json"), CommandSources::Refused) {
                Ok((market, notices)) => {
                    of_notices(&notices, &mut codes);
                    market.refused().iter().for_each(|refused| of_errors(refused.errors(), &mut codes));
                }
                Err(errors) => of_errors(&errors, &mut codes),
            }
        }
        dialect => take(read(Dialect::from_name(dialect).unwrap(), &case.files, &at)),
    }
    codes
}

#[test]
fn planted_directories_have_exactly_their_code() {
    let mut seen = BTreeSet::new();
    for (code, _) in CODES {
        let directory = fixtures().join(format!("planted-{}", code.replace('/', "-")));
        let found = codes(&case(&directory));
        let names: BTreeSet<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
        // The errors after the first hundred are counted next to the listed ones.
        let expected =
            if *code == "manifest/more-errors" { vec!["manifest/path-absolute", code] } else { vec![*code] };
        let expected: BTreeSet<&str> = expected.into_iter().collect();
        assert_eq!(names, expected, "{}", directory.display());
        for (_, help) in found {
            assert!(!help.is_empty(), "{code}");
        }
        seen.insert(directory);
    }
    check_directories("planted-", &seen);
}

#[test]
fn near_misses_show_nothing() {
    let mut seen = BTreeSet::new();
    for (code, _) in CODES {
        let directory = fixtures().join(format!("near-miss-{}", code.replace('/', "-")));
        assert_eq!(codes(&case(&directory)), [], "{}", directory.display());
        seen.insert(directory);
    }
    check_directories("near-miss-", &seen);
}

/// Every directory belongs to a code.
fn check_directories(prefix: &str, seen: &BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(fixtures()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        assert!(!name.starts_with(prefix) || seen.contains(&entry.path()), "{name} belongs to no code");
    }
}

#[test]
fn codes_are_sorted_by_area_and_have_one_line_of_help() {
    let names: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
    let unique: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(unique.len(), names.len());
    for (code, help) in CODES {
        let (area, _) = code.split_once('/').unwrap();
        assert!(matches!(area, "manifest" | "market" | "mcp" | "skill" | "surface"), "{code}");
        assert!(!help.is_empty() && !help.contains('\n') && !help.ends_with('.'), "{code}");
    }
}
