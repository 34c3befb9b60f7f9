// The calls of the server, made from its OpenAPI document: what each takes, and examples to copy.
import { get, post } from "./api.js";
import { by, make } from "./dom.js";
import { copy, shell } from "./shell.js";

shell("api");
const written = (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");

// Where a token is needed, copies take it from the environment: the page has only a cookie in its place.
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
    + (method === "GET" ? "" : `question = json.loads(r'''${body}''')\n`)
    + `request = urllib.request.Request(\n    ${JSON.stringify(location.origin + path)}, `
    + `${method === "GET" ? "" : "json.dumps(question).encode(), "}headers={${headers}})\n`
    + "print(json.load(urllib.request.urlopen(request)))";
};

function call(method, path, told) {
  const content = told.requestBody?.content["application/json"];
  const fields = content ? Object.entries(content.schema.properties).map(([name, field]) =>
    [name, field.type, field.description, (content.schema.required ?? []).includes(name)])
    : (told.parameters ?? []).map((field) => [field.name, field.schema.type, field.description, field.required]);
  const id = path.split("/").at(-1);
  const question = content && make("textarea", { id: `${id}-question`, spellcheck: "false", rows: 2, "aria-label": `A question to ${path}` });
  if (question) question.value = written(content.example);
  const address = () => (method === "GET" && fields.length ? `${path}?game=ewn` : path);
  const answer = make("pre", { id: `${id}-answer`, hidden: true, tabindex: 0, "aria-label": `The answer of ${path}` });
  const ask = async () => {
    answer.hidden = false;
    answer.textContent = "…";
    try {
      const found = content ? await post(path, JSON.parse(question.value)) : await get(address());
      answer.textContent = JSON.stringify(found, null, 2);
    } catch (error) {
      answer.textContent = JSON.stringify({ error: error.message }, null, 2);
    }
  };
  const body = () => question?.value ?? "";
  return make("section", { class: "panel stack close", id },
    make("h2", {}, make("span", { class: "method" }, method), ` ${path}`),
    make("p", {}, told.summary),
    fields.length ? make("dl", { class: "takes" }, fields.flatMap(([name, type, says, needed]) =>
      [make("dt", {}, name, " ", make("i", {}, needed ? type : `${type}?`)), make("dd", {}, says)])) : null,
    question,
    make("div", { class: "row" },
      make("button", { class: "primary", id: `${id}-ask`, onclick: ask }, "Ask"),
      make("button", { class: "quiet", onclick: () => copy(curl(method, address(), body()), security ? "a command (put the token in TUPLET_TOKEN)" : "a command") }, "Copy as curl"),
      make("button", { class: "quiet", onclick: () => copy(python(method, address(), body()), security ? "a program (put the token in TUPLET_TOKEN)" : "a program") }, "Copy as Python")),
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
  for (const [method, told] of Object.entries(methods)) by("calls").append(call(method.toUpperCase(), path, told));
}
if (location.hash) document.querySelector(location.hash)?.scrollIntoView();
