//! The eleven layers through which a plugin goes before it is enabled.

use plugward_loader::lifecycle::{
    Clearance, ConfigError, ConfigValues, Enablement, GivenValues, inline, questions,
};
use plugward_loader::pinstore::{AuditVerdict, Risk};
use plugward_loader::{Confirmation, Gate, PluginKey, PluginReport, clear};

use super::answer::{CommandAnswer, Fault, Layer, LayerOutcome};
use super::catalog::{Catalog, CatalogEntry, DANGER};
use crate::failure::Failure;
use crate::out::Out;
use crate::text::count;

const NAMES: [&str; 11] = [
    "manifest",
    "scan",
    "canaries",
    "model",
    "canary check",
    "review",
    "configuration",
    "content",
    "load",
    "danger",
    "modules",
];

/// The layers of one plugin so far.
#[derive(Default)]
struct Layers {
    done: Vec<Layer>,
}

impl Layers {
    fn add(&mut self, outcome: LayerOutcome, message: impl Into<String>) {
        let layer = self.done.len();
        let name = NAMES.get(layer).copied().unwrap_or_default();
        self.done.push(Layer { number: layer.saturating_add(1), name, outcome, message: message.into() });
    }

    fn pass(&mut self, message: impl Into<String>) {
        self.add(LayerOutcome::Passed, message);
    }

    /// Adds the layer that stops the command.
    fn stop(&mut self, fault: Fault) -> Fault {
        self.add(LayerOutcome::Stopped, fault.message.clone());
        fault
    }
}

impl Catalog<'_> {
    /// Enables a plugin and its companions, or none of them.
    pub(super) fn enable(
        &mut self,
        key: &PluginKey,
        args: &[&str],
        answer: &mut CommandAnswer,
        out: &Out,
    ) -> Result<Result<(), Fault>, Failure> {
        if let Err(fault) = self.ask_before(key, out)? {
            return Ok(Err(fault));
        }
        let confirmed = args.iter().find_map(|arg| arg.strip_prefix("audit="));
        let schema = self.plugins.get(key).map(|plugin| plugin.found().schema.clone()).unwrap_or_default();
        let values = args.iter().copied().filter(|arg| !arg.starts_with("audit="));
        let given = inline(&schema, values);
        let plan = match self.plugins.companions(key) {
            Ok(plan) => plan,
            Err(error) => return Ok(Err(Fault::new(error.code(), error.to_string()))),
        };
        let mut layers = Layers::default();
        let main = self.pass_layers(key, given, confirmed, &mut layers, out)?;
        answer.layers = layers.done;
        let main = match main {
            Ok(step) => step,
            Err(fault) => return Ok(Err(fault)),
        };
        // The plugin that names a companion comes after it, and gives it values. So the values are found in reverse order.
        let mut steps = vec![main];
        for (companion, parent) in plan.order.iter().rev() {
            let own =
                self.plugins.get(companion).map(|plugin| plugin.found().schema.clone()).unwrap_or_default();
            let parents =
                self.plugins.get(parent).map(|plugin| plugin.found().schema.clone()).unwrap_or_default();
            let shared = steps.iter().find(|step| step.key == *parent).map(|step| &step.values);
            let given = shared.map_or_else(GivenValues::default, |values| {
                GivenValues::default().shared_by(&parents, values, &own)
            });
            let step = match self.ask_before(companion, out)? {
                Ok(()) => self.pass_layers(companion, Ok(given), None, &mut Layers::default(), out)?,
                Err(fault) => Err(fault),
            };
            match step {
                Ok(step) => steps.push(step),
                Err(fault) => {
                    let message =
                        format!("the companion `{}`: {} ({})", self.id(companion), fault.message, fault.code);
                    return Ok(Err(Fault::new("lifecycle/companion", message)));
                }
            }
        }
        steps.reverse();
        let notes = plan.missing.iter().map(|name| format!("no such companion: `{name}`"));
        let required = plan
            .required
            .iter()
            .map(|name| format!("required and not enabled: `{name}` (lifecycle/requires)"));
        let notes: Vec<String> = notes.chain(required).collect();
        answer.message = (!notes.is_empty()).then(|| notes.join("; "));
        Ok(self.enable_all(steps))
    }

    fn enable_all(&mut self, steps: Vec<Enablement>) -> Result<(), Fault> {
        for step in &steps {
            let entry = self.entry(&step.key)?;
            let (audit, approval) = (entry.audit.clone(), entry.is_approved().then(|| entry.approval()));
            // A plugin that was enabled before keeps its audit, because its contents are the same.
            let _is_audited = self.plugins.change(&step.key, |plugin| match approval {
                Some(approval) => plugin.approved(approval),
                None => plugin.audited(audit),
            });
        }
        let keys: Vec<PluginKey> = steps.iter().map(|step| step.key.clone()).collect();
        self.plugins.enable(steps).map_err(|error| Fault::new(error.code(), error.kind().to_string()))?;
        self.stops.retain(|key, _| !keys.contains(key));
        Ok(())
    }

    fn pass_layers(
        &self,
        key: &PluginKey,
        given: Result<GivenValues, ConfigError>,
        confirmed: Option<&str>,
        layers: &mut Layers,
        out: &Out,
    ) -> Result<Result<Enablement, Fault>, Failure> {
        let entry = match self.entry(key) {
            Ok(entry) => entry,
            Err(fault) => return Ok(Err(fault)),
        };
        let before = self
            .examine(entry, confirmed, layers)
            .and_then(|confirmation| Ok((confirmation, self.configure(key, entry, given, layers)?)));
        let (confirmation, values) = match before {
            Ok(before) => before,
            Err(fault) => return Ok(Err(fault)),
        };
        let loaded = self.load(&entry.report, out)?;
        let clearance = match &loaded {
            Ok(plugin) => clear(plugin, &entry.audit, self.settings.max_risk, confirmation)
                .map_err(|error| Fault::new(error.code(), error.to_string())),
            Err(report) => {
                let refused = content_and_load(report, layers);
                return Ok(Err(refused));
            }
        };
        Ok(match clearance {
            Ok(clearance) => Ok(finish(key, values, clearance, layers)),
            Err(fault) => Err(layers.stop(fault)),
        })
    }

    /// Layers 1 to 6. Returns what the user confirmed.
    fn examine(
        &self,
        entry: &CatalogEntry,
        confirmed: Option<&str>,
        layers: &mut Layers,
    ) -> Result<Confirmation, Fault> {
        let report = &entry.report;
        let stopped = |gates: &[Gate]| {
            let reason = report.reasons.iter().find(|reason| gates.contains(&reason.gate))?;
            Some(Fault::new(&reason.code, reason.message.clone()))
        };
        if let Some(fault) = stopped(&[Gate::Discover, Gate::Manifest]) {
            return Err(layers.stop(fault));
        }
        layers.pass(report.dialects.join(", "));
        let risk = entry.audit.risk;
        layers.pass(format!("risk {}, {}", risk.as_str(), count(report.findings.len(), "finding")));
        read_by_model(entry, layers)?;
        if let Some(fault) = self.above(risk).filter(|_| entry.audit.dangers == 0) {
            return Err(layers.stop(fault));
        }
        if entry.audit.verdict == AuditVerdict::Reject && entry.audit.dangers == 0 && !entry.is_approved() {
            return Err(layers.stop(Fault::new("lifecycle/rejected", "the audit advises against the plugin")));
        }
        let is_low = risk == Risk::Low;
        match confirmed {
            _ if entry.is_approved() => {
                layers.pass("approved");
                return Ok(Confirmation::NotGiven);
            }
            Some(digest) if digest == entry.digest.to_string() => {
                layers.pass("confirmed with the digest of the audit");
            }
            None if self.args.yes && is_low => layers.pass("risk LOW, confirmed with --yes"),
            Some(_) => {
                let message = "the digest is not that of the present audit";
                return Err(layers.stop(Fault::new("lifecycle/not-confirmed", message)));
            }
            None => {
                let message = "nobody confirmed the audit; enable the plugin with `audit=` and its digest";
                return Err(layers.stop(Fault::new("lifecycle/not-confirmed", message)));
            }
        }
        Ok(Confirmation::Given(entry.audit.contents.clone()))
    }

    /// Layer 7. Without a person to ask, defaults answer the questions.
    fn configure(
        &self,
        key: &PluginKey,
        entry: &CatalogEntry,
        given: Result<GivenValues, ConfigError>,
        layers: &mut Layers,
    ) -> Result<ConfigValues, Fault> {
        if let Some(fault) = &entry.fault {
            return Err(layers.stop(Fault::new(fault.code(), fault.to_string())));
        }
        let Some(plugin) = self.plugins.get(key) else {
            return Err(Fault::new("session/plugin", "no such plugin"));
        };
        let schema = &plugin.found().schema;
        let complete = |given: GivenValues| {
            // A plugin that was enabled before keeps its configuration, as when an enabled one is configured again.
            let given = plugin.values().map_or(given.clone(), |values| given.over(values));
            let line = questions(schema, &given).defaults_line();
            given.complete(schema, |key, value| self.mask(key, value)).map(|values| (values, line))
        };
        match given.and_then(complete) {
            Ok((values, line)) => {
                layers.pass(line.unwrap_or_default());
                Ok(values)
            }
            Err(error) => Err(layers.stop(Fault::from(&error))),
        }
    }
}

/// Layers 3 to 5, if a model read the plugin.
fn read_by_model(entry: &CatalogEntry, layers: &mut Layers) -> Result<(), Fault> {
    let skipped = match entry.kept.canaries() {
        _ if entry.is_approved() => "the plugin is approved",
        None => "no model read the plugin",
        Some((auditor, fault)) => {
            layers.pass("two canaries were planted");
            layers.pass(auditor);
            let Some(fault) = fault else {
                layers.pass("both canaries were reported");
                return Ok(());
            };
            return Err(layers.stop(fault));
        }
    };
    (3..=5).for_each(|_| layers.add(LayerOutcome::Skipped, skipped));
    Ok(())
}

/// Layers 8 to 10 of a plugin that does not load.
fn content_and_load(report: &PluginReport, layers: &mut Layers) -> Fault {
    layers.pass("");
    if let Some(reason) = report.reasons.iter().find(|reason| reason.code != DANGER) {
        return layers.stop(Fault::new(&reason.code, reason.message.clone()));
    }
    layers.pass("");
    let message = report.reasons.first().map_or("danger findings", |reason| reason.message.as_str());
    layers.stop(Fault::new(DANGER, message))
}

/// Layers 8 to 11 of a plugin that loads.
fn finish(key: &PluginKey, values: ConfigValues, clearance: Clearance, layers: &mut Layers) -> Enablement {
    layers.pass(clearance.contents().tree.to_string());
    layers.pass("every gate let the plugin pass");
    layers.pass("");
    layers.pass("`register` decides about each module");
    Enablement { key: key.clone(), values, clearance }
}
