import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  type APIError,
  type ConformanceEvent,
  type ConformanceRequest,
  Unigate,
} from '../../client/index.ts';
import { ConformanceRun } from '../../server/operations/admin/conformance-run.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ManualTimers } from '../support/manual-timers.ts';

let target: TestGateway;
let client: Unigate;
let folder: string;
beforeAll(async () => {
  target = await startTestGateway();
  client = new Unigate({ baseUrl: target.url, apiKey: target.key, maxRetries: 0 });
  folder = await mkdtemp(join(tmpdir(), 'unigate-kit-'));
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  await target.close();
  await rm(folder, { recursive: true, force: true });
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const eventsOf = async (body: ConformanceRequest): Promise<ConformanceEvent[]> =>
  await collect(client.admin.testConformance(body));
const refusalOf = (body: ConformanceRequest) =>
  eventsOf(body).then(
    () => expect.fail('the run was not refused'),
    (error: unknown) => error as APIError,
  );

/** Runs a program in place of the kit in the next run. */
async function replaceKit(program: string): Promise<void> {
  const kit = join(folder, `${crypto.randomUUID()}.mjs`);
  await writeFile(kit, program);
  vi.spyOn(ConformanceRun, 'findKit').mockReturnValueOnce(kit);
}

test('refuses private addresses except its own, unless they are allowed', async () => {
  const api_key = 'sk-another-key';
  for (const base_url of ['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1', 'http://10.0.0.1']) {
    const { status, message } = await refusalOf({ base_url, api_key });
    expect([status, message]).toEqual([
      400,
      expect.stringContaining('base_url: must lead to a public address'),
    ]);
  }
  expect(await refusalOf({ base_url: `${target.url}?a=b`, api_key })).toMatchObject({ status: 400 });
  const refused = await eventsOf({ base_url: target.url.replace('127.0.0.1', 'localhost'), api_key });
  expect(refused).toEqual([{ type: 'run_failed', message: expect.stringContaining('rejects the key') }]);
  expect(JSON.stringify(refused)).not.toContain(api_key);
});

test('reports a server that cannot be reached', async () => {
  const open = await startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } });
  const admin = new Unigate({ baseUrl: open.url, apiKey: open.key }).admin;
  const events = await collect(
    admin.testConformance({ base_url: 'http://127.0.0.1:1', api_key: 'sk-another-key' }),
  );
  expect(events).toEqual([{ type: 'run_failed', message: expect.stringMatching(/cannot be reached/) }]);
  await open.close();
});

test('names an operation that does not exist', async () => {
  const { status, message } = await refusalOf({ only: ['listSongs'] });
  expect([status, message]).toEqual([
    400,
    expect.stringContaining('only: listSongs is neither an operation of the contract nor an area.'),
  ]);
});

test('returns 404 with the name of the package without the kit', async () => {
  vi.spyOn(ConformanceRun, 'findKit').mockReturnValueOnce(undefined);
  const { status, message } = await refusalOf({});
  expect([status, message]).toEqual([404, expect.stringContaining('@unigate/conformance')]);
});

test('has one run at a time, and ends it when the client disconnects', { timeout: 60_000 }, async () => {
  const file = join(folder, 'stopped');
  await replaceKit(`
    import { writeFileSync } from 'node:fs';
    process.once('SIGTERM', () => { writeFileSync(${JSON.stringify(file)}, 'deleted'); process.exit(); });
    setInterval(() => {}, 1000);
    process.stdout.write('{"type":"check_waiting","operation":"","check":"","seconds":1}\\n');`);
  const events = client.admin.testConformance({})[Symbol.asyncIterator]();
  await events.next();
  const busy = await refusalOf({});
  expect(busy).toMatchObject({
    status: 429,
    message: expect.stringContaining('already has a conformance run'),
  });
  expect(busy.headers.get('retry-after')).toBe('10');
  await events.return?.();
  await vi.waitFor(async () => expect(await readFile(file, 'utf8')).toBe('deleted'));
  await vi.waitFor(async () => {
    expect((await eventsOf({ only: ['getHealth'], runs: 0, triggers: 'off' })).at(-1)).toMatchObject({
      type: 'run_finished',
      report: { failed: 0 },
    });
  });
});

test('passes neither secrets of the gateway nor the key as an argument to the kit', async () => {
  vi.stubEnv('DATABASE_URL', 'postgres://secret');
  await replaceKit(`
    const { argv, env } = process;
    const message = JSON.stringify({ argv, names: Object.keys(env), key: env.UNIGATE_API_KEY.length });
    console.log(JSON.stringify({ type: 'run_failed', message }));`);
  const [event] = await eventsOf({ only: ['models'], seed: 7, admin: true });
  vi.unstubAllEnvs();
  if (event?.type !== 'run_failed') throw new Error('The kit did not run.');
  const { argv, names, key } = JSON.parse(event.message) as { argv: string[]; names: string[]; key: number };
  expect(argv.slice(2)).toEqual([
    '--events',
    `--base-url=${target.url}/`,
    '--only=models',
    '--runs=5',
    '--seed=7',
    '--triggers=auto',
    '--admin',
  ]);
  expect(names).not.toContain('DATABASE_URL');
  expect(key).toBe(target.key.length);
});

/** Runs a program in place of the kit, without a gateway. */
async function runProgram(program: string) {
  const kit = join(folder, `${crypto.randomUUID()}.mjs`);
  await writeFile(kit, program);
  const lines: string[] = [];
  const logger = createLogger('info', undefined, { write: (line: string) => void lines.push(line) });
  const timers = new ManualTimers();
  const limitMs = 60_000;
  const run = new ConformanceRun({ kit, args: [], key: 'sk-secret', exempt: [], limitMs, timers, logger });
  return { run, lines, timers };
}

const textOf = async (run: ConformanceRun) => Buffer.concat(await collect(run.events())).toString();

test('reports a kit that fails, and logs its output without the key', async () => {
  const { run, lines } = await runProgram('console.log("garbage"); throw new Error("not sk-secret");');
  expect(await textOf(run)).toBe(
    'event: run_failed\ndata: {"type":"run_failed","message":"The conformance kit failed. The log of the gateway has its output."}\n\n',
  );
  expect(lines.join()).toContain('not ***');
  expect(lines.join()).not.toContain('sk-secret');
});

test('ends a run at its time limit, also if it ignores the signal', async () => {
  const { run, timers } = await runProgram(`
    process.on('SIGTERM', () => console.log('{"type":"check_waiting","seconds":2}'));
    setInterval(() => {}, 1000);
    console.log('{"type":"check_waiting","seconds":1}');`);
  const events = run.events();
  await events.next();
  timers.advance(60_000);
  expect(String((await events.next()).value)).toContain('The run exceeded its time limit of 1 minutes.');
  timers.advance(30_000);
  await run.ended;
});

test('connects only to public addresses and to those of the gateway', async () => {
  const { run } = await runProgram(`
    const problem = await fetch('http://127.0.0.1:81').catch(({ cause }) => cause.message);
    console.log(JSON.stringify({ type: 'run_failed', message: problem }));`);
  expect(await textOf(run)).toContain('127.0.0.1 is not a public address');
});

test('bounds the results', async () => {
  const { run } = await runProgram(`
    const line = 'x'.repeat(1024 * 1024) + '\\n';
    for (let count = 0; count < 100; count++) process.stdout.write(line);`);
  expect(await textOf(run)).toContain('The results exceed the size limit of 64 MB.');
  await run.ended;
});
