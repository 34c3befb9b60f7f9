// Keeps the page for use without a network. Written into the site by web/site.py, with the names of its files.
const worker = /** @type {any} */ (self);
const PREFIX = `tuplet ${worker.registration.scope} `; // other folders of this host may have a page of their own
const NAME = PREFIX + "VERSION", FILES = ["FILES"];

addEventListener("install", (/** @type {any} */ event) =>
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES))));

addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(caches.keys()
  .then((names) => Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== NAME)
    .map((name) => caches.delete(name))))
  .then(() => worker.clients.claim())));

addEventListener("fetch", (/** @type {any} */ event) =>
  event.respondWith(caches.match(event.request, { ignoreSearch: true }).then((kept) => kept ?? fetch(event.request))));
