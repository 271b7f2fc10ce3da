import { expect, test } from 'vitest';
import { orderProblems } from '../checks/callbacks.ts';
import { jobStates } from '../context/task-kinds.ts';

const delivery = (status: string, webhookId: string, id = 'job-1') => ({
  method: 'POST',
  query: new URLSearchParams(),
  headers: new Headers({ 'webhook-id': webhookId }),
  body: JSON.stringify({ id, status }),
  receivedAt: 0,
});
const problems = (...all: ReturnType<typeof delivery>[]) =>
  orderProblems(all, { states: jobStates }, 'job-1');

test('deliveries whose states move forward have no problem, also when one arrives twice', () => {
  const [first, last] = [delivery('SUBMITTED', 'a'), delivery('SUCCESS', 'b')];
  expect(problems(first, first, last, last)).toEqual([]);
});

test('reports one state under two ids', () => {
  expect(
    problems(delivery('SUBMITTED', 'a'), delivery('SUBMITTED', 'b'), delivery('SUCCESS', 'c')),
  ).toContain('two deliveries with different webhook-ids have the state SUBMITTED');
});

test('reports two states under one id', () => {
  expect(problems(delivery('SUBMITTED', 'a'), delivery('SUCCESS', 'a'))).toContain(
    'two deliveries have the webhook-id a',
  );
});

test('reports the expected and the actual order', () => {
  expect(problems(delivery('SUCCESS', 'a'), delivery('SUBMITTED', 'b'))).toEqual([
    'the expected order is NOT_START, SUBMITTED, MODAL, IN_PROGRESS, SUCCESS or FAILURE',
    'the actual order is   SUCCESS, SUBMITTED',
  ]);
});

test('reports a delivery of another task', () => {
  expect(problems(delivery('SUCCESS', 'a', 'job-2'))).toEqual([
    'a delivery does not concern job-1: {"id":"job-2","status":"SUCCESS"}',
  ]);
});
