import { parentPort, workerData } from 'node:worker_threads';
import { request } from 'undici';

/** Options of a thread that sends large bodies on several connections and posts the status of each response. */
export interface FloodOptions {
  url: string;
  key: string;
  connections: number;
  body: Uint8Array;
}

const { url, key, connections, body } = workerData as FloodOptions;

async function send(): Promise<never> {
  for (;;) {
    const { body: response, statusCode } = await request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    await response.dump();
    parentPort?.postMessage(statusCode);
  }
}

await Promise.all(Array.from({ length: connections }, send));
