//! Off-switches of other scanners do not affect any rule.
//!
//! Each test adds text before a case, after it, or in files next to it, or puts the case into another directory. Every
//! finding of the case's own rule must remain: the same severity, hidden or not, at the same position of the case.
#![expect(
    clippy::unnecessary_wraps,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::format_collect,
    reason = "every off-switch has one signature; the cases' names are in lower case; the fillers are small"
)]

use std::collections::BTreeMap;

use plugward_scanner::{Profile, Rules};
use plugward_types::Severity;

use crate::cases::{Case, cases};
use crate::common::scanned;

/// A finding as seen from the case: severity, hidden, span in the case's own bytes.
type Seen = (Severity, bool, i64, i64);

/// The end of a finding that is about a file as a whole.
const WHOLE: i64 = i64::MAX;

/// One off-switch, made for one case.
#[derive(Debug, Default)]
struct Muffled {
    /// Text in front of the case, in the same file.
    before: String,
    /// Text behind it.
    after: String,
    /// A directory that the file is put into.
    folder: String,
    /// Files beside it.
    beside: Vec<(String, Vec<u8>)>,
}

/// Why an off-switch says nothing about a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Skip {
    /// The rule judges the head of the file: its magic, its encoding, its ending against both.
    HeadOfFile,
    /// The file's grammar has no such construct.
    NoSuchSyntax,
    /// The rule depends on the location of the file.
    DependsOnFolder,
    /// Large, and done for a sample of the cases.
    Sampled,
}

/// Ways in which a text can be written in a file, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Js,
    Py,
    Rs,
    Sh,
    Batch,
    /// JSON and its kin that begin with a brace.
    Object,
    /// A format in lines with `#` comments.
    Hash,
    Html,
    Text,
    /// Rust-like or C-like files that no lens reads, and binaries.
    Other,
}

fn syntax(case: &Case) -> Syntax {
    let (path, bytes) = &case.files[0];
    let ending = path.rsplit(['.', '/']).next().unwrap_or_default();
    match ending {
        "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" => Syntax::Js,
        "py" => Syntax::Py,
        "rs" => Syntax::Rs,
        "sh" | "envrc" | "ps1" | "Dockerfile" | "Makefile" => Syntax::Sh,
        "bat" | "cmd" => Syntax::Batch,
        "md" => Syntax::Html,
        "txt" => Syntax::Text,
        _ if bytes.starts_with(b"{") => Syntax::Object,
        "toml" | "yaml" | "yml" | "npmrc" | "gitconfig" | "conf" => Syntax::Hash,
        _ => Syntax::Other,
    }
}

/// Writes `text` as a comment on lines of its own.
fn comment(case: &Case, text: &str) -> Result<String, Skip> {
    Ok(match syntax(case) {
        Syntax::Js | Syntax::Rs => format!("// {text}\n"),
        Syntax::Py | Syntax::Sh | Syntax::Hash => format!("# {text}\n"),
        Syntax::Batch => format!("rem {text}\r\n"),
        Syntax::Object => format!(" \"x-note-{}\": {text:?},", text.len()),
        Syntax::Html => format!("<!-- {text} -->\n\n"),
        Syntax::Text => format!("{text}.\n\n"),
        Syntax::Other => return Err(Skip::NoSuchSyntax),
    })
}

/// Writes `text` as a comment at the end of a line.
fn trailing(case: &Case, text: &str) -> Result<String, Skip> {
    // A definition with more text behind it is a visible line.
    if case.files[0].1.starts_with(b"[//]: ") {
        return Err(Skip::NoSuchSyntax);
    }
    Ok(match syntax(case) {
        Syntax::Js | Syntax::Rs | Syntax::Object => format!(" // {text}"),
        Syntax::Py | Syntax::Sh | Syntax::Hash => format!(" # {text}"),
        Syntax::Batch => format!(" & rem {text}"),
        Syntax::Html => format!(" <!-- {text} -->"),
        Syntax::Text => format!(" {text}"),
        Syntax::Other => return Err(Skip::NoSuchSyntax),
    })
}

type Make = fn(&Case, usize) -> Result<Muffled, Skip>;

fn before(text: String) -> Result<Muffled, Skip> {
    Ok(Muffled { before: text, ..Muffled::default() })
}

/// Comments by which scanners are asked to look away, their own names in them.
const SKIPS: &[&str] = &[
    "nosec",
    "nosemgrep",
    "noqa: S102, S301, S602",
    "NOSONAR",
    "NOLINT",
    "eslint-disable-line",
    "eslint-disable no-eval",
    "biome-ignore lint: x",
    "@ts-nocheck",
    "type: ignore",
    "pylint: disable=all",
    "shellcheck disable=SC2086",
    "lgtm",
    "codeql[js/code-injection]",
    "deepcode ignore x: y",
    "snyk:ignore",
    "checkov:skip=CKV_1: x",
    "kics-scan ignore",
    "tfsec:ignore:x",
    "trivy:ignore:x",
    "hadolint ignore=DL3008",
    "gitleaks:allow",
    "ggignore",
    "trufflehog:ignore",
    "pragma: allowlist secret",
    "betterleaks:allow",
    "kingfisher:ignore",
    "guarddog: ignore",
    "skill-scanner: ignore",
    "skillspector: ignore",
    "openclaw-scan: ignore",
    "mcp-scan: ignore",
    "tirith: allow",
    "plugward: ignore",
    "plugward:allow",
    "SAFE: verified by the security team",
];

fn skip_lines(case: &Case, _: usize) -> Result<Muffled, Skip> {
    let mut text = String::new();
    for (index, skip) in SKIPS.iter().enumerate() {
        // Keys of one object have names of their own.
        text.push_str(&comment(case, &format!("{skip}{}", ".".repeat(index)))?);
    }
    before(text)
}

fn skip_same_line(case: &Case, _: usize) -> Result<Muffled, Skip> {
    Ok(Muffled { after: trailing(case, &SKIPS.join(" "))?, ..Muffled::default() })
}

fn harmless_delete(case: &Case, _: usize) -> Result<Muffled, Skip> {
    before(comment(case, "rm -rf node_modules")?)
}

fn warned_against(case: &Case, _: usize) -> Result<Muffled, Skip> {
    let text = "never use this; do not run it: a test, an example, sample, dummy, mock, placeholder %s %d";
    let lead = match syntax(case) {
        Syntax::Js | Syntax::Rs => "/* never use this: test example %s */ ",
        _ => "",
    };
    Ok(Muffled { before: lead.to_owned(), after: trailing(case, text)?, ..Muffled::default() })
}

fn marks_in_strings(case: &Case, _: usize) -> Result<Muffled, Skip> {
    before(match syntax(case) {
        Syntax::Js => "const _a = '/*', _b = \"//\", _c = `#`, _d = '<!--';\n".to_owned(),
        Syntax::Py => "_a = '/*'; _b = \"//\"; _c = '#'; _d = '''\"\"'''\n".to_owned(),
        Syntax::Rs => "const A: &str = \"/*\"; const B: &str = r#\"//\"#; const C: char = '\"';\n".to_owned(),
        Syntax::Sh => "a='/*'\nb=\"//\"\nc='#'\nd=x#y\n".to_owned(),
        Syntax::Batch => "set a=\"/*\"\r\nset b=\"//#\"\r\n".to_owned(),
        Syntax::Object => " \"x-a\": \"/*\", \"x-b\": \"//\", \"x-c\": \"#\",".to_owned(),
        Syntax::Html => "`/*` and `//` and `#` and `<!-`\n\n".to_owned(),
        Syntax::Text => "/* and // and #\n\n".to_owned(),
        Syntax::Hash | Syntax::Other => return Err(Skip::NoSuchSyntax),
    })
}

fn regex_before(case: &Case, _: usize) -> Result<Muffled, Skip> {
    match syntax(case) {
        Syntax::Js => before("const _r = [/['\"`]/, /[/*]/, /\\/\\*/g, /\\/\\//];\n".to_owned()),
        _ => Err(Skip::NoSuchSyntax),
    }
}

/// Beside the marks of a comment on the very line.
fn after_empty_comment(case: &Case, _: usize) -> Result<Muffled, Skip> {
    match syntax(case) {
        Syntax::Js | Syntax::Rs => before("/**/ ".to_owned()),
        _ => Err(Skip::NoSuchSyntax),
    }
}

fn line_with_star(case: &Case, _: usize) -> Result<Muffled, Skip> {
    match syntax(case) {
        Syntax::Js => before("const _s = 2\n * 3; ".to_owned()),
        Syntax::Rs => before("const S: u8 = 2\n * 3; ".to_owned()),
        Syntax::Sh if case.files[0].0.ends_with(".sh") => before("case x in\n*) : ;; esac; ".to_owned()),
        _ => Err(Skip::NoSuchSyntax),
    }
}

fn look_alikes(case: &Case, _: usize) -> Result<Muffled, Skip> {
    before(comment(case, "Th\u{456}s l\u{43e}\u{43e}ks f\u{456}ne \u{200b}h\u{435}re")?)
}

/// Directories that other scanners skip.
const FOLDERS: &[&str] = &[
    "dist",
    "build",
    "vendor",
    "node_modules",
    "test",
    "evals",
    ".hidden",
    ".git",
    "__pycache__",
    "fixtures",
];

/// Below all of them, each in turn as the first.
fn folders(case: &Case, number: usize) -> Result<Muffled, Skip> {
    if ["load/outside-root", "config/url-dependency"].contains(&case.rule.as_str()) {
        return Err(Skip::DependsOnFolder);
    }
    let turn = number % FOLDERS.len();
    let folder = FOLDERS[turn..].iter().chain(&FOLDERS[..turn]).map(|name| format!("{name}/")).collect();
    Ok(Muffled { folder, ..Muffled::default() })
}

fn beside(_: &Case, _: usize) -> Result<Muffled, Skip> {
    let bytecode = [b"\xa7\x0d\x0d\x0a".as_slice(), &[0; 12], b"\xe3\x00\x00"].concat();
    let package = [b"PK\x03\x04".as_slice(), &[0; 22], b"\x0b\x00\x00\x00word/run.sh"].concat();
    let beside = vec![
        ("beside.pyc".to_owned(), bytecode.clone()),
        ("__pycache__/beside.cpython-312.pyc".to_owned(), bytecode),
        ("beside.docx".to_owned(), package),
        (".gitignore".to_owned(), b"*\n".to_vec()),
        (".plugwardignore".to_owned(), b"*\n".to_vec()),
        (".semgrepignore".to_owned(), b"*\n".to_vec()),
        ("plugward.toml".to_owned(), b"[scan]\nexclude = [\"**\"]\n".to_vec()),
    ];
    Ok(Muffled { beside, ..Muffled::default() })
}

/// Fillers are large: each case of every `n`th rule, in turn, takes one.
fn sampled(number: usize, each: usize) -> Result<(), Skip> {
    if number.is_multiple_of(each) { Ok(()) } else { Err(Skip::Sampled) }
}

fn many_newlines(case: &Case, number: usize) -> Result<Muffled, Skip> {
    sampled(number, 17)?;
    if syntax(case) == Syntax::Other {
        return Err(Skip::NoSuchSyntax);
    }
    before("\n".repeat(100_000))
}

fn long_line(case: &Case, number: usize) -> Result<Muffled, Skip> {
    sampled(number + 1, 23)?;
    before(match syntax(case) {
        Syntax::Js => format!("const _z = '{}'; ", "ab ".repeat(100_000)),
        Syntax::Py => format!("_z = '{}'; ", "ab ".repeat(100_000)),
        Syntax::Rs => format!("const Z: &str = \"{}\"; ", "ab ".repeat(100_000)),
        Syntax::Sh if case.files[0].0.ends_with(".sh") => format!(": '{}'; ", "ab ".repeat(100_000)),
        Syntax::Object => format!(" \"x-z\": \"{}\",", "ab ".repeat(100_000)),
        _ => return Err(Skip::NoSuchSyntax),
    })
}

fn aliases(case: &Case, number: usize) -> Result<Muffled, Skip> {
    sampled(number + 2, 23)?;
    let each: fn(usize) -> String = match syntax(case) {
        Syntax::Js => |n| format!("const al{n} = ob{n}.me;\n"),
        Syntax::Py => |n| format!("import mo{n} as al{n}\n"),
        Syntax::Rs => |n| format!("use mo{n}::it as al{n};\n"),
        Syntax::Sh if case.files[0].0.ends_with(".sh") => |n| format!("alias al{n}=pr{n}\n"),
        _ => return Err(Skip::NoSuchSyntax),
    };
    before((0..5_000).map(each).collect())
}

fn mebibyte(case: &Case, number: usize) -> Result<Muffled, Skip> {
    sampled(number + 3, 101)?;
    filler(case, 1 << 20)
}

fn eleven_megabytes(case: &Case, _: usize) -> Result<Muffled, Skip> {
    if case.rule != "exec/eval" || case.number != 0 {
        return Err(Skip::Sampled);
    }
    filler(case, 11_000_000)
}

fn filler(case: &Case, bytes: usize) -> Result<Muffled, Skip> {
    let line = comment(case, &"filler ".repeat(20))?;
    if syntax(case) == Syntax::Object {
        return before(format!(" \"x-z\": \"{}\",", "filler ".repeat(bytes / 7)));
    }
    before(line.repeat(bytes / line.len() + 1))
}

const MUFFLERS: &[(&str, Make)] = &[
    ("a harmless delete in a comment", harmless_delete),
    ("a comment on the line that says never to use it", warned_against),
    ("comment marks in strings before it", marks_in_strings),
    ("regex literals with quotes and comment marks before it", regex_before),
    ("an empty comment before it", after_empty_comment),
    ("a line that begins with a star", line_with_star),
    ("skip comments on lines before it", skip_lines),
    ("skip comments on its line", skip_same_line),
    ("look-alike letters beside it", look_alikes),
    ("below folders that are left out", folders),
    ("bytecode, documents and ignore files beside it", beside),
    ("behind 100,000 line feeds", many_newlines),
    ("behind 300 kB on its line", long_line),
    ("behind 5,000 aliases", aliases),
    ("behind 1 MiB", mebibyte),
    ("behind 11 MB", eleven_megabytes),
];

/// Scans a case and returns what its own rule finds in its own bytes.
fn seen(case: &Case, muffled: &Muffled, profile: Profile) -> Vec<Seen> {
    let (path, bytes) = &case.files[0];
    let at = insertion(bytes, muffled);
    let own = [&bytes[..at], muffled.before.as_bytes(), &bytes[at..]].concat();
    // What stands behind the case stands on its last line.
    let own = if muffled.after.is_empty() { own } else { behind(&own, &muffled.after) };
    let mut files = vec![(format!("{}{path}", muffled.folder), own)];
    files.extend(
        case.files[1..].iter().map(|(path, bytes)| (format!("{}{path}", muffled.folder), bytes.clone())),
    );
    let main = files[0].0.clone();
    let others: Vec<String> = files[1..].iter().map(|(path, _)| path.clone()).collect();
    files.extend(muffled.beside.iter().cloned());
    let report = scanned(profile, case.role(), &files);
    let mut seen: Vec<Seen> = report
        .findings()
        .iter()
        .filter(|finding| finding.rule.as_str() == case.rule)
        .filter_map(|finding| {
            if finding.path != main {
                // Files of the case beside the first stand as they were.
                let other = others.contains(&finding.path);
                let place = (finding.span.start.try_into().ok()?, finding.span.end.try_into().ok()?);
                return other.then_some((finding.severity, finding.is_hidden(), place.0, place.1));
            }
            // A rule that marks a file as a whole marks its first bytes, whatever they are.
            let whole = finding.span.start == 0 && case.rule == "py/setup-code";
            if whole && at == 0 {
                return Some((finding.severity, finding.is_hidden(), 0, WHOLE));
            }
            let start = back(finding.span.start, at, muffled.before.len())?;
            let end = back(finding.span.end, at, muffled.before.len()).unwrap_or(start);
            Some((finding.severity, finding.is_hidden(), start, end))
        })
        .collect();
    seen.sort_unstable();
    seen.dedup();
    seen
}

/// Puts text at the end of the last line.
fn behind(own: &[u8], after: &str) -> Vec<u8> {
    let end = own.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    [&own[..end], after.as_bytes(), &own[end..]].concat()
}

/// Where text goes that stands in front: behind a first line that has to be first, and inside an object.
fn insertion(bytes: &[u8], muffled: &Muffled) -> usize {
    let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    if muffled.before.is_empty() {
        0
    } else if bytes.starts_with(b"#!") || bytes.starts_with(b"@echo off") {
        line
    } else {
        usize::from(bytes.starts_with(b"{") && muffled.before.starts_with(" \""))
    }
}

/// A place of the muffled file in the case; none for a place inside what was put in.
fn back(place: usize, at: usize, added: usize) -> Option<i64> {
    let place = if place <= at && (at > 0 || added == 0) {
        place
    } else if place >= at + added {
        place - added
    } else {
        return None;
    };
    i64::try_from(place).ok()
}

/// Rules that judge a file by its first bytes or by its name against them.
fn judges_the_head(rule: &str) -> bool {
    rule.starts_with("opaque/")
        || [
            "coverage/unscanned",
            "evasion/encoding",
            "evasion/name-mismatch",
            "evasion/source-encoding",
            "evasion/code-in-text",
        ]
        .contains(&rule)
}

/// What became of the cases that one thread took.
#[derive(Debug, Default)]
struct Tally {
    lost: Vec<String>,
    done: BTreeMap<&'static str, usize>,
    skipped: BTreeMap<(&'static str, Skip), usize>,
}

fn try_case(case: &Case, number: usize, profile: Profile, tally: &mut Tally) {
    let plain = seen(case, &Muffled::default(), profile);
    let named = format!("{} {} in {}", case.rule, case.number, profile.as_str());
    if plain.is_empty() {
        tally.lost.push(format!("{named}: not found as it stands"));
    }
    for (name, make) in MUFFLERS {
        let muffled = make(case, number).and_then(|muffled| {
            let moved =
                judges_the_head(&case.rule) && !(muffled.before.is_empty() && muffled.after.is_empty());
            if moved { Err(Skip::HeadOfFile) } else { Ok(muffled) }
        });
        match muffled {
            Err(why) => *tally.skipped.entry((name, why)).or_default() += 1,
            Ok(muffled) => {
                *tally.done.entry(name).or_default() += 1;
                let now = seen(case, &muffled, profile);
                // What a directory is for lowers what its files weigh, but hides nothing.
                let moved = profile == Profile::General && *name == "below folders that are left out";
                let same = |now: Seen, one: Seen| {
                    covers(if moved { (one.0, now.1, now.2, now.3) } else { now }, one)
                };
                if plain.iter().any(|one| !now.iter().any(|now| same(*now, *one))) {
                    tally.lost.push(format!("{named}: {name}: {plain:?} became {now:?}"));
                }
            }
        }
    }
}

/// The same severity, hidden or not, from the same byte on: what stands behind a case may lengthen a match.
fn covers(now: Seen, plain: Seen) -> bool {
    (now.0, now.1, now.2) == (plain.0, plain.1, plain.2) && now.3 >= plain.3
}

/// The profile of a case: both in turn, but one in which its rule is not off.
fn profile(case: &Case, number: usize) -> Profile {
    let rule = Rules::builtin().get(&case.rule).unwrap();
    let wanted = Profile::ALL[number % 2];
    if rule.severity(wanted).is_some() { wanted } else { Profile::ALL[(number + 1) % 2] }
}

#[test]
fn no_off_switch_of_a_peer_muffles_a_rule() {
    const THREADS: usize = 2;
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    for (number, case) in
                        cases().iter().enumerate().filter(|(number, _)| number % THREADS == thread)
                    {
                        try_case(case, number, profile(case, number), &mut tally);
                    }
                    tally
                })
            })
            .collect();
        for thread in threads {
            let tally = thread.join().unwrap();
            all.lost.extend(tally.lost);
            tally.done.into_iter().for_each(|(name, count)| *all.done.entry(name).or_default() += count);
            tally.skipped.into_iter().for_each(|(key, count)| *all.skipped.entry(key).or_default() += count);
        }
    });
    println!("done: {:#?}\nskipped: {:#?}", all.done, all.skipped);
    assert_eq!(all.done.len(), MUFFLERS.len(), "an off-switch fits no case");
    assert!(all.lost.is_empty(), "{} muffled:\n{}", all.lost.len(), all.lost.join("\n"));
}

#[test]
fn neither_200_matches_nor_500_files_before_it_muffle_a_rule() {
    // Every case at once, each in a folder of its own, behind 501 files that hold matches of their own.
    let mut files: Vec<(String, Vec<u8>)> = (0..501)
        .map(|n| (format!("a/f{n:03}.js"), b"eval(x); fetch(y); process.env.A;\n".to_vec()))
        .collect();
    let inside: Vec<(usize, &Case)> = cases()
        .iter()
        .enumerate()
        .filter(|(_, case)| {
            // Where a file lies is the question of these, and one has a role by hint.
            let by_place = [
                "load/outside-root",
                "config/url-dependency",
                "coverage/unscanned",
                "scan/partial",
                "flow/undeclared-host",
            ];
            !by_place.contains(&case.rule.as_str()) && case.role() == plugward_scanner::RoleHint::NONE
        })
        .collect();
    for (number, case) in &inside {
        files.extend(case.files.iter().map(|(path, bytes)| (format!("z{number:04}/{path}"), bytes.clone())));
    }
    let mut lost = Vec::new();
    for wanted in Profile::ALL {
        let report = scanned(wanted, plugward_scanner::RoleHint::NONE, &files);
        for (number, case) in &inside {
            if profile(case, *number) != wanted {
                continue;
            }
            let folder = format!("z{number:04}/");
            let mut found: Vec<Seen> = report
                .findings()
                .iter()
                .filter(|one| one.rule.as_str() == case.rule && one.path.starts_with(&folder))
                .filter_map(|one| {
                    let (start, end) = (one.span.start.try_into().ok()?, one.span.end.try_into().ok()?);
                    let whole = start == 0 && case.rule == "py/setup-code";
                    Some((one.severity, one.is_hidden(), start, if whole { WHOLE } else { end }))
                })
                .collect();
            found.sort_unstable();
            found.dedup();
            let plain = seen(case, &Muffled::default(), wanted);
            if plain.is_empty() || found != plain {
                lost.push(format!("{} {}: {plain:?} became {found:?}", case.rule, case.number));
            }
        }
    }
    assert!(lost.is_empty(), "{} muffled:\n{}", lost.len(), lost.join("\n"));
}

#[test]
fn matches_behind_two_hundred_others_in_one_file_are_counted() {
    let text = format!("{}eval(last)\n", "eval(x);\n".repeat(200));
    let files = [("a.js".to_owned(), text.into_bytes())];
    let report = scanned(Profile::StrictPlugin, plugward_scanner::RoleHint::NONE, &files);
    assert_eq!(report.summary().danger, 201);
    assert!(report.findings().iter().any(|one| one.rule.as_str() == "coverage/finding-cap"));
}
