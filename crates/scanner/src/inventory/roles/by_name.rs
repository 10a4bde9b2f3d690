//! The role of a file by its path alone.

use plugward_types::FileRole;

use crate::inventory::names;
use crate::scan::entry::{Entry, FileKind, Lens};

const VENDORED: &[&str] =
    &["node_modules", "vendor", "third_party", "bower_components", "site-packages", ".venv", "venv", "deps"];
const TESTS: &[&str] = plugward_types::words![
    "test tests __tests__ spec specs testdata test-data test_data fixtures __fixtures__ __mocks__ mocks e2e",
    "evals evaluations benchmarks __snapshots__ test-fixtures test_fixtures",
];
const EXAMPLES: &[&str] = &["example", "examples", "sample", "samples", "demo", "demos"];
const DOCUMENTATION: &[&str] = &["docs", "doc", "documentation", "website", ".github"];

/// Returns the role of a file by its path and kind.
pub(super) fn role(entry: &Entry<'_>) -> FileRole {
    let lower = entry.path.to_ascii_lowercase();
    let (directory, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let inside = |list: &[&str]| directory.split('/').any(|part| list.contains(&part));
    if inside(VENDORED) || is_bundle(name) {
        return FileRole::Vendored;
    }
    if inside(TESTS) || is_test(name) {
        return FileRole::Test;
    }
    let kind = names::role(entry.path);
    if inside(EXAMPLES) {
        return FileRole::Example;
    }
    match kind {
        FileKind::Prompt => FileRole::ModelRead,
        // Settings of a host contain commands. Settings in a subdirectory belong to packages inside the plugin.
        FileKind::Manifest if !is_package(name) || directory.is_empty() => FileRole::Executed,
        FileKind::Build if directory.is_empty() => FileRole::Executed,
        FileKind::Doc => FileRole::Documentation,
        _ if inside(DOCUMENTATION) => FileRole::Documentation,
        _ if starts_with_python(name) => FileRole::Executed,
        _ if directory.is_empty() && name == "setup.py" => FileRole::Executed,
        _ if names::lens(entry.path) == Some(Lens::Prose) => FileRole::Documentation,
        _ => FileRole::Other,
    }
}

/// Returns `true` for manifests of packages, whose scripts run when the package is installed.
fn is_package(name: &str) -> bool {
    matches!(name, "package.json" | "package.json5" | "pyproject.toml" | "cargo.toml")
}

/// Returns `true` for modules that Python loads by itself at start.
fn starts_with_python(name: &str) -> bool {
    matches!(name, "sitecustomize.py" | "usercustomize.py")
        || name.rsplit_once('.').is_some_and(|(_, ending)| ending == "pth")
}

fn is_bundle(name: &str) -> bool {
    [".min.js", ".min.mjs", ".min.cjs", ".bundle.js", ".min.css"].iter().any(|end| name.ends_with(end))
}

/// Returns `true` for a file of code whose name marks it as a test.
pub(super) fn is_test(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let code = matches!(names::lens(name), Some(Lens::Js | Lens::Py | Lens::Sh | Lens::Rs));
    code && (stem.starts_with("test_")
        || stem.starts_with("test-")
        || [".test", ".spec", "_test", "-test", "_spec", ".e2e"].iter().any(|end| stem.ends_with(end))
        || stem == "conftest")
}
