import assert from 'node:assert/strict';
import { request } from 'undici';
import { gatewayKey, startGateway } from '../gateway.ts';
import type { LongestTurn } from '../meter.ts';
import { here, ServerProcess } from '../processes.ts';
import { table } from '../report.ts';
import { median } from '../verdict.ts';
import { bodies, type WorstBody } from './bodies.ts';

export interface BodySummary extends LongestTurn {
  title: string;
  megabytes: number;
  status: number;
  /** From the first byte of the request to the last of the answer. */
  answerMs: number;
}

/** The project's demand, in milliseconds. */
const maxTurnMs = 100;

/** How long each of the worst bodies keeps the gateway's event loop from coming round; medians of the rounds. */
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
  const gateway = await startGateway(server, upstream.origin, profile, ['native', 'official', 'eta']);
  try {
    // The first body of a process finds everything cold.
    await measured(gateway.server, bodies);
    const found: BodySummary[][] = [];
    for (let round = 0; round < rounds; round += 1) found.push(await measured(gateway.server, bodies));
    return bodies.map((_, index) => {
      const all = found.flatMap((round) => round[index] ?? []);
      const middle = (figure: 'delayMs' | 'cpuMs' | 'answerMs') => median(all.map((one) => one[figure]));
      const [first] = all;
      assert(first !== undefined, 'there are no rounds');
      return { ...first, delayMs: middle('delayMs'), cpuMs: middle('cpuMs'), answerMs: middle('answerMs') };
    });
  } finally {
    await gateway.server.stop();
    await upstream.stop();
    await gateway.remove();
  }
}

async function measured(server: ServerProcess, all: readonly WorstBody[]): Promise<BodySummary[]> {
  const summaries: BodySummary[] = [];
  for (const body of all) summaries.push(await send(server, body));
  return summaries;
}

async function send(
  server: ServerProcess,
  { title, path, headers, make, status }: WorstBody,
): Promise<BodySummary> {
  const body = make();
  await server.longestTurn();
  const from = performance.now();
  const answer = await request(server.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', ...headers },
    body,
  });
  const told = await answer.body.text();
  const answerMs = performance.now() - from;
  assert.equal(answer.statusCode, status, `${title}: ${answer.statusCode} ${told.slice(0, 300)}`);
  const turn = await server.longestTurn();
  return { title, megabytes: body.length / 1024 / 1024, status, answerMs, ...turn };
}

/** As Markdown, ready for the README. */
export function bodiesMarkdown(summaries: readonly BodySummary[], { rounds }: { rounds: number }): string {
  return [
    `The longest time that one body keeps the gateway's event loop from coming round, which must stay below ${maxTurnMs} ms; medians of ${rounds} rounds. Of a turn's time, the thread itself worked the milliseconds of CPU.`,
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
