#![doc = include_str!("../README.md")]

mod codes;
mod config;
mod facts;
mod faults;
mod modules;
mod plugins;
mod schema;
mod state;
mod value;

pub use codes::CODES;
pub use config::{
    AnswerOutcome, ConfigEntry, ConfigError, ConfigFault, ConfigFaultKind, ConfigValues, GivenValues,
    Questions, ValueSource, inline, questions,
};
pub use facts::{ApprovalFacts, AuditFacts, Clearance, FoundPlugin, PluginContents, PluginTexts};
pub use faults::{Fault, Faults};
pub use modules::{ModuleDecision, admit_modules};
pub use plugins::{
    Additions, CompanionError, CompanionPlan, DirtyFlags, EnableError, Enablement, Plugins, Rediscovery,
};
pub use plugward_types as types;
pub use schema::{
    FieldType, Hints, ItemType, Schema, SchemaError, SchemaFault, SchemaFaultKind, SchemaField,
    exported_hints,
};
pub use state::{
    AnyPlugin, Audited, Configured, Disabled, Discovered, Drift, Enabled, Plugin, PluginState,
    TransitionError, TransitionErrorKind,
};
pub use value::ConfigValue;
