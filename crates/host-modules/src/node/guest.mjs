// Runs the code of a guest, which is the body of a function, and returns its result as that of call 0.
let id = 0;
function call(module, name, args) {
  send({ type: "call", id: ++id, module, function: name, args });
  const answer = receive();
  if (answer.type === "thrown") throw Object.assign(new Error(answer.message), { name: answer.name });
  return answer.value;
}

const { modules, source } = receive();
const loaded = new Map(Object.entries(modules).map(([module, names]) => {
  const functions = names.map((name) => [name, (...args) => call(module, name, args)]);
  return [`host:${module}`, Object.freeze(Object.fromEntries(functions))];
}));
function require(name) {
  if (loaded.has(name)) return loaded.get(name);
  throw new Error(`no such module: ${name}`);
}
try {
  send({ type: "result", id: 0, value: await new Function("require", source)(require) });
} catch (error) {
  sendThrown(0, error);
}
process.exit(0);
