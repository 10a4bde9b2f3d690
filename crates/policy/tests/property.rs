//! The property of the crate: layers of a repository never loosen a value.
//!
//! The same stacks show that "the strongest layer wins" would not have it.

#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "helpers of tests stop if they cannot set up"
)]

use std::sync::Arc;

use plugward_policy::{
    BundleNames, ContributionFate as Fate, LayerKind, ResolvedSetting, RunRule, SettingId, SettingKey,
    SettingValue, SettingsLayer, TrustPolicy,
};
use plugward_types::{ApprovalRule, PlacePath, StoreErrorRule, TrustMode};
use proptest::prelude::*;

/// Keys with values, for every row of the table that a repository may set, except `options`.
const ROWS: &[(&str, &[&str])] = &[
    ("trust", &["\"tofu\"", "\"prompt\"", "\"locked\""]),
    ("plugins.enabled", &["[]", "[\"a\"]", "[\"a\", \"b*\"]", "[\"*\"]", "[\"path:/p/a\", \"bc\"]"]),
    ("plugins.disabled", &["[]", "[\"a\"]", "[\"a\", \"b*\"]", "[\"*\"]", "[\"path:/p/a\", \"bc\"]"]),
    ("plugins.auto_install", &["true", "false"]),
    ("plugins.shutdown_timeout_secs", &["0", "5", "9"]),
    ("plugins.command.x.install", &["true", "false"]),
    ("plugins.command.x.run", &["\"unattended\"", "\"ask\"", "\"deny\""]),
    (
        "plugins.command.x.checksum.value",
        &[
            "\"1111111111111111111111111111111111111111111111111111111111111111\"",
            "\"2222222222222222222222222222222222222222222222222222222222222222\"",
        ],
    ),
    ("plugins.bundle.a.run", &["\"unattended\"", "\"ask\"", "\"deny\""]),
    ("plugins.bundle.bc.run", &["\"unattended\"", "\"ask\"", "\"deny\""]),
    ("plugins.bundle.\"b*\".run", &["\"unattended\"", "\"ask\"", "\"deny\""]),
    ("plugins.bundle.\"*\".run", &["\"unattended\"", "\"ask\"", "\"deny\""]),
    ("plugins.bundle.\"path:/p/a\".run", &["\"unattended\"", "\"ask\"", "\"deny\""]),
    ("plugins.bundle.\"path:/p/*\".run", &["\"unattended\"", "\"ask\"", "\"deny\""]),
    ("plugins.approval", &["\"off\"", "\"required\""]),
    ("plugins.max_risk", &["\"LOW\"", "\"MEDIUM\"", "\"HIGH\"", "\"CRITICAL\""]),
    ("pins.on_store_error", &["\"warn\"", "\"ask\"", "\"refuse\""]),
    ("pins.exclude_vcs", &["true", "false"]),
    ("limits.tree_files", &["1", "20000", "30000"]),
    ("limits.tree_bytes", &["1", "99"]),
    ("limits.file_bytes", &["1", "99"]),
    ("limits.tree_depth", &["1", "64", "99"]),
    ("launch.access", &["\"user\"", "\"none\""]),
    ("launch.enforce", &["\"best-effort\"", "\"require\""]),
    // A repository cannot set these.
    ("scan.ask", &["\"note\"", "\"person\""]),
    ("hooks.raw", &["\"user\"", "\"all\""]),
    ("plugins.shared", &["[]", "[\"../x\"]"]),
    ("scan.packages", &["[]", "[\"x\"]"]),
    ("audit.client", &["\"none\"", "\"openai\""]),
    ("audit.base_url", &["\"https://a.example\"", "\"https://b.example\""]),
];

/// The rows of the table that ROWS leaves out, with the reason.
const LEFT_OUT: [SettingId; 21] = [
    SettingId::CommandOptions, // grants nothing
    SettingId::Wasm,           // has no effect
    SettingId::Hosts,          // the others are not for repositories, as scan.ask
    SettingId::Prefix,
    SettingId::Registry,
    SettingId::RevocationLists,
    SettingId::Signers,
    SettingId::Suppressions,
    SettingId::Profile,
    SettingId::ScanRules,
    SettingId::RawGrants,
    SettingId::LaunchGrants,
    SettingId::Budgets,
    SettingId::AuditModel,
    SettingId::AuditApiKeyEnv,
    SettingId::AuditMaxTokens,
    SettingId::AuditTimeout,
    SettingId::AuditMaxRequest,
    SettingId::AuditConfirmTokens,
    SettingId::Workspaces,
    SettingId::Final,
];

fn plugins() -> Vec<BundleNames> {
    let names = |key: &str, stated: &[&str]| BundleNames::new(&key.parse().unwrap(), stated.iter().copied());
    vec![
        names("path:/p/a", &[]),
        names("path:/p/bc", &["a"]),
        names("path:/q/c", &["bc", "a"]),
        names("claude:a@m", &["b"]),
    ]
}

fn lines(picks: &[(usize, usize)]) -> String {
    let mut taken = std::collections::BTreeSet::new();
    let picks = picks.iter().filter(|(row, _)| taken.insert(row % ROWS.len()));
    picks.fold(String::new(), |text, (row, value)| {
        let (key, values) = ROWS[row % ROWS.len()];
        text + &format!("{key} = {}\n", values[value % values.len()])
    })
}

fn layer(kind: LayerKind, picks: &[(usize, usize)]) -> Arc<SettingsLayer> {
    let text = lines(picks);
    let layer = match kind {
        LayerKind::Env | LayerKind::Cli => {
            SettingsLayer::assignments(kind, "--cfg", &text.lines().collect::<Vec<_>>())
        }
        // A value of a table for one directory is a layer of its own, which is stronger than repositories.
        LayerKind::UserWorkspace => {
            let only: String = text
                .lines()
                .filter(|row| !row.starts_with("scan") && !row.starts_with("hooks"))
                .filter(|row| !row.starts_with("plugins.shared") && !row.starts_with("audit"))
                .fold(String::new(), |text, row| text + row + "\n");
            SettingsLayer::parse(
                LayerKind::User,
                "config.toml",
                format!("[workspaces.\"/p\"]\n{only}").as_bytes(),
            )
        }
        kind => SettingsLayer::parse(kind, "config.toml", text.as_bytes()),
    };
    Arc::new(layer.unwrap())
}

const KINDS: [LayerKind; 8] = [
    LayerKind::Managed,
    LayerKind::User,
    LayerKind::UserWorkspace,
    LayerKind::Workspace,
    LayerKind::Workspace,
    LayerKind::Local,
    LayerKind::Env,
    LayerKind::Cli,
];

fn policy(layers: &[Arc<SettingsLayer>]) -> TrustPolicy {
    TrustPolicy::new(layers.to_vec(), [PlacePath::new("/p/a").unwrap()])
}

fn without(layers: &[Arc<SettingsLayer>]) -> TrustPolicy {
    let own: Vec<_> = layers.iter().filter(|layer| !layer.kind().is_repository()).cloned().collect();
    policy(&own)
}

/// Returns the value of the strongest layer, as a merge without the rule for repositories would.
fn last_wins(resolved: &ResolvedSetting) -> Option<&SettingValue> {
    let mut found = resolved.contributions.iter().rev().filter(|one| one.fate != Fate::NotFromRepository);
    found.find_map(|one| one.value.as_ref())
}

/// Returns whether repositories loosen a value, and whether they would if the strongest layer won.
fn is_loosened(layers: &[Arc<SettingsLayer>]) -> [bool; 2] {
    let (with, without) = (policy(layers), without(layers));
    let mut found = [false; 2];
    for key in with.keys() {
        let (with, without) = (with.resolve(&key), without.resolve(&key));
        found[0] |= !key.id().is_as_strict(with.value.as_ref(), without.value.as_ref());
        found[1] |= !key.id().is_as_strict(last_wins(&with), last_wins(&without));
    }
    found
}

fn resolved(policy: &TrustPolicy, key: &SettingKey) -> Option<SettingValue> {
    policy.resolve(key).value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn a_repository_never_loosens(stack in proptest::collection::vec(
        proptest::collection::vec((0..ROWS.len(), 0..60_usize), 0..12), KINDS.len()))
    {
        let layers: Vec<_> = KINDS.iter().zip(&stack).map(|(kind, picks)| layer(*kind, picks)).collect();
        let (with, without) = (policy(&layers), without(&layers));
        for key in with.keys() {
            let (value, than) = (resolved(&with, &key), resolved(&without, &key));
            prop_assert!(key.id().is_as_strict(value.as_ref(), than.as_ref()), "{key}: {value:?} {than:?}");
        }
        // The answers that hosts use, for plugins with several names.
        for names in plugins() {
            prop_assert!(with.bundle_rule(&names).run >= without.bundle_rule(&names).run);
            prop_assert!(with.switched_off(&names).is_some() || without.switched_off(&names).is_none());
        }
        // The names are listed from loose to strict.
        let rank = |names: &[&str], name: &str| names.iter().position(|one| *one == name);
        let trust = |policy: &TrustPolicy| rank(TrustMode::NAMES, policy.trust().as_str());
        let approval = |policy: &TrustPolicy| rank(ApprovalRule::NAMES, policy.approval().as_str());
        let store = |policy: &TrustPolicy| {
            policy.on_store_error().and_then(|rule| rank(StoreErrorRule::NAMES, rule.as_str()))
        };
        prop_assert!(trust(&with) >= trust(&without) && approval(&with) >= approval(&without));
        prop_assert!(with.max_risk() <= without.max_risk() && store(&with) >= store(&without));
        prop_assert!(with.tree_files() <= without.tree_files() && with.excludes_vcs() <= without.excludes_vcs());
        prop_assert!(with.launch_access() >= without.launch_access());
        prop_assert!(with.launch_enforcement() >= without.launch_enforcement());
        let (one, two) = (with.command("x"), without.command("x"));
        prop_assert!(one.auto_install <= two.auto_install);
        // Unset means that the origin decides, at most as strictly as `ask` and `false`.
        prop_assert!(one.run.is_some() || two.run.is_none());
        prop_assert!(one.run >= two.run || one.run >= Some(RunRule::Ask));
        prop_assert!(two.checksum.is_none() || one.checksum == two.checksum);
        prop_assert!(one.install <= two.install || one.install == Some(false));
        // Keys that repositories cannot set are the same.
        let for_users = [SettingId::ScanAsk, SettingId::RawOutput, SettingId::Shared, SettingId::Packages];
        for id in for_users.into_iter().chain([SettingId::AuditClient, SettingId::AuditBaseUrl]) {
            prop_assert_eq!(with.value(id), without.value(id));
        }
    }
}

#[test]
fn every_row_of_the_table_is_tested_or_left_out_for_a_reason() {
    let tested: Vec<SettingId> = ROWS
        .iter()
        .map(|(key, _)| key.trim_end_matches(".value").parse::<SettingKey>().unwrap().id())
        .collect();
    for id in SettingId::ALL {
        assert_ne!(tested.contains(id), LEFT_OUT.contains(id), "{id:?}");
    }
}

/// The figure of the design: 100,000 stacks of eight layers.
#[test]
fn a_repository_raises_trust_in_no_random_stack_and_in_most_under_last_wins() {
    // A small generator with a fixed seed, so that a failure repeats.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    // Texts are read once, since the reader is not what is counted.
    let pools: Vec<Vec<_>> = KINDS
        .iter()
        .map(|kind| {
            let pool = (0..300).map(|_| {
                let picks: Vec<_> = (0..random(6)).map(|_| (random(ROWS.len()), random(60))).collect();
                layer(*kind, &picks)
            });
            pool.collect()
        })
        .collect();
    let (mut raised, mut raised_by_last) = (0, 0);
    let stacks = 100_000;
    for _ in 0..stacks {
        let layers: Vec<_> = pools.iter().map(|pool| Arc::clone(&pool[random(pool.len())])).collect();
        let [own, last] = is_loosened(&layers);
        raised += usize::from(own);
        raised_by_last += usize::from(last);
    }
    println!("of {stacks} stacks: {raised} raised, {raised_by_last} with last wins");
    assert_eq!(raised, 0);
    assert!(raised_by_last > stacks / 2, "{raised_by_last}");
}
