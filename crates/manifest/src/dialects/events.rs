//! The hook events that each host documents.

pub(super) const CLAUDE_EVENTS: &[&str] = plugward_types::words![
    "ConfigChange CwdChanged DirectoryAdded Elicitation ElicitationResult FileChanged InstructionsLoaded",
    "MessageDisplay Notification PermissionDenied PermissionRequest PostCompact PostModelSwitch",
    "PostToolBatch PostToolUse PostToolUseFailure PreCompact PreModelSwitch PreToolUse SessionEnd",
    "SessionStart Setup Stop StopFailure SubagentStart SubagentStop TaskCompleted TaskCreated TeammateIdle",
    "UserPromptExpansion UserPromptSubmit WorktreeCreate WorktreeRemove",
];

pub(super) const CODEX_EVENTS: &[&str] = plugward_types::words![
    "Interrupt PermissionRequest PostCompact PostToolUse PreCompact PreToolUse SessionEnd SessionStart Stop",
    "SubagentStart SubagentStop UserPromptSubmit",
];

pub(super) const CURSOR_EVENTS: &[&str] = plugward_types::words![
    "afterAgentResponse afterAgentThought afterFileEdit afterMCPExecution afterShellExecution",
    "afterTabFileEdit beforeMCPExecution beforeReadFile beforeShellExecution beforeSubmitPrompt",
    "beforeTabFileRead postToolUse postToolUseFailure preCompact preToolUse sessionEnd sessionStart stop",
    "subagentStart subagentStop",
];

pub(super) const GEMINI_EVENTS: &[&str] = plugward_types::words![
    "AfterAgent AfterModel AfterTool BeforeAgent BeforeModel BeforeTool BeforeToolSelection Notification",
    "PreCompress SessionEnd SessionStart",
];

pub(super) const GNOMA_EVENTS: &[&str] =
    &["post_tool_use", "pre_compact", "pre_tool_use", "session_end", "session_start", "stop"];
