import type { Request } from './exchange.ts';

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A key that no server knows. Commands show it, because it is not secret. */
export const wrongKey = 'sk-wrong';

/** Maximum length of a body in the command, in characters. */
const maxBodyLength = 4_000;

/** Formats a request as a shell command, with the key as `$UNIGATE_API_KEY`. */
export function curlOf({ method, url, headers, body }: Request): string {
  const headerArgs = [...headers].map(([name, value]) =>
    (name === 'authorization' || name === 'x-api-key') && !value.endsWith(wrongKey)
      ? `-H "${name}: ${value.startsWith('Bearer ') ? 'Bearer ' : ''}$UNIGATE_API_KEY"`
      : `-H ${quoted(`${name}: ${value}`)}`,
  );
  return [
    'curl -i',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    quoted(url),
    ...headerArgs,
    ...data(body),
  ].join(' ');
}

function data(body: Request['body']): string[] {
  if (body === undefined) return [];
  if (typeof body === 'string') {
    return body.length > maxBodyLength
      ? [
          `--data-binary @- # a body of ${body.length} characters that starts with ${quoted(body.slice(0, 200))}`,
        ]
      : [`--data-raw ${quoted(body)}`];
  }
  // Forms of the contract contain no files.
  return [...body].flatMap(([name, value]) =>
    typeof value === 'string' ? [`-F ${quoted(`${name}=${value.slice(0, maxBodyLength)}`)}`] : [],
  );
}
