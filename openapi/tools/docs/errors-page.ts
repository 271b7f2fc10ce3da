import { type ErrorEntry, statusesOf } from '../errors.ts';
import { escaped } from './page.ts';

const repeats = {
  never: 'No: the same request fails again.',
  now: 'Yes, at once.',
  later: 'Yes, after the seconds in <code>retry-after</code>, or a short pause.',
};

/** The catalogue of errors: a place for each code, `#<code>`. */
export function errorsBody(entries: readonly ErrorEntry[]): string {
  const codes = [...new Set(entries.map(({ code }) => code))];
  const index = codes.map((code) => `<li><a href="#${code}"><code>${code}</code></a></li>`);
  const places = codes.map((code) => {
    const cases = entries.filter((entry) => entry.code === code).map(described);
    return `<section id="${code}" aria-labelledby="${code}-title">
<h2 id="${code}-title"><code>${code}</code></h2>
${cases.join('\n')}
</section>`;
  });
  return `<h1>Errors</h1>
<p>Every code that the gateway itself answers with. Where a provider refused a request, or failed a task, its own code
stands in their place. The body of management operations has no room for a code, so there the status stands alone. Each
answer carries <code>x-request-id</code>: name it when you ask for help.</p>
<ul class="index">
${index.join('\n')}
</ul>
${places.join('\n')}`;
}

function described(entry: ErrorEntry): string {
  const statuses = statusesOf(entry);
  return `<dl>
<dt>Status</dt><dd>${statuses.length === 0 ? 'none: it stands in a task or an event' : statuses.join(', ')}</dd>
<dt>Where</dt><dd>${entry.families.join(', ')}</dd>
<dt>When</dt><dd>${marked(entry.when)}</dd>
<dt>What to do</dt><dd>${marked(entry.remedy)}</dd>
<dt>Repeat</dt><dd>${repeats[entry.retry]}</dd>
</dl>`;
}

const marked = (text: string) => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
