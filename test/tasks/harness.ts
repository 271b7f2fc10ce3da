import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, expect } from 'vitest';
import type { Channel } from '../../server/channels/channel.ts';
import { Channels } from '../../server/channels/channels.ts';
import type { TaskName, TaskRecord } from '../../server/store/queries/tasks.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import type { TaskOptions } from '../../server/tasks/environment.ts';
import type { TaskCreation } from '../../server/tasks/task-creation.ts';
import { Tasks } from '../../server/tasks/tasks.ts';
import type { Engine, TestStore } from '../store/engines.ts';
import {
  balanceOf,
  expectBalanced,
  ledgerRows,
  logRows,
  makeToken,
  reservationRows,
} from '../store/ledger.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { recordTaskCode } from '../support/recorded-errors.ts';
import { channelTo } from '../support/upstream.ts';
import { ScriptedDriver } from './scripted-driver.ts';
import { TestClock } from './test-clock.ts';

export const now = 1_800_000_000_000;
export const startQuota = 100_000;
/** Quota per unit. */
const quotaRate = 10;

const channelNames = ['one', 'two'];

/** A task engine on a real store, with a manual clock and a scripted driver. */
export class TaskHarness {
  readonly testStore: TestStore;
  readonly store: Store;
  readonly clock = new TestClock(now);
  readonly driver = new ScriptedDriver(this.clock.monotonic);
  /** Log lines above debug level, and commands sent to the store. */
  readonly lines: Record<string, unknown>[] = [];
  readonly commands: string[] = [];
  /** Number of queries. */
  queries = 0;
  readonly changes: { id: string; state: string; progress: number }[] = [];
  readonly channels: Channels;
  readonly token: TokenRecord;
  readonly tasks: Tasks;
  #busy = 0;
  readonly #reading = new Set<unknown>();

  private constructor(testStore: TestStore, store: Store, token: TokenRecord) {
    this.testStore = testStore;
    this.store = this.watched(store);
    this.token = token;
    this.channels = new Channels(
      channelNames.map((name) => channelTo('http://127.0.0.1:9', { name })),
      this.clock.monotonic,
    );
    this.tasks = this.engine();
  }

  /** Creates a harness before each test of a suite. All share one store, because opening one is slower than a test. */
  static eachTest(engine: Engine, use: (made: TaskHarness) => void): void {
    let made: TaskHarness;
    eachTestOnOneStore(engine, async ({ testStore, store }) => {
      made = new TaskHarness(testStore, store, await makeToken(store, { remainQuota: startQuota }));
      use(made);
    });
    afterEach(() => made.close());
  }

  close(): Promise<void> {
    return this.channels.close();
  }

  /** Creates another engine on the same store, like a second process. */
  engine(options: Partial<TaskOptions> = {}): Tasks {
    return new Tasks({
      store: this.store,
      drivers: new Map([['scripted', this.driver]]),
      channels: { names: channelNames, named: (name) => this.channels.named(name) },
      priceTerms: () => ({
        unitPrice: quotaRate,
        rule: null,
        groupRatio: 1,
        group: 'default',
        configRevision: 'abc',
      }),
      logger: pino({ base: null, timestamp: false }, { write: (line) => this.lines.push(JSON.parse(line)) }),
      onChange: ({ id, state, progress }) => this.changes.push({ id, state, progress }),
      clock: this.clock.now,
      timers: this.clock,
      random: () => 0,
      ...options,
      // The loop knows when tasks are due. Each poll of the store would slow down the tests.
      timing: { idleMs: 60_000, ...options.timing },
    });
  }

  channel(name: string): Channel {
    const channel = this.channels.named(name);
    if (channel === undefined) throw new Error(`there is no channel ${name}`);
    return channel;
  }

  order(change: Partial<TaskCreation> = {}): TaskCreation {
    const { id, userId, name } = this.token;
    return {
      requestId: randomUUID(),
      caller: { tokenId: id, userId, tokenName: name, isAdmin: false, group: 'default', modelLimits: null },
      operation: 'createVideo',
      format: 'videos',
      driver: 'scripted',
      model: { id: 'gamma3.0-video', unit: 'seconds' },
      channels: [this.channel('one')],
      request: { prompt: 'a kite' },
      facts: { seconds: '5' },
      expectedUnits: 5,
      ...change,
    };
  }

  async submit(change: Partial<TaskCreation> = {}): Promise<TaskRecord> {
    return (await this.tasks.submit(this.order(change))).task;
  }

  name(task: { id: string }, change: Partial<TaskName> = {}): TaskName {
    return { id: task.id, userId: this.token.userId, format: 'videos', ...change };
  }

  /** Row of the task on disk. */
  async stored({ id }: { id: string }) {
    const row = await this.store.read.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst();
    if (row === undefined) throw new Error(`there is no task ${id}`);
    recordTaskCode(row.error_code);
    return row;
  }

  /** Advances the clock and runs one step of each due task. */
  async step(ms: number, tasks: Tasks = this.tasks): Promise<number> {
    this.clock.jump(ms);
    return tasks.runDue();
  }

  /** Advances the clock of a started engine. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms, () => this.settled());
  }

  /** Releases claims as after the removal of their gateway. Returns their number. */
  async releaseOrphans(): Promise<number> {
    const { tasks, deliveries } = await this.store.run('releaseOrphans', {
      now: this.clock.now(),
      dueNow: this.clock.monotonic(),
    });
    return tasks + deliveries;
  }

  /** Resolves when no command or query is running or about to start. */
  async settled(): Promise<void> {
    let quiet = 0;
    while (quiet < 3) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      quiet = this.#busy === 0 && this.#reading.size === 0 ? quiet + 1 : 0;
    }
  }

  /** Checks that the ledger balances, and the remaining and used quota of the key. */
  async expectBalance({ reserved = 0, charged = 0 }: { reserved?: number; charged?: number }): Promise<void> {
    await expectBalanced(this.store, this.token);
    expect(await balanceOf(this.store, this.token)).toEqual({
      remain_quota: startQuota - reserved - charged,
      used_quota: charged,
    });
  }

  ledger() {
    return ledgerRows(this.store);
  }

  reservations() {
    return reservationRows(this.store);
  }

  log() {
    return logRows(this.store);
  }

  /** Wraps the store to count running commands and queries. */
  watched(store: Store): Store {
    return {
      ...store,
      read: store.read.withPlugin({
        transformQuery: ({ node, queryId }) => {
          this.queries += 1;
          this.#reading.add(queryId);
          return node;
        },
        transformResult: async ({ result, queryId }) => {
          this.#reading.delete(queryId);
          return result;
        },
      }),
      run: (name, args) => {
        this.commands.push(name);
        this.#busy += 1;
        const result = store.run(name, args);
        const done = () => {
          this.#busy -= 1;
        };
        result.then(done, done);
        return result;
      },
    };
  }
}
