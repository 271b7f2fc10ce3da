import { type ErrorEntry, statusesOf } from '../errors.ts';
import { escaped } from './page.ts';

const repeats = {
  never: 'No. The same request fails again.',
  now: 'Yes, at once.',
  later: 'Yes, after the number of seconds in <code>retry-after</code>, or after a short pause.',
};

/** Renders the error catalog, with one section per code (`#<code>`). */
export function errorsBody(entries: readonly ErrorEntry[]): string {
  const codes = [...new Set(entries.map(({ code }) => code))];
  const index = codes.map((code) => `<li><a href="#${code}"><code>${code}</code></a></li>`);
  const sections = codes.map((code) => {
    const cases = entries.filter((entry) => entry.code === code).map(described);
    return `<section id="${code}" aria-labelledby="${code}-title">
<h2 id="${code}-title"><code>${code}</code></h2>
${cases.join('\n')}
</section>`;
  });
  return `<h1>Errors</h1>
<p>Every error code of the gateway. If a provider refuses a request or fails a task, the error has the provider's own code.
Errors of management operations have no code, only the status. Each response carries <code>x-request-id</code>. Include it in
support requests.</p>
<ul class="index">
${index.join('\n')}
</ul>
${sections.join('\n')}`;
}

function described(entry: ErrorEntry): string {
  const statuses = statusesOf(entry);
  return `<dl>
<dt>Status</dt><dd>${statuses.length === 0 ? 'none (part of a task or an event)' : statuses.join(', ')}</dd>
<dt>Where</dt><dd>${entry.families.join(', ')}</dd>
<dt>When</dt><dd>${marked(entry.when)}</dd>
<dt>What to do</dt><dd>${marked(entry.remedy)}</dd>
<dt>Retry</dt><dd>${repeats[entry.retry]}</dd>
</dl>`;
}

const marked = (text: string) => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
