//! The sink of a lexer's output: names, modules, commands, keys, embedded code. It applies the rules and collects hits.

use crate::known::modules;
use crate::lex::data::KeyPath;
use crate::rules::keys;
use crate::rules::names::{Names, Node, Word};
use crate::rules::{Arg0, CommandMatcher, Declared, MatcherKind, NO_LENS, Rules};
use crate::scan::entry::{FileKind, Lens};
use crate::text::near::FoundPart;
use crate::text::view::{Obfuscations, View};

/// A match of one matcher, in offsets of the lexed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Hit {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) matcher: u16,
    pub(crate) how: Obfuscations,
    /// How the position relates to the rest of its file.
    pub(crate) lowered: Lowered,
}

/// How a position relates to the rest of its file, the most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Lowered {
    /// The host runs it when it uses the file: a `!` command.
    Executed,
    /// Part of the file like any other.
    #[default]
    No,
    /// Code that prose shows: a fence, a code span.
    Shown,
    /// A quotation, or code in documentation: one tier lower in every profile.
    Yes,
}

/// Code inside a file, in the same or another language.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) lens: Lens,
    pub(crate) text: EmbeddedText,
    pub(crate) lowered: Lowered,
}

#[derive(Debug)]
pub(crate) enum EmbeddedText {
    /// A range of the lexed text.
    Range(usize, usize),
    /// Decoded text with its map to the lexed text.
    View(View),
}

/// A summary of a call's arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    pub(crate) first: FirstArg,
    /// The constant texts among the arguments, joined by blanks; filled only if a matcher needs them.
    pub(crate) constants: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FirstArg {
    /// There is no argument.
    #[default]
    None,
    /// One constant text.
    Literal,
    /// Joined with a text.
    Text,
    /// Anything else.
    Other,
}

/// The specifier of a loaded module.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Specifier<'a> {
    /// A constant.
    Known(&'a [u8]),
    /// A name that is not constant.
    Computed,
}

/// One simple command of a shell.
pub(crate) struct Command<'a> {
    /// The id of the program without its directory; 0 if no rule names it.
    pub(crate) program: Word,
    /// How the program was obfuscated.
    pub(crate) how: Obfuscations,
    /// The arguments, decoded, joined by one blank.
    pub(crate) args: &'a [u8],
    /// Returns the obfuscation of a range of the arguments.
    pub(crate) undone: &'a dyn Fn(usize, usize) -> Obfuscations,
    /// The programs that feed it, as bits of the table.
    pub(crate) sources: u128,
    /// How those programs were obfuscated.
    pub(crate) fed: Obfuscations,
    /// The targets of redirections, with the operator first.
    pub(crate) redirects: &'a [(Vec<u8>, Obfuscations)],
    pub(crate) span: (usize, usize),
}

/// A file that code loads, runs or evaluates by name, and the language that reads it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) lens: Lens,
    pub(crate) path: String,
    pub(crate) part: CodePart,
}

/// The part of a named file that is code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodePart {
    /// The file.
    File,
    /// One of its texts, which the naming code starts or evaluates.
    Texts,
    /// One of its functions, to which a call gives credentials.
    GivenCredentials(u32, u32),
    /// The same with the records of an agent's session.
    GivenTranscript(u32, u32),
    /// The file, which becomes part of an agent's settings.
    Settings,
}

/// A limit that a lens met, with the unread range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Collects the hits of one text.
#[derive(Debug)]
pub(crate) struct Sink<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) lens: u8,
    pub(crate) path: &'r str,
    pub(crate) role: FileKind,
    /// How deep the text is embedded in its file.
    pub(crate) depth: usize,
    pub(crate) packages: &'r [String],
    pub(crate) hits: Vec<Hit>,
    /// Parts of instructions.
    pub(crate) parts: Vec<FoundPart>,
    pub(crate) embedded: Vec<Embedded>,
    pub(crate) unread: Vec<Unread>,
    /// Files that the text loads, runs or evaluates by name, in its own language.
    pub(crate) named: Vec<String>,
    /// The same in another language: `node x` in a shell.
    pub(crate) named_as: Vec<Named>,
}

fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl<'r> Sink<'r> {
    pub(crate) fn new(rules: &'r Rules, lens: Option<Lens>, path: &'r str, packages: &'r [String]) -> Self {
        Self {
            rules,
            lens: lens.map_or(NO_LENS, Lens::bit),
            path,
            role: FileKind::Other,
            depth: 0,
            packages,
            hits: Vec::new(),
            parts: Vec::new(),
            embedded: Vec::new(),
            unread: Vec::new(),
            named: Vec::new(),
            named_as: Vec::new(),
        }
    }

    /// Adds a hit if the matcher's rule applies to this language.
    pub(crate) fn hit(&mut self, matcher: u16, span: (usize, usize), how: Obfuscations) {
        if self.rules.matcher(matcher).is_some_and(|known| known.langs & self.lens != 0) {
            let (start, end) = (small(span.0), small(span.1));
            self.hits.push(Hit { start, end, matcher, how, lowered: Lowered::No });
        }
    }

    /// Fires the detector of a name.
    pub(crate) fn shape(&mut self, name: &str, span: (usize, usize), how: Obfuscations) {
        for matcher in self.rules.shape(name) {
            self.hit(*matcher, span, how);
        }
    }

    /// Returns `true` if a node's matchers need the constant arguments of its calls.
    pub(crate) fn wants_constants(&self, names: &Names, node: Node) -> bool {
        names.node(node).is_some_and(|data| {
            data.call.iter().any(|matcher| {
                matches!(
                    self.rules.matcher(*matcher).map(|known| &known.kind),
                    Some(MatcherKind::Name { argv: Some(_), .. } | MatcherKind::Name { check: Some(_), .. })
                )
            })
        })
    }

    /// Reports a call of a resolved name.
    pub(crate) fn call(
        &mut self,
        names: &Names,
        node: Node,
        own: Declaration,
        args: &Args,
        span: (usize, usize),
        how: Obfuscations,
    ) {
        let Some(data) = names.node(node) else { return };
        for &matcher in &data.call {
            let Some(MatcherKind::Name { arg0, argv, declared, roles, check }) =
                self.rules.matcher(matcher).map(|m| &m.kind)
            else {
                continue;
            };
            let first = match arg0 {
                Arg0::Any => true,
                Arg0::Literal => args.first == FirstArg::Literal,
                Arg0::Text => matches!(args.first, FirstArg::Literal | FirstArg::Text),
                Arg0::Computed => !matches!(args.first, FirstArg::Literal | FirstArg::None),
            };
            let constants = argv.as_ref().is_none_or(|argv| argv.get().is_match(&args.constants))
                && check.is_none_or(|check| keys::holds(check, b"", &args.constants, self.path));
            let role = roles & self.role.bit() != 0;
            // A file's own function of that name is not the one of the library, unless the rule wants both.
            if role && first && constants && !(own == Declaration::InFile && *declared == Declared::Own) {
                self.hit(matcher, span, how);
            }
        }
    }

    /// Reports a use of a resolved name other than a call.
    pub(crate) fn member(
        &mut self,
        names: &Names,
        node: Node,
        own: Declaration,
        span: (usize, usize),
        how: Obfuscations,
    ) {
        let Some(data) = names.node(node) else { return };
        self.named_hits(&data.member, own, span, how);
    }

    /// Reports a write to a resolved name.
    pub(crate) fn assign(
        &mut self,
        names: &Names,
        node: Node,
        own: Declaration,
        span: (usize, usize),
        how: Obfuscations,
    ) {
        let Some(data) = names.node(node) else { return };
        self.named_hits(&data.assign, own, span, how);
    }

    /// Reports the removal of a resolved name. Matchers that check the written value do not fire, since there is none.
    pub(crate) fn removed(
        &mut self,
        names: &Names,
        node: Node,
        own: Declaration,
        span: (usize, usize),
        how: Obfuscations,
    ) {
        let Some(data) = names.node(node) else { return };
        let rules = self.rules;
        let any = |matcher: &u16| {
            let kind = rules.matcher(*matcher).map(|known| &known.kind);
            matches!(kind, Some(MatcherKind::Name { check: None, .. }))
        };
        let left: Vec<u16> = data.assign.iter().copied().filter(any).collect();
        self.named_hits(&left, own, span, how);
    }

    fn named_hits(&mut self, matchers: &[u16], own: Declaration, span: (usize, usize), how: Obfuscations) {
        for &matcher in matchers {
            let kind = self.rules.matcher(matcher).map(|known| &known.kind);
            let Some(MatcherKind::Name { declared, roles, .. }) = kind else { continue };
            if roles & self.role.bit() != 0 && !(own == Declaration::InFile && *declared == Declared::Own) {
                self.hit(matcher, span, how);
            }
        }
    }

    /// Reports a loaded module.
    pub(crate) fn module(&mut self, specifier: Specifier<'_>, span: (usize, usize), how: Obfuscations) {
        if let Specifier::Known(text) = specifier
            && !text.is_ascii()
            && core::str::from_utf8(text).is_ok_and(crate::text::unicode::has_zero_width)
        {
            self.shape("unicode-zero-width-code", span, how);
        }
        let sets = modules::sets(specifier, self.path, self.packages);
        let rules = self.rules;
        for &matcher in &rules.modules {
            let kind = rules.matcher(matcher).map(|known| &known.kind);
            let Some(MatcherKind::Module { names, sets: wanted }) = kind else { continue };
            let named = match specifier {
                Specifier::Known(text) => modules::is_named(names, text),
                Specifier::Computed => false,
            };
            if named || wanted & sets != 0 {
                self.hit(matcher, span, how);
            }
        }
    }

    /// Reports a simple command.
    pub(crate) fn command(&mut self, command: &Command<'_>) {
        let rules = self.rules;
        for matcher in rules.commands.matchers(command.program) {
            let kind = rules.matcher(matcher).map(|known| &known.kind);
            let Some(MatcherKind::Command(wanted)) = kind else { continue };
            let named = |pattern: &String| modules::file_matches(pattern, self.path);
            let here = (wanted.files.is_empty() || wanted.files.iter().any(named))
                && wanted.check.is_none_or(|check| keys::holds(check, b"", command.args, self.path));
            if let Some(how) = command_fits(wanted, command).filter(|_| here) {
                self.hit(matcher, command.span, command.how.and(how));
            }
        }
    }

    /// Returns the matchers of kind `key` for this file, in rising order. It is called once per file.
    pub(crate) fn keys_here(&self) -> Vec<u16> {
        let here = |matcher: &&u16| {
            self.rules.matcher(**matcher).is_some_and(|known| {
                let MatcherKind::Key(wanted) = &known.kind else { return false };
                let named = |pattern: &String| modules::file_matches(pattern, self.path);
                known.langs & self.lens != 0
                    && (wanted.files.is_empty() || wanted.files.iter().any(named))
                    && wanted.roles & self.role.bit() != 0
            })
        };
        self.rules.keys.iter().filter(here).copied().collect()
    }

    /// Reports a key with its value in a `data` file. `among` are the matchers of this file.
    pub(crate) fn key(
        &mut self,
        among: &[u16],
        path: &KeyPath,
        value: &[u8],
        span: (usize, usize),
        how: Obfuscations,
    ) {
        let rules = self.rules;
        for matcher in rules.key_index.of(path) {
            let kind = rules.matcher(matcher).map(|known| &known.kind);
            let Some(MatcherKind::Key(wanted)) = kind else { continue };
            if among.binary_search(&matcher).is_err() {
                continue;
            }
            if wanted.path.matches(path)
                && wanted.value.as_ref().is_none_or(|wanted| wanted.get().is_match(value))
                && wanted.check.is_none_or(|check| keys::holds(check, path.last(), value, self.path))
            {
                self.hit(matcher, span, how);
            }
        }
    }

    /// Adds code inside the text.
    pub(crate) fn embed(&mut self, lens: Lens, text: EmbeddedText) {
        self.embedded.push(Embedded { lens, text, lowered: Lowered::No });
    }
}

/// Returns the obfuscation of the compared parts if a command fits a matcher, or else `None`.
fn command_fits(wanted: &CommandMatcher, command: &Command<'_>) -> Option<Obfuscations> {
    if wanted.piped_from != 0 && wanted.piped_from & command.sources == 0 {
        return None;
    }
    if wanted.not_piped_from & command.sources != 0 {
        return None;
    }
    let mut how = if wanted.piped_from == 0 { Obfuscations::NONE } else { command.fed };
    if let Some(args) = &wanted.args {
        let found = args.get().find(command.args)?;
        how = how.and((command.undone)(found.start(), found.end()));
    }
    if let Some(redirect) = &wanted.redirect {
        let (_, undone) = command.redirects.iter().find(|(to, _)| redirect.get().is_match(to))?;
        how = how.and(*undone);
    }
    Some(how)
}

/// Whether the file declares the name around its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Declaration {
    #[default]
    Elsewhere,
    InFile,
}
