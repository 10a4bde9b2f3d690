//! Matchers on names, and `if` rules on the main argument.

use core::fmt;

use regex_automata::meta::Regex;
use serde_json::Value;

/// The size limit of a compiled pattern. A larger one is refused, since it would slow down every call.
const PATTERN_BYTES: usize = 128 << 10;

/// The arguments that are compared with an `if` rule.
const MAIN_ARGUMENTS: [&str; 4] = ["command", "file_path", "path", "url"];

/// Characters with which a shell runs more than one command. A rule about the first command does not cover
/// the others.
const SHELL_OPERATORS: [char; 10] = [';', '&', '|', '<', '>', '$', '`', '(', ')', '\n'];
/// Characters that a shell expands or removes.
const WORD_SYNTAX: [char; 10] = ['\'', '"', '\\', '=', '{', '~', '*', '?', '[', '!'];
/// Commands that run another command.
const WRAPPERS: [&str; 8] = ["command", "env", "eval", "exec", "nohup", "sudo", "time", "xargs"];
/// A UTF-8 character, in an expression over bytes.
const CHARACTER: &str = r"(?:[\x00-\x7F]|[\xC0-\xFF][\x80-\xBF]*)";

/// The names to which a hook applies.
#[derive(Clone)]
pub(crate) enum Matcher {
    All,
    Names(Vec<String>),
    Pattern(Regex),
}

impl Matcher {
    /// Parses a matcher of Claude Code or Codex: empty, `*`, names, or an unanchored expression.
    pub(crate) fn of_claude(text: &str, list: ListSyntax) -> Option<Self> {
        if matches!(text, "" | "*") {
            return Some(Self::All);
        }
        let is_name = |c: char| {
            c.is_alphanumeric()
                || matches!(c, '_' | '|')
                || (list == ListSyntax::Wide && matches!(c, '-' | ' ' | ','))
        };
        if text.chars().all(is_name) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
            return (!names.is_empty()).then_some(Self::Names(names));
        }
        compile(text).map(Self::Pattern)
    }

    /// Parses a tool pattern of gnoma, which is a glob of Go's `path.Match`.
    pub(crate) fn of_gnoma(glob: &str) -> Option<Self> {
        if glob.is_empty() {
            return Some(Self::All);
        }
        compile(&glob_expression(glob, "[^/]*", r"(?:[\x00-\x2E\x30-\x7F]|[\xC0-\xFF][\x80-\xBF]*)")?)
            .map(Self::Pattern)
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|own| own == name),
            Self::Pattern(pattern) => pattern.is_match(name),
        }
    }
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("All"),
            Self::Names(names) => f.debug_tuple("Names").field(names).finish(),
            Self::Pattern(_) => f.write_str("Pattern(..)"),
        }
    }
}

/// The characters allowed in a list of names besides letters, digits, `_` and `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListSyntax {
    /// Also `-`, space and `,`.
    Wide,
    /// No others. With them, the matcher is an expression.
    Narrow,
}

/// Common tools. A matcher that differs from one only in case is probably a typo.
const TOOLS: [&str; 10] =
    ["Bash", "Edit", "Glob", "Grep", "MultiEdit", "NotebookEdit", "Read", "Task", "WebFetch", "Write"];

/// Returns `true` for a valid expression that matches no tool, such as the permission rule
/// `Write(docs/**)`.
pub(crate) fn matches_no_tool(text: &str) -> bool {
    let other_case = |part: &str| TOOLS.iter().any(|tool| *tool != part && tool.eq_ignore_ascii_case(part));
    // A group can contain alternatives, so its text is not split.
    let parts = if text.contains('(') && !text.split('|').any(is_permission_rule) {
        vec![text]
    } else {
        text.split('|').collect()
    };
    let never = |part: &&str| is_permission_rule(part) || other_case(part);
    let is_expression = ["\"", "'", "==", "&&"].iter().any(|mark| text.contains(mark))
        || (text.len() > 1 && text.starts_with('/') && text.ends_with('/'));
    is_expression || parts.iter().all(never) || parts.iter().any(|part| is_permission_rule(part))
}

fn is_permission_rule(text: &str) -> bool {
    let Some((tool, rest)) = text.split_once('(') else { return false };
    let is_tool = !tool.is_empty() && tool.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    is_tool && tool.starts_with(char::is_uppercase) && rest.ends_with(')')
}

/// The `if` of a handler: `Tool` or `Tool(pattern)`. A condition that cannot be parsed applies to every
/// tool.
#[derive(Debug, Clone)]
pub(crate) struct Condition(Option<(Matcher, ArgumentRule)>);

#[derive(Debug, Clone)]
enum ArgumentRule {
    Any,
    Prefix(String),
    /// A path or text, and everything inside it if it is a directory.
    Glob(Matcher, Matcher),
}

impl Condition {
    pub(crate) fn read(text: &str) -> Self {
        Self(Self::parts(text.trim()))
    }

    fn parts(text: &str) -> Option<(Matcher, ArgumentRule)> {
        let (tool, rest) = match text.split_once('(') {
            Some((tool, rest)) => (tool, rest.strip_suffix(')')?),
            None => (text, "*"),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*');
        // Rules for directories, domains or alternatives have their own syntax.
        let starts_special = ["./", "../", "~", "/", "domain:"].iter().any(|start| rest.starts_with(start));
        let is_special = starts_special || rest.contains(['{', '[', '\\', '(', ')']);
        if tool.is_empty() || !tool.chars().all(is_name) || is_special {
            return None;
        }
        let glob = |text: &str| compile(&glob_expression(text, ".*", CHARACTER)?).map(Matcher::Pattern);
        let argument = match rest.strip_suffix(":*").or_else(|| rest.strip_suffix(" *")) {
            _ if matches!(rest, "" | "*") => ArgumentRule::Any,
            Some(prefix) if !prefix.contains('*') => ArgumentRule::Prefix(words(prefix)),
            _ => {
                let plain = rest.trim_end_matches('/').replace("**/", "**");
                ArgumentRule::Glob(glob(&plain)?, glob(&format!("{plain}/**"))?)
            }
        };
        Some((glob(tool)?, argument))
    }

    /// Returns `true` if the hook should run. If unsure it runs: a gate that does not run has not agreed.
    pub(crate) fn holds(&self, tool: &str, args: &Value, directory: &str) -> bool {
        let Some((tools, rule)) = &self.0 else { return true };
        if !tools.matches(tool) {
            return false;
        }
        let Some(args) = args.as_object() else { return true };
        let is_main = |key: &str| MAIN_ARGUMENTS.contains(&key);
        // A model could add an argument so that it is compared instead of the one that the tool uses.
        !args.keys().any(|key| is_main(key))
            || args.iter().any(|(key, value)| {
                (is_main(key) || value.is_string()) && rule.may_match(key, value, directory)
            })
    }
}

impl ArgumentRule {
    fn may_match(&self, key: &str, value: &Value, directory: &str) -> bool {
        let Some(text) = value.as_str() else { return true };
        if key == "command" {
            // Operators include line breaks, which `words` turns into spaces.
            return text.contains(SHELL_OPERATORS) || self.may_match_command(&words(text));
        }
        if key == "url" {
            let lower = text.to_ascii_lowercase();
            return self.matches(text) || self.matches(&lower);
        }
        // The same file has many paths.
        if text.split('/').any(|part| matches!(part, "." | "..")) || text.contains("//") {
            return true;
        }
        // Rules about files are usually relative to the project, or to any directory above the file.
        let relative = text.strip_prefix(directory.trim_end_matches('/')).unwrap_or(text);
        let tails = relative.match_indices('/').filter_map(|(at, _)| relative.get(at.saturating_add(1)..));
        core::iter::once(text).chain(core::iter::once(relative)).chain(tails).any(|text| self.matches(text))
    }

    fn may_match_command(&self, text: &str) -> bool {
        let count = match self {
            Self::Prefix(prefix) => prefix.split(' ').count(),
            Self::Any | Self::Glob(..) => usize::MAX,
        };
        let first = text.split(' ').next().unwrap_or(text);
        let name = first.rsplit('/').next().unwrap_or(first);
        let is_unclear =
            text.split(' ').take(count).any(|word| word.contains(WORD_SYNTAX)) || WRAPPERS.contains(&name);
        let by_name = text.replacen(first, name, 1);
        is_unclear || self.matches(text) || self.matches(&by_name)
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Self::Glob(own, inside) => own.matches(text) || inside.matches(text),
        }
    }
}

/// Returns text with single spaces between words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn compile(pattern: &str) -> Option<Regex> {
    let config = Regex::config().nfa_size_limit(Some(PATTERN_BYTES)).onepass(false).utf8_empty(false);
    // JavaScript's classes such as `\w` are ASCII too.
    let syntax = regex_automata::util::syntax::Config::new().unicode(false).utf8(false);
    Regex::builder().configure(config).syntax(syntax).build(pattern).ok()
}

/// Converts a glob to an anchored expression. Returns `None` if a class or an escape is not closed.
fn glob_expression(glob: &str, star: &str, any: &str) -> Option<String> {
    let mut out = String::from("(?s)^");
    let mut rest = glob.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '*' => out.push_str(star),
            '?' => out.push_str(any),
            '\\' => push_literal(rest.next()?, &mut out),
            '[' => {
                out.push('[');
                if rest.next_if(|next| matches!(next, '^' | '!')).is_some() {
                    out.push('^');
                }
                let mut count = 0_usize;
                loop {
                    match rest.next()? {
                        ']' if count > 0 => break,
                        '-' if count > 0 && rest.peek() != Some(&']') => out.push('-'),
                        '\\' => push_literal(rest.next()?, &mut out),
                        other => push_literal(other, &mut out),
                    }
                    count = count.saturating_add(1);
                }
                out.push(']');
            }
            other => push_literal(other, &mut out),
        }
    }
    out.push('$');
    Some(out)
}

/// Appends a character without a special meaning in expressions and classes.
fn push_literal(character: char, out: &mut String) {
    if character.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(character);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claude(text: &str, name: &str) -> bool {
        Matcher::of_claude(text, ListSyntax::Wide).unwrap().matches(name)
    }

    #[test]
    fn names_are_exact_and_expressions_are_not_anchored() {
        assert!(claude("Bash", "Bash") && !claude("Bash", "BashOutput"));
        assert!(claude("Edit|Write", "Write") && !claude("Edit|Write", "NotebookEdit"));
        assert!(claude("Edit, Write", "Write") && claude("a-b", "a-b") && !claude("a-b", "a-bc"));
        assert!(claude("Edit.*", "NotebookEdit") && claude("^mcp__", "mcp__x") && !claude("^mcp__", "Bash"));
        assert!(claude("", "x") && claude("*", "x") && Matcher::of_claude("|", ListSyntax::Wide).is_none());
        assert!(claude(r"mcp__\w+__write", "mcp__a__write") && claude("caf\u{e9}.", "caf\u{e9}s"));
        assert!(Matcher::of_claude("(", ListSyntax::Wide).is_none());
        assert!(Matcher::of_claude("(a{1000}){1000}", ListSyntax::Wide).is_none());
        let narrow = Matcher::of_claude(".env, x", ListSyntax::Narrow).unwrap();
        assert!(!narrow.matches(".env"), "a comma is part of the expression here");
    }

    #[test]
    fn globs_are_those_of_go() {
        let gnoma = |glob: &str, name: &str| Matcher::of_gnoma(glob).unwrap().matches(name);
        assert!(gnoma("fs.*", "fs.read") && !gnoma("fs.*", "fsxread") && !gnoma("fs*", "fs/read"));
        assert!(gnoma("[a-c]?", "bz") && !gnoma("[^a-c]?", "bz") && gnoma("\\*", "*") && gnoma("[]-]", "-"));
        assert!(Matcher::of_gnoma("[a").is_none() && Matcher::of_gnoma("\\").is_none());
    }

    #[test]
    fn a_permission_rule_is_not_an_expression_with_groups() {
        for never in [
            "Write(docs/**)",
            "Bash(git:*)",
            "Edit(src/*)|Write(src/*)",
            "Write|Bash(git:*)",
            "bash",
            "edit|write",
            "tool == \"Bash\"",
            "/Bash/",
        ] {
            assert!(matches_no_tool(never), "{never}");
        }
        for name in [
            "(Write|Edit)",
            "mcp__(a|b)",
            "Bash",
            "Edit|MultiEdit|Write",
            "mcp__.*__write.*",
            "bash|Bash",
            "my-tool",
        ] {
            assert!(!matches_no_tool(name), "{name}");
        }
    }

    #[test]
    fn conditions_run_in_doubt() {
        let holds = |rule: &str, tool: &str, args: Value| Condition::read(rule).holds(tool, &args, "/home/x");
        assert!(holds("Bash(git:*)", "Bash", json!({"command": "git status"})));
        assert!(!holds("Bash(git:*)", "Bash", json!({"command": "ls"})));
        assert!(holds("Bash(git:*)", "Bash", json!({"command": "ls; rm x"})), "operators");
        assert!(holds("Bash(git:*)", "Bash", json!({"other": 1})), "no main argument");
        assert!(!holds("Bash", "Write", json!({})) && holds("mcp__*", "mcp__a", json!({})));
        assert!(holds("Edit(src/**)", "Edit", json!({"file_path": "/home/x/src/a/b.rs"})));
        assert!(!holds("Edit(src/**)", "Edit", json!({"file_path": "/home/x/doc/b.rs"})));
        for unreadable in
            ["Edit(src", "", "Bash|Edit", "Bash (ls:*)", "Edit(~/x)", "Edit(/etc/**)", "WebFetch(domain:x.y)"]
        {
            assert!(holds(unreadable, "Other", json!({"command": "x"})), "{unreadable}");
        }
        for hidden in ["\\rm x", "\"rm\" x", " rm x", "X=1 rm x", "ls; rm x"] {
            assert!(holds("Bash(rm:*)", "Bash", json!({"command": hidden})), "{hidden}");
        }
        assert!(!holds("Bash(rm:*)", "Bash", json!({"command": "echo \"rm\""})));
        for (rule, command) in [
            ("rm -rf:*", "rm  -rf /"),
            ("git push:*", "git \"push\""),
            ("git push *", "git p[u]sh"),
            ("rm:*", "/bin/rm x"),
            ("rm:*", "command rm x"),
            ("", "x"),
        ] {
            assert!(holds(&format!("Bash({rule})"), "Bash", json!({"command": command})), "{rule} {command}");
        }
        for (rule, path) in [
            ("src/**/*.rs", "src/a.rs"),
            ("**/node_modules/**", "pkg/node_modules/a"),
            ("src/", "src/a"),
            ("secrets", "secrets/a"),
            ("caf?", "caf\u{e9}"),
        ] {
            assert!(holds(&format!("Edit({rule})"), "Edit", json!({"file_path": path})), "{rule} {path}");
            assert!(!holds(&format!("Edit({rule})"), "Edit", json!({"file_path": "doc/other.md"})), "{rule}");
        }
        assert!(holds(
            "NotebookEdit(s.ipynb)",
            "NotebookEdit",
            json!({"notebook_path": "s.ipynb", "path": "x"})
        ));
        assert!(holds("WebFetch(https://evil.com*)", "WebFetch", json!({"url": "HTTPS://Evil.com/x"})));
        assert!(
            holds("Edit(src/**)", "Edit", json!({"command": "x", "file_path": "src/a"})),
            "not the first argument"
        );
        assert!(holds("Bash(rm:*)", "Bash", json!({"command": ["rm"], "path": "x"})), "not a string");
        assert!(holds("Edit(src/**)", "Edit", json!({"file_path": "doc/../src/a"})));
        assert!(holds("Edit(**/.env)", "Edit", json!({"file_path": ".env"})));
        assert!(holds("Edit(.env)", "Edit", json!({"file_path": "sub/.env"})));
        assert!(holds("Bash(git push *)", "Bash", json!({"command": "git push"})));
    }
}
