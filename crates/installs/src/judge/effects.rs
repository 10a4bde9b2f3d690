//! The effects of variables on the programs that inherit them.

use plugward_commands::VariableEffect;

/// Variables whose value is code, a file of code, or a program.
const HIJACK: &[&str] = &[
    "BASH_ENV",
    "CLAUDE_CODE_SHELL_PREFIX",
    "CLAUDE_ENV_FILE",
    "DYLD_INSERT_LIBRARIES",
    "GIT_ASKPASS",
    "GIT_DIR",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "LD_AUDIT",
    "LD_PRELOAD",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "ZDOTDIR",
];

/// Options with which Node.js and Bun load code.
const LOADERS: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--inspect",
    "--env-file",
    "--preload",
];

/// Variables that name a package registry, in lower case.
const REGISTRIES: &[&str] = &[
    "npm_config_registry",
    "yarn_npm_registry_server",
    "pip_index_url",
    "pip_extra_index_url",
    "uv_index_url",
    "uv_default_index",
    "uv_extra_index_url",
    "uv_index",
];

/// Returns the effect of a variable with a value that is not empty.
pub(super) fn effect_of(name: &str, value: &str) -> VariableEffect {
    let has_option = |options: &[&str]| {
        let mut words = value.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        words.any(|word| {
            options.iter().any(|option| {
                word.split('=').next().is_some_and(|word| {
                    word == *option || (*option == "--inspect" && word.starts_with(option))
                })
            })
        })
    };
    let lower = name.to_ascii_lowercase();
    match name {
        "PATH" => VariableEffect::SearchPath,
        "PYTHONPATH" | "NODE_PATH" => VariableEffect::AddsFiles,
        "NODE_OPTIONS" | "BUN_OPTIONS" if has_option(LOADERS) => VariableEffect::Hijack,
        "JAVA_TOOL_OPTIONS" | "JDK_JAVA_OPTIONS" | "_JAVA_OPTIONS"
            if value.contains("-agent") || value.contains("-javaagent") || value.contains('@') =>
        {
            VariableEffect::Hijack
        }
        "ENV" if value.contains('/') && value != "/dev/null" => VariableEffect::Hijack,
        "EDITOR" | "VISUAL" | "PAGER"
            if !value.chars().all(|c| c.is_ascii_alphanumeric() || "_.+-".contains(c)) =>
        {
            VariableEffect::Hijack
        }
        "NODE_EXTRA_CA_CERTS"
        | "SSL_CERT_FILE"
        | "SSL_CERT_DIR"
        | "REQUESTS_CA_BUNDLE"
        | "CURL_CA_BUNDLE"
        | "GIT_SSL_CAINFO"
        | "PIP_CERT"
        | "AWS_CA_BUNDLE" => VariableEffect::Certificate,
        _ if name.starts_with("GIT_CONFIG") => VariableEffect::Hijack,
        _ if HIJACK.contains(&name) && value != "/dev/null" => VariableEffect::Hijack,
        _ if REGISTRIES.contains(&lower.as_str()) => VariableEffect::Registry,
        _ if matches!(lower.as_str(), "http_proxy" | "https_proxy" | "all_proxy") => VariableEffect::Proxy,
        _ => VariableEffect::Nothing,
    }
}
