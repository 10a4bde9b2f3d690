use plugward_redact::{Request, Role};

fn main() {
    let _: fn(plugward_redact::Redacted) -> Request = |text| Request::new().with(Role::User, text);
}
