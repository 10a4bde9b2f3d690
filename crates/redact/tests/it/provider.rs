//! Both parts of the path to a model, tested separately.

use std::sync::{Arc, Mutex};

use plugward_redact::{
    Firewall, LlmAccess as _, ModelRequest, Raw, RequestRole, RuleSelection, SafeProvider, Settings,
    Transport, TransportError, TransportErrorKind,
};

/// Records its requests, and replies with a secret.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<String>>>);

impl Transport for Recorder {
    fn send(&self, request: &ModelRequest) -> Result<Raw<String>, TransportError> {
        let mut log = self.0.lock().unwrap();
        log.extend(request.parts().iter().map(|part| part.text().to_owned()));
        Ok(Raw::new(format!("the key is {}", secret())))
    }
}

/// A key like that of ADR-004's regression test: 26 letters after the prefix.
fn secret() -> String {
    format!("sk-ant-{}abcdefghijklmnopqrstuvwxyz", "api03-")
}

#[test]
fn the_adr004_key_reaches_the_model_only_redacted() {
    let firewall = Arc::new(Firewall::new(RuleSelection::all(), Settings::reference()).unwrap());
    let recorder = Recorder::default();
    let provider = SafeProvider::new(Arc::clone(&firewall), recorder.clone());
    let part = firewall.redact(Raw::new(format!("result: {}", secret())));
    let reply = provider.ask(ModelRequest::new().with(RequestRole::ToolResult, part)).unwrap();
    assert_eq!(*recorder.0.lock().unwrap(), ["result: [REDACTED:anthropic]"]);
    assert_eq!(reply.as_str(), "the key is [REDACTED:anthropic]");
}

#[test]
fn text_of_a_firewall_with_fewer_rules_is_looked_at_again() {
    let fewer =
        Firewall::new(RuleSelection::all().without("anthropic").unwrap(), Settings::reference()).unwrap();
    let part = fewer.redact(Raw::new(format!("result: {}", secret())));
    assert!(part.as_str().contains("abcdefghijkl"), "the first link alone lets it through");
    let recorder = Recorder::default();
    let firewall = Arc::new(Firewall::new(RuleSelection::all(), Settings::reference()).unwrap());
    SafeProvider::new(firewall, recorder.clone())
        .ask(ModelRequest::new().with(RequestRole::User, part))
        .unwrap();
    assert_eq!(*recorder.0.lock().unwrap(), ["result: [REDACTED:anthropic]"]);
}

#[test]
fn what_this_firewall_made_is_not_looked_at_again() {
    let firewall = Firewall::new(RuleSelection::all(), Settings::reference()).unwrap();
    let text = firewall.redact(Raw::new("quiet".to_owned()));
    let again = firewall.refresh(text.clone());
    assert_eq!((again.generation(), &again), (firewall.generation(), &text));
}

#[test]
fn a_seam_can_make_a_secret_and_a_join_finds_it() {
    let firewall = Firewall::new(RuleSelection::all(), Settings::reference()).unwrap();
    let whole = secret();
    let (left, right) = whole.split_at(20);
    let parts = [left, right].map(|half| firewall.redact(Raw::new(half.to_owned())));
    assert_eq!(parts.each_ref().map(plugward_redact::Redacted::as_str), [left, right]);
    assert_eq!(firewall.join(&[&parts[0], &parts[1]], "").as_str(), "[REDACTED:anthropic]");
}

#[test]
fn every_transport_error_has_its_code_and_help() {
    for kind in [
        TransportErrorKind::Unreachable,
        TransportErrorKind::Refused { status: 401 },
        TransportErrorKind::TimedOut,
        TransportErrorKind::Unreadable,
    ] {
        let error = TransportError::new(kind);
        assert!(!error.help().is_empty(), "{error}");
    }
}
