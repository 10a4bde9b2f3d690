//! Hooks of plugins on their way through the loader.

use plugward_loader::add_looked;
use plugward_loader::hook_events::{Plan, RawOutput, View};
use plugward_tests::{Bench, Bit, Run, Step, apply};

fn write(path: &str, text: &str) -> Step {
    Step::Write { path: path.to_owned(), text: text.to_owned(), executable: Bit::Off }
}

fn plugin(name: &str, hooks: &str) -> [Step; 2] {
    let manifest = format!("{{\"name\": \"{name}\", \"version\": \"1.0.0\"}}");
    [
        write(&format!("{name}/.claude-plugin/plugin.json"), &manifest),
        write(&format!("{name}/hooks/hooks.json"), hooks),
    ]
}

const HOOKS: &str =
    r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}"#;

#[test]
fn a_look_returns_the_surface_of_plugins_that_would_load_and_no_other() {
    let bench = Bench::new();
    apply(&bench.plugins, &[plugin("good", HOOKS), plugin("broken", "{")].concat());
    let looked = bench.look(&Run::default());
    let kinds: Vec<(String, Vec<&str>)> = looked
        .surfaces
        .iter()
        .map(|(key, items)| {
            (key.name().to_owned(), items.iter().map(|(_, item)| item.kind().as_str()).collect())
        })
        .collect();
    assert_eq!(kinds, [("good".to_owned(), vec!["hook"])]);
    let mut plan = Plan::builder(RawOutput::ManagedAndUser);
    add_looked(&mut plan, &looked);
    let plan = plan.build();
    let [hook] = plan.hooks() else { panic!("{plan:?}") };
    assert_eq!((hook.id(), hook.view()), ("plugins/good:PreToolUse.1", View::Redacted));
    let refused: Vec<(&str, &str)> =
        plan.refused().iter().map(|one| (one.source.as_str(), one.code.as_str())).collect();
    assert_eq!(refused, [("plugins/broken", "manifest/syntax")]);
}
