// Runs one plugin. Its functions are called by lines from standard input.
import * as nodeModule from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Sources import each other by the names that a build would make.
nodeModule.registerHooks?.({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (error.code !== "ERR_MODULE_NOT_FOUND" || !specifier.endsWith(".js")) throw error;
      return next(specifier.slice(0, -3) + ".ts", context);
    }
  },
});

// A promise that nobody awaits does not end the other modules.
process.on("unhandledRejection", (error) => console.error(error));

const table = new Map();
async function init({ entry, config }) {
  const plugin = await import(pathToFileURL(resolve(import.meta.dirname, entry)));
  const offered = await plugin.createHostFunctions(config);
  const modules = Object.keys(offered).map((name) => {
    const { value: module } = Object.getOwnPropertyDescriptor(offered, name); // Getters do not run.
    const [functions, skipped] = [new Map(), []];
    for (const key of Object.keys(module ?? {})) {
      const { value } = Object.getOwnPropertyDescriptor(module, key);
      if (typeof value === "function") functions.set(key, value.bind(module));
      else skipped.push(key);
    }
    table.set(name, functions);
    return { name, functions: [...functions.keys()], skipped };
  });
  send({ type: "ready", modules, schema: plugin.SCHEMA ?? null });
}

async function handle(message) {
  try {
    if (message.type === "init") return await init(message);
    if (message.type === "shutdown") process.exit(0);
    const value = await table.get(message.module).get(message.function)(...message.args);
    send({ type: "result", id: message.id, value });
  } catch (error) {
    sendThrown(message.id ?? 0, error);
  }
}

for (;;) await handle(receive());
