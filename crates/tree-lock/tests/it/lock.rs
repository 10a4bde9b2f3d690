//! PLUGINS.lock: written, read back, refused with its place, held against plugins.

use std::collections::{BTreeMap, BTreeSet};

use plugward_tree_lock::{
    LOCK_BYTES, LOCK_ENTRIES, LockCheck, LockDifference, LockEntry, LockFacts, LockFile, LockOutcome,
    LockRule, Source,
};
use plugward_types::{Digest, PluginId, TreeDigest};

use LockOutcome::{CountsAsPin, GoOn, NeedsPin, Refuse};

use crate::tree::excludes;

pub(crate) fn id(text: &str) -> PluginId {
    text.parse().unwrap()
}

fn tree(byte: u8) -> TreeDigest {
    TreeDigest::from_bytes([byte; 32])
}

fn full() -> LockEntry {
    LockEntry {
        source: Some(Source {
            kind: "git".into(),
            url: Some("https://example.org/p.git".into()),
            rev: Some("30287f5e3f122a646d1ac5ca3ab96e130c52a3ad".into()),
            path: Some("plugins/hookify".into()),
        }),
        version: Some("1.2.0 \"quoted\" \\ \u{e9}\u{2028}".into()),
        manifest: Some(Digest::from_bytes([1; 32])),
        entry: Some(Digest::from_bytes([8; 32])),
        tree: BTreeSet::from([tree(3), tree(2)]),
        exclude: excludes(&[".git"]),
        executable: BTreeSet::from(["hooks/run.sh".into(), "a b".into()]),
        shared: BTreeMap::from([("../shared".into(), tree(4)), ("../b".into(), tree(5))]),
        surface: Some(format!("sf1:{}", "6".repeat(64)).parse().unwrap()),
        launchers: BTreeSet::from(["npx:@playwright/mcp@latest".into()]),
        ..LockEntry::new("hookify", tree(2))
    }
}

fn two() -> LockFile {
    let mut file = LockFile::new();
    file.insert(id("claude:small@plugins"), LockEntry::new("small", tree(7))).unwrap();
    file.insert(id("claude:hookify@plugins"), full()).unwrap();
    file
}

#[test]
fn the_text_is_canonical_and_reads_back() {
    let text = two().render();
    let hex = |digit: &str| digit.repeat(32);
    let expected = format!(
        r#"# PLUGINS.lock: integrity check, written by `plugward lock`. Not a signature: review changes to it.
version = 1
[plugin."claude:hookify@plugins"]
path = "hookify"
source = {{ kind = "git", url = "https://example.org/p.git", rev = "30287f5e3f122a646d1ac5ca3ab96e130c52a3ad", path = "plugins/hookify" }}
version = "1.2.0 \"quoted\" \\ é\U00002028"
manifest = "sha256:{}"
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
[plugin."claude:small@plugins"]
path = "small"
tree = ["pt1:{}"]
"#,
        hex("01"),
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
    assert_eq!(LockFile::parse(b"version = 1\n").unwrap().entries().len(), 0);
}

/// Other order, blanks, comments, CRLF, other quoting: the same file.
#[test]
fn any_toml_of_the_same_meaning_is_the_same_lock() {
    let text = format!(
        "\r\nplugin.'claude:small@plugins'.tree = [ # here\r\n 'pt1:{}' ,]\r\nplugin.\"claude:small@plugins\".path = \"\"\"small\"\"\"\r\nversion=1",
        "07".repeat(32)
    );
    let read = LockFile::parse(text.as_bytes()).unwrap();
    assert_eq!(read.render(), {
        let mut file = LockFile::new();
        file.insert(id("claude:small@plugins"), LockEntry::new("small", tree(7))).unwrap();
        file.render()
    });
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

/// One line of an entry is replaced, or added, and the fault has to name the place.
#[test]
fn every_fault_has_its_place() {
    let base = |line: &str, with: &str| {
        let pt = format!("tree = [\"pt1:{}\"]", "07".repeat(32));
        let mut lines = vec!["version = 1", "[plugin.\"a:b@c\"]", "path = \"b\"", pt.as_str()];
        match lines.iter().position(|have| !line.is_empty() && have.starts_with(line)) {
            Some(at) => lines[at] = with,
            None => lines.push(with),
        }
        lines.join("\n")
    };
    let digest = "0".repeat(64);
    let mut wrong = Vec::new();
    for (line, with, expected) in [
        ("version", "version = 2", "1:11 <lockfile> version 1"),
        ("version", "version = \"1\"", "1:11 <lockfile> version 1"),
        ("version", "version = 0x1", "1:11 <lockfile> version 1"),
        ("version", "# none", "1:1 <lockfile> a line `version = 1`"),
        ("version", "version = 1\nversion = 1", "2:1 <lockfile> TOML: duplicate key"),
        ("version", "version = 1\nextra = 1", "2:1 <lockfile> only the keys `version` and `plugin`"),
        ("version", "version = 1\n<<<<<<< HEAD", "2:1 <lockfile> no merge conflict mark"),
        ("version", "version = 1\n=======", "2:1 <lockfile> no merge conflict mark"),
        ("[plugin", "[plugin.\"a:b\"]", "2:9 <lockfile> `[plugin.\"dialect:name@source\"]`"),
        ("[plugin", "[plugin.\"a:../b@c\"]", "2:9 <lockfile> `[plugin.\"dialect:name@source\"]`"),
        ("[plugin", "[plugin]\n\"a:b@c\" = 1", "3:11 a:b@c a table"),
        ("", "[plugin.\"a:b@c\"]", "5:9 <lockfile> TOML: duplicate key"),
        ("path", "path = 1", "3:8 a:b@c a string"),
        ("path", "pat = \"b\"", "3:1 a:b@c only the keys path, source"),
        ("path", "# none", "2:1 a:b@c a key `path`"),
        ("path", "path = \"\"", "3:8 a:b@c `path`: a path below"),
        ("path", "path = \"/b\"", "3:8 a:b@c `path`: a path below"),
        ("path", "path = \"../b\"", "3:8 a:b@c `path`: a path below"),
        ("path", "path = \"C:/b\"", "3:8 a:b@c `path`: a path below"),
        ("path", "path = \"a\\\\b\"", "3:8 a:b@c `path`: a path below"),
        ("path", "path = \"a\\u0007\"", "3:8 a:b@c `path`: a path below"),
        ("tree", "# none", "2:1 a:b@c a key `tree`"),
        ("tree", "tree = []", "4:8 a:b@c `tree`: at least one"),
        ("tree", "tree = \"pt1:x\"", "4:8 a:b@c a list of strings"),
        ("tree", "tree = [\"sha256:00\"]", "4:9 a:b@c a tree digest (start it with `pt1:`)"),
        ("tree", "tree = [\"pt1:00\"]", "4:9 a:b@c a tree digest (write 64 hex digits"),
        (
            "tree",
            &format!("tree = [\"pt1:{}\"]", digest.replace('0', "A")),
            "4:9 a:b@c a tree digest (use lower-case",
        ),
        ("tree", &format!("tree = [\"pt1:{digest}\", \"pt1:{digest}\"]"), "4:81 a:b@c each element once"),
        ("", "exclude = [\"node_modules\"]", "5:12 a:b@c one of .git, "),
        ("", "exclude = [\"*\"]", "5:12 a:b@c one of .git, "),
        ("", "exclude = [\"PLUGINS.lock\"]", "5:11 a:b@c `exclude`: `PLUGINS.lock` only"),
        ("", "executable = [\"/x\"]", "5:14 a:b@c `executable`: paths below"),
        ("", "shared = { \"/abs\" = \"pt1:x\" }", "5:21 a:b@c a tree digest"),
        ("", &format!("shared = {{ \"/abs\" = \"pt1:{digest}\" }}"), "5:10 a:b@c `shared`: relative paths"),
        ("", "manifest = \"sha256:x\"", "5:12 a:b@c a sha256 digest"),
        ("", "source = { kind = \"git\", host = \"x\" }", "5:26 a:b@c only the keys kind, url, rev, path"),
        ("", "source = { url = \"x\" }", "5:10 a:b@c a key `kind`"),
        ("", "source = { kind = \"Git!\" }", "5:10 a:b@c `source`: a kind"),
        (
            "",
            "source = { kind = \"git\", url = \"https://u:p@example.org/\" }",
            "5:10 a:b@c `source`: an address without credentials",
        ),
        (
            "",
            "source = { kind = \"git\", url = \"https://token@example.org/\" }",
            "5:10 a:b@c `source`: an address without credentials",
        ),
        (
            "",
            "source = { kind = \"git\", url = \"ssh://u:p@example.org/\" }",
            "5:10 a:b@c `source`: an address without credentials",
        ),
        ("", "source = { kind = \"git\", url = \"/home/x\" }", "5:10 a:b@c `source`: no absolute path"),
        ("", "source = { kind = \"git\", url = \"file:///x\" }", "5:10 a:b@c `source`: no absolute path"),
        (
            "",
            "source = { kind = \"git\", url = \"x\", path = \"../x\" }",
            "5:10 a:b@c `source`: a path below",
        ),
        ("", "version = \"a\\u001bb\"", "5:11 a:b@c `version`: 1 to 4,096"),
        ("", "launchers = [\"\"]", "5:13 a:b@c `launchers`: 1 to 4,096"),
        ("", "surface = \"sf2:\"", "5:11 a:b@c a surface digest"),
        ("", "\u{e9}\u{e9} = 1", "5:1 <lockfile> TOML: "),
        ("", "\"\u{e9}\u{e9}\" = \"\u{e9}\" x", "5:12 <lockfile> TOML: "),
    ] {
        let found = fault(&base(line, with));
        if !found.starts_with(expected) {
            wrong.push(format!("{with}\nfound    {found}\nexpected {expected}"));
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
        assert_eq!(LockFile::parse(base("", near).as_bytes()).unwrap().entries().len(), 1, "{near}");
    }
}

#[test]
fn bytes_that_are_no_text_and_too_many_are_refused() {
    let error = LockFile::parse(b"version = 1\n# \xc3\xa9 \xff").unwrap_err();
    assert_eq!(error.to_string(), "read the lock file: line 2, column 5: expected UTF-8");
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
        file.insert(id(&format!("a:p{index}@c")), LockEntry::new("p", tree(1))).unwrap();
    }
    let text = file.render();
    assert_eq!(LockFile::parse(text.as_bytes()).unwrap().entries().len(), LOCK_ENTRIES);
    assert!(file.insert(id("a:p0@c"), LockEntry::new("q", tree(1))).unwrap().is_some());
    assert!(file.insert(id("a:more@c"), LockEntry::new("q", tree(1))).is_err());
    let more = format!("{text}[plugin.\"a:more@c\"]\npath = \"x\"\ntree = [\"pt1:{}\"]\n", "0".repeat(64));
    assert!(fault(&more).ends_with("at most 10000 entries"));
}

#[test]
fn an_entry_that_could_not_be_read_back_is_not_put_in() {
    let mut file = LockFile::new();
    for entry in [
        LockEntry::new("../x", tree(1)),
        LockEntry { tree: BTreeSet::new(), ..LockEntry::new("x", tree(1)) },
        LockEntry { launchers: BTreeSet::from(["a\nb".into()]), ..LockEntry::new("x", tree(1)) },
    ] {
        let error = file.insert(id("a:b@c"), entry).unwrap_err();
        assert_eq!((error.plugin(), error.line()), ("a:b@c", None));
    }
    assert_eq!(file.entries().len(), 0);
}

fn facts<'a>(
    id: &'a PluginId,
    path: &'a str,
    tree: &'a TreeDigest,
    shared: &'a BTreeMap<String, TreeDigest>,
) -> LockFacts<'a> {
    LockFacts { id, path, tree, manifest: None, entry: None, shared }
}

#[test]
fn each_answer_and_what_follows() {
    let file = two();
    let none = BTreeMap::new();
    let (small, hookify) = (id("claude:small@plugins"), id("claude:hookify@plugins"));
    let match_ = file.check(&facts(&small, "small", &tree(7), &none));
    assert_eq!(match_, LockCheck::Match);
    // A manifest that the entry does not name is covered by the tree.
    let (manifest, seven) = (Digest::from_bytes([9; 32]), tree(7));
    let with = LockFacts { manifest: Some(&manifest), ..facts(&small, "small", &seven, &none) };
    assert_eq!(file.check(&with), LockCheck::Match);

    let other = tree(8);
    let mismatch = file.check(&facts(&small, "small", &other, &none));
    assert_eq!(
        mismatch,
        LockCheck::Mismatch(LockDifference::Tree { expected: vec![tree(7)], actual: other })
    );
    let moved = file.check(&facts(&small, "elsewhere", &tree(7), &none));
    assert!(
        matches!(&moved, LockCheck::Mismatch(LockDifference::Path { expected, .. }) if expected == "small")
    );
    let unlisted = file.check(&facts(&id("claude:small@other"), "small", &tree(7), &none));
    assert_eq!(unlisted, LockCheck::Unlisted);

    let shared = BTreeMap::from([("../shared".to_owned(), tree(4)), ("../b".to_owned(), tree(5))]);
    let (manifest, entry) = (Digest::from_bytes([1; 32]), Digest::from_bytes([8; 32]));
    let (manifest, entry) = (Some(&manifest), Some(&entry));
    for accepted in [tree(2), tree(3)] {
        let whole = LockFacts { manifest, entry, ..facts(&hookify, "hookify", &accepted, &shared) };
        assert_eq!(file.check(&whole), LockCheck::Match);
    }
    let two = tree(2);
    let inconsistent = file.check(&LockFacts { entry, ..facts(&hookify, "hookify", &two, &shared) });
    // What a marketplace adds is in no tree: another entry, one more and one less are each another plugin.
    let other_entry = Digest::from_bytes([9; 32]);
    for (id, path, tree, shared, entry) in [
        (&hookify, "hookify", &two, &shared, Some(&other_entry)),
        (&hookify, "hookify", &two, &shared, None),
        (&small, "small", &seven, &none, entry),
    ] {
        let manifest = if entry.is_some() || id == &hookify { manifest } else { None };
        let check = file.check(&LockFacts { manifest, entry, ..facts(id, path, tree, shared) });
        assert!(matches!(&check, LockCheck::Mismatch(LockDifference::Entry { .. })), "{check}");
        assert_eq!(check.code(), Some("lock/mismatch"));
    }
    assert_eq!(inconsistent.code(), Some("lock/malformed"));
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
        let check =
            file.check(&LockFacts { manifest, entry, ..facts(&hookify, "hookify", &tree(2), &shared) });
        assert!(
            matches!(&check, LockCheck::Mismatch(LockDifference::Shared { name: n, .. }) if n == name),
            "{check}"
        );
    }

    for (check, code, narrows, anchors) in [
        (LockCheck::NoFile, Some("lock/missing"), GoOn, NeedsPin("lock/missing")),
        (match_, None, GoOn, CountsAsPin),
        (mismatch, Some("lock/mismatch"), Refuse("lock/mismatch"), Refuse("lock/mismatch")),
        (moved, Some("lock/mismatch"), Refuse("lock/mismatch"), Refuse("lock/mismatch")),
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
fn every_entry_has_to_be_visited() {
    let file = two();
    let seen = BTreeSet::from([id("claude:small@plugins"), id("claude:new@plugins")]);
    assert_eq!(file.unvisited(&seen), [id("claude:hookify@plugins")]);
    assert_eq!(file.exclude_of(&id("claude:hookify@plugins")), excludes(&[".git"]));
    assert!(file.exclude_of(&id("claude:new@plugins")).is_empty());
}

/// Two people lock a different plugin each; `git merge-file` joins the texts.
#[test]
fn entries_of_two_people_merge_as_text() {
    let base = two();
    let with = |name: &str, byte: u8| {
        let mut file = base.clone();
        file.insert(id(name), LockEntry::new("x", tree(byte))).unwrap();
        file
    };
    let folder = tempfile::tempdir().unwrap();
    let write =
        |name: &str, file: &LockFile| std::fs::write(folder.path().join(name), file.render()).unwrap();
    write("base", &base);
    write("ours", &with("claude:aaa@plugins", 8));
    write("theirs", &with("claude:zzz@plugins", 9));
    let merge = std::process::Command::new("git")
        .args(["merge-file", "-p", "ours", "base", "theirs"])
        .current_dir(folder.path())
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
        ..LockEntry::new("p", *here.read().digest())
    };
    file.insert(id("a:b@c"), entry).unwrap();
    let file = LockFile::parse(file.render().as_bytes()).unwrap();
    let digest = *there.read().digest();
    let none = BTreeMap::new();
    assert_eq!(file.check(&facts(&id("a:b@c"), "p", &digest, &none)), LockCheck::Match);
    fs::set_permissions(there.path().join("a"), fs::Permissions::from_mode(0o700)).unwrap();
    let digest = *there.read().digest();
    assert_eq!(file.check(&facts(&id("a:b@c"), "p", &digest, &none)).code(), Some("lock/mismatch"));
}

#[test]
fn a_new_surface_is_told_and_refuses_nothing() {
    let file = two();
    let name = id("claude:hookify@plugins");
    let same = format!("sf1:{}", "6".repeat(64)).parse().unwrap();
    let other = format!("sf1:{}", "7".repeat(64)).parse().unwrap();
    let known = BTreeSet::from(["npx:@playwright/mcp@latest".to_owned()]);
    let more = BTreeSet::from(["uvx:x".to_owned()]);
    assert_eq!(file.surface_notice(&name, &same, &known), None);
    let notice = file.surface_notice(&name, &other, &known).unwrap();
    assert_eq!((notice.code(), notice.added.len(), notice.removed.len()), ("lock/surface-new", 0, 0));
    let notice = file.surface_notice(&name, &same, &more).unwrap();
    assert!(notice.to_string().ends_with(", +uvx:x, -npx:@playwright/mcp@latest"), "{notice}");
    // No entry, and an entry that explains nothing.
    assert_eq!(file.surface_notice(&id("claude:new@plugins"), &other, &more), None);
    assert_eq!(file.surface_notice(&id("claude:small@plugins"), &other, &more), None);
}
