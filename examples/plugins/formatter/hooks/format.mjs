// Formats the file that was edited.
/* One line is enough. */ import { execSync } from "node:child_process";

const event = JSON.parse(await new Response(process.stdin).text());
execSync(`prettier --write ${event.tool_input.file_path}`);
