/** The same call in one language. `label` is the tab of the code group. */
export interface CallSample {
  label: 'curl' | 'TypeScript' | 'Python' | 'openai' | 'WebSocket' | '@anthropic-ai/sdk';
  language: 'sh' | 'ts' | 'python';
  code: string;
}

export type Body = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

const maxLineLength = 70;

export const curl = (code: string): CallSample => ({ label: 'curl', language: 'sh', code });

/** Renders a POST with `curl`. */
export function post(path: string, body: Body, headers: Headers = {}): string {
  const extra = Object.entries(headers).map(([name, value]) => `\n  -H '${name}: ${value}' \\`);
  return `curl --fail-with-body -sS "$UNIGATE_BASE_URL${path}" \\
  -H "Authorization: Bearer $UNIGATE_API_KEY" \\
  -H 'Content-Type: application/json' \\${extra.join('')}
  -d '${laidOut(body, { indent: '  ', step: '  ', key: quoted, quote: '"', end: '' })}'`;
}

/** Renders a GET with `curl`. */
export const get = (path: string) =>
  `curl --fail-with-body -sS "$UNIGATE_BASE_URL${path}" -H "Authorization: Bearer $UNIGATE_API_KEY"`;

/** Renders a shell variable that holds the id in the response of `create`. */
export const idFrom = (create: string, field: string) =>
  `id=$(${create} | sed 's/.*"${field}":"\\([^"]*\\)".*/\\1/')`;

/** Renders a program with the typed client. `imports` are lines above its import. */
export function typescript(code: string, imports = ''): CallSample {
  const text = `${imports}import { Unigate } from '@unigate/client';\n\n${code}`;
  return { label: 'TypeScript', language: 'ts', code: text };
}

/** Renders a program with the `openai` SDK. */
export function openai(code: string, imports = ''): CallSample {
  const text = `${imports}import OpenAI from 'openai';

const openai = new OpenAI({
  baseURL: \`\${process.env.UNIGATE_BASE_URL}/v1\`,
  apiKey: process.env.UNIGATE_API_KEY,
});
${code}`;
  return { label: 'openai', language: 'ts', code: text };
}

/** Renders a Python program whose first call is a POST. `after` reads its `response`. */
export function python(path: string, body: Body, after: string, headers: Headers = {}): CallSample {
  const extra = Object.entries(headers).map(([name, value]) => `, "${name}": "${value}"`);
  const sent = extra.length === 0 ? 'headers' : `{**headers${extra.join('')}}`;
  const code = `import os
${after.includes('time.') ? 'import time\n' : ''}import requests

base = os.environ["UNIGATE_BASE_URL"]
headers = {"Authorization": f"Bearer {os.environ['UNIGATE_API_KEY']}"}
response = requests.post(
    f"{base}${path}",
    headers=${sent},
    json=${laidOut(body, { indent: '    ', step: '    ', key: quoted, quote: '"', end: ',' })},
)
response.raise_for_status()
${after}`;
  return { label: 'Python', language: 'python', code };
}

/** Renders a GET of a Python program. `path` is the text of an f-string. */
export const pythonGet = (path: string) => `requests.get(f"{base}${path}", headers=headers)`;

/** Renders a TypeScript object literal, in one line if it is short. */
export function object(value: Body): string {
  return laidOut(value, { indent: '', step: '  ', key: (name) => name, quote: "'", end: ',' });
}

const quoted = (name: string) => `"${name}"`;

interface Layout {
  indent: string;
  step: string;
  key(name: string): string;
  quote: string;
  /** Text after the last property. JSON allows none. */
  end: string;
}

function laidOut(value: unknown, layout: Layout): string {
  if (typeof value === 'string') return `${layout.quote}${value}${layout.quote}`;
  if (Array.isArray(value)) return `[${value.map((item) => laidOut(item, layout)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = { ...layout, indent: layout.indent + layout.step };
  const pairs = (child: Layout) =>
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => `${layout.key(name)}: ${laidOut(item, child)}`);
  const space = layout.quote === "'" ? ' ' : '';
  const line = `{${space}${pairs(layout).join(', ')}${space}}`;
  if (line.length + layout.indent.length <= maxLineLength) return line;
  const lines = pairs(inner).map((pair) => `${inner.indent}${pair}`);
  return `{\n${lines.join(',\n')}${layout.end}\n${layout.indent}}`;
}
