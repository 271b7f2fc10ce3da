import { parentPort, workerData } from 'node:worker_threads';
import { request } from 'undici';

/** A thread that sends one large body after the other on each connection, and posts the status of each answer. */
export interface FloodOptions {
  url: string;
  key: string;
  connections: number;
  body: Uint8Array;
}

const { url, key, connections, body } = workerData as FloodOptions;

async function send(): Promise<never> {
  for (;;) {
    const { body: answer, statusCode } = await request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    await answer.dump();
    parentPort?.postMessage(statusCode);
  }
}

await Promise.all(Array.from({ length: connections }, send));
