// The host calls createHostFunctions once and registers the module that is declared in plugin.json.
import { split } from "./split.js";

interface Config {
  maxLength?: number;
}

export function createHostFunctions(config: Config) {
  const limit = config.maxLength ?? 100000;
  return {
    "word-count": {
      countWords(text: string) {
        if (text.length > limit) {
          return { error: `text is longer than ${limit}` };
        }
        return { words: split(text).length, letters: text.length };
      },
    },
  };
}
