//! The services of a host: starting commands, models, agents, grants, its permission rule, and its own
//! hooks.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::Arc;

use plugward_redact::{Firewall, LlmAccess, LocalProof, ModelRequest, Output, Raw, Redacted, TransportError};

use crate::definitions::hook::Hook;
use crate::events::call::GateCall;
use crate::replies::report::Answer;

/// Starts the command of a hook.
///
/// A host can start it with less access than its own. The child process needs three pipes and its own
/// process group: the dispatcher writes, reads, waits, and signals the group.
pub trait Start: Send + Sync {
    /// Starts a command.
    ///
    /// # Errors
    /// The system error. [`io::ErrorKind::NotFound`] becomes `hook/not-found`, every other kind
    /// `hook/spawn`.
    fn start(&self, command: &HookCommand) -> io::Result<Child>;

    /// Takes note that the command with this process id has ended. `None` if it could not be waited for.
    fn ended(&self, _id: u32, _end: Option<ExitStatus>) {}
}

/// A command with its complete environment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookCommand {
    /// The id of the plugin that defined the hook, whose grants apply. `None` for hooks of the user and of projects.
    pub plugin: Option<String>,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The working directory, as an absolute path.
    pub directory: String,
    /// The whole environment. Nothing is inherited.
    pub env: Vec<(String, String)>,
}

/// Starts commands with the privileges of this process.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct StartDirectly;

impl Start for StartDirectly {
    fn start(&self, command: &HookCommand) -> io::Result<Child> {
        use std::os::unix::process::CommandExt as _;
        use std::process::Stdio;
        let Some((program, arguments)) = command.argv.split_first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        #[expect(clippy::disallowed_methods, reason = "this type starts commands itself")]
        let mut child = std::process::Command::new(program);
        child.args(arguments).current_dir(&command.directory).env_clear();
        child.envs(command.env.iter().map(|(name, value)| (name, value)));
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()
    }
}

/// The result of lending raw text to a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum LendCheck {
    /// The use was recorded, and `lend` was called.
    Lent,
    /// There is no grant for the hook and the tool. `lend` was not called.
    NotGranted,
    /// The use could not be recorded. `lend` was not called.
    Unrecorded,
}

/// Grants of raw output to hooks, and the record of each use.
pub trait RawGrants: Send + Sync {
    /// Records that a hook sees the raw output of a tool, then calls `lend`, then records the end of the use.
    fn lend(&self, hook: &Hook, tool: &str, lend: &mut dyn FnMut()) -> LendCheck;

    /// Records that `hooks.raw = "all"` lets a hook of a project or plugin see raw output. `false` if the use could not
    /// be recorded: the hook then sees redacted text.
    fn record_exposure(&self, hook: &Hook, tool: &str) -> bool;
}

/// The host's own rule about tool calls. It counts as an answer, so a hook cannot allow what it denies.
pub trait PermissionRule: Send + Sync {
    /// Returns the answer for a call with its present arguments.
    fn answer(&self, call: &GateCall) -> Answer;
}

/// One round of an agent hook.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "an agent is done or it is not")]
pub enum AgentRound {
    /// The last reply of the agent. If it is not a verdict, there is another round.
    Done(Redacted),
    /// The request for another round.
    Continue(ModelRequest),
}

/// The host's agent for agent hooks.
pub trait AgentLoop: Send + Sync {
    /// Runs one round. It is called at most five times for a hook.
    ///
    /// # Errors
    /// [`TransportError`] if the model did not reply.
    fn round(&self, request: ModelRequest, model: &dyn LlmAccess) -> Result<AgentRound, TransportError>;
}

/// The reply of an in-process hook.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "an output is replaced or it is not")]
pub enum LocalReply {
    /// The output is not changed.
    Keep,
    /// The output is replaced.
    Replace(Output),
}

/// An in-process hook of the host that sees raw output.
///
/// It cannot send the output to a model: it gets no [`LlmAccess`], and its references do not outlive the
/// call.
pub trait LocalHook: Send + Sync {
    /// Inspects the output of a tool.
    fn look(&self, output: &Raw<Output>, proof: &LocalProof<'_>) -> LocalReply;
}

/// An in-process hook of the host that asks a model. It sees redacted output only.
pub trait JudgeHook: Send + Sync {
    /// Judges the output of a tool; returned text is a message for the user.
    ///
    /// # Errors
    /// [`TransportError`] if the model did not reply.
    fn judge(
        &self,
        output: &Redacted<Output>,
        model: &dyn LlmAccess,
    ) -> Result<Option<Redacted>, TransportError>;
}

/// The services of a dispatcher. A firewall is required, so output is always scanned.
#[derive(Clone)]
pub struct HookServices {
    pub(crate) firewall: Arc<Firewall>,
    pub(crate) permission: Arc<dyn PermissionRule>,
    pub(crate) start: Option<Arc<dyn Start>>,
    pub(crate) model: Option<Arc<dyn LlmAccess>>,
    pub(crate) agent: Option<Arc<dyn AgentLoop>>,
    pub(crate) grants: Option<Arc<dyn RawGrants>>,
}

impl HookServices {
    /// Creates services with a firewall and the host's permission rule. Without more services, no hook can
    /// run.
    #[must_use]
    pub fn new(firewall: Arc<Firewall>, permission: Arc<dyn PermissionRule>) -> Self {
        Self { firewall, permission, start: None, model: None, agent: None, grants: None }
    }

    /// Sets the service that starts commands.
    #[must_use]
    pub fn start(mut self, start: Arc<dyn Start>) -> Self {
        self.start = Some(start);
        self
    }

    /// Sets the model for prompt and agent hooks.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn LlmAccess>) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the agent for agent hooks.
    #[must_use]
    pub fn agent(mut self, agent: Arc<dyn AgentLoop>) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Sets the grants of raw output.
    #[must_use]
    pub fn grants(mut self, grants: Arc<dyn RawGrants>) -> Self {
        self.grants = Some(grants);
        self
    }
}

impl core::fmt::Debug for HookServices {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HookServices").field("firewall", &self.firewall).finish_non_exhaustive()
    }
}
