//! The effects of library calls on their arguments, from `rules/calls.toml`.

use plugward_readers::Language;
use serde::Deserialize;

/// The text of the table. The digest of the rules covers it.
pub(crate) const TABLE: &str = include_str!("../../rules/calls.toml");

/// The effects of a call, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Effects(u16);

impl Effects {
    /// Sends its arguments to another host, and returns that host's answer.
    pub(crate) const SENDS: Self = Self(1);
    /// Runs its first argument as code. The result is not the data.
    pub(crate) const RUNS: Self = Self(2);
    /// Starts the program that its arguments name. The result is not the data.
    pub(crate) const STARTS: Self = Self(4);
    /// Decodes its argument.
    pub(crate) const DECODES: Self = Self(8);
    /// Writes its arguments to a file.
    pub(crate) const WRITES: Self = Self(16);
    /// Passes its arguments to a program that the code started.
    pub(crate) const FEEDS: Self = Self(32);
    /// Returns credentials.
    pub(crate) const SECRETS: Self = Self(64);
    /// Returns one secret, or data of the user such as the clipboard.
    pub(crate) const NAMES: Self = Self(128);
    /// Returns what another host sends.
    pub(crate) const RECEIVES: Self = Self(256);

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSource {
    version: u32,
    js: LanguageSource,
    py: LanguageSource,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageSource {
    sends: Vec<String>,
    runs: Vec<String>,
    starts: Vec<String>,
    decodes: Vec<String>,
    writes: Vec<String>,
    feeds: Vec<String>,
    secrets: Vec<String>,
    names: Vec<String>,
    receives: Vec<String>,
}

/// The calls of one language, sorted by name.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<(String, Effects)>);

impl Calls {
    /// Parses the built-in table.
    pub(crate) fn builtin(language: Language) -> Result<Self, String> {
        let parsed: FileSource = toml::from_str(TABLE).map_err(|error| error.message().to_owned())?;
        if parsed.version != 1 {
            return Err(format!("version {} of the table of calls", parsed.version));
        }
        let source = match language {
            Language::JavaScript => parsed.js,
            Language::Python => parsed.py,
        };
        let lists = [
            (Effects::SENDS, source.sends),
            (Effects::RUNS, source.runs),
            (Effects::STARTS, source.starts),
            (Effects::DECODES, source.decodes),
            (Effects::WRITES, source.writes),
            (Effects::FEEDS, source.feeds),
            (Effects::SECRETS, source.secrets),
            (Effects::NAMES, source.names),
            (Effects::RECEIVES, source.receives),
        ];
        let mut all: Vec<(String, Effects)> = Vec::new();
        for (effect, names) in lists {
            for name in names {
                expand("", &name, &mut |name| all.push((name, effect)));
            }
        }
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 = Effects(first.1.0 | later.1.0);
            }
            same
        });
        Ok(Self(all))
    }

    /// Returns the effects of a call of this name.
    pub(crate) fn effects(&self, path: &str) -> Effects {
        self.exact(path)
            .or_else(|| {
                let (object, _) = path.rsplit_once('.')?;
                self.exact(&[object, ".*"].concat())
            })
            .unwrap_or_default()
    }

    fn exact(&self, path: &str) -> Option<Effects> {
        let at = self.0.binary_search_by(|(name, _)| name.as_str().cmp(path)).ok()?;
        self.0.get(at).map(|(_, effects)| *effects)
    }

    /// Returns `true` if the table contains a name or a longer one that begins with it.
    pub(crate) fn knows(&self, path: &str) -> bool {
        let begins = |start: String| {
            let at = self.0.partition_point(|(name, _)| *name < start);
            self.0.get(at).is_some_and(|(name, _)| name.starts_with(&start))
        };
        self.exact(path).is_some() || begins([path, "."].concat()) || begins([path, "("].concat())
    }
}

/// Calls `found` with each name that a text with `{a,b}` stands for.
fn expand(head: &str, rest: &str, found: &mut dyn FnMut(String)) {
    let parts = rest
        .split_once('{')
        .and_then(|(before, more)| more.split_once('}').map(|(choices, after)| (before, choices, after)));
    match parts {
        None => found([head, rest].concat()),
        Some((before, choices, after)) => {
            for choice in choices.split(',') {
                expand(&[head, before, choice].concat(), after, found);
            }
        }
    }
}
