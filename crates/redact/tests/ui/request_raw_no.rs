use plugward_redact::{Request, Role};

fn main() {
    let _: fn(plugward_redact::Raw<String>) -> Request = |text| Request::new().with(Role::User, text);
}
