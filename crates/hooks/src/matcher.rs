//! Whether a hook is meant for a call: matchers on the name, and `if` rules on the main argument.

use core::fmt;

use regex_automata::meta::Regex;
use serde_json::Value;

/// The largest compiled pattern. A longer one is refused instead of slowing each call down.
const PATTERN_BYTES: usize = 1 << 20;

/// The arguments that an `if` rule is compared with, the first one that exists.
const MAIN_ARGUMENTS: [&str; 4] = ["command", "file_path", "path", "url"];

/// Characters with which a shell runs more than one command, so that a rule about the first says too little.
const SHELL_OPERATORS: [char; 10] = [';', '&', '|', '<', '>', '$', '`', '(', ')', '\n'];

/// Which names a hook is for.
#[derive(Clone)]
pub(crate) enum Matcher {
    All,
    Names(Vec<String>),
    Pattern(Regex),
}

impl Matcher {
    /// Reads a matcher of Claude Code or Codex: empty, `*`, names, or an unanchored expression.
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
            return Some(Self::Names(names.filter(|name| !name.is_empty()).collect()));
        }
        compile(text).map(Self::Pattern)
    }

    /// Reads a tool pattern of gnoma, which is a glob of Go's `path.Match`.
    pub(crate) fn of_gnoma(glob: &str) -> Option<Self> {
        if glob.is_empty() {
            return Some(Self::All);
        }
        compile(&glob_expression(glob, "[^/]*", "[^/]")?).map(Self::Pattern)
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

/// Which characters a list of names can have besides letters, digits, `_` and `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListSyntax {
    /// Also `-`, space and `,`.
    Wide,
    /// No others: with them the matcher is an expression.
    Narrow,
}

/// Returns `true` for a permission rule such as `Write(docs/**)`, which is a valid expression that matches no tool.
pub(crate) fn is_permission_rule(text: &str) -> bool {
    let Some((tool, rest)) = text.split_once('(') else { return false };
    let is_tool = !tool.is_empty() && tool.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    is_tool && tool.starts_with(char::is_uppercase) && rest.ends_with(')') && !rest.contains('|')
}

/// The `if` of a handler: `Tool` or `Tool(pattern)`. It holds for every tool if it cannot be read.
#[derive(Debug, Clone)]
pub(crate) struct Condition(Option<(Matcher, ArgumentRule)>);

#[derive(Debug, Clone)]
enum ArgumentRule {
    Any,
    Prefix(String),
    Glob(Matcher),
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
        let glob = |text: &str| compile(&glob_expression(text, ".*", ".")?).map(Matcher::Pattern);
        let argument = match rest.strip_suffix(":*") {
            _ if rest == "*" => ArgumentRule::Any,
            Some(prefix) => ArgumentRule::Prefix(prefix.to_owned()),
            None => ArgumentRule::Glob(glob(rest)?),
        };
        Some((glob(tool)?, argument))
    }

    /// Returns `true` if the hook should run. In doubt it runs: a gate that stays out is not consent.
    pub(crate) fn holds(&self, tool: &str, args: &Value, directory: &str) -> bool {
        let Some((tools, rule)) = &self.0 else { return true };
        if !tools.matches(tool) {
            return false;
        }
        let Some((key, text)) = MAIN_ARGUMENTS.iter().find_map(|key| Some((*key, args.get(*key)?.as_str()?)))
        else {
            return true;
        };
        if key == "command" && text.contains(SHELL_OPERATORS) {
            return true;
        }
        // Rules about files are mostly written relative to the project.
        let relative = text.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
        let mut texts = core::iter::once(text).chain(relative);
        match rule {
            ArgumentRule::Any => true,
            ArgumentRule::Prefix(prefix) => texts.any(|text| text.starts_with(prefix.as_str())),
            ArgumentRule::Glob(glob) => texts.any(|text| glob.matches(text)),
        }
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    let config = Regex::config().nfa_size_limit(Some(PATTERN_BYTES)).onepass(false);
    Regex::builder().configure(config).build(pattern).ok()
}

/// Writes a glob as an anchored expression; `None` if a class or an escape has no end.
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

/// Writes one character so that neither an expression nor a class gives it a meaning.
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
        assert!(claude("", "x") && claude("*", "x"));
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
        assert!(is_permission_rule("Write(docs/**)") && is_permission_rule("Bash(git:*)"));
        assert!(!is_permission_rule("(Write|Edit)") && !is_permission_rule("mcp__(a|b)"));
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
        assert!(holds("Edit(src", "Edit", json!({})), "unreadable");
    }
}
