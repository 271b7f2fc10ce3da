import { vi } from 'vitest';
import { Unigate, type UnigateOptions } from '../../client/index.ts';

type Responder = (request: Request) => Response | Promise<Response>;

/** Returns a client whose requests are handled by the responders in order, and the times of the requests. */
export function stubClient(responders: Responder[], options: Omit<UnigateOptions, 'fetch'> = {}) {
  const times: number[] = [];
  const bodies: string[] = [];
  const fetch = vi.fn(async (request: Request) => {
    times.push(Date.now());
    const respond = responders[times.length - 1];
    if (!respond) throw new Error(`request ${times.length} was not expected`);
    bodies.push(await request.clone().text());
    return respond(request);
  });
  const client = new Unigate({ baseUrl: 'http://gateway.example', apiKey: 'sk-test', fetch, ...options });
  return { client, fetch, times, bodies };
}

/** Responds with a JSON body. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Responder {
  return () => Response.json(body, { status, headers });
}

/** Sends no response until the request is aborted. */
export const silence: Responder = (request) =>
  new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true });
  });

/** Sends the headers and a first chunk of the body, then nothing until the request is aborted. */
export function stall(chunk: string, headers: Record<string, string> = {}, status = 200): Responder {
  return (request) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(chunk));
        request.signal.addEventListener('abort', () => controller.error(request.signal.reason), {
          once: true,
        });
      },
    });
    return new Response(body, { status, headers });
  };
}
