//! Matchers for secrets in structured text: JSON web tokens, Kubernetes Secrets, armored keys.

pub(crate) mod jwt;
pub(crate) mod k8s;
pub(crate) mod pem;
