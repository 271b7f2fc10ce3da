import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../server/keys/caller.ts';
import type { ExtendRequest, Reservations, ReserveRequest } from '../../server/quota/ledger.ts';
import { type MeteredCall, Metering, type MeteringParts } from '../../server/quota/metering.ts';
import { Prices } from '../../server/quota/prices.ts';
import { TextReservation } from '../../server/quota/text-reservation.ts';
import type { ExtendResult, ReserveResult } from '../../server/store/commands/ledger.ts';
import type { LogEntry } from '../../server/store/commands/log-entries.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { quotaCharged, quotaDebt, quotaRefunded, quotaReserved } from '../../server/telemetry/metrics.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const caller: Caller = {
  tokenId: 3,
  userId: 4,
  tokenName: 'a key',
  isAdmin: false,
  group: 'trial',
  modelLimits: null,
};
const model = { id: 'voxa-v2', unit: 'characters' } as const;
const used = (units: number, inputTokens = 0, outputTokens = 0) => ({ units, inputTokens, outputTokens });
const well = { channel: 'main', status: 200 };

/** Requests to the quota layer. */
let reserved: ReserveRequest[];
let extended: ExtendRequest[];
let settled: { requestId: string; charged: number; log: LogEntry }[];
let refunded: { requestId: string; log?: LogEntry }[];
/** Its results, or an error. */
let answers: {
  reserve: ReserveResult;
  extend: ExtendResult;
  settle: { charged: number; debt: number } | undefined | Error;
};
let lines: string[];
let parts: MeteringParts;
let call: MeteredCall;

beforeEach(() => {
  [reserved, extended, settled, refunded, lines] = [[], [], [], [], []];
  answers = { reserve: 'reserved', extend: 'extended', settle: { charged: 60, debt: 0 } };
  const callQuota: Reservations = {
    describeShortage: async () => 'the key has 40 left',
    reserve: async (request) => {
      reserved.push(request);
      return answers.reserve;
    },
    extend: async (request) => {
      extended.push(request);
      return answers.extend;
    },
    settle: async (request) => {
      settled.push(request);
      if (answers.settle instanceof Error) throw answers.settle;
      return answers.settle;
    },
    refund: async (request) => {
      refunded.push(request);
      return true;
    },
  };
  const timers = new ManualTimers();
  parts = {
    callQuota,
    prices: new Prices({
      prices: { 'voxa-v2': 2 },
      groups: { trial: { models: ['*'], ratio: 5 } },
      revision: 'abc',
    }),
    logger: createLogger('warn', [], { write: (line) => void lines.push(line) }),
    timers,
  };
  call = {
    requestId: 'r',
    caller,
    operation: 'createSpeech',
    model,
    expectedUnits: 7,
    startedAt: timers.now - 250,
  };
});
afterEach(() => vi.restoreAllMocks());

/** Returns a function that lists the quota added to each counter. */
const spyOnCounters = () => {
  const counters = [quotaReserved, quotaCharged, quotaRefunded, quotaDebt];
  const spies = counters.map((counter) => vi.spyOn(counter, 'add'));
  return () => spies.map(({ mock }) => mock.calls.map(([quota]) => quota));
};

describe('a call', () => {
  test('is reserved at the price of its group and charged its usage', async () => {
    const counts = spyOnCounters();
    const metering = await Metering.open(parts, call);
    const token = { id: 3, userId: 4, unlimited: false };
    expect(reserved).toEqual([{ requestId: 'r', token, model: model.id, unit: model.unit, amount: 70 }]);
    await metering.charge(used(6, 5, 1), well);
    const log = {
      operation: 'createSpeech',
      channel: 'main',
      status: 200,
      errorCode: null,
      units: 6,
      promptTokens: 5,
      completionTokens: 1,
      durationMs: 250,
      evidence: {
        unitPrice: 2,
        appliedRule: null,
        groupRatio: 5,
        group: 'trial',
        configRevision: 'abc',
        state: 'completed',
        upstreamId: null,
      },
    };
    expect(settled).toEqual([{ requestId: 'r', charged: 60, log }]);
    expect(counts()).toEqual([[70], [60], [10], [0]]);
  });

  test('of an unlimited key is reserved as unlimited', async () => {
    await Metering.open(parts, { ...call, caller: { ...caller, unlimited: true } });
    expect(reserved[0]?.token).toEqual({ id: 3, userId: 4, unlimited: true });
  });

  test('is closed once', async () => {
    const charged = await Metering.open(parts, call);
    await charged.charge(used(1), well);
    await charged.charge(used(1), well);
    await charged.refund({ channel: 'main', status: 502, errorCode: 'bad_response' });
    expect([settled.length, refunded.length]).toEqual([1, 0]);
    const back = await Metering.open(parts, call);
    for (let time = 0; time < 2; time += 1)
      await back.refund({ channel: 'main', status: 502, errorCode: 'bad_response' });
    await back.charge(used(1), well);
    expect(await back.cover({ units: 9 }, caller)).toBe(false);
    expect([settled.length, extended.length]).toEqual([1, 0]);
    const log = { channel: 'main', status: 502, errorCode: 'bad_response', units: 0, promptTokens: 0 };
    expect(refunded).toMatchObject([{ requestId: 'r', log: { ...log, completionTokens: 0 } }]);
  });

  test('that is refunded counts as refunded', async () => {
    const counts = spyOnCounters();
    const metering = await Metering.open(parts, call);
    await metering.refund({ channel: 'main', status: 502, errorCode: 'bad_response' });
    expect(counts()).toEqual([[70], [0], [70], [0]]);
  });

  test.each([
    [
      'insufficient_quota',
      {
        status: 403,
        code: 'insufficient_user_quota',
        message:
          'quota: the key has 40 left, which does not cover this call; 7 characters of voxa-v2 need 70.',
      },
    ],
    ['key_revoked', { status: 401, code: 'invalid_api_key' }],
    ['duplicate', { message: 'request id r was used before' }],
  ] as const)('is refused on %s, and nothing counts as reserved', async (outcome, failure) => {
    const counts = spyOnCounters();
    answers.reserve = outcome;
    await expect(Metering.open(parts, call)).rejects.toMatchObject(failure);
    expect(counts()).toEqual([[], [], [], []]);
  });

  test('has the likely usage as expected usage, or else the upper bound', async () => {
    expect((await Metering.open(parts, call)).expected).toEqual(used(7));
    const likely = used(5, 3, 2);
    expect((await Metering.open(parts, { ...call, likely })).expected).toBe(likely);
  });

  test('whose reservation is unknown or cannot be charged is logged and not counted', async () => {
    const counts = spyOnCounters();
    answers.settle = undefined;
    await (await Metering.open(parts, call)).charge(used(1), well);
    expect(lines).toHaveLength(1);
    answers.settle = new Error('broken');
    await expect((await Metering.open(parts, call)).charge(used(1), well)).rejects.toThrow('broken');
    expect(lines).toHaveLength(2);
    expect(counts()).toEqual([[70, 70], [], [], []]);
  });

  test.each([
    ['the upper bound', used(7, 4, 3)],
    ['nothing', used(0)],
    ['more than the upper bound', used(9, 8, 1)],
    ['a share of a unit', used(7.5)],
    ['four times the upper bound', used(28, 20, 8)],
  ])('is charged what its provider reports: %s', async (_words, reported) => {
    const metering = await Metering.open(parts, call);
    await metering.charge(reported, well);
    const [{ log, ...rest } = expect.fail('it was not settled')] = settled;
    expect(rest).toEqual({ requestId: 'r', charged: reported.units * 10 });
    expect(used(log.units, log.promptTokens, log.completionTokens)).toEqual(reported);
    expect(lines).toEqual([]);
  });

  test.each([
    ['more than four times the upper bound', used(28.001, 20, 8), used(7, 7, 0)],
    ['more, in part', used(29, 3, 26), used(7, 3, 4)],
    ['a figure that has no price', used(2 ** 60, 1, 1), used(7, 1, 1)],
    ['less than nothing', used(-1, 2, 1), used(7, 2, 1)],
    ['no number', used(Number.NaN, 2, 1), used(7, 2, 1)],
  ])(
    'is charged the upper bound, with a warning, when its provider reports %s',
    async (_words, reported, logged) => {
      const metering = await Metering.open(parts, call);
      await metering.charge(reported, well);
      const [{ log, ...rest } = expect.fail('it was not settled')] = settled;
      expect(rest).toEqual({ requestId: 'r', charged: 70 });
      expect(used(log.units, log.promptTokens, log.completionTokens)).toEqual(logged);
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        request_id: 'r',
        channel: 'main',
        reported: JSON.parse(JSON.stringify(reported)) as object,
        bound: { units: 7 },
        replaced: ['units'],
      });
    },
  );

  test('whose report is plausible but has no price is charged the upper bound', async () => {
    parts.prices.apply({
      prices: { 'voxa-v2': 2 ** 48 },
      groups: { trial: { models: ['*'], ratio: 4 } },
      revision: 'def',
    });
    const metering = await Metering.open(parts, call);
    await metering.charge(used(9), well);
    expect(settled).toMatchObject([{ charged: 7 * 2 ** 50, log: { units: 7 } }]);
  });

  test('beyond the quota of its key counts as charged in part and as a debt', async () => {
    const counts = spyOnCounters();
    answers.settle = { charged: 50, debt: 40 };
    const metering = await Metering.open(parts, call);
    await metering.charge(used(9), well);
    expect(counts()).toEqual([[70], [50], [0], [40]]);
  });

  test('whose price computation throws is not charged', async () => {
    const groupRatio = vi.fn<() => number>().mockReturnValueOnce(5);
    groupRatio.mockImplementation(() => {
      throw new TypeError('no price');
    });
    const terms = Object.defineProperty(
      { unitPrice: 2, rule: null, groupRatio: 5, group: 'trial', configRevision: 'abc' },
      'groupRatio',
      {
        get: groupRatio,
      },
    );
    vi.spyOn(parts.prices, 'terms').mockReturnValue(terms);
    const metering = await Metering.open(parts, call);
    await expect(metering.charge(used(1), well)).rejects.toThrow('no price');
    expect(settled).toEqual([]);
  });
});

describe('a call that grows', () => {
  test('extends its reservation', async () => {
    const counts = spyOnCounters();
    const metering = await Metering.open(parts, call);
    expect(await metering.cover({ units: 7 }, caller)).toBe(true);
    expect(await metering.cover({ units: 5 }, caller)).toBe(true);
    expect(extended).toEqual([]);
    expect(await metering.cover({ units: 9 }, caller)).toBe(true);
    // The current state of the key counts.
    expect(await metering.cover({ units: 10 }, { ...caller, unlimited: true })).toBe(true);
    const request = { requestId: 'r', tokenId: 3 };
    expect(extended).toEqual([
      { ...request, unlimited: false, from: 70, to: 90 },
      { ...request, unlimited: true, from: 90, to: 100 },
    ]);
    expect(counts()).toEqual([[70, 20, 10], [], [], []]);
    answers.settle = { charged: 90, debt: 0 };
    await metering.charge(used(9, 9), well);
    expect(settled).toMatchObject([{ charged: 90, log: { units: 9, promptTokens: 9 } }]);
    expect(counts()).toEqual([[70, 20, 10], [90], [10], [0]]);
  });

  test('of free units is logged', async () => {
    const free = { unitPrice: 0, rule: null, groupRatio: 1, group: 'trial', configRevision: 'abc' };
    vi.spyOn(parts.prices, 'terms').mockReturnValue(free);
    const metering = await Metering.open(parts, call);
    expect(await metering.cover({ units: 9 }, caller)).toBe(true);
    expect(await metering.cover({ units: 8 }, caller)).toBe(true);
    await metering.charge(used(9), well);
    expect([extended, settled]).toMatchObject([[], [{ log: { units: 9 } }]]);
  });

  test('beyond the quota of its key keeps its reservation', async () => {
    const metering = await Metering.open(parts, call);
    answers.extend = 'insufficient_quota';
    await expect(metering.cover({ units: 8 }, caller)).rejects.toMatchObject({
      code: 'insufficient_user_quota',
      message: 'quota: the key has 40 left, which does not cover this call; 1 characters of voxa-v2 need 10.',
    });
    answers.extend = 'extended';
    expect(await metering.cover({ units: 9 }, caller)).toBe(true);
    expect(extended.map(({ from, to }) => [from, to])).toEqual([
      [70, 80],
      [70, 90],
    ]);
  });

  test('without an open reservation throws', async () => {
    const metering = await Metering.open(parts, call);
    answers.extend = 'not_open';
    await expect(metering.cover({ units: 8 }, caller)).rejects.toThrow(
      'the amount of reservation r is not 70',
    );
  });
});

describe('a text in chunks', () => {
  let key: { caller: Caller };
  const begin = () => {
    key = { caller };
    const { caller: _, expectedUnits: __, ...rest } = call;
    return new TextReservation(parts, { ...rest, key });
  };
  const amounts = () => [reserved.map(({ amount }) => amount), extended.map(({ to }) => to)];

  test('is reserved in steps from its first chunk on', async () => {
    const reservation = begin();
    expect(amounts()).toEqual([[], []]);
    for (const units of [1, 500, 499, 501, 1_500]) expect(await reservation.cover({ units })).toBe(true);
    expect(amounts()).toEqual([[5_000], [10_000, 15_000]]);
  });

  test('is reserved exactly when the quota does not cover a step', async () => {
    const reservation = begin();
    const spy = vi.spyOn(parts.callQuota, 'reserve').mockResolvedValueOnce('insufficient_quota');
    expect(await reservation.cover({ units: 3 })).toBe(true);
    expect(spy.mock.calls.map(([{ amount }]) => amount)).toEqual([5_000, 30]);
    const more = vi.spyOn(parts.callQuota, 'extend').mockResolvedValueOnce('insufficient_quota');
    // The current state of the key counts.
    key.caller = { ...caller, tokenId: 9 };
    expect(await reservation.cover({ units: 4 })).toBe(true);
    expect(more.mock.calls.map(([{ to, tokenId }]) => [to, tokenId])).toEqual([
      [5_000, 9],
      [40, 9],
    ]);
    answers.extend = 'insufficient_quota';
    expect(await reservation.cover({ units: 500 })).toBe(false);
    expect(reservation.refusal?.message).toMatch(
      /the key has 40 left, .* 496 characters of voxa-v2 need 4960\.$/,
    );
    // Covered units need no reservation.
    for (const units of [4, 2]) expect(await reservation.cover({ units })).toBe(true);
    expect(more).toHaveBeenCalledTimes(3);
  });

  test('is refused without quota, and other failures are thrown', async () => {
    answers.reserve = 'insufficient_quota';
    const reservation = begin();
    expect(await reservation.cover({ units: 3 })).toBe(false);
    answers.reserve = 'key_revoked';
    await expect(reservation.cover({ units: 3 })).rejects.toMatchObject({ code: 'invalid_api_key' });
    // The next attempt is independent.
    answers.reserve = 'reserved';
    expect(await reservation.cover({ units: 3 })).toBe(true);
  });

  test('is charged once for its usage', async () => {
    const reservation = begin();
    await reservation.cover({ units: 3 });
    await reservation.close(used(2), { ...well, errorCode: 'cut_off' }, { units: 3 });
    await reservation.close(used(3), well, { units: 3 });
    expect(await reservation.cover({ units: 3 })).toBe(false);
    expect(settled).toMatchObject([{ charged: 20, log: { errorCode: 'cut_off' } }]);
    expect([refunded, extended]).toEqual([[], []]);
  });

  test('is charged the upper bound of its text on an implausible report', async () => {
    const reservation = begin();
    await reservation.cover({ units: 3 });
    await reservation.close(used(13, 13), well, { units: 3 });
    expect(amounts()).toEqual([[5_000], []]);
    expect(settled).toMatchObject([{ charged: 30, log: { units: 3, promptTokens: 3 } }]);
  });

  test.each([
    [undefined, undefined, 'nothing_used', 'completed'],
    [used(0), undefined, 'nothing_used', 'completed'],
    [undefined, 'bad_response', 'bad_response', 'failed'],
  ])('is refunded for the usage %j with the error %s', async (usage, errorCode, logged, state) => {
    const reservation = begin();
    await reservation.cover({ units: 3 });
    await reservation.close(
      usage,
      { ...well, ...(errorCode === undefined ? {} : { errorCode }) },
      { units: 3 },
    );
    expect([settled, refunded]).toMatchObject([[], [{ log: { errorCode: logged, evidence: { state } } }]]);
  });

  test('without a chunk leaves no trace', async () => {
    const reservation = begin();
    await reservation.close(used(2), well, { units: 3 });
    await begin().close(undefined, well, { units: 3 });
    // A late chunk is refused.
    expect(await reservation.cover({ units: 3 })).toBe(false);
    expect([reserved, settled, refunded]).toEqual([[], [], []]);
  });

  test('is reserved and closed in order', async () => {
    const reservation = begin();
    const covered = [reservation.cover({ units: 3 }), reservation.cover({ units: 600 })];
    const closed = reservation.close(used(2), well, { units: 3 });
    const late = reservation.cover({ units: 700 });
    expect([...(await Promise.all(covered)), await late]).toEqual([true, true, false]);
    await closed;
    expect(amounts()).toEqual([[5_000], [10_000]]);
    expect(settled).toMatchObject([{ charged: 20 }]);
  });
});
