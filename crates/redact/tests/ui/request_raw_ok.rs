use plugward_redact::{ModelRequest, RequestRole};

fn main() {
    let _: fn(plugward_redact::Redacted) -> ModelRequest = |text| ModelRequest::new().with(RequestRole::User, text);
}
