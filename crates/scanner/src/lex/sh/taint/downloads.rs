//! Downloaded files and their use: moved, unpacked, run, made executable, checked against a digest.
//!
//! `curl -o x URL; mv x y; sh y` is reported at `sh y`, because the taint follows the file from `x` to `y`.

use plugward_types::Part;

use crate::lex::sh::Parser;
use crate::lex::sh::programs::archives;
use crate::lex::sh::programs::downloaders;
use crate::lex::sh::programs::names;
use crate::lex::sh::state::variables;
use crate::lex::sh::syntax::simple::CommandWords;
use crate::text::view::Obfuscations;

/// The most downloaded files, and the longest file name, that are tracked per script. A script that exceeds
/// them is reported as partly unread.
pub(in crate::lex::sh) const FILES: usize = 4096;
pub(in crate::lex::sh) const NAME: usize = 512;

/// The taint bits of downloaded files: an unchecked one, and one that was compared with a digest. The two
/// highest bits cannot belong to a program.
pub(in crate::lex::sh) const KEPT: u128 = 1 << 127;
pub(in crate::lex::sh) const KEPT_CHECKED: u128 = 1 << 126;

/// Returns `true` if a program prints the content of its file arguments.
fn prints(name: &[u8], args: &[&[u8]]) -> bool {
    let has = |words: &[&[u8]]| args.iter().any(|arg| words.contains(arg));
    match name {
        b"cat" | b"tac" | b"head" | b"tail" | b"sed" | b"awk" | b"tr" | b"zcat" | b"gzcat" | b"xzcat"
        | b"bzcat" | b"zstdcat" | b"base64" | b"base32" | b"xxd" | b"openssl" | b"jq" | b"cut" | b"rev"
        | b"iconv" | b"envsubst" | b"nl" | b"dd" | b"tee" | b"strings" => true,
        b"gunzip" | b"gzip" | b"xz" | b"unxz" | b"bzip2" | b"bunzip2" | b"zstd" | b"unzstd" | b"lz4" => {
            has(&[b"-c", b"-dc", b"-cd", b"--stdout", b"--to-stdout", b"-kc", b"-dkc"])
        }
        b"tar" | b"bsdtar" => has(&[b"-O", b"--to-stdout", b"-xOf", b"-xzOf", b"xOf", b"xzOf"]),
        b"unzip" => has(&[b"-p"]),
        b"gpg" | b"gpg2" => has(&[b"-d", b"--decrypt"]),
        _ => false,
    }
}

/// Returns `true` if a program that is not a known interpreter runs a file from its arguments.
fn runs_file(name: &[u8], args: &[&[u8]]) -> bool {
    match name {
        b"java" => args.contains(&&b"-jar"[..]),
        b"make" | b"gmake" | b"awk" | b"gawk" | b"mawk" | b"at" => args.contains(&&b"-f"[..]),
        b"Rscript" | b"tclsh" | b"wish" | b"julia" | b"mono" | b"dotnet" | b"wine" | b"qemu-user"
        | b"guile" | b"expect" | b"elixir" | b"escript" => true,
        _ => name.starts_with(b"ld-linux") || name.starts_with(b"qemu-"),
    }
}

/// Returns the build file that a program runs, such as the Makefile for `make -C dir`.
fn built(name: &[u8], args: &[&[u8]]) -> Option<Vec<u8>> {
    let valued = |short: &[u8], long: &[u8]| {
        let mut words = args.iter().copied();
        while let Some(word) = words.next() {
            if word == short || word == long {
                return words.next();
            }
            let glued = word.strip_prefix(long).and_then(|rest| rest.strip_prefix(b"="));
            if glued.is_some() {
                return glued;
            }
        }
        None
    };
    let verb = args.iter().find(|arg| !arg.starts_with(b"-")).copied().unwrap_or_default();
    let (directory, file): (Option<&[u8]>, &[u8]) = match name {
        b"make" | b"gmake" | b"bmake" | b"ninja" => (valued(b"-C", b"--directory"), b"Makefile"),
        b"npm" | b"pnpm" | b"yarn"
            if args
                .iter()
                .any(|arg| matches!(*arg, b"install" | b"i" | b"ci" | b"run" | b"start" | b"test"))
                && !args.contains(&&b"--ignore-scripts"[..]) =>
        {
            (valued(b"-C", b"--prefix").or_else(|| valued(b"--dir", b"--cwd")), b"package.json")
        }
        b"cargo" if matches!(verb, b"install" | b"run" | b"build" | b"test") => {
            let path = valued(b"--path", b"--path");
            // Without a path, `install` takes a package from the registry.
            if verb == b"install" && path.is_none() {
                return None;
            }
            (path, b"build.rs")
        }
        b"pip" | b"pip3" if verb == b"install" => {
            let is = |arg: &&&[u8]| arg.starts_with(b".") || (arg.starts_with(b"/") && !arg.contains(&b':'));
            (Some(args.iter().find(is).copied()?), b"setup.py")
        }
        _ => return None,
    };
    let directory = directory.map(|directory| directory.strip_suffix(b"/").unwrap_or(directory));
    Some(match directory {
        Some(directory) if directory != b"." && !directory.is_empty() => [directory, b"/", file].concat(),
        _ => file.to_vec(),
    })
}

/// Returns a file name in the form in which names are compared.
pub(in crate::lex::sh) fn plain(name: &[u8]) -> Vec<u8> {
    let mut rest = name;
    while let Some(tail) = rest.strip_prefix(b"./") {
        rest = tail;
    }
    let mut out = Vec::with_capacity(rest.len());
    let mut at = 0_usize;
    while let Some(byte) = rest.get(at).copied() {
        let tail = rest.part(at..);
        if let Some(inner) = tail.strip_prefix(b"${")
            && let Some(len) = memchr::memchr(b'}', inner)
            && let Some(name) = inner.get(..len).filter(|name| names::is_name(name))
        {
            out.push(b'$');
            out.extend_from_slice(name);
            at += len + 3;
            continue;
        }
        out.push(byte);
        at += 1;
    }
    out
}

/// Returns `true` if a mode makes a file executable.
pub(in crate::lex::sh) fn makes_runnable(mode: &[u8]) -> bool {
    let octal = !mode.is_empty() && mode.iter().all(|digit| matches!(digit, b'0'..=b'7'));
    let sets = mode.iter().position(|byte| matches!(byte, b'+' | b'='));
    if octal {
        return mode.iter().rev().take(3).any(|digit| digit.wrapping_sub(b'0') & 1 == 1);
    }
    sets.and_then(|at| mode.get(at..)).is_some_and(|what| what.iter().any(|byte| matches!(byte, b'x' | b'X')))
}

/// Returns `true` if a command line refers to a file, and not only to a longer name that contains it.
fn names(line: &[u8], base: &[u8]) -> bool {
    let part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte));
    memchr::memmem::find_iter(line, base).any(|at| {
        let before = at.checked_sub(1).and_then(|before| line.get(before));
        !part(before) && !part(line.get(at + base.len()))
    })
}

/// Whether a downloaded file was compared with a digest or verified with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::sh) enum Verification {
    Unverified,
    Verified,
}

/// Whether the name of a directory also stands for everything inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    One,
    All,
}

/// How a program uses a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DigestUse {
    None,
    /// Prints the digest, for another command to compare.
    Prints,
    /// Compares a file with the digest or key.
    Verifies,
}

/// Returns how a program with these arguments uses a digest or key.
fn compares(name: &[u8], args: &[&[u8]]) -> DigestUse {
    let asks = |wanted: &[&[u8]]| args.iter().any(|arg| wanted.contains(arg));
    let short = |letter: u8| {
        let is = |arg: &&[u8]| arg.starts_with(b"-") && !arg.starts_with(b"--") && arg.contains(&letter);
        args.iter().any(is)
    };
    let sum =
        name.starts_with(b"sha") && name.ends_with(b"sum") || matches!(name, b"b2sum" | b"b3sum" | b"rhash");
    let does = match name {
        b"gpgv" | b"gpgv2" | b"signify" | b"signify-openbsd" | b"slsa-verifier" | b"sigstore" => true,
        b"gpg" | b"gpg2" => asks(&[b"--verify"]),
        b"minisign" => short(b'V'),
        b"cosign" => asks(&[b"verify-blob", b"verify-blob-attestation"]),
        b"gh" => asks(&[b"attestation"]),
        b"openssl" => asks(&[b"-verify", b"-signature"]),
        _ => sum && (asks(&[b"--check"]) || short(b'c')),
    };
    if does {
        DigestUse::Verifies
    } else if sum || name == b"openssl" && asks(&[b"dgst"]) {
        DigestUse::Prints
    } else {
        DigestUse::None
    }
}

/// Returns the mode that `install` sets, if any.
fn mode_of<'a>(args: &[&'a [u8]]) -> Option<&'a [u8]> {
    let mut words = args.iter().copied();
    while let Some(arg) = words.next() {
        if matches!(arg, b"-m" | b"--mode") {
            return words.next();
        }
        let glued = arg.strip_prefix(b"--mode=").or_else(|| arg.strip_prefix(b"-m"));
        if glued.is_some() {
            return glued;
        }
    }
    None
}

/// Returns the arguments that are not options.
pub(in crate::lex::sh) fn operands<'s, 'a>(
    args: &'s [&'a [u8]],
) -> impl Iterator<Item = &'a [u8]> + use<'s, 'a> {
    args.iter().copied().filter(|arg| !arg.starts_with(b"-"))
}

impl Parser<'_, '_, '_> {
    /// Tracks which files contain a download, and reports if one of them is run.
    ///
    /// `fed` is the taint of the input, `sent` that of the output. Returns the taint of the output, including
    /// files that the program prints.
    pub(in crate::lex::sh) fn files_of(
        &mut self,
        name: &[u8],
        own: CommandWords,
        fed: u128,
        sent: u128,
    ) -> u128 {
        let far = self.remote | KEPT | KEPT_CHECKED;
        let (fed, far_sent) = (fed & far, sent & self.remote);
        if self.environment.downloads.is_empty() && fed | far_sent == 0 && !downloaders::copies(name) {
            return sent;
        }
        let args: Vec<Vec<u8>> = self
            .words
            .part(own.first..own.end)
            .rest(1)
            .iter()
            .take(64)
            .map(|word| self.text(*word).to_vec())
            .collect();
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let mut kept = 0;
        if !self.environment.downloads.is_empty() || fed & (KEPT | KEPT_CHECKED) != 0 {
            self.used_file(name, &args, own, fed);
            if prints(name, &args) {
                kept = self.printed_files(&args, own);
            }
        }
        let all = fed | far_sent | kept;
        let checked = if all & (self.remote | KEPT) == 0 && all != 0 {
            Verification::Verified
        } else {
            Verification::Unverified
        };
        for file in self.filled(name, &args, own, fed, far_sent | kept) {
            self.keep(&file, checked, own);
        }
        sent | kept
    }

    /// Returns the taint bits of downloaded files that a program prints.
    fn printed_files(&self, args: &[&[u8]], own: CommandWords) -> u128 {
        let redirects = self.redirects.part(own.redirects..);
        let read = redirects.iter().filter_map(|redirect| redirect.text.strip_prefix(b"<"));
        let named = args.iter().map(|arg| arg.strip_prefix(b"if=").unwrap_or(arg));
        let held = named.chain(read).filter_map(|file| self.lookup(file));
        held.fold(0, |sum, checked| {
            sum | if checked == Verification::Unverified { KEPT } else { KEPT_CHECKED }
        })
    }

    /// Returns the files to which a program writes downloaded data.
    fn filled(&self, name: &[u8], args: &[&[u8]], own: CommandWords, fed: u128, sent: u128) -> Vec<Vec<u8>> {
        let mut files =
            if sent != 0 || downloaders::copies(name) { downloaders::kept(name, args) } else { Vec::new() };
        match name {
            b"tee" if fed != 0 => files.extend(operands(args).map(<[u8]>::to_vec)),
            b"dd" if fed != 0 => {
                files.extend(args.iter().filter_map(|arg| arg.strip_prefix(b"of=")).map(<[u8]>::to_vec));
            }
            _ if fed != 0 => {
                files.extend(archives::directory(name, args).map(|directory| archives::below(&directory)));
            }
            _ => {}
        }
        if fed | sent != 0 {
            let redirects = self.redirects.part(own.redirects..);
            let out = redirects.iter().filter(|redirect| matches!(redirect.number, b'0' | b'1'));
            files.extend(out.filter_map(|redirect| {
                let text = redirect.text.strip_prefix(b">").or_else(|| redirect.text.strip_prefix(b"&>"))?;
                let text = text.strip_prefix(b">").or_else(|| text.strip_prefix(b"|")).unwrap_or(text);
                (!text.starts_with(b"&") && !text.starts_with(b"/dev/")).then(|| text.to_vec())
            }));
        }
        files
    }

    /// Records a downloaded file. A relative name is also recorded with the working directory, if that is
    /// known.
    fn keep(&mut self, file: &[u8], checked: Verification, own: CommandWords) {
        if file.is_empty() {
            return;
        }
        if file.len() > NAME || self.environment.downloads.len() >= FILES || !self.spend(file.len()) {
            self.stopped.get_or_insert(own.span.0);
            return;
        }
        let file = plain(file);
        if let Some(whole) = self.in_directory(&file) {
            self.note(whole, checked);
        }
        self.note(file, checked);
    }

    fn note(&mut self, file: Vec<u8>, checked: Verification) {
        if self.environment.downloads.insert(file, checked) != Some(checked) {
            self.environment.version = self.environment.version.saturating_add(1);
        }
    }

    /// Returns a relative name joined to the working directory of the shell.
    pub(in crate::lex::sh) fn in_directory(&self, file: &[u8]) -> Option<Vec<u8>> {
        let directory = &self.environment.directory;
        let whole = file.starts_with(b"/") || file.starts_with(b"~") || file.starts_with(b"$");
        (!directory.is_empty() && !whole).then(|| [directory.as_slice(), b"/", file].concat())
    }

    /// Processes `cd directory`.
    pub(in crate::lex::sh) fn change_directory(&mut self, own: CommandWords) {
        let args = self.words.part(own.first..own.end).rest(1);
        let mut to =
            args.iter().map(|word| self.text(*word)).filter(|text| !text.starts_with(b"-") || *text == b"-");
        let to = plain(to.next().unwrap_or_default());
        let to = to.strip_suffix(b"/").unwrap_or(&to).to_vec();
        let known = !to.is_empty() && to.len() <= NAME && !to.starts_with(b"-") && !to.starts_with(b"..");
        self.environment.directory = if known { self.in_directory(&to).unwrap_or(to) } else { Vec::new() };
        if self.environment.directory.len() > NAME {
            self.environment.directory.clear();
        }
    }

    /// Looks up a downloaded file by name, by full path, or by the directory into which it was unpacked.
    fn lookup(&self, file: &[u8]) -> Option<Verification> {
        if file.len() > NAME || self.environment.downloads.is_empty() {
            return None;
        }
        let file = plain(file);
        let whole = self.in_directory(&file);
        whole.iter().chain([&file]).find_map(|file| {
            let mut directories = memchr::memrchr_iter(b'/', file).filter_map(|at| file.get(..=at));
            let named = self.environment.downloads.get(file.as_slice()).copied();
            named.or_else(|| {
                directories.find_map(|directory| self.environment.downloads.get(directory).copied())
            })
        })
    }

    /// Looks up the files that a word names.
    ///
    /// These are one file, those that match a pattern, or with `Depth::All` those in a directory.
    fn lookup_word(&self, word: &[u8], depth: Depth) -> Option<Verification> {
        let many = word.iter().any(|byte| matches!(byte, b'*' | b'?'));
        let fits = |key: &Vec<u8>| {
            if many {
                variables::fits(word, key)
            } else if depth == Depth::One {
                false
            } else {
                key.strip_prefix(word).is_some_and(|rest| rest.starts_with(b"/"))
            }
        };
        let word = plain(word);
        let word = word.strip_suffix(b"/").unwrap_or(&word);
        self.lookup(word).or_else(|| {
            let few = word.len() <= 64 && self.environment.downloads.len() <= 256;
            let found =
                self.environment.downloads.iter().find(|(key, _)| few && !word.is_empty() && fits(key));
            found.map(|(_, checked)| *checked)
        })
    }

    /// Processes a program that has a downloaded file among its arguments or reads from one.
    fn used_file(&mut self, name: &[u8], args: &[&[u8]], own: CommandWords, fed: u128) {
        match name {
            b"mv" | b"cp" | b"ln" => return self.track_move(args, own),
            b"install" if mode_of(args).is_some_and(|mode| !makes_runnable(mode)) => {
                return self.track_move(args, own);
            }
            _ => {}
        }
        if name == b"git" && downloaders::pins(args) {
            return self.track_checkout(args, own);
        }
        match compares(name, args) {
            DigestUse::Verifies => return self.checked(own),
            DigestUse::Prints if own.wanted || self.writes_to_file(own) => {
                let keys = self.named_files(own);
                self.digested.extend(keys);
                return;
            }
            DigestUse::Prints | DigestUse::None => {}
        }
        for (archive, out) in archives::unpacked(name, args) {
            if let Some(checked) = self.lookup(archive) {
                for file in out {
                    self.keep(&file, checked, own);
                }
            }
        }
        match self.run_file(name, args, own, fed) {
            Some(Verification::Unverified) => self.sink.shape("sh-drop-run", own.span, Obfuscations::NONE),
            Some(Verification::Verified) => {
                self.sink.shape("sh-drop-run-checked", own.span, Obfuscations::NONE);
            }
            None => {}
        }
    }

    fn writes_to_file(&self, own: CommandWords) -> bool {
        let redirects = self.redirects.part(own.redirects..);
        redirects.iter().any(|redirect| redirect.text.starts_with(b">") && !redirect.text.starts_with(b">&"))
    }

    /// Tracks a file through `mv`, `cp` and `ln`.
    fn track_move(&mut self, args: &[&[u8]], own: CommandWords) {
        let target = args.iter().position(|arg| matches!(*arg, b"-t" | b"--target-directory"));
        let own_folder = target.and_then(|at| args.get(at + 1).copied());
        let glued = args.iter().find_map(|arg| arg.strip_prefix(b"--target-directory="));
        let mode = args.iter().position(|arg| matches!(*arg, b"-m" | b"--mode" | b"-o" | b"-g"));
        let value = mode.and_then(|at| args.get(at + 1).copied());
        let mut words: Vec<&[u8]> =
            operands(args).filter(|word| Some(*word) != own_folder && Some(*word) != value).collect();
        let Some(to) = own_folder.or(glued).or_else(|| words.pop()) else { return };
        let to = to.strip_suffix(b"/").unwrap_or(to);
        for from in words.iter().take(16) {
            let Some(checked) = self.lookup(from) else { continue };
            let base = from.rsplit(|byte| *byte == b'/').next().unwrap_or(from);
            if words.len() == 1 && !matches!(to, b"." | b"..") {
                self.keep(to, checked, own);
            }
            // The target may be a directory.
            self.keep(&[to, b"/", base].concat(), checked, own);
        }
    }

    /// Looks up the downloaded file that a command runs or makes executable.
    fn run_file(&self, name: &[u8], args: &[&[u8]], own: CommandWords, fed: u128) -> Option<Verification> {
        let program = self.words.get(own.first).map(|word| self.text(*word)).unwrap_or_default();
        let itself = if program.contains(&b'/') || program.starts_with(b"$") {
            self.lookup(program)
        } else {
            self.in_path(program)
        };
        let any = || args.iter().find_map(|arg| self.lookup(arg));
        let all = args.iter().any(|arg| matches!(*arg, b"-R" | b"--recursive" | b"-Rv" | b"-vR"));
        let depth = if all { Depth::All } else { Depth::One };
        let many = || args.iter().find_map(|arg| self.lookup_word(arg, depth));
        let first = || self.code_file(name, args).and_then(|file| self.lookup(file));
        itself.or_else(|| match name {
            b"source" | b"." => first().or_else(|| of(fed)),
            b"eval" => of(self.taint_of_words(own)),
            b"chmod" => operands(args)
                .find(|mode| makes_runnable(mode) || mode.starts_with(b"$"))
                .filter(|mode| makes_runnable(mode))
                .and_then(|_| many()),
            b"install" if mode_of(args).is_none_or(makes_runnable) => many(),
            _ if runs_file(name, args) => any(),
            _ if let Some(file) = built(name, args) => self.lookup(&file),
            _ if names::interpreter(name).is_some() => first().or_else(|| {
                let redirects = self.redirects.part(own.redirects..);
                let mut read = redirects.iter().filter_map(|redirect| redirect.text.strip_prefix(b"<"));
                read.find_map(|file| self.lookup(file)).or_else(|| self.fed_code(name, args, own, fed))
            }),
            _ => None,
        })
    }

    /// Looks up the downloaded file whose content an interpreter gets as input or as code.
    fn fed_code(&self, name: &[u8], args: &[&[u8]], own: CommandWords, fed: u128) -> Option<Verification> {
        let words = self.words.part(own.first..own.end);
        let held = self.taint_of_words(own);
        let code = args.iter().any(
            |arg| matches!(arg, [b'-', letters @ ..] if letters.iter().any(|letter| b"ceE".contains(letter))),
        );
        let file = self.code_file(name, args);
        // In `sh <(cat x)`, the word is a substitution that contains the file.
        let first = words.get(1).is_some_and(|word| word.printed != 0 || word.sources != 0);
        if code || first { of(held) } else { of(fed & !held).filter(|_| file.is_none()) }
    }

    /// Returns the taint of the output that a command's words contain.
    fn taint_of_words(&self, own: CommandWords) -> u128 {
        let words = self.words.part(own.first..own.end);
        words.iter().fold(0, |sum, word| sum | word.sources)
    }

    /// Looks up a downloaded program in a directory of the `PATH`.
    fn in_path(&self, program: &[u8]) -> Option<Verification> {
        if program.is_empty() || program.len() > 64 || self.environment.downloads.len() > 256 {
            return None;
        }
        let here = |key: &[u8]| {
            let directory = key.strip_suffix(program).and_then(|head| head.strip_suffix(b"/"));
            directory.is_some_and(|directory| directory.ends_with(b"bin"))
        };
        self.environment.downloads.iter().find(|(key, _)| here(key)).map(|(_, checked)| *checked)
    }

    /// Returns the argument that is the interpreter's script file.
    pub(in crate::lex::sh) fn code_file<'t>(&self, name: &[u8], args: &[&'t [u8]]) -> Option<&'t [u8]> {
        let mut words = args.iter().copied();
        while let Some(word) = words.next() {
            match word {
                b"--rcfile" | b"--init-file" | b"--require" | b"--import" | b"-r" if name != b"php" => {
                    if let Some(file) = words.next().filter(|file| self.lookup(file).is_some()) {
                        return Some(file);
                    }
                }
                b"-o" | b"+o" | b"-O" | b"-W" | b"-X" => drop(words.next()),
                b"run" if matches!(name, b"deno" | b"bun") => {}
                _ if word.starts_with(b"-") || word.starts_with(b"+") => {}
                _ => return Some(word),
            }
        }
        None
    }

    /// Marks the files of a verifying command as checked, if the script acts on the result.
    fn checked(&mut self, own: CommandWords) {
        let keys = self.named_files(own);
        if self.acted_on(own.span, &keys) != Some(false) {
            self.mark_checked(&keys);
        }
    }

    /// Processes `git checkout` of a full digest, which pins the content of a clone.
    fn track_checkout(&mut self, args: &[&[u8]], own: CommandWords) {
        let directory = args.iter().skip_while(|arg| **arg != b"-C").nth(1);
        let directory =
            directory.map_or_else(|| self.environment.directory.clone(), |directory| plain(directory));
        let directory = archives::below(&directory);
        let keys: Vec<Vec<u8>> =
            self.environment.downloads.contains_key(&directory).then_some(directory).into_iter().collect();
        if self.acted_on(own.span, &keys) != Some(false) {
            self.mark_checked(&keys);
        }
    }

    /// Returns the downloaded files that a command line refers to.
    fn named_files(&mut self, own: CommandWords) -> Vec<Vec<u8>> {
        let head = self.src.part(..own.span.0);
        let head = head.tail(NAME);
        let start = own.span.0.saturating_sub(head.len());
        let line = memchr::memrchr3(b'\n', b';', b'&', head).map_or(start, |at| start + at);
        let end = own.span.1.min(own.span.0 + NAME);
        let mut line = plain(self.src.part(line..end));
        for word in self.words.part(own.first..own.end).iter().take(16) {
            line.push(b' ');
            line.extend(self.text(*word).iter().take(NAME));
        }
        // Over the budget, files count as unchecked.
        if !self.spend(line.len().saturating_mul(self.environment.downloads.len()) / 16) {
            return Vec::new();
        }
        let open =
            self.environment.downloads.iter().filter(|(_, checked)| **checked == Verification::Unverified);
        let named = open.filter(|(file, _)| {
            let base = file.rsplit(|byte| *byte == b'/').find(|part| !part.is_empty()).unwrap_or_default();
            !base.is_empty() && names(&line, base)
        });
        named.map(|(file, _)| file.clone()).collect()
    }

    /// Marks files as compared with a digest or a key.
    pub(in crate::lex::sh) fn mark_checked(&mut self, keys: &[Vec<u8>]) {
        for key in keys {
            if let Some(checked) = self.environment.downloads.get_mut(key) {
                *checked = Verification::Verified;
            }
        }
        self.environment.version = self.environment.version.saturating_add(u32::from(!keys.is_empty()));
    }
}

/// Returns whether tainted input is checked, from its file bits; `None` if it does not come from a file.
const fn of(fed: u128) -> Option<Verification> {
    if fed & KEPT != 0 {
        Some(Verification::Unverified)
    } else if fed & KEPT_CHECKED != 0 {
        Some(Verification::Verified)
    } else {
        None
    }
}
