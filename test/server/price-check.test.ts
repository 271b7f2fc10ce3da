import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PriceRule } from '../../server/settings/price-rules.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';

const seedance = 'epsilon-delta-2-0-fast-260128';
const gamma = 'gamma3.0-video';
const eta = 'eta-imagine-video';
const prices: Record<string, number | PriceRule[]> = {
  [seedance]: [
    { when: { resolution: ['720P', '1080p'], service_tier: 'flex', ratio: '21:9' }, per: { units: 1 } },
    { when: { duration: { min: 15 } }, per: { units: 1 } },
    { when: { duration: 16 }, per: { units: 1 } },
    { per: { units: 1 } },
    { per: { units: 2 } },
  ],
  'gamma*': [{ when: { resolution: '4k' }, per: { units: 1 } }, { per: { units: 1 } }],
  [eta]: [{ when: { audio: false, resolution: '480P' }, per: { units: 1 } }, { per: { units: 1 } }],
  'voxa-v1': 1,
};
const only = (...ids: string[]) => ids.map((id) => ({ id, upstream: undefined }));
const upstream = 'http://127.0.0.1:9';
const channels = [
  channelTo(upstream, { name: 'a', protocol: 'official', models: only(seedance), costs: { '*': 1 } }),
  channelTo(upstream, {
    name: 'b',
    protocol: 'native',
    models: only(gamma, 'theta-3d', 'house-video'),
    costs: { [gamma]: [{ when: { voice: 'system' }, per: { units: 1 } }, { per: { units: 1 } }] },
  }),
  channelTo(upstream, { name: 'c', protocol: 'eta', models: only(eta), costs: { 'eta-*': 1 } }),
];

let target: TestGateway;
let flawless: TestGateway;
beforeAll(async () => {
  target = await startTestGateway({ sandbox: false, channels, prices });
  const complete = { sandbox: false, channels: channels.slice(0, 1), prices: { '*': 1 } };
  flawless = await startTestGateway(complete);
});
afterAll(() => Promise.all([target.close(), flawless.close()]));

async function check({ url, key }: TestGateway) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/api/admin/prices/check`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as { data: { problems: Record<string, string>[] } };
}

test('finds each kind of problem', async () => {
  const { problems } = (await check(target)).data;
  const value = (setting: string, text: string) => ({
    kind: 'impossible_value',
    setting,
    problem: `no request for such a model has the value ${text}.`,
  });
  expect(problems).toEqual([
    { kind: 'unused_price', setting: 'prices.voxa-v1', problem: 'no channel serves such a model.' },
    {
      kind: 'unreachable_rule',
      setting: `prices.${seedance}.2`,
      problem: 'this rule never applies, because rule 2 applies to the same requests.',
    },
    {
      kind: 'unreachable_rule',
      setting: `prices.${seedance}.4`,
      problem: 'this rule never applies, because rule 4 applies to the same requests.',
    },
    {
      kind: 'unreachable_rule',
      setting: `channels.1.costs.${gamma}.0`,
      problem: 'this rule never applies, because no request for such a model has voice.',
    },
    {
      kind: 'unpriced_model',
      setting: 'channels.1.models.1',
      problem: 'not served, because no price is set: theta-3d.',
    },
    {
      kind: 'unpriced_model',
      setting: 'channels.1.models.2',
      problem: 'not served, because no price is set: house-video.',
    },
    value(`prices.${seedance}.0.when.resolution`, '1080p'),
    value(`prices.${seedance}.0.when.service_tier`, 'flex'),
    value(`prices.${seedance}.2.when.duration`, '16 seconds or more'),
    value('prices.gamma*.0.when.resolution', '4k'),
    value(`prices.${eta}.0.when.audio`, 'false'),
    {
      kind: 'missing_cost',
      setting: 'channels.1',
      problem: 'the channel b has no cost for theta-3d, house-video.',
    },
  ]);
});

test('finds nothing when every model has a price and a cost', async () => {
  expect((await check(flawless)).data.problems).toEqual([]);
});
