import { pino } from 'pino';
import { expect, test } from 'vitest';
import { PlainFailure } from '../../server/app/start-failure.ts';
import { type SupervisedProcess, Supervisor } from '../../server/app/workers/supervisor.ts';
import { createLogger, type Logger } from '../../server/telemetry/logger.ts';
import { ManualTimers } from '../support/manual-timers.ts';

/** A process that the test controls. */
class FakeWorker implements SupervisedProcess {
  readonly pid = 1;
  readonly number: number;
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<number | string>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;
  /** The last request to end: `stop` or `kill`. */
  request = '';
  hangs = false;
  readonly #pendingPings: (() => void)[] = [];

  constructor(number: number) {
    this.number = number;
    this.ready.catch(() => {});
  }

  serve(): void {
    this.#ready.resolve();
  }

  end(result: number | string): void {
    this.#ready.reject(new Error('it ended'));
    this.#ended.resolve(result);
  }

  /** Reports why it cannot serve, and exits. */
  refuse(reason: string): void {
    this.#ready.reject(new PlainFailure(reason));
    this.end(1);
  }

  ping(): Promise<void> {
    if (!this.hangs) return Promise.resolve();
    return new Promise((resolve) => this.#pendingPings.push(resolve));
  }

  /** Responds to all pending pings. */
  resume(): void {
    this.hangs = false;
    for (const respond of this.#pendingPings.splice(0)) respond();
  }

  stop(): void {
    this.request = 'stop';
  }

  kill(): void {
    this.request = 'kill';
    this.end('SIGKILL');
  }
}

const isPending = (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(
      () => false,
      () => false,
    ),
    settled().then(() => true),
  ]);

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function createSupervisor(count: number, logger = createLogger('silent')) {
  const timers = new ManualTimers();
  const workers: FakeWorker[] = [];
  const supervisor = new Supervisor<FakeWorker>({
    count,
    startWorker: (number) => {
      const worker = new FakeWorker(number);
      workers.push(worker);
      return worker;
    },
    timers,
    logger,
  });
  const last = () => workers.at(-1) as FakeWorker;
  const numbers = () => supervisor.serving.map(({ number }) => number);
  return { timers, workers, supervisor, last, numbers };
}

async function startAll(count: number, logger?: Logger) {
  const all = createSupervisor(count, logger);
  const started = all.supervisor.start();
  for (const worker of all.workers) worker.serve();
  await started;
  return all;
}

test('starts when all workers serve and stops all of them', async () => {
  const { supervisor, workers, numbers } = createSupervisor(3);
  const started = supervisor.start();
  workers[0]?.serve();
  workers[2]?.serve();
  await settled();
  expect([await isPending(started), numbers()]).toEqual([true, [1, 3]]);
  workers[1]?.serve();
  await started;
  expect(numbers()).toEqual([1, 2, 3]);
  const stopped = supervisor.stop(1_000);
  expect(workers.map(({ request }) => request)).toEqual(['stop', 'stop', 'stop']);
  for (const [index, worker] of workers.entries()) worker.end(index);
  expect(await stopped).toEqual([0, 1, 2]);
  expect(workers).toHaveLength(3);
});

test('kills the other workers when one reports that it cannot start, and throws its reason', async () => {
  const { supervisor, workers } = createSupervisor(2);
  const started = supervisor.start();
  workers[0]?.serve();
  workers[1]?.refuse('PORT: the address is in use.');
  await expect(started).rejects.toThrow('PORT: the address is in use.');
  expect(workers[0]?.request).toBe('kill');
});

test('replaces an exited worker at once, and after repeated early exits with growing pauses', async () => {
  const { supervisor, timers, workers, last, numbers } = await startAll(2);
  const pauses: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const before = workers.length;
    workers.findLast(({ number }) => number === 2)?.end('SIGSEGV');
    await settled();
    expect(numbers()).toEqual([1]);
    let pause = 0;
    while (workers.length === before) {
      timers.advance(500);
      pause += 500;
      await settled();
    }
    pauses.push(pause);
    expect(last().number).toBe(2);
    last().serve();
    await settled();
    expect(numbers()).toEqual([1, 2]);
  }
  expect(pauses).toEqual([0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  // An exit after a longer time in service resets the pauses.
  timers.advance(10_000);
  const before = workers.length;
  last().end(1);
  await settled();
  expect(workers).toHaveLength(before + 1);
  expect(await Promise.race([supervisor.failed, Promise.resolve('running')])).toBe('running');
});

test('fails with the last reason when no worker can start', async () => {
  const { supervisor, timers, workers, last } = await startAll(1);
  last().end('SIGKILL');
  for (let round = 1; round < 5; round += 1) {
    await settled();
    timers.advance(30_000);
    await settled();
    expect(workers).toHaveLength(1 + round);
    expect(await Promise.race([supervisor.failed, Promise.resolve('running')])).toBe('running');
    last().refuse('the database does not answer.');
  }
  expect((await supervisor.failed).message).toBe(
    'worker 1 ended 5 times in a row, the last time with 1: the database does not answer.',
  );
  expect(workers).toHaveLength(5);
});

test('stops without waiting for a pause, replaces no worker and kills those that do not stop', async () => {
  const { supervisor, timers, workers } = await startAll(2);
  workers[0]?.end(1);
  await settled();
  // The replacement exits, too, and a pause begins.
  workers[2]?.end(1);
  await settled();
  const stopped = supervisor.stop(1_000);
  await settled();
  expect(workers[1]?.request).toBe('stop');
  timers.advance(999);
  expect(workers[1]?.request).toBe('stop');
  timers.advance(1);
  expect(await stopped).toEqual([1, 'SIGKILL']);
  timers.advance(60_000);
  await settled();
  expect(workers).toHaveLength(3);
});

/** Advances time in steps of one ping interval. */
async function pass(timers: ManualTimers, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 1) {
    timers.advance(1_000);
    await settled();
  }
}

test('kills, replaces and logs a worker that does not respond for 5 s', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
  const { timers, workers, last, numbers } = await startAll(2, logger);
  await pass(timers, 60);
  const [one, two] = workers as [FakeWorker, FakeWorker];
  one.hangs = true;
  await pass(timers, 5);
  expect([one.request, lines]).toEqual(['', []]);
  await pass(timers, 1);
  expect([one.request, two.request]).toEqual(['kill', '']);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { msg: 'a worker does not respond and is killed', worker: 1, pid: 1, silent_s: 5 },
    { msg: 'a worker ended', worker: 1, ended: 'SIGKILL' },
  ]);
  expect([workers.length, numbers()]).toEqual([3, [2]]);
  last().serve();
  await pass(timers, 60);
  expect([numbers(), last().request, workers.length]).toEqual([[1, 2], '', 3]);
});

test('kills a worker that does not respond for 60 s while it starts', async () => {
  const { supervisor, timers, workers, last, numbers } = createSupervisor(2);
  const started = supervisor.start();
  const [one, two] = workers as [FakeWorker, FakeWorker];
  two.serve();
  one.hangs = true;
  await pass(timers, 60);
  expect([one.request, workers.length]).toEqual(['', 2]);
  await pass(timers, 1);
  expect([one.request, two.request, workers.length]).toEqual(['kill', '', 3]);
  expect(await isPending(started)).toBe(true);
  last().serve();
  await started;
  expect(numbers()).toEqual([1, 2]);
});

test('does not kill a worker that responds within 5 s each time', async () => {
  const { timers, workers } = await startAll(2);
  const [one] = workers as [FakeWorker];
  for (let round = 0; round < 3; round += 1) {
    one.hangs = true;
    await pass(timers, 5);
    one.resume();
    await settled();
  }
  expect(one.request).toBe('');
});

test('does not count a pause of its own process', async () => {
  const { timers, workers } = await startAll(2);
  const [one, two] = workers as [FakeWorker, FakeWorker];
  for (const worker of [one, two]) worker.hangs = true;
  await pass(timers, 4);
  // The machine was suspended for ten minutes.
  timers.advance(600_000);
  await settled();
  expect([one.request, two.request]).toEqual(['', '']);
  one.resume();
  await pass(timers, 1);
  expect([one.request, two.request]).toEqual(['', 'kill']);
});

test('restarts a worker that is killed while it starts, with growing pauses', async () => {
  const { supervisor, timers, workers, last, numbers } = createSupervisor(2);
  const started = supervisor.start();
  workers[0]?.serve();
  const pauses: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const before = workers.length;
    workers.findLast(({ number }) => number === 2)?.end('SIGKILL');
    await settled();
    let pause = 0;
    while (workers.length === before) {
      timers.advance(500);
      pause += 500;
      await settled();
    }
    pauses.push(pause);
  }
  expect(pauses).toEqual([0, 500, 1_000, 2_000]);
  expect([await isPending(started), workers[0]?.request, last().number]).toEqual([true, '', 2]);
  last().serve();
  await started;
  expect(numbers()).toEqual([1, 2]);
});

test('starts without a worker that exits five times in a row while another serves', async () => {
  const { supervisor, timers, workers, last, numbers } = createSupervisor(2);
  const started = supervisor.start();
  for (let round = 0; round < 5; round += 1) {
    expect(await isPending(started)).toBe(true);
    last().end('SIGSEGV');
    await settled();
    timers.advance(30_000);
    await settled();
  }
  // The other worker may still start.
  expect([await isPending(started), workers[0]?.request]).toEqual([true, '']);
  workers[0]?.serve();
  await started;
  expect(numbers()).toEqual([1]);
  last().serve();
  await settled();
  expect(numbers()).toEqual([1, 2]);
});

test('fails to start when no worker starts', async () => {
  const { supervisor, timers, workers } = createSupervisor(2);
  const started = supervisor.start();
  const failure = started.catch((reason: Error) => reason.message);
  for (let round = 0; round < 5; round += 1) {
    for (const worker of workers) worker.end('SIGKILL');
    await settled();
    timers.advance(30_000);
    await settled();
  }
  expect(await failure).toMatch(/^worker [12] ended 5 times in a row, the last time with SIGKILL: it ended$/);
  expect(timers.pending).toBe(0);
});

test('sends no pings after a stop', async () => {
  const { supervisor, timers, workers } = await startAll(1);
  const [one] = workers as [FakeWorker];
  one.hangs = true;
  const stopped = supervisor.stop(100_000);
  await pass(timers, 60);
  expect(one.request).toBe('stop');
  one.end(0);
  expect(await stopped).toEqual([0]);
  expect(timers.pending).toBe(0);
});
