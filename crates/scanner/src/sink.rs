//! Where lenses put what they see: names, modules, commands, keys, embedded code. It asks the rules and keeps hits.

use crate::entry::{Lens, Role};
use crate::keys;
use crate::lex::data::KeyPath;
use crate::modules;
use crate::names::{Names, Node, Word};
use crate::rules::{Arg0, CommandMatcher, Declared, MatcherKind, NO_LENS, Rules};
use crate::view::{How, View};

/// A match of one matcher, in offsets of the text that was lexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Hit {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) matcher: u16,
    pub(crate) how: How,
    /// How the place is set apart from the rest of its file.
    pub(crate) lowered: Lowered,
}

/// How a place is set apart from the rest of its file, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Lowered {
    /// The host runs it when the file is used: a `!` command.
    Executed,
    /// Not at all.
    #[default]
    No,
    /// Code that prose shows: a fence, a code span.
    Shown,
    /// A quotation or code in documentation: it counts one step less in every profile.
    Yes,
}

/// Code of another language, or of the same, inside a file.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) lens: Lens,
    pub(crate) text: EmbeddedText,
    pub(crate) lowered: Lowered,
}

#[derive(Debug)]
pub(crate) enum EmbeddedText {
    /// A range of the text that was lexed.
    Range(usize, usize),
    /// Decoded text with its map to the text that was lexed.
    View(View),
}

/// What a call's arguments look like.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    pub(crate) first: FirstArg,
    /// The constant texts among the arguments, joined by blanks; filled only where a matcher asks.
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

/// How a module was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Specifier<'a> {
    /// A constant.
    Known(&'a [u8]),
    /// A name that is not constant.
    Computed,
}

/// One simple command of a shell.
pub(crate) struct Command<'a> {
    /// The program as the table knows it, its folder dropped; 0 where no rule names it.
    pub(crate) program: Word,
    /// What had to be undone to read the program.
    pub(crate) how: How,
    /// The arguments, decoded, joined by one blank.
    pub(crate) args: &'a [u8],
    /// What had to be undone to read a range of the arguments.
    pub(crate) undone: &'a dyn Fn(usize, usize) -> How,
    /// The programs that feed it, as bits of the table.
    pub(crate) sources: u128,
    /// What had to be undone to read those.
    pub(crate) fed: How,
    /// Targets of redirections, with the operator in front.
    pub(crate) redirects: &'a [(Vec<u8>, How)],
    pub(crate) span: (usize, usize),
}

/// A file that code names as something to load, run or evaluate, and what reads it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) lens: Lens,
    pub(crate) path: String,
}

/// A limit that a lens met, with the range that went unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Collects what one text gives.
#[derive(Debug)]
pub(crate) struct Sink<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) lens: u8,
    pub(crate) path: &'r str,
    pub(crate) role: Role,
    /// How deep the text is embedded in its file.
    pub(crate) depth: usize,
    pub(crate) packages: &'r [String],
    pub(crate) hits: Vec<Hit>,
    pub(crate) embedded: Vec<Embedded>,
    pub(crate) unread: Vec<Unread>,
    /// Files that the text names as something to load, run or evaluate, in its own language.
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
            role: Role::Other,
            depth: 0,
            packages,
            hits: Vec::new(),
            embedded: Vec::new(),
            unread: Vec::new(),
            named: Vec::new(),
            named_as: Vec::new(),
        }
    }

    /// Keeps a hit if the matcher's rule looks at this language.
    pub(crate) fn hit(&mut self, matcher: u16, span: (usize, usize), how: How) {
        if self.rules.matcher(matcher).is_some_and(|known| known.langs & self.lens != 0) {
            let (start, end) = (small(span.0), small(span.1));
            self.hits.push(Hit { start, end, matcher, how, lowered: Lowered::No });
        }
    }

    /// Fires a named detector.
    pub(crate) fn shape(&mut self, name: &str, span: (usize, usize), how: How) {
        for matcher in self.rules.shape(name) {
            self.hit(*matcher, span, how);
        }
    }

    /// Says whether a node's calls ask for constant arguments.
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

    /// A call of a resolved name.
    pub(crate) fn call(
        &mut self,
        names: &Names,
        node: Node,
        own: Own,
        args: &Args,
        span: (usize, usize),
        how: How,
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
            if role && first && constants && !(own == Own::Declared && *declared == Declared::Own) {
                self.hit(matcher, span, how);
            }
        }
    }

    /// A use of a resolved name that is no call of it.
    pub(crate) fn member(&mut self, names: &Names, node: Node, own: Own, span: (usize, usize), how: How) {
        let Some(data) = names.node(node) else { return };
        self.named_hits(&data.member, own, span, how);
    }

    /// A write to a resolved name.
    pub(crate) fn assign(&mut self, names: &Names, node: Node, own: Own, span: (usize, usize), how: How) {
        let Some(data) = names.node(node) else { return };
        self.named_hits(&data.assign, own, span, how);
    }

    /// A resolved name is taken away. Where the value counts that is written there is none.
    pub(crate) fn removed(&mut self, names: &Names, node: Node, own: Own, span: (usize, usize), how: How) {
        let Some(data) = names.node(node) else { return };
        let rules = self.rules;
        let any = |matcher: &u16| {
            let kind = rules.matcher(*matcher).map(|known| &known.kind);
            matches!(kind, Some(MatcherKind::Name { check: None, .. }))
        };
        let left: Vec<u16> = data.assign.iter().copied().filter(any).collect();
        self.named_hits(&left, own, span, how);
    }

    fn named_hits(&mut self, matchers: &[u16], own: Own, span: (usize, usize), how: How) {
        for &matcher in matchers {
            let kind = self.rules.matcher(matcher).map(|known| &known.kind);
            let Some(MatcherKind::Name { declared, roles, .. }) = kind else { continue };
            if roles & self.role.bit() != 0 && !(own == Own::Declared && *declared == Declared::Own) {
                self.hit(matcher, span, how);
            }
        }
    }

    /// A module that is asked for.
    pub(crate) fn module(&mut self, specifier: Specifier<'_>, span: (usize, usize), how: How) {
        if let Specifier::Known(text) = specifier
            && !text.is_ascii()
            && core::str::from_utf8(text).is_ok_and(crate::unicode::has_zero_width)
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

    /// A simple command.
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

    /// The matchers of kind `key` that look at this file, in rising order, asked for once.
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

    /// A key with its value in a `data` file. `among` are the matchers of this file.
    pub(crate) fn key(
        &mut self,
        among: &[u16],
        path: &KeyPath,
        value: &[u8],
        span: (usize, usize),
        how: How,
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

    /// Code inside the text.
    pub(crate) fn embed(&mut self, lens: Lens, text: EmbeddedText) {
        self.embedded.push(Embedded { lens, text, lowered: Lowered::No });
    }
}

/// Says whether a command is what a matcher looks for, and what had to be undone in what it looked at.
fn command_fits(wanted: &CommandMatcher, command: &Command<'_>) -> Option<How> {
    if wanted.piped_from != 0 && wanted.piped_from & command.sources == 0 {
        return None;
    }
    if wanted.not_piped_from & command.sources != 0 {
        return None;
    }
    let mut how = if wanted.piped_from == 0 { How::NONE } else { command.fed };
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
pub(crate) enum Own {
    #[default]
    No,
    Declared,
}
