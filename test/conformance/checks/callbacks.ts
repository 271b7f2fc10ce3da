import type { OperationId } from '../../../generated/operations.ts';
import { isObject, type Json, text } from '../../../openapi/tools/document.ts';
import { type CallbackTask, callbackTasks } from '../callbacks/callback-tasks.ts';
import { checkDelivery, deliveryBody, eventChannel } from '../callbacks/check-delivery.ts';
import type { ReceivedCallback } from '../callbacks/receiver.ts';
import { checkVerificationPage } from '../callbacks/verification-page.ts';
import type { RunContext } from '../context/run-context.ts';
import { idOfTask, isFinal, stateOfTask } from '../context/task-kinds.ts';
import { Unavailable } from '../context/unavailable.ts';
import { type DocumentedCallback, type DocumentedOperation, documented } from '../contract/documented.ts';
import { put } from '../limits/shape-cases.ts';
import type { CheckOutcome } from '../scenarios/scenario.ts';
import { messageOf, namesField } from '../wire/error.ts';
import { jsonOf } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';

/** Checks the callbacks of an operation, one check for each field with a callback address. */
export function callbackChecks(
  operation: DocumentedOperation,
  context: RunContext,
): { name: string; run: () => Promise<CheckOutcome> }[] {
  if (operation.aliasOf !== undefined) return [];
  return operation.callbacks.map((callback) => ({
    name: `the callback to ${callback.field.join('.')}`,
    run: () =>
      callback.method === 'get'
        ? checkVerificationPage(operation, callback, context)
        : operation.id in eventTests
          ? checkTestEvent(operation, callback, context)
          : checkDeliveries(operation, callback, context),
  }));
}

/** Operations that create callback endpoints, with the operation that sends a test event to an endpoint. */
const eventTests: Partial<Record<string, OperationId>> = {
  createEndpoint: 'testEndpoint',
  createOperatorEndpoint: 'testOperatorEndpoint',
};

/** Creates a callback endpoint, and checks the test event that it receives. */
async function checkTestEvent(
  operation: DocumentedOperation,
  callback: DocumentedCallback,
  { receiver, caller, target, isAdmin, admin, taskTimeoutMs, coverage }: RunContext,
): Promise<CheckOutcome> {
  const test = eventTests[operation.id];
  if (test === undefined) throw new Unavailable('the kit has no request that sends a test event');
  if (receiver === undefined)
    throw new Unavailable('the server cannot reach this machine: set --callbacks-at');
  if (operation.id === 'createOperatorEndpoint' && !(isAdmin && admin))
    throw new Unavailable('changes by an admin run only with --admin');
  const address = receiver.newAddress();
  const body = { url: address, events: ['task.stuck'] };
  const { response, curl } = await caller.send(target, operation, { body }, 'full', true);
  const message = messageOf(response);
  if (response.status === 400 && namesField(message, 'url'))
    throw new Unavailable(`the server rejects the callback address: ${message}`);
  if (response.status !== 200) return { problems: [`status ${response.status}: ${excerpt(response)}`], curl };
  const { id, secret } = (jsonOf(response) as { data: { id: number; secret: string } }).data;
  await caller.send(target, documented(test), { path: { id: String(id) } }, 'full', true);
  const isThere = (received: readonly ReceivedCallback[]) => received.length > 0;
  const [event] = await receiver.waitUntil(address, isThere, taskTimeoutMs);
  if (event === undefined) return { problems: ['no test event was received'], curl };
  const { problems, messages } = await checkDelivery(event, callback, eventChannel, secret);
  for (const name of messages) coverage.events.add(`${eventChannel} server ${name}`);
  return { problems, curl };
}

/** Creates a task, receives its callbacks until it ends and checks each against the contract. */
async function checkDeliveries(
  operation: DocumentedOperation,
  callback: DocumentedCallback,
  context: RunContext,
): Promise<CheckOutcome> {
  const { receiver, caller, target, taskTimeoutMs, callbackSecret, coverage } = context;
  const callbackTask = callbackTasks[operation.id as OperationId];
  if (callbackTask === undefined) throw new Unavailable('the kit has no request that creates such a task');
  if (receiver === undefined)
    throw new Unavailable('the server cannot reach this machine: set --callbacks-at');
  const address = receiver.newAddress();
  const body = put(await callbackTask.body(context), callback.field, address);
  const { response, curl } = await caller.send(target, operation, { body }, 'full', true);
  const message = messageOf(response);
  if (response.status === 400 && namesField(message, callback.field.join('.')))
    throw new Unavailable(`the server rejects the callback address: ${message}`);
  if (response.status !== 200) return { problems: [`status ${response.status}: ${excerpt(response)}`], curl };
  const id = idOfTask(jsonOf(response));
  const finalStates = callbackTask.states.at(-1) ?? [];
  const hasEnded = (received: readonly ReceivedCallback[]) =>
    received.some((one) => finalStates.includes(stateIn(one)));
  const deliveries = await receiver.waitUntil(address, hasEnded, taskTimeoutMs);
  const poll = async () => {
    const path = { [callbackTask.param]: id ?? '' };
    return jsonOf((await caller.send(target, documented(callbackTask.read), { path })).response);
  };
  if (!hasEnded(deliveries)) {
    const state = stateOfTask(await poll());
    const seconds = taskTimeoutMs / 1000;
    if (!isFinal(state)) throw new Unavailable(`the task ${id} is still ${state} after ${seconds} s`);
    const problem = `${id} ended as ${state} without a final callback within ${seconds} s`;
    return { problems: [`${problem}; deliveries received: ${deliveries.length}`], curl };
  }
  const problems: string[] = [];
  for (const one of deliveries) {
    const checked = await checkDelivery(one, callback, callbackTask.channel, callbackSecret);
    problems.push(...checked.problems);
    for (const name of checked.messages) coverage.events.add(`${callbackTask.channel} server ${name}`);
  }
  problems.push(...orderProblems(deliveries, callbackTask, id));
  if (callbackTask.polledBody !== undefined)
    problems.push(...pollProblems(deliveries, callbackTask.polledBody(await poll()) as Json));
  return { problems, curl };
}

/** Checks that states move forward, each with its own `webhook-id`, and that all concern the task. */
export function orderProblems(
  all: readonly ReceivedCallback[],
  { states }: Pick<CallbackTask, 'states'>,
  id: string | undefined,
): string[] {
  const idOf = ({ headers }: ReceivedCallback) => headers.get('webhook-id');
  // A delivery may arrive twice, with the same body.
  const firsts = all.filter((one, at) => all.findIndex((other) => idOf(other) === idOf(one)) === at);
  const repeats = all.filter((one) =>
    firsts.some((first) => idOf(first) === idOf(one) && first.body !== one.body),
  );
  const received = firsts.map(stateIn);
  const ranks = received.map((state) => states.findIndex((one) => one.includes(state)));
  const isForward = ranks.every((rank, at) => at === 0 || rank > (ranks[at - 1] ?? rank));
  return [
    ...repeats.map((one) => `two deliveries have the webhook-id ${idOf(one)}`),
    ...received
      .filter((state, at) => received.indexOf(state) !== at)
      .map((state) => `two deliveries with different webhook-ids have the state ${state}`),
    ...(isForward
      ? []
      : [
          `the expected order is ${states.map((one) => one.join(' or ')).join(', ')}`,
          `the actual order is   ${received.join(', ')}`,
        ]),
    ...all
      .filter((one) => idIn(one) !== id)
      .map((one) => `a delivery does not concern ${id}: ${one.body.slice(0, 200)}`),
  ];
}

/** Checks that the last delivery equals the polled task, except for the signatures in addresses. */
function pollProblems(all: readonly ReceivedCallback[], polled: Json): string[] {
  const unsigned = (value: Json) => JSON.stringify(sorted(value)).replace(/"https?:[^"]*"/g, '"an address"');
  const expected = unsigned(polled);
  return all.slice(-1).flatMap((last) => {
    const delivered = unsigned(deliveryBody(last));
    return expected === delivered
      ? []
      : [`the last delivery differs from the polled task: ${delivered} and ${expected}`];
  });
}

/** Sorts the fields of objects by name. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] ?? null)]));
}

const fieldOf = (one: ReceivedCallback, name: string): string => {
  const task = deliveryBody(one);
  return isObject(task) ? text(task[name]) : '';
};
const stateIn = (one: ReceivedCallback) => fieldOf(one, 'status');
const idIn = (one: ReceivedCallback) => fieldOf(one, 'task_id') || fieldOf(one, 'id');
