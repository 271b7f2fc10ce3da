import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import { request } from 'undici';
import { characters, speechPath } from '../cases.ts';
import { gatewayKey, startGateway } from '../gateway.ts';
import { speakable } from '../payloads.ts';
import { here, ServerProcess } from '../processes.ts';
import { table } from '../report.ts';
import { median, type Target, target } from '../verdict.ts';
import type { FloodOptions } from './flood.ts';

const floodMegabytes = 30;
const floodConnections = 6;
/** Target of the project for the median of the neighbor. */
const maxP50Ms = 50;

interface Flood {
  title: string;
  path: string;
  body: () => Buffer;
}

const fillBody = (before: string, part: string, after: string) => {
  const length = floodMegabytes * 1024 * 1024 - before.length - after.length;
  return Buffer.from(before + part.repeat(Math.floor(length / part.length)) + after);
};

const official = '/api/v3/contents/generations/tasks';
const head = '{"model":"epsilon-delta-2-0-260128","content":[';

/** Bodies that the gateway rejects: at its size limit, after parsing, and after decoding inline media. */
const floods: readonly Flood[] = [
  { title: 'speech text', path: speechPath, body: () => fillBody('{"input":"', 'a', '"}') },
  {
    title: 'small items',
    path: official,
    body: () => fillBody(head, '{"type":"text","text":"a"},', '{}]}'),
  },
  {
    title: 'an inline image and an unknown type',
    path: official,
    body: () =>
      fillBody(
        `${head}{"type":"nothing"},{"type":"image_url","image_url":{"url":"data:image/png;base64,`,
        'QUJD',
        '"}}]}',
      ),
  },
];

export interface NeighborSummary {
  title: string;
  calls: number;
  /** Number of rejected bodies of the flood. */
  refused: number;
  aloneP50Ms: number;
  p50Ms: number;
  p99Ms: number;
}

/** Measures the latency of speech calls of one key while another key floods the gateway with rejected bodies. */
export async function measureNeighbor({
  rounds,
  seconds,
  server,
}: {
  rounds: number;
  seconds: number;
  server: string;
}): Promise<NeighborSummary[]> {
  const upstream = await ServerProcess.start({ module: here('upstream.ts'), core: 'all' });
  const gateway = await startGateway(server, upstream.origin, undefined, ['native', 'official'], {}, 'all');
  try {
    const floodKey = await createKey(gateway.server.origin);
    const measure = () => measureCalls(gateway.server.origin, seconds);
    await measure();
    const summaries: NeighborSummary[] = [];
    for (const { title, path, body } of floods) {
      const alone: number[] = [];
      const during: number[] = [];
      const statuses = new Set<number>();
      let refused = 0;
      for (let round = 0; round < rounds; round += 1) {
        alone.push(...(await measure()));
        const workerData: FloodOptions = {
          url: gateway.server.origin + path,
          key: floodKey,
          connections: floodConnections,
          body: body(),
        };
        const flood = new Worker(new URL('flood.ts', import.meta.url), { workerData });
        flood.on('message', (status: number) => {
          statuses.add(status);
          refused += 1;
        });
        // The first calls warm up the flood.
        await measure();
        during.push(...(await measure()));
        await flood.terminate();
      }
      assert(
        [...statuses].every((status) => status >= 400) && refused > 0,
        `responses to the flood: ${[...statuses].join()}`,
      );
      during.sort((a, b) => a - b);
      summaries.push({
        title,
        calls: during.length,
        refused,
        aloneP50Ms: median(alone),
        p50Ms: median(during),
        p99Ms: during[Math.floor(during.length * 0.99)] ?? Number.NaN,
      });
    }
    return summaries;
  } finally {
    await gateway.server.stop();
    await upstream.stop();
    await gateway.remove();
  }
}

async function createKey(origin: string): Promise<string> {
  const response = await request(`${origin}/api/token/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'flood', unlimited_quota: true }),
  });
  const { data } = (await response.body.json()) as { data: { key: string } };
  return data.key;
}

/** Sends speech calls sequentially for `seconds`. Returns the duration of each in milliseconds. */
async function measureCalls(origin: string, seconds: number): Promise<number[]> {
  const deadline = performance.now() + seconds * 1_000;
  const body = JSON.stringify({ model: 'voxa-v3-flash', voice: 'voxanna', input: speakable(characters) });
  const durations: number[] = [];
  while (performance.now() < deadline) {
    const from = performance.now();
    const response = await request(origin + speechPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json' },
      body,
    });
    const text = await response.body.arrayBuffer();
    assert.equal(response.statusCode, 200, Buffer.from(text).toString('utf8', 0, 300));
    durations.push(performance.now() - from);
  }
  return durations;
}

export function neighborTargets(summaries: readonly NeighborSummary[]): Target[] {
  return summaries.map(({ title, p50Ms }) =>
    target(`speech during a flood of ${title}: p50 ms`, p50Ms, 'below', maxP50Ms),
  );
}

/** Formats the results as Markdown. */
export function neighborMarkdown(summaries: readonly NeighborSummary[]): string {
  return [
    `Sequential speech calls of one key, while ${floodConnections} connections of another key send rejected bodies of ${floodMegabytes} MB.`,
    table(
      ['flood', 'refused', 'calls', 'alone p50 ms', 'p50 ms', 'p99 ms'],
      summaries.map(({ title, refused, calls, aloneP50Ms, p50Ms, p99Ms }) => [
        title,
        String(refused),
        String(calls),
        aloneP50Ms.toFixed(1),
        p50Ms.toFixed(1),
        p99Ms.toFixed(1),
      ]),
    ),
  ].join('\n\n');
}
