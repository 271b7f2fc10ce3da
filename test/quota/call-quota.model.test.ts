import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReserveRequest } from '../../server/quota/ledger.ts';
import { findToken, type TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from '../store/engines.ts';
import { disableToken, logEntry, makeToken } from '../store/ledger.ts';
import { QuotaGateway } from './quota-gateways.ts';
import { dropTask, endTask } from './task-rows.ts';

/** One step. Numbers select a gateway, key, call or task, modulo their count. */
type Step =
  | { kind: 'reserve'; gateway: number; key: number; amount: number }
  | { kind: 'extend'; call: number; more: number }
  | { kind: 'settle'; call: number; share: number }
  | { kind: 'refund'; call: number; logged: boolean }
  | { kind: 'task'; gateway: number; key: number; amount: number }
  | { kind: 'end'; task: number; share: number; how: 'complete' | 'fail' | 'drop' }
  | { kind: 'kill' | 'remove' | 'restart'; gateway: number }
  | { kind: 'disable'; key: number }
  | { kind: 'grant'; key: number; amount: number };

const index = fc.nat({ max: 1_000 });
const amount = fc.oneof({ weight: 3, arbitrary: fc.nat({ max: 40 }) }, fc.nat({ max: 900 }));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant('reserve' as const), gateway: index, key: index, amount }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('extend' as const), call: index, more: amount }) },
  {
    weight: 9,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), call: index, share: fc.nat({ max: 300 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('refund' as const), call: index, logged: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('task' as const), gateway: index, key: index, amount }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      task: index,
      share: fc.nat({ max: 300 }),
      how: fc.constantFrom('complete', 'fail', 'drop'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('kill', 'remove', 'restart'), gateway: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('disable' as const), key: index }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      key: index,
      amount: fc.integer({ min: -300, max: 300 }),
    }),
  },
);

interface Call {
  by: QuotaGateway;
  token: TokenRecord;
  requestId: string;
  reserved: number;
  /** Its gateway was removed, so its reservation is void. */
  isOrphaned: boolean;
}

/** A task outlives the gateway that created it. */
interface RunningTask {
  token: TokenRecord;
  requestId: string;
  id: string;
  reserved: number;
}

let scenarios = 0;

/** Keys, the gateways that spend their quota, and the expected balances. */
class Scenario {
  readonly #store: Store;
  readonly #gateways: QuotaGateway[] = [];
  readonly #calls: Call[] = [];
  readonly #tasks: RunningTask[] = [];
  readonly #tokens: TokenRecord[] = [];
  /** Expected quota by key id: grants less settled debts and charges. */
  readonly #expected = new Map<number, number>();
  /** Expected debt by key id. */
  readonly #debts = new Map<number, number>();
  readonly #name = `scenario ${(scenarios += 1)}`;
  #number = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async begin(): Promise<void> {
    for (const remainQuota of [300, 3_000, 100_000]) {
      const token = await makeToken(this.#store, { remainQuota });
      this.#tokens.push(token);
      this.#expected.set(token.id, remainQuota);
    }
    for (let gateway = 0; gateway < 3; gateway += 1) await this.#startGateway();
  }

  async #startGateway(): Promise<void> {
    this.#number += 1;
    this.#gateways.push(await QuotaGateway.start(this.#store, `${this.#name} gateway ${this.#number}`));
  }

  async run(one: Step): Promise<void> {
    switch (one.kind) {
      case 'reserve':
        return this.#reserve(pick(this.#gateways, one.gateway), pick(this.#tokens, one.key), one.amount);
      case 'task':
        return this.#makeTask(pick(this.#gateways, one.gateway), pick(this.#tokens, one.key), one.amount);
      case 'end':
        if (this.#tasks.length > 0) await this.#endTask(pick(this.#tasks, one.task), one);
        return;
      case 'disable': {
        const token = pick(this.#tokens, one.key);
        await disableToken(this.#store, token);
        this.#tokens.splice(this.#tokens.indexOf(token), 1);
        const fresh = await makeToken(this.#store, { remainQuota: 1_000 });
        this.#tokens.push(fresh);
        this.#expected.set(fresh.id, 1_000);
        return;
      }
      case 'grant':
        return this.#grant(pick(this.#tokens, one.key), one.amount);
      case 'kill':
      case 'remove':
      case 'restart':
        return this.#end(pick(this.#gateways, one.gateway), one.kind);
      default:
        if (this.#calls.length === 0) return;
        return this.#continue(pick(this.#calls, one.call), one);
    }
  }

  async #reserve(by: QuotaGateway, token: TokenRecord, wanted: number): Promise<void> {
    this.#number += 1;
    const requestId = `${this.#name} call ${this.#number}`;
    const request: ReserveRequest = { requestId, token, model: 'm', unit: 'tokens', amount: wanted };
    const free = this.#free(token);
    const outcome = await by.calls.reserve(request);
    expect(outcome).toBe(wanted <= free ? 'reserved' : 'insufficient_quota');
    if (outcome === 'reserved')
      this.#calls.push({ by, token, requestId, reserved: wanted, isOrphaned: false });
  }

  async #continue(call: Call, one: Extract<Step, { call: number }>): Promise<void> {
    const { by, token, requestId, reserved } = call;
    if (one.kind === 'extend') {
      // An orphaned reservation is reserved again only when it grows.
      if (call.isOrphaned && one.more === 0) return;
      const to = reserved + one.more;
      const free = this.#free(token) + (call.isOrphaned ? 0 : reserved);
      const outcome = await by.calls.extend({ requestId, tokenId: token.id, from: reserved, to });
      expect(outcome).toBe(to <= free ? 'extended' : 'insufficient_quota');
      if (outcome === 'extended') Object.assign(call, { reserved: to, isOrphaned: false });
      return;
    }
    this.#calls.splice(this.#calls.indexOf(call), 1);
    const free = this.#free(token);
    if (one.kind === 'refund') {
      expect(await by.calls.refund({ requestId, ...(one.logged && { log: logEntry }) })).toBe(true);
      return;
    }
    const asked = Math.floor((reserved * one.share) / 100);
    expect(await by.calls.settle({ requestId, charged: asked, log: logEntry })).toBeDefined();
    await this.#recordSettlement(token, { requestId, asked, reserved: call.isOrphaned ? 0 : reserved, free });
  }

  /** Checks a settlement: it charges at least the reservation and at most all free quota. The rest is a debt. */
  async #recordSettlement(
    token: TokenRecord,
    {
      requestId,
      asked,
      reserved,
      free,
    }: { requestId: string; asked: number; reserved: number; free: number },
  ): Promise<void> {
    const { quota, debt } = await this.#store.read
      .selectFrom('request_log')
      .select(['quota', 'debt'])
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow();
    expect(quota + debt).toBe(asked);
    expect(quota).toBeGreaterThanOrEqual(Math.min(asked, reserved));
    expect(quota).toBeLessThanOrEqual(free);
    this.#expected.set(token.id, (this.#expected.get(token.id) ?? 0) - quota);
    this.#debts.set(token.id, this.#debtOf(token) + debt);
  }

  #debtOf({ id }: { id: number }): number {
    return this.#debts.get(id) ?? 0;
  }

  async #makeTask(by: QuotaGateway, token: TokenRecord, wanted: number): Promise<void> {
    this.#number += 1;
    const requestId = `${this.#name} task ${this.#number}`;
    const free = this.#free(token);
    const made = await by.makeTask(token, { requestId, amount: wanted });
    expect(made.outcome).toBe(wanted <= free ? 'created' : 'insufficient_quota');
    if (made.outcome === 'created')
      this.#tasks.push({ token, requestId, id: made.task.id, reserved: wanted });
  }

  async #endTask(task: RunningTask, { share, how }: Extract<Step, { kind: 'end' }>): Promise<void> {
    const { token, requestId, id, reserved } = task;
    this.#tasks.splice(this.#tasks.indexOf(task), 1);
    const free = this.#free(token);
    if (how === 'drop') {
      expect(await dropTask(this.#store, id)).toBe(true);
      return;
    }
    const asked = how === 'complete' ? Math.floor((reserved * share) / 100) : null;
    expect(await endTask(this.#store, id, asked)).toBe(true);
    await this.#recordSettlement(token, { requestId, asked: asked ?? 0, reserved, free });
  }

  async #grant(token: TokenRecord, more: number): Promise<void> {
    if (more === 0) return;
    const free = this.#free(token);
    const change = { userId: 1, tokenId: 1, action: 'grantQuota' as const, now: 1 };
    const order = { tokenId: token.id, amount: more, reason: 'r', idempotencyKey: null, change };
    const give = () => this.#store.run('grantQuota', order);
    const by = pick(this.#gateways, 0).calls;
    const { outcome } = await by.withReclaim(
      token.id,
      -more,
      give,
      (answer) => answer.outcome === 'out_of_range',
    );
    expect(outcome).toBe(-more <= free ? 'granted' : 'out_of_range');
    if (outcome !== 'granted') return;
    const settled = Math.max(0, Math.min(more, this.#debtOf(token)));
    this.#expected.set(token.id, (this.#expected.get(token.id) ?? 0) + more - settled);
    this.#debts.set(token.id, this.#debtOf(token) - settled);
  }

  /** `kill`: ends with open calls. `remove`: is removed by mistake and continues. `restart`: ends gracefully. */
  async #end(gateway: QuotaGateway, how: 'kill' | 'remove' | 'restart'): Promise<void> {
    const own = this.#calls.filter(({ by }) => by === gateway);
    if (how === 'restart') {
      for (const call of own) await this.#continue(call, { kind: 'settle', call: 0, share: 100 });
      await gateway.calls.stop();
      await this.#store.run('removeGateway', { id: gateway.id, heartbeat: null });
    } else {
      await gateway.removeAsLost();
      for (const call of own) call.isOrphaned = true;
    }
    if (how === 'remove') {
      await this.#store.run('recordHeartbeat', { id: gateway.id, heartbeat: 1 });
      gateway.membership.epoch += 1;
      return;
    }
    if (how === 'kill') {
      for (const call of own) this.#calls.splice(this.#calls.indexOf(call), 1);
      // It sends no more commands.
      gateway.membership.isMember = false;
      this.#dead.push(gateway);
    }
    this.#gateways.splice(this.#gateways.indexOf(gateway), 1);
    await this.#startGateway();
  }

  readonly #dead: QuotaGateway[] = [];

  /** Unreserved quota of a key. */
  #free({ id }: TokenRecord): number {
    const calls = this.#calls.filter(({ token, isOrphaned }) => token.id === id && !isOrphaned);
    const tasks = this.#tasks.filter(({ token }) => token.id === id);
    return [...calls, ...tasks].reduce((left, { reserved }) => left - reserved, this.#expected.get(id) ?? 0);
  }

  async expectConsistent(): Promise<void> {
    expect(await this.#store.report('auditLedger', null)).toMatchObject({ problems: [] });
    const rows = await this.#store.read.selectFrom('tokens').select(['id', 'remain_quota']).execute();
    for (const { remain_quota: left } of rows) expect(left).toBeGreaterThanOrEqual(0);
    for (const { id } of this.#tokens) {
      const { rows: open } = await sql<{ sum: number }>`
        select coalesce(sum(reserved), 0) as sum from ledger where state = 'open' and token_id = ${id}`.execute(
        this.#store.read,
      );
      const found = await findToken(this.#store.read, id);
      expect((found?.remainQuota ?? 0) + (open[0]?.sum ?? 0)).toBe(this.#expected.get(id));
      expect(found?.debt).toBe(this.#debtOf({ id }));
    }
  }

  async end(): Promise<void> {
    for (const call of this.#calls.slice())
      await this.#continue(call, { kind: 'refund', call: 0, logged: false });
    for (const [number, task] of this.#tasks.slice().entries())
      await this.#endTask(task, {
        kind: 'end',
        task: 0,
        share: 50,
        how: number % 2 === 0 ? 'fail' : 'complete',
      });
    for (const gateway of [...this.#gateways, ...this.#dead]) await gateway.calls.stop();
    expect(await this.#store.report('auditLedger', null)).toMatchObject({ problems: [], held: 0, leased: 0 });
    expect(await this.#store.read.selectFrom('quota_leases').selectAll().execute()).toEqual([]);
    const rows = await this.#store.read.selectFrom('tokens').select(['id', 'remain_quota']).execute();
    const left = new Map(rows.map((row) => [row.id, row.remain_quota]));
    for (const [id, owned] of this.#expected) expect(left.get(id)).toBe(owned);
  }
}

function pick<T>(all: readonly T[], number: number): T {
  const one = all[number % all.length];
  if (one === undefined) throw new Error('there is none');
  return one;
}

describe.each(engines)('random steps on %s', (engine) => {
  const numRuns = engine === 'sqlite' ? 30 : 8;
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
  });
  afterEach(() => testStore.remove());

  test('never overspend a key, refuse available quota or lose quota', {
    timeout: 240_000,
  }, async () => {
    const store = await testStore.open();
    const steps = fc.array(step, { minLength: 5, maxLength: 60, size: 'max' });
    const property = fc.asyncProperty(steps, async (sequence) => {
      const scenario = new Scenario(store);
      await scenario.begin();
      for (const one of sequence) {
        await scenario.run(one);
        await scenario.expectConsistent();
      }
      await scenario.end();
    });
    await fc.assert(property, { numRuns, endOnFailure: true });
  });
});
