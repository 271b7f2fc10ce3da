import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type StartedChecks, startLongChecks } from '../conformance/checks/long-checks.ts';
import { checksOf, selectedOperations } from '../conformance/conformance.ts';
import type { CleanUp } from '../conformance/context/clean-up.ts';
import { createRunContext } from '../conformance/context/create-context.ts';
import type { RunContext } from '../conformance/context/run-context.ts';
import { errorCells, eventCells, responseCells } from '../conformance/report/coverage-cells.ts';
import { recordErrorResponse } from '../support/error-responses.ts';
import { exemptErrors, exemptEvents, exemptResponses } from '../support/exempt-cells.ts';
import { gatewayScenarios } from '../support/gateway-scenarios.ts';
import { recordErrors } from '../support/recorded-errors.ts';

const operations = selectedOperations([]);

/** Runs the conformance kit on the gateway. It must cover everything that the contract documents, except exempt cells. */
let context: RunContext;
let cleanUp: CleanUp;
let startedChecks: StartedChecks;
beforeAll(async () => {
  const { url: baseUrl, key } = inject('gateway');
  ({ context, cleanUp } = await createRunContext({
    baseUrl,
    key,
    runs: 3,
    seed: 20_261_122,
    timeoutMs: 60_000,
    taskTimeoutMs: 180_000,
    triggers: 'on',
    admin: true,
    bodyLimitMb: inject('bodyLimitMb'),
    callbackSecret: inject('callbackSecret'),
    onResponse: (_target, operation, request, response) => {
      recordErrorResponse({ url: baseUrl, key, isGateway: true }, operation, request, response);
    },
  }));
  startedChecks = startLongChecks(operations, context);
});
afterAll(async () => {
  await cleanUp.finish();
  await context.receiver?.close();
});

describe.each(operations)('$id', { timeout: 240_000 }, (operation) => {
  test('conforms to the contract', async () => {
    const checks = await checksOf(operation, context, {
      additionalScenarios: gatewayScenarios,
      startedChecks,
    });
    const failed = checks.filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ name, problems, curl }) => [name, problems, curl])).toEqual([]);
    expect(checks.length).toBeGreaterThan(2);
    expect(checks.map(({ name }) => name)).not.toContain('limits without a request');
  });
});

test('every documented response is covered or exempt', () => {
  recordErrors(context.coverage.errors);
  const ids = new Set(operations.map(({ id }) => id));
  const uncovered = responseCells(context.coverage, ids, () => undefined).filter(({ covered }) => !covered);
  const exempt = Object.entries(exemptResponses).flatMap(([id, cells]) =>
    Object.keys(cells).map((cell) => `${id} ${cell}`),
  );
  const missing = uncovered.map(({ operation, status, mediaType }) =>
    `${operation} ${status} ${mediaType}`.trim(),
  );
  expect(missing.sort()).toEqual(exempt.sort());
});

test('every documented event is covered or exempt', () => {
  const uncovered = eventCells(context.coverage).filter(({ covered }) => !covered);
  const missing = uncovered.map(({ channel, direction, message }) => `${channel} ${direction} ${message}`);
  expect(missing.sort()).toEqual(Object.keys(exemptEvents).sort());
});

test('every documented error is covered or exempt', () => {
  const uncovered = errorCells(context.coverage).filter(({ covered }) => !covered);
  const missing = uncovered.map(({ family, status, code }) =>
    status === undefined ? `${family} ${code}` : `${family} ${status} ${code}`,
  );
  expect(missing.sort()).toEqual(Object.keys(exemptErrors).sort());
});
