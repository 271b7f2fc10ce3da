import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

/** Words in front of a figure in a guide, its source, and the number of units of the source in one of the guide. */
const figures: readonly (readonly [
  guide: string,
  words: string,
  file: string,
  name: string,
  unit: number,
])[] = [
  ['6-asynchronous-tasks', 'Files stay available for', 'tasks/timing.ts', 'resultMs', 3_600_000],
  ['6-asynchronous-tasks', '(3D:', 'providers/native/model3d.ts', 'resultMs', 3_600_000],
  ['12-webhooks', 'Each gateway makes up to', 'tasks/callbacks/environment.ts', 'total', 1],
  ['12-webhooks', 'shares them among users: up to', 'tasks/callbacks/environment.ts', 'perUser', 1],
  ['13-identity-verification', 'within', 'providers/verification/sessions.ts', 'defaultLifetimeMs', 60_000],
  ['16-deployment', 'A JSON body can have up to 1 MB and', 'http/parse-json.ts', 'maxValues', 1],
  ['16-deployment', 'Bodies above', 'http/body-parser.ts', 'maxInlineBytes', 1024 * 1024],
  ['16-deployment', 'waits for up to', 'http/body-budget.ts', 'defaultWaitMs', 1000],
  ['17-keys-and-quota', 'sent in the last', 'keys/limit-sync.ts', 'minGapMs', 1],
  ['18-billing', 'A report above', 'models/usage.ts', 'maxBoundMultiple', 1],
  ['18-billing', 'used again within', 'quota/spending.ts', 'spendingWindowMs', 1000],
  ['18-billing', 'has not been used for', 'quota/spending.ts', 'spendingWindowMs', 1000],
  ['19-monitoring', 'cool-down lasts', 'channels/health.ts', 'minCoolDownMs', 1000],
  ['20-scaling-out', 'at once the first time, then after', 'app/workers/supervisor.ts', 'minBackoffMs', 1000],
  ['20-scaling-out', 'then after 0.5 to', 'app/workers/supervisor.ts', 'maxBackoffMs', 1000],
  ['20-scaling-out', 'kills and replaces it after', 'app/workers/supervisor.ts', 'maxUnansweredPings', 1],
  ['20-scaling-out', 's without a reply, or', 'app/workers/supervisor.ts', 'maxUnansweredPingsAtStart', 1],
  ['20-scaling-out', 'caches a key for', 'keys/key-cache.ts', 'feedTtlMs', 1000],
  ['20-scaling-out', 'provider first, after', 'channels/channel.ts', 'defaultMaxSilenceMs', 1000],
  ['20-scaling-out', 'first, after 120 s, or', 'calls/text/text-call.ts', 'maxWritingMs', 1000],
  ['20-scaling-out', 'streams and sessions finish for up to', 'app/serve.ts', 'graceMs', 1000],
  ['20-scaling-out', 'settles all calls within', 'app/open-gateway.ts', 'storeGraceMs', 1000],
  ['20-scaling-out', 'after a wait of up to', 'http/body-budget.ts', 'defaultWaitMs', 1000],
  ['20-scaling-out', '| gateway |', 'tasks/callbacks/environment.ts', 'total', 1],
  ['20-scaling-out', 'fixed; up to', 'tasks/callbacks/environment.ts', 'perUser', 1],
  ['20-scaling-out', 'of one user, up to', 'tasks/callbacks/environment.ts', 'perHost', 1],
  ['21-security', 'a chain of keys up to', 'keys/new-key.ts', 'maxLevels', 1],
];

test.each(figures)('%s.md: "%s …" is the value in %s', async (guide, words, file, name, unit) => {
  const text = await readFile(new URL(`openapi/guides/${guide}.md`, root), 'utf8');
  const escaped = words.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(' ', String.raw`\s+`);
  const pattern = new RegExp(String.raw`${escaped}\s+([\d,.]*\d)`, 'g');
  const found = [...text.matchAll(pattern)].map(([, number = '']) => Number(number.replaceAll(',', '')));
  expect(found).toEqual([(await constantIn(`server/${file}`, name)) / unit]);
});

/** Reads the number of a constant, property or default parameter from its source. */
async function constantIn(file: string, name: string): Promise<number> {
  const source = await readFile(new URL(file, root), 'utf8');
  const words: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
  const [, expression = ''] = new RegExp(`\\b${name}(?: =|:) ([\\w ()*]+)[,;)}]`).exec(source) ?? [];
  return expression
    .split('*')
    .map((factor) => factor.trim())
    .reduce((product, factor) => product * (words[factor] ?? Number(factor.replaceAll('_', ''))), 1);
}
