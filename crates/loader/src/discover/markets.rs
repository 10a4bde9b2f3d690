//! Marketplace files, which name plugins and their source.

use plugward_manifest::{CommandSources, MARKET_FILES, Market, Source, read_market};

use super::{Looking, Named, exists, join};
use crate::report::{Gate, Reason, Weight};

/// Bytes of a marketplace file that are read; its reader knows the same limit.
const MARKET_LIMIT: u64 = 4 << 20;

impl Looking<'_> {
    pub(super) fn marketplace(&mut self, path: &str) {
        for (_, file) in MARKET_FILES {
            let file = join(path, file);
            if !exists(&self.root.jail, &file) {
                continue;
            }
            let bytes = match self.root.jail.read(&file, MARKET_LIMIT) {
                Ok(bytes) => bytes,
                Err(error) => {
                    self.breaks(path, "market/unreadable", format!("{file}: {error}"), Weight::CouldNotTell);
                    // Of a folder that nobody may enter, one word is enough.
                    if self.root.jail.list(path, 1).is_err() {
                        return;
                    }
                    continue;
                }
            };
            match read_market(&file, &bytes, CommandSources::Refused) {
                Ok((market, notices)) => {
                    for notice in notices {
                        self.notice(notice.code(), format!("{}: {}", notice.place(), notice.message()));
                    }
                    for error in market.refused().iter().flat_map(|entry| entry.errors().iter()) {
                        self.breaks(path, error.code(), error.to_string(), Weight::Integrity);
                    }
                    self.enlist(path, &market);
                }
                Err(errors) => {
                    for error in errors.iter() {
                        self.breaks(path, error.code(), error.to_string(), Weight::Integrity);
                    }
                }
            }
        }
    }

    /// What a marketplace would have said of the plugins below it is not known: those that no good entry names are
    /// refused, since they would pass for others, without their pins and denials.
    fn breaks(&mut self, folder: &str, code: &str, message: String, weight: Weight) {
        self.notice(code, message.clone());
        let help = "mend the marketplace file; until then its plugins are refused".to_owned();
        let reason = Reason { code: code.to_owned(), gate: Gate::Discover, message, help, weight };
        self.broken.push((folder.to_owned(), reason));
    }

    fn enlist(&mut self, path: &str, market: &Market) {
        for entry in market.entries() {
            let Source::Local { path: local } = entry.source() else { continue };
            let folder = join(path, local);
            // A plugin does not choose its own source: that counts only where the person named the folder.
            if folder == path && path != "." {
                continue;
            }
            let renames = market.renames().iter().filter(|(_, new)| *new == entry.name());
            self.named.entry(folder).or_insert_with(|| Named {
                market: market.name().to_owned(),
                entry: entry.clone(),
                was: renames.map(|(old, _)| old.clone()).collect(),
            });
        }
    }
}
