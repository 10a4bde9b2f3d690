//! The choice of a grammar by file name or, failing that, by the first line.

/// A grammar of data files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::data) enum Format {
    Json,
    Toml,
    Yaml,
    Ini,
    Cmake,
}

/// Chooses the grammar for a file.
pub(in crate::lex::data) fn of(path: &str, src: &[u8]) -> Format {
    let (name, extension) = crate::inventory::names::parts(path);
    match extension.as_str() {
        "json" | "jsonc" | "json5" | "jsonl" | "webmanifest" | "code-workspace" | "gyp" | "gypi" => {
            // Some files with a JSON extension are YAML or TOML, and gyp files begin with comments.
            if begins_like_json(src) { Format::Json } else { guess(src) }
        }
        "toml" => Format::Toml,
        "yaml" | "yml" => Format::Yaml,
        "ini" | "cfg" | "conf" | "properties" | "npmrc" | "yarnrc" | "gitconfig" | "gitmodules" | "env"
        | "service" | "desktop" => Format::Ini,
        "cmake" => Format::Cmake,
        "" if name == "config" && path.ends_with("git/config") => Format::Ini,
        _ if name == "cmakelists.txt" => Format::Cmake,
        _ if name.starts_with(".env.") => Format::Ini,
        _ => guess(src),
    }
}

fn text(src: &[u8]) -> &[u8] {
    src.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(src).trim_ascii_start()
}

fn begins_like_json(src: &[u8]) -> bool {
    !text(src).first().is_some_and(u8::is_ascii_alphabetic)
}

/// Guesses from the first line that is not a comment.
fn guess(src: &[u8]) -> Format {
    let body = text(src);
    if matches!(body.first(), Some(b'{')) || body.starts_with(b"//") || body.starts_with(b"/*") {
        return Format::Json;
    }
    let lines = body.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#") && *line != b"---");
    let Some(line) = lines.next() else { return Format::Yaml };
    if let [b'[', inner @ .., b']'] = line {
        let name = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'[' | b']' | b'"' | b' ')
        };
        let list = memchr::memchr(b',', inner).is_some() || inner.is_empty();
        return if !list && inner.iter().all(name) { Format::Toml } else { Format::Json };
    }
    if line.starts_with(b"[") {
        return Format::Json;
    }
    let equals = memchr::memchr(b'=', line);
    let colon = memchr::memmem::find(line, b": ");
    match (equals, colon) {
        (Some(equals), Some(colon)) if colon < equals => Format::Yaml,
        (Some(_), _) => Format::Toml,
        _ => Format::Yaml,
    }
}
