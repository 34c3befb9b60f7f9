// The calls of the server, from its OpenAPI document: their arguments, and examples to send and to copy.
import { get, post } from "./api.js";
import { by, make } from "./dom.js";
import { copy, shell } from "./shell.js";

shell("api");
const oneLine = (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");

// Where a token is needed, copied code takes it from the environment: the page itself has only a cookie.
const { paths, security } = await get("/api/openapi.json");
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const curl = (method, path, body) => `curl ${quoted(location.origin + path)}`
  + (security ? ' -H "authorization: Bearer $TUPLET_TOKEN"' : "")
  + (method === "GET" ? "" : ` -H 'content-type: application/json' -d ${quoted(body)}`);

const python = (method, path, body) => {
  const headers = [
    ...(method === "GET" ? [] : ['"content-type": "application/json"']),
    ...(security ? ['"authorization": "Bearer " + os.environ["TUPLET_TOKEN"]'] : []),
  ].join(", ");
  return `import json, ${security ? "os, " : ""}urllib.request\n`
    + (method === "GET" ? "" : `body = json.loads(r'''${body}''')\n`)
    + `request = urllib.request.Request(\n    ${JSON.stringify(location.origin + path)}, `
    + `${method === "GET" ? "" : "json.dumps(body).encode(), "}headers={${headers}})\n`
    + "print(json.load(urllib.request.urlopen(request)))";
};

function call(method, path, operation) {
  const content = operation.requestBody?.content["application/json"];
  const fields = content ? Object.entries(content.schema.properties).map(([name, field]) =>
    [name, field.type, field.description, (content.schema.required ?? []).includes(name)])
    : (operation.parameters ?? []).map((field) => [field.name, field.schema.type, field.description, field.required]);
  const id = path.split("/").at(-1);
  const request = content && make("textarea", { id: `${id}-request`, spellcheck: "false", rows: 2,
    "aria-label": `A request to ${path}` });
  if (request) request.value = oneLine(content.example);
  const url = method === "GET" && fields.length ? `${path}?game=ewn` : path;
  const answer = make("pre", { id: `${id}-answer`, hidden: true, tabindex: 0, "aria-label": `The answer of ${path}` });
  const send = async () => {
    answer.hidden = false;
    answer.textContent = "…";
    try {
      const result = content ? await post(path, JSON.parse(request.value)) : await get(url);
      answer.textContent = JSON.stringify(result, null, 2);
    } catch (error) {
      answer.textContent = JSON.stringify({ error: error.message }, null, 2);
    }
  };
  const copyAs = (text, what) => make("button", { class: "quiet", onclick: () =>
    copy(text(method, url, request?.value ?? ""), security ? `${what} (put the token in TUPLET_TOKEN)` : what) });
  const asCurl = copyAs(curl, "a command"), asPython = copyAs(python, "a program");
  asCurl.append("Copy as curl");
  asPython.append("Copy as Python");
  return make("section", { class: "panel stack close", id },
    make("h2", {}, make("span", { class: "method" }, method), ` ${path}`),
    make("p", {}, operation.summary),
    fields.length ? make("dl", { class: "takes" }, fields.flatMap(([name, type, says, required]) =>
      [make("dt", {}, name, " ", make("i", {}, required ? type : `${type}?`)), make("dd", {}, says)])) : null,
    request,
    make("div", { class: "row" },
      make("button", { class: "primary", id: `${id}-send`, onclick: send }, "Send"), asCurl, asPython),
    answer);
}

const LIVE = `const socket = new WebSocket(${JSON.stringify(location.origin.replace("http", "ws") + "/api/live")});
socket.onopen = () => socket.send(JSON.stringify({
  id: 1, type: "analyze", game: "ewn", agent: "mcts:sims=1000000",
  position: "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2",
}));
socket.onmessage = ({data}) => {
  const frame = JSON.parse(data);
  console.log(frame.analysis?.moves);
  if (!frame.done) socket.send(JSON.stringify({id: 1, type: "ack"}));
};`;
by("live-example").textContent = LIVE;
by("live-copy").addEventListener("click", () => copy(LIVE, "the example"));

for (const [path, methods] of Object.entries(paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    by("calls").append(call(method.toUpperCase(), path, operation));
  }
}
if (location.hash) document.querySelector(location.hash)?.scrollIntoView();
