//! Archives and compressed files, and the directories into which they are unpacked.

/// File extensions of archives and compressed files, the longer ones first.
const ARCHIVES: &[&[u8]] =
    plugward_types::byte_words![".tar.gz .tar.xz .tar.bz2 .tar.zst .tgz .txz .tbz2 .tbz .tar .zip .7z",];
const COMPRESSED: &[&[u8]] = &[b".gz", b".xz", b".bz2", b".zst", b".lz4", b".br", b".Z", b".lzma"];

/// Returns the key of a directory whose content was downloaded.
pub(in crate::lex::sh) fn below(directory: &[u8]) -> Vec<u8> {
    [directory.strip_suffix(b"/").unwrap_or(directory), b"/"].concat()
}

fn valued<'a>(args: &[&'a [u8]], short: &[u8], long: &[u8]) -> Option<&'a [u8]> {
    let mut words = args.iter().copied();
    while let Some(word) = words.next() {
        if word == short || word == long {
            return words.next();
        }
        let glued = word.strip_prefix(long).and_then(|rest| rest.strip_prefix(b"="));
        let glued = glued
            .or_else(|| word.strip_prefix(short).filter(|rest| !rest.is_empty() && !word.starts_with(b"--")));
        if glued.is_some() {
            return glued;
        }
    }
    None
}

/// Returns the directory into which a program unpacks, if the arguments name one.
pub(in crate::lex::sh) fn directory(name: &[u8], args: &[&[u8]]) -> Option<Vec<u8>> {
    let found = match name {
        b"tar" | b"bsdtar" | b"gtar" => valued(args, b"-C", b"--directory"),
        b"unzip" => valued(args, b"-d", b"-d"),
        b"7z" | b"7za" | b"7zr" => args.iter().find_map(|arg| arg.strip_prefix(b"-o")),
        b"cpio" => valued(args, b"-D", b"--directory"),
        _ => None,
    };
    found.filter(|directory| !matches!(*directory, b"." | b"./" | b"/")).map(<[u8]>::to_vec)
}

fn stem<'a>(file: &'a [u8], extensions: &[&[u8]]) -> Option<&'a [u8]> {
    extensions.iter().find_map(|extension| file.strip_suffix(*extension)).filter(|stem| !stem.is_empty())
}

/// Returns the archives that a program unpacks, each with its result.
///
/// The result is the named directory, or the names derived from the archive's.
pub(in crate::lex::sh) fn unpacked<'a>(name: &[u8], args: &[&'a [u8]]) -> Vec<(&'a [u8], Vec<Vec<u8>>)> {
    let files = args.iter().copied().filter(|arg| !arg.starts_with(b"-"));
    match name {
        b"tar" | b"bsdtar" | b"gtar" | b"unzip" | b"7z" | b"7za" | b"7zr" | b"ar" | b"cpio" => {
            let directory = directory(name, args);
            files
                .map(|file| {
                    let base = file.rsplit(|byte| *byte == b'/').next().unwrap_or(file);
                    let own = stem(base, ARCHIVES).map(|stem| vec![stem.to_vec(), below(stem)]);
                    (
                        file,
                        directory
                            .as_deref()
                            .map_or_else(|| own.unwrap_or_default(), |directory| vec![below(directory)]),
                    )
                })
                .collect()
        }
        b"gunzip" | b"gzip" | b"xz" | b"unxz" | b"bzip2" | b"bunzip2" | b"zstd" | b"unzstd" | b"lz4"
        | b"brotli" | b"uncompress" | b"unlzma" => {
            let out = valued(args, b"-o", b"--output");
            files
                .map(|file| {
                    let own = out.or_else(|| stem(file, COMPRESSED));
                    (file, own.map(<[u8]>::to_vec).into_iter().collect())
                })
                .collect()
        }
        b"base64" | b"openssl" | b"gpg" | b"gpg2" => {
            let out = valued(args, b"-o", b"--output").or_else(|| valued(args, b"-out", b"-out"));
            files.map(|file| (file, out.map(<[u8]>::to_vec).into_iter().collect())).collect()
        }
        _ => Vec::new(),
    }
}
