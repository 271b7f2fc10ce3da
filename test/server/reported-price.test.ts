import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import type { AppliedRule, PriceRule } from '../../server/settings/price-rules.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { engines, onServer } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { logRows, makeKey, post, remainingQuota } from './ledger.ts';

type Explanation = components['schemas']['PriceExplanation'];
type TaskDetails = components['schemas']['MyTaskDetails'];

const seedance = 'epsilon-delta-2-0-260128';
/** A model that the catalog does not have, so that its default resolution is unknown. */
const unknown = 'epsilon-delta-9-9-991231';
const gamma = 'gamma3.0-video';
const eta = 'eta-imagine-video-1.5-preview';
const videoUrl = 'https://files.example/cat.mp4';

const list = (unit: 'seconds' | 'completion_tokens'): PriceRule[] => [
  { when: { resolution: '1080p' }, per: { [unit]: 9 } },
  { when: { ratio: '9:16', duration: { max: 5 } }, per: { [unit]: 7 } },
  { when: { resolution: '480p' }, per: { [unit]: 2 } },
  { per: { [unit]: 4 } },
];
const prices = {
  '*': 1,
  [seedance]: list('completion_tokens'),
  [unknown]: list('completion_tokens'),
  [gamma]: list('seconds'),
  [eta]: list('seconds'),
};
const costs = {
  '*': [
    { when: { resolution: '1080p' }, per: { seconds: 3 } },
    { when: { duration: { max: 5 } }, per: { seconds: 2 } },
    { per: { seconds: 1 } },
  ],
};
const groups = { default: { models: ['*'], ratio: 1.5 } };

/** A report of a provider, which each format states in its own way. */
interface Report {
  resolution?: unknown;
  ratio?: unknown;
  seconds?: number;
  tokens?: number;
}

interface Format {
  name: string;
  model: string;
  path: string;
  /** Asks for 720p and 6 seconds. */
  body: Record<string, unknown>;
  usage(seconds: number): Record<string, number>;
}

const official = {
  path: '/api/v3/contents/generations/tasks',
  body: { content: [{ type: 'text', text: 'A cat' }], duration: 6, ratio: '16:9' },
};
const tokensOf = (seconds: number) => ({ seconds, completion_tokens: 20_000 * seconds });
const formats: readonly Format[] = [
  {
    name: 'official',
    model: seedance,
    path: official.path,
    body: { ...official.body, resolution: '720p' },
    usage: tokensOf,
  },
  {
    name: 'generic',
    model: seedance,
    path: '/v1/video/generations',
    body: { prompt: 'A cat', duration: 6, size: '1280x720' },
    usage: tokensOf,
  },
  {
    name: 'native',
    model: gamma,
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    body: {
      input: { prompt: 'A cat' },
      parameters: { duration: 6, resolution: '720P', ratio: '16:9' },
    },
    usage: (seconds) => ({ seconds }),
  },
  {
    name: 'videos',
    model: eta,
    path: '/v1/videos',
    body: { prompt: 'A cat', seconds: '6', resolution: '720p', aspect_ratio: '16:9' },
    usage: (seconds) => ({ seconds }),
  },
];

/** Returns the answer of a provider to a poll, by its protocol. */
function answerTo(path: string, { resolution, ratio, seconds = 6, tokens }: Report): object {
  if (path.startsWith('/api/v3/'))
    return {
      status: 'succeeded',
      content: { video_url: videoUrl },
      duration: seconds,
      resolution,
      ratio,
      ...(tokens !== undefined && { usage: { completion_tokens: tokens, total_tokens: tokens } }),
    };
  if (path.startsWith('/api/v1/'))
    return {
      output: { task_status: 'SUCCEEDED', video_url: videoUrl },
      usage: { SR: resolution, ratio, duration: seconds, output_video_duration: seconds },
    };
  return { status: 'done', video: { url: videoUrl, duration: seconds }, resolution, aspect_ratio: ratio };
}

/** Returns the answer of a provider to a creation, which all protocols read. */
const created = {
  id: 'upstream',
  request_id: 'upstream',
  output: { task_id: 'upstream', task_status: 'PENDING' },
};

describe.each(engines)('the price of a video by the report of its provider on %s', (engine) => {
  const lines: Record<string, unknown>[] = [];
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let report: Report | undefined;

  beforeAll(async () => {
    upstream = await startUpstream(({ method, path }, response) => {
      const isWaiting = method === 'GET' && report === undefined;
      response.writeHead(200, { 'content-type': 'application/json' });
      const pending = { status: 'running', output: { task_status: 'RUNNING' } };
      const body = method === 'POST' ? created : isWaiting ? pending : answerTo(path, report ?? {});
      response.end(JSON.stringify(body));
    });
    const channels = (['official', 'native', 'eta'] as const).map((protocol) => {
      const ids = { official: [seedance, unknown], native: [gamma], eta: [eta] }[protocol];
      const models = ids.map((id) => ({ id, upstream: undefined }));
      return channelTo(upstream.url, { name: protocol, protocol, models, costs });
    });
    const logger = createLogger('warn', [], { write: (line) => void lines.push(JSON.parse(line)) });
    target = await startTestGateway({ sandbox: false, channels, groups, prices }, engine, Date.now, logger);
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });
  beforeEach(() => {
    report = undefined;
    lines.length = 0;
    target.gateway.prices.apply({ prices, groups, revision: 'first' });
  });

  interface Created {
    id: string;
    key: string;
    token: number;
    reserved: number;
  }

  async function create(path: string, body: object, quota = 1e9): Promise<Created> {
    const { key, id: token } = await makeKey(target, { quota });
    const response = await post(target.url, key, path, body);
    const answer = (await response.json()) as { id?: string; output?: { task_id: string } };
    expect(response.status, JSON.stringify(answer)).toBe(200);
    const id = answer.id ?? answer.output?.task_id ?? '';
    return { id, key, token, reserved: quota - (await remainingQuota(target, token)) };
  }

  async function settle({ id }: Created, reported: Report) {
    report = reported;
    return vi.waitFor(async () => {
      await target.gateway.tasks.runDue();
      const entry = (await logRows(target)).find(({ task_id }) => task_id === id);
      if (entry === undefined) throw new Error('the task has not ended');
      const rule = JSON.parse(entry.price_rule ?? 'null') as AppliedRule | null;
      return { ...entry, rule };
    });
  }

  async function explained(body: object): Promise<Explanation> {
    const response = await post(target.url, target.key, '/api/admin/prices/explain', body);
    const answer = (await response.json()) as { data: Explanation; message: string };
    expect(response.status, answer.message).toBe(200);
    return answer.data;
  }

  async function readTask({ id, key }: Created): Promise<TaskDetails> {
    const response = await fetch(`${target.url}/api/me/tasks/${id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return ((await response.json()) as { data: TaskDetails }).data;
  }

  type Case = [words: string, report: Report, number: number, reported: object | undefined, ignored?: object];
  const cases: Case[] = [
    ['as asked for', { resolution: '720P', ratio: '16:9' }, 4, undefined],
    ['nothing but the length', {}, 4, undefined],
    ['a higher resolution', { resolution: '1080p' }, 1, { resolution: expect.stringMatching(/^1080p$/i) }],
    ['a lower resolution', { resolution: '480P' }, 3, { resolution: expect.stringMatching(/^480p$/i) }],
    ['a shorter video of another ratio', { ratio: '9:16', seconds: 5 }, 2, { ratio: '9:16', duration: 5 }],
    ['a longer video', { seconds: 9 }, 4, { duration: 9 }],
    ['an unknown resolution', { resolution: 'cinema' }, 4, undefined, { resolution: 'cinema' }],
    ['a resolution that no model has', { resolution: '1440p' }, 4, undefined, { resolution: '1440p' }],
    ['an unusual ratio', { ratio: '3368:3409' }, 4, undefined, { ratio: '3368:3409' }],
    ['a negative length', { seconds: -6 }, 4, undefined, { duration: -6 }],
  ];
  const all = formats.flatMap((format) => cases.map((one) => [format.name, one[0], format, one] as const));

  test.each(all)(
    'in format %s that reports %s',
    async (_name, _words, format, [, reported, number, shown, ignored]) => {
      const { model, path, usage } = format;
      const body = { model, ...format.body };
      const task = await create(path, body);
      const seconds = reported.seconds === undefined || reported.seconds < 0 ? 6 : reported.seconds;
      const figures = usage(seconds);
      const entry = await settle(task, { ...reported, tokens: figures.completion_tokens });
      expect(entry.rule).toMatchObject({ number, figures: expect.any(Object) });
      expect(entry.rule?.reported).toEqual(shown);
      const each = [9, 7, 2, 4][number - 1] ?? Number.NaN;
      expect(entry.quota).toBe(Math.ceil((figures.completion_tokens ?? seconds) * each * 1.5));
      expect(entry.reserved).toBe(task.reserved);
      expect(entry.cost).toBe(seconds * (number === 1 ? 3 : seconds <= 5 ? 2 : 1));
      expect(lines.filter(({ ignored: fields }) => fields !== undefined)).toEqual(
        ignored === undefined ? [] : [expect.objectContaining({ level: 40, task: task.id, ignored })],
      );
      // The explanation of the same request and report is the same to the unit.
      const { seconds: _, tokens: _tokens, ...rest } = reported;
      const price = await explained({
        operation: path,
        body,
        token_id: task.token,
        usage: figures,
        ...(Object.keys(rest).length > 0 && { reported: rest }),
      });
      expect(price.reservation.quota).toBe(entry.reserved);
      expect(price.settlement?.quota).toBe(entry.quota);
      expect(price.settlement?.price_rule).toEqual(entry.rule);
      expect(price.costs.map(({ settlement }) => settlement?.quota)).toEqual([entry.cost]);
      expect(price.ignored).toEqual(Object.keys(ignored ?? {}).filter((name) => name !== 'duration'));
      const { charge, charged, price_rule } = await readTask(task);
      expect(charge).toMatchObject({ calculated: entry.quota, charged: entry.quota, price_rule: entry.rule });
      expect(charged).toBe(entry.quota);
      expect(price_rule).toEqual(prices[model as typeof gamma][number - 1]);
      if (shown !== undefined)
        expect(charge?.explanation[0]).toMatch(/^the provider reported (resolution|ratio|duration) /);
    },
  );

  test('the rendered task and the statement have the charge by the report', async () => {
    const task = await create(official.path, { model: seedance, ...official.body });
    const { quota } = await settle(task, { resolution: '1080p', tokens: 120_000 });
    expect(quota).toBe(120_000 * 9 * 1.5);
    const headers = { authorization: `Bearer ${task.key}` };
    const rendered = await fetch(`${target.url}${official.path}/${task.id}`, { headers });
    expect(await rendered.json()).toMatchObject({ resolution: '1080p', usage: { cost: quota } });
    const month = new Date().toISOString().slice(0, 7);
    const statement = await fetch(`${target.url}/api/me/statements/${month}`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    const { data } = (await statement.json()) as { data: components['schemas']['Statement'] };
    expect(data.charges.items.filter(({ token_id }) => token_id === task.token)).toEqual([
      expect.objectContaining({ model: seedance, quota }),
    ]);
  });

  test('a resolution without a default reserves the highest price and settles the reported one', async () => {
    const body = { model: unknown, ...official.body };
    const task = await create(official.path, body);
    const highest = await create(official.path, { ...body, resolution: '1080p' });
    // A video of 4k has more tokens, and its rule is cheaper.
    const tokens = Math.ceil((8_600_000 * 24 * 6) / 1024);
    expect(task.reserved).toBe(Math.max(highest.reserved, tokens * 4 * 1.5));
    const entry = await settle(task, { resolution: '480p', tokens: 50_000 });
    expect(entry).toMatchObject({ quota: 50_000 * 2 * 1.5, rule: { number: 3 } });
    // Without a report, the request counts as one of the highest resolution.
    const silent = await create(official.path, body);
    const unreported = await settle(silent, {});
    expect(unreported).toMatchObject({ quota: tokens * 4 * 1.5, rule: { number: 4 } });
    expect(unreported.rule).not.toHaveProperty('reported');
  });

  test('a ratio and a length that the provider chooses reserve the highest price', async () => {
    const parameters = { duration: -1, resolution: '720P' };
    const body = { model: gamma, input: { prompt: 'A cat' }, parameters };
    const task = await create(formats[2]?.path ?? '', body);
    // 30 seconds at 4 cost more than 5 seconds at 7.
    expect(task.reserved).toBe(30 * 4 * 1.5);
    const entry = await settle(task, { ratio: '9:16', seconds: 4 });
    expect(entry).toMatchObject({
      quota: 4 * 7 * 1.5,
      rule: { number: 2, reported: { ratio: '9:16', duration: 4 } },
    });
    const short = { ...body, parameters: { duration: 4, resolution: '720P' } };
    expect((await create(formats[2]?.path ?? '', short)).reserved).toBe(4 * 7 * 1.5);
  });

  test('a report beyond the reservation and the balance leaves a debt', async () => {
    const task = await create(formats[2]?.path ?? '', { model: gamma, ...formats[2]?.body }, 40);
    expect(task.reserved).toBe(36);
    expect(await settle(task, { resolution: '1080p' })).toMatchObject({ quota: 40, debt: 41, reserved: 36 });
    expect(await readTask(task)).toMatchObject({ charge: { calculated: 81, charged: 40, debt: 41 } });
  });

  test('the prices of the creation apply to the report', async () => {
    const task = await create(formats[2]?.path ?? '', { model: gamma, ...formats[2]?.body });
    const next = { '*': 1, [gamma]: [{ per: { seconds: 1_000 } }] };
    target.gateway.prices.apply({ prices: next, groups, revision: 'second' });
    expect(await settle(task, { resolution: '1080p' })).toMatchObject({
      quota: 81,
      config_revision: 'first',
      rule: { number: 1 },
    });
  });

  test('a task of an earlier version is charged by the rule of its request', async () => {
    const task = await create(formats[2]?.path ?? '', { model: gamma, ...formats[2]?.body });
    await changePricing(task.id, ({ rule, maxOutputTokens, fields }) => ({ rule, maxOutputTokens, fields }));
    const entry = await settle(task, { resolution: '1080p', ratio: '9:16', seconds: 5 });
    // Its cost at the provider, too.
    expect(entry).toMatchObject({ quota: 5 * 4 * 1.5, cost: 5, rule: { number: 4 } });
    expect(entry.rule).not.toHaveProperty('reported');
    expect(lines.filter(({ ignored }) => ignored !== undefined)).toEqual([]);
  });

  test('a task stores what an earlier version reads', async () => {
    const task = await create(formats[2]?.path ?? '', { model: gamma, ...formats[2]?.body });
    let stored: Record<string, unknown> = {};
    await changePricing(task.id, (pricing) => {
      stored = pricing;
      return pricing;
    });
    expect(stored).toMatchObject({ rule: { number: 4, per: { seconds: 4 } }, maxOutputTokens: 168_750 });
    await settle(task, {});
  });

  /** Changes the stored price of a task, as another version of the gateway would store it. */
  async function changePricing(
    id: string,
    change: (pricing: Record<string, unknown>) => object,
  ): Promise<void> {
    const { dataDir, databaseUrl } = target.gateway.settings;
    const next = (text: unknown) => JSON.stringify(change(JSON.parse(String(text))));
    if (databaseUrl === undefined) {
      const db = new DatabaseSync(join(dataDir, 'unigate.db'), { timeout: 5_000 });
      const row = db.prepare('select pricing from tasks where id = ?').get(id);
      db.prepare('update tasks set pricing = ? where id = ?').run(next(row?.pricing), id);
      db.close();
      return;
    }
    await onServer(async (client) => {
      const { rows } = await client.query('select pricing from tasks where id = $1', [id]);
      await client.query('update tasks set pricing = $1 where id = $2', [next(rows[0]?.pricing), id]);
    }, databaseUrl);
  }

  test('keeps the ledger consistent', async () => {
    const response = await fetch(`${target.url}/api/admin/audit`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect(await response.json()).toMatchObject({ data: { problems: [] } });
  });
});
