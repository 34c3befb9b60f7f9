// The calls of the server, made from its OpenAPI document: what each takes, and examples to copy.
import { get, post } from "./api.js";
import { by, make } from "./dom.js";
import { copy, shell } from "./shell.js";

shell("api");
const written = (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const curl = (method, path, body) => method === "GET"
  ? `curl ${quoted(location.origin + path)}`
  : `curl ${location.origin}${path} -H 'content-type: application/json' -d ${quoted(body)}`;

const python = (method, path, body) => method === "GET"
  ? `import json, urllib.request\nprint(json.load(urllib.request.urlopen(${JSON.stringify(location.origin + path)})))`
  : `import json, urllib.request\nquestion = json.loads(r'''${body}''')\nrequest = urllib.request.Request(\n`
    + `    ${JSON.stringify(location.origin + path)}, json.dumps(question).encode(), {"content-type": "application/json"})\n`
    + "print(json.load(urllib.request.urlopen(request)))";

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
      make("button", { class: "quiet", onclick: () => copy(curl(method, address(), body()), "a command") }, "Copy as curl"),
      make("button", { class: "quiet", onclick: () => copy(python(method, address(), body()), "a program") }, "Copy as Python")),
    answer);
}

const LIVE = `const socket = new WebSocket(${JSON.stringify(location.origin.replace("http", "ws") + "/api/live")});
socket.onopen = () => socket.send(JSON.stringify({
  id: 1, do: "analyze", game: "ewn", agent: "mcts:sims=1000000",
  position: "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2",
}));
socket.onmessage = ({data}) => {
  const frame = JSON.parse(data);
  console.log(frame.analysis?.moves);
  if (!frame.done) socket.send(JSON.stringify({id: 1, do: "more"}));
};`;
by("live-example").textContent = LIVE;
by("live-copy").addEventListener("click", () => copy(LIVE, "the example"));

const { paths } = await get("/api/openapi.json");
for (const [path, methods] of Object.entries(paths)) {
  for (const [method, told] of Object.entries(methods)) by("calls").append(call(method.toUpperCase(), path, told));
}
if (location.hash) document.querySelector(location.hash)?.scrollIntoView();
