//! Properties of any bytes, for the fuzz targets and the tests.

use plugward_registry::{Registry, SourceUrl, is_command_id, is_command_name};

/// Parses a registry file. Each entry keeps the rules of the format, and each note has a pointer.
pub(crate) fn registry(bytes: &[u8]) -> Option<Registry> {
    let url = SourceUrl::parse("https://registry.example/r.json").expect("a constant");
    let registry = match Registry::parse(bytes, &url) {
        Ok(registry) => registry,
        Err(error) => {
            assert!(matches!(error.code(), "registry/syntax" | "registry/version"), "{error}");
            assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
            return None;
        }
    };
    let mut ids: Vec<&str> = registry.entries().map(|entry| entry.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), registry.entries().count(), "each id once");
    for entry in registry.entries() {
        assert!(is_command_name(&entry.name) && is_command_id(&entry.id), "{entry:?}");
        assert_eq!(registry.named(&entry.name), Some(entry));
        assert!(entry.binaries.iter().all(|binary| url.may_list(&binary.url)), "{entry:?}");
    }
    for note in registry.notes() {
        assert!(note.pointer().starts_with("/plugins/"), "{note:?}");
        assert!(!note.to_string().chars().any(char::is_control), "{note:?}");
    }
    Some(registry)
}
