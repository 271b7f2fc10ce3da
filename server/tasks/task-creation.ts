import { createHash, randomBytes } from 'node:crypto';
import type { Channel } from '../channels/channel.ts';
import type { Caller } from '../keys/caller.ts';
import type { Unit } from '../models/usage.ts';
import { jsonChunks } from '../outbound/json-body.ts';
import { costOf } from '../quota/prices.ts';
import type { NewTask } from '../store/commands/new-tasks.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { TaskFormat } from '../store/schema.ts';
import { currentTraceparent } from '../telemetry/telemetry-context.ts';
import type { TaskEnvironment } from './environment.ts';

/** A task to be made, and what it is made of. */
export interface TaskCreation {
  /** Names the reservation: a request makes at the most one task. */
  requestId: string;
  caller: Caller;
  /** The operation's id, for the log. */
  operation: string;
  format: TaskFormat;
  /** Name of the driver. */
  driver: string;
  model: { id: string; unit: Unit };
  /** In the order in which they are to be asked. */
  channels: readonly Channel[];
  /** JSON value that the driver submits. It is not stored. */
  request: object;
  /** Small JSON object that drivers and renderers find in the task as long as it lives. */
  facts: Readonly<Record<string, unknown>>;
  /**
   * Hashes of the URLs that the client sent (`SentUrls.hashes`). They are stored in the facts as
   * `sent_addresses` and are not part of the request's fingerprint.
   */
  sentUrls?: readonly string[];
  /** For lists, which can be narrowed to one. */
  serviceTier?: string;
  /** Most units it is expected to use: so many are reserved. */
  expectedUnits: number;
  /** Milliseconds until it fails if it is not final by then. */
  lifetimeMs?: number;
  callbackUrl?: string;
  /** The client's name for this request: the same name gives the same task. */
  idempotencyKey?: string;
  /**
   * JSON value that the client asked for, where `request` and `facts` cannot be made of it again when what it goes on from is
   * gone: by it a repeat is known then.
   */
  asked?: object;
}

/** What an order has to have for an earlier one of the same to be found. */
export type RepeatedOrder = Pick<TaskCreation, 'caller' | 'operation' | 'format' | 'model'> &
  Required<Pick<TaskCreation, 'idempotencyKey' | 'asked'>>;

export interface SubmittedTask {
  task: TaskRecord;
  /** It was there already, by its idempotency key. */
  replayed: boolean;
}

/** The row of a new task, leased to this process for as long as submitting may take. */
export async function newTask(
  { timing, timers, owner, priceTerms, clock }: TaskEnvironment,
  order: TaskCreation,
  channel: Channel,
): Promise<NewTask> {
  const { caller, model, sentUrls = [] } = order;
  const idempotencyKey = storedIdempotencyKey(caller, order.idempotencyKey ?? null);
  const facts = JSON.stringify(order.facts);
  const fingerprint = idempotencyKey === null ? null : await fingerprintOf(order, facts);
  const terms = priceTerms(model.id, caller.group);
  const dueNow = timers.monotonic();
  return {
    // 128 random bits: it tells nothing and cannot be guessed.
    id: `task_${randomBytes(16).toString('hex')}`,
    requestId: order.requestId,
    userId: caller.userId,
    tokenId: caller.tokenId,
    operation: order.operation,
    format: order.format,
    driver: order.driver,
    model: model.id,
    unit: model.unit,
    channel: channel.name,
    facts: sentUrls.length === 0 ? facts : JSON.stringify({ ...order.facts, sent_addresses: sentUrls }),
    serviceTier: order.serviceTier ?? null,
    expectedUnits: order.expectedUnits,
    ...terms,
    amount: costOf(order.expectedUnits, terms),
    callbackUrl: order.callbackUrl ?? null,
    idempotencyKey,
    fingerprint,
    traceparent: currentTraceparent(),
    // Others are asked right away, and the write that tells before and after apart is spared.
    askedAt: idempotencyKey === null ? dueNow : null,
    deadlineAt: dueNow + (order.lifetimeMs ?? timing.lifetimeMs),
    pollInterval: timing.firstPollMs,
    leaseOwner: owner,
    leaseUntil: dueNow + timing.submitLimitMs + timing.leaseMarginMs,
    now: clock(),
  };
}

/**
 * Makes the idempotency keys of a key with limits its own, so that no repeat returns a task that it does not see. No
 * header can contain the separator.
 */
export function storedIdempotencyKey<Key extends string | null>(caller: Caller, key: Key): Key | string {
  return key !== null && caller.hasLimits === true ? `${caller.tokenId}\u001f${key}` : key;
}

/** Tells one request from another. */
async function fingerprintOf(order: TaskCreation, facts: string): Promise<string> {
  const { operation, model, request, asked, callbackUrl = '' } = order;
  if (asked !== undefined) return fingerprintOfAsked({ operation, model, asked });
  return hashOf([operation, model.id, facts, callbackUrl], request);
}

/** The same for one that is known by what the client asked for. */
export function fingerprintOfAsked({
  operation,
  model,
  asked,
}: Pick<RepeatedOrder, 'operation' | 'model' | 'asked'>): Promise<string> {
  return hashOf(['asked', operation, model.id], asked);
}

async function hashOf(parts: readonly string[], json: Parameters<typeof jsonChunks>[0]): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  for await (const piece of jsonChunks(json)) hash.update(piece);
  return hash.digest('hex');
}
