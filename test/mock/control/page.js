// The control page of the mock. It speaks only to the mock that served it.

const form = document.querySelector('form');
const field = (name) => form.elements.namedItem(name);
const said = document.querySelector('#said');
const { all, operations, about } = await (await fetch('operations')).json();

field('scope').append(...operations.map(({ id, about: title }) => new Option(`${id}: ${title}`, id)));
field('scope').addEventListener('change', offer);
field('fault').addEventListener('change', explain);
offer();

/** Offers the statuses and faults that the chosen operation can have. */
function offer() {
  const chosen = operations.find(({ id }) => id === field('scope').value) ?? all;
  const none = () => new Option('as always', '');
  field('status').replaceChildren(none(), ...chosen.statuses.map((status) => new Option(status, status)));
  field('status').disabled = chosen.statuses.length === 0;
  field('fault').replaceChildren(none(), ...chosen.faults.map((fault) => new Option(fault, fault)));
  explain();
}

function explain() {
  const fault = field('fault').value;
  document.querySelector('#about').textContent = fault === '' ? '' : `${fault}: ${about[fault]}.`;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const behaviour = {};
  for (const name of ['delay', 'jitter', 'status', 'times'])
    if (field(name).value !== '') behaviour[name] = Number(field(name).value);
  if (field('fault').value !== '') behaviour.fault = field('fault').value;
  const scope = field('scope').value;
  void send('PUT', `behaviours/${scope}`, `Set for ${scope}.`, behaviour);
});

document
  .querySelector('#reset')
  .addEventListener('click', () => void send('DELETE', 'behaviours', 'All is as always.'));
document
  .querySelector('#forget')
  .addEventListener('click', () => void send('DELETE', 'requests', 'Forgotten.'));

/** Tells the mock something, and the reader what came of it. */
async function send(method, path, done, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(path, {
    method,
    ...(body !== undefined && { headers, body: JSON.stringify(body) }),
  });
  said.textContent = answer.ok ? done : (await answer.json()).error.message;
  await look();
}

let shown = '';

/** Shows how things stand, and touches the page only when they have changed. */
async function look() {
  const answer = await fetch('state').catch(() => undefined);
  if (answer === undefined) {
    said.textContent = 'The mock does not answer.';
    return;
  }
  const text = await answer.text();
  if (text === shown) return;
  shown = text;
  const { behaviours, requests } = JSON.parse(text);
  showBehaviours(behaviours);
  document.querySelector('#requests').replaceChildren(...requests.map(requestRow));
}

function showBehaviours(behaviours) {
  const focused = document.activeElement?.dataset?.scope;
  const rows = Object.entries(behaviours).map(([scope, behaviour]) => {
    const reset = document.createElement('button');
    reset.textContent = `Reset ${scope}`;
    reset.dataset.scope = scope;
    reset.addEventListener(
      'click',
      () => void send('DELETE', `behaviours/${scope}`, `${scope} is as always.`),
    );
    const words = Object.entries(behaviour).map(([name, value]) => `${name} ${value}`);
    return row([scope, words.join(', ') || 'as always', reset]);
  });
  const table = document.querySelector('#behaviours');
  table.replaceChildren(...(rows.length === 0 ? [row(['all', 'as always', ''])] : rows));
  if (focused === undefined) return;
  // The button under the reader's finger was made anew, or has gone with its row.
  const again = table.querySelector(`[data-scope="${focused}"]`);
  (again ?? document.querySelector('#reset')).focus();
}

function requestRow({ at, method, path, operation = '', delay = 0, fault, status, end, ms }) {
  const broken = end === 'broken' ? `${status ?? 'no answer'}, broken off` : status;
  return row([
    new Date(at).toLocaleTimeString(),
    `${method} ${path}`,
    operation,
    String(end === undefined ? (status ?? 'waits') : broken),
    String(ms ?? ''),
    [delay > 0 ? `${delay} ms` : '', fault ?? ''].filter((word) => word !== '').join(', '),
  ]);
}

function row(cells) {
  const line = document.createElement('tr');
  for (const cell of cells) line.insertCell().append(cell);
  return line;
}

await look();
// Asks again only when the last answer is there.
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  if (!document.hidden) await look();
}
