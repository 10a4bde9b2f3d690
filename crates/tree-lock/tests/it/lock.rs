//! PLUGINS.lock: written, read back, refused with its place, compared with plugins.

use std::collections::{BTreeMap, BTreeSet};

use plugward_tree_lock::{
    LOCK_BYTES, LOCK_ENTRIES, LockCheck, LockDifference, LockEntry, LockFacts, LockFile, LockOutcome,
    LockRule, LockSource,
};
use plugward_types::{Digest, TreeDigest};

use LockOutcome::{CountsAsPin, GoOn, NeedsPin, Refuse};

use crate::tree::excludes;

fn tree(byte: u8) -> TreeDigest {
    TreeDigest::from_bytes([byte; 32])
}

fn manifests(pairs: &[(&str, u8)]) -> BTreeMap<String, Digest> {
    pairs.iter().map(|(dialect, byte)| ((*dialect).to_owned(), Digest::from_bytes([*byte; 32]))).collect()
}

fn texts(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn full() -> LockEntry {
    LockEntry {
        dialects: texts(&["codex", "claude"]),
        source: Some(LockSource {
            kind: "git".into(),
            url: Some("https://example.org/p.git".into()),
            rev: Some("30287f5e3f122a646d1ac5ca3ab96e130c52a3ad".into()),
            path: Some("plugins/hookify".into()),
        }),
        version: Some("1.2.0 \"quoted\" \\ \u{e9}\u{2028}".into()),
        manifest: manifests(&[("codex", 9), ("claude", 1), ("a.b", 0)]),
        entry: Some(Digest::from_bytes([8; 32])),
        tree: BTreeSet::from([tree(3), tree(2)]),
        exclude: excludes(&[".git"]),
        executable: texts(&["hooks/run.sh", "a b"]),
        shared: BTreeMap::from([("../shared".into(), tree(4)), ("../b".into(), tree(5))]),
        surface: Some(format!("sf1:{}", "6".repeat(64)).parse().unwrap()),
        launchers: texts(&["npx:@playwright/mcp@latest"]),
        ..LockEntry::new(tree(2))
    }
}

fn two() -> LockFile {
    let mut file = LockFile::new();
    file.insert("small", LockEntry::new(tree(7))).unwrap();
    file.insert("plugins/hookify", full()).unwrap();
    file
}

#[test]
fn the_text_is_canonical_and_reads_back() {
    let text = two().render();
    let hex = |digit: &str| digit.repeat(32);
    let expected = format!(
        r#"# Written by `plugward lock`. An integrity check, not a signature: review every change to this file.
version = 2
[plugin."plugins/hookify"]
dialects = ["claude", "codex"]
source = {{ kind = "git", url = "https://example.org/p.git", rev = "30287f5e3f122a646d1ac5ca3ab96e130c52a3ad", path = "plugins/hookify" }}
version = "1.2.0 \"quoted\" \\ é\U00002028"
manifest = {{ "a.b" = "sha256:{}", claude = "sha256:{}", codex = "sha256:{}" }}
entry = "sha256:{}"
tree = [
  "pt1:{}",
  "pt1:{}",
]
exclude = [".git"]
executable = [
  "a b",
  "hooks/run.sh",
]
shared = {{ "../b" = "pt1:{}", "../shared" = "pt1:{}" }}
surface = "sf1:{}"
launchers = ["npx:@playwright/mcp@latest"]
[plugin."small"]
tree = ["pt1:{}"]
"#,
        hex("00"),
        hex("01"),
        hex("09"),
        hex("08"),
        hex("02"),
        hex("03"),
        hex("05"),
        hex("04"),
        "6".repeat(64),
        hex("07"),
    );
    assert_eq!(text, expected);
    let read = LockFile::parse(text.as_bytes()).unwrap();
    assert_eq!(read, two());
    assert_eq!(read.render(), text);
    assert_eq!(read.version(), 2);
    assert_eq!(LockFile::parse(b"version = 2\n").unwrap().entries().len(), 0);
    assert_eq!((LockFile::new().version(), LockFile::default().version()), (2, 2));
}

/// An entry with the keys that only version 3 has.
fn wide() -> LockEntry {
    LockEntry {
        closure: Some(tree(8)),
        unresolved: BTreeSet::from([Digest::from_bytes([10; 32]), Digest::from_bytes([9; 32])]),
        files: manifests(&[("hooks/run.sh", 1), ("a \"b\"", 2)]),
        ..LockEntry::new(tree(7))
    }
}

#[test]
fn keys_of_version_3_are_written_only_if_an_entry_has_them() {
    let mut file = two();
    assert!(file.render().contains("\nversion = 2\n"));
    file.insert("wide", wide()).unwrap();
    let (text, hex) = (file.render(), |digit: &str| digit.repeat(32));
    assert!(text.contains("\nversion = 3\n"), "{text}");
    let expected = format!(
        r#"[plugin."wide"]
tree = ["pt1:{}"]
closure = "pt1:{}"
unresolved = [
  "sha256:{}",
  "sha256:{}",
]
[plugin."wide".files]
"a \"b\"" = "sha256:{}"
"hooks/run.sh" = "sha256:{}"
"#,
        hex("07"),
        hex("08"),
        hex("09"),
        hex("0a"),
        hex("02"),
        hex("01"),
    );
    assert!(text.ends_with(&expected), "{text}");
    let read = LockFile::parse(text.as_bytes()).unwrap();
    assert_eq!((&read, read.version(), read.render()), (&file, 3, text.clone()));
    // Each key alone is enough, and an older version does not have it.
    for one in [
        LockEntry { closure: wide().closure, ..LockEntry::new(tree(7)) },
        LockEntry { unresolved: wide().unresolved, ..LockEntry::new(tree(7)) },
        LockEntry { files: wide().files, ..LockEntry::new(tree(7)) },
    ] {
        let mut file = LockFile::new();
        file.insert("p", one).unwrap();
        let text = file.render();
        assert_eq!(LockFile::parse(text.as_bytes()).unwrap(), file);
        let error = LockFile::parse(text.replace("version = 3", "version = 2").as_bytes()).unwrap_err();
        assert!(error.expected().starts_with("only the keys"), "{error}");
    }
    let outside = LockEntry { files: manifests(&[("../x", 1)]), ..LockEntry::new(tree(7)) };
    assert!(file.insert("p", outside).unwrap_err().expected().starts_with("`files`"));
}

#[test]
fn files_outside_are_compared_and_unresolved_commands_must_be_listed() {
    let mut file = LockFile::new();
    file.insert("wide", wide()).unwrap();
    file.insert("plain", LockEntry::new(tree(7))).unwrap();
    let (none, seven, listed) = (BTreeMap::new(), tree(7), wide().unresolved);
    let shared = BTreeMap::new();
    let check = |path, closure: Option<u8>, unresolved: &BTreeSet<Digest>| {
        let closure = closure.map(tree);
        file.check(&LockFacts {
            path,
            tree: &seven,
            manifest: &none,
            entry: None,
            shared: &shared,
            closure: closure.as_ref(),
            unresolved,
        })
    };
    assert_eq!(check("wide", Some(8), &listed), LockCheck::Match);
    // Fewer commands than the listed ones are unresolved, for example to a newer version.
    assert_eq!(check("wide", Some(8), &BTreeSet::new()), LockCheck::Match);
    assert_eq!(check("plain", None, &BTreeSet::new()), LockCheck::Match);
    for (path, actual) in [("wide", Some(9)), ("wide", None), ("plain", Some(8))] {
        let expected = (path == "wide").then(|| tree(8));
        let difference = LockDifference::Closure { expected, actual: actual.map(tree) };
        assert_eq!(check(path, actual, &listed), LockCheck::Mismatch(difference));
    }
    let more: BTreeSet<Digest> = [Digest::from_bytes([9; 32]), Digest::from_bytes([11; 32])].into();
    let unlisted = BTreeSet::from([Digest::from_bytes([11; 32])]);
    let found = check("wide", Some(8), &more);
    assert_eq!(found, LockCheck::Mismatch(LockDifference::Unresolved { unlisted }));
    assert!(found.to_string().contains("does not determine what runs, found sha256:0b"), "{found}");
    assert_eq!(found.outcome(LockRule::Anchors), Refuse("lock/mismatch"));
    // Each is the last difference that is named.
    assert!(matches!(check("plain", Some(8), &more), LockCheck::Mismatch(LockDifference::Closure { .. })));
}

/// The lockfile's own directory may exclude the lockfile, and no other directory may.
#[test]
fn the_lockfile_can_be_next_to_the_manifest() {
    let own = || LockEntry { exclude: excludes(&["PLUGINS.lock"]), ..LockEntry::new(tree(1)) };
    let mut file = LockFile::new();
    file.insert(".", own()).unwrap();
    assert_eq!(LockFile::parse(file.render().as_bytes()).unwrap(), file);
    assert!(file.render().contains("[plugin.\".\"]"));
    let error = file.insert("p", own()).unwrap_err();
    assert!(error.expected().starts_with("`exclude`: `PLUGINS.lock` only"), "{error}");
}

/// Other order, blanks, comments, CRLF, other quoting: the same file.
#[test]
fn any_toml_of_the_same_meaning_is_the_same_lock() {
    let text = format!(
        "\r\nplugin.'small'.tree = [ # here\r\n 'pt1:{0}' ,]\r\nplugin.\"small\".dialects = [\"\"\"b\"\"\", 'a']\r\nplugin.small.manifest.b='sha256:{0}'\nversion=2",
        "07".repeat(32)
    );
    let read = LockFile::parse(text.as_bytes()).unwrap();
    assert_eq!(read.render(), {
        let mut file = LockFile::new();
        let entry = LockEntry {
            dialects: texts(&["a", "b"]),
            manifest: manifests(&[("b", 7)]),
            ..LockEntry::new(tree(7))
        };
        file.insert("small", entry).unwrap();
        file.render()
    });
}

/// A file of version 1, as older releases wrote it.
#[test]
fn version_1_is_read_by_path_and_written_as_version_2() {
    let hex = |digit: &str| digit.repeat(32);
    let old = format!(
        r#"# PLUGINS.lock: integrity check, written by `plugward lock`. Not a signature: review changes to it.
version = 1
[plugin."claude:hookify@plugins"]
path = "plugins/hookify"
version = "1.2.0"
manifest = "sha256:{}"
entry = "sha256:{}"
tree = ["pt1:{}"]
shared = {{ "../b" = "pt1:{}" }}
launchers = ["npx:a"]
[plugin."claude:root@here"]
path = "."
manifest = "sha256:{}"
tree = ["pt1:{}"]
exclude = ["PLUGINS.lock"]
[plugin."codex:other-name@elsewhere"]
path = "plugins/hookify"
version = "1.2.0"
manifest = "sha256:{}"
entry = "sha256:{}"
tree = ["pt1:{}"]
executable = ["run.sh"]
shared = {{ "../b" = "pt1:{}" }}
surface = "sf1:{}"
launchers = ["uvx:b"]
"#,
        hex("01"),
        hex("08"),
        hex("02"),
        hex("05"),
        hex("03"),
        hex("07"),
        hex("09"),
        hex("08"),
        hex("02"),
        hex("05"),
        "6".repeat(64),
    );
    let read = LockFile::parse(old.as_bytes()).unwrap();
    assert_eq!(read.version(), 1);
    let mut expected = LockFile::new();
    let hookify = LockEntry {
        dialects: texts(&["claude", "codex"]),
        version: Some("1.2.0".into()),
        manifest: manifests(&[("claude", 1), ("codex", 9)]),
        entry: Some(Digest::from_bytes([8; 32])),
        executable: texts(&["run.sh"]),
        shared: BTreeMap::from([("../b".into(), tree(5))]),
        launchers: texts(&["npx:a", "uvx:b"]),
        ..LockEntry::new(tree(2))
    };
    let root = LockEntry {
        dialects: texts(&["claude"]),
        manifest: manifests(&[("claude", 3)]),
        exclude: excludes(&["PLUGINS.lock"]),
        ..LockEntry::new(tree(7))
    };
    expected.insert("plugins/hookify", hookify).unwrap();
    expected.insert(".", root).unwrap();
    assert_eq!(read, expected);
    assert_eq!(read.render(), expected.render());
    assert_eq!(LockFile::parse(read.render().as_bytes()).unwrap().version(), 2);
    // The other way round the formats do not mix.
    assert!(LockFile::parse(old.replace("version = 1\n", "version = 2\n").as_bytes()).is_err());
    assert!(LockFile::parse(read.render().replace("version = 2\n", "version = 1\n").as_bytes()).is_err());
}

/// Two entries of version 1 with one path: equal where it matters, united or dropped where it does not.
#[test]
fn entries_of_version_1_with_one_path_are_merged_or_refused() {
    let digest = |byte: &str| byte.repeat(32);
    let (one, two) = (digest("01"), digest("02"));
    let lock = |first: &str, second: &str| {
        let tree = |lines: &str| {
            if lines.contains("tree") { String::new() } else { format!("tree = [\"pt1:{one}\"]\n") }
        };
        format!(
            "version = 1\n[plugin.\"b:x@c\"]\npath = \"p\"\n{}{first}\n[plugin.\"a:x@c\"]\npath = \"p\"\n{}{second}\n",
            tree(first),
            tree(second)
        )
    };
    for (first, second, key) in [
        (String::new(), format!("tree = [\"pt1:{two}\"]"), "tree"),
        (String::new(), format!("tree = [\"pt1:{one}\", \"pt1:{two}\"]"), "tree"),
        ("exclude = [\".git\"]".to_owned(), String::new(), "exclude"),
        (String::new(), format!("shared = {{ \"../s\" = \"pt1:{one}\" }}"), "shared"),
        (format!("entry = \"sha256:{one}\""), format!("entry = \"sha256:{two}\""), "entry"),
        (format!("entry = \"sha256:{one}\""), String::new(), "entry"),
    ] {
        let text = lock(&first, &second);
        // The later entry in the file has the error, although its id comes first in the order of names.
        let line =
            text.lines().enumerate().filter(|(_, line)| line.starts_with("path")).last().unwrap().0 + 1;
        assert_eq!(
            fault(&text),
            format!("{line}:8 a:x@c the same `{key}` as in `b:x@c`, which has the same path")
        );
    }
    let read = |first: &str, second: &str| {
        LockFile::parse(lock(first, second).as_bytes()).unwrap().get("p").unwrap().clone()
    };
    let surface = |digit: &str| format!("surface = \"sf1:{}\"", digit.repeat(64));
    assert!(read(&surface("1"), &surface("1")).surface.is_some());
    assert_eq!(read(&surface("1"), &surface("2")).surface, None);
    assert_eq!(read(&surface("1"), "").surface, None);
    assert_eq!(read("version = \"1\"", "version = \"1\"").version.as_deref(), Some("1"));
    assert_eq!(read("version = \"1\"", "version = \"2\"").version, None);
    assert_eq!(read("source = { kind = \"git\" }", "").source, None);
    let lists = read("executable = [\"x\"]", "executable = [\"y\"]\nlaunchers = [\"npx:x\"]");
    assert_eq!((lists.executable, lists.launchers), (texts(&["x", "y"]), texts(&["npx:x"])));
    assert_eq!(lists.dialects, texts(&["a", "b"]));
    // Two ids of one dialect: the directory has one manifest of that dialect.
    let twins = |second: &str| {
        lock(&format!("manifest = \"sha256:{one}\""), &format!("manifest = \"sha256:{second}\""))
            .replace("\"a:x@c\"", "\"b:y@c\"")
    };
    let entry = LockFile::parse(twins(&one).as_bytes()).unwrap();
    assert_eq!(entry.get("p").unwrap().manifest, manifests(&[("b", 1)]));
    assert!(
        fault(&twins(&two)).ends_with("b:y@c the same `manifest` as in `b:x@c`, which has the same path")
    );
}

fn fault(text: &str) -> String {
    match LockFile::parse(text.as_bytes()) {
        Ok(file) => panic!("read: {}", file.render()),
        Err(error) => {
            assert_eq!(error.code(), "lock/malformed");
            assert!(!error.help().is_empty() && !error.to_string().contains('\n'), "{error}");
            let place = error.line().map(|line| format!("{line}:{} ", error.column().unwrap()));
            format!("{}{} {}", place.unwrap_or_default(), error.plugin(), error.expected())
        }
    }
}

/// Replaces the line of a small file that starts with `line`, or adds one.
fn base(head: [&str; 3], line: &str, with: &str) -> String {
    let pt = format!("tree = [\"pt1:{}\"]", "07".repeat(32));
    let mut lines = [head.as_slice(), &[&pt]].concat();
    match lines.iter_mut().find(|have| !line.is_empty() && have.starts_with(line)) {
        Some(have) => *have = with,
        None => lines.push(with),
    }
    lines.join("\n")
}

const ONE: [&str; 3] = ["version = 1", "[plugin.\"a:b@c\"]", "path = \"b\""];
const TWO: [&str; 3] = ["version = 2", "[plugin.\"b\"]", "dialects = [\"a\"]"];

/// The faults that only a file of one version can have.
#[test]
fn faults_of_each_version_have_their_place() {
    for (head, line, with, expected) in [
        (ONE, "[plugin", "[plugin.\"a:b\"]", "2:9 <lockfile> `[plugin.\"dialect:name@source\"]`"),
        (ONE, "[plugin", "[plugin.\"a:../b@c\"]", "2:9 <lockfile> `[plugin.\"dialect:name@source\"]`"),
        (ONE, "", "[plugin.\"a:b@c\"]", "5:9 <lockfile> TOML: duplicate key"),
        (ONE, "path", "path = 1", "3:8 a:b@c a string"),
        (ONE, "path", "pat = \"b\"", "3:1 a:b@c only the keys path, source"),
        (ONE, "path", "# none", "2:1 a:b@c a key `path`"),
        (ONE, "path", "path = \"\"", "3:8 a:b@c `path`: a path below"),
        (ONE, "path", "path = \"/b\"", "3:8 a:b@c `path`: a path below"),
        (ONE, "path", "path = \"../b\"", "3:8 a:b@c `path`: a path below"),
        (ONE, "path", "path = \"a\\\\b\"", "3:8 a:b@c `path`: a path below"),
        (ONE, "", "dialects = [\"a\"]", "5:1 a:b@c only the keys path, source"),
        (ONE, "", "manifest = \"sha256:x\"", "5:12 a:b@c a sha256 digest"),
        (ONE, "", "manifest = { a = \"sha256:x\" }", "5:12 a:b@c a string"),
        (TWO, "[plugin", "[plugin.\"\"]", "2:9 <lockfile> `path`: a path below"),
        (TWO, "[plugin", "[plugin.\"/b\"]", "2:9 <lockfile> `path`: a path below"),
        (TWO, "[plugin", "[plugin.\"../b\"]", "2:9 <lockfile> `path`: a path below"),
        (TWO, "[plugin", "[plugin.\"b/\"]", "2:9 <lockfile> `path`: a path below"),
        (TWO, "[plugin", "[plugin.\"./b\"]", "2:9 <lockfile> `path`: a path below"),
        (TWO, "[plugin", "[plugin.\"C:/b\"]", "2:9 <lockfile> `path`: a path below"),
        (TWO, "[plugin", "[plugin.\"a\\\\b\"]", "2:9 <lockfile> `path`: a path below"),
        (TWO, "[plugin", "[plugin.\"a\\u0007\"]", "2:9 <lockfile> `path`: a path below"),
        (TWO, "", "[plugin.'b']", "5:9 <lockfile> TOML: duplicate key"),
        (TWO, "", "path = \"b\"", "5:1 b only the keys dialects, source"),
        (TWO, "dialects", "dialects = \"a\"", "3:12 b a list of strings"),
        (TWO, "dialects", "dialects = [\"a b\"]", "3:12 b `dialects`: dialect names"),
        (TWO, "dialects", "dialects = [\"a\", \"a\"]", "3:18 b each element once"),
        (TWO, "", "manifest = \"sha256:x\"", "5:12 b a table"),
        (TWO, "", "manifest = { a = \"sha256:x\" }", "5:18 b a sha256 digest"),
        (
            TWO,
            "",
            &format!("manifest = {{ \"\" = \"sha256:{}\" }}", "0".repeat(64)),
            "5:12 b `manifest`: dialect names",
        ),
    ] {
        let found = fault(&base(head, line, with));
        assert!(found.starts_with(expected), "{with}\nfound    {found}\nexpected {expected}");
    }
    for near in ["dialects = []", "# no dialects"] {
        assert_eq!(LockFile::parse(base(TWO, "dialects", near).as_bytes()).unwrap().entries().len(), 1);
    }
}

#[test]
fn a_later_version_is_told_apart() {
    for (version, is_newer) in
        [("4", true), ("99", true), ("0", false), ("-1", false), ("\"3\"", false), ("0x3", false)]
    {
        let error = LockFile::parse(format!("version = {version}\nnew = 1\n").as_bytes()).unwrap_err();
        assert_eq!(
            (error.is_newer(), error.line(), error.column()),
            (is_newer, Some(1), Some(11)),
            "{version}"
        );
    }
}

/// One line of an entry is replaced, or added, and the fault has to name the place, in both versions.
#[test]
fn every_fault_has_its_place() {
    let digest = "0".repeat(64);
    let mut wrong = Vec::new();
    for (line, with, expected) in [
        ("version", "version = 4", "1:11 <lockfile> version 1, 2 or 3"),
        ("version", "version = \"1\"", "1:11 <lockfile> version 1, 2 or 3"),
        ("version", "version = 0x1", "1:11 <lockfile> version 1, 2 or 3"),
        ("version", "# none", "1:1 <lockfile> a line `version = 2`"),
        ("version", "version = 1\nversion = 1", "2:1 <lockfile> TOML: duplicate key"),
        ("version", "version = 1\nextra = 1", "2:1 <lockfile> only the keys `version` and `plugin`"),
        ("version", "version = 1\n<<<<<<< HEAD", "2:1 <lockfile> no merge conflict marker"),
        ("version", "version = 1\n=======", "2:1 <lockfile> no merge conflict marker"),
        ("[plugin", "[plugin]\nKEY = 1", "3:COLUMN ENTRY a table"),
        ("tree", "# none", "2:1 ENTRY a key `tree`"),
        ("tree", "tree = []", "4:8 ENTRY `tree`: at least one"),
        ("tree", "tree = \"pt1:x\"", "4:8 ENTRY a list of strings"),
        ("tree", "tree = [\"sha256:00\"]", "4:9 ENTRY a tree digest (start it with `pt1:`)"),
        ("tree", "tree = [\"pt1:00\"]", "4:9 ENTRY a tree digest (write 64 hex digits"),
        (
            "tree",
            &format!("tree = [\"pt1:{}\"]", digest.replace('0', "A")),
            "4:9 ENTRY a tree digest (use lower-case",
        ),
        ("tree", &format!("tree = [\"pt1:{digest}\", \"pt1:{digest}\"]"), "4:81 ENTRY each element once"),
        ("", "exclude = [\"node_modules\"]", "5:12 ENTRY one of .git, "),
        ("", "exclude = [\"*\"]", "5:12 ENTRY one of .git, "),
        ("", "exclude = [\"PLUGINS.lock\"]", "5:11 ENTRY `exclude`: `PLUGINS.lock` only"),
        ("", "executable = [\"/x\"]", "5:14 ENTRY `executable`: paths below"),
        ("", "shared = { \"/abs\" = \"pt1:x\" }", "5:21 ENTRY a tree digest"),
        ("", &format!("shared = {{ \"/abs\" = \"pt1:{digest}\" }}"), "5:10 ENTRY `shared`: relative paths"),
        ("", "source = { kind = \"git\", host = \"x\" }", "5:26 ENTRY only the keys kind, url, rev, path"),
        ("", "source = { url = \"x\" }", "5:10 ENTRY a key `kind`"),
        ("", "source = { kind = \"Git!\" }", "5:10 ENTRY `source`: a kind"),
        (
            "",
            "source = { kind = \"git\", url = \"https://u:p@example.org/\" }",
            "5:10 ENTRY `source`: an address without credentials",
        ),
        (
            "",
            "source = { kind = \"git\", url = \"https://token@example.org/\" }",
            "5:10 ENTRY `source`: an address without credentials",
        ),
        (
            "",
            "source = { kind = \"git\", url = \"ssh://u:p@example.org/\" }",
            "5:10 ENTRY `source`: an address without credentials",
        ),
        ("", "source = { kind = \"git\", url = \"/home/x\" }", "5:10 ENTRY `source`: no absolute path"),
        ("", "source = { kind = \"git\", url = \"file:///x\" }", "5:10 ENTRY `source`: no absolute path"),
        (
            "",
            "source = { kind = \"git\", url = \"x\", path = \"../x\" }",
            "5:10 ENTRY `source`: a path below",
        ),
        ("", "version = \"a\\u001bb\"", "5:11 ENTRY `version`: 1 to 4,096"),
        ("", "launchers = [\"\"]", "5:13 ENTRY `launchers`: 1 to 4,096"),
        ("", "surface = \"sf2:\"", "5:11 ENTRY a surface digest"),
        ("", "\u{e9}\u{e9} = 1", "5:1 <lockfile> TOML: "),
        ("", "\"\u{e9}\u{e9}\" = \"\u{e9}\" x", "5:12 <lockfile> TOML: "),
    ] {
        for (head, entry, key) in [(ONE, "a:b@c", "\"a:b@c\""), (TWO, "b", "\"b\"")] {
            let with = with.replace("KEY", key);
            let expected = expected.replace("ENTRY", entry).replace("COLUMN", &(key.len() + 4).to_string());
            let found = fault(&base(head, line, &with));
            if !found.starts_with(&expected) {
                wrong.push(format!("{with}\nfound    {found}\nexpected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for near in [
        "source = { kind = \"git\", url = \"ssh://git@example.org/x\" }",
        "source = { kind = \"git\", url = \"git@example.org:x/y.git\" }",
        "source = { kind = \"git\", url = \"https://example.org/@scope/x\" }",
        "source = { kind = \"local\", path = \".\" }",
        "shared = {}",
        "exclude = []",
        "launchers = [\"npx:x\"]",
    ] {
        for head in [ONE, TWO] {
            assert_eq!(
                LockFile::parse(base(head, "", near).as_bytes()).unwrap().entries().len(),
                1,
                "{near}"
            );
        }
    }
}

#[test]
fn bytes_that_are_no_text_and_too_many_are_refused() {
    let error = LockFile::parse(b"version = 1\n# \xc3\xa9 \xff").unwrap_err();
    assert_eq!(error.to_string(), "the lockfile is malformed at line 2, column 5: expected UTF-8");
    let mut long = b"version = 1\n#".to_vec();
    long.resize(LOCK_BYTES, b'x');
    assert!(LockFile::parse(&long).is_ok());
    long.push(b'x');
    assert_eq!(LockFile::parse(&long).unwrap_err().expected(), format!("at most {LOCK_BYTES} bytes"));
    // Deep and wide nesting ends in an error, not in a stack.
    for deep in [
        "[".repeat(100_000),
        format!("x = {}", "{a=".repeat(100_000)),
        format!("{}x = 1", "a.".repeat(100_000)),
    ] {
        assert!(LockFile::parse(format!("version = 1\n{deep}").as_bytes()).is_err());
    }
}

#[test]
fn ten_thousand_entries_and_no_more() {
    let mut file = LockFile::new();
    for index in 0..LOCK_ENTRIES {
        file.insert(&format!("p{index}"), LockEntry::new(tree(1))).unwrap();
    }
    let text = file.render();
    assert_eq!(LockFile::parse(text.as_bytes()).unwrap().entries().len(), LOCK_ENTRIES);
    file.insert("p0", LockEntry::new(tree(2))).unwrap();
    assert!(file.insert("more", LockEntry::new(tree(1))).is_err());
    assert!(file.remove("p0").is_some() && file.remove("p0").is_none());
    file.insert("more", LockEntry::new(tree(1))).unwrap();
    let more = format!("{text}[plugin.\"more\"]\ntree = [\"pt1:{}\"]\n", "0".repeat(64));
    assert!(fault(&more).ends_with("at most 10000 entries"));
}

#[test]
fn an_entry_that_could_not_be_read_back_is_not_put_in() {
    let mut file = LockFile::new();
    let new = || LockEntry::new(tree(1));
    for (path, entry) in [
        ("../x", new()),
        ("", new()),
        ("x", LockEntry { tree: BTreeSet::new(), ..new() }),
        ("x", LockEntry { launchers: texts(&["a\nb"]), ..new() }),
        ("x", LockEntry { dialects: texts(&["a b"]), ..new() }),
        ("x", LockEntry { manifest: manifests(&[("", 1)]), ..new() }),
    ] {
        let error = file.insert(path, entry).unwrap_err();
        assert_eq!((error.plugin(), error.line()), (path, None));
    }
    assert_eq!(file.entries().len(), 0);
}

fn facts<'a>(
    path: &'a str,
    tree: &'a TreeDigest,
    manifest: &'a BTreeMap<String, Digest>,
    shared: &'a BTreeMap<String, TreeDigest>,
) -> LockFacts<'a> {
    LockFacts {
        path,
        tree,
        manifest,
        entry: None,
        shared,
        closure: None,
        unresolved: const { &BTreeSet::new() },
    }
}

#[test]
fn each_answer_and_what_follows() {
    let file = two();
    let (none, bare) = (BTreeMap::new(), BTreeMap::new());
    let match_ = file.check(&facts("small", &tree(7), &bare, &none));
    assert_eq!(match_, LockCheck::Match);
    // A manifest that the entry does not list is covered by the tree.
    let manifest = manifests(&[("claude", 9)]);
    assert_eq!(file.check(&facts("small", &tree(7), &manifest, &none)), LockCheck::Match);

    let other = tree(8);
    let mismatch = file.check(&facts("small", &other, &bare, &none));
    assert_eq!(
        mismatch,
        LockCheck::Mismatch(LockDifference::Tree { expected: vec![tree(7)], actual: other })
    );
    let unlisted = file.check(&facts("elsewhere", &tree(7), &bare, &none));
    assert_eq!(unlisted, LockCheck::Unlisted);

    let shared = BTreeMap::from([("../shared".to_owned(), tree(4)), ("../b".to_owned(), tree(5))]);
    let all = manifests(&[("codex", 9), ("claude", 1), ("gemini", 3)]);
    let merged = Digest::from_bytes([8; 32]);
    let entry = Some(&merged);
    let hookify = "plugins/hookify";
    for accepted in [tree(2), tree(3)] {
        // Only the dialects that both sides have are compared.
        for manifest in [&all, &bare, &manifests(&[("codex", 9)])] {
            let whole = LockFacts { entry, ..facts(hookify, &accepted, manifest, &shared) };
            assert_eq!(file.check(&whole), LockCheck::Match);
        }
    }
    let second = tree(2);
    let wrong = manifests(&[("claude", 1), ("codex", 2)]);
    let inconsistent = file.check(&LockFacts { entry, ..facts(hookify, &second, &wrong, &shared) });
    let (expected, actual) = (Digest::from_bytes([9; 32]), Digest::from_bytes([2; 32]));
    assert_eq!(inconsistent, LockCheck::Inconsistent { dialect: "codex".into(), expected, actual });
    // With another tree, the tree is the difference.
    let check = file.check(&LockFacts { entry, ..facts(hookify, &tree(9), &wrong, &shared) });
    assert!(matches!(&check, LockCheck::Mismatch(LockDifference::Tree { .. })), "{check}");
    // A marketplace entry is not in the tree. Another entry, one more and one less are each another plugin.
    let (seven, other_entry) = (tree(7), Digest::from_bytes([9; 32]));
    for (path, tree, manifest, shared, entry) in [
        (hookify, &second, &all, &shared, Some(&other_entry)),
        (hookify, &second, &all, &shared, None),
        ("small", &seven, &bare, &none, entry),
    ] {
        let check = file.check(&LockFacts { entry, ..facts(path, tree, manifest, shared) });
        assert!(matches!(&check, LockCheck::Mismatch(LockDifference::Entry { .. })), "{check}");
        assert_eq!(check.code(), Some("lock/mismatch"));
    }
    for (shared, name) in [
        (BTreeMap::new(), "../b"),
        (BTreeMap::from([("../b".to_owned(), tree(5))]), "../shared"),
        (BTreeMap::from([("../shared".to_owned(), tree(9)), ("../b".to_owned(), tree(5))]), "../shared"),
        (
            BTreeMap::from([
                ("../shared".to_owned(), tree(4)),
                ("../b".to_owned(), tree(5)),
                ("../c".to_owned(), tree(6)),
            ]),
            "../c",
        ),
    ] {
        let check = file.check(&LockFacts { entry, ..facts(hookify, &tree(2), &all, &shared) });
        assert!(
            matches!(&check, LockCheck::Mismatch(LockDifference::Shared { name: n, .. }) if n == name),
            "{check}"
        );
    }

    for (check, code, narrows, anchors) in [
        (LockCheck::NoFile, Some("lock/missing"), GoOn, NeedsPin("lock/missing")),
        (match_, None, GoOn, CountsAsPin),
        (mismatch, Some("lock/mismatch"), Refuse("lock/mismatch"), Refuse("lock/mismatch")),
        (unlisted, Some("lock/unlisted"), Refuse("lock/unlisted"), Refuse("lock/unlisted")),
        (LockCheck::Missing, Some("lock/missing"), Refuse("lock/missing"), Refuse("lock/missing")),
        (inconsistent, Some("lock/malformed"), Refuse("lock/malformed"), Refuse("lock/malformed")),
    ] {
        assert_eq!(check.code(), code);
        assert_eq!(
            (check.outcome(LockRule::Narrows), check.outcome(LockRule::Anchors)),
            (narrows, anchors),
            "{check}"
        );
        assert_eq!(check.help().is_empty(), code.is_none());
        assert!(!check.to_string().is_empty());
    }
}

#[test]
fn differences_read_as_messages() {
    let hex = |byte: &str| byte.repeat(32);
    let shown = |difference| LockCheck::Mismatch(difference).to_string();
    assert_eq!(
        shown(LockDifference::Tree { expected: vec![tree(1), tree(2)], actual: tree(3) }),
        format!("expected tree pt1:{} or pt1:{}, found pt1:{}", hex("01"), hex("02"), hex("03"))
    );
    assert_eq!(
        shown(LockDifference::Entry { expected: None, actual: Some(Digest::from_bytes([1; 32])) }),
        format!("marketplace entry: expected none, found sha256:{}", hex("01"))
    );
    assert_eq!(
        shown(LockDifference::Shared { name: "../s\u{202e}".into(), expected: Some(tree(1)), actual: None }),
        format!("shared directory ../s\\u{{202e}}: expected pt1:{}, found none", hex("01"))
    );
}

#[test]
fn every_entry_has_to_be_visited() {
    let file = two();
    assert_eq!(file.unvisited(&texts(&["small", "new"])), ["plugins/hookify"]);
    assert_eq!(file.exclude_of("plugins/hookify"), excludes(&[".git"]));
    assert!(file.exclude_of("new").is_empty());
}

/// Two people lock a different plugin each; `git merge-file` joins the texts.
#[test]
fn entries_of_two_people_merge_as_text() {
    let base = two();
    let with = |path: &str, byte: u8| {
        let mut file = base.clone();
        file.insert(path, LockEntry::new(tree(byte))).unwrap();
        file
    };
    let directory = tempfile::tempdir().unwrap();
    let write =
        |name: &str, file: &LockFile| std::fs::write(directory.path().join(name), file.render()).unwrap();
    write("base", &base);
    write("ours", &with("aaa", 8));
    write("theirs", &with("zzz", 9));
    let merge = std::process::Command::new("git")
        .args(["merge-file", "-p", "ours", "base", "theirs"])
        .current_dir(directory.path())
        .output();
    let Ok(merge) = merge else {
        println!("skipped: no git here");
        return;
    };
    assert!(merge.status.success());
    let merged = LockFile::parse(&merge.stdout).unwrap();
    assert_eq!(merged.entries().len(), 4);
    assert_eq!(merged.render().as_bytes(), merge.stdout);
}

/// Written on one machine, verified on another with another umask, order of creation and locale.
#[test]
fn a_lock_holds_on_another_machine() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    let names = ["a", "B", "z/q", "\u{e9}", "z-1", "run.sh"];
    let make = |order: &[&str], bits: u32| {
        let tree = crate::tree::Tree::new();
        for name in order {
            let mode = if *name == "run.sh" { 0o755 } else { 0o644 };
            tree.mode(name, *name, mode & bits | 0o400);
        }
        tree
    };
    let here = make(&names, 0o777);
    let mut turned = names;
    turned.reverse();
    let there = make(&turned, 0o700);
    let mut file = LockFile::new();
    let entry = LockEntry {
        executable: here.read().executables().map(str::to_owned).collect(),
        ..LockEntry::new(*here.read().digest())
    };
    file.insert("p", entry).unwrap();
    let file = LockFile::parse(file.render().as_bytes()).unwrap();
    let digest = *there.read().digest();
    let (bare, none) = (BTreeMap::new(), BTreeMap::new());
    assert_eq!(file.check(&facts("p", &digest, &bare, &none)), LockCheck::Match);
    fs::set_permissions(there.path().join("a"), fs::Permissions::from_mode(0o700)).unwrap();
    let digest = *there.read().digest();
    assert_eq!(file.check(&facts("p", &digest, &bare, &none)).code(), Some("lock/mismatch"));
}

#[test]
fn a_new_surface_is_told_and_refuses_nothing() {
    let file = two();
    let path = "plugins/hookify";
    let same = format!("sf1:{}", "6".repeat(64)).parse().unwrap();
    let other = format!("sf1:{}", "7".repeat(64)).parse().unwrap();
    let known = BTreeSet::from(["npx:@playwright/mcp@latest".to_owned()]);
    let more = BTreeSet::from(["uvx:x".to_owned()]);
    assert_eq!(file.surface_warning(path, &same, &known), None);
    let notice = file.surface_warning(path, &other, &known).unwrap();
    assert_eq!((notice.code(), notice.added.len(), notice.removed.len()), ("lock/surface-new", 0, 0));
    let notice = file.surface_warning(path, &same, &more).unwrap();
    assert!(notice.to_string().ends_with(", +uvx:x, -npx:@playwright/mcp@latest"), "{notice}");
    // No entry, and an entry that explains nothing.
    assert_eq!(file.surface_warning("new", &other, &more), None);
    assert_eq!(file.surface_warning("small", &other, &more), None);
}
