//! The codes of errors and warnings, with their help texts.

macro_rules! codes {
    ($($name:ident, $text:literal, $help:literal;)*) => {
        /// The code of an error or a warning.
        ///
        /// # Guarantees
        /// The text of a code is the same in all versions. New codes can be added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ManifestCode {
            $(
                #[doc = concat!("`", $text, "`: ", $help, ".")]
                $name,
            )*
        }

        impl ManifestCode {
            /// Returns the stable text, `area/name`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Returns how to fix the problem, in one line.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$name => $help,)* }
            }
        }

        /// Every code of this crate, with its help text.
        pub const CODES: &[(&str, &str)] = &[$(($text, $help),)*];
    };
}

codes! {
    Bom, "manifest/bom", "save the file as UTF-8 without a byte order mark";
    CaseVariant, "manifest/case-variant", "keep one of the two keys, in the documented case";
    DefaultPrompt, "manifest/default-prompt", "use at most 3 default prompts of at most 128 characters";
    DialectsDisagree, "manifest/dialects-disagree", "use the same name and version in every manifest";
    DuplicateKey, "manifest/duplicate-key", "keep one of the two keys";
    EntryConflict, "manifest/entry-conflict", "remove the components from the manifest, or set `strict` to true in the marketplace entry";
    GlobPath, "manifest/glob-path", "use a path without wildcards (* ? [)";
    HiddenText, "manifest/hidden-text", "remove the invisible and control characters";
    HostVersion, "manifest/host-version", "use a host version that the plugin supports";
    KeyCase, "manifest/key-case", "write the key in the documented case";
    MissingFile, "manifest/missing-file", "add the manifest, or use another --dialect";
    MissingKey, "manifest/missing-key", "add the key";
    MoreErrors, "manifest/more-errors", "fix the listed errors, then check again";
    Name, "manifest/name", "use words of a-z and 0-9 joined by `-`, starting with a letter, which every host accepts";
    NameMismatch, "manifest/name-mismatch", "use the same name in the manifest and the marketplace entry";
    NameNotDirectory, "manifest/name-not-folder", "rename the plugin or its directory so that they match";
    Namespace, "manifest/namespace", "nothing to do; only the host with this name knows how it uses these files";
    NoManifest, "manifest/none", "add a manifest";
    NotHonored, "manifest/not-honored", "remove the key: the host ignores it";
    NotUtf8, "manifest/not-utf8", "save the file as UTF-8";
    PathAbsolute, "manifest/path-absolute", "use a path relative to the plugin directory";
    PathBackslash, "manifest/path-backslash", "use / as the path separator";
    PathChars, "manifest/path-chars", "remove the control characters from the path";
    PathDrive, "manifest/path-drive", "use a path relative to the plugin directory, without a drive letter";
    PathEmpty, "manifest/path-empty", "use a path relative to the plugin directory";
    PathExcluded, "manifest/path-excluded", "move the file out of the excluded directory";
    PathHome, "manifest/path-home", "use a path relative to the plugin directory, without ~";
    PathParent, "manifest/path-parent", "use a path inside the plugin directory, without `..`";
    PathPrefix, "manifest/path-prefix", "start the path with ./";
    PathTooLong, "manifest/path-too-long", "use at most 4,095 bytes per path and 255 per component";
    PathUrl, "manifest/path-url", "use a path relative to the plugin directory, not a URL";
    PathVariable, "manifest/path-variable", "start the path with the plugin's root variable, or use no variable";
    SchemaVersion, "manifest/schema-version", "use a version of the schema that plugward knows, or accept the plugin after a review";
    Shadowed, "manifest/shadowed", "remove the plugin.json that matches no dialect";
    StringTooLong, "manifest/string-too-long", "shorten the string to at most 256 KiB";
    Surrogate, "manifest/surrogate", "write both halves of the surrogate pair, high before low";
    Syntax, "manifest/syntax", "fix the JSON (RFC 8259: no comments, no trailing commas)";
    TooDeep, "manifest/too-deep", "use at most 32 levels of nesting";
    TooLarge, "manifest/too-large", "keep manifests at or below 1 MiB and marketplace files at or below 4 MiB";
    TooMany, "manifest/too-many", "use at most 200,000 values per file and 10,000 commands and prompts";
    TwoKinds, "manifest/two-kinds", "keep `kind` and remove `type`";
    Type, "manifest/type", "use a value of the expected type";
    UnknownKey, "manifest/unknown-key", "check the spelling, or remove the key";
    UnknownKind, "manifest/unknown-kind", "use a supported kind: command or command_group";
    UnknownServer, "manifest/unknown-server", "use the name of a server in mcpServers";
    UnknownVariable, "manifest/unknown-variable", "use a variable that the dialect supports";
    Version, "manifest/version", "use a version such as 1.2.3 (SemVer)";
    MarketCommandSource, "market/command-source", "use a source that runs no program, or allow command sources in the host";
    MarketCredentials, "market/credentials", "remove the user name and password from the URL";
    MarketDuplicateName, "market/duplicate-name", "give each entry a unique name";
    MarketFloatingSource, "market/floating-source", "pin the source with `sha`";
    MarketInsecureUrl, "market/insecure-url", "use an https URL";
    MarketNoOwner, "market/no-owner", "add an owner with a name";
    MarketRenames, "market/renames", "map each old name to an entry in the file";
    MarketSha, "market/sha", "use 40 or 64 lowercase hex digits (sha256: 64)";
    MarketUnknownPolicy, "market/unknown-policy", "use a documented policy value";
    MarketUnknownSource, "market/unknown-source", "use a documented kind of source";
    McpSkipped, "mcp/skipped", "fix the server: hosts that follow the standard do not start it";
    SkillFormat, "skill/format", "follow the format of agentskills.io";
    SkillShell, "skill/shell", "name the commands that the skill may run, such as `Bash(git *)`";
    AutoApprove, "surface/auto-approve", "remove `autoApprove` if you want to be asked before these tools run";
    HooksDeclaredTwice, "surface/hooks-declared-twice", "remove the `hooks` key: the standard file is read anyway";
    LauncherFloating, "surface/launcher-floating", "use an exact version or digest";
    SurfaceMissingFile, "surface/missing-file", "add the file, or remove the reference";
    SurfaceMissingProgram, "surface/missing-program", "add the file to the plugin, or remove the command that starts it";
    UnknownEvent, "surface/unknown-event", "use an event that the host supports";
    UnknownHandler, "surface/unknown-handler", "use a handler type that the host supports";
    UnquotedRoot, "surface/unquoted-root", "put the argument with the root variable in double quotes";
}
