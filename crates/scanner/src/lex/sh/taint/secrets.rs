//! Files to which a script writes secrets, and programs that read or send these files.

use plugward_types::Part;

use crate::known::credentials::{self, Printed};
use crate::lex::sh::Parser;
use crate::lex::sh::syntax::simple::CommandWords;
use crate::lex::sh::taint::downloads::{FILES, NAME, operands, plain};
use crate::text::view::Obfuscations;

/// The kinds of secrets that are tracked in files.
const KINDS: [Printed; 3] = [Printed::Environment, Printed::Credentials, Printed::Transcript];

impl Parser<'_, '_, '_> {
    /// Returns the taint bits of the tracked secrets.
    pub(in crate::lex::sh) fn secret_bits(&self) -> u128 {
        let table = &self.sink.rules.commands;
        KINDS.iter().fold(0, |bits, kind| bits | table.source(table.program(kind.program())))
    }

    /// Returns the taint bits of secrets that certain hosts may receive.
    fn named_bits(&self) -> u128 {
        let table = &self.sink.rules.commands;
        table.source(table.program(Printed::Named.program())) | self.remote_bits()
    }

    /// Returns the taint bit of the address of a repository.
    pub(in crate::lex::sh) fn remote_bits(&self) -> u128 {
        let table = &self.sink.rules.commands;
        table.source(table.program(Printed::Remote.program()))
    }

    /// Returns the taint bit of the contents of an edited file.
    pub(in crate::lex::sh) fn edited_bit(&self) -> u128 {
        let table = &self.sink.rules.commands;
        table.source(table.program(Printed::EditedText.program()))
    }

    /// Returns that bit if a command prints the file that a hook gets by name: `base64 < "$file"`.
    pub(in crate::lex::sh) fn edited_text(
        &self,
        name: &[u8],
        redirects: &[(Vec<u8>, Obfuscations)],
        sources: u128,
    ) -> u128 {
        let table = &self.sink.rules.commands;
        let path = table.source(table.program(Printed::Edited.program()));
        let reads = |(text, _): &(Vec<u8>, Obfuscations)| text.starts_with(b"<") && !text.starts_with(b"<<");
        // Data at the input of a pipe is the path itself.
        let is_named = !self.pipe.piped || redirects.iter().any(reads);
        let prints = credentials::prints_files(name) && is_named && sources & path != 0;
        if prints { self.edited_bit() } else { 0 }
    }

    /// Returns the taint bits of the files with secrets that a command reads or sends.
    pub(in crate::lex::sh) fn secret_files(&self, name: &[u8], words: &[&[u8]], own: CommandWords) -> u128 {
        let known = &self.environment.secrets;
        if known.is_empty() {
            return 0;
        }
        let sent = credentials::uploaded(name, words);
        let reads =
            !matches!(name, b"curl" | b"wget" | b"ssh" | b"rm" | b"unlink" | b"chmod" | b"test" | b"[");
        let redirects = self.redirects.part(own.redirects..);
        let read = redirects.iter().filter_map(|redirect| redirect.text.strip_prefix(b"<"));
        let named = words.iter().copied().filter(|_| reads).chain(sent).chain(read);
        named.filter_map(|file| known.get(&plain(file))).fold(0, |bits, more| bits | more)
    }

    /// Returns the taint bits of credential files among paths.
    fn bits_of_files(&self, files: &[&[u8]]) -> u128 {
        let table = &self.sink.rules.commands;
        credentials::of_files(files).map_or(0, |kind| table.source(table.program(kind.program())))
    }

    /// Reports `git push` after credentials were written to a file, which is not where they usually are.
    pub(in crate::lex::sh) fn tell_push(&mut self, span: (usize, usize)) {
        let table = &self.sink.rules.commands;
        let credentials = table.source(table.program(Printed::Credentials.program()));
        let is_copy =
            |(file, bits): (&Vec<u8>, &u128)| *bits & credentials != 0 && !credentials::is_file(file);
        if self.environment.secrets.iter().any(is_copy) {
            self.sink.shape("flow-credentials-sent", span, Obfuscations::NONE);
        }
    }

    /// Records the files to which a command writes secrets: by a redirection, as a copy, or as an archive.
    pub(in crate::lex::sh) fn keep_secrets(&mut self, name: &[u8], own: CommandWords, bits: u128) {
        let args = self.arg_texts(own);
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let copies = matches!(name, b"cp" | b"mv" | b"ln" | b"install" | b"ditto");
        let copied = args.split_last().filter(|_| copies).map_or(0, |(_, from)| self.bits_of_files(from));
        let bits = (bits | copied) & (self.secret_bits() | self.named_bits());
        if bits == 0 {
            return;
        }
        let mut files: Vec<Vec<u8>> = self.target(own).map(|(file, _)| file).into_iter().collect();
        match name {
            b"tee" => files.extend(operands(&args).map(<[u8]>::to_vec)),
            b"cp" | b"mv" | b"ln" | b"install" | b"rsync" | b"ditto" => {
                files.extend(operands(&args).last().map(<[u8]>::to_vec));
            }
            b"curl" | b"wget" if credentials::printed(name, &args) == Some(Printed::Credentials) => {
                let after = args.windows(2).filter_map(|pair| match pair {
                    [b"-o" | b"--output" | b"-O" | b"--output-document", file] => Some(file.to_vec()),
                    _ => None,
                });
                files.extend(after);
            }
            b"zip" | b"7z" | b"7za" => {
                files.extend(operands(&args).find(|word| word.len() > 1).map(<[u8]>::to_vec));
            }
            b"tar" | b"bsdtar" | b"gtar" => files.extend(archive(&args).map(<[u8]>::to_vec)),
            b"gpg" | b"gpg2" | b"openssl" | b"sqlite3" | b"age" | b"dd" => {
                let after = args.windows(2).filter_map(|pair| match pair {
                    [b"-o" | b"--output" | b"-out", file] => Some(file.to_vec()),
                    _ => None,
                });
                files.extend(after);
                files.extend(args.iter().filter_map(|arg| arg.strip_prefix(b"of=")).map(<[u8]>::to_vec));
            }
            _ => {}
        }
        for file in files {
            if file.len() <= NAME && self.environment.secrets.len() < FILES && self.spend(file.len()) {
                *self.environment.secrets.entry(plain(&file)).or_default() |= bits;
            }
        }
    }

    /// Returns the taint bits of what the commands in the input of a transfer program send: `put ~/.netrc`.
    pub(in crate::lex::sh) fn scripted(&self, name: &[u8], own: CommandWords) -> u128 {
        if !matches!(name, b"ftp" | b"sftp" | b"lftp" | b"tnftp" | b"tftp" | b"smbclient" | b"curl") {
            return 0;
        }
        let Some(input) = self.given(own) else { return 0 };
        let words: Vec<&[u8]> = input
            .bytes
            .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'@' | b'=' | b'"'))
            .take(256)
            .collect();
        let sends = name == b"curl" || words.iter().any(|word| matches!(*word, b"put" | b"mput" | b"send"));
        if sends { self.bits_of_files(&words) } else { 0 }
    }

    /// Reports a function that sends data, if its input or arguments are secrets.
    pub(in crate::lex::sh) fn given_to(&mut self, name: &[u8], sources: u128, own: CommandWords) {
        let words = self.words.part(own.first..own.end).rest(1);
        let given = words.iter().fold(self.pipe.from, |bits, word| bits | word.sources);
        let redirects = self.redirects.part(own.redirects..);
        let given = redirects.iter().fold(given, |bits, redirect| bits | redirect.sources);
        let is_known = self.environment.funcs.get(name).is_some_and(|func| !func.alias);
        if is_known && sources & self.remote != 0 && given & self.secret_bits() != 0 {
            self.sink.shape("flow-credentials-sent", own.span, Obfuscations::NONE);
        }
    }
}

/// Returns the archive that `tar` creates: the word after a group of options that ends in `f`.
fn archive<'a>(args: &[&'a [u8]]) -> Option<&'a [u8]> {
    let glued = args.iter().find_map(|arg| arg.strip_prefix(b"--file="));
    let ends = |arg: &&[u8]| {
        let letters = arg.strip_prefix(b"-").unwrap_or(arg);
        *arg == b"--file" || letters.ends_with(b"f") && letters.iter().all(u8::is_ascii_alphabetic)
    };
    let after = args.iter().position(ends).and_then(|at| args.get(at.saturating_add(1)));
    glued.or(after.copied()).filter(|file| *file != b"-")
}
