use plugward_hooks::{Dispatcher, FireContext, PostToolReport, ToolCall};
use plugward_redact::{Output, Raw};

fn fire(dispatcher: &Dispatcher, call: &ToolCall, raw: Raw<Output>, at: &FireContext) -> PostToolReport {
    let report = dispatcher.post_tool_use(call, raw, at);
    println!("{}", report.hooks.steps.len());
    report
}

fn main() {
    let _ = fire;
}
