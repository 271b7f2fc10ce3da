import { pino } from 'pino';
import { expect, test } from 'vitest';
import { PlainFailure } from '../../server/app/start-failure.ts';
import { type Supervised, Supervisor } from '../../server/app/workers/supervisor.ts';
import { createLogger, type Logger } from '../../server/telemetry/logger.ts';
import { ManualTimers } from '../support/manual-timers.ts';

/** A process that does as it is told. */
class Fake implements Supervised {
  readonly pid = 1;
  readonly number: number;
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<number | string>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;
  told = '';
  hangs = false;
  /** Those who ask it while it hangs. */
  readonly #asking: (() => void)[] = [];

  constructor(number: number) {
    this.number = number;
    this.ready.catch(() => {});
  }

  serve(): void {
    this.#ready.resolve();
  }

  end(how: number | string): void {
    this.#ready.reject(new Error('it ended'));
    this.#ended.resolve(how);
  }

  /** Reports why it cannot serve, and ends. */
  refuse(reason: string): void {
    this.#ready.reject(new PlainFailure(reason));
    this.end(1);
  }

  answer(): Promise<void> {
    if (!this.hangs) return Promise.resolve();
    return new Promise((resolve) => this.#asking.push(resolve));
  }

  /** Answers all that it was asked. */
  comeBack(): void {
    this.hangs = false;
    for (const answer of this.#asking.splice(0)) answer();
  }

  stop(): void {
    this.told = 'stop';
  }

  kill(): void {
    this.told = 'kill';
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

function watched(count: number, logger = createLogger('silent')) {
  const timers = new ManualTimers();
  const begun: Fake[] = [];
  const supervisor = new Supervisor<Fake>({
    count,
    begin: (number) => {
      const worker = new Fake(number);
      begun.push(worker);
      return worker;
    },
    timers,
    logger,
  });
  const last = () => begun.at(-1) as Fake;
  const numbers = () => supervisor.serving.map(({ number }) => number);
  return { timers, begun, supervisor, last, numbers };
}

async function serving(count: number, logger?: Logger) {
  const all = watched(count, logger);
  const started = all.supervisor.start();
  for (const worker of all.begun) worker.serve();
  await started;
  return all;
}

test('all are there when it has started, and stop together', async () => {
  const { supervisor, begun, numbers } = watched(3);
  const started = supervisor.start();
  begun[0]?.serve();
  begun[2]?.serve();
  await settled();
  expect([await isPending(started), numbers()]).toEqual([true, [1, 3]]);
  begun[1]?.serve();
  await started;
  expect(numbers()).toEqual([1, 2, 3]);
  const stopped = supervisor.stop(1_000);
  expect(begun.map(({ told }) => told)).toEqual(['stop', 'stop', 'stop']);
  for (const [index, worker] of begun.entries()) worker.end(index);
  expect(await stopped).toEqual([0, 1, 2]);
  expect(begun).toHaveLength(3);
});

test('one that cannot start ends the others, and its reason is told', async () => {
  const { supervisor, begun } = watched(2);
  const started = supervisor.start();
  begun[0]?.serve();
  begun[1]?.refuse('PORT: the address is in use.');
  await expect(started).rejects.toThrow('PORT: the address is in use.');
  expect(begun[0]?.told).toBe('kill');
});

test('one that ends is replaced at once, and with longer pauses the more often it ends soon', async () => {
  const { supervisor, timers, begun, last, numbers } = await serving(2);
  const pauses: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const before = begun.length;
    begun.findLast(({ number }) => number === 2)?.end('SIGSEGV');
    await settled();
    expect(numbers()).toEqual([1]);
    let pause = 0;
    while (begun.length === before) {
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
  // One that has served for a while ended for another reason.
  timers.advance(10_000);
  const before = begun.length;
  last().end(1);
  await settled();
  expect(begun).toHaveLength(before + 1);
  expect(await Promise.race([supervisor.failed, Promise.resolve('goes on')])).toBe('goes on');
});

test('when none comes up any more, that is told with the last reason', async () => {
  const { supervisor, timers, begun, last } = await serving(1);
  last().end('SIGKILL');
  for (let round = 1; round < 5; round += 1) {
    await settled();
    timers.advance(30_000);
    await settled();
    expect(begun).toHaveLength(1 + round);
    expect(await Promise.race([supervisor.failed, Promise.resolve('goes on')])).toBe('goes on');
    last().refuse('the database does not answer.');
  }
  expect((await supervisor.failed).message).toBe(
    'worker 1 ended 5 times in a row, the last time with 1: the database does not answer.',
  );
  expect(begun).toHaveLength(5);
});

test('a stop waits for no pause, replaces nobody, and kills who does not heed it', async () => {
  const { supervisor, timers, begun } = await serving(2);
  begun[0]?.end(1);
  await settled();
  // The one that took its place ends, too, and a pause begins.
  begun[2]?.end(1);
  await settled();
  const stopped = supervisor.stop(1_000);
  await settled();
  expect(begun[1]?.told).toBe('stop');
  timers.advance(999);
  expect(begun[1]?.told).toBe('stop');
  timers.advance(1);
  expect(await stopped).toEqual([1, 'SIGKILL']);
  timers.advance(60_000);
  await settled();
  expect(begun).toHaveLength(3);
});

/** Lets time pass in steps that are shorter than those in which workers are asked. */
async function pass(timers: ManualTimers, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 1) {
    timers.advance(1_000);
    await settled();
  }
}

test('a worker that is silent for 5 s is killed and replaced, and the log says so', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
  const { timers, begun, last, numbers } = await serving(2, logger);
  await pass(timers, 60);
  const [one, two] = begun as [Fake, Fake];
  one.hangs = true;
  await pass(timers, 5);
  expect([one.told, lines]).toEqual(['', []]);
  await pass(timers, 1);
  expect([one.told, two.told]).toEqual(['kill', '']);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { msg: 'a worker does not answer any more, and is ended', worker: 1, pid: 1, silent_s: 5 },
    { msg: 'a worker ended', worker: 1, ended: 'SIGKILL' },
  ]);
  expect([begun.length, numbers()]).toEqual([3, [2]]);
  last().serve();
  await pass(timers, 60);
  expect([numbers(), last().told, begun.length]).toEqual([[1, 2], '', 3]);
});

test('a worker that hangs while it starts is killed after 60 s of silence', async () => {
  const { supervisor, timers, begun, last, numbers } = watched(2);
  const started = supervisor.start();
  const [one, two] = begun as [Fake, Fake];
  two.serve();
  one.hangs = true;
  await pass(timers, 60);
  expect([one.told, begun.length]).toEqual(['', 2]);
  await pass(timers, 1);
  expect([one.told, two.told, begun.length]).toEqual(['kill', '', 3]);
  expect(await isPending(started)).toBe(true);
  last().serve();
  await started;
  expect(numbers()).toEqual([1, 2]);
});

test('a worker that answers within 5 s is not killed, however often it is late', async () => {
  const { timers, begun } = await serving(2);
  const [one] = begun as [Fake];
  for (let round = 0; round < 3; round += 1) {
    one.hangs = true;
    await pass(timers, 5);
    one.comeBack();
    await settled();
  }
  expect(one.told).toBe('');
});

test('silence during a pause of the process itself does not count', async () => {
  const { timers, begun } = await serving(2);
  const [one, two] = begun as [Fake, Fake];
  for (const worker of [one, two]) worker.hangs = true;
  await pass(timers, 4);
  // The machine was suspended for ten minutes.
  timers.advance(600_000);
  await settled();
  expect([one.told, two.told]).toEqual(['', '']);
  one.comeBack();
  await pass(timers, 1);
  expect([one.told, two.told]).toEqual(['', 'kill']);
});

test('a worker that is killed while it starts is started again, with longer pauses', async () => {
  const { supervisor, timers, begun, last, numbers } = watched(2);
  const started = supervisor.start();
  begun[0]?.serve();
  const pauses: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const before = begun.length;
    begun.findLast(({ number }) => number === 2)?.end('SIGKILL');
    await settled();
    let pause = 0;
    while (begun.length === before) {
      timers.advance(500);
      pause += 500;
      await settled();
    }
    pauses.push(pause);
  }
  expect(pauses).toEqual([0, 500, 1_000, 2_000]);
  expect([await isPending(started), begun[0]?.told, last().number]).toEqual([true, '', 2]);
  last().serve();
  await started;
  expect(numbers()).toEqual([1, 2]);
});

test('a start does not wait for a worker that ends five times in a row while another serves', async () => {
  const { supervisor, timers, begun, last, numbers } = watched(2);
  const started = supervisor.start();
  for (let round = 0; round < 5; round += 1) {
    expect(await isPending(started)).toBe(true);
    last().end('SIGSEGV');
    await settled();
    timers.advance(30_000);
    await settled();
  }
  // The other one may still come up.
  expect([await isPending(started), begun[0]?.told]).toEqual([true, '']);
  begun[0]?.serve();
  await started;
  expect(numbers()).toEqual([1]);
  last().serve();
  await settled();
  expect(numbers()).toEqual([1, 2]);
});

test('a start fails when no worker comes up', async () => {
  const { supervisor, timers, begun } = watched(2);
  const started = supervisor.start();
  const failure = started.catch((reason: Error) => reason.message);
  for (let round = 0; round < 5; round += 1) {
    for (const worker of begun) worker.end('SIGKILL');
    await settled();
    timers.advance(30_000);
    await settled();
  }
  expect(await failure).toMatch(/^worker [12] ended 5 times in a row, the last time with SIGKILL: it ended$/);
  expect(timers.pending).toBe(0);
});

test('nobody is asked any more once all are to stop', async () => {
  const { supervisor, timers, begun } = await serving(1);
  const [one] = begun as [Fake];
  one.hangs = true;
  const stopped = supervisor.stop(100_000);
  await pass(timers, 60);
  expect(one.told).toBe('stop');
  one.end(0);
  expect(await stopped).toEqual([0]);
  expect(timers.pending).toBe(0);
});
