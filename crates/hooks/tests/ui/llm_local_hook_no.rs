use plugward_hooks::{LocalHook, LocalReply};
use plugward_redact::{LlmAccess, LocalProof, Output, Raw};

struct Hook;

impl LocalHook for Hook {
    fn look(&self, _: &Raw<Output>, _: &LocalProof<'_>, _: &dyn LlmAccess) -> LocalReply {
        LocalReply::Keep
    }
}

fn main() {
    let _: fn(&dyn LlmAccess, Hook) = |_, _| {};
}
