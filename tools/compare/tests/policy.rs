//! `config` and `figment` agree with the merge on stacks without layers of repositories.

use std::sync::Arc;

use config::{Config, File, FileFormat};
use figment::Figment;
use figment::providers::Serialized;
use plugward_policy::{LayerKind, SettingKey, SettingsLayer, TrustPolicy};
use proptest::prelude::*;

const ROWS: &[(&str, &[&str])] = &[
    ("trust", &["\"tofu\"", "\"prompt\"", "\"locked\""]),
    ("plugins.approval", &["\"off\"", "\"required\""]),
    ("plugins.disabled", &["[]", "[\"a\"]", "[\"a\", \"b\"]"]),
    ("plugins.command.serve.run", &["\"unattended\"", "\"ask\"", "\"deny\""]),
    ("plugins.command.serve.install", &["true", "false"]),
    ("plugins.command.serve.options.level", &["1", "2.5", "\"x\""]),
    ("plugins.command.serve.options.web.port", &["80", "8080"]),
    ("plugins.command.serve.options.web.hosts", &["[\"a\"]", "[\"b\", \"c\"]"]),
    ("limits.tree_files", &["1", "2", "3"]),
    ("pins.exclude_vcs", &["true", "false"]),
];

fn text(picks: &[usize]) -> String {
    let pairs = ROWS.iter().zip(picks).filter_map(|((key, values), pick)| Some((key, values.get(*pick)?)));
    pairs.fold(String::new(), |text, (key, value)| text + &format!("{key} = {value}\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_strongest_layer_wins(stack in proptest::collection::vec(
        proptest::collection::vec(0..6_usize, ROWS.len()), 3))
    {
        let texts: Vec<String> = stack.iter().map(|picks| text(picks)).collect();
        let kinds = [LayerKind::Managed, LayerKind::User, LayerKind::Cli];
        let layers = kinds.iter().zip(&texts).map(|(kind, text)| {
            Arc::new(SettingsLayer::parse(*kind, "f", text.as_bytes()).unwrap())
        });
        let policy = TrustPolicy::new(layers.collect::<Vec<_>>(), []);
        let config = texts.iter().fold(Config::builder(), |builder, text| {
            builder.add_source(File::from_str(text, FileFormat::Toml))
        });
        let config = config.build().unwrap();
        let figment = texts.iter().fold(Figment::new(), |figment, text| {
            figment.merge(Serialized::defaults(text.parse::<toml::Table>().unwrap()))
        });
        for (row, _) in ROWS {
            let key: SettingKey = row.parse().unwrap();
            let resolved = policy.resolve(&key);
            let own = (resolved.layer != LayerKind::Default).then(|| resolved.value.unwrap().to_toml());
            prop_assert_eq!(&own, &config.get::<toml::Value>(row).ok(), "config: {}", row);
            prop_assert_eq!(&own, &figment.extract_inner::<toml::Value>(row).ok(), "figment: {}", row);
        }
        let options = policy.options("serve");
        let all = config.get::<toml::Table>("plugins.command.serve.options").unwrap_or_default();
        prop_assert_eq!(&options, &all);
    }
}
