//! Six layers of 200 plugins to one value with all its contributions, next to `config` and `figment`.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set up must stop")]

use std::hint::black_box;
use std::sync::Arc;

use config::{Config, File, FileFormat};
use criterion::{Criterion, criterion_group, criterion_main};
use figment::Figment;
use figment::providers::Serialized;
use plugward_policy::{LayerKind, SettingKey, SettingsLayer, TrustPolicy};

const KINDS: [LayerKind; 6] = [
    LayerKind::Managed,
    LayerKind::User,
    LayerKind::Workspace,
    LayerKind::Workspace,
    LayerKind::Local,
    LayerKind::Local,
];
const KEY: &str = "plugins.command.p150.run";

fn text(layer: usize) -> String {
    let run = ["unattended", "unattended", "ask", "ask", "deny", "deny"].get(layer).unwrap();
    (0..200).fold(String::new(), |text, plugin| {
        text + &format!(
            "[plugins.command.p{plugin}]\nrun = \"{run}\"\noptions = {{ port = {plugin}, host = \"h\" }}\n"
        )
    })
}

fn policy(texts: &[String], key: &SettingKey) -> usize {
    let layers = KINDS
        .iter()
        .zip(texts)
        .map(|(kind, text)| Arc::new(SettingsLayer::parse(*kind, "config.toml", text.as_bytes()).unwrap()));
    let policy = TrustPolicy::new(layers.collect::<Vec<_>>(), []);
    policy.resolve(key).contributions.len()
}

fn benches(criterion: &mut Criterion) {
    let texts: Vec<String> = (0..KINDS.len()).map(text).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let key: SettingKey = KEY.parse().unwrap();
    assert_eq!(policy(&texts, &key), 7);
    let mut group = criterion.benchmark_group(format!("six-layers-{}kB", bytes / 1000));
    group.bench_function("policy", |bench| bench.iter(|| policy(black_box(&texts), &key)));
    group.bench_function("config", |bench| {
        bench.iter(|| {
            let builder = black_box(&texts).iter().fold(Config::builder(), |builder, text| {
                builder.add_source(File::from_str(text, FileFormat::Toml))
            });
            builder.build().unwrap().get_string(KEY).unwrap()
        });
    });
    group.bench_function("figment", |bench| {
        bench.iter(|| {
            let figment = black_box(&texts).iter().fold(Figment::new(), |figment, text| {
                let dict: figment::value::Dict = toml::from_str(text).unwrap();
                figment.merge(Serialized::defaults(dict))
            });
            figment.extract_inner::<String>(KEY).unwrap()
        });
    });
    group.bench_function("parse-only", |bench| {
        bench.iter(|| {
            let tables = black_box(&texts).iter().map(|text| text.parse::<toml::Table>().unwrap().len());
            tables.sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(policies, benches);
criterion_main!(policies);
