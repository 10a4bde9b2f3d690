// Lines of JSON, for both shims. Bytes are {"$bytes": "<base64>"}.
import { readSync, writeSync } from "node:fs";
// The console of a program must not write between the lines.
Object.defineProperty(process, "stdout", { value: process.stderr });

const depths = new WeakMap();
function encode(key, value) {
  const raw = this[key]; // `toJSON` of a Buffer has already run on `value`.
  if (value && typeof value === "object") {
    const depth = (depths.get(this) ?? 0) + 1;
    if (depth > 128) throw new RangeError("the value is nested more than 128 levels deep");
    depths.set(value, depth);
  }
  if (ArrayBuffer.isView(raw)) {
    return { $bytes: Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("base64") };
  }
  if (raw instanceof ArrayBuffer) return { $bytes: Buffer.from(raw).toString("base64") };
  if (raw && typeof raw === "object" && Object.hasOwn(raw, "$bytes")) throw new TypeError("`$bytes` is reserved for bytes");
  // Half of a surrogate pair is no text for strict readers of JSON.
  return typeof value === "string" ? value.toWellFormed() : value;
}

function decode(key, value) {
  const isBytes = value && typeof value.$bytes === "string" && Object.keys(value).length === 1;
  return isBytes ? new Uint8Array(Buffer.from(value.$bytes, "base64")) : value;
}

function send(message) {
  const line = Buffer.from(JSON.stringify(message, encode) + "\n");
  if (line.length > 1 << 20) throw new RangeError("the message has more than 1 MiB");
  for (let at = 0; at < line.length; ) at += writeSync(1, line, at);
}

function sendThrown(id, error) {
  const text = (key, most) => {
    try {
      return String(error?.[key] ?? error).slice(0, most);
    } catch {
      return "unknown"; // The properties of an exception can throw, too.
    }
  };
  send({ type: "thrown", id, name: text("name", 64), message: text("message", 4096) });
}

let rest = Buffer.alloc(0);
function receive() {
  let end;
  while ((end = rest.indexOf(10)) < 0) {
    const chunk = Buffer.allocUnsafe(1 << 16);
    const size = readSync(0, chunk);
    if (size === 0) process.exit(1);
    rest = Buffer.concat([rest, chunk.subarray(0, size)]);
  }
  const line = rest.subarray(0, end).toString();
  rest = rest.subarray(end + 1);
  return JSON.parse(line, decode);
}
