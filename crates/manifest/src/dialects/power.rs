//! Reads powers of Kiro: `POWER.md`, the documents in `steering/`, and `mcp.json`.

use crate::dialects::skill::{fields, text_field};
use crate::error::{ManifestCode, ManifestPlace, WarningLevel};
use crate::json::{self, ParseLimits};
use crate::manifest::Meta;
use crate::reader::Reader;
use crate::reader::name::is_name;
use crate::reader::text::{ForeignText, escape};
use crate::surface::prompts::PromptKind;
use crate::surface::servers::ServerList;
use crate::surface::{ManifestLayer, Origin};

const FILE: &str = "POWER.md";
const SERVERS: &str = "mcp.json";

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let Some(file) = reader.files.get(FILE) else {
        let message = format!("expected the file {FILE}");
        return reader.error_at(ManifestPlace::of_file(FILE), ManifestCode::MissingFile, message);
    };
    let text = String::from_utf8_lossy(file.bytes).into_owned();
    let fields = fields(&text);
    let own = text_field(&fields, "name").filter(|name| is_name(name));
    // A power is installed under the name of its directory if its document has no valid one.
    let directory = reader.context.directory.filter(|name| is_name(name));
    meta.name = Some(own.or(directory).unwrap_or("power").to_owned());
    meta.version = text_field(&fields, "version").map(ToOwned::to_owned);
    meta.display_name = text_field(&fields, "displayName").map(|text| ForeignText::new(text.to_owned()));
    meta.description = text_field(&fields, "description").map(|text| ForeignText::new(text.to_owned()));
    reader.prompt_file(FILE, "power", Origin::Found, ManifestLayer::Plugin);
    reader.prompt_files("steering", PromptKind::Agents, Origin::Found, ManifestLayer::Plugin);
    if let Some(view) = reader.files.get(SERVERS) {
        auto_approved(reader, view.bytes);
        reader.standard_servers(SERVERS, ServerList::Mcp);
    }
}

/// Reports the tools that run without a question.
fn auto_approved(reader: &mut Reader<'_>, bytes: &[u8]) {
    let Ok(root) = json::parse(bytes, &ParseLimits::standard()) else { return };
    for member in root.members_of("mcpServers") {
        let tools = member.node().items_of("autoApprove");
        if tools.is_empty() {
            continue;
        }
        let names: Vec<String> = tools.iter().filter_map(|tool| Some(escape(tool.as_str()?, 64))).collect();
        let message =
            format!("tools of `{}` run without a question: {}", escape(member.key(), 64), names.join(", "));
        let place = ManifestPlace::of_file(SERVERS);
        reader.warn_at(place, ManifestCode::AutoApprove, WarningLevel::Notice, message);
    }
}
