import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { runStatement } from '../store/raw-rows.ts';
import { now, TaskHarness } from '../tasks/harness.ts';
import { Outbox } from './outbox.ts';
import { Receiver } from './receiver.ts';

const hour = 3_600_000;

describe.each(engines)('a delivery on %s', (engine) => {
  let outbox: Outbox;
  let receiver: Receiver;
  TaskHarness.eachTest(engine, (rig) => {
    outbox = new Outbox(rig);
  });
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    await outbox.close();
    await receiver.close();
  });

  test('keeps its longest pause through housekeeping and a restart', async () => {
    receiver.answer = 503;
    await outbox.submit(receiver.url());
    const pauses = [0, 10_000, 60_000, 600_000, 1_800_000];
    for (const pause of pauses) expect(await outbox.deliver(pause)).toBe(1);
    const due = pauses.reduce((sum, pause) => sum + pause, now + hour);
    expect(await outbox.rows()).toMatchObject([{ tries: 5, next_try_at: due }]);
    await outbox.deliveries.runHousekeeping();
    await outbox.another().start();
    expect(await outbox.rows()).toMatchObject([{ tries: 5, next_try_at: due }]);
    expect(await outbox.deliver(hour - 1)).toBe(0);
    expect(await outbox.deliver(1)).toBe(1);
    expect(receiver.seen).toHaveLength(6);
  });

  test('that is due later than the longest pause becomes due at once after housekeeping', async () => {
    await outbox.submit(receiver.url());
    // A gateway whose clock ran ahead has written this time.
    await runStatement(outbox.rig.testStore, `update deliveries set next_try_at = ${now + hour + 1}`);
    expect(await outbox.deliver()).toBe(0);
    await outbox.deliveries.runHousekeeping();
    expect(await outbox.deliver()).toBe(1);
  });

  test('is not claimed again while its receiver is slow to respond', async () => {
    const waiting: ServerResponse[] = [];
    receiver.answer = (_delivery, response) => void waiting.push(response);
    await outbox.submit(receiver.url());
    const other = outbox.another();
    const delivered = outbox.deliver();
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    // The claim outlives the time limit of the response, so that the result can be recorded.
    expect(await outbox.rows()).toMatchObject([{ next_try_at: now + 20_000 }]);
    await outbox.rig.advance(4_999);
    expect([await outbox.deliver(), await other.runDue()]).toEqual([0, 0]);
    waiting[0]?.writeHead(200).end();
    expect(await delivered).toBe(1);
    expect(await outbox.rows()).toMatchObject([{ outcome: 'delivered', tries: 0, attempt: 1 }]);
    expect([receiver.seen.length, await outbox.deliver(20_000), await other.runDue()]).toEqual([1, 0, 0]);
  });

  test('is a POST of JSON with exactly these headers', async () => {
    await outbox.submit(receiver.url('/hook'));
    await outbox.deliver();
    const [{ method, headers, text } = { method: '', headers: {}, text: '' }] = receiver.seen;
    expect({ method, ...headers }).toEqual({
      method: 'POST',
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-length': String(Buffer.byteLength(text)),
      'content-type': 'application/json',
      'user-agent': 'unigate',
      'webhook-id': expect.stringMatching(/^msg_[0-9a-z_]+$/),
      'webhook-timestamp': String(now / 1_000),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
  });
});
