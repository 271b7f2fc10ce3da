import type { Request, Response } from 'express';

/** What can go wrong with an answer over HTTP, by name. A socket has its scripts, see sockets/scripts.ts. */
export const httpFaults: ReadonlyMap<string, { about: string; act: (response: Response) => void }> = new Map([
  ['drop', { about: 'cuts the connection without an answer', act: cut }],
  // It ends with the connection.
  ['stall', { about: 'never answers, and keeps the connection open', act: () => {} }],
  [
    'truncate',
    { about: 'cuts the connection in the middle of the answer', act: (response) => half(response, cut) },
  ],
  [
    'hang',
    { about: 'falls silent in the middle of the answer', act: (response) => half(response, () => {}) },
  ],
  ['garbage', { about: 'sends a body that is no JSON, event or file', act: garble }],
]);

/** Faults as lines of a help text. */
export const faultLines = (faults: ReadonlyMap<string, { about: string }>): string =>
  [...faults].map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`).join('\n');

/** Faults after which there is no answer to be made. */
const unanswered: ReadonlySet<string> = new Set(['drop', 'stall']);

/** Does a fault to the answer, now or while it is sent; false when there is none to be made any more. */
export function breakAnswer(fault: string, request: Request, response: Response): boolean {
  httpFaults.get(fault)?.act(response);
  if (!unanswered.has(fault)) return true;
  request.resume();
  return false;
}

function cut({ socket }: Response): void {
  socket?.destroy();
}

type End = (response: Response) => void;

/** Lets half of the first piece of the answer through, and nothing more. */
function half(response: Response, end: End): void {
  const write = response.write.bind(response) as (piece: Buffer, sent: () => void) => boolean;
  let begun = false;
  const take = (piece: unknown): void => {
    if (begun) return;
    begun = true;
    const bytes = bytesOf(piece);
    write(bytes.subarray(0, Math.max(1, bytes.length >> 1)), () => end(response));
  };
  overwrite(
    response,
    (piece) => take(piece),
    (piece) => {
      // An answer without a body has no middle: its head is all that could be sent.
      if (begun || bytesOf(piece).length > 0) take(piece);
      else cut(response);
    },
  );
}

const nonsense = '{"type":';

/** A stream has one event more that cannot be read, anything else is replaced. */
function garble(response: Response): void {
  const [write, end] = [response.write.bind(response), response.end.bind(response)];
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    const stream = String(response.getHeader('content-type')).startsWith('text/event-stream');
    write(stream ? `data: ${nonsense}\n\n` : nonsense);
  };
  const passes = () => String(response.getHeader('content-type')).startsWith('text/event-stream');
  overwrite(
    response,
    (piece) => {
      begin();
      if (passes()) write(bytesOf(piece));
    },
    (piece) => {
      begin();
      end(passes() && bytesOf(piece).length > 0 ? bytesOf(piece) : undefined);
    },
  );
  // The length of the true body would be wrong.
  const { writeHead } = response;
  response.writeHead = ((status: number, headers?: Record<string, string>) => {
    response.removeHeader('content-length');
    return writeHead.call(response, status, headers);
  }) as typeof writeHead;
}

/** Takes over what is written to a response; callbacks of the writer are called as if all went well. */
function overwrite(response: Response, write: (piece: unknown) => void, end: (piece: unknown) => void): void {
  const done = (rest: unknown[]) => {
    const callback = rest.find((one) => typeof one === 'function') as (() => void) | undefined;
    if (callback !== undefined) queueMicrotask(callback);
  };
  response.write = ((piece: unknown, ...rest: unknown[]) => {
    write(piece);
    done(rest);
    return true;
  }) as typeof response.write;
  response.end = ((piece?: unknown, ...rest: unknown[]) => {
    end(typeof piece === 'function' ? undefined : piece);
    done([piece, ...rest]);
    return response;
  }) as typeof response.end;
}

const bytesOf = (piece: unknown): Buffer =>
  Buffer.isBuffer(piece) ? piece : Buffer.from((piece as string | Uint8Array | undefined) ?? '');
