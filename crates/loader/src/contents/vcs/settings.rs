//! The settings of version control that run something.

use core::iter::Peekable;
use core::str::Chars;

/// Sections of git's configuration of which every variable can run something.
const SECTIONS: [&str; 6] = ["alias", "hook", "include", "includeif", "pager", "url"];
/// Values of a variable that is a program or a switch.
const SWITCHES: [&str; 9] = ["", "true", "false", "yes", "no", "on", "off", "1", "0"];
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

/// A setting.
#[derive(Debug, Default)]
pub(super) struct Setting {
    /// The section in lowercase, with its subsection if that is in the same word.
    section: String,
    /// The subsection in quotes, as written.
    subsection: Option<String>,
    /// The name in lowercase.
    pub(super) name: String,
    /// The value without quotes and comment; empty if there is none.
    pub(super) value: String,
    /// The line, from 0.
    line: usize,
}

impl Setting {
    /// Returns the section without the subsection.
    pub(super) fn kind(&self) -> &str {
        self.section.split('.').next().unwrap_or_default()
    }

    /// Returns `true` if git can run something because of it.
    pub(super) fn runs(&self) -> bool {
        let Self { name, value, .. } = self;
        let (kind, name) = (self.kind(), name.as_str());
        let is_listed = || {
            let names = VARIABLES.iter().find(|(section, _)| *section == kind);
            names.is_some_and(|(_, names)| names.contains(&name))
        };
        // The file system monitor can be a part of git. Everywhere else, `true` is a program or a directory.
        let is_switch = match name {
            "fsmonitor" => SWITCHES.iter().any(|switch| value.eq_ignore_ascii_case(switch)),
            "hookspath" => false,
            _ => value.is_empty(),
        };
        // A transport with another name is a program, and `ext::` runs any command.
        let is_command = (kind == "submodule" && name == "update" && value.starts_with('!'))
            || (kind == "remote" && matches!(name, "url" | "pushurl") && value.contains("::"));
        SECTIONS.contains(&kind) || (is_listed() && !is_switch) || is_command
    }

    /// Returns the setting as text that no other setting has.
    pub(super) fn row(&self) -> String {
        let Self { section, subsection, name, value, .. } = self;
        let subsection = subsection.as_ref().map(|text| format!(" {text:?}")).unwrap_or_default();
        format!("{section}{subsection}.{name} = {value:?}")
    }
}

/// The settings of a file.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) list: Vec<Setting>,
    /// Whether git accepts the file. It runs nothing otherwise, but another program may.
    pub(super) is_valid: bool,
}

/// Reads git's settings.
pub(super) fn git(bytes: &[u8]) -> Settings {
    let text = String::from_utf8_lossy(bytes);
    let rest = text.strip_prefix('\u{feff}').unwrap_or(&text).chars().peekable();
    let mut parser = Parser { rest, line: 0, section: String::new(), subsection: None, found: Vec::new() };
    let is_read = parser.file().is_some();
    // Other bytes have no text of their own, and git ends a value at a NUL.
    let is_text = core::str::from_utf8(bytes).is_ok() && !bytes.contains(&0);
    Settings { list: parser.found, is_valid: is_read && is_text }
}

/// A parser with the grammar of git's `config.c`. `None` is an error there.
struct Parser<'t> {
    rest: Peekable<Chars<'t>>,
    line: usize,
    section: String,
    subsection: Option<String>,
    found: Vec<Setting>,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        let c = if c == '\r' { self.rest.next_if_eq(&'\n').unwrap_or(c) } else { c };
        self.line = self.line.saturating_add(usize::from(c == '\n'));
        Some(c)
    }

    fn comment(&mut self) {
        while self.next().is_some_and(|c| c != '\n') {}
    }

    fn file(&mut self) -> Option<()> {
        while let Some(c) = self.next() {
            match c {
                '#' | ';' => self.comment(),
                '[' => self.header()?,
                c if is_blank(c) => {}
                c if c.is_ascii_alphabetic() => self.setting(c)?,
                _ => return None,
            }
        }
        Some(())
    }

    fn header(&mut self) -> Option<()> {
        self.section.clear();
        self.subsection = None;
        loop {
            match self.next()? {
                ']' => return Some(()),
                c if is_blank(c) => return self.subsection(c),
                c if is_key(c) || c == '.' => self.section.push(c.to_ascii_lowercase()),
                _ => return None,
            }
        }
    }

    fn subsection(&mut self, first: char) -> Option<()> {
        let mut c = first;
        while is_blank(c) {
            c = self.next().filter(|_| c != '\n')?;
        }
        if c != '"' {
            return None;
        }
        let mut text = String::new();
        loop {
            match self.next()? {
                '\n' => return None,
                '"' => break,
                '\\' => text.push(self.next().filter(|c| *c != '\n')?),
                c => text.push(c),
            }
        }
        self.subsection = Some(text);
        (self.next()? == ']').then_some(())
    }

    fn setting(&mut self, first: char) -> Option<()> {
        let line = self.line;
        let mut name = String::from(first.to_ascii_lowercase());
        let mut c = self.next();
        while let Some(key) = c.filter(|c| is_key(*c)) {
            name.push(key.to_ascii_lowercase());
            c = self.next();
        }
        while matches!(c, Some(' ' | '\t')) {
            c = self.next();
        }
        let value = match c {
            None | Some('\n') => String::new(),
            Some('=') => self.value()?,
            Some(_) => return None,
        };
        let (section, subsection) = (self.section.clone(), self.subsection.clone());
        self.found.push(Setting { section, subsection, name, value, line });
        Some(())
    }

    fn value(&mut self) -> Option<String> {
        let mut text = String::new();
        // The length without the blanks at the end, which count only in quotes or before a backslash.
        let mut len = 0;
        let mut is_quoted = false;
        loop {
            match self.next() {
                None | Some('\n') if is_quoted => return None,
                None | Some('\n') => break,
                Some('#' | ';') if !is_quoted => {
                    self.comment();
                    break;
                }
                Some(c) if is_blank(c) && !is_quoted => {
                    if !text.is_empty() {
                        text.push(c);
                    }
                    continue;
                }
                Some('"') => is_quoted = !is_quoted,
                Some('\\') => match self.next() {
                    None | Some('\n') => {}
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('b') => text.push('\u{8}'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    Some(_) => return None,
                },
                Some(c) => text.push(c),
            }
            len = text.len();
        }
        text.truncate(len);
        Some(text)
    }
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

const fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// Returns a shell script with the commands of settings, each in the line of its setting.
pub(super) fn git_script(settings: &Settings) -> String {
    let commands = settings.list.iter().filter(|one| one.runs());
    script(commands.map(|one| (one.line, one.value.as_str())))
}

/// Returns a shell script with the values of the settings of another program, each in the line of its setting.
pub(super) fn other_script(text: &str) -> String {
    let lines = text.lines().enumerate();
    let values = lines.filter_map(|(line, text)| {
        let text = text.trim();
        let (_, raw) = text.split_once('=').filter(|_| !text.starts_with(['#', ';', '[']))?;
        Some((line, words(raw.trim())))
    });
    script(values)
}

fn script(commands: impl Iterator<Item = (usize, impl AsRef<str>)>) -> String {
    let mut text = String::new();
    let mut at = 0_usize;
    for (line, command) in commands {
        text.push_str(&"\n".repeat(line.saturating_sub(at)));
        at = at.max(line);
        let command = command.as_ref().trim_start_matches('!');
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
        git(text.as_bytes()).list.iter().filter(|one| one.runs()).map(Setting::row).collect()
    }

    #[test]
    fn only_settings_that_run_something_count() {
        let quiet = "[core]\n\tbare = false\n\tfsmonitor = true\n[remote \"o\"]\n\turl = https://e.org/x\n\
                     [branch \"main\"]\n\tremote = o\n[user]\n\tname = a\n# [alias]\n[submodule \"s\"]\n\tupdate = none\n";
        assert_eq!(rows(quiet).len(), 0);
        for (text, row) in [
            ("[core]\nfsmonitor = sh x", "core.fsmonitor = \"sh x\""),
            ("[Core]\n\tFsMonitor=\\\nsh x", "core.fsmonitor = \"sh x\""),
            ("[alias] st = !sh x", "alias.st = \"!sh x\""),
            ("[filter \"a\"]\nsmudge = x", "filter \"a\".smudge = \"x\""),
            ("[includeIf \"gitdir:/\"]\npath = x", "includeif \"gitdir:/\".path = \"x\""),
            ("[submodule \"s\"]\nupdate = !x", "submodule \"s\".update = \"!x\""),
            ("[man.X]\ncmd = x", "man.x.cmd = \"x\""),
            ("[sendemail]\nsmtpServer = /x", "sendemail.smtpserver = \"/x\""),
            ("[url \"ext::sh\"]\ninsteadOf = x", "url \"ext::sh\".insteadof = \"x\""),
            ("[remote \"o\"]\nurl = ext::sh x", "remote \"o\".url = \"ext::sh x\""),
            ("[core]\nattributesFile = x", "core.attributesfile = \"x\""),
            ("[core]\nhooksPath = true", "core.hookspath = \"true\""),
        ] {
            assert_eq!(rows(text), [row], "{text}");
        }
    }

    #[test]
    fn files_have_the_grammar_of_git() {
        let monitor = "core.fsmonitor = \"sh x\"";
        for text in [
            "[user] [core]\n\tfsmonitor = sh x",
            "[user][core]fsmonitor=sh x\r\n",
            "[core]\n# note \\\n\tfsmonitor = sh x",
            "[core]\n\tbare = false # x \\\n\tfsmonitor = sh x",
            "[user]\n\tname = a\\\\\n[core]\n\tfsmonitor = sh x",
            "\u{feff}[core]\n\tfsmonitor = sh x",
            "[core]\n\tfsmonitor = s\"h x\" ; note",
            "[core]\n\tfsmonitor = sh\\\n x",
            "[user \"a\\\"]\"]\nname = x\n[core]\nfsmonitor = sh x",
        ] {
            assert_eq!(rows(text), [monitor], "{text}");
            assert!(git(text.as_bytes()).is_valid, "{text}");
        }
        for text in ["[core]\na = b\\\n\tfsmonitor = sh x", "[core]\na = \"b\\\n\tfsmonitor = sh x\""] {
            assert!(rows(text).is_empty() && git(text.as_bytes()).is_valid, "{text}");
        }
        for text in [
            "[core\nfsmonitor = sh x",
            "[core \"a]\nfsmonitor = sh x",
            "[core]\nfsmonitor sh x",
            "[core]\na = \"b\n",
            "[core]\na = \\x\n",
            "[core]\n= x",
            "[core]\na = b\0c",
        ] {
            assert!(!git(text.as_bytes()).is_valid, "{text}");
        }
        assert!(!git(b"[core]\na = \xff\n").is_valid);
    }

    #[test]
    fn commands_keep_their_lines() {
        let text =
            "[user]\n\tname = a\n[core]\n\tfsmonitor = \"sh -c \\\"a; b\\\"\" # c\n[alias]\n\tst = !d\n";
        assert_eq!(git_script(&git(text.as_bytes())), "\n\n\nsh -c \"a; b\"; \n\nd; ");
        assert_eq!(other_script("[ui]\npager = ['sh', '-c', 'a, b']\n"), "\n'sh'  '-c'  'a, b'; ");
    }
}
