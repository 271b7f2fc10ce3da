import { describe, expect, test } from 'vitest';
import { drivers } from '../../server/providers/drivers.ts';
import { fetchAsset } from '../../server/providers/official/assets.ts';
import { fetchSession } from '../../server/providers/verification/sessions.ts';
import { DriverError } from '../../server/tasks/driver.ts';
import { acceptedTask } from '../support/accepted-task.ts';
import { driverErrorOf, useDriverRig } from '../support/driver-rig.ts';

const rig = useDriverRig({});

/** Responses that report nothing about the task. */
const empty: readonly (readonly [string, { status?: number; body?: unknown }])[] = [
  ['an empty body', {}],
  ['204', { status: 204 }],
  ['202 without a body', { status: 202 }],
  ['null', { body: 'null' }],
  ['an empty list', { body: '[]' }],
  ['an empty object', { body: '{}' }],
  ['an envelope with null', { body: { code: 'success', data: null } }],
  ['an envelope with an empty list', { body: { code: 'success', data: [] } }],
];

const polled = [...drivers].flatMap(([name, driver]) =>
  (name === 'sigma' ? ['one', 'one,two'] : ['one']).map((upstreamId) => ({ name, driver, upstreamId })),
);

describe.each(polled)('a task of $name, $upstreamId', ({ name, driver, upstreamId }) => {
  test.each(empty)('is polled again after %s', async (_, answer) => {
    rig.answer = answer;
    const task = acceptedTask({ driver: name, upstreamId, state: 'in_progress' });
    const outcome = await driver.poll(task, rig.to()).catch((error: unknown) => error);
    if (outcome instanceof DriverError) expect(outcome.kind).toBe('unknown');
    else expect(outcome).toMatchObject({ state: 'in_progress' });
  });
});

test.each(empty)('an asset and a verification session are polled again after %s', async (_, answer) => {
  rig.answer = answer;
  const asset = { upstreamId: 'asset-1', model: null };
  expect(await driverErrorOf(fetchAsset(rig.to(), asset))).toMatchObject({ kind: 'unknown' });
  expect(await driverErrorOf(fetchSession(rig.to(), 'session-1', undefined))).toMatchObject({
    kind: 'unknown',
  });
});
