import { expect, test, vi } from 'vitest';
import type { Gateway } from '../../server/http/gateway.ts';
import { getReadiness } from '../../server/operations/service/getReadiness.ts';

type Parameters = globalThis.Parameters<typeof getReadiness>;

async function readinessOf(gateway: object): Promise<unknown> {
  const json = vi.fn();
  const request = { gateway: gateway as Gateway } as Parameters[0];
  await getReadiness(request, { json } as unknown as Parameters[1]);
  return json.mock.calls;
}

const ready = { leaving: false, draining: false, maintenance: false, callQuota: { check: async () => {} } };
const ok = [[200, { status: 'ok' }]];
const siblings = (isReady: boolean) => ({ isAnyReady: async () => isReady });
const leaving = { ...ready, leaving: true };

test('reports a ready worker as ready, regardless of the others', async () => {
  expect(await readinessOf({ ...ready, siblings: siblings(false) })).toEqual(ok);
});

test('reports a stopping worker as ready while another worker is ready', async () => {
  expect(await readinessOf({ ...leaving, siblings: siblings(true) })).toEqual(ok);
});

test.each([
  ['no other worker is', { ...leaving, siblings: siblings(false) }],
  ['there are no others', leaving],
])('reports a stopping worker as not ready when %s', async (_, gateway) => {
  await expect(readinessOf(gateway)).rejects.toMatchObject({ status: 503, code: 'draining' });
});
