import { type OperationId, operationTable } from '../../index.ts';
import { gatewayUrl } from '../session/session.ts';

/** A request in several languages: name of the tab -> code. The key is never part of it. */
export type Samples = Readonly<Record<string, string>>;

/** Inline media, as a data URL or as Base64. Samples shorten it, and keep texts complete. */
const inlineMedia = /^(?:data:|[A-Za-z0-9+/=]{400})/;

interface SampleOptions {
  path?: Readonly<Record<string, string>>;
  /** Headers that the operation requires, apart from the key. */
  headers?: Readonly<Record<string, string>>;
  /** File that curl writes the response to. */
  output?: string;
  /** Adds or replaces languages. */
  extra?: Samples;
}

/** Returns a call of the operation with curl, the typed client and Python. */
export function samplesOf(
  operation: OperationId,
  body: object | undefined,
  { path = {}, headers = {}, output, extra = {} }: SampleOptions = {},
): Samples {
  const { method, path: template } = operationTable[operation];
  const address = template.replace(/\{([^}]+)\}/g, (_, name: string) => path[name] ?? `{${name}}`);
  const shown = body === undefined ? undefined : shownJson(body);
  return {
    curl: curl(method, address, headers, shown) + (output === undefined ? '' : ` \\\n  -o ${output}`),
    TypeScript: typescript(operation, path, shown),
    Python: python(method, address, headers, shown),
    ...extra,
  };
}

/** Returns a value as it appears in a sample: indented, with inline media shortened. */
export const shownJson = (value: unknown): string => JSON.stringify(value, shorten, 2);

/** Returns a sample for the typed client. `code` uses `client`. */
export const clientSample = (code: string): string => `import { Unigate } from '@unigate/client';

// Reads UNIGATE_API_KEY.
const client = new Unigate({ baseUrl: '${gatewayUrl}' });
${code}`;

/** Returns a call that creates a task with a method of the client, waits for it and prints the address of its file. */
export const taskSample = (method: string, body: object): string =>
  clientSample(`const task = await client.${method}.createAndWait(${shownJson(body)});
console.log(client.${method}.urlOf(task));`);

type Headers = Readonly<Record<string, string>>;

function curl(method: string, address: string, headers: Headers, body: string | undefined): string {
  const verb =
    method === 'get' || (method === 'post' && body !== undefined) ? '' : ` -X ${method.toUpperCase()}`;
  const lines = [`curl${verb} ${gatewayUrl}${address}`, `  -H "Authorization: Bearer $UNIGATE_API_KEY"`];
  for (const [name, value] of Object.entries(headers)) lines.push(`  -H '${name}: ${value}'`);
  if (body !== undefined)
    lines.push(`  -H 'Content-Type: application/json'`, `  -d '${body.replaceAll("'", String.raw`'\''`)}'`);
  return lines.join(' \\\n');
}

function typescript(
  operation: OperationId,
  path: Readonly<Record<string, string>>,
  body: string | undefined,
): string {
  const init = [
    ...(Object.keys(path).length > 0 ? [`params: { path: ${JSON.stringify(path)} }`] : []),
    ...(body === undefined ? [] : [`body: ${body}`]),
  ];
  const call = `'${operation}'${init.length === 0 ? '' : `, { ${init.join(', ')} }`}`;
  return clientSample(`const result = await client.call(${call});`);
}

function python(method: string, address: string, headers: Headers, body: string | undefined): string {
  const more = Object.entries(headers).map(([name, value]) => `, "${name}": "${value}"`);
  const json = body === undefined ? '' : `\n    json=${pythonValue(body)},`;
  return `import os
import requests

headers = {"Authorization": f"Bearer {os.environ['UNIGATE_API_KEY']}"${more.join('')}}
response = requests.${method}(
    "${gatewayUrl}${address}",
    headers=headers,${json}
)
response.raise_for_status()`;
}

/** Converts JSON to a Python literal. Texts are matched first, so that words inside of them stay. */
function pythonValue(json: string): string {
  const literals: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
  return json
    .replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => literals[token] ?? token)
    .replaceAll('\n', '\n    ');
}

const shorten = (_: string, value: unknown) =>
  typeof value === 'string' && inlineMedia.test(value) ? `${value.slice(0, 60)}…` : value;
