//! Limits, and the time and stack that large texts need.

use plugward_commands::{CommandContext, CommandLimits, PathText, read_argv, read_command, read_script};

use crate::support::{context, read, variable};

#[test]
fn a_limit_is_an_error_and_never_a_shorter_answer() {
    let limits = CommandLimits { text: 100, words: 10, depth: 8, programs: 4 };
    let context = CommandContext { variables: &variable, directory: PathText::start(), limits };
    let limit = |text: &str| read_command(text, &context).err().map(|error| error.limit());
    assert_eq!(limit(&"a".repeat(100)), None);
    assert_eq!(limit(&"a".repeat(101)), Some("bytes of text"));
    assert_eq!(limit("a b c d e f g h i j"), None);
    assert_eq!(limit("a b c d e f g h i j k"), Some("words"));
    assert_eq!(limit("a;b"), None);
    assert_eq!(limit("a;b;c;d"), Some("programs"));
    assert_eq!(limit("((a))"), None);
    assert_eq!(limit("( ( ( ( ( ( ( ( a ) ) ) ) ) ) ) )"), Some("nested commands"));
    let error = read_command("a;b;c;d", &context).unwrap_err();
    assert_eq!(error.code(), "surface/too-complex");
    assert_eq!(error.to_string(), "the command exceeds the limit of 4 programs");
}

#[test]
fn filler_words_hide_nothing() {
    assert_eq!(read(&format!(": {}; bash ./h.sh", "a ".repeat(20_100))), "h.sh");
    let many = format!(": {}; ", "a ".repeat(2_000)).repeat(11);
    assert_eq!(read(&format!("{many} bash ./h.sh")), "h.sh");
}

#[test]
fn deep_and_long_texts_end() {
    let size = 30_000;
    let pieces = [
        "(",
        "$(",
        "`",
        "\"$(",
        "${a:-",
        "{ ",
        "if ",
        "((",
        "$((",
        "[[ ",
        "case x in ",
        "f() ",
        "<(",
        "eval \"",
        "a=(",
        "\\",
        "<<E\n",
        "<<E ",
        "$a",
        "{a,b}",
        "a|",
        "a&&",
        "a;",
        "while a; do ",
        "for a in b; do ",
        "'",
        "$'",
        "${",
        "[",
        "!",
        "a=$a$a;",
        "cd a;",
        "cd a && ",
        "x=1 ",
        "${a%*a*a*a}",
        "f(){ f;f; };f;",
    ];
    for piece in pieces {
        let text = piece.repeat(size / piece.len());
        drop(read_command(&text, &context()));
        drop(read_script(&text, &context()));
    }
    let words = vec!["a"; 50_000];
    assert!(read_argv(&words, &context()).is_ok());
}
