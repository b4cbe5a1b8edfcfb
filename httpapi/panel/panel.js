// The parts of the page marked data-live follow the job: each event that the
// server sends has the page fetched again, and what differs is replaced in
// place, so that focus, marks and what was typed stay.
const progress = document.getElementById('avance');
// An answer to a form shows the same page under another address: its links are
// relative to that one, those of the page that is fetched are not.
const self = progress && new URL(progress.dataset.self, location.href);
const source = progress && new URL(progress.dataset.progress, location.href);
const lost = document.getElementById('perdida');
let events = null;
let fetching = false;
let missed = false;

async function refresh() {
  if (fetching) {
    missed = true;
    return;
  }
  fetching = true;
  try {
    const response = await fetch(self);
    if (!response.ok) throw new Error('status ' + response.status);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const name of ['href', 'action']) {
      for (const link of page.querySelectorAll('main [' + name + ']')) link.setAttribute(name, new URL(link.getAttribute(name), self).href);
    }
    for (const part of document.querySelectorAll('[data-live]')) replace(part, page.getElementById(part.id));
    lost.hidden = true;
  } catch {
    lost.textContent = 'Se perdió la conexión con el servidor: puede que lo que se ve no esté al día.';
    lost.hidden = false;
  }
  fetching = false;
  if (missed) {
    missed = false;
    refresh();
  }
}

function replace(part, fresh) {
  const marked = [...part.querySelectorAll('[name=socio_ids]:checked')].map((box) => box.value);
  const focused = part.contains(document.activeElement) ? document.activeElement.id : '';
  morph(part, fresh);
  for (const box of part.querySelectorAll('[name=socio_ids]')) box.checked = marked.includes(box.value);
  if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus();
  showMarkAll();
}

// morph makes one node like another with as few changes as are simple to find.
function morph(node, fresh) {
  if (node.isEqualNode(fresh)) return;
  if (node.nodeType === Node.TEXT_NODE && fresh.nodeType === Node.TEXT_NODE) {
    node.data = fresh.data;
    return;
  }
  if (node.nodeName !== fresh.nodeName || node.id !== fresh.id) {
    node.replaceWith(fresh.cloneNode(true));
    return;
  }
  for (const name of node.getAttributeNames()) if (!fresh.hasAttribute(name)) node.removeAttribute(name);
  for (const name of fresh.getAttributeNames()) node.setAttribute(name, fresh.getAttribute(name));
  const [old, now] = [[...node.childNodes], [...fresh.childNodes]];
  if (old.length === now.length) old.forEach((child, i) => morph(child, now[i]));
  else node.replaceChildren(...now.map((child) => child.cloneNode(true)));
}

// follow opens the stream of events while there is a job and somebody looks.
function follow() {
  if (events || document.hidden || !('active' in progress.dataset)) return;
  events = new EventSource(source);
  events.addEventListener('progreso', refresh);
  events.addEventListener('fin', () => {
    leave();
    refresh();
  });
  events.addEventListener('error', () => {
    if (events?.readyState !== EventSource.CLOSED) return; // It comes back by itself.
    leave();
    refresh();
  });
}

function leave() {
  events?.close();
  events = null;
}

function showMarkAll() {
  const all = document.getElementById('todas');
  if (all) all.hidden = false;
}

if (progress) {
  showMarkAll();
  follow();
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) leave();
    else refresh().then(follow);
  });
  document.addEventListener('change', (event) => {
    if (!event.target.closest('#todas')) return;
    for (const box of document.querySelectorAll('[name=socio_ids]')) box.checked = event.target.checked;
  });
  // A reload must not say again what was done once.
  if (location.search.includes('aviso=')) history.replaceState(null, '', self);
}
