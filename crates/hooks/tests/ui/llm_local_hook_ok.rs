use plugward_hooks::{LocalHook, LocalReply};
use plugward_redact::{LlmAccess, LocalOnly, Output, Raw};

struct Hook;

impl LocalHook for Hook {
    fn look(&self, _: &Raw<Output>, _: &LocalOnly<'_>) -> LocalReply {
        LocalReply::Keep
    }
}

fn main() {
    let _: fn(&dyn LlmAccess, Hook) = |_, _| {};
}
