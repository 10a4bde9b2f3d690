//! Files that hold what another host sent, and what becomes of them: run, made ready to run, checked.

use super::run::Words;
use super::{Parser, fetch, wrap};
use crate::view::How;

/// Most files that are followed, and the longest name of one.
const FILES: usize = 4096;
const NAME: usize = 512;

/// Gives a name in the form in which two of them are compared.
fn plain(name: &[u8]) -> Vec<u8> {
    let mut rest = name;
    while let Some(tail) = rest.strip_prefix(b"./") {
        rest = tail;
    }
    let mut out = Vec::with_capacity(rest.len());
    let mut at = 0_usize;
    while let Some(byte) = rest.get(at).copied() {
        let tail = rest.get(at..).unwrap_or_default();
        if let Some(inner) = tail.strip_prefix(b"${")
            && let Some(len) = memchr::memchr(b'}', inner)
            && let Some(name) = inner.get(..len).filter(|name| wrap::is_name(name))
        {
            out.push(b'$');
            out.extend_from_slice(name);
            at = at.saturating_add(len).saturating_add(3);
            continue;
        }
        out.push(byte);
        at = at.saturating_add(1);
    }
    out
}

/// Says whether a mode makes a file one that can be run.
fn makes_runnable(mode: &[u8]) -> bool {
    let octal = !mode.is_empty() && mode.iter().all(|digit| matches!(digit, b'0'..=b'7'));
    let sets = mode.iter().position(|byte| matches!(byte, b'+' | b'='));
    if octal {
        return mode.iter().rev().take(3).any(|digit| digit.wrapping_sub(b'0') & 1 == 1);
    }
    sets.and_then(|at| mode.get(at..)).is_some_and(|what| what.iter().any(|byte| matches!(byte, b'x' | b'X')))
}

/// Says whether a line names a file, and not a longer name with that in it.
fn names(line: &[u8], base: &[u8]) -> bool {
    let part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte));
    memchr::memmem::find_iter(line, base).any(|at| {
        let before = at.checked_sub(1).and_then(|before| line.get(before));
        !part(before) && !part(line.get(at.saturating_add(base.len())))
    })
}

/// Whether something compared a file with a digest or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checked {
    No,
    Yes,
}

/// What a program makes of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compares {
    Never,
    /// It prints it for somebody who does.
    Prints,
    Itself,
}

/// Programs that compare a file with a digest or a key, where they are asked to.
fn compares(name: &[u8], args: &[&[u8]]) -> Compares {
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
        Compares::Itself
    } else if sum || name == b"openssl" && asks(&[b"dgst"]) {
        Compares::Prints
    } else {
        Compares::Never
    }
}

/// Gives the mode that `install` sets, if it names one.
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

/// The words that are no options.
fn operands<'s, 'a>(args: &'s [&'a [u8]]) -> impl Iterator<Item = &'a [u8]> + use<'s, 'a> {
    args.iter().copied().filter(|arg| !arg.starts_with(b"-"))
}

impl Parser<'_, '_, '_> {
    /// Notes which files hold a download, and tells where one of them is run. `fed` is what comes in, `sent` what the program
    /// itself fetches.
    pub(super) fn files_of(&mut self, name: &[u8], own: Words, fed: u128, sent: u128) {
        if self.known.drops.is_empty() && fed | sent == 0 && !matches!(name, b"scp" | b"rsync") {
            return;
        }
        let args: Vec<Vec<u8>> = self
            .words
            .get(own.first.saturating_add(1)..own.end)
            .unwrap_or_default()
            .iter()
            .take(64)
            .map(|word| self.text(*word).to_vec())
            .collect();
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        if !self.known.drops.is_empty() {
            self.used_file(name, &args, own);
        }
        for file in self.filled(name, &args, own, (fed, sent)) {
            self.keep(&file, Checked::No, own);
        }
    }

    /// The files that a program puts a download in.
    fn filled(&self, name: &[u8], args: &[&[u8]], own: Words, (fed, sent): (u128, u128)) -> Vec<Vec<u8>> {
        let copies = matches!(name, b"scp" | b"rsync");
        let mut files = if sent != 0 || copies { fetch::kept(name, args) } else { Vec::new() };
        match name {
            b"tee" if fed != 0 => files.extend(operands(args).map(<[u8]>::to_vec)),
            b"dd" if fed != 0 => {
                files.extend(args.iter().filter_map(|arg| arg.strip_prefix(b"of=")).map(<[u8]>::to_vec));
            }
            _ => {}
        }
        if fed | sent != 0 {
            let redirects = self.redirects.get(own.redirects..).unwrap_or_default();
            let out = redirects.iter().filter(|redirect| matches!(redirect.number, b'0' | b'1'));
            files.extend(out.filter_map(|redirect| {
                let text = redirect.text.strip_prefix(b">").or_else(|| redirect.text.strip_prefix(b"&>"))?;
                let text = text.strip_prefix(b">").or_else(|| text.strip_prefix(b"|")).unwrap_or(text);
                (!text.starts_with(b"&") && !text.starts_with(b"/dev/")).then(|| text.to_vec())
            }));
        }
        files
    }

    fn keep(&mut self, file: &[u8], checked: Checked, own: Words) {
        if file.is_empty() {
            return;
        }
        if file.len() > NAME || self.known.drops.len() >= FILES || !self.spend(file.len()) {
            self.stopped.get_or_insert(own.span.0);
            return;
        }
        self.known.drops.insert(plain(file), checked);
    }

    /// Gives what is known of a file that holds a download.
    fn held(&self, file: &[u8]) -> Option<Checked> {
        if file.len() <= NAME { self.known.drops.get(&plain(file)).copied() } else { None }
    }

    /// A program that has a downloaded file among its words.
    fn used_file(&mut self, name: &[u8], args: &[&[u8]], own: Words) {
        if matches!(name, b"mv" | b"cp") {
            return self.moved(args, own);
        }
        match compares(name, args) {
            Compares::Itself => return self.checked(own),
            Compares::Prints if own.wanted => return self.checked(own),
            Compares::Prints | Compares::Never => {}
        }
        match self.run_file(name, args, own) {
            Some(Checked::No) => self.sink.shape("sh-drop-run", own.span, How::NONE),
            Some(Checked::Yes) => self.sink.shape("sh-drop-run-checked", own.span, How::NONE),
            None => {}
        }
    }

    /// `mv` and `cp` of one file.
    fn moved(&mut self, args: &[&[u8]], own: Words) {
        let mut operands = operands(args);
        if let (Some(from), Some(to), None) = (operands.next(), operands.next(), operands.next())
            && let Some(checked) = self.held(from)
        {
            let base = from.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            let to = if to.ends_with(b"/") { [to, base].concat() } else { to.to_vec() };
            self.keep(&to, checked, own);
        }
    }

    /// Gives the downloaded file that a command runs or makes ready to run.
    fn run_file(&self, name: &[u8], args: &[&[u8]], own: Words) -> Option<Checked> {
        let program = self.words.get(own.first).map(|word| self.text(*word)).unwrap_or_default();
        let itself =
            if program.contains(&b'/') || program.starts_with(b"$") { self.held(program) } else { None };
        let any = || args.iter().find_map(|arg| self.held(arg));
        let first = || operands(args).next().and_then(|file| self.held(file));
        itself.or_else(|| match name {
            b"source" | b"." => first(),
            b"chmod" => operands(args).next().filter(|mode| makes_runnable(mode)).and_then(|_| any()),
            b"install" if mode_of(args).is_none_or(makes_runnable) => any(),
            _ if wrap::interpreter(name).is_some() => first().or_else(|| {
                let redirects = self.redirects.get(own.redirects..).unwrap_or_default();
                let mut read = redirects.iter().filter_map(|redirect| redirect.text.strip_prefix(b"<"));
                read.find_map(|file| self.held(file))
            }),
            _ => None,
        })
    }

    /// A check counts for the files that its line names.
    fn checked(&mut self, own: Words) {
        let head = self.src.get(..own.span.0).unwrap_or_default();
        let head = head.get(head.len().saturating_sub(NAME)..).unwrap_or_default();
        let start = own.span.0.saturating_sub(head.len());
        let line = memchr::memrchr3(b'\n', b';', b'&', head).map_or(start, |at| start.saturating_add(at));
        let end = own.span.1.min(own.span.0.saturating_add(NAME));
        let line = plain(self.src.get(line..end).unwrap_or_default());
        // What is not looked for is not checked.
        if !self.spend(line.len().saturating_mul(self.known.drops.len()) / 16) {
            return;
        }
        for (file, checked) in self.known.drops.iter_mut().filter(|(_, checked)| **checked == Checked::No) {
            let base = file.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            if !base.is_empty() && names(&line, base) {
                *checked = Checked::Yes;
            }
        }
    }
}
