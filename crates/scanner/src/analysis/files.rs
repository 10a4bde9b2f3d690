//! Files that code reads: which of them contain data that a reviewer does not read as code.

/// Extensions of files that a reviewer reads: code, templates, settings and text.
const READABLE: &[&str] = plugward_types::words![
    "bash bat bzl c cc cfg cjs cmd coffee conf cpp cs css cts ejs erb fish go graphql h hbs hpp hs htm html in inc ini",
    "ipynb j2 java jinja jinja2 jl js json json5 jsonc jsx kt lock lua markdown md mdx mjs mts mustache njk php pl pm",
    "properties ps1 psm1 pug py pyi pyw pyx r rb rs rst scala sed sh sql star svelte swift tcl template tf tmpl toml tpl",
    "ts tsx txt vim vue xml xsd xsl yaml yml zsh",
];
/// The longest extension that counts.
const LONGEST: usize = 10;

/// Returns `true` if one of several words is the name of a file with data: an image, a sound, a table of texts.
pub(super) fn names_data(words: &[u8]) -> bool {
    words.split(|byte| matches!(byte, b' ' | b'/' | b'\\')).any(|name| {
        let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else { return false };
        let (stem, rest) = name.split_at(dot);
        let extension = rest.get(1..).unwrap_or_default();
        let is_word = extension.first().is_some_and(u8::is_ascii_alphabetic)
            && extension.len() <= LONGEST
            && extension.iter().all(u8::is_ascii_alphanumeric);
        let is_readable = || READABLE.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(extension));
        let is_name = stem.iter().any(u8::is_ascii_alphanumeric) && stem.iter().all(|byte| *byte != b':');
        is_word && is_name && !is_readable()
    })
}

#[cfg(test)]
mod tests {
    use super::names_data;

    #[test]
    fn names_data_by_extension() {
        for words in ["assets/a.png rb", "a.dat", "/tmp/x_/de.locale", "C.WAV"] {
            assert!(names_data(words.as_bytes()), "{words}");
        }
        for words in ["a.py rb", "VERSION utf-8", "a.JSON", "v1.2", ".env", "__file__"] {
            assert!(!names_data(words.as_bytes()), "{words}");
        }
    }
}
