import { vi } from 'vitest';
import { Unigate, type UnigateOptions } from '../../client/index.ts';

type Turn = (request: Request) => Response | Promise<Response>;

/** A client whose requests are answered by the turns, one after the other, and the times of those requests. */
export function stubClient(turns: Turn[], options: Omit<UnigateOptions, 'fetch'> = {}) {
  const times: number[] = [];
  const bodies: string[] = [];
  const fetch = vi.fn(async (request: Request) => {
    times.push(Date.now());
    const turn = turns[times.length - 1];
    if (!turn) throw new Error(`request ${times.length} was not expected`);
    bodies.push(await request.clone().text());
    return turn(request);
  });
  const client = new Unigate({ baseUrl: 'http://gateway.example', apiKey: 'sk-test', fetch, ...options });
  return { client, fetch, times, bodies };
}

/** An answer with a JSON body. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Turn {
  return () => Response.json(body, { status, headers });
}

/** No answer until the request is aborted. */
export const silence: Turn = (request) =>
  new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true });
  });

/** The headers and a first piece of the body, and then nothing until the request is aborted. */
export function stall(piece: string, headers: Record<string, string> = {}, status = 200): Turn {
  return (request) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(piece));
        request.signal.addEventListener('abort', () => controller.error(request.signal.reason), {
          once: true,
        });
      },
    });
    return new Response(body, { status, headers });
  };
}
