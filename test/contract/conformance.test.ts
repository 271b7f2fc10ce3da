import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Begun, beginLongChecks } from '../../client/conformance/checks/early.ts';
import { checksOf, selected } from '../../client/conformance/conformance.ts';
import { answerCells, errorCells, eventCells } from '../../client/conformance/report/coverage.ts';
import type { CleanUp } from '../../client/conformance/subject/clean-up.ts';
import { openWorld } from '../../client/conformance/subject/open-world.ts';
import type { World } from '../../client/conformance/subject/world.ts';
import { noteCell } from '../support/cells.ts';
import { ownAsks } from '../support/own-asks.ts';
import { noteErrors } from '../support/told-errors.ts';
import { unseenCells, unseenErrors, unseenEvents } from '../support/unseen-cells.ts';

const operations = selected([]);

/** The conformance kit on our own gateway, where nothing that is documented may stay unseen without a reason. */
let world: World;
let cleanUp: CleanUp;
let begun: Begun;
beforeAll(async () => {
  const { url: baseUrl, key } = inject('gateway');
  ({ world, cleanUp } = await openWorld({
    baseUrl,
    key,
    runs: 3,
    seed: 20_261_122,
    timeoutMs: 15_000,
    taskTimeoutMs: 60_000,
    triggers: 'on',
    admin: true,
    bodyLimitMb: inject('bodyLimitMb'),
    callbackSecret: inject('callbackSecret'),
    onAnswer: (_target, operation, request, answer) => {
      noteCell({ url: baseUrl, key, isGateway: true }, operation, request, answer);
    },
  }));
  begun = beginLongChecks(operations, world);
});
afterAll(async () => {
  await cleanUp.finish();
  await world.receiver?.close();
});

describe.each(operations)('$id', { timeout: 120_000 }, (operation) => {
  test('is as the contract says', async () => {
    const checks = await checksOf(operation, world, { more: ownAsks, begun });
    const failed = checks.filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ name, problems, curl }) => [name, problems, curl])).toEqual([]);
    expect(checks.length).toBeGreaterThan(2);
    expect(checks.map(({ name }) => name)).not.toContain('limits out of reach');
  });
});

test('every documented answer was seen, or is excused', () => {
  noteErrors(world.seen.errors);
  const ids = new Set(operations.map(({ id }) => id));
  const unseen = answerCells(world.seen, ids, () => undefined).filter(({ seen }) => !seen);
  const excused = Object.entries(unseenCells).flatMap(([id, cells]) =>
    Object.keys(cells).map((cell) => `${id} ${cell}`),
  );
  const missing = unseen.map(({ operation, status, mediaType }) =>
    `${operation} ${status} ${mediaType}`.trim(),
  );
  expect(missing.sort()).toEqual(excused.sort());
});

test('every documented event was seen, or is excused', () => {
  const unseen = eventCells(world.seen).filter(({ seen }) => !seen);
  const missing = unseen.map(({ channel, direction, message }) => `${channel} ${direction} ${message}`);
  expect(missing.sort()).toEqual(Object.keys(unseenEvents).sort());
});

test('every documented error was seen, or is excused', () => {
  const unseen = errorCells(world.seen).filter(({ seen }) => !seen);
  const missing = unseen.map(({ family, status, code }) =>
    status === undefined ? `${family} ${code}` : `${family} ${status} ${code}`,
  );
  expect(missing.sort()).toEqual(Object.keys(unseenErrors).sort());
});
