import assert from 'node:assert/strict';
import { request } from 'undici';
import { gatewayKey, profileOptions, startGateway } from '../gateway.ts';
import type { LongestTurn } from '../meter.ts';
import { here, ServerProcess } from '../processes.ts';
import { table } from '../report.ts';
import { median } from '../verdict.ts';
import { bodies, type WorstBody } from './bodies.ts';

export interface BodySummary extends LongestTurn {
  title: string;
  megabytes: number;
  status: number;
  /** From the first byte of the request to the last byte of the response. */
  answerMs: number;
}

/** Target of the project. */
const maxTurnMs = 100;

/** Measures how long each body blocks the event loop of the gateway. Returns medians of the rounds. */
export async function measureBodies({
  rounds,
  server,
  profile,
}: {
  rounds: number;
  server: string;
  profile: string | undefined;
}): Promise<BodySummary[]> {
  const upstream = await ServerProcess.start({ module: here('bodies/upstream.ts'), core: 'others' });
  const gateway = await startGateway(server, upstream.origin, profileOptions(profile), [
    'native',
    'official',
    'eta',
  ]);
  try {
    // Warms up the process.
    await measureAll(gateway.server, bodies);
    const results: BodySummary[][] = [];
    for (let round = 0; round < rounds; round += 1) results.push(await measureAll(gateway.server, bodies));
    return bodies.map((_, index) => {
      const all = results.flatMap((round) => round[index] ?? []);
      const medianOf = (figure: 'delayMs' | 'cpuMs' | 'answerMs') => median(all.map((one) => one[figure]));
      const [first] = all;
      assert(first !== undefined, 'there are no rounds');
      return {
        ...first,
        delayMs: medianOf('delayMs'),
        cpuMs: medianOf('cpuMs'),
        answerMs: medianOf('answerMs'),
      };
    });
  } finally {
    await gateway.server.stop();
    await upstream.stop();
    await gateway.remove();
  }
}

async function measureAll(server: ServerProcess, all: readonly WorstBody[]): Promise<BodySummary[]> {
  const summaries: BodySummary[] = [];
  for (const body of all) summaries.push(await send(server, body));
  return summaries;
}

async function send(
  server: ServerProcess,
  { title, path, headers, create, status }: WorstBody,
): Promise<BodySummary> {
  const body = create();
  await server.longestTurn();
  const from = performance.now();
  const response = await request(server.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await response.body.text();
  const answerMs = performance.now() - from;
  assert.equal(response.statusCode, status, `${title}: ${response.statusCode} ${text.slice(0, 300)}`);
  const turn = await server.longestTurn();
  return { title, megabytes: body.length / 1024 / 1024, status, answerMs, ...turn };
}

/** Formats the results as Markdown for the README. */
export function bodiesMarkdown(summaries: readonly BodySummary[], { rounds }: { rounds: number }): string {
  return [
    `The longest turn of the gateway's event loop for one body, which must stay below ${maxTurnMs} ms. Medians of ${rounds} rounds. CPU is the time that the thread itself worked during that turn.`,
    table(
      ['body', 'MB', 'status', 'longest turn ms', 'CPU ms of a turn', 'answered after ms'],
      summaries.map(({ title, megabytes, status, delayMs, cpuMs, answerMs }) => [
        title,
        megabytes.toFixed(1),
        String(status),
        delayMs.toFixed(0),
        cpuMs.toFixed(0),
        answerMs.toFixed(0),
      ]),
    ),
  ].join('\n\n');
}
