import type { Request } from './exchange.ts';

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Longest body that still makes a line to paste. */
const longest = 4_000;

/** The request as a line for a shell. Keys stand in it as `$UNIGATE_API_KEY`. */
export function curlOf({ method, url, headers, body }: Request): string {
  const heads = [...headers].map(([name, value]) =>
    name === 'authorization' || name === 'x-api-key'
      ? `-H "${name}: ${value.startsWith('Bearer ') ? 'Bearer ' : ''}$UNIGATE_API_KEY"`
      : `-H ${quoted(`${name}: ${value}`)}`,
  );
  return [
    'curl -i',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    quoted(url),
    ...heads,
    ...data(body),
  ].join(' ');
}

function data(body: Request['body']): string[] {
  if (body === undefined) return [];
  if (typeof body === 'string') {
    return body.length > longest
      ? [`--data-binary @- # a body of ${body.length} characters that begins ${quoted(body.slice(0, 200))}`]
      : [`--data-raw ${quoted(body)}`];
  }
  // Forms of the contract hold no files.
  return [...body].flatMap(([name, value]) =>
    typeof value === 'string' ? [`-F ${quoted(`${name}=${value.slice(0, longest)}`)}`] : [],
  );
}
