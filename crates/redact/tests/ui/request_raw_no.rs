use plugward_redact::{Raw, Request, Role};

fn main() {
    let _: fn(Raw<String>) -> Request = |text| Request::new().with(Role::User, text);
}
