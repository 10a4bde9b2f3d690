//! The settings of a run.

pub(crate) mod allow;

use plugward_types::{Timestamp, glob};
use serde::Deserialize;
use toml::de::DeValue;

use crate::syntax::toml_table::{dig, line_at};
use crate::{FenceError, LintRule};

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct FenceConfig {
    /// Packages that define capability types.
    pub capability_crates: Vec<String>,
    /// The pattern of a capability type's name; `*` matches any text.
    pub type_glob: String,
    /// Names that match the pattern and are not capabilities.
    pub exclude_types: Vec<String>,
    /// The functions that may construct; empty means any function named `mint`.
    pub chokepoint: Vec<String>,
    /// The type whose value is needed to construct, inside the capability crates.
    pub grant_type: Option<String>,
    /// The functions that may call the mint.
    pub mint_callers: Vec<String>,
    /// Other functions with listed callers.
    pub restricted: Vec<RestrictedFunction>,
    /// Features of a capability crate that only tests may enable.
    pub test_only_features: Vec<String>,
    /// Attributes that mark a function as a test.
    pub test_attributes: Vec<String>,
    /// Further derives that rule F09 reports.
    pub extra_derives: Vec<String>,
    /// `true` if capability crates and their dependents have to forbid unsafe code, as they do by default.
    pub require_forbid_unsafe: bool,
    /// The least number of source files. A run over fewer is undecided, since the path was probably wrong.
    pub min_files: usize,
    /// The type whose methods may report a race, for rule E01.
    pub race: Option<RaceConfig>,
    /// Known findings.
    pub allow: Vec<AllowEntry>,
    /// `true` if every member counts as a dependent.
    #[serde(skip)]
    pub assume_all_dependents: bool,
    /// The day of the run as `YYYY-MM-DD`. Without it no allow expires.
    #[serde(skip)]
    pub today: Option<String>,
    /// The file that the config comes from, for messages.
    #[serde(skip)]
    pub(crate) origin: String,
}

/// A function with listed callers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RestrictedFunction {
    /// The path of the function, starting with the crate's name in code.
    pub path: String,
    /// The modules and functions that may call it.
    pub callers: Vec<String>,
}

/// The type whose methods may report a race.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct RaceConfig {
    /// Packages that define the type.
    pub crates: Vec<String>,
    /// The type's name.
    #[serde(rename = "type")]
    pub ty: String,
    /// Methods whose result may report a race.
    pub methods: Vec<String>,
    /// Methods that count on every receiver, also of an unknown type.
    #[serde(default)]
    pub unique_methods: Vec<String>,
    /// Names whose use shows that the code handles the race.
    #[serde(default)]
    pub names: Vec<String>,
}

/// A number of known findings, with a reason and an expiry date.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AllowEntry {
    /// The code of the rule.
    pub rule: String,
    /// The file, relative to the workspace root.
    pub path: String,
    /// The item around the findings; `None` matches the whole file.
    pub item: Option<String>,
    /// The exact number of findings.
    pub count: usize,
    /// Why the findings are accepted.
    pub reason: String,
    /// The last valid day, `YYYY-MM-DD`.
    pub expires: String,
    /// Its line in the config.
    #[serde(skip)]
    pub(crate) line: u32,
}

/// The capability crate that is used if the config names none.
pub(crate) const DEFAULT_CRATE: &str = "plugward-capability";

impl FenceConfig {
    /// Creates the default config for these capability crates.
    #[must_use]
    pub fn for_crates(capability_crates: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        Self {
            capability_crates: owned(capability_crates),
            type_glob: "*Capability".to_owned(),
            exclude_types: Vec::new(),
            chokepoint: Vec::new(),
            grant_type: None,
            mint_callers: Vec::new(),
            restricted: Vec::new(),
            test_only_features: owned(&["test-util"]),
            test_attributes: owned(&["tokio::test", "async_std::test", "rstest::rstest"]),
            extra_derives: Vec::new(),
            require_forbid_unsafe: true,
            min_files: 1,
            race: None,
            allow: Vec::new(),
            assume_all_dependents: false,
            today: None,
            origin: "the defaults".to_owned(),
        }
    }

    /// Parses a TOML text with the keys at top level.
    ///
    /// `origin` is the file name for messages.
    ///
    /// # Errors
    /// `fence/config`: the text is not TOML, or a key is unknown, has the wrong type or an invalid value.
    ///
    /// # Examples
    /// ```
    /// let config = plugward_fence::FenceConfig::parse("capability-crates = [\"caps\"]", "fence.toml")?;
    /// assert_eq!(config.capability_crates, ["caps"]);
    /// assert_eq!(config.type_glob, "*Capability");
    /// # Ok::<(), plugward_fence::FenceError>(())
    /// ```
    pub fn parse(text: &str, origin: &str) -> Result<Self, FenceError> {
        let document = toml::de::DeTable::parse(text).map_err(|error| fault(text, origin, 0, &error))?;
        let span = document.span();
        Self::read(text, origin, &toml::Spanned::new(span, DeValue::Table(document.into_inner())))
    }

    /// Reads the table at `path` (keys from the outside in) of a manifest; `None` if the table does not
    /// exist.
    pub(crate) fn from_manifest(text: &str, origin: &str, path: &[&str]) -> Result<Option<Self>, FenceError> {
        let document = toml::de::DeTable::parse(text).map_err(|error| fault(text, origin, 0, &error))?;
        dig(document.get_ref(), path).map(|block| Self::read(text, origin, block)).transpose()
    }

    fn read(text: &str, origin: &str, block: &toml::Spanned<DeValue<'_>>) -> Result<Self, FenceError> {
        let deserializer = toml::de::ValueDeserializer::from(block.clone());
        let mut config = Self::deserialize(deserializer)
            .map_err(|error| fault(text, origin, block.span().start, &error))?;
        origin.clone_into(&mut config.origin);
        let allows =
            block.get_ref().as_table().and_then(|table| dig(table, &["allow"])?.get_ref().as_array());
        for (allow, written) in config.allow.iter_mut().zip(allows.into_iter().flatten()) {
            allow.line = line_at(text, written.span().start);
        }
        config.check()?;
        Ok(config)
    }

    /// Checks the values that can be judged without the workspace.
    fn check(&self) -> Result<(), FenceError> {
        let bad = |problem: String| Err(FenceError::config(self.origin.clone(), problem));
        if !self.type_glob.contains('*') {
            return bad(format!("`type-glob` is {:?}: expected a `*` for the varying part", self.type_glob));
        }
        for allow in &self.allow {
            let place = format!("{}:{}", self.origin, allow.line);
            let wrong = |problem: String| Err(FenceError::config(place.clone(), problem));
            match LintRule::from_code(&allow.rule) {
                None => return wrong(format!("`rule` is {:?}: expected F01 to F12 or E01", allow.rule)),
                Some(LintRule::F13) => return wrong("F13 cannot be allowed".to_owned()),
                Some(_) => {}
            }
            if !is_date(&allow.expires) {
                return wrong(format!("`expires` is {:?}: expected YYYY-MM-DD", allow.expires));
            }
            if allow.reason.trim().is_empty() {
                return wrong("`reason` is empty: expected why the findings are accepted".to_owned());
            }
            if allow.count == 0 {
                return wrong("`count` is 0: expected at least 1".to_owned());
            }
        }
        Ok(())
    }

    /// Returns `true` if a type of this name in a capability crate is a capability.
    pub(crate) fn is_capability(&self, name: &str) -> bool {
        glob_with_stem(&self.type_glob, name) && !self.exclude_types.iter().any(|excluded| excluded == name)
    }

    /// Returns `true` if only tests may enable a feature.
    pub(crate) fn is_test_only(&self, feature: &str) -> bool {
        self.test_only_features.iter().any(|known| known == feature)
    }

    /// Returns `true` if a compiler option without quotes, such as `test` or `feature=x`, enables test-only code.
    pub(crate) fn is_test_cfg(&self, option: &str) -> bool {
        option == "test" || option.strip_prefix("feature=").is_some_and(|name| self.is_test_only(name))
    }

    /// Returns `true` if the function `name` of `home`, a module or type path, may construct.
    pub(crate) fn is_chokepoint(&self, home: &str, name: &str) -> bool {
        if self.chokepoint.is_empty() {
            return name == "mint";
        }
        self.chokepoint.iter().any(|path| path.rsplit_once("::") == Some((home, name)))
    }
}

fn fault(text: &str, origin: &str, start: usize, error: &toml::de::Error) -> FenceError {
    let at = error.span().map_or(start, |span| span.start);
    FenceError::config(format!("{origin}:{}", line_at(text, at)), error.message())
}

/// Returns `true` if a text is a valid date.
pub(crate) fn is_date(text: &str) -> bool {
    let date = text.parse::<toml::value::Datetime>();
    date.is_ok_and(|date| date.date.is_some() && date.time.is_none() && date.offset.is_none())
}

/// Matches a glob in which at least one `*` must match a character, so that `Capability` alone does not
/// match.
pub(crate) fn glob_with_stem(pattern: &str, name: &str) -> bool {
    // A `*` for no text would make the plain suffix itself a capability.
    let fixed = pattern.chars().filter(|one| *one != '*').count();
    name.chars().count() > fixed && glob::is_match(pattern, name)
}

impl Default for FenceConfig {
    fn default() -> Self {
        Self::for_crates(&[])
    }
}

/// Returns the date of a number of seconds since 1970 in UTC, as `YYYY-MM-DD`.
#[must_use]
pub fn day_of(seconds: u64) -> String {
    // Every exception has expired after the last year that a date can have.
    Timestamp::from_unix_seconds(seconds).map_or_else(|| "9999-12-31".to_owned(), Timestamp::day)
}
