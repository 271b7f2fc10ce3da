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
/** The project's demand for the neighbor's median, in milliseconds. */
const maxP50Ms = 50;

interface Flood {
  title: string;
  path: string;
  body: () => Buffer;
}

const filler = (before: string, part: string, after: string) => {
  const length = floodMegabytes * 1024 * 1024 - before.length - after.length;
  return Buffer.from(before + part.repeat(Math.floor(length / part.length)) + after);
};

const official = '/api/v3/contents/generations/tasks';
const head = '{"model":"epsilon-delta-2-0-260128","content":[';

/** Bodies that the gateway refuses: at its limit, after parsing, and after decoding inline media. */
const floods: readonly Flood[] = [
  { title: 'speech text', path: speechPath, body: () => filler('{"input":"', 'a', '"}') },
  {
    title: 'small items',
    path: official,
    body: () => filler(head, '{"type":"text","text":"a"},', '{}]}'),
  },
  {
    title: 'an inline image and an unknown type',
    path: official,
    body: () =>
      filler(
        `${head}{"type":"nothing"},{"type":"image_url","image_url":{"url":"data:image/png;base64,`,
        'QUJD',
        '"}}]}',
      ),
  },
];

export interface NeighborSummary {
  title: string;
  calls: number;
  /** Bodies of the flood that were refused. */
  refused: number;
  aloneP50Ms: number;
  p50Ms: number;
  p99Ms: number;
}

/** Latency of one key's speech calls while another key floods the gateway with refused bodies. */
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
      const beside: number[] = [];
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
        beside.push(...(await measure()));
        await flood.terminate();
      }
      assert(
        [...statuses].every((status) => status >= 400) && refused > 0,
        `answers to the flood: ${[...statuses].join()}`,
      );
      beside.sort((a, b) => a - b);
      summaries.push({
        title,
        calls: beside.length,
        refused,
        aloneP50Ms: median(alone),
        p50Ms: median(beside),
        p99Ms: beside[Math.floor(beside.length * 0.99)] ?? Number.NaN,
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
  const answer = await request(`${origin}/api/token/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'flood', unlimited_quota: true }),
  });
  const { data } = (await answer.body.json()) as { data: { key: string } };
  return data.key;
}

/** Milliseconds of each speech call, one after the other for `seconds`. */
async function measureCalls(origin: string, seconds: number): Promise<number[]> {
  const until = performance.now() + seconds * 1_000;
  const body = JSON.stringify({ model: 'voxa-v3-flash', voice: 'voxanna', input: speakable(characters) });
  const durations: number[] = [];
  while (performance.now() < until) {
    const from = performance.now();
    const answer = await request(origin + speechPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json' },
      body,
    });
    const text = await answer.body.arrayBuffer();
    assert.equal(answer.statusCode, 200, Buffer.from(text).toString('utf8', 0, 300));
    durations.push(performance.now() - from);
  }
  return durations;
}

export function neighborTargets(summaries: readonly NeighborSummary[]): Target[] {
  return summaries.map(({ title, p50Ms }) =>
    target(`speech beside a flood of ${title}: p50 ms`, p50Ms, 'below', maxP50Ms),
  );
}

/** The figures as Markdown. */
export function neighborMarkdown(summaries: readonly NeighborSummary[]): string {
  return [
    `One key's speech calls, one at a time, beside ${floodConnections} connections of another key that send refused bodies of ${floodMegabytes} MB.`,
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
