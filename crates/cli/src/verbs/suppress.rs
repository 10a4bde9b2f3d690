//! `plugward suppress` and `unsuppress`: entries of `scan.suppress` in a settings file.
//!
//! An entry names one rule, one file and the digest of its contents, so it stops applying when the file changes. It is
//! written to the user's settings or to the file of `--policy`, which must be outside the plugin.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::{Finding, PluginReport, Trust};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::args::{SuppressArgs, UnsuppressArgs};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::output_file;
use crate::settings;
use crate::text::count;
use crate::verbs::shared::{self, PluginBytes};

/// The shortest reason, in characters, that the settings accept. One word explains nothing to the next reader.
const REASON: usize = 10;

pub(crate) fn suppress(args: &SuppressArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    if args.reason.trim() == "TEXT" {
        return Err(Failure::usage("`TEXT` stands for your reason")
            .help("replace it: say who looked, at what, and why it is not a danger"));
    }
    if args.reason.trim().chars().count() < REASON {
        return Err(Failure::usage(format!("the reason has fewer than {REASON} characters"))
            .help("say who looked, at what, and why it is not a danger"));
    }
    if let Some(day) = &args.expires
        && day.parse::<plugward_loader::scanner::Date>().is_err()
    {
        return Err(
            Failure::usage(format!("invalid date for --expires: {day}")).help("write it as YYYY-MM-DD")
        );
    }
    let named = shared::find(&args.plugin, Some(Trust::Tofu), PluginBytes::Discard, host, out)?;
    let plugin = &named.plugin;
    let mut files: Vec<&Finding> = plugin
        .findings
        .iter()
        .filter(|finding| finding.rule.as_str() == args.rule)
        .filter(|finding| args.path.as_deref().is_none_or(|path| finding.path == path))
        .collect();
    files.sort_by_key(|finding| (&finding.path, finding.digest));
    files.dedup_by_key(|finding| (&finding.path, finding.digest));
    if files.is_empty() {
        return Err(no_finding(args, plugin, &named.shown));
    }
    let target = Target::of(host)?;
    target.refuse_inside(plugin)?;
    let mut document = target.read()?;
    let entries = entries(&mut document, &target.path)?;
    let key = plugin.key.to_string();
    let mut added = Vec::new();
    for finding in &files {
        let mut entry = Table::new();
        entry.insert("plugin", value(target.name(plugin, &key)?));
        entry.insert("rule", value(finding.rule.as_str()));
        entry.insert("path", value(finding.path.as_str()));
        entry.insert("digest", value(finding.digest.to_string()));
        entry.insert("reason", value(args.reason.trim()));
        if let Some(day) = &args.expires {
            entry.insert("expires", value(day.as_str()));
        }
        added.push(entry);
    }
    // All old entries go first: one file can have several digests, if a finding covers several files.
    entries.retain(|old| !added.iter().any(|entry| is_same(old, entry)));
    for entry in added {
        entries.push(entry);
    }
    target.write(&document)?;
    let paths: BTreeSet<&str> = files.iter().map(|finding| finding.path.as_str()).collect();
    out.result(&format!(
        "Suppressed {} in {} of {}:\n",
        args.rule,
        count(paths.len(), "file"),
        plugward_loader::escape::line(&named.shown)
    ))?;
    // The user sees each suppressed line: an entry covers every finding of the rule in its file.
    for path in paths {
        let same = |finding: &&Finding| finding.rule.as_str() == args.rule && finding.path == path;
        for finding in plugin.findings.iter().filter(same) {
            let text = format!("{}:{}:{}: {}", finding.path, finding.line, finding.column, finding.snippet);
            out.result(&format!("  {}\n", plugward_loader::escape::line(&text)))?;
        }
    }
    out.result(&format!("This is recorded in {} and applies until the file changes.\n", target.path))?;
    if target.is_shared {
        out.result(&format!(
            "To use it: plugward check --policy {} DIR\n",
            shared::quoted(target.path.as_str())
        ))?;
    }
    Ok(0)
}

pub(crate) fn unsuppress(args: &UnsuppressArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let target = Target::of(host)?;
    let mut document = target.read()?;
    // The plugin may not exist any more, so the selector is compared with the stored keys instead of the disk.
    let key = crate::verbs::select::path_of(&args.id)
        .and_then(|path| host::real_path(&path).ok())
        .map(|path| format!("path:{path}"));
    let real = |plugin: &str| {
        let real = host::real_path(&target.directory().join(plugin)).ok();
        real.map(|path| format!("path:{path}"))
    };
    let is_of = |plugin: &str| {
        plugin == args.id
            || Some(plugin) == key.as_deref()
            || (plugin.starts_with("./") && real(plugin) == key)
            || plugin.rsplit('/').next() == Some(args.id.as_str())
    };
    let entries = entries(&mut document, &target.path)?;
    let before = entries.len();
    entries.retain(|entry| {
        let text = |key: &str| entry.get(key).and_then(Item::as_str);
        let is_meant = text("plugin").is_none_or(&is_of)
            && text("rule") == Some(args.rule.as_str())
            && args.path.as_deref().is_none_or(|path| text("path") == Some(path));
        !is_meant
    });
    let removed = before - entries.len();
    if removed == 0 {
        return Err(Failure::refused(format!(
            "{} has no entry for {} of {}",
            target.path, args.rule, args.id
        )));
    }
    target.write(&document)?;
    let text = if removed == 1 { "1 entry".to_owned() } else { format!("{removed} entries") };
    out.result(&format!("Deleted {text} from {}.\n", target.path))?;
    Ok(0)
}

fn no_finding(args: &SuppressArgs, plugin: &PluginReport, shown: &str) -> Failure {
    let place = args.path.as_ref().map(|path| format!(" in {path}")).unwrap_or_default();
    let mut rules: Vec<String> =
        plugin.findings.iter().map(|finding| format!("{} {}", finding.rule, finding.path)).collect();
    rules.sort();
    rules.dedup();
    let failure = Failure::refused(format!("{shown} has no finding of {}{place}", args.rule));
    let failure = rules.iter().take(8).fold(failure, |failure, rule| failure.note("finding", rule.clone()));
    failure.help(format!("plugward explain {}", shared::quoted(shown)))
}

/// Returns `true` if two entries have the same plugin, rule and file.
fn is_same(one: &Table, two: &Table) -> bool {
    let text = |table: &Table, key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
    ["plugin", "rule", "path"].iter().all(|key| text(one, key) == text(two, key))
}

/// Returns the list `scan.suppress` of a settings file, and creates it if it is missing.
fn entries<'a>(document: &'a mut DocumentMut, path: &Utf8Path) -> Result<&'a mut ArrayOfTables, Failure> {
    let wrong = || {
        Failure::usage(format!("`scan.suppress` in {path} is not a list of tables"))
            .help("write each entry as a table that begins with [[scan.suppress]]")
    };
    let scan = document.entry("scan").or_insert_with(|| {
        let mut table = Table::new();
        // Without a header of its own, since the table contains nothing but the list.
        table.set_implicit(true);
        Item::Table(table)
    });
    let scan = scan.as_table_mut().ok_or_else(wrong)?;
    scan.entry("suppress")
        .or_insert(Item::ArrayOfTables(ArrayOfTables::new()))
        .as_array_of_tables_mut()
        .ok_or_else(wrong)
}

/// The settings file to change.
pub(crate) struct Target {
    path: Utf8PathBuf,
    /// Whether the file was named on the command line, so that other machines can use it.
    is_shared: bool,
}

impl Target {
    pub(crate) fn of(host: &Host) -> Result<Self, Failure> {
        if let Some(path) = &host.policy {
            return Ok(Self { path: path.clone(), is_shared: true });
        }
        let dir = host.config_dir()?;
        drop(host::own_directory(dir).map_err(Failure::of_store)?);
        Ok(Self { path: dir.join(settings::NAME), is_shared: false })
    }

    /// Returns how the file names the plugin. A shared file names it by the path from its own directory, which is the same
    /// on every machine. Without a plugin, an entry would apply to a copy of the file in any other plugin.
    fn name(&self, plugin: &PluginReport, key: &str) -> Result<String, Failure> {
        if !self.is_shared {
            return Ok(key.to_owned());
        }
        let real = host::real_path(self.directory())?;
        let inside =
            plugin.key.placed().and_then(|place| Utf8Path::new(place.as_str()).strip_prefix(&real).ok());
        inside.map(|inside| format!("./{inside}")).ok_or_else(|| {
            Failure::usage(format!("the plugin is not under the directory of {}", self.path))
                .help("put the file into the repository that contains the plugin")
        })
    }

    /// The directory of the file.
    fn directory(&self) -> &Utf8Path {
        self.path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."))
    }

    /// Fails if the file is inside the plugin, which must not suppress its own findings.
    fn refuse_inside(&self, plugin: &PluginReport) -> Result<(), Failure> {
        let real = host::real_path(self.directory())?;
        let inside = plugin.key.placed().is_some_and(|place| real.starts_with(place.as_str()));
        if inside {
            return Err(Failure::usage(format!("{} is inside the plugin", self.path))
                .help("name a file outside of it: a plugin cannot suppress its own findings"));
        }
        Ok(())
    }

    pub(crate) fn read(&self) -> Result<DocumentMut, Failure> {
        let text = match std::fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            _ => {
                let bytes = host::named_file(&self.path, settings::LIMIT)?;
                String::from_utf8(bytes)
                    .map_err(|_error| Failure::usage(format!("{} is not UTF-8", self.path)))?
            }
        };
        text.parse::<DocumentMut>().map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            settings::invalid(self.path.as_str(), &text, at, error.message(), "fix the line")
        })
    }

    pub(crate) fn write(&self, document: &DocumentMut) -> Result<(), Failure> {
        let text = document.to_string();
        output_file::write(&self.path, text.as_bytes())
            .map_err(|error| Failure::internal(format!("cannot write {}: {error}", self.path)))
    }
}
