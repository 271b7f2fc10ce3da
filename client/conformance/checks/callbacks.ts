import type { OperationId } from '../../../generated/operations.ts';
import { isObject, type Json, text } from '../../../openapi/tools/document.ts';
import type { Outcome } from '../asks/ask.ts';
import { judgeDelivery, parsedDelivery } from '../callbacks/judge-delivery.ts';
import { visitPage } from '../callbacks/page-visit.ts';
import type { Received } from '../callbacks/receiver.ts';
import { type ToldTask, toldTasks } from '../callbacks/told-tasks.ts';
import { type DocumentedCallback, type DocumentedOperation, documented } from '../contract/documented.ts';
import { put } from '../limits/shape-cases.ts';
import { idOfTask, isFinal, stateOfTask } from '../subject/task-kinds.ts';
import { Unavailable } from '../subject/unavailable.ts';
import type { World } from '../subject/world.ts';
import { jsonOf } from '../wire/answer.ts';
import { messageOf, namesField } from '../wire/refusal.ts';
import { excerpt } from '../wire/wire.ts';

/** What is sent to the address that a request names, for each field that takes one. */
export function callbackChecks(
  operation: DocumentedOperation,
  world: World,
): { name: string; work: () => Promise<Outcome> }[] {
  if (operation.aliasOf !== undefined) return [];
  return operation.callbacks.map((callback) => ({
    name: `the callback to ${callback.field.join('.')}`,
    work: () =>
      callback.method === 'get' ? visitPage(operation, callback, world) : follow(operation, callback, world),
  }));
}

/** Makes a task, takes what is told of it until its end, and holds each delivery to the contract. */
async function follow(
  operation: DocumentedOperation,
  callback: DocumentedCallback,
  world: World,
): Promise<Outcome> {
  const { receiver, caller, target, taskTimeoutMs, callbackSecret, seen } = world;
  const told = toldTasks[operation.id as OperationId];
  if (told === undefined) throw new Unavailable('it is not known which request makes a task');
  if (receiver === undefined)
    throw new Unavailable('it takes an address at which the server reaches this machine: --callbacks-at');
  const address = receiver.newAddress();
  const body = put(await told.body(world), callback.field, address);
  const { answer, curl } = await caller.send(target, operation, { body }, 'whole', true);
  const message = messageOf(answer);
  if (answer.status === 400 && namesField(message, callback.field.join('.')))
    throw new Unavailable(`the server does not call this machine: ${message}`);
  if (answer.status !== 200) return { problems: [`answered ${answer.status}: ${excerpt(answer)}`], curl };
  const id = idOfTask(jsonOf(answer));
  const last = told.states.at(-1) ?? [];
  const isOver = (all: readonly Received[]) => all.some((one) => last.includes(stateIn(one)));
  const all = await receiver.until(address, isOver, taskTimeoutMs);
  const polled = async () => {
    const path = { [told.param]: id ?? '' };
    return jsonOf((await caller.send(target, documented(told.read), { path })).answer);
  };
  if (!isOver(all)) {
    const state = stateOfTask(await polled());
    const seconds = taskTimeoutMs / 1000;
    if (!isFinal(state)) throw new Unavailable(`the task ${id} is still ${state} after ${seconds} seconds`);
    const problem = `${id} has ended as ${state}, which nobody was told in ${seconds} seconds`;
    return { problems: [`${problem}; ${all.length} deliveries came`], curl };
  }
  const problems: string[] = [];
  for (const one of all) {
    const judged = await judgeDelivery(one, callback, told.channel, callbackSecret);
    problems.push(...judged.problems);
    for (const name of judged.messages) seen.events.add(`${told.channel} server ${name}`);
  }
  problems.push(...orderProblems(all, told, id));
  if (told.shown !== undefined) problems.push(...pollProblems(all, told.shown(await polled()) as Json));
  return { problems, curl };
}

/** States go forward, each under an id of its own, and all are about the task. */
function orderProblems(all: readonly Received[], { states }: ToldTask, id: string | undefined): string[] {
  const idOf = ({ headers }: Received) => headers.get('webhook-id');
  // One may come twice: then it is the same.
  const firsts = all.filter((one, at) => all.findIndex((other) => idOf(other) === idOf(one)) === at);
  const repeats = all.filter((one) =>
    firsts.some((first) => idOf(first) === idOf(one) && first.body !== one.body),
  );
  const told = firsts.map(stateIn);
  const ranks = told.map((state) => states.findIndex((one) => one.includes(state)));
  const isForward = ranks.every((rank, at) => at === 0 || rank > (ranks[at - 1] ?? rank));
  return [
    ...repeats.map((one) => `two deliveries have the webhook-id ${idOf(one)}`),
    ...(isForward ? [] : [`the states were told in the order ${told.join(', ')}`]),
    ...all
      .filter((one) => idIn(one) !== id)
      .map((one) => `a delivery is not about ${id}: ${one.body.slice(0, 200)}`),
  ];
}

/** The last delivery is what polling shows then, but for the signatures in addresses. */
function pollProblems(all: readonly Received[], polled: Json): string[] {
  const unsigned = (value: Json) => JSON.stringify(sorted(value)).replace(/"https?:[^"]*"/g, '"an address"');
  const shown = unsigned(polled);
  return all.slice(-1).flatMap((last) => {
    const told = unsigned(parsedDelivery(last));
    return shown === told ? [] : [`the last delivery is not what polling shows: ${told} and ${shown}`];
  });
}

/** With the fields of objects in the order of their names. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] ?? null)]));
}

const fieldOf = (one: Received, name: string): string => {
  const task = parsedDelivery(one);
  return isObject(task) ? text(task[name]) : '';
};
const stateIn = (one: Received) => fieldOf(one, 'status');
const idIn = (one: Received) => fieldOf(one, 'task_id') || fieldOf(one, 'id');
