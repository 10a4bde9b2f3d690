use plugward_redact::{Redacted, Request, Role};

fn main() {
    let _: fn(Redacted) -> Request = |text| Request::new().with(Role::User, text);
}
