//! Programs that output data from another host, and the files to which they save it.

use plugward_types::Part;

use crate::rules::CommandTable;

/// Programs that always download, besides those that rules name.
const ALWAYS: &[&[u8]] = plugward_types::byte_words![
    "curl-impersonate finger hurl lftp lftpget mosquitto_sub puf snarf smbclient tnftp rlogin wcurl websocat wscat",
];

/// Programs in the rules that download. The rules also name local programs as sources.
const NAMED: &[&str] = plugward_types::words![
    "curl wget wget2 fetch nc ncat netcat aria2c axel http https xh curlie lynx links elinks w3m lwp-request",
    "lwp-download GET tftp ftp openssl ssh socat gh aws gsutil",
];

/// Returns the taint bits of all sources on other hosts.
pub(in crate::lex::sh) fn remote(table: &CommandTable) -> u128 {
    NAMED.iter().fold(0, |sum, name| sum | table.source(table.program(name.as_bytes())))
}

/// Names by which inline code sends a request; they count if an address is next to them.
const ASKS: &[&[u8]] =
    plugward_types::byte_words!["get open fetch read download request urllib lwp curl http.client",];

/// Returns whether a program prints data from another host, from its arguments; `None` leaves it to the
/// rules.
fn fetches(name: &[u8], args: &[u8]) -> Option<bool> {
    let has = |text: &[u8]| memchr::memmem::find(args, text).is_some();
    let word = |wanted: &[u8]| args.split(|byte| *byte == b' ').any(|word| word.eq_ignore_ascii_case(wanted));
    let said = |texts: &[&[u8]]| {
        let lower = args.to_ascii_lowercase();
        texts.iter().any(|text| memchr::memmem::find(&lower, text).is_some())
    };
    let address = || said(&[b"http://", b"https://", b"ftp://"]);
    Some(match name {
        // Most subcommands of `openssl` work on local data.
        b"openssl" => has(b"s_client"),
        // Other subcommands of `gh` print text of its own.
        b"gh" => [&b"api"[..], b"gist", b"release", b"repo", b"issue", b"pr", b"run", b"workflow"]
            .iter()
            .any(|sub| word(sub)),
        b"git" => has(b"archive") && has(b"--remote"),
        b"rsync" | b"scp" | b"sftp" => has(b":") && (has(b"/dev/stdout") || has(b"/dev/fd/1")),
        b"svn" | b"s5cmd" | b"mc" | b"rclone" | b"ipfs" => word(b"cat"),
        b"s3cmd" => word(b"get") && word(b"-"),
        b"gcloud" => word(b"cat") || (word(b"cp") && word(b"-")),
        b"az" => word(b"download"),
        b"redis-cli" => word(b"-h") || word(b"-u"),
        b"dig" | b"kdig" | b"drill" | b"delv" | b"dog" | b"doggo" | b"host" | b"nslookup" | b"resolvectl" => {
            word(b"txt") || said(&[b"=txt", b"type=null", b"type=any"])
        }
        b"docker" | b"podman" | b"nerdctl" => word(b"run") && address(),
        b"python" | b"python2" | b"python3" | b"pypy" | b"pypy3" | b"perl" | b"ruby" | b"php" | b"node"
        | b"nodejs" | b"bun" | b"deno" | b"lua" | b"julia" | b"Rscript" | b"tclsh" => {
            has(b"urlopen") || has(b"urllib.request") || (code_in(args) && address() && said(ASKS))
        }
        b"pwsh" | b"powershell" => said(&[
            b"iwr ",
            b"irm ",
            b"invoke-webrequest",
            b"invoke-restmethod",
            b"webclient",
            b"curl ",
            b"wget ",
        ]),
        _ if ALWAYS.contains(&name) => true,
        _ => return None,
    })
}

/// Returns `true` if the arguments contain inline code.
fn code_in(args: &[u8]) -> bool {
    args.split(|byte| *byte == b' ').take(16).any(|word| {
        word == b"eval"
            || matches!(word, [b'-', letters @ .., b'c' | b'e' | b'E' | b'r' | b'p'] if letters.len() < 4)
            || matches!(word, [b'-', b'e' | b'E' | b'r', b'\'' | b'"' | b'a'..=b'z', ..])
            || word.starts_with(b"--eval")
    })
}

/// Returns the taint bit of a source program. All programs without a rule share one bit.
pub(in crate::lex::sh) fn source(table: &CommandTable, name: &[u8], args: &[u8]) -> u128 {
    match fetches(name, args) {
        Some(true) => table.source(table.program(name)) | stream(table),
        Some(false) => 0,
        None => table.source(table.program(name)),
    }
}

/// Returns the taint bit of remote data that no program of the rules outputs.
pub(in crate::lex::sh) fn stream(table: &CommandTable) -> u128 {
    table.source(table.program(b"curl"))
}

/// Returns `true` if a redirection target is a network connection, as in bash's `/dev/tcp/host/port`.
pub(in crate::lex::sh) fn is_connection(target: &[u8]) -> bool {
    target.starts_with(b"/dev/tcp/") || target.starts_with(b"/dev/udp/")
}

/// Returns `true` if a program copies files from another host.
pub(in crate::lex::sh) fn copies(name: &[u8]) -> bool {
    plugward_types::byte_words!["ADD add scp sftp rsync git gh hg svn aws gsutil gcloud"].contains(&name)
}

/// Returns `true` if `git` checks out a full digest or verifies a signature.
pub(in crate::lex::sh) fn pins(args: &[&[u8]]) -> bool {
    let verb = |arg: &&[u8]| matches!(*arg, b"checkout" | b"reset" | b"switch");
    let digest = |arg: &&[u8]| arg.len() >= 40 && arg.iter().all(u8::is_ascii_hexdigit);
    args.iter().any(|arg| matches!(*arg, b"verify-commit" | b"verify-tag"))
        || (args.iter().any(verb) && args.iter().any(digest))
}

/// Options of clone commands that take the next word.
const CLONE_VALUED: &[&[u8]] = plugward_types::byte_words![
    "-b -o -u -c -j -r --branch --origin --depth --upload-pack --reference --config --template",
    "--separate-git-dir --jobs --filter --shallow-since --shallow-exclude --server-option --rev --updaterev",
    "--revision --username --password",
];

/// Returns the directory into which `git clone`, `gh repo clone`, `hg clone` or `svn checkout` puts a
/// repository.
fn cloned(name: &[u8], args: &[&[u8]]) -> Option<Vec<u8>> {
    let verbs: &[&[u8]] = match name {
        b"svn" => &[b"checkout", b"co", b"export"],
        _ => &[b"clone"],
    };
    let verb = args.iter().take(16).position(|arg| verbs.contains(arg))?;
    let (head, tail) = args.split_at_checked(verb)?;
    let base = head.iter().position(|arg| *arg == b"-C").and_then(|at| head.get(at + 1)).copied();
    let mut operands = Vec::new();
    let mut words = tail.iter().copied().skip(1);
    while let Some(word) = words.next() {
        if CLONE_VALUED.contains(&word) {
            words.next();
        } else if word == b"--" && name == b"gh" {
            break;
        } else if !word.starts_with(b"-") || word.len() == 1 {
            operands.push(word);
        }
    }
    let address = operands.first().copied()?;
    let far = memchr::memmem::find(address, b"://").is_some_and(|at| address.get(..at) != Some(b"file"))
        || address.starts_with(b"$")
        || name == b"gh"
        || memchr::memchr(b':', address)
            .is_some_and(|at| at > 1 && address.get(..at).is_some_and(|host| !host.contains(&b'/')));
    let own = remote_name(address.strip_suffix(b"/").unwrap_or(address));
    let own = own.rsplit(|byte| *byte == b':').next().unwrap_or(own);
    let own = own.strip_suffix(b".git").unwrap_or(own);
    let directory = operands.get(1).copied().unwrap_or(own);
    if !far || directory.is_empty() {
        return None;
    }
    let directory = if matches!(directory, b"." | b"./") { Vec::new() } else { join(base, directory) };
    // An empty directory name stands for the working directory.
    Some(if directory.is_empty() { directory } else { crate::lex::sh::programs::archives::below(&directory) })
}

/// Returns the targets of `ADD https://… /to` in a Dockerfile without a checksum.
fn added(args: &[&[u8]]) -> Vec<Vec<u8>> {
    let checked = args.iter().any(|arg| arg.starts_with(b"--checksum="));
    let far = args.iter().find(|arg| memchr::memmem::find(arg, b"://").is_some());
    let (Some(from), Some(to), false) = (far, args.last(), checked) else { return Vec::new() };
    vec![if to.ends_with(b"/") { join(Some(to), remote_name(from)) } else { to.to_vec() }]
}

/// Returns the targets of `aws s3 cp s3://… to` and similar commands.
fn bucket(args: &[&[u8]]) -> Vec<Vec<u8>> {
    let far = |arg: &&[u8]| arg.starts_with(b"s3://") || arg.starts_with(b"gs://");
    let Some(at) = args.iter().position(far) else { return Vec::new() };
    let Some(to) = args.get(at + 1).filter(|to| !far(to) && !to.starts_with(b"-")) else {
        return Vec::new();
    };
    let name = args.get(at).map(|from| remote_name(from)).unwrap_or_default();
    let all = args.iter().any(|arg| matches!(*arg, b"sync" | b"--recursive" | b"-r"));
    let directory = to.ends_with(b"/") || matches!(*to, b"." | b"..");
    if all {
        vec![crate::lex::sh::programs::archives::below(to)]
    } else {
        vec![if directory { join(Some(to), name) } else { to.to_vec() }]
    }
}

/// Returns the last part of an address, the default name of a download.
fn remote_name(address: &[u8]) -> &[u8] {
    let path = address.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or(address);
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn join(directory: Option<&[u8]>, name: &[u8]) -> Vec<u8> {
    match directory {
        Some(directory) if !directory.is_empty() => {
            [directory.strip_suffix(b"/").unwrap_or(directory), b"/", name].concat()
        }
        _ => name.to_vec(),
    }
}

/// Returns the files to which a program saves a download, from its arguments.
pub(in crate::lex::sh) fn kept(name: &[u8], args: &[&[u8]]) -> Vec<Vec<u8>> {
    match name {
        b"scp" | b"rsync" | b"sftp" => return copied(args),
        b"tftp" | b"atftp" => {
            let after = args.windows(2).filter_map(|pair| match pair {
                [b"-l" | b"--local-file", file] => Some(file.to_vec()),
                _ => None,
            });
            return after.collect();
        }
        b"socat" => {
            let heads: [&[u8]; 6] = [b"open:", b"OPEN:", b"create:", b"CREATE:", b"file:", b"gopen:"];
            let file = args.last().and_then(|last| heads.iter().find_map(|head| last.strip_prefix(*head)));
            return file
                .and_then(|file| file.split(|byte| *byte == b',').next())
                .map(<[u8]>::to_vec)
                .into_iter()
                .collect();
        }
        b"smbclient" => {
            let gets = args.iter().filter_map(|arg| arg.strip_prefix(b"get "));
            return gets
                .filter_map(|files| files.rsplit(|byte| *byte == b' ').next())
                .map(<[u8]>::to_vec)
                .collect();
        }
        b"python" | b"python3" | b"perl" | b"ruby" | b"php" | b"node" | b"julia" | b"jrunscript" | b"lua" => {
            return written_by(args);
        }
        b"ADD" | b"add" => return added(args),
        b"git" | b"gh" | b"hg" | b"svn" => return cloned(name, args).into_iter().collect(),
        b"aws" | b"gsutil" | b"gcloud" => return bucket(args),
        b"lwp-download" | b"snarf" => {
            let mut operands = args.iter().filter(|arg| !arg.starts_with(b"-"));
            let (address, own) = (operands.next(), operands.next());
            return own
                .map(|own| own.to_vec())
                .or(address.map(|at| remote_name(at).to_vec()))
                .into_iter()
                .collect();
        }
        b"curl" | b"wget" | b"wget2" | b"fetch" | b"aria2c" | b"axel" | b"http" | b"https" | b"xh"
        | b"curlie" | b"wcurl" | b"ftp" | b"tnftp" | b"lftpget" => {}
        _ => return Vec::new(),
    }
    let named = matches!(name, b"curl" | b"curlie" | b"http" | b"https" | b"xh" | b"ftp" | b"tnftp");
    let (mut files, mut directory, mut addresses, mut remote) = (Vec::new(), None, Vec::new(), !named);
    let mut at = 0_usize;
    while let Some(&arg) = args.get(at) {
        at += 1;
        let next = args.get(at).copied();
        match option(name, arg) {
            OutputOption::File(None) => {
                files.extend(next);
                at += 1;
            }
            OutputOption::Directory(None) => {
                directory = next;
                at += 1;
            }
            OutputOption::File(own) => files.extend(own),
            OutputOption::Directory(own) => directory = own,
            OutputOption::Remote => remote = true,
            OutputOption::Address => addresses.push(arg),
            OutputOption::Other => {}
        }
    }
    if files.is_empty() && remote {
        return addresses.into_iter().map(|at| join(directory, remote_name(at))).take(16).collect();
    }
    files.into_iter().filter(|file| *file != b"-").map(|file| join(directory, file)).take(16).collect()
}

/// Returns the paths in inline code that contains an address.
fn written_by(args: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for code in args.iter().filter(|arg| memchr::memmem::find(arg, b"://").is_some()) {
        let texts = code.split(|byte| matches!(byte, b'"' | b'\'')).skip(1).step_by(2);
        let is_path = |text: &&[u8]| {
            let starts = text.starts_with(b"/") || text.starts_with(b"./") || text.starts_with(b"~/");
            starts && text.len() > 2 && !text.contains(&b' ') && !text.starts_with(b"//")
        };
        files.extend(texts.filter(is_path).take(4).map(<[u8]>::to_vec));
    }
    files
}

/// What an argument of a downloader says about the output file. Without a value, the name is in the next
/// word.
enum OutputOption<'a> {
    File(Option<&'a [u8]>),
    Directory(Option<&'a [u8]>),
    /// The file has the name that it has on the server.
    Remote,
    Address,
    Other,
}

fn option<'a>(name: &[u8], arg: &'a [u8]) -> OutputOption<'a> {
    let curl = matches!(name, b"curl" | b"curlie");
    if let Some(long) = arg.strip_prefix(b"--") {
        let at = memchr::memchr(b'=', long);
        let (long, value) = at.map_or((long, None), |at| (long.part(..at), long.get(at + 1..)));
        return match long {
            b"output" | b"output-document" | b"out" => OutputOption::File(value),
            b"output-dir" | b"directory-prefix" | b"dir" => OutputOption::Directory(value),
            b"remote-name" | b"remote-name-all" | b"download" => OutputOption::Remote,
            _ => OutputOption::Other,
        };
    }
    let Some(letters) = arg.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else {
        let is = memchr::memmem::find(arg, b"://").is_some() || arg.contains(&b'.') || arg.starts_with(b"$");
        return if is { OutputOption::Address } else { OutputOption::Other };
    };
    let file = if name == b"wget" || name == b"wget2" { b'O' } else { b'o' };
    let directory = match name {
        b"wget" | b"wget2" => b'P',
        b"aria2c" => b'd',
        _ => 0,
    };
    let plain = |head: &[u8]| head.iter().all(u8::is_ascii_alphabetic);
    let at = letters.iter().position(|letter| *letter == file || *letter == directory);
    let Some(at) = at.filter(|at| plain(letters.part(..*at))) else {
        let remote = curl && !letters.starts_with(b"X") && letters.contains(&b'O') && plain(letters);
        return if remote { OutputOption::Remote } else { OutputOption::Other };
    };
    let value = letters.get(at + 1..).filter(|value| !value.is_empty());
    if letters.get(at) == Some(&file) { OutputOption::File(value) } else { OutputOption::Directory(value) }
}

/// Returns the target of `scp host:path file` and `rsync`: the last operand, if an earlier one is on another
/// host.
fn copied(args: &[&[u8]]) -> Vec<Vec<u8>> {
    let operands: Vec<&[u8]> = args.iter().copied().filter(|arg| !arg.starts_with(b"-")).collect();
    let Some((to, from)) = operands.split_last() else { return Vec::new() };
    let far = |at: &&&[u8]| memchr::memchr(b':', at).is_some_and(|colon| colon > 0 && !at.contains(&b'\\'));
    let Some(from) = from.iter().rfind(far).filter(|_| !far(&to)) else { return Vec::new() };
    let name = remote_name(from.rsplit(|byte| *byte == b':').next().unwrap_or(from));
    let directory = to.ends_with(b"/") || matches!(*to, b"." | b"..");
    vec![if directory { join(Some(to), name) } else { to.to_vec() }]
}
