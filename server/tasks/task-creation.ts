import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Channel } from '../channels/channel.ts';
import type { Caller } from '../keys/caller.ts';
import type { Unit } from '../models/usage.ts';
import { jsonChunks } from '../outbound/json-body.ts';
import type { LeaseDraw } from '../quota/ledger.ts';
import type { PricedRequest } from '../quota/priced-request.ts';
import { type Quote, quoteFor } from '../quota/quote.ts';
import { rulesForReports } from '../quota/reported-price.ts';
import type { OpenFields, PriceFields, TaskPricing } from '../settings/price-rules.ts';
import { Batcher } from '../store/batcher.ts';
import type { LeasedTask, LeasedTaskResult, NewTask } from '../store/commands/new-tasks.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { TaskFormat } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { currentTraceparent } from '../telemetry/telemetry-context.ts';
import type { TaskEnvironment } from './environment.ts';

/** A request to create a task. */
export interface TaskCreation {
  /** Id of the reservation. A request creates at most one task. */
  requestId: string;
  caller: Caller;
  /** The operation's id, for the log. */
  operation: string;
  format: TaskFormat;
  /** Name of the driver. */
  driver: string;
  model: { id: string; unit: Unit };
  /** In the order in which they are tried. */
  channels: readonly Channel[];
  /** JSON value for the driver. It is not stored. */
  request: object;
  /** Small JSON object that is stored with the task for drivers and renderers. */
  facts: Readonly<Record<string, unknown>>;
  /**
   * Hashes of the URLs that the client sent (`SentUrls.hashes`). They are stored in the facts as
   * `sent_addresses` and are not part of the request's fingerprint.
   */
  sentUrls?: readonly string[];
  /** For the filter of lists. */
  serviceTier?: string;
  /** Upper bound of the units that it uses. They are reserved. */
  expectedUnits: number;
  /** Upper bound of the completion tokens of a video. Default: 0. */
  maxOutputTokens?: number;
  /** The fields that the price of the request depends on. */
  priceFields?: PriceFields;
  /** Those of them that the provider chooses. Default: none. */
  openFields?: OpenFields;
  /** Milliseconds after which an unfinished task fails. */
  lifetimeMs?: number;
  callbackUrl?: string;
  /** Requests with the same key return the same task. */
  idempotencyKey?: string;
  /**
   * How often an SDK has repeated the request before. Above 0, an earlier task of the same request may answer it. An
   * idempotency key takes precedence.
   */
  retryCount?: number;
  /**
   * JSON body of the client. It identifies a repeated request when `request` and `facts` cannot be built again, because
   * the task that it continues was deleted.
   */
  clientRequest?: object;
  /** The model that the client requested, if it has fallbacks. It identifies a repeated request. */
  requestedModel?: string;
  /** Another model serves the request if this one would have to wait. */
  hasFallback?: boolean | undefined;
}

/** The fields that identify a repeated request. */
export type RepeatedCreation = Pick<TaskCreation, 'caller' | 'operation' | 'format' | 'model'> &
  Pick<TaskCreation, 'idempotencyKey' | 'retryCount'> &
  Required<Pick<TaskCreation, 'clientRequest'>>;

export interface SubmittedTask {
  task: TaskRecord;
  /** Whether an earlier identical request created it. */
  replayed: boolean;
}

/** Returns the row of a new task, claimed by this process for the longest submission. */
export async function newTask(
  { timing, timers, owner, priceTerms, vendorCosts, clock, maxQueueMs, queueLimits }: TaskEnvironment,
  creation: TaskCreation,
  channel: Channel,
): Promise<NewTask> {
  const isQueued = mayWait(creation);
  const { caller, model, sentUrls = [] } = creation;
  const idempotencyKey = storedIdempotencyKey(caller, creation.idempotencyKey ?? null);
  const facts = JSON.stringify(creation.facts);
  const retryCount = idempotencyKey === null ? (creation.retryCount ?? null) : null;
  const isRepeatable = idempotencyKey !== null || retryCount !== null;
  const fingerprint = isRepeatable ? await fingerprintOf(creation, facts) : null;
  const { expectedUnits } = creation;
  const quote = quoteFor({ terms: priceTerms }, pricedTask(creation), caller.group);
  const { rule: _rule, rules: _rules, ...terms } = quote.terms;
  const pricing = pricingOf(creation, quote, vendorCosts.dependsOnRequest(model.id));
  const request = isQueued ? await jsonOf(creation.request) : '';
  const dueNow = timers.monotonic();
  const lifetimeMs = creation.lifetimeMs ?? timing.lifetimeMs;
  const waitMs = isQueued ? maxQueueMs() : 0;
  const names = creation.channels.map(({ name }) => name);
  return {
    // 128 random bits cannot be guessed.
    id: `task_${randomBytes(16).toString('hex')}`,
    requestId: creation.requestId,
    userId: caller.userId,
    tokenId: caller.tokenId,
    operation: creation.operation,
    format: creation.format,
    driver: creation.driver,
    model: model.id,
    unit: model.unit,
    channel: channel.name,
    facts: sentUrls.length === 0 ? facts : JSON.stringify({ ...creation.facts, sent_addresses: sentUrls }),
    serviceTier: creation.serviceTier ?? null,
    expectedUnits,
    pricing: pricing && JSON.stringify(pricing),
    ...terms,
    amount: quote.amount,
    callbackUrl: creation.callbackUrl ?? null,
    idempotencyKey,
    fingerprint,
    retryCount,
    traceparent: currentTraceparent(),
    // Without an idempotency key the submission follows at once, so no second write marks its start.
    askedAt: idempotencyKey === null && !isQueued ? dueNow : null,
    deadlineAt: dueNow + waitMs + lifetimeMs,
    pollInterval: timing.firstPollMs,
    leaseOwner: owner,
    leaseUntil: dueNow + timing.submitLimitMs + timing.claimMarginMs,
    now: clock(),
    ...(isQueued && {
      queue: {
        pool: names.toSorted().join(' '),
        channels: JSON.stringify(names),
        request,
        limits: queueLimits(),
        lifetimeMs,
        queuedAt: dueNow,
        waitUntil: dueNow + waitMs,
      },
    }),
  };
}

/** Returns the parts of a request that price its usage at its end. Null: they are not needed. */
function pricingOf(
  { maxOutputTokens = 0, priceFields: fields }: TaskCreation,
  { terms: { rule, rules }, amount: reserved }: Quote,
  hasVendorRules: boolean,
): TaskPricing | null {
  if (fields === undefined || (rule === null && !hasVendorRules))
    return rule && { rule, maxOutputTokens, reserved };
  const forReports = rules === undefined ? null : rulesForReports(rules, fields);
  // Only videos have a length, and only their providers report other fields than the request.
  const isVideo = fields.duration !== undefined;
  return { rule, maxOutputTokens, fields, reserved, ...(isVideo && { rules: forReports }) };
}

/** Returns the properties of a task request that decide its price. */
export function pricedTask({
  model,
  expectedUnits,
  maxOutputTokens = 0,
  priceFields = {},
  openFields = {},
}: Pick<
  TaskCreation,
  'model' | 'expectedUnits' | 'maxOutputTokens' | 'priceFields' | 'openFields'
>): PricedRequest {
  return { model, expectedUnits, maxOutputTokens, priceFields: () => priceFields, openFields };
}

/** Whether a task may have to wait for a limit of one of its channels. */
export function mayWait({ channels }: Pick<TaskCreation, 'channels'>): boolean {
  return channels.some(({ limiter }) => limiter.limitsTasks);
}

async function jsonOf(value: object): Promise<string> {
  const chunks: Buffer[] = await Readable.from(jsonChunks(value)).toArray();
  return Buffer.concat(chunks).toString();
}

const maxBatch = 200;

/** Creates tasks from leased quota, so that concurrent creations of a key do not lock its row. */
export class LeasedTaskWriter extends Batcher<LeasedTask, LeasedTaskResult> {
  constructor(store: Pick<Store, 'run'>) {
    super((tasks) => store.run('createLeasedTasks', tasks), maxBatch);
  }
}

/** Returns whether the creation of a task drew its quota from the lease. */
export function leaseDrawOf({ outcome }: LeasedTaskResult): LeaseDraw {
  if (outcome === 'created') return 'drawn';
  return outcome === 'no_lease' ? 'no_lease' : 'unused';
}

/**
 * Prefixes the idempotency key of an API key with limits, so that a repeat returns only tasks that this key sees. No
 * header can contain the separator.
 */
export function storedIdempotencyKey<Key extends string | null>(caller: Caller, key: Key): Key | string {
  return key !== null && caller.hasLimits === true ? `${caller.tokenId}\u001f${key}` : key;
}

async function fingerprintOf(creation: TaskCreation, facts: string): Promise<string> {
  const { operation, model, request, clientRequest, callbackUrl = '' } = creation;
  const { requestedModel: id = model.id } = creation;
  if (clientRequest !== undefined)
    return fingerprintOfClientRequest({ operation, model: { ...model, id }, clientRequest });
  return hashOf([operation, model.id, facts, callbackUrl], request);
}

/** Returns the fingerprint of a request that is identified by the client's body. */
export function fingerprintOfClientRequest({
  operation,
  model,
  clientRequest,
}: Pick<RepeatedCreation, 'operation' | 'model' | 'clientRequest'>): Promise<string> {
  return hashOf(['asked', operation, model.id], clientRequest);
}

async function hashOf(parts: readonly string[], json: Parameters<typeof jsonChunks>[0]): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  for await (const chunk of jsonChunks(json)) hash.update(chunk);
  return hash.digest('hex');
}
