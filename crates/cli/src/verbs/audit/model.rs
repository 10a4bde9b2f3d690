//! The model that the settings name, and the environment of an audit: random bytes and time.

use std::io;

use plugward_loader::deep_audit::{AuditLimits, AuditorId, Randomness};
use plugward_loader::policy::{SettingId, SettingValue, TrustPolicy};
use plugward_loader::redact::{Firewall, LlmAccess, RuleSelection, Settings as RedactSettings};
use std::sync::Arc;

use crate::failure::Failure;
use crate::host;
use crate::settings::Settings;

/// A model, and the limits of audits by it.
pub(crate) struct Auditor {
    pub(crate) id: AuditorId,
    /// The name and port of the server.
    pub(crate) host: String,
    pub(crate) limits: AuditLimits,
    /// The tokens from which on the user is asked.
    pub(crate) confirm_tokens: u64,
    pub(crate) firewall: Arc<Firewall>,
    pub(crate) model: Box<dyn LlmAccess>,
}

impl Auditor {
    /// Reads the settings under `audit`, of which only those of the user and the administrator count. Nothing is sent.
    pub(crate) fn of(settings: &Settings) -> Result<Self, Failure> {
        let policy = TrustPolicy::new(settings.layers.iter().cloned(), []);
        let text = |id| policy.value(id).as_ref().and_then(SettingValue::as_text).map(str::to_owned);
        let number = |id| match policy.value(id) {
            Some(SettingValue::Number(number)) => number,
            _ => 0,
        };
        let no_model = |what: &str| {
            Failure::usage(what)
                .code("audit/no-model")
                .help("name a server, here or in your own settings: --cfg audit.client=openai --cfg audit.base_url=http://127.0.0.1:11434/v1 --cfg audit.model=NAME")
                .help("list findings and claims without a model: --static")
        };
        let client = text(SettingId::AuditClient).filter(|client| client != "none");
        let client = client.ok_or_else(|| no_model("no language model is set up for audits"))?;
        let base_url =
            text(SettingId::AuditBaseUrl).ok_or_else(|| no_model("`audit.base_url` is not set"))?;
        let name = text(SettingId::AuditModel).ok_or_else(|| no_model("`audit.model` is not set"))?;
        let key = match text(SettingId::AuditApiKeyEnv) {
            // A user can put the key itself here, which must not be printed.
            Some(variable) if !is_name(&variable) => {
                return Err(Failure::usage("`audit.api_key_env` is not the name of a variable")
                    .code("audit/no-key")
                    .help("store the key in a variable, and name it with capital letters, digits and `_`"));
            }
            Some(variable) => Some(host::named_variable(&variable).ok_or_else(|| {
                Failure::usage(format!("the variable {variable}, which audit.api_key_env names, is not set"))
                    .code("audit/no-key")
                    .help("set it to the key of the model server")
            })?),
            None => None,
        };
        let kib = usize::try_from(number(SettingId::AuditMaxRequest)).unwrap_or(usize::MAX);
        let firewall = Firewall::new(RuleSelection::all(), RedactSettings::reference())
            .map_err(|error| Failure::internal(error.to_string()).code(error.code()))?;
        let firewall = Arc::new(firewall);
        let model = connect(&client, &base_url, &name, key, &number, Arc::clone(&firewall))?;
        Ok(Self {
            id: AuditorId::new(&client, &name),
            host: host_of(&base_url).to_owned(),
            limits: AuditLimits { request_bytes: kib.saturating_mul(1024) },
            confirm_tokens: number(SettingId::AuditConfirmTokens),
            firewall,
            model,
        })
    }
}

#[cfg(feature = "net")]
fn connect(
    client: &str,
    base_url: &str,
    name: &str,
    key: Option<String>,
    number: &dyn Fn(SettingId) -> u64,
    firewall: Arc<Firewall>,
) -> Result<Box<dyn LlmAccess>, Failure> {
    use core::time::Duration;
    use plugward_loader::deep_audit::{HttpModel, ModelClient, ModelClock, ModelServer};
    use plugward_loader::redact::SafeProvider;

    struct SystemClock(std::time::Instant);

    impl ModelClock for SystemClock {
        fn now(&self) -> Duration {
            host::moment().saturating_duration_since(self.0)
        }

        fn wait(&self, time: Duration) {
            std::thread::sleep(time);
        }
    }

    let server = ModelServer {
        client: if client == "anthropic" { ModelClient::Anthropic } else { ModelClient::OpenAi },
        base_url: base_url.to_owned(),
        model: name.to_owned(),
        key,
        max_tokens: u32::try_from(number(SettingId::AuditMaxTokens)).unwrap_or(u32::MAX),
        timeout: Duration::from_secs(number(SettingId::AuditTimeout)),
        proxy: host::proxy(),
    };
    let model = HttpModel::new(server, Box::new(SystemClock(host::moment())))
        .map_err(|error| Failure::usage(error.to_string()).code(error.code()).help(error.help()))?;
    Ok(Box::new(SafeProvider::new(firewall, model)))
}

#[cfg(not(feature = "net"))]
fn connect(
    _client: &str,
    _base_url: &str,
    _name: &str,
    _key: Option<String>,
    _number: &dyn Fn(SettingId) -> u64,
    _firewall: Arc<Firewall>,
) -> Result<Box<dyn LlmAccess>, Failure> {
    Err(Failure::usage("this build has no clients for model servers")
        .code("audit/no-model")
        .help("build plugward with the feature `net`, or use --static"))
}

/// Returns `true` for a portable name of an environment variable.
fn is_name(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    text.bytes().all(is_word) && text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

/// Returns the name and port of a URL.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

/// The random source of the system.
pub(crate) struct SystemRandom;

impl Randomness for SystemRandom {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        for chunk in bytes.chunks_mut(16) {
            let drawn = host::random().map_err(|error| io::Error::other(error.to_string()))?;
            chunk.iter_mut().zip(drawn).for_each(|(byte, drawn)| *byte = drawn);
        }
        Ok(())
    }
}
