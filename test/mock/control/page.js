// The control page of the mock. It calls only the mock that served it.

const form = document.querySelector('form');
const field = (name) => form.elements.namedItem(name);
const message = document.querySelector('#message');
const { all, operations, about } = await (await fetch('operations')).json();

field('scope').append(...operations.map(({ id, about: title }) => new Option(`${id}: ${title}`, id)));
field('scope').addEventListener('change', showOptions);
field('fault').addEventListener('change', describeFault);
showOptions();

/** Lists the statuses and faults of the chosen operation. */
function showOptions() {
  const chosen = operations.find(({ id }) => id === field('scope').value) ?? all;
  const none = () => new Option('normal', '');
  field('status').replaceChildren(none(), ...chosen.statuses.map((status) => new Option(status, status)));
  field('status').disabled = chosen.statuses.length === 0;
  field('fault').replaceChildren(none(), ...chosen.faults.map((fault) => new Option(fault, fault)));
  describeFault();
}

function describeFault() {
  const fault = field('fault').value;
  document.querySelector('#about').textContent = fault === '' ? '' : `${fault}: ${about[fault]}.`;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const behavior = {};
  for (const name of ['delay', 'jitter', 'status', 'times'])
    if (field(name).value !== '') behavior[name] = Number(field(name).value);
  if (field('fault').value !== '') behavior.fault = field('fault').value;
  const scope = field('scope').value;
  void send('PUT', `behaviours/${scope}`, `Set for ${scope}.`, behavior);
});

document
  .querySelector('#reset')
  .addEventListener('click', () => void send('DELETE', 'behaviours', 'Reset all.'));
document.querySelector('#clear').addEventListener('click', () => void send('DELETE', 'requests', 'Cleared.'));

/** Sends a request to the mock and shows its result. */
async function send(method, path, done, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(path, {
    method,
    ...(body !== undefined && { headers, body: JSON.stringify(body) }),
  });
  message.textContent = response.ok ? done : (await response.json()).error.message;
  await refresh();
}

let shown = '';

/** Shows the state of the mock. Updates the page only after a change. */
async function refresh() {
  const response = await fetch('state').catch(() => undefined);
  if (response === undefined) {
    message.textContent = 'The mock does not respond.';
    return;
  }
  const text = await response.text();
  if (text === shown) return;
  shown = text;
  const { behaviours, requests } = JSON.parse(text);
  showBehaviours(behaviours);
  document.querySelector('#requests').replaceChildren(...requests.map(requestRow));
}

function showBehaviours(behaviours) {
  const focused = document.activeElement?.dataset?.scope;
  const rows = Object.entries(behaviours).map(([scope, behavior]) => {
    const reset = document.createElement('button');
    reset.textContent = `Reset ${scope}`;
    reset.dataset.scope = scope;
    reset.addEventListener('click', () => void send('DELETE', `behaviours/${scope}`, `Reset ${scope}.`));
    const words = Object.entries(behavior).map(([name, value]) => `${name} ${value}`);
    return row([scope, words.join(', ') || 'normal', reset]);
  });
  const table = document.querySelector('#behaviours');
  table.replaceChildren(...(rows.length === 0 ? [row(['all', 'normal', ''])] : rows));
  if (focused === undefined) return;
  // The focused button was replaced, or removed with its row.
  const button = table.querySelector(`[data-scope="${focused}"]`);
  (button ?? document.querySelector('#reset')).focus();
}

function requestRow({ at, method, path, operation = '', delay = 0, fault, status, end, ms }) {
  const broken = end === 'broken' ? `${status ?? 'no response'}, interrupted` : status;
  return row([
    new Date(at).toLocaleTimeString(),
    `${method} ${path}`,
    operation,
    String(end === undefined ? (status ?? 'pending') : broken),
    String(ms ?? ''),
    [delay > 0 ? `${delay} ms` : '', fault ?? ''].filter((word) => word !== '').join(', '),
  ]);
}

function row(cells) {
  const line = document.createElement('tr');
  for (const cell of cells) line.insertCell().append(cell);
  return line;
}

await refresh();
// Polls again after the previous response.
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  if (!document.hidden) await refresh();
}
