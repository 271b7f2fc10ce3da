import type { Request, Response } from 'express';

/** Faults of an HTTP response by name. sockets/scripts.ts has the faults of sockets. */
export const httpFaults: ReadonlyMap<string, { about: string; apply: (response: Response) => void }> =
  new Map([
    ['drop', { about: 'closes the connection without a response', apply: disconnect }],
    // Ends with the connection.
    ['stall', { about: 'never responds and keeps the connection open', apply: () => {} }],
    [
      'truncate',
      {
        about: 'closes the connection in the middle of the response',
        apply: (response) => sendHalf(response, disconnect),
      },
    ],
    [
      'hang',
      {
        about: 'stops sending in the middle of the response',
        apply: (response) => sendHalf(response, () => {}),
      },
    ],
    ['garbage', { about: 'sends an invalid body or event', apply: corrupt }],
  ]);

/** Formats faults as lines of a help text. */
export const formatFaults = (faults: ReadonlyMap<string, { about: string }>): string =>
  [...faults].map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`).join('\n');

/** Faults without a response. */
const withoutResponse: ReadonlySet<string> = new Set(['drop', 'stall']);

/** Injects a fault into a response, now or while it is sent. Returns false if there is no response to send. */
export function injectFault(fault: string, request: Request, response: Response): boolean {
  httpFaults.get(fault)?.apply(response);
  if (!withoutResponse.has(fault)) return true;
  request.resume();
  return false;
}

function disconnect({ socket }: Response): void {
  socket?.destroy();
}

type End = (response: Response) => void;

/** Sends half of the first chunk of a response and nothing more. */
function sendHalf(response: Response, end: End): void {
  const write = response.write.bind(response) as (chunk: Buffer, sent: () => void) => boolean;
  let hasStarted = false;
  const sendFirstHalf = (chunk: unknown): void => {
    if (hasStarted) return;
    hasStarted = true;
    const bytes = bytesOf(chunk);
    write(bytes.subarray(0, Math.max(1, bytes.length >> 1)), () => end(response));
  };
  overwrite(
    response,
    (chunk) => sendFirstHalf(chunk),
    (chunk) => {
      // A response without a body ends after its headers.
      if (hasStarted || bytesOf(chunk).length > 0) sendFirstHalf(chunk);
      else disconnect(response);
    },
  );
}

const invalidJson = '{"type":';

/** Adds an invalid event to a stream. Replaces any other body. */
function corrupt(response: Response): void {
  const [write, end] = [response.write.bind(response), response.end.bind(response)];
  let hasStarted = false;
  const start = () => {
    if (hasStarted) return;
    hasStarted = true;
    const stream = String(response.getHeader('content-type')).startsWith('text/event-stream');
    write(stream ? `data: ${invalidJson}\n\n` : invalidJson);
  };
  const isStream = () => String(response.getHeader('content-type')).startsWith('text/event-stream');
  overwrite(
    response,
    (chunk) => {
      start();
      if (isStream()) write(bytesOf(chunk));
    },
    (chunk) => {
      start();
      end(isStream() && bytesOf(chunk).length > 0 ? bytesOf(chunk) : undefined);
    },
  );
  // The length of the original body would be wrong.
  const { writeHead } = response;
  response.writeHead = ((status: number, headers?: Record<string, string>) => {
    response.removeHeader('content-length');
    return writeHead.call(response, status, headers);
  }) as typeof writeHead;
}

/** Intercepts the writes to a response. Callbacks of the writer are called as after success. */
function overwrite(response: Response, write: (chunk: unknown) => void, end: (chunk: unknown) => void): void {
  const done = (rest: unknown[]) => {
    const callback = rest.find((one) => typeof one === 'function') as (() => void) | undefined;
    if (callback !== undefined) queueMicrotask(callback);
  };
  response.write = ((chunk: unknown, ...rest: unknown[]) => {
    write(chunk);
    done(rest);
    return true;
  }) as typeof response.write;
  response.end = ((chunk?: unknown, ...rest: unknown[]) => {
    end(typeof chunk === 'function' ? undefined : chunk);
    done([chunk, ...rest]);
    return response;
  }) as typeof response.end;
}

const bytesOf = (chunk: unknown): Buffer =>
  Buffer.isBuffer(chunk) ? chunk : Buffer.from((chunk as string | Uint8Array | undefined) ?? '');
