//! Every code that this crate can give, with its help.

macro_rules! codes {
    ($($name:ident, $text:literal, $help:literal;)*) => {
        /// What an error or a notice is about.
        ///
        /// # Guarantees
        /// The text of a code does not change between versions; codes may be added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(
                #[doc = concat!("`", $text, "`: ", $help, ".")]
                $name,
            )*
        }

        impl Code {
            /// Gives the stable text, `area/name`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Says what to do about it, in one line.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$name => $help,)* }
            }
        }

        /// Every code that this crate can give, with one line of help.
        pub const CODES: &[(&str, &str)] = &[$(($text, $help),)*];
    };
}

codes! {
    Bom, "manifest/bom", "save the file as UTF-8 without BOM";
    CaseVariant, "manifest/case-variant", "keep one of the two keys, in the case that the dialect knows";
    DefaultPrompt, "manifest/default-prompt", "keep at most 3 default prompts of 128 characters";
    DialectsDisagree, "manifest/dialects-disagree", "give the manifests in the folder the same name and version";
    DuplicateKey, "manifest/duplicate-key", "keep one of the two keys";
    EntryConflict, "manifest/entry-conflict", "remove the components from the manifest, or set `strict` to true in the entry";
    GlobPath, "manifest/glob-path", "name the file or folder without * ? [";
    HiddenText, "manifest/hidden-text", "remove the invisible or control characters";
    HostVersion, "manifest/host-version", "use a host of the version that the plugin asks for";
    KeyCase, "manifest/key-case", "write the key in the case that the dialect knows";
    MissingFile, "manifest/missing-file", "add the manifest file, or check with another --dialect";
    MissingKey, "manifest/missing-key", "add the key";
    MoreErrors, "manifest/more-errors", "mend the errors that are listed and check again";
    Name, "manifest/name", "use 1 to 128 of A-Z a-z 0-9 . _ -, first a letter or digit, no `..`";
    NameMismatch, "manifest/name-mismatch", "give manifest and marketplace entry the same name";
    NameNotFolder, "manifest/name-not-folder", "give the plugin and its folder the same name";
    NoManifest, "manifest/none", "add the manifest file, so that the plugin says itself what it is";
    NotHonored, "manifest/not-honored", "remove the key: the host does not honor it";
    NotUtf8, "manifest/not-utf8", "save the file as UTF-8";
    PathAbsolute, "manifest/path-absolute", "write the path from the plugin's folder";
    PathBackslash, "manifest/path-backslash", "write / between the parts of a path";
    PathChars, "manifest/path-chars", "remove the control characters from the path";
    PathDrive, "manifest/path-drive", "write the path from the plugin's folder, without a drive";
    PathEmpty, "manifest/path-empty", "write a path from the plugin's folder";
    PathExcluded, "manifest/path-excluded", "move the file out of the excluded folder";
    PathHome, "manifest/path-home", "write the path from the plugin's folder, without ~";
    PathParent, "manifest/path-parent", "keep the path inside of the plugin's folder, without a part `..`";
    PathPrefix, "manifest/path-prefix", "start the path with ./";
    PathTooLong, "manifest/path-too-long", "use at most 4,095 bytes a path and 255 a part";
    PathUrl, "manifest/path-url", "write a path from the plugin's folder, no URL";
    PathVariable, "manifest/path-variable", "use the plugin's root variable in front of the path, or none";
    Shadowed, "manifest/shadowed", "remove the plugin.json that no dialect knows";
    StringTooLong, "manifest/string-too-long", "shorten the string to 256 KiB";
    Surrogate, "manifest/surrogate", "write both halves of the pair, high before low";
    Syntax, "manifest/syntax", "write the file as RFC 8259 asks";
    TooDeep, "manifest/too-deep", "nest at most 32 lists and objects";
    TooLarge, "manifest/too-large", "keep the file at 1 MiB (a marketplace file at 4 MiB)";
    TooMany, "manifest/too-many", "keep at most 200,000 values in a file, and at most 10,000 things that run or enter a prompt";
    TwoKinds, "manifest/two-kinds", "keep `kind` and remove `type`";
    Type, "manifest/type", "write a value of the type that is asked for";
    UnknownKey, "manifest/unknown-key", "remove the key, or check its spelling";
    UnknownKind, "manifest/unknown-kind", "use a kind that this version knows: command, command_group";
    UnknownServer, "manifest/unknown-server", "name a server of mcpServers";
    UnknownVariable, "manifest/unknown-variable", "use a variable that the dialect replaces";
    Version, "manifest/version", "write the version as the dialect asks, best as SemVer: 1.2.3";
    MarketCommandSource, "market/command-source", "use a source that runs no program, or allow it in the host";
    MarketCredentials, "market/credentials", "remove user and password from the URL";
    MarketDuplicateName, "market/duplicate-name", "give each entry a name of its own";
    MarketFloatingSource, "market/floating-source", "pin the source by `sha`";
    MarketInsecureUrl, "market/insecure-url", "use an https URL";
    MarketNoOwner, "market/no-owner", "add an owner with a name";
    MarketRenames, "market/renames", "let each old name lead to an entry of the file";
    MarketSha, "market/sha", "write 40 or 64 lower-case hex digits (sha256: 64)";
    MarketUnknownPolicy, "market/unknown-policy", "use a policy value that is documented";
    MarketUnknownSource, "market/unknown-source", "use a kind of source that is documented";
    HooksDeclaredTwice, "surface/hooks-declared-twice", "remove the `hooks` key: the standard file is read without it";
    LauncherFloating, "surface/launcher-floating", "name an exact version or digest of what is fetched";
    SurfaceMissingFile, "surface/missing-file", "add the file, or remove what names it";
    SurfaceMissingProgram, "surface/missing-program", "add the file to the plugin, or remove what starts it";
    UnknownEvent, "surface/unknown-event", "use an event that the host knows";
    UnknownHandler, "surface/unknown-handler", "use a handler type that the host knows";
    UnquotedRoot, "surface/unquoted-root", "put the word with the root variable in double quotes";
}
