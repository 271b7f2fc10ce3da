import { expect, test } from 'vitest';
import type { Variation } from '../conformance/wire/exchange.ts';
import type { HttpResponse } from '../conformance/wire/http-response.ts';
import type { Call } from './contract.ts';

/** Registers the test that the retry of an SDK returns the task of its first attempt. */
export function testSdkRetries(call: Call, variation: () => Variation = () => ({})): void {
  test('200 the same task for a retry of an SDK', async () => {
    const send = async (retryCount: string) =>
      taskIdIn(await call({ ...variation(), headers: { 'x-stainless-retry-count': retryCount } }));
    const first = await send('0');
    expect([await send('1'), await send('2')]).toEqual([first, first]);
    expect(await send('2')).not.toBe(first);
  });
}

/** Returns the id of the created task, which each format has in another field. */
function taskIdIn({ status, body }: HttpResponse): string {
  expect(status).toBe(200);
  const [id] = /task_[0-9a-f]{32}/.exec(body.toString()) ?? [];
  if (id === undefined) throw new Error(`no task id in ${body.toString()}`);
  return id;
}
