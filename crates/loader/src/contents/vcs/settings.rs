//! The settings of version control that run something.

/// Sections of git's configuration of which every variable can run something.
const SECTIONS: [&str; 6] = ["alias", "hook", "include", "includeif", "pager", "url"];
/// Variables that can run something, by section, for any subsection.
const VARIABLES: [(&str, &[&str]); 23] = [
    (
        "core",
        &[
            "alternaterefscommand",
            "askpass",
            "attributesfile",
            "editor",
            "fsmonitor",
            "gitproxy",
            "hookspath",
            "pager",
            "sshcommand",
        ],
    ),
    ("browser", &["cmd", "path"]),
    ("credential", &["helper"]),
    ("diff", &["command", "external", "textconv"]),
    ("difftool", &["cmd", "path"]),
    ("filter", &["clean", "process", "smudge"]),
    ("gpg", &["defaultkeycommand", "program"]),
    ("guitool", &["cmd"]),
    ("imap", &["tunnel"]),
    ("init", &["templatedir"]),
    ("instaweb", &["browser", "httpd"]),
    ("interactive", &["difffilter"]),
    ("man", &["cmd", "path"]),
    ("merge", &["driver"]),
    ("mergetool", &["cmd", "path"]),
    ("protocol", &["allow"]),
    ("remote", &["receivepack", "uploadpack", "vcs"]),
    ("sendemail", &["cccmd", "headercmd", "sendmailcmd", "smtpserver", "tocmd"]),
    ("sequence", &["editor"]),
    ("tar", &["command"]),
    ("trailer", &["cmd", "command"]),
    ("uploadpack", &["packobjectshook"]),
    ("web", &["browser"]),
];

/// A line of settings.
#[derive(Debug, Default)]
pub(super) struct Setting {
    /// The section with its subsection, as written.
    section: String,
    /// The name in lowercase.
    pub(super) name: String,
    /// The value as written.
    raw: String,
    /// The line, from 0.
    line: usize,
}

impl Setting {
    /// Returns the section in lowercase, without the subsection.
    pub(super) fn kind(&self) -> String {
        self.section.split([' ', '\t', '.', '"']).next().unwrap_or_default().to_ascii_lowercase()
    }

    /// Returns the value without quotes and comment.
    pub(super) fn value(&self) -> String {
        unquoted(&self.raw)
    }

    /// Returns `true` if git can run something because of it.
    pub(super) fn runs(&self) -> bool {
        let kind = self.kind();
        let is_listed = || {
            let names = VARIABLES.iter().find(|(section, _)| *section == kind);
            names.is_some_and(|(_, names)| names.contains(&self.name.as_str()))
        };
        let is_switch = matches!(self.raw.as_str(), "" | "true" | "false");
        let value = self.value();
        // A transport with another name is a program, and `ext::` runs any command.
        let is_command = (kind == "submodule" && self.name == "update" && value.starts_with('!'))
            || (kind == "remote" && matches!(self.name.as_str(), "url" | "pushurl") && value.contains("::"));
        SECTIONS.contains(&kind.as_str()) || (is_listed() && !is_switch) || is_command
    }

    /// Returns the setting as one line.
    pub(super) fn row(&self) -> String {
        let Self { section, name, raw, .. } = self;
        format!("{section}.{name} = {raw}")
    }
}

/// Reads git's settings.
pub(super) fn git(text: &str) -> Vec<Setting> {
    read(text, Syntax::Git)
}

/// Returns a shell script with the commands of git's settings, each in the line of its setting.
pub(super) fn git_script(text: &str) -> String {
    let commands = git(text).into_iter().filter(Setting::runs);
    script(commands.map(|one| (one.line, one.value())))
}

/// Returns a shell script with the values of the settings of another program, each in the line of its setting.
pub(super) fn other_script(text: &str) -> String {
    script(read(text, Syntax::Other).into_iter().map(|one| (one.line, words(&one.raw))))
}

fn script(commands: impl Iterator<Item = (usize, String)>) -> String {
    let mut text = String::new();
    let mut at = 0_usize;
    for (line, command) in commands {
        text.push_str(&"\n".repeat(line.saturating_sub(at)));
        at = at.max(line);
        let command = command.trim_start_matches('!');
        text.push_str(&command.replace(['\n', '\r'], " "));
        text.push_str("; ");
    }
    text
}

/// Returns the words of a value, which can be a list of strings.
fn words(raw: &str) -> String {
    let raw = raw.strip_suffix(',').unwrap_or(raw).trim();
    let Some(list) = raw.strip_prefix('[').map(|list| list.strip_suffix(']').unwrap_or(list)) else {
        return unquoted(raw);
    };
    let mut quote = None;
    let separated = list.chars().map(|c| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, ',') => return ' ',
            _ => {}
        }
        c
    });
    separated.collect()
}

/// The syntax of a file of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// A line that ends with a backslash continues.
    Git,
    Other,
}

fn read(text: &str, syntax: Syntax) -> Vec<Setting> {
    let mut section = String::new();
    let mut found: Vec<Setting> = Vec::new();
    let mut continues = false;
    for (line, text) in text.lines().enumerate() {
        let (part, goes_on) = match text.strip_suffix('\\') {
            Some(part) if syntax == Syntax::Git => (part, true),
            _ => (text, false),
        };
        if core::mem::replace(&mut continues, goes_on) {
            if let Some(last) = found.last_mut() {
                last.raw.push_str(part.trim());
            }
            continue;
        }
        let mut rest = part.trim();
        if let Some(head) = rest.strip_prefix('[') {
            let (name, after) = head.split_once(']').unwrap_or((head, ""));
            name.trim().clone_into(&mut section);
            rest = after.trim();
        }
        let (name, raw) = rest.split_once('=').unwrap_or((rest, ""));
        let (name, raw) = (name.trim().to_ascii_lowercase(), raw.trim().to_owned());
        if !name.is_empty() && !name.starts_with(['#', ';']) {
            found.push(Setting { section: section.clone(), name, raw, line });
        }
    }
    found
}

/// Returns a value without quotes and without a comment after it.
fn unquoted(raw: &str) -> String {
    let mut text = String::new();
    let mut is_quoted = false;
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(c) => text.push(c),
                None => {}
            },
            c => text.push(c),
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        git(text).iter().filter(|one| one.runs()).map(Setting::row).collect()
    }

    #[test]
    fn only_settings_that_run_something_count() {
        let quiet = "[core]\n\tbare = false\n\tfsmonitor = true\n[remote \"o\"]\n\turl = https://e.org/x\n\
                     [branch \"main\"]\n\tremote = o\n[user]\n\tname = a\n# [alias]\n[submodule \"s\"]\n\tupdate = none\n";
        assert_eq!(rows(quiet).len(), 0);
        for (text, row) in [
            ("[core]\nfsmonitor = sh x", "core.fsmonitor = sh x"),
            ("[Core]\n\tFsMonitor=\\\nsh x", "Core.fsmonitor = sh x"),
            ("[alias] st = !sh x", "alias.st = !sh x"),
            ("[filter \"a\"]\nsmudge = x", "filter \"a\".smudge = x"),
            ("[includeIf \"gitdir:/\"]\npath = x", "includeIf \"gitdir:/\".path = x"),
            ("[submodule \"s\"]\nupdate = !x", "submodule \"s\".update = !x"),
            ("[man \"x\"]\ncmd = x", "man \"x\".cmd = x"),
            ("[sendemail]\nsmtpServer = /x", "sendemail.smtpserver = /x"),
            ("[url \"ext::sh\"]\ninsteadOf = x", "url \"ext::sh\".insteadof = x"),
            ("[remote \"o\"]\nurl = ext::sh x", "remote \"o\".url = ext::sh x"),
            ("[core]\nattributesFile = x", "core.attributesfile = x"),
        ] {
            assert_eq!(rows(text), [row], "{text}");
        }
    }

    #[test]
    fn commands_keep_their_lines() {
        let text =
            "[user]\n\tname = a\n[core]\n\tfsmonitor = \"sh -c \\\"a; b\\\"\" # c\n[alias]\n\tst = !d\n";
        assert_eq!(git_script(text), "\n\n\nsh -c \"a; b\"; \n\nd; ");
        assert_eq!(other_script("[ui]\npager = ['sh', '-c', 'a, b']\n"), "\n'sh'  '-c'  'a, b'; ");
    }
}
