import { expect, inject, test, vi } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin } from '../../support/operator.ts';
import { startImageJob } from '../../support/start-image-job.ts';
import { startMusic } from '../../support/start-music.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';
import { startVideo } from '../../support/start-video.ts';

type Details = operations['getMyTask']['responses'][200]['content']['application/json']['data'];

describeOperation('getMyTask', {
  gatewayTests(call) {
    const target = inject('gateway');
    const detailsOf = async (id: string) => dataOf<Details>(await call({ path: { id } }));
    const ended = (id: string) =>
      vi.waitFor(async () => {
        const details = await detailsOf(id);
        expect(details.completed_at).not.toBeNull();
        return details;
      });
    const eventsOf = ({ timeline }: Details) => timeline.map(({ event }) => event);

    test('returns the timeline, request, response and charge of a completed task', async () => {
      const id = await startVideo({ prompt: 'A kite.' });
      const { timeline, charge, ...details } = await ended(id);
      expect(details).toMatchObject({
        id,
        state: 'completed',
        progress: 100,
        request: { prompt: 'A kite.' },
        response: { id, object: 'video', status: 'completed', video_url: expect.any(String) },
        expires_at: expect.any(Number),
      });
      expect(timeline.map(({ event }) => event)).toEqual(
        expect.arrayContaining(['created', 'submitted', 'polled', 'completed']),
      );
      expect(timeline[0]?.event).toBe('created');
      const times = timeline.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((left, right) => left - right));
      expect(charge).toMatchObject({
        unit: 'seconds',
        units: 2,
        unit_price: details.unit_price,
        group_ratio: 1,
        calculated: 2 * (details.unit_price ?? 0),
        charged: details.charged,
        refunded: 0,
        net: details.charged,
      });
      expect(charge?.explanation[0]).toBe(
        `2 seconds x ${details.unit_price} x 1 = ${2 * (details.unit_price ?? 0)}`,
      );
    });

    test('returns a refund without the reason of the operator', async () => {
      const id = await startVideo();
      await ended(id);
      await callAdmin(target, 'refundCall', { path: { id }, body: { reason: 'a secret reason' } });
      const response = await call({ path: { id } });
      expect(response.body.toString()).not.toContain('secret');
      const { charge, charged, refunded } = dataOf<Details>(response);
      expect(refunded).toBe(charged);
      expect(charge).toMatchObject({ refunded, net: 0 });
      expect(charge?.explanation.slice(-2)).toEqual([
        `refunded ${refunded}`,
        `net ${charged} - ${refunded} = 0`,
      ]);
    });

    test('returns a task of each format in this format', async () => {
      const music = await startMusic({ prompt: 'The sea.' });
      const image = await startImageJob();
      const official = await startOfficialTask();
      expect(await ended(music)).toMatchObject({
        format: 'music',
        request: { action: 'MUSIC', input: { prompt: 'The sea.' } },
        response: { task_id: music, action: 'MUSIC' },
      });
      expect(await ended(image)).toMatchObject({
        format: 'image',
        request: { action: 'IMAGINE' },
        response: { id: image, submitTime: expect.any(Number) },
      });
      expect(await ended(official)).toMatchObject({
        format: 'official',
        response: { id: official, status: 'succeeded' },
      });
    });

    test('returns the error of a failed task, which costs nothing', async () => {
      const details = await ended(await startVideo({ prompt: 'A kite. [[fail-late]]' }));
      expect(details).toMatchObject({
        state: 'failed',
        error: { code: expect.any(String), message: expect.any(String) },
        charge: { units: 0, charged: 0, net: 0 },
      });
      expect(eventsOf(details)).toContain('failed');
    });

    test('returns callbacks with the state of their delivery', async () => {
      const id = await startOfficialTask({ callback_url: 'https://nowhere.invalid/hook?token=secret' });
      await vi.waitFor(async () => {
        const response = await call({ path: { id } });
        const { timeline } = dataOf<Details>(response);
        expect(timeline.filter(({ event }) => event === 'callback')).toContainEqual({
          event: 'callback',
          at: expect.any(Number),
          callback: {
            reports: 'queued',
            state: 'open',
            failed_tries: expect.toSatisfy((tries) => tries > 0),
            last_status: null,
            last_error: expect.any(String),
          },
        });
        expect(response.body.toString()).not.toContain('token=secret');
      });
    });

    test('returns no facts of the provider while a task is in progress', async () => {
      const id = await startVideo({ prompt: 'A kite. [[slow]]' });
      const task = await callAdmin<{ upstream_id: string; channel: string }>(target, 'getTask', {
        path: { id },
      });
      const response = await call({ path: { id } });
      expect(dataOf<Details>(response)).toMatchObject({ charge: null, charged: null, expires_at: null });
      expect(task.upstream_id).toEqual(expect.any(String));
      expect(response.body.toString()).not.toContain(task.upstream_id);
      expect(response.body.toString()).not.toContain(task.channel);
    });

    test('does not find a task of another user, or an unknown one', async () => {
      const id = await startVideo();
      for (const response of [await call({ as: 'noQuota', path: { id } }), await call({ path: { id: 'x' } })])
        expectError(response, 404, { field: 'id' });
    });
  },
});
